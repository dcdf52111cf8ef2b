"""Arithmetic between arrays and numbers in any order: `nd.add(x, 1)`, `x ** y`, `2 - x`.

Each pair of operands has its own operator in the table: two arrays broadcast, an array and a number use a `_scalar`
operator.  `fast_*` make the methods behind Python's operators: plain arrays go straight to torch.
"""
from __future__ import annotations

import operator
from collections.abc import Callable
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from weakref import ref

import numpy
import torch

from .._array import NDArrayBase, before_write, copies, readers, settle, write
from .._dispatch import interceptors
from .._names import kind_of, not_an_array
from .._ops.core.gradients import depends
from .._ops.core.table import NAMES
from .._provenance import source
from .._state import state
from . import _invoke

if TYPE_CHECKING:
    from ..ndarray import NDArray

__all__ = ['add', 'subtract', 'multiply', 'divide', 'modulo', 'power', 'maximum', 'minimum', 'equal', 'not_equal',
           'greater', 'greater_equal', 'lesser', 'lesser_equal', 'logical_and', 'logical_or', 'logical_xor',
           'true_divide']

_SCALARS = (Real, numpy.bool_)          # NumPy's bools are no numbers in Python
_new = object.__new__
_Array = TypeVar('_Array')

if TYPE_CHECKING:
    _Binary: TypeAlias = Callable[[Any, Any], NDArray]


def _binary(name, doc, arrays, scalar, reverse, python) -> Callable[[Any, Any], NDArray]:
    """One function of two operands from the operators for array-array, array-number, number-array."""
    def function(lhs, rhs):
        if isinstance(lhs, NDArrayBase):
            if isinstance(rhs, NDArrayBase):
                return _invoke.run(NAMES[arrays], (lhs, rhs), {}, None, lhs._dense)
            if isinstance(rhs, _SCALARS):
                return _invoke.run(NAMES[scalar], (lhs,), _scalar(rhs), None, lhs._dense)
        elif isinstance(lhs, _SCALARS):
            if isinstance(rhs, NDArrayBase):
                return _invoke.run(NAMES[reverse], (rhs,), _scalar(lhs), None, rhs._dense)
            if isinstance(rhs, _SCALARS):
                return python(lhs, rhs)
        bad = rhs if isinstance(lhs, (NDArrayBase, *_SCALARS)) else lhs
        what = f'nd.{name}: type {type(bad).__name__} is not supported: operand {"lhs" if bad is lhs else "rhs"}'
        raise TypeError(not_an_array(what, bad).replace('an NDArray', 'an NDArray or a number'))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    described: Any = function
    described.operators = arrays, scalar        # for symbol/_recorded.py
    return function


def _scalar(given):
    """The attributes that hand a number to a `_scalar` operator.

    An array of integers keeps its dtype, whatever the number is: `is_int=False` is for `mx.np`.
    """
    value = given
    if type(value) is float:
        return {'scalar': value}
    if not isinstance(value, (int, float)):
        try:
            value = value.item() if hasattr(value, 'item') else float(value)     # NumPy's numbers, fractions
        except (TypeError, ValueError, OverflowError):
            value = None
        if not isinstance(value, (int, float)):
            raise TypeError(f'an NDArray cannot be computed with {kind_of(given)}')
    if isinstance(value, int):
        return {'scalar': int(value), 'is_int': True}
    return {'scalar': float(value)}


_logic = {'and': lambda a, b: float(bool(a) and bool(b)), 'or': lambda a, b: float(bool(a) or bool(b)),
          'xor': lambda a, b: float(bool(a) != bool(b))}

add: _Binary = _binary('add', 'Sum, with broadcasting.', 'broadcast_add', '_plus_scalar', '_plus_scalar',
                       operator.add)
subtract: _Binary = _binary('subtract', 'Difference, with broadcasting.', 'broadcast_sub', '_minus_scalar',
                            '_rminus_scalar', operator.sub)
multiply: _Binary = _binary('multiply', 'Product of elements, with broadcasting.', 'broadcast_mul', '_mul_scalar',
                            '_mul_scalar', operator.mul)
divide: _Binary = _binary('divide', 'Quotient, with broadcasting; ints stay ints and truncate.', 'broadcast_div',
                          '_div_scalar', '_rdiv_scalar', operator.truediv)
modulo: _Binary = _binary('modulo', "Remainder with the divisor's sign, with broadcasting.", 'broadcast_mod',
                          '_mod_scalar', '_rmod_scalar', operator.mod)
_power: _Binary = _binary('power', 'Power, with broadcasting.', 'broadcast_power', '_power_scalar', '_rpower_scalar',
                          operator.pow)


def power(base: Any, exp: Any) -> NDArray:
    """`base` to the power of `exp`, with broadcasting."""
    return _power(base, exp)


maximum: _Binary = _binary('maximum', 'The larger of two, with broadcasting.', 'broadcast_maximum', '_maximum_scalar',
                           '_maximum_scalar', max)
minimum: _Binary = _binary('minimum', 'The smaller of two, with broadcasting.', 'broadcast_minimum',
                           '_minimum_scalar', '_minimum_scalar', min)
equal: _Binary = _binary('equal', '1 where equal, else 0, in the dtype of the operands.', 'broadcast_equal',
                         '_equal_scalar', '_equal_scalar', lambda a, b: float(a == b))
