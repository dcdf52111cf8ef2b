"""The tape: switches of recording, gradient variables, and the backward pass."""
from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from sys import getrefcount
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from .. import _paused_writes
from .._array import NDArrayBase, before_write, overwrite, readers, wrap
from .._dispatch import differentiating, entering, interceptors
from .._dispatch import tracer as _tracer
from .._guard import invalidations
from .._names import kind_of, not_an_array
from .._ops.core.dtypes import NAME
from .._ops.core.integer_gradients import DifferentiableInteger
from .._ops.core.late_reads import OVERWRITTEN
from .._ops.core.moves import NodeMoves, in_backward_order, label_of, ranks_on_tape
from .._provenance import History, companion_of
from .._state import state
from .._torch.autograd import run_backward
from .._torch.memory import ALONE, users_of
from .._wording import is_out_of_memory, plain
from ..base import MXNetError

if TYPE_CHECKING:
    from .._typing import Arrays
    from ..ndarray import NDArray

NOT_RECORDED = ('cannot differentiate {what}: it was not computed from an array with a gradient (attach_grad) '
                'inside `with autograd.record():`')
NOT_SMOOTH = ('cannot differentiate {what}: it has dtype {dtype}, and gradients are computed for floating point only; '
              "convert what it is computed from with astype('float32')")
USED_UP = ('backward was called a second time through the same graph, which is freed after the first call; pass '
           'retain_graph=True to the first call to keep it')


# ---------------------------------------------------------------------- switches
def is_recording() -> bool:
    """Whether operators on this thread are being recorded."""
    tracer = _tracer()          # it knows whether the calls that it makes nodes of are recorded
    return state.recording if tracer is None else tracer.recording


def is_training() -> bool:
    """Whether operators on this thread behave as in training (Dropout drops, BatchNorm uses the batch)."""
    return state.training


def set_recording(is_recording: bool) -> bool:
    """Switches recording; returns the previous setting."""
    tracer = _tracer()
    if tracer is not None:
        before, tracer.recording = tracer.recording, bool(is_recording)
        return before
    before, state.recording = state.recording, bool(is_recording)
    return before


def set_training(train_mode: bool) -> bool:
    """Switches train mode; returns the previous setting."""
    before, state.training = state.training, bool(train_mode)
    return before


class _Scope:
    """Sets the switches on entry (None: leaves one alone) and restores them on exit."""

    __slots__ = ('_recording', '_training', '_before')
    # recording, training, whether torch's grad mode was off, writes, and what an outer use of this object restores
    _before: Any

    def __init__(self, recording: bool | None, training: bool | None) -> None:
        self._recording, self._training, self._before = recording, training, None

    def __enter__(self) -> None:
        recording = self._recording
        tracer = _tracer() if interceptors else None
        if tracer is not None:
            self._before = tracer.recording, state.training, False, state.writes, self._before
            tracer.recording = tracer.recording if recording is None else recording
            state.training = state.training if self._training is None else self._training
            return
        # inside torch.no_grad() nothing would be recorded: our scope turns it on, and off again at its end
        silenced = recording and not torch.is_grad_enabled()
        # what was before, with what an outer use of this same object will restore
        self._before = state.recording, state.training, silenced, state.writes, self._before
        if silenced:
            torch.set_grad_enabled(True)
        if recording is not None and recording is not state.recording:
            if _paused_writes.uncounted and recording and state.writes is None:
                _paused_writes.count_all()
            state.writes = None if recording else []
            state.recording = recording
        if self._training is not None:
            state.training = self._training

    def __exit__(self, *exc: Any) -> None:
        recording, state.training, silenced, writes, self._before = self._before
        tracer = _tracer() if interceptors else None
        if tracer is None:
            if state.writes and state.writes is not writes:
                _paused_writes.restore_versions(state.writes)
            state.recording, state.writes = recording, writes
        else:
            tracer.recording = recording
        if silenced:
            torch.set_grad_enabled(False)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """As a decorator: the whole function runs in the scope."""
        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with _Scope(self._recording, self._training):
                return function(*args, **kwargs)
        return inside


