"""Every Python block of README and docs/ runs and prints what is shown below it; every link leads somewhere.

The blocks of one file run one after the other in one namespace and an empty folder. A ```text block right after a
```python block is what it prints. A block that only shows a piece of a file begins with ```python excerpt.
"""
import contextlib
import io
import re

import pytest
from conftest import ROOT

PAGES = [ROOT / 'README.md', ROOT / 'README.zh-CN.md', *sorted((ROOT / 'docs').rglob('*.md'))]
BLOCK = re.compile(r'^```python\n(?P<code>.*?)^```\n(?:\s*^```text\n(?P<printed>.*?)^```)?', re.DOTALL | re.MULTILINE)
LINK = re.compile(r'\]\((?!https?://|#|mailto:)([^)#\s]+)')


def name_of(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize('page', PAGES, ids=name_of)
def test_code_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding='utf-8')
    names = {'__name__': '__main__'}
    for block in BLOCK.finditer(text):
        line = text.count('\n', 0, block.start()) + 1
        printed = io.StringIO()
        # empty lines in front, so that a traceback shows the line of the page
        code = compile('\n' * line + block['code'], str(page), 'exec')
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        shown = block['printed'] or ''
        assert printed.getvalue().rstrip() == shown.rstrip(), f'{name_of(page)}, block at line {line}'


@pytest.mark.parametrize('page', PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    links = LINK.findall(page.read_text(encoding='utf-8'))
    dead = [link for link in links if not (page.parent / link).exists()]
    assert not dead


def test_both_readmes_have_one_structure():
    """The translation keeps up: the same sections, the same code, the same links."""
    shapes = []
    for page in PAGES[:2]:
        text = page.read_text(encoding='utf-8')
        blocks = re.findall(r'^```(\w+)\n(.*?)^```', text, re.DOTALL | re.MULTILINE)
        links = [link for link in re.findall(r'\]\(([^)]+)\)', text) if not link.startswith('README')]
        shapes.append((re.findall(r'^#+', text, re.MULTILINE), blocks, links))
    assert shapes[0] == shapes[1]
