"""Convolution and its transpose, over one to three spatial axes."""
from collections.abc import Callable
from typing import Literal

import torch

from ...base import MXNetError
from ..core import shapes
from ..core.attributes import NonNegative, Shape
from ..core.table import operator
from .spatial import check_kernel, check_shape, is_channels_last, per_axis

_Kernels = dict[int, Callable[..., torch.Tensor]]           # by the number of spatial axes
CONVOLVE: _Kernels = {1: torch.conv1d, 2: torch.conv2d, 3: torch.conv3d}
_TRANSPOSE: _Kernels = {1: torch.conv_transpose1d, 2: torch.conv_transpose2d, 3: torch.conv_transpose3d}

_HAS_BIAS = {'bias': lambda a: not a['no_bias']}
_INPUTS = ('data', 'weight', 'bias')


def _check_groups(name, channels, num_filter, num_group):
    if num_group < 1 or channels % num_group or num_filter % num_group:
        raise MXNetError(f'operator {name}: argument num_group={num_group} must divide both the {channels} channels '
                         f'of data and num_filter={num_filter}')


def _convolve(name, data, weight, bias, kernel, stride, dilate, pad, num_filter, num_group, layout):
    count = check_kernel(name, kernel, data, layout)
    last = is_channels_last(layout)
    channels = data.shape[-1 if last else 1]
    _check_groups(name, channels, num_filter, num_group)
    inner = channels // num_group
    check_shape(name, 'weight', weight, (num_filter, *kernel, inner) if last else (num_filter, inner, *kernel))
    stride = per_axis(name, 'stride', stride, count, 1)
    dilate = per_axis(name, 'dilate', dilate, count, 1)
    pad = per_axis(name, 'pad', pad, count, 0)
    if not last:
        return CONVOLVE[count](data, weight, bias, stride, pad, dilate, num_group)
    # views in torch's channels-last memory format: no copies, and its kernels answer in the same format
    result = CONVOLVE[count](data.movedim(-1, 1), weight.movedim(-1, 1), bias, stride, pad, dilate, num_group)
    return result.movedim(1, -1)


@operator(aliases=('_npx_convolution',), shapes=shapes.convolution, optional=_HAS_BIAS, same_dtype=_INPUTS)
def Convolution(data, weight, bias=None, *, kernel: Shape, stride: Shape = (), dilate: Shape = (), pad: Shape = (),
                num_filter: NonNegative, num_group: NonNegative = 1, workspace: NonNegative = 1024,
                no_bias: bool = False, cudnn_tune: Literal[None, 'fastest', 'limited_workspace', 'off'] = None,
                cudnn_off: bool = False, layout: Literal[None, 'NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC'] = None):
    """Convolution over the one, two or three axes that `kernel` has values for.

    `weight` has shape (num_filter, channels / num_group, *kernel), with the channels last where `layout` has them
    last.  An output axis has floor((size + 2 pad - dilate (kernel - 1) - 1) / stride) + 1 elements.
    `workspace`, `cudnn_tune` and `cudnn_off` are accepted and have no effect.
    """
    return _convolve('Convolution', data, weight, None if no_bias else bias, kernel, stride, dilate, pad, num_filter,
                     num_group, layout)


@operator(shapes=shapes.convolution, optional=_HAS_BIAS, same_dtype=_INPUTS)
def Convolution_v1(data, weight, bias=None, *, kernel: Shape, stride: Shape = (), dilate: Shape = (), pad: Shape = (),
                   num_filter: NonNegative, num_group: NonNegative = 1, workspace: NonNegative = 1024,
                   no_bias: bool = False, cudnn_tune: Literal[None, 'fastest', 'limited_workspace', 'off'] = None,
                   cudnn_off: bool = False, layout: Literal[None, 'NCDHW', 'NCHW', 'NDHWC', 'NHWC'] = None):
    """The name that old models have for `Convolution`."""
    return _convolve('Convolution_v1', data, weight, None if no_bias else bias, kernel, stride, dilate, pad,
                     num_filter, num_group, layout)


def _padding_for_target(target, size, kernel, stride, dilate):
    """Padding and adjustment that make an output axis `target` long."""
    whole = stride * (size - 1) + dilate * (kernel - 1) + 1
    if target > whole:
        raise MXNetError(f'operator Deconvolution: argument target_shape asks for {target} elements, but without '
                         f'padding this axis gets {whole}')
    excess = whole - target
    return (excess + 1) // 2, excess % 2


@operator(aliases=('_npx_deconvolution',), shapes=shapes.deconvolution, optional=_HAS_BIAS, same_dtype=_INPUTS)
def Deconvolution(data, weight, bias=None, *, kernel: Shape, stride: Shape = (), dilate: Shape = (), pad: Shape = (),
                  adj: Shape = (), target_shape: Shape = (), num_filter: NonNegative, num_group: NonNegative = 1,
                  workspace: NonNegative = 512, no_bias: bool = True,
                  cudnn_tune: Literal[None, 'fastest', 'limited_workspace', 'off'] = None, cudnn_off: bool = False,
                  layout: Literal[None, 'NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC'] = None):
    """The transpose of `Convolution` (its gradient with respect to the data); there is no bias by default.

    `weight` has shape (channels, num_filter / num_group, *kernel).  An output axis has
    stride (size - 1) + dilate (kernel - 1) + 1 - 2 pad + adj elements; `target_shape` asks for a length instead and
    then decides about `pad` and `adj`.
    """
    count = check_kernel('Deconvolution', kernel, data, layout)
    last = is_channels_last(layout)
    channels = data.shape[-1 if last else 1]
    _check_groups('Deconvolution', channels, num_filter, num_group)
    inner = num_filter // num_group
    check_shape('Deconvolution', 'weight', weight, (channels, *kernel, inner) if last else (channels, inner, *kernel))
    stride = per_axis('Deconvolution', 'stride', stride, count, 1)
    dilate = per_axis('Deconvolution', 'dilate', dilate, count, 1)
    pad = per_axis('Deconvolution', 'pad', pad, count, 0)
    adj = per_axis('Deconvolution', 'adj', adj, count, 0)
    if any(target_shape):
        targets = per_axis('Deconvolution', 'target_shape', target_shape, count, 0)
        sizes = data.shape[1:-1] if last else data.shape[2:]
        chosen = [_padding_for_target(t, *axis) if t else (p, a) for t, p, a, *axis
                  in zip(targets, pad, adj, sizes, kernel, stride, dilate, strict=True)]
        pad, adj = zip(*chosen, strict=True)
    if any(a >= s for a, s in zip(adj, stride, strict=True)):
        raise MXNetError(f'operator Deconvolution: argument adj={adj} must be smaller than stride={stride}')
    if last:
        data, weight = data.movedim(-1, 1), weight.movedim(-1, 1)
    result = _TRANSPOSE[count](data, weight, None if no_bias else bias, stride, pad, adj, num_group, dilate)
    return result.movedim(1, -1) if last else result
