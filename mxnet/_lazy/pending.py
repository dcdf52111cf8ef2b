"""Pending arrays: they have a record of the work that computes them instead of a tensor.

The work is a `Step` or a `GraphOutputs`.  Each has `run()`, which gives its arrays their tensors; `meta_of(pending)`, a
tensor with the shape and dtype of an array, or None once it has run; `borrow(array)`, the tensor of an array to read
at once; and `backward_from(heads)`.
"""
from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from operator import is_, itemgetter
from typing import TYPE_CHECKING, Any

from .._guard import Guard, invalidations

if TYPE_CHECKING:
    import torch

    from .._array import NDArrayBase
    from .._autograd import Variable
    from ..context import Context
    from .types import ArrayRef, Variables, Views, Work

# held while arrays become pending or get their tensors, never while anything is computed
transition_lock = threading.RLock()


class Pending:
    """What computes a pending array: output `number` of call `call` of the work, or its input `number` (call None)."""

    __slots__ = ('work', 'call', 'number')
    work: Any               # Any rather than `Work`: each use asks for its type first
    call: Any
    number: Any

    def __init__(self, work: Work, call: int | None, number: int) -> None:
        self.work, self.call, self.number = work, call, number


def fill(array: NDArrayBase, tensor: torch.Tensor) -> None:
    """Gives a pending array its tensor."""
    array._rebind(tensor)


def fill_all(refs: Sequence[ArrayRef], tensors: Sequence[torch.Tensor], ctx: Context,
             views: Views | tuple[()] = ()) -> None:
    """Gives output arrays that still exist their tensors.

    views: (number, base, view): output `number` is `view(tensor, ...)` of that of output `base`, which is no view
    """
    tensors = list(tensors)
    for number, base, view in views:
        if refs[number]() is not None:
            tensors[number] = view(tensors[base], ctx, False)
    for made, tensor in zip(refs, tensors, strict=True):
        array = made()
        if array is not None:
            array._storage = tensor
            array._pending = None


def identity(array: NDArrayBase, variable: Variable | None) -> int:
    """What makes an input of a step the same as another: the gradient variable, for arrays may share one."""
    return id(array) if variable is None else id(variable)


class ParameterGroup:
    """The inputs of a CachedOp that are parameters, which are the same arrays call after call.

    It is valid while its guard holds: the arrays have the tensors and the gradient variables that they had.

    index: {identity: number of the array in the group}
    states: arrays that a pending step may hide, since it writes them (`Step.hide_states`)
    learns: whether one of them has a gradient
    """

    __slots__ = ('_pick', 'arrays', 'variables', 'tensors', 'kinds', 'free', 'sources', 'index', 'states', 'learns',
                 'guard', '_memories')
    arrays: tuple[NDArrayBase, ...]
    variables: Variables

    def __init__(self, args: Sequence[NDArrayBase], positions: Sequence[int], states: Iterable[int]) -> None:
        self._pick = itemgetter(*positions) if len(positions) > 1 else lambda args: (args[positions[0]],)
        self.arrays = self._pick(args)
        self.variables = [a._variable for a in self.arrays]
        self.learns = any(v is not None and v.req != 'null' for v in self.variables)
        self.tensors = [a.materialize() for a in self.arrays]
        self.kinds = [(t.shape, t.dtype) for t in self.tensors]
        fixed = set(positions)
        self.free = [i for i in range(len(args)) if i not in fixed]
        # where the inputs come from, if the others are arrays that are not pending, and the step begins with this call
        numbers = {position: number for number, position in enumerate((*positions, *self.free))}
        self.sources = tuple([numbers[i] for i in range(len(args))])
        self.index = {identity(a, v): n for n, (a, v) in enumerate(zip(self.arrays, self.variables, strict=True))}
        self.states = [args[i] for i in states]
        self.guard = Guard(arrays=self.arrays)
        self._memories: set[int] | None = None

    def fits(self, args: Sequence[NDArrayBase]) -> bool:
        """Whether a call has these very arrays, as they were, none of them pending."""
        return all(map(is_, self._pick(args), self.arrays)) and self.is_valid()

    def is_valid(self) -> bool:
        """Whether the arrays are as they were, and none of them is pending."""
        for array in self.states:
            if array._pending is not None:
                return False
        return invalidations.count == self.guard.seen or self.guard.holds()

    def reads(self, memories: Iterable[int]) -> bool:
        """Whether one of the tensors lies in one of these pieces of memory."""
        if self._memories is None:
            self._memories = memories_of(self.tensors)
        return not self._memories.isdisjoint(memories)


def memories_of(tensors: Iterable[torch.Tensor]) -> set[int]:
    """Where the memory of tensors begins."""
    return {t.untyped_storage().data_ptr() for t in tensors}


class GraphOutputs:
    """Outputs that lie in the memory of a CUDA graph, which the next launch overwrites.  A read of one copies it.

    A loop that trains has dropped them by then, so that mostly there is nothing to copy.
    """

    __slots__ = ('_refs', '_tensors', '_ctx', '_views', '_lock')

    def __init__(self, refs: Sequence[ArrayRef], tensors: Sequence[torch.Tensor], ctx: Context,
                 views: Views | tuple[()] = ()) -> None:
        self._refs, self._tensors, self._ctx, self._views = refs, tensors, ctx, views
        self._lock = threading.Lock()
        for number, made in enumerate(refs):
            array = made()
            if array is not None:
                array._pending = Pending(self, None, number)

    def run(self) -> None:
        """Copies what still exists."""
        with self._lock:            # the next launch of the graph waits until the copies have been started
            refs, tensors = self._refs, list(self._tensors)
            if not refs:
                return
            bases = {number: base for number, base, _ in self._views}
            for number in {bases.get(n, n) for n, made in enumerate(refs) if made() is not None}:
                tensors[number] = tensors[number].clone()
                tensors[number]._graph_released = True         # type: ignore[attr-defined]  # see _autograd/tape.py
            fill_all(refs, tensors, self._ctx, self._views)
            self._refs = self._tensors = ()

    def are_current(self, arrays: Sequence[NDArrayBase], tensors: Sequence[torch.Tensor]) -> bool:
        """Whether arrays lie there that nothing has read since."""
        return self._tensors is tensors and False not in [a._pending is not None and a._pending.work is self
                                                          for a in arrays]

    def reads(self, memories: Iterable[int]) -> bool:
        return False

    def backward_from(self, heads: Any, update: Any = None) -> bool:
        return False

    def meta_of(self, pending: Pending) -> torch.Tensor | None:
        tensors = self._tensors
        return tensors[pending.number] if tensors else None

    def borrow(self, array: NDArrayBase) -> torch.Tensor:
        """The tensor of an array as it lies there."""
        pending, tensors = array._pending, self._tensors
        return tensors[pending.number] if tensors and pending is not None else array.materialize()
