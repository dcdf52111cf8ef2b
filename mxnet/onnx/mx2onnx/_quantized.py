"""Translations of int8 layers into pairs of QuantizeLinear and DequantizeLinear around those of floating point (QDQ).

A value in int8 is an int8 tensor in ONNX, too.  Whoever takes it puts a DequantizeLinear before itself; runtimes that
have integer kernels merge these with the layer.
"""
import numpy as np

from ._builder import TRANSLATIONS, translates

_STEPS = {'int8': 127.0, 'uint8': 255.0}
# what operators that compute with whole numbers become
_PLAIN = {'_contrib_quantized_conv': 'Convolution', '_contrib_quantized_fully_connected': 'FullyConnected',
          '_contrib_quantized_pooling': 'Pooling', '_contrib_quantized_act': 'Activation'}
_KEPT = ('_contrib_quantized_pooling', '_contrib_quantized_act', '_contrib_quantized_flatten')


def _threshold(c, entry):
    """The largest value that an int8 entry stands for: (1,), or one for each channel of a weight."""
    node, _ = entry
    if node.is_variable:
        low, high = (c._evaluate((end, 0)) for end in _range_variables(c, node))
        return np.maximum(np.abs(low), np.abs(high)).ravel()
    attributes, kind = node.attributes, node.op.name
    if kind in ('_contrib_quantize_v2', '_contrib_requantize'):
        low, high = attributes['min_calib_range'], attributes['max_calib_range']
        if low is None or high is None:
            raise c.error(f'{node.name} finds its range while it runs; only calibrated networks are translated: '
                          "calib_mode='naive' or 'entropy'")
        return np.array([max(abs(low), abs(high), 1e-30)], np.float32)
    if kind in _KEPT:
        return _threshold(c, node.inputs[0])
    if kind == '_contrib_quantized_concat':
        return np.max([_threshold(c, e) for e in node.inputs[:attributes['num_args']]], axis=0)
    raise c.error(f'the range of {node.name} ({kind}) is not known')


def _range_variables(c, node):
    """The variables with the range of a parameter."""
    names = c.node.input_names()
    place = next(i for i, (child, _) in enumerate(c.node.inputs) if child is node)
    return [c.node.inputs[names.index(f'{end}_{names[place]}')][0] for end in ('min', 'max')]


def _dequantized(c, number, steps=None, axis=None):
    kind = str(c.dtypes[number])
    scale = _threshold(c, c.node.inputs[number]) / (steps or _STEPS[kind])
    zero = np.zeros(scale.shape if scale.size > 1 else (), kind)
    scale = c.const(scale if scale.size > 1 else scale.reshape(()), np.float32)
    return c.op('DequantizeLinear', c.inputs[number], scale, c.const(zero), axis=axis)


def _quantized(c, x, threshold, kind, steps=None):
    scale = c.const(np.float32(threshold.max() / (steps or _STEPS[kind])), np.float32)
    return c.op('QuantizeLinear', x, scale, c.const(np.zeros((), kind)))


class _Real:
    """The call of a plain operator in the place of an int8 one: other inputs, the rest as it is."""

    def __init__(self, call, inputs):
        self._call = call
        self.inputs = inputs
        self.kind = _PLAIN.get(call.kind, call.kind)

    def __getattr__(self, name):
        return getattr(self._call, name)

    def __getitem__(self, key):
        return self._call[key]

    def __len__(self):
        return len(self.inputs)

    @property
    def x(self):
        return self.inputs[0]

    @property
    def dtype(self):
        return np.dtype('float32')


@translates('_contrib_quantize_v2')
def quantize_v2(c):
    kind = str(c.out_dtypes[0])
    threshold = _threshold(c, (c.node, 0))
    # steps of half a unit more at both ends, as the layers count them
    return [_quantized(c, c.x, threshold, kind, _STEPS[kind] + 0.5), '', '']


@translates('_contrib_requantize')
def requantize(c):
    return [_quantized(c, c.x, _threshold(c, (c.node, 0)), str(c.out_dtypes[0])), '', '']


@translates('_contrib_dequantize')
def dequantize(c):
    if str(c.dtype) not in _STEPS:
        return c.x                  # the result of a layer, which is floating point here
    return _dequantized(c, 0, _STEPS[str(c.dtype)] + 0.5)


@translates('_contrib_quantized_conv', '_contrib_quantized_fully_connected')
def weighted(c):
    inputs = [_dequantized(c, 0), _dequantized(c, 1, axis=0)]
    if not c['no_bias']:
        inputs.append(_bias(c))
    made = TRANSLATIONS[_PLAIN[c.kind]](_Real(c, inputs))
    return [made, '', '']


def _bias(c):
    """A bias is floating point: the integers of runtimes have the scale of data and weight together."""
    values, threshold = c.array(2).astype('float32'), _threshold(c, c.node.inputs[2])
    # by channel, +-127 stands for the range * 127.5 / 127
    return c.const(values * threshold / (127 * 127 / 127.5 if threshold.size > 1 else 127.0), np.float32)


@translates('_contrib_quantized_pooling', '_contrib_quantized_act')
def following(c):
    threshold, kind = _threshold(c, c.node.inputs[0]), str(c.dtype)
    made = TRANSLATIONS[_PLAIN[c.kind]](_Real(c, [_dequantized(c, 0)]))
    return [_quantized(c, made, threshold, kind), '', '']


@translates('_contrib_quantized_flatten')
def flatten(c):
    return [c.op('Flatten', c.x, axis=1), '', '']


@translates('_contrib_quantized_concat')
def concat(c):
    count = c['num_args']
    joined = c.op('Concat', *[_dequantized(c, i) for i in range(count)], axis=c.axis(c['dim']))
    return [_quantized(c, joined, _threshold(c, (c.node, 0)), str(c.out_dtypes[0])), '', '']


@translates('_contrib_quantized_elemwise_add')
def elemwise_add(c):
    # a sum takes its terms with steps of half a unit more
    return [c.op('Add', *[_dequantized(c, i, _STEPS[str(c.dtypes[i])] + 0.5) for i in (0, 1)]), '', '']
