"""What `mx.util` and `mx.np` both need of NumPy's semantics."""
from __future__ import annotations

from typing import Any

from ._state import state

_CASTINGS = ('no', 'equiv', 'safe', 'same_kind', 'unsafe')
_DTYPES = ('int8', 'uint8', 'int32', 'int64', 'float16', 'float32', 'float64')


class NumpyShapes:
    """A scope with NumPy shapes on in this thread; the thread's own setting comes back."""

    def __enter__(self):
        self._previous = state.__dict__.get('np_shape')
        state.np_shape = True

    def __exit__(self, *exc):
        if self._previous is None:
            state.__dict__.pop('np_shape', None)
        else:
            state.np_shape = self._previous


def np_ufunc_legal_option(key: Any, value: Any) -> Any:
    """Whether `value` is one that NumPy's universal functions take for their option `key`."""
    if key == 'where':
        return True
    if key == 'casting':
        return value in _CASTINGS
    if key == 'order':
        return isinstance(value, str)
    if key == 'dtype':
        return (value.__name__ if isinstance(value, type) else str(value)) in _DTYPES
    return key == 'subok' and isinstance(value, bool)
