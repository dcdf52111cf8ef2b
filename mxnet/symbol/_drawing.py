"""Visualising networks: a table of layers, or a drawing. `mx.viz`"""
from __future__ import annotations

import functools
import html
import importlib.util
import logging
import re
import shutil
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from .._graph.infer.inference import complete, infer
from .._graph.ir.node import own_attributes, rebuild, states_of, topological
from .._names import kind_of, near
from .._ops.core.dtypes import NAME
from ..base import MXNetError
from .symbol import Symbol

__all__ = ['plot_network', 'print_summary']

NO_GRAPHVIZ = 'drawing a network needs the Python package graphviz: pip install graphviz'
NO_DOT = ('drawing a network needs the program dot of Graphviz, which is not on the PATH. Install it (Debian, Ubuntu: '
          'apt-get install graphviz; macOS: brew install graphviz; conda install graphviz; else '
          'https://graphviz.org/download), or look at the text of the drawing: plot_network(...).source')
REPEATED = ('There are multiple variables with the same name in your graph: {names}. Each is drawn as a node of its '
            'own, but bind and infer_shape cannot tell them apart')

WEIGHTS = ('_weight', '_bias', '_beta', '_gamma', '_moving_var', '_moving_mean', '_running_var', '_running_mean')
COLORS = {'Convolution': '#fb8072', 'FullyConnected': '#fb8072', 'BatchNorm': '#bebada', 'Activation': '#ffffb3',
          'LeakyReLU': '#ffffb3', 'Pooling': '#80b1d3', 'Concat': '#fdb462', 'Flatten': '#fdb462', 'Reshape': '#fdb462',
          'Softmax': '#b3de69'}
INPUT_COLOR, OTHER_COLOR = '#8dd3c7', '#fccde5'


def _network(symbol, what):
    """A symbol's entries, without the casts that mixed precision put in."""
    if not isinstance(symbol, Symbol):
        raise TypeError(f'{what} takes a Symbol, not {kind_of(symbol)}')

    def without_casts(node, inputs):
        return list(inputs) if node.op is not None and node.op.name in ('amp_cast', 'amp_multicast') else None

    return rebuild(symbol._entries, without_casts)


def _facts(entries, shape, dtype=None):
    """What is known of a graph's entries; with `shape` given, all shapes must be."""
    if shape is not None and not isinstance(shape, Mapping):
        raise TypeError(f"shape must be a dict such as {{'data': (1, 3, 224, 224)}}, not {kind_of(shape)}")
    for name, lengths in (shape or {}).items():
        if not isinstance(lengths, (tuple, list)):
            raise TypeError(f'the shape of {name} must be a tuple of ints, not {kind_of(lengths)}')
    known = {n: tuple(s) for n, s in (shape or {}).items()}
    facts = infer(entries, known, dtype or {})
    if shape is not None:
        missing = [n.name for n in topological(entries) if n.is_variable and not complete(facts.shape((n, 0)))]
        if missing:
            names = [n.name for n in topological(entries) if n.is_variable]
            strange = ''.join(f'; there is no argument {n!r}{near(n, names)}' for n in known if n not in names)
            raise ValueError(f'the shapes given are not enough: those of {", ".join(missing)} do not follow from '
                             f'them{strange}')
    return facts


def _cross(lengths):
    return 'x'.join(str(n) for n in lengths)


