"""Sums over workers of one machine through memory that they share: nothing goes through sockets, nobody is woken up.

- Every worker has a few slots there.  It copies a piece of its tensor into one of them, and raises a counter.  When all
  have, a small piece is added up by everyone for itself; of a large one everyone adds up a share, and then all copy the
  whole.  Either way all get the same bits, added up in the order of the workers.
- Three counters of each worker say how many pieces it has laid down (`GIVEN`), how many shares it has added up
  (`ADDED`), and how many sums it has taken (`TAKEN`).  A slot serves again when all have taken what was in it before.
- A worker that waits looks at the counters, lets others run between looks, and soon sleeps between them: for a small
  part of the time that it has waited already.
- Each worker holds a lock on a byte of the common file.  The system frees it when the worker ends, in whatever way, so
  a worker that waits notices that.

The counters rely on memory where writes become visible in their order, which x86 processors have; `join` returns None
on others, and where the workers share no memory.
"""
import fcntl
import mmap
import os
import platform
import stat
import tempfile
import time

import torch

__all__ = ['Neighbours', 'join']

FOLDER = '/dev/shm'
PAGE = 4096
SLOTS = 4                       # of each worker
SLOT = 2**19                    # bytes of one, or fewer where there are many workers
ROOM = 2**25                    # bytes of all slots, about
LEAST = 2**16                   # bytes of a slot, at least
SMALL = 2**19                   # bytes of all workers' pieces up to which everyone adds up all of it

LINE = 16                       # counters of a worker lie in two cache lines of their own, of 8-byte numbers
GIVEN, ADDED, TAKEN, SIZES = 0, 1, 2, 4

SPIN, YIELD = 20e-6, 1e-3       # seconds for which a worker only looks; and for which it does not sleep
LOOK = 0.1                      # seconds between looks whether the others are alive


def join(rank, size, say, count, timeout):
    """The neighbours of this worker, or None unless all workers share one machine.

    `say(path)` returns what worker 0 said, and `count(yes)` how many workers said yes.
    """
    path, file = '', None
    if rank == 0:
        path, file = _made(size)
    path = say(path)
    if rank and path and platform.machine() in ('x86_64', 'AMD64'):
        try:
            file = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
        except OSError:
            pass                        # another machine
        if file is not None and not _ours(file):
            os.close(file)
            file = None
    try:
        if file is not None:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, rank)
        if count(file is not None) == size:
            return Neighbours(file, rank, size, timeout)
    finally:
        if rank == 0 and path:
            os.unlink(path)
    if file is not None:
        os.close(file)
    return None


def _made(size):
    """(path, open file) of new common memory, or ('', None)."""
    if platform.machine() not in ('x86_64', 'AMD64') or not os.path.isdir(FOLDER):
        return '', None
    file, path = None, ''
    try:
        file, path = tempfile.mkstemp(prefix='remx-', dir=FOLDER)
        os.posix_fallocate(file, 0, _bytes(size))           # now: later, no room would end the process
        return path, file
    except OSError:
        if file is not None:
            os.close(file)
            os.unlink(path)
        return '', None


def _ours(file):
    found = os.fstat(file)
    return stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077


