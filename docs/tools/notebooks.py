"""Jupyter notebooks of the pages: text becomes Markdown cells, blocks that run become code cells.

`python docs/tools/notebooks.py OUT` writes OUT/<language>/<page>.ipynb. What a block prints is not stored: run the
notebook. The digits that some pages read are copied beside them.
"""
import re
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from pages import BLOCK, LANGUAGES, LINK, ROOT, blocks, joined, pages

# A page without a program of its own, or whose blocks are for pytest's eyes only, makes no notebook.
FEWEST_BLOCKS = 2


def cells(text, language):
    """[(kind, source)] of a page."""
    found, end = [], 0
    text = joined(text) if language == 'zh' else text
    for block in BLOCK.finditer(text):
        found += [('markdown', text[end:block.start()]), ('code', block['code'])]
        end = block.end()
    found.append(('markdown', text[end:]))

    def link(match):
        mark, words, target = match.groups()
        if mark:                                     # the notebook draws its pictures itself
            return ''
        if re.match(r'https?:|#', target):
            return match.group()
        if target.startswith('../'):
            return words
        return f'[{words}]({target.replace(".md", ".ipynb")})' if target.partition('#')[0] in names else words

    names = {page.name for page in pages(language) if has_notebook(page)}
    tidy = [(kind, LINK.sub(link, source) if kind == 'markdown' else source) for kind, source in found]
    return [(kind, source.strip('\n')) for kind, source in tidy if source.strip()]


def has_notebook(page):
    return page.stem != 'index' and len(blocks(page.read_text(encoding='utf-8'))) >= FEWEST_BLOCKS


def notebook(page, language):
    """The page as a notebook."""
    import nbformat
    made = nbformat.v4.new_notebook(metadata={
        'kernelspec': {'name': 'python3', 'display_name': 'Python 3', 'language': 'python'},
        'language_info': {'name': 'python'}})
    for number, (kind, source) in enumerate(cells(page.read_text(encoding='utf-8'), language)):
        cell = nbformat.v4.new_code_cell(source) if kind == 'code' else nbformat.v4.new_markdown_cell(source)
        cell.id = f'cell-{number}'                   # nbformat draws one; the same page makes the same file
        made.cells.append(cell)
    return made


def write_all(language, target):
    """Writes every page of one language that has programs; returns the files."""
    import nbformat
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    shutil.copytree(ROOT / 'examples' / 'data' / 'mnist', target / 'examples' / 'data' / 'mnist')
    written = []
    for page in pages(language):
        if has_notebook(page):
            path = target / f'{page.stem}.ipynb'
            nbformat.write(notebook(page, language), path)
            written.append(path)
    return written


if __name__ == '__main__':
    out = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / 'build' / 'docs' / 'notebooks')
    for name in LANGUAGES:
        print(f'{len(write_all(name, out / name))} notebooks in {out / name}')
