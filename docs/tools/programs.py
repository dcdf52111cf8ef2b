"""Pages of the programs in examples/: what each says of itself, and its source."""
import ast

from pages import ROOT


def programs():
    """[(name, docstring, source)] of the programs that can be run; files that others import only are left out."""
    found = []
    for path in sorted((ROOT / 'examples').glob('*.py')):
        source = path.read_text(encoding='utf-8')
        if '__main__' in source:
            found.append((path.stem, ast.get_docstring(ast.parse(source)) or '', source))
    return found


def write(target):
    """Writes all pages below `target`/examples, and lists them at the end of the page `examples`."""
    (target / 'examples').mkdir(exist_ok=True)
    listed = []
    for name, docstring, source in programs():
        text = f'# `{name}.py`\n\n```text\n{docstring}\n```\n\n```python\n{source}```\n'
        (target / 'examples' / f'{name}.md').write_text(text, encoding='utf-8')
        listed.append(f'{docstring.splitlines()[0].replace("`", "")} <examples/{name}>')
    index = target / 'examples.md'
    tree = '\n:::{toctree}\n:maxdepth: 1\n\n' + '\n'.join(listed) + '\n:::\n'
    index.write_text(index.read_text(encoding='utf-8') + tree, encoding='utf-8')
