"""Gradients: `with autograd.record(): ...`, then `loss.backward()`; programs find all of this in `mx.autograd`.

torch's engine below, MXNet's contract above.  `attach_grad` gives an array a `Variable`: an alias of its memory that
requires a gradient (`leaf`), the array that the gradient goes to (`buffer`) and how (`req`).  Only recording code reads
the alias, so nothing is recorded outside `record()` and torch's own grad mode stays as the program set it.
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from sys import getrefcount
from typing import TYPE_CHECKING, Any

import torch

from . import _anomaly, _paused_writes
from ._array import NDArrayBase, before_write, overwrite, readers, wrap
from ._dispatch import differentiating, entering, interceptors
from ._dispatch import tracer as _tracer
from ._guard import invalidations
from ._integer_gradients import DifferentiableInteger, integers_as_constant
from ._names import kind_of, not_an_array
from ._ops.core.dtypes import NAME
from ._ops.core.gradients import no_gradient
from ._ops.core.late_reads import OVERWRITTEN
from ._ops.core.moves import NodeMoves, in_backward_order
from ._ops.core.table import NAMES
from ._provenance import History, companion_of, record_results
from ._state import state
from ._torch.autograd import run_backward
from ._torch.memory import ALONE, storage_id, users_of
from ._typing import any_signature
from ._wording import is_out_of_memory, plain
from .base import MXNetError

if TYPE_CHECKING:
    from ._typing import Arrays
    from .ndarray import NDArray

NOT_RECORDED = ('cannot differentiate {what}: it was not computed from an array with a gradient (attach_grad) '
                'inside `with autograd.record():`')
NOT_SMOOTH = ('cannot differentiate {what}: it has dtype {dtype}, and gradients are computed for floating point only; '
              "convert what it is computed from with astype('float32')")
USED_UP = ('backward was called a second time through the same graph, which is freed after the first call; pass '
           'retain_graph=True to the first call to keep it')
ONCE = ('this graph has an autograd.Function or a custom operator in it, whose gradient is what its backward computes; '
        'it has no second derivative')

detect_anomaly = _anomaly.detect_anomaly


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
        _commit(_store, buffer, req, fresh, gradient)
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
    return tensor._shadow if type(tensor) is DifferentiableInteger else tensor


def _heads(heads: Any, head_grads: Any) -> tuple[list[Any], list[torch.Tensor], list[torch.Tensor]]:
    """-> (heads, their tensors, their gradients), without those that are constants."""
    heads = [heads] if isinstance(heads, NDArrayBase) else heads
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
    found, tensors, gradients = [], [], []
    last = {id(head): i for i, head in enumerate(heads)}            # of one that is given twice, the last counts
    for i, (head, gradient) in enumerate(zip(heads, head_grads, strict=True)):
        tensor = _history(head, f'head {i}')
        if last[id(head)] != i:
            continue
        if not tensor.requires_grad:
            if tensor.dtype is torch.bool:
                continue        # a truth, which has no gradient
            companion = companion_of(tensor)
            if companion is not None and companion.requires_grad:
                found.append(head)
                tensors.append(companion)
                gradients.append(torch.zeros_like(companion))
                continue
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
    return found, tensors, gradients


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


class _Unwritten:
    """Variables that a backward pass must write: those that its heads were computed from, in whichever way.

    Where the heads depend on one by its shape, as an index or a condition only, torch's engine does not come to it; its
    gradient is zero.
    """

    __slots__ = ('_variables', '_before')

    def __init__(self, history: History) -> None:
        self._variables = [v for v in history.variables if v.req == 'write' and not v.buffer._sparse]
        self._before = [v.fresh[0] for v in self._variables]
        for v in self._variables:
            v.fresh[0] = False

    def restore(self) -> None:
        """After a pass that has failed, and has written nothing."""
        for v, before in zip(self._variables, self._before, strict=True):
            v.fresh[0] = v.fresh[0] or before

    def write_zeros(self) -> None:
        """After a pass: zeros for those that it has not written."""
        for v in self._variables:
            if not v.fresh[0]:
                _store(v.buffer, 'write', v.fresh, torch.zeros((), dtype=v.buffer.meta().dtype, device=v.leaf.device))


def _explain(error: RuntimeError) -> MXNetError:
    text = str(error)
    if 'a second time' in text or 'has been detached in-place' in text:
        return MXNetError(USED_UP)
    if 'modified by an inplace operation' in text or 'modified inplace' in text:
        return MXNetError(OVERWRITTEN)
    return MXNetError(('the backward pass: ' if is_out_of_memory(text) else '') + plain(error))


def _differentiate(tensors: Sequence[torch.Tensor], gradients: Sequence[torch.Tensor | None], retain_graph: bool,
                   create_graph: bool, wanted: Sequence[torch.Tensor], accumulate: bool) -> Any:
    """Runs torch's engine.  Gradients and moving averages are written at the end: a pass that fails writes nothing."""
    outer = state.commits, state.heads          # of the pass that this one is a part of
    commits: list = []
    state.commits, state.heads = commits, tensors
    try:
        results = run_backward(tensors, gradients, retain_graph, create_graph, wanted, accumulate)
    except MXNetError:
        raise
    except RuntimeError as error:
        raise _explain(error) from error
    finally:
        state.commits, state.heads = outer
    if NodeMoves in [type(commit[0]) for commit in commits]:
        commits = in_backward_order(commits, tensors, wanted)
    commits.reverse()
    while commits:                              # each gradient is freed as soon as it is written
        write, *args = commits.pop()
        write(*args)
    return results


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
    heads, tensors, gradients = _heads(heads, head_grads)
    if not tensors:
        return              # a truth, which has no gradient
    if interceptors:
        differentiating(tensors)
    history = History(tensors, Variable)
    unwritten = _Unwritten(history)
    state.moves = train_mode
    try:
        _differentiate(tensors, gradients, retain_graph, False, (), True)
    except BaseException:
        unwritten.restore()
        raise
    finally:
        state.moves = True
    unwritten.write_zeros()
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
    variables = [variables] if isinstance(variables, NDArrayBase) else list(variables)
    if not variables:
        raise AssertionError('grad: the list of variables is empty; it needs at least one array')
    heads, tensors, gradients = _heads(heads, head_grads)
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
        results = _differentiate(tensors, gradients, retain_graph, create_graph, wanted, False)
    finally:
        state.wanted = None
    results = [r.to_dense() if r is not None and r.layout is not torch.strided else r for r in results]
    history = History(tensors, Variable)
    for i, result in enumerate(results):
        if result is None:
            if variables[i]._variable not in history.variables and not _reaches(tensors, wanted[i]):
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


