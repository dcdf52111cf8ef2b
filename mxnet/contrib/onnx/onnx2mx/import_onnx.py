"""Walks over an ONNX graph and makes a Symbol of it.

Constants are folded: what follows from initializers, or from shapes that the file gives, is computed here with NumPy,
since many ONNX operators take as inputs what are attributes in MXNet.
"""
import contextlib
import os
from typing import Any

import numpy as np

from ...._files import jsons, limits, paths
from ...._ops.core.dtypes import TORCH as DTYPES
from ....base import MXNetError
from ....ndarray import array
from ....onnx.mx2onnx._builder import onnx
from ....symbol import Group, var
from ._external import load_external
from ._shapes import infer

__all__ = ['GraphProto']

NO_TRANSLATION = 'ONNX import: no translation of {kinds}. The network was made by {producer}, opset {opset}'


MOST_AXES = 32
_FAILURES = (AttributeError, ArithmeticError, AssertionError, IndexError, KeyError, MemoryError, NotImplementedError,
             RecursionError, RuntimeError, TypeError, ValueError)


def load(model):
    """A ModelProto, from a file's name or as it is."""
    return read(model)[0]


def read(model):
    """(ModelProto, what errors call it, its size)."""
    module = onnx()
    if isinstance(model, module.ModelProto):
        return model, 'the ONNX model', model.ByteSize()
    if not os.path.exists(model):
        raise FileNotFoundError(f'there is no ONNX file {limits.printable(str(model))}')
    with paths.open_read(model) as file:
        data = file.read()
    try:
        kind = module.serialization.registry.get_format_from_file_extension(os.path.splitext(model)[1])
        found = module.load_model_from_string(data, kind or 'protobuf')
    except Exception as error:              # protobuf has errors of its own, in several versions
        raise MXNetError(f'{model} is not an ONNX file: {error}') from error
    try:
        size = load_external(found, str(model), len(data))
    except OSError as error:
        raise MXNetError(f'{model}: its values in other files cannot be read: {error}') from error
    return found, str(model), max(size, found.ByteSize())


class Tensor:
    """A value of the ONNX graph: a symbol, or NumPy values that are known; with what is known of its shape."""

    def __init__(self, symbol=None, values=None, shape=None, dtype=None):
        self.values: Any
        self._symbol, self.values = symbol, values
        self.shape: Any = tuple(values.shape) if values is not None else shape
        self.dtype: Any = values.dtype if values is not None else dtype

    @property
    def rank(self):
        return None if self.shape is None else len(self.shape)


class Node:
    """An ONNX node as translations see it."""

    def __init__(self, graph, proto):
        helper = onnx().helper
        self.kind: Any
        self.graph, self.kind = graph, proto.op_type
        self.outputs: Any = list(proto.output)
        # without one, a symbol gets a number, which programs count on: `flatten0_output`
        self.name: Any
        self.name, self._called = proto.name or None, proto.name or (self.outputs or ['?'])[0]
        self.tensors: Any = []
        try:
            attrs = {a.name: helper.get_attribute_value(a) for a in proto.attribute}
            self.attrs: Any = {k: v.decode() if isinstance(v, bytes) else v for k, v in attrs.items()}
        except (ValueError, TypeError):
            raise self.error('an attribute of it has no value, or none that is text in UTF-8') from None
        if not self.outputs:
            raise self.error('it has no outputs')
        self.opset: Any = graph.opset
        for name in proto.input:
            if name and name not in graph.tensors:
                raise self.error(f'its input {name} is not there before it, or is an output of another operator '
                                 'that is not translated')
        self.tensors = [graph.tensors[name] if name else None for name in proto.input]

    def get(self, key, default=None):
        return self.attrs.get(key, default)

    def __len__(self):
        return len(self.tensors)

    def has(self, number):
        return number < len(self.tensors) and self.tensors[number] is not None

    def input(self, number):
        if not self.has(number):
            raise self.error(f'it has no input {number}')
        return self.tensors[number]

    def sym(self, number=0):
        """An input as a symbol; known values become a parameter."""
        return self.graph.symbol(self.input(number))

    def syms(self):
        return [self.graph.symbol(tensor) for tensor in self.tensors if tensor is not None]

    def shape(self, number=0):
        return self.input(number).shape

    def rank(self, number=0):
        found = self.input(number).rank
        if found is None:
            raise self.error(f'the number of axes of input {number} is not known')
        return found

    def values(self, number, key=None, default=None):
        """The values of an input that must be known, or of an attribute that it was in older opsets."""
        if key is not None and key in self.attrs:
            return np.asarray(self.attrs[key])
        if not self.has(number):
            return default
        known = self.tensors[number].values
        if known is None:
            raise self.error(f'input {number} is computed while the network runs; only constants are translated')
        return known

    def ints(self, number, key=None, default=None):
        found = self.values(number, key, default)
        return found if found is None else [int(n) for n in np.ravel(found)]

    def room(self, count, what='its result'):
        """Refuses to compute so many numbers if the file is too small to ask for them."""
        self.graph.spent += 16 * int(count)         # the result, and the parameter that it becomes
        limits.check(self.graph.spent, self.graph.size, self.error(what).args[0], 'all that is computed up to here')

    def axis(self, key, default, extra=0):
        """An attribute that names an axis of the first input, counted from the front; `extra`: of so many more."""
        found = self.get(key, default)
        axes = (self.input(0).rank if self.input(0).rank is not None else MOST_AXES) + extra
        if type(found) is not int or not -axes <= found < max(1, axes):
            raise self.error(f'{key}={found!r} is not an axis of its input')
        return found % axes if found < 0 else found

    def parameter(self, values, name):
        """A new parameter."""
        return self.graph.symbol(Tensor(values=np.asarray(values)), f'{self._called}_{name}')

    def error(self, text):
        return MXNetError(f'ONNX import of {self.kind} ({limits.printable(self._called)}): {text}')

    def misfit(self):
        """The error for a node whose inputs and attributes do not make sense together."""
        shapes = ', '.join('none' if t is None else '?' if t.shape is None else str(t.shape) for t in self.tensors)
        attrs = ', '.join(f'{limits.printable(k)}={jsons.shown(list(v) if isinstance(v, (list, tuple)) else v)}'
                          for k, v in self.attrs.items())
        return self.error(f'inputs of the shapes {shapes or "none at all"} and the attributes {attrs or "none"} are '
                          'not what this operator takes')


