"""The Python array API standard (2024.12, as far as it goes without complex numbers) on `mx.np` arrays.

`x.__array_namespace__()` gives this module, so that libraries that speak the standard find its names and its rules:
integers from `arange`, promotion of dtypes, `concat`, `permute_dims`.  There are no complex numbers, and no unsigned
integers but uint8 that compute.
"""
import builtins
import collections

import numpy
import torch

from .._ops.core.dtypes import NAME, torch_dtype
from ..context import cpu
from . import _array_api_linalg as linalg  # noqa: F401  (an extension of the standard)
from . import _creation, _index, _matrix, _more, _reduce, _shape
from . import _elementwise as _e
from ._call import Numbers, apply, numbers
from ._creation import asarray as _asarray
from ._index import take, take_along_axis  # noqa: F401
from ._matrix import matrix_transpose, tensordot  # noqa: F401
from ._more import logaddexp, logical_and, logical_or, logical_xor  # noqa: F401
from ._reduce import all, any  # noqa: F401
from ._shape import broadcast_to, flip, moveaxis, repeat, stack, tile, tril, triu  # noqa: F401
from .function_base import meshgrid as _meshgrid
from .stride_tricks import broadcast_arrays  # noqa: F401

__array_api_version__ = '2024.12'
e, inf, nan, pi, newaxis = numpy.e, numpy.inf, numpy.nan, numpy.pi, None
int8, int16, int32, int64 = (numpy.dtype(n) for n in ('int8', 'int16', 'int32', 'int64'))
uint8, uint16, uint32, uint64 = (numpy.dtype(n) for n in ('uint8', 'uint16', 'uint32', 'uint64'))
float32, float64, bool = numpy.dtype('float32'), numpy.dtype('float64'), numpy.dtype('bool')


# ---------------------------------------------------------------------- creation
def asarray(obj, /, *, dtype=None, device=None, copy=None):
    """An array from numbers, nested sequences or arrays: float32, int64 or bool by what is in them."""
    return _asarray(obj, dtype=dtype, device=device, copy=copy)


def from_dlpack(x, /, *, device=None, copy=None):
    """An array that shares memory with one of another library."""
    from ..ndarray._interop import from_dlpack as share
    return share(x).as_np_ndarray()


def arange(start, /, stop=None, step=1, *, dtype=None, device=None):
    """Evenly spaced numbers; integers if all arguments are."""
    if stop is None:
        start, stop = 0, start
    if dtype is None:
        dtype = float32 if builtins.any(isinstance(v, float) for v in (start, stop, step)) else int64
    return _creation.arange(start, stop, step, dtype=dtype, ctx=device)


def linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True):
    """`num` numbers at equal distances from `start` to `stop`."""
    return _creation.linspace(start, stop, num, endpoint=endpoint, dtype=dtype, ctx=device)


def _maker(name):
    function = getattr(_creation, name)

    def make(shape, *, dtype=None, device=None):
        return function(shape, dtype=dtype or float32, ctx=device)
    make.__name__ = make.__qualname__ = name
    make.__doc__ = function.__doc__
    return make


zeros, ones, empty = _maker('zeros'), _maker('ones'), _maker('empty')


def full(shape, fill_value, *, dtype=None, device=None):
    """One number in a whole shape, in its own dtype unless another is given."""
    if dtype is None:
        dtype = bool if isinstance(fill_value, builtins.bool) else int64 if isinstance(fill_value, int) else float32
    return _creation.full(shape, fill_value, dtype=dtype, ctx=device)


def zeros_like(x, /, *, dtype=None, device=None):
    """Zeros in the shape of `x`."""
    return _creation.zeros_like(x, dtype, ctx=device)


def ones_like(x, /, *, dtype=None, device=None):
    """Ones in the shape of `x`."""
    return _creation.ones_like(x, dtype, ctx=device)


def full_like(x, /, fill_value, *, dtype=None, device=None):
    """One number in the shape of `x`."""
    return _creation.full_like(x, fill_value, dtype, ctx=device)


def empty_like(x, /, *, dtype=None, device=None):
    """Any values in the shape of `x`."""
    return _creation.empty_like(x, dtype)


def eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None):
    """Zeros with ones on the k-th diagonal."""
    return _creation.eye(n_rows, n_cols, k, dtype=dtype or float32, ctx=device)


def meshgrid(*arrays, indexing='xy'):
    """Arrays of coordinates of the grid that vectors span."""
    return _meshgrid(*arrays, indexing=indexing)


# ---------------------------------------------------------------------- dtypes
_KINDS = {'bool': 'b', 'signed integer': 'i', 'unsigned integer': 'u', 'integral': 'iu', 'real floating': 'f',
          'complex floating': 'c', 'numeric': 'iufc'}


