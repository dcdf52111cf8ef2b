"""Backward passes: what `backward` and `grad` start from, the run of torch's engine, and what is written after it."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from .. import _paused_writes
from .._array import NDArrayBase, wrap
from .._dispatch import differentiating, entering, interceptors
from .._names import not_an_array
from .._ops.core.dtypes import NAME
from .._ops.core.gradients import no_gradient
from .._ops.core.late_reads import OVERWRITTEN
from .._ops.core.moves import NodeMoves, in_backward_order
from .._provenance import History, companion_of
from .._state import state
from .._torch.autograd import reaches, run_backward
from .._torch.memory import ALONE, storage_id, users_of
from .._wording import is_out_of_memory, plain
from ..base import MXNetError
from .variables import Variable, _history, _store

if TYPE_CHECKING:
    from .._typing import Arrays
    from ..ndarray import NDArray

NOT_RECORDED = ('cannot differentiate {what}: it was not computed from an array with a gradient (attach_grad) '
                'inside `with autograd.record():`')
NOT_SMOOTH = ('cannot differentiate {what}: it has dtype {dtype}, and gradients are computed for floating point only; '
              "convert what it is computed from with astype('float32')")
USED_UP = ('backward was called a second time through the same graph, which is freed after the first call; pass '
           'retain_graph=True to the first call to keep it')


class _Heads(NamedTuple):
    """What a backward pass starts from."""

    arrays: list[Any]
    tensors: list[torch.Tensor]         # from which torch's engine goes back
    gradients: list[torch.Tensor]       # of these tensors
    others: list[torch.Tensor]          # recorded truths and integers, from which torch's engine knows no way back


def _heads(heads: Any, head_grads: Any) -> _Heads:
    """The heads of a backward pass, without truths that were not recorded."""
    heads = [heads] if isinstance(heads, NDArrayBase) else heads
    if head_grads is None and heads.__class__ is list and len(heads) == 1:         # mostly
        tensor = _history(heads[0], 'head 0')
        if tensor.requires_grad:
            return _Heads(heads, [tensor], [torch.ones_like(tensor, memory_format=torch.contiguous_format)], [])
    if not isinstance(heads, (list, tuple)):
        raise TypeError(not_an_array('heads', heads).replace('an NDArray', 'an NDArray or a list of them'))
    if head_grads is None:
        head_grads = [None] * len(heads)
    elif isinstance(head_grads, NDArrayBase):
        head_grads = [head_grads]
    elif not isinstance(head_grads, (list, tuple)):
        raise TypeError(not_an_array('head_grads', head_grads).replace('an NDArray', 'an NDArray or a list of them'))
    if len(heads) != len(head_grads):
        raise MXNetError(f'{len(heads)} heads and {len(head_grads)} head gradients given')
    found, tensors, gradients, others = [], [], [], []
    last = {id(head): i for i, head in enumerate(heads)}            # of one that is given twice, the last counts
    for i, (head, gradient) in enumerate(zip(heads, head_grads, strict=True)):
        tensor = _history(head, f'head {i}')
        if last[id(head)] != i:
            continue
        if not tensor.requires_grad:
            companion = companion_of(tensor)
            if companion is not None and companion.requires_grad:
                found.append(head)
                tensors.append(companion)
                gradients.append(torch.zeros_like(companion))
                continue
            if hasattr(tensor, '_provenance'):
                found.append(head)
                others.append(tensor)
                continue
            if tensor.dtype is torch.bool:
                continue        # a truth, which was not recorded
            raise _undifferentiable([head])
        found.append(head)
        tensors.append(tensor)
        if gradient is None:
            gradients.append(torch.ones_like(tensor, memory_format=torch.contiguous_format))
            continue
        if not isinstance(gradient, NDArrayBase):
            raise TypeError(not_an_array(f'the gradient of head {i} (out_grad, head_grads)', gradient))
        value = gradient.materialize()
        if value.shape != tensor.shape:
            if value.numel() != tensor.numel():
                raise MXNetError(f'head {i} has shape {tuple(tensor.shape)}, but its head gradient '
                                 f'{tuple(value.shape)}, which is not as many numbers')
            value = value.reshape(tensor.shape)
        gradients.append(value if value.dtype is tensor.dtype and value.device == tensor.device
                         else value.to(tensor.device, tensor.dtype))
    if not heads:
        raise _undifferentiable(heads)
    return _Heads(found, tensors, gradients, others)


def _undifferentiable(heads: Sequence[Any]) -> MXNetError:
    what = 'this array' if len(heads) == 1 else 'these arrays'
    tensors = [_history(head, 'head') for head in heads]
    if any(getattr(t, '_graph_released', False) for t in tensors):
        return MXNetError(USED_UP)
    if tensors and not tensors[0].is_floating_point():
        return MXNetError(NOT_SMOOTH.format(what=what, dtype=NAME[tensors[0].dtype]))
    return MXNetError(NOT_RECORDED.format(what=what))


def _release_history(heads: Sequence[Any], history: History) -> None:
    """Takes the history from what was differentiated: a second time would be a mistake, and it is memory."""
    history.drop()
    for head in heads:
        if head._variable is None:
            if head._sparse:
                head._history = None
            elif head.materialize().requires_grad:            # nothing was noted of it
                tensor = head.materialize().detach()
                head._rebind(tensor)
                tensor._graph_released = True


def _unwritten(history: History, commits: Sequence[tuple[Any, ...]]) -> list[Variable]:
    """Variables that a pass with these commits does not write, but its heads were computed from.

    Where the heads depend on one by its shape, as an index or a condition only, torch's engine does not come to it; its
    gradient is zero.
    """
    written = {id(commit[3]) for commit in commits if commit[0] is _store}
    return [v for v in history.variables if id(v.fresh) not in written and v.req == 'write' and not v.buffer._sparse]


def _explain(error: RuntimeError) -> MXNetError:
    text = str(error)
    if 'a second time' in text or 'has been detached in-place' in text:
        return MXNetError(USED_UP)
    if 'modified by an inplace operation' in text or 'modified inplace' in text:
        return MXNetError(OVERWRITTEN)
    return MXNetError(('the backward pass: ' if is_out_of_memory(text) else '') + plain(error))


def _run_engine(tensors: Sequence[torch.Tensor], gradients: Sequence[torch.Tensor | None], retain_graph: bool,
                create_graph: bool, wanted: Sequence[torch.Tensor], accumulate: bool) -> tuple[Any, list]:
    """Runs torch's engine.  -> (its results, commits: what the pass is to write)"""
    if not tensors:
        return [None] * len(wanted), []
    outer = state.commits, state.heads          # of the pass that this one is a part of
    commits: list = []
    state.commits, state.heads = commits, tensors
    try:
        return run_backward(tensors, gradients, retain_graph, create_graph, wanted, accumulate), commits
    except MXNetError:
        raise
    except RuntimeError as error:
        raise _explain(error) from error
    finally:
        state.commits, state.heads = outer


