"""Universal functions: elementwise on one or two arrays or numbers, with `out=` and `where=`."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy
import torch

from .._array import NDArrayBase
from .._np_mode import np_ufunc_legal_option
from .._ops.core.dtypes import NAME
from ..ndarray._arithmetic import FLOATS, NUMERIC, fast_binary
from . import _call
from ._call import Numbers, apply, is_array, is_symbol, scalar, unsupported

if TYPE_CHECKING:
    from .multiarray import ndarray

__all__: list[str] = []


class Binary(Protocol):
    """A universal function of two operands, and the methods of arrays that are made of it."""

    method: Callable[[Any, Any], ndarray]
    reflected: Callable[[Any, Any], ndarray]

    def __call__(self, x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> ndarray: ...


_OPTIONS = {'casting': 'same_kind', 'order': 'K', 'dtype': None, 'subok': True}


def _check_options(name, options):
    for key, value in options.items():
        if key not in _OPTIONS:
            raise TypeError(f'{name}() has no option {key!r}')
        default = _OPTIONS[key]
        if value is default or value == default:
            continue
        if not np_ufunc_legal_option(key, value):
            raise TypeError(f'{name}(): {key}={value!r} is not understood')
        raise NotImplementedError(f'{name}() does not have {key}={value!r}; only {key}={default!r}')


def finish(name, result, out, options):
    """Does what the options of a universal function ask for: `where`, and `out` where `where` is there."""
    where = options.pop('where', True)
    _check_options(name, options)
    if where is True:
        return result(out)
    if not is_array(where):
        raise NotImplementedError(f'{name}() does not have where={where!r}; only True, or an array of booleans')
    if str(getattr(where, 'dtype', 'bool')) != 'bool':
        raise TypeError(f'{name}(): where must be an array of booleans, not of {where.dtype}')
    value = result(None)
    rest = out
    if rest is None:
        rest = apply('_npi_full_like', (value,), {'fill_value': 0})
    return apply('_npi_where', (where, value, rest), {}, out)


def operand(x):
    """An array, a symbol or a number as it is; a NumPy array as one of ours; else None."""
    if isinstance(x, NDArrayBase) or isinstance(x, Numbers) or is_symbol(x):
        return x
    if isinstance(x, numpy.ndarray):
        from ._creation import array
        return array(x)
    return None


def _publish(function, name, doc):
    function.__name__ = function.__qualname__ = name
    function.__module__ = 'mxnet.numpy'
    function.__doc__ = doc
    __all__.append(name)
    return function


# ---------------------------------------------------------------------- one operand
def _unary(name, doc, internal=None):
    internal, python = f'_npi_{internal or name}', getattr(numpy, name)
    question = name.startswith('is') or name == 'logical_not'
    generated: Any = None                   # made once the class of arrays is there

    def function(x, out=None, **kwargs):
        nonlocal generated
        if out is None and not kwargs and isinstance(x, NDArrayBase):
            if generated is None:
                generated = _call.function_of(internal)
            return generated(x)
        if isinstance(x, Numbers):
            return python(x)
        value = operand(x)
        if value is None:
            raise unsupported(name, x)
        if out is not None and question and str(first(out).dtype) != 'bool':
            raise TypeError(f'{name}(): out must be an array of booleans, not of {first(out).dtype}')
        if not kwargs:
            return apply(internal, (value,), {}, first(out))
        return finish(name, lambda out: apply(internal, (value,), {}, out), first(out), kwargs)

    return _publish(function, name, doc)


def first(out):
    """The array in `out`, which may be a tuple of one, as NumPy's universal functions give it."""
    if isinstance(out, tuple):
        if len(out) != 1:
            raise ValueError(f'out must hold one array, not {len(out)}')
        return out[0]
    return out


