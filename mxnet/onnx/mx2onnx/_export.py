"""`export_model`: walks over a graph and translates its operators one by one."""
from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._files.paths import write_atomic
from ..._graph.infer.inference import infer
from ..._graph.ir.node import topological
from ..._kinds import explain_kinds as _explain_kinds
from ..._names import kind_of
from ..._ops.core.dtypes import NAME
from ...base import MXNetError
from ...gluon import HybridBlock
from ...ndarray import NDArray
from ...symbol import Symbol, load
from ...symbol._compose import make as make_symbol

# they register operators
from . import (  # noqa: F401
    _control,
    _detection,
    _elementwise,
    _layers,
    _quantized,
    _reduce,
    _sequence,
    _shapes,
)
from ._builder import OPSET, TRANSLATIONS, Call, Graph, onnx, onnx_type

if TYPE_CHECKING:
    from ..._typing import Shape

# what a loss compares with is no input of a network that predicts
LABELS = {'SoftmaxOutput': 'label', 'LinearRegressionOutput': 'label', 'LogisticRegressionOutput': 'label',
          'MAERegressionOutput': 'label', 'SVMOutput': 'label'}

NO_TRANSLATION = ('ONNX export: no translation of {names}. Those that there are: mx.onnx.get_operator_support(). '
                  'Replace the operator, or cut the network before it (symbol.get_internals())')


def get_operator_support(opset_version: Any = None) -> list[str]:
    """The names of the operators that `export_model` can translate."""
    onnx()
    if opset_version is not None and opset_version < OPSET:
        return []
    return sorted(TRANSLATIONS)


def export_model(sym: Any, params: Any = None, in_shapes: Any = None, in_types: Any = np.float32,
                 onnx_file_path: str = 'model.onnx', verbose: bool = False, dynamic: bool = False,
                 dynamic_input_shapes: Any = None, run_shape_inference: bool = False, input_type: Any = None,
                 input_shape: Shape | None = None) -> str:
    """Writes a network as an ONNX file, and returns the file's name.

    sym: a Symbol, the name of a `-symbol.json` file, or a HybridBlock that was hybridized and has run
    params: the name of a `.params` file, a dict of arrays (with or without 'arg:' and 'aux:'), [arguments, states];
        a HybridBlock has its own
    in_shapes, in_types: of the inputs, in the order of `sym.list_arguments()`
    dynamic: lengths of the inputs may vary: those that are None in `dynamic_input_shapes` or, without it, all that the
        network allows

        net.hybridize()
        net(pictures)
        mx.onnx.export_model(net, in_shapes=[pictures.shape], onnx_file_path='net.onnx')
    """
    module = onnx()
    in_types = in_types if input_type is None else input_type
    in_shapes = in_shapes if input_shape is None else input_shape
    if in_shapes is None:
        raise ValueError('export_model needs in_shapes: a list with the shape of each input')
    symbol, arrays = _network(sym, params)
    entries = symbol._entries
    nodes = topological(entries)
    _check_operators(nodes)
    in_shapes = [tuple(shape) for shape in in_shapes]
    inputs = _inputs(nodes, arrays, len(in_shapes))
    if len(in_shapes) != len(inputs):
        raise ValueError(f'export_model: the network has {len(inputs)} inputs ({", ".join(inputs)}), but there are '
                         f'{len(in_shapes)} in_shapes')
    in_types = list(in_types) if isinstance(in_types, (list, tuple)) else [in_types] * len(inputs)
    if len(in_types) != len(inputs):
        raise ValueError(f'export_model: {len(inputs)} inputs, but {len(in_types)} in_types')
    types = {name: np.dtype(kind) for name, kind in zip(inputs, in_types)}
    shapes = _shapes_of(entries, arrays, dict(zip(inputs, in_shapes)), types, dynamic, dynamic_input_shapes)

    graph = Graph()
    for name in (*inputs, *symbol.list_outputs()):
        graph.name(name)
    names = {}
    for node in nodes:
        if node.is_variable:
            names[id(node), 0] = graph.constant(graph.name(node.name), _numpy(arrays[node.name])) \
                if node.name in arrays else node.name
            if node.name in inputs:
                for axis, length in enumerate(shapes.shape((node, 0))):
                    if length is None:
                        graph.open_lengths.setdefault(shapes.in_trials((node, 0), axis), (node.name, axis))
    _translate(graph, nodes, names, shapes, arrays, verbose)
    proto = _model(module, graph, symbol, names, shapes, inputs, types)
    if run_shape_inference:
        proto = module.shape_inference.infer_shapes(proto)
    module.checker.check_model(proto)
    write_atomic(onnx_file_path, [proto.SerializeToString()])
    return onnx_file_path