def _write(commits: list, tensors: Sequence[torch.Tensor]) -> None:
    """Writes gradients and moving averages after a pass from `tensors`; one that fails writes nothing."""
    if NodeMoves in [type(commit[0]) for commit in commits]:
        commits = in_backward_order(commits, tensors)
    commits.reverse()
    while commits:                              # each gradient is freed as soon as it is written
        write, *args = commits.pop()
        write(*args)


def backward(heads: Arrays, head_grads: NDArray | Sequence[NDArray | None] | None = None, retain_graph: bool = False,
             train_mode: bool = True) -> Any:
    """Computes the gradients of `heads` with respect to all arrays with a gradient attached, into their `.grad`."""
    if interceptors and (scope := entering('backward')) is not None:
        with scope:
            return backward(heads, head_grads, retain_graph, train_mode)
    if not (head_grads is None and not retain_graph and train_mode and backward_as_plan(heads)):
        on_tape(heads, head_grads, retain_graph, train_mode)


def backward_from_array(self: Any, out_grad: NDArray | None = None, retain_graph: bool = False,
                        train_mode: bool = True) -> None:
    """Computes the gradients of this array with respect to all arrays with a gradient attached."""
    if interceptors and (scope := entering('NDArray.backward')) is not None:
        with scope:
            return backward_from_array(self, out_grad, retain_graph, train_mode)
    pending = self._pending
    if pending is not None and out_grad is None and not retain_graph and train_mode and not interceptors:
        if not pending.work.backward_from((self,)):
            on_tape([self])
        return
    backward([self], None if out_grad is None else [out_grad], retain_graph, train_mode)


