"""How symbols get their names when a program gives none."""
from __future__ import annotations

from typing import Any

from ._names import suggest_names as _suggest_names
from ._scope import Current, Scope

__all__ = ['NameManager', 'Prefix']


class NameManager(Scope):
    """Names symbols: `fullyconnected0`, `fullyconnected1`, ...

    `with NameManager():` starts counting anew.  Each thread has its own `NameManager.current`.  To name in another way,
    override `get` in a subclass.
    """

    def __init__(self) -> None:
        self._counter: dict[Any, Any] = {}

    def get(self, name: str, hint: str) -> str:
        """`name` if there is one, else `hint` (the operator's name in lower case) and its next number."""
        if name:
            return name
        number = self._counter.get(hint, 0)
        self._counter[hint] = number + 1
        return f'{hint}{number}'


NameManager._current = Current(NameManager)


class Prefix(NameManager):
    """Puts `prefix` before every name, given or made.

    >>> with mx.name.Prefix('stage1_'):
    ...     mx.name.NameManager.current.get(None, 'conv')
    'stage1_conv0'
    """

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._prefix = prefix

    def get(self, name: str, hint: str) -> str:
        return self._prefix + super().get(name, hint)


_suggest_names(globals())
