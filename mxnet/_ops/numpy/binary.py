"""Elementwise functions of two arrays, or of an array and a number, as in the NumPy interface.

- Two arrays broadcast; where their dtypes differ, the result has the wider one.  Comparisons give booleans, a quotient
  of integers is float32.
- An array keeps its dtype beside a number: integers cut the number's fraction off (`x * 1.5` is `x * 1`), as upstream
  does; only quotients and comparisons don't.  Booleans count as float32 there.
"""
import math

import torch

from ..core.gradients import no_gradient
from ..core.table import NAMES, operator
from ..tensor import binary
from ..tensor import scalar as _scalar_family  # noqa: F401  (fills the table with the kernels shared below)


def promoted(lhs, rhs):
    """Both in the wider of their dtypes."""
    if lhs.dtype is rhs.dtype:
        return lhs, rhs
    dtype = torch.promote_types(lhs.dtype, rhs.dtype)
    return lhs.to(dtype), rhs.to(dtype)


def known(truth):
    """A truth as a bool; None where it has no value yet (meta tensors, a traced graph) or only a GPU knows it."""
    if truth.device.type != 'cpu':
        return None
    try:
        return bool(truth)
    except RuntimeError:
        return None


def floating(data):
    """Integers and booleans as float32."""
    return data if data.is_floating_point() else data.float()


def _in_floats(function):
    """A function of two arrays that torch knows for floats; integers come back as integers."""
    def compute(lhs, rhs):
        lhs, rhs = promoted(lhs, rhs)
        if lhs.is_floating_point():
            return function(lhs, rhs)
        return function(lhs.double(), rhs.double()).to(lhs.dtype)
    return compute


# ---------------------------------------------------------------------- two arrays
def _power(lhs, rhs):
    if lhs.dtype is torch.bool and rhs.dtype is torch.bool:
        return torch.pow(lhs.byte(), rhs.byte()).bool()
    return torch.pow(*promoted(lhs, rhs))


def _quotient(lhs, rhs):
    if not lhs.is_floating_point() and not rhs.is_floating_point():
        lhs, rhs = lhs.float(), rhs.float()
    return torch.div(*promoted(lhs, rhs))


def _modulo(lhs, rhs):
    lhs, rhs = promoted(lhs, rhs)
    if lhs.is_floating_point() or not (lhs.requires_grad or rhs.requires_grad):
        return binary.modulo(lhs, rhs)
    # of integers the gradient is zero, and not an error
    return binary.modulo(lhs.detach(), rhs.detach()) + (lhs - lhs) + (rhs - rhs)


def _load_exponent(lhs, rhs):
    return lhs * torch.pow(2.0, rhs).to(lhs.dtype)


def _add(lhs, rhs):
    return torch.add(*promoted(lhs, rhs))      # torch leaves the dtype of a scalar out of account


def _subtract(lhs, rhs):
    return torch.sub(*promoted(lhs, rhs))


def _multiply(lhs, rhs):
    return torch.mul(*promoted(lhs, rhs))


_ARRAYS = [
    # name, names of the inputs, function, what it computes
    ('add', 'lhs rhs', _add, 'The sum `lhs + rhs`.'),
    ('subtract', 'lhs rhs', _subtract, 'The difference `lhs - rhs`.'),
    ('multiply', 'lhs rhs', _multiply, 'The product `lhs * rhs`.'),
    ('true_divide', 'lhs rhs', _quotient, 'The quotient `lhs / rhs`; of integers as float32.'),
    ('mod', 'lhs rhs', _modulo, 'The remainder of `lhs / rhs`, with the sign of `rhs`; 0 where `rhs` is 0.'),
    ('power', 'lhs rhs', _power, '`lhs` to the power of `rhs`.'),
    ('copysign', 'lhs rhs', _in_floats(torch.copysign), 'The size of `lhs` with the sign of `rhs`.'),
    ('nextafter', 'lhs rhs', _in_floats(torch.nextafter), 'The number next to `lhs` on the way to `rhs`.'),
    ('ldexp', 'lhs rhs', _load_exponent, '`lhs * 2**rhs`.'),
    ('lcm', 'lhs rhs', lambda lhs, rhs: torch.lcm(*promoted(lhs, rhs)), 'The smallest common multiple of integers.'),
    ('bitwise_and', 'lhs rhs', torch.bitwise_and, 'Bits that are set in both.'),
    ('bitwise_or', 'lhs rhs', torch.bitwise_or, 'Bits that are set in one or both.'),
    ('bitwise_xor', 'lhs rhs', torch.bitwise_xor, 'Bits that are set in exactly one.'),
    ('hypot', 'x1 x2', lambda x1, x2: torch.hypot(*promoted(floating(x1), floating(x2))),
     '`sqrt(x1^2 + x2^2)`, without overflow on the way.'),
    ('arctan2', 'x1 x2', lambda x1, x2: torch.atan2(*promoted(floating(x1), floating(x2))),
     'The angle, from -pi to pi, of the point with height `x1` at distance `x2`.'),
]
_COMPARISONS = [
    ('equal', torch.eq, 'Whether `lhs == rhs`.'), ('not_equal', torch.ne, 'Whether `lhs != rhs`.'),
    ('greater', torch.gt, 'Whether `lhs > rhs`.'), ('greater_equal', torch.ge, 'Whether `lhs >= rhs`.'),
    ('less', torch.lt, 'Whether `lhs < rhs`.'), ('less_equal', torch.le, 'Whether `lhs <= rhs`.'),
]


