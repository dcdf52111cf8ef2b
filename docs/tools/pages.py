"""The pages of the documentation as data: where they are, their blocks, their links, their order.

A page is Markdown. Its ```python blocks run one after the other in one namespace; a ```text block right after one is
what it prints; ```python excerpt only shows a piece of a program and does not run.
"""
import ast
import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
LANGUAGES = {'en': 'English', 'zh': '简体中文'}
BLOCK = re.compile(r'^```python\n(?P<code>.*?)^```\n(?:\s*^```text\n(?P<printed>.*?)^```)?', re.DOTALL | re.MULTILINE)
FENCE = re.compile(r'^(```+)([^\n`]*)\n(.*?)^\1 *$', re.DOTALL | re.MULTILINE)
LINK = re.compile(r'(!?)\[([^\]]*)\]\(([^)\s]+)\)')
HEADING = re.compile(r'^(#+) +(.*?) *$', re.MULTILINE)


class Block(NamedTuple):
    line: int
    code: str
    printed: str


def folder(language):
    return ROOT / 'docs' / language


def pages(language):
    return sorted(folder(language).glob('*.md'))


def untranslated():
    """Names of English pages that have no Chinese counterpart yet; the site shows the English text for them."""
    listed = folder('zh') / 'untranslated.txt'
    lines = listed.read_text(encoding='utf-8').splitlines() if listed.exists() else []
    return {line.strip() for line in lines if line.strip() and not line.startswith('#')}


def blocks(text):
    """The blocks that run, with the line at which each begins."""
    return [Block(text.count('\n', 0, found.start()) + 1, found['code'], found['printed'] or '')
            for found in BLOCK.finditer(text)]


def prose(text):
    """The text without its fenced blocks and code spans, so that what is in them is not taken for links or headings."""
    return re.sub(r'`[^`\n]*`', '``', FENCE.sub('', text))


def joined(text):
    """Chinese without the blanks that the ends of its lines would become."""
    pieces, end = [], 0
    for fence in [*FENCE.finditer(text), None]:
        part = text[end:fence.start() if fence else len(text)]
        part = re.sub(r'(?<=[\u4e00-\u9fff，。、；：！？）》”])\n *(?=[\u4e00-\u9fff（《“])', '', part)
        pieces.append(re.sub(r'(?<=[，。、；：！？）》”])\n *(?=[A-Za-z`\[])', '', part))
        if fence:
            pieces.append(fence.group())
            end = fence.end()
    return ''.join(pieces)


def links(text):
    """Targets of all links to files, with their anchors."""
    return [target for _, _, target in LINK.findall(prose(text)) if not re.match(r'https?:|mailto:', target)]


def images(text):
    """Names of the pictures that a page shows."""
    return [Path(target).name for mark, _, target in LINK.findall(prose(text)) if mark]


def headings(text):
    """Levels and texts."""
    return [(len(marks), title) for marks, title in HEADING.findall(FENCE.sub('', text))]


def sections(text):
    """The index: [(section, [page, ...])], from its headings and the links below them."""
    found = []
    for part in re.split(r'^## +', text, flags=re.MULTILINE)[1:]:
        title, _, body = part.partition('\n')
        names = [target.removesuffix('.md') for target in links(body) if re.fullmatch(r'[a-z0-9-]+\.md', target)]
        found.append((title.strip(), list(dict.fromkeys(names))))
    return found


def shape_of_code(code):
    """What a block does, without comments and docstrings: these may be translated."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            node.body[0].value.value = ''
    return ast.dump(tree)


def outline(text):
    """What both languages share of a page: levels of headings, code, what is printed, links, pictures."""
    fences = []
    for _, kind, body in FENCE.findall(text):
        fences.append((kind, shape_of_code(body) if kind == 'python' else body if kind == 'text' else ''))
    return {'headings': [level for level, _ in headings(text)], 'blocks': fences,
            'links': [link.partition('#')[0] for link in links(text)]}


def read_table(path):
    """{name: text} of a file with lines `name: text`."""
    found = {}
    for line in path.read_text(encoding='utf-8').splitlines():
        if line.strip() and not line.startswith('#'):
            name, _, text = line.partition(':')
            found[name.strip()] = text.strip()
    return found
