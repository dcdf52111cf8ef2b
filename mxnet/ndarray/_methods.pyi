# Made by `python -m mxnet._frontend.stubs` from the operator table: do not edit.
from collections.abc import Sequence
from typing import Any, Literal

from .ndarray import NDArray

class OperatorMethods:
    def abs(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """The absolute value."""

    def arccos(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """The inverse cosine, from 0 to pi; NaN outside [-1, 1]."""

    def arccosh(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """The inverse hyperbolic cosine; NaN below 1."""

    def arcsin(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """The inverse sine, from -pi/2 to pi/2; NaN outside [-1, 1]."""

    def arcsinh(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """The inverse hyperbolic sine."""

    def arctan(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """The inverse tangent, from -pi/2 to pi/2."""

    def arctanh(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """The inverse hyperbolic tangent; NaN outside [-1, 1]."""

    def argmax(self, axis: int | None = ..., keepdims: bool = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """The number of the largest value along `axis`, the first of several, in the dtype of `data`."""

    def argmax_channel(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """`argmax` along axis 1: the class with the highest score."""

    def argmin(self, axis: int | None = ..., keepdims: bool = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """The number of the smallest value along `axis`, the first of several, in the dtype of `data`."""

    def argsort(self, axis: int | None = ..., is_ascend: bool = ..., dtype: Any = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """The indices that would sort an axis, or (axis=None) all elements in a row."""

    def broadcast_axes(self, axis: int | Sequence[int] = ..., size: int | Sequence[int] = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """Repeats axes of length 1: those in `axis` get the lengths in `size`."""

    def broadcast_like(self, rhs: NDArray | None = None, lhs_axes: int | Sequence[int] | None = ..., rhs_axes: int | Sequence[int] | None = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """Repeats axes of length 1 of `lhs` to fit `rhs`: all, or those in `lhs_axes` to fit those in `rhs_axes`."""

    def broadcast_to(self, shape: int | Sequence[int] = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """Repeats axes of length 1 so that the array gets `shape`; 0 in it keeps an axis as it is."""

    def cbrt(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """The cube root, negative for negative values."""

    def ceil(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """The smallest integer that is not below the value.  The gradient is zero."""

    def clip(self, a_min: float = ..., a_max: float = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """`data` with values below `a_min` raised to it and values above `a_max` lowered to it."""

    def cos(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """The cosine of an angle in radians."""

    def cosh(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """The hyperbolic cosine."""

    def degrees(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """An angle in radians, given in degrees."""

    def depth_to_space(self, block_size: int = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """Moves channels into blocks of space: (n, c, h, w) becomes (n, c / b**2, h * b, w * b)."""

    def diag(self, k: int = ..., axis1: int = ..., axis2: int = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """The k-th diagonal over two axes, as the last axis; of a vector, the matrix that has it as its k-th diagonal."""

    def exp(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """The exponential function."""

    def expand_dims(self, axis: int = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """A new axis of length 1 before `axis`."""

    def expm1(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """`exp(x) - 1`, accurate near 0."""

    def fix(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """The value without its fraction: the nearest integer towards 0.  The gradient is zero."""

    def flip(self, axis: int | Sequence[int] = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """The elements in reverse order along the axes in `axis`."""

    def floor(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """The largest integer that is not above the value.  The gradient is zero."""

    def log(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """The natural logarithm; NaN below 0."""

    def log10(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """The logarithm to the base 10."""

    def log1p(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """`log(1 + x)`, accurate near 0."""

    def log2(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """The logarithm to the base 2."""

    def log_softmax(self, axis: int = ..., temperature: float | None = ..., dtype: Any | None = ..., use_length: bool | None = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """The logarithm of `softmax`, accurate where that is close to 0."""

    def max(self, axis: int | Sequence[int] | None = ..., keepdims: bool = ..., exclude: bool = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """The largest value along `axis`; if there are several, each gets the gradient."""

    def mean(self, axis: int | Sequence[int] | None = ..., keepdims: bool = ..., exclude: bool = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """The mean along `axis`; of integers without its fraction."""

    def min(self, axis: int | Sequence[int] | None = ..., keepdims: bool = ..., exclude: bool = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """The smallest value along `axis`; if there are several, each gets the gradient."""

    def nanprod(self, axis: int | Sequence[int] | None = ..., keepdims: bool = ..., exclude: bool = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """The product along `axis`, NaN counted as 1."""

    def nansum(self, axis: int | Sequence[int] | None = ..., keepdims: bool = ..., exclude: bool = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """The sum along `axis`, NaN counted as 0."""

    def norm(self, ord: int = ..., axis: int | Sequence[int] | None = ..., out_dtype: Any | None = ..., keepdims: bool = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """The square root of the sum of squares along `axis`, or with `ord=1` the sum of absolute values."""

    def one_hot(self, depth: int = ..., on_value: float = ..., off_value: float = ..., dtype: Any = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """A new last axis of length `depth` with `on_value` at the index and `off_value` elsewhere."""

    def ones_like(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """Ones with the shape, dtype and context of `data`."""

    def pad(self, mode: Literal['constant', 'edge', 'reflect'] = ..., pad_width: int | Sequence[int] = ..., constant_value: float = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """A frame around the array: `pad_width` has the lengths before and after each axis, the first axis first."""

    def pick(self, index: NDArray | None = None, axis: int | None = ..., keepdims: bool = ..., mode: Literal['clip', 'wrap'] = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """One element along `axis` for each place of the other axes: the one that `index` says there."""

    def prod(self, axis: int | Sequence[int] | None = ..., keepdims: bool = ..., exclude: bool = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """The product along `axis`."""

    def radians(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """An angle in degrees, given in radians."""

    def rcbrt(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """One over the cube root."""

    def reciprocal(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """One over the value."""

    def relu(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """The value where it is positive, else 0; the gradient at 0 is 0."""

    def repeat(self, repeats: int = ..., axis: int | None = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """Every element `repeats` times, one beside the other, along an axis or (axis=None) of all elements in a row."""

    def reshape_like(self, rhs: NDArray | None = None, lhs_begin: int | None = ..., lhs_end: int | None = ..., rhs_begin: int | None = ..., rhs_end: int | None = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """`lhs` in the shape of `rhs`; only its values count, so `rhs` gets no gradient."""

    def rint(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """The nearest integer; of two equally near ones the lower.  The gradient is zero."""

    def round(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """The nearest integer; of two equally near ones that further from 0.  The gradient is zero."""

    def rsqrt(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """One over the square root."""

    def shape_array(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """The shape of `data` as an int64 array."""

    def sigmoid(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """`1 / (1 + exp(-x))`."""

    def sign(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """-1, 0 or 1.  The gradient is zero."""

    def sin(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """The sine of an angle in radians."""

    def sinh(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """The hyperbolic sine."""

    def size_array(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """The number of values in `data` as an int64 array of shape (1,)."""

    def slice(self, begin: int | None | Sequence[int | None] = ..., end: int | None | Sequence[int | None] = ..., step: int | None | Sequence[int | None] = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """Elements from `begin` up to `end` in steps of `step`, for the first axes; None means from or to the very end."""

    def slice_axis(self, axis: int = ..., begin: int = ..., end: int | None = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """Elements from `begin` up to `end` (None: to the very end) of one axis; the range must not be empty."""

    def slice_like(self, shape_like: NDArray | None = None, axes: int | Sequence[int] = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """The first elements of `data` along `axes` (by default along all), as many as `shape_like` has there."""

    def softmax(self, length: NDArray | None = None, axis: int = ..., temperature: float | None = ..., dtype: Any | None = ..., use_length: bool | None = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """`exp(x)` over its sum along `axis`, x divided by `temperature` first."""

    def softmin(self, axis: int = ..., temperature: float | None = ..., dtype: Any | None = ..., use_length: bool | None = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """`softmax` of the negated values."""

    def sort(self, axis: int | None = ..., is_ascend: bool = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """The elements in order along an axis, or (axis=None) all of them in a row."""

    def space_to_depth(self, block_size: int = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """Moves blocks of space into channels: (n, c, h, w) becomes (n, c * b**2, h / b, w / b)."""

    def split(self, num_outputs: int = ..., axis: int = ..., squeeze_axis: bool = ..., *, out: Any = None, name: str | None = None) -> Any:
        """Splits an axis into `num_outputs` parts of the same length; `squeeze_axis` drops it where they have length 1."""

    def sqrt(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """The square root; NaN below 0."""

    def square(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """The value times itself."""

    def squeeze(self, axis: int | Sequence[int] | None = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """Drops axes of length 1: those in `axis`, or all.  If none is left, the result has shape (1,)."""

    def sum(self, axis: int | Sequence[int] | None = ..., keepdims: bool = ..., exclude: bool = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """The sum along `axis`."""

    def swapaxes(self, dim1: int = ..., dim2: int = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """Exchanges two axes."""

    def take(self, indices: NDArray | None = None, axis: int = ..., mode: Literal['clip', 'raise', 'wrap'] = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """The elements of an axis at `indices`, whose axes take its place in the result."""

    def tan(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """The tangent of an angle in radians."""

    def tanh(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """The hyperbolic tangent."""

    def tile(self, reps: int | Sequence[int] = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """The whole array repeated `reps` times along its axes; missing axes or numbers count as 1 on the left."""

    def topk(self, axis: int | None = ..., k: int = ..., ret_typ: Literal['both', 'indices', 'mask', 'value'] = ..., is_ascend: bool = ..., dtype: Any = ..., *, out: Any = None, name: str | None = None) -> Any:
        """The `k` largest elements along an axis (the smallest with `is_ascend`), in order; k < 1 means all of them."""

    def transpose(self, axes: int | Sequence[int] = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """The axes in the order `axes`, by default in reverse order."""

    def trunc(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """The value without its fraction, as `fix`.  The gradient is zero."""

    def zeros_like(self, *, out: Any = None, name: str | None = None) -> NDArray:
        """Zeros with the shape, dtype and context of `data`."""