not_equal: _Binary = _binary('not_equal', '1 where different, else 0.', 'broadcast_not_equal', '_not_equal_scalar',
                             '_not_equal_scalar', lambda a, b: float(a != b))
greater: _Binary = _binary('greater', '1 where lhs > rhs, else 0.', 'broadcast_greater', '_greater_scalar',
                           '_lesser_scalar', lambda a, b: float(a > b))
greater_equal: _Binary = _binary('greater_equal', '1 where lhs >= rhs, else 0.', 'broadcast_greater_equal',
                                 '_greater_equal_scalar', '_lesser_equal_scalar', lambda a, b: float(a >= b))
lesser: _Binary = _binary('lesser', '1 where lhs < rhs, else 0.', 'broadcast_lesser', '_lesser_scalar',
                          '_greater_scalar', lambda a, b: float(a < b))
lesser_equal: _Binary = _binary('lesser_equal', '1 where lhs <= rhs, else 0.', 'broadcast_lesser_equal',
                                '_lesser_equal_scalar', '_greater_equal_scalar', lambda a, b: float(a <= b))
logical_and: _Binary = _binary('logical_and', '1 where both are not 0, else 0.', 'broadcast_logical_and',
                               '_logical_and_scalar', '_logical_and_scalar', _logic['and'])
logical_or: _Binary = _binary('logical_or', '1 where one is not 0, else 0.', 'broadcast_logical_or',
                              '_logical_or_scalar', '_logical_or_scalar', _logic['or'])
logical_xor: _Binary = _binary('logical_xor', '1 where exactly one is not 0, else 0.', 'broadcast_logical_xor',
                               '_logical_xor_scalar', '_logical_xor_scalar', _logic['xor'])
true_divide = divide

_FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
_NUMBERS = (torch.int32, torch.int64, torch.uint8, torch.int8)


def fast_binary(kernel: Any, slow: Any, dtypes: Any) -> Callable[[Any, Any], NDArray]:
    """A method such as `__add__`: torch itself for two arrays of one dtype, or a float array and a number."""
    def method(self, other):
        if interceptors:
            return slow(self, other)
        if not state.recording:
            tensor = self._storage
            if tensor is None:
                tensor = self.materialize()
            if type(other) is type(self):
                value = other._storage
                if value is None:
                    value = other.materialize()
                fits = tensor.dtype is value.dtype and tensor.dtype in dtypes
            else:
                value = other
                fits = (type(other) is float or type(other) is int) and tensor.dtype in _FLOATS
            if fits:
                try:
                    result = kernel(tensor, value)
                except (RuntimeError, OverflowError):
                    pass                    # the general call words the error
                else:
                    if result.requires_grad:
                        result = result.detach()
                    array = _new(self._dense)
                    array._storage = result
                    array._ctx = self._ctx
                    array._variable = None
                    array._pending = None
                    return array
        elif self._pending is None \
                and (type(other) is not type(self) or other._pending is None):
            # the same, through the aliases that autograd knows
            tensor = self._storage if self._variable is None else self._variable.leaf
            if tensor is None:
                tensor = self.materialize()
            if type(other) is type(self):
                value = other._storage if other._variable is None else other._variable.leaf
                if value is None:
                    value = other.materialize()
                fits = tensor.dtype is value.dtype and tensor.dtype in dtypes
            else:
                value = other
                fits = (type(other) is float or type(other) is int) and tensor.dtype in _FLOATS
            if fits:
                try:
                    result = kernel(tensor, value)
                except RuntimeError:
                    pass
                else:
                    if result.requires_grad or depends((tensor,) if value is other else (tensor, value)):
                        # of comparisons and integers as well, which have no gradient: the provenance of operands that
                        # have one, as `source` would give
                        left = self._variable or getattr(tensor, '_provenance', None) or source(self)
                        if value is not other:
                            other = other._variable or getattr(value, '_provenance', None) or source(other)
                        result._provenance = (slow, None, (left, other), 0, (ref(result),), ())
                    array = _new(self._dense)
                    array._storage = result
                    array._ctx = self._ctx
                    array._variable = None
                    array._pending = None
                    return array
        return slow(self, other)

    return method


def fast_negative(multiply: Callable[[Any, Any], NDArray]) -> Callable[[Any], NDArray]:
    """The method `__neg__`: the product with -1, as in upstream."""
    def method(self):
        return multiply(self, -1)

    return method


def fast_inplace(kernel: Any, slow: Any, what: str, dtypes: Any) -> Any:
    """A method such as `__iadd__`."""
    def method(self, other):
        if not state.recording and not interceptors:
            tensor = self.materialize()
            if type(other) is type(self):
                value = other.materialize()
                fits = tensor.dtype is value.dtype and tensor.dtype in dtypes and not value.requires_grad
            else:
                value = other
                fits = (type(other) is float or type(other) is int) and tensor.dtype in _FLOATS
            if fits and not tensor.requires_grad:
                if copies:
                    settle(self)
                if readers or state.writes is not None:
                    before_write(tensor)
                try:
                    kernel(tensor, value)
                except RuntimeError:
                    pass
                else:
                    return self
        result = slow(self, other)
        if result.meta().shape != self.meta().shape:
            raise ValueError(f'{what}: the result has shape {tuple(result.meta().shape)}, '
                             f'but the array {tuple(self.meta().shape)}')
        write(self, result.materialize(), what)
        return self

    return method


NUMERIC = frozenset(_FLOATS + _NUMBERS)
FLOATS = frozenset(_FLOATS)
