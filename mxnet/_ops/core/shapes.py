"""Rules that find unknown shapes of inputs: FullyConnected's weight from its data and num_hidden.

A rule takes the known shapes by input name (a tuple; a dimension that is unknown is 0; None: nothing is known) and the
complete attributes, and returns the shapes it can tell, by name.  Graphs use them in both directions of inference;
what an operator returns for known inputs needs no rule, since it runs on meta tensors.
"""
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

from ...base import MXNetError

Shape = tuple[int, ...]
Known = Mapping[str, Shape | None]
Attributes = Mapping[str, Any]
Found = dict[str, Shape]                    # what a rule tells


class NoAxis(IndexError):
    """Data has fewer axes than an attribute counts on."""


def fully_connected(known: Known, attributes: Attributes) -> Found:
    found: Found = {}
    if attributes['num_hidden']:
        if not attributes['no_bias'] and len(known.get('bias') or ()) != 2:     # or one column: biases kept as rows
            found['bias'] = (attributes['num_hidden'],)
        data = known.get('data')
        if data and all(data[1:]):
            width = prod(data[1:]) if attributes['flatten'] else data[-1]
            found['weight'] = (attributes['num_hidden'], width)
    return found


# ---------------------------------------------------------------------- normalisation
def _per_channel(known: Known, axis: int, names: Iterable[str]) -> Found:
    """One value a channel for each of `names`."""
    data = known.get('data')
    if data and not -len(data) <= axis < len(data):
        raise NoAxis(f'there is no axis {axis} in data of shape {tuple(data)}')
    if not data or not data[axis]:
        return {}
    return dict.fromkeys(names, (data[axis],))


def batch_norm(known: Known, attributes: Attributes) -> Found:
    return _per_channel(known, attributes.get('axis', 1), ('gamma', 'beta', 'moving_mean', 'moving_var'))


def layer_norm(known: Known, attributes: Attributes) -> Found:
    return _per_channel(known, attributes['axis'], ('gamma', 'beta'))


def instance_norm(known: Known, attributes: Attributes) -> Found:
    return _per_channel(known, 1, ('gamma', 'beta'))


def group_norm(known: Known, attributes: Attributes) -> Found:
    return dict.fromkeys(('gamma', 'beta'), (attributes['num_groups'],))


# ---------------------------------------------------------------------- output layers: labels from data
def softmax_output(known: Known, attributes: Attributes) -> Found:
    data = known.get('data')
    if known.get('label') is not None or not data or not all(data):
        return {}         # a label's shape that is known may be one of several: all are right
    if attributes['multi_output']:
        return {'label': (data[0], prod(data[2:]))}
    return {'label': tuple(data[:-1])}


def svm_output(known: Known, attributes: Attributes) -> Found:
    data = known.get('data')
    return {'label': tuple(data[:-1])} if data else {}


def regression_output(known: Known, attributes: Attributes) -> Found:
    data = known.get('data')
    if known.get('label') is not None or not data or not all(data):
        return {}
    return {'label': (data[0],) if len(data) == 2 and data[1] == 1 else tuple(data)}


def ctc_loss(known: Known, attributes: Attributes) -> Found:
    data, label = known.get('data'), known.get('label')
    batch = data[1] if data and len(data) == 3 else label[0] if label else 0
    if not batch:
        return {}
    used = {'data_lengths': attributes['use_data_lengths'], 'label_lengths': attributes['use_label_lengths']}
    return {name: (batch,) for name, is_used in used.items() if is_used}