class GraphProto:
    """The reader; upstream's class has this name."""

    def __init__(self, where='', size=None):
        self.tensors: Any
        self.parameters: Any
        self.states: Any
        self.tensors, self.parameters, self.states = {}, {}, set()
        self.where: str
        self.size: int | None
        self.spent: int
        self.where, self.size, self.spent = where, size, 0

    def get_graph_metadata(self, model):
        with self.reported():
            return self._metadata(getattr(model, 'graph', model))

    @contextlib.contextmanager
    def reported(self):
        """Puts the name of the file before what is wrong with it."""
        try:
            yield
        except MXNetError as error:
            raise MXNetError(f'{self.where}: {error}' if self.where else str(error)) from error

    def _metadata(self, graph):
        _check_names(graph)
        given = {tensor.name for tensor in graph.initializer}
        return {'input_tensor_data': [(v.name, _shape(v), v.type.tensor_type.elem_type) for v in graph.input
                                      if v.name not in given],
                'output_tensor_data': [(v.name, _shape(v)) for v in graph.output]}

    def from_onnx(self, model):
        """(symbol, arguments, auxiliary states)"""
        if self.size is None:
            self.size = model.ByteSize()
        with self.reported():
            return self._from_onnx(model)

    def _from_onnx(self, model):
        from ._operators import FOLDS, TRANSLATIONS
        self.opset: Any = max((o.version for o in model.opset_import if o.domain in ('', 'ai.onnx')), default=1)
        _check_names(model.graph)
        graph = infer(model).graph
        if not graph.output:
            raise MXNetError('ONNX import: the network has no outputs')
        missing = sorted({n.op_type for n in graph.node if n.op_type not in TRANSLATIONS and n.op_type not in FOLDS})
        if missing:
            raise MXNetError(NO_TRANSLATION.format(kinds=', '.join(missing), opset=self.opset,
                                                   producer=model.producer_name or 'an unknown program'))
        known = {v.name: v for v in (*graph.value_info, *graph.output, *graph.input)}
        for tensor in graph.initializer:
            self.tensors[tensor.name] = Tensor(values=values_of(tensor, tensor.name))
            self.tensors[tensor.name].name = tensor.name
        for value in graph.input:
            if value.name not in self.tensors:
                self.tensors[value.name] = Tensor(var(value.name), shape=_shape(value), dtype=_dtype(value))
        for proto in graph.node:
            self._translate(Node(self, proto), known, TRANSLATIONS, FOLDS)
        for value in graph.output:
            if value.name not in self.tensors and not any(value.name in n.output for n in graph.node):
                raise MXNetError(f'ONNX import: nothing in the network is called {limits.printable(value.name)}, which '
                                 'is said to be its output')
        lost = [value.name for value in graph.output if value.name not in self.tensors]
        if lost:
            raise MXNetError(f'ONNX import: the outputs {", ".join(lost)} are second outputs that are not translated')
        outputs = [self.symbol(self.tensors[value.name]) for value in graph.output]
        symbol = outputs[0] if len(outputs) == 1 else Group(outputs)
        wanted = set(symbol.list_arguments()), set(symbol.list_auxiliary_states())
        arrays = {name: array(values, dtype=values.dtype) for name, values in self.parameters.items()}
        return (symbol, {n: a for n, a in arrays.items() if n in wanted[0]},
                {n: a for n, a in arrays.items() if n in wanted[1]})

    def _translate(self, node, known, translations, folds):
        try:
            self._translated(node, known, translations, folds)
        except _FAILURES as error:
            if isinstance(error, MXNetError):
                if str(error).startswith('ONNX import'):
                    raise
                raise node.error(str(error)) from error
            raise node.misfit() from error

    def _translated(self, node, known, translations, folds):
        fold = folds.get(node.kind)
        if fold is not None:
            values = fold(node)
            if values is not None:
                values = values if isinstance(values, list) else [values]
                for name, value in zip(node.outputs, values):
                    self.tensors[name] = Tensor(values=np.asarray(value))
                return
            if node.kind not in translations:
                raise node.error('its inputs are computed while the network runs; only constants are translated')
        made = translations[node.kind](node)
        made = made if isinstance(made, (list, tuple)) else [made]
        for name, symbol in zip(node.outputs, made):
            value = known.get(name)
            self.tensors[name] = Tensor(symbol, shape=_shape(value) if value is not None else None,
                                        dtype=_dtype(value) if value is not None else None)

    def symbol(self, tensor, wanted=None):
        """The symbol of a tensor; values that are known become a parameter."""
        if tensor._symbol is None:
            name = base = getattr(tensor, 'name', None) or wanted or f'constant{len(self.parameters)}'
            number = 0
            while name in self.parameters or name in self.tensors and self.tensors[name] is not tensor:
                number += 1
                name = f'{base}_{number}'
            values = tensor.values
            if values.dtype.name not in DTYPES:
                values = values.astype(np.int32 if values.dtype.kind in 'iub' else np.float32)
            if not values.shape:
                values = values.reshape(1)            # outside np mode every array has an axis
            self.parameters[name] = values
            tensor._symbol = var(name, shape=values.shape, dtype=values.dtype.name)
        return tensor._symbol


