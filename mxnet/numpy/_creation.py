"""Functions that make arrays.

Those that take no array are written for both faces: `makers(create)` gives them on top of `create(operator name,
attributes, ctx, out)`, which makes an array here and a symbol in `mx.sym.np`.
"""
import warnings

import numpy
import torch

from .._array import NDArrayBase, wrap
from .._dispatch import interceptors, tracer
from .._ops.core.dtypes import torch_dtype
from .._ops.core.table import NAMES
from .._state import state
from ..base import MXNetError
from ..context import given_context
from ..ndarray import _bound_creation, _interop, _invoke
from ..ndarray._creation import NONE_IS_NAN
from . import _call
from ._call import apply, dtype_text, is_array, numbers, real

__all__ = ['array', 'asarray', 'copy', 'empty', 'empty_like', 'full_like', 'ones_like', 'zeros_like']


def array(object, dtype=None, ctx=None):
    """An array from nested lists, a NumPy array or another array.

    Lists become float32 unless `dtype` says otherwise; arrays keep their dtype.

    >>> mx.np.array([[1, 2], [3, 4]])
    array([[1., 2.],
           [3., 4.]])
    """
    ctx = given_context(ctx)
    wanted = None if dtype is None else torch_dtype(dtype)
    if isinstance(object, NDArrayBase):
        if state.recording and not object._sparse:          # as any operator is
            copied = object.astype(object.dtype if wanted is None else dtype).as_np_ndarray()
            return copied if ctx == object._ctx else copied.as_in_ctx(ctx)
        tensor = object.materialize().detach()
        if tensor.is_meta:              # an array of a graph that is being traced
            return object.astype(object.dtype if wanted is None else dtype).as_np_ndarray()
        moved = tensor.to(ctx.torch_device, wanted or tensor.dtype, copy=True)
        return wrap(_interop.allocate(moved, ctx), ctx, _call.array_class)
    if isinstance(object, torch.Tensor):
        moved = object.detach().to(ctx.torch_device, wanted or object.dtype, copy=True).contiguous()
        return wrap(moved, ctx, _call.array_class)
    if isinstance(object, (numpy.ndarray, numpy.generic)):
        values = numpy.asarray(object)
    else:
        values = _from_lists(object)
        wanted = wanted or torch.float32
    torch_dtype(values.dtype)
    tensor = _interop.tensor_of(values)
    return wrap(_interop.allocate(tensor.to(wanted or tensor.dtype, copy=True), ctx), ctx, _call.array_class)


def _from_lists(object):
    try:
        if isinstance(object, (list, tuple)) and any(isinstance(x, NDArrayBase) for x in object):
            object = [x.asnumpy() if isinstance(x, NDArrayBase) else x for x in object]
        values = _interop.numbers_of(object)
    except (ValueError, TypeError):
        raise TypeError('np.array takes nested lists of numbers of equal length, a NumPy array or an array; '
                        f'this {type(object).__name__} is not one') from None
    if values.dtype.kind == 'f' and _interop.has_none(object):
        warnings.warn(NONE_IS_NAN, UserWarning, stacklevel=4)
    return values


def asarray(a, dtype=None, ctx=None, copy=None, device=None):
    """The array itself if it is one of this dtype on this context; else as `array`."""
    ctx = ctx or device
    if copy is not True and isinstance(a, _call.array_class) and (ctx is None or a._ctx == ctx) \
            and (dtype is None or a.meta().dtype is torch_dtype(dtype)):
        return a
    if copy is False:
        raise ValueError('asarray: this needs a copy')
    if dtype is None and not isinstance(a, (NDArrayBase, numpy.ndarray, numpy.generic, torch.Tensor)):
        dtype = _natural(a)
    return array(a, dtype=dtype, ctx=ctx or (a._ctx if isinstance(a, NDArrayBase) else None))


def _natural(a):
    """The dtype of nested lists by what is in them: bool, int64 or float32."""
    kind = _from_lists(a).dtype.kind
    return {'b': 'bool', 'i': 'int64', 'u': 'int64'}.get(kind, 'float32')


