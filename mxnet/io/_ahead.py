"""Work that is done ahead of time, in a thread."""
from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._state import state

if TYPE_CHECKING:
    from ..io import DataBatch

_END = object()


class _Channel:
    """A queue of at most `depth` items that either side can close."""

    def __init__(self, depth):
        self._depth = depth
        self._items: deque[tuple[Any, BaseException | None]] = deque()
        self._closed = False
        self._changed = threading.Condition()

    def put(self, item):
        """Waits for room; False if the reader has gone."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or len(self._items) < self._depth)
            if not self._closed:
                self._items.append(item)
                self._changed.notify_all()
            return not self._closed

    def get(self):
        with self._changed:
            self._changed.wait_for(lambda: self._items)
            item = self._items.popleft()
            self._changed.notify_all()
            return item

    def close(self):
        with self._changed:
            self._closed = True
            self._items.clear()
            self._changed.notify_all()


def _fill(channel, produce, np_shape, np_array):
    state.np_shape, state.np_array = np_shape, np_array         # the thread makes the arrays that its owner would make
    item: tuple[Any, BaseException | None]
    more = True
    while more:
        try:
            item = produce(), None
        except StopIteration:
            item, more = (_END, None), False
        except BaseException as error:                          # the owner raises it when it gets there
            item, more = (_END, error), False
        more = channel.put(item) and more


def _stop(channel, thread, pid):
    channel.close()
    if os.getpid() == pid and thread is not threading.current_thread():
        thread.join()


class Ahead:
    """Calls `produce` in a thread, at most `depth` results ahead of whoever calls `next`.

    `produce` ends with StopIteration; any other error is raised by `next` when its turn comes.  The thread ends with
    `stop`, with this object or with the program, whichever comes first; `produce` must therefore not refer to the
    object that owns this one.  After a fork the child starts a thread of its own.
    """

    def __init__(self, produce: Callable[..., Any], depth: int = 1) -> None:
        self._produce, self._depth = produce, depth
        self._finalizer: Any = None
        self.start()

    def start(self) -> None:
        """Starts (again)."""
        self.stop()
        self._channel, self._pid = _Channel(self._depth), os.getpid()
        self._ended, self._error = False, None
        thread = threading.Thread(target=_fill, name='mxnet-prefetch', daemon=True,
                                  args=(self._channel, self._produce, state.np_shape, state.np_array))
        thread.start()
        self._finalizer = weakref.finalize(self, _stop, self._channel, thread, self._pid)

    def stop(self) -> None:
        """Returns when the thread works no more; what it has prepared is dropped."""
        if self._finalizer is not None:
            self._finalizer()

    def next(self) -> DataBatch:
        """The next result.  After the end, StopIteration (or the error that ended it) again and again."""
        if not self._ended:
            if self._pid != os.getpid():
                self.start()                    # threads do not survive a fork
            item, self._error = self._channel.get()
            if item is not _END:
                return item
            self._ended = True
        if self._error is None:
            raise StopIteration                 # a new one: an error keeps what its traceback refers to
        raise self._error
