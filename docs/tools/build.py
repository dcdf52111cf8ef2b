"""Builds the site in both languages and the notebooks: `python docs/tools/build.py [--out build/docs]`.

Pages are copied to OUT/source/<language>, together with what is generated (the references); links that leave docs/
become plain text there. Sphinx makes OUT/site/<language> of them, with warnings as errors, and every link and anchor
of the result is checked. Nothing is fetched.
"""
import argparse
import re
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

import check_links
import notebooks
import search_index
from pages import FENCE, LANGUAGES, LINK, ROOT, folder, joined, pages, sections, untranslated

from mxnet.libinfo import remx_version

NOT_YET = '> 本页尚未翻译，以下为英文原文。\n\n'
SPHINX_LANGUAGE = {'en': 'en', 'zh': 'zh_CN'}
CHOOSE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>remx</title>
<script>location.replace((navigator.language || 'en').startsWith('zh') ? 'zh/index.html' : 'en/index.html')</script>
</head><body><p><a href="en/index.html">English</a> <a href="zh/index.html" lang="zh">简体中文</a></p></body></html>
"""


def inside(text):
    """A page for the site: what is linked outside of docs/ is named instead."""
    def plain(found):
        mark, words, target = found.groups()
        if target.startswith('../') and not target.startswith('../images/'):
            return words if '`' in words else f'`{words}`' if re.fullmatch(r'[\w./-]+', words) else words
        return f'{mark}[{words}]({target.replace("../images/", "images/")})'
    pieces, end = [], 0
    for fence in FENCE.finditer(text):
        pieces += [LINK.sub(plain, text[end:fence.start()]), fence.group().replace('```python excerpt', '```python', 1)]
        end = fence.end()
    return ''.join(pieces) + LINK.sub(plain, text[end:])


NOTEBOOK = {'en': ('Notebook', 'download', 'open in Colab'), 'zh': ('笔记本', '下载', '在 Colab 中打开')}


def with_notebook_links(text, name, language):
    """Links to the page's notebook, below its title."""
    title, _, rest = text.partition('\n')
    what, download, colab = NOTEBOOK[language]
    place = f'{home().removeprefix("https://github.com/")}/blob/gh-pages/notebooks/{language}/{name}.ipynb'
    return (f'{title}\n\n<p class="notebook-links">{what}: <a href="../notebooks/{language}/{name}.ipynb" download>'
            f'{download}</a> · <a href="https://colab.research.google.com/github/{place}">{colab}</a></p>\n{rest}')


def home():
    """The public address of the repository."""
    return tomllib.loads((ROOT / 'pyproject.toml').read_text(encoding='utf-8'))['project']['urls']['Repository']


def with_cards(text):
    """The home page: its picture beside its first paragraph, and the table of ways in as cards."""
    def cards(found):
        rows = re.findall(r'^\| \[([^\]]*)\]\(([^)]*)\) \| (.*?) \|$', found[0], re.MULTILINE)
        items = [f'<a class="card" href="{target.replace(".md", ".html")}"><strong>{title}</strong>'
                 f'<span>{words.replace("`", "").replace("*", "")}</span></a>' for title, target, words in rows]
        return '<div class="cards">\n' + '\n'.join(items) + '\n</div>\n'
    head, mark, rest = text.partition('\n## ')
    return re.sub(r'(^\|.*\|\n)+', cards, head, flags=re.MULTILINE) + mark + rest


def with_tables_of_contents(text):
    """The index, with a hidden toctree for each of its sections."""
    trees = [f':::{{toctree}}\n:hidden:\n:caption: {title}\n\n' + '\n'.join(names) + '\n:::\n'
             for title, names in sections(text) if names]
    return text + '\n' + '\n'.join(trees)


def write_sources(language, target):
    """Fills a folder with all pages of one language."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    if (ROOT / 'docs' / 'images').is_dir():
        shutil.copytree(ROOT / 'docs' / 'images', target / 'images')
    for english in pages('en'):
        page = folder(language) / english.name
        missing = language != 'en' and english.stem in untranslated()
        text = (english if missing else page).read_text(encoding='utf-8')
        if missing:
            first, _, rest = text.partition('\n')
            text = f'{first}\n\n{NOT_YET}{rest}'
        text = inside(joined(text) if language == 'zh' else text)
        if notebooks.has_notebook(page if page.exists() else english):
            text = with_notebook_links(text, english.stem, language)
        if english.stem == 'index':
            text = with_tables_of_contents(with_cards(text))
        (target / english.name).write_text(text, encoding='utf-8')
    import operators
    import programs
    import reference
    reference.write(target, language)
    operators.write(target, language)
    programs.write(target, language)


def sphinx(language, source, site):
    """Runs Sphinx in a process of its own; a warning is an error."""
    command = [sys.executable, '-m', 'sphinx', '-b', 'html', '-c', str(ROOT / 'docs'), '-t', language, '-q', '-W',
               '--keep-going', '-d', str(source.parent.parent / 'doctrees' / language),
               '-D', f'language={SPHINX_LANGUAGE[language]}', str(source), str(site)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f'{done.stdout}{done.stderr}')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--out', type=Path, default=ROOT / 'build' / 'docs')
    parser.add_argument('--language', choices=LANGUAGES, action='append', help='only this one')
    options = parser.parse_args()
    start = time.perf_counter()
    site = options.out.resolve() / 'site'
    for language in options.language or LANGUAGES:
        source = site.parent / 'source' / language
        write_sources(language, source)
        shutil.rmtree(site / language, ignore_errors=True)
        sphinx(language, source, site / language)
        search_index.write(site / language, language)
        written = notebooks.write_all(language, site.parent / 'notebooks' / language)
        (site / 'notebooks' / language).mkdir(parents=True, exist_ok=True)
        for path in written:
            shutil.copy(path, site / 'notebooks' / language)
    (site / 'index.html').write_text(CHOOSE, encoding='utf-8')
    # Published sites have one folder for each version; the release workflow lists the others here.
    (site / 'versions.js').write_text(f'window.remxVersions = [["{remx_version}", "../"]];\n', encoding='utf-8')
    dead = [] if options.language else check_links.dead_links(site)
    if dead:
        sys.exit('dead links:\n' + '\n'.join(dead))
    print(f'{site / "index.html"} ({time.perf_counter() - start:.0f} s, {len(list(site.rglob("*.html")))} pages); '
          f'notebooks in {site.parent / "notebooks"}')


if __name__ == '__main__':
    main()
