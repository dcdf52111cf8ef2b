"""Shapes and dtypes of ATen calls on meta tensors.

torch knows them for all calls, but by rules in Python of which the first one imports its compiler: a second that no
program should wait before its first step.  Here are rules for the calls that most networks consist of.  They answer
only where everything is as it should be; else, and for all other calls, torch's own do, mistakes and their texts
included.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import torch

from ..._torch.dispatch import MetaMode, signature
from ..._torch.operators import ADAPTIVE_AVG_POOL2D, LOG_SOFTMAX, PRELU_KERNEL, SOFTMAX

aten = torch.ops.aten
META = torch.device('meta')


class Sizes(MetaMode):
    """While it is active, calls on meta tensors take the rules below."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False                # torch's compiler, imported to leave this class alone, would be all that it does

    def __torch_dispatch__(self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        rule = _RULES.get(function)
        if rule is None and _is_pointwise(function) and 'memory_format' not in kwargs:
            found = _pointwise(function, args, kwargs)
        else:
            found = rule(*args, **kwargs) if rule is not None and _all_on_meta(args) else None
        return function(*args, **kwargs) if found is None else found


def _all_on_meta(args: Sequence[Any]) -> bool:
    for a in args:
        if isinstance(a, torch.Tensor):
            if a.device.type != 'meta':
                return False
        elif isinstance(a, (list, tuple)) and not _all_on_meta(a):
            return False
    return True


def _like(tensor: torch.Tensor, shape: Sequence[int], dtype: torch.dtype | None = None) -> torch.Tensor:
    return torch.empty(shape, dtype=dtype or tensor.dtype, device=META)


# ---------------------------------------------------------------------- element by element
@cache
def _is_pointwise(function: Any) -> bool:
    return torch.Tag.pointwise in function.tags and torch.Tag.nondeterministic_seeded not in function.tags


def _pointwise(function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """The shape is what the arguments are broadcast to; the dtype is found out on a CPU, with one element of each."""
    tensors = [a for a in (*args, *kwargs.values()) if isinstance(a, torch.Tensor)]
    if not tensors or not _all_on_meta(tensors):
        return None
    shape = _broadcast([t.shape for t in tensors])
    mutable = signature(function).mutable
    if shape is None or mutable and (not signature(function).name.endswith('_') or shape != tuple(args[0].shape)):
        return None
    try:
        result = function(*map(_one, args), **{k: _one(v) for k, v in kwargs.items()})
    except (RuntimeError, TypeError, ValueError, NotImplementedError):
        return None                     # a dtype that a CPU does not know here, or a mistake
    if not isinstance(result, torch.Tensor):
        return None
    return args[0] if mutable else _like(result, shape)


def _one(value: Any) -> Any:
    # as many axes, since numbers without any are promoted otherwise
    return torch.ones((1,) * value.dim(), dtype=value.dtype) if isinstance(value, torch.Tensor) else value


def _broadcast(shapes: Iterable[Sequence[int]]) -> Any:
    """The shape that shapes are broadcast to; None if they do not fit."""
    result = [1] * max(map(len, shapes))
    for shape in shapes:
        for i, n in enumerate(reversed(shape), 1):
            if n != 1:
                if result[-i] not in (1, n):
                    return None
                result[-i] = n
    return tuple(result)


# ---------------------------------------------------------------------- products
def _same_dtype(first: torch.Tensor, *others: torch.Tensor | None) -> bool:
    return all(t is None or t.dtype is first.dtype for t in others)


def _mm(a: torch.Tensor, b: torch.Tensor) -> Any:
    if a.dim() == b.dim() == 2 and a.shape[1] == b.shape[0] and _same_dtype(a, b):
        return _like(a, (a.shape[0], b.shape[1]))
    return None


def _addmm(bias: torch.Tensor, a: torch.Tensor, b: torch.Tensor, *, beta: float = 1, alpha: float = 1) -> Any:
    result = _mm(a, b)
    if result is not None and _same_dtype(bias, a) and _broadcast([bias.shape, result.shape]) == result.shape:
        return result
    return None


def _bmm(a: torch.Tensor, b: torch.Tensor) -> Any:
    if a.dim() == b.dim() == 3 and a.shape[0] == b.shape[0] and a.shape[2] == b.shape[1] and _same_dtype(a, b):
        return _like(a, (a.shape[0], a.shape[1], b.shape[2]))
    return None


def _convolution(data: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, stride: Sequence[int],
                 padding: Sequence[int], dilation: Sequence[int], transposed: bool, output_padding: Sequence[int],
                 groups: int) -> Any:
    axes = data.dim() - 2
    if axes < 1 or weight.dim() != data.dim() or not _same_dtype(data, weight, bias) \
            or any(len(x) != axes for x in (stride, padding, dilation, output_padding)):
        return None
    inside, outside = weight.shape[:2] if transposed else (weight.shape[1] * groups, weight.shape[0])
    outside = outside * groups if transposed else outside
    if data.shape[1] != inside or inside % groups or outside % groups or min(stride) < 1 or min(dilation) < 1 \
            or min(padding) < 0 or bias is not None and bias.shape != (outside,):
        return None
    lengths = []
    for n, k, s, p, d, more in zip(data.shape[2:], weight.shape[2:], stride, padding, dilation, output_padding):
        reach = d * (k - 1) + 1
        lengths.append((n - 1) * s - 2 * p + reach + more if transposed else (n + 2 * p - reach) // s + 1)
    if min(lengths) < 1 or not data.numel() or not weight.numel():
        return None
    return _like(data, (data.shape[0], outside, *lengths))


# ---------------------------------------------------------------------- pooling
def _pooled(data: torch.Tensor, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int],
            dilation: Sequence[int], ceil: bool) -> Any:
    """The shape that pooling gives, or None."""
    axes = data.dim() - 2
    kernel, stride, padding, dilation = ([*x] * axes if len(x) == 1 else x
                                         for x in (kernel, stride or kernel, padding, dilation))
    if axes < 1 or not data.numel() or any(len(x) != axes for x in (kernel, stride, padding, dilation)) \
            or min(*stride, *dilation, *kernel) < 1 or any(p < 0 or p > k // 2 for p, k in zip(padding, kernel)):
        return None
    lengths = []
    for n, k, s, p, d in zip(data.shape[2:], kernel, stride, padding, dilation):
        room = n + 2 * p - d * (k - 1) - 1
        length = (room + (s - 1 if ceil else 0)) // s + 1
        if ceil and (length - 1) * s >= n + p:          # the last window must not begin in the padding
            length -= 1
        lengths.append(length)
    return (*data.shape[:2], *lengths) if min(lengths) > 0 else None


def _max_pool(data: torch.Tensor, kernel: Sequence[int], stride: Sequence[int] = (), padding: Sequence[int] = (0,),
              dilation: Sequence[int] = (1,), ceil: bool = False) -> Any:
    shape = _pooled(data, kernel, stride, padding, dilation, ceil)
    return None if shape is None else (_like(data, shape), _like(data, shape, torch.int64))


def _avg_pool(data: torch.Tensor, kernel: Sequence[int], stride: Sequence[int] = (), padding: Sequence[int] = (0,),
              ceil: bool = False, count_padding: bool = True, divisor: int | None = None) -> Any:
    shape = _pooled(data, kernel, stride, padding, (1,), ceil)
    return None if shape is None or not data.dtype.is_floating_point else _like(data, shape)


def _max_pool_to(data: torch.Tensor, lengths: Sequence[int]) -> Any:
    if data.dim() != len(lengths) + 2 or not data.numel() or min(lengths) < 1 or not data.dtype.is_floating_point:
        return None
    shape = (*data.shape[:2], *lengths)
    return _like(data, shape), _like(data, shape, torch.int64)


# ---------------------------------------------------------------------- normalisation
def _batch_norm(data: torch.Tensor, gamma: torch.Tensor | None, beta: Any, mean: torch.Tensor | None,
                variance: torch.Tensor | None, training: bool, momentum: float, eps: float) -> Any:
    if data.dim() < 2 or not data.dtype.is_floating_point or not training and (mean is None or variance is None):
        return None
    channels = data.shape[1]
    if any(p is not None and p.shape != (channels,) for p in (gamma, beta, mean, variance)):
        return None
    kept = data.dtype
    if kept in (torch.float16, torch.bfloat16):
        if gamma is None:
            return None
        kept = gamma.dtype
    statistics = [_like(data, (channels if training else 0,), kept) for _ in range(2)]
    return _like(data, data.shape), *statistics


def _layer_norm(data: torch.Tensor, shape: Sequence[int], gamma: torch.Tensor | None, beta: Any, eps: float) -> Any:
    outer = data.dim() - len(shape)
    if outer < 0 or tuple(data.shape[outer:]) != tuple(shape) or not _same_dtype(data, gamma, beta) \
            or any(p is not None and tuple(p.shape) != tuple(shape) for p in (gamma, beta)):
        return None
    kept = (*data.shape[:outer], *[1] * len(shape))
    return _like(data, data.shape), _like(data, kept), _like(data, kept)


def _group_norm(data: torch.Tensor, gamma: torch.Tensor | None, beta: Any, batch: int, channels: int, size: int,
                groups: int, eps: float) -> Any:
    if groups < 1 or channels % groups or data.numel() != batch * channels * size \
            or not _same_dtype(data, gamma, beta) \
            or any(p is not None and p.shape != (channels,) for p in (gamma, beta)):
        return None
    return _like(data, data.shape), _like(data, (batch, groups)), _like(data, (batch, groups))


def _softmax(data: torch.Tensor, axis: int, half_to_float: bool) -> Any:
    if half_to_float or not data.dtype.is_floating_point or not -max(1, data.dim()) <= axis < max(1, data.dim()):
        return None
    return _like(data, data.shape)


# ---------------------------------------------------------------------- sums and the like
def _reduced(data: torch.Tensor, axes: Any, keepdim: bool) -> Any:
    """The shape without some axes (all, if none are given), or None."""
    count = data.dim()
    axes = range(count) if axes is None or not len(axes) else axes
    if any(not -count <= a < count for a in axes):
        return None
    axes = {a % count for a in axes}
    return [1 if i in axes else n for i, n in enumerate(data.shape) if keepdim or i not in axes]


def _sum(data: torch.Tensor, axes: Any, keepdim: bool = False, *, dtype: torch.dtype | None = None) -> Any:
    shape = _reduced(data, axes, keepdim)
    if dtype is None:
        dtype = data.dtype if data.dtype.is_floating_point or data.dtype.is_complex else torch.int64
    return None if shape is None else _like(data, shape, dtype)


def _mean(data: torch.Tensor, axes: Any, keepdim: bool = False, *, dtype: torch.dtype | None = None) -> Any:
    if dtype is not None or not data.dtype.is_floating_point:
        return None
    return _sum(data, axes, keepdim)


def _extreme(data: torch.Tensor, axes: Any = (), keepdim: bool = False) -> Any:
    shape = _reduced(data, axes, keepdim)
    return None if shape is None or not data.numel() else _like(data, shape)


def _position(data: torch.Tensor, axis: int | None = None, keepdim: bool = False) -> Any:
    shape = _reduced(data, None if axis is None else [axis], keepdim)
    return None if shape is None or not data.numel() else _like(data, shape, torch.int64)


# ---------------------------------------------------------------------- moving
def _cat(tensors: Sequence[torch.Tensor], axis: int = 0) -> Any:
    first = tensors[0] if tensors else None
    if first is None or not -first.dim() <= axis < first.dim() or not _same_dtype(*tensors):
        return None
    axis %= first.dim()
    shape = list(first.shape)
    for t in tensors[1:]:
        if t.dim() != first.dim() or any(a != b for i, (a, b) in enumerate(zip(t.shape, first.shape)) if i != axis):
            return None
        shape[axis] += t.shape[axis]
    return _like(first, shape)


def _stack(tensors: Sequence[torch.Tensor], axis: int = 0) -> Any:
    first = tensors[0] if tensors else None
    if first is None or not -first.dim() - 1 <= axis <= first.dim() or not _same_dtype(*tensors) \
            or any(t.shape != first.shape for t in tensors):
        return None
    shape = list(first.shape)
    shape.insert(axis % (first.dim() + 1), len(tensors))
    return _like(first, shape)


def _embedding(weight: torch.Tensor, positions: torch.Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False,
               sparse: bool = False) -> Any:
    if weight.dim() != 2 or positions.dtype not in (torch.int32, torch.int64):
        return None
    return _like(weight, (*positions.shape, weight.shape[1]))


def _gather(data: torch.Tensor, axis: int, positions: torch.Tensor, *, sparse_grad: bool = False) -> Any:
    if data.dim() != positions.dim() or positions.dtype is not torch.int64 or not -data.dim() <= axis < data.dim() \
            or any(p > n for i, (p, n) in enumerate(zip(positions.shape, data.shape)) if i != axis % data.dim()):
        return None
    return _like(data, positions.shape)


def _flip(data: torch.Tensor, axes: Any) -> Any:
    return _like(data, data.shape) if all(-data.dim() <= a < data.dim() for a in axes) \
        and len({a % data.dim() for a in axes}) == len(axes) else None


def _repeat(data: torch.Tensor, repeats: Sequence[int]) -> Any:
    if len(repeats) < data.dim() or any(r < 0 for r in repeats):
        return None
    shape = (*[1] * (len(repeats) - data.dim()), *data.shape)
    return _like(data, [n * r for n, r in zip(shape, repeats)])


def _pad(data: torch.Tensor, lengths: Sequence[int]) -> Any:
    """At the sides of the last axes, the last one first, with what is there."""
    axes = len(lengths) // 2
    if data.dim() != axes + 2 or not data.numel():
        return None
    shape = list(data.shape)
    for axis, before, after in zip(range(1, axes + 1), lengths[::2], lengths[1::2]):
        if not 0 <= before < shape[-axis] or not 0 <= after < shape[-axis]:
            return None
        shape[-axis] += before + after
    return _like(data, shape)


def _prelu(data: torch.Tensor, weight: torch.Tensor) -> Any:
    return _like(data, data.shape) if _same_dtype(data, weight) and \
        _broadcast([data.shape, weight.shape]) == tuple(data.shape) else None


def _leaky(data: torch.Tensor, slope: float = 0.01) -> Any:
    return _like(data, data.shape) if data.dtype.is_floating_point else None


def _running(data: torch.Tensor, axis: int, *, dtype: torch.dtype | None = None) -> Any:
    if not -max(1, data.dim()) <= axis < max(1, data.dim()):
        return None
    return _like(data, data.shape, dtype or (data.dtype if data.dtype.is_floating_point else torch.int64))


def _new_like(data: torch.Tensor, *, dtype: torch.dtype | None = None, layout: Any = None, device: Any = None,
              pin_memory: Any = None, memory_format: Any = None) -> Any:
    if layout not in (None, torch.strided) or device is not None and torch.device(device).type != 'meta':
        return None
    return _like(data, data.shape, dtype)


# ---------------------------------------------------------------------- choosing
def _index_select(data: torch.Tensor, axis: int, positions: torch.Tensor) -> Any:
    if not -data.dim() <= axis < data.dim() or positions.dim() != 1 \
            or positions.dtype not in (torch.int32, torch.int64):
        return None
    shape = list(data.shape)
    shape[axis] = positions.shape[0]
    return _like(data, shape)


def _index(data: torch.Tensor, indices: Sequence[torch.Tensor | None]) -> Any:
    """By tensors of positions along axes that stand side by side."""
    at = [i for i, x in enumerate(indices) if x is not None]
    given = [x for x in indices if x is not None]
    if not at or at[-1] - at[0] != len(at) - 1 or len(indices) > data.dim() \
            or any(x.dtype not in (torch.int32, torch.int64) for x in given) \
            or any(data.shape[i] == 0 for i in at):
        return None
    shape = _broadcast([x.shape for x in given])
    return None if shape is None else _like(data, (*data.shape[:at[0]], *shape, *data.shape[at[-1] + 1:]))


def _take(data: torch.Tensor, positions: torch.Tensor) -> Any:
    return _like(data, positions.shape) if positions.dtype is torch.int64 and data.numel() else None


def _sort(data: torch.Tensor, *, stable: bool | None = None, dim: int = -1, descending: bool = False) -> Any:
    if not data.dim() or not -data.dim() <= dim < data.dim() or data.dtype.is_complex:
        return None
    return _like(data, data.shape), _like(data, data.shape, torch.int64)


def _extreme_and_position(data: torch.Tensor, axis: int, keepdim: bool = False) -> Any:
    shape = _reduced(data, [axis], keepdim) if data.dim() and data.numel() else None
    return None if shape is None else (_like(data, shape), _like(data, shape, torch.int64))


def _constant_pad(data: torch.Tensor, lengths: Sequence[int], value: float = 0) -> Any:
    if len(lengths) % 2 or len(lengths) > 2 * data.dim() or min(lengths, default=0) < 0:
        return None
    shape = list(data.shape)
    for axis, before, after in zip(range(1, data.dim() + 1), lengths[::2], lengths[1::2]):
        shape[-axis] += before + after
    return _like(data, shape)


def _nearest(data: torch.Tensor, lengths: Sequence[int], *scales: Any) -> Any:
    if data.dim() != len(lengths) + 2 or not data.dtype.is_floating_point or min(lengths) < 1 or not data.numel():
        return None
    return _like(data, (*data.shape[:2], *lengths))


def _mean_to(data: torch.Tensor, lengths: Sequence[int]) -> Any:
    if data.dim() != len(lengths) + 2 or min(lengths) < 1 or not data.dtype.is_floating_point or not data.numel():
        return None
    return _like(data, (*data.shape[:2], *lengths))


def _coins(data: torch.Tensor, probability: float = 0.5, *, generator: torch.Generator | None = None) -> Any:
    return data if 0 <= probability <= 1 and data.dtype.is_floating_point else None


def _uniform(data: torch.Tensor, low: float = 0.0, high: float = 1.0, *,
             generator: torch.Generator | None = None) -> Any:
    return data if low <= high and data.dtype.is_floating_point else None


def _normal(data: torch.Tensor, mean: float = 0.0, deviation: float = 1.0, *,
            generator: torch.Generator | None = None) -> Any:
    return data if deviation >= 0 and data.dtype.is_floating_point else None


def _exponential(data: torch.Tensor, rate: float = 1.0, *, generator: torch.Generator | None = None) -> Any:
    return data if rate > 0 and data.dtype.is_floating_point else None


# ---------------------------------------------------------------------- making
def _made(shape: Sequence[int], dtype: torch.dtype | None, layout: Any, device: Any) -> Any:
    if device is None or torch.device(device).type != 'meta' or layout not in (None, torch.strided):
        return None
    return torch.empty(shape, dtype=dtype, device=META)


def _arange(start: float, end: float, step: float = 1, *, dtype: torch.dtype | None = None, layout: Any = None,
            device: Any = None, pin_memory: Any = None) -> Any:
    numbers = start, end, step
    if any(type(n) not in (int, float) for n in numbers) or not step or (end - start) * step < 0 \
            or any(n != n or abs(n) > 1 << 52 for n in numbers):
        return None
    if dtype is None:
        dtype = torch.int64 if all(type(n) is int for n in numbers) else torch.get_default_dtype()
    return _made((math.ceil((end - start) / step),), dtype, layout, device)


def _arange_to(end: float, **kwargs: Any) -> Any:
    return _arange(0, end, **kwargs)


def _arange_from(start: float, end: float, **kwargs: Any) -> Any:
    return _arange(start, end, **kwargs)


def _full(shape: Sequence[int], value: Any, *, dtype: torch.dtype | None = None, layout: Any = None,
          device: Any = None, pin_memory: Any = None) -> Any:
    if type(value) not in (int, float, bool):
        return None
    default = {int: torch.int64, bool: torch.bool}.get(type(value), torch.get_default_dtype())
    return _made(shape, dtype or default, layout, device)


def _zeros(shape: Sequence[int], *, dtype: torch.dtype | None = None, layout: Any = None, device: Any = None,
           pin_memory: Any = None) -> Any:
    return _made(shape, dtype or torch.get_default_dtype(), layout, device)


def _scalar(value: Any, *, dtype: torch.dtype | None = None, layout: Any = None, device: Any = None,
            pin_memory: Any = None) -> Any:
    return None if dtype is None else _made((), dtype, layout, device)


_RULES: dict[Any, Callable[..., Any]] = {
    aten.index_select.default: _index_select, aten.index.Tensor: _index, aten.take.default: _take,
    aten.sort.stable: _sort, aten.max.dim: _extreme_and_position, aten.min.dim: _extreme_and_position,
    aten.constant_pad_nd.default: _constant_pad, aten.upsample_nearest2d.default: _nearest,
    ADAPTIVE_AVG_POOL2D: _mean_to, aten.bernoulli_.float: _coins,
    aten.uniform_.default: _uniform, aten.normal_.default: _normal, aten.exponential_.default: _exponential,
    aten.arange.default: _arange_to, aten.arange.start: _arange_from, aten.arange.start_step: _arange,
    aten.full.default: _full, aten.zeros.default: _zeros, aten.ones.default: _zeros,
    aten.scalar_tensor.default: _scalar,
    aten.mm.default: _mm, aten.addmm.default: _addmm, aten.bmm.default: _bmm, aten.convolution.default: _convolution,
    aten.max_pool2d_with_indices.default: _max_pool, aten.avg_pool2d.default: _avg_pool,
    aten.max_pool3d_with_indices.default: _max_pool, aten.avg_pool3d.default: _avg_pool,
    aten.adaptive_max_pool2d.default: _max_pool_to, aten.adaptive_max_pool3d.default: _max_pool_to,
    aten.reflection_pad1d.default: _pad, aten.reflection_pad2d.default: _pad, aten.reflection_pad3d.default: _pad,
    aten.replication_pad1d.default: _pad, aten.replication_pad2d.default: _pad, aten.replication_pad3d.default: _pad,
    aten.native_batch_norm.default: _batch_norm, aten.native_layer_norm.default: _layer_norm,
    aten.native_group_norm.default: _group_norm, SOFTMAX: _softmax, LOG_SOFTMAX: _softmax,
    aten.sum.dim_IntList: _sum, aten.mean.dim: _mean, aten.amax.default: _extreme, aten.amin.default: _extreme,
    aten.argmax.default: _position, aten.argmin.default: _position, aten.cat.default: _cat, aten.stack.default: _stack,
    aten.embedding.default: _embedding, aten.gather.default: _gather, aten.flip.default: _flip,
    aten.repeat.default: _repeat, PRELU_KERNEL: _prelu, aten.leaky_relu.default: _leaky,
    aten.cumsum.default: _running, aten.cumprod.default: _running,
    aten.empty_like.default: _new_like, aten.zeros_like.default: _new_like, aten.ones_like.default: _new_like,
}
