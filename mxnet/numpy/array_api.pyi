# Made by `python -m mxnet._frontend.stubs`: do not edit.
from builtins import bool as _bool
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as _numpy

from mxnet._typing import ArrayLike, DType, Operand
from mxnet.context import Context
from mxnet.numpy.multiarray import ndarray as ndarray
from mxnet.numpy import _array_api_linalg as linalg

NAME: dict[Any, Any]
Numbers: tuple[Any, ...]
bool: _numpy.dtype[Any]
e: float
float32: _numpy.dtype[Any]
float64: _numpy.dtype[Any]
inf: float
int16: _numpy.dtype[Any]
int32: _numpy.dtype[Any]
int64: _numpy.dtype[Any]
int8: _numpy.dtype[Any]
nan: float
newaxis: None
pi: float
uint16: _numpy.dtype[Any]
uint32: _numpy.dtype[Any]
uint64: _numpy.dtype[Any]
uint8: _numpy.dtype[Any]
def abs(x: Operand, /) -> ndarray:
    """The absolute value."""

def acos(x: Operand, /) -> ndarray:
    """The inverse cosine."""

def acosh(x: Operand, /) -> ndarray:
    """The inverse hyperbolic cosine."""

def add(x1: Operand, x2: Operand, /) -> ndarray:
    """The sum."""

def all(a: Operand, axis: int | Sequence[int] | None = None, keepdims: _bool = False, out: Any = None) -> ndarray:
    """Whether no value along `axis` is 0."""

def any(a: Operand, axis: int | Sequence[int] | None = None, keepdims: _bool = False, out: Any = None) -> ndarray:
    """Whether a value along `axis` is not 0."""

def apply(name: Any, inputs: Any, attributes: Any, out: Any = None) -> ndarray:
    """Calls an operator on arrays or symbols (None: an input that is absent)."""

def arange(start: Operand, /, stop: Operand | None = None, step: float = 1, *, dtype: DType | None = None, device: Context | None = None) -> ndarray:
    """Evenly spaced numbers; integers if all arguments are."""

def argmax(x: Operand, /, *, axis: int | Sequence[int] | None = None, keepdims: _bool = False) -> ndarray:
    """The number of the largest value along `axis`."""

def argmin(x: Operand, /, *, axis: int | Sequence[int] | None = None, keepdims: _bool = False) -> ndarray:
    """The number of the smallest value along `axis`."""

def argsort(x: Operand, /, *, axis: int | Sequence[int] = -1, descending: Any = False, stable: Any = True) -> ndarray:
    """The indices that would sort an axis."""

def asarray(obj: Any, /, *, dtype: DType | None = None, device: Context | None = None, copy: _bool | None = None) -> ndarray:
    """An array from numbers, nested sequences or arrays: float32, int64 or bool by what is in them."""

def asin(x: Operand, /) -> ndarray:
    """The inverse sine."""

def asinh(x: Operand, /) -> ndarray:
    """The inverse hyperbolic sine."""

def astype(x: Operand, dtype: DType, /, *, copy: _bool = True, device: Context | None = None) -> ndarray:
    """The array in another dtype."""

def atan(x: Operand, /) -> ndarray:
    """The inverse tangent."""

def atan2(x1: Operand, x2: Operand, /) -> ndarray:
    """The angle of the point with height `x1` at distance `x2`."""

def atanh(x: Operand, /) -> ndarray:
    """The inverse hyperbolic tangent."""

def bitwise_and(x1: Operand, x2: Operand, /) -> ndarray:
    """Bits that are set in both."""

def bitwise_invert(x: Operand, /) -> ndarray:
    """Every bit turned over; of booleans, the opposite."""

def bitwise_left_shift(x1: Operand, x2: Operand, /) -> ndarray:
    """The bits of `x1` moved to the left by `x2` places."""

def bitwise_or(x1: Operand, x2: Operand, /) -> ndarray:
    """Bits that are set in one or both."""

def bitwise_right_shift(x1: Operand, x2: Operand, /) -> ndarray:
    """The bits of `x1` moved to the right by `x2` places."""

def bitwise_xor(x1: Operand, x2: Operand, /) -> ndarray:
    """Bits that are set in exactly one."""

def broadcast_arrays(*args: Any) -> Any:
    """Copies of arrays, all of them broadcast to one shape; the arrays themselves if they have one shape already."""

def broadcast_to(array: Operand, shape: int | Sequence[int]) -> ndarray:
    """A copy with axes of length 1 repeated, and axes added in front, to fit `shape`."""

def can_cast(from_: Any, to: Any, /) -> _bool:
    """Whether a dtype (or that of an array) becomes another by the rules of promotion."""

def ceil(x: Operand, /) -> ndarray:
    """The smallest integer that is not below the value."""

