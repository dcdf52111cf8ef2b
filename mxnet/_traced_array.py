"""Arrays without values: what a program computes with while its graph is traced (`_deferred_compute`).

They are arrays of both kinds, `NDArray` and `mx.np.ndarray`, so that programs cannot tell the difference until they ask
for values.  What these classes do straight on tensors (indexing, views, writing) is spelled in operators here.
"""
import math
from typing import Any

from ._array import NDArrayBase
from ._ops.core.dtypes import NAME, torch_dtype
from ._ops.core.table import NAMES
from .base import MXNetError
from .ndarray import _invoke
from .ndarray.ndarray import NDArray
from .numpy.multiarray import ndarray

NO_VALUES = ('{what} needs the values of an array, which a graph does not have while it is made; operators on arrays '
             'such as np.where can stay in it')


class Value:
    """What arrays that are one memory share: the entry of the graph that was last written there."""

    __slots__ = ('entry', 'owned', 'viewed', 'pending')

    def __init__(self, entry, owned=True):
        self.entry = entry
        self.owned = owned            # the block made it, so that it may write into it
        self.viewed = False           # other arrays show parts of it
        self.pending = None           # the parameter whose shape is not known yet


class Length(int):
    """A length that knows which axis of which array it is, so that a reshape can say "as long as that axis"."""

    axis: int
    value: Value

    def __new__(cls, length, axis, value):
        self = int.__new__(cls, length)
        self.axis, self.value = axis, value
        return self


def _kept_axes(array, shape):
    """How many of the first lengths of a new shape are read from the very axes that they become."""
    count = 0
    for n in shape:
        if not (isinstance(n, Length) and n.value is array._value and n.axis == count):
            break
        count += 1
    return count


class Untraceable(MXNetError):
    """A program does something that a graph cannot express."""


def _no_values(name):
    def method(self, *args, **kwargs):
        raise Untraceable(NO_VALUES.format(what=f'{name}()' if not name.startswith('_') else name.strip('_')))
    method.__name__ = name
    return method