def _slot(size):
    return max(LEAST, min(SLOT, ROOM // (SLOTS * size) // PAGE * PAGE))


def _head(size):
    return -(-size * LINE * 8 // PAGE) * PAGE


def _bytes(size):
    return _head(size) + size * SLOTS * _slot(size)


class Piece:
    """A part of a tensor on its way."""

    __slots__ = ('number', 'source', 'targets', 'small')

    def __init__(self, number, source, targets, small):
        self.number, self.source, self.targets, self.small = number, source, targets, small


class Sum:
    """What `wait` ends."""

    __slots__ = ('_neighbours', '_last')

    def __init__(self, neighbours, last):
        self._neighbours, self._last = neighbours, last

    def wait(self):
        """Takes part until the sum is in its targets."""
        self._neighbours.finish(self._last)


class Neighbours:
    """See the module.  All workers start the same sums, and wait for them, in the same order."""

    def __init__(self, file, rank, size, timeout):
        self.rank, self.size, self._timeout = rank, size, timeout
        self._file = file
        self._slot = _slot(size)
        memory = mmap.mmap(file, _bytes(size), mmap.MAP_SHARED)
        self._counters = memoryview(memory)[:_head(size)].cast('q')
        self._mine = rank * LINE
        self._others = [(other, other * LINE) for other in range(size) if other != rank]
        self._bytes = torch.frombuffer(memory, dtype=torch.uint8, offset=_head(size))
        self._views = {}                # dtype: [[tensor of a slot, for each worker], for each slot]
        self._pieces = []               # started, and not taken yet
        self._started = self._given = self._added = self._taken = 0
        self._broken = None

    def sum(self, source, targets):
        """Starts adding up a flat tensor of each worker, to flat tensors of the same size, of which it may be one."""
        size = source.numel() * source.element_size()
        count = max(1, -(-size // self._slot))
        small = size * self.size <= SMALL and count == 1
        if count == 1:
            self._pieces.append(Piece(self._started + 1, source, targets, small))
        else:
            length = -(-source.numel() // count)
            pieces = zip(source.split(length), *(target.split(length) for target in targets), strict=True)
            for number, (part, *parts) in enumerate(pieces, self._started + 1):
                self._pieces.append(Piece(number, part, parts, False))
        self._started = self._pieces[-1].number
        if small and self._given == self._started - 1 and self._all(TAKEN, self._started - SLOTS):
            self._give(self._pieces[-1])            # the others can go on without this worker
        return Sum(self, self._started)

    def finish(self, last):
        """Takes all sums up to a number."""
        if self._broken is not None:
            raise RuntimeError(self._broken)
        pieces, first = self._pieces, self._taken
        try:
            while self._taken < last:
                # two pieces ahead with giving and one with adding: the others have done their part in most cases
                while self._given < min(last, self._taken + 3):
                    self._wait(TAKEN, self._given + 1 - SLOTS)
                    self._give(pieces[self._given - first])
                while self._added < min(last, self._taken + 2):
                    self._add(pieces[self._added - first])
                self._take(pieces[self._taken - first])
        finally:
            del pieces[:self._taken - first]

    # ------------------------------------------------------------------ the three steps
    def _give(self, piece):
        source, number = piece.source, piece.number
        slot = number % SLOTS
        self._of(source.dtype)[slot][self.rank][:source.numel()].copy_(source)
        self._counters[self._mine + SIZES + slot] = source.numel() * source.element_size()
        self._given = self._counters[self._mine + GIVEN] = number

    def _add(self, piece):
        if not piece.small:
            self._together(piece)
            count = piece.source.numel()
            start, end = count * self.rank // self.size, count * (self.rank + 1) // self.size
            # into the slot of worker 0, whose share nobody else reads
            total, *parts = (slot[start:end] for slot in self._of(piece.source.dtype)[piece.number % SLOTS])
            for part in parts:
                total += part
        self._added = self._counters[self._mine + ADDED] = piece.number

    def _take(self, piece):
        slots, count = self._of(piece.source.dtype)[piece.number % SLOTS], piece.source.numel()
        if piece.small:
            self._together(piece)
            total, *more = piece.targets
            torch.add(slots[0][:count], slots[1][:count], out=total)
            for slot in slots[2:]:
                total += slot[:count]
        else:
            self._wait(ADDED, piece.number)
            total, more = slots[0][:count], piece.targets
        for target in more:
            target.copy_(total)
        self._taken = self._counters[self._mine + TAKEN] = piece.number

    def _of(self, dtype):
        found = self._views.get(dtype)
        if found is None:
            slots = self._bytes.view(self.size, SLOTS, self._slot).view(dtype)
            found = self._views[dtype] = [[slots[rank, slot] for rank in range(self.size)] for slot in range(SLOTS)]
        return found

    # ------------------------------------------------------------------ waiting
    def _together(self, piece):
        """Waits until all have given a piece, and compares its size."""
        self._wait(GIVEN, piece.number)
        at, counters = SIZES + piece.number % SLOTS, self._counters
        for other, line in self._others:
            if counters[line + at] != counters[self._mine + at]:
                self._broken = f'worker {other} adds up {counters[line + at]} bytes, this one ' \
                               f'{counters[self._mine + at]}'
                raise RuntimeError(self._broken)

    def _all(self, counter, least):
        return all(self._counters[line + counter] >= least for _, line in self._others)

    def _wait(self, counter, least):
        counters = self._counters
        for _, line in self._others:
            if counters[line + counter] < least:
                self._wait_long(line + counter, least)

    def _wait_long(self, at, least):
        counters, clock = self._counters, time.perf_counter
        start = clock()
        look = start + LOOK
        while counters[at] < least:
            now = clock()
            if now - start < SPIN:
                continue
            if now - start < YIELD:
                os.sched_yield()
                continue
            if now > look:
                gone = [rank for rank, _ in self._others if not self._alive(rank)]
                if gone and counters[at] < least:
                    raise RuntimeError(f'worker {gone[0]} has ended')
                if now - start > self._timeout:
                    raise RuntimeError(f'nothing came for {self._timeout:g} seconds')
                look = now + LOOK
            time.sleep(min((now - start) / 16, 0.002))

    def _alive(self, rank):
        try:
            fcntl.lockf(self._file, fcntl.LOCK_SH | fcntl.LOCK_NB, 1, rank)
        except OSError:
            return True
        fcntl.lockf(self._file, fcntl.LOCK_UN, 1, rank)
        return False
