"""Rewrites a graph such that layers compute on int8: where a value is int8, it is an entry with two more for its range.

Layers with weights (Convolution, FullyConnected) sum up in int32, which a `requantize` node makes int8 again.  Layers
that only move or compare values (pooling, relu, Flatten, Concat) follow where their input is int8 already, or, with
mode 'full', always.  Everything else gets floating point through a `dequantize` node.
"""
from typing import Any

from .._graph.ir.node import Node, own_attributes, rebuild, topological
from .._names import kind_of
from .._ops.core.table import NAMES
from ..base import MXNetError
from ..symbol import Symbol
from ..symbol.symbol import make

CALIBRATED = '__calibrated_by__'        # a note on nodes whose range calibration sets: the name of the float value
BY_CHANNEL = '__by_channel__'            # a note on variables that hold a range for each channel
_WEIGHTED = {'Convolution': '_contrib_quantized_conv', 'FullyConnected': '_contrib_quantized_fully_connected'}
_FOLLOWING = {'Pooling': '_contrib_quantized_pooling', 'Flatten': '_contrib_quantized_flatten',
              'Activation': '_contrib_quantized_act', 'Concat': '_contrib_quantized_concat',
              'elemwise_add': '_contrib_quantized_elemwise_add'}


def quantize(symbol, excluded_names=(), excluded_operators=(), offline=(), dtype='int8', mode='smart',
             by_channel=False):
    """-> (the quantized symbol, names of the float values whose ranges calibration should find).

    by_channel: weights and biases have a range for each channel that they make
    """
    if dtype not in ('int8', 'uint8', 'auto'):
        raise ValueError(f"quantized_dtype must be 'int8', 'uint8' or 'auto', not {dtype!r}")
    if mode not in ('smart', 'full'):
        raise ValueError(f"quantize_mode must be 'smart' or 'full', not {mode!r}")
    work = _Rewrite(set(excluded_names), set(excluded_operators), set(offline), dtype, mode, by_channel)
    entries = work.run(symbol._entries)
    return make(type(symbol), entries), work.wanted


def calibrate(symbol, thresholds):
    """The quantized symbol with ranges: thresholds is {name of a float value: (min, max)}."""
    def change(node, inputs):
        name = node.attrs.get(CALIBRATED)
        if name not in thresholds:
            return None
        low, high = thresholds[name]
        attrs = {**node.attrs, 'min_calib_range': str(float(low)), 'max_calib_range': str(float(high))}
        copy = Node(node.op, node.name, attrs, inputs, node.subgraphs)
        return [(copy, i) for i in range(copy.output_count())]
    return make(type(symbol), rebuild(symbol._entries, change))


class _Rewrite:
    def __init__(self, names, operators, offline, dtype, mode, by_channel=False):
        self._names, self._operators, self._offline, self._dtype, self._mode = names, operators, offline, dtype, mode
        self._by_channel = by_channel
        self._float = {}            # (id of an old node, output) -> entry
        self._whole = {}            # the same -> three entries
        self._old = {}
        self.wanted = []

    def run(self, entries):
        for node in topological(entries):
            self._old[id(node)] = node
            if node.is_variable:
                self._float[id(node), 0] = (node, 0)
            elif self._can(node):
                self._quantized(node)
            else:
                inputs = [self._as_float(e) for e in node.inputs]
                copy = Node(node.op, node.name, node.attrs, inputs, node.subgraphs)
                for i in range(node.output_count()):
                    self._float[id(node), i] = (copy, i)
        return [self._as_float(e) for e in entries]

    # ------------------------------------------------------------------ what becomes int8
    def _can(self, node):
        op, attributes = node.op.name, node.attributes
        if node.name in self._names or op in self._operators:
            return False
        if op in _WEIGHTED:
            layout = attributes.get('layout')
            # a weight that is computed in the graph has no range before it runs
            return layout in (None, 'NCW', 'NCHW', 'NCDHW') and all(c.is_variable for c, _ in node.inputs[1:])
        if op not in _FOLLOWING:
            return False
        if op == 'Pooling' and attributes['pool_type'] not in ('max', 'avg') or \
                op == 'Activation' and attributes['act_type'] != 'relu':
            return False
        whole = [(id(c), i) in self._whole for c, i in node.inputs]
        return all(whole) or self._mode == 'full' and op not in ('Activation', 'Flatten')

    def _quantized(self, node):
        op = node.op.name
        if op in _WEIGHTED:
            # uint8 data is not for these: the range of their result is that of int8 data
            made = node.attributes['num_hidden' if op == 'FullyConnected' else 'num_filter'] if self._by_channel else 0
            triples = [self._as_whole(node.inputs[0], 'int8'),
                       *[self._as_whole(e, 'int8', made) for e in node.inputs[1:]]]
            new = self._make(_WEIGHTED[op], f'quantized_{node.name}', own_attributes(node.attrs), _by_range(triples))
            self._requantized(node, new)
            return
        triples = [self._as_whole(e, self._dtype) for e in node.inputs]
        if op == 'elemwise_add':
            inputs = [*[t[0] for t in triples], *triples[0][1:], *triples[1][1:]]
        else:
            inputs = _by_range(triples)
        new = self._make(_FOLLOWING[op], f'quantized_{node.name}', own_attributes(node.attrs), inputs)
        if op == 'elemwise_add':
            self._requantized(node, new)
        else:
            self._whole[id(node), 0] = [(new, 0), (new, 1), (new, 2)]

    def _requantized(self, node, new):
        name = node.entry_name(0)
        again = self._make('_contrib_requantize', f'requantize_{node.name}', {'out_type': 'int8', CALIBRATED: name},
                           [(new, 0), (new, 1), (new, 2)])
        self.wanted.append(name)
        self._whole[id(node), 0] = [(again, 0), (again, 1), (again, 2)]

    @staticmethod
    def _make(op, name, attrs, inputs):
        return Node(NAMES[op], name, attrs, inputs)

    # ------------------------------------------------------------------ from one to the other
    def _as_whole(self, entry, dtype, channels=0):
        node, i = entry
        key = id(node), i
        if key not in self._whole:
            name = node.name if node.is_variable else node.entry_name(i)
            if node.is_variable and node.name in self._offline:
                shape = {'__shape__': f'({channels},)', BY_CHANNEL: '1'} if channels else {}
                parts = [Node(None, f'{node.name}_quantize{end}', {'__dtype__': number, **(shape if end else {})})
                         for end, number in (('', '5'), ('_min', '0'), ('_max', '0'))]
                self._whole[key] = [(p, 0) for p in parts]
            else:
                new = self._make('_contrib_quantize_v2', f'{name}_quantize', {'out_type': dtype, CALIBRATED: name},
                                 [self._as_float(entry)])
                self._whole[key] = [(new, 0), (new, 1), (new, 2)]
                self.wanted.append(name)
        return self._whole[key]

    def _as_float(self, entry):
        node, i = entry
        key = id(node), i
        if key not in self._float:
            new = self._make('_contrib_dequantize', f'{node.name}_dequantize', {}, self._whole[key])
            self._float[key] = (new, 0)
        return self._float[key]


