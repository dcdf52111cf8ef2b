"""Functions of `mx.sym` that are not one operator: constants, operands in any order, histograms."""
from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy

from .._ops import NAMES
from . import _compose
from ._compose import SymbolBase
from .symbol import Symbol

if TYPE_CHECKING:
    from .._typing import DType, Shape

__all__ = ['arange', 'eye', 'full', 'histogram', 'hypot', 'linspace', 'maximum', 'minimum', 'ones', 'pow', 'power',
           'split_v2', 'zeros']


def _call(name, args, kwargs):
    cls = type(args[0]) if args else Symbol
    return _compose.call(NAMES[name], name.lower(), args, kwargs, cls)


def zeros(shape: Shape, dtype: DType | None = None, **kwargs: Any) -> Symbol:
    """Zeros of a shape; lengths of 0 are found by inference."""
    return _call('_zeros', (), {'shape': shape, 'dtype': dtype or 'float32', **kwargs})


def ones(shape: Shape, dtype: DType | None = None, **kwargs: Any) -> Symbol:
    """Ones of a shape."""
    return _call('_ones', (), {'shape': shape, 'dtype': dtype or 'float32', **kwargs})


def full(shape: Shape, val: float, dtype: DType | None = None, **kwargs: Any) -> Symbol:
    """An array with every element equal to `val`."""
    return _call('_full', (), {'shape': shape, 'value': float(val), 'dtype': dtype or 'float32', **kwargs})


def arange(start: float, stop: float | None = None, step: float = 1.0, repeat: int = 1, infer_range: bool = False,
           name: str | None = None, dtype: DType | None = None) -> Symbol:
    """Evenly spaced numbers from `start` up to, and without, `stop`, each one `repeat` times."""
    return _call('_arange', (), {'start': start, 'stop': stop, 'step': step, 'repeat': repeat,
                                 'infer_range': infer_range, 'name': name, 'dtype': dtype or 'float32'})


def linspace(start: float, stop: float | None, num: int, endpoint: bool = True, name: str | None = None,
             dtype: DType | None = None) -> Symbol:
    """`num` evenly spaced numbers from `start` to `stop`."""
    return _call('_linspace', (), {'start': start, 'stop': stop, 'num': num, 'endpoint': endpoint, 'name': name,
                                   'dtype': dtype or 'float32'})


def eye(N: int, M: int = 0, k: int = 0, dtype: DType | None = None, **kwargs: Any) -> Symbol:
    """A matrix of N rows (and M columns) with ones on its k-th diagonal."""
    return _call('_eye', (), {'N': N, 'M': M, 'k': k, 'dtype': dtype or 'float32', **kwargs})


def histogram(a: Any, bins: Any = 10, range: Any = None, **kwargs: Any) -> Symbol:
    """(counts, edges) of an array's values."""
    if isinstance(bins, SymbolBase):
        return _call('_histogram', (a, bins), kwargs)
    if not isinstance(bins, int) or range is None:
        raise ValueError('histogram of a symbol needs bins as an int and range as a pair, or bins as a symbol of edges')
    return _call('_histogram', (a,), {'bin_cnt': bins, 'range': range, **kwargs})


def _binary(name, doc, arrays, scalar, reverse, python):
    def function(left, right):
        if isinstance(left, SymbolBase):
            if isinstance(right, SymbolBase):
                return _call(arrays, (left, right), {})
            if isinstance(right, Real):
                return _call(scalar, (left,), {'scalar': right})
        elif isinstance(left, Real):
            if isinstance(right, SymbolBase):
                return _call(reverse, (right,), {'scalar': left})
            if isinstance(right, Real):
                return python(left, right)
        bad = right if isinstance(left, (SymbolBase, Real)) else left
        raise TypeError(f'sym.{name}: operands are symbols and numbers; type {type(bad)} not supported')
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


maximum = _binary('maximum', 'The larger of two.', '_Maximum', '_MaximumScalar', '_MaximumScalar', max)
minimum = _binary('minimum', 'The smaller of two.', '_Minimum', '_MinimumScalar', '_MinimumScalar', min)
hypot = _binary('hypot', 'The hypotenuse over two legs.', '_Hypot', '_HypotScalar', '_HypotScalar',
                lambda a, b: float(numpy.hypot(a, b)))


def power(base: Any, exp: Any) -> Symbol:
    """`base` to the power of `exp`; symbols or numbers."""
    return base ** exp


pow = power


def split_v2(ary: Symbol, indices_or_sections: int | Sequence[int], axis: int = 0,
             squeeze_axis: bool = False) -> Symbol:
    """Splits a symbol into a number of equal parts, or before each of the given indices."""
    if isinstance(indices_or_sections, int):
        attributes = {'indices': (), 'sections': indices_or_sections}
    elif isinstance(indices_or_sections, (list, tuple)):
        attributes = {'indices': (0, *indices_or_sections), 'sections': 0}
    else:
        raise ValueError('split_v2: indices_or_sections must be an int or a tuple of ints')
    return _call('_split_v2', (ary,), {**attributes, 'axis': axis, 'squeeze_axis': squeeze_axis})
