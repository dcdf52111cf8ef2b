"""A graph for batches of any size, from two traces of a block that has read the size of its batch.

`x.reshape(x.shape[0], -1)` puts a number into the graph.  Traced with two sizes, the numbers that depend on the batch
show themselves: they are replaced by codes (-1 in a reshape, "as long as that axis" in a broadcast, an open length in
zeros and ones), and what comes out is checked for both sizes.
"""
from .._graph.infer.facts import complete, unknown_length
from .._graph.infer.inference import infer
from .._graph.ir.node import Node, rebuild, topological
from .._ops.core.table import NAMES
from ..symbol._compose import make, text_of

_RESHAPES = {'Reshape': 'shape', '_np_reshape': 'newshape', '_npx_reshape': 'newshape'}
_CONSTANTS = {0: '_zeros', 1: '_ones'}


def for_any_batch(first, second, shapes):
    """The symbol that does what both do, or None; `shapes` are those of the inputs by name, for each."""
    nodes, others = (topological(s._entries) for s in (first, second))
    if len(nodes) != len(others):
        return None
    facts = [infer(s._entries, known, {}) for s, known in zip((first, second), shapes, strict=True)]
    new = {}
    for node, other in zip(nodes, others, strict=True):
        if node.op is not other.op or len(node.inputs) != len(other.inputs):
            return None
        if node.op is not None and node.attributes != other.attributes:
            changed = _without_batch(node, other, facts[0].shape((node, 0)), facts[1].shape((other, 0)))
            if changed is None:
                return None
            new[id(node)] = changed

    def change(node, inputs):
        if id(node) not in new:
            return None
        op, attributes = new[id(node)]
        copy = Node(op, node.name, {k: text_of(op, k, v) for k, v in attributes.items()}, inputs)
        return [(copy, 0)]

    result = make(type(first), rebuild(first._entries, change))
    fits = [_gives(result, s, known, f) for s, known, f in zip((first, second), shapes, facts, strict=True)]
    return result if all(fits) else None


def _without_batch(node, other, shape, other_shape):
    """(operator, attributes) that give both nodes' results, of these shapes; or None."""
    own, theirs = dict(node.attributes), other.attributes
    names = [k for k in own if own[k] != theirs[k]]
    key = names[0]
    if len(names) > 1 or not isinstance(own[key], tuple) or len(own[key]) != len(theirs[key]):
        return None
    moved = [i for i, (a, b) in enumerate(zip(own[key], theirs[key], strict=True)) if a != b]
    lengths = list(own[key])
    op = node.op
    if key == _RESHAPES.get(op.name):
        if not complete(shape) or not complete(other_shape) or len(shape) != len(other_shape):
            return None
        lengths = [a if a == b else -1 for a, b in zip(shape, other_shape, strict=True)]
        if lengths.count(-1) > 1 or 0 in lengths:
            return None
    elif op.name == '_npi_broadcast_to':
        for i in moved:
            lengths[i] = -2
    elif key == 'shape' and not node.inputs and (op.name == '_full' and own['value'] in _CONSTANTS
                                                 or op.name in ('_npi_zeros', '_npi_ones')):
        value = own.get('value', int(op.name == '_npi_ones'))
        for i in moved:
            lengths[i] = unknown_length()
        return NAMES[_CONSTANTS[value]], {'shape': tuple(lengths), 'dtype': own['dtype']}
    else:
        return None
    return op, {**{k: v for k, v in own.items() if v is not None}, key: tuple(lengths)}


def _gives(symbol, traced, known, wanted):
    """Whether a symbol has outputs of the shapes that the traced one has, for inputs of known shapes."""
    found = infer(symbol._entries, known, {})
    return all(complete(wanted.shape(b)) and found.shape(a) == wanted.shape(b)
               for a, b in zip(symbol._entries, traced._entries, strict=True))
