# Made by `python -m mxnet._frontend.stubs`: do not edit.
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from mxnet._typing import DType
from mxnet.ndarray.ndarray import NDArray
from ._sparse import *
from ._sparse import array as array
from ._sparse import empty as empty
from ._sparse import from_scipy as from_scipy
from ._sparse import from_torch as from_torch
from ._sparse import zeros as zeros
from ._sparse_array import from_dense as from_dense
from ._sparse_array import from_record as from_record

def ElementWiseSum(*data: NDArray, num_args: int = ..., out: Any = None, name: str | None = None) -> NDArray:
    """The sum of all inputs, which have one shape and one dtype."""

def Embedding(data: NDArray, weight: NDArray, input_dim: int, output_dim: int, dtype: DType = 'float32', sparse_grad: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """The rows of `weight` at the indices in `data`: a new last axis of length `output_dim`."""

def FullyConnected(data: NDArray, weight: NDArray, bias: NDArray | None = None, num_hidden: int = ..., no_bias: bool = False, flatten: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """A linear layer: `data` times the transpose of `weight`, plus `bias`."""

def LinearRegressionOutput(data: NDArray, label: NDArray, grad_scale: float = 1.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """`data`; its gradient is that of half the squared error: (data - label) * grad_scale / values per sample."""

def LogisticRegressionOutput(data: NDArray, label: NDArray, grad_scale: float = 1.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """Sigmoid; its gradient is that of the cross-entropy: (output - label) * grad_scale / values per sample."""

def MAERegressionOutput(data: NDArray, label: NDArray, grad_scale: float = 1.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """`data`; its gradient is that of the absolute error: sign(data - label) * grad_scale / values per sample."""

def _contrib_round_ste(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """`round`, with the gradient of a copy (a straight-through estimator)."""

def _contrib_sign_ste(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """`sign`, with the gradient of a copy (a straight-through estimator)."""

def abs(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The absolute value."""

def adagrad_update(weight: NDArray, grad: NDArray, history: NDArray, lr: float, epsilon: float = 1e-07, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """AdaGrad: `history += grad ** 2; weight -= lr * grad / sqrt(history + epsilon)`."""

def adam_update(weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, lr: float, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-08, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, lazy_update: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """Adam: `weight - lr * mean / (sqrt(var) + epsilon)` with running averages of the gradient and its square."""

def add_n(*data: NDArray, num_args: int = ..., out: Any = None, name: str | None = None) -> NDArray:
    """The sum of all inputs, which have one shape and one dtype."""

def arccos(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The inverse cosine, from 0 to pi; NaN outside [-1, 1]."""

def arccosh(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The inverse hyperbolic cosine; NaN below 1."""

def arcsin(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The inverse sine, from -pi/2 to pi/2; NaN outside [-1, 1]."""

def arcsinh(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The inverse hyperbolic sine."""

def arctan(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The inverse tangent, from -pi/2 to pi/2."""

def arctanh(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The inverse hyperbolic tangent; NaN outside [-1, 1]."""

def broadcast_add(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The sum `lhs + rhs`.  Shapes are broadcast."""

def broadcast_div(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The quotient `lhs / rhs`; of integers without its fraction.  Shapes are broadcast."""

def broadcast_minus(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The difference `lhs - rhs`.  Shapes are broadcast."""

def broadcast_mul(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The product `lhs * rhs`.  Shapes are broadcast."""

def broadcast_plus(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The sum `lhs + rhs`.  Shapes are broadcast."""

def broadcast_sub(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The difference `lhs - rhs`.  Shapes are broadcast."""

def cbrt(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The cube root, negative for negative values."""

def ceil(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The smallest integer that is not below the value.  The gradient is zero."""

def clip(data: NDArray, a_min: float, a_max: float, *, out: Any = None, name: str | None = None) -> NDArray:
    """`data` with values below `a_min` raised to it and values above `a_max` lowered to it."""

def concat(*data: NDArray, num_args: int = ..., dim: int = 1, out: Any = None, name: str | None = None) -> NDArray:
    """Arrays behind each other along axis `dim`; the other axes must agree."""

def cos(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The cosine of an angle in radians."""

def cosh(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The hyperbolic cosine."""

def degrees(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """An angle in radians, given in degrees."""

def dot(lhs: NDArray, rhs: NDArray, transpose_a: bool = False, transpose_b: bool = False, forward_stype: Literal[None, 'csr', 'default', 'row_sparse'] = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Product over the last axis of `lhs` and the first of `rhs`: of matrices, the matrix product."""

def elemwise_add(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The sum `lhs + rhs`."""

def elemwise_div(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The quotient `lhs / rhs`; of integers without its fraction."""

def elemwise_mul(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The product `lhs * rhs`."""

def elemwise_sub(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The difference `lhs - rhs`."""

def exp(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The exponential function."""

def expm1(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """`exp(x) - 1`, accurate near 0."""

def fix(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The value without its fraction: the nearest integer towards 0.  The gradient is zero."""

def floor(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The largest integer that is not above the value.  The gradient is zero."""

def ftrl_update(weight: NDArray, grad: NDArray, z: NDArray, n: NDArray, lr: float, lamda1: float = 0.01, beta: float = 1.0, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """Follow the regularized leader: weights whose sum of gradients stays below `lamda1` are exactly zero."""

def gamma(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The gamma function; `gamma(n)` is `(n - 1)!`."""

def gammaln(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The logarithm of the absolute value of the gamma function."""

def log(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The natural logarithm; NaN below 0."""

def log10(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The logarithm to the base 10."""

def log1p(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """`log(1 + x)`, accurate near 0."""

def log2(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The logarithm to the base 2."""

def make_loss(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """A copy that makes `data` a loss: its gradient is 1, whatever comes in from behind."""

def mean(data: NDArray, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """The mean along `axis`; of integers without its fraction."""

def negative(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The value with the opposite sign."""

def norm(data: NDArray, ord: int = 2, axis: int | Sequence[int] | None = None, out_dtype: DType | None = None, keepdims: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """The square root of the sum of squares along `axis`, or with `ord=1` the sum of absolute values."""

def radians(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """An angle in degrees, given in radians."""

def relu(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The value where it is positive, else 0; the gradient at 0 is 0."""

def rint(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The nearest integer; of two equally near ones the lower.  The gradient is zero."""

def round(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The nearest integer; of two equally near ones that further from 0.  The gradient is zero."""

def rsqrt(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """One over the square root."""

def sgd_mom_update(weight: NDArray, grad: NDArray, mom: NDArray, lr: float, momentum: float = 0.0, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, lazy_update: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """Gradient descent with momentum: `mom = momentum * mom - lr * (grad + wd * weight)`, then `weight + mom`."""

def sgd_update(weight: NDArray, grad: NDArray, lr: float, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, lazy_update: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """Gradient descent: `weight * (1 - lr * wd) - lr * grad`."""

def sigmoid(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """`1 / (1 + exp(-x))`."""

def sign(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """-1, 0 or 1.  The gradient is zero."""

def sin(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The sine of an angle in radians."""

def sinh(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The hyperbolic sine."""

def slice(data: NDArray, begin: int | None | Sequence[int | None], end: int | None | Sequence[int | None], step: int | None | Sequence[int | None] = (), *, out: Any = None, name: str | None = None) -> NDArray:
    """Elements from `begin` up to `end` in steps of `step`, for the first axes; None means from or to the very end."""

def sqrt(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The square root; NaN below 0."""

def square(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The value times itself."""

def stop_gradient(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """A copy through which no gradient goes back."""

def sum(data: NDArray, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """The sum along `axis`."""

def tan(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The tangent of an angle in radians."""

def tanh(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The hyperbolic tangent."""

def trunc(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The value without its fraction, as `fix`.  The gradient is zero."""

def where(condition: NDArray, x: NDArray, y: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """`x` where `condition` is not 0, else `y`.  A condition with one axis may choose whole rows."""

def zeros_like(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """Zeros with the shape, dtype and context of `data`."""