def warp_ctc(known: Known, attributes: Attributes) -> Found:
    data, time = known.get('data'), attributes['input_length']
    if not data or not time or len(data) != 2:
        return {}
    return {'label': (data[0] // time * attributes['label_length'],)}


# ---------------------------------------------------------------------- matrices
def gemm(known: Known, attributes: Attributes) -> Found:
    """C has the shape of the product."""
    a, b = known.get('A'), known.get('B')
    if not a or not b or len(a) != len(b) or len(a) < 2:
        return {}
    row = attributes['axis'] % len(a)
    shape = list(a)
    shape[row] = a[-1] if attributes['transpose_a'] else a[row]
    shape[-1] = b[row] if attributes['transpose_b'] else b[-1]
    return {'C': tuple(shape)}


# ---------------------------------------------------------------------- elementwise
def same_shape(known: Known, attributes: Attributes) -> Found:
    """All inputs have one shape; what one of them does not know, another may."""
    given = [s for s in known.values() if s]
    if not given or any(len(s) != len(given[0]) for s in given):
        return {}
    if len(set(given)) == 1:
        return dict.fromkeys(known, given[0])
    merged = tuple(next((d for d in dims if d), 0) for dims in zip(*given, strict=True))
    return dict.fromkeys(known, merged)


# ---------------------------------------------------------------------- activations
def channel_average(known: Known, attributes: Attributes) -> Found:
    """IdentityAttachKLSparseReg: one running mean per channel."""
    data = known.get('data')
    return {'moving_avg': (data[1],)} if data and data[1] else {}


def leaky_relu(known: Known, attributes: Attributes) -> Found:
    """The slopes of prelu: one per channel, unless they are given otherwise."""
    data = known.get('data')
    if attributes['act_type'] == 'prelu' and not known.get('gamma') and data and len(data) > 1 and data[1]:
        return {'gamma': (data[1],)}
    return {}


def softmax_length(known: Known, attributes: Attributes) -> Found:
    """One length for each line of data along the axis."""
    data = known.get('data')
    if not data or not attributes['use_length']:
        return {}
    length = list(data)
    del length[attributes['axis']]
    return {'length': tuple(length)}


def softmax_cross_entropy(known: Known, attributes: Attributes) -> Found:
    """One class number for each row."""
    data = known.get('data')
    return {'label': data[:1]} if data else {}


# ---------------------------------------------------------------------- convolutions and recurrent layers
def convolution(known: Known, attributes: Attributes) -> Found:
    return _filters(known, attributes, lambda channels, group, filters: (filters, channels // group))


def deconvolution(known: Known, attributes: Attributes) -> Found:
    return _filters(known, attributes, lambda channels, group, filters: (channels, filters // group))


def _filters(known: Known, attributes: Attributes, ends: Callable[[int, int, int], tuple[int, int]]) -> Found:
    """Weight and bias of a convolution; `ends` gives the two dimensions of the weight that are not the kernel's."""
    found: Found = {}
    if not attributes['no_bias']:
        found['bias'] = (attributes['num_filter'],)
    data = known.get('data')
    if data:
        last = (attributes['layout'] or 'NCHW').endswith('C')
        channels = data[-1] if last else data[1]
        outer, inner = ends(channels, attributes['num_group'], attributes['num_filter'])
        kernel = attributes['kernel']
        found['weight'] = (outer, *kernel, inner) if last else (outer, inner, *kernel)
    return found


def upsampling(known: Known, attributes: Attributes) -> Found:
    data = known.get('data')
    if attributes['sample_type'] != 'bilinear' or not data or not data[1]:
        return {}
    kernel = 2 * attributes['scale'] - attributes['scale'] % 2
    return {'weight': (data[1], 1, kernel, kernel)}


class RecurrentLayer(NamedTuple):
    """What one direction of a recurrent layer has in the flat parameter vector."""

    matrices: tuple[tuple[int, int], ...]     # input, state, and an LSTM's projection if there is one
    gates: int                                # length of each of the two biases


MOST_LAYERS = 4096


def rnn_layers(features: int, state_size: int, num_layers: int, directions: int, mode: str,
               projection_size: int | None) -> list[RecurrentLayer]:
    """A RecurrentLayer for each layer and direction, in upstream's order."""
    gates = {'lstm': 4, 'gru': 3}.get(mode, 1) * state_size
    width = projection_size or state_size
    projection = ((projection_size, state_size),) if projection_size else ()
    layers: list[RecurrentLayer] = []
    if num_layers > MOST_LAYERS:
        raise MXNetError(f'operator RNN: argument num_layers={num_layers} is not accepted; it takes up to '
                         f'{MOST_LAYERS}')
    for layer in range(num_layers):
        inputs = width * directions if layer else features
        layers += [RecurrentLayer(((gates, inputs), (gates, width), *projection), gates)] * directions
    return layers


def rnn_parameters(layers: Iterable[RecurrentLayer]) -> int:
    """Length of the flat parameter vector."""
    matrices = sum(rows * columns for layer in layers for rows, columns in layer.matrices)
    return matrices + sum(2 * layer.gates for layer in layers)


def rnn(known: Known, attributes: Attributes) -> Found:
    data = known.get('data')
    if not data:
        return {}
    batch, features = data[1:]
    size, projection = attributes['state_size'], attributes['projection_size']
    directions = 2 if attributes['bidirectional'] else 1
    rows = attributes['num_layers'] * directions
    found: Found = {'state': (rows, batch, projection or size)}
    if attributes['mode'] == 'lstm':
        found['state_cell'] = (rows, batch, size)
    if attributes['use_sequence_length']:
        found['sequence_length'] = (batch,)
    if features:
        layers = rnn_layers(features, size, attributes['num_layers'], directions, attributes['mode'], projection)
        found['parameters'] = (rnn_parameters(layers),)
    return found


def rnn_param_concat(known: Known, attributes: Attributes, outputs: Sequence[Shape | None]) -> Found:
    """What is missing of a parameter vector belongs to the first layer, to both directions in equal parts."""
    total, axis = outputs[0], attributes['dim']
    if not total or not total[axis]:
        return {}
    missing = [name for name, shape in known.items() if not shape or not shape[axis]]
    rest = total[axis] - sum(shape[axis] for shape in known.values() if shape)
    if not missing or rest <= 0 or rest % len(missing):
        return {}
    return {name: (*total[:axis], rest // len(missing), *total[axis:][1:]) for name in missing}


def reshape(known: Known, attributes: Attributes, outputs: Sequence[Shape | None]) -> Found:
    """The one unknown length of an array whose elements are as many as those of a known shape."""
    data, target = known.get('data'), outputs[0]
    if not data or not target or data.count(0) != 1 or 0 in target:
        return {}
    length, rest = divmod(prod(target), prod(n for n in data if n))
    return {} if rest else {'data': tuple(n or length for n in data)}


# ---------------------------------------------------------------------- joining, slices, indices, sequences
def where(known: Known, attributes: Attributes, outputs: Sequence[Shape | None]) -> Found:
    """Both choices have the shape of the result."""
    found = same_shape({'x': known.get('x'), 'y': known.get('y'), 'result': outputs[0]}, attributes)
    return {name: found[name] for name in ('x', 'y') if name in found}


def concat(known: Known, attributes: Attributes) -> Found:
    """The inputs agree in all axes but the one they are joined along."""
    axis = attributes['dim']
    merged = next(iter(same_shape(known, attributes).values()), None)
    if merged is None:
        return {}
    found: Found = {}
    for name, shape in known.items():
        own = list(merged)
        own[axis] = shape[axis] if shape else 0
        found[name] = tuple(own)
    return found


def slice_assign(known: Known, attributes: Attributes) -> Found:
    shape = known.get('lhs')
    if not shape or not all(shape):
        return {}
    limits = zip(attributes['begin'], attributes['end'], attributes['step'] or (None,) * len(shape), strict=False)
    lengths = [len(range(*slice(*limit).indices(n))) for limit, n in zip(limits, shape, strict=False)]
    return {'rhs': (*lengths, *shape[len(lengths):])}


def pick(known: Known, attributes: Attributes) -> Found:
    data, axis = known.get('data'), attributes['axis']
    if not data or axis is None:
        return {}
    rest = list(data)
    rest[axis] = 1
    if len(data) > 1 and len(known.get('index') or ()) != len(data):
        del rest[axis]
    return {'index': tuple(rest)}


def embedding(known: Known, attributes: Attributes) -> Found:
    return {'weight': (attributes['input_dim'], attributes['output_dim'])}


def sequence_length(known: Known, attributes: Attributes) -> Found:
    data = known.get('data')
    if not data or not attributes['use_sequence_length']:
        return {}
    return {'sequence_length': (data[1 - attributes['axis']],)}


# ---------------------------------------------------------------------- products of columns
def same_columns(known: Known, attributes: Attributes) -> Found:
    """khatri_rao: matrices with equally many columns."""
    columns = next((s[1] for s in known.values() if s and len(s) == 2 and s[1]), 0)
    return {name: (s[0] if s else 0, columns) for name, s in known.items()} if columns else {}


# ---------------------------------------------------------------------- quantized layers
_RANGES = ('min_data', 'max_data', 'min_weight', 'max_weight', 'min_bias', 'max_bias', 'min_range', 'max_range',
           'lhs_min', 'lhs_max', 'rhs_min', 'rhs_max')


def _ranges(known: Known) -> Found:
    """One number each, unless a weight has one for each channel."""
    return {name: (1,) for name in _RANGES if not known.get(name)}


def ranges(known: Known, attributes: Attributes) -> Found:
    return _ranges(known)


def quantized_batch_norm(known: Known, attributes: Attributes) -> Found:
    return {**batch_norm(known, attributes), **_ranges(known)}


def quantized_fully_connected(known: Known, attributes: Attributes) -> Found:
    return {**fully_connected(known, attributes), **_ranges(known)}


def quantized_conv(known: Known, attributes: Attributes) -> Found:
    return {**convolution(known, attributes), **_ranges(known)}


# ---------------------------------------------------------------------- NumPy's products
def matrix_product(known: Known, attributes: Attributes) -> Found:
    """The last axis of `a` and the last but one of `b` (a vector's only one) have one length."""
    a, b = known.get('a'), known.get('b')
    if not a or not b:
        return {}
    place = len(b) - 1 if len(b) == 1 else len(b) - 2
    length = a[-1] or b[place]
    return {'a': (*a[:-1], length), 'b': (*b[:place], length, *b[place + 1:])}


def quantized_embedding(known: Known, attributes: Attributes) -> Found:
    return {**embedding(known, attributes), 'min_weight': (1,), 'max_weight': (1,)}
