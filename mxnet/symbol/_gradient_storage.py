"""Which gradients `simple_bind` makes row sparse.

As in MXNet 1.9.1 this follows from the operators between an argument and the heads, not from the argument: the product
of a csr array with a dense weight has a row sparse gradient, and that of a dense array with a row sparse weight a dense
one. It matters beyond memory, because optimizers with `lazy_update` leave rows alone that a gradient has not.
"""
from __future__ import annotations

from .._graph.ir.node import topological

DEFAULT, ROWS = 'default', 'row_sparse'

# what MXNet 1.9.1 was seen to do for each of these between a weight and the product with a csr array
_KEEPS_ROWS = frozenset((
    'abs', 'sign', 'relu', 'square', 'negative', '_copy', 'identity', '_mul_scalar', '_div_scalar', 'BlockGrad',
    'zeros_like', 'ones_like', 'round', 'floor', 'ceil', 'trunc', 'fix', 'rint', 'sqrt', 'sin', 'tan', 'tanh', 'sinh',
    'arcsin', 'arctan', 'arcsinh', 'arctanh', 'expm1', 'log1p', 'cbrt', 'degrees', 'radians', '_sparse_retain'))
_SUMS = frozenset(('elemwise_add', 'elemwise_sub', 'add_n'))
# the gradient is that of the result: dense if that is dense
_PASSES_ON = frozenset((
    'negative', '_copy', 'identity', '_mul_scalar', '_div_scalar', '_plus_scalar', '_minus_scalar', '_rminus_scalar',
    'Flatten', 'exp', 'cast_storage')) | _SUMS
# it is a product with the argument, or with a function of it
_BY_ARGUMENT = frozenset(('square', 'abs', 'sign', 'relu', 'cos'))
# it is zeros like the argument
_NOTHING = frozenset(('BlockGrad', 'zeros_like', 'ones_like', 'round', 'floor', 'ceil', 'trunc', 'fix', 'rint'))


def gradient_storage(entries, stype_of):
    """{id of a variable: storage type of its gradient}; `stype_of` gives that of a variable's own array."""
    nodes = topological(entries)
    values = _values(nodes, stype_of)
    # several uses of a value add up their gradients: rows if all of them are rows
    of_results = [(entry, values.get(_key(entry), DEFAULT)) for entry in entries]
    gradients: dict[tuple[int, int], str] = {}

    def add(entry, stype):
        key = _key(entry)
        gradients[key] = stype if gradients.get(key, stype) == stype else DEFAULT

    for entry, stype in of_results:
        add(entry, ROWS if stype == ROWS else DEFAULT)
    for node in reversed(nodes):
        if node.op is not None:
            whole = gradients.get((id(node), 0), DEFAULT)
            for position, entry in enumerate(node.inputs):
                add(entry, _gradient(node, position, whole, values))
    return {id(node): gradients[id(node), 0] for node in nodes if node.op is None and (id(node), 0) in gradients}


def _key(entry):
    return id(entry[0]), entry[1]


def _values(nodes, stype_of):
    """The storage types of variables and of first results."""
    values = {}
    for node in nodes:
        if node.op is None:
            values[id(node), 0] = stype_of(node)
            continue
        inputs = [values.get(_key(entry), DEFAULT) for entry in node.inputs]
        name = node.op.name
        if name == 'cast_storage':
            values[id(node), 0] = node.attributes.get('stype', DEFAULT)
        elif name in _KEEPS_ROWS and inputs[0] == ROWS or name in _SUMS and set(inputs) == {ROWS}:
            values[id(node), 0] = ROWS
    return values


def _gradient(node, position, whole, values):
    """The storage type of the gradient of an input."""
    name, own = node.op.name, values.get(_key(node.inputs[position]), DEFAULT)
    if name == 'dot':
        by_rows = position == 1 and values.get(_key(node.inputs[0])) == 'csr' and not any(
            node.attributes.get(a) for a in ('transpose_a', 'transpose_b'))
    elif name == 'Embedding':
        by_rows = position == 1 and bool(node.attributes.get('sparse_grad'))
    elif name in _PASSES_ON:
        by_rows = whole == ROWS
    elif name in _BY_ARGUMENT:
        by_rows = whole == own == ROWS
    elif name in _NOTHING:
        by_rows = own == ROWS
    else:
        by_rows = position == 1 and name == '_contrib_SparseEmbedding' or \
            position == 0 and name in ('_sparse_retain', '_square_sum')
    return ROWS if by_rows else DEFAULT
