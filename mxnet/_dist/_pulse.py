"""Signs of life: each worker writes its own to the common store every second or so, and reads the others' when something
fails, so that an error can name the worker that is gone instead of a socket."""
import datetime
import threading
import time

import torch.distributed as dist

from ..base import MXNetError

__all__ = ['Pulse']


class Pulse:
    """The signs of one worker: `number|operations|what it is doing`."""

    def __init__(self, store, where, timeout):
        self.rank, self.size, self._timeout = where.rank, where.size, timeout
        self._interval = min(1.0, timeout / 10)
        self._host = where.host
        # a connection of its own: torch waits for values on the other one, and nothing else gets through meanwhile
        own = dist.TCPStore(where.host, store.port, is_master=False, timeout=datetime.timedelta(seconds=timeout))
        self._store = dist.PrefixStore(f'pulse{where.attempt}', own)
        if self.rank is None:
            self.rank = self._store.add('rank', 1) - 1
            if self.rank >= self.size:
                raise MXNetError(f'{self.size} workers are announced, but there are more; this one is number {self.rank}')
        self._beats, self._done, self._note = 0, 0, 'starting'
        self.failed = False
        self._write_lock = threading.Lock()
        self._stopped = threading.Event()
        self._write()
        self._thread = threading.Thread(target=self._beat, name='kvstore-pulse', daemon=True)
        self._thread.start()

    def _write(self):
        with self._write_lock:
            self._beats += 1
            self._store.set(str(self.rank), f'{self._beats}|{self._done}|{self._note}')

    def _beat(self):
        while not self._stopped.wait(self._interval):
            try:
                self._write()
            except RuntimeError:
                return              # the worker with the store has ended

    def note(self, what):
        """What the worker is about to do, for the others to read should it never end."""
        self._done += 1
        self._note = what

    def stop(self, note):
        """Leaves a last word."""
        if self._stopped.is_set():
            return
        self._stopped.set()
        if not self.failed:
            self._note = note
        try:
            self._write()
        except RuntimeError:
            pass                    # nobody is left to read it

    # ------------------------------------------------------------------ the others
    def _read(self):
        """{rank: (number, operations, note)} of those who have written; None if the store is gone."""
        try:
            found = {}
            for rank in range(self.size):
                if self._store.check([str(rank)]):
                    number, done, note = self._store.get(str(rank)).decode().split('|', 2)
                    found[rank] = int(number), int(done), note
            return found
        except RuntimeError:
            return None

    def wait_for_all(self):
        """Waits until every worker has started."""
        end = time.monotonic() + self._timeout
        pause = 0.002
        while True:
            found = self._read()
            if found is None:
                raise MXNetError(f'worker {self.rank} of {self.size}: worker 0 went away while the job started')
            if len(found) == self.size:
                return
            if time.monotonic() > end:
                raise MXNetError(f'worker {self.rank} of {self.size}: {_workers(set(range(self.size)) - found.keys())} did '
                                 f'not start within {self._timeout:g} seconds')
            time.sleep(pause)
            pause = min(pause * 1.5, 0.1)

    def blame(self):
        """Who is the reason that an operation failed, in words."""
        self.failed = True
        self._note = f'failed at: {self._note}'
        before = self._read()
        if before is None:
            return 'worker 0, where the workers meet, is gone'
        self._write()
        time.sleep(2.5 * self._interval + 0.2)
        after = self._read()
        if after is None:
            return 'worker 0, where the workers meet, is gone'
        lost, ended, late = set(), set(), {}
        for rank in set(range(self.size)) - {self.rank}:
            number, done, note = after.get(rank, (0, 0, ''))
            if note.startswith('failed'):
                continue                    # it suffers from the same
            if note == 'ended its program':
                ended.add(rank)
            elif number == before.get(rank, (0, 0, ''))[0]:
                lost.add(rank)
            elif done < self._done:
                late[rank] = note
        if self.rank == 0:
            self._stay(lost | ended)
        said = []
        if lost:
            said.append(f'{_workers(lost)} {_are(lost)} gone: no sign of life')
        if ended:
            said.append(f'{_workers(ended)} ended without it')
        said += [f'worker {rank} has not come to it (its last operation was: {note})' for rank, note in sorted(late.items())]
        return '; '.join(said) or 'the connection broke, though all workers show signs of life'

    def _stay(self, away):
        """The store lives in worker 0: it waits for the others to have found out as well, for a while."""
        end = time.monotonic() + 5 * self._interval
        while time.monotonic() < end:
            found = self._read()
            if found is None or all(rank in away or note.startswith('failed') for rank, (_, _, note) in found.items()):
                return
            time.sleep(self._interval / 10)


def _workers(ranks):
    return f'worker{"s" * (len(ranks) > 1)} {", ".join(map(str, sorted(ranks)))}'


def _are(ranks):
    return 'are' if len(ranks) > 1 else 'is'
