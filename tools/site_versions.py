"""Lists the versions of a published site in each of them: `python tools/site_versions.py FOLDER`.

FOLDER has one folder for each version ('latest', '2.0.0', ...); the menu in the sidebar reads versions.js.
"""
import json
import re
import sys
from pathlib import Path


def main(folder):
    versions = [path.name for path in folder.iterdir() if (path / 'versions.js').exists()]
    numbers = sorted((name for name in versions if re.match(r'\d', name)),
                     key=lambda name: [int(number) for number in re.findall(r'\d+', name)])
    order = [name for name in ('latest', *reversed(numbers)) if name in versions]
    text = 'window.remxVersions = ' + json.dumps([[name, f'../{name}/'] for name in order]) + ';\n'
    for name in versions:
        (folder / name / 'versions.js').write_text(text, encoding='utf-8')
    start = order[1] if len(order) > 1 else order[0]
    page = f'<!DOCTYPE html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={start}/index.html">\n'
    (folder / 'index.html').write_text(page, encoding='utf-8')


if __name__ == '__main__':
    main(Path(sys.argv[1]))
