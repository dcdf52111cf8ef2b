"""Gradients through integer arrays.

torch differentiates floating point only.  MXNet also sends gradients through integers (a cast to int32, a sum, a
slice, a product of int32 arrays), and programs attach gradients to them.  A `DifferentiableInteger` is an integer
tensor with a float64 shadow.  Each computation is done twice: on the integers, for the value, and on the shadow, for
the history.

The gradient of an integer is an integer: it loses its fraction where it comes in from a floating point result.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
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
            read = _read_by_floats if _is_floating(result) else _shadow
            shadow = func(*_mapped(args, read), **_mapped(kwargs, read))
        except (RuntimeError, TypeError):
            return result               # something that only integers can do (bits, indices): a constant
        return _joined(result, shadow)


def to_integers(data: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """A floating point tensor as integers, with its history: the gradient passes, without its fraction."""
    return _pair(data.detach().to(dtype), _Truncate.apply(data, dtype))


class _Truncate(torch.autograd.Function):
    """The shadow of a cast to integers."""

    @staticmethod
    def forward(ctx: Any, data: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        ctx.dtype = data.dtype
        return data.to(dtype).double()

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        return gradient.trunc().to(ctx.dtype), None


class _WithoutFraction(torch.autograd.Function):
    """A shadow that a floating point result is computed from."""

    @staticmethod
    def forward(ctx: Any, shadow: torch.Tensor) -> torch.Tensor:
        return shadow.view_as(shadow)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        return gradient.trunc()


def on_shadows(differentiable: Callable[..., Any], forward: Callable[..., Any], inputs: Sequence[torch.Tensor]) -> Any:
    """`forward(*inputs)` of integers among others, with the gradient that `differentiable` of their shadows has."""
    result = forward(*map(_plain, inputs))
    return _joined(result, differentiable(*map(_read_by_floats if _is_floating(result) else _shadow, inputs)))


def differentiable_head(head: torch.Tensor, gradient: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """A head and its gradient, as torch's engine takes them."""
    if type(head) is not DifferentiableInteger:
        return head, gradient
    return head._shadow, integers_as_constant(gradient).double()


def with_shadow(tensor: torch.Tensor, shadow: torch.Tensor) -> torch.Tensor:
    """Integers with the history of a float64 tensor that has their values."""
    return _pair(tensor, shadow) if shadow.requires_grad else tensor


def history_of(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor that has the node of torch's graph; a node knows no hooks of any other."""
    return tensor._shadow if type(tensor) is DifferentiableInteger else tensor


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


def _read_by_floats(value: Any) -> Any:
    return _WithoutFraction.apply(_shadow(value)) if type(value) is DifferentiableInteger else _shadow(value)


def _is_floating(result: Any) -> bool:
    return isinstance(result, torch.Tensor) and result.is_floating_point()


def _has_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor) or isinstance(value, (list, tuple)) and any(map(_has_tensor, value))


def _joined(result: Any, shadow: Any) -> Any:
    """Results with the history of their shadows."""
    if isinstance(result, torch.Tensor):
        if not isinstance(shadow, torch.Tensor) or not shadow.requires_grad or shadow.shape != result.shape:
            return result
        if not result.dtype.is_floating_point:
            return _pair(result.detach(), shadow)
        joined = shadow.to(result.dtype, copy=True)
        joined.detach().copy_(result)       # the shadow is float64, and rounds otherwise
        return joined
    if isinstance(result, (list, tuple)):
        # of functions such as torch.sort a named tuple
        return type(result)([_joined(r, s) for r, s in zip(result, shadow, strict=True)])
    return result
