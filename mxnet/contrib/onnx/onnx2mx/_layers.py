"""Convolutions, pooling, normalisation, recurrent layers, resizing."""
import math
from typing import Any

import numpy as np

from .... import symbol as sym
from ._registry import translates

SAME = ('SAME_UPPER', 'SAME_LOWER')


def _pads(n, count, kernel, stride, dilate):
    """Widths of the padding: (before, after) of each spatial axis."""
    auto = n.get('auto_pad', 'NOTSET')
    if auto == 'VALID':
        return [0] * count, [0] * count
    if auto in SAME:
        shape = n.shape()
        if shape is None or 0 in shape[2:]:
            raise n.error(f'auto_pad={auto} for an input whose size is not known')
        before, after = [], []
        for place, size in enumerate(shape[2:]):
            reach = dilate[place] * (kernel[place] - 1) + 1
            total = max(0, (-(-size // stride[place]) - 1) * stride[place] + reach - size)
            small, large = total // 2, total - total // 2
            before.append(small if auto == 'SAME_UPPER' else large)
            after.append(large if auto == 'SAME_UPPER' else small)
        return before, after
    pads = list(n.get('pads', [0] * 2 * count))
    return pads[:count], pads[count:]


def _padded(n, x, before, after, value=0.0):
    """(input, symmetric padding): what is not symmetric is put on before."""
    if before == after:
        return x, before
    widths = [0, 0, 0, 0]
    for pair in zip(before, after):
        widths += pair
    return sym.Pad(x, mode='constant', pad_width=tuple(widths), constant_value=value), [0] * len(before)


@translates('Conv')
def conv(n):
    weight = n.shape(1)
    if weight is None:
        raise n.error('the shape of the weights is not known')
    kernel = list(n.get('kernel_shape', weight[2:]))
    count = len(kernel)
    stride, dilate = list(n.get('strides', [1] * count)), list(n.get('dilations', [1] * count))
    x, pad = _padded(n, n.sym(), *_pads(n, count, kernel, stride, dilate))
    how: dict[str, Any] = {
        'kernel': tuple(kernel), 'stride': tuple(stride), 'dilate': tuple(dilate), 'pad': tuple(pad),
        'num_filter': weight[0], 'num_group': n.get('group', 1), 'no_bias': not n.has(2)}
    return sym.Convolution(x, *n.syms()[1:], **how, name=n.name)


@translates('ConvTranspose')
def conv_transpose(n):
    weight = n.shape(1)
    if weight is None:
        raise n.error('the shape of the weights is not known')
    kernel = list(n.get('kernel_shape', weight[2:]))
    count, group = len(kernel), n.get('group', 1)
    stride, dilate = list(n.get('strides', [1] * count)), list(n.get('dilations', [1] * count))
    if n.get('auto_pad', 'NOTSET') in SAME or n.get('output_shape'):
        raise n.error('auto_pad and output_shape')
    before, after = _pads(n, count, kernel, stride, dilate)
    if before != after:
        raise n.error('padding that is not symmetric')
    how: dict[str, Any] = {
        'kernel': tuple(kernel), 'stride': tuple(stride), 'dilate': tuple(dilate), 'pad': tuple(before),
        'adj': tuple(n.get('output_padding', [0] * count)), 'num_filter': weight[1] * group, 'num_group': group,
        'no_bias': not n.has(2)}
    return sym.Deconvolution(n.sym(), *n.syms()[1:], **how, name=n.name)


@translates('MaxPool', 'AveragePool', 'LpPool')
def pool(n):
    kernel = list(n.get('kernel_shape'))
    count = len(kernel)
    stride = list(n.get('strides', [1] * count))
    if any(d != 1 for d in n.get('dilations', [])):
        raise n.error('dilations')
    if len(n.outputs) > 1 and n.outputs[1]:
        raise n.error('the places of the maxima')
    before, after = _pads(n, count, kernel, stride, [1] * count)
    kind = {'MaxPool': 'max', 'AveragePool': 'avg', 'LpPool': 'lp'}[n.kind]
    include = bool(n.get('count_include_pad', 0))
    how: dict[str, Any] = {'kernel': tuple(kernel), 'stride': tuple(stride), 'pool_type': kind,
                           'pooling_convention': 'full' if n.get('ceil_mode') else 'valid'}
    if kind == 'lp':
        how['p_value'] = n.get('p', 2)
        if how['p_value'] != 2:
            raise n.error(f'p={how["p_value"]}, of which ours does not take absolute values')
    if kind == 'avg' and before != after and not include:
        # the average of what is there: of sums, and of ones
        ones, pad = _padded(n, sym.ones_like(n.sym()), before, after)
        x, _ = _padded(n, n.sym(), before, after)
        parts = [sym.Pooling(part, pad=tuple(pad), count_include_pad=True, **how) for part in (x, ones)]
        return sym.broadcast_div(*parts, name=n.name)
    x, pad = _padded(n, n.sym(), before, after, float(np.finfo(np.float32).min) if kind == 'max' else 0.0)
    return sym.Pooling(x, pad=tuple(pad), count_include_pad=include, **how, name=n.name)


@translates('GlobalAveragePool', 'GlobalMaxPool', 'GlobalLpPool')
def global_pool(n):
    kind = {'GlobalAveragePool': 'avg', 'GlobalMaxPool': 'max', 'GlobalLpPool': 'lp'}[n.kind]
    how: dict[str, Any] = {'kernel': (1,) * (n.rank() - 2), 'pool_type': kind}
    if kind == 'lp':
        how['p_value'] = n.get('p', 2)
    return sym.Pooling(n.sym(), global_pool=True, **how, name=n.name)


@translates('BatchNormalization')
def batch_norm(n):
    if n.get('training_mode'):
        raise n.error('training_mode')
    how: dict[str, Any] = {'eps': n.get('epsilon', 1e-5), 'momentum': n.get('momentum', 0.9), 'fix_gamma': False,
                           'use_global_stats': not n.get('spatial', 1)}
    return sym.BatchNorm(*n.syms(), **how, name=n.name)


@translates('InstanceNormalization')
def instance_norm(n):
    how: dict[str, Any] = {'eps': n.get('epsilon', 1e-5)}
    return sym.InstanceNorm(*n.syms(), **how, name=n.name)


@translates('LayerNormalization')
def layer_norm(n):
    axis, eps = n.get('axis', -1) % n.rank(), n.get('epsilon', 1e-5)
    if axis == n.rank() - 1 and len([name for name in n.outputs if name]) == 1:
        if not n.has(2):
            n.room(math.prod(n.shape(1)))
        beta = n.sym(2) if n.has(2) else n.parameter(np.zeros(n.shape(1), np.float32), 'beta')
        return sym.LayerNorm(n.sym(0), n.sym(1), beta, axis=-1, eps=eps, name=n.name)
    x, axes = n.sym(), tuple(range(axis, n.rank()))
    mean = sym.mean(x, axis=axes, keepdims=True)
    apart = sym.broadcast_sub(x, mean)
    scale = 1 / sym.sqrt(sym.mean(sym.square(apart), axis=axes, keepdims=True) + eps)
    found = sym.broadcast_mul(apart, scale)
    for number, join in ((1, sym.broadcast_mul), (2, sym.broadcast_add)):
        if n.has(number):
            part = n.sym(number)
            for _ in range(axis):
                part = sym.expand_dims(part, axis=0)
            found = join(found, part)
    return [found, mean, scale]


@translates('LRN')
def lrn(n):
    return sym.LRN(n.sym(), alpha=n.get('alpha', 1e-4), beta=n.get('beta', 0.75), knorm=n.get('bias', 1.0),
                   nsize=n.get('size'), name=n.name)


@translates('LpNormalization')
def lp_normalization(n):
    axis, order = n.get('axis', -1), n.get('p', 2)
    return sym.broadcast_div(n.sym(), sym.norm(n.sym(), ord=order, axis=axis, keepdims=True), name=n.name)


@translates('Dropout')
def dropout(n):
    p = n.get('ratio', 0.5) if n.opset < 12 else (n.values(1) if n.has(1) else np.array(0.5)).item()
    return [sym.Dropout(n.sym(), p=float(p), name=n.name)]


@translates('Upsample', 'Resize')
def resize(n):
    mode = n.get('mode', 'nearest')
    place = 1 if n.kind == 'Upsample' or n.opset < 11 else 2
    scales = n.values(place, 'scales') if place >= len(n) or n.has(place) else None
    sizes = n.ints(3) if n.has(3) else None
    shape = n.shape()
    if sizes is None or not len(sizes):
        if scales is None:
            raise n.error('neither scales nor sizes')
        if mode == 'nearest' and len(scales) == 4 and scales[2] == scales[3] == int(scales[2]):
            how = n.get('coordinate_transformation_mode', 'half_pixel')
            if how == 'asymmetric' and n.get('nearest_mode', 'round_prefer_floor') != 'floor':
                raise n.error(f'{how} with nearest_mode {n.get("nearest_mode")}')
            return sym.UpSampling(n.sym(), scale=int(scales[2]), sample_type='nearest', name=n.name)
        if shape is None or 0 in shape[2:]:
            raise n.error('an input whose size is not known')
        sizes = [int(np.floor(length * scale)) for length, scale in zip(shape, scales)]
    if mode == 'nearest' and shape is not None and 0 not in shape[2:] and len(shape) == 4 \
            and sizes[2] % shape[2] == 0 and sizes[2] // shape[2] == sizes[3] / shape[3]:
        return sym.UpSampling(n.sym(), scale=sizes[2] // shape[2], sample_type='nearest', name=n.name)
    corners = n.get('coordinate_transformation_mode', 'half_pixel')
    if mode != 'linear' or corners not in ('align_corners', 'half_pixel', 'pytorch_half_pixel') or len(sizes) != 4:
        raise n.error(f'mode {mode} with {corners} to {sizes}')
    return sym.contrib.BilinearResize2D(n.sym(), height=sizes[2], width=sizes[3],
                                        align_corners=corners == 'align_corners', name=n.name)


# ---------------------------------------------------------------------- recurrent layers
# ONNX's gates in our order: LSTM i o f c -> i f c o, GRU z r n -> r z n
ORDER = {'LSTM': (0, 2, 3, 1), 'GRU': (1, 0, 2), 'RNN': (0,)}


@translates('LSTM', 'GRU', 'RNN')
def rnn(n):
    size, direction = n.get('hidden_size'), n.get('direction', 'forward')
    activations = [a.decode() if isinstance(a, bytes) else a for a in n.get('activations', [])]
    usual = {'LSTM': ['Sigmoid', 'Tanh', 'Tanh'], 'GRU': ['Sigmoid', 'Tanh'], 'RNN': ['Tanh']}[n.kind]
    mode = n.kind.lower()
    if n.kind == 'RNN':
        mode = 'rnn_relu' if activations[:1] == ['Relu'] else 'rnn_tanh'
        usual = activations[:1] if mode == 'rnn_relu' else usual
    if direction == 'reverse' or n.get('clip') or n.has(4) or n.has(7) or n.get('layout'):
        raise n.error('direction=reverse, clip, sequence_lens, peepholes and layout')
    if n.kind == 'GRU' and not n.get('linear_before_reset', 0):
        raise n.error('linear_before_reset=0, which is another formula than ours')
    directions = 2 if direction == 'bidirectional' else 1
    if activations and activations != usual * directions:
        raise n.error(f'activations {activations}')
    order = ORDER[n.kind]

    def turn(matrix):
        parts = np.split(matrix, len(order))
        return np.concatenate([parts[number] for number in order]).ravel()
    weights, states = n.values(1), n.values(2)
    if type(size) is not int or states is None or size != states.shape[-1]:
        raise n.error(f'hidden_size={size!r} is not that of its states')
    bias = n.values(3) if n.has(3) else np.zeros((directions, 2 * len(order) * size), np.float32)
    pieces = [turn(m[d]) for d in range(directions) for m in (weights, states)]
    pieces += [turn(half) for d in range(directions) for half in np.split(bias[d], 2)]
    x = n.sym()

    def start(number):
        if n.has(number):
            return n.sym(number)
        # zeros, as many as there are sequences
        row = sym.slice_axis(sym.sum(x, axis=2, keepdims=True), axis=0, begin=0, end=1)
        return sym.broadcast_axis(sym.zeros_like(row), axis=(0, 2), size=(directions, size))
    begin = [start(5), *([start(6)] if n.kind == 'LSTM' else [])]
    how: dict[str, Any] = {'state_size': size, 'num_layers': 1, 'mode': mode, 'bidirectional': directions == 2,
                           'state_outputs': True}
    found = sym.RNN(x, n.parameter(np.concatenate(pieces), 'parameters'), *begin, **how, name=n.name)
    outputs = list(found)
    # (length, batch, directions * size) -> (length, directions, batch, size)
    outputs[0] = sym.transpose(sym.Reshape(outputs[0], shape=(0, 0, directions, size)), axes=(0, 2, 1, 3))
    return outputs