def _reaches(heads: Sequence[torch.Tensor], variable: torch.Tensor) -> bool:
    """Whether there is a way from `heads` to a variable, be it through operators without a gradient."""
    waiting, seen = [head.grad_fn for head in heads], set()
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        if node is variable.grad_fn or getattr(node, 'variable', None) is variable:
            return True
        seen.add(node)
        waiting += [below for below, _ in node.next_functions]
    return False


# ---------------------------------------------------------------------- functions with a backward of their own
class Function:
    """A differentiable function whose `forward` and `backward` the program writes.

    >>> class Sigmoid(mx.autograd.Function):
    ...     def forward(self, x):
    ...         y = 1 / (1 + mx.nd.exp(-x))
    ...         self.save_for_backward(y)
    ...         return y
    ...     def backward(self, dy):
    ...         y, = self.saved_tensors
    ...         return dy * y * (1 - y)
    """

    saved_tensors: Any

    def __init__(self) -> None:
        self.saved_tensors = ()
        self._used = False

    def save_for_backward(self, *args: Any) -> None:
        """Keeps arrays for `backward`, which finds them in `self.saved_tensors`."""
        self.saved_tensors = args

    def __call__(self, *inputs: Any) -> Any:
        if self._used:
            raise MXNetError(f'a {type(self).__name__} can be called once; make a new object for each call')
        self._used = True
        if not state.recording:
            return self.forward(*inputs)
        call = _FunctionCall(self, inputs)
        tensors = _Bridge.apply(call, *[integers_as_constant(_history(x, f'input {i}')) for i, x in enumerate(inputs)])
        arrays = [wrap(t, o._ctx, type(o)) for t, o in zip(tensors, call.outputs or (), strict=True)]
        call.outputs = None
        record_results(NAMES['_CustomFunction'], {'num_args': len(inputs), 'num_outputs': len(arrays)}, inputs, arrays)
        return arrays[0] if call.single else arrays

    @any_signature
    def forward(self, *inputs: Any) -> Any:
        """Computes the outputs."""
        raise NotImplementedError(f'{type(self).__name__} has no forward')

    @any_signature
    def backward(self, *output_grads: Any) -> Any:
        """Computes the gradients of the inputs from those of the outputs."""
        raise NotImplementedError(f'{type(self).__name__} has no backward')


