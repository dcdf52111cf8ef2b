"""What translations of operators work with: the ONNX graph that is being made, and the call to translate."""
from collections.abc import Callable

import numpy as np

from ...base import MXNetError

OPSET = 17
TRANSLATIONS: dict[str, Callable] = {}

NO_ONNX = 'ONNX files need the package onnx: pip install "remx[onnx]"'


def onnx():
    try:
        import onnx
    except ImportError as error:
        raise ImportError(NO_ONNX) from error
    return onnx


def translates(*names):
    """Registers a function of a `Call` that returns the name of its output, or a list of names."""
    def register(function):
        for name in names:
            TRANSLATIONS[name] = function
        return function
    return register


class Graph:
    """ONNX nodes and constants, in the order in which they are made."""

    def __init__(self):
        self.nodes = []
        self.initializers = {}
        self.open_lengths = {}          # {lengths in all trials: (input, axis) that has them}
        self._taken = set()

    def inner(self):
        """The graph of a body: names and constants are those of the whole."""
        made = Graph()
        made.initializers, made.open_lengths, made._taken = self.initializers, self.open_lengths, self._taken
        return made

    def name(self, wanted):
        """A name that nothing has yet."""
        found, number = wanted, 1
        while found in self._taken:
            found, number = f'{wanted}_{number}', number + 1
        self._taken.add(found)
        return found

    def add(self, kind, inputs, outputs, name, attributes):
        made = onnx().helper.make_node(kind, inputs, outputs, name=name, **attributes)
        self.nodes.append(made)

    def constant(self, name, values):
        self.initializers[name] = np.ascontiguousarray(values).reshape(np.shape(values))
        return name


class Call:
    """An operator's call: what it is called with, and ways to make ONNX nodes for it.

    `shapes` and `out_shapes` are those of inputs and outputs, with None for a length that may vary; `dtypes` and
    `out_dtypes` are NumPy's.
    """

    def __init__(self, graph, node, inputs, shapes, dtypes, out_shapes, out_dtypes, evaluate, translate=None,
                 trials=None):
        self.graph, self.node = graph, node
        self.name, self.kind = node.name, node.op.name
        self.attrs = node.attributes
        self.inputs, self.shapes, self.dtypes = inputs, shapes, dtypes
        self.out_shapes, self.out_dtypes = out_shapes, out_dtypes
        self._evaluate, self._translate, self._trials = evaluate, translate, trials

    def translate(self, graph, body, bound):
        """(names, shapes) of the outputs of a body, whose nodes are added to a graph.

        bound: {variable: (the number of the input that it is, its name, whether it is a slice of that input)}
        """
        return self._translate(graph, self.node, body, bound)

    def __getitem__(self, key):
        """An attribute of the operator."""
        return self.attrs[key]

    @property
    def x(self):
        return self.inputs[0]

    @property
    def shape(self):
        return self.shapes[0]

    @property
    def dtype(self):
        return self.dtypes[0]

    @property
    def rank(self):
        return len(self.shapes[0])

    def __len__(self):
        return len(self.inputs)

    def __bool__(self):
        return True

    # ------------------------------------------------------------------ making nodes
    def op(self, kind, *inputs, outputs=1, **attributes):
        """Adds an ONNX node; returns the name of its output, or a list of names."""
        base = self.graph.name(f'{self.name}/{kind}')
        names = [base, *(self.graph.name(f'{base}.{number}') for number in range(1, outputs))]
        attributes = {key: value for key, value in attributes.items() if value is not None}
        while inputs and inputs[-1] == '':
            inputs = inputs[:-1]
        self.graph.add(kind, list(inputs), names, base, attributes)
        return names[0] if outputs == 1 else names

    def const(self, values, dtype=None):
        """The name of a constant."""
        array = np.asarray(values, dtype=dtype)
        return self.graph.constant(self.graph.name(f'{self.name}/const'), array)

    def ints(self, values):
        return self.const(values, np.int64)

    def scalar(self, value, dtype=None):
        """A constant of the dtype of the first input."""
        return self.const(value, dtype or self.dtype)

    def cast(self, x, dtype):
        return self.op('Cast', x, to=onnx_type(dtype))

    def to_result(self, x, computed):
        """Casts to the dtype of the output, where that is another than what was computed."""
        return x if np.dtype(computed) == self.out_dtypes[0] else self.cast(x, self.out_dtypes[0])

    def reshape(self, x, shape):
        return self.op('Reshape', x, self.ints(shape))

    def transpose(self, x, *axes):
        return self.op('Transpose', x, perm=list(axes))

    def squeeze(self, x, *axes):
        return self.op('Squeeze', x, self.ints(axes))

    def unsqueeze(self, x, *axes):
        return self.op('Unsqueeze', x, self.ints(axes))

    def slice(self, x, axes, begins, ends, steps=None):
        more = (self.ints(steps),) if steps is not None else ()
        return self.op('Slice', x, self.ints(begins), self.ints(ends), self.ints(axes), *more)

    # ------------------------------------------------------------------ what is known
    def axis(self, value, number=0):
        """An axis as a number from 0 on."""
        return value % len(self.shapes[number]) if self.shapes[number] else 0

    def axes(self, value, exclude=False):
        """Axes as numbers from 0 on; None and () are all."""
        rank = self.rank
        chosen = list(range(rank)) if value in (None, ()) else \
            sorted({axis % rank for axis in ((value,) if isinstance(value, int) else value)})
        return [axis for axis in range(rank) if axis not in chosen] if exclude and value not in (None, ()) else chosen

    def array(self, number):
        """The values of an input, which must follow from parameters alone."""
        values = self._evaluate(self.node.inputs[number])
        if values is None:
            raise self.error(f'{self.node.input_names()[number]} must be a parameter, not computed from inputs')
        return values

    def is_constant(self, number):
        """Whether the values of an input follow from parameters alone."""
        return self._evaluate(self.node.inputs[number]) is not None

    def fixed(self, shape, what):
        """A shape that has no unknown length."""
        if any(n is None for n in shape):
            raise self.error(f'{what} must be known, but is {shape}: give it a fixed length in dynamic_input_shapes')
        return list(shape)

    def target(self):
        """The shape of the output for an ONNX Reshape: 0 keeps a length, -1 is what is left."""
        wanted, given = self.out_shapes[0], self.shape
        if wanted.count(None) == 1:
            return [-1 if n is None else n for n in wanted]
        target = []
        for place, n in enumerate(wanted):
            if n is not None:
                target.append(n)
            elif place < len(given) and given[place] is None and list(wanted[:place]) == list(given[:place]):
                target.append(0)
            else:
                target.append(-1)
        if target.count(-1) > 1:
            raise self.error(f'a reshape of {given} to {wanted} has more than one length that may vary')
        return target

    def out_shape(self):
        """The name of the shape of the output, where lengths that vary are those of an input of the network."""
        parts = []
        for axis, n in enumerate(self.out_shapes[0]):
            if n is not None:
                parts.append(self.ints([n]))
                continue
            source = self.graph.open_lengths.get(self._trials((self.node, 0), axis))
            if source is None:
                raise self.error('a shape that may vary')
            name, place = source
            parts.append(self.slice(self.op('Shape', name), [0], [place], [place + 1]))
        return self.op('Concat', *parts, axis=0)

    def error(self, text):
        return MXNetError(f'ONNX export of {self.kind} ({self.name}): {text}')


def onnx_type(dtype):
    """TensorProto's number of a dtype."""
    module = onnx()
    if str(dtype) == 'bfloat16':
        return module.TensorProto.BFLOAT16
    return module.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