def _by_range(triples):
    """All values, then the ranges of each."""
    return [*[t[0] for t in triples], *[end for t in triples for end in t[1:]]]


# ---------------------------------------------------------------------- normalisation inside of a convolution
def fold_batch_norm(symbol, arg_params, aux_params):
    """-> (symbol, arguments, states) with each BatchNorm that follows a Convolution computed by its weight and bias."""
    if not isinstance(symbol, Symbol):
        raise MXNetError(f'a Symbol is needed, not {kind_of(symbol)}')
    args, aux = dict(arg_params), dict(aux_params)
    uses: dict[Any, Any] = {}
    for node in topological(symbol._entries):
        for child, i in node.inputs:
            uses[id(child), i] = uses.get((id(child), i), 0) + 1
    for node, i in symbol._entries:
        uses[id(node), i] = uses.get((id(node), i), 0) + 1
    done = {}

    def change(node, inputs):
        if node.op is None or node.op.name != 'BatchNorm' or node.attributes['output_mean_var']:
            return None
        source, number = node.inputs[0]
        if source.op is None or source.op.name != 'Convolution' or uses[id(source), number] != 1 \
                or node.attributes['axis'] != 1 or id(source.inputs[1][0]) in done:
            return None
        names = [c.name for c, _ in (*source.inputs[1:], *node.inputs[1:])]
        if not all(n in args or n in aux for n in names):
            return None
        done[id(source.inputs[1][0])] = True
        weight = source.inputs[1][0].name
        gamma, beta, mean, variance = [(args if c.name in args else aux)[c.name] for c, _ in node.inputs[1:5]]
        rate = (variance + node.attributes['eps']) ** -0.5
        if not node.attributes['fix_gamma']:
            rate = rate * gamma
        no_bias = source.attributes['no_bias']
        bias_name = f'{source.name}_bias' if no_bias else source.inputs[2][0].name
        bias = 0 if no_bias else args[bias_name]
        args[weight] = args[weight] * rate.reshape((-1, *[1] * (args[weight].ndim - 1)))
        args[bias_name] = (bias - mean) * rate + beta
        convolution = inputs[0][0]
        bias_entry = (Node(None, bias_name, {}), 0) if no_bias else convolution.inputs[2]
        attrs = {**source.attrs, 'no_bias': 'False'}
        return [(Node(source.op, source.name, attrs, (*convolution.inputs[:2], bias_entry)), 0)] * node.output_count()

    folded = make(type(symbol), rebuild(symbol._entries, change))
    return (folded, {n: args[n] for n in folded.list_arguments() if n in args},
            {n: aux[n] for n in folded.list_auxiliary_states() if n in aux})