def _translate(graph, nodes, names, shapes, arrays, verbose=False):
    """Adds the operators among the nodes to a graph, and the names of their outputs to `names`."""
    evaluate = _evaluator(arrays)

    def inside(inner, node, body, bound):
        """Translates a body of a node (see `Call.translate`)."""
        within = shapes.inside(node, body, bound)
        children = topological(body)
        found = {(id(n), 0): bound[n.name][1] for n in children if n.is_variable}
        known = {}
        for variable, (number, _, part) in bound.items():
            source = node.inputs[number][0]
            if not part and source.is_variable and source.name in arrays and names[id(source), 0] == bound[variable][1]:
                known[variable] = arrays[source.name]
        _translate(inner, children, found, within, known, verbose)
        return [found[id(n), number] for n, number in body], [within.shape(entry) for entry in body]

    for node in nodes:
        if node.is_variable:
            continue
        visible = range(node.visible_count())
        call = Call(graph, node, [names.get((id(child), number), '') for child, number in node.inputs],
                    [shapes.shape(entry) for entry in node.inputs], [shapes.dtype(entry) for entry in node.inputs],
                    [shapes.shape((node, k)) for k in visible], [shapes.dtype((node, k)) for k in visible], evaluate,
                    inside, shapes.in_trials)
        if verbose:
            logging.info('ONNX export: %s (%s) -> %s', node.name, node.op.name, call.out_shapes)
        made = TRANSLATIONS[node.op.name](call)
        for number, name in enumerate([made] if isinstance(made, str) else made):
            names[id(node), number] = name


# ---------------------------------------------------------------------- what is exported
def _network(sym, params):
    """(symbol, {name: array})"""
    if isinstance(sym, HybridBlock):
        if not sym._cached_graph:
            raise ValueError(f'export_model: {sym.name} has no graph; call hybridize() and run it once before')
        return sym._cached_graph[1], {p.name: p._reduce() for p in sym.collect_params().values()}
    if isinstance(sym, (str, os.PathLike)):
        sym = load(os.fspath(sym))
    if not isinstance(sym, Symbol):
        raise ValueError(f'export_model takes a Symbol, a file or a HybridBlock, not {kind_of(sym)}')
    if isinstance(params, (str, os.PathLike)):
        from ...ndarray import load as load_arrays
        params = load_arrays(os.fspath(params))
        params = {} if isinstance(params, list) and not params else params
    elif isinstance(params, (list, tuple)):
        params = {name: array for part in params for name, array in part.items()}
    return sym, {name.removeprefix('arg:').removeprefix('aux:'): array for name, array in (params or {}).items()}


def _numpy(array):
    return array.asnumpy() if isinstance(array, NDArray) else np.asarray(array)


def _check_operators(nodes):
    missing: dict[str, str] = {}

    def look(nodes):
        for node in nodes:
            if not node.is_variable and node.op.name not in TRANSLATIONS:
                missing.setdefault(node.op.name, node.name)
            for body in node.subgraphs:
                look(topological(body))
    look(nodes)
    if missing:
        raise MXNetError(NO_TRANSLATION.format(names=', '.join(f'{kind} ({name})' for kind, name in missing.items())))


def _inputs(nodes, arrays, count):
    """The names of the variables that are no parameters; labels only if there are shapes for them."""
    everything = [node.name for node in nodes if node.is_variable and node.name not in arrays]
    if len(everything) == count:
        return everything
    labels: set[str] = set()
    used: set[str] = set()
    for node in nodes:
        if node.is_variable:
            continue
        for name, (child, _) in zip(node.input_names(), node.inputs, strict=True):
            (labels if LABELS.get(node.op.name) == name else used).add(child.name)
    unused = {node.name for node in nodes if node.is_variable} - used - labels      # an output by itself
    return [node.name for node in nodes if node.is_variable and node.name not in arrays
            and node.name in used | unused]


# ---------------------------------------------------------------------- shapes
class _Lengths:
    """Shapes and dtypes of entries; a length that differs between the trials is None."""

    def __init__(self, facts, trials=()):
        self._facts, self._trials = facts, trials

    def shape(self, entry):
        shape: Any = self._facts.shape(entry)
        others: list[Any] = [trial.shape(entry) for trial in self._trials]
        return tuple(None if any(other[axis] != n for other in others) else n for axis, n in enumerate(shape))

    def in_trials(self, entry, axis):
        """The lengths of an axis in all trials."""
        return tuple(found.shape(entry)[axis] for found in (self._facts, *self._trials))

    def dtype(self, entry):
        found = self._facts.dtype(entry)
        return np.dtype(NAME[found]) if found is not None else np.dtype('float32')

    def inside(self, node, body, bound):
        """Those of a body of a node; `bound` says which inputs of the node its variables are."""
        def facts(outer):
            shapes, dtypes = {}, {}
            for name, (number, _, part) in bound.items():
                shape = tuple(outer.shape(node.inputs[number]))
                shapes[name] = shape if not part else shape[1:] or (1,)
                dtypes[name] = self.dtype(node.inputs[number]).name
            return infer(body, shapes, dtypes)
        return _Lengths(facts(self._facts), [facts(trial) for trial in self._trials])