def record(train_mode: bool = True) -> AbstractContextManager[Any]:
    """A scope in which operators are recorded for `backward`.

    >>> x = mx.nd.array([1, 2, 3])
    >>> x.attach_grad()
    >>> with mx.autograd.record():
    ...     y = (x * x).sum()
    >>> y.backward()
    >>> x.grad
    <BLANKLINE>
    [2. 4. 6.]
    <NDArray 3 @cpu(0)>
    """
    return _Scope(True, train_mode)


def pause(train_mode: bool = False) -> AbstractContextManager[Any]:
    """A scope in which nothing is recorded."""
    return _Scope(False, train_mode)


def train_mode() -> AbstractContextManager[Any]:
    """A scope in which operators behave as in training, recorded or not."""
    return _Scope(None, True)


def predict_mode() -> AbstractContextManager[Any]:
    """A scope in which operators behave as in prediction, recorded or not."""
    return _Scope(None, False)


# ---------------------------------------------------------------------- variables
class Variable:
    """What `attach_grad` makes of an array."""

    leaf: Any

    __slots__ = ('leaf', 'buffer', 'req', 'fresh')

    def __init__(self, tensor: torch.Tensor, buffer: Any, req: str) -> None:
        if req not in ('write', 'add', 'null'):
            raise MXNetError(f"grad_req must be 'write', 'add' or 'null', not {req!r}")
        self.buffer: Any
        self.buffer, self.req = buffer, req
        self.fresh: Any = [False]          # has backward written the buffer since this was set to False
        leaf = self.leaf = tensor.detach()
        if req != 'null' and not tensor.dtype.is_floating_point:
            leaf = self.leaf = DifferentiableInteger.leaf(tensor)
            leaf._shadow.register_post_accumulate_grad_hook(_rounding_hook(buffer, req, self.fresh))
        elif req != 'null':
            leaf.requires_grad_()
            leaf.register_post_accumulate_grad_hook(_gradient_hook(buffer, req, self.fresh))
            if buffer._sparse:
                leaf._wants_rows = True  # type: ignore[attr-defined]  # operators that know only some rows of its gradient may send just these


def _gradient_hook(buffer: Any, req: str, fresh: list[bool]) -> Callable[[torch.Tensor], None]:
    """A hook that moves a gradient that torch has summed up into the buffer that the program sees.

    It holds no reference to the leaf that calls it: a cycle would keep large arrays until the garbage collector runs.
    """
    def hook(leaf: torch.Tensor) -> None:
        gradient, leaf.grad = leaf.grad, None
        if vars(leaf).pop('_unreached', False) and gradient is None:
            return                      # torch's graph leads here, the computation does not
        if gradient is None:            # reached only through operators without a gradient
            gradient = leaf.new_zeros(())
        commits = state.commits
        if commits is not None:         # as `_commit`
            commits.append((_store, buffer, req, fresh, gradient))
        else:
            _store(buffer, req, fresh, gradient)
    return hook


def _rounding_hook(buffer: Any, req: str, fresh: list[bool]) -> Callable[[torch.Tensor], None]:
    """The same for the shadow of integers: the gradient loses its fraction."""
    def hook(shadow: torch.Tensor) -> None:
        gradient, shadow.grad = shadow.grad, None
        if gradient is None:
            gradient = shadow.new_zeros(())
        _commit(_store, buffer, req, fresh, gradient.detach().to(buffer.meta().dtype))
    return hook


def _commit(write: Callable[..., None], *args: Any) -> None:
    """Calls `write` at the end of the backward pass of this thread, if that pass succeeds; outside of one, now."""
    commits = state.commits
    if commits is None:
        write(*args)
    else:
        commits.append((write, *args))


