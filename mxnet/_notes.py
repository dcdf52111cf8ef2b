"""What recorded tensors remember of how they were computed, for `autograd.get_symbol`.

A note is a tuple that hangs on the tensor that an operator gave while recording: (what, attributes, sources, number).
`what` is an operator of the table, or something that `symbol/_recorded.py` knows to spell in operators; `number` says
which of its outputs it was.  A source is what an input was: its own note, its gradient variable, or, where it had no
history, a weak reference to the array.  So a note holds no memory of arrays, lives as long as the tensor does, and a
long chain of them is freed without recursion, since tuples are.  Only what carries a gradient is noted: anything else
could grow without end, for torch's tape does not hold it.
"""
from weakref import ref

GETITEM, SETITEM = 'x[key]', 'x[key] = value'
NONE: dict = {}             # the attributes of a call without any
UNKNOWN = 'something that torch recorded and no operator did'


def source(array):
    """What an array is to those computed from it."""
    if array._variable is not None:
        return array._variable
    tensor = array._history if array._sparse else array._tensor
    found = getattr(tensor, '_note', None)
    if found is None:
        found = ref(array) if tensor is None or not tensor.requires_grad else UNKNOWN
    return found


def note(what, attributes, inputs, result):
    """Notes on a tensor that it was computed from arrays; on one without history, nothing."""
    if result.requires_grad:
        result._note = (what, attributes, tuple([x._variable or source(x) for x in inputs]), 0)


def note_graph(what, sources, results):
    """Notes on tensors that they are the outputs of a whole graph: (symbol, None), or an operator with attributes."""
    for number, tensor in enumerate(results):
        if tensor.requires_grad:
            tensor._note = (*what, sources, number)


def note_all(what, attributes, inputs, results):
    """`note` for the arrays that a call gave, dense or sparse, or None."""
    sources = tuple([source(x) for x in inputs if x is not None])
    for number, result in enumerate(results):
        tensor = None if result is None else result._history if result._sparse else result._tensor
        if tensor is not None and tensor.requires_grad:
            tensor._note = (what, attributes, sources, number)
