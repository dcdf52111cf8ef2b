"""Error types, and the table that finds one by its name.

>>> @mx.error.register
... class OutOfDisk(mx.MXNetError):
...     pass
>>> mx.base.error_types['OutOfDisk'] is OutOfDisk
True
"""
from __future__ import annotations

from ._names import suggest_names as _suggest_names
from .base import MXNetError, register_error

__all__ = ['MXNetError', 'register']

register = register_error

_HINT = ('\nMXNet hint: this is a mistake inside MXNet, not in your program. Please report it with this message and '
         'with what `remx doctor` prints.')


@register
class InternalError(MXNetError):
    """Something that MXNet itself must never let happen.  The message gets a line that says where to go with it."""

    def __init__(self, msg: str) -> None:
        super().__init__(msg if 'MXNet hint:' in msg else msg + _HINT)


for _builtin in (ValueError, TypeError, AttributeError, IndexError, NotImplementedError):
    register(_builtin.__name__, _builtin)


_suggest_names(globals())
