"""The Symbol of what was recorded: expresses the provenance of tensors (`_provenance.py`) as nodes."""
from numbers import Real
from weakref import ref

from .._array import NDArrayBase
from .._graph.ir.node import Node, topological
from .._ops.core.table import NAMES, Operator
from .._provenance import GETITEM, SETITEM, UNKNOWN, source
from ..base import MXNetError
from ..name import NameManager
from ._compose import SymbolBase, make, text_of
from .symbol import Symbol

NOT_RECORDED = 'get_symbol: the array was not computed from an array with a gradient inside `with autograd.record():`'
NO_OPERATOR = ('get_symbol: the array was not computed by operators alone: a gradient (autograd.grad), a torch module '
               'or another thing that torch knows and no symbol can say is part of it')


def symbol_of(array):
    """A symbol whose only output is the array."""
    head = source(array)
    if isinstance(head, ref):
        raise MXNetError(NOT_RECORDED)
    if head is UNKNOWN:
        raise MXNetError(NO_OPERATOR)
    return make(Symbol, [_Graph().entry_after_all(head)])


class _Graph:
    """The nodes made so far, by what they stand for."""

    def __init__(self):
        self._variables: dict[int, Node] = {}
        self._counts = {'var': 0, 'null': 0}
        self._made: dict[int, list] = {}        # by the id of a provenance record's sources: entries of all outputs

    def entry_after_all(self, head):
        """The entry of a source, after those of everything below it; without recursion, for graphs are deep."""
        waiting = [head]
        while waiting:
            record = waiting[-1]
            missing = [s for s in record[2] if self._open(s)] if self._open(record) else None
            if missing:
                waiting += reversed(missing)
                continue
            waiting.pop()
            if missing is not None:
                self._made[id(record[2])] = self._spell(*record[:3])
        return self._entry(head)

    def _open(self, item):
        return type(item) is tuple and id(item[2]) not in self._made

    def _entry(self, item):
        if type(item) is tuple:
            return self._made[id(item[2])][item[3]]
        if item is UNKNOWN:
            raise MXNetError(NO_OPERATOR)
        if id(item) not in self._variables:
            self._variables[id(item)] = self._variable('null' if isinstance(item, ref) else 'var')
        return self._variables[id(item)], 0

    def _variable(self, kind):
        self._counts[kind] += 1
        return Node(None, f'{kind}{self._counts[kind] - 1}', {})

    def _spell(self, what, attributes, sources):
        """The entries of all outputs of a call."""
        if isinstance(what, Operator):
            return _call(what, attributes, [self._entry(s) for s in sources])
        if isinstance(what, SymbolBase):
            return self._copied(what, [self._entry(s) for s in sources])
        if what is GETITEM:
            return self._read(self._entry(sources[0]), *attributes)
        if what is SETITEM:
            return self._written([self._entry(s) for s in sources], *attributes)
        pair, scalar = what.operators
        if isinstance(sources[1], Real):
            return _call(NAMES[scalar], {'scalar': float(sources[1])}, [self._entry(sources[0])])
        return _call(NAMES[pair], {}, [self._entry(s) for s in sources])

    def _copied(self, symbol, inputs):
        """The graph of a hybridized block in the place of its call."""
        nodes = topological(symbol._entries)
        places = dict(zip(symbol.list_inputs(), inputs, strict=True))
        new = {id(n): places[n.name] for n in nodes if n.is_variable}

        def entry(e):
            node, number = new[id(e[0])]
            return node, number or e[1]

        for node in nodes:
            if not node.is_variable:
                inputs = [entry(e) for e in node.inputs]
                new[id(node)] = Node(node.op, _name(node.op), node.attrs, inputs, node.subgraphs), 0
        return [entry(e) for e in symbol._entries]

    def _read(self, data, key, shape, result):
        """x[key]: a slice and a new shape; with arrays in the key, flat positions, which are a variable."""
        basic = _bounds(key, shape)
        if basic is None:
            flat, = _call(NAMES['Reshape'], {'shape': (-1,)}, [data])
            return _call(NAMES['take'], {}, [flat, (self._variable('null'), 0)])
        begin, end, step, lengths = basic
        if lengths != tuple(shape) or any(s != 1 for s in step):
            data, = _call(NAMES['slice'], {'begin': begin, 'end': end, 'step': step}, [data])
        if tuple(result) == lengths:
            return [data] if data[0].op is not None else _call(NAMES['_copy'], {}, [data])
        return _call(NAMES['Reshape'], {'shape': tuple(result)}, [data])

    def _written(self, inputs, key, shape, given):
        """x[key] = value: the array after that; with arrays in the key, flat positions, which are a variable."""
        basic = _bounds(key, shape)
        if basic is not None:
            begin, end, step, lengths = basic
            value, = _call(NAMES['Reshape'], {'shape': _spread(key, given, len(shape))}, inputs[1:])
            value, = _call(NAMES['broadcast_to'], {'shape': lengths}, [value])
            return _call(NAMES['_slice_assign'], {'begin': begin, 'end': end, 'step': step}, [inputs[0], value])
        positions = self._variable('null'), 0
        flat = [_call(NAMES['Reshape'], {'shape': (-1,)}, [x])[0] for x in inputs]
        changed, = _call(NAMES['_scatter_set_nd'], {'shape': (_size(shape),)}, [*flat, positions])
        return _call(NAMES['Reshape'], {'shape': tuple(shape)}, [changed])


def _call(op, attributes, inputs):
    attrs = {k: text_of(op, k, v) for k, v in attributes.items() if k in op.attributes}
    if op.extra is not None:
        attrs |= attributes['definition'].given         # those of a custom operator's own class
    node = Node(op, _name(op), attrs, inputs)
    return [(node, i) for i in range(max(1, node.output_count()))]


def _name(op):
    return NameManager.current.get(None, op.name.lower())


def _size(shape):
    size = 1
    for n in shape:
        size *= n
    return size


def _parts(key, dims):
    """A part of the key for each axis."""
    key = key if isinstance(key, tuple) else (key,)
    taken = sum(1 for p in key if p is not None and p is not Ellipsis)
    place = next((i for i, p in enumerate(key) if p is Ellipsis), len(key))
    return [p for p in (*key[:place], *[slice(None)] * (dims - taken), *key[place + 1:]) if p is not None]


def _spread(key, given, dims):
    """The shape of a value with axes of length 1 where the key has a number, or where it has fewer axes."""
    rest, spread = list(given), []
    for part in reversed(_parts(key, dims)):
        spread.append(rest.pop() if isinstance(part, slice) and rest else 1)
    return tuple(reversed(spread))


def _bounds(key, shape):
    """(begin, end, step, lengths) of a key made of ints and slices only; None with arrays in it."""
    for part in key if isinstance(key, tuple) else (key,):
        if isinstance(part, (list, tuple, range, bool, NDArrayBase)) or hasattr(part, 'shape') and part.shape != ():
            return None
    begin, end, step, lengths = [], [], [], []
    for part, length in zip(_parts(key, len(shape)), shape, strict=True):
        if isinstance(part, slice):
            first, last, by = slice(*[None if v is None else int(v) for v in
                                      (part.start, part.stop, part.step)]).indices(length)
        else:
            first = int(part) % length
            last, by = first + 1, 1
        begin.append(first)
        end.append(None if last < 0 else last)
        step.append(by)
        lengths.append(len(range(first, last, by)))
    return tuple(begin), tuple(end), tuple(step), tuple(lengths)
