"""`autograd.Function`: functions with a backward of their own, and the node of torch's graph that calls them."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .._array import NDArrayBase, wrap
from .._names import kind_of
from .._ops.core.dtypes import INTEGERS
from .._ops.core.integer_gradients import integers_as_constant, with_shadow
from .._ops.core.table import NAMES
from .._provenance import record_results
from .._state import state
from .._typing import any_signature
from ..base import MXNetError
from .tape import _history, _Scope

ONCE = ('this graph has an autograd.Function or a custom operator in it, whose gradient is what its backward computes; '
        'it has no second derivative')


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
        tensors = _Bridge.apply(call, *[_history(x, f'input {i}') for i, x in enumerate(inputs)])
        arrays = [wrap(with_shadow(o.materialize().detach().clone(), t) if _is_integer(o) else t, o._ctx, type(o))
                  for t, o in zip(tensors, call.outputs or (), strict=True)]
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


def _is_integer(array: Any) -> bool:
    return array.meta().dtype in INTEGERS


class _FunctionCall:
    """One call of a Function: runs its two halves on arrays."""

    outputs: tuple[Any, ...] | None = None      # until the arrays of the program are made of them
    single: bool

    def __init__(self, function: Function, inputs: Sequence[Any]) -> None:
        self.function = function
        self.like = [(x._ctx, type(x)) for x in inputs]
        # torch's graph has the shadows of integers; the program computes with the integers
        self.integers = {i: integers_as_constant(x.materialize()) for i, x in enumerate(inputs) if _is_integer(x)}
        self.switches = _Switches()

    def forward(self, tensors: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        with _Scope(False, None):
            outputs = self.function.forward(*[wrap(self.integers.get(i, t).detach(), *like) for i, (t, like) in
                                              enumerate(zip(tensors, self.like, strict=True))])
        self.integers.clear()
        self.single = isinstance(outputs, NDArrayBase)
        made = self.outputs = (outputs,) if self.single else tuple(outputs)
        self.like_outputs = [(o._ctx, type(o)) for o in made]
        self.dtypes = [o.materialize().dtype for o in made]
        # An output that is an input would be the same node of the graph.  Outputs count writes by themselves: those of
        # the function come before anything has read them (_paused_writes.py).
        results = [o.materialize().detach().double() if _is_integer(o) else o.materialize().data for o in made]
        return tuple(r.clone() if any(r.data_ptr() == t.data_ptr() for t in tensors) else r for r in results)

    def backward(self, gradients: Sequence[torch.Tensor]) -> tuple[torch.Tensor | None, ...]:
        name = type(self.function).__name__
        with self.switches, _Scope(False, None):
            results = self.function.backward(*[wrap(g.detach().to(dtype), *like) for g, dtype, like in
                                               zip(gradients, self.dtypes, self.like_outputs, strict=True)])
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
