"""Pooling over windows, over everything, and to a given size."""
from collections.abc import Callable
from math import prod
from typing import Literal, NamedTuple

import torch
from torch.nn import functional as F

from ...base import MXNetError
from ..core.attributes import Shape
from ..core.table import operator
from .spatial import check_kernel, check_rank, is_channels_last, per_axis

_Kernels = dict[int, Callable[..., torch.Tensor]]           # by the number of spatial axes
MAX: _Kernels = {1: torch.max_pool1d, 2: torch.max_pool2d, 3: torch.max_pool3d}
AVERAGE: _Kernels = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}
_GLOBAL_MAX: _Kernels = {1: F.adaptive_max_pool1d, 2: F.adaptive_max_pool2d, 3: F.adaptive_max_pool3d}


# ---------------------------------------------------------------------- windows
class _Windows(NamedTuple):
    """Where the windows lie, a value for each spatial axis."""

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    pad: tuple[int, ...]
    counts: tuple[int, ...] | None      # how many there are; not counted where torch does as upstream does
    ceil: bool | None                   # the `ceil_mode` in which torch makes exactly these; None if it does in neither


def _windows(name, sizes, kernel, stride, pad, convention, trusted=True):
    """The windows of a convention.

    torch pads by at most half a kernel and leaves out a window that starts behind the data; upstream does not.
    """
    usual = trusted and all(2 * p <= k for p, k in zip(pad, kernel))
    if usual and convention == 'valid':
        return _Windows(kernel, stride, pad, None, False)
    axes = list(zip(sizes, kernel, stride, pad, strict=True))
    rooms = [size + 2 * p - k for size, k, s, p in axes]
    if min(rooms) < 0:
        raise MXNetError(f'operator {name}: kernel={kernel} exceeds data with spatial shape {tuple(sizes)} '
                         f'and pad={pad}')
    down = tuple(room // s + 1 for room, s in zip(rooms, stride, strict=True))
    up = tuple(-(-room // s) + 1 for room, s in zip(rooms, stride, strict=True))
    if convention == 'same':
        counts = tuple(-(-size // s) for size, k, s, p in axes)
    else:
        counts = down if convention == 'valid' else up
    ceil = None
    if usual and all((n - 1) * s < size + p for n, (size, k, s, p) in zip(counts, axes, strict=True)):
        ceil = False if counts == down else True if counts == up else None
    return _Windows(kernel, stride, pad, counts, ceil)


def _trusted(data, pad):
    """May torch pad for an average?  Over channels-last images on a GPU its gradient is then wrong (2.11)."""
    return not data.is_cuda or len(pad) == 3 or not any(pad) or (data.is_contiguous() and data.shape[1] > 1)


def _pad_to_windows(data, windows, value):
    """Data such that windows without padding are the wanted ones."""
    widths: list[int] = []
    for size, k, s, p, n in zip(data.shape[2:], *windows[:4], strict=True):
        widths = [p, (n - 1) * s + k - size - p, *widths]
    return F.pad(data, widths, value=value)


def _max_pool(data, windows):
    kernel, stride, pad, _, ceil = windows
    if ceil is None:
        data = _pad_to_windows(data, windows, torch.finfo(data.dtype).min)
        pad, ceil = (0,) * len(kernel), False
    if len(kernel) == 2 and not ceil and _is_slow(data):
        if not (data.requires_grad and torch.is_grad_enabled()):
            return _largest(data, kernel, stride, pad)
        if kernel == stride == (2, 2) and not any(pad) or data.shape[1] >= 8:
            return _Largest.apply(data, kernel, stride, pad)
    return MAX[len(kernel)](data, kernel, stride, pad, 1, ceil)


# ---------------------------------------------------------------------- maxima on a CPU
def _is_slow(data):
    """Whether torch takes its time for maxima: on a CPU it looks at the pixels of a plane one by one."""
    return data.device.type == 'cpu' and data.dim() == 4 and data.is_contiguous() and data.numel() >= 1 << 13 \
        and data.is_floating_point()


def _every(data, axis, first, step, count):
    """The elements number `first`, `first + step`, ... along one of the last two axes: `count` of them."""
    part = slice(first, first + (count - 1) * step + 1, step)
    return data[..., part, :] if axis == -2 else data[..., part]


def _largest(data, kernel, stride, pad):
    """Maxima of windows: of their rows, then of their columns, a kernel's length of vectors at a time."""
    if any(pad):
        data = F.pad(data, (pad[1], pad[1], pad[0], pad[0]), value=-torch.inf)
    for axis, length, step in ((-2, kernel[0], stride[0]), (-1, kernel[1], stride[1])):
        count = (data.shape[axis] - length) // step + 1
        if count < 1:
            raise MXNetError(f'operator Pooling: kernel={kernel} exceeds data with spatial shape '
                             f'{tuple(data.shape[2:])}, padding included')
        found = _every(data, axis, 0, step, count)
        for first in range(1, length):
            found = torch.maximum(found, _every(data, axis, first, step, count))
        data = found
    return data.contiguous()


class _Largest(torch.autograd.Function):
    """As `_largest`, with a gradient: torch's own, which is told where the maxima were."""

    @staticmethod
    def forward(ctx, data, kernel, stride, pad):
        if kernel == stride == (2, 2) and not any(pad):
            found, index = _two_by_two(data)
        else:
            last = data.contiguous(memory_format=torch.channels_last)       # of which torch looks at many at a time
            found, index = torch.ops.aten.max_pool2d_with_indices(last, kernel, stride, pad)
            found, index = found.contiguous(), index.contiguous()
        ctx.save_for_backward(data, index)
        ctx.windows = kernel, stride, pad
        return found

    @staticmethod
    def backward(ctx, gradient):
        data, index = ctx.saved_tensors
        return torch.ops.aten.max_pool2d_with_indices_backward(gradient.contiguous(), data, *ctx.windows, [1, 1], False,
                                                               index), None, None, None


def _two_by_two(data):
    """Maxima of 2 x 2 pixels, side by side, and their numbers in the plane; of equal ones the first, row by row."""
    height, width = data.shape[2] // 2, data.shape[3] // 2
    left, right = (_every(data, -1, i, 2, width) for i in (0, 1))
    (top, low), (top_right, low_right) = ([_every(t, -2, i, 2, height) for i in (0, 1)]
                                          for t in (torch.maximum(left, right), right > left))
    below = low > top
    places = torch.arange(height, device=data.device)[:, None] * (2 * data.shape[3]) \
        + torch.arange(width, device=data.device) * 2
    index = torch.add(places, below, alpha=data.shape[3]) + (low_right & below | top_right & ~below)
    return torch.maximum(top, low), index


def _sum_pool(data, windows):
    kernel, stride, pad, counts, ceil = windows
    if len(kernel) == 1:        # torch's 1-D average cannot be told its divisor
        wide = _Windows((1, *kernel), (1, *stride), (0, *pad), counts and (1, *counts), ceil)
        return _sum_pool(data.unsqueeze(2), wide).squeeze(2)
    if ceil is None:
        data = _pad_to_windows(data, windows, 0)
        pad, ceil = 0, False
    return AVERAGE[len(kernel)](data, kernel, stride, pad, ceil, True, 1)


def _average_pool(data, windows, include_pad):
    kernel, stride, pad, _, ceil = windows
    if ceil is not None:
        return AVERAGE[len(kernel)](data, kernel, stride, pad, ceil, include_pad)
    result = _sum_pool(data, windows)
    for axis, (size, k, s, p, n) in enumerate(zip(data.shape[2:], *windows[:4], strict=True)):
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
        if pooling_convention == 'same':
            if count != 1 or any(pad):
                raise MXNetError("operator Pooling: pooling_convention='same' is for one spatial axis and no padding, "
                                 f'but kernel={kernel} and pad={pad}')
            pad = ()            # upstream reads three zeros here, so programs give them
        stride = per_axis('Pooling', 'stride', stride, count, 1)
        pad = per_axis('Pooling', 'pad', pad, count, 0)
        _check_windows('Pooling', stride, pad)
        if pool_type in ('avg', 'max') and any(p >= k for p, k in zip(pad, kernel, strict=True)):
            raise MXNetError(f'operator Pooling: argument pad={pad} must be smaller than kernel={kernel}: a window '
                             'would have nothing but padding')
        windows = _windows('Pooling', data.shape[2:], kernel, stride, pad, pooling_convention,
                           pool_type == 'max' or _trusted(data, pad))
        if pool_type == 'max':
            result = _max_pool(data, windows)
        elif pool_type == 'avg':
            result = _average_pool(data, windows, count_include_pad is not False)
        elif pool_type == 'sum':
            result = _sum_pool(data, windows)
        else:
            result = _root(_sum_pool(_power(data, p_value), windows), p_value)
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
    # the padding becomes data; what is left of a window behind it does not count
    data = F.pad(data, [p for axis in reversed(pad) for p in (axis, axis)])
    windows = _windows('Pooling_v1', data.shape[2:], kernel, stride, (0,) * count, pooling_convention)
    if pool_type != 'max':
        total = _sum_pool(data, windows)
        return total if pool_type == 'sum' else total / prod(kernel)
    if windows.counts is not None:
        data = _pad_to_windows(data, windows, float('-inf'))
    for axis, (k, s) in enumerate(zip(kernel, stride, strict=True)):
        data = data.unfold(axis + 2, k, s)
    values = data.flatten(-count)
    top = values.detach().amax(-1, keepdim=True)
    equal = values == top
    # the sum of the equal maxima has their gradients; what is too much in its value is taken away as a constant
    top, ties = top.squeeze(-1), equal.sum(-1)
    surplus = torch.where((ties > 1) & top.isfinite(), (ties - 1) * top, 0)
    return torch.where(equal, values, 0).sum(-1) - surplus


@operator('_contrib_AdaptiveAvgPooling2D')
def AdaptiveAvgPooling2D(data, *, output_size: Shape = ()):
    """Averages of (batch, channels, height, width) to `output_size`: a height and a width, one number for both, or 1.

    The windows divide the image as evenly as whole pixels allow, and may overlap.
    """
    check_rank('AdaptiveAvgPooling2D', data, 2, None)
    height, width = (1, 1) if len(output_size) not in (1, 2) else (output_size[0], output_size[-1])
    return F.adaptive_avg_pool2d(data, (height, width))
