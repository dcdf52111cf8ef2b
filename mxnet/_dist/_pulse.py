"""Signs of life, so that an error can name the worker that is gone instead of a socket.

Each worker writes its own to the common store every second or so, and reads the others' when something fails.  In
between it watches the next one only, and tells all when that one is gone: many workers watching each other would be all
that the store does.  When the connection of a worker to the store breaks, the store tells all.
"""
import threading
import time
from typing import Any

from ..base import MXNetError
from .meeting import ENDED

__all__ = ['Pulse', 'sign_of']


def sign_of(attempt, rank):
    """The key of a worker's sign of life."""
    return f'pulse{attempt}/{rank}'


class Pulse:
    """The signs of one worker: `number|operations|what it is doing`."""

    def __init__(self, member, where, timeout):
        # `member` is a connection of its own: the other one waits for values, and nothing else gets through meanwhile
        self.rank, self.size, self._timeout = where.rank, where.size, timeout
        self._interval = min(1.0, timeout / 10)
        self._store, self._attempt = member, where.attempt
        if self.rank is None:
            self.rank = self._store.add(self._key('rank'), 1) - 1
            if self.rank >= self.size:
                raise MXNetError(f'{self.size} workers are announced, but there are more; this is number {self.rank}')
        self._beats, self._done, self._note = 0, 0, 'starting'
        self.failed = False
        self._verdict = None
        self._deserted = False          # whether the store is gone
        self._next = None, 0.0          # sign of the next worker, and since when it is that one
        self._write_lock = threading.Lock()
        self._stopped = threading.Event()
        self._write()
        self._store.pulse(self._key(self.rank), self._key('verdict'), self.rank)
        self._thread = threading.Thread(target=self._beat, name='kvstore-pulse', daemon=True)
        self._thread.start()

    def _key(self, name):
        return sign_of(self._attempt, name)

    def _sign(self):
        """The next sign of this worker, as the store takes it."""
        self._beats += 1
        return 'set', self._key(self.rank), f'{self._beats}|{self._done}|{self._note}'.encode()

    def _write(self):
        with self._write_lock:
            self._store.many(self._sign())

    def _beat(self):
        others = (self.rank + 1) % self.size
        while not self._stopped.wait(self._interval):
            try:
                with self._write_lock:
                    _, verdict, sign = self._store.many(self._sign(), ('get', self._key('verdict')),
                                                        ('get', self._key(others)))
                self._hear(verdict)
                self._watch(others, sign)
            except RuntimeError:
                self._deserted = True
                return              # the worker with the store has ended

    def _hear(self, verdict):
        """Keeps what another worker found out, since the store may be gone when it is needed."""
        if self._verdict is None and verdict is not None:
            self._verdict = verdict.decode()

    def _watch(self, rank, sign):
        """Is the next worker alive?"""
        if rank == self.rank or sign is None:
            return
        now = time.monotonic()
        if sign != self._next[0]:
            self._next = sign, now
        elif now - self._next[1] > self._timeout and not sign.endswith(ENDED.encode()) and self._verdict is None:
            self._verdict = f'worker {rank} is gone: no sign of life'
            self._store.set(self._key('verdict'), self._verdict)

    def word(self, name, value=None, timeout=300.0):
        """Worker 0's word, which takes as long as it takes while worker 0 lives; `value` is what worker 0 says."""
        key = self._key(f'word {name}')
        if self.rank == 0:
            self._store.set(key, value)
            return value
        end = time.monotonic() + max(timeout, self._timeout)
        pause = 0.002
        try:
            while (found := self._store.get(key)) is None:
                if self.verdict() or time.monotonic() > end:
                    raise MXNetError(f'worker {self.rank} of {self.size}: '
                                     + (self.verdict() or f'worker 0 has said nothing of {name}'))
                time.sleep(pause)
                pause = min(1.5 * pause, 0.1)
            return found
        except RuntimeError as error:
            raise MXNetError(f'worker {self.rank} of {self.size}: worker 0, where the workers meet, is gone') from error

    def verdict(self):
        """Who is gone, in words, as far as this worker has heard; None while all is well."""
        return self._verdict or ('worker 0, where the workers meet, is gone' if self._deserted else None)

    def wait_for_ends(self):
        """Worker 0 waits until the others have ended or are gone; whether all have ended well."""
        seen: dict[int, Any] = {}
        pause = 0.02
        others = set(range(self.size)) - {self.rank}
        try:
            while others:
                signs = self._signs()
                for rank in sorted(others):
                    number, _, note = signs.get(rank, (0, 0, ''))
                    last, since = seen.get(rank, (None, 0.0))
                    now = time.monotonic()
                    if number != last:
                        seen[rank] = number, now
                    if note == ENDED:
                        others.discard(rank)
                    elif note.startswith('failed') or now - seen[rank][1] > max(5 * self._interval, 5.0):
                        return False
                time.sleep(pause)
                pause = min(1.2 * pause, self._interval / 2)
        except RuntimeError:
            return False
        return True

    def note(self, what):
        """What the worker is about to do, for the others to read should it never end."""
        self._done += 1
        self._note = what

    def stop(self, note):
        """Leaves a last word."""
        if self._stopped.is_set():
            return
        self._stopped.set()
        # a thread that Python ends while it is inside torch takes the process with it
        self._thread.join(self._timeout)
        if not self.failed:
            self._note = note
        try:
            self._write()
        except RuntimeError:
            pass                    # nobody is left to read it
        self._store.close()

    # ------------------------------------------------------------------ the others
    def _signs(self):
        """{rank: (number, operations, note)} of those who have written."""
        found = {}
        signs = self._store.many(*(('get', self._key(rank)) for rank in range(self.size)))
        for rank, sign in enumerate(signs):
            if sign is not None:
                number, done, note = sign.decode().split('|', 2)
                found[rank] = int(number), int(done), note
        return found

    def wait_for_all(self):
        """Waits until every worker has started."""
        self._store.add(self._key('started'), 1)
        end = time.monotonic() + self._timeout
        pause = 0.002
        while True:
            # one number to ask for: the signs of all, read by all, are too much for thousands of workers
            try:
                if self._store.add(self._key('started'), 0) >= self.size:
                    return
                found = self._signs() if time.monotonic() > end else None
            except RuntimeError as error:
                raise MXNetError(f'worker {self.rank} of {self.size}: worker 0 left while the job started') from error
            if found is not None:
                missing = _workers(set(range(self.size)) - found.keys())
                raise MXNetError(f'worker {self.rank} of {self.size}: {missing} did not start within {self._timeout:g} '
                                 'seconds')
            time.sleep(pause)
            pause = min(pause * 1.5, 0.1)

    def blame(self):
        """Who is the reason that an operation failed, in words."""
        self.failed = True
        mine, self._note = self._note, f'failed at: {self._note}'
        try:
            self._write()
            self._hear(self._store.get(self._key('verdict')))
            if self._verdict is None:
                self._verdict = self._find_out(mine)
                self._store.set(self._key('verdict'), self._verdict)
            if self.rank == 0:
                self._stay()
        except RuntimeError:
            # what was heard before counts: worker 0 may have ended because of it
            self._verdict = self._verdict or 'worker 0, where the workers meet, is gone'
        return self._verdict

    def _find_out(self, mine):
        before = self._signs()
        time.sleep(2.5 * self._interval + 0.2)
        after = self._signs()
        lost, ended, late = set(), set(), {}
        for rank in set(range(self.size)) - {self.rank}:
            number, done, note = after.get(rank, (0, 0, ''))
            if note.startswith('failed'):
                continue                    # it suffers from the same
            if note == ENDED:
                ended.add(rank)
            elif number == before.get(rank, (0, 0, ''))[0]:
                lost.add(rank)
            elif done < self._done or note != mine:
                late[rank] = note
        said = []
        if lost:
            said.append(f'{_workers(lost)} {_are(lost)} gone: no sign of life')
        if ended:
            said.append(f'{_workers(ended)} ended without it{_UNEVEN}')
        said += [f'worker {rank} has not come to it (its last operation: {late[rank]})' for rank in sorted(late)]
        return '; '.join(said) or 'the connection broke, though all workers show signs of life'

    def _stay(self):
        """The store lives in worker 0: it waits for the others to have heard the verdict, or to have failed as well."""
        end = time.monotonic() + 3 * self._interval
        while time.monotonic() < end and not all(sign[2].startswith('failed') for sign in self._signs().values()):
            time.sleep(self._interval / 10)


_UNEVEN = (': probably the workers have different numbers of batches. All must make the same number of steps: split '
           'the data into parts with equal numbers of batches (gluon.data.ShardedBatchSampler, or even_parts=True of '
           'ImageRecordIter), or iterate over kv.together(batches), which ends when the first worker has no more')


def _workers(ranks):
    return f'worker{"s" * (len(ranks) > 1)} {", ".join(map(str, sorted(ranks)))}'


def _are(ranks):
    return 'are' if len(ranks) > 1 else 'is'