# ---------------------------------------------------------------------- the table
def print_summary(symbol: Symbol, shape: Mapping[str, Sequence[int]] | None = None, line_length: int = 120,
                  positions: Sequence[float] = [.44, .64, .74, 1.]) -> None:
    """Prints a table of the layers of a symbol: output shapes, numbers of parameters, and what each one follows.

    `shape` is a dict of the inputs' shapes, as for `infer_shape`; without it only what follows from the layers
    themselves is known.  `positions` are the ends of the columns, as shares of `line_length` or in characters.

    >>> net = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=10, name='fc')
    >>> mx.viz.print_summary(net, {'data': (1, 20)}, 60, [20, 36, 46, 60])     # doctest: +NORMALIZE_WHITESPACE
    ____________________________________________________________
    Layer (type)        Output Shape    Param #   Previous Layer
    ============================================================
    data(null)          20              0
    ____________________________________________________________
    fc(FullyConnected)  10              210       data
    ============================================================
    Total params: 210
    ____________________________________________________________
    """
    entries = _network(symbol, 'print_summary')
    nodes = topological(entries)
    facts = _facts(entries, shape)
    parameters = _parameters(nodes, shape or {})
    ends = [int(line_length * p) for p in positions] if positions[-1] <= 1 else [int(p) for p in positions]

    def row(*fields):
        line = ''
        for field, end in zip(fields, ends):
            line = (line + str(field))[:end].ljust(end)
        print(line)

    print('_' * line_length)
    row('Layer (type)', 'Output Shape', 'Param #', 'Previous Layer')
    print('=' * line_length)
    counted: Any
    counted, total = set(), 0
    for node in nodes:
        if node.is_variable and node is not nodes[0]:
            continue
        own = {id(child): child for child, _ in node.inputs if id(child) in parameters and id(child) not in counted}
        counted |= own.keys()
        count = sum(_size(facts.shape((child, 0))) for child in own.values())
        total += count
        before = [child.name for child, _ in node.inputs
                  if not child.is_variable or child is nodes[0] or child.name in (shape or {})]
        lengths = facts.shape((node, 0)) if shape is not None else None
        row(f'{node.name}({"null" if node.is_variable else node.op.name})', _cross((lengths or ())[1:]), count,
            *before[:1] or [''])
        for name in before[1:]:
            row('', '', '', name)
        print(('=' if node is nodes[-1] else '_') * line_length)
    print(f'Total params: {total}')
    print('_' * line_length)


def _parameters(nodes, given):
    """ids of the variables that training would change: not data, labels or states."""
    states = states_of(nodes)
    found = set()
    for node in nodes:
        if node.is_variable:
            continue
        for name, (child, _) in zip(node.input_names(), node.inputs, strict=True):
            if child.is_variable and id(child) not in states and child.name not in given \
                    and name != 'data' and not child.name.endswith('label'):
                found.add(id(child))
    return found


def _size(shape):
    size = 1
    for n in shape or (0,):
        size *= n
    return size


# ---------------------------------------------------------------------- the drawing
def plot_network(symbol: Symbol, title: str = 'plot', save_format: str = 'pdf',
                 shape: Mapping[str, Sequence[int]] | None = None, dtype: Any = None,
                 node_attrs: Mapping[str, str] = {}, hide_weights: bool = True) -> Any:
    """A drawing of a symbol, as a `graphviz.Digraph`, which shows itself in a notebook.

    `.render('file')` writes it in `save_format`, `.view()` opens it, `.source` is its text.  With `shape` and `dtype`,
    dicts of the inputs', edges tell what flows along them.  `node_attrs` are Graphviz attributes for all nodes;
    `hide_weights` leaves parameters out.

    >>> net = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=10, name='fc')
    >>> drawing = mx.viz.plot_network(net, shape={'data': (1, 20)}, save_format='svg')
    """
    Drawing = _drawing()
    entries = _network(symbol, 'plot_network')
    nodes = topological(entries)
    facts = _facts(entries, shape, dtype)
    ids = _identifiers(nodes)
    # of one size, but where a label needs more; upstream's fixed size cuts through "FullyConnected"
    style = {'shape': 'box', 'fixedsize': 'false', 'width': '1.3', 'height': '0.8034', 'style': 'filled', **node_attrs}
    drawing = Drawing(name=title, format=save_format)
    hidden = set()
    for node in nodes:
        if node.is_variable:
            if node.name.endswith(WEIGHTS):
                if hide_weights:
                    hidden.add(id(node))
                continue         # an edge to it draws a plain oval
            look = {'shape': 'oval', 'fillcolor': INPUT_COLOR}
        else:
            look = {'fillcolor': COLORS.get(node.op.name, OTHER_COLOR)}
        drawing.node(ids[id(node)], _label(node), **{**style, **look})
    for node in nodes:
        inputs = node.inputs
        if node.op is not None and node.op.name == '_contrib_BilinearResize2D':
            inputs = inputs[:1]          # the second only lends its size
        for entry in inputs:
            if id(entry[0]) not in hidden:
                flow = _cross(facts.shape(entry)[1:]) if shape is not None else ''
                if dtype is not None:
                    flow += f'({_dtype_name(entry, facts)})'
                drawing.edge(ids[id(node)], ids[id(entry[0])], dir='back', arrowtail='open', label=flow)
    return drawing


def _dtype_name(entry, facts):
    found = facts.dtype(entry)
    if found is None:
        raise ValueError(f'the dtypes given are not enough: that of {entry[0].entry_name(entry[1])} does not follow')
    return NAME[found]