def written_later(buffer: Any, then: Callable[..., None], *args: Any) -> torch.Tensor | None:
    """For a hook that runs behind that of a variable: the gradient that was computed for its buffer, if it is written
    when the pass has succeeded; then `then` is called behind it.  None if it has been written.
    """
    commits = state.commits
    if not commits or commits[-1][0] is not _store or commits[-1][1] is not buffer:
        return None
    gradient = commits[-1][-1].detach()
    commits.append((then, *args))
    return gradient.to_dense() if gradient.layout is not torch.strided else gradient


def _store(buffer: Any, req: str, fresh: list[bool], gradient: torch.Tensor) -> None:
    """Writes a gradient into the buffer that the program sees."""
    fresh[0] = True
    if buffer._sparse:
        buffer._take_gradient(gradient.detach(), req)
        return
    if readers:
        before_write(buffer.materialize())
    if gradient.numel() >= LARGE and req == 'write' and gradient.layout is torch.strided and adopted(buffer, gradient):
        return
    target = buffer._storage
    if target is None:
        target = buffer.materialize()
    if gradient.layout is not torch.strided:            # only some rows, see ndarray/_sparse_links.py
        overwrite(buffer, gradient.to_dense() if req == 'write' else target + gradient)
    elif gradient.dim() < target.dim():         # a zero
        overwrite(buffer, gradient if req == 'write' else target + gradient)
    elif req == 'write':
        target.copy_(gradient.detach() if gradient.requires_grad else gradient)
    else:
        target.add_(gradient.detach() if gradient.requires_grad else gradient)


LARGE = 1 << 15          # elements from which on it pays to find out whether a gradient must be copied


def adopted(buffer: Any, gradient: torch.Tensor) -> bool:
    """Makes a gradient's memory the buffer's, if nothing else refers to either of them; else False: it must be copied.

    The memory of a GPU's buffer stays, for graphs of kernels know its address.
    """
    if gradient.requires_grad or gradient.device.type != 'cpu' or gradient.dtype is not buffer.meta().dtype or \
            gradient.shape != buffer.meta().shape or not gradient.is_contiguous():
        return False
    if not is_sole(buffer) or users_of(gradient) > ALONE:
        return False
    buffer._rebind(gradient)
    return True


def is_sole(array: NDArray) -> bool:
    """Whether nothing but an array refers to its tensor, or to the memory of that."""
    return _references(array) <= _SOLE and users_of(array.materialize()) <= ALONE


def _references(array: Any) -> int:
    """How many references there are to an array's tensor, this question's among them."""
    tensor = array.materialize()
    return getrefcount(tensor)


_SOLE = _references(wrap(torch.empty(0), None, NDArrayBase))


def mark_variables(variables: NDArray | Sequence[NDArray], gradients: NDArray | Sequence[NDArray],
                   grad_reqs: str | Sequence[str] = 'write') -> None:
    """Attaches gradient buffers to arrays; `attach_grad` does this for one."""
    arrays: Any = [variables] if isinstance(variables, NDArrayBase) else variables
    buffers: Any = [gradients] if isinstance(variables, NDArrayBase) else gradients
    if isinstance(grad_reqs, str):
        grad_reqs = [grad_reqs] * len(arrays)
    if not len(arrays) == len(buffers) == len(grad_reqs):
        raise MXNetError(f'{len(arrays)} variables, {len(buffers)} gradients and {len(grad_reqs)} grad_reqs given')
    for i, (array, buffer, req) in enumerate(zip(arrays, buffers, grad_reqs, strict=True)):
        if array.shape != buffer.shape:
            raise MXNetError(f'variable {i} has shape {array.shape}, but its gradient {buffer.shape}')
        if array._sparse:
            array._attach(buffer, req)
            continue
        tensor = array.materialize()
        if tensor.requires_grad:
            tensor = tensor.detach()
            array._rebind(tensor)
        array._variable = Variable(tensor, buffer, req)
        invalidations.count += 1              # here, since the next one may be a mistake


