"""Inputs that upstream's backward pass reads, and torch's does not: indices, labels, lengths, conditions.

torch saves what they are converted to.  A write into one of them between recording and `backward` is found out here, as
torch finds out writes into all other tensors that a backward pass needs.
"""
import functools
from collections.abc import Callable, Iterable
from typing import Any

import torch

from ...base import MXNetError

OVERWRITTEN = ('an array that the gradient computation needs was written in place after it was recorded; '
               'write a copy of it instead (x = x + 1, or x.copy() before writing), or write after backward')


class Versions:
    """Tensors with the versions that they have now."""

    __slots__ = ('_known',)

    def __init__(self, tensors: Iterable[torch.Tensor | None]) -> None:
        self._known = [(t, t._version) for t in tensors if t is not None and not t.is_inference()]

    def check(self) -> None:
        """Raises an error if one of the tensors has been written."""
        for tensor, version in self._known:
            if tensor._version != version:
                raise MXNetError(OVERWRITTEN)

    def __call__(self, gradients: Any) -> None:
        """As a hook of a node of torch's graph."""
        self.check()


def check_late(result: torch.Tensor, tensor: torch.Tensor) -> None:
    """Has the gradient of a result check that a tensor was not written."""
    node = result.grad_fn
    if node is not None:
        node.register_prehook(Versions((tensor,)))


def reads_late(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorates the function of an operator: whose backward pass reads the inputs of these names."""
    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        parameters = function.__code__.co_varnames[:function.__code__.co_argcount]
        positions = [parameters.index(name) for name in names]

        @functools.wraps(function)
        def call(*tensors, **attributes):
            result = function(*tensors, **attributes)
            if isinstance(result, torch.Tensor) and result.grad_fn is not None:
                result.grad_fn.register_prehook(Versions([tensors[i] for i in positions if i < len(tensors)]))
            return result
        vars(call)['late_reads'] = names        # `Program` reads it
        return call
    return decorate
