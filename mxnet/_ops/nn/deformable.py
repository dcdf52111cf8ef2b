"""Convolutions whose sampling points are moved by learned offsets."""
from typing import Literal

import torch

from ...base import MXNetError
from ..core import shapes
from ..core.attributes import NonNegative, Shape
from ..core.gradients import clamp
from ..core.table import operator
from .spatial import check_kernel, check_shape, per_axis

_HAS_BIAS = {'bias': lambda a: not a['no_bias']}


def _sample(images, row, column, zero_outside):
    """Bilinear samples of images (..., channels, height, width) at points (..., points) -> (..., channels, points).

    A corner that is no pixel counts as zero, or (not `zero_outside`) as the nearest pixel.
    """
    height, width = images.shape[-2:]
    flat = images.flatten(-2)
    row_low, column_low = row.detach().floor(), column.detach().floor()
    part_row, part_column = row - row_low, column - column_low
    total = 0
    for corner_row, weight_row in ((row_low, 1 - part_row), (row_low + 1, part_row)):
        for corner_column, weight_column in ((column_low, 1 - part_column), (column_low + 1, part_column)):
            weight = weight_row * weight_column
            if zero_outside:
                there = (corner_row >= 0) & (corner_row < height) & (corner_column >= 0) & (corner_column < width)
                weight = weight * there
            # a place that is NaN, as in training that has diverged, has a weight that is NaN
            at_row, at_column = (at.clamp(0, limit - 1).nan_to_num(0).long()
                                 for at, limit in ((corner_row, height), (corner_column, width)))
            index = at_row * width + at_column
            pixels = flat.gather(-1, index.unsqueeze(-2).expand(*flat.shape[:-1], -1))
            total = total + pixels * weight.unsqueeze(-2)
    return total


def _deformable(name, data, offset, mask, weight, bias, kernel, stride, dilate, pad, num_filter, num_group,
                num_deformable_group, layout):
    if check_kernel(name, kernel, data, layout) != 2:
        raise MXNetError(f'operator {name}: argument kernel={kernel} must have 2 values')
    stride = per_axis(name, 'stride', stride, 2, 1)
    dilate = per_axis(name, 'dilate', dilate, 2, 1)
    pad = per_axis(name, 'pad', pad, 2, 0)
    batch, channels, height, width = data.shape
    groups = num_deformable_group
    if min(num_group, groups) < 1 or channels % num_group or num_filter % num_group or channels % groups:
        raise MXNetError(f'operator {name}: num_group={num_group} must divide {channels} channels and '
                         f'num_filter={num_filter}, and num_deformable_group={groups} must divide {channels} channels')
    check_shape(name, 'weight', weight, (num_filter, channels // num_group, *kernel))
    rows, columns = ((size + 2 * p - d * (k - 1) - 1) // s + 1
                     for size, p, d, k, s in zip((height, width), pad, dilate, kernel, stride, strict=True))
    if min(rows, columns) < 1:
        raise MXNetError(f'operator {name}: kernel={kernel} exceeds data of shape {tuple(data.shape)} with pad={pad}')
    taps = kernel[0] * kernel[1]
    check_shape(name, 'offset', offset, (batch, 2 * groups * taps, rows, columns))

    # where each tap of the kernel would read without offsets, then with them: (batch, groups, taps, rows, columns)
    def positions(axis, count):
        taps_at = torch.arange(kernel[axis], device=data.device) * dilate[axis]
        outputs_at = torch.arange(count, device=data.device) * stride[axis] - pad[axis]
        return taps_at, outputs_at

    tap_rows, output_rows = positions(0, rows)
    tap_columns, output_columns = positions(1, columns)
    base_row = (tap_rows[:, None, None, None] + output_rows[:, None]).expand(kernel[0], kernel[1], rows, columns)
    base_column = (tap_columns[:, None, None] + output_columns).expand(kernel[0], kernel[1], rows, columns)
    moved = offset.reshape(batch, groups, taps, 2, rows, columns)
    row = moved[:, :, :, 0] + base_row.reshape(taps, rows, columns)
    column = moved[:, :, :, 1] + base_column.reshape(taps, rows, columns)

    images = data.reshape(batch, groups, channels // groups, height, width)
    if mask is None:
        # the first version reads nothing outside of the image and repeats the last row and column inside of it
        inside = (row >= 0) & (column >= 0) & (row < height) & (column < width)
        row, column = clamp(row, 0, height - 1), clamp(column, 0, width - 1)
        factor = inside.to(data.dtype)
    else:
        check_shape(name, 'mask', mask, (batch, groups * taps, rows, columns))
        factor = mask.reshape(batch, groups, taps, rows, columns)
    samples = _sample(images, row.flatten(2), column.flatten(2), zero_outside=mask is not None)
    samples = samples * factor.flatten(2).unsqueeze(2)

    # (batch, groups of the convolution, inputs of one, outputs) times (groups, filters of one, inputs of one)
    patches = samples.reshape(batch, num_group, channels // num_group * taps, rows * columns)
    filters = weight.reshape(num_group, num_filter // num_group, -1)
    result = torch.matmul(filters, patches).reshape(batch, num_filter, rows, columns)
    if bias is None:
        return result
    check_shape(name, 'bias', bias, (num_filter,))
    return result + bias.reshape(-1, 1, 1)


@operator('_contrib_DeformableConvolution', shapes=shapes.convolution, optional=_HAS_BIAS,
          same_dtype=('data', 'offset', 'weight', 'bias'))
def DeformableConvolution(data, offset, weight, bias=None, *, kernel: Shape, stride: Shape = (), dilate: Shape = (),
                          pad: Shape = (), num_filter: int, num_group: int = 1, num_deformable_group: int = 1,
                          workspace: NonNegative = 1024, no_bias: bool = False,
                          layout: Literal[None, 'NCDHW', 'NCHW', 'NCW'] = None):
    """A 2-D convolution that reads each of its points at a place moved by `offset` (Dai and others, 2017).

    `offset` has shape (batch, 2 num_deformable_group kernel_height kernel_width, height, width) of the output, with
    row and column alternating; between pixels the value is interpolated, outside of the image it is zero.
    """
    return _deformable('DeformableConvolution', data, offset, None, weight, None if no_bias else bias, kernel, stride,
                       dilate, pad, num_filter, num_group, num_deformable_group, layout)


@operator('_contrib_ModulatedDeformableConvolution', shapes=shapes.convolution, optional=_HAS_BIAS,
          same_dtype=('data', 'offset', 'mask', 'weight', 'bias'))
def ModulatedDeformableConvolution(data, offset, mask, weight, bias=None, *, kernel: Shape, stride: Shape = (),
                                   dilate: Shape = (), pad: Shape = (), num_filter: NonNegative,
                                   num_group: NonNegative = 1, num_deformable_group: NonNegative = 1,
                                   workspace: NonNegative = 1024, no_bias: bool = False,
                                   im2col_step: NonNegative = 64,
                                   layout: Literal[None, 'NCDHW', 'NCHW', 'NCW'] = None):
    """`DeformableConvolution` whose samples are also multiplied by `mask` (Zhu and others, 2018).

    `mask` has shape (batch, num_deformable_group kernel_height kernel_width, height, width).  Unlike in the first
    version, values fade to zero over one pixel around the image.
    """
    return _deformable('ModulatedDeformableConvolution', data, offset, mask, weight, None if no_bias else bias, kernel,
                       stride, dilate, pad, num_filter, num_group, num_deformable_group, layout)