def _identifiers(nodes):
    """A name for each node that no other has; Graphviz would read a colon as a port."""
    repeated = sorted(name for name, times in Counter(node.name for node in nodes).items() if times > 1)
    if repeated:
        warnings.warn(REPEATED.format(names=', '.join(repeated)), RuntimeWarning, stacklevel=3)
    ids, taken = {}, set()
    for node in nodes:
        name, number = node.name.replace(':', '_'), 1
        while name in taken:
            name, number = f'{node.name}#{number}'.replace(':', '_'), number + 1
        taken.add(name)
        ids[id(node)] = name
    return ids


def _label(node):
    attrs = node.attrs

    def numbers(key, default):
        return 'x'.join(re.findall(r'\d+', attrs[key])) if key in attrs else default

    match '' if node.is_variable else node.op.name:
        case 'Convolution':
            return f'Convolution\n{numbers("kernel", "")}/{numbers("stride", "1")}, {attrs["num_filter"]}'
        case 'FullyConnected':
            return f'FullyConnected\n{attrs["num_hidden"]}'
        case 'Activation':
            return f'Activation\n{attrs["act_type"]}'
        case 'LeakyReLU':
            return f'LeakyReLU\n{attrs.get("act_type", "Leaky")}'
        case 'Pooling':
            return f'Pooling\n{attrs.get("pool_type", "max")}, {numbers("kernel", "[]")}/{numbers("stride", "1")}'
        case 'Custom':
            return attrs['op_type']
    return node.name


@functools.cache
def _drawing():
    """The class of drawings; made when it is first needed, since graphviz is an optional part."""
    log = logging.getLogger('graphviz')
    before = log.level
    log.setLevel(logging.INFO)          # it tells about itself while it is imported, to whoever listens to everything
    try:
        import graphviz
    except ImportError as error:
        raise ImportError(NO_GRAPHVIZ) from error
    finally:
        log.setLevel(before)

    class DotNotFound(MXNetError, graphviz.ExecutableNotFound):
        def __init__(self):
            RuntimeError.__init__(self, NO_DOT)

    class Drawing(graphviz.Digraph):
        """A `graphviz.Digraph` that says what to do where the program dot is missing."""

        def render(self, *args, **kwargs):
            try:
                return super().render(*args, **kwargs)
            except graphviz.ExecutableNotFound:
                raise DotNotFound from None

        def pipe(self, *args, **kwargs):
            try:
                return super().pipe(*args, **kwargs)
            except graphviz.ExecutableNotFound:
                raise DotNotFound from None

        def _repr_mimebundle_(self, *args, **kwargs):
            try:
                return super()._repr_mimebundle_(*args, **kwargs)
            except graphviz.ExecutableNotFound:
                return {'text/plain': f'{NO_DOT}\n\n{self.source}'}

    Drawing.__name__ = Drawing.__qualname__ = 'Digraph'
    return Drawing


# more operators than this take dot minutes, and nobody could read the drawing
LARGE = 300


def svg(symbol: Symbol, limit: int = LARGE) -> str | None:
    """The drawing of a symbol as text in SVG; None where it cannot be drawn or has more than `limit` nodes."""
    if sum(not node.is_variable for node in topological(symbol._entries)) > limit:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            drawing = plot_network(symbol)
        return drawing.pipe(format='svg', encoding='utf-8')
    except (ImportError, MXNetError):
        return None


def table(symbol: Symbol) -> str | None:
    """A folding table of a symbol's operators in HTML; None where `svg` draws it."""
    nodes = topological(symbol._entries)
    operators = [node for node in nodes if not node.is_variable]
    if len(operators) <= LARGE and shutil.which('dot') and importlib.util.find_spec('graphviz'):
        return None
    rows = []
    for node in operators:
        inputs = ', '.join(child.name for child, _ in node.inputs if not child.name.endswith(WEIGHTS))
        attrs = ', '.join(f'{key}={value}' for key, value in sorted(own_attributes(node.attrs).items()))
        cells = (node.name, node.op.name, inputs, attrs)
        rows.append('<tr>' + ''.join(f'<td style="text-align:left">{html.escape(c)}</td>' for c in cells) + '</tr>')
    head = ''.join(f'<th style="text-align:left">{h}</th>' for h in ('name', 'operator', 'inputs', 'attributes'))
    return (f'<details{" open" if len(rows) <= 20 else ""}><summary><code>{html.escape(repr(symbol))}</code>: '
            f'{len(rows)} operators on {len(nodes) - len(rows)} variables</summary>'
            f'<table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></details>')

