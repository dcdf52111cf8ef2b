# Made by `python -m mxnet._frontend.stubs`: do not edit.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

from mxnet._typing import DType
from mxnet.ndarray.ndarray import NDArray

class OperatorMethods:
    def abs(self, *, out: Any = None, name: str | None = None) -> Self:
        """The absolute value."""

    def arccos(self, *, out: Any = None, name: str | None = None) -> Self:
        """The inverse cosine, from 0 to pi; NaN outside [-1, 1]."""

    def arccosh(self, *, out: Any = None, name: str | None = None) -> Self:
        """The inverse hyperbolic cosine; NaN below 1."""

    def arcsin(self, *, out: Any = None, name: str | None = None) -> Self:
        """The inverse sine, from -pi/2 to pi/2; NaN outside [-1, 1]."""

    def arcsinh(self, *, out: Any = None, name: str | None = None) -> Self:
        """The inverse hyperbolic sine."""

    def arctan(self, *, out: Any = None, name: str | None = None) -> Self:
        """The inverse tangent, from -pi/2 to pi/2."""

    def arctanh(self, *, out: Any = None, name: str | None = None) -> Self:
        """The inverse hyperbolic tangent; NaN outside [-1, 1]."""

    def argmax(self, axis: int | None = None, keepdims: bool = False, *, out: Any = None, name: str | None = None) -> Self:
        """The number of the largest value along `axis`, the first of several, in the dtype of `data`."""

    def argmax_channel(self, *, out: Any = None, name: str | None = None) -> Self:
        """`argmax` along axis 1: the class with the highest score."""

    def argmin(self, axis: int | None = None, keepdims: bool = False, *, out: Any = None, name: str | None = None) -> Self:
        """The number of the smallest value along `axis`, the first of several, in the dtype of `data`."""

    def argsort(self, axis: int | None = -1, is_ascend: bool = True, dtype: DType = 'float32', *, out: Any = None, name: str | None = None) -> Self:
        """The indices that would sort an axis, or (axis=None) all elements in a row."""

    def broadcast_axes(self, axis: int | Sequence[int] = (), size: int | Sequence[int] = (), *, out: Any = None, name: str | None = None) -> Self:
        """Repeats axes of length 1: those in `axis` get the lengths in `size`."""

    def broadcast_like(self, rhs: NDArray, lhs_axes: int | Sequence[int] | None = None, rhs_axes: int | Sequence[int] | None = None, *, out: Any = None, name: str | None = None) -> Self:
        """Repeats axes of length 1 of `lhs` to fit `rhs`: all, or those in `lhs_axes` to fit those in `rhs_axes`."""

    def broadcast_to(self, shape: int | Sequence[int] = (), *, out: Any = None, name: str | None = None) -> Self:
        """Repeats axes of length 1 so that the array gets `shape`; 0 in it keeps an axis as it is."""

    def cbrt(self, *, out: Any = None, name: str | None = None) -> Self:
        """The cube root, negative for negative values."""

    def ceil(self, *, out: Any = None, name: str | None = None) -> Self:
        """The smallest integer that is not below the value.  The gradient is zero."""

    def clip(self, a_min: float, a_max: float, *, out: Any = None, name: str | None = None) -> Self:
        """`data` with values below `a_min` raised to it and values above `a_max` lowered to it."""

    def cos(self, *, out: Any = None, name: str | None = None) -> Self:
        """The cosine of an angle in radians."""

    def cosh(self, *, out: Any = None, name: str | None = None) -> Self:
        """The hyperbolic cosine."""

    def degrees(self, *, out: Any = None, name: str | None = None) -> Self:
        """An angle in radians, given in degrees."""

    def depth_to_space(self, block_size: int, *, out: Any = None, name: str | None = None) -> Self:
        """Moves channels into blocks of space: (n, c, h, w) becomes (n, c / b**2, h * b, w * b)."""

    def diag(self, k: int = 0, axis1: int = 0, axis2: int = 1, *, out: Any = None, name: str | None = None) -> Self:
        """The k-th diagonal over two axes, as the last axis; of a vector, the matrix that has it as its k-th diagonal."""

    def exp(self, *, out: Any = None, name: str | None = None) -> Self:
        """The exponential function."""

    def expand_dims(self, axis: int, *, out: Any = None, name: str | None = None) -> Self:
        """A new axis of length 1 before `axis`."""

    def expm1(self, *, out: Any = None, name: str | None = None) -> Self:
        """`exp(x) - 1`, accurate near 0."""

    def fix(self, *, out: Any = None, name: str | None = None) -> Self:
        """The value without its fraction: the nearest integer towards 0.  The gradient is zero."""

    def flip(self, axis: int | Sequence[int], *, out: Any = None, name: str | None = None) -> Self:
        """The elements in reverse order along the axes in `axis`."""

    def floor(self, *, out: Any = None, name: str | None = None) -> Self:
        """The largest integer that is not above the value.  The gradient is zero."""

    def log(self, *, out: Any = None, name: str | None = None) -> Self:
        """The natural logarithm; NaN below 0."""

    def log10(self, *, out: Any = None, name: str | None = None) -> Self:
        """The logarithm to the base 10."""

    def log1p(self, *, out: Any = None, name: str | None = None) -> Self:
        """`log(1 + x)`, accurate near 0."""

    def log2(self, *, out: Any = None, name: str | None = None) -> Self:
        """The logarithm to the base 2."""

    def log_softmax(self, axis: int = -1, temperature: float | None = None, dtype: DType | None = None, use_length: bool | None = False, *, out: Any = None, name: str | None = None) -> Self:
        """The logarithm of `softmax`, accurate where that is close to 0."""

    def max(self, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: Any = None, name: str | None = None) -> Self:
        """The largest value along `axis`; if there are several, each gets the gradient."""

    def mean(self, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: Any = None, name: str | None = None) -> Self:
        """The mean along `axis`; of integers without its fraction."""

    def min(self, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: Any = None, name: str | None = None) -> Self:
        """The smallest value along `axis`; if there are several, each gets the gradient."""

    def nanprod(self, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: Any = None, name: str | None = None) -> Self:
        """The product along `axis`, NaN counted as 1."""

    def nansum(self, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: Any = None, name: str | None = None) -> Self:
        """The sum along `axis`, NaN counted as 0."""

    def norm(self, ord: int = 2, axis: int | Sequence[int] | None = None, out_dtype: DType | None = None, keepdims: bool = False, *, out: Any = None, name: str | None = None) -> Self:
        """The square root of the sum of squares along `axis`, or with `ord=1` the sum of absolute values."""

    def one_hot(self, depth: int, on_value: float = 1.0, off_value: float = 0.0, dtype: DType = 'float32', *, out: Any = None, name: str | None = None) -> Self:
        """A new last axis of length `depth` with `on_value` at the index and `off_value` elsewhere."""

    def ones_like(self, *, out: Any = None, name: str | None = None) -> Self:
        """Ones with the shape, dtype and context of `data`."""

    def pad(self, mode: Literal['constant', 'edge', 'reflect'], pad_width: int | Sequence[int], constant_value: float = 0.0, *, out: Any = None, name: str | None = None) -> Self:
        """A frame around the array: `pad_width` has the lengths before and after each axis, the first axis first."""

    def pick(self, index: NDArray, axis: int | None = -1, keepdims: bool = False, mode: Literal['clip', 'wrap'] = 'clip', *, out: Any = None, name: str | None = None) -> Self:
        """One element along `axis` for each place of the other axes: the one that `index` says there."""

    def prod(self, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: Any = None, name: str | None = None) -> Self:
        """The product along `axis`."""

    def radians(self, *, out: Any = None, name: str | None = None) -> Self:
        """An angle in degrees, given in radians."""

    def rcbrt(self, *, out: Any = None, name: str | None = None) -> Self:
        """One over the cube root."""

    def reciprocal(self, *, out: Any = None, name: str | None = None) -> Self:
        """One over the value."""

    def relu(self, *, out: Any = None, name: str | None = None) -> Self:
        """The value where it is positive, else 0; the gradient at 0 is 0."""

    def repeat(self, repeats: int, axis: int | None = None, *, out: Any = None, name: str | None = None) -> Self:
        """Every element `repeats` times, one beside the other, along an axis or (axis=None) of all elements in a row."""

    def reshape_like(self, rhs: NDArray, lhs_begin: int | None = None, lhs_end: int | None = None, rhs_begin: int | None = None, rhs_end: int | None = None, *, out: Any = None, name: str | None = None) -> Self:
        """`lhs` in the shape of `rhs`; only its values count, so `rhs` gets no gradient."""

    def rint(self, *, out: Any = None, name: str | None = None) -> Self:
        """The nearest integer; of two equally near ones the lower.  The gradient is zero."""

    def round(self, *, out: Any = None, name: str | None = None) -> Self:
        """The nearest integer; of two equally near ones that further from 0.  The gradient is zero."""

    def rsqrt(self, *, out: Any = None, name: str | None = None) -> Self:
        """One over the square root."""

    def shape_array(self, *, out: Any = None, name: str | None = None) -> Self:
        """The shape of `data` as an int64 array."""

    def sigmoid(self, *, out: Any = None, name: str | None = None) -> Self:
        """`1 / (1 + exp(-x))`."""

    def sign(self, *, out: Any = None, name: str | None = None) -> Self:
        """-1, 0 or 1.  The gradient is zero."""

    def sin(self, *, out: Any = None, name: str | None = None) -> Self:
        """The sine of an angle in radians."""

    def sinh(self, *, out: Any = None, name: str | None = None) -> Self:
        """The hyperbolic sine."""

    def size_array(self, *, out: Any = None, name: str | None = None) -> Self:
        """The number of values in `data` as an int64 array of shape (1,)."""

    def slice(self, begin: int | None | Sequence[int | None], end: int | None | Sequence[int | None], step: int | None | Sequence[int | None] = (), *, out: Any = None, name: str | None = None) -> Self:
        """Elements from `begin` up to `end` in steps of `step`, for the first axes; None means from or to the very end."""

    def slice_axis(self, axis: int, begin: int, end: int | None, *, out: Any = None, name: str | None = None) -> Self:
        """Elements from `begin` up to `end` (None: to the very end) of one axis; the range must not be empty."""

    def slice_like(self, shape_like: NDArray, axes: int | Sequence[int] = (), *, out: Any = None, name: str | None = None) -> Self:
        """The first elements of `data` along `axes` (by default along all), as many as `shape_like` has there."""

    def softmax(self, length: NDArray | None = None, axis: int = -1, temperature: float | None = None, dtype: DType | None = None, use_length: bool | None = False, *, out: Any = None, name: str | None = None) -> Self:
        """`exp(x)` over its sum along `axis`, x divided by `temperature` first."""

    def softmin(self, axis: int = -1, temperature: float | None = None, dtype: DType | None = None, use_length: bool | None = False, *, out: Any = None, name: str | None = None) -> Self:
        """`softmax` of the negated values."""

    def sort(self, axis: int | None = -1, is_ascend: bool = True, *, out: Any = None, name: str | None = None) -> Self:
        """The elements in order along an axis, or (axis=None) all of them in a row."""

    def space_to_depth(self, block_size: int, *, out: Any = None, name: str | None = None) -> Self:
        """Moves blocks of space into channels: (n, c, h, w) becomes (n, c * b**2, h / b, w / b)."""

    def split(self, num_outputs: int, axis: int = 1, squeeze_axis: bool = False, *, out: Any = None, name: str | None = None) -> Any:
        """Splits an axis into `num_outputs` parts of the same length; `squeeze_axis` drops it where they have length 1."""

    def sqrt(self, *, out: Any = None, name: str | None = None) -> Self:
        """The square root; NaN below 0."""

    def square(self, *, out: Any = None, name: str | None = None) -> Self:
        """The value times itself."""

    def squeeze(self, axis: int | Sequence[int] | None = None, *, out: Any = None, name: str | None = None) -> Self:
        """Drops axes of length 1: those in `axis`, or all.  If none is left, the result has shape (1,)."""

    def sum(self, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: Any = None, name: str | None = None) -> Self:
        """The sum along `axis`."""

    def swapaxes(self, dim1: int = 0, dim2: int = 0, *, out: Any = None, name: str | None = None) -> Self:
        """Exchanges two axes."""

    def take(self, indices: NDArray, axis: int = 0, mode: Literal['clip', 'raise', 'wrap'] = 'clip', *, out: Any = None, name: str | None = None) -> Self:
        """The elements of an axis at `indices`, whose axes take its place in the result."""

    def tan(self, *, out: Any = None, name: str | None = None) -> Self:
        """The tangent of an angle in radians."""

    def tanh(self, *, out: Any = None, name: str | None = None) -> Self:
        """The hyperbolic tangent."""

    def tile(self, reps: int | Sequence[int], *, out: Any = None, name: str | None = None) -> Self:
        """The whole array repeated `reps` times along its axes; missing axes or numbers count as 1 on the left."""

    def topk(self, axis: int | None = -1, k: int = 1, ret_typ: Literal['both', 'indices', 'mask', 'value'] = 'indices', is_ascend: bool = False, dtype: DType = 'float32', *, out: Any = None, name: str | None = None) -> Self:
        """The `k` largest elements along an axis (the smallest with `is_ascend`), in order; k < 1 means all of them."""

    def transpose(self, axes: int | Sequence[int] = (), *, out: Any = None, name: str | None = None) -> Self:
        """The axes in the order `axes`, by default in reverse order."""

    def trunc(self, *, out: Any = None, name: str | None = None) -> Self:
        """The value without its fraction, as `fix`.  The gradient is zero."""

    def zeros_like(self, *, out: Any = None, name: str | None = None) -> Self:
        """Zeros with the shape, dtype and context of `data`."""