def isdtype(dtype, kind):
    """Whether a dtype is of a kind ('integral', 'real floating', ...), is another dtype, or one of several of these."""
    if isinstance(kind, tuple):
        return builtins.any(isdtype(dtype, k) for k in kind)
    return numpy.dtype(dtype).kind in _KINDS[kind] if isinstance(kind, str) else numpy.dtype(dtype) == kind


def _dtype_of(x):
    return numpy.dtype(x) if isinstance(x, (numpy.dtype, type, str)) else x.dtype


def result_type(*arrays_and_dtypes):
    """The dtype in which arrays of several dtypes meet."""
    found = [torch_dtype(_dtype_of(x)) for x in arrays_and_dtypes if not isinstance(x, (int, float, builtins.bool))]
    result = found[0]
    for other in found[1:]:
        result = torch.promote_types(result, other)
    return numpy.dtype(NAME[result])


def can_cast(from_, to, /):
    """Whether a dtype (or that of an array) becomes another by the rules of promotion."""
    return result_type(from_, to) == numpy.dtype(to)


def astype(x, dtype, /, *, copy=True, device=None):
    """The array in another dtype."""
    return x.astype(dtype, copy=copy)


_Info = collections.namedtuple('finfo', 'bits eps max min smallest_normal dtype')
_IntInfo = collections.namedtuple('iinfo', 'bits max min dtype')


def finfo(type, /):
    """Limits of a floating point dtype (or that of an array)."""
    found = numpy.finfo(_dtype_of(type))
    return _Info(found.bits, float(found.eps), float(found.max), float(found.min), float(found.smallest_normal),
                 found.dtype)


def iinfo(type, /):
    """Limits of an integer dtype (or that of an array)."""
    found = numpy.iinfo(_dtype_of(type))
    return _IntInfo(found.bits, int(found.max), int(found.min), found.dtype)


# ---------------------------------------------------------------------- elementwise
def _unary(name, source=None, keep=False):
    """A function of one array; integers stay as they are where the result is theirs (`keep`: floor of an integer)."""
    function = getattr(_e, source or name)

    def wrapped(x, /):
        return x.copy() if keep and x.dtype.kind in 'iub' else function(x)
    wrapped.__name__ = wrapped.__qualname__ = name
    wrapped.__doc__ = function.__doc__
    return wrapped


abs, negative, sign, square = (_unary(n) for n in ('abs', 'negative', 'sign', 'square'))
acos, acosh, asin = _unary('acos', 'arccos'), _unary('acosh', 'arccosh'), _unary('asin', 'arcsin')
asinh, atan, atanh = _unary('asinh', 'arcsinh'), _unary('atan', 'arctan'), _unary('atanh', 'arctanh')
cos, cosh, exp, expm1, log, log1p, log2, log10 = (
    _unary(n) for n in ('cos', 'cosh', 'exp', 'expm1', 'log', 'log1p', 'log2', 'log10'))
sin, sinh, sqrt, tan, tanh, reciprocal = (_unary(n) for n in ('sin', 'sinh', 'sqrt', 'tan', 'tanh', 'reciprocal'))
ceil, floor, trunc = (_unary(n, keep=True) for n in ('ceil', 'floor', 'trunc'))
round = _unary('round', 'around', keep=True)
isfinite, isinf, isnan, logical_not = (_unary(n) for n in ('isfinite', 'isinf', 'isnan', 'logical_not'))
bitwise_invert = _unary('bitwise_invert', 'invert')


def positive(x, /):
    """A copy."""
    return x.copy()


def signbit(x, /):
    """Whether the sign is negative, of zeros too."""
    return _e.less(_e.copysign(ones_like(x), x), 0)


def _binary(name, function):
    """A function of two operands, of which one may be a number: it takes the dtype of the other."""
    def wrapped(x1, x2, /):
        if isinstance(x1, Numbers):
            x1 = asarray(x1, dtype=x2.dtype)
        elif isinstance(x2, Numbers):
            x2 = asarray(x2, dtype=x1.dtype)
        return function(x1, x2)
    wrapped.__name__ = wrapped.__qualname__ = name
    wrapped.__doc__ = function.__doc__
    return wrapped


add, subtract, multiply, divide = (_binary(n, getattr(_e, n)) for n in ('add', 'subtract', 'multiply', 'divide'))
floor_divide = _binary('floor_divide', _more.floor_divide)
remainder, maximum, minimum = (_binary(n, getattr(_e, n)) for n in ('remainder', 'maximum', 'minimum'))
equal, not_equal = (_binary(n, getattr(_e, n)) for n in ('equal', 'not_equal'))
greater, greater_equal, less, less_equal = (
    _binary(n, getattr(_e, n)) for n in ('greater', 'greater_equal', 'less', 'less_equal'))
