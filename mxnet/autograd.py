"""Gradients: `with autograd.record(): ...`, then `loss.backward()`.

torch's engine below, MXNet's contract above.  `attach_grad` gives an array a `Variable`: an alias of its memory that
requires a gradient (`leaf`), the array that the gradient goes to (`buffer`) and how (`req`).  Only recording code reads
the alias, so nothing is recorded outside `record()` and torch's own grad mode stays as the program set it.
"""
import torch

from ._array import NDArrayBase, overwrite, wrap
from ._state import state
from .base import MXNetError

__all__ = ['Function', 'backward', 'get_symbol', 'grad', 'is_recording', 'is_training', 'mark_variables', 'pause',
           'predict_mode', 'record', 'set_recording', 'set_training', 'train_mode']

NOT_RECORDED = ('cannot differentiate {what}: it was not computed from an array with a gradient (attach_grad) '
                'inside `with autograd.record():`')
USED_UP = ('backward was called a second time through the same graph, whose buffers are freed after the first; '
           'pass retain_graph=True to the first call to keep them')
OVERWRITTEN = ('an array that the gradient computation needs was written in place after it was recorded; '
               'write a copy of it instead (x = x + 1, or x.copy() before writing), or write after backward')


# ---------------------------------------------------------------------- switches
def is_recording():
    """Whether operators on this thread are being recorded."""
    return state.recording


def is_training():
    """Whether operators on this thread behave as in training (Dropout drops, BatchNorm uses the batch)."""
    return state.training


def set_recording(is_recording):
    """Switches recording; returns the previous setting."""
    before, state.recording = state.recording, bool(is_recording)
    return before


def set_training(train_mode):
    """Switches train mode; returns the previous setting."""
    before, state.training = state.training, bool(train_mode)
    return before


class _Scope:
    """Sets the switches on entry (None: leaves one alone) and restores them on exit."""

    def __init__(self, recording, training):
        self._wanted = recording, training
        self._before = []

    def __enter__(self):
        recording, training = self._wanted
        # inside torch.no_grad() nothing would be recorded: our scope turns it on, and off again at its end
        silenced = bool(recording) and not torch.is_grad_enabled()
        self._before.append((state.recording, state.training, silenced))
        if silenced:
            torch.set_grad_enabled(True)
        if recording is not None:
            state.recording = recording
        if training is not None:
            state.training = training

    def __exit__(self, *exc):
        state.recording, state.training, silenced = self._before.pop()
        if silenced:
            torch.set_grad_enabled(False)


def record(train_mode=True):
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


def pause(train_mode=False):
    """A scope in which nothing is recorded."""
    return _Scope(False, train_mode)


def train_mode():
    """A scope in which operators behave as in training, recorded or not."""
    return _Scope(None, True)


def predict_mode():
    """A scope in which operators behave as in prediction, recorded or not."""
    return _Scope(None, False)


# ---------------------------------------------------------------------- variables
class Variable:
    """What `attach_grad` makes of an array."""

    __slots__ = ('leaf', 'buffer', 'req', 'fresh')

    def __init__(self, tensor, buffer, req):
        if req not in ('write', 'add', 'null'):
            raise MXNetError(f"grad_req must be 'write', 'add' or 'null', not {req!r}")
        self.buffer, self.req = buffer, req
        self.fresh = [False]          # has backward written the buffer since somebody set this to False
        self.leaf = tensor.detach()
        if req != 'null' and tensor.dtype.is_floating_point:
            self.leaf.requires_grad_()
            self.leaf.register_post_accumulate_grad_hook(_mover(buffer, req, self.fresh))


def _mover(buffer, req, fresh):
    """Moves a gradient that torch has summed up into the buffer that the program sees."""
    def move(leaf):
        gradient, leaf.grad = leaf.grad, None
        fresh[0] = True
        if gradient is None:            # reached only through operators without a gradient
            if req == 'write':
                overwrite(buffer, leaf.new_zeros(()))
        elif req == 'write':
            overwrite(buffer, gradient)
        elif buffer._sparse:
            overwrite(buffer, buffer._tensor + gradient)
        else:
            buffer._tensor.add_(gradient.detach())
    return move


def mark_variables(variables, gradients, grad_reqs='write'):
    """Attaches gradient buffers to arrays; `attach_grad` does this for one."""
    if isinstance(variables, NDArrayBase):
        variables, gradients = [variables], [gradients]
    if isinstance(grad_reqs, str):
        grad_reqs = [grad_reqs] * len(variables)
    if not len(variables) == len(gradients) == len(grad_reqs):
        raise MXNetError(f'{len(variables)} variables, {len(gradients)} gradients and {len(grad_reqs)} grad_reqs given')
    for array, buffer, req in zip(variables, gradients, grad_reqs, strict=True):
        tensor = array._tensor
        if tensor.requires_grad:
            array._tensor = tensor = tensor.detach()
        array._variable = Variable(tensor, buffer, req)


def _history(array, what):
    """The tensor through which an array is known to torch's engine."""
    if not isinstance(array, NDArrayBase):
        raise TypeError(f'{what} must be an array, not {type(array).__name__}')
    return array._tensor if array._variable is None else array._variable.leaf