class Traced:
    """The part that both kinds share."""

    __slots__ = ()
    _tracer: Any
    _value: Any
    _ctx: Any
    _dense: type
    meta: Any
    _reshape: Any           # each kind has its operators
    _squeeze: Any

    # ------------------------------------------------------------------ shapes
    def _lengths(self):
        if self._value.pending is not None:
            raise self._value.pending._missing(' The block asks for it before an operator could tell.')
        return self.meta().shape

    @property
    def shape(self):
        self._tracer.reads_shapes = True
        return tuple(Length(n, i, self._value) for i, n in enumerate(self._lengths()))

    @property
    def ndim(self):
        return len(self._lengths())

    @property
    def size(self):
        self._tracer.reads_shapes = True
        return math.prod(self._lengths())

    def __len__(self):
        if not self.ndim:
            raise TypeError('an array without axes has no len()')
        self._tracer.reads_shapes = True
        return self.meta().shape[0]

    def __repr__(self):
        shape = 'x'.join(map(str, self.meta().shape))
        return f'<{type(self).__name__} {shape} {NAME[self.meta().dtype]}: an array of a graph, without values>'

    __str__ = __repr__

    def __format__(self, fmt):
        return repr(self)

    # ------------------------------------------------------------------ values
    asnumpy, asscalar, item, tolist = map(_no_values, ('asnumpy', 'asscalar', 'item', 'tolist'))
    to_torch, to_dlpack_for_read, to_dlpack_for_write = map(_no_values, ('to_torch', 'to_dlpack_for_read',
                                                                         'to_dlpack_for_write'))
    __bool__, __float__, __int__, __index__ = map(_no_values, ('__bool__', '__float__', '__int__', '__index__'))
    __complex__, __array__, __dlpack__ = map(_no_values, ('__complex__', '__array__', '__dlpack__'))
    __nonzero__ = __bool__
    __reduce__ = _no_values('__reduce__')
    attach_grad, backward = _no_values('attach_grad'), _no_values('backward')
    tostype = _no_values('tostype')
    grad = None

    def wait_to_read(self):
        """There is nothing to wait for."""

    wait_to_write = wait_to_read

    # ------------------------------------------------------------------ the same memory under another name
    def _operate(self, name, *others, **attributes):
        return _invoke.run(NAMES[name], (self, *others), NAMES[name].parse(attributes), None, self._dense)

    def _alias(self, cls):
        array = self._tracer._array(cls, self.meta().shape, self.meta().dtype, self._value)
        return array

    def _as_view(self, result):
        """Marks a result as a part of this array's memory: then neither can be written into."""
        self._value.viewed = result._value.viewed = True
        return result

    def as_nd_ndarray(self):
        return self._alias(NDArray)

    def as_np_ndarray(self):
        return self._alias(ndarray)

    def detach(self):
        return self._as_view(self._operate('BlockGrad'))

    def copy(self, order='C'):
        return self._operate('_copy')

    __copy__ = copy

    def __deepcopy__(self, memo):
        return self.copy()

    def as_in_context(self, context):
        if context == self._ctx:
            return self
        raise Untraceable(f'an array is moved from {self._ctx} to {context}')

    as_in_ctx = to_device = as_in_context

    def copyto(self, other):
        if isinstance(other, Traced):
            other._become(self, 'copyto')
            return other
        if isinstance(other, NDArrayBase):
            raise Untraceable('copyto writes into an array from outside of the block')
        return self.as_in_context(other).copy()

    def reshape(self, *shape, **kwargs):
        if len(shape) == 1 and not isinstance(shape[0], int):
            shape = tuple(shape[0])
        elif not shape:
            shape = kwargs.pop('shape', kwargs.pop('newshape', None))
            shape = (shape,) if isinstance(shape, int) else tuple(shape)
        return self._as_view(self._reshape(shape, **kwargs))

    def reshape_view(self, *shape, **kwargs):
        return self.reshape(*shape, **kwargs)

    def expand_dims(self, axis, inplace=False):
        return self._operate('expand_dims', axis=axis)

    def squeeze(self, axis=None, inplace=False):
        return self._squeeze(axis)

    # ------------------------------------------------------------------ writing
    def _become(self, value, what):
        """Writes a whole new value into the array's memory."""
        if not self._value.owned:
            raise Untraceable(f'{what} writes into an input or a parameter of the block')
        if self._value.viewed:
            raise Untraceable(f'{what} writes into an array of which other arrays show parts')
        if tuple(value.meta().shape) != tuple(self.meta().shape):
            raise ValueError(f'{what}: the result has shape {tuple(value.meta().shape)}, but the array '
                             f'{tuple(self.meta().shape)}')
        if value.meta().dtype is not self.meta().dtype:
            value = value._operate('Cast', dtype=NAME[self.meta().dtype])
        self._value.entry = value._value.entry

    def __setitem__(self, key, value):
        from . import _traced_index
        self._become(_traced_index.written(self, key, value), 'x[...] = ...')

    def __getitem__(self, key):
        from . import _traced_index
        return _traced_index.read(self, key)

    def slice_assign(self, rhs, begin, end, step):
        self._become(self._operate('_slice_assign', rhs, begin=begin, end=end, step=step), 'slice_assign')
        return self

    def slice_assign_scalar(self, value, begin, end, step):
        self._become(self._operate('_slice_assign_scalar', scalar=value, begin=begin, end=end, step=step),
                     'slice_assign_scalar')
        return self

    def astype(self, dtype, *args, copy=True, **kwargs):
        if not copy and self.meta().dtype is torch_dtype(dtype):
            return self
        return self._operate('Cast', dtype=NAME[torch_dtype(dtype)])


def _inplace(name):
    def method(self, other):
        self._become(getattr(self, f'__{name}__')(other), f'{name} in place')
        return self
    method.__name__ = f'__i{name}__'
    return method


for _name in ('add', 'sub', 'mul', 'truediv', 'div', 'mod', 'pow', 'and', 'or', 'xor', 'floordiv', 'matmul'):
    setattr(Traced, f'__i{_name}__', _inplace(_name))


class TracedND(Traced, NDArray):  # type: ignore[misc]
    """An array without values of the kind of `mx.nd`."""

    __slots__ = ('_tracer', '_value')

    def _reshape(self, shape, reverse=False):
        if not reverse:
            kept = _kept_axes(self, shape)
            shape = (0,) * kept + tuple(shape[kept:])           # 0: as long as the axis that stands there
        return self._operate('Reshape', shape=shape, reverse=reverse)

    def _squeeze(self, axis):
        return self._operate('squeeze', axis=axis)


class TracedNP(Traced, ndarray):  # type: ignore[misc]
    """An array without values of the kind of `mx.np`."""

    __slots__ = ('_tracer', '_value')

    def _reshape(self, shape, order='C'):
        kept = _kept_axes(self, shape)
        if kept and order == 'C':
            # npx.reshape has a code, -2, for "as long as that axis"
            return self._operate('_npx_reshape', newshape=(-2,) * kept + tuple(map(int, shape[kept:])))
        return self._operate('_np_reshape', newshape=tuple(map(int, shape)), order=order)

    def _squeeze(self, axis):
        return self._operate('_np_squeeze', axis=axis)

    def sort(self, axis=-1, kind=None, order=None):      # type: ignore[override]  # as the method of mx.np's arrays
        from .numpy import _index
        self._become(_index.sort(self, axis, kind, order), 'sort')


TRACED = {NDArray: TracedND, ndarray: TracedNP}