class _FunctionCall:
    """One call of a Function: runs its two halves on arrays."""

    outputs: tuple[Any, ...] | None = None      # until the arrays of the program are made of them
    single: bool

    def __init__(self, function: Function, inputs: Sequence[Any]) -> None:
        self.function = function
        self.like = [(x._ctx, type(x)) for x in inputs]
        self.switches = _Switches()

    def forward(self, tensors: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        with _Scope(False, None):
            outputs = self.function.forward(*[wrap(t.detach(), *like) for t, like in
                                              zip(tensors, self.like, strict=True)])
        self.single = isinstance(outputs, NDArrayBase)
        made = self.outputs = (outputs,) if self.single else tuple(outputs)
        self.like_outputs = [(o._ctx, type(o)) for o in made]
        # an output that is an input would be the same node of the graph
        results = [o.materialize().detach() for o in made]
        return tuple(r.clone() if any(r.data_ptr() == t.data_ptr() for t in tensors) else r for r in results)

    def backward(self, gradients: Sequence[torch.Tensor]) -> tuple[torch.Tensor | None, ...]:
        name = type(self.function).__name__
        with self.switches, _Scope(False, None):
            results = self.function.backward(*[wrap(g.detach(), *like) for g, like in
                                               zip(gradients, self.like_outputs, strict=True)])
        results = (results,) if isinstance(results, NDArrayBase) else tuple(results)
        if len(results) != len(self.like):
            raise MXNetError(f'{name}.backward returned {len(results)} gradients for {len(self.like)} inputs')
        for r in results:
            if r is not None and not isinstance(r, NDArrayBase):
                raise MXNetError(f'{name}.backward must return arrays, not {kind_of(r)}')
        return tuple(None if r is None else r.materialize().detach() for r in results)


class _Switches:
    """The switches of the thread that recorded something, for the thread that goes back through it.

    On a GPU that is one of torch's own, which knows nothing of `with mx.gpu(1):` or of np mode.
    """

    __slots__ = ('_wanted', '_before')
    _NAMES = ('training', 'np_shape', 'np_array', 'context')

    def __init__(self) -> None:
        self._wanted = [getattr(state, name) for name in self._NAMES]

    def __enter__(self) -> None:
        self._before = dict(state.__dict__)
        for name, value in zip(self._NAMES, self._wanted, strict=True):
            setattr(state, name, value)

    def __exit__(self, *exc: Any) -> None:
        for name in self._NAMES:
            state.__dict__.pop(name, None)
        state.__dict__.update({n: self._before[n] for n in self._NAMES if n in self._before})


class _Bridge(torch.autograd.Function):
    """Puts a call that computes on arrays into torch's graph: a `Function`, or a custom operator."""

    @staticmethod
    def forward(ctx: Any, call: Any, *tensors: torch.Tensor) -> Any:
        ctx.call = call
        return call.forward(tensors)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        results = ctx.call.backward(gradients)
        if torch.is_grad_enabled():         # to be differentiated again
            anchor = torch.zeros((), requires_grad=True)
            results = [None if r is None else _NotTwice.apply(r, anchor) for r in results]
        return None, *results


class _NotTwice(torch.autograd.Function):
    """Passes a value on; to differentiate it is an error.  The anchor makes torch come and ask."""

    @staticmethod
    def forward(ctx: Any, value: torch.Tensor, anchor: torch.Tensor) -> torch.Tensor:
        return value.clone()

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        raise MXNetError(ONCE)