def empty(shape, dtype=numpy.float32, order='C', ctx=None):
    """An array whose values are whatever was in memory."""
    if order != 'C':
        raise NotImplementedError(f"empty: arrays are row-major, so order must be 'C', not {order!r}")
    ctx = given_context(ctx)
    if interceptors and tracer() is not None:
        return zeros(shape, dtype or 'float32', ctx=ctx)
    tensor = torch.empty(numbers(shape), dtype=torch_dtype(dtype or 'float32'), device=ctx.torch_device)
    return wrap(_interop.allocate(tensor, ctx), ctx, _call.array_class)


def _row_major(name, order):
    if order not in ('C', 'K', 'A', None):
        raise NotImplementedError(f"{name}: arrays are row-major, so order must be 'C', not {order!r}")


# ---------------------------------------------------------------------- in the shape of another array
def _like(name, a, fill_value, dtype, order, ctx, out):
    _row_major(name, order)
    result = apply('_npi_full_like', (a,), {'fill_value': fill_value, 'dtype': dtype_text(dtype)}, out)
    return result if ctx is None or not isinstance(result, NDArrayBase) else result.as_in_ctx(ctx)


def zeros_like(a, dtype=None, order='C', ctx=None, out=None):
    """Zeros in the shape of `a`, and in its dtype unless another is given."""
    return _like('zeros_like', a, 0, dtype, order, ctx, out)


def ones_like(a, dtype=None, order='C', ctx=None, out=None):
    """Ones in the shape of `a`, and in its dtype unless another is given."""
    return _like('ones_like', a, 1, dtype, order, ctx, out)


def full_like(a, fill_value, dtype=None, order='C', ctx=None, out=None):
    """One number in the shape of `a`, and in its dtype unless another is given."""
    if isinstance(fill_value, bool):
        fill_value = int(fill_value)
    return _like('full_like', a, fill_value, dtype, order, ctx, out)


def empty_like(prototype, dtype=None, order='C', subok=False, shape=None):
    """An array in the shape and dtype of another, with any values."""
    _row_major('empty_like', order)
    if subok:
        raise NotImplementedError('empty_like: there are no subclasses of arrays to keep; subok must be False')
    return empty(prototype.shape if shape is None else shape, dtype or prototype.dtype, ctx=prototype.ctx)


def copy(a, out=None):
    """A copy of an array."""
    return apply('_np_copy', (a,), {}, out)


