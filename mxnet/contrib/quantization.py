"""int8 inference: `quantize_net` for Gluon, `quantize_model` for symbols with parameters.

The ranges of values are found while predicting ('none'), as the extremes of some examples ('naive'),
or as the thresholds
that lose least information about them ('entropy').
"""
from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .. import gluon, ndarray, symbol
from .._graph.ir.node import uniquely_named
from .._kinds import explain_kinds as _explain_kinds
from .._names import kind_of
from .._names import suggest_names as _suggest_names
from ..context import Context, cpu
from ..io import DataBatch, DataDesc, DataIter
from ..ndarray import NDArray
from ..symbol import Symbol
from ..symbol.symbol import make
from . import _quantize_aware, _quantize_graph, _quantize_sensitivity
from ._calibration import (
    _get_optimal_threshold,
    _get_optimal_thresholds,
    _LayerHistogramCollector,
    _LayerOutputMinMaxCollector,
    _smooth_distribution,
    combine_histogram,
)

if TYPE_CHECKING:
    from .._typing import DataDescs

__all__ = ['calib_graph', 'combine_histogram', 'convert_aware_net', 'layer_losses', 'quantize_aware_net',
           'quantize_graph', 'quantize_model', 'quantize_model_mkldnn', 'quantize_net', 'quantize_net_v2',
           # programs get these with a star, too
           'Context', 'DataBatch', 'DataDesc', 'DataIter', 'NDArray', 'Symbol', 'cpu', 'ndarray']

CPU = cpu()
# names that programs reach for, although they are private upstream, too
_PRIVATE = (_get_optimal_threshold, _smooth_distribution)


# ---------------------------------------------------------------------- parts
def _quantize_symbol(sym, ctx, excluded_symbols=None, excluded_operators=None, offline_params=None,
                     quantized_dtype='int8',
                     quantize_mode='smart', quantize_granularity='tensor-wise'):
    """-> (the quantized symbol, names of values whose ranges calibration should find)."""
    for name, value in ('excluded_sym_names', excluded_symbols), ('excluded_op_names', excluded_operators):
        if value is not None and not isinstance(value, list):
            raise AssertionError(f'{name} must be a list of names, not {kind_of(value)}')
    if quantize_granularity not in ('tensor-wise', 'channel-wise'):
        raise ValueError("quantize_granularity must be 'tensor-wise' (all values of a weight share one range) or "
                         f"'channel-wise' (each channel has its own), not {quantize_granularity!r}")
    return _quantize_graph.quantize(sym, excluded_symbols or (), excluded_operators or (), offline_params or (),
                                    quantized_dtype, quantize_mode, quantize_granularity == 'channel-wise')


def _quantize_params(qsym, params, th_dict):
    """The parameters of a quantized symbol: int8 with their ranges where it asks for them, else as they are."""
    found = {}
    notes = qsym.attr_dict()
    for name in qsym.list_arguments():
        original = name.removesuffix('_quantize')
        if name != original and original in params:
            array = params[original]
            if _quantize_graph.BY_CHANNEL in notes.get(f'{name}_min', {}):
                found[name], found[f'{name}_min'], found[f'{name}_max'] = _by_channel(array)
                continue
            found[name], found[f'{name}_min'], found[f'{name}_max'] = \
                ndarray.contrib.quantize(array, array.min(), array.max(), out_type='int8')
        elif name in params:
            found[name] = params[name]
        elif name not in found and name[:-4] in th_dict and name[-4:] in ('_min', '_max'):
            found[name] = ndarray.array([th_dict[name[:-4]][name.endswith('_max')]])
    return found


def _by_channel(array):
    """(int8, min, max) of a weight whose channels have ranges of their own, or of a bias, which is then exact."""
    values = array.asnumpy().astype('float32')
    if values.ndim == 1:
        # +-127 in all channels: what this stands for in the layers is the range * 127.5 / 127
        real = numpy.abs(values) * (127 / 127.5)
        whole = numpy.sign(values) * 127
    else:
        real = numpy.abs(values.reshape(len(values), -1)).max(1)
        # channels that are next to nothing: their steps must not be so small that a bias is out of int32's range
        real = numpy.maximum(real, max(float(real.max()) * 1e-4, 1e-30))
        whole = numpy.rint(values * (127 / real).reshape(-1, *[1] * (values.ndim - 1)))
    return (ndarray.array(whole, ctx=array.context, dtype='int8'), ndarray.array(-real, ctx=array.context),
            ndarray.array(real, ctx=array.context))