def _heads(heads, head_grads):
    single = isinstance(heads, NDArrayBase)
    heads = [heads] if single else list(heads)
    if head_grads is None:
        head_grads = [None] * len(heads)
    elif isinstance(head_grads, NDArrayBase):
        head_grads = [head_grads]
    if len(heads) != len(head_grads):
        raise MXNetError(f'{len(heads)} heads and {len(head_grads)} head gradients given')
    tensors, gradients = [], []
    for i, (head, gradient) in enumerate(zip(heads, head_grads, strict=True)):
        tensor = _history(head, f'head {i}')
        if not tensor.requires_grad:
            continue            # a constant next to others: it has nothing to send back
        if gradient is None:
            gradients.append(torch.ones_like(tensor))
        else:
            value = gradient._tensor
            if value.shape != tensor.shape:
                raise MXNetError(f'head {i} has shape {tuple(tensor.shape)}, '
                                 f'but its head gradient {tuple(value.shape)}')
            gradients.append(value.to(tensor.dtype))
        tensors.append(tensor)
    if not tensors:
        raise MXNetError(NOT_RECORDED.format(what='head' if len(heads) == 1 else 'these heads'))
    return tensors, gradients


def _explain(error):
    text = str(error)
    if 'a second time' in text:
        return MXNetError(USED_UP)
    if 'modified by an inplace operation' in text:
        return MXNetError(f'{OVERWRITTEN}\n({text})')
    return MXNetError(text)


def backward(heads, head_grads=None, retain_graph=False, train_mode=True):
    """Computes the gradients of `heads` with respect to all arrays with a gradient attached, into their `.grad`."""
    tensors, gradients = _heads(heads, head_grads)
    try:
        torch.autograd.backward(tensors, gradients, retain_graph=retain_graph)
    except MXNetError:
        raise
    except RuntimeError as error:
        raise _explain(error) from error


def grad(heads, variables, head_grads=None, retain_graph=None, create_graph=False, train_mode=True):
    """Gradients of `heads` with respect to `variables`, as new arrays; no `.grad` is touched.

    With `create_graph` the result can itself be differentiated.
    """
    tensors, gradients = _heads(heads, head_grads)
    single = isinstance(variables, NDArrayBase)
    variables = [variables] if single else list(variables)
    wanted = [_history(v, f'variable {i}') for i, v in enumerate(variables)]
    for i, tensor in enumerate(wanted):
        if not tensor.requires_grad:
            raise MXNetError(NOT_RECORDED.format(what=f'with respect to variable {i}'))
    try:
        results = torch.autograd.grad(tensors, wanted, gradients, create_graph=create_graph,
                                      retain_graph=create_graph if retain_graph is None else retain_graph,
                                      allow_unused=True)
    except MXNetError:
        raise
    except RuntimeError as error:
        raise _explain(error) from error
    for i, result in enumerate(results):
        if result is None:
            raise MXNetError(f'the heads do not depend on variable {i}')
    arrays = [wrap(r, v._ctx, type(v)) for r, v in zip(results, variables, strict=True)]
    return arrays[0] if single else arrays


def get_symbol(x):
    """The Symbol of the computation that led to `x`."""
    from .symbol import _from_recorded
    return _from_recorded(x)


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

    def __init__(self):
        self.saved_tensors = ()
        self._used = False

    def save_for_backward(self, *args):
        """Keeps arrays for `backward`, which finds them in `self.saved_tensors`."""
        self.saved_tensors = args

    def __call__(self, *inputs):
        if self._used:
            raise MXNetError(f'a {type(self).__name__} can be called once; make a new object for each call')
        self._used = True
        if not state.recording:
            return self.forward(*inputs)
        first = inputs[0]
        shape_of_result = []
        tensors = [x._tensor if x._variable is None else x._variable.leaf for x in inputs]
        results = _Bridge.apply(self, type(first), first._ctx, shape_of_result, *tensors)
        arrays = [wrap(r, first._ctx, type(first)) for r in results]
        return arrays[0] if shape_of_result[0] else arrays

    def forward(self, *inputs):
        """Computes the outputs."""
        raise NotImplementedError(f'{type(self).__name__} has no forward')

    def backward(self, *output_grads):
        """Computes the gradients of the inputs from those of the outputs."""
        raise NotImplementedError(f'{type(self).__name__} has no backward')


class _Bridge(torch.autograd.Function):
    """Puts a `Function` into torch's graph."""

    @staticmethod
    def forward(ctx, function, cls, context, single, *tensors):
        ctx.function, ctx.cls, ctx.context = function, cls, context
        with pause():
            outputs = function.forward(*[wrap(t.detach(), context, cls) for t in tensors])
        single.append(isinstance(outputs, NDArrayBase))
        outputs = (outputs,) if single[0] else tuple(outputs)
        return tuple(o._tensor.clone() if any(o._tensor is t for t in tensors) else o._tensor for o in outputs)

    @staticmethod
    def backward(ctx, *gradients):
        with pause():
            results = ctx.function.backward(*[wrap(g.detach(), ctx.context, ctx.cls) for g in gradients])
        results = (results,) if isinstance(results, NDArrayBase) else tuple(results)
        wanted = len(ctx.needs_input_grad) - 4
        if len(results) != wanted:
            raise MXNetError(f'{type(ctx.function).__name__}.backward returned {len(results)} gradients for '
                             f'{wanted} inputs')
        return (None, None, None, None, *[None if r is None else r._tensor for r in results])
