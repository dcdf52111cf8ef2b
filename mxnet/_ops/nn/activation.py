"""Activation functions, softmax and dropout."""
import math
from typing import Literal

import torch
from torch.nn import functional as F

from ...base import MXNetError, OutOfRange
from ..core import gradients, shapes
from ..core.attributes import DType, Rng, Shape, Training
from ..core.checks import in_range
from ..core.dtypes import TORCH
from ..core.gradients import with_gradient
from ..core.late_reads import reads_late
from ..core.table import operator

_ACTIVATIONS = {'relu': torch.relu, 'sigmoid': torch.sigmoid, 'softrelu': F.softplus, 'softsign': gradients.softsign,
                'tanh': torch.tanh}


# ---------------------------------------------------------------------- rectifiers and their kin
@operator(aliases=('_npx_activation',), elementwise=True)
def Activation(data, *, act_type: Literal['relu', 'sigmoid', 'softrelu', 'softsign', 'tanh']):
    """An activation function without parameters; `softrelu` is `log(1 + exp(x))`, `softsign` is `x / (1 + |x|)`."""
    return _ACTIVATIONS[act_type](data)


def _slopes_for(gamma, data):
    """The slopes of prelu in a shape that goes with `data`: one for all, one per channel (axis 1), or per axes 0, 1."""
    lengths, shape = list(gamma.shape), []
    for axis in reversed(range(data.dim())):
        fits = lengths and axis <= 1 and lengths[-1] in (1, data.shape[axis])
        shape.append(lengths.pop() if fits else 1)
    if lengths:
        raise MXNetError(f'operator LeakyReLU: gamma has shape {tuple(gamma.shape)}, data {tuple(data.shape)}; gamma '
                         f'takes (1,) or the length of axis 1 of data')
    return gamma.reshape(shape[::-1])


def _random_leaky(data, lower_bound, upper_bound, training, rng):
    if not training:
        slope = (lower_bound + upper_bound) / 2
        return F.leaky_relu(data, slope), torch.full_like(data, slope, requires_grad=False)
    slopes = torch.empty_like(data, requires_grad=False).uniform_(lower_bound, upper_bound, generator=rng)
    return torch.where(data > 0, data, data * slopes), slopes


@operator(aliases=('_npx_leaky_relu',), shapes=shapes.leaky_relu, same_dtype=('data', 'gamma'), special_gradient=True,
          optional={'gamma': lambda a: a['act_type'] == 'prelu'},
          initializers={'gamma': '["Constant", {"value": 0.25}]'},
          outputs=lambda a: ('output', 'mask') if a['act_type'] == 'rrelu' else ('output',))
def LeakyReLU(data, gamma=None, *, act_type: Literal['elu', 'gelu', 'leaky', 'prelu', 'rrelu', 'selu'] = 'leaky',
              slope: float = 0.25, lower_bound: float = 0.125, upper_bound: float = 0.334,
              training: Training = False, rng: Rng = None):
    """Rectifiers that let something through below 0.

    `leaky`: `slope` times x.  `prelu`: the same with a learned slope, `gamma`, for each channel (axis 1) or for all.
    `rrelu`: with a random one between the bounds in training, else the mean of these; the slopes are a second output.
    `elu`: `slope * (exp(x) - 1)`.  `selu`: elu with the constants that keep mean and variance (its gradient is
    upstream's, up to 5 % off the derivative).  `gelu`: x times the
    normal distribution function of x, everywhere.
    """
    if gamma is not None and act_type != 'prelu':
        raise MXNetError(f"operator LeakyReLU: gamma is accepted only with act_type='prelu', not with {act_type!r}")
    if act_type == 'leaky':
        return F.leaky_relu(data, slope)
    if act_type == 'prelu':
        if gamma.dim() == 1 and data.dim() > 1 and gamma.shape[0] in (1, data.shape[1]):
            return F.prelu(data, gamma)
        return torch.where(data > 0, data, data * _slopes_for(gamma, data))
    if act_type == 'elu':
        return F.elu(data, slope)
    if act_type == 'gelu':
        if data.dtype is not torch.float64:
            return F.gelu(data)
        single = data.float()           # as upstream computes every dtype
        return (0.5 * single * (1 + torch.erf(single / 2 ** 0.5))).double()
    if act_type == 'selu':
        return with_gradient(F.selu, gradients.selu, data)
    return _random_leaky(data, lower_bound, upper_bound, training, rng)


# ---------------------------------------------------------------------- softmax
def _normalized(function, data, axis, temperature, dtype):
    if temperature is not None and temperature != 1:
        data = data / temperature
    if dtype is None:
        return function(data, axis)
    # in the wider of the two types, then in the one asked for
    target = TORCH[dtype]
    return function(data, axis, dtype=torch.promote_types(data.dtype, target)).to(target)