# ---------------------------------------------------------------------- going back
def _history(array: Any, what: str) -> Any:
    """The tensor through which an array is known to torch's engine."""
    if not isinstance(array, NDArrayBase):
        raise TypeError(not_an_array(what, array))
    tensor = array.materialize() if array._variable is None else array._variable.leaf
    if type(tensor) is not DifferentiableInteger:
        return tensor
    if hasattr(tensor, '_provenance'):      # of the integers: conditions and indices are in it, too
        tensor._shadow._provenance = tensor._provenance     # type: ignore[attr-defined]
    return tensor._shadow


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
            if tensor.dtype is torch.bool or head._variable is not None and len(heads) > 1:
                continue        # a truth, which was not recorded; a variable with grad_req='null' among other heads
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
    if not heads or not found and any(h._variable is not None for h in heads):
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


def _move_the_rest(history: History, commits: list, wanted: Sequence[Any] | None = None) -> None:
    """Has states moved whose calls the heads depend on, but torch's engine has not come to.

    wanted: as for `History.unmoved`
    """
    movers = history.unmoved({commit[0].label for commit in commits if type(commit[0]) is NodeMoves}, wanted)
    outer, state.commits = state.commits, commits
    try:
        for mover in {id(m): m for m in movers}.values():
            mover()
    finally:
        state.commits = outer


def _explain(error: RuntimeError) -> MXNetError:
    text = str(error)
    if 'a second time' in text or 'has been detached in-place' in text:
        return MXNetError(USED_UP)
    if 'modified by an inplace operation' in text or 'modified inplace' in text:
        return MXNetError(OVERWRITTEN)
    return MXNetError(('the backward pass: ' if is_out_of_memory(text) else '') + plain(error))


# Held while torch adds up the gradients of leaves: between its addition and the hook that takes the sum
# (`_gradient_hook`), a pass of another thread through the same leaf would add its own.  Held, too, while a pass adds to
# buffers and moves averages.  A thread may go back in a pass.
_accumulating = threading.RLock()


def _run_engine(tensors: Sequence[torch.Tensor], gradients: Sequence[torch.Tensor | None], retain_graph: bool,
                create_graph: bool, wanted: Sequence[torch.Tensor], accumulate: bool) -> tuple[Any, list]:
    """Runs torch's engine.  -> (its results, commits: what the pass is to write)"""
    if not tensors:
        return [None] * len(wanted), []
    outer = state.commits, state.heads          # of the pass that this one is a part of
    commits: list = []
    state.commits, state.heads = commits, tensors
    if accumulate:
        _accumulating.acquire()
    try:
        return run_backward(tensors, gradients, retain_graph, create_graph, wanted, accumulate), commits
    except MXNetError:
        raise
    except RuntimeError as error:
        raise _explain(error) from error
    except (TypeError, OverflowError):
        for name, value in (('retain_graph', retain_graph), ('create_graph', create_graph)):
            if not isinstance(value, int) or not 0 <= value < 256:
                raise TypeError(f'the backward pass: {name} must be True or False, not {kind_of(value)}') from None
        raise
    finally:
        if accumulate:
            _accumulating.release()
        state.commits, state.heads = outer


def _write(commits: list, tensors: Sequence[torch.Tensor], history: History, wanted: Sequence[torch.Tensor] = (),
           variables: Sequence[Any] = ()) -> None:
    """Writes gradients and moving averages after a pass from `tensors`; one that fails writes nothing.

    wanted: the tensors of the variables of `autograd.grad`
    variables: what `History` knows them as
    """
    if NodeMoves in [type(commit[0]) for commit in commits]:
        def ranks() -> Callable[[Any], Any]:
            calls = history.ranks(variables)
            nodes = {label_of(node): rank for node, rank in ranks_on_tape(tensors, wanted).items()}
            # a call of a loop has several nodes
            return lambda label: (calls.get(label, (-1, 0)), nodes.get(label, -1))

        commits = in_backward_order(commits, ranks)
    commits.reverse()
    with _accumulating:
        while commits:                          # each gradient is freed as soon as it is written
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
        if history.moves:
            _move_the_rest(history, commits)
        _write(commits, tensors, history)
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