def _calibrate_quantized_sym(qsym, th_dict):
    """The quantized symbol with the ranges of {name of a value: (min, max)}."""
    return _quantize_graph.calibrate(qsym, th_dict) if th_dict else qsym


def _offline(sym, arg_params):
    """Parameters that are made int8 once and for all: the weights and biases of layers."""
    return [n for n in sym.list_arguments() if n in arg_params and n.endswith(('weight', 'bias'))]


def _collector(calib_mode, quantized_dtype, names, logger):
    if calib_mode == 'entropy':
        return _LayerHistogramCollector(include_layer=names, logger=logger)
    if calib_mode == 'naive':
        return _LayerOutputMinMaxCollector(quantized_dtype, include_layer=names, logger=logger)
    raise ValueError(f"calib_mode must be 'none', 'naive', 'entropy' or 'custom', not {calib_mode!r}")


def _thresholds(collector, quantized_dtype, logger):
    if isinstance(collector, _LayerHistogramCollector):
        return _get_optimal_thresholds(collector.hist_dict, quantized_dtype, logger=logger)
    if not hasattr(collector, 'min_max_dict'):
        raise ValueError('the collector must have a dict min_max_dict, {name: (min, max)}')
    return collector.min_max_dict


def _collect(sym, arg_params, aux_params, ctx, batches, collector, limit, logger):
    """Runs the float network on examples and shows the collector the values it wants."""
    names = list(dict.fromkeys(collector.include_layer))
    internals = sym.get_internals()
    known = set(internals.list_outputs())
    names = [n for n in names if n in known]
    if not names:           # a network without a layer that is quantized
        return
    group = symbol.Group([internals[n] for n in names])
    executor, seen = None, 0
    for batch in batches:
        if executor is None:
            shapes = {n: a.shape for n, a in batch.items()}
            arguments = group.list_arguments()
            executor = group.simple_bind(ctx, grad_req='null', **{n: s for n, s in shapes.items() if n in arguments})
            executor.copy_params_from(arg_params, aux_params, allow_extra_params=True)
        outputs = executor.forward(is_train=False, **{n: a for n, a in batch.items() if n in executor.arg_dict})
        for name, array in zip(names, outputs, strict=True):
            collector.collect(name, array)
        seen += next(iter(batch.values())).shape[0]
        if limit is not None and seen >= limit:
            break
    if executor is None:
        raise ValueError('calib_data has no batches to calibrate with')
    if logger:
        logger.info('calibrated with %d examples', seen)


def _batches(data, names, ctx):
    """Batches as {name: array} from an iterator of `mx.io`, a DataLoader, or any iterable of arrays or tuples."""
    if isinstance(data, DataIter):
        data.reset()
        names = [d.name if isinstance(d, DataDesc) else d[0] for d in data.provide_data]
    for batch in data:
        arrays = batch.data if isinstance(batch, DataBatch) else batch if isinstance(batch, (list, tuple)) else [batch]
        arrays = [a if isinstance(a, NDArray) else ndarray.array(a) for a in arrays[:len(names)]]
        yield {n: a.as_in_context(ctx) for n, a in zip(names, arrays, strict=True)}


def _check_ctx(ctx):
    if isinstance(ctx, (list, tuple)):
        ctx = ctx[0]
    if not isinstance(ctx, Context):
        raise ValueError(f'ctx must be one Context, not {ctx!r}')
    return ctx


# ---------------------------------------------------------------------- symbols
def quantize_model(sym: Symbol, arg_params: Mapping[str, NDArray], aux_params: Mapping[str, NDArray],
                   data_names: Sequence[str] = ('data',), label_names: Sequence[str] = ('softmax_label',),
                   ctx: Context = CPU, excluded_sym_names: Sequence[str] | None = None,
                   excluded_op_names: Sequence[str] | None = None, calib_mode: str = 'entropy',
                   calib_data: Any = None, num_calib_examples: int | None = None,
                   quantized_dtype: str = 'int8', quantize_mode: str = 'smart',
                   quantize_granularity: str = 'tensor-wise', logger: Any = None) -> Any:
    """-> (symbol, arguments, states) of the int8 network of a symbol with its parameters.

    excluded_sym_names, excluded_op_names: names of nodes, and of operators, that stay floating point
    calib_mode: 'none', 'naive' or 'entropy'; the last two need `calib_data`, an iterator of `mx.io`
    quantize_mode: 'smart' makes other layers int8 where their input is so anyway, 'full' wherever it can
    """
    ctx = _check_ctx(ctx)
    qsym, qargs, aux, collector = quantize_graph(sym, arg_params, aux_params, ctx, excluded_sym_names,
                                                 excluded_op_names,
                                                 calib_mode, quantized_dtype, quantize_mode, quantize_granularity,
                                                 logger=logger)
    if collector is None:
        return qsym, qargs, aux
    if calib_data is None:
        raise ValueError(f"calib_mode={calib_mode!r} needs calib_data; calib_mode='none' does without")
    if not isinstance(calib_data, DataIter):
        raise ValueError(f'calib_data must be an iterator of mx.io, not {kind_of(calib_data)}')
    _collect(sym, arg_params, aux_params, ctx, _batches(calib_data, list(data_names), ctx), collector,
             num_calib_examples,
             logger)
    return calib_graph(qsym, qargs, aux, collector, calib_mode, quantized_dtype, logger or logging)


