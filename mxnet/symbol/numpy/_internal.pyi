# Made by `python -m mxnet._frontend.stubs`: do not edit.
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from mxnet._typing import DType
from mxnet.symbol.numpy._symbol import _Symbol

def Custom(*data: _Symbol, op_type: str = ..., name: str | None = None, attr: Mapping[str, str] | None = None, **kwargs: Any) -> Any:
    """Calls the custom operator that was registered under the name `op_type`."""

def abs(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The absolute value."""

def absolute(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The absolute value."""

def add(lhs: _Symbol | None = None, rhs: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The sum `lhs + rhs`.  Shapes are broadcast."""

def add_scalar(data: _Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """`data + scalar`."""

def arange(start: float = ..., stop: float | None = None, step: float = 1.0, repeat: int = 1, infer_range: bool = False, ctx: Any = '', dtype: DType = 'float32', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Numbers from `start` up to `stop`, every one `repeat` times; none where `step` does not lead there."""

def arccos(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The inverse cosine, from 0 to pi; NaN outside [-1, 1]."""

def arccosh(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The inverse hyperbolic cosine; NaN below 1."""

def arcsin(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The inverse sine, from -pi/2 to pi/2; NaN outside [-1, 1]."""

def arcsinh(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The inverse hyperbolic sine."""

def arctan(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The inverse tangent, from -pi/2 to pi/2."""

def arctan2(x1: _Symbol | None = None, x2: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The angle, from -pi to pi, of the point with height `x1` at distance `x2`.  Shapes are broadcast."""

def arctan2_scalar(data: _Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The angle of the point with height `data` at `scalar`."""

def arctanh(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The inverse hyperbolic tangent; NaN outside [-1, 1]."""

def argmax(data: _Symbol | None = None, axis: int | None = None, keepdims: bool = False, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The number of the largest value along `axis` (int64), the first of several; without it, in the flat array."""

def argmin(data: _Symbol | None = None, axis: int | None = None, keepdims: bool = False, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The number of the smallest value along `axis` (int64), the first of several; without it, in the flat array."""

def argsort(data: _Symbol | None = None, axis: int | None = -1, is_ascend: bool = True, dtype: DType = 'float32', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The indices that would sort an axis, or (axis=None) all elements in a row."""

def around(x: _Symbol | None = None, decimals: int = 0, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The nearest number with `decimals` decimals; of two equally near ones the even one.  The gradient is zero."""

def average(a: _Symbol | None = None, weights: _Symbol | None = None, axis: int | Sequence[int] | None = None, returned: bool = False, weighted: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The mean along `axis`, each value weighted; with `returned`, the sum of weights as well."""

def bernoulli(input1: _Symbol | None = None, prob: float | None = ..., logit: float | None = ..., size: int | Sequence[int] | None = None, ctx: Any = 'cpu', dtype: DType = 'float32', is_logit: bool = ..., *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """1 with probability `prob` (or sigmoid of `logit`), else 0."""

def bincount(data: _Symbol | None = None, weights: _Symbol | None = None, minlength: int = 0, has_weights: bool = False, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """How often each of the numbers 0, 1, ... is in a vector of integers; with weights, the sum of these."""

def bitwise_and(lhs: _Symbol | None = None, rhs: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Bits that are set in both.  Shapes are broadcast."""

def bitwise_and_scalar(data: _Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Bits that are set in both."""

def bitwise_not(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Every bit turned over; of booleans, the opposite."""

def bitwise_or(lhs: _Symbol | None = None, rhs: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Bits that are set in one or both.  Shapes are broadcast."""

def bitwise_or_scalar(data: _Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Bits that are set in one or both."""

def bitwise_xor(lhs: _Symbol | None = None, rhs: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Bits that are set in exactly one.  Shapes are broadcast."""

def bitwise_xor_scalar(data: _Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Bits that are set in exactly one."""

def blackman(M: int | None = None, ctx: Any = '', dtype: DType = 'float32', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The Blackman window of M points: 0.42 - 0.5 cos(t) + 0.08 cos(2 t)."""

def boolean_mask(data: _Symbol | None = None, index: _Symbol | None = None, axis: int = 0, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The elements along `axis` where the vector `index` is not 0.  How many depends on the values."""

def boolean_mask_assign_scalar(data: _Symbol | None = None, mask: _Symbol | None = None, value: float = ..., start_axis: int = ..., *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """`data` with a number where the mask is true; the mask lies on the axes from `start_axis` on."""

def boolean_mask_assign_tensor(data: _Symbol | None = None, mask: _Symbol | None = None, value: _Symbol | None = None, start_axis: int = ..., *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """`data` with the values of an array, one after the other, where the mask is true."""

def broadcast_to(array: _Symbol | None = None, shape: int | Sequence[int] = (), *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Repeats axes of length 1, and adds axes in front, so that the array gets `shape`; -1 and -2 keep an axis."""

def cast(data: _Symbol | None = None, dtype: DType = ..., *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """`data` in another dtype; floats become integers by dropping the fraction."""

def cbrt(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The cube root, negative for negative values."""

def ceil(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The smallest integer that is not below the value.  The gradient is zero."""

def choice(input1: _Symbol | None = None, input2: _Symbol | None = None, a: int | None = ..., size: int | Sequence[int] | None = ..., ctx: Any = 'cpu', replace: bool = True, weighted: bool = False, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Numbers from 0 to `a` (or to the length of `input1`), with or without putting back what was drawn."""

def cholesky(A: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The lower triangular matrix L with `L @ L.T == A` of a positive definite matrix."""

def clip(data: _Symbol | None = None, a_min: float = ..., a_max: float = ..., *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """`data` with values below `a_min` raised to it and values above `a_max` lowered to it."""

def column_stack(*data: _Symbol, num_args: int = ..., name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Matrices beside each other, where vectors count as columns."""

def concatenate(*data: _Symbol, num_args: int = ..., axis: int | None = 0, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Arrays behind each other along an axis, whose other axes must agree; with axis=None, their elements in a row."""

def copysign(lhs: _Symbol | None = None, rhs: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The size of `lhs` with the sign of `rhs`.  Shapes are broadcast."""

def copysign_scalar(data: _Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The size of `data` with the sign of `scalar`."""

def copyto(data: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The same values; with `out`, in the dtype and on the device of that."""

def cos(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The cosine of an angle in radians."""

def cosh(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The hyperbolic cosine."""

def cumprod(a: _Symbol | None = None, axis: int | None = None, dtype: DType | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The running product along `axis`; without it, of the flat array."""

def degrees(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """An angle in radians, given in degrees."""

def delete(arr: _Symbol | None = None, obj: _Symbol | None = None, start: int | None = None, stop: int | None = None, step: int | None = None, int_ind: int | None = None, axis: int | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The array without the elements at `int_ind`, at `start:stop:step`, or at the positions (or mask) `obj`."""

def det(A: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Determinant of square matrices; of a single one with shape (1,), in np mode ()."""

def diag_indices_from(data: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Positions of the main diagonal of an array whose axes have one length: a row for each axis (int64)."""

def diff(a: _Symbol | None = None, n: int = 1, axis: int = -1, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The differences of neighbours along an axis, `n` times over."""

def dsplit(data: _Symbol | None = None, indices: int | Sequence[int] = ..., axis: int = 1, squeeze_axis: bool = False, sections: int = 0, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Any:
    """Splits the third axis; `indices` and `sections` are those of `_npi_split`."""

def dstack(*data: _Symbol, num_args: int = ..., dim: int = 1, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Arrays behind each other: along the third axis, which those with less get."""

def ediff1d(input1: _Symbol | None = None, input2: _Symbol | None = None, input3: _Symbol | None = None, to_begin_arr_given: bool = False, to_end_arr_given: bool = False, to_begin_scalar: float | None = None, to_end_scalar: float | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The differences of neighbours in the flat array, with more in front of and behind them."""

def eig(A: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Eigenvalues and eigenvectors (columns) of a square matrix that has real ones."""

def eigh(A: _Symbol | None = None, UPLO: Literal['L', 'U'] = 'L', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Eigenvalues, rising, and eigenvectors (columns) of a symmetric matrix, of which one triangle is read."""

def eigvals(A: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Eigenvalues of a square matrix that has real ones."""

def eigvalsh(A: _Symbol | None = None, UPLO: Literal['L', 'U'] = 'L', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Eigenvalues of a symmetric matrix, rising; one triangle is read."""

def einsum(*data: _Symbol, num_args: int = ..., subscripts: str = '', optimize: int = 0, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Einstein's sum: axes with one letter are multiplied, those whose letter is not in the result summed over."""

def equal(lhs: _Symbol | None = None, rhs: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Whether `lhs == rhs`.  Shapes are broadcast."""

def equal_scalar(data: _Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Whether `data == scalar`."""

def exp(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The exponential function."""

def expand_dims(data: _Symbol | None = None, axis: int = ..., *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """A new axis of length 1 before `axis`."""

def expm1(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """`exp(x) - 1`, accurate near 0."""

def exponential(input1: _Symbol | None = None, scale: float | None = 1.0, size: int | Sequence[int] | None = None, ctx: Any = 'cpu', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Exponentially distributed numbers with mean `scale`; gradients reach it."""

def eye(N: int = ..., M: int | None = None, k: int = 0, ctx: Any = '', dtype: DType = 'float32', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Zeros of N rows and M columns (as many as rows, if not given) with ones on the k-th diagonal."""

def fix(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The value without its fraction: the nearest integer towards 0.  The gradient is zero."""

def flip(data: _Symbol | None = None, axis: int | Sequence[int] | None = ..., *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The elements in reverse order along the axes in `axis`, or (None) along all."""

def floor(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The largest integer that is not above the value.  The gradient is zero."""

def full(shape: int | Sequence[int] | None = None, ctx: Any = '', dtype: DType = 'float32', value: float = ..., *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """One number in a whole shape."""

def full_like(a: _Symbol | None = None, fill_value: float = ..., ctx: Any = '', dtype: DType | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """One number in the shape of `a`, and in its dtype unless another is given.  The gradient is zero."""

def gamma(input1: _Symbol | None = None, input2: _Symbol | None = None, shape: float | None = ..., scale: float | None = ..., size: int | Sequence[int] | None = None, ctx: Any = 'cpu', dtype: Literal['float16', 'float32', 'float64'] = 'float32', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Gamma distributed numbers with shape parameter `shape` and `scale`: their mean is the product of both."""

def gather_nd(data: _Symbol | None = None, indices: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The elements at coordinates: `indices[i]` has those along axis i of `data`; negative ones count from the end."""

def greater(lhs: _Symbol | None = None, rhs: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Whether `lhs > rhs`.  Shapes are broadcast."""

def greater_equal(lhs: _Symbol | None = None, rhs: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Whether `lhs >= rhs`.  Shapes are broadcast."""

def greater_equal_scalar(data: _Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Whether `data >= scalar`."""

def greater_scalar(data: _Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Whether `data > scalar`."""

def gumbel(input1: _Symbol | None = None, input2: _Symbol | None = None, loc: float | None = ..., scale: float | None = ..., size: int | Sequence[int] | None = None, ctx: Any = 'cpu', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Gumbel distributed numbers: how far the largest of many lies out; gradients reach `loc` and `scale`."""

def hamming(M: int | None = None, ctx: Any = '', dtype: DType = 'float32', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The Hamming window of M points: 0.54 - 0.46 cos(t)."""

def hanning(M: int | None = None, ctx: Any = '', dtype: DType = 'float32', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The Hann window of M points: 0.5 - 0.5 cos(t)."""

def histogram(data: _Symbol | None = None, bins: _Symbol | None = None, bin_cnt: int | None = None, range: float | Sequence[float] | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Counts the values in each interval; returns the counts (int64) and the limits of the intervals."""

def hsplit(data: _Symbol | None = None, indices: int | Sequence[int] = ..., axis: int = 1, squeeze_axis: bool = False, sections: int = 0, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Any:
    """Splits the second axis, or a vector's only one; `indices` and `sections` are those of `_npi_split`."""

def hstack(*data: _Symbol, num_args: int = ..., dim: int = 1, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Arrays beside each other: along the second axis, or vectors along their only one."""

def hypot(x1: _Symbol | None = None, x2: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """`sqrt(x1^2 + x2^2)`, without overflow on the way.  Shapes are broadcast."""

def hypot_scalar(data: _Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """`sqrt(data^2 + scalar^2)`."""

def identity(shape: int | Sequence[int] = (), ctx: Any = '', dtype: DType = 'float32', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """A square matrix with ones on its diagonal; `shape` is (n, n)."""

def indices(dimensions: int | Sequence[int] = ..., dtype: DType = 'int32', ctx: Any = '', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """For each axis of a grid of these lengths, the position along it of every point: shape (axes, *dimensions)."""

def insert_scalar(arr: _Symbol | None = None, values: _Symbol | None = None, val: float | None = None, start: int | None = None, stop: int | None = None, step: int | None = None, int_ind: int | None = None, axis: int | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The array with `values` (or the number `val`) before the position `int_ind`."""

def insert_slice(arr: _Symbol | None = None, values: _Symbol | None = None, val: float | None = None, start: int | None = None, stop: int | None = None, step: int | None = None, int_ind: int | None = None, axis: int | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The array with `values` (or the number `val`) before the positions `start:stop:step`."""

def insert_tensor(arr: _Symbol | None = None, values: _Symbol | None = None, obj: _Symbol | None = None, val: float | None = None, start: int | None = None, stop: int | None = None, step: int | None = None, int_ind: int | None = None, axis: int | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The array with `values` (or the number `val`) before the positions in `obj`."""

def inv(A: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Inverse of square matrices."""

def isfinite(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Whether the value is neither infinite nor NaN."""

def isinf(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Whether the value is infinite, with either sign."""

def isnan(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Whether the value is NaN."""

def isneginf(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Whether the value is negative infinity."""

def isposinf(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Whether the value is positive infinity."""

def lcm(lhs: _Symbol | None = None, rhs: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The smallest common multiple of integers.  Shapes are broadcast."""

def lcm_scalar(data: _Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The smallest common multiple of integers and an integer."""

def ldexp(lhs: _Symbol | None = None, rhs: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """`lhs * 2**rhs`.  Shapes are broadcast."""

def ldexp_scalar(data: _Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """`data * 2**scalar`."""

def less(lhs: _Symbol | None = None, rhs: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Whether `lhs < rhs`.  Shapes are broadcast."""

def less_equal(lhs: _Symbol | None = None, rhs: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Whether `lhs <= rhs`.  Shapes are broadcast."""

def less_equal_scalar(data: _Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Whether `data <= scalar`."""

def less_scalar(data: _Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Whether `data < scalar`."""

def linspace(start: float = ..., stop: float = ..., num: int = ..., endpoint: bool = True, ctx: Any = '', dtype: DType = 'float32', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """`num` numbers at equal distances from `start` to `stop`, which is one of them only with `endpoint`."""

def log(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The natural logarithm; NaN below 0."""

def log10(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The logarithm to the base 10."""

def log1p(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """`log(1 + x)`, accurate near 0."""

def log2(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The logarithm to the base 2."""

def logical_not(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Whether the value is 0."""

def logistic(input1: _Symbol | None = None, input2: _Symbol | None = None, loc: float | None = ..., scale: float | None = ..., size: int | Sequence[int] | None = None, ctx: Any = 'cpu', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Logistically distributed numbers; gradients reach `loc` and `scale`."""

def logspace(start: float = ..., stop: float = ..., num: int = ..., endpoint: bool = True, base: float = 10.0, ctx: Any = '', dtype: DType = 'float32', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """`base` to the power of `num` numbers at equal distances from `start` to `stop`."""

def matmul(a: _Symbol | None = None, b: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The matrix product over the last two axes; all others broadcast.  A vector is a row on the left, a column on"""

def maximum(lhs: _Symbol | None = None, rhs: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The larger of the two values; where they are equal, the gradient goes to `lhs`.  Shapes are broadcast."""

def maximum_scalar(data: _Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The larger of `data` and `scalar`; where they are equal, the gradient passes."""

def mean(a: _Symbol | None = None, axis: int | Sequence[int] | None = None, dtype: DType | None = None, keepdims: bool = False, initial: float | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The mean along `axis`; of integers as float32."""

def minimum(lhs: _Symbol | None = None, rhs: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The smaller of the two values; where they are equal, the gradient goes to `lhs`.  Shapes are broadcast."""

def minimum_scalar(data: _Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The smaller of `data` and `scalar`; where they are equal, the gradient passes."""

def mod(lhs: _Symbol | None = None, rhs: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The remainder of `lhs / rhs`, with the sign of `rhs`; 0 where `rhs` is 0.  Shapes are broadcast."""

def mod_scalar(data: _Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The remainder of `data / scalar`, with the sign of `scalar`."""

def multinomial(a: _Symbol | None = None, n: int = ..., pvals: float | Sequence[float] | None = None, size: int | Sequence[int] | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """How often each of several outcomes comes up in `n` trials; their probabilities are `pvals`, or `a`."""

def multiply(lhs: _Symbol | None = None, rhs: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The product `lhs * rhs`.  Shapes are broadcast."""

def multiply_scalar(data: _Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """`data * scalar`."""

def nan_to_num(data: _Symbol | None = None, copy: bool = True, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """NaN and infinities replaced by numbers: 0 and the largest and smallest that there are, unless given."""

def negative(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The value with the opposite sign."""

def nextafter(lhs: _Symbol | None = None, rhs: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The number next to `lhs` on the way to `rhs`.  Shapes are broadcast."""

def nonzero(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Positions of the elements that are not 0: a row for each, a column for each axis (int64)."""

def norm(data: _Symbol | None = None, ord: float = 2.0, axis: int | Sequence[int] | None = None, keepdims: bool = False, flag: int = -1, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Norms along `axis` (all, if not given)."""

def normal(input1: _Symbol | None = None, input2: _Symbol | None = None, loc: float | None = ..., scale: float | None = ..., size: int | Sequence[int] | None = None, ctx: Any = 'cpu', dtype: Literal['float16', 'float32', 'float64'] = 'float32', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Normally distributed numbers with mean `loc` and standard deviation `scale`; gradients reach both."""

def normal_n(input1: _Symbol | None = None, input2: _Symbol | None = None, loc: float | None = ..., scale: float | None = ..., size: int | Sequence[int] | None = None, ctx: Any = 'cpu', dtype: Literal['float16', 'float32', 'float64'] = 'float32', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """As `_npi_normal`, with `size` draws for each element of the parameters."""

def not_equal(lhs: _Symbol | None = None, rhs: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Whether `lhs != rhs`.  Shapes are broadcast."""

def not_equal_scalar(data: _Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Whether `data != scalar`."""

def ones(shape: int | Sequence[int] = (), ctx: Any = '', dtype: DType = 'float32', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Ones of a shape."""

def pad(data: _Symbol | None = None, pad_width: int | Sequence[int] | Sequence[int | Sequence[int]] = ..., mode: Literal['constant', 'edge', 'maximum', 'minimum', 'reflect', 'symmetric'] = 'constant', constant_value: float = 0.0, reflect_type: str = 'even', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """A frame around the array: `pad_width` has the lengths before and after each axis."""

def pareto(input1: _Symbol | None = None, a: float | None = None, size: int | Sequence[int] | None = None, ctx: Any = 'cpu', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Pareto (Lomax) distributed numbers with shape parameter `a`, from 0 on; gradients reach it."""

def percentile(a: _Symbol | None = None, q: _Symbol | None = None, axis: int | Sequence[int] | None = None, interpolation: Literal['linear', 'lower', 'higher', 'midpoint', 'nearest'] = 'linear', keepdims: bool = False, q_scalar: float | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Values below which `q` per cent of those along `axis` lie; all but float64 give float32."""

def pinv(A: _Symbol | None = None, rcond: _Symbol | None = None, hermitian: bool = False, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The pseudoinverse; singular values below `rcond` times the largest count as 0."""

def pinv_scalar_rcond(A: _Symbol | None = None, rcond: float = 1e-15, hermitian: bool = False, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The pseudoinverse; singular values below `rcond` times the largest count as 0."""

def polyval(p: _Symbol | None = None, x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """A polynomial at each `x`; `p` has its coefficients, that of the highest power first."""

def power(lhs: _Symbol | None = None, rhs: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """`lhs` to the power of `rhs`.  Shapes are broadcast."""

def power_scalar(data: _Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """`data` to the power of `scalar`."""

def powerd(input1: _Symbol | None = None, a: float | None = None, size: int | Sequence[int] | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Numbers between 0 and 1 whose density rises like `x^(a - 1)`."""

def radians(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """An angle in degrees, given in radians."""

def random_randint(low: int = ..., high: int = ..., shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Integers between `low` (included) and `high` (excluded), all equally likely; int32 unless `dtype` says int64."""

def rarctan2_scalar(data: _Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The angle of the point with height `scalar` at distance `data`."""

def rayleigh(input1: _Symbol | None = None, scale: float | None = 1.0, size: int | Sequence[int] | None = None, ctx: Any = 'cpu', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Rayleigh distributed numbers: lengths of normal vectors in the plane; gradients reach `scale`."""

def rcopysign_scalar(data: _Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The size of `scalar` with the sign of `data`."""

def reciprocal(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """One over the value."""

def reshape(a: _Symbol | None = None, newshape: int | Sequence[int] = ..., reverse: bool = False, order: str = 'C', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The same elements in another shape; `newshape` may hold codes, which `reverse` reads from the right."""

def resize(a: _Symbol | None = None, new_shape: int | Sequence[int] = ..., *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The elements in another shape, from the start again where there are too few of them; of none, zeros."""

def rint(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The nearest integer; of two equally near ones the lower.  The gradient is zero."""

def rldexp_scalar(data: _Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """`scalar * 2**data`."""

def rmod_scalar(data: _Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The remainder of `scalar / data`, with the sign of `data`."""

def rnn_param_concat(*data: _Symbol, num_args: int = ..., dim: int = 1, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Joins the parts of an `RNN`'s parameter vector: `Concat` under the name that recurrent layers use."""

def rot90(data: _Symbol | None = None, k: int = 1, axes: int | Sequence[int] | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Turns the plane of two axes by 90 degrees, `k` times, from the first towards the second."""

def rpower_scalar(data: _Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """`scalar` to the power of `data`."""

def rsubtract_scalar(data: _Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """`scalar - data`."""

def rtrue_divide_scalar(data: _Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """`scalar / data`; of integers as float32."""

def scatter_set_nd(lhs: _Symbol | None = None, rhs: _Symbol | None = None, indices: _Symbol | None = None, shape: int | Sequence[int] = ..., *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """`lhs`, which has `shape`, with `rhs` at coordinates: `indices[i]` has those along axis i."""

def share_memory(a: _Symbol | None = None, b: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Whether two arrays share memory; they are row-major, so it is enough to look where each begins and ends."""

def shuffle(data: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The rows of `data` (its parts along the first axis) in random order; what is inside a row stays in order."""

def sign(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """-1, 0 or 1.  The gradient is zero."""

def sin(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The sine of an angle in radians."""

def sinh(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The hyperbolic sine."""

def slice(data: _Symbol | None = None, begin: int | None | Sequence[int | None] = ..., end: int | None | Sequence[int | None] = ..., step: int | None | Sequence[int | None] = (), *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Elements from `begin` up to `end` in steps of `step`, for the first axes; None means from or to the very end."""

def slice_assign(lhs: _Symbol | None = None, rhs: _Symbol | None = None, begin: int | None | Sequence[int | None] = ..., end: int | None | Sequence[int | None] = ..., step: int | None | Sequence[int | None] = (), *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """`lhs` with a slice of it replaced by `rhs`, which must have the shape of that slice."""

def slice_assign_scalar(data: _Symbol | None = None, scalar: float = 0.0, begin: int | None | Sequence[int | None] = ..., end: int | None | Sequence[int | None] = ..., step: int | None | Sequence[int | None] = (), *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """`data` with a slice of it replaced by a number."""

def slogdet(A: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Sign of the determinant of square matrices, and the logarithm of its absolute value."""

def solve(A: _Symbol | None = None, B: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The X with `A @ X == B`; where B has one axis less than A, it holds vectors."""

def sort(data: _Symbol | None = None, axis: int | None = -1, is_ascend: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The elements in order along an axis, or (axis=None) all of them in a row."""

def split(data: _Symbol | None = None, indices: int | Sequence[int] = ..., axis: int = 1, squeeze_axis: bool = False, sections: int = 0, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Any:
    """Splits an axis where `indices` say a part begins (so the first is 0), or into `sections` parts."""

def sqrt(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The square root; NaN below 0."""

def square(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The value times itself."""

def stack(*data: _Symbol, axis: int = 0, num_args: int = ..., name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Arrays of one shape behind each other along a new axis."""

def std(a: _Symbol | None = None, axis: int | Sequence[int] | None = None, dtype: DType | None = None, ddof: int = 0, keepdims: bool = False, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The standard deviation along `axis`, of integers without its fraction; squares are divided by n - `ddof`."""

def subtract(lhs: _Symbol | None = None, rhs: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The difference `lhs - rhs`.  Shapes are broadcast."""

def subtract_scalar(data: _Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """`data - scalar`."""

def svd(A: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Singular values: the three factors of `A == U * L @ V`, with orthonormal columns of U and rows of V."""

def swapaxes(data: _Symbol | None = None, dim1: int = 0, dim2: int = 0, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Exchanges two axes."""

def take(a: _Symbol | None = None, indices: _Symbol | None = None, axis: int = 0, mode: Literal['clip', 'raise', 'wrap'] = 'clip', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The elements of an axis at `indices`, whose axes take its place in the result."""

def take_along_axis(arr: _Symbol | None = None, indices: _Symbol | None = None, axis: int | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The elements of `arr` at `indices`, which have as many axes: each row of indices is for the row beside it."""

def tan(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The tangent of an angle in radians."""

def tanh(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The hyperbolic tangent."""

def tensordot(a: _Symbol | None = None, b: _Symbol | None = None, a_axes_summed: int | Sequence[int] = ..., b_axes_summed: int | Sequence[int] = ..., *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The sum of products over pairs of axes; the others of `a` come first, then those of `b`."""

def tensordot_int_axes(a: _Symbol | None = None, b: _Symbol | None = None, axes: int = ..., *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The sum of products over the last `axes` axes of `a` and the first of `b`."""

def tensorinv(a: _Symbol | None = None, ind: int = 2, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The inverse for `tensordot(b, a, ind)`: the first `ind` axes of `a` and the others have as many elements."""

def tensorsolve(a: _Symbol | None = None, b: _Symbol | None = None, a_axes: int | Sequence[int] = (), *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The x with `tensordot(a, x, x.ndim) == b`; axes in `a_axes` go to the end of `a` before."""

def tile(data: _Symbol | None = None, reps: int | Sequence[int] = ..., *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The whole array repeated `reps` times along its axes; missing axes or numbers count as 1 on the left."""

def tril(data: _Symbol | None = None, k: int = 0, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Matrices with zeros above the k-th diagonal; a vector stands for a matrix of such rows."""

def true_divide(lhs: _Symbol | None = None, rhs: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The quotient `lhs / rhs`; of integers as float32.  Shapes are broadcast."""

def true_divide_scalar(data: _Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """`data / scalar`; of integers as float32."""

def trunc(x: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The value without its fraction, as `fix`.  The gradient is zero."""

def uniform(input1: _Symbol | None = None, input2: _Symbol | None = None, low: float | None = ..., high: float | None = ..., size: int | Sequence[int] | None = None, ctx: Any = 'cpu', dtype: Literal['float16', 'float32', 'float64'] = 'float32', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Uniformly distributed numbers between `low` (included) and `high` (excluded)."""

def uniform_n(input1: _Symbol | None = None, input2: _Symbol | None = None, low: float | None = ..., high: float | None = ..., size: int | Sequence[int] | None = None, ctx: Any = 'cpu', dtype: Literal['float16', 'float32', 'float64'] = 'float32', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """As `_npi_uniform`, with `size` draws for each element of the parameters."""

def unique(data: _Symbol | None = None, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False, axis: int | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The different values in rising order (or different parts along `axis`)."""

def var(a: _Symbol | None = None, axis: int | Sequence[int] | None = None, dtype: DType | None = None, ddof: int = 0, keepdims: bool = False, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The variance along `axis`, of integers without its fraction; squares are divided by n - `ddof`."""

def vstack(*data: _Symbol, num_args: int = ..., name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Arrays above each other: along the first axis, where vectors count as rows."""

def weibull(input1: _Symbol | None = None, a: float | None = None, size: int | Sequence[int] | None = None, ctx: Any = 'cpu', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Weibull distributed numbers with shape parameter `a` and scale 1; gradients reach it."""

def where(condition: _Symbol | None = None, x: _Symbol | None = None, y: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """`x` where the condition is true, else `y`; all three broadcast."""

def where_lscalar(condition: _Symbol | None = None, x: _Symbol | None = None, scalar: float = 0.0, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """`scalar` where the condition is true, else `x`."""

def where_rscalar(condition: _Symbol | None = None, y: _Symbol | None = None, scalar: float = 0.0, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """`y` where the condition is true, else `scalar`."""

def where_scalar2(condition: _Symbol | None = None, x: float = 0.0, y: float = 0.0, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The number `x` where the condition is true, else `y`, as float32."""

def zeros(shape: int | Sequence[int] = (), ctx: Any = '', dtype: DType = 'float32', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Zeros of a shape."""
