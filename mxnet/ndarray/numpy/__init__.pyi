# Made by `python -m mxnet._frontend.stubs`: do not edit.
from builtins import bool as _bool
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as _numpy

from mxnet._typing import ArrayLike, DType, Operand
from mxnet.context import Context
from mxnet.numpy.multiarray import ndarray as ndarray
from mxnet.ndarray.numpy import linalg as linalg
from mxnet.ndarray.numpy import random as random

def abs(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The absolute value."""

def absolute(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The absolute value."""

def add(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The sum."""

def all(a: Operand, axis: int | Sequence[int] | None = None, keepdims: _bool = False, out: Any = None) -> ndarray:
    """Whether no value along `axis` is 0."""

def amax(a: Operand, axis: int | Sequence[int] | None = None, keepdims: _bool = False, out: Any = None, initial: Any = None) -> ndarray:
    """The largest value along `axis`."""

def amin(a: Operand, axis: int | Sequence[int] | None = None, keepdims: _bool = False, out: Any = None, initial: Any = None) -> ndarray:
    """The smallest value along `axis`."""

def any(a: Operand, axis: int | Sequence[int] | None = None, keepdims: _bool = False, out: Any = None) -> ndarray:
    """Whether a value along `axis` is not 0."""

def append(arr: Operand, values: Operand, axis: int | Sequence[int] | None = None) -> ndarray:
    """`values` behind the array along an axis; without one, both in a row."""

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

def argsort(a: Operand, axis: int | Sequence[int] = -1, kind: str | None = None, order: str | None = None) -> ndarray:
    """The indices (int64) that would sort an axis; with axis=None, the flat array."""

def around(x: Operand, decimals: int = 0, out: Any = None, **kwargs: Any) -> ndarray:
    """The nearest number with `decimals` decimals; of two equally near ones the even one."""

def array(object: ArrayLike, dtype: DType | None = None, ctx: Context | None = None) -> ndarray:
    """An array from nested lists, a NumPy array or another array."""

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

def broadcast_to(array: Operand, shape: int | Sequence[int]) -> ndarray:
    """A copy with axes of length 1 repeated, and axes added in front, to fit `shape`."""

def cbrt(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The cube root."""

def ceil(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The smallest integer that is not below the value."""

def clip(a: Operand, a_min: Any, a_max: Any, out: Any = None) -> ndarray:
    """`a` with values below `a_min` raised to it and values above `a_max` lowered to it; None is no limit."""

def column_stack(tup: Sequence[ndarray]) -> ndarray:
    """Matrices beside each other, where vectors count as columns."""

def concatenate(seq: Sequence[ndarray], axis: int | Sequence[int] = 0, out: Any = None) -> ndarray:
    """Arrays behind each other along an axis; with axis=None, their elements in a row."""

def copy(a: Operand, out: Any = None) -> ndarray:
    """A copy of an array."""

def copysign(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The size of `x1` with the sign of `x2`."""

def cos(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The cosine of an angle in radians."""

def cosh(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The hyperbolic cosine."""

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

def divide(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The quotient; of integers as float32."""

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

def eye(N: int, M: Any = None, k: int = 0, dtype: DType | None = ..., **kwargs: Any) -> ndarray:
    """Zeros of N rows and M columns (as many as rows, if not given) with ones on the k-th diagonal."""

def fabs(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The absolute value."""

def fix(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The value without its fraction."""

def flip(m: Operand, axis: int | Sequence[int] | None = None, out: Any = None) -> ndarray:
    """The elements in reverse order along `axis`, or along all axes."""

def fliplr(m: Operand) -> ndarray:
    """The second axis in reverse order."""

def flipud(m: Operand) -> ndarray:
    """The first axis in reverse order."""

def floor(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The largest integer that is not above the value."""

def full(shape: int | Sequence[int], fill_value: Any, dtype: DType | None = None, order: str = 'C', ctx: Context | None = None, out: Any = None) -> ndarray:
    """One number in a whole shape, or an array broadcast to it."""

def full_like(a: Operand, fill_value: Any, dtype: DType | None = None, order: str = 'C', ctx: Context | None = None, out: Any = None) -> ndarray:
    """One number in the shape of `a`, and in its dtype unless another is given."""

def greater(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """Whether `x1 > x2`."""

def greater_equal(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """Whether `x1 >= x2`."""

def hamming(M: Any, dtype: DType | None = ..., ctx: Context | None = None) -> ndarray:
    """The Hamming window of M points."""

def hanning(M: Any, dtype: DType | None = ..., ctx: Context | None = None) -> ndarray:
    """The Hann window of M points."""

def histogram(a: Operand, bins: Any = 10, range: Any = None, normed: _bool | None = None, weights: Any = None, density: _bool | None = None) -> tuple[ndarray, ndarray]:
    """(counts, edges): how many values lie in each of several intervals."""

def hsplit(ary: Operand, indices_or_sections: Any) -> Any:
    """Parts along the second axis, or along a vector's only one."""

def hstack(arrays: Sequence[ndarray]) -> ndarray:
    """Arrays beside each other: along the second axis, or vectors along their only one."""

def hypot(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """`sqrt(x1^2 + x2^2)`."""

def identity(n: int, dtype: DType | None = None, ctx: Context | None = None) -> ndarray:
    """A square matrix with ones on its diagonal."""

def indices(dimensions: Any, dtype: DType | None = ..., ctx: Context | None = None) -> ndarray:
    """For each axis of a grid of these lengths, the position along it of every point."""

def inner(a: Operand, b: Operand) -> ndarray:
    """The sum of products over the last axes of both."""

def insert(arr: Operand, obj: Any, values: Operand, axis: int | Sequence[int] | None = None) -> ndarray:
    """The array with `values` before a position, the positions of a slice or several positions along an axis."""

def invert(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """Every bit turned over; of booleans, the opposite."""

def isfinite(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """Whether the value is neither infinite nor NaN."""

def isinf(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """Whether the value is infinite, with either sign."""

def isnan(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """Whether the value is NaN."""

def isneginf(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """Whether it is negative infinity."""

def isposinf(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """Whether it is positive infinity."""

def kron(a: Operand, b: Operand) -> ndarray:
    """The Kronecker product: `b` times each element of `a`, in its place."""

def lcm(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The smallest common multiple of integers."""

def ldexp(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """`x1 * 2**x2`."""

def less(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """Whether `x1 < x2`."""

def less_equal(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """Whether `x1 <= x2`."""

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

def logical_not(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """Whether the value is 0."""

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

def min(a: Operand, axis: int | Sequence[int] | None = None, keepdims: _bool = False, out: Any = None, initial: Any = None) -> ndarray:
    """The smallest value along `axis`."""

def minimum(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The smaller of two."""

def mod(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The remainder with the divisor's sign; 0 where it is 0."""

def moveaxis(a: Operand, source: int | Sequence[int], destination: int | Sequence[int]) -> ndarray:
    """Moves axes to new places; the others keep their order."""

def multiply(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The product of elements."""

def nan_to_num(x: Operand, copy: _bool = True, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None, **kwargs: Any) -> ndarray:
    """NaN and infinities replaced by numbers: 0, and the largest and smallest that there are, unless given."""

def negative(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The value with the opposite sign."""

def nonzero(a: Operand) -> tuple[ndarray, ...]:
    """Positions of the elements that are not 0: an array for each axis."""

def not_equal(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """Whether both differ."""

def ones(shape: int | Sequence[int], dtype: DType | None = ..., order: str = 'C', ctx: Context | None = None) -> ndarray:
    """Ones of a shape."""

def ones_like(a: Operand, dtype: DType | None = None, order: str = 'C', ctx: Context | None = None, out: Any = None) -> ndarray:
    """Ones in the shape of `a`, and in its dtype unless another is given."""

def outer(a: Operand, b: Operand) -> ndarray:
    """The products of each element of `a` with each of `b`, as a matrix."""

def pad(x: Operand, pad_width: Any = None, mode: str = 'constant', **kwargs: Any) -> ndarray:
    """A frame around the array: `pad_width` is (before, after) for each axis, for all of them, or one number."""

def percentile(a: Operand, q: Operand, axis: int | Sequence[int] | None = None, out: Any = None, overwrite_input: _bool | None = None, interpolation: str = 'linear', keepdims: _bool = False) -> ndarray:
    """Values below which `q` per cent of those along `axis` lie."""

def polyval(p: Operand, x: Operand) -> ndarray:
    """A polynomial at each `x`; `p` has its coefficients, that of the highest power first."""

def power(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """`x1` to the power of `x2`."""

def prod(a: Operand, axis: int | Sequence[int] | None = None, dtype: DType | None = None, out: Any = None, keepdims: _bool = False, initial: Any = None) -> ndarray:
    """The product along `axis`."""

def product(a: Operand, axis: int | Sequence[int] | None = None, dtype: DType | None = None, out: Any = None, keepdims: _bool = False, initial: Any = None) -> ndarray:
    """The product along `axis`."""

def quantile(a: Operand, q: Operand, axis: int | Sequence[int] | None = None, out: Any = None, overwrite_input: _bool | None = None, interpolation: str = 'linear', keepdims: _bool = False) -> ndarray:
    """Values below which the share `q`, from 0 to 1, of those along `axis` lies."""

def rad2deg(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """An angle in radians, given in degrees."""

def radians(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """An angle in degrees, given in radians."""

def ravel(x: Operand, order: str = 'C') -> ndarray:
    """The elements in a row."""

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

def rint(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The nearest integer; of two equally near ones the lower."""

def roll(a: Operand, shift: int | Sequence[int], axis: int | Sequence[int] | None = None) -> ndarray:
    """Moves elements along `axis` (without it, in the flat array); what leaves at one end comes in at the other."""

def rot90(m: Operand, k: int = 1, axes: int | Sequence[int] = (0, 1)) -> ndarray:
    """Turns the plane of two axes by 90 degrees, `k` times, from the first towards the second."""

def round(x: Operand, decimals: int = 0, out: Any = None, **kwargs: Any) -> ndarray:
    """The nearest number with `decimals` decimals; of two equally near ones the even one."""

def round_(x: Operand, decimals: int = 0, out: Any = None, **kwargs: Any) -> ndarray:
    """The nearest number with `decimals` decimals; of two equally near ones the even one."""

def row_stack(arrays: Any, out: Any = None) -> ndarray:
    """Arrays above each other: along the first axis, where vectors count as rows."""

def shape(a: Operand) -> tuple[int, ...]:
    """Lengths of the axes."""

def shares_memory(a: Operand, b: Operand, max_work: Any = None) -> _bool:
    """Whether two arrays share memory."""

def sign(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """-1, 0 or 1."""

def sin(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The sine of an angle in radians."""

def sinh(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The hyperbolic sine."""

def sometrue(a: Operand, axis: int | Sequence[int] | None = None, keepdims: _bool = False, out: Any = None) -> ndarray:
    """Whether a value along `axis` is not 0."""

def sort(a: Operand, axis: int | Sequence[int] = -1, kind: str | None = None, order: str | None = None) -> ndarray:
    """The elements in rising order along an axis; with axis=None, of the flat array."""

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

def tril(m: Operand, k: int = 0) -> ndarray:
    """Matrices with zeros above the k-th diagonal."""

def triu(m: Operand, k: int = 0) -> ndarray:
    """Matrices with zeros below the k-th diagonal."""

def true_divide(x1: Operand, x2: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The quotient; of integers as float32."""

def trunc(x: Operand, out: Any = None, **kwargs: Any) -> ndarray:
    """The value without its fraction."""

def unique(ar: Operand, return_index: _bool = False, return_inverse: _bool = False, return_counts: _bool = False, axis: int | Sequence[int] | None = None) -> Any:
    """The different values in rising order (or different parts along `axis`)."""

def unravel_index(indices: Any, shape: int | Sequence[int], order: str = 'C') -> Any:
    """Positions along each axis of an array of `shape`, from positions in the flat array; of a symbol, as rows."""

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