def quantize_model_mkldnn(sym: Symbol, arg_params: Mapping[str, NDArray], aux_params: Mapping[str, NDArray],
                          data_names: Sequence[str] = ('data',), label_names: Sequence[str] = ('softmax_label',),
                          ctx: Context = CPU, excluded_sym_names: Sequence[str] | None = None,
                          excluded_op_names: Sequence[str] | None = None, calib_mode: str = 'entropy',
                          calib_data: Any = None, num_calib_examples: int | None = None,
                          quantized_dtype: str = 'int8', quantize_mode: str = 'smart',
                          quantize_granularity: str = 'tensor-wise', logger: Any = None) -> Any:
    """`quantize_model` after BatchNorm layers became part of the convolutions before them."""
    sym, arg_params, aux_params = _quantize_graph.fold_batch_norm(sym, arg_params, aux_params)
    return quantize_model(sym, arg_params, aux_params, data_names, label_names, ctx, excluded_sym_names,
                          excluded_op_names,
                          calib_mode, calib_data, num_calib_examples, quantized_dtype, quantize_mode,
                          quantize_granularity,
                          logger)


def quantize_graph(sym: Symbol, arg_params: Mapping[str, NDArray], aux_params: Mapping[str, NDArray],
                   ctx: Context = CPU, excluded_sym_names: Sequence[str] | None = None,
                   excluded_op_names: Sequence[str] | None = None, calib_mode: str = 'entropy',
                   quantized_dtype: str = 'int8', quantize_mode: str = 'full',
                   quantize_granularity: str = 'tensor-wise', LayerOutputCollector: Any = None,
                   logger: Any = None) -> Any:
    """-> (symbol, arguments, states, collector) of the int8 network.

    Run the float network with the collector's `collect` as the callback of a monitor, then call `calib_graph`.  With
    calib_mode='none' there is no collector; with 'custom' it is `LayerOutputCollector`.
    """
    ctx = _check_ctx(ctx)
    if not isinstance(sym, Symbol):
        raise ValueError(f'sym must be a Symbol, not {kind_of(sym)}')
    qsym, names = _quantize_symbol(sym, ctx, excluded_sym_names, excluded_op_names, _offline(sym, arg_params),
                                   quantized_dtype, quantize_mode, quantize_granularity)
    collector = None
    if calib_mode == 'custom':
        collector = LayerOutputCollector
        if not hasattr(collector, 'collect'):
            raise ValueError("calib_mode='custom' needs a LayerOutputCollector with a method collect(name, array)")
        collector.include_layer = names
    elif calib_mode is not None and calib_mode != 'none':
        collector = _collector(calib_mode, quantized_dtype, names, logger)
    return qsym, _quantize_params(qsym, arg_params, {}), dict(aux_params), collector


def calib_graph(qsym: Symbol, arg_params: Mapping[str, NDArray], aux_params: Mapping[str, NDArray], collector: Any,
                calib_mode: str = 'entropy', quantized_dtype: str = 'int8', logger: Any = logging) -> Any:
    """-> (symbol, arguments, states) of an int8 network with the ranges that a collector found."""
    if calib_mode in (None, 'none'):
        return qsym, arg_params, aux_params
    if calib_mode not in ('entropy', 'naive', 'custom'):
        raise ValueError(f"calib_mode must be 'none', 'naive', 'entropy' or 'custom', not {calib_mode!r}")
    found = _thresholds(collector, quantized_dtype, logger)
    qsym = _calibrate_quantized_sym(qsym, found)
    return qsym, _quantize_params(qsym, arg_params, found), aux_params


