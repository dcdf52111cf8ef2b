"""Provenance of recorded tensors: which operator computed a tensor, from what.

`autograd.get_symbol` reads it, and `History` follows it from the heads of a backward pass: to intermediate results,
whose history is dropped, and to what torch's engine does not come to, where the heads depend on it by indices, shapes
and conditions only: variables, whose gradient is zero, and calls that move averages in their backward pass.

The attribute `_provenance` of a tensor is a tuple (what, attributes, sources, number, outputs, moves).  `what` is an
operator of the table, or one of the kinds of calls that `symbol/_recorded.py` can express in operators.  `number` is
the position of the tensor among the outputs of the call, `outputs` has weak references to all recorded outputs, and
`moves` what moves the call's states when a backward pass comes to it (`Mover`s).
A source describes an input: its own provenance, its gradient variable, or, for one without history, a weak reference
to the array.  So provenance keeps no array alive, and lives as long as the tensor.  A long chain is freed without
recursion, because tuples are.  Only tensors that carry a gradient have provenance, and integers and truths computed
from what has one.
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import TYPE_CHECKING, Any
from weakref import ref

from ._ops.core.moves import backward_ranks
from ._ops.core.table import Operator
from ._state import state
from ._torch.autograd import take_history

if TYPE_CHECKING:
    import torch

GETITEM, SETITEM = 'x[key]', 'x[key] = value'
NONE: dict = {}             # the attributes of a call without any
UNKNOWN = 'something that torch recorded and no operator did'


class Reach(tuple[Set[int], ...]):
    """Which sources of a graph a backward pass comes to from each output; the attributes in a graph's provenance."""


def source(array: Any) -> Any:
    """The source that describes an array in the provenance of results computed from it."""
    return source_of(array._variable, array._history if array._sparse else array.materialize(), array)


def source_of(variable: Any, tensor: Any, array: Any) -> Any:
    """The same for an array that had this variable and this tensor when it was read."""
    if variable is not None:
        return variable
    found = getattr(tensor, '_provenance', None)
    if found is None:
        found = ref(array) if tensor is None or not tensor.requires_grad else UNKNOWN
    return found


def is_computed(tensor: torch.Tensor) -> bool:
    """Whether a tensor was computed from variables, be it without a gradient (indices, truths)."""
    return tensor.requires_grad or hasattr(tensor, '_provenance')


def record_result(what: Any, attributes: Any, inputs: Iterable[Any], result: Any) -> None:
    """Records that a tensor was computed from arrays while recording, if it or one of them has a history."""
    sources = tuple([x._variable or source(x) for x in inputs])
    if result.requires_grad or state.recording and has_history(sources):
        result._provenance = (what, attributes, sources, 0, (ref(result),), ())


def has_history(sources: Iterable[Any]) -> bool:
    """Whether one of the sources is a variable with a gradient, or was computed from some."""
    return False in [type(s) is ref or getattr(s, 'req', '') == 'null' for s in sources]


def record_graph(what: tuple[Any, Any], sources: tuple[Any, ...], results: Sequence[Any],
                 reach: Reach | None = None, moves: Sequence[Any] = ()) -> None:
    """Records the outputs of a graph.  what: (symbol, None), or (operator, attributes).

    reach: None: a backward pass comes to all sources from each output
    moves: what moves the states of the graph
    """
    graph, attributes = what
    _record(graph, attributes if reach is None else reach, sources, results, moves)


def _reached(what: Any, attributes: Any, sources: tuple[Any, ...], number: int) -> Sequence[Any]:
    """The sources of an output that a backward pass comes to: not the states that a call writes."""
    if isinstance(what, Operator):
        if not what.mutates or callable(what.mutates):
            return sources
        states = what.mutated(attributes, len(sources))
        return [s for i, s in enumerate(sources) if i not in states]
    if type(attributes) is Reach:
        return [s for i, s in enumerate(sources) if i in attributes[number]]
    return sources


def record_results(what: Any, attributes: Any, inputs: Iterable[Any], results: Iterable[Any],
                   moves: Sequence[Any] = ()) -> None:
    """As `record_result`, for the output arrays of a call: dense, sparse, or None."""
    sources = tuple([source(x) for x in inputs if x is not None])
    _record(what, attributes, sources,
            [None if r is None else r._history if r._sparse else r.materialize() for r in results], moves)


def _record(what: Any, attributes: Any, sources: tuple[Any, ...], tensors: Sequence[Any],
            moves: Sequence[Any]) -> None:
    every = has_history(sources)        # callers have recorded; a deferred call is recorded when it runs
    outputs = tuple([ref(t) for t in tensors if t is not None and (every or t.requires_grad)])
    for number, tensor in enumerate(tensors):
        if tensor is not None and (every or tensor.requires_grad):
            tensor._provenance = (what, attributes, sources, number, outputs, moves)