def _shape(value):
    """A tuple, with 0 for a length that is not known; None if nothing is."""
    kind = value.type.tensor_type
    if not kind.HasField('shape'):
        return None
    if len(kind.shape.dim) > MOST_AXES:
        raise MXNetError(f'ONNX import: {limits.printable(value.name)} has {len(kind.shape.dim)} axes; there is room '
                         f'for {MOST_AXES}')
    return tuple(max(0, d.dim_value) for d in kind.shape.dim)


def _dtype(value):
    number = value.type.tensor_type.elem_type
    try:
        return onnx().helper.tensor_dtype_to_np_dtype(number) if number else None
    except KeyError:
        raise MXNetError(f'ONNX import: {limits.printable(value.name)} has the element type {number}, which is not '
                         'known') from None


def values_of(tensor, name):
    """The values of a TensorProto."""
    shape = tuple(tensor.dims)
    if len(shape) > MOST_AXES or any(length < 0 for length in shape):
        raise MXNetError(f'ONNX import: the constant {limits.printable(name)} has the shape {shape[:MOST_AXES]}')
    try:
        return onnx().numpy_helper.to_array(tensor)
    except Exception as error:              # whatever the library finds wrong
        raise MXNetError(f'ONNX import: the constant {limits.printable(name)} of shape {shape} and element type '
                         f'{tensor.data_type} has not the values that these ask for') from error


def _check_names(graph):
    """Refuses names that are no text: protobuf hands these out as bytes."""
    for node in graph.node:
        for text in (node.name, node.op_type, *node.input, *node.output, *(a.name for a in node.attribute)):
            if not isinstance(text, str):
                raise MXNetError(f'ONNX import: the name {text[:60]!r} is not UTF-8')
    for value in (*graph.input, *graph.output, *graph.value_info, *graph.initializer):
        if not isinstance(value.name, str):
            raise MXNetError(f'ONNX import: the name {value.name[:60]!r} is not UTF-8')
