"""Elementwise functions of one array, as in the NumPy interface: the kernels are those of `tensor/unary.py`.

What differs is little: the input is called `x`, booleans are computed as float32, and questions (`isnan`,
`logical_not`) are answered with booleans.
"""
import math

import torch

from ..core.gradients import no_gradient
from ..core.table import NAMES, operator
from ..tensor import unary

# names here and there; `around` and the questions are below
_SHARED = {
    'absolute': 'abs', 'arccos': 'arccos', 'arccosh': 'arccosh', 'arcsin': 'arcsin', 'arcsinh': 'arcsinh',
    'arctan': 'arctan', 'arctanh': 'arctanh', 'cbrt': 'cbrt', 'ceil': 'ceil', 'cos': 'cos', 'cosh': 'cosh',
    'degrees': 'degrees', 'exp': 'exp', 'expm1': 'expm1', 'fix': 'fix', 'floor': 'floor', 'log': 'log',
    'log10': 'log10', 'log1p': 'log1p', 'log2': 'log2', 'negative': 'negative', 'radians': 'radians',
    'reciprocal': 'reciprocal', 'rint': 'rint', 'sign': 'sign', 'sin': 'sin', 'sinh': 'sinh', 'sqrt': 'sqrt',
    'square': 'square', 'tan': 'tan', 'tanh': 'tanh', 'trunc': 'trunc',
}
_ALIASES = {'absolute': ('_npi_abs',)}


def _declare(name, shared):
    kernel = NAMES[shared].function

    def elementwise(x):
        return kernel(x.float() if x.dtype is torch.bool else x)

    elementwise.__name__ = elementwise.__qualname__ = f'_npi_{name}'
    elementwise.__doc__ = NAMES[shared].doc
    operator(f'_npi_{name}', aliases=_ALIASES.get(name, ()), fresh=NAMES[shared].fresh, elementwise=True)(elementwise)


for _name, _shared in _SHARED.items():
    _declare(_name, _shared)


# ---------------------------------------------------------------------- the extension's own names
@operator(elementwise=True)
def _npx_relu(data):
    """The value where it is positive, else 0; the gradient at 0 is 0."""
    return torch.relu(data)


@operator(elementwise=True)
def _npx_sigmoid(data):
    """`1 / (1 + exp(-x))`."""
    return unary.in_same_dtype(torch.sigmoid, data)


# ---------------------------------------------------------------------- rounding
@operator(elementwise=True)
def _npi_around(x, *, decimals: int = 0):
    """The nearest number with `decimals` decimals; of two equally near ones the even one.  The gradient is zero."""
    if not x.is_floating_point():
        if decimals >= 0:
            return x
        unit = 10 ** -decimals
        return (torch.round(x.double() / unit) * unit).to(x.dtype)
    return torch.round(x) if decimals == 0 else torch.round(x, decimals=decimals)


# ---------------------------------------------------------------------- bits and questions
@operator(elementwise=True)
def _npi_bitwise_not(x):
    """Every bit turned over; of booleans, the opposite."""
    return torch.bitwise_not(x)


def _declare_question(name, function, doc):
    def question(x):
        return no_gradient(function, x)

    question.__name__ = question.__qualname__ = f'_npi_{name}'
    question.__doc__ = doc
    operator(f'_npi_{name}', result_dtype='bool')(question)


for _name, _function, _doc in (
        ('isnan', torch.isnan, 'Whether the value is NaN.'),
        ('isinf', torch.isinf, 'Whether the value is infinite, with either sign.'),
        ('isfinite', torch.isfinite, 'Whether the value is neither infinite nor NaN.'),
        ('isposinf', torch.isposinf, 'Whether the value is positive infinity.'),
        ('isneginf', torch.isneginf, 'Whether the value is negative infinity.'),
        ('logical_not', torch.logical_not, 'Whether the value is 0.')):
    _declare_question(_name, _function, _doc)


@operator(elementwise=True)
def _npi_nan_to_num(data, *, copy: bool = True, nan: float = 0.0, posinf: float | None = None,
                    neginf: float | None = None):
    """NaN and infinities replaced by numbers: 0 and the largest and smallest that there are, unless given."""
    if not data.is_floating_point():
        return data
    return torch.nan_to_num(data, math.nan if math.isnan(nan) else nan, posinf, neginf)