# ---------------------------------------------------------------------- without an array
def makers(create, bound=None):
    """The functions that make arrays from numbers, by `create(operator name, attributes, ctx, out)`."""
    def zeros(shape, dtype=None, order='C', ctx=None):
        """Zeros of a shape.

        >>> mx.np.zeros((2, 0)).shape
        (2, 0)
        """
        if bound is not None and order == 'C':
            found = bound(torch.zeros, shape, dtype, ctx)
            if found is not None:
                return found
        _row_major('zeros', order)
        return create('_npi_zeros', {'shape': numbers(shape), 'dtype': dtype_text(dtype, 'float32')}, ctx)

    def ones(shape, dtype=numpy.float32, order='C', ctx=None):
        """Ones of a shape."""
        if bound is not None and order == 'C':
            found = bound(torch.ones, shape, dtype, ctx)
            if found is not None:
                return found
        _row_major('ones', order)
        return create('_npi_ones', {'shape': numbers(shape), 'dtype': dtype_text(dtype, 'float32')}, ctx)

    def full(shape, fill_value, dtype=None, order='C', ctx=None, out=None):
        """One number in a whole shape, or an array broadcast to it."""
        _row_major('full', order)
        if is_array(fill_value):
            result = apply('_npi_broadcast_to', (fill_value,), {'shape': numbers(shape)})
            result = result if dtype is None else result.astype(dtype)
            return result if out is None else result.copyto(out)
        if isinstance(fill_value, complex):
            raise MXNetError(f'np.full: argument fill_value={fill_value!r} is not accepted; it takes a real number or '
                             'an array')
        if dtype is None:
            dtype = 'bool' if isinstance(fill_value, (bool, numpy.bool_)) else 'float32'
        return create('_npi_full', {'shape': numbers(shape), 'value': real(fill_value), 'dtype': dtype_text(dtype)},
                      ctx, out)

    def arange(start, stop=None, step=1, dtype=None, ctx=None):
        """Numbers from `start` up to, and without, `stop`; with one limit alone, from 0 up to it.

        They are float32 unless `dtype` says otherwise.

        >>> mx.np.arange(1, 2, 0.25)
        array([1.  , 1.25, 1.5 , 1.75])
        """
        if stop is None:
            start, stop = 0, start
        if step is None:
            step = 1
        if step == 0:
            raise ZeroDivisionError('arange: step must not be 0')
        return create('_npi_arange', {'start': start, 'stop': stop, 'step': step,
                                      'dtype': dtype_text(dtype, 'float32')}, ctx)

    def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, ctx=None):
        """`num` numbers at equal distances from `start` to `stop`, which is one of them only with `endpoint`."""
        if isinstance(start, (list, tuple, numpy.ndarray, NDArrayBase)) \
                or isinstance(stop, (list, tuple, numpy.ndarray, NDArrayBase)):
            raise NotImplementedError('linspace: start and stop must be numbers')
        if axis != 0:
            raise NotImplementedError('linspace: axis must be 0')
        values = create('_npi_linspace', {'start': start, 'stop': stop, 'num': num, 'endpoint': endpoint,
                                          'dtype': dtype_text(dtype, 'float32')}, ctx)
        gaps = num - 1 if endpoint else num
        return (values, (stop - start) / gaps if gaps > 0 else float('nan')) if retstep else values

    def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0, ctx=None):
        """`base` to the power of `num` numbers at equal distances from `start` to `stop`."""
        if isinstance(start, (list, tuple, numpy.ndarray, NDArrayBase)) \
                or isinstance(stop, (list, tuple, numpy.ndarray, NDArrayBase)):
            raise NotImplementedError('logspace: start and stop must be numbers')
        if axis != 0:
            raise NotImplementedError('logspace: axis must be 0')
        return create('_npi_logspace', {'start': start, 'stop': stop, 'num': num, 'endpoint': endpoint, 'base': base,
                                        'dtype': dtype_text(dtype, 'float32')}, ctx)

    def eye(N, M=None, k=0, dtype=numpy.float32, **kwargs):
        """Zeros of N rows and M columns (as many as rows, if not given) with ones on the k-th diagonal."""
        ctx = kwargs.pop('ctx', None)
        _row_major('eye', kwargs.pop('order', 'C'))
        if kwargs:
            raise TypeError(f'eye: unknown argument {next(iter(kwargs))}')
        return create('_npi_eye', {'N': N, 'M': M, 'k': k, 'dtype': dtype_text(dtype, 'float32')}, ctx)

    def identity(n, dtype=None, ctx=None):
        """A square matrix with ones on its diagonal."""
        if not isinstance(n, (int, numpy.integer)):
            raise TypeError(f'identity: n must be an int, not {n!r}')
        if n < 0:
            raise ValueError(f'identity: n must not be negative, but is {n}')
        return create('_npi_identity', {'shape': (n, n), 'dtype': dtype_text(dtype, 'float32')}, ctx)

    def indices(dimensions, dtype=numpy.int32, ctx=None):
        """For each axis of a grid of these lengths, the position along it of every point."""
        if not isinstance(dimensions, (tuple, list)):
            raise ValueError('indices: dimensions must be a tuple or a list of ints')
        return create('_npi_indices', {'dimensions': tuple(dimensions), 'dtype': dtype_text(dtype, 'int32')}, ctx)

    def window(name, doc):
        def function(M, dtype=numpy.float32, ctx=None):
            return create(f'_npi_{name}', {'M': M, 'dtype': dtype_text(dtype, 'float32')}, ctx)
        function.__name__ = function.__qualname__ = name
        function.__doc__ = doc
        return function

    blackman = window('blackman', 'The Blackman window of M points.')
    hamming = window('hamming', 'The Hamming window of M points.')
    hanning = window('hanning', 'The Hann window of M points.')

    made = (zeros, ones, full, arange, linspace, logspace, eye, identity, indices, blackman, hamming, hanning)
    for function in made:
        function.__qualname__ = function.__name__
    return {f.__name__: f for f in made}


def create(name, attributes, ctx=None, out=None):
    """Makes an array by an operator without inputs."""
    op = NAMES[name]
    if ctx is not None:
        attributes['ctx'] = ctx
    return _invoke.run(op, (), op.parse(attributes), out, _call.array_class)


def _bound(function, shape, dtype, ctx):
    return _bound_creation.constant(function, shape, dtype, ctx, _call.array_class)


_made = makers(create, _bound)
zeros, ones, full, arange, linspace, logspace, eye, identity, indices, blackman, hamming, hanning = _made.values()
__all__ += _made
