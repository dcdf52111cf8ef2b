"""Elementwise functions of one array.

The result has the dtype of the input; for integers it is computed in floating point and cut off, as a C cast does.
"""
import math

import torch

from ..core import gradients
from ..core.gradients import no_gradient, of_integers, with_gradient
from ..core.table import operator


def in_same_dtype(function, data):
    """`function(data)` in the dtype of `data`: torch turns integers into float32, upstream does not."""
    result = function(data)
    return result if result.dtype is data.dtype else of_integers(function, data)


def _in_double(function):
    """A function that upstream computes in double precision for integers: `tanh(10)` is 0.99999999, and so 0."""
    return lambda data: function(data if data.is_floating_point() else data.double())


# ---------------------------------------------------------------------- functions that torch has no single call for
def round_half_away(data):
    """The nearest integer; of two equally near ones that further from 0 (torch.round takes the even one)."""
    whole = torch.trunc(data)
    return whole + torch.sign(data) * ((data - whole).abs() >= 0.5)


def _round_half_down(data):
    below = torch.floor(data)
    return below + ((data - below) > 0.5)


def _cbrt(data):
    if not data.is_floating_point():
        data = data.float()
    # by hand, because the derivative of the formula is NaN at 0 where it should be infinite
    return with_gradient(lambda x: torch.copysign(torch.pow(torch.abs(x), 1 / 3), x),
                         lambda gradients, inputs, outputs: (gradients[0] / (3 * outputs[0] * outputs[0]),), data)


def _arcsinh(data):
    return with_gradient(torch.asinh, gradients.arcsinh, data)


def _arccosh(data):
    return with_gradient(torch.acosh, gradients.arccosh, data)


def _gammaln(data):
    if not data.is_floating_point():
        data = data.float()

    def back(gradients, inputs, outputs):
        x, = inputs
        pole = (x <= 0) & (x == torch.floor(x))
        # the limit differs from side to side; upstream has plus infinity
        return (gradients[0] * torch.digamma(x).masked_fill(pole, math.inf),)
    return with_gradient(torch.lgamma, back, data)


def _gamma(data):
    # lgamma knows only |gamma|; below zero the sign alternates from one integer to the next.  In float64, so that
    # gamma(5) is 24 and not nearly so.
    if not data.is_floating_point():
        data = data.float()
    wide = data.double()
    negative = torch.where(wide < 0, torch.remainder(torch.floor(wide), 2) == 1, torch.signbit(wide))
    size = torch.exp(_gammaln(wide))
    pole = (wide <= 0) & (wide == torch.floor(wide))
    result = torch.where(negative, -size, size)
    return result.masked_fill(pole & (wide != 0), math.nan).to(data.dtype)


# ---------------------------------------------------------------------- the table of the plain ones
_PLAIN = [
    # name, function, what it computes
    ('abs', torch.abs, 'The absolute value.'),
    ('arccos', torch.acos, 'The inverse cosine, from 0 to pi; NaN outside [-1, 1].'),
    ('arccosh', _arccosh, 'The inverse hyperbolic cosine; NaN below 1.'),
    ('arcsin', torch.asin, 'The inverse sine, from -pi/2 to pi/2; NaN outside [-1, 1].'),
    ('arcsinh', _arcsinh, 'The inverse hyperbolic sine.'),
    ('arctan', torch.atan, 'The inverse tangent, from -pi/2 to pi/2.'),
    ('arctanh', torch.atanh, 'The inverse hyperbolic tangent; NaN outside [-1, 1].'),
    ('cbrt', _cbrt, 'The cube root, negative for negative values.'),
    ('ceil', torch.ceil, 'The smallest integer that is not below the value.  The gradient is zero.'),
    ('cos', torch.cos, 'The cosine of an angle in radians.'),
    ('cosh', torch.cosh, 'The hyperbolic cosine.'),
    ('degrees', torch.rad2deg, 'An angle in radians, given in degrees.'),
    ('erf', _in_double(torch.erf), 'The Gauss error function.'),
    ('erfinv', torch.erfinv, 'The inverse of the Gauss error function; infinite at -1 and 1.'),
    ('exp', torch.exp, 'The exponential function.'),
    ('expm1', torch.expm1, '`exp(x) - 1`, accurate near 0.'),
    ('fix', torch.trunc, 'The value without its fraction: the nearest integer towards 0.  The gradient is zero.'),
    ('floor', torch.floor, 'The largest integer that is not above the value.  The gradient is zero.'),
    ('gamma', _gamma, 'The gamma function; `gamma(n)` is `(n - 1)!`.'),
    ('gammaln', _gammaln, 'The logarithm of the absolute value of the gamma function.'),
    ('log', torch.log, 'The natural logarithm; NaN below 0.'),
    ('log10', torch.log10, 'The logarithm to the base 10.'),
    ('log1p', torch.log1p, '`log(1 + x)`, accurate near 0.'),
    ('log2', torch.log2, 'The logarithm to the base 2.'),
    ('negative', torch.neg, 'The value with the opposite sign.'),
    ('radians', torch.deg2rad, 'An angle in degrees, given in radians.'),
    ('rcbrt', lambda x: torch.reciprocal(_cbrt(x)), 'One over the cube root.'),
    ('reciprocal', torch.reciprocal, 'One over the value.'),
    ('relu', torch.relu, 'The value where it is positive, else 0; the gradient at 0 is 0.'),
    ('rint', _round_half_down, 'The nearest integer; of two equally near ones the lower.  The gradient is zero.'),
    ('round', round_half_away, 'The nearest integer; of two equally near ones that further from 0.  '
                                'The gradient is zero.'),
    ('rsqrt', torch.rsqrt, 'One over the square root.'),
    ('sigmoid', torch.sigmoid, '`1 / (1 + exp(-x))`.'),
    ('sign', torch.sign, '-1, 0 or 1.  The gradient is zero.'),
    ('sin', torch.sin, 'The sine of an angle in radians.'),
    ('sinh', torch.sinh, 'The hyperbolic sine.'),
    ('softsign', gradients.softsign, '`x / (1 + |x|)`.'),
    ('sqrt', torch.sqrt, 'The square root; NaN below 0.'),
    ('square', torch.square, 'The value times itself.'),
    ('tan', torch.tan, 'The tangent of an angle in radians.'),
    ('tanh', _in_double(torch.tanh), 'The hyperbolic tangent.'),
    ('trunc', torch.trunc, 'The value without its fraction, as `fix`.  The gradient is zero.'),
]
_NUMPY_EXTENSION = {'erf', 'erfinv', 'gamma', 'gammaln'}
_NOT_SPARSE = {'erf', 'erfinv', 'rcbrt', 'reciprocal', 'softsign'}
_NO_METHOD = {'erf', 'erfinv', 'gamma', 'gammaln', 'negative', 'softsign'}