def clip(x: Operand, /, min: Any = None, max: Any = None) -> ndarray:
    """Values within limits, which may be numbers, arrays or None."""

def concat(arrays: Any, /, *, axis: int | Sequence[int] = 0) -> ndarray:
    """Arrays behind each other along an axis; with axis=None, their elements in a row."""

def copysign(x1: Operand, x2: Operand, /) -> ndarray:
    """The size of `x1` with the sign of `x2`."""

def cos(x: Operand, /) -> ndarray:
    """The cosine of an angle in radians."""

def cosh(x: Operand, /) -> ndarray:
    """The hyperbolic cosine."""

def count_nonzero(x: Operand, /, *, axis: int | Sequence[int] | None = None, keepdims: _bool = False) -> Any:
    """How many elements are not 0 along `axis`, as int64."""

def cpu(device_id: Any = 0) -> ndarray:
    """The CPU.  All numbers name the same memory, yet are distinct contexts."""

def cumulative_prod(x: Operand, /, *, axis: int | Sequence[int] | None = None, dtype: DType | None = None, include_initial: Any = False) -> ndarray:
    """The running product along `axis`; with `include_initial`, from 1 on."""

def cumulative_sum(x: Operand, /, *, axis: int | Sequence[int] | None = None, dtype: DType | None = None, include_initial: Any = False) -> ndarray:
    """The running sum along `axis`; with `include_initial`, from 0 on."""

def diff(x: Operand, /, *, axis: int | Sequence[int] = -1, n: int = 1, prepend: Any = None, append: Any = None) -> ndarray:
    """The differences of neighbours along an axis, `n` times over."""

def divide(x1: Operand, x2: Operand, /) -> ndarray:
    """The quotient; of integers as float32."""

def empty(shape: int | Sequence[int], *, dtype: DType | None = None, device: Context | None = None) -> ndarray:
    """An array whose values are whatever was in memory."""

def empty_like(x: Operand, /, *, dtype: DType | None = None, device: Context | None = None) -> ndarray:
    """Any values in the shape of `x`."""

def equal(x1: Operand, x2: Operand, /) -> ndarray:
    """Whether both are equal."""

def exp(x: Operand, /) -> ndarray:
    """The exponential function."""

def expand_dims(x: Operand, /, axis: int | Sequence[int]) -> ndarray:
    """A new axis of length 1."""

def expm1(x: Operand, /) -> ndarray:
    """`exp(x) - 1`, accurate near 0."""

def eye(n_rows: Any, n_cols: Any = None, /, *, k: int = 0, dtype: DType | None = None, device: Context | None = None) -> ndarray:
    """Zeros with ones on the k-th diagonal."""

def finfo(type: Any, /) -> ndarray:
    """Limits of a floating point dtype (or that of an array)."""

def flip(m: Operand, axis: int | Sequence[int] | None = None, out: Any = None) -> ndarray:
    """The elements in reverse order along `axis`, or along all axes."""

def floor(x: Operand, /) -> ndarray:
    """The largest integer that is not above the value."""

def floor_divide(x1: Operand, x2: Operand, /) -> ndarray:
    """The largest integers that are not above the quotients, in the dtype of the operands."""

def from_dlpack(x: Operand, /, *, device: Context | None = None, copy: _bool | None = None) -> ndarray:
    """An array that shares memory with one of another library."""

def full(shape: int | Sequence[int], fill_value: Any, *, dtype: DType | None = None, device: Context | None = None) -> ndarray:
    """One number in a whole shape, in its own dtype unless another is given."""

def full_like(x: Operand, /, fill_value: Any, *, dtype: DType | None = None, device: Context | None = None) -> ndarray:
    """One number in the shape of `x`."""

def greater(x1: Operand, x2: Operand, /) -> ndarray:
    """Whether `x1 > x2`."""

def greater_equal(x1: Operand, x2: Operand, /) -> ndarray:
    """Whether `x1 >= x2`."""

def hypot(x1: Operand, x2: Operand, /) -> ndarray:
    """`sqrt(x1^2 + x2^2)`."""

def iinfo(type: Any, /) -> ndarray:
    """Limits of an integer dtype (or that of an array)."""

def isdtype(dtype: DType, kind: Any) -> _bool:
    """Whether a dtype is of a kind ('integral', 'real floating', ...), is another dtype, or one of several of these."""

def isfinite(x: Operand, /) -> ndarray:
    """Whether the value is neither infinite nor NaN."""

def isinf(x: Operand, /) -> ndarray:
    """Whether the value is infinite, with either sign."""

def isnan(x: Operand, /) -> ndarray:
    """Whether the value is NaN."""

def less(x1: Operand, x2: Operand, /) -> ndarray:
    """Whether `x1 < x2`."""

