"""Operators that are functions of torch."""
import operator as python

import torch
from torch.nn import functional as F

from .._ops.core.dtypes import torch_dtype
from .translate import translation

_BINARY = {python.add: 'elemwise_add broadcast_add _npi_add _grad_add', python.sub: 'elemwise_sub broadcast_sub '
           '_npi_subtract', python.mul: 'elemwise_mul broadcast_mul _npi_multiply'}
_DIVISION = 'elemwise_div broadcast_div _npi_true_divide'
_COMPARISON = {torch.eq: '_equal broadcast_equal', torch.ne: '_not_equal broadcast_not_equal',
               torch.gt: '_greater broadcast_greater', torch.ge: '_greater_equal broadcast_greater_equal',
               torch.lt: '_lesser broadcast_lesser', torch.le: '_lesser_equal broadcast_lesser_equal'}
_SCALAR = {python.add: '_plus_scalar _npi_add_scalar', python.sub: '_minus_scalar _npi_subtract_scalar',
           python.mul: '_mul_scalar _npi_multiply_scalar', python.truediv: '_div_scalar _npi_true_divide_scalar'}
_SCALAR_FIRST = {python.sub: '_rminus_scalar _npi_rsubtract_scalar', python.truediv: '_rdiv_scalar '
                 '_npi_rtrue_divide_scalar', python.pow: '_rpower_scalar'}
_SCALAR_COMPARISON = {torch.eq: '_equal_scalar', torch.ne: '_not_equal_scalar', torch.gt: '_greater_scalar',
                      torch.ge: '_greater_equal_scalar', torch.lt: '_lesser_scalar', torch.le: '_lesser_equal_scalar'}
_UNARY = {torch.exp: 'exp _npi_exp', torch.log: 'log _npi_log', torch.sqrt: 'sqrt _npi_sqrt', torch.rsqrt: 'rsqrt',
          torch.square: 'square _npi_square', torch.abs: 'abs _npi_absolute', torch.tanh: 'tanh _npi_tanh',
          torch.sigmoid: 'sigmoid _npx_sigmoid', F.relu: 'relu _npx_relu', torch.sin: 'sin _npi_sin',
          torch.cos: 'cos _npi_cos', torch.log1p: 'log1p _npi_log1p', torch.expm1: 'expm1 _npi_expm1',
          torch.erf: 'erf', torch.floor: 'floor _npi_floor', torch.ceil: 'ceil _npi_ceil', F.softsign: 'softsign',
          torch.reciprocal: 'reciprocal', torch.neg: 'negative _npi_negative', torch.sign: 'sign',
          torch.zeros_like: 'zeros_like', torch.ones_like: 'ones_like'}


def _names(text):
    return text.split()


def _floating(call, *inputs):
    return all(call.is_floating(name) for name in inputs)


# ---------------------------------------------------------------------- arithmetic
def _binary(function):
    def make(call):
        return call.function(function, call['lhs'], call['rhs'])
    return make


def _comparison(function):
    def make(call):
        return call.method('type_as', call.function(function, call['lhs'], call['rhs']), call['lhs'])
    return make


def _scalar(function, first=False):
    def make(call):
        if not _floating(call, 'data'):
            return None
        args = (call.scalar, call['data']) if first else (call['data'], call.scalar)
        return call.function(function, *args)
    return make


def _scalar_comparison(function):
    def make(call):
        if not _floating(call, 'data'):
            return None
        return call.method('type_as', call.function(function, call['data'], call.scalar), call['data'])
    return make


def _unary(function, data='data'):
    def make(call):
        if not _floating(call, call.node.input_names()[0]):
            return None
        return call.function(function, call[call.node.input_names()[0]])
    return make


for _table, _maker in ((_BINARY, _binary), (_COMPARISON, _comparison), (_SCALAR, _scalar),
                       (_SCALAR_COMPARISON, _scalar_comparison), (_UNARY, _unary)):
    for _function, _text in _table.items():
        translation(*_names(_text))(_maker(_function))
for _function, _text in _SCALAR_FIRST.items():
    translation(*_names(_text))(_scalar(_function, first=True))


@translation(*_names(_DIVISION))
def divide(call):
    return call.function(python.truediv, call['lhs'], call['rhs']) if _floating(call, 'lhs', 'rhs') else None


@translation('_power_scalar')
def power(call):
    return call.function(python.pow, call['data'], call.scalar) if _floating(call, 'data') else None


@translation('_maximum_scalar')
def at_least(call):
    return call.method('clamp', call['data'], min=call.scalar) if _floating(call, 'data') else None


@translation('_minimum_scalar')
def at_most(call):
    return call.method('clamp', call['data'], max=call.scalar) if _floating(call, 'data') else None


@translation('clip', '_npi_clip')
def clip(call):
    return call.method('clamp', call['data'], call.a_min, call.a_max) if _floating(call, 'data') else None


@translation('broadcast_maximum', '_maximum')
def maximum(call):
    return call.function(torch.maximum, call['lhs'], call['rhs'])


@translation('broadcast_minimum', '_minimum')
def minimum(call):
    return call.function(torch.minimum, call['lhs'], call['rhs'])


@translation('add_n')
def total(call):
    values = list(call.all)
    result = values[0]
    for value in values[1:]:
        result = call.function(python.add, result, value)
    return result


# ---------------------------------------------------------------------- what a loss compares with, and other identities
@translation('_copy', 'make_loss', 'MakeLoss', 'LinearRegressionOutput', 'MAERegressionOutput', 'SVMOutput',
             '_CrossDeviceCopy', '_copyto')
def identity(call):
    return call[call.node.input_names()[0]]


@translation('BlockGrad')
def stop_gradient(call):
    return call.method('detach', call['data'])


