"""What recorded tensors remember of how they were computed: for `autograd.get_symbol`, and to be forgotten together.

A note is a tuple that hangs on the tensor that an operator gave while recording: (what, attributes, sources, number,
made).  `what` is an operator of the table, or something that `symbol/_recorded.py` knows to spell in operators;
`number` says which of its outputs this is, and `made` has weak references to all of them that were noted.  A source is
what an input was: its own note, its gradient variable, or, where it had no history, a weak reference to the array.  So
a note holds no memory of arrays, lives as long as the tensor does, and a long chain of them is freed without recursion,
since tuples are.  Only what carries a gradient is noted: anything else could grow without end, for torch's tape does
not hold it.
"""
from weakref import ref

from ._torch.autograd import take_history

GETITEM, SETITEM = 'x[key]', 'x[key] = value'
NONE: dict = {}             # the attributes of a call without any
UNKNOWN = 'something that torch recorded and no operator did'


def source(array):
    """What an array is to those computed from it."""
    if array._variable is not None:
        return array._variable
    tensor = array._history if array._sparse else array.materialize()
    found = getattr(tensor, '_note', None)
    if found is None:
        found = ref(array) if tensor is None or not tensor.requires_grad else UNKNOWN
    return found


def note(what, attributes, inputs, result):
    """Notes on a tensor that it was computed from arrays; on one without history, nothing."""
    if result.requires_grad:
        result._note = (what, attributes, tuple([x._variable or source(x) for x in inputs]), 0, (ref(result),))


def note_graph(what, sources, results):
    """Notes on tensors that they are the outputs of a whole graph: (symbol, None), or an operator with attributes."""
    _note_together(*what, sources, results)


def note_all(what, attributes, inputs, results):
    """`note` for the arrays that a call gave, dense or sparse, or None."""
    sources = tuple([source(x) for x in inputs if x is not None])
    _note_together(what, attributes, sources,
                   [None if r is None else r._history if r._sparse else r.materialize() for r in results])


def _note_together(what, attributes, sources, tensors):
    made = tuple([ref(t) for t in tensors if t is not None and t.requires_grad])
    for number, tensor in enumerate(tensors):
        if tensor is not None and tensor.requires_grad:
            tensor._note = (what, attributes, sources, number, made)


def forget(heads):
    """Takes the history from tensors, and from all that were noted on the way to them: they are constants from now on.

    Programs carry the states of recurrent networks from one step to the next, and do not always `detach` them.
    """
    waiting, seen = [head._note for head in heads if hasattr(head, '_note')], set()
    while waiting:
        _, _, sources, _, made = waiting.pop()
        if id(sources) in seen:
            continue
        seen.add(id(sources))
        for there in made:
            tensor = there()
            if tensor is None or not tensor.requires_grad:
                continue
            try:
                tensor.detach_()
            except RuntimeError:                # it is a view, from which torch takes no history
                if not take_history(tensor):
                    continue
            tensor._used_up = True
            vars(tensor).pop('_note', None)     # another thread may have been here
        for s in sources:
            if type(s) is tuple:
                waiting.append(s)
