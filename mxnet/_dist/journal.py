"""A checkpoint and what came after it, in a folder: how a server that was killed finds its state again.

- `write` appends one change.  It is in the file when the call returns, so a change that was acknowledged afterwards
  survives the death of the process.  (Not that of the machine: nothing waits for the disk.)
- `snapshot` stores the whole state, and the changes before it are forgotten.
- There is one file for changes, and two for states, which take turns.  All are written over from their beginning:
  memory that the system has at hand is several times as fast as new one.  So they take up to twice the state and once
  the changes.
- A record counts when its last bytes are there.  They hold the number of the snapshot that it is or follows, and its
  own, so that neither half a record nor an old one is taken for a new one.
"""
import contextlib
import fcntl
import mmap
import os
import pickle
import shutil
import struct
import time
from typing import Any

import numpy

from .places import private, scratch_root

__all__ = ['Journal', 'folder_for']

HEAD = struct.Struct('<QQQI')           # snapshot, number, bytes of the pickle, how many buffers
LENGTH = struct.Struct('<Q')
TAIL = struct.Struct('<QQ')             # snapshot, number
LARGE = 2**20                           # bytes from which on a copy into the memory of a file is worth it
MEMORY = '/dev/shm'                     # a file system in memory, as fast as a killed process needs
ENOUGH = 4 * 2**30                      # bytes that must be free there
STALE = 600.0                           # seconds after which a folder that nobody holds is nobody's


def folder_for(name, kept=None):
    """Where the journals of a job are or may be: in `kept`, or in memory if there is enough, or with temporary files.

    Those that killed jobs left behind are removed on the way.
    """
    bases = [kept] if kept else [MEMORY, scratch_root()]
    for base in bases:
        if os.path.isdir(os.path.join(base, name)):
            return os.path.join(base, name)
    if kept:
        return os.path.join(kept, name)
    for base in bases:
        with contextlib.suppress(OSError):
            _sweep(base)
    with contextlib.suppress(OSError):
        room = os.statvfs(MEMORY)
        if room.f_bavail * room.f_frsize >= ENOUGH and os.access(MEMORY, os.W_OK):
            return os.path.join(MEMORY, name)
    return os.path.join(scratch_root(), name)


def _sweep(base):
    for entry in os.scandir(base):
        if not entry.name.startswith('remx-') or not entry.is_dir() or entry.stat().st_uid != os.getuid() \
                or time.time() - entry.stat().st_mtime < STALE:
            continue
        locks = [os.path.join(entry.path, inner, 'lock') for inner in os.listdir(entry.path)]
        if any(os.path.exists(lock) for lock in locks) and not any(map(_held, locks)):
            shutil.rmtree(entry.path, ignore_errors=True)