# the slopes of integers that upstream computes from the result, which is cut off by then
_SLOPES = {'tan': lambda result: 1 + result * result, 'tanh': lambda result: 1 - result * result}


def _declare(name, function, doc):
    slope = _SLOPES.get(name)

    def elementwise(data):
        result = function(data)
        return result if result.dtype is data.dtype else of_integers(function, data, slope=slope)

    elementwise.__name__ = elementwise.__qualname__ = name
    elementwise.__doc__ = doc
    aliases = [f'_npx_{name}'] if name in _NUMPY_EXTENSION else []
    if name not in _NOT_SPARSE:
        aliases.append(f'_sparse_{name}')
    operator(name, aliases=aliases, fresh=True, elementwise=True, methods=() if name in _NO_METHOD else (name,
                                                                                                         ))(elementwise)


for _row in _PLAIN:
    _declare(*_row)


# ---------------------------------------------------------------------- those with parameters, and constants
@operator(elementwise=True)
def logical_not(data):
    """1 where the value is 0, else 0, in the dtype of `data`.  The gradient is zero."""
    return no_gradient(lambda x: torch.logical_not(x).to(x.dtype), data)


@operator(aliases=('_sparse_zeros_like',), elementwise=True, methods='zeros_like')
def zeros_like(data):
    """Zeros with the shape, dtype and context of `data`."""
    return no_gradient(torch.zeros_like, data)


@operator(elementwise=True, methods='ones_like')
def ones_like(data):
    """Ones with the shape, dtype and context of `data`."""
    return no_gradient(torch.ones_like, data)


@operator(aliases=('_npx_shape_array',), result_dtype='int64', methods='shape_array')
def shape_array(data):
    """The shape of `data` as an int64 array."""
    return torch.tensor(data.shape, dtype=torch.int64, device=data.device)


@operator(result_dtype='int64', methods='size_array')
def size_array(data):
    """The number of values in `data` as an int64 array of shape (1,)."""
    return torch.full((1,), data.numel(), dtype=torch.int64, device=data.device)


@operator(aliases=('_npi_clip', '_sparse_clip'), elementwise=True, methods='clip')
def clip(data, *, a_min: float, a_max: float):
    """`data` with values below `a_min` raised to it and values above `a_max` lowered to it.

    The gradient passes where the value is within the limits, both included.
    """
    if not data.is_floating_point():
        limits = torch.iinfo(data.dtype)
        a_min, a_max = int(max(a_min, limits.min)), int(min(a_max, limits.max))
    if a_min > a_max:           # torch takes the upper limit for all; upstream looks at it first, then at the lower one
        return torch.where(data > a_max, a_max, torch.where(data < a_min, a_min, data))
    return gradients.clamp(data, a_min, a_max)


@operator(elementwise=True)
def hard_sigmoid(data, *, alpha: float = 0.2, beta: float = 0.5):
    """`alpha * x + beta`, cut off at 0 and 1.  The gradient is zero where it is cut off, the corners included."""
    line = data * alpha + beta
    return torch.where(line <= 0, 0, torch.where(line >= 1, 1, line)).to(data.dtype)


@operator(aliases=('_npx_smooth_l1',), elementwise=True)
def smooth_l1(data, *, scalar: float = 1.0):
    """A square near 0 that goes over into a line: with s = `scalar` squared, `0.5 s x^2` where |x| < 1 / s, else
    `|x| - 0.5 / s`.
    """
    s = scalar * scalar
    corner = 1 / s if s else math.inf

    def value(x):
        size = torch.abs(x)
        return torch.where(size < corner, 0.5 * s * x * x, size - 0.5 * corner)

    def slope(gradients, inputs, outputs):      # by hand, because that of the square is NaN at infinity
        x, = inputs
        return (gradients[0] * torch.where(x > corner, 1, torch.where(x < -corner, -1, s * x)),)
    return in_same_dtype(lambda x: with_gradient(value, slope, x), data)


@operator(elementwise=True)
def _contrib_div_sqrt_dim(data):
    """`data` over the square root of the length of its last axis, as attention scales its scores."""
    scale = math.sqrt(data.shape[-1])
    return data / scale if data.is_floating_point() else torch.div(data, int(scale), rounding_mode='trunc')


@operator(elementwise=True)
def _contrib_quadratic(data, *, a: float = 0.0, b: float = 0.0, c: float = 0.0):
    """`a x^2 + b x + c`."""
    return in_same_dtype(lambda x: a * x * x + b * x + c, data)
