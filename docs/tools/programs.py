"""Pages of the programs in examples/, and the gallery that lists them."""
import ast
import re

from pages import ROOT

ACRONYMS = {'gan': 'GAN', 'lstm': 'LSTM', 'mlp': 'MLP', 'mnist': 'MNIST', 'ndarray': 'NDArray'}
RUN = {'en': 'Run it in a clone of the repository:', 'zh': '在仓库的克隆中运行：'}


def programs():
    """[(name, docstring, source without it)] of the programs that can be run; files that others import are left out."""
    found = []
    for path in sorted((ROOT / 'examples').glob('*.py')):
        source = path.read_text(encoding='utf-8')
        if '__main__' in source:
            tree = ast.parse(source)
            docstring = ast.get_docstring(tree) or ''
            rest = source.splitlines()[tree.body[0].end_lineno:] if docstring else source.splitlines()
            found.append((path.stem, docstring, '\n'.join(rest).strip('\n')))
    return found


def figure(name):
    """The name of an example's figure, or None."""
    picture = f'example-{name.replace("_", "-")}.png'
    return picture if (ROOT / 'docs' / 'images' / picture).exists() else None


def prose(docstring):
    """A docstring as Markdown: indented lines are commands."""
    parts = []
    for part in re.split(r'\n\n+', docstring):
        lines = part.splitlines()
        if all(line.startswith('    ') for line in lines):
            part = '```bash\n' + '\n'.join(line[4:] for line in lines) + '\n```'
        parts.append(part)
    return '\n\n'.join(parts)


def summaries(language):
    """{program: one line about it}, from examples.txt of a language; English uses the docstrings."""
    file = ROOT / 'docs' / language / 'examples.txt'
    lines = file.read_text(encoding='utf-8').splitlines() if file.exists() else []
    return dict(line.split(': ', 1) for line in lines)


def write(target, language):
    """Writes all pages below `target`/examples, and the gallery at the end of the page `examples`."""
    (target / 'examples').mkdir(exist_ok=True)
    cards, names, translated = [], [], summaries(language)
    for name, docstring, source in programs():
        title = ' '.join(ACRONYMS.get(word, word) for word in name.split('_'))
        title = title[0].upper() + title[1:]
        picture = figure(name)
        shown = f'![{title}](../images/{picture})\n\n' if picture else ''
        command = f'```bash\npython examples/{name}.py --quick\n```'
        text = (f'# {title}\n\n{prose(docstring)}\n\n{shown}{RUN[language]}\n\n{command}\n\n'
                f'```python\n{source}\n```\n')
        (target / 'examples' / f'{name}.md').write_text(text, encoding='utf-8')
        image = f'<img src="_images/{picture}" alt="" loading="lazy">' if picture else ''
        first = translated.get(name) or docstring.splitlines()[0].replace('`', '')
        cards.append((not picture, f'<a class="card" href="examples/{name}.html">{image}<strong>{title}</strong>'
                                   f'<span>{first}</span></a>'))
        names.append(f'examples/{name}')
    index = target / 'examples.md'
    # cards with a figure come first, so that the rows of the gallery have one height
    cards.sort(key=lambda card: card[0])
    gallery = '\n<div class="cards">\n' + '\n'.join(card for _, card in cards) + '\n</div>\n'
    tree = '\n:::{toctree}\n:hidden:\n\n' + '\n'.join(names) + '\n:::\n'
    index.write_text(index.read_text(encoding='utf-8') + gallery + tree, encoding='utf-8')
