"""A Block, or a Symbol with its parameters, as a torch `nn.Module`."""
from __future__ import annotations

import inspect
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from .. import autograd, symbol
from .._array import NDArrayBase
from .._names import kind_of as described
from .._ops.core.dtypes import NAME
from .._to_torch import translate
from .._to_torch.names import dotted
from ..base import MXNetError
from ..context import cpu
from ..ndarray import NDArray
from ..ndarray import array as make_array
from ..symbol import Symbol
from ..symbol._predicting import without_labels
from ..util import is_np_array
from . import _structure as nested
from ._hybrid_block import HybridBlock
from ._parameter_files import load_arrays
from ._symbol_block import SymbolBlock
from ._traces import Trace, Traces, _for_any_batch, kind_of
from .block import Block
from .nn import Flatten
from .parameter import DeferredInitializationError

if TYPE_CHECKING:
    from ..gluon.parameter import ParameterDict

__all__ = ['to_torch']

NEEDS_INPUTS = ('to_torch: {name} is written on arrays, so that its graph is found by running it: give example inputs, '
                'to_torch(block, inputs=x)')

NEEDS_NESTING = ('to_torch: {name} cannot run with one symbol for each input ({error}). If its inputs are lists, give '
                 'example inputs, to_torch(block, inputs=[[x, y], z])')


def to_torch(network: Any, params: ParameterDict | None = None, inputs: Any = None) -> Any:
    """A torch `nn.Module` that computes what a Block, or a Symbol with parameters, computes.

    network: a Block whose parameters are initialized, or a Symbol
    params: the parameters of a Symbol: a dict of arrays, [arguments, states] or the name of a file
    inputs: example inputs (an array, or a list of arrays), or {name: array or shape}; needed by a Block whose `forward`
        is written on arrays, and by graphs that leave shapes open

    The result is a `torch.fx.GraphModule` of torch's own layers.  It computes with its own parameters and buffers,
    which share memory with the Block's until one side replaces them; after a backward pass of torch, `param.grad()` of
    the Block holds the gradient, too.  Like any new module it is in train mode; `eval()` is for predictions.
    Labels of a Symbol and its loss layers are left out.

    >>> net = mx.gluon.nn.HybridSequential()
    >>> net.add(mx.gluon.nn.Dense(2, in_units=3, activation='relu'))
    >>> net.initialize()
    >>> module = mx.gluon.to_torch(net)
    >>> list(module.state_dict())
    ['0.weight', '0.bias']
    """
    return translated(network, params, inputs).module.train()


def translated(network, params=None, inputs=None):
    """The `Translation` of a network, in eval mode."""
    if isinstance(network, Symbol):
        return _of_symbol(network, params, inputs)
    if not isinstance(network, Block):
        raise TypeError(f'to_torch takes a Block or a Symbol, not {described(network)}')
    if params is not None:
        raise TypeError('to_torch: params are those of a Symbol; a Block has its own')
    return _of_block(network, inputs)


# ---------------------------------------------------------------------- symbols
def read_params(params):
    """{name: array} of what a program has as the parameters of a symbol."""
    if isinstance(params, (str, os.PathLike)):
        params = load_arrays(os.fspath(params))
    elif isinstance(params, (list, tuple)):
        params = {name: array for part in params for name, array in part.items()}
    return {name.removeprefix('arg:').removeprefix('aux:'): array for name, array in (params or {}).items()}


def _of_symbol(sym, params, inputs):
    arrays = read_params(params)
    named = inputs if isinstance(inputs, dict) else {}
    if named or arrays:
        unknown = [n for n in sym.list_inputs() if n not in arrays and n not in named]
        labels = [n for n in unknown if n in _labels(sym)]
        data = [n for n in unknown if n not in labels]
        sym = without_labels(sym, {*arrays, *named, *data})
    names = [n for n in sym.list_inputs() if n not in arrays and (n in named or not named)]
    if inputs is not None and not isinstance(inputs, dict):
        given = _listed(inputs)
        if len(given) != len(names):
            raise MXNetError(f'to_torch: the network has the inputs {", ".join(names)}, but {len(given)} are given')
        named = dict(zip(names, given, strict=True))
    shapes = {n: _shape(v) for n, v in named.items() if n in names}
    dtypes = {n: NAME[_tensor(v).dtype] for n, v in named.items() if n in names and not _is_shape(v)}
    return translate(sym._entries, {n: _tensor(a) for n, a in arrays.items()}, names, shapes=shapes or None,
                     dtypes=dtypes, name=_class_name(sym.name))


def _labels(sym):
    from ..symbol._predicting import label_names
    return label_names(sym)


