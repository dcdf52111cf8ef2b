"""Functions of `mx.npx` with signatures of their own, on arrays and on symbols."""
from __future__ import annotations

from typing import Any

from ..numpy import _call

__all__ = ['constraint_check', 'nonzero', 'reshape']


def reshape(a: Any, newshape: Any, reverse: bool = False, order: str = 'C') -> Any:
    """The same elements in another shape; `newshape` may hold codes, which `reverse` reads from the right.

    -1 takes what is left over, -2 keeps an axis, -3 drops one of length 1, -4 keeps all axes that are left, -5 joins
    two and -6 splits one into the two numbers behind it.

    >>> mx.npx.reshape(mx.np.ones((2, 3, 4)), (-2, -5)).shape
    (2, 12)
    """
    return _call.apply('_npx_reshape', (a,), {'newshape': _call.numbers(newshape), 'reverse': reverse, 'order': order})


def nonzero(a: Any) -> Any:
    """Positions of the elements that are not 0: a row for each, a column for each axis (int64)."""
    return _call.apply('_npx_nonzero', (a,), {})


def constraint_check(x: Any, msg: Any) -> Any:
    """True, unless a value of `x` is 0 or False: then a ValueError with `msg`."""
    return _call.apply('_npx_constraint_check', (x,), {'msg': msg})
