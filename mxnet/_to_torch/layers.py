"""Operators that are layers of torch: what has parameters, or a name that people look for in a printed network."""
from operator import getitem as _getitem

import torch
from torch import nn
from torch.nn import functional as F

from .._ops.core import shapes
from . import operators
from .translate import translation

_CONV = {1: nn.Conv1d, 2: nn.Conv2d, 3: nn.Conv3d}
_CONVOLVE = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
_DECONV = {1: nn.ConvTranspose1d, 2: nn.ConvTranspose2d, 3: nn.ConvTranspose3d}
_BATCH_NORM = {2: nn.BatchNorm1d, 3: nn.BatchNorm1d, 4: nn.BatchNorm2d, 5: nn.BatchNorm3d}
_INSTANCE_NORM = {3: nn.InstanceNorm1d, 4: nn.InstanceNorm2d, 5: nn.InstanceNorm3d}
_MAX = {1: nn.MaxPool1d, 2: nn.MaxPool2d, 3: nn.MaxPool3d}
_AVERAGE = {1: nn.AvgPool1d, 2: nn.AvgPool2d, 3: nn.AvgPool3d}
# for one, two and three axes
_GLOBAL = {'max': (nn.AdaptiveMaxPool1d, nn.AdaptiveMaxPool2d, nn.AdaptiveMaxPool3d),
           'avg': (nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.AdaptiveAvgPool3d)}
_FUNCTIONS = {nn.MaxPool1d: F.max_pool1d, nn.MaxPool2d: F.max_pool2d, nn.MaxPool3d: F.max_pool3d,
              nn.AvgPool1d: F.avg_pool1d, nn.AvgPool2d: F.avg_pool2d, nn.AvgPool3d: F.avg_pool3d,
              nn.AdaptiveMaxPool1d: F.adaptive_max_pool1d, nn.AdaptiveMaxPool2d: F.adaptive_max_pool2d,
              nn.AdaptiveMaxPool3d: F.adaptive_max_pool3d, nn.AdaptiveAvgPool1d: F.adaptive_avg_pool1d,
              nn.AdaptiveAvgPool2d: F.adaptive_avg_pool2d, nn.AdaptiveAvgPool3d: F.adaptive_avg_pool3d}
_ACTIVATIONS = {'relu': (nn.ReLU, F.relu), 'sigmoid': (nn.Sigmoid, torch.sigmoid), 'tanh': (nn.Tanh, torch.tanh),
                'softrelu': (nn.Softplus, F.softplus), 'softsign': (nn.Softsign, F.softsign),
                'log_sigmoid': (nn.LogSigmoid, F.logsigmoid), 'mish': (nn.Mish, F.mish)}
_RECURRENT = {'lstm': nn.LSTM, 'gru': nn.GRU, 'rnn_tanh': nn.RNN, 'rnn_relu': nn.RNN}


def _options(**values):
    """Arguments of a layer, without those that are torch's defaults: {name: (value, default)}."""
    return {name: value for name, (value, default) in values.items() if value != default}


def _bias(call, held):
    """Adds the bias to what a layer holds -> whether the node has one."""
    if call.no_bias or call['bias'] is None:
        return False
    held['bias'] = 'bias'
    return True


def _one(values, count, default):
    """Values for each axis, as one number where they are equal."""
    values = tuple(values) or (default,) * count
    return values[0] if len(set(values)) == 1 else values


# ---------------------------------------------------------------------- dense and convolution
@translation('FullyConnected')
def fully_connected(call):
    x, weight = call['data'], call.tensor('weight')
    if call.flatten and call.rank('data') != 2:
        x = call.method('flatten', x, 1)
    held = {'weight': 'weight'}
    bias = _bias(call, held)
    if weight is not None:
        made = call.layer(nn.Linear, (weight.shape[1], weight.shape[0]), _options(bias=(bias, True)), x, held)
        if made is not None:
            return made
    b = call['bias'] if bias else None
    if bias and (call.tensor('bias') is None or call.tensor('bias').dim() != 1):
        b = call.method('flatten', b)
    return call.function(F.linear, x, call['weight'], *(() if b is None else (b,)))