def less_equal(x1: Operand, x2: Operand, /) -> ndarray:
    """Whether `x1 <= x2`."""

def linspace(start: Operand, stop: Operand, /, num: int, *, dtype: DType | None = None, device: Context | None = None, endpoint: _bool = True) -> Any:
    """`num` numbers at equal distances from `start` to `stop`."""

def log(x: Operand, /) -> ndarray:
    """The natural logarithm."""

def log10(x: Operand, /) -> ndarray:
    """The logarithm to the base 10."""

def log1p(x: Operand, /) -> ndarray:
    """`log(1 + x)`, accurate near 0."""

def log2(x: Operand, /) -> ndarray:
    """The logarithm to the base 2."""

def logaddexp(x1: Operand, x2: Operand) -> ndarray:
    """`log(exp(x1) + exp(x2))`, without overflow on the way."""

def logical_and(x1: Operand, x2: Operand, out: Any = None) -> ndarray:
    """Whether neither is 0."""

def logical_not(x: Operand, /) -> ndarray:
    """Whether the value is 0."""

def logical_or(x1: Operand, x2: Operand, out: Any = None) -> ndarray:
    """Whether one or both are not 0."""

def logical_xor(x1: Operand, x2: Operand, out: Any = None) -> ndarray:
    """Whether exactly one is not 0."""

def matmul(x1: Operand, x2: Operand, /) -> ndarray:
    """The matrix product over the last two axes."""

def matrix_transpose(x: Operand) -> ndarray:
    """The last two axes exchanged."""

def max(x: Operand, /, *, axis: int | Sequence[int] | None = None, keepdims: _bool = False) -> ndarray:
    """The largest value along `axis`."""

def maximum(x1: Operand, x2: Operand, /) -> ndarray:
    """The larger of two."""

def mean(x: Operand, /, *, axis: int | Sequence[int] | None = None, keepdims: _bool = False) -> ndarray:
    """The mean along `axis`."""

def meshgrid(*arrays: Any, indexing: str = 'xy') -> list[ndarray]:
    """Arrays of coordinates of the grid that vectors span."""

def min(x: Operand, /, *, axis: int | Sequence[int] | None = None, keepdims: _bool = False) -> ndarray:
    """The smallest value along `axis`."""

def minimum(x1: Operand, x2: Operand, /) -> ndarray:
    """The smaller of two."""

def moveaxis(a: Operand, source: int | Sequence[int], destination: int | Sequence[int]) -> ndarray:
    """Moves axes to new places; the others keep their order."""

def multiply(x1: Operand, x2: Operand, /) -> ndarray:
    """The product of elements."""

def negative(x: Operand, /) -> ndarray:
    """The value with the opposite sign."""

def nextafter(x1: Operand, x2: Operand, /) -> ndarray:
    """"""

def nonzero(x: Operand, /) -> tuple[ndarray, ...]:
    """Positions of the elements that are not 0: an array for each axis."""

def not_equal(x1: Operand, x2: Operand, /) -> ndarray:
    """Whether both differ."""

def numbers(value: Any) -> ndarray:
    """A tuple of ints from an int, a tuple, a list or an array of them; None stays."""

def ones(shape: int | Sequence[int], *, dtype: DType | None = None, device: Context | None = None) -> ndarray:
    """Ones of a shape."""

def ones_like(x: Operand, /, *, dtype: DType | None = None, device: Context | None = None) -> ndarray:
    """Ones in the shape of `x`."""

def permute_dims(x: Operand, /, axes: int | Sequence[int]) -> ndarray:
    """The axes in another order."""

def positive(x: Operand, /) -> ndarray:
    """A copy."""

def pow(x1: Operand, x2: Operand, /) -> ndarray:
    """`x1` to the power of `x2`."""

def prod(x: Operand, /, *, axis: int | Sequence[int] | None = None, dtype: DType | None = None, keepdims: _bool = False) -> ndarray:
    """The product along `axis`; of integers as int64."""

def reciprocal(x: Operand, /) -> ndarray:
    """One over the value."""

def remainder(x1: Operand, x2: Operand, /) -> ndarray:
    """The remainder with the divisor's sign; 0 where it is 0."""

def repeat(a: Operand, repeats: int | Sequence[int], axis: int | Sequence[int] | None = None) -> ndarray:
    """Every element `repeats` times (or as often as a list says) along an axis, or of the flat array."""

def reshape(x: Operand, /, shape: int | Sequence[int], *, copy: _bool | None = None) -> ndarray:
    """The same elements in another shape."""

def result_type(*arrays_and_dtypes: Any) -> _numpy.dtype[Any]:
    """The dtype in which arrays of several dtypes meet."""