def _class_name(name):
    text = ''.join(part.capitalize() for part in (name or 'network').split('_'))
    return text if text.isidentifier() else 'Network'


# ---------------------------------------------------------------------- blocks
def _of_block(block, inputs):
    args = None if inputs is None else [_as_array(x) for x in _listed(inputs)]
    if args is not None:
        _run_once(block, args)
    symbols, out, output, constants, form = _structured_graph(block, args)
    parameters = {p.name: p for p in block.collect_params().values()}
    used = set(out.list_inputs())
    try:
        arrays = {n: p.data() for n, p in parameters.items() if n in used}
    except DeferredInitializationError as error:
        raise DeferredInitializationError(f'to_torch: parameters of {block.name} have no shape yet; run the block '
                                          'once, or give inputs') from error
    tensors = {n: _tensor(a) for n, a in arrays.items()} | {n: _tensor(a) for n, a in constants.items()}
    frozen = [n for n in tensors if n not in parameters or parameters[n].grad_req == 'null']
    names = [s.name for s in symbols if s.name in used]
    shapes = dtypes = None
    if args is not None:
        flat = [x for x in nested.flatten(args, 'an input')[0] if x is not None]
        shapes = {s.name: x.shape for s, x in zip(symbols, flat) if s.name in used}
        dtypes = {s.name: NAME[_tensor(x).dtype] for s, x in zip(symbols, flat) if s.name in used}
    of_symbols = isinstance(block, SymbolBlock)
    arguments = None if form is None else [a for a in _named(form, iter(symbols), used) if a is not None]
    made = translate(out._entries, tensors, names, paths=None if of_symbols else _paths(block),
                     node_paths=None if of_symbols else _block_paths(block), frozen=frozen, shapes=shapes,
                     dtypes=dtypes, output=output, name=type(block).__name__, arguments=arguments)
    _share_gradients(made, arrays)
    return made


def _run_once(block, args):
    """Finds the shapes of parameters."""
    if any(p._deferred is not None for p in block.collect_params().values()):
        with autograd.pause(train_mode=False):
            block(*args)


def _graph(block, args):
    """(input symbols, output symbol, what makes the result of the outputs, constants by name)"""
    return _structured_graph(block, args)[:4]


def _named(form, symbols, used):
    """The arguments of `forward`: names of inputs, None where there is none, in the lists that the block takes."""
    found = []
    for part in form:
        if isinstance(part, list):
            inner = _named(part, symbols, used)
            found.append(inner if any(a is not None for a in inner) else None)
        elif part == nested.ABSENT:
            found.append(None)
        else:
            name = next(symbols).name
            found.append(name if name in used else None)
    return found


def _structured_graph(block, args):
    """What `_graph` gives, and the form of the inputs; None where each input is an argument of its own."""
    if isinstance(block, SymbolBlock):
        inputs, out = block._cached_graph
        return inputs, out, _regrouped(block._out_format), {}, None
    by_arrays = isinstance(block, HybridBlock) and block._needs_arrays()
    if not by_arrays:
        try:
            return _by_symbols(block, args)
        except Exception as error:
            if isinstance(block, HybridBlock) and (args is not None or isinstance(error, MXNetError)):
                raise
            if isinstance(block, HybridBlock):
                raise MXNetError(NEEDS_NESTING.format(name=block.name, error=f'{type(error).__name__}: {error}')) \
                    from error
            if args is None:
                raise MXNetError(NEEDS_INPUTS.format(name=block.name)) from error
    if args is None:
        traces = block._traces if by_arrays else None
        if not isinstance(traces, Traces) or traces.last is None:
            raise MXNetError(NEEDS_INPUTS.format(name=block.name))
        args = list(traces.last[1])
    arrays: list = []
    kind_of(tuple(args), arrays)
    with autograd.pause(train_mode=False):
        traced = block if by_arrays else _Traceable(block)
        trace = Trace(traced, tuple(args), arrays)
        out = _for_any_batch(traced, trace, tuple(args)) if trace.reads_shapes else trace.symbol
    constants = {n: a for n, a in trace.stored().items() if isinstance(a, NDArrayBase)}

    def output(values):
        from ._traces import with_arrays
        return values[0] if trace.single else with_arrays(trace._template, iter(values))
    return trace.inputs, out, output, constants, nested.flatten(args, 'an input')[1]


class _Traceable:
    """A plain Block with what a trace asks of a HybridBlock."""

    _backend, _flags, _callback = None, (), None

    def __init__(self, block):
        self.name, self.name_scope, self.apply, self._forward_traced = block.name, block.name_scope, block.apply, \
            block.forward