def on_tape(heads: Any, head_grads: Any = None, retain_graph: bool = False, train_mode: bool = True) -> None:
    """`backward` by torch's engine; heads that are pending are computed first."""
    heads, tensors, gradients, others = _heads(heads, head_grads)
    if interceptors:
        differentiating(tensors)
    history = History(tensors + others, Variable)
    state.moves = train_mode
    try:
        _, commits = _run_engine(tensors, gradients, retain_graph, False, (), True)
        unwritten = _unwritten(history, commits)
        _write(commits, tensors)
    finally:
        state.moves = True
    for v in unwritten:
        _store(v.buffer, 'write', v.fresh, torch.zeros((), dtype=v.buffer.meta().dtype, device=v.leaf.device))
    if not retain_graph:
        _release_history(heads, history)
        if _paused_writes.uncounted:
            _paused_writes.count_all()


def backward_as_plan(heads: Arrays, update: Any = None) -> bool:
    """Whether heads were deferred, and have been computed together with their gradients: see _lazy/step.py.

    update: as for `Step.backward_from`
    """
    first = heads[0] if isinstance(heads, (list, tuple)) and heads else heads
    pending = getattr(first, '_pending', None)
    return pending is not None and not state.interceptors and pending.work.backward_from(heads, update)


def grad(heads: Arrays, variables: Any, head_grads: NDArray | Sequence[NDArray | None] | None = None,
         retain_graph: bool | None = None, create_graph: bool = False, train_mode: bool = True) -> Any:
    """Gradients of `heads` with respect to `variables`, as a list of new arrays; no `.grad` is touched.

    With `create_graph` the result can itself be differentiated.
    """
    if interceptors and (scope := entering('grad')) is not None:
        with scope:
            return grad(heads, variables, head_grads, retain_graph, create_graph, train_mode)
    heads, tensors, gradients, others = _heads(heads, head_grads)
    variables = [variables] if isinstance(variables, NDArrayBase) else list(variables)
    wanted = [v._link() if getattr(v, '_sparse', False) else _history(v, f'variable {i}')
              for i, v in enumerate(variables)]
    for i, tensor in enumerate(wanted):
        if not tensor.requires_grad:
            raise MXNetError(NOT_RECORDED.format(what=f'with respect to variable {i}'))
    retain_graph = create_graph if retain_graph is None else retain_graph
    if interceptors:
        differentiating(tensors)
    state.wanted = wanted
    try:
        results, commits = _run_engine(tensors, gradients, retain_graph, create_graph, wanted, False)
        _write(commits, tensors)
    finally:
        state.wanted = None
    results = [r.to_dense() if r is not None and r.layout is not torch.strided else r for r in results]
    history = History(tensors + others, Variable)
    for i, result in enumerate(results):
        if result is None:
            if variables[i]._variable not in history.variables and not reaches(tensors, wanted[i]):
                raise MXNetError(f'cannot differentiate with respect to variable {i}: the heads do not depend on it')
            results[i] = torch.zeros_like(wanted[i], requires_grad=False)
    # torch may answer with a head's gradient itself, with one tensor twice, or with views of one
    given = {storage_id(t.untyped_storage()) for t in (*tensors, *gradients, *wanted)}
    for i, result in enumerate(results):
        memory = storage_id(result.untyped_storage())
        if memory in given or users_of(result) > ALONE:
            results[i] = result = result.clone(memory_format=torch.contiguous_format)
        given.add(memory)
    if create_graph:
        # of a linear function: a constant, yet its gradient is to be zero and not an error
        results = [r if r.requires_grad else no_gradient(lambda *_, r=r: r.clone(), *wanted) for r in results]
    if not retain_graph:
        _release_history(heads, history)
    return [wrap(r.contiguous() if v.meta().dtype.is_floating_point else r.to(v.meta().dtype), v._ctx, v._dense)
            for r, v in zip(results, variables, strict=True)]
