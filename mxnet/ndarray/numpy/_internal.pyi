# Made by `python -m mxnet._frontend.stubs`: do not edit.
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from mxnet._typing import DType
from mxnet.ndarray.ndarray import NDArray
from mxnet.numpy.multiarray import ndarray

def Custom(*data: NDArray, op_type: str = ..., out: Any = None, name: str | None = None, **kwargs: Any) -> Any:
    """Calls the custom operator that was registered under the name `op_type`."""

def abs(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The absolute value."""

def absolute(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The absolute value."""

def add(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The sum `lhs + rhs`.  Shapes are broadcast."""

def add_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> ndarray:
    """`data + scalar`."""

def arange(start: float, stop: float | None = None, step: float = 1.0, repeat: int = 1, infer_range: bool = False, ctx: Any = '', dtype: DType = 'float32', *, out: Any = None, name: str | None = None) -> ndarray:
    """Numbers from `start` up to `stop`, every one `repeat` times; none where `step` does not lead there."""

def arccos(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The inverse cosine, from 0 to pi; NaN outside [-1, 1]."""

def arccosh(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The inverse hyperbolic cosine; NaN below 1."""

def arcsin(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The inverse sine, from -pi/2 to pi/2; NaN outside [-1, 1]."""

def arcsinh(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The inverse hyperbolic sine."""

def arctan(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The inverse tangent, from -pi/2 to pi/2."""

def arctan2(x1: NDArray, x2: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The angle, from -pi to pi, of the point with height `x1` at distance `x2`.  Shapes are broadcast."""

def arctan2_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> ndarray:
    """The angle of the point with height `data` at `scalar`."""

def arctanh(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The inverse hyperbolic tangent; NaN outside [-1, 1]."""

def argmax(data: NDArray, axis: int | None = None, keepdims: bool = False, *, out: Any = None, name: str | None = None) -> ndarray:
    """The number of the largest value along `axis` (int64), the first of several; without it, in the flat array."""

def argmin(data: NDArray, axis: int | None = None, keepdims: bool = False, *, out: Any = None, name: str | None = None) -> ndarray:
    """The number of the smallest value along `axis` (int64), the first of several; without it, in the flat array."""

def argsort(data: NDArray, axis: int | None = -1, is_ascend: bool = True, dtype: DType = 'float32', *, out: Any = None, name: str | None = None) -> ndarray:
    """The indices that would sort an axis, or (axis=None) all elements in a row."""

def around(x: NDArray, decimals: int = 0, *, out: Any = None, name: str | None = None) -> ndarray:
    """The nearest number with `decimals` decimals; of two equally near ones the even one.  The gradient is zero."""

def average(a: NDArray, weights: NDArray | None = None, axis: int | Sequence[int] | None = None, returned: bool = False, weighted: bool = True, *, out: Any = None, name: str | None = None) -> ndarray:
    """The mean along `axis`, each value weighted; with `returned`, the sum of weights as well."""

def bernoulli(input1: NDArray | None = None, prob: float | None = ..., logit: float | None = ..., size: int | Sequence[int] | None = None, ctx: Any = 'cpu', dtype: DType = 'float32', is_logit: bool = ..., *, out: Any = None, name: str | None = None) -> ndarray:
    """1 with probability `prob` (or sigmoid of `logit`), else 0."""

def bincount(data: NDArray, weights: NDArray | None = None, minlength: int = 0, has_weights: bool = False, *, out: Any = None, name: str | None = None) -> ndarray:
    """How often each of the numbers 0, 1, ... is in a vector of integers; with weights, the sum of these."""

def bitwise_and(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """Bits that are set in both.  Shapes are broadcast."""

def bitwise_and_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> ndarray:
    """Bits that are set in both."""

def bitwise_not(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """Every bit turned over; of booleans, the opposite."""

def bitwise_or(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """Bits that are set in one or both.  Shapes are broadcast."""

def bitwise_or_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> ndarray:
    """Bits that are set in one or both."""

def bitwise_xor(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """Bits that are set in exactly one.  Shapes are broadcast."""

def bitwise_xor_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> ndarray:
    """Bits that are set in exactly one."""

def blackman(M: int | None = None, ctx: Any = '', dtype: DType = 'float32', *, out: Any = None, name: str | None = None) -> ndarray:
    """The Blackman window of M points: 0.42 - 0.5 cos(t) + 0.08 cos(2 t)."""

def boolean_mask(data: NDArray, index: NDArray, axis: int = 0, *, out: Any = None, name: str | None = None) -> ndarray:
    """The elements along `axis` where the vector `index` is not 0.  How many depends on the values."""

def boolean_mask_assign_scalar(data: NDArray, mask: NDArray, value: float, start_axis: int, *, out: Any = None, name: str | None = None) -> ndarray:
    """`data` with a number where the mask is true; the mask lies on the axes from `start_axis` on."""

def boolean_mask_assign_tensor(data: NDArray, mask: NDArray, value: NDArray, start_axis: int, *, out: Any = None, name: str | None = None) -> ndarray:
    """`data` with the values of an array, one after the other, where the mask is true."""

def broadcast_to(array: NDArray, shape: int | Sequence[int] = (), *, out: Any = None, name: str | None = None) -> ndarray:
    """Repeats axes of length 1, and adds axes in front, so that the array gets `shape`; -1 and -2 keep an axis."""

def cast(data: NDArray, dtype: DType, *, out: Any = None, name: str | None = None) -> ndarray:
    """`data` in another dtype; floats become integers by dropping the fraction."""

def cbrt(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The cube root, negative for negative values."""

def ceil(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The smallest integer that is not below the value.  The gradient is zero."""

def choice(input1: NDArray | None = None, input2: NDArray | None = None, a: int | None = ..., size: int | Sequence[int] | None = ..., ctx: Any = 'cpu', replace: bool = True, weighted: bool = False, *, out: Any = None, name: str | None = None) -> ndarray:
    """Numbers from 0 to `a` (or to the length of `input1`), with or without putting back what was drawn."""

def cholesky(A: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The lower triangular matrix L with `L @ L.T == A` of a positive definite matrix."""

def clip(data: NDArray, a_min: float, a_max: float, *, out: Any = None, name: str | None = None) -> ndarray:
    """`data` with values below `a_min` raised to it and values above `a_max` lowered to it."""

def column_stack(*data: NDArray, num_args: int = ..., out: Any = None, name: str | None = None) -> ndarray:
    """Matrices beside each other, where vectors count as columns."""

def concatenate(*data: NDArray, num_args: int = ..., axis: int | None = 0, out: Any = None, name: str | None = None) -> ndarray:
    """Arrays behind each other along an axis, whose other axes must agree; with axis=None, their elements in a row."""

def copysign(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The size of `lhs` with the sign of `rhs`.  Shapes are broadcast."""

def copysign_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> ndarray:
    """The size of `data` with the sign of `scalar`."""

def copyto(data: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The same values; with `out`, in the dtype and on the device of that."""

def cos(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The cosine of an angle in radians."""

def cosh(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The hyperbolic cosine."""

def cumprod(a: NDArray, axis: int | None = None, dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> ndarray:
    """The running product along `axis`; without it, of the flat array."""

def degrees(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """An angle in radians, given in degrees."""

def delete(arr: NDArray, obj: NDArray | None = None, start: int | None = None, stop: int | None = None, step: int | None = None, int_ind: int | None = None, axis: int | None = None, *, out: Any = None, name: str | None = None) -> ndarray:
    """The array without the elements at `int_ind`, at `start:stop:step`, or at the positions (or mask) `obj`."""

def det(A: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """Determinant of square matrices; of a single one with shape (1,), in np mode ()."""

def diag_indices_from(data: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """Positions of the main diagonal of an array whose axes have one length: a row for each axis (int64)."""

def diff(a: NDArray, n: int = 1, axis: int = -1, *, out: Any = None, name: str | None = None) -> ndarray:
    """The differences of neighbours along an axis, `n` times over."""

def dsplit(data: NDArray, indices: int | Sequence[int], axis: int = 1, squeeze_axis: bool = False, sections: int = 0, *, out: Any = None, name: str | None = None) -> Any:
    """Splits the third axis; `indices` and `sections` are those of `_npi_split`."""

def dstack(*data: NDArray, num_args: int = ..., dim: int = 1, out: Any = None, name: str | None = None) -> ndarray:
    """Arrays behind each other: along the third axis, which those with less get."""

def ediff1d(input1: NDArray, input2: NDArray | None = None, input3: NDArray | None = None, to_begin_arr_given: bool = False, to_end_arr_given: bool = False, to_begin_scalar: float | None = None, to_end_scalar: float | None = None, *, out: Any = None, name: str | None = None) -> ndarray:
    """The differences of neighbours in the flat array, with more in front of and behind them."""

def eig(A: NDArray, *, out: Any = None, name: str | None = None) -> list[ndarray]:
    """Eigenvalues and eigenvectors (columns) of a square matrix that has real ones."""

def eigh(A: NDArray, UPLO: Literal['L', 'U'] = 'L', *, out: Any = None, name: str | None = None) -> list[ndarray]:
    """Eigenvalues, rising, and eigenvectors (columns) of a symmetric matrix, of which one triangle is read."""

def eigvals(A: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """Eigenvalues of a square matrix that has real ones."""

def eigvalsh(A: NDArray, UPLO: Literal['L', 'U'] = 'L', *, out: Any = None, name: str | None = None) -> ndarray:
    """Eigenvalues of a symmetric matrix, rising; one triangle is read."""

def einsum(*data: NDArray, num_args: int = ..., subscripts: str = '', optimize: int = 0, out: Any = None, name: str | None = None) -> ndarray:
    """Einstein's sum: axes with one letter are multiplied, those whose letter is not in the result summed over."""

def equal(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """Whether `lhs == rhs`.  Shapes are broadcast."""

def equal_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> ndarray:
    """Whether `data == scalar`."""

def exp(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The exponential function."""

def expand_dims(data: NDArray, axis: int, *, out: Any = None, name: str | None = None) -> ndarray:
    """A new axis of length 1 before `axis`."""

def expm1(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """`exp(x) - 1`, accurate near 0."""

def exponential(input1: NDArray | None = None, scale: float | None = 1.0, size: int | Sequence[int] | None = None, ctx: Any = 'cpu', *, out: Any = None, name: str | None = None) -> ndarray:
    """Exponentially distributed numbers with mean `scale`; gradients reach it."""

def eye(N: int, M: int | None = None, k: int = 0, ctx: Any = '', dtype: DType = 'float32', *, out: Any = None, name: str | None = None) -> ndarray:
    """Zeros of N rows and M columns (as many as rows, if not given) with ones on the k-th diagonal."""

def fix(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The value without its fraction: the nearest integer towards 0.  The gradient is zero."""

def flip(data: NDArray, axis: int | Sequence[int] | None, *, out: Any = None, name: str | None = None) -> ndarray:
    """The elements in reverse order along the axes in `axis`, or (None) along all."""

def floor(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The largest integer that is not above the value.  The gradient is zero."""

def full(shape: int | Sequence[int] | None = None, ctx: Any = '', dtype: DType = 'float32', value: float = ..., *, out: Any = None, name: str | None = None) -> ndarray:
    """One number in a whole shape."""

def full_like(a: NDArray, fill_value: float, ctx: Any = '', dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> ndarray:
    """One number in the shape of `a`, and in its dtype unless another is given.  The gradient is zero."""

def gamma(input1: NDArray | None = None, input2: NDArray | None = None, shape: float | None = ..., scale: float | None = ..., size: int | Sequence[int] | None = None, ctx: Any = 'cpu', dtype: Literal['float16', 'float32', 'float64'] = 'float32', *, out: Any = None, name: str | None = None) -> ndarray:
    """Gamma distributed numbers with shape parameter `shape` and `scale`: their mean is the product of both."""

def gather_nd(data: NDArray, indices: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The elements at coordinates: `indices[i]` has those along axis i of `data`; negative ones count from the end."""

def greater(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """Whether `lhs > rhs`.  Shapes are broadcast."""

def greater_equal(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """Whether `lhs >= rhs`.  Shapes are broadcast."""

def greater_equal_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> ndarray:
    """Whether `data >= scalar`."""

def greater_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> ndarray:
    """Whether `data > scalar`."""

def gumbel(input1: NDArray | None = None, input2: NDArray | None = None, loc: float | None = ..., scale: float | None = ..., size: int | Sequence[int] | None = None, ctx: Any = 'cpu', *, out: Any = None, name: str | None = None) -> ndarray:
    """Gumbel distributed numbers: how far the largest of many lies out; gradients reach `loc` and `scale`."""

def hamming(M: int | None = None, ctx: Any = '', dtype: DType = 'float32', *, out: Any = None, name: str | None = None) -> ndarray:
    """The Hamming window of M points: 0.54 - 0.46 cos(t)."""

def hanning(M: int | None = None, ctx: Any = '', dtype: DType = 'float32', *, out: Any = None, name: str | None = None) -> ndarray:
    """The Hann window of M points: 0.5 - 0.5 cos(t)."""

def histogram(data: NDArray, bins: NDArray | None = None, bin_cnt: int | None = None, range: float | Sequence[float] | None = None, *, out: Any = None, name: str | None = None) -> list[ndarray]:
    """Counts the values in each interval; returns the counts (int64) and the limits of the intervals."""

def hsplit(data: NDArray, indices: int | Sequence[int], axis: int = 1, squeeze_axis: bool = False, sections: int = 0, *, out: Any = None, name: str | None = None) -> Any:
    """Splits the second axis, or a vector's only one; `indices` and `sections` are those of `_npi_split`."""

def hstack(*data: NDArray, num_args: int = ..., dim: int = 1, out: Any = None, name: str | None = None) -> ndarray:
    """Arrays beside each other: along the second axis, or vectors along their only one."""

def hypot(x1: NDArray, x2: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """`sqrt(x1^2 + x2^2)`, without overflow on the way.  Shapes are broadcast."""

def hypot_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> ndarray:
    """`sqrt(data^2 + scalar^2)`."""

def identity(shape: int | Sequence[int] = (), ctx: Any = '', dtype: DType = 'float32', *, out: Any = None, name: str | None = None) -> ndarray:
    """A square matrix with ones on its diagonal; `shape` is (n, n)."""

def indices(dimensions: int | Sequence[int], dtype: DType = 'int32', ctx: Any = '', *, out: Any = None, name: str | None = None) -> ndarray:
    """For each axis of a grid of these lengths, the position along it of every point: shape (axes, *dimensions)."""

def insert_scalar(arr: NDArray, values: NDArray | None = None, val: float | None = None, start: int | None = None, stop: int | None = None, step: int | None = None, int_ind: int | None = None, axis: int | None = None, *, out: Any = None, name: str | None = None) -> ndarray:
    """The array with `values` (or the number `val`) before the position `int_ind`."""

def insert_slice(arr: NDArray, values: NDArray | None = None, val: float | None = None, start: int | None = None, stop: int | None = None, step: int | None = None, int_ind: int | None = None, axis: int | None = None, *, out: Any = None, name: str | None = None) -> ndarray:
    """The array with `values` (or the number `val`) before the positions `start:stop:step`."""

def insert_tensor(arr: NDArray, values: NDArray | None = None, obj: NDArray | None = None, val: float | None = None, start: int | None = None, stop: int | None = None, step: int | None = None, int_ind: int | None = None, axis: int | None = None, *, out: Any = None, name: str | None = None) -> ndarray:
    """The array with `values` (or the number `val`) before the positions in `obj`."""

def inv(A: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """Inverse of square matrices."""

def isfinite(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """Whether the value is neither infinite nor NaN."""

def isinf(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """Whether the value is infinite, with either sign."""

def isnan(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """Whether the value is NaN."""

def isneginf(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """Whether the value is negative infinity."""

def isposinf(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """Whether the value is positive infinity."""

def lcm(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The smallest common multiple of integers.  Shapes are broadcast."""

def lcm_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> ndarray:
    """The smallest common multiple of integers and an integer."""

def ldexp(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """`lhs * 2**rhs`.  Shapes are broadcast."""

def ldexp_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> ndarray:
    """`data * 2**scalar`."""

def less(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """Whether `lhs < rhs`.  Shapes are broadcast."""

def less_equal(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """Whether `lhs <= rhs`.  Shapes are broadcast."""

def less_equal_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> ndarray:
    """Whether `data <= scalar`."""

def less_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> ndarray:
    """Whether `data < scalar`."""

def linspace(start: float, stop: float, num: int, endpoint: bool = True, ctx: Any = '', dtype: DType = 'float32', *, out: Any = None, name: str | None = None) -> ndarray:
    """`num` numbers at equal distances from `start` to `stop`, which is one of them only with `endpoint`."""

def log(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The natural logarithm; NaN below 0."""

def log10(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The logarithm to the base 10."""

def log1p(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """`log(1 + x)`, accurate near 0."""

def log2(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The logarithm to the base 2."""

def logical_not(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """Whether the value is 0."""

def logistic(input1: NDArray | None = None, input2: NDArray | None = None, loc: float | None = ..., scale: float | None = ..., size: int | Sequence[int] | None = None, ctx: Any = 'cpu', *, out: Any = None, name: str | None = None) -> ndarray:
    """Logistically distributed numbers; gradients reach `loc` and `scale`."""

def logspace(start: float, stop: float, num: int, endpoint: bool = True, base: float = 10.0, ctx: Any = '', dtype: DType = 'float32', *, out: Any = None, name: str | None = None) -> ndarray:
    """`base` to the power of `num` numbers at equal distances from `start` to `stop`."""

def matmul(a: NDArray, b: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The matrix product over the last two axes; all others broadcast.  A vector is a row on the left, a column on"""

def maximum(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The larger of the two values; where they are equal, the gradient goes to `lhs`.  Shapes are broadcast."""

def maximum_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> ndarray:
    """The larger of `data` and `scalar`; where they are equal, the gradient passes."""

def mean(a: NDArray, axis: int | Sequence[int] | None = None, dtype: DType | None = None, keepdims: bool = False, initial: float | None = None, *, out: Any = None, name: str | None = None) -> ndarray:
    """The mean along `axis`; of integers as float32."""

def minimum(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The smaller of the two values; where they are equal, the gradient goes to `lhs`.  Shapes are broadcast."""

def minimum_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> ndarray:
    """The smaller of `data` and `scalar`; where they are equal, the gradient passes."""

def mod(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The remainder of `lhs / rhs`, with the sign of `rhs`; 0 where `rhs` is 0.  Shapes are broadcast."""

def mod_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> ndarray:
    """The remainder of `data / scalar`, with the sign of `scalar`."""

def multinomial(a: NDArray | None = None, n: int = ..., pvals: float | Sequence[float] | None = None, size: int | Sequence[int] | None = None, *, out: Any = None, name: str | None = None) -> ndarray:
    """How often each of several outcomes comes up in `n` trials; their probabilities are `pvals`, or `a`."""

def multiply(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The product `lhs * rhs`.  Shapes are broadcast."""

def multiply_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> ndarray:
    """`data * scalar`."""

def nan_to_num(data: NDArray, copy: bool = True, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None, *, out: Any = None, name: str | None = None) -> ndarray:
    """NaN and infinities replaced by numbers: 0 and the largest and smallest that there are, unless given."""

def negative(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The value with the opposite sign."""

def nextafter(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The number next to `lhs` on the way to `rhs`.  Shapes are broadcast."""

def nonzero(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """Positions of the elements that are not 0: a row for each, a column for each axis (int64)."""

def norm(data: NDArray, ord: float = 2.0, axis: int | Sequence[int] | None = None, keepdims: bool = False, flag: int = -1, *, out: Any = None, name: str | None = None) -> ndarray:
    """Norms along `axis` (all, if not given)."""

def normal(input1: NDArray | None = None, input2: NDArray | None = None, loc: float | None = ..., scale: float | None = ..., size: int | Sequence[int] | None = None, ctx: Any = 'cpu', dtype: Literal['float16', 'float32', 'float64'] = 'float32', *, out: Any = None, name: str | None = None) -> ndarray:
    """Normally distributed numbers with mean `loc` and standard deviation `scale`; gradients reach both."""

def normal_n(input1: NDArray | None = None, input2: NDArray | None = None, loc: float | None = ..., scale: float | None = ..., size: int | Sequence[int] | None = None, ctx: Any = 'cpu', dtype: Literal['float16', 'float32', 'float64'] = 'float32', *, out: Any = None, name: str | None = None) -> ndarray:
    """As `_npi_normal`, with `size` draws for each element of the parameters."""

def not_equal(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """Whether `lhs != rhs`.  Shapes are broadcast."""

def not_equal_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> ndarray:
    """Whether `data != scalar`."""

def ones(shape: int | Sequence[int] = (), ctx: Any = '', dtype: DType = 'float32', *, out: Any = None, name: str | None = None) -> ndarray:
    """Ones of a shape."""

def pad(data: NDArray, pad_width: int | Sequence[int] | Sequence[int | Sequence[int]], mode: Literal['constant', 'edge', 'maximum', 'minimum', 'reflect', 'symmetric'] = 'constant', constant_value: float = 0.0, reflect_type: str = 'even', *, out: Any = None, name: str | None = None) -> ndarray:
    """A frame around the array: `pad_width` has the lengths before and after each axis."""

def pareto(input1: NDArray | None = None, a: float | None = None, size: int | Sequence[int] | None = None, ctx: Any = 'cpu', *, out: Any = None, name: str | None = None) -> ndarray:
    """Pareto (Lomax) distributed numbers with shape parameter `a`, from 0 on; gradients reach it."""

def percentile(a: NDArray, q: NDArray | None = None, axis: int | Sequence[int] | None = None, interpolation: Literal['linear', 'lower', 'higher', 'midpoint', 'nearest'] = 'linear', keepdims: bool = False, q_scalar: float | None = None, *, out: Any = None, name: str | None = None) -> ndarray:
    """Values below which `q` per cent of those along `axis` lie; all but float64 give float32."""

def pinv(A: NDArray, rcond: NDArray, hermitian: bool = False, *, out: Any = None, name: str | None = None) -> ndarray:
    """The pseudoinverse; singular values below `rcond` times the largest count as 0."""

def pinv_scalar_rcond(A: NDArray, rcond: float = 1e-15, hermitian: bool = False, *, out: Any = None, name: str | None = None) -> ndarray:
    """The pseudoinverse; singular values below `rcond` times the largest count as 0."""

def polyval(p: NDArray, x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """A polynomial at each `x`; `p` has its coefficients, that of the highest power first."""

def power(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """`lhs` to the power of `rhs`.  Shapes are broadcast."""

def power_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> ndarray:
    """`data` to the power of `scalar`."""

def powerd(input1: NDArray | None = None, a: float | None = None, size: int | Sequence[int] | None = None, *, out: Any = None, name: str | None = None) -> ndarray:
    """Numbers between 0 and 1 whose density rises like `x^(a - 1)`."""

def radians(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """An angle in degrees, given in radians."""

def random_randint(low: int, high: int, shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> ndarray:
    """Integers between `low` (included) and `high` (excluded), all equally likely; int32 unless `dtype` says int64."""

def rarctan2_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> ndarray:
    """The angle of the point with height `scalar` at distance `data`."""

def rayleigh(input1: NDArray | None = None, scale: float | None = 1.0, size: int | Sequence[int] | None = None, ctx: Any = 'cpu', *, out: Any = None, name: str | None = None) -> ndarray:
    """Rayleigh distributed numbers: lengths of normal vectors in the plane; gradients reach `scale`."""

def rcopysign_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> ndarray:
    """The size of `scalar` with the sign of `data`."""

def reciprocal(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """One over the value."""

def reshape(a: NDArray, newshape: int | Sequence[int], reverse: bool = False, order: str = 'C', *, out: Any = None, name: str | None = None) -> ndarray:
    """The same elements in another shape; `newshape` may hold codes, which `reverse` reads from the right."""

def resize(a: NDArray, new_shape: int | Sequence[int], *, out: Any = None, name: str | None = None) -> ndarray:
    """The elements in another shape, from the start again where there are too few of them; of none, zeros."""

def rint(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The nearest integer; of two equally near ones the lower.  The gradient is zero."""

def rldexp_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> ndarray:
    """`scalar * 2**data`."""

def rmod_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> ndarray:
    """The remainder of `scalar / data`, with the sign of `data`."""

def rnn_param_concat(*data: NDArray, num_args: int = ..., dim: int = 1, out: Any = None, name: str | None = None) -> ndarray:
    """Joins the parts of an `RNN`'s parameter vector: `Concat` under the name that recurrent layers use."""

def rot90(data: NDArray, k: int = 1, axes: int | Sequence[int] | None = None, *, out: Any = None, name: str | None = None) -> ndarray:
    """Turns the plane of two axes by 90 degrees, `k` times, from the first towards the second."""

def rpower_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> ndarray:
    """`scalar` to the power of `data`."""

def rsubtract_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> ndarray:
    """`scalar - data`."""

def rtrue_divide_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> ndarray:
    """`scalar / data`; of integers as float32."""

def scatter_set_nd(lhs: NDArray, rhs: NDArray, indices: NDArray, shape: int | Sequence[int], *, out: Any = None, name: str | None = None) -> ndarray:
    """`lhs`, which has `shape`, with `rhs` at coordinates: `indices[i]` has those along axis i."""

def share_memory(a: NDArray, b: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """Whether two arrays share memory; they are row-major, so it is enough to look where each begins and ends."""

def shuffle(data: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The rows of `data` (its parts along the first axis) in random order; what is inside a row stays in order."""

def sign(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """-1, 0 or 1.  The gradient is zero."""

def sin(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The sine of an angle in radians."""

def sinh(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The hyperbolic sine."""

def slice(data: NDArray, begin: int | None | Sequence[int | None], end: int | None | Sequence[int | None], step: int | None | Sequence[int | None] = (), *, out: Any = None, name: str | None = None) -> ndarray:
    """Elements from `begin` up to `end` in steps of `step`, for the first axes; None means from or to the very end."""

def slice_assign(lhs: NDArray, rhs: NDArray, begin: int | None | Sequence[int | None], end: int | None | Sequence[int | None], step: int | None | Sequence[int | None] = (), *, out: Any = None, name: str | None = None) -> ndarray:
    """`lhs` with a slice of it replaced by `rhs`, which must have the shape of that slice."""

def slice_assign_scalar(data: NDArray, scalar: float = 0.0, begin: int | None | Sequence[int | None] = ..., end: int | None | Sequence[int | None] = ..., step: int | None | Sequence[int | None] = (), *, out: Any = None, name: str | None = None) -> ndarray:
    """`data` with a slice of it replaced by a number."""

def slogdet(A: NDArray, *, out: Any = None, name: str | None = None) -> list[ndarray]:
    """Sign of the determinant of square matrices, and the logarithm of its absolute value."""

def solve(A: NDArray, B: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The X with `A @ X == B`; where B has one axis less than A, it holds vectors."""

def sort(data: NDArray, axis: int | None = -1, is_ascend: bool = True, *, out: Any = None, name: str | None = None) -> ndarray:
    """The elements in order along an axis, or (axis=None) all of them in a row."""

def split(data: NDArray, indices: int | Sequence[int], axis: int = 1, squeeze_axis: bool = False, sections: int = 0, *, out: Any = None, name: str | None = None) -> Any:
    """Splits an axis where `indices` say a part begins (so the first is 0), or into `sections` parts."""

def sqrt(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The square root; NaN below 0."""

def square(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The value times itself."""

def stack(*data: NDArray, axis: int = 0, num_args: int = ..., out: Any = None, name: str | None = None) -> ndarray:
    """Arrays of one shape behind each other along a new axis."""

def std(a: NDArray, axis: int | Sequence[int] | None = None, dtype: DType | None = None, ddof: int = 0, keepdims: bool = False, *, out: Any = None, name: str | None = None) -> ndarray:
    """The standard deviation along `axis`, of integers without its fraction; squares are divided by n - `ddof`."""

def subtract(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The difference `lhs - rhs`.  Shapes are broadcast."""

def subtract_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> ndarray:
    """`data - scalar`."""

def svd(A: NDArray, *, out: Any = None, name: str | None = None) -> list[ndarray]:
    """Singular values: the three factors of `A == U * L @ V`, with orthonormal columns of U and rows of V."""

def swapaxes(data: NDArray, dim1: int = 0, dim2: int = 0, *, out: Any = None, name: str | None = None) -> ndarray:
    """Exchanges two axes."""

def take(a: NDArray, indices: NDArray, axis: int = 0, mode: Literal['clip', 'raise', 'wrap'] = 'clip', *, out: Any = None, name: str | None = None) -> ndarray:
    """The elements of an axis at `indices`, whose axes take its place in the result."""

def take_along_axis(arr: NDArray, indices: NDArray, axis: int | None = None, *, out: Any = None, name: str | None = None) -> ndarray:
    """The elements of `arr` at `indices`, which have as many axes: each row of indices is for the row beside it."""

def tan(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The tangent of an angle in radians."""

def tanh(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The hyperbolic tangent."""

def tensordot(a: NDArray, b: NDArray, a_axes_summed: int | Sequence[int], b_axes_summed: int | Sequence[int], *, out: Any = None, name: str | None = None) -> ndarray:
    """The sum of products over pairs of axes; the others of `a` come first, then those of `b`."""

def tensordot_int_axes(a: NDArray, b: NDArray, axes: int, *, out: Any = None, name: str | None = None) -> ndarray:
    """The sum of products over the last `axes` axes of `a` and the first of `b`."""

def tensorinv(a: NDArray, ind: int = 2, *, out: Any = None, name: str | None = None) -> ndarray:
    """The inverse for `tensordot(b, a, ind)`: the first `ind` axes of `a` and the others have as many elements."""

def tensorsolve(a: NDArray, b: NDArray, a_axes: int | Sequence[int] = (), *, out: Any = None, name: str | None = None) -> ndarray:
    """The x with `tensordot(a, x, x.ndim) == b`; axes in `a_axes` go to the end of `a` before."""

def tile(data: NDArray, reps: int | Sequence[int], *, out: Any = None, name: str | None = None) -> ndarray:
    """The whole array repeated `reps` times along its axes; missing axes or numbers count as 1 on the left."""

def tril(data: NDArray, k: int = 0, *, out: Any = None, name: str | None = None) -> ndarray:
    """Matrices with zeros above the k-th diagonal; a vector stands for a matrix of such rows."""

def true_divide(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The quotient `lhs / rhs`; of integers as float32.  Shapes are broadcast."""

def true_divide_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> ndarray:
    """`data / scalar`; of integers as float32."""

def trunc(x: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The value without its fraction, as `fix`.  The gradient is zero."""

def uniform(input1: NDArray | None = None, input2: NDArray | None = None, low: float | None = ..., high: float | None = ..., size: int | Sequence[int] | None = None, ctx: Any = 'cpu', dtype: Literal['float16', 'float32', 'float64'] = 'float32', *, out: Any = None, name: str | None = None) -> ndarray:
    """Uniformly distributed numbers between `low` (included) and `high` (excluded)."""

def uniform_n(input1: NDArray | None = None, input2: NDArray | None = None, low: float | None = ..., high: float | None = ..., size: int | Sequence[int] | None = None, ctx: Any = 'cpu', dtype: Literal['float16', 'float32', 'float64'] = 'float32', *, out: Any = None, name: str | None = None) -> ndarray:
    """As `_npi_uniform`, with `size` draws for each element of the parameters."""

def unique(data: NDArray, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False, axis: int | None = None, *, out: Any = None, name: str | None = None) -> ndarray:
    """The different values in rising order (or different parts along `axis`)."""

def var(a: NDArray, axis: int | Sequence[int] | None = None, dtype: DType | None = None, ddof: int = 0, keepdims: bool = False, *, out: Any = None, name: str | None = None) -> ndarray:
    """The variance along `axis`, of integers without its fraction; squares are divided by n - `ddof`."""

def vstack(*data: NDArray, num_args: int = ..., out: Any = None, name: str | None = None) -> ndarray:
    """Arrays above each other: along the first axis, where vectors count as rows."""

def weibull(input1: NDArray | None = None, a: float | None = None, size: int | Sequence[int] | None = None, ctx: Any = 'cpu', *, out: Any = None, name: str | None = None) -> ndarray:
    """Weibull distributed numbers with shape parameter `a` and scale 1; gradients reach it."""

def where(condition: NDArray, x: NDArray, y: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """`x` where the condition is true, else `y`; all three broadcast."""

def where_lscalar(condition: NDArray, x: NDArray, scalar: float = 0.0, *, out: Any = None, name: str | None = None) -> ndarray:
    """`scalar` where the condition is true, else `x`."""

def where_rscalar(condition: NDArray, y: NDArray, scalar: float = 0.0, *, out: Any = None, name: str | None = None) -> ndarray:
    """`y` where the condition is true, else `scalar`."""

def where_scalar2(condition: NDArray, x: float = 0.0, y: float = 0.0, *, out: Any = None, name: str | None = None) -> ndarray:
    """The number `x` where the condition is true, else `y`, as float32."""

def zeros(shape: int | Sequence[int] = (), ctx: Any = '', dtype: DType = 'float32', *, out: Any = None, name: str | None = None) -> ndarray:
    """Zeros of a shape."""