abs = _unary('abs', 'The absolute value.', internal='absolute')
absolute = _unary('absolute', 'The absolute value.')
fabs = _unary('fabs', 'The absolute value.', internal='absolute')
arccos = _unary('arccos', 'The inverse cosine.')
arccosh = _unary('arccosh', 'The inverse hyperbolic cosine.')
arcsin = _unary('arcsin', 'The inverse sine.')
arcsinh = _unary('arcsinh', 'The inverse hyperbolic sine.')
arctan = _unary('arctan', 'The inverse tangent.')
arctanh = _unary('arctanh', 'The inverse hyperbolic tangent.')
bitwise_not = _unary('bitwise_not', 'Every bit turned over; of booleans, the opposite.')
invert = _unary('invert', 'Every bit turned over; of booleans, the opposite.', internal='bitwise_not')
cbrt = _unary('cbrt', 'The cube root.')
ceil = _unary('ceil', 'The smallest integer that is not below the value.')
cos = _unary('cos', 'The cosine of an angle in radians.')
cosh = _unary('cosh', 'The hyperbolic cosine.')
degrees = _unary('degrees', 'An angle in radians, given in degrees.')
rad2deg = _unary('rad2deg', 'An angle in radians, given in degrees.', internal='degrees')
exp = _unary('exp', 'The exponential function.')
expm1 = _unary('expm1', '`exp(x) - 1`, accurate near 0.')
fix = _unary('fix', 'The value without its fraction.')
trunc = _unary('trunc', 'The value without its fraction.')
floor = _unary('floor', 'The largest integer that is not above the value.')
isfinite = _unary('isfinite', 'Whether the value is neither infinite nor NaN.')
isinf = _unary('isinf', 'Whether the value is infinite, with either sign.')
isnan = _unary('isnan', 'Whether the value is NaN.')
isneginf = _unary('isneginf', 'Whether it is negative infinity.')
isposinf = _unary('isposinf', 'Whether it is positive infinity.')
log = _unary('log', 'The natural logarithm.')
log10 = _unary('log10', 'The logarithm to the base 10.')
log1p = _unary('log1p', '`log(1 + x)`, accurate near 0.')
log2 = _unary('log2', 'The logarithm to the base 2.')
logical_not = _unary('logical_not', 'Whether the value is 0.')
negative = _unary('negative', 'The value with the opposite sign.')
radians = _unary('radians', 'An angle in degrees, given in radians.')
deg2rad = _unary('deg2rad', 'An angle in degrees, given in radians.', internal='radians')
reciprocal = _unary('reciprocal', 'One over the value.')
rint = _unary('rint', 'The nearest integer; of two equally near ones the lower.')
sign = _unary('sign', '-1, 0 or 1.')
sin = _unary('sin', 'The sine of an angle in radians.')
sinh = _unary('sinh', 'The hyperbolic sine.')
sqrt = _unary('sqrt', 'The square root; NaN below 0.')
square = _unary('square', 'The value times itself.')
tan = _unary('tan', 'The tangent of an angle in radians.')
tanh = _unary('tanh', 'The hyperbolic tangent.')


def around(x, decimals=0, out=None, **kwargs):
    """The nearest number with `decimals` decimals; of two equally near ones the even one.

    >>> mx.np.around(mx.np.array([0.5, 1.5, 2.25]))
    array([0., 2., 2.])
    """
    if isinstance(x, Numbers):
        return numpy.around(x, decimals)
    return finish('around', lambda out: apply('_npi_around', (x,), {'decimals': decimals}, out), out, kwargs)


round = round_ = around
__all__ += ['around', 'round', 'round_']


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None, **kwargs):
    """NaN and infinities replaced by numbers: 0, and the largest and smallest that there are, unless given."""
    if isinstance(x, Numbers):
        return numpy.nan_to_num(x, copy, nan, posinf, neginf)
    out = None if copy else x
    return apply('_npi_nan_to_num', (x,), {'copy': copy, 'nan': nan, 'posinf': posinf, 'neginf': neginf}, out)


def clip(a, a_min, a_max, out=None):
    """`a` with values below `a_min` raised to it and values above `a_max` lowered to it; None is no limit.

    >>> mx.np.clip(mx.np.arange(5), 1, 3)
    array([1., 1., 2., 3., 3.])
    """
    if a_min is None and a_max is None:
        raise ValueError('clip: a_min or a_max must be given')
    if isinstance(a, Numbers):
        return numpy.clip(a, a_min, a_max)
    if is_array(a_min) or is_array(a_max):
        result = a if a_min is None else maximum(a, a_min)
        return minimum(result, a_max, out=out) if a_max is not None else maximum(a, a_min, out=out)
    low = float('-inf') if a_min is None else a_min
    return apply('_npi_clip', (a,), {'a_min': low, 'a_max': float('inf') if a_max is None else a_max}, out)


__all__ += ['nan_to_num', 'clip']


