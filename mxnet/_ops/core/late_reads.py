"""What upstream's backward pass reads and torch's does not: indices, labels, lengths, conditions, and more.

torch saves what its formulas need: converted copies, masks, or the output where upstream reads the input.  A write into
the original between recording and `backward` changes the gradient in upstream, and would be ignored here.  It is found
here and raises an error, as writes into tensors that torch saves do.
"""
import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any
from weakref import ref

import torch

from ..._state import state
from ..._torch.autograd import before, reaches
from ...base import MXNetError
from .integer_gradients import history_of

OVERWRITTEN = ('an array that the gradient computation needs was written in place after it was recorded; '
               'write a copy of it instead (x = x + 1, or x.copy() before writing), or write after backward')

# Weak references to tensors that were written inside `autograd.pause()` and have their old version again; see
# `_paused_writes.py`.
uncounted: list = []


def _check(known: ref, version: int, paused: int, gradients: Any = None) -> None:
    """Raises an error if a tensor has been written; also as a hook of a node of torch's graph.

    version: that which the tensor had
    paused: how many tensors `uncounted` had then
    """
    if _was_written(known, version, paused):
        raise MXNetError(OVERWRITTEN)


def _was_written(known: ref, version: int, paused: int) -> bool:
    tensor = known()
    return tensor is not None and (tensor._version != version
                                   or len(uncounted) > paused and _was_written_in_pause(tensor, paused))


def _was_written_in_pause(tensor: torch.Tensor, paused: int) -> bool:
    memory = tensor.untyped_storage().data_ptr()
    written = [t() for t in uncounted[paused:]]
    return any(t is not None and t.untyped_storage().data_ptr() == memory for t in written)


class Versions:
    """Tensors with the versions that they have now.

    The references are weak: what is gone is not written any more, and intermediate results stay no longer than they
    did.
    """

    __slots__ = ('_known', '_paused')

    def __init__(self, tensors: Iterable[torch.Tensor | None]) -> None:
        self._known = [(ref(t), t._version) for t in tensors if t is not None and not t.is_inference()]
        self._paused = len(uncounted)

    def check(self) -> None:
        """Raises an error if one of the tensors has been written."""
        for known, version in self._known:
            _check(known, version, self._paused)

    def __call__(self, gradients: Any) -> None:
        """As a hook of a node of torch's graph."""
        self.check()


def check_late(result: torch.Tensor, tensor: torch.Tensor) -> None:
    """Has the gradient of a new result, which must have one, check that a tensor was not written.

    `Versions` of one tensor takes several times as long.
    """
    try:
        version = tensor._version
    except RuntimeError:            # an inference tensor, whose writes are not counted
        return
    if result.__class__ is not torch.Tensor:
        result = history_of(result)
    before(result, partial(_check_late, ref(result), ref(tensor), version, len(uncounted)))


def _check_late(result: ref, known: ref, version: int, paused: int, gradient: Any) -> None:
    """Raises an error if a tensor has been written and the gradient goes through the call that gave `result`."""
    if _was_written(known, version, paused) and _goes_on(result()):
        raise MXNetError(OVERWRITTEN)


def _goes_on(result: torch.Tensor | None) -> bool:
    """Whether the current backward pass runs the node of a result, and does not end at the result."""
    wanted = state.wanted
    if wanted is None or result is None or not any(w is result for w in wanted):
        return True
    return any(w is not result and reaches([result], w) for w in wanted)


def reads_late(*names: str, outputs: Sequence[int] = (), inputs: Sequence[str] | None = None,
               when: Callable[..., bool] | None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorates the function of an operator whose backward pass reads inputs of these names, and outputs.

    inputs: the names of all inputs, if the function does not name them
    when: (tensors, attributes) -> whether a call reads them; always, by default.  For a call of a graph, tensors and
        train mode are unknown: it receives None and attributes without `training`
    """
    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        parameters = inspect.getfullargspec(function).args if inputs is None else inputs
        positions = [parameters.index(name) for name in names]

        @functools.wraps(function)
        def call(*tensors, **attributes):
            result = function(*tensors, **attributes)
            results: tuple[torch.Tensor, ...]
            if result.__class__ is torch.Tensor:
                if result.grad_fn is None:          # most calls
                    return result
                results = (result,)
            else:
                results = result if isinstance(result, tuple) else (result,)
                if all(r is None or getattr(r, 'grad_fn', None) is None for r in results):
                    return result
            if when is not None and not when(tensors, attributes):
                return result
            known = [tensors[i] for i in positions if i < len(tensors)]
            if outputs:
                # a result that is a view would be copied, and the program would write into the copy
                results = tuple([_own(r) if i in outputs else r for i, r in enumerate(results)])
                known += [results[i] for i in outputs if i < len(results)]
            for r in results:
                if isinstance(r, torch.Tensor) and r.grad_fn is not None:
                    r.grad_fn.register_prehook(Versions(known))
            return results if isinstance(result, tuple) else results[0]
        # `Program` reads it
        vars(call)['late_reads'] = (*getattr(function, 'late_reads', ()), (names, tuple(outputs), when))
        return call
    return decorate


def _own(result: torch.Tensor) -> torch.Tensor:
    if result._base is None and result.is_contiguous():
        return result
    return result.clone(memory_format=torch.contiguous_format)