def _shapes_of(entries, arrays, given, types, dynamic, wanted):
    """The shapes and dtypes of all entries.

    Which lengths vary is tried out: with another length of an input, those that change do.
    """
    known = {name: tuple(array.shape) for name, array in arrays.items()}
    dtypes = {name: str(_numpy(array).dtype) for name, array in arrays.items()} | \
        {name: kind.name for name, kind in types.items()}
    facts = infer(entries, {**known, **given}, dtypes)
    for node in topological(entries):
        for number in range(node.visible_count()):
            if facts.shape((node, number)) is None:
                raise MXNetError(f'ONNX export: the shape of {node.entry_name(number)} does not follow from in_shapes')
    return _Lengths(facts, _trials(entries, {**known, **given}, given, dtypes, wanted) if dynamic else ())


def _trials(entries, known, given, dtypes, wanted):
    """Facts for other lengths of the inputs."""
    places = []                      # (label, name, axis)
    for number, (name, shape) in enumerate(given.items()):
        pattern = wanted[number] if wanted is not None else [None] * len(shape)
        for axis, (n, asked) in enumerate(zip(shape, pattern)):
            if asked is None or isinstance(asked, str):
                places.append((asked or n, name, axis))

    def attempt(group):
        changed = {name: list(shape) for name, shape in given.items()}
        for _, name, axis in group:
            changed[name][axis] = changed[name][axis] * 2 + 32
        try:
            return infer(entries, {**known, **{name: tuple(shape) for name, shape in changed.items()}}, dtypes)
        except (MXNetError, ValueError, RuntimeError):
            return None
    found = []
    # lengths that are equal may have to stay so, as the batch of two inputs
    for label in dict.fromkeys(place[0] for place in places):
        group = [place for place in places if place[0] == label]
        together = attempt(group)
        if together is not None:
            found.append(together)
            continue
        alone = [attempt([place]) for place in group]
        found += [trial for trial in alone if trial is not None]
        stuck = [(name, axis) for (_, name, axis), trial in zip(group, alone) if trial is None]
        if stuck and wanted is not None:
            name, axis = stuck[0]
            raise MXNetError(f'ONNX export: axis {axis} of {name} cannot vary in this network; give it a length in '
                             'dynamic_input_shapes')
    return found


def _evaluator(arrays):
    def evaluate(entry):
        """The values of an entry that follows from parameters alone; None of another."""
        leaves = [node for node in topological([entry]) if node.is_variable]
        if any(leaf.name not in arrays for leaf in leaves):
            return None
        if entry[0].is_variable:
            return _numpy(arrays[entry[0].name])
        symbol = make_symbol(Symbol, (entry,))
        from ...context import cpu
        from ...ndarray import array as make
        values = {leaf.name: make(_numpy(arrays[leaf.name]), dtype=_numpy(arrays[leaf.name]).dtype) for leaf in leaves}
        states = {name: values.pop(name) for name in symbol.list_auxiliary_states()}
        return symbol.bind(cpu(), values, grad_req='null', aux_states=states).forward()[0].asnumpy()
    return evaluate


# ---------------------------------------------------------------------- the file
def _used(nodes):
    """Names that nodes read, those in bodies included."""
    found = set()
    for node in nodes:
        found.update(node.input)
        for attribute in node.attribute:
            if attribute.HasField('g'):
                found |= _used(attribute.g.node)
    return found


def _model(module, graph, symbol, names, shapes, inputs, types):
    helper = module.helper
    by_name = {node.name: node for node in topological(symbol._entries) if node.is_variable}

    def value(name, kind, shape):
        lengths = [f'{name}_{axis}' if n is None else n for axis, n in enumerate(shape)]
        return helper.make_tensor_value_info(name, onnx_type(kind), lengths)
    outputs: list[Any] = []
    for name, entry in zip(symbol.list_outputs(), symbol._entries, strict=True):
        unique = name
        while unique in (*inputs, *(o.name for o in outputs)):
            unique += '_'
        graph.add('Identity', [names[id(entry[0]), entry[1]]], [unique], f'{unique}/Identity', {})
        outputs.append(value(unique, shapes.dtype(entry), shapes.shape(entry)))
    used = _used(graph.nodes)
    constants = [module.numpy_helper.from_array(array, name) for name, array in graph.initializers.items()
                 if name in used]
    made = helper.make_graph(graph.nodes, symbol.name or 'network',
                             [value(name, types[name], shapes.shape((by_name[name], 0))) for name in inputs], outputs,
                             constants)
    proto = helper.make_model(made, opset_imports=[helper.make_opsetid('', OPSET)], producer_name='remx')
    # the version of the file format that this opset came with, so that older runtimes read it
    proto.ir_version = 8
    return proto


_explain_kinds(globals(), ('export_model',))
