# Made by `python -m mxnet._frontend.stubs`: do not edit.
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from mxnet._typing import DType
from mxnet.symbol.symbol import Symbol

def ElementWiseSum(*data: Symbol, num_args: int = ..., name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The sum of all inputs, which have one shape and one dtype."""

def Embedding(data: Symbol | None = None, weight: Symbol | None = None, input_dim: int = ..., output_dim: int = ..., dtype: DType = 'float32', sparse_grad: bool = False, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The rows of `weight` at the indices in `data`: a new last axis of length `output_dim`."""

def FullyConnected(data: Symbol | None = None, weight: Symbol | None = None, bias: Symbol | None = None, num_hidden: int = ..., no_bias: bool = False, flatten: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """A linear layer: `data` times the transpose of `weight`, plus `bias`."""

def LinearRegressionOutput(data: Symbol | None = None, label: Symbol | None = None, grad_scale: float = 1.0, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`data`; its gradient is that of half the squared error: (data - label) * grad_scale / values per sample."""

def LogisticRegressionOutput(data: Symbol | None = None, label: Symbol | None = None, grad_scale: float = 1.0, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Sigmoid; its gradient is that of the cross-entropy: (output - label) * grad_scale / values per sample."""

def MAERegressionOutput(data: Symbol | None = None, label: Symbol | None = None, grad_scale: float = 1.0, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`data`; its gradient is that of the absolute error: sign(data - label) * grad_scale / values per sample."""

def _contrib_round_ste(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`round`, with the gradient of a copy (a straight-through estimator)."""

def _contrib_sign_ste(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`sign`, with the gradient of a copy (a straight-through estimator)."""

def abs(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The absolute value."""

def adagrad_update(weight: Symbol | None = None, grad: Symbol | None = None, history: Symbol | None = None, lr: float = ..., epsilon: float = 1e-07, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """AdaGrad: `history += grad ** 2; weight -= lr * grad / sqrt(history + epsilon)`."""

def adam_update(weight: Symbol | None = None, grad: Symbol | None = None, mean: Symbol | None = None, var: Symbol | None = None, lr: float = ..., beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-08, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, lazy_update: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Adam: `weight - lr * mean / (sqrt(var) + epsilon)` with running averages of the gradient and its square."""

def add_n(*data: Symbol, num_args: int = ..., name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The sum of all inputs, which have one shape and one dtype."""

def arccos(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The inverse cosine, from 0 to pi; NaN outside [-1, 1]."""

def arccosh(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The inverse hyperbolic cosine; NaN below 1."""

def arcsin(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The inverse sine, from -pi/2 to pi/2; NaN outside [-1, 1]."""

def arcsinh(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The inverse hyperbolic sine."""

def arctan(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The inverse tangent, from -pi/2 to pi/2."""

def arctanh(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The inverse hyperbolic tangent; NaN outside [-1, 1]."""

def broadcast_add(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The sum `lhs + rhs`.  Shapes are broadcast."""

def broadcast_div(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The quotient `lhs / rhs`; of integers without its fraction.  Shapes are broadcast."""

def broadcast_minus(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The difference `lhs - rhs`.  Shapes are broadcast."""

def broadcast_mul(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The product `lhs * rhs`.  Shapes are broadcast."""

def broadcast_plus(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The sum `lhs + rhs`.  Shapes are broadcast."""

def broadcast_sub(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The difference `lhs - rhs`.  Shapes are broadcast."""

def cbrt(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The cube root, negative for negative values."""

def ceil(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The smallest integer that is not below the value.  The gradient is zero."""

def clip(data: Symbol | None = None, a_min: float = ..., a_max: float = ..., *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`data` with values below `a_min` raised to it and values above `a_max` lowered to it."""

def concat(*data: Symbol, num_args: int = ..., dim: int = 1, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Arrays behind each other along axis `dim`; the other axes must agree."""

def cos(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The cosine of an angle in radians."""

def cosh(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The hyperbolic cosine."""

def degrees(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """An angle in radians, given in degrees."""

def dot(lhs: Symbol | None = None, rhs: Symbol | None = None, transpose_a: bool = False, transpose_b: bool = False, forward_stype: Literal[None, 'csr', 'default', 'row_sparse'] = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Product over the last axis of `lhs` and the first of `rhs`: of matrices, the matrix product."""

def elemwise_add(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The sum `lhs + rhs`."""

def elemwise_div(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The quotient `lhs / rhs`; of integers without its fraction."""

def elemwise_mul(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The product `lhs * rhs`."""

def elemwise_sub(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The difference `lhs - rhs`."""

def exp(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The exponential function."""

def expm1(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`exp(x) - 1`, accurate near 0."""

def fix(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The value without its fraction: the nearest integer towards 0.  The gradient is zero."""

def floor(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The largest integer that is not above the value.  The gradient is zero."""

def ftrl_update(weight: Symbol | None = None, grad: Symbol | None = None, z: Symbol | None = None, n: Symbol | None = None, lr: float = ..., lamda1: float = 0.01, beta: float = 1.0, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Follow the regularized leader: weights whose sum of gradients stays below `lamda1` are exactly zero."""

def gamma(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The gamma function; `gamma(n)` is `(n - 1)!`."""

def gammaln(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The logarithm of the absolute value of the gamma function."""

def log(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The natural logarithm; NaN below 0."""

def log10(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The logarithm to the base 10."""

def log1p(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`log(1 + x)`, accurate near 0."""

def log2(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The logarithm to the base 2."""

def make_loss(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """A copy that makes `data` a loss: its gradient is 1, whatever comes in from behind."""

def mean(data: Symbol | None = None, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The mean along `axis`; of integers without its fraction."""

def negative(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The value with the opposite sign."""

def norm(data: Symbol | None = None, ord: int = 2, axis: int | Sequence[int] | None = None, out_dtype: DType | None = None, keepdims: bool = False, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The square root of the sum of squares along `axis`, or with `ord=1` the sum of absolute values."""

def radians(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """An angle in degrees, given in radians."""

def relu(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The value where it is positive, else 0; the gradient at 0 is 0."""

def rint(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The nearest integer; of two equally near ones the lower.  The gradient is zero."""

def round(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The nearest integer; of two equally near ones that further from 0.  The gradient is zero."""

def rsqrt(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """One over the square root."""

def sgd_mom_update(weight: Symbol | None = None, grad: Symbol | None = None, mom: Symbol | None = None, lr: float = ..., momentum: float = 0.0, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, lazy_update: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Gradient descent with momentum: `mom = momentum * mom - lr * (grad + wd * weight)`, then `weight + mom`."""

def sgd_update(weight: Symbol | None = None, grad: Symbol | None = None, lr: float = ..., wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, lazy_update: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Gradient descent: `weight * (1 - lr * wd) - lr * grad`."""

def sigmoid(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`1 / (1 + exp(-x))`."""

def sign(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """-1, 0 or 1.  The gradient is zero."""

def sin(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The sine of an angle in radians."""

def sinh(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The hyperbolic sine."""

def slice(data: Symbol | None = None, begin: int | None | Sequence[int | None] = ..., end: int | None | Sequence[int | None] = ..., step: int | None | Sequence[int | None] = (), *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Elements from `begin` up to `end` in steps of `step`, for the first axes; None means from or to the very end."""

def sqrt(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The square root; NaN below 0."""

def square(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The value times itself."""

def stop_gradient(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """A copy through which no gradient goes back."""

def sum(data: Symbol | None = None, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The sum along `axis`."""

def tan(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The tangent of an angle in radians."""

def tanh(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The hyperbolic tangent."""

def trunc(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The value without its fraction, as `fix`.  The gradient is zero."""

def where(condition: Symbol | None = None, x: Symbol | None = None, y: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`x` where `condition` is not 0, else `y`.  A condition with one axis may choose whole rows."""

def zeros_like(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Zeros with the shape, dtype and context of `data`."""