def _named(function, name, doc):
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _declare(name, inputs, kernel, doc):
    if inputs == 'x1 x2':
        def function(x1, x2):
            return kernel(x1, x2)
    else:
        def function(lhs, rhs):
            return kernel(lhs, rhs)
    operator(f'_npi_{name}')(_named(function, f'_npi_{name}', f'{doc}  Shapes are broadcast.'))


for _row in _ARRAYS:
    _declare(*_row)


# ---------------------------------------------------------------------- an array and a number
def _shared(name):
    """The kernel of `tensor/scalar.py`, for which the number is always taken in the dtype of the array."""
    kernel = NAMES[name].function

    def compute(data, number):
        return kernel(data, scalar=number)
    return compute


def _number(number, data):
    """The number as a tensor of the array's dtype, on its device (not every kernel takes a number from elsewhere)."""
    return torch.scalar_tensor(number if data.is_floating_point() else math.trunc(number), dtype=data.dtype,
                               device=data.device)


def _with_number(function, reverse=False):
    def compute(data, number):
        operands = (_number(number, data), data) if reverse else (data, _number(number, data))
        return function(*operands)
    return compute


def _bits(function):
    def compute(data, number):
        return function(data, bool(number) if data.dtype is torch.bool else math.trunc(number))
    return compute


_SCALAR = [
    # name, function of the array and the number, do booleans become numbers, what it computes
    ('add', _shared('_plus_scalar'), True, '`data + scalar`.'),
    ('subtract', _shared('_minus_scalar'), True, '`data - scalar`.'),
    ('rsubtract', _shared('_rminus_scalar'), True, '`scalar - data`.'),
    ('multiply', _shared('_mul_scalar'), True, '`data * scalar`.'),
    ('mod', _shared('_mod_scalar'), True, 'The remainder of `data / scalar`, with the sign of `scalar`.'),
    ('rmod', _shared('_rmod_scalar'), True, 'The remainder of `scalar / data`, with the sign of `data`.'),
    ('power', _shared('_power_scalar'), True, '`data` to the power of `scalar`.'),
    ('rpower', _shared('_rpower_scalar'), True, '`scalar` to the power of `data`.'),
    ('true_divide', lambda x, number: NAMES['_div_scalar'].function(floating(x), scalar=number), True,
     '`data / scalar`; of integers as float32.'),
    ('rtrue_divide', lambda x, number: NAMES['_rdiv_scalar'].function(floating(x), scalar=number), True,
     '`scalar / data`; of integers as float32.'),
    ('copysign', _with_number(_in_floats(torch.copysign)), True, 'The size of `data` with the sign of `scalar`.'),
    ('rcopysign', _with_number(_in_floats(torch.copysign), True), True,
     'The size of `scalar` with the sign of `data`.'),
    ('arctan2', _with_number(_in_floats(torch.atan2)), True, 'The angle of the point with height `data` at `scalar`.'),
    ('rarctan2', _with_number(_in_floats(torch.atan2), True), True,
     'The angle of the point with height `scalar` at distance `data`.'),
    ('ldexp', lambda x, number: x * 2.0 ** number if x.is_floating_point() else x * 2 ** int(number),
     True, '`data * 2**scalar`.'),
    ('rldexp', lambda x, number: (number * torch.pow(2.0, floating(x))).to(x.dtype), True, '`scalar * 2**data`.'),
    ('lcm', _with_number(torch.lcm), False, 'The smallest common multiple of integers and an integer.'),
    ('bitwise_and', _bits(torch.bitwise_and), False, 'Bits that are set in both.'),
    ('bitwise_or', _bits(torch.bitwise_or), False, 'Bits that are set in one or both.'),
    ('bitwise_xor', _bits(torch.bitwise_xor), False, 'Bits that are set in exactly one.'),
]


_FLOATS = ('true_divide', 'rtrue_divide', 'copysign', 'rcopysign', 'arctan2', 'rarctan2')    # of integers, too


def _declare_scalar(name, kernel, numbers, doc):
    def function(data, *, scalar: float = 1.0, is_int: bool = True):
        if numbers and data.dtype is torch.bool:
            data = data.long() if is_int and name not in _FLOATS else data.float()
        return kernel(data, scalar)
    operator(f'_npi_{name}_scalar', elementwise=name != 'true_divide')(_named(function, f'_npi_{name}_scalar', doc))


for _row in _SCALAR:
    _declare_scalar(*_row)


# ---------------------------------------------------------------------- comparisons
def _declare_comparison(name, kernel, doc):
    def function(lhs, rhs):
        return no_gradient(kernel, lhs, rhs)

    def with_scalar(data, *, scalar: float = 1.0, is_int: bool = True):
        return no_gradient(lambda x: kernel(x, scalar), data)

    operator(f'_npi_{name}', result_dtype='bool')(_named(function, f'_npi_{name}', f'{doc}  Shapes are broadcast.'))
    operator(f'_npi_{name}_scalar', result_dtype='bool')(
        _named(with_scalar, f'_npi_{name}_scalar', doc.replace('lhs', 'data').replace('rhs', 'scalar')))


for _name, _kernel, _doc in _COMPARISONS:
    _declare_comparison(_name, _kernel, _doc)