# ---------------------------------------------------------------------- Gluon
def quantize_net_v2(network: Any, quantized_dtype: str = 'auto', quantize_mode: str = 'full',
                    quantize_granularity: str = 'tensor-wise', exclude_layers: Any = None,
                    exclude_layers_match: Any = None, exclude_operators: list[str] | None = None,
                    calib_data: Any = None, data_shapes: DataDescs | None = None, calib_mode: str = 'none',
                    num_calib_examples: int | None = None, ctx: Context = CPU, LayerOutputCollector: Any = None,
                    logger: Any = None, tolerance: float | None = None, evaluate: Any = None) -> Any:
    """A SymbolBlock that computes a HybridBlock in int8.

    quantize_granularity: 'tensor-wise', one range for a weight, or 'channel-wise', one for each of its filters
    exclude_layers: names of layers that stay floating point; exclude_layers_match: beginnings of such names
    calib_data: a DataLoader, an iterator, or any iterable of batches, for calib_mode 'naive' and 'entropy'
    data_shapes: shapes of the inputs (tuples or `mx.io.DataDesc`), where there is no calib_data
    tolerance: the most sensitive layers stay floating point, as many as it takes until the outputs for `calib_data` are
        no further than this from those in floating point, relative to their size; the mode is then 'smart'
    evaluate: function of a block that gives a score; `tolerance` is then by how much the score may fall
    """
    if tolerance is not None:
        quantize_mode = 'smart'         # layers without weights are int8 where int8 reaches them, and cannot lose alone
    work = _Quantizer(network, quantized_dtype, quantize_mode, quantize_granularity, exclude_operators, calib_data,
                      data_shapes, calib_mode, num_calib_examples, ctx, LayerOutputCollector, logger)
    excluded = work.excluded(exclude_layers, exclude_layers_match)
    if tolerance is not None:
        excluded += work.sensitive(tolerance, evaluate, excluded, logger)
    return work.block(excluded)


class _Quantizer:
    """A network that is made int8 with any of its layers excluded; it is calibrated once."""

    def __init__(self, network, dtype, mode, granularity, operators, calib_data, data_shapes, calib_mode, count, ctx,
                 collector, logger):
        self._ctx = ctx = _check_ctx(ctx)
        if calib_data is None and data_shapes is None:
            raise ValueError('quantize_net needs calib_data or data_shapes to know the shapes of the inputs')
        if calib_mode not in (None, 'none') and calib_data is None:
            raise ValueError(f"calib_mode={calib_mode!r} needs calib_data; calib_mode='none' does without")
        sym, args, aux, self._names = _traced(network, calib_data, data_shapes, ctx)
        sym = make(type(sym), uniquely_named(sym._entries))
        self.symbol, self.args, self.aux = _quantize_graph.fold_batch_norm(sym, args, aux)
        self._settings = dtype, mode, granularity, list(operators or ())
        self._data, self._count = calib_data, count
        self._thresholds = {}
        if calib_mode not in (None, 'none'):
            # with all layers, so that the ranges of all values are known
            *_, collector = quantize_graph(self.symbol, self.args, self.aux, ctx, [], self._settings[3], calib_mode,
                                           dtype, mode, granularity, collector, logger)
            if collector.include_layer:
                collector.include_layer = list(dict.fromkeys([*collector.include_layer, *self._inner_values()]))
            _collect(self.symbol, self.args, self.aux, ctx, _batches(calib_data, self._names, ctx), collector, count,
                     logger)
            self._thresholds = _thresholds(collector, dtype, logger)

    def _inner_values(self):
        """Inputs of layers: they are quantized where the layer before them is excluded."""
        return [c.name if c.is_variable else c.entry_name(i) for node in _quantize_aware.weighted(self.symbol)
                for c, i in node.inputs[:1]]

    def layers(self):
        """Names of the layers with weights that can be int8."""
        excluded = self._settings[3]
        return [n.name for n in _quantize_aware.weighted(self.symbol) if n.op.name not in excluded]

    def excluded(self, names, beginnings):
        layers = [n[:-len('_output')] for n in self.symbol.get_internals().list_outputs() if n.endswith('_output')]
        return list(names or ()) + [n for n in layers for begin in beginnings or () if re.match(begin, n)]

    def block(self, excluded):
        dtype, mode, granularity, operators = self._settings
        qsym, _ = _quantize_symbol(self.symbol, self._ctx, list(excluded), operators,
                                   _offline(self.symbol, self.args), dtype, mode, granularity)
        qsym = _calibrate_quantized_sym(qsym, self._thresholds)
        return _as_block(qsym, {**_quantize_params(qsym, self.args, self._thresholds), **self.aux}, self._names,
                         self._ctx)

    def sensitive(self, tolerance, evaluate, excluded, logger):
        """More layers to exclude, so that the network loses no more than the tolerance."""
        loss = self.loss_of(evaluate)
        left = [n for n in self.layers() if n not in excluded]

        def loss_without(names):
            return loss(self.block([*excluded, *names]))
        losses = _quantize_sensitivity.single_losses(left, loss_without)
        found = _quantize_sensitivity.excluded_for(losses, loss_without, tolerance)
        if logger:
            logger.info('%d of %d layers stay floating point: %s', len(found), len(left), ', '.join(found))
        return found

    def loss_of(self, evaluate):
        """A function of a block: how much it loses against the float network."""
        plain = _as_block(self.symbol, {**self.args, **self.aux}, self._names, self._ctx)
        if evaluate is not None:
            best = float(evaluate(plain))
            return lambda block: best - float(evaluate(block))
        if self._data is None:
            raise ValueError('layers are found by their losses on examples: give calib_data, or evaluate')
        batches, seen = [], 0
        for batch in _batches(self._data, self._names, self._ctx):
            batches.append([batch[n] for n in self._names])
            seen += batches[-1][0].shape[0]
            if seen >= (self._count or 64):
                break

        def outputs(block):
            found = []
            for arrays in batches:
                result = block(*arrays)
                found += [r.asnumpy() for r in (result if isinstance(result, (list, tuple)) else [result])]
            return found
        expected = outputs(plain)
        return lambda block: _quantize_sensitivity.difference(outputs(block), expected)


