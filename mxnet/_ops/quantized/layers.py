"""Layers on int8 and uint8 data.  Every array comes with the range (min, max) that its whole numbers stand for.

Products are summed up in int32 and given so, with the range that int32 stands for: `requantize` makes int8 of them.
A weight may have a range for each of its filters, as arrays of their number; so does then the result in int32.
These operators are for prediction; they have no gradients.
"""
from typing import Literal

import torch

from ...base import MXNetError
from ..core import shapes
from ..core.attributes import DType, NonNegative, Shape
from ..core.table import operator
from ..nn.pooling import Pooling
from ..nn.recurrent import RNN
from ..tensor.gather import within
from .kernels import (
    INT8_RANGE,
    INT32_RANGE,
    RANGES,
    UINT8_RANGE,
    as_range,
    calibrated,
    convolution,
    expect,
    largest,
    product,
    product_range,
    saturated,
)

_OUTPUTS = ('output', 'min_output', 'max_output')
_BYTES = (torch.int8, torch.uint8)


def _has_bias(attributes):
    return not attributes['no_bias']


_BIAS = {'bias': _has_bias, 'min_bias': _has_bias, 'max_bias': _has_bias}
_CONV_LAYOUT = Literal[None, 'NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC']


def _scaled_bias(data, bias, data_range, weight_range, bias_range):
    """The int8 bias in steps of the int32 result; what is behind the point is cut off."""
    scale = (RANGES[data.dtype] / data_range) * (INT8_RANGE / weight_range) * bias_range / INT8_RANGE
    return (bias.float() * scale).to(torch.int32)


@operator('_contrib_quantized_fully_connected', outputs=_OUTPUTS, optional=_BIAS,
          shapes=shapes.quantized_fully_connected)
def quantized_fully_connected(data, weight, bias=None, min_data=None, max_data=None, min_weight=None, max_weight=None,
                              min_bias=None, max_bias=None, *, num_hidden: int, no_bias: bool = False,
                              flatten: bool = True):
    """FullyConnected of int8 or uint8 data with an int8 weight and bias -> int32 and its range."""
    name = '_contrib_quantized_fully_connected'
    expect(name, 'data', data, *_BYTES)
    expect(name, 'weight', weight, torch.int8)
    rows = data.flatten(1) if flatten else data.reshape(-1, data.shape[-1])
    if rows.shape[1] != weight.shape[1] or weight.shape[0] != num_hidden:
        raise MXNetError(f'operator {name}: weight has shape {tuple(weight.shape)}, but {(num_hidden, rows.shape[1])} '
                         f'is needed for data of shape {tuple(data.shape)}')
    result = product(rows.contiguous(), weight.t())
    if bias is not None:
        result = result + _scaled_bias(data, bias, largest(min_data, max_data), largest(min_weight, max_weight),
                                       largest(min_bias, max_bias))
    low, high = product_range(min_data, max_data, min_weight, max_weight, data.dtype is torch.uint8)
    return (result if flatten else result.reshape(*data.shape[:-1], num_hidden)), low, high