def roll(x: Operand, /, shift: int | Sequence[int], *, axis: int | Sequence[int] | None = None) -> ndarray:
    """Moves elements along axes; what leaves at one end comes in at the other."""

def round(x: Operand, /) -> ndarray:
    """The nearest number with `decimals` decimals; of two equally near ones the even one."""

def searchsorted(x1: Operand, x2: Operand, /, *, side: str = 'left', sorter: Any = None) -> ndarray:
    """Where values would go into a sorted vector."""

def sign(x: Operand, /) -> ndarray:
    """-1, 0 or 1."""

def signbit(x: Operand, /) -> ndarray:
    """Whether the sign is negative, of zeros too."""

def sin(x: Operand, /) -> ndarray:
    """The sine of an angle in radians."""

def sinh(x: Operand, /) -> ndarray:
    """The hyperbolic sine."""

def sort(x: Operand, /, *, axis: int | Sequence[int] = -1, descending: Any = False, stable: Any = True) -> ndarray:
    """The elements in order along an axis."""

def sqrt(x: Operand, /) -> ndarray:
    """The square root; NaN below 0."""

def square(x: Operand, /) -> ndarray:
    """The value times itself."""

def squeeze(x: Operand, /, axis: int | Sequence[int]) -> ndarray:
    """Drops axes of length 1."""

def stack(arrays: Sequence[ndarray], axis: int | Sequence[int] = 0, out: Any = None) -> ndarray:
    """Arrays of one shape behind each other along a new axis."""

def std(x: Operand, /, *, axis: int | Sequence[int] | None = None, correction: Any = 0.0, keepdims: _bool = False) -> ndarray:
    """The standard deviation along `axis`."""

def subtract(x1: Operand, x2: Operand, /) -> ndarray:
    """The difference."""

def sum(x: Operand, /, *, axis: int | Sequence[int] | None = None, dtype: DType | None = None, keepdims: _bool = False) -> ndarray:
    """The sum along `axis`; of integers as int64."""

def take(a: Operand, indices: Operand, axis: int | Sequence[int] | None = None, mode: str = 'raise', out: Any = None) -> ndarray:
    """The elements at `indices` along an axis, or of the flat array."""

def take_along_axis(arr: Operand, indices: Any, axis: int | Sequence[int] = -1) -> ndarray:
    """The elements of `arr` at `indices`, which have as many axes: each row of indices is for the row beside it."""

def tan(x: Operand, /) -> ndarray:
    """The tangent of an angle in radians."""

def tanh(x: Operand, /) -> ndarray:
    """The hyperbolic tangent."""

def tensordot(a: Operand, b: Operand, axes: Any = 2) -> ndarray:
    """The sum of products over the last `axes` axes of `a` and the first of `b`, or over pairs of lists of axes."""

def tile(A: Operand, reps: int | Sequence[int]) -> ndarray:
    """The whole array repeated `reps` times along its axes."""

def torch_dtype(dtype: DType) -> ndarray:
    """The torch type of anything that names a dtype: 'float32', numpy.float32, numpy.dtype, torch.float32, an array."""

def tril(m: Operand, k: int = 0) -> ndarray:
    """Matrices with zeros above the k-th diagonal."""

def triu(m: Operand, k: int = 0) -> ndarray:
    """Matrices with zeros below the k-th diagonal."""

def trunc(x: Operand, /) -> ndarray:
    """The value without its fraction."""

def unique_all(x: Operand, /) -> ndarray:
    """The different values, where each is first, which of them each element is, and how often each is there."""

def unique_counts(x: Operand, /) -> ndarray:
    """The different values, and how often each is there."""

def unique_inverse(x: Operand, /) -> ndarray:
    """The different values, and which of them each element is."""

def unique_values(x: Operand, /) -> ndarray:
    """The different values."""

def unstack(x: Operand, /, *, axis: int | Sequence[int] = 0) -> ndarray:
    """The parts along an axis, as a tuple."""

def var(x: Operand, /, *, axis: int | Sequence[int] | None = None, correction: Any = 0.0, keepdims: _bool = False) -> ndarray:
    """The variance along `axis`; squares are divided by n - `correction`."""

def vecdot(x1: Operand, x2: Operand, /, *, axis: int | Sequence[int] = -1) -> ndarray:
    """The sum of products along an axis of both."""

def where(condition: Operand, x1: Operand, x2: Operand, /) -> ndarray:
    """`x1` where the condition is true, else `x2`."""

def zeros(shape: int | Sequence[int], *, dtype: DType | None = None, device: Context | None = None) -> ndarray:
    """Zeros of a shape."""

def zeros_like(x: Operand, /, *, dtype: DType | None = None, device: Context | None = None) -> ndarray:
    """Zeros in the shape of `x`."""
