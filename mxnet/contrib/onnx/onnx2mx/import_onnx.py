"""Walks over an ONNX graph and makes a Symbol of it.

Constants are folded: what follows from initializers, or from shapes that the file gives, is computed here with NumPy,
since many ONNX operators take as inputs what are attributes in MXNet.  Lengths that vary are folded by name
(`_lengths`).
"""
import collections
import contextlib
import os
from typing import Any

import numpy as np

from .... import symbol as sym
from ...._files import jsons, limits, paths
from ...._ops.core.dtypes import TORCH as DTYPES
from ...._wording import plain
from ....base import MXNetError
from ....ndarray import array
from ....onnx.mx2onnx._builder import onnx
from ....symbol import Group, var
from ._external import load_external
from ._lengths import Length, named, settled
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
        other = limits.printable(str(error.filename or '?'))
        raise MXNetError(f'{model}: its values in the file {other} cannot be read: {plain(error)}') from error
    return found, str(model), max(size, found.ByteSize())


class Tensor:
    """A value of the ONNX graph: a symbol, or NumPy values that are known; with what is known of its shape.

    dims: the lengths of its axes, numbers or `Length`; None where the number of axes is not known
    lengths: its elements, numbers and `Length`, where it is part of a shape
    make: computes the symbol of such a tensor, should one be needed
    """

    def __init__(self, symbol=None, values=None, dims=None, dtype=None, lengths=None, make=None, infer=None):
        self.values: Any
        self._symbol, self.values, self.lengths, self._make, self._infer = symbol, values, lengths, make, infer
        known = values if values is not None else lengths
        self._dims: Any = tuple(known.shape) if known is not None else dims
        self.dtype: Any = values.dtype if values is not None else np.dtype(np.int64) if lengths is not None else dtype
        self.rows = 0           # steps of a loop that may end before
        self.padded: Any = None         # the symbol of such rows, with zeros for the steps that were not run

    @property
    def dims(self):
        if self._dims is None and self._infer is not None:
            infer, self._infer = self._infer, None
            self._dims = infer(self)
        return self._dims

    @property
    def shape(self):
        """The lengths, with 0 for one that varies."""
        return None if self.dims is None else tuple(0 if isinstance(d, Length) else d for d in self.dims)

    @property
    def rank(self):
        return None if self.dims is None else len(self.dims)

    @property
    def known(self):
        return self.values if self.values is not None else self.lengths


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
                raise self.error(f'its input {name} is not computed before it, or is an output of another operator '
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

    def dims(self, number=0):
        """The lengths of an input, numbers or `Length`."""
        found = self.input(number).dims
        if found is None:
            raise self.error(f'the number of axes of input {number} is not known')
        return found

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

    def lengths(self, number, key=None):
        """As `ints`, with a `Length` where one varies."""
        if self.has(number) and self.tensors[number].lengths is not None:
            return list(np.ravel(self.tensors[number].lengths))
        return self.ints(number, key)

    def widened(self, x, axis, length):
        """A symbol whose axis has one element, with as many of them as a `Length` says."""
        source, place = self.graph.source(length, self)
        return sym.broadcast_like(x, self.graph.symbol(source), lhs_axes=(axis,), rhs_axes=(place,))

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
        self._sources: Any = {}            # {Length: (tensor, axis) that has it}
        self.inputs: dict = {}              # {variable: its shape, 0 for a length that varies}
        self.declared: set = set()          # names of lengths of inputs
        self.found: dict = {}               # {name of a length: what it is}

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
        self.opset: Any = max((o.version for o in model.opset_import if o.domain in ('', 'ai.onnx')), default=1)
        _check_names(model.graph)
        if not model.graph.output:
            raise MXNetError('ONNX import: the network has no outputs')
        graph = infer(model).graph
        self._check_translations(model)
        names = {tensor.name for tensor in graph.initializer}
        given = [(value, var(value.name)) for value in graph.input if value.name not in names]
        outputs = self.walk(graph, given)
        symbol = outputs[0] if len(outputs) == 1 else Group(outputs)
        wanted = set(symbol.list_arguments()), set(symbol.list_auxiliary_states())
        arrays = {name: array(values, dtype=values.dtype) for name, values in self.parameters.items()}
        return (symbol, {n: a for n, a in arrays.items() if n in wanted[0]},
                {n: a for n, a in arrays.items() if n in wanted[1]})

    def _check_translations(self, model):
        from ._operators import FOLDS, TRANSLATIONS
        missing = sorted({n.op_type for g in _graphs(model.graph) for n in g.node
                          if n.op_type not in TRANSLATIONS and n.op_type not in FOLDS
                          or n.domain not in ('', 'ai.onnx')})
        if missing:
            raise MXNetError(NO_TRANSLATION.format(kinds=', '.join(missing), opset=self.opset,
                                                   producer=model.producer_name or 'an unknown program'))

    def walk(self, graph, given):
        """The symbols of the outputs of a graph; given: its inputs as they are declared, each with a symbol."""
        from ._operators import FOLDS, TRANSLATIONS
        known = {v.name: v for v in (*graph.value_info, *graph.output, *graph.input)}
        for tensor in graph.initializer:
            self.tensors[tensor.name] = Tensor(values=values_of(tensor, tensor.name))
            self.tensors[tensor.name].name = tensor.name
        for value, symbol in given:
            self.inputs[symbol.name] = _shape(value)
            tensor = Tensor(symbol, dims=_dims(value), dtype=_dtype(value))
            self.declared.update(name for d in tensor.dims or () if isinstance(d, Length) for name in d.names())
            self._add(value.name, tensor)
        for proto in graph.node:
            self._translate(Node(self, proto), known, TRANSLATIONS, FOLDS)
        for value in graph.output:
            if value.name not in self.tensors and not any(value.name in n.output for n in graph.node):
                raise MXNetError(f'ONNX import: nothing in the network is called {limits.printable(value.name)}, which '
                                 'is said to be its output')
        lost = [value.name for value in graph.output if value.name not in self.tensors]
        if lost:
            raise MXNetError(f'ONNX import: the outputs {", ".join(lost)} are second outputs that are not translated')
        return [self.symbol(self.tensors[value.name]) for value in graph.output]

    def body(self, graph):
        """The reader of a graph inside this one: it sees the tensors of this one, and has the same parameters."""
        made = GraphProto(self.where, self.size)
        made.opset, made.parameters, made.states, made.inputs = self.opset, self.parameters, self.states, self.inputs
        made.declared, made.found = self.declared, self.found
        made.tensors, made.spent = collections.ChainMap({}, self.tensors), self.spent
        made._sources = collections.ChainMap({}, self._sources)
        # what the body uses from outside must not become a part of it
        for inner in _graphs(graph):
            for name in {name for n in inner.node for name in n.input if name in self.tensors}:
                if not self.tensors[name].rows:
                    self.symbol(self.tensors[name])
        return made

    def _add(self, name, tensor):
        self.tensors[name] = tensor
        if self.found and tensor._dims is not None:
            tensor._dims = tuple(d.replaced(self.found) if isinstance(d, Length) else d for d in tensor._dims)
        for axis, length in enumerate(tensor._dims or ()):
            if isinstance(length, Length) and tensor._symbol is not None:
                self.note(length, tensor, axis)

    def note(self, length, tensor, axis):
        """Remembers which axis has a length."""
        self._sources.setdefault(_key(length), (tensor, axis))

    def source(self, length, node):
        """(tensor, axis) that has a length."""
        found = self._sources.get(_key(length))
        if found is None:
            raise node.error(f'no axis of the network has the length {length}')
        return found

    def refined(self, tensor):
        """The lengths of a tensor; those which the ONNX library could not tell from others, as far as its symbol does.

        The library follows no division, so that half of the channels is a name that it has made up.
        """
        dims = tensor.dims
        if dims is None or tensor._symbol is None or all(
                not isinstance(d, Length) or d.names() <= self.declared for d in dims):
            return dims
        for axis, (length, number) in enumerate(zip(dims, self._symbol_shape(tensor))):
            if isinstance(length, Length) and number:
                (names, count), *more = length.terms.items()
                if len(names) == 1 and count == 1 and not more:
                    self.found[names[0]] = number
                tensor._dims = (*tensor._dims[:axis], number, *tensor._dims[axis + 1:])
        return tensor._dims

    def _symbol_shape(self, tensor):
        """The shape that follows from the symbol, 0 for a length that is not known."""
        arguments = set(tensor._symbol.list_arguments())
        try:
            shapes = tensor._symbol.infer_shape_partial(**{n: s for n, s in self.inputs.items() if s and
                                                           n in arguments})[1]
        except _FAILURES:
            return ()
        return shapes[0] if shapes and shapes[0] else ()

    def _infer(self, tensor):
        """The lengths of what the ONNX library does not know, as far as the symbol tells."""
        shapes = [self._symbol_shape(tensor)]
        if not shapes[0]:
            return None
        tensor._dims = tuple(length or Length({(f'{tensor._symbol.name}:{axis}',): 1})
                             for axis, length in enumerate(shapes[0]))
        for axis, length in enumerate(tensor._dims):
            if isinstance(length, Length):
                self.note(length, tensor, axis)
        return tensor._dims

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
                values = [settled(value) for value in (values if isinstance(values, list) else [values])]
                for name, value in zip(node.outputs, values):
                    self.tensors[name] = Tensor(values=value) if value.dtype != object else \
                        Tensor(lengths=value, make=lambda: translations[node.kind](node))
                return
            if node.kind not in translations:
                raise node.error('its inputs are computed while the network runs; only constants are translated')
        made = translations[node.kind](node)
        made = made if isinstance(made, (list, tuple)) else [made]
        for name, symbol in zip(node.outputs, made):
            if not name:
                continue
            if isinstance(symbol, Tensor):
                self._add(name, symbol)
                continue
            value = known.get(name)
            self._add(name, Tensor(symbol, dims=_dims(value) if value is not None else None,
                                   dtype=_dtype(value) if value is not None else None, infer=self._infer))

    def symbol(self, tensor, wanted=None):
        """The symbol of a tensor; values that are known become a parameter."""
        if tensor.rows:
            raise MXNetError('ONNX import: an output of a Loop that may end early has as many rows as steps were run; '
                             'that is translated only where it is filled up to the most steps')
        if tensor._symbol is None and tensor.values is None:
            tensor._symbol = tensor._make()
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


def _key(length):
    return frozenset(length.terms.items())


def _graphs(graph):
    """A graph and those of its loops and branches."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField('g'):
                yield from _graphs(attribute.g)


def _dims(value):
    """The lengths of a value, numbers or `Length`; None if nothing is known."""
    shape = _shape(value)
    if shape is None:
        return None
    return tuple(n or (named(d.dim_param) if d.dim_param else Length({(f'{value.name}:{axis}',): 1}))
                 for axis, (n, d) in enumerate(zip(shape, value.type.tensor_type.shape.dim)))


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
    for node in (node for inner in _graphs(graph) for node in inner.node):
        for text in (node.name, node.op_type, *node.input, *node.output, *(a.name for a in node.attribute)):
            if not isinstance(text, str):
                raise MXNetError(f'ONNX import: the name {text[:60]!r} is not UTF-8')
    for value in (*graph.input, *graph.output, *graph.value_info, *graph.initializer):
        if not isinstance(value.name, str):
            raise MXNetError(f'ONNX import: the name {value.name[:60]!r} is not UTF-8')
