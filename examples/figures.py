"""Figures of the examples: curves and grids of images.

Drawing needs matplotlib (`pip install "remx[plot]"`). Without it the examples run and print their results, and draw no
figures.
"""
import functools
import importlib.util
import sys
from pathlib import Path


def available(folder):
    """Whether figures can be drawn; if not, prints once how to install matplotlib. Creates the folder for results."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    return has_matplotlib()


@functools.cache
def has_matplotlib():
    found = importlib.util.find_spec('matplotlib') is not None
    if not found:
        print('No figures are drawn, because matplotlib is not installed: pip install "remx[plot]"', file=sys.stderr)
    return found


def new_figure(size):
    from matplotlib.figure import Figure
    return Figure(figsize=size, layout='constrained')


def save(figure, folder, name):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / name, dpi=110)
    print(f'drew {folder / name}')


def curves(folder, name, lines, title, x='epoch', y='loss', log=False):
    """`lines` is {label: values}."""
    if not available(folder):
        return
    figure = new_figure((6, 3.6))
    axes = figure.subplots()
    for number, (label, values) in enumerate(lines.items()):
        axes.plot(range(1, len(values) + 1), values, label=label, marker='.' if len(values) < 40 else '',
                  linestyle='--' if number else '-')       # a line that lies on another is seen, too
    axes.set(title=title, xlabel=x, ylabel=y)
    if log:
        axes.set_yscale('log')
    axes.grid(alpha=0.3)
    axes.legend()
    save(figure, folder, name)


def grid(folder, name, pictures, titles=None, columns=8, size=1.2):
    """Pictures (H, W) or (H, W, 3), with values from 0 to 1; a title that begins with '!' is red."""
    if not available(folder):
        return
    rows = -(-len(pictures) // columns)
    figure = new_figure((columns * size, rows * (size + 0.25 * bool(titles))))
    for number, (axes, picture) in enumerate(zip(figure.subplots(rows, columns, squeeze=False).flat, pictures)):
        axes.imshow(picture, cmap='gray', vmin=0, vmax=1)
        axes.axis('off')
        if titles:
            title = titles[number]
            axes.set_title(title.lstrip('!'), fontsize=9, color='red' if title.startswith('!') else 'black')
    save(figure, folder, name)
