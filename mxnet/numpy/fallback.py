"""Functions that go through NumPy: the arrays are copied there, and what comes back is copied here.

They record no gradient, and on a GPU they wait.
"""
import functools

from .._array import NDArrayBase
from ..context import current_context
from . import _protocols


def through_numpy(function):
    """A NumPy function that takes and returns our arrays."""
    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        ctx = next((x._ctx for x in _flat((args, kwargs)) if isinstance(x, NDArrayBase)), None) or current_context()
        result = function(*_protocols.to_numpy(args), **_protocols.to_numpy(kwargs))
        return _protocols.from_numpy(result, ctx)
    return wrapped


def _flat(value):
    if isinstance(value, (list, tuple)):
        for v in value:
            yield from _flat(v)
    elif isinstance(value, dict):
        yield from _flat(list(value.values()))
    else:
        yield value