@translation('Convolution', 'Convolution_v1')
def convolution(call):
    count, weight = len(call.kernel), call.tensor('weight')
    if call.layout not in (None, 'NCW', 'NCHW', 'NCDHW') or count not in _CONV:
        return None
    held = {'weight': 'weight'}
    bias = _bias(call, held)
    stride, pad, dilate = (_one(getattr(call, name), count, default)
                           for name, default in (('stride', 1), ('pad', 0), ('dilate', 1)))
    if weight is not None:
        options = _options(stride=(stride, 1), padding=(pad, 0), dilation=(dilate, 1), groups=(call.num_group, 1),
                           bias=(bias, True))
        sizes = weight.shape[1] * call.num_group, weight.shape[0], _one(call.kernel, count, 1)
        made = call.layer(_CONV[count], sizes, options, call['data'], held)
        if made is not None:
            return made
    return call.function(_CONVOLVE[count], call['data'], call['weight'], call['bias'] if bias else None, stride, pad,
                         dilate, call.num_group)


@translation('Deconvolution')
def deconvolution(call):
    count, weight = len(call.kernel), call.tensor('weight')
    if call.layout not in (None, 'NCW', 'NCHW', 'NCDHW') or any(call.target_shape) or weight is None \
            or count not in _CONV:
        return None
    held = {'weight': 'weight'}
    bias = _bias(call, held)
    stride, pad, dilate, adj = (_one(getattr(call, name), count, default) for name, default
                                in (('stride', 1), ('pad', 0), ('dilate', 1), ('adj', 0)))
    options = _options(stride=(stride, 1), padding=(pad, 0), output_padding=(adj, 0), groups=(call.num_group, 1),
                       bias=(bias, True), dilation=(dilate, 1))
    return call.layer(_DECONV[count], (weight.shape[0], weight.shape[1] * call.num_group, _one(call.kernel, count, 1)),
                      options, call['data'], held)


@translation('Embedding', '_contrib_SparseEmbedding')
def embedding(call):
    weight = call.tensor('weight')
    x = call.method('clamp', call.method('long', call['data']), 0, call.input_dim - 1)
    made = None if weight is None else call.layer(nn.Embedding, (call.input_dim, call.output_dim), {}, x,
                                                  {'weight': 'weight'})
    return call.function(F.embedding, x, call['weight']) if made is None else made


# ---------------------------------------------------------------------- normalization
def _refuses_statistics(node):
    return 'output_mean_var' if node.attributes['output_mean_var'] else None


@translation('BatchNorm', 'BatchNorm_v1', '_contrib_BatchNormWithReLU', '_contrib_SyncBatchNorm')
def batch_norm(call):
    axis, rank = call.attributes.get('axis', 1), call.rank('data')
    x, beta = call['data'], call.tensor('beta')
    moved = axis != 1 and not (rank is not None and axis % rank == 1)
    if moved:
        x = call.method('movedim', x, axis, 1)
    momentum = round(1 - call.momentum, 12)
    made = None
    if beta is not None:
        kind = operators.FrozenBatchNorm if call.use_global_stats else _BATCH_NORM.get(rank, operators.BatchNorm)
        held = {'bias': 'beta', 'running_mean': 'moving_mean', 'running_var': 'moving_var'}
        values, used = {}, []
        if call.fix_gamma:
            values['weight'] = (torch.ones_like(beta), False)
            used = [call.variable('gamma')]
        else:
            held['weight'] = 'gamma'
        made = call.layer(kind, (beta.numel(),), _options(eps=(call.eps, 1e-5), momentum=(momentum, 0.1)), x, held,
                          values, used=used)
    if made is None:
        weight = None if call.fix_gamma else call['gamma']
        made = call.plain_layer(operators.FunctionalBatchNorm, (call.eps, momentum, not call.use_global_stats), {},
                                [x, call['moving_mean'], call['moving_var'], weight, call['beta']], always=True)
    if moved:
        made = call.method('movedim', made, 1, axis)
    return call.function(F.relu, made) if call.node.op.name == '_contrib_BatchNormWithReLU' else made


batch_norm.refuses = _refuses_statistics


