"""Gradients through integer arrays.

torch differentiates floating point only.  MXNet also sends gradients through integers (a sum, a slice, a product of
int32 arrays), and programs attach gradients to them.  A `DifferentiableInteger` is an integer tensor with a float64
shadow.  Each computation is done twice: on the integers, for the value, and on the shadow, for the history.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


class DifferentiableInteger(torch.Tensor):
    """An integer or boolean tensor with a float64 shadow that carries the history."""

    _shadow: torch.Tensor
    _fresh: bool            # of a leaf: the array's memory may have been written since the shadow was made

    @staticmethod
    def leaf(tensor: torch.Tensor) -> DifferentiableInteger:
        """An alias of an integer tensor that requires a gradient; hooks belong to its `_shadow`."""
        alias = _pair(tensor.detach(), tensor.detach().double().requires_grad_())
        alias._fresh = True
        return alias

    @property
    def requires_grad(self) -> bool:        # type: ignore[override]  # that of torch can be set
        return self._shadow.requires_grad

    @property
    def grad_fn(self) -> Any:              # type: ignore[override]  # that of torch can be set
        return self._shadow.grad_fn

    @classmethod
    def __torch_function__(cls, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (),
                           kwargs: dict[str, Any] | None = None) -> Any:
        kwargs = kwargs or {}
        result = func(*_mapped(args, _plain), **_mapped(kwargs, _plain))
        if not _has_tensor(result) or not torch.is_grad_enabled():
            return result
        try:
            shadow = func(*_mapped(args, _shadow), **_mapped(kwargs, _shadow))
        except (RuntimeError, TypeError):
            return result               # something that only integers can do (bits, indices): a constant
        return _joined(result, shadow)


def integers_as_constant(tensor: torch.Tensor) -> torch.Tensor:
    """The integers without the shadow, for code that torch cannot trace; any other tensor unchanged."""
    return _plain(tensor)


def _pair(tensor: torch.Tensor, shadow: torch.Tensor) -> DifferentiableInteger:
    paired = tensor.as_subclass(DifferentiableInteger)
    paired._shadow = shadow
    return paired


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, (torch.Tensor, torch.dtype)):
        return change(value)
    if isinstance(value, (list, tuple)) and not isinstance(value, torch.Size):
        return type(value)(_mapped(v, change) for v in value)
    if isinstance(value, dict):
        return {k: _mapped(v, change) for k, v in value.items()}
    return value


def _plain(value: Any) -> Any:
    return value.as_subclass(torch.Tensor) if type(value) is DifferentiableInteger else value


def _shadow(value: Any) -> Any:
    if isinstance(value, torch.dtype):
        return value if value.is_floating_point else torch.float64
    if type(value) is not DifferentiableInteger:
        return value
    shadow = value._shadow
    if getattr(value, '_fresh', False):
        # the program may have written into the array since; a version that has not changed must stay, for torch saves
        # it
        real = value.as_subclass(torch.Tensor)
        if not torch.equal(shadow.detach(), real.double()):
            shadow.detach().copy_(real)
    return shadow


def _has_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor) or isinstance(value, (list, tuple)) and any(map(_has_tensor, value))


def _joined(result: Any, shadow: Any) -> Any:
    """Results with the history of their shadows."""
    if isinstance(result, torch.Tensor):
        if not isinstance(shadow, torch.Tensor) or not shadow.requires_grad or shadow.shape != result.shape:
            return result
        return shadow.to(result.dtype) if result.dtype.is_floating_point else _pair(result.detach(), shadow)
    if isinstance(result, (list, tuple)):
        joined = [_joined(r, s) for r, s in zip(result, shadow, strict=True)]
        return type(result)(joined) if type(result) in (list, tuple) else tuple(joined)
    return result
