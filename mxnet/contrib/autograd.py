"""The first form of autograd, in which recording and train mode are one switch; `mx.autograd` is its successor."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import autograd as _autograd
from .._names import kind_of
from ..ndarray import NDArray, zeros_like

__all__ = ['NDArray', 'TrainingStateScope', 'backward', 'compute_gradient', 'grad', 'grad_and_loss', 'mark_variables',
           'set_is_training', 'test_section', 'train_section', 'zeros_like']


def set_is_training(is_train: bool) -> Any:
    """Switches recording and train mode; returns whether it was recording before."""
    _autograd.set_training(is_train)
    return _autograd.set_recording(is_train)


class TrainingStateScope:
    """Switches recording and train mode for the length of a block."""

    def __init__(self, enter_state: Any) -> None:
        self._enter_state = enter_state
        self._scope: Any = None

    def __enter__(self) -> None:
        scope = _autograd.record if self._enter_state else _autograd.pause
        self._scope = scope(train_mode=bool(self._enter_state))
        self._scope.__enter__()

    def __exit__(self, ptype: Any, value: Any, trace: Any) -> None:
        self._scope.__exit__(ptype, value, trace)


def train_section() -> Any:
    """A scope in which operators are recorded and behave as in training."""
    return TrainingStateScope(True)


def test_section() -> Any:
    """A scope in which nothing is recorded and operators behave as in prediction."""
    return TrainingStateScope(False)


vars(test_section)['__test__'] = False         # pytest: not a test, whatever its name looks like


def mark_variables(variables: Any, gradients: Any, grad_reqs: str = 'write') -> None:
    """Attaches gradient buffers to a list of arrays."""
    _autograd.mark_variables(variables, gradients, grad_reqs)


def backward(outputs: Any, out_grads: Any = None, retain_graph: bool = False) -> None:
    """Computes the gradients of a list of arrays with respect to all marked variables."""
    if not isinstance(outputs, (list, tuple)):
        raise AssertionError(f'outputs must be a list of arrays, not {kind_of(outputs)}')
    _autograd.backward(outputs, out_grads, retain_graph)


def compute_gradient(outputs: Any) -> None:
    """The old name of `backward`."""
    backward(outputs)


def grad_and_loss(func: Callable[..., Any], argnum: Any = None) -> Any:
    """A function that calls `func` and returns (gradients of its arguments, its outputs).

    `argnum` says by number which argument, or arguments, gradients are wanted of; without it, of all.
    """
    @functools.wraps(func)
    def wrapped(*args):
        numbers = range(len(args)) if argnum is None else argnum if isinstance(argnum, list) else [argnum]
        variables = [args[i] for i in numbers]
        for i, x in zip(numbers, variables, strict=True):
            if not isinstance(x, NDArray):
                raise AssertionError(f'argument {i} must be an NDArray to have a gradient, not {kind_of(x)}')
        gradients = [zeros_like(x) for x in variables]
        mark_variables(variables, gradients)
        with train_section():
            outputs = func(*args)
        backward([outputs] if isinstance(outputs, NDArray) else outputs)
        return gradients, outputs
    return wrapped


def grad(func: Callable[..., Any], argnum: Any = None) -> Any:
    """A function that returns the gradients of `func`'s arguments.

    >>> square = mx.contrib.autograd.grad(lambda x: x * x)
    >>> square(mx.nd.array([1, 2, 3]))[0].asnumpy().tolist()
    [2.0, 4.0, 6.0]
    """
    both = grad_and_loss(func, argnum)

    @functools.wraps(both)
    def wrapped(*args):
        return both(*args)[0]
    return wrapped
