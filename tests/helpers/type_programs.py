"""The programs that type checkers and editors are tried on: those of README, the pages, the examples and the tutorials.

A page becomes one file whose lines have the numbers that they have on the page, so that a complaint names the place.
"""
import importlib
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'docs' / 'tools'))

from pages import blocks  # noqa: E402

# modules of tests whose constants are the programs of the tutorials
TUTORIALS = ('test_seeds_arrays', 'test_seeds_gluon', 'test_seeds_kvstore', 'test_seeds_module')


def page_program(path):
    """All programs of a page, which run in one namespace, as one file."""
    lines = []
    for block in blocks(path.read_text(encoding='utf-8')):
        lines += [''] * (block.line - len(lines)) + block.code.splitlines()
    return '\n'.join(lines) + '\n'


def programs():
    """File name -> text of every program."""
    found = {}
    pages = [ROOT / 'README.md', ROOT / 'README.zh-CN.md', *sorted(ROOT.glob('docs/en/*.md')),
             *sorted(ROOT.glob('docs/zh/*.md')), ROOT / 'examples' / 'README.md']
    for path in pages:
        text = page_program(path)
        if text.strip():
            name = '_'.join(path.relative_to(ROOT).with_suffix('').parts).replace('-', '_').replace('.', '_')
            found[f'page_{name}.py'] = text
    for path in sorted(ROOT.glob('examples/*.py')):
        found[path.name] = path.read_text(encoding='utf-8')     # under its own name: examples import each other
    for name in TUTORIALS:
        folder = str(next(ROOT.glob(f'tests/*/{name}.py')).parent)      # in sys.path only if pytest collects it
        if folder not in sys.path:
            sys.path.append(folder)
        for constant, text in vars(importlib.import_module(name)).items():
            if constant.isupper() and isinstance(text, str) and 'mx' in text and 'import' in text:
                found[f'{name}_{constant.lower()}.py'] = text
    return found


def write(folder):
    """Writes every program into a folder; returns the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, text in programs().items():
        (folder / name).write_text(text, encoding='utf-8')
        paths.append(folder / name)
    return paths