@operator('_contrib_quantized_conv', outputs=_OUTPUTS, optional=_BIAS, shapes=shapes.quantized_conv)
def quantized_conv(data, weight, bias=None, min_data=None, max_data=None, min_weight=None, max_weight=None,
                   min_bias=None,
                   max_bias=None, *, kernel: Shape, stride: Shape = (), dilate: Shape = (), pad: Shape = (),
                   num_filter: NonNegative, num_group: NonNegative = 1, workspace: NonNegative = 1024,
                   no_bias: bool = False, cudnn_tune: Literal[None, 'fastest', 'limited_workspace', 'off'] = None,
                   cudnn_off: bool = False, layout: _CONV_LAYOUT = None):
    """Convolution of int8 or uint8 data with an int8 weight and bias -> int32 and its range; channels come second."""
    name = '_contrib_quantized_conv'
    expect(name, 'data', data, *_BYTES)
    expect(name, 'weight', weight, torch.int8)
    axes = len(kernel)
    if layout not in (None, 'NCW', 'NCHW', 'NCDHW') or data.dim() != axes + 2:
        raise MXNetError(f'operator {name}: data of shape {tuple(data.shape)} and kernel {kernel} with layout '
                         f'{layout}: channels must come second, with as many axes behind as the kernel has')
    if tuple(weight.shape) != (num_filter, data.shape[1] // num_group, *kernel):
        raise MXNetError(f'operator {name}: weight has shape {tuple(weight.shape)}, but '
                         f'{(num_filter, data.shape[1] // num_group, *kernel)} is needed')
    result = convolution(data, weight, stride or (1,) * axes, dilate or (1,) * axes, pad or (0,) * axes, num_group)
    if bias is not None:
        added = _scaled_bias(data, bias, largest(min_data, max_data), largest(min_weight, max_weight),
                             largest(min_bias, max_bias))
        result = result + added.reshape(-1, *[1] * axes)
    low, high = product_range(min_data, max_data, min_weight, max_weight)
    if low.numel() > 1:                 # one for each filter: such that it broadcasts with the result
        low, high = (end.reshape(-1, *[1] * axes) for end in (low, high))
    return result, low, high


@operator('_contrib_quantized_pooling', outputs=_OUTPUTS, shapes=shapes.ranges)
def quantized_pooling(data, min_data, max_data, *, kernel: Shape = (),
                      pool_type: Literal['avg', 'lp', 'max', 'sum'] = 'max',
                      global_pool: bool = False, cudnn_off: bool = False,
                      pooling_convention: Literal['full', 'same', 'valid'] = 'valid', stride: Shape = (),
                      pad: Shape = (),
                      p_value: int | None = None, count_include_pad: bool | None = None,
                      layout: Literal[None, 'NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC', 'NWC'] = None):
    """Pooling of int8 or uint8 data, by maximum or average; the range stays."""
    expect('_contrib_quantized_pooling', 'data', data, *_BYTES)
    if pool_type not in ('max', 'avg'):
        raise MXNetError(f"operator _contrib_quantized_pooling: pool_type must be 'max' or 'avg', not {pool_type!r}")
    result = Pooling(data.float(), kernel=kernel, pool_type=pool_type, global_pool=global_pool,
                     pooling_convention=pooling_convention, stride=stride, pad=pad, count_include_pad=count_include_pad,
                     layout=layout)
    return saturated(result, data.dtype), min_data.clone(), max_data.clone()


@operator('_contrib_quantized_act', outputs=_OUTPUTS, shapes=shapes.ranges)
def quantized_act(data, min_data, max_data, *, act_type: Literal['relu', 'sigmoid', 'softrelu', 'softsign', 'tanh']):
    """relu of int8 or uint8 data; the range stays."""
    if act_type != 'relu':
        raise MXNetError(f"operator _contrib_quantized_act: act_type must be 'relu', not {act_type!r}")
    return data.clamp(min=0), min_data.clone(), max_data.clone()


@operator('_contrib_quantized_flatten', outputs=_OUTPUTS, shapes=shapes.ranges)
def quantized_flatten(data, min_data, max_data):
    """All axes but the first as one; the range stays."""
    return (data.flatten(1) if data.dim() > 1 else data.reshape(-1, 1)), min_data.clone(), max_data.clone()


@operator('_contrib_quantized_embedding', outputs=_OUTPUTS, shapes=shapes.quantized_embedding)
def quantized_embedding(data, weight, min_weight, max_weight, *, input_dim: int, output_dim: int,
                        dtype: DType = 'float32',
                        sparse_grad: bool = False):
    """Rows of an int8 weight at the indices in `data`; the range stays."""
    if tuple(weight.shape) != (input_dim, output_dim):
        raise MXNetError(f'operator _contrib_quantized_embedding: weight has shape {tuple(weight.shape)}, but '
                         f'(input_dim, output_dim) is {(input_dim, output_dim)}')
    return weight[within(data, input_dim)], min_weight.clone(), max_weight.clone()


def _concat_names(attributes):
    count = attributes['num_args']
    return [*[f'arg{i}' for i in range(count)], *[f'arg{i}_{end}' for i in range(count) for end in ('min', 'max')]]


@operator('_contrib_quantized_concat', variadic='num_args', variadic_names=_concat_names, outputs=_OUTPUTS)
def quantized_concat(*data, num_args: int, dim: int = 1):
    """Joins int8 and uint8 arrays along an axis, rescaled to a range that holds all of theirs.

    First the arrays, then the minimum and maximum of each.  The result is int8, unless all are uint8.
    """
    if len(data) != 3 * num_args:
        raise MXNetError(f'operator _contrib_quantized_concat: {num_args} arrays with their ranges are '
                         f'{3 * num_args} inputs, not {len(data)}')
    arrays, lows, highs = data[:num_args], data[num_args::2], data[num_args + 1::2]
    low = torch.stack([x.reshape(1) for x in lows]).amin(0).clamp(max=0)
    high = torch.stack([x.reshape(1) for x in highs]).amax(0).clamp(min=0)
    dtype = torch.uint8 if all(x.dtype is torch.uint8 for x in arrays) else torch.int8
    scale = RANGES[dtype] / largest(low, high)
    parts = [saturated(x.float() * (scale / (RANGES[x.dtype] / largest(a, b))), dtype)
             for x, a, b in zip(arrays, lows, highs, strict=True)]
    return torch.cat(parts, dim), low, high


# ---------------------------------------------------------------------- elements
@operator('_contrib_quantized_elemwise_add', outputs=_OUTPUTS, shapes=shapes.ranges)
def quantized_elemwise_add(lhs, rhs, lhs_min, lhs_max, rhs_min, rhs_max, *, min_calib_range: float | None = None,
                           max_calib_range: float | None = None):
    """Sum of int8 or uint8 arrays: int32, or with a calibrated range what the arrays are (int8 if they differ)."""
    expect('_contrib_quantized_elemwise_add', 'lhs', lhs, *_BYTES)
    expect('_contrib_quantized_elemwise_add', 'rhs', rhs, *_BYTES)
    left, right = largest(lhs_min, lhs_max), largest(rhs_min, rhs_max)
    if calibrated(min_calib_range, max_calib_range):
        dtype = lhs.dtype if lhs.dtype is rhs.dtype else torch.int8
        low, high = as_range(min_calib_range, lhs), as_range(max_calib_range, lhs)
        scale = RANGES[dtype] / largest(low, high)
        first, second = scale / (RANGES[lhs.dtype] / left), scale / (RANGES[rhs.dtype] / right)
    else:
        dtype = torch.int32
        high = left + right
        low = -high
        first = left * INT32_RANGE / (high * RANGES[lhs.dtype])
        second = right * INT32_RANGE / (high * RANGES[rhs.dtype])
    return saturated(lhs.float() * first + rhs.float() * second, dtype), low, high


@operator('_contrib_quantized_elemwise_mul', shapes=shapes.ranges,
          outputs=lambda a: _OUTPUTS[:1] if a['enable_float_output'] else _OUTPUTS)
def quantized_elemwise_mul(lhs, rhs, lhs_min, lhs_max, rhs_min, rhs_max, *, min_calib_range: float | None = None,
                           max_calib_range: float | None = None, enable_float_output: bool = False):
    """Product of int8 arrays: int32, int8 with a calibrated range, or floating point if that is asked for."""
    expect('_contrib_quantized_elemwise_mul', 'lhs', lhs, torch.int8)
    expect('_contrib_quantized_elemwise_mul', 'rhs', rhs, torch.int8)
    whole = lhs.to(torch.int32) * rhs.to(torch.int32)
    step = (largest(lhs_min, lhs_max) / INT8_RANGE) * (largest(rhs_min, rhs_max) / INT8_RANGE)
    if enable_float_output:
        return whole.float() * step
    if not calibrated(min_calib_range, max_calib_range):
        return whole, *product_range(lhs_min, lhs_max, rhs_min, rhs_max)
    low, high = as_range(min_calib_range, lhs), as_range(max_calib_range, lhs)
    values = (whole.float() * (step * (INT8_RANGE / largest(low, high)))).trunc()
    return saturated(values, torch.int8), low, high


@operator('_contrib_quantized_batch_norm', outputs=_OUTPUTS, aux=('moving_mean', 'moving_var'),
          shapes=shapes.quantized_batch_norm)
def quantized_batch_norm(data, gamma, beta, moving_mean, moving_var, min_data, max_data, *, eps: float = 1e-3,
                         momentum: float = 0.9, fix_gamma: bool = True, use_global_stats: bool = False,
                         output_mean_var: bool = False, axis: int = 1, cudnn_off: bool = False,
                         min_calib_range: float | None = None, max_calib_range: float | None = None):
    """BatchNorm of int8 or uint8 data with the moving statistics -> int8, whose range must be calibrated."""
    name = '_contrib_quantized_batch_norm'
    expect(name, 'data', data, *_BYTES)
    if not calibrated(min_calib_range, max_calib_range):
        raise MXNetError(f'operator {name}: min_calib_range and max_calib_range are missing; it needs a '
                         'calibrated range')
    if data.dtype is torch.uint8:
        data = saturated(data.float() * (INT8_RANGE / UINT8_RANGE), torch.int8)
    low, high = as_range(min_calib_range, data), as_range(max_calib_range, data)
    target = largest(low, high)
    rate = (1 if fix_gamma else gamma) / (moving_var + eps).sqrt()
    scale = rate * largest(min_data, max_data) / target
    shift = (beta - moving_mean * rate) * (INT8_RANGE / target)
    shape = [1] * data.dim()
    shape[axis] = -1
    return saturated(data.float() * scale.reshape(shape) + shift.reshape(shape), torch.int8), low, high


# ---------------------------------------------------------------------- recurrent layers
@operator('_contrib_quantized_rnn',
          outputs=lambda a: ('output', 'state_output', 'statecell_ouput') if a['state_outputs'] else ('output',))
def quantized_rnn(data, parameters, state, state_cell, data_scale, data_shift, *, state_size: NonNegative,
                  num_layers: NonNegative, bidirectional: bool = False,
                  mode: Literal['gru', 'lstm', 'rnn_relu', 'rnn_tanh'],
                  p: float = 0.0, state_outputs: bool = False, projection_size: int | None = None,
                  lstm_state_clip_min: float | None = None, lstm_state_clip_max: float | None = None,
                  lstm_state_clip_nan: bool = False, use_sequence_length: bool = False):
    """LSTM layers on uint8 data as `quantize_asym` gives it; states and parameters are floating point.

    The data is made floating point again: a recurrence in int8 would lose what it saves.
    """
    expect('_contrib_quantized_rnn', 'data', data, torch.uint8)
    if mode != 'lstm':
        raise MXNetError(f"operator _contrib_quantized_rnn: mode must be 'lstm', not {mode!r}")
    real = (data.float() - data_shift) / data_scale
    return RNN(real, parameters, state, state_cell, state_size=state_size, num_layers=num_layers,
               bidirectional=bidirectional, mode=mode, p=0.0, state_outputs=state_outputs,
               projection_size=projection_size,
               lstm_state_clip_min=lstm_state_clip_min, lstm_state_clip_max=lstm_state_clip_max,
               lstm_state_clip_nan=lstm_state_clip_nan, use_sequence_length=use_sequence_length, training=False,
               rng=None)