def _refuse_length(name, use_length):
    if use_length:
        raise MXNetError(f'operator {name} has no input length, so it does not take use_length; softmax does')


@operator(aliases=('_npx_softmax',), optional={'length': lambda a: bool(a['use_length'])}, methods='softmax',
          shapes=shapes.softmax_length)
def softmax(data, length=None, *, axis: int = -1, temperature: float | None = None, dtype: DType | None = None,
            use_length: bool | None = False):
    """`exp(x)` over its sum along `axis`, x divided by `temperature` first.

    With `use_length`, only the first `length` values along `axis` take part and the others become 0; `length` has the
    shape of `data` without that axis.  `dtype` is that of the result (default: that of `data`).
    """
    if not use_length:
        if length is not None:
            raise MXNetError('operator softmax: length was given, but use_length is False; set use_length=True')
        return _normalized(torch.softmax, data, axis, temperature, dtype)
    expected = list(data.shape)
    del expected[axis]
    if list(length.shape) != expected:
        raise MXNetError(f'operator softmax: length has shape {tuple(length.shape)}, data {tuple(data.shape)}; with '
                         f'axis={axis} length takes {tuple(expected)}')
    along = [1] * data.dim()
    along[axis] = -1
    outside = torch.arange(data.shape[axis], device=data.device).reshape(along) >= length.unsqueeze(axis)
    inside = data.masked_fill(outside, -torch.inf)
    return _normalized(torch.softmax, inside, axis, temperature, dtype).masked_fill(outside, 0)


@operator(aliases=('_npx_log_softmax',), elementwise=True, methods='log_softmax')
def log_softmax(data, *, axis: int = -1, temperature: float | None = None, dtype: DType | None = None,
                use_length: bool | None = False):
    """The logarithm of `softmax`, accurate where that is close to 0."""
    _refuse_length('log_softmax', use_length)
    return _normalized(torch.log_softmax, data, axis, temperature, dtype)


@operator(elementwise=True, methods='softmin')
def softmin(data, *, axis: int = -1, temperature: float | None = None, dtype: DType | None = None,
            use_length: bool | None = False):
    """`softmax` of the negated values."""
    _refuse_length('softmin', use_length)
    return _normalized(torch.softmax, -data, axis, temperature, dtype)


@operator(elementwise=True)
def SoftmaxActivation(data, *, mode: Literal['channel', 'instance'] = 'instance'):
    """Softmax along the last axis, or in the mode `channel` along axis 1; `softmax` does both."""
    return torch.softmax(data, 1 if mode == 'channel' else -1)


@operator(same_dtype=('data', 'label'), shapes=shapes.softmax_cross_entropy)
@reads_late('label')
def softmax_cross_entropy(data, label):
    """The cross entropy between softmax of `data` (batch, classes) and class numbers `label` (batch,), summed up.

    The result has shape (1,); the label gets no gradient.
    """
    if data.dim() != 2 or label.shape != data.shape[:1]:
        raise MXNetError(f'operator softmax_cross_entropy: data has shape {tuple(data.shape)}, label '
                         f'{tuple(label.shape)}; it takes data (batch, classes) and label (batch,)')
    try:
        classes = in_range('softmax_cross_entropy', 'label', label.long(), data.shape[1])
        return F.cross_entropy(data, classes, reduction='sum').reshape(1)
    except IndexError:
        raise OutOfRange(f'operator softmax_cross_entropy: label goes from {label.min():g} to {label.max():g}, but '
                         f'data of shape {tuple(data.shape)} has {data.shape[1]} classes') from None


# ---------------------------------------------------------------------- dropout
@operator(aliases=('_npx_dropout',), hidden=1)
def Dropout(data, *, p: float = 0.5, mode: Literal['always', 'training'] = 'training', axes: Shape = (),
            cudnn_off: bool | None = False, training: Training = False, rng: Rng = None):
    """Sets a random fraction `p` of the values to 0 and multiplies the others by `1 / (1 - p)`.

    In training only, unless `mode` is 'always'.  Along `axes` whole lines live or die together.
    """
    if not 0 <= p <= 1:
        raise MXNetError(f'operator Dropout: argument p={p} is not accepted; it takes a number from 0 to 1')
    if p == 0 or not (training or mode == 'always'):
        return data
    if p == 1:
        return data * math.nan          # 0 times infinity, as upstream has it
    shape = list(data.shape)
    for axis in axes:
        shape[axis] = 1
    mask = torch.empty(shape, dtype=data.dtype, device=data.device).bernoulli_(1 - p, generator=rng)
    return data * mask.mul_(1 / (1 - p))