def _as_block(sym, params, names, ctx):
    block = gluon.SymbolBlock(sym, [symbol.var(n) for n in names])
    for name, parameter in block.collect_params().items():
        parameter.grad_req = 'null'
        parameter._load_init(params[name], ctx, cast_dtype=True, dtype_source='saved')
    return block


def layer_losses(network: Any, calib_data: Any, quantize_granularity: str = 'tensor-wise', calib_mode: str = 'naive',
                 evaluate: Any = None, num_calib_examples: int | None = None, ctx: Context = CPU,
                 progress: Any = None) -> dict[str, float]:
    """{layer: what the network loses if this layer alone is int8}, the most sensitive first.

    evaluate: function of a block that gives a score, larger for better; without one, a loss is how far the outputs for
        `calib_data` are from those in floating point, relative to their size
    """
    work = _Quantizer(network, 'auto', 'smart', quantize_granularity, None, calib_data, None, calib_mode,
                      num_calib_examples, ctx, None, None)
    loss = work.loss_of(evaluate)
    return _quantize_sensitivity.single_losses(work.layers(), lambda names: loss(work.block(names)), progress)


# ---------------------------------------------------------------------- training that knows of int8
def quantize_aware_net(network: Any, calib_data: Any, quantize_granularity: str = 'channel-wise',
                       calib_mode: str = 'naive', exclude_layers: Sequence[str] | None = None,
                       exclude_operators: list[str] | None = None, num_calib_examples: int | None = None,
                       ctx: Context = CPU, logger: Any = None) -> Any:
    """A SymbolBlock that computes as the int8 network of a HybridBlock will, and that can be trained.

    Values and weights are rounded as int8 is; the gradient goes through the rounding unchanged.  BatchNorm layers that
    follow convolutions are part of them.  Train it for some more steps with a small learning rate, then make it int8
    by `convert_aware_net`.  Ranges of values are those of `calib_data`; weights take their own, as they are.
    """
    work = _Quantizer(network, 'int8', 'smart', quantize_granularity, exclude_operators, calib_data, None, calib_mode,
                      num_calib_examples, ctx, None, logger)
    excluded = work.excluded(exclude_layers, None)
    _, values = _quantize_symbol(work.symbol, ctx, excluded, list(exclude_operators or ()),
                                 _offline(work.symbol, work.args), 'int8', 'smart', quantize_granularity)
    names = {n for n in work.layers() if n not in excluded}
    axes = {n: a.ndim for n, a in work.args.items()}
    aware = _quantize_aware.make_aware(work.symbol, set(values), names, quantize_granularity == 'channel-wise', axes)
    params = {**work.args, **work.aux}
    for value in values:
        low, high = (float(numpy.ravel(end)[0]) for end in work._thresholds[value])
        params[value + _quantize_aware.THRESHOLD] = ndarray.array([max(abs(low), abs(high), 1e-8)], ctx=ctx)
    block = _as_block(aware, params, work._names, ctx)
    for name, parameter in block.collect_params().items():
        if name in work.args:
            parameter.grad_req = 'write'
    return block


