"""A checkpoint and what came after it, in a folder: how a server that was killed finds its state again.

- `write` appends one change.  It is in the file when the call returns, so a change that was acknowledged afterwards
  survives the death of the process.  (Not that of the machine: nothing waits for the disk.)
- `snapshot` stores the whole state, and the changes before it are forgotten.  Two files for changes take turns, and are
  written over from their beginning, since memory that the system has at hand is several times as fast as new one.
- A change counts when its last bytes are there.  They hold the number of the snapshot it follows and its own, so that
  neither half a change nor an old one is taken for a new one.
"""
import os
import pickle
import struct

__all__ = ['Journal']

HEAD = struct.Struct('<QQQI')           # snapshot, number, bytes of the pickle, how many buffers
LENGTH = struct.Struct('<Q')
TAIL = struct.Struct('<QQ')             # snapshot, number
MOST_BUFFERS = 1000                     # what one call of writev takes


class Journal:
    """Changes in one folder.  Whoever can write there can run code: the folder is the owner's alone."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self.bytes = 0                  # of changes since the snapshot
        self._generation, self._number = 0, 0
        self._file = None

    # ------------------------------------------------------------------ reading
    def recover(self):
        """(state or None, [changes since]) of what an earlier process wrote; new changes follow them."""
        state = None
        try:
            with open(self._path('state'), 'rb') as file:
                self._generation, state = pickle.load(file)
        except FileNotFoundError:
            pass
        changes = list(self._changes())
        self._open()
        return state, changes

    def _changes(self):
        try:
            with open(self._log(), 'rb') as file:
                data = file.read()
        except FileNotFoundError:
            return
        position = 0
        while len(data) - position >= HEAD.size:
            generation, number, size, count = HEAD.unpack_from(data, position)
            at = position + HEAD.size
            if generation != self._generation or number != self._number or len(data) - at < LENGTH.size * count:
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
            yield pickle.loads(data[start:start + size], buffers=buffers)
            position = end + TAIL.size
            self._number, self.bytes = number + 1, position

    # ------------------------------------------------------------------ writing
    def write(self, change):
        """Appends a change: anything that pickle takes; arrays are written from where they are."""
        parts = []
        text = pickle.dumps(change, protocol=5, buffer_callback=lambda buffer: parts.append(buffer.raw()))
        stamp = self._generation, self._number
        head = HEAD.pack(*stamp, len(text), len(parts)) + b''.join(LENGTH.pack(part.nbytes) for part in parts)
        self._put([head, text, *parts, TAIL.pack(*stamp)])
        self._number += 1

    def _put(self, pieces):
        pieces = [memoryview(piece).cast('B') for piece in pieces if len(piece)]
        while pieces:
            done = os.writev(self._file, pieces[:MOST_BUFFERS])
            self.bytes += done
            while pieces and done >= len(pieces[0]):
                done -= len(pieces.pop(0))
            if pieces and done:
                pieces[0] = pieces[0][done:]

    def snapshot(self, state):
        """Stores the state that all changes so far led to."""
        new = self._path('state.new')
        with open(new, 'wb') as file:
            pickle.dump((self._generation + 1, state), file, protocol=5)
        os.replace(new, self._path('state'))
        self._generation, self._number, self.bytes = self._generation + 1, 0, 0
        self._open()

    def _open(self):
        if self._file is not None:
            os.close(self._file)
        self._file = os.open(self._log(), os.O_WRONLY | os.O_CREAT, 0o600)
        os.lseek(self._file, self.bytes, os.SEEK_SET)

    def remove(self):
        """Ends, and removes what was written."""
        os.close(self._file)
        self._file = None
        for name in ('state', 'state.new', 'changes0', 'changes1'):
            try:
                os.remove(self._path(name))
            except FileNotFoundError:
                pass
        try:
            os.rmdir(self.folder)
        except OSError:                 # somebody else put something there
            pass

    def _path(self, name):
        return os.path.join(self.folder, name)

    def _log(self):
        return self._path(f'changes{self._generation % 2}')
