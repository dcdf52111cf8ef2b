"""A checkpoint and what came after it, in a folder: how a server that was killed finds its state again.

- `write` appends one change.  It is in the file when the call returns, so a change that was acknowledged afterwards
  survives the death of the process.  (Not that of the machine: nothing waits for the disk.)
- `snapshot` stores the whole state, and the changes before it are forgotten.
- There are two files for changes and two for states, which take turns and are written over from their beginning: memory
  that the system has at hand is several times as fast as new one.
- A record counts when its last bytes are there.  They hold the number of the snapshot that it is or follows, and its
  own, so that neither half a record nor an old one is taken for a new one.
"""
import contextlib
import fcntl
import os
import pickle
import shutil
import struct
import time

__all__ = ['Journal', 'folder_for']

HEAD = struct.Struct('<QQQI')           # snapshot, number, bytes of the pickle, how many buffers
LENGTH = struct.Struct('<Q')
TAIL = struct.Struct('<QQ')             # snapshot, number
MOST_BUFFERS = 1000                     # what one call of writev takes
MEMORY = '/dev/shm'                     # a file system in memory, as fast as a killed process needs
ENOUGH = 4 * 2**30                      # bytes that must be free there
STALE = 600.0                           # seconds after which a folder that nobody holds is nobody's


def folder_for(name, kept=None):
    """Where the journals of a job are or may be: in `kept`, or in memory if there is enough, or with temporary files.

    Those that killed jobs left behind are removed on the way.
    """
    from .places import scratch_root
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
    """Changes in one folder.  Whoever can write there can run code: the folder is the owner's alone."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self.bytes = 0                  # of changes since the snapshot
        self._generation, self._number = 0, 0
        self._file = None
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
        for stamp, change, end in _records(self._log()):
            if stamp != (self._generation, self._number):
                break
            changes.append(change)
            self._number, self.bytes = self._number + 1, end
        self._open()
        return state, changes

    # ------------------------------------------------------------------ writing
    def write(self, change):
        """Appends a change: anything that pickle takes; arrays are written from where they are."""
        self.bytes += _put(self._file, (self._generation, self._number), change)
        self._number += 1

    def snapshot(self, state):
        """Stores the state that all changes so far led to."""
        generation = self._generation + 1
        file = os.open(self._path(f'state{generation % 2}'), os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            # not a valid one while it is written over
            os.write(file, bytes(HEAD.size))
            os.lseek(file, 0, os.SEEK_SET)
            _put(file, (generation, 0), state)
        finally:
            os.close(file)
        self._generation, self._number, self.bytes = generation, 0, 0
        self._open()

    def _open(self):
        if self._file is not None:
            os.close(self._file)
        self._file = os.open(self._log(), os.O_WRONLY | os.O_CREAT, 0o600)
        os.lseek(self._file, self.bytes, os.SEEK_SET)

    def remove(self):
        """Ends, and removes what was written."""
        for file in (self._file, self._lock):
            os.close(file)
        self._file = None
        for name in ('state0', 'state1', 'changes0', 'changes1', 'lock'):
            with contextlib.suppress(FileNotFoundError):
                os.remove(self._path(name))
        with contextlib.suppress(OSError):          # somebody else put something there
            os.rmdir(self.folder)

    def _path(self, name):
        return os.path.join(self.folder, name)

    def _log(self):
        return self._path(f'changes{self._generation % 2}')


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


def _put(file, stamp, value):
    """Writes a record; returns how many bytes that were."""
    parts = []
    text = pickle.dumps(value, protocol=5, buffer_callback=lambda buffer: parts.append(buffer.raw()))
    head = HEAD.pack(*stamp, len(text), len(parts)) + b''.join(LENGTH.pack(part.nbytes) for part in parts)
    pieces = [memoryview(piece).cast('B') for piece in (head, text, *parts, TAIL.pack(*stamp)) if len(piece)]
    total = 0
    while pieces:
        done = os.writev(file, pieces[:MOST_BUFFERS])
        total += done
        while pieces and done >= len(pieces[0]):
            done -= len(pieces.pop(0))
        if pieces and done:
            pieces[0] = pieces[0][done:]
    return total
