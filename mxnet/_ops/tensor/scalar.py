"""Elementwise functions of an array and a number.

Arrays of floats keep their dtype.  With an array of integers, the number loses its fraction first; `is_int=False` has
the array turned into float64 instead.  Arrays of booleans count as int64.
"""
import math

import torch

from ..core.gradients import clamp_max, clamp_min, no_gradient, of_integers, with_gradient
from ..core.integer_gradients import DifferentiableInteger, integers_as_constant
from ..core.table import operator
from .binary import modulo


# ---------------------------------------------------------------------- with the scalar on the right, or on the left
def _divide(data, scalar):
    if data.is_floating_point():
        return torch.div(data, scalar)
    if type(data) is not DifferentiableInteger:
        return torch.div(data, scalar, rounding_mode='trunc')
    return with_gradient(lambda x: torch.div(x, scalar, rounding_mode='trunc'),
                         lambda gradients, inputs, outputs: (torch.trunc(gradients[0] / scalar),), data)


def _as_array(scalar, data):
    """The number as a tensor, where torch's own way with numbers falls short; without axes it goes with any device."""
    return torch.scalar_tensor(scalar, dtype=data.dtype)


def _divide_by(data, scalar):
    # torch's `number / array` multiplies a rounded reciprocal, and 49 / 49 is not 1 then
    return torch.div(_as_array(scalar, data), data, rounding_mode=None if data.is_floating_point() else 'trunc')


def _modulo(data, scalar):
    if scalar:
        return torch.remainder(integers_as_constant(data), scalar)
    # infinity by 0 is 0, too; the gradient is 1 here as everywhere
    if data.requires_grad and data.is_floating_point():
        return with_gradient(torch.zeros_like, lambda gradients, inputs, outputs: gradients, data)
    return torch.zeros_like(integers_as_constant(data))


def _modulo_by(data, scalar):
    return modulo(_as_array(scalar, data), data)


def _multiply(data, scalar):
    return torch.neg(data) if scalar == -1 else torch.mul(data, scalar)     # `-x`, in losses above all


def _power(data, scalar):
    if scalar < 0 and not data.is_floating_point():
        return torch.pow(data, _as_array(scalar, data))      # torch refuses the number itself
    return torch.pow(data, scalar)


def _power_of(data, scalar):
    if type(data) is not DifferentiableInteger:
        return torch.pow(scalar, data)
    return of_integers(lambda x: torch.pow(scalar, x), data, value=lambda x: torch.pow(scalar, x))


def _hypotenuse(data, scalar):
    if data.is_floating_point():
        return torch.hypot(data, _as_array(scalar, data))
    return of_integers(lambda x: torch.sqrt(x.double().square() + scalar * scalar), data)


def _truth(function):
    def compute(data, scalar):
        if data.requires_grad:
            return no_gradient(lambda x: function(x, scalar).to(x.dtype), data)
        return function(data, scalar).to(data.dtype)
    return compute


# ---------------------------------------------------------------------- the table
_SCALAR = [
    # function, names, what it computes
    (torch.add, '_plus_scalar _PlusScalar', '`data + scalar`.'),
    (torch.sub, '_minus_scalar _MinusScalar', '`data - scalar`.'),
    (torch.rsub, '_rminus_scalar _RMinusScalar', '`scalar - data`.'),
    (_multiply, '_mul_scalar _MulScalar', '`data * scalar`.'),
    (_divide, '_div_scalar _DivScalar', '`data / scalar`; of integers without its fraction.'),
    (_divide_by, '_rdiv_scalar _RDivScalar', '`scalar / data`; of integers without its fraction.'),
    (_modulo, '_mod_scalar _ModScalar',
     'The remainder of `data / scalar`, with the sign of `scalar`; 0 if `scalar` is 0.'),
    (_modulo_by, '_rmod_scalar _RModScalar',
     'The remainder of `scalar / data`, with the sign of `data`; 0 where `data` is 0.'),
    (_power, '_power_scalar _PowerScalar', '`data` to the power of `scalar`.'),
    (_power_of, '_rpower_scalar _RPowerScalar', '`scalar` to the power of `data`.'),
    (clamp_min, '_maximum_scalar _MaximumScalar _npi_maximum_scalar',
     'The larger of `data` and `scalar`; where they are equal, the gradient passes.'),
    (clamp_max, '_minimum_scalar _MinimumScalar _npi_minimum_scalar',
     'The smaller of `data` and `scalar`; where they are equal, the gradient passes.'),
    (_hypotenuse, '_hypot_scalar _HypotScalar _npi_hypot_scalar', '`sqrt(data^2 + scalar^2)`.'),
    (_truth(torch.eq), '_equal_scalar _EqualScalar', '1 where `data == scalar`, else 0.'),
    (_truth(torch.ne), '_not_equal_scalar _NotEqualScalar', '1 where `data != scalar`, else 0.'),
    (_truth(torch.gt), '_greater_scalar _GreaterScalar', '1 where `data > scalar`, else 0.'),
    (_truth(torch.ge), '_greater_equal_scalar _GreaterEqualScalar', '1 where `data >= scalar`, else 0.'),
    (_truth(torch.lt), '_lesser_scalar _LesserScalar', '1 where `data < scalar`, else 0.'),
    (_truth(torch.le), '_lesser_equal_scalar _LesserEqualScalar', '1 where `data <= scalar`, else 0.'),
    (_truth(lambda x, scalar: (x != 0) & bool(scalar)), '_logical_and_scalar _LogicalAndScalar',
     '1 where neither `data` nor `scalar` is 0, else 0.'),
    (_truth(lambda x, scalar: (x != 0) | bool(scalar)), '_logical_or_scalar _LogicalOrScalar',
     '1 where `data` or `scalar` is not 0, else 0.'),
    (_truth(lambda x, scalar: (x != 0) ^ bool(scalar)), '_logical_xor_scalar _LogicalXorScalar',
     '1 where exactly one of `data` and `scalar` is not 0, else 0.'),
    (torch.add, '_scatter_plus_scalar', '`data + scalar`, where only stored values of a sparse `data` count.'),
    (torch.sub, '_scatter_minus_scalar', '`data - scalar`, where only stored values of a sparse `data` count.'),
]


def _declare(function, names, doc):
    def with_scalar(data, *, scalar: float = 1.0, is_int: bool = True):
        if data.is_floating_point():
            return function(data, scalar)
        if not is_int:
            return function(data.double(), scalar)
        return function(data.long() if data.dtype is torch.bool else data, math.trunc(scalar))

    name, *aliases = names.split()
    with_scalar.__name__ = with_scalar.__qualname__ = name
    with_scalar.__doc__ = doc
    operator(name, aliases=aliases, elementwise=True)(with_scalar)


for _row in _SCALAR:
    _declare(*_row)
