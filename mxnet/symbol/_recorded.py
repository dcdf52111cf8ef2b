"""The Symbol of what was recorded inside `autograd.keep_symbols()`."""
from .._array import NDArrayBase
from .._graph.node import Node
from .._watch import origin
from ..base import MXNetError
from ..name import NameManager
from ._compose import make, text_of
from .symbol import Symbol


def symbol_of(array):
    """A symbol whose only output is the array."""
    names: dict[int, Node] = {}         # variables, by what they stand for
    counts = {'var': 0, 'null': 0}
    made: dict[int, Node] = {}          # operator calls

    def pending(source):
        """The call that an origin comes from, while that has no node."""
        call = _call(*source)[0] if isinstance(source, tuple) else None
        return call if call is not None and id(call) not in made else None

    def entry(source):
        if isinstance(source, tuple):
            call, number = _call(*source)
            return made[id(call)], number
        if id(source) not in names:
            kind = 'null' if isinstance(source, NDArrayBase) else 'var'
            names[id(source)] = Node(None, f'{kind}{counts[kind]}', {})
            counts[kind] += 1
        return names[id(source)], 0

    head = origin(array)
    waiting = [head]
    while waiting:
        call = pending(waiting[-1])
        if call is None:
            waiting.pop()
            continue
        missing = [source for source in call.origins if pending(source) is not None]
        if missing:
            waiting += reversed(missing)
            continue
        attrs = {k: text_of(call.op, k, v) for k, v in call.attributes.items() if k in call.op.attributes}
        name = NameManager.current.get(None, call.op.name.lower())
        made[id(call)] = Node(call.op, name, attrs, [entry(source) for source in call.origins])
    return make(Symbol, [entry(head)])


def _call(node, number):
    while node.name() == 'CloneBackward0' and 'mxnet.calls' not in node.metadata:
        node, number = node.next_functions[0]           # a result that was copied to own its memory
    known = node.metadata.get('mxnet.calls', {}) if node is not None else {}
    if number not in known:
        what = node.name() if node is not None else 'nothing'
        raise MXNetError(f"get_symbol: it is not known by which operators the array was computed (torch knows {what}); "
                         'record it inside `with autograd.keep_symbols():`')
    return known[number]
