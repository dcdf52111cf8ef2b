"""Sums, differences, products and quotients that keep a storage type where the result is as sparse as its operands."""
from numbers import Real
from typing import Any

import torch

from .._array import NDArrayBase, readable, wrap
from .._ops.core.table import NAMES
from .._state import state
from . import _arithmetic, _sparse_dispatch, _sparse_parts


def _arithmetic_function(dense, doc, keeps, operators):
    """A function of two operands that keeps a storage type where `keeps(lhs, rhs)` names one.

    operators: names of those that do the same to arrays of one shape, of shapes that fit, and to an array and a number
    """
    def function(lhs, rhs):
        stype = keeps(lhs, rhs)
        if stype is None:
            return dense(lhs, rhs)
        result = _by_rule(operators, lhs, rhs)
        if result is not NotImplemented:
            return result
        if _stype_of(lhs) and not _stype_of(rhs):
            return _on_stored(dense, lhs, rhs)
        return dense(lhs, rhs).tostype(stype)

    function.__name__ = function.__qualname__ = dense.__name__
    function.__doc__ = doc
    return function


def _by_rule(operators, lhs, rhs):
    """What the rule of an operator makes of the operands; NotImplemented where it has no way for them."""
    same, fitting, scalar = operators
    inputs: tuple[Any, ...]
    if not isinstance(lhs, NDArrayBase):
        lhs, rhs = rhs, lhs                     # products only
    if not isinstance(rhs, NDArrayBase):
        if isinstance(rhs, bool) or not isinstance(rhs, (int, float)):
            return NotImplemented
        name, inputs, attributes = scalar, (lhs,), {'scalar': rhs}
    else:
        if lhs._ctx != rhs._ctx or lhs.dtype != rhs.dtype:
            return NotImplemented
        name, inputs, attributes = same if lhs.shape == rhs.shape else fitting, (lhs, rhs), {}
    rule = None if name is None else _sparse_dispatch.RULES.get(name)
    if rule is None:
        return NotImplemented
    op = NAMES[name]
    return rule[0](op, inputs, op.complete(attributes))


def _on_stored(function, array, other):
    """Applies a function that leaves zeros alone to the stored values."""
    values = array._parts()[0]
    history = None
    if isinstance(other, NDArrayBase):
        tensor = other.materialize().detach()
        if state.recording or tensor.device != values.device:
            history = readable(function(array, other))
        parts = array._safe_parts()
        places = _sparse_parts.csr_places(parts) if array.stype == 'csr' else parts[1].long()
        other = wrap(tensor.expand(array.shape)[places], array._ctx, array._dense)
    elif array._recorded() is not None:
        history = readable(function(array, other))
    values = function(wrap(values, array._ctx, array._dense), other).materialize().detach()
    return array._like((values, *[p.clone() for p in array._parts()[1:]]),
                       history if history is not None and history.requires_grad else None)


def _stype_of(value):
    """The storage type of a sparse array, None of anything else."""
    return value.stype if isinstance(value, NDArrayBase) and value._sparse else None


def _same(lhs, rhs):
    """The storage type of two operands that have it, and their shape, in common."""
    stype = _stype_of(lhs)
    return stype if stype and stype == _stype_of(rhs) and lhs.shape == rhs.shape else None


def _sum_keeps(lhs, rhs):
    if isinstance(rhs, NDArrayBase):
        return _same(lhs, rhs)
    return _stype_of(lhs) if isinstance(rhs, Real) and rhs == 0 else None


def _product_keeps(lhs, rhs):
    left, right = _stype_of(lhs), _stype_of(rhs)
    if left and right:
        return _same(lhs, rhs)
    other = rhs if left else lhs
    if not isinstance(other, NDArrayBase) or other.shape == (lhs if left else rhs).shape:
        return left or right
    return left if left == 'csr' and _fits(lhs, rhs) else None


def _quotient_keeps(lhs, rhs):
    if not isinstance(rhs, NDArrayBase):
        return _stype_of(lhs)
    # x / dense of the same shape is dense, as 0 / 0 is not 0; upstream takes divisors to be broadcast as free of zeros
    keeps = _stype_of(lhs) == 'csr' and not _stype_of(rhs) and lhs.shape != rhs.shape and _fits(lhs, rhs)
    return 'csr' if keeps else None


def _fits(sparse, other):
    """Does `other` broadcast to the shape of the sparse array?"""
    try:
        return torch.broadcast_shapes(sparse.shape, other.shape) == torch.Size(sparse.shape)
    except RuntimeError:
        return False


add = _arithmetic_function(_arithmetic.add, """Sum, with broadcasting.

Two arrays of the same storage type and shape keep it.

>>> x = mx.nd.array([[0, 1], [2, 0]]).tostype('csr')
>>> mx.nd.sparse.add(x, x)
<BLANKLINE>
<CSRNDArray 2x2 @cpu(0)>
""", _sum_keeps, ('elemwise_add', None, '_plus_scalar'))
subtract = _arithmetic_function(_arithmetic.subtract, """Difference, with broadcasting.

Two arrays of the same storage type and shape keep it.""", _sum_keeps, ('elemwise_sub', None, '_minus_scalar'))
multiply = _arithmetic_function(_arithmetic.multiply, """Product of elements, with broadcasting.

The storage type is kept with a number, with an array of the same shape, and of csr also with a smaller dense one.""",
                                _product_keeps, ('elemwise_mul', 'broadcast_mul', '_mul_scalar'))
divide = _arithmetic_function(_arithmetic.divide, """Quotient, with broadcasting.

The storage type is kept with a number, and of csr also with a smaller dense array; elements that are not stored stay
0.""", _quotient_keeps, (None, 'broadcast_div', '_div_scalar'))
