"""Pooling over windows, over everything, and to a given size."""
from math import prod
from typing import Literal

import torch
from torch.nn import functional as F

from ..base import MXNetError
from .attributes import Shape
from .spatial import check_kernel, check_rank, is_channels_last, per_axis
from .table import operator

_MAX = (None, torch.max_pool1d, torch.max_pool2d, torch.max_pool3d)
_AVERAGE = (None, F.avg_pool1d, F.avg_pool2d, F.avg_pool3d)
_GLOBAL_MAX = (None, F.adaptive_max_pool1d, F.adaptive_max_pool2d, F.adaptive_max_pool3d)


# ---------------------------------------------------------------------- windows
def _output_sizes(name, sizes, kernel, stride, pad, convention):
    """How many windows there are along each axis."""
    counts = []
    for size, k, s, p in zip(sizes, kernel, stride, pad, strict=True):
        room = size + 2 * p - k
        if room < 0:
            raise MXNetError(f'operator {name}: kernel={kernel} exceeds data with spatial shape {tuple(sizes)} '
                             f'and pad={pad}')
        if convention == 'valid':
            counts.append(room // s + 1)
        elif convention == 'full':
            counts.append(-(-room // s) + 1)
        else:
            counts.append(-(-size // s))
    return counts


def _torch_mode(sizes, kernel, stride, pad, counts):
    """The `ceil_mode` in which torch makes exactly these windows; None if it does in neither.

    torch pads by at most half a kernel and leaves out a window that starts behind the data; upstream does not.
    """
    axes = list(zip(sizes, kernel, stride, pad, counts, strict=True))
    if any(2 * p > k or (n - 1) * s >= size + p for size, k, s, p, n in axes):
        return None
    for ceil in (False, True):
        if all(n == (size + 2 * p - k + (s - 1 if ceil else 0)) // s + 1 for size, k, s, p, n in axes):
            return ceil
    return None


def _pad_to_windows(data, kernel, stride, pad, counts, value):
    """Data such that windows without padding are the wanted ones."""
    widths = []
    for size, k, s, p, n in zip(data.shape[2:], kernel, stride, pad, counts, strict=True):
        widths = [p, (n - 1) * s + k - size - p, *widths]
    return F.pad(data, widths, value=value)


def _max_pool(data, kernel, stride, pad, counts):
    ceil = _torch_mode(data.shape[2:], kernel, stride, pad, counts)
    if ceil is None:
        data = _pad_to_windows(data, kernel, stride, pad, counts, torch.finfo(data.dtype).min)
        pad, ceil = 0, False
    return _MAX[len(kernel)](data, kernel, stride, pad, 1, ceil)


def _sum_pool(data, kernel, stride, pad, counts):
    if len(kernel) == 1:        # torch's 1-D average cannot be told its divisor
        wide = _sum_pool(data.unsqueeze(2), (1, *kernel), (1, *stride), (0, *pad), (1, *counts))
        return wide.squeeze(2)
    ceil = _torch_mode(data.shape[2:], kernel, stride, pad, counts)
    if ceil is None:
        data = _pad_to_windows(data, kernel, stride, pad, counts, 0)
        pad, ceil = 0, False
    return _AVERAGE[len(kernel)](data, kernel, stride, pad, ceil, True, 1)


def _average_pool(data, kernel, stride, pad, counts, include_pad):
    sizes = data.shape[2:]
    ceil = _torch_mode(sizes, kernel, stride, pad, counts)
    if ceil is not None:
        return _AVERAGE[len(kernel)](data, kernel, stride, pad, ceil, include_pad)
    result = _sum_pool(data, kernel, stride, pad, counts)
    for axis, (size, k, s, p, n) in enumerate(zip(sizes, kernel, stride, pad, counts, strict=True)):
        low, high = (-p, size + p) if include_pad else (0, size)
        starts = [i * s - p for i in range(n)]
        # a window without a single element has sum zero, whatever it is divided by
        lengths = [max(min(start + k, high) - max(start, low), 1) for start in starts]
        result = result / data.new_tensor(lengths).reshape(-1, *[1] * (len(kernel) - 1 - axis))
    return result


# ---------------------------------------------------------------------- Lp norms
def _check_p(name, p_value):
    if p_value not in (1, 2, 3):
        raise MXNetError(f"operator {name}: with pool_type='lp', argument p_value={p_value} must be 1, 2 or 3")


def _power(data, p):
    return data if p == 1 else data * data if p == 2 else data * data * data


def _root(total, p):
    """The p-th root, with gradient zero at zero."""
    if p == 1:
        return total
    zero = total == 0
    safe = total.masked_fill(zero, 1)
    root = safe.sqrt() if p == 2 else safe.sign() * safe.abs() ** (1 / 3)
    return root.masked_fill(zero, 0)


# ---------------------------------------------------------------------- operators
def _saved_indices(attributes):
    """Upstream's node has one more output where its CPU library keeps the places of the maxima."""
    return int(attributes['pool_type'] == 'max' and 1 <= len(attributes['kernel']) <= 3
               and not is_channels_last(attributes['layout']))


@operator(aliases=('_npx_pooling',), hidden=_saved_indices)
def Pooling(data, *, kernel: Shape = (), pool_type: Literal['avg', 'lp', 'max', 'sum'] = 'max',
            global_pool: bool = False, cudnn_off: bool = False,
            pooling_convention: Literal['full', 'same', 'valid'] = 'valid', stride: Shape = (), pad: Shape = (),
            p_value: int | None = None, count_include_pad: bool | None = None,
            layout: Literal[None, 'NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC', 'NWC'] = None):
    """Maximum, average, sum or Lp norm of the windows of one to three spatial axes.

    Strides are 1 by default, whatever the kernel.  The number of windows along an axis is rounded down by the
    convention 'valid' and up by 'full', where the last window may stick out; 'same' (one axis, no padding) makes
    ceil(size / stride) of them.  An average counts the padding unless `count_include_pad=False`, but nothing beyond
    it.  `global_pool` makes one window of everything and ignores kernel, stride and pad.
    """
    if pool_type == 'lp':
        _check_p('Pooling', p_value)
    if not global_pool and not kernel:
        raise MXNetError('operator Pooling: argument kernel is missing; without it there is only global_pool=True')
    count = data.dim() - 2 if global_pool else check_kernel('Pooling', kernel, data, layout)
    last = is_channels_last(layout)
    if last:
        data = data.movedim(-1, 1)
    if global_pool:
        result = _pool_everything(data, count, pool_type, p_value, layout)
    else:
        stride = per_axis('Pooling', 'stride', stride, count, 1)
        pad = per_axis('Pooling', 'pad', pad, count, 0)
        _check_windows('Pooling', stride, pad)
        if pooling_convention == 'same' and (count != 1 or any(pad)):
            raise MXNetError("operator Pooling: pooling_convention='same' is for one spatial axis and no padding, "
                             f'but kernel={kernel} and pad={pad}')
        counts = _output_sizes('Pooling', data.shape[2:], kernel, stride, pad, pooling_convention)
        if pool_type == 'max':
            result = _max_pool(data, kernel, stride, pad, counts)
        elif pool_type == 'avg':
            result = _average_pool(data, kernel, stride, pad, counts, count_include_pad is not False)
        elif pool_type == 'sum':
            result = _sum_pool(data, kernel, stride, pad, counts)
        else:
            result = _root(_sum_pool(_power(data, p_value), kernel, stride, pad, counts), p_value)
    return result.movedim(1, -1) if last else result


def _check_windows(name, stride, pad):
    if min(stride) < 1 or min(pad) < 0:
        raise MXNetError(f'operator {name}: argument stride={stride} must be positive and pad={pad} not negative')


def _pool_everything(data, count, pool_type, p_value, layout):
    if not 1 <= count <= 3:
        raise MXNetError(f'operator Pooling: data has shape {tuple(data.shape)}, but it must have 3, 4 or 5 dimensions')
    check_rank('Pooling', data, count, layout)
    if pool_type == 'max':
        return _GLOBAL_MAX[count](data, 1)      # not amax, which shares the gradient among equal maxima
    axes = tuple(range(2, count + 2))
    if pool_type == 'avg':
        return data.mean(axes, keepdim=True)
    if pool_type == 'sum':
        return data.sum(axes, keepdim=True)
    return _root(_power(data, p_value).sum(axes, keepdim=True), p_value)


@operator()
def Pooling_v1(data, *, kernel: Shape = (), pool_type: Literal['avg', 'max', 'sum'] = 'max', global_pool: bool = False,
               pooling_convention: Literal['full', 'valid'] = 'valid', stride: Shape = (), pad: Shape = ()):
    """The pooling of old models, which differs from `Pooling` at the borders.

    Padding is zero for a maximum, too; an average always divides by the size of the kernel; and every one of several
    equal maxima gets the whole gradient.
    """
    if not global_pool and not kernel:
        raise MXNetError('operator Pooling_v1: argument kernel is missing; without it there is only global_pool=True')
    if global_pool:
        if data.dim() not in (4, 5):
            raise MXNetError(f'operator Pooling_v1: data has shape {tuple(data.shape)}, but it must have '
                             f'4 or 5 dimensions')
        kernel, stride, pad = tuple(data.shape[2:]), (), ()
    count = check_kernel('Pooling_v1', kernel, data, None)
    stride = per_axis('Pooling_v1', 'stride', stride, count, 1)
    pad = per_axis('Pooling_v1', 'pad', pad, count, 0)
    _check_windows('Pooling_v1', stride, pad)
    counts = _output_sizes('Pooling_v1', data.shape[2:], kernel, stride, pad, pooling_convention)
    data = F.pad(data, [p for axis in reversed(pad) for p in (axis, axis)])
    nothing = (0,) * count
    if pool_type == 'sum':
        return _sum_pool(data, kernel, stride, nothing, counts)
    if pool_type == 'avg':
        return _sum_pool(data, kernel, stride, nothing, counts) / prod(kernel)
    windows = _pad_to_windows(data, kernel, stride, nothing, counts, torch.finfo(data.dtype).min)
    for axis, (k, s) in enumerate(zip(kernel, stride, strict=True)):
        windows = windows.unfold(axis + 2, k, s)
    windows = windows.flatten(-count)
    top = windows.detach().amax(-1, keepdim=True)
    equal = windows == top
    # the sum of the equal maxima has their gradients; what is too much in its value is taken away as a constant
    ties = equal.sum(-1)
    surplus = torch.where(ties > 1, (ties - 1) * top.squeeze(-1), 0)
    return torch.where(equal, windows, 0).sum(-1) - surplus


@operator('_contrib_AdaptiveAvgPooling2D')
def AdaptiveAvgPooling2D(data, *, output_size: Shape = ()):
    """Averages of (batch, channels, height, width) to `output_size`: a height and a width, one number for both, or 1.

    The windows divide the image as evenly as whole pixels allow, and may overlap.
    """
    check_rank('AdaptiveAvgPooling2D', data, 2, None)
    size = (1, 1) if len(output_size) not in (1, 2) else output_size if len(output_size) == 2 else output_size * 2
    return F.adaptive_avg_pool2d(data, size)