# ---------------------------------------------------------------------- two operands
def _binary(name, doc, *, internal=None, reverse=None, kernel=None, dtypes=NUMERIC, one_dtype=False) -> Binary:
    """A function of two operands from the operators for array-array, array-number and number-array."""
    python, internal = getattr(numpy, name), internal or name
    pair, with_scalar = f'_npi_{internal}', f'_npi_{internal}_scalar'
    reverse = f'_npi_{reverse or internal}_scalar'

    def compute(x1, x2, out):
        if isinstance(x1, NDArrayBase):
            if isinstance(x2, NDArrayBase):
                if one_dtype and x1.meta().dtype is not x2.meta().dtype:
                    x1, x2 = _promoted(x1, x2)
                return apply(pair, (x1, x2), {}, out)
            if isinstance(x2, Numbers):
                return apply(with_scalar, (x1,), scalar(x2), out)
        elif isinstance(x1, Numbers):
            if isinstance(x2, Numbers):
                return python(x1, x2)
            if is_array(x2):
                return apply(reverse, (x2,), scalar(x1), out)
        elif is_symbol(x1):
            return apply(with_scalar, (x1,), scalar(x2)) if isinstance(x2, Numbers) else apply(pair, (x1, x2), {})
        left, right = operand(x1), operand(x2)
        if left is None or right is None or left is x1 and right is x2:       # the last: an array and a symbol
            raise unsupported(name, x2 if left is not None else x1)
        return compute(left, right, out)

    slow = _method(name, compute)
    slow.operators = pair, with_scalar         # for symbol/_recorded.py
    method = slow if kernel is None else fast_binary(kernel, slow, dtypes)

    def function(x1, x2, out=None, **kwargs):
        if out is None and not kwargs and type(x1) is _call.array_class:
            return method(x1, x2)
        if not kwargs:
            return compute(x1, x2, first(out))
        return finish(name, lambda out: compute(x1, x2, out), first(out), kwargs)

    made: Any = function
    made.method = method
    made.reflected = lambda self, other: compute(other, self, None)
    return _publish(made, name, doc)


def _method(name, compute):
    def method(self, other):
        return compute(self, other, None)
    return method


def _promoted(x1, x2):
    dtype = NAME[torch.promote_types(x1.meta().dtype, x2.meta().dtype)]
    return [apply('_npi_cast', (x,), {'dtype': dtype}) for x in (x1, x2)]


_ALL = NUMERIC | {torch.bool}
add = _binary('add', 'The sum.', kernel=torch.add)
subtract = _binary('subtract', 'The difference.', reverse='rsubtract', kernel=torch.sub)
multiply = _binary('multiply', 'The product of elements.', kernel=torch.mul)
divide = _binary('divide', 'The quotient; of integers as float32.',
                 internal='true_divide', reverse='rtrue_divide', kernel=torch.div, dtypes=FLOATS)
true_divide = _binary('true_divide', 'The quotient; of integers as float32.',
                      reverse='rtrue_divide', kernel=torch.div, dtypes=FLOATS)
mod = _binary('mod', "The remainder with the divisor's sign; 0 where it is 0.", reverse='rmod')
remainder = _binary('remainder', "The remainder with the divisor's sign; 0 where it is 0.",
                    internal='mod', reverse='rmod')
power = _binary('power', '`x1` to the power of `x2`.', reverse='rpower')
maximum = _binary('maximum', 'The larger of two.', one_dtype=True)
minimum = _binary('minimum', 'The smaller of two.', one_dtype=True)
hypot = _binary('hypot', '`sqrt(x1^2 + x2^2)`.')
arctan2 = _binary('arctan2', 'The angle of the point with height `x1` at distance `x2`.', reverse='rarctan2')
copysign = _binary('copysign', 'The size of `x1` with the sign of `x2`.', reverse='rcopysign')
ldexp = _binary('ldexp', '`x1 * 2**x2`.', reverse='rldexp')
lcm = _binary('lcm', 'The smallest common multiple of integers.')
bitwise_and = _binary('bitwise_and', 'Bits that are set in both.')
bitwise_or = _binary('bitwise_or', 'Bits that are set in one or both.')
bitwise_xor = _binary('bitwise_xor', 'Bits that are set in exactly one.')
equal = _binary('equal', 'Whether both are equal.', kernel=torch.eq, dtypes=_ALL)
not_equal = _binary('not_equal', 'Whether both differ.', kernel=torch.ne, dtypes=_ALL)
greater = _binary('greater', 'Whether `x1 > x2`.', reverse='less', kernel=torch.gt, dtypes=_ALL)
greater_equal = _binary('greater_equal', 'Whether `x1 >= x2`.', reverse='less_equal', kernel=torch.ge, dtypes=_ALL)
less = _binary('less', 'Whether `x1 < x2`.', reverse='greater', kernel=torch.lt, dtypes=_ALL)
less_equal = _binary('less_equal', 'Whether `x1 <= x2`.', reverse='greater_equal', kernel=torch.le, dtypes=_ALL)