def _by_symbols(block, args):
    """The graph of a block that runs on symbols."""
    if args is not None:
        flat, form = nested.flatten(args, 'an input')
    else:
        form = getattr(block, '_in_format', None)
        if form is None or isinstance(form, int) or _takes_own_states(block):
            form = [nested.LEAF] * _count_inputs(block)
        flat = nested.flatten(_nested_zeros(form), 'an input')[0]
    count = sum(x is not None for x in flat)
    inputs = [symbol.var(f'data{i}' if count > 1 else 'data') for i in range(count)]
    if is_np_array():
        inputs = [s.as_np_ndarray() for s in inputs]
    given = iter(inputs)
    grouped = nested.regroup([None if x is None else next(given) for x in flat], form)
    with autograd.pause(train_mode=False):
        out = block(*grouped)
    flat_out, out_format = nested.flatten(out, 'an output')
    return inputs, symbol.Group(flat_out, type(flat_out[0])), _regrouped(out_format), {}, form


def _takes_own_states(block):
    from .rnn.rnn_layer import _RNNLayer
    return isinstance(block, _RNNLayer)


def _nested_zeros(form):
    if isinstance(form, list):
        return [_nested_zeros(part) for part in form]
    if form == nested.ABSENT:
        return None
    return symbol.var('x')


def _count_inputs(block):
    """How many inputs a block takes, by the signature of what computes it."""
    if _takes_own_states(block):
        return 1
    hybrid = isinstance(block, HybridBlock) and not block._traced
    function = block.hybrid_forward if hybrid else block.forward
    parameters = list(inspect.signature(function).parameters.values())[1 if hybrid else 0:]
    count = 0
    for p in parameters:
        if p.kind not in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) or p.default is not p.empty \
                or hybrid and p.name in block._reg_params:
            continue
        count += 1
    return max(count, 1)


def _regrouped(form):
    def output(values):
        return nested.regroup(values, form)
    return output


def _paths(block, prefix=''):
    """{name of a parameter: its name in the state dict}."""
    found: dict[str, str] = {}
    for key, param in block._reg_params.items():
        if isinstance(block, SymbolBlock):
            key = dotted(key)
        found.setdefault(param.name, prefix + key)
    for name, child in block._children.items():
        for key, path in _paths(child, f'{prefix}{name}.').items():
            found.setdefault(key, path)
    return found


def _block_paths(block, prefix=''):
    """{name of a block in the graph: its path}."""
    found = {}
    for name, child in block._children.items():
        found[f'{child.name}_flatten0' if isinstance(child, Flatten) else child.name] = prefix + name
        found |= _block_paths(child, f'{prefix}{name}.')
    return found


def _share_gradients(made, arrays):
    """Has the gradients that torch computes written into the Block's buffers, too."""
    for name, path in made.origins.items():
        array = arrays.get(name)
        variable = None if array is None else array._variable
        try:
            leaf = made.module.get_parameter(path)
        except AttributeError:
            continue
        if variable is not None and leaf.requires_grad:
            leaf.register_post_accumulate_grad_hook(_copy_gradient(variable.buffer, variable.fresh))


def _copy_gradient(buffer, fresh):
    def copy(leaf):
        gradient = leaf.grad.detach()
        target = buffer.materialize()
        if gradient.shape == target.shape and gradient.device == target.device:
            fresh[0] = True
            target.copy_(gradient)
    return copy


# ---------------------------------------------------------------------- values
def _listed(inputs):
    return list(inputs) if isinstance(inputs, (list, tuple)) and not _is_shape(inputs) else [inputs]


def _is_shape(value):
    return isinstance(value, (list, tuple)) and all(isinstance(n, (int, np.integer)) for n in value)


def _shape(value):
    return tuple(int(n) for n in value) if _is_shape(value) else tuple(value.shape)


def _tensor(value):
    if isinstance(value, NDArrayBase):
        return value.materialize().detach()
    if isinstance(value, torch.Tensor):
        return value.detach()
    return torch.from_numpy(np.ascontiguousarray(value))


def _as_array(value):
    if isinstance(value, NDArrayBase) or value is None:
        return value
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu().numpy()
    elif _is_shape(value):
        return make_array(np.zeros(value, 'float32'), ctx=cpu())
    elif isinstance(value, (list, tuple)):
        return [_as_array(v) for v in value]
    if isinstance(value, dict):
        raise TypeError('to_torch: the inputs of a block are arrays, or lists of arrays, not dict')
    made = make_array(np.asarray(value), dtype=np.asarray(value).dtype)
    return made.as_np_ndarray() if is_np_array() and isinstance(made, NDArray) else made
