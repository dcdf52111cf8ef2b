"""The class of all caches by key; the table in mxnet/_lazy/README.md lists them."""
from __future__ import annotations

from typing import TypeVar

Key = TypeVar('Key')
Value = TypeVar('Value')


class Cache(dict[Key, Value]):
    """A dict that keeps the entries that were added last, `limit` of them.

    The key holds everything that an entry depends on, with the types of numbers where these matter.  An entry therefore
    never becomes wrong; a guard (_guard.py) compares what cannot be part of a key.  Threads share a cache without a
    lock; two that miss at the same time may both make the entry.

    To keep the entries that were used last instead, take an entry out and add it again.
    """

    __slots__ = ('limit',)

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit

    def __setitem__(self, key: Key, value: Value) -> None:
        super().__setitem__(key, value)
        while len(self) > self.limit:
            try:
                self.pop(next(iter(self)), None)
            except (RuntimeError, StopIteration):       # another thread changes it at the same time
                pass