class History:
    """What the heads of a backward pass were computed from: gradient variables, and recorded calls.

    moves: (mover, provenance of a result of its call) of the calls that move states
    """

    __slots__ = ('variables', 'moves', '_outputs', '_heads')

    def __init__(self, heads: Iterable[torch.Tensor], kind: type) -> None:
        self.variables: list[Any] = []              # of this kind; one may be there twice
        self.moves: list[tuple[Any, tuple[Any, ...]]] = []
        self._outputs: list[Sequence[Any]] = []
        variables, calls, seen = self.variables, self._outputs, set()
        self._heads = heads = tuple(heads)
        waiting = [h._provenance for h in heads if hasattr(h, '_provenance')]   # type: ignore[attr-defined]
        while waiting:
            record = waiting.pop()
            what, attributes, sources, number, outputs, moves = record
            key = id(sources) if attributes.__class__ is not Reach else (id(sources), number)   # `_key`
            if key in seen:
                continue
            seen.add(key)
            calls.append(outputs)
            if what.__class__ is not Operator or what.mutates:          # else all of them, as mostly
                sources = _reached(what, attributes, sources, number)
                self.moves += [(m, record) for m in moves
                               if attributes.__class__ is not Reach or m.reads <= attributes[number]]
            for s in sources:
                if s.__class__ is tuple:
                    waiting.append(s)
                elif isinstance(s, kind):
                    variables.append(s)

    def unmoved(self, moved: Set[Any], wanted: Sequence[Any] | None = None) -> list[Any]:
        """What moves states of calls that torch's engine has not come to.

        moved: the labels of those that it has
        wanted: variables and tensors; only calls that depend on one of them
        """
        return [mover for mover, (_, _, sources, *_) in self.moves if mover.label not in moved and (
            wanted is None or _leads_to(sources if mover.reads is None else [sources[i] for i in mover.reads], wanted))]

    def ranks(self, wanted: Sequence[Any] = ()) -> dict[Any, tuple[int, int]]:
        """{label: when upstream's backward pass runs its call: that of a graph, and in the graph}.

        wanted: the variables and provenances that `autograd.grad` is asked for
        """
        records: dict[Any, Any] = {}

        def named(item: Any) -> Any:
            key = _key(item)
            records[key] = item
            return key

        def inputs(key: Any) -> list[tuple[Any, int]]:
            item = records[key]
            if item.__class__ is not tuple:
                return []
            return [(named(s), s[3] if s.__class__ is tuple else 0) for s in _reached(*item[:4])
                    if s.__class__ is tuple or getattr(s, 'req', 'null') != 'null']

        heads = [named(h._provenance) for h in self._heads if hasattr(h, '_provenance')]
        found = backward_ranks(heads, inputs, [_key(w) for w in wanted] if len(wanted) else None)
        return {mover.label: (found.get(_key(record), -1), mover.rank) for mover, record in self.moves}

    def drop(self) -> None:
        """Drops the history of the heads and of what they were computed from: all become constants.

        Programs carry the states of recurrent networks from one step to the next, and do not always `detach` them.
        """
        for outputs in self._outputs:
            for output in outputs:
                tensor = output()
                if tensor is None:
                    continue
                if not tensor.requires_grad:
                    vars(tensor).pop('_provenance', None)     # of truths
                    continue
                try:
                    tensor.detach_()
                except RuntimeError:                # a view: torch refuses
                    if not take_history(tensor):
                        continue
                tensor._graph_released = True
                vars(tensor).pop('_provenance', None)     # another thread may have removed it


def _key(item: Any) -> Any:
    """What tells a recorded call, or a variable, from others; each output of a graph with `Reach` is a call."""
    if item.__class__ is not tuple:
        return id(item)
    return (id(item[2]), item[3]) if item[1].__class__ is Reach else id(item[2])


def _leads_to(sources: Sequence[Any], wanted: Sequence[Any]) -> bool:
    """Whether one of the sources is one of the wanted variables and tensors, or was computed from one."""
    places, seen, waiting = {id(w) for w in wanted}, set[int](), list(sources)
    while waiting:
        s = waiting.pop()
        if id(s) in places:
            return True
        if s.__class__ is tuple and id(s[2]) not in seen:
            seen.add(id(s[2]))
            if not places.isdisjoint([id(output()) for output in s[4]]):
                return True
            waiting += s[2]
    return False


def companion_among(outputs: Sequence[torch.Tensor]) -> torch.Tensor | None:
    """The first output of a graph that has a gradient."""
    return next((o for o in outputs if o.requires_grad and o.is_floating_point()), None)


def note_companions(outputs: Sequence[torch.Tensor]) -> None:
    """Notes with each output of a graph that has no gradient one that has.

    Where a backward pass starts from the first as well, the graph goes back with a gradient of zeros, as upstream's
    does.  The note keeps no graph alive.
    """
    companion = companion_among(outputs)
    if companion is not None:
        found = ref(companion)
        for output in outputs:
            if not output.requires_grad:
                output._companion = found       # type: ignore[attr-defined]


def companion_of(output: torch.Tensor) -> torch.Tensor | None:
    """The output that `note_companions` has noted, while it is there."""
    found = getattr(output, '_companion', None)
    return None if found is None else found()
