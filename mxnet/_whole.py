"""Integers that a gradient flows through.

torch differentiates floating point only; upstream sends gradients through integers as well (a sum, a slice, a product
of int32 arrays), and programs attach gradients to them.  A `Whole` is an integer tensor with a float64 shadow.  What is
computed from it is computed twice: from the integers, which is the result, and from the shadow, which has the history.
"""
import torch


class Whole(torch.Tensor):
    """An integer (or boolean) tensor whose gradient torch knows by its shadow."""

    @staticmethod
    def leaf(tensor):
        """An alias of an integer tensor that requires a gradient; hooks belong to its `_shadow`."""
        alias = _pair(tensor.detach(), tensor.detach().double().requires_grad_())
        alias._fresh = True
        return alias

    @property
    def requires_grad(self):
        return self._shadow.requires_grad

    @property
    def grad_fn(self):
        return self._shadow.grad_fn

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        result = func(*_mapped(args, _plain), **_mapped(kwargs, _plain))
        if not _has_tensor(result) or not torch.is_grad_enabled():
            return result
        try:
            shadow = func(*_mapped(args, _shadow), **_mapped(kwargs, _shadow))
        except (RuntimeError, TypeError):
            return result               # something that only integers can do (bits, indices): a constant
        return _joined(result, shadow)


def whole_as_constant(tensor):
    """The integers alone, for code that torch does not see through; any other tensor as it is."""
    return _plain(tensor)


def _pair(tensor, shadow):
    whole = tensor.as_subclass(Whole)
    whole._shadow = shadow
    return whole


def _mapped(value, change):
    if isinstance(value, (torch.Tensor, torch.dtype)):
        return change(value)
    if isinstance(value, (list, tuple)) and not isinstance(value, torch.Size):
        return type(value)(_mapped(v, change) for v in value)
    if isinstance(value, dict):
        return {k: _mapped(v, change) for k, v in value.items()}
    return value


def _plain(value):
    return value.as_subclass(torch.Tensor) if type(value) is Whole else value


def _shadow(value):
    if isinstance(value, torch.dtype):
        return value if value.is_floating_point else torch.float64
    if type(value) is not Whole:
        return value
    shadow = value._shadow
    if getattr(value, '_fresh', False):
        # the program may have written into the array since; a version that has not changed must stay, for torch saves
        # it
        real = value.as_subclass(torch.Tensor)
        if not torch.equal(shadow.detach(), real.double()):
            shadow.detach().copy_(real)
    return shadow


def _has_tensor(value):
    return isinstance(value, torch.Tensor) or isinstance(value, (list, tuple)) and any(map(_has_tensor, value))


def _joined(result, shadow):
    """Results with the history of their shadows."""
    if isinstance(result, torch.Tensor):
        if not isinstance(shadow, torch.Tensor) or not shadow.requires_grad or shadow.shape != result.shape:
            return result
        return shadow.to(result.dtype) if result.dtype.is_floating_point else _pair(result.detach(), shadow)
    if isinstance(result, (list, tuple)):
        joined = [_joined(r, s) for r, s in zip(result, shadow, strict=True)]
        return type(result)(joined) if type(result) in (list, tuple) else tuple(joined)
    return result