def _held(lock):
    try:
        file = os.open(lock, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(file)
    return False


class Journal:
    """Changes in one folder.  Whoever can write there can run code: one that others own or may enter is refused."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder, mode=0o700, exist_ok=True)
        private(folder)
        self.bytes = 0                  # of changes since the snapshot
        self._generation, self._number = 0, 0
        self._files: dict[str, Any] = {}
        self._file: Any = None                  # the one for changes; `recover` opens it
        self._lock = os.open(self._path('lock'), os.O_RDWR | os.O_CREAT, 0o600)
        with contextlib.suppress(OSError):          # the process before this one may not have ended yet
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    # ------------------------------------------------------------------ reading
    def recover(self):
        """(state or None, [changes since]) of what an earlier process wrote; new changes follow them."""
        state = None
        for number in range(2):
            for (generation, _), found, _ in _records(self._path(f'state{number}')):
                if generation > self._generation:
                    self._generation, state = generation, found
                break
        changes = []
        for stamp, change, end in _records(self._path('changes')):
            if stamp != (self._generation, self._number):
                break
            changes.append(change)
            self._number, self.bytes = self._number + 1, end
        self._open()
        return state, changes

    # ------------------------------------------------------------------ writing
    def write(self, change):
        """Appends a change: anything that pickle takes; arrays are written from where they are."""
        self._file.put((self._generation, self._number), change)
        self._number, self.bytes = self._number + 1, self._file.position

    def snapshot(self, state):
        """Stores the state that all changes so far led to."""
        generation = self._generation + 1
        file = self._recorder(f'state{generation % 2}')
        file.blank()                    # not a valid one while it is written over
        file.put((generation, 0), state)
        self._generation, self._number, self.bytes = generation, 0, 0
        self._open()

    def _open(self):
        self._file = self._recorder('changes', self.bytes)

    def _recorder(self, name, position=0):
        if name not in self._files:
            self._files[name] = Recorder(self._path(name))
        self._files[name].begin(position)
        return self._files[name]

    def remove(self):
        """Ends, and removes what was written."""
        for file in self._files.values():
            file.close()
        os.close(self._lock)
        self._files, self._file = {}, None
        for name in ('state0', 'state1', 'changes', 'lock'):
            with contextlib.suppress(FileNotFoundError):
                os.remove(self._path(name))
        with contextlib.suppress(OSError):          # somebody else put something there
            os.rmdir(self.folder)

    def _path(self, name):
        return os.path.join(self.folder, name)


def _records(path):
    """((snapshot, number), value, position behind it) of each whole record of a file."""
    try:
        with open(path, 'rb') as file:
            data = file.read()
    except FileNotFoundError:
        return
    position = 0
    while len(data) - position >= HEAD.size:
        generation, number, size, count = HEAD.unpack_from(data, position)
        at = position + HEAD.size
        if not generation + size or len(data) - at < LENGTH.size * count:
            return
        lengths = [LENGTH.unpack_from(data, at + LENGTH.size * i)[0] for i in range(count)]
        at += LENGTH.size * count
        end = at + size + sum(lengths)
        if len(data) - end < TAIL.size or TAIL.unpack_from(data, end) != (generation, number):
            return
        start, at = at, at + size
        buffers = []
        for length in lengths:
            buffers.append(bytearray(data[at:at + length]))
            at += length
        position = end + TAIL.size
        yield (generation, number), pickle.loads(data[start:start + size], buffers=buffers), position


class Recorder:
    """A file that records are written to, from a position on."""

    def __init__(self, path):
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        self.position = self._size = 0
        self._map: Any = None
        self._memory: Any = None

    def begin(self, position):
        """From then on, what the file has already is written through memory that is mapped once: as fast as a copy."""
        self.position = position
        size = os.fstat(self._file).st_size
        if size >= LARGE and size > self._size:
            self._unmap()
            # all pages at once: one at a time, when they are written, takes several times as long
            self._map = mmap.mmap(self._file, size, mmap.MAP_SHARED | getattr(mmap, 'MAP_POPULATE', 0))
            self._memory = numpy.frombuffer(self._map, 'uint8')
            self._size = size

    def blank(self):
        """Makes what is there invalid."""
        os.pwrite(self._file, bytes(HEAD.size), self.position)

    def put(self, stamp, value):
        """Writes a record; arrays from where they are."""
        parts: list[memoryview] = []
        text = pickle.dumps(value, protocol=5, buffer_callback=lambda buffer: parts.append(buffer.raw()))
        head = HEAD.pack(*stamp, len(text), len(parts)) + b''.join(LENGTH.pack(part.nbytes) for part in parts)
        for piece in (memoryview(head), memoryview(text), *parts, memoryview(TAIL.pack(*stamp))):
            self._write(piece if piece.format == 'B' and piece.ndim == 1 else piece.cast('B'))

    def _write(self, piece):
        if len(piece) >= LARGE and self.position + len(piece) <= self._size:
            end = self.position + len(piece)
            numpy.copyto(self._memory[self.position:end], numpy.frombuffer(piece, 'uint8'))
            self.position = end
            return
        while piece:
            done = os.pwrite(self._file, piece, self.position)
            piece, self.position = piece[done:], self.position + done

    def close(self):
        """Ends."""
        self._unmap()
        os.close(self._file)

    def _unmap(self):
        self._memory = None
        if self._map is not None:
            self._map.close()