@translation('LayerNorm')
def layer_norm(call):
    gamma = call.tensor('gamma')
    last = call.axis == -1 or (call.rank('data') is not None and call.axis == call.rank('data') - 1)
    if call.output_mean_var or not last or gamma is None:
        return None
    return call.layer(nn.LayerNorm, (gamma.numel(),), _options(eps=(call.eps, 1e-5)), call['data'],
                      {'weight': 'gamma', 'bias': 'beta'})


@translation('InstanceNorm')
def instance_norm(call):
    gamma, kind = call.tensor('gamma'), _INSTANCE_NORM.get(call.rank('data'))
    if gamma is None or kind is None:
        return None
    return call.layer(kind, (gamma.numel(),), {**_options(eps=(call.eps, 1e-5)), 'affine': True}, call['data'],
                      {'weight': 'gamma', 'bias': 'beta'})


@translation('LRN')
def local_response(call):
    return call.plain_layer(nn.LocalResponseNorm, (call.nsize, call.alpha, call.beta, call.knorm), {}, call['data'],
                            always=True)


# ---------------------------------------------------------------------- activation, dropout, pooling
def _either(call, kind, function, args, options, x):
    """A layer without parameters where the network has a name for it, else the function."""
    made = call.plain_layer(kind, args, options, x)
    return call.function(function, x, *args, **options) if made is None else made


@translation('Activation')
def activation(call):
    if call.act_type not in _ACTIVATIONS:
        return None
    return _either(call, *_ACTIVATIONS[call.act_type], (), {}, call['data'])


@translation('LeakyReLU')
def leaky(call):
    x, kind = call['data'], call.act_type
    if kind == 'prelu':
        gamma = call.tensor('gamma')
        made = None if gamma is None else call.layer(nn.PReLU, (gamma.numel(),), {}, x, {'weight': 'gamma'})
        return call.function(F.prelu, x, call['gamma']) if made is None and gamma is not None else made
    if kind == 'rrelu':
        return None             # the slopes are an output, too
    layers = {'leaky': (nn.LeakyReLU, F.leaky_relu, (call.slope,)), 'elu': (nn.ELU, F.elu, (call.slope,)),
              'selu': (nn.SELU, F.selu, ()), 'gelu': (nn.GELU, F.gelu, ())}
    kind, function, args = layers[kind]
    return _either(call, kind, function, args, {}, x)


@translation('Dropout')
def dropout(call):
    if call.axes:
        return None
    if call.mode == 'always':
        return call.function(F.dropout, call['data'], call.p, True)
    return call.plain_layer(nn.Dropout, (call.p,), {}, call['data'], always=True)


@translation('Flatten')
def flatten(call):
    rank = call.rank('data')
    if rank == 1:
        return None
    made = call.plain_layer(nn.Flatten, (), {}, call['data'])
    return call.method('flatten', call['data'], 1) if made is None else made


@translation('Pooling')
def pooling(call):
    if call.pool_type not in _GLOBAL or call.layout not in (None, 'NCW', 'NCHW', 'NCDHW'):
        return None
    x, count = call['data'], len(call.kernel)
    if call.global_pool:
        count = count or ((call.rank('data') or 2) - 2)
        if not 1 <= count <= 3:
            return None
        kind = _GLOBAL[call.pool_type][count - 1]
        return _either(call, kind, _FUNCTIONS[kind], (1,), {}, x)
    stride = tuple(call.stride) or (1,) * count
    pad = tuple(call.pad) or (0,) * count
    if count not in _MAX or call.pooling_convention == 'same' or any(2 * p > k for p, k in zip(pad, call.kernel)):
        return None
    full = call.pooling_convention == 'full'
    if full and not _torch_rounds_up(call, stride, pad):
        return None
    kind = (_MAX if call.pool_type == 'max' else _AVERAGE)[count]
    options = _options(padding=(_one(pad, count, 0), 0), ceil_mode=(full, False))
    if call.pool_type == 'avg':
        options |= _options(count_include_pad=(call.count_include_pad is not False, True))
    return _either(call, kind, _FUNCTIONS[kind], (_one(call.kernel, count, 1), _one(stride, count, 1)), options, x)