def convert_aware_net(network: Any, quantize_granularity: str = 'channel-wise', quantize_mode: str = 'smart',
                      ctx: Context = CPU) -> Any:
    """The int8 network of one that `quantize_aware_net` made, or that was read from an ONNX file with QDQ nodes.

    It may have been exported and imported since.
    """
    if not isinstance(network, gluon.SymbolBlock):
        raise ValueError(f'network must be what quantize_aware_net gives, a SymbolBlock, not '
                         f'{kind_of(network)}')
    inputs, sym = network._cached_graph
    plain, values, weights = _quantize_aware.without_fakes(sym)
    if not values:
        raise ValueError('the network has no rounded values: make it by quantize_aware_net')
    params = {n: p.data(ctx) for n, p in network.collect_params().items()}
    args = {n: params[n] for n in plain.list_arguments() if n in params}
    aux = {n: params[n] for n in plain.list_auxiliary_states()}
    ranges = {n: float(params[variable].asscalar()) for n, variable in values.items()}
    found = {n: (-t, t) for n, t in ranges.items()}
    # of an ONNX file the weights are rounded already
    left = [n.name for n in _quantize_aware.weighted(plain)
            if (n.inputs[1][0].name not in weights if weights else not _quantize_aware.follows(n.inputs[0], values))]
    offline = {c.name for n in _quantize_aware.weighted(plain) for c, _ in n.inputs[1:] if c.name in args}
    qsym, _ = _quantize_symbol(plain, ctx, left, [], offline, 'int8', quantize_mode, quantize_granularity)
    qsym = _calibrate_quantized_sym(qsym, found)
    return _as_block(qsym, {**_quantize_params(qsym, args, found), **aux}, [s.name for s in inputs], ctx)


def quantize_net(network: Any, quantized_dtype: str = 'auto', quantize_mode: str = 'full', exclude_layers: Any = None,
                 exclude_layers_match: Any = None, exclude_operators: list[str] | None = None,
                 calib_data: Any = None, data_shapes: DataDescs | None = None, calib_mode: str = 'none',
                 num_calib_examples: int | None = None, ctx: Context = CPU, logger: Any = None) -> Any:
    """A SymbolBlock that computes a HybridBlock in int8; see `quantize_net_v2`."""
    return quantize_net_v2(network, quantized_dtype, quantize_mode, 'tensor-wise', exclude_layers, exclude_layers_match,
                           exclude_operators, calib_data, data_shapes, calib_mode, num_calib_examples, ctx, None,
                           logger)


def _traced(network, calib_data, data_shapes, ctx):
    """(symbol, arguments, states, names of the inputs) of a block, which is called once so that it knows its shapes."""
    if not isinstance(network, gluon.HybridBlock):
        raise ValueError(f'network must be a HybridBlock, not {kind_of(network)}')
    if data_shapes is None:
        if isinstance(calib_data, DataIter):
            data_shapes = calib_data.provide_data
            calib_data.reset()
        else:
            first = next(iter(calib_data))
            first = first if isinstance(first, (list, tuple)) else [first]
            count = len(network._cached_graph[0]) if isinstance(network, gluon.SymbolBlock) else 1
            data_shapes = [tuple(a.shape) for a in first[:count]]
    shapes = [tuple(d.shape) if isinstance(d, DataDesc) else tuple(d[1]) if isinstance(d[0], str) else tuple(d)
              for d in data_shapes]
    network(*[ndarray.zeros(s, ctx=ctx) for s in shapes])
    names = ['data'] if len(shapes) == 1 else [f'data{i}' for i in range(len(shapes))]
    outputs = network(*[symbol.var(n) for n in names])
    sym = outputs if isinstance(outputs, Symbol) else symbol.Group(list(outputs))
    params = {n: p.data(ctx) for n, p in network.collect_params().items()}
    states = set(sym.list_auxiliary_states())
    return (sym, {n: params[n] for n in sym.list_arguments() if n in params},
            {n: a for n, a in params.items() if n in states}, names)


_explain_kinds(globals(), ('quantize_model', 'quantize_model_mkldnn'))
_suggest_names(globals())