bitwise_and, bitwise_or, bitwise_xor = (
    _binary(n, getattr(_e, n)) for n in ('bitwise_and', 'bitwise_or', 'bitwise_xor'))
pow, atan2, hypot, copysign = (_binary(n, f) for n, f in (
    ('pow', _e.power), ('atan2', _e.arctan2), ('hypot', _e.hypot), ('copysign', _e.copysign)))
nextafter = _binary('nextafter', lambda x1, x2: apply('_npi_nextafter', (x1, x2), {}))
bitwise_left_shift = _binary('bitwise_left_shift', _more.left_shift)
bitwise_right_shift = _binary('bitwise_right_shift', _more.right_shift)


def clip(x, /, min=None, max=None):
    """Values within limits, which may be numbers, arrays or None."""
    result = x if min is None else maximum(x, min)
    result = result if max is None else minimum(result, max)
    return result.astype(x.dtype, copy=result is x)


# ---------------------------------------------------------------------- shapes
def concat(arrays, /, *, axis=0):
    """Arrays behind each other along an axis; with axis=None, their elements in a row."""
    return _shape.concatenate(arrays, axis)


def permute_dims(x, /, axes):
    """The axes in another order."""
    return _shape.transpose(x, axes)


def reshape(x, /, shape, *, copy=None):
    """The same elements in another shape."""
    return _shape.reshape(x, shape) if copy else x.reshape(shape)


def roll(x, /, shift, *, axis=None):
    """Moves elements along axes; what leaves at one end comes in at the other."""
    return _shape.roll(x, shift, axis) if x.size else x.copy()


def expand_dims(x, /, axis):
    """A new axis of length 1."""
    if not -x.ndim - 1 <= axis <= x.ndim:
        raise IndexError(f'expand_dims: axis {axis} of an array with {x.ndim} axes')
    return _shape.expand_dims(x, axis)


def squeeze(x, /, axis):
    """Drops axes of length 1."""
    if builtins.any(not -x.ndim <= a < x.ndim for a in numbers(axis)):
        raise IndexError(f'squeeze: axis {axis} of an array with {x.ndim} axes')
    if builtins.any(x.shape[a] != 1 for a in numbers(axis)):
        raise ValueError(f'squeeze: an axis of {axis} is not of length 1 in shape {x.shape}')
    return _shape.squeeze(x, axis)


def unstack(x, /, *, axis=0):
    """The parts along an axis, as a tuple."""
    return tuple(moveaxis(x, axis, 0))


# ---------------------------------------------------------------------- products
def matmul(x1, x2, /):
    """The matrix product over the last two axes."""
    return _matrix.matmul(x1, x2)


def vecdot(x1, x2, /, *, axis=-1):
    """The sum of products along an axis of both."""
    return _reduce.sum(x1 * x2, axis=axis, dtype=result_type(x1, x2))


# ---------------------------------------------------------------------- reductions
def _sum_type(x, dtype):
    """Sums of small integers are int64; those of floats keep their dtype."""
    return dtype if dtype is not None else int64 if x.dtype.kind in 'iu' and x.dtype != uint64 else None


def sum(x, /, *, axis=None, dtype=None, keepdims=False):
    """The sum along `axis`; of integers as int64."""
    return _reduce.sum(x, axis, _sum_type(x, dtype), keepdims)


def prod(x, /, *, axis=None, dtype=None, keepdims=False):
    """The product along `axis`; of integers as int64."""
    return _reduce.prod(x, axis, _sum_type(x, dtype), None, keepdims)


def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False):
    """The running sum along `axis`; with `include_initial`, from 0 on."""
    axis = 0 if axis is None else axis
    total = _reduce.cumsum(x, axis, _sum_type(x, dtype))
    if not include_initial:
        return total
    shape = list(total.shape)
    shape[axis] = 1
    return concat([_creation.zeros(tuple(shape), dtype=total.dtype, ctx=x.ctx), total], axis=axis)


def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    """The running product along `axis`; with `include_initial`, from 1 on."""
    axis = 0 if axis is None else axis
    total = apply('_npi_cumprod', (x,), {'axis': axis, 'dtype': _sum_type(x, dtype)})
    if not include_initial:
        return total
    shape = list(total.shape)
    shape[axis] = 1
    return concat([_creation.ones(tuple(shape), dtype=total.dtype, ctx=x.ctx), total], axis=axis)


def mean(x, /, *, axis=None, keepdims=False):
    """The mean along `axis`."""
    return _reduce.mean(x, axis, keepdims=keepdims)


def std(x, /, *, axis=None, correction=0.0, keepdims=False):
    """The standard deviation along `axis`."""
    return _e.sqrt(var(x, axis=axis, correction=correction, keepdims=keepdims))


