# Made by `python -m mxnet._frontend.stubs`: do not edit.
from builtins import bool as _bool
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as _numpy

from mxnet._typing import ArrayLike, DType, Operand
from mxnet.context import Context
from mxnet.numpy.multiarray import ndarray as ndarray
from mxnet.numpy import array_api as array_api
from mxnet.numpy import arrayprint as arrayprint
from mxnet.numpy import fallback as fallback
from mxnet.numpy import fallback_linalg as fallback_linalg
from mxnet.numpy import function_base as function_base
from mxnet.numpy import io as io
from mxnet.numpy import linalg as linalg
from mxnet.numpy import multiarray as multiarray
from mxnet.numpy import random as random
from mxnet.numpy import stride_tricks as stride_tricks
from mxnet.numpy import utils as utils

NAN: float
NINF: float
NZERO: float
NaN: float
PINF: float
PZERO: float
bool = _bool
bool_ = _numpy.bool_
e: float
finfo = _numpy.finfo
float16 = _numpy.float16
float32 = _numpy.float32
float64 = _numpy.float64
iinfo = _numpy.iinfo
inf: float
int16 = _numpy.int16
int32 = _numpy.int32
int64 = _numpy.int64
int8 = _numpy.int8
nan: float
newaxis: None
pi: float
uint16 = _numpy.uint16
uint32 = _numpy.uint32
uint64 = _numpy.uint64
uint8 = _numpy.uint8
def abs(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The absolute value."""

def absolute(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The absolute value."""

def add(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The sum."""

def all(a: Operand, axis: int | Sequence[int] | None = None, keepdims: _bool = False, out: Any = None) -> ndarray:
    """Whether no value along `axis` is 0."""

def allclose(a: Operand, b: Operand, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: _bool = False) -> _bool:
    """Whether all elements of two arrays are equal within a tolerance."""

def alltrue(*args: Any, **kwargs: Any) -> ndarray:
    """The old name of `all`."""

def amax(a: Operand, axis: int | Sequence[int] | None = None, keepdims: _bool = False, out: Any = None, initial: Any = None) -> ndarray:
    """The largest value along `axis`."""

def amin(a: Operand, axis: int | Sequence[int] | None = None, keepdims: _bool = False, out: Any = None, initial: Any = None) -> ndarray:
    """The smallest value along `axis`."""

def any(a: Operand, axis: int | Sequence[int] | None = None, keepdims: _bool = False, out: Any = None) -> ndarray:
    """Whether a value along `axis` is not 0."""

def append(arr: Operand, values: Operand, axis: int | Sequence[int] | None = None) -> ndarray:
    """`values` behind the array along an axis; without one, both in a row."""

def apply_along_axis(func1d: Any, axis: int | Sequence[int], arr: Operand, *args: Any, **kwargs: Any) -> Any:
    """Apply a function to 1-D slices along the given axis."""

def apply_over_axes(func: Any, a: Operand, axes: int | Sequence[int]) -> Any:
    """Apply a function repeatedly over multiple axes."""

def arange(start: Operand, stop: Operand | None = None, step: float = 1, dtype: DType | None = None, ctx: Context | None = None) -> ndarray:
    """Numbers from `start` up to, and without, `stop`; with one limit alone, from 0 up to it."""

def arccos(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The inverse cosine."""

def arccosh(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The inverse hyperbolic cosine."""

def arcsin(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The inverse sine."""

def arcsinh(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The inverse hyperbolic sine."""

def arctan(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The inverse tangent."""

def arctan2(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The angle of the point with height `x1` at distance `x2`."""

def arctanh(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The inverse hyperbolic tangent."""

def argmax(a: Operand, axis: int | Sequence[int] | None = None, out: Any = None, keepdims: _bool = False) -> ndarray:
    """The number (int64) of the largest value along `axis`, the first of several; without it, in the flat array."""

def argmin(a: Operand, axis: int | Sequence[int] | None = None, out: Any = None, keepdims: _bool = False) -> ndarray:
    """The number (int64) of the smallest value along `axis`, the first of several; without it, in the flat array."""

def argpartition(a: Operand, kth: Any, axis: int | Sequence[int] = -1, kind: str = 'introselect', order: str | None = None) -> ndarray:
    """Perform an indirect partition along the given axis using the algorithm specified by the `kind` keyword. It returns an array of indices of the same shape as `a` that index data along the given axis in partitioned order."""

def argsort(a: Operand, axis: int | Sequence[int] = -1, kind: str | None = None, order: str | None = None) -> ndarray:
    """The indices (int64) that would sort an axis; with axis=None, the flat array."""

def argwhere(a: Operand) -> ndarray:
    """Find the indices of array elements that are non-zero, grouped by element."""

def around(x: Operand, decimals: int = 0, out: Any = None, **kwargs: Any) -> ndarray:
    """The nearest number with `decimals` decimals; of two equally near ones the even one."""

def array(object: ArrayLike, dtype: DType | None = None, ctx: Context | None = None) -> ndarray:
    """An array from nested lists, a NumPy array or another array."""

def array_equal(a1: Operand, a2: Operand, equal_nan: _bool = False) -> _bool:
    """Whether two arrays have the same shape and elements."""

def array_equiv(a1: Operand, a2: Operand) -> _bool:
    """Returns True if input arrays are shape consistent and all elements equal."""

def array_split(ary: Operand, indices_or_sections: Any, axis: int | Sequence[int] = 0) -> Any:
    """As `split`, where parts may differ in length by one."""

def asarray(a: ArrayLike, dtype: DType | None = None, ctx: Context | None = None, copy: _bool | None = None, device: Context | None = None) -> ndarray:
    """The array itself if it is one of this dtype on this context; else as `array`."""

def atleast_1d(*arys: Any) -> Any:
    """Arrays with one axis or more: numbers get one."""

def atleast_2d(*arys: Any) -> Any:
    """Arrays with two axes or more: missing ones are added in front."""

def atleast_3d(*arys: Any) -> Any:
    """Arrays with three axes or more."""

def average(a: Operand, axis: int | Sequence[int] | None = None, weights: Any = None, returned: _bool = False, out: Any = None) -> Any:
    """The mean along `axis`, each value weighted; with `returned`, the sum of weights as well."""

def bincount(x: Operand, weights: Any = None, minlength: int = 0) -> ndarray:
    """How often each of the numbers 0, 1, ... is in a vector of integers; with weights, the sum of these."""

def bitwise_and(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """Bits that are set in both."""

def bitwise_not(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """Every bit turned over; of booleans, the opposite."""

def bitwise_or(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """Bits that are set in one or both."""

def bitwise_xor(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """Bits that are set in exactly one."""

def blackman(M: Any, dtype: DType | None = ..., ctx: Context | None = None) -> ndarray:
    """The Blackman window of M points."""

def broadcast_arrays(*args: Any) -> Any:
    """Copies of arrays, all of them broadcast to one shape; the arrays themselves if they have one shape already."""

def broadcast_to(array: Operand, shape: int | Sequence[int]) -> ndarray:
    """A copy with axes of length 1 repeated, and axes added in front, to fit `shape`."""

def cbrt(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The cube root."""

def ceil(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The smallest integer that is not below the value."""

def choose(a: Operand, choices: Any, out: Any = None, mode: str = 'raise') -> Any:
    """Construct an array from an index array and a list of arrays to choose from."""

def clip(a: Operand, a_min: Any, a_max: Any, out: Any = None) -> ndarray:
    """`a` with values below `a_min` raised to it and values above `a_max` lowered to it; None is no limit."""

def column_stack(tup: Sequence[ndarray]) -> ndarray:
    """Matrices beside each other, where vectors count as columns."""

def compress(condition: Operand, a: Operand, axis: int | Sequence[int] | None = None, out: Any = None) -> ndarray:
    """Return selected slices of an array along given axis."""

def concatenate(seq: Sequence[ndarray], axis: int | Sequence[int] = 0, out: Any = None) -> ndarray:
    """Arrays behind each other along an axis; with axis=None, their elements in a row."""

def copy(a: Operand, out: Any = None) -> ndarray:
    """A copy of an array."""

def copysign(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The size of `x1` with the sign of `x2`."""

def corrcoef(x: Operand, y: Operand | None = None, rowvar: _bool = True, bias: _bool | None = None, ddof: int | None = None, *, dtype: DType | None = None) -> ndarray:
    """Correlations of variables, one to a row; `bias` and `ddof` have no effect."""

def correlate(a: Operand, v: Operand, mode: str = 'valid') -> ndarray:
    """Cross-correlation of two 1-dimensional sequences."""

def cos(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The cosine of an angle in radians."""

def cosh(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The hyperbolic cosine."""

def count_nonzero(a: Operand, axis: int | Sequence[int] | None = None, *, keepdims: _bool = False) -> Any:
    """Counts the number of non-zero values in the array ``a``."""

def cov(m: Operand, y: Operand | None = None, rowvar: _bool = True, bias: _bool = False, ddof: int | None = None, fweights: Any = None, aweights: Any = None, *, dtype: DType | None = None) -> ndarray:
    """Estimate a covariance matrix, given data and weights."""

def cumsum(a: Operand, axis: int | Sequence[int] | None = None, dtype: DType | None = None, out: Any = None) -> ndarray:
    """The running sum along `axis`; without it, of the flat array."""

def deg2rad(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """An angle in degrees, given in radians."""

def degrees(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """An angle in radians, given in degrees."""

def delete(arr: Operand, obj: Any, axis: int | Sequence[int] | None = None) -> ndarray:
    """The array without the elements at a position, a slice or several positions along an axis."""

def diag(array: Operand, k: int = 0) -> ndarray:
    """The k-th diagonal of a matrix, or a matrix that has this one."""

def diag_indices_from(arr: Operand) -> Any:
    """Positions of the main diagonal: an array for each axis; of a symbol, a row for each."""

def diagflat(array: Operand, k: int = 0) -> ndarray:
    """A matrix with all elements on its k-th diagonal."""

def diagonal(a: Operand, offset: int = 0, axis1: int = 0, axis2: int = 1) -> ndarray:
    """Diagonals of the plane of two axes, as the last axis of the result."""

def diff(a: Operand, n: int = 1, axis: int | Sequence[int] = -1, prepend: Any = None, append: Any = None) -> ndarray:
    """The differences of neighbours along an axis, `n` times over."""

def digitize(x: Operand, bins: Any, right: _bool = False) -> ndarray:
    """Return the indices of the bins to which each value in input array belongs."""

def divide(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The quotient; of integers as float32."""

def divmod(x1: Operand, x2: Operand, /, out: Any = ..., *, where: Any = True, casting: Any = 'same_kind', order: str = 'K', dtype: DType | None = None, subok: _bool = True, signature: Any = None) -> Any:
    """divmod(x1, x2[, out1, out2], / [, out=(None, None)], *, where=True, casting='same_kind', order='K', dtype=None, subok=True[, signature])"""

def dot(a: Operand, b: Operand, out: Any = None) -> ndarray:
    """The sum of products over the last axis of `a` and the last but one of `b`; a number multiplies."""

def dsplit(ary: Operand, indices_or_sections: Any) -> Any:
    """Parts along the third axis."""

def dstack(arrays: Sequence[ndarray]) -> ndarray:
    """Arrays behind each other along the third axis."""

def ediff1d(ary: Operand, to_end: Any = None, to_begin: Any = None) -> ndarray:
    """The differences of neighbours in the flat array, with more in front of and behind them."""

def einsum(*operands: Any, **kwargs: Any) -> ndarray:
    """Einstein's sum: axes with one letter are multiplied, those whose letter is not in the result summed over."""

def empty(shape: int | Sequence[int], dtype: DType | None = ..., order: str = 'C', ctx: Context | None = None) -> ndarray:
    """An array whose values are whatever was in memory."""

def empty_like(prototype: Operand, dtype: DType | None = None, order: str = 'C', subok: _bool = False, shape: int | Sequence[int] | None = None) -> ndarray:
    """An array in the shape and dtype of another, with any values."""

def equal(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """Whether both are equal."""

def exp(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The exponential function."""

def expand_dims(a: Operand, axis: int | Sequence[int]) -> ndarray:
    """New axes of length 1; `axis` says where they are in the result."""

def expm1(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """`exp(x) - 1`, accurate near 0."""

def extract(condition: Operand, arr: Operand) -> ndarray:
    """Return the elements of an array that satisfy some condition."""

def eye(N: int, M: Any = None, k: int = 0, dtype: DType | None = ..., **kwargs: Any) -> ndarray:
    """Zeros of N rows and M columns (as many as rows, if not given) with ones on the k-th diagonal."""

def fabs(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The absolute value."""

def fix(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The value without its fraction."""

def flatnonzero(a: Operand) -> ndarray:
    """Return indices that are non-zero in the flattened version of a."""

def flip(m: Operand, axis: int | Sequence[int] | None = None, out: Any = None) -> ndarray:
    """The elements in reverse order along `axis`, or along all axes."""

def fliplr(m: Operand) -> ndarray:
    """The second axis in reverse order."""

def flipud(m: Operand) -> ndarray:
    """The first axis in reverse order."""

def float_power(x1: Operand, x2: Operand, /, out: Any = None, *, where: Any = True, casting: Any = 'same_kind', order: str = 'K', dtype: DType | None = None, subok: _bool = True, signature: Any = None) -> ndarray:
    """float_power(x1, x2, /, out=None, *, where=True, casting='same_kind', order='K', dtype=None, subok=True[, signature])"""

def floor(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The largest integer that is not above the value."""

def floor_divide(x1: Operand, x2: Operand) -> ndarray:
    """The largest integers that are not above the quotients, in the dtype of the operands."""

def frexp(x: Operand, /, out: Any = ..., *, where: Any = True, casting: Any = 'same_kind', order: str = 'K', dtype: DType | None = None, subok: _bool = True, signature: Any = None) -> Any:
    """frexp(x[, out1, out2], / [, out=(None, None)], *, where=True, casting='same_kind', order='K', dtype=None, subok=True[, signature])"""

def full(shape: int | Sequence[int], fill_value: Any, dtype: DType | None = None, order: str = 'C', ctx: Context | None = None, out: Any = None) -> ndarray:
    """One number in a whole shape, or an array broadcast to it."""

def full_like(a: Operand, fill_value: Any, dtype: DType | None = None, order: str = 'C', ctx: Context | None = None, out: Any = None) -> ndarray:
    """One number in the shape of `a`, and in its dtype unless another is given."""

def genfromtxt(*args: Any, **kwargs: Any) -> ndarray:
    """The numbers in a text file, as `numpy.genfromtxt` reads them; float32 unless `dtype` says otherwise."""

def greater(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """Whether `x1 > x2`."""

def greater_equal(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """Whether `x1 >= x2`."""

def hamming(M: Any, dtype: DType | None = ..., ctx: Context | None = None) -> ndarray:
    """The Hamming window of M points."""

def hanning(M: Any, dtype: DType | None = ..., ctx: Context | None = None) -> ndarray:
    """The Hann window of M points."""

def heaviside(x1: Operand, x2: Operand, /, out: Any = None, *, where: Any = True, casting: Any = 'same_kind', order: str = 'K', dtype: DType | None = None, subok: _bool = True, signature: Any = None) -> ndarray:
    """heaviside(x1, x2, /, out=None, *, where=True, casting='same_kind', order='K', dtype=None, subok=True[, signature])"""

def histogram(a: Operand, bins: Any = 10, range: Any = None, normed: _bool | None = None, weights: Any = None, density: _bool | None = None) -> tuple[ndarray, ndarray]:
    """(counts, edges): how many values lie in each of several intervals."""

def histogram2d(x: Operand, y: Operand, bins: Any = 10, range: Any = None, normed: _bool | None = None, weights: Any = None, density: _bool | None = None) -> Any:
    """(counts, edges, edges): how many points lie in each rectangle; `normed` is the old name of `density`."""

def histogram_bin_edges(a: Operand, bins: Any = 10, range: Any = None, weights: Any = None) -> ndarray:
    """Function to calculate only the edges of the bins used by the `histogram` function."""

def histogramdd(sample: Any, bins: Any = 10, range: Any = None, normed: _bool | None = None, weights: Any = None, density: _bool | None = None) -> Any:
    """(counts, list of edges): how many points lie in each box; `normed` is the old name of `density`."""

def hsplit(ary: Operand, indices_or_sections: Any) -> Any:
    """Parts along the second axis, or along a vector's only one."""

def hstack(arrays: Sequence[ndarray]) -> ndarray:
    """Arrays beside each other: along the second axis, or vectors along their only one."""

def hypot(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """`sqrt(x1^2 + x2^2)`."""

def i0(x: Operand) -> ndarray:
    """Modified Bessel function of the first kind, order 0."""

def identity(n: int, dtype: DType | None = None, ctx: Context | None = None) -> ndarray:
    """A square matrix with ones on its diagonal."""

def in1d(ar1: Operand, ar2: Operand, assume_unique: _bool = False, invert: _bool = False) -> ndarray:
    """Whether each element of the flat `ar1` is in `ar2`; `isin` is its successor."""

def indices(dimensions: Any, dtype: DType | None = ..., ctx: Context | None = None) -> ndarray:
    """For each axis of a grid of these lengths, the position along it of every point."""

def inner(a: Operand, b: Operand) -> ndarray:
    """The sum of products over the last axes of both."""

def insert(arr: Operand, obj: Any, values: Operand, axis: int | Sequence[int] | None = None) -> ndarray:
    """The array with `values` before a position, the positions of a slice or several positions along an axis."""

def interp(x: Operand, xp: Any, fp: Any, left: Any = None, right: _bool | None = None, period: float | None = None) -> ndarray:
    """One-dimensional linear interpolation for monotonically increasing sample points."""

def intersect1d(ar1: Operand, ar2: Operand, assume_unique: _bool = False, return_indices: _bool = False) -> Any:
    """Find the intersection of two arrays."""

def invert(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """Every bit turned over; of booleans, the opposite."""

def isclose(a: Operand, b: Operand, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: _bool = False) -> ndarray:
    """Returns a boolean array where two arrays are element-wise equal within a tolerance."""

def isfinite(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """Whether the value is neither infinite nor NaN."""

def isin(element: Operand, test_elements: Operand, assume_unique: _bool = False, invert: _bool = False, *, kind: str | None = None) -> ndarray:
    """Calculates ``element in test_elements``, broadcasting over `element` only. Returns a boolean array of the same shape as `element` that is True where an element of `element` is in `test_elements` and False otherwise."""

def isinf(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """Whether the value is infinite, with either sign."""

def isnan(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """Whether the value is NaN."""

def isneginf(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """Whether it is negative infinity."""

def isposinf(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """Whether it is positive infinity."""

def ix_(*args: Any) -> Any:
    """Construct an open mesh from multiple sequences."""

def kron(a: Operand, b: Operand) -> ndarray:
    """The Kronecker product: `b` times each element of `a`, in its place."""

def lcm(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The smallest common multiple of integers."""

def ldexp(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """`x1 * 2**x2`."""

def left_shift(x1: Operand, x2: Operand) -> ndarray:
    """The bits of `x1` moved to the left by `x2` places."""

def less(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """Whether `x1 < x2`."""

def less_equal(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """Whether `x1 <= x2`."""

def lexsort(keys: Any, axis: int | Sequence[int] = -1) -> ndarray:
    """lexsort(keys, axis=-1)"""

def linspace(start: Operand, stop: Operand, num: int = 50, endpoint: _bool = True, retstep: _bool = False, dtype: DType | None = None, axis: int | Sequence[int] = 0, ctx: Context | None = None) -> Any:
    """`num` numbers at equal distances from `start` to `stop`, which is one of them only with `endpoint`."""

def log(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The natural logarithm."""

def log10(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The logarithm to the base 10."""

def log1p(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """`log(1 + x)`, accurate near 0."""

def log2(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The logarithm to the base 2."""

def logaddexp(x1: Operand, x2: Operand) -> ndarray:
    """`log(exp(x1) + exp(x2))`, without overflow on the way."""

def logical_and(x1: Operand, x2: Operand, out: Any = None) -> ndarray:
    """Whether neither is 0."""

def logical_not(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """Whether the value is 0."""

def logical_or(x1: Operand, x2: Operand, out: Any = None) -> ndarray:
    """Whether one or both are not 0."""

def logical_xor(x1: Operand, x2: Operand, out: Any = None) -> ndarray:
    """Whether exactly one is not 0."""

def logspace(start: Operand, stop: Operand, num: int = 50, endpoint: _bool = True, base: float = 10.0, dtype: DType | None = None, axis: int | Sequence[int] = 0, ctx: Context | None = None) -> ndarray:
    """`base` to the power of `num` numbers at equal distances from `start` to `stop`."""

def matmul(a: Operand, b: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The matrix product over the last two axes; all others broadcast."""

def matrix_transpose(x: Operand) -> ndarray:
    """The last two axes exchanged."""

def max(a: Operand, axis: int | Sequence[int] | None = None, keepdims: _bool = False, out: Any = None, initial: Any = None) -> ndarray:
    """The largest value along `axis`."""

def maximum(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The larger of two."""

def may_share_memory(a: Operand, b: Operand, max_work: Any = None) -> _bool:
    """Whether two arrays share memory."""

def mean(a: Operand, axis: int | Sequence[int] | None = None, dtype: DType | None = None, out: Any = None, keepdims: _bool = False) -> ndarray:
    """The mean along `axis`; of integers as float32."""

def meshgrid(*xi: Operand, **kwargs: Any) -> list[ndarray]:
    """Arrays of coordinates of the grid that vectors span: one for each vector."""

def min(a: Operand, axis: int | Sequence[int] | None = None, keepdims: _bool = False, out: Any = None, initial: Any = None) -> ndarray:
    """The smallest value along `axis`."""

def min_scalar_type(a: Operand, /) -> _numpy.dtype[Any]:
    """min_scalar_type(a, /)"""

def minimum(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The smaller of two."""

def mirr(values: Operand, finance_rate: Any, reinvest_rate: Any) -> Any:
    """The rate of return if income is invested at one rate and spending paid at another."""

def mod(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The remainder with the divisor's sign; 0 where it is 0."""

def modf(x: Operand, /, out: Any = ..., *, where: Any = True, casting: Any = 'same_kind', order: str = 'K', dtype: DType | None = None, subok: _bool = True, signature: Any = None) -> Any:
    """modf(x[, out1, out2], / [, out=(None, None)], *, where=True, casting='same_kind', order='K', dtype=None, subok=True[, signature])"""

def moveaxis(a: Operand, source: int | Sequence[int], destination: int | Sequence[int]) -> ndarray:
    """Moves axes to new places; the others keep their order."""

def msort(a: Operand) -> ndarray:
    """The elements in rising order along the first axis."""

def multiply(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The product of elements."""

def nan_to_num(x: Operand, copy: _bool = True, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None, **kwargs: Any) -> ndarray:
    """NaN and infinities replaced by numbers: 0, and the largest and smallest that there are, unless given."""

def nanargmax(a: Operand, axis: int | Sequence[int] | None = None, out: Any = None, *, keepdims: _bool | None = ...) -> ndarray:
    """Return the indices of the maximum values in the specified axis ignoring NaNs. For all-NaN slices ``ValueError`` is raised. Warning: the results cannot be trusted if a slice contains only NaNs and -Infs."""

def nanargmin(a: Operand, axis: int | Sequence[int] | None = None, out: Any = None, *, keepdims: _bool | None = ...) -> ndarray:
    """Return the indices of the minimum values in the specified axis ignoring NaNs. For all-NaN slices ``ValueError`` is raised. Warning: the results cannot be trusted if a slice contains only NaNs and Infs."""

def nancumprod(a: Operand, axis: int | Sequence[int] | None = None, dtype: DType | None = None, out: Any = None) -> ndarray:
    """Return the cumulative product of array elements over a given axis treating Not a Numbers (NaNs) as one.  The cumulative product does not change when NaNs are encountered and leading NaNs are replaced by ones."""

def nancumsum(a: Operand, axis: int | Sequence[int] | None = None, dtype: DType | None = None, out: Any = None) -> ndarray:
    """Return the cumulative sum of array elements over a given axis treating Not a Numbers (NaNs) as zero.  The cumulative sum does not change when NaNs are encountered and leading NaNs are replaced by zeros."""

def nanmax(a: Operand, axis: int | Sequence[int] | None = None, out: Any = None, keepdims: _bool | None = ..., initial: Any = ..., where: Any = ...) -> ndarray:
    """Return the maximum of an array or maximum along an axis, ignoring any NaNs.  When all-NaN slices are encountered a ``RuntimeWarning`` is raised and NaN is returned for that slice."""

def nanmedian(a: Operand, axis: int | Sequence[int] | None = None, out: Any = None, overwrite_input: _bool = False, keepdims: _bool | None = ...) -> ndarray:
    """Compute the median along the specified axis, while ignoring NaNs."""

def nanmin(a: Operand, axis: int | Sequence[int] | None = None, out: Any = None, keepdims: _bool | None = ..., initial: Any = ..., where: Any = ...) -> ndarray:
    """Return minimum of an array or minimum along an axis, ignoring any NaNs. When all-NaN slices are encountered a ``RuntimeWarning`` is raised and Nan is returned for that slice."""

def nanpercentile(a: Operand, q: float, axis: int | Sequence[int] | None = None, out: Any = None, overwrite_input: _bool = False, method: str = 'linear', keepdims: _bool = False, *, interpolation: str | None = None) -> ndarray:
    """As `percentile`, without the values that are NaN."""

def nanprod(a: Operand, axis: int | Sequence[int] | None = None, dtype: DType | None = None, out: Any = None, keepdims: _bool | None = ..., initial: Any = ..., where: Any = ...) -> ndarray:
    """Return the product of array elements over a given axis treating Not a Numbers (NaNs) as ones."""

def nanquantile(a: Operand, q: float, axis: int | Sequence[int] | None = None, out: Any = None, overwrite_input: _bool = False, method: str = 'linear', keepdims: _bool = False, *, interpolation: str | None = None) -> ndarray:
    """As `quantile`, without the values that are NaN."""

def ndim(a: Operand) -> int:
    """Number of axes."""

def negative(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The value with the opposite sign."""

def nonzero(a: Operand) -> tuple[ndarray, ...]:
    """Positions of the elements that are not 0: an array for each axis."""

def not_equal(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """Whether both differ."""

def npv(rate: Any, values: Operand) -> Any:
    """What payments at times 0, 1, ... are worth now."""

def ones(shape: int | Sequence[int], dtype: DType | None = ..., order: str = 'C', ctx: Context | None = None) -> ndarray:
    """Ones of a shape."""

def ones_like(a: Operand, dtype: DType | None = None, order: str = 'C', ctx: Context | None = None, out: Any = None) -> ndarray:
    """Ones in the shape of `a`, and in its dtype unless another is given."""

def outer(a: Operand, b: Operand) -> ndarray:
    """The products of each element of `a` with each of `b`, as a matrix."""

def packbits(a: Operand, /, axis: int | Sequence[int] | None = None, bitorder: str = 'big') -> ndarray:
    """packbits(a, /, axis=None, bitorder='big')"""

def pad(x: Operand, pad_width: Any = None, mode: str = 'constant', **kwargs: Any) -> ndarray:
    """A frame around the array: `pad_width` is (before, after) for each axis, for all of them, or one number."""

def partition(a: Operand, kth: Any, axis: int | Sequence[int] = -1, kind: str = 'introselect', order: str | None = None) -> ndarray:
    """Return a partitioned copy of an array."""

def percentile(a: Operand, q: Operand, axis: int | Sequence[int] | None = None, out: Any = None, overwrite_input: _bool | None = None, interpolation: str = 'linear', keepdims: _bool = False) -> ndarray:
    """Values below which `q` per cent of those along `axis` lie."""

def piecewise(x: Operand, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> ndarray:
    """Evaluate a piecewise-defined function."""

def poly(seq_of_zeros: Any) -> ndarray:
    """Find the coefficients of a polynomial with the given sequence of roots."""

def polyadd(a1: Operand, a2: Operand) -> ndarray:
    """Find the sum of two polynomials."""

def polydiv(u: Operand, v: Operand) -> Any:
    """Returns the quotient and remainder of polynomial division."""

def polyfit(x: Operand, y: Operand, deg: int, rcond: float | None = None, full: _bool = False, w: Any = None, cov: Any = False) -> Any:
    """Least squares polynomial fit."""

def polyint(p: Operand, m: Operand = 1, k: int | None = None) -> ndarray:
    """Return an antiderivative (indefinite integral) of a polynomial."""

def polymul(a1: Operand, a2: Operand) -> ndarray:
    """Find the product of two polynomials."""

def polysub(a1: Operand, a2: Operand) -> ndarray:
    """Difference (subtraction) of two polynomials."""

def polyval(p: Operand, x: Operand) -> ndarray:
    """A polynomial at each `x`; `p` has its coefficients, that of the highest power first."""

def positive(x: Operand, /, out: Any = None, *, where: Any = True, casting: Any = 'same_kind', order: str = 'K', dtype: DType | None = None, subok: _bool = True, signature: Any = None) -> ndarray:
    """positive(x, /, out=None, *, where=True, casting='same_kind', order='K', dtype=None, subok=True[, signature])"""

def power(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """`x1` to the power of `x2`."""

def ppmt(rate: Any, per: Any, nper: Any, pv: Any, fv: Any = 0, when: Any = 'end') -> Any:
    """The part of the payment number `per` that pays the loan back: the payment without its interest."""

def prod(a: Operand, axis: int | Sequence[int] | None = None, dtype: DType | None = None, out: Any = None, keepdims: _bool = False, initial: Any = None) -> ndarray:
    """The product along `axis`."""

def product(a: Operand, axis: int | Sequence[int] | None = None, dtype: DType | None = None, out: Any = None, keepdims: _bool = False, initial: Any = None) -> ndarray:
    """The product along `axis`."""

def promote_types(type1: Any, type2: Any, /) -> _numpy.dtype[Any]:
    """promote_types(type1, type2, /)"""

def ptp(a: Operand, axis: int | Sequence[int] | None = None, out: Any = None, keepdims: _bool | None = ...) -> ndarray:
    """Range of values (maximum - minimum) along an axis."""

def pv(rate: Any, nper: Any, pmt: Any, fv: Any = 0, when: Any = 'end') -> Any:
    """What `nper` payments, and `fv` at their end, are worth now."""

def quantile(a: Operand, q: Operand, axis: int | Sequence[int] | None = None, out: Any = None, overwrite_input: _bool | None = None, interpolation: str = 'linear', keepdims: _bool = False) -> ndarray:
    """Values below which the share `q`, from 0 to 1, of those along `axis` lies."""

def rad2deg(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """An angle in radians, given in degrees."""

def radians(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """An angle in degrees, given in radians."""

def rate(nper: Any, pmt: Any, pv: Any, fv: Any, when: Any = 'end', guess: Any = 0.1, tol: float = 1e-06, maxiter: Any = 100) -> Any:
    """The interest rate at which `nper` payments turn `pv` into `fv`; NaN if it is not found."""

def ravel(x: Operand, order: str = 'C') -> ndarray:
    """The elements in a row."""

def real(val: Operand) -> ndarray:
    """Return the real part of the complex argument."""

def reciprocal(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """One over the value."""

def remainder(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The remainder with the divisor's sign; 0 where it is 0."""

def repeat(a: Operand, repeats: int | Sequence[int], axis: int | Sequence[int] | None = None) -> ndarray:
    """Every element `repeats` times (or as often as a list says) along an axis, or of the flat array."""

def reshape(a: Operand, newshape: int | Sequence[int], order: str = 'C', out: Any = None) -> ndarray:
    """The same elements in another shape, where -1 stands for what is left over."""

def resize(a: Operand, new_shape: int | Sequence[int]) -> ndarray:
    """The elements in another shape, from the start again where there are too few of them."""

def result_type(*arrays_and_dtypes: Any) -> _numpy.dtype[Any]:
    """result_type(*arrays_and_dtypes)"""

def right_shift(x1: Operand, x2: Operand) -> ndarray:
    """The bits of `x1` moved to the right by `x2` places."""

def rint(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The nearest integer; of two equally near ones the lower."""

def roll(a: Operand, shift: int | Sequence[int], axis: int | Sequence[int] | None = None) -> ndarray:
    """Moves elements along `axis` (without it, in the flat array); what leaves at one end comes in at the other."""

def rollaxis(a: Operand, axis: int | Sequence[int], start: Operand = 0) -> ndarray:
    """Roll the specified axis backwards, until it lies in a given position."""

def roots(p: Operand) -> ndarray:
    """Return the roots of a polynomial with coefficients given in p."""

def rot90(m: Operand, k: int = 1, axes: int | Sequence[int] = (0, 1)) -> ndarray:
    """Turns the plane of two axes by 90 degrees, `k` times, from the first towards the second."""

def round(x: Operand, decimals: int = 0, out: Any = None, **kwargs: Any) -> ndarray:
    """The nearest number with `decimals` decimals; of two equally near ones the even one."""

def round_(x: Operand, decimals: int = 0, out: Any = None, **kwargs: Any) -> ndarray:
    """The nearest number with `decimals` decimals; of two equally near ones the even one."""

def row_stack(arrays: Any, out: Any = None) -> ndarray:
    """Arrays above each other: along the first axis, where vectors count as rows."""

def searchsorted(a: Operand, v: Operand, side: str = 'left', sorter: Any = None) -> ndarray:
    """Find indices where elements should be inserted to maintain order."""

def select(condlist: Any, choicelist: Any, default: Any = 0) -> ndarray:
    """Return an array drawn from elements in choicelist, depending on conditions."""

def set_printoptions(precision: int | None = None, threshold: int | None = None, **kwarg: Any) -> None:
    """Sets how many digits and elements are printed, of NumPy's arrays as of ours."""

def setdiff1d(ar1: Operand, ar2: Operand, assume_unique: _bool = False) -> ndarray:
    """Find the set difference of two arrays."""

def setxor1d(ar1: Operand, ar2: Operand, assume_unique: _bool = False) -> ndarray:
    """Find the set exclusive-or of two arrays."""

def shape(a: Operand) -> tuple[int, ...]:
    """Lengths of the axes."""

def shares_memory(a: Operand, b: Operand, max_work: Any = None) -> _bool:
    """Whether two arrays share memory."""

def sign(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """-1, 0 or 1."""

def signbit(x: Operand, /, out: Any = None, *, where: Any = True, casting: Any = 'same_kind', order: str = 'K', dtype: DType | None = None, subok: _bool = True, signature: Any = None) -> ndarray:
    """signbit(x, /, out=None, *, where=True, casting='same_kind', order='K', dtype=None, subok=True[, signature])"""

def sin(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The sine of an angle in radians."""

def sinh(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The hyperbolic sine."""

def size(a: Operand, axis: int | Sequence[int] | None = None) -> int:
    """Number of elements, or length of an axis."""

def sometrue(a: Operand, axis: int | Sequence[int] | None = None, keepdims: _bool = False, out: Any = None) -> ndarray:
    """Whether a value along `axis` is not 0."""

def sort(a: Operand, axis: int | Sequence[int] = -1, kind: str | None = None, order: str | None = None) -> ndarray:
    """The elements in rising order along an axis; with axis=None, of the flat array."""

def spacing(x: Operand, /, out: Any = None, *, where: Any = True, casting: Any = 'same_kind', order: str = 'K', dtype: DType | None = None, subok: _bool = True, signature: Any = None) -> ndarray:
    """spacing(x, /, out=None, *, where=True, casting='same_kind', order='K', dtype=None, subok=True[, signature])"""

def split(ary: Operand, indices_or_sections: Any, axis: int | Sequence[int] = 0) -> Any:
    """A list of equal parts along an axis, or of those that begin at each of the given indices."""

def sqrt(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The square root; NaN below 0."""

def square(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The value times itself."""

def squeeze(a: Operand, axis: int | Sequence[int] | None = None, out: Any = None) -> ndarray:
    """Drops axes of length 1: those in `axis`, or all."""

def stack(arrays: Sequence[ndarray], axis: int | Sequence[int] = 0, out: Any = None) -> ndarray:
    """Arrays of one shape behind each other along a new axis."""

def std(a: Operand, axis: int | Sequence[int] | None = None, dtype: DType | None = None, out: Any = None, ddof: int = 0, keepdims: _bool = False) -> ndarray:
    """The standard deviation along `axis`; squares are divided by n - `ddof`."""

def subtract(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The difference."""

def sum(a: Operand, axis: int | Sequence[int] | None = None, dtype: DType | None = None, keepdims: _bool = False, initial: Any = None, out: Any = None) -> ndarray:
    """The sum along `axis`: one axis, several, or all by default."""

def swapaxes(a: Operand, axis1: int, axis2: int) -> ndarray:
    """Exchanges two axes."""

def take(a: Operand, indices: Operand, axis: int | Sequence[int] | None = None, mode: str = 'raise', out: Any = None) -> ndarray:
    """The elements at `indices` along an axis, or of the flat array."""

def take_along_axis(arr: Operand, indices: Any, axis: int | Sequence[int] = -1) -> ndarray:
    """The elements of `arr` at `indices`, which have as many axes: each row of indices is for the row beside it."""

def tan(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The tangent of an angle in radians."""

def tanh(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The hyperbolic tangent."""

def tensordot(a: Operand, b: Operand, axes: Any = 2) -> ndarray:
    """The sum of products over the last `axes` axes of `a` and the first of `b`, or over pairs of lists of axes."""

def tile(A: Operand, reps: int | Sequence[int]) -> ndarray:
    """The whole array repeated `reps` times along its axes."""

def trace(a: Operand, offset: int = 0, axis1: int = 0, axis2: int = 1, out: Any = None) -> ndarray:
    """Sums of diagonals of the plane of two axes."""

def transpose(a: Operand, axes: int | Sequence[int] | None = None) -> ndarray:
    """The axes in the order `axes`, by default in reverse order."""

def trapz(y: Operand, x: Operand | None = None, dx: float = 1.0, axis: int | Sequence[int] = -1) -> ndarray:
    """The area below points, by trapezoids."""

def tril(m: Operand, k: int = 0) -> ndarray:
    """Matrices with zeros above the k-th diagonal."""

def tril_indices_from(arr: Operand, k: int = 0) -> Any:
    """Return the indices for the lower-triangle of arr."""

def trim_zeros(filt: Any, trim: str = 'fb', axis: int | Sequence[int] | None = None) -> ndarray:
    """Remove values along a dimension which are zero along all other."""

def triu(m: Operand, k: int = 0) -> ndarray:
    """Matrices with zeros below the k-th diagonal."""

def triu_indices_from(arr: Operand, k: int = 0) -> Any:
    """Return the indices for the upper-triangle of arr."""

def true_divide(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The quotient; of integers as float32."""

def trunc(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The value without its fraction."""

def union1d(ar1: Operand, ar2: Operand) -> ndarray:
    """Find the union of two arrays."""

def unique(ar: Operand, return_index: _bool = False, return_inverse: _bool = False, return_counts: _bool = False, axis: int | Sequence[int] | None = None) -> Any:
    """The different values in rising order (or different parts along `axis`)."""

def unpackbits(a: Operand, /, axis: int | Sequence[int] | None = None, count: Any = None, bitorder: str = 'big') -> ndarray:
    """unpackbits(a, /, axis=None, count=None, bitorder='big')"""

def unravel_index(indices: Any, shape: int | Sequence[int], order: str = 'C') -> Any:
    """Positions along each axis of an array of `shape`, from positions in the flat array; of a symbol, as rows."""

def unwrap(p: Operand, discont: float | None = None, axis: int | Sequence[int] = -1, *, period: float = 6.283185307179586) -> ndarray:
    """Unwrap by taking the complement of large deltas with respect to the period."""

def vander(x: Operand, N: int | None = None, increasing: _bool = False) -> ndarray:
    """Generate a Vandermonde matrix."""

def var(a: Operand, axis: int | Sequence[int] | None = None, dtype: DType | None = None, out: Any = None, ddof: int = 0, keepdims: _bool = False) -> ndarray:
    """The variance along `axis`; squares are divided by n - `ddof`."""

def vdot(a: Operand, b: Operand) -> ndarray:
    """The sum of products of all elements of both."""

def vecdot(x1: Operand, x2: Operand, axis: int | Sequence[int] = -1) -> ndarray:
    """The sum of products along an axis of both."""

def vsplit(ary: Operand, indices_or_sections: Any) -> Any:
    """Parts along the first axis."""

def vstack(arrays: Sequence[ndarray], out: Any = None) -> ndarray:
    """Arrays above each other: along the first axis, where vectors count as rows."""

def where(condition: Operand, x: Operand | None = None, y: Operand | None = None) -> ndarray:
    """`x` where the condition is true, else `y`; with the condition alone, as `nonzero`."""

def zeros(shape: int | Sequence[int], dtype: DType | None = None, order: str = 'C', ctx: Context | None = None) -> ndarray:
    """Zeros of a shape."""

def zeros_like(a: Operand, dtype: DType | None = None, order: str = 'C', ctx: Context | None = None, out: Any = None) -> ndarray:
    """Zeros in the shape of `a`, and in its dtype unless another is given."""
