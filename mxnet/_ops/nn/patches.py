"""Images to columns of patches and back, as convolutions see them."""
from math import prod

import torch
from torch.nn import functional as F

from ...base import MXNetError
from ..core.attributes import Shape
from ..core.table import operator


def _window(name, kernel, stride, dilate, pad):
    count = len(kernel)
    stride, dilate, pad = stride or (1,) * count, dilate or (1,) * count, pad or (0,) * count
    if count not in (1, 2, 3) or not len(stride) == len(dilate) == len(pad) == count:
        raise MXNetError(f'operator {name}: kernel={kernel}, stride={stride}, dilate={dilate} and pad={pad} must '
                         'have the same number of values, one to three')
    return stride, dilate, pad


def _starts(name, size, kernel, stride, dilate, pad):
    """How often the window fits along each axis."""
    counts = [(n + 2 * p - d * (k - 1) - 1) // s + 1
              for n, k, s, d, p in zip(size, kernel, stride, dilate, pad, strict=True)]
    if min(counts) < 1:
        raise MXNetError(f'operator {name}: kernel={kernel} with dilate={dilate} does not fit into {tuple(size)} with '
                         f'pad={pad}')
    return counts


def _taken(kernel, stride, dilate, counts, device):
    """Per axis: which (framed) positions the places of the kernel see, kernel place first."""
    return [(torch.arange(k, device=device).unsqueeze(1) * d + torch.arange(n, device=device) * s).reshape(-1)
            for k, s, d, n in zip(kernel, stride, dilate, counts, strict=True)]


@operator()
def im2col(data, *, kernel: Shape, stride: Shape = (), dilate: Shape = (), pad: Shape = ()):
    """The patches that a convolution with this window would see: (n, channels * kernel size, number of patches)."""
    stride, dilate, pad = _window('im2col', kernel, stride, dilate, pad)
    if data.dim() != len(kernel) + 2:
        raise MXNetError(f'operator im2col: with kernel={kernel}, data must have {len(kernel) + 2} axes, but its shape '
                         f'is {tuple(data.shape)}')
    counts = _starts('im2col', data.shape[2:], kernel, stride, dilate, pad)
    if len(kernel) == 2:
        return F.unfold(data, kernel, dilate, pad, stride)
    axes = len(kernel)
    data = F.pad(data, [p for p in reversed(pad) for _ in range(2)])
    for i, index in enumerate(_taken(kernel, stride, dilate, counts, data.device)):
        data = data.index_select(2 + i, index)
    data = data.reshape(*data.shape[:2], *[n for pair in zip(kernel, counts, strict=True) for n in pair])
    data = data.permute(0, 1, *range(2, 2 + 2 * axes, 2), *range(3, 3 + 2 * axes, 2))
    return data.reshape(data.shape[0], data.shape[1] * prod(kernel), prod(counts))


@operator()
def col2im(data, *, output_size: Shape, kernel: Shape, stride: Shape = (), dilate: Shape = (), pad: Shape = ()):
    """Columns of patches put back into an image of `output_size`, added up where they overlap."""
    stride, dilate, pad = _window('col2im', kernel, stride, dilate, pad)
    if len(output_size) != len(kernel):
        raise MXNetError(f'operator col2im: output_size={output_size} and kernel={kernel} must have the same number '
                         'of values')
    counts = _starts('col2im', output_size, kernel, stride, dilate, pad)
    if data.dim() != 3 or data.shape[1] % prod(kernel) or data.shape[2] != prod(counts):
        raise MXNetError(f'operator col2im: data has shape {tuple(data.shape)}, but these arguments need '
                         f'(n, channels * {prod(kernel)}, {prod(counts)})')
    if len(kernel) == 2:
        return F.fold(data, output_size, kernel, dilate, pad, stride)
    axes = len(kernel)
    data = data.reshape(data.shape[0], -1, *kernel, *counts)
    data = data.permute(0, 1, *[a for i in range(axes) for a in (2 + i, 2 + axes + i)])
    framed = [n + 2 * p for n, p in zip(output_size, pad, strict=True)]
    data = data.reshape(*data.shape[:2], *[k * n for k, n in zip(kernel, counts, strict=True)])
    for i, index in enumerate(_taken(kernel, stride, dilate, counts, data.device)):
        shape = list(data.shape)
        shape[2 + i] = framed[i]
        data = data.new_zeros(shape).index_add(2 + i, index, data)
    for i, (n, p) in enumerate(zip(output_size, pad, strict=True)):
        data = data.narrow(2 + i, p, n)
    return data
