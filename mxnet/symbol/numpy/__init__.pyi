# Made by `python -m mxnet._frontend.stubs`: do not edit.
from builtins import bool as _bool
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as _numpy

from mxnet._typing import ArrayLike, DType, Operand
from mxnet.context import Context
from mxnet.symbol.numpy._symbol import _Symbol as _Symbol
from mxnet.symbol.numpy import linalg as linalg
from mxnet.symbol.numpy import random as random

def abs(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The absolute value."""

def absolute(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The absolute value."""

def add(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The sum."""

def all(a: Any, axis: int | Sequence[int] | None = None, keepdims: _bool = False, out: Any = None) -> _Symbol:
    """Whether no value along `axis` is 0."""

def amax(a: Any, axis: int | Sequence[int] | None = None, keepdims: _bool = False, out: Any = None, initial: Any = None) -> _Symbol:
    """The largest value along `axis`."""

def amin(a: Any, axis: int | Sequence[int] | None = None, keepdims: _bool = False, out: Any = None, initial: Any = None) -> _Symbol:
    """The smallest value along `axis`."""

def any(a: Any, axis: int | Sequence[int] | None = None, keepdims: _bool = False, out: Any = None) -> _Symbol:
    """Whether a value along `axis` is not 0."""

def append(arr: Any, values: Any, axis: int | Sequence[int] | None = None) -> _Symbol:
    """`values` behind the array along an axis; without one, both in a row."""

def arange(start: Any, stop: Any = None, step: float = 1, dtype: DType | None = None, ctx: Context | None = None) -> _Symbol:
    """Numbers from `start` up to, and without, `stop`; with one limit alone, from 0 up to it."""

def arccos(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The inverse cosine."""

def arccosh(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The inverse hyperbolic cosine."""

def arcsin(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The inverse sine."""

def arcsinh(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The inverse hyperbolic sine."""

def arctan(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The inverse tangent."""

def arctan2(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The angle of the point with height `x1` at distance `x2`."""

def arctanh(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The inverse hyperbolic tangent."""

def argmax(a: Any, axis: int | Sequence[int] | None = None, out: Any = None, keepdims: _bool = False) -> _Symbol:
    """The number (int64) of the largest value along `axis`, the first of several; without it, in the flat array."""

def argmin(a: Any, axis: int | Sequence[int] | None = None, out: Any = None, keepdims: _bool = False) -> _Symbol:
    """The number (int64) of the smallest value along `axis`, the first of several; without it, in the flat array."""

def argsort(a: Any, axis: int | Sequence[int] = -1, kind: str | None = None, order: str | None = None) -> _Symbol:
    """The indices (int64) that would sort an axis; with axis=None, the flat array."""

def around(x: Any, decimals: int = 0, out: Any = None, **kwargs: Any) -> _Symbol:
    """The nearest number with `decimals` decimals; of two equally near ones the even one."""

def array_split(ary: Any, indices_or_sections: Any, axis: int | Sequence[int] = 0) -> Any:
    """As `split`, where parts may differ in length by one."""

def atleast_1d(*arys: Any) -> Any:
    """Arrays with one axis or more: numbers get one."""

def atleast_2d(*arys: Any) -> Any:
    """Arrays with two axes or more: missing ones are added in front."""

def atleast_3d(*arys: Any) -> Any:
    """Arrays with three axes or more."""

def average(a: Any, axis: int | Sequence[int] | None = None, weights: Any = None, returned: _bool = False, out: Any = None) -> Any:
    """The mean along `axis`, each value weighted; with `returned`, the sum of weights as well."""

def bincount(x: Any, weights: Any = None, minlength: int = 0) -> _Symbol:
    """How often each of the numbers 0, 1, ... is in a vector of integers; with weights, the sum of these."""

def bitwise_and(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """Bits that are set in both."""

def bitwise_not(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """Every bit turned over; of booleans, the opposite."""

def bitwise_or(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """Bits that are set in one or both."""

def bitwise_xor(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """Bits that are set in exactly one."""

def blackman(M: Any, dtype: DType | None = ..., ctx: Context | None = None) -> _Symbol:
    """The Blackman window of M points."""

def broadcast_to(array: Any, shape: int | Sequence[int]) -> _Symbol:
    """A copy with axes of length 1 repeated, and axes added in front, to fit `shape`."""

def cbrt(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The cube root."""

def ceil(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The smallest integer that is not below the value."""

def clip(a: Any, a_min: Any, a_max: Any, out: Any = None) -> _Symbol:
    """`a` with values below `a_min` raised to it and values above `a_max` lowered to it; None is no limit."""

def column_stack(tup: Sequence[_Symbol]) -> _Symbol:
    """Matrices beside each other, where vectors count as columns."""

def concatenate(seq: Sequence[_Symbol], axis: int | Sequence[int] = 0, out: Any = None) -> _Symbol:
    """Arrays behind each other along an axis; with axis=None, their elements in a row."""

def copy(a: Any, out: Any = None) -> _Symbol:
    """A copy of an array."""

def copysign(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The size of `x1` with the sign of `x2`."""

def cos(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The cosine of an angle in radians."""

def cosh(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The hyperbolic cosine."""

def cumsum(a: Any, axis: int | Sequence[int] | None = None, dtype: DType | None = None, out: Any = None) -> _Symbol:
    """The running sum along `axis`; without it, of the flat array."""

def deg2rad(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """An angle in degrees, given in radians."""

def degrees(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """An angle in radians, given in degrees."""

def delete(arr: Any, obj: Any, axis: int | Sequence[int] | None = None) -> _Symbol:
    """The array without the elements at a position, a slice or several positions along an axis."""

def diag(array: Any, k: int = 0) -> _Symbol:
    """The k-th diagonal of a matrix, or a matrix that has this one."""

def diag_indices_from(arr: Any) -> Any:
    """Positions of the main diagonal: an array for each axis; of a symbol, a row for each."""

def diagflat(array: Any, k: int = 0) -> _Symbol:
    """A matrix with all elements on its k-th diagonal."""

def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> _Symbol:
    """Diagonals of the plane of two axes, as the last axis of the result."""

def diff(a: Any, n: int = 1, axis: int | Sequence[int] = -1, prepend: Any = None, append: Any = None) -> _Symbol:
    """The differences of neighbours along an axis, `n` times over."""

def divide(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The quotient; of integers as float32."""

def dot(a: Any, b: Any, out: Any = None) -> _Symbol:
    """The sum of products over the last axis of `a` and the last but one of `b`; a number multiplies."""

def dsplit(ary: Any, indices_or_sections: Any) -> Any:
    """Parts along the third axis."""

def dstack(arrays: Sequence[_Symbol]) -> _Symbol:
    """Arrays behind each other along the third axis."""

def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> _Symbol:
    """The differences of neighbours in the flat array, with more in front of and behind them."""

def einsum(*operands: Any, **kwargs: Any) -> _Symbol:
    """Einstein's sum: axes with one letter are multiplied, those whose letter is not in the result summed over."""

def empty_like(prototype: Any, dtype: DType | None = None, order: str = 'C', subok: _bool = False, shape: int | Sequence[int] | None = None) -> _Symbol:
    """An array in the shape and dtype of another, with any values."""

def equal(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """Whether both are equal."""

def exp(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The exponential function."""

def expand_dims(a: Any, axis: int | Sequence[int]) -> _Symbol:
    """New axes of length 1; `axis` says where they are in the result."""

def expm1(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """`exp(x) - 1`, accurate near 0."""

def eye(N: int, M: Any = None, k: int = 0, dtype: DType | None = ..., **kwargs: Any) -> _Symbol:
    """Zeros of N rows and M columns (as many as rows, if not given) with ones on the k-th diagonal."""

def fabs(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The absolute value."""

def fix(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The value without its fraction."""

def flip(m: Any, axis: int | Sequence[int] | None = None, out: Any = None) -> _Symbol:
    """The elements in reverse order along `axis`, or along all axes."""

def fliplr(m: Any) -> _Symbol:
    """The second axis in reverse order."""

def flipud(m: Any) -> _Symbol:
    """The first axis in reverse order."""

def floor(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The largest integer that is not above the value."""

def full(shape: int | Sequence[int], fill_value: Any, dtype: DType | None = None, order: str = 'C', ctx: Context | None = None, out: Any = None) -> _Symbol:
    """One number in a whole shape, or an array broadcast to it."""

def full_like(a: Any, fill_value: Any, dtype: DType | None = None, order: str = 'C', ctx: Context | None = None, out: Any = None) -> _Symbol:
    """One number in the shape of `a`, and in its dtype unless another is given."""

def greater(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """Whether `x1 > x2`."""

def greater_equal(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """Whether `x1 >= x2`."""

def hamming(M: Any, dtype: DType | None = ..., ctx: Context | None = None) -> _Symbol:
    """The Hamming window of M points."""

def hanning(M: Any, dtype: DType | None = ..., ctx: Context | None = None) -> _Symbol:
    """The Hann window of M points."""

def histogram(a: Any, bins: Any = 10, range: Any = None, normed: _bool | None = None, weights: Any = None, density: _bool | None = None) -> tuple[_Symbol, _Symbol]:
    """(counts, edges): how many values lie in each of several intervals."""

def hsplit(ary: Any, indices_or_sections: Any) -> Any:
    """Parts along the second axis, or along a vector's only one."""

def hstack(arrays: Sequence[_Symbol]) -> _Symbol:
    """Arrays beside each other: along the second axis, or vectors along their only one."""

def hypot(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """`sqrt(x1^2 + x2^2)`."""

def identity(n: int, dtype: DType | None = None, ctx: Context | None = None) -> _Symbol:
    """A square matrix with ones on its diagonal."""

def indices(dimensions: Any, dtype: DType | None = ..., ctx: Context | None = None) -> _Symbol:
    """For each axis of a grid of these lengths, the position along it of every point."""

def inner(a: Any, b: Any) -> _Symbol:
    """The sum of products over the last axes of both."""

def insert(arr: Any, obj: Any, values: Any, axis: int | Sequence[int] | None = None) -> _Symbol:
    """The array with `values` before a position, the positions of a slice or several positions along an axis."""

def invert(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """Every bit turned over; of booleans, the opposite."""

def isfinite(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """Whether the value is neither infinite nor NaN."""

def isinf(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """Whether the value is infinite, with either sign."""

def isnan(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """Whether the value is NaN."""

def isneginf(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """Whether it is negative infinity."""

def isposinf(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """Whether it is positive infinity."""

def kron(a: Any, b: Any) -> _Symbol:
    """The Kronecker product: `b` times each element of `a`, in its place."""

def lcm(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The smallest common multiple of integers."""

def ldexp(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """`x1 * 2**x2`."""

def less(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """Whether `x1 < x2`."""

def less_equal(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """Whether `x1 <= x2`."""

def linspace(start: Any, stop: Any, num: int = 50, endpoint: _bool = True, retstep: _bool = False, dtype: DType | None = None, axis: int | Sequence[int] = 0, ctx: Context | None = None) -> Any:
    """`num` numbers at equal distances from `start` to `stop`, which is one of them only with `endpoint`."""

def log(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The natural logarithm."""

def log10(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The logarithm to the base 10."""

def log1p(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """`log(1 + x)`, accurate near 0."""

def log2(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The logarithm to the base 2."""

def logical_not(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """Whether the value is 0."""

def logspace(start: Any, stop: Any, num: int = 50, endpoint: _bool = True, base: float = 10.0, dtype: DType | None = None, axis: int | Sequence[int] = 0, ctx: Context | None = None) -> _Symbol:
    """`base` to the power of `num` numbers at equal distances from `start` to `stop`."""

def matmul(a: Any, b: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The matrix product over the last two axes; all others broadcast."""

def matrix_transpose(x: Any) -> _Symbol:
    """The last two axes exchanged."""

def max(a: Any, axis: int | Sequence[int] | None = None, keepdims: _bool = False, out: Any = None, initial: Any = None) -> _Symbol:
    """The largest value along `axis`."""

def maximum(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The larger of two."""

def may_share_memory(a: Any, b: Any, max_work: Any = None) -> _bool:
    """Whether two arrays share memory."""

def mean(a: Any, axis: int | Sequence[int] | None = None, dtype: DType | None = None, out: Any = None, keepdims: _bool = False) -> _Symbol:
    """The mean along `axis`; of integers as float32."""

def min(a: Any, axis: int | Sequence[int] | None = None, keepdims: _bool = False, out: Any = None, initial: Any = None) -> _Symbol:
    """The smallest value along `axis`."""

def minimum(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The smaller of two."""

def mod(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The remainder with the divisor's sign; 0 where it is 0."""

def moveaxis(a: Any, source: int | Sequence[int], destination: int | Sequence[int]) -> _Symbol:
    """Moves axes to new places; the others keep their order."""

def multiply(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The product of elements."""

def nan_to_num(x: Any, copy: _bool = True, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None, **kwargs: Any) -> _Symbol:
    """NaN and infinities replaced by numbers: 0, and the largest and smallest that there are, unless given."""

def negative(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The value with the opposite sign."""

def not_equal(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """Whether both differ."""

def ones(shape: int | Sequence[int], dtype: DType | None = ..., order: str = 'C', ctx: Context | None = None) -> _Symbol:
    """Ones of a shape."""

def ones_like(a: Any, dtype: DType | None = None, order: str = 'C', ctx: Context | None = None, out: Any = None) -> _Symbol:
    """Ones in the shape of `a`, and in its dtype unless another is given."""

def outer(a: Any, b: Any) -> _Symbol:
    """The products of each element of `a` with each of `b`, as a matrix."""

def pad(x: Any, pad_width: Any = None, mode: str = 'constant', **kwargs: Any) -> _Symbol:
    """A frame around the array: `pad_width` is (before, after) for each axis, for all of them, or one number."""

def percentile(a: Any, q: Any, axis: int | Sequence[int] | None = None, out: Any = None, overwrite_input: _bool | None = None, interpolation: str = 'linear', keepdims: _bool = False) -> _Symbol:
    """Values below which `q` per cent of those along `axis` lie."""

def polyval(p: Any, x: Any) -> _Symbol:
    """A polynomial at each `x`; `p` has its coefficients, that of the highest power first."""

def power(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """`x1` to the power of `x2`."""

def prod(a: Any, axis: int | Sequence[int] | None = None, dtype: DType | None = None, out: Any = None, keepdims: _bool = False, initial: Any = None) -> _Symbol:
    """The product along `axis`."""

def product(a: Any, axis: int | Sequence[int] | None = None, dtype: DType | None = None, out: Any = None, keepdims: _bool = False, initial: Any = None) -> _Symbol:
    """The product along `axis`."""

def quantile(a: Any, q: Any, axis: int | Sequence[int] | None = None, out: Any = None, overwrite_input: _bool | None = None, interpolation: str = 'linear', keepdims: _bool = False) -> _Symbol:
    """Values below which the share `q`, from 0 to 1, of those along `axis` lies."""

def rad2deg(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """An angle in radians, given in degrees."""

def radians(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """An angle in degrees, given in radians."""

def ravel(x: Any, order: str = 'C') -> _Symbol:
    """The elements in a row."""

def reciprocal(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """One over the value."""

def remainder(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The remainder with the divisor's sign; 0 where it is 0."""

def repeat(a: Any, repeats: int | Sequence[int], axis: int | Sequence[int] | None = None) -> _Symbol:
    """Every element `repeats` times (or as often as a list says) along an axis, or of the flat array."""

def reshape(a: Any, newshape: int | Sequence[int], order: str = 'C', out: Any = None) -> _Symbol:
    """The same elements in another shape, where -1 stands for what is left over."""

def resize(a: Any, new_shape: int | Sequence[int]) -> _Symbol:
    """The elements in another shape, from the start again where there are too few of them."""

def rint(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The nearest integer; of two equally near ones the lower."""

def roll(a: Any, shift: int | Sequence[int], axis: int | Sequence[int] | None = None) -> _Symbol:
    """Moves elements along `axis` (without it, in the flat array); what leaves at one end comes in at the other."""

def rot90(m: Any, k: int = 1, axes: int | Sequence[int] = (0, 1)) -> _Symbol:
    """Turns the plane of two axes by 90 degrees, `k` times, from the first towards the second."""

def round(x: Any, decimals: int = 0, out: Any = None, **kwargs: Any) -> _Symbol:
    """The nearest number with `decimals` decimals; of two equally near ones the even one."""

def round_(x: Any, decimals: int = 0, out: Any = None, **kwargs: Any) -> _Symbol:
    """The nearest number with `decimals` decimals; of two equally near ones the even one."""

def row_stack(arrays: Any, out: Any = None) -> _Symbol:
    """Arrays above each other: along the first axis, where vectors count as rows."""

def shape(a: Any) -> tuple[int, ...]:
    """Lengths of the axes."""

def shares_memory(a: Any, b: Any, max_work: Any = None) -> _bool:
    """Whether two arrays share memory."""

def sign(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """-1, 0 or 1."""

def sin(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The sine of an angle in radians."""

def sinh(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The hyperbolic sine."""

def sometrue(a: Any, axis: int | Sequence[int] | None = None, keepdims: _bool = False, out: Any = None) -> _Symbol:
    """Whether a value along `axis` is not 0."""

def sort(a: Any, axis: int | Sequence[int] = -1, kind: str | None = None, order: str | None = None) -> _Symbol:
    """The elements in rising order along an axis; with axis=None, of the flat array."""

def split(ary: Any, indices_or_sections: Any, axis: int | Sequence[int] = 0) -> Any:
    """A list of equal parts along an axis, or of those that begin at each of the given indices."""

def sqrt(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The square root; NaN below 0."""

def square(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The value times itself."""

def squeeze(a: Any, axis: int | Sequence[int] | None = None, out: Any = None) -> _Symbol:
    """Drops axes of length 1: those in `axis`, or all."""

def stack(arrays: Sequence[_Symbol], axis: int | Sequence[int] = 0, out: Any = None) -> _Symbol:
    """Arrays of one shape behind each other along a new axis."""

def std(a: Any, axis: int | Sequence[int] | None = None, dtype: DType | None = None, out: Any = None, ddof: int = 0, keepdims: _bool = False) -> _Symbol:
    """The standard deviation along `axis`; squares are divided by n - `ddof`."""

def subtract(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The difference."""

def sum(a: Any, axis: int | Sequence[int] | None = None, dtype: DType | None = None, keepdims: _bool = False, initial: Any = None, out: Any = None) -> _Symbol:
    """The sum along `axis`: one axis, several, or all by default."""

def swapaxes(a: Any, axis1: int, axis2: int) -> _Symbol:
    """Exchanges two axes."""

def take(a: Any, indices: Any, axis: int | Sequence[int] | None = None, mode: str = 'raise', out: Any = None) -> _Symbol:
    """The elements at `indices` along an axis, or of the flat array."""

def take_along_axis(arr: Any, indices: Any, axis: int | Sequence[int] = -1) -> _Symbol:
    """The elements of `arr` at `indices`, which have as many axes: each row of indices is for the row beside it."""

def tan(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The tangent of an angle in radians."""

def tanh(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The hyperbolic tangent."""

def tensordot(a: Any, b: Any, axes: Any = 2) -> _Symbol:
    """The sum of products over the last `axes` axes of `a` and the first of `b`, or over pairs of lists of axes."""

def tile(A: Any, reps: int | Sequence[int]) -> _Symbol:
    """The whole array repeated `reps` times along its axes."""

def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, out: Any = None) -> _Symbol:
    """Sums of diagonals of the plane of two axes."""

def transpose(a: Any, axes: int | Sequence[int] | None = None) -> _Symbol:
    """The axes in the order `axes`, by default in reverse order."""

def tril(m: Any, k: int = 0) -> _Symbol:
    """Matrices with zeros above the k-th diagonal."""

def triu(m: Any, k: int = 0) -> _Symbol:
    """Matrices with zeros below the k-th diagonal."""

def true_divide(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The quotient; of integers as float32."""

def trunc(x: Any, out: Any = None, **kwargs: Any) -> _Symbol:
    """The value without its fraction."""

def unique(ar: Any, return_index: _bool = False, return_inverse: _bool = False, return_counts: _bool = False, axis: int | Sequence[int] | None = None) -> Any:
    """The different values in rising order (or different parts along `axis`)."""

def unravel_index(indices: Any, shape: int | Sequence[int], order: str = 'C') -> Any:
    """Positions along each axis of an array of `shape`, from positions in the flat array; of a symbol, as rows."""

def var(a: Any, axis: int | Sequence[int] | None = None, dtype: DType | None = None, out: Any = None, ddof: int = 0, keepdims: _bool = False) -> _Symbol:
    """The variance along `axis`; squares are divided by n - `ddof`."""

def vdot(a: Any, b: Any) -> _Symbol:
    """The sum of products of all elements of both."""

def vecdot(x1: Any, x2: Any, axis: int | Sequence[int] = -1) -> _Symbol:
    """The sum of products along an axis of both."""

def vsplit(ary: Any, indices_or_sections: Any) -> Any:
    """Parts along the first axis."""

def vstack(arrays: Sequence[_Symbol], out: Any = None) -> _Symbol:
    """Arrays above each other: along the first axis, where vectors count as rows."""

def where(condition: Any, x: Any = None, y: Any = None) -> _Symbol:
    """`x` where the condition is true, else `y`; with the condition alone, as `nonzero`."""

def zeros(shape: int | Sequence[int], dtype: DType | None = None, order: str = 'C', ctx: Context | None = None) -> _Symbol:
    """Zeros of a shape."""

def zeros_like(a: Any, dtype: DType | None = None, order: str = 'C', ctx: Context | None = None, out: Any = None) -> _Symbol:
    """Zeros in the shape of `a`, and in its dtype unless another is given."""