def _torch_rounds_up(call, stride, pad):
    """Whether torch's `ceil_mode` makes the windows of the convention 'full': it leaves those out that begin in the
    padding on the right."""
    if all(s + p <= k for s, p, k in zip(stride, pad, call.kernel)):
        return True
    shape = call.shape('data')
    if shape is None:
        return False
    return all((-(-(n + 2 * p - k) // s)) * s < n + p for n, k, s, p in zip(shape[2:], call.kernel, stride, pad))


# ---------------------------------------------------------------------- recurrent layers
@translation('RNN')
def recurrent(call):
    if call.use_sequence_length or call.projection_size is not None or call.lstm_state_clip_min is not None \
            or call.lstm_state_clip_nan:
        return None
    directions = 2 if call.bidirectional else 1
    names = [f'l{layer}{suffix}' for layer in range(call.num_layers) for suffix in ('', '_reverse')[:directions]]
    order = [f'{part}_{name}' for name in names for part in ('weight_ih', 'weight_hh')] \
        + [f'{part}_{name}' for name in names for part in ('bias_ih', 'bias_hh')]
    held = _parts(call, order)
    if held is None:
        return None
    variables, values, used, features = held
    options = _options(num_layers=(call.num_layers, 1), dropout=(call.p, 0.0),
                       bidirectional=(call.bidirectional, False))
    if call.mode == 'rnn_relu':
        options['nonlinearity'] = 'relu'
    if call.num_layers == 1:
        options.pop('dropout', None)
    x = [call['data']]
    states = [name for name in ('state', 'state_cell') if call.sources.get(name) is not None]
    if not all(_is_zero(call.sources[name]) for name in states):
        x.append(tuple(call[name] for name in states) if call.mode == 'lstm' else call['state'])
    made = call.layer(_RECURRENT[call.mode], (features, call.state_size), options, x, None, values, variables, used)
    if made is None:
        return None
    output = call.function(_getitem, made, 0)
    if not call.state_outputs:
        return output
    final = call.function(_getitem, made, 1)
    if call.mode != 'lstm':
        return [output, final]
    return [output, call.function(_getitem, final, 0), call.function(_getitem, final, 1)]


def _parts(call, order):
    """(variables by torch's names, tensors by torch's names, variables used, number of input features)"""
    node = call.sources['parameters'][0]
    gates = {'lstm': 4, 'gru': 3}.get(call.mode, 1)
    rows = gates * call.state_size
    if node.is_variable:
        flat = call.tensor('parameters')
        if flat is None:
            return None
        directions = 2 if call.bidirectional else 1
        first = flat.numel() - sum(
            rows * (call.state_size + 2) + (rows * call.state_size * directions if layer else 0)
            for layer in range(call.num_layers) for _ in range(directions))
        features = first // (rows * directions)
        sizes = shapes.rnn_layers(features, call.state_size, call.num_layers, directions, call.mode, None)
        lengths = [shape for layer in sizes for shape in layer.matrices] + [(layer.gates,) for layer in sizes
                                                                            for _ in range(2)]
        pieces = flat.detach().split([torch.Size(shape).numel() for shape in lengths])
        wanted = call.variable('parameters') not in call.builder.frozen
        values = {name: (piece.reshape(shape).clone(), wanted)
                  for name, piece, shape in zip(order, pieces, lengths, strict=True)}
        return {}, values, [call.variable('parameters')], features
    if node.op.name not in ('_rnn_param_concat', 'Concat') or len(node.inputs) != len(order):
        return None
    variables = {}
    for name, (child, _) in zip(order, node.inputs, strict=True):
        while not child.is_variable and child.op.name in ('Reshape', '_npx_reshape', '_np_reshape', 'Flatten',
                                                          '_npi_reshape'):
            child = child.inputs[0][0]
        if not child.is_variable or child.name not in call.builder.tensors:
            return None
        variables[name] = child.name
    return variables, {}, (), call.builder.tensors[variables['weight_ih_l0']].shape[1]


def _is_zero(entry):
    """Whether a state is zeros whose shape is left open, which a layer of torch starts from by itself."""
    from .._graph.infer.inference import leaves_open
    node = entry[0]
    return not node.is_variable and node.op.name in ('_zeros', '_npi_zeros', '_zeros_without_dtype') \
        and leaves_open(node.op, node.attributes['shape'])