@translation('LogisticRegressionOutput')
def logistic(call):
    return call.function(torch.sigmoid, call['data'])


@translation('SoftmaxOutput')
def softmax_output(call):
    x, rank = call['data'], call.rank('data')
    if call.multi_output:
        return call.function(torch.softmax, x, 1)
    if call.preserve_shape or rank == 2:
        return call.function(torch.softmax, x, -1)
    flat = call.function(torch.softmax, call.method('flatten', x, 1), 1)
    return call.method('view_as', flat, x)


@translation('SoftmaxActivation')
def softmax_activation(call):
    return call.function(torch.softmax, call['data'], 1 if call.mode == 'channel' else -1)


def _softmax(function):
    def make(call):
        if call.use_length or call.temperature not in (None, 1.0) or call.attributes.get('dtype') is not None:
            return None
        return call.function(function, call['data'], call.axis)
    return make


translation('softmax')(_softmax(torch.softmax))
translation('log_softmax')(_softmax(torch.log_softmax))


@translation('Cast', 'amp_cast')
def cast(call):
    return call.method('to', call['data'], torch_dtype(call.dtype))


# ---------------------------------------------------------------------- shapes
@translation('Reshape')
def reshape(call):
    shape = tuple(call.attributes['shape'])
    if not shape or call.reverse or any(n < -1 for n in shape) or shape.count(-1) > 1:
        return None
    lengths = [call.size(call['data'], i) if n == 0 else n for i, n in enumerate(shape)]
    return call.method('reshape', call['data'], tuple(lengths))


@translation('transpose')
def transpose(call):
    return call.method('permute', call['data'], tuple(call.axes)) if call.axes else None


@translation('expand_dims')
def expand_dims(call):
    return call.method('unsqueeze', call['data'], call.axis)


@translation('SwapAxis')
def swap(call):
    return call.method('transpose', call['data'], call.dim1, call.dim2)


@translation('Concat', '_npi_concatenate')
def concat(call):
    axis = call.attributes.get('dim', call.attributes.get('axis'))
    return None if axis is None else call.function(torch.cat, list(call.all), axis)


@translation('stack')
def stack(call):
    return call.function(torch.stack, list(call.all), call.axis)


@translation('SliceChannel')
def split(call):
    if call.num_outputs == 1:
        return None
    if call.squeeze_axis:
        made = call.function(torch.unbind, call['data'], call.axis)
    else:
        made = call.function(torch.tensor_split, call['data'], call.num_outputs, call.axis)
    return [call.function(python.getitem, made, i) for i in range(call.num_outputs)]


@translation('slice_axis')
def slice_axis(call):
    if call.axis >= 0:
        index = (slice(None),) * call.axis + (slice(call.begin, call.end),)
    else:
        index = (Ellipsis, slice(call.begin, call.end)) + (slice(None),) * (-1 - call.axis)
    return call.function(python.getitem, call['data'], index)


@translation('slice')
def slice_axes(call):
    steps = tuple(call.step) or (None,) * len(call.begin)
    if any(step is not None and step <= 0 for step in steps):
        return None
    index = tuple(slice(*one) for one in zip(call.begin, call.end, steps, strict=True))
    return call.function(python.getitem, call['data'], index)


@translation('Pad')
def pad(call):
    widths, modes = tuple(call.pad_width), {'constant': 'constant', 'edge': 'replicate', 'reflect': 'reflect'}
    if any(widths[:4]):
        return None
    widths = tuple(n for i in range(len(widths) - 2, 2, -2) for n in widths[i:i + 2])
    options = {'value': call.constant_value} if call.mode == 'constant' else {}
    return call.function(F.pad, call['data'], widths, mode=modes[call.mode], **options)


@translation('UpSampling')
def upsample(call):
    if call.sample_type != 'nearest' or len(call.all) != 1:
        return None
    return call.function(F.interpolate, call.all[0], scale_factor=call.scale, mode='nearest')


@translation('_contrib_AdaptiveAvgPooling2D')
def adaptive_average(call):
    size = tuple(call.output_size) or (1,)
    return call.function(F.adaptive_avg_pool2d, call['data'], size[0] if len(size) == 1 else size)


# ---------------------------------------------------------------------- reductions and products
def _reduction(function):
    def make(call):
        axes = call.axis
        if axes is None or axes == () or call.attributes.get('exclude') or not _floating(call, 'data'):
            return None
        axes = (axes,) if isinstance(axes, int) else tuple(axes)
        options = {'keepdim': True} if call.keepdims else {}
        if not options and call.rank('data') in (None, len(axes)):
            return None         # what is left without axes has shape (1,)
        return call.function(function, call['data'], axes, **options)
    return make


for _function, _name in ((torch.sum, 'sum'), (torch.mean, 'mean'), (torch.amax, 'max'), (torch.amin, 'min')):
    translation(_name)(_reduction(_function))


@translation('batch_dot')
def batch_dot(call):
    a, b = call['lhs'], call['rhs']
    if call.rank('lhs') not in (None, 3):
        return None
    a = call.method('transpose', a, 1, 2) if call.transpose_a else a
    b = call.method('transpose', b, 1, 2) if call.transpose_b else b
    return call.function(torch.bmm, a, b)


@translation('dot')
def dot(call):
    if call.rank('lhs') != 2 or call.rank('rhs') != 2:
        return None
    a = call.method('t', call['lhs']) if call.transpose_a else call['lhs']
    b = call.method('t', call['rhs']) if call.transpose_b else call['rhs']
    return call.function(torch.mm, a, b)


@translation('where')
def where(call):
    if call.rank('condition') is None or call.rank('condition') != call.rank('x'):
        return None
    condition = call.function(python.ne, call['condition'], 0)
    return call.function(torch.where, condition, call['x'], call['y'])