def var(x, /, *, axis=None, correction=0.0, keepdims=False):
    """The variance along `axis`; squares are divided by n - `correction`."""
    axes = tuple(range(x.ndim)) if axis is None else numbers(axis)
    count = int(numpy.prod([x.shape[a] for a in axes]))
    total = _reduce.sum((x - _reduce.mean(x, axes, keepdims=True)) ** 2, axes, keepdims=keepdims)
    return total / (count - correction) if count != correction else total * nan


def max(x, /, *, axis=None, keepdims=False):
    """The largest value along `axis`."""
    return _reduce.max(x, axis, keepdims)


def min(x, /, *, axis=None, keepdims=False):
    """The smallest value along `axis`."""
    return _reduce.min(x, axis, keepdims)


# ---------------------------------------------------------------------- searching, sorting, sets
def argmax(x, /, *, axis=None, keepdims=False):
    """The number of the largest value along `axis`."""
    return _position(_reduce.argmax, x, axis, keepdims)


def argmin(x, /, *, axis=None, keepdims=False):
    """The number of the smallest value along `axis`."""
    return _position(_reduce.argmin, x, axis, keepdims)


def _position(function, x, axis, keepdims):
    result = function(x, axis)
    if not keepdims:
        return result
    return result.reshape((1,) * x.ndim) if axis is None else _shape.expand_dims(result, axis)


def nonzero(x, /):
    """Positions of the elements that are not 0: an array for each axis."""
    if not x.ndim:
        raise ValueError('nonzero: the array must have an axis or more')
    return _index.nonzero(x)


def count_nonzero(x, /, *, axis=None, keepdims=False):
    """How many elements are not 0 along `axis`, as int64."""
    return _reduce.sum(_e.not_equal(x, 0), axis, 'int64', keepdims)


def where(condition, x1, x2, /):
    """`x1` where the condition is true, else `x2`."""
    if isinstance(x1, Numbers):
        x1 = asarray(x1, dtype=x2.dtype)
    elif isinstance(x2, Numbers):
        x2 = asarray(x2, dtype=x1.dtype)
    return _index.where(condition, x1, x2)


def searchsorted(x1, x2, /, *, side='left', sorter=None):
    """Where values would go into a sorted vector."""
    from .fallback import searchsorted as search
    return search(x1, x2, side=side, sorter=sorter)


def sort(x, /, *, axis=-1, descending=False, stable=True):
    """The elements in order along an axis."""
    return apply('_npi_sort', (x,), {'axis': axis, 'is_ascend': not descending})


def argsort(x, /, *, axis=-1, descending=False, stable=True):
    """The indices that would sort an axis."""
    return apply('_npi_argsort', (x,), {'axis': axis, 'is_ascend': not descending, 'dtype': 'int64'})


_All = collections.namedtuple('unique_all', 'values indices inverse_indices counts')
_Counts = collections.namedtuple('unique_counts', 'values counts')
_Inverse = collections.namedtuple('unique_inverse', 'values inverse_indices')


def unique_all(x, /):
    """The different values, where each is first, which of them each element is, and how often each is there."""
    values, indices, inverse, counts = _index.unique(x, True, True, True)
    return _All(values, indices, inverse.reshape(x.shape), counts)


def unique_counts(x, /):
    """The different values, and how often each is there."""
    return _Counts(*_index.unique(x, return_counts=True))


def unique_inverse(x, /):
    """The different values, and which of them each element is."""
    values, inverse = _index.unique(x, return_inverse=True)
    return _Inverse(values, inverse.reshape(x.shape))


def unique_values(x, /):
    """The different values."""
    return _index.unique(x)


def diff(x, /, *, axis=-1, n=1, prepend=None, append=None):
    """The differences of neighbours along an axis, `n` times over."""
    return _reduce.diff(x, n, axis, prepend, append)


# ---------------------------------------------------------------------- what there is
class _Info_:
    """What the standard asks a namespace about itself."""

    def capabilities(self):
        """What the standard leaves open, and this has."""
        return {'boolean indexing': True, 'data-dependent shapes': True, 'max dimensions': 64}

    def default_device(self):
        """The device that arrays are made on."""
        return cpu()

    def default_dtypes(self, *, device=None):
        """The dtypes of results where no array says another."""
        return {'real floating': float32, 'complex floating': None, 'integral': int64, 'indexing': int64}

    def devices(self):
        """The devices that there are."""
        from ..context import gpu, num_gpus
        return [cpu(), *[gpu(i) for i in range(num_gpus())]]

    def dtypes(self, *, device=None, kind=None):
        """The dtypes that there are, by name."""
        found = {n: globals()[n] for n in ('bool', 'int8', 'int16', 'int32', 'int64', 'uint8', 'float32', 'float64')}
        return found if kind is None else {n: d for n, d in found.items() if isdtype(d, kind)}


def __array_namespace_info__():
    """What there is: dtypes, devices, defaults."""
    return _Info_()
