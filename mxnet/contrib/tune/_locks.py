"""Locks that end with the process that holds them, also when it is killed."""
from __future__ import annotations

import contextlib
import os
import sys
import time
import uuid
from typing import Any

if sys.platform == 'win32':
    import msvcrt

    def _lock(file: int, wait: bool) -> bool:
        while True:
            try:
                msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
                return True
            except OSError:
                if not wait:
                    return False
                time.sleep(0.01)
else:
    import fcntl

    def _lock(file: int, wait: bool) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        return True


class FileLock:
    """A lock on a file, for processes and for threads; `acquire` and `release` are also what Optuna's journal calls."""

    def __init__(self, path: str) -> None:
        self._path, self._file = path, -1

    def acquire(self) -> bool:
        """Waits until nobody else has it."""
        file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(file, True)
        except BaseException:
            os.close(file)
            raise
        self._file = file
        return True

    def release(self) -> None:
        """Gives it back."""
        file, self._file = self._file, -1
        os.close(file)

    def __enter__(self) -> FileLock:
        self.acquire()
        return self

    def __exit__(self, *error: Any) -> None:
        self.release()


class Presence:
    """Says that this process lives: a locked file in a folder that the other processes of the study see."""

    def __init__(self, folder: str) -> None:
        os.makedirs(folder, exist_ok=True)
        self.name = uuid.uuid4().hex[:16]
        self._path = os.path.join(folder, self.name)
        hidden = os.path.join(folder, f'.{self.name}')          # until it is locked
        self._file = os.open(hidden, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        _lock(self._file, True)
        os.rename(hidden, self._path)

    def close(self) -> None:
        """It ends in good order."""
        with contextlib.suppress(OSError):
            os.unlink(self._path)
        os.close(self._file)

    def __enter__(self) -> Presence:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()


def has_died(folder: str, name: str, shared: bool = False) -> bool | None:
    """Whether the process of a Presence has ended; None where that cannot be seen from here.

    shared: all processes keep their files in this folder, so that one without a file has ended
    """
    if not name.isalnum():              # a name from the storage is not a path
        return None
    try:
        file = os.open(os.path.join(folder, name), os.O_RDWR)
    except FileNotFoundError:
        return True if shared else None
    except OSError:
        return None
    try:
        return _lock(file, False)
    finally:
        os.close(file)


def forget_dead(folder: str) -> None:
    """Removes the files of processes that were killed."""
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            if has_died(folder, name):
                with contextlib.suppress(OSError):
                    os.unlink(os.path.join(folder, name))
