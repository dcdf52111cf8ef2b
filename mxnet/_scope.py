"""`with scope:` objects of which each thread has a current one: what `mx.name` and `mx.attribute` share."""
import threading


class Current(threading.local):
    """The scope in force in this thread (`value`), and those around it.  A new thread begins with `make()`."""

    def __init__(self, make):
        self.value = make()
        self.outer = []


class _ScopeType(type):
    """Makes `NameManager.current` readable and assignable on the class, as programs use it."""

    @property
    def current(cls):
        """The scope in force in this thread."""
        return cls._current.value

    @current.setter
    def current(cls, scope):
        cls._current.value = scope


class Scope(metaclass=_ScopeType):
    """A subclass that is a family of its own sets `_current = Current(subclass)` after its definition."""

    _current: Current

    def __enter__(self):
        # The stack is the thread's, not the object's: one scope may be entered twice, or by two threads.
        self._current.outer.append(self._current.value)
        self._current.value = self
        return self

    def __exit__(self, ptype, value, trace):
        self._current.value = self._current.outer.pop()
