"""`with scope:` objects of which each thread has a current one: what `mx.name` and `mx.attribute` share."""
from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Self


class Current(threading.local):
    """The scope in force in this thread (`value`), and those around it.  A new thread begins with `make()`."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.value: Any = make()
        self.outer: list[Any] = []


class _ScopeType(type):
    """Makes `NameManager.current` readable and assignable on the class, as programs use it."""

    @property
    def current(cls) -> Any:
        """The scope in force in this thread."""
        return cls._current.value        # type: ignore[attr-defined]

    @current.setter
    def current(cls, scope: Any) -> None:
        cls._current.value = scope       # type: ignore[attr-defined]


class Scope(metaclass=_ScopeType):
    """A subclass that is a family of its own sets `_current = Current(subclass)` after its definition."""

    _current: Current

    def __enter__(self) -> Self:
        # The stack is the thread's, not the object's: one scope may be entered twice, or by two threads.
        self._current.outer.append(self._current.value)
        self._current.value = self
        return self

    def __exit__(self, ptype: Any, value: Any, trace: Any) -> None:
        self._current.value = self._current.outer.pop()
