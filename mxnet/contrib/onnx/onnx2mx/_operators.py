"""All translations, and what is computed at once where it is known: shapes, indices, ranges."""
import functools
import math

import numpy as np

from ....onnx.mx2onnx._builder import onnx
from . import _arithmetic, _control, _layers, _movement, _quantized  # noqa: F401, they register
from ._lengths import Length
from ._registry import TRANSLATIONS
from .import_onnx import values_of

__all__ = ['FOLDS', 'TRANSLATIONS']


def _known(function):
    """A fold that works when all inputs are known, be it with lengths that vary by name."""
    def fold(n):
        values = [None if t is None else t.known for t in n.tensors]
        if any(t is not None and v is None for t, v in zip(n.tensors, values)):
            return None
        if not any(t is not None and t.lengths is not None for t in n.tensors):
            return function(n, *values)
        try:
            found = function(n, *values)
        except (AttributeError, TypeError, ValueError):         # no exact answer
            return None
        return found
    return fold


def _constant(n):
    if 'value' in n.attrs:
        return values_of(n.attrs['value'], n.outputs[0])
    for key, dtype in (('value_int', np.int64), ('value_ints', np.int64), ('value_float', np.float32),
                       ('value_floats', np.float32)):
        if key in n.attrs:
            return np.asarray(n.attrs[key], dtype)
    raise n.error('a constant that is not an array of numbers')


def _shape(n):
    dims = n.graph.refined(n.input(0))
    if dims is None:
        return None
    for axis, length in enumerate(dims):
        if isinstance(length, Length):
            n.graph.note(length, n.tensors[0], axis)
    return _vector(dims[slice(n.get('start', 0), n.get('end'))])


def _vector(lengths):
    found = np.empty(len(lengths), object)
    found[:] = lengths
    return found


def _size(n):
    dims = n.graph.refined(n.input(0))
    return None if dims is None else np.prod(_vector((1, *dims)))


def _constant_of_shape(n, shape):
    value = values_of(n.attrs['value'], n.outputs[0]) if 'value' in n.attrs else np.zeros(1, np.float32)
    if shape.dtype == object:
        return None
    lengths = [int(length) for length in np.ravel(shape)]
    n.room(math.prod(lengths), f'the shape {lengths}')
    return np.full(tuple(lengths), value.ravel()[0], value.dtype)


def _range(n, begin, end, step):
    begin, end, step = (x.item() for x in (begin, end, step))
    n.room(max(0, (end - begin) / step), f'from {begin} to {end} by {step}')
    return np.arange(begin, end, step, dtype=n.tensors[0].values.dtype)


def _expand(n, x, shape):
    lengths = [int(length) for length in np.ravel(shape)]
    shape = np.broadcast_shapes(x.shape, tuple(lengths))
    n.room(math.prod(shape), f'the shape {lengths}')
    return np.broadcast_to(x, shape).copy()


def _together(function):
    """A fold whose result has the common shape of all inputs."""
    def fold(n, *values):
        n.room(math.prod(np.broadcast_shapes(*[v.shape for v in values])))
        return function(n, *values)
    return fold


def _gather(n, x, indices):
    n.room(x.size * max(1, indices.size))
    return np.take(x, indices.astype(np.int64), n.get('axis', 0))


def _concat(n, *parts):
    n.room(sum(part.size for part in parts))
    return np.concatenate(parts, n.get('axis'))


def _slice(n, x, begins=None, ends=None, axes=None, steps=None):
    begins = n.get('starts') if begins is None else begins
    ends = n.get('ends') if ends is None else ends
    axes = n.get('axes', range(len(begins))) if axes is None else axes
    steps = [1] * len(begins) if steps is None else steps
    where = [slice(None)] * x.ndim
    for axis, begin, end, step in zip(axes, begins, ends, steps):
        where[int(axis)] = slice(int(begin), int(end), int(step))
    return x[tuple(where)]


def _axes(n, given):
    axes = n.get('axes') if given is None else given
    return None if axes is None else [int(a) for a in np.ravel(axes)]


def _unsqueeze(n, x, axes=None):
    axes = _axes(n, axes)
    for axis in sorted(a % (x.ndim + len(axes)) for a in axes):
        x = np.expand_dims(x, axis)
    return x


def _squeeze(n, x, axes=None):
    axes = _axes(n, axes)
    return np.squeeze(x) if axes is None else np.squeeze(x, tuple(axes))


def _cast(n, x):
    return x if x.dtype == object else x.astype(onnx().helper.tensor_dtype_to_np_dtype(n.get('to')))


def _reshape(n, x, shape):
    return x.reshape([x.shape[i] if length == 0 else int(length) for i, length in enumerate(shape)])


def _reduce_prod(n, x, axes=None):
    axes = _axes(n, axes)
    return np.prod(x, axis=None if axes is None else tuple(axes), keepdims=bool(n.get('keepdims', 1)), dtype=x.dtype)


def _div(n, a, b):
    return a // b if a.dtype.kind in 'iuO' else a / b


def _equal(n, a, b):
    return np.equal(a, b) if object not in (a.dtype, b.dtype) else np.equal(a, b, dtype=object).astype(bool)


def _mod(n, a, b):
    if n.get('fmod') or a.dtype.kind not in 'iu' or not np.all(b):
        return None
    return np.mod(a, b)


# Large constants stay parameters, so that networks keep theirs; only what steers others is folded.
SMALL = 4096


def _small(function):
    inner = _known(function)

    def fold(n):
        if any(t is not None and t.known is not None and t.known.size > SMALL for t in n.tensors):
            return None
        return inner(n)
    return fold


FOLDS = {'Constant': _known(_constant), 'Shape': _shape, 'ConstantOfShape': _known(_constant_of_shape),
         'Gather': _small(_gather), 'Slice': _small(_slice),
         'Unsqueeze': _small(_unsqueeze), 'Squeeze': _small(_squeeze), 'Cast': _small(_cast),
         'Concat': _small(_concat), 'Reshape': _small(_reshape),
         'Add': _small(_together(lambda n, a, b: a + b)), 'Sub': _small(_together(lambda n, a, b: a - b)),
         'Mul': _small(_together(lambda n, a, b: a * b)), 'Div': _small(_together(_div)),
         'ReduceProd': _small(_reduce_prod), 'Identity': _known(lambda n, x: x), 'Range': _known(_range),
         'Expand': _small(_expand), 'Equal': _small(_together(_equal)), 'Size': _size,
         'NonZero': _small(lambda n, x: np.stack(np.nonzero(x)).astype(np.int64)),
         'Mod': _small(_together(_mod)), 'Not': _small(lambda n, x: np.logical_not(x)),
         'And': _small(_together(lambda n, a, b: np.logical_and(a, b))),
         'Or': _small(_together(lambda n, a, b: np.logical_or(a, b))),
         'Greater': _small(_together(lambda n, a, b: a > b)), 'Less': _small(_together(lambda n, a, b: a < b)),
         'Max': _small(_together(lambda n, *values: functools.reduce(np.maximum, values))),
         'Min': _small(_together(lambda n, *values: functools.reduce(np.minimum, values))),
         'Where': _small(_together(lambda n, c, a, b: np.where(c, a, b))),
         'Neg': _small(lambda n, x: -x), 'Sqrt': _small(lambda n, x: np.sqrt(x)),
         'Transpose': _small(lambda n, x: np.transpose(x, n.get('perm'))),
         'Floor': _small(lambda n, x: np.floor(x)), 'Ceil': _small(lambda n, x: np.ceil(x))}
