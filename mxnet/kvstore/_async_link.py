"""How a worker of dist_async speaks with the servers: changes that are acknowledged later, and questions."""
import atexit
import collections
import logging
import os
import time
from typing import Any

from .._dist.cluster import Cluster, failed
from ..base import MXNetError
from ._async_server import AGAIN, DONE, FAILED, WAIT, Server

__all__ = ['Link', 'links', 'same_for_all', 'whole_number']

RESTART = 60.0              # seconds in which a server must be back, at least
MOST_WAITING = 32           # calls under way to a server
MOST_BYTES = 64 * 2**20     # ... and how much they may hold

_links = None


def whole_number(name, default, least):
    """The value of a variable; None where it is not set and has no default."""
    text = os.environ.get(name)
    if text in (None, ''):
        return default
    if not text.isdigit() or int(text) < least:
        raise MXNetError(f'{name} must be a whole number from {least} on, not {text!r}')
    return int(text)


def same_for_all(job, name, values):
    """Compares {variable: value} with those of worker 0: workers must have the same idea of where values are."""
    first = job.word(name, values)
    for variable, value in values.items():
        if value != first[variable]:
            own, other = ('is not set' if v is None else f'is {v}' for v in (value, first[variable]))
            raise MXNetError(f'{variable} {own} for worker {job.rank}, and {other} for worker 0: it must be the same '
                             'for all workers')


def links(job):
    """The connections to the servers, made once for a process."""
    global _links
    if _links is None:
        machines = -(-job.size // job.local_size)
        # machines may have different numbers of workers, so what they say differs
        count = job.word('how many servers there are', whole_number('DMLC_NUM_SERVER', 0, 0) or machines)
        cluster = Cluster(job)
        actors = cluster.actors(Server, count, os.environ.get('MXNET_KVSTORE_CHECKPOINT_DIR'))
        _links = [Link(cluster.ray, actor, number, count, job) for number, actor in enumerate(actors)]
        atexit.register(_leave)         # later than the cluster's, so before it
    return _links


def _leave():
    global _links
    found, _links = _links or [], None
    if failed():
        return
    for link in found:
        try:
            link.settle()
            for store in link.bounded:
                link.change(store, 'absent', True)
            link.settle()
        except MXNetError as error:
            print(f'worker {link.rank}: {error}', flush=True)
    if found and found[0].rank == 0 and found[0].job.wait_for_ends():
        for link in found:
            link.end()


class Link:
    """One worker's conversation with one server."""

    def __init__(self, ray, actor, number, servers, job):
        self._ray, self._actor = ray, actor
        self.number, self._servers, self.job = number, servers, job
        self.rank = job.rank
        self.bounded = []                       # stores whose other workers wait for this one until it leaves
        self._changes = 0                       # how many were sent
        # [number, method, arguments, bytes, ref of the answer]
        self._waiting: collections.deque[Any] = collections.deque()
        self._bytes = 0                         # of those
        # the same, of changes that the server has made but not written yet
        self._unwritten: collections.deque[Any] = collections.deque()
        self._answers = {}                      # number: what a change came back with
        self._problem = None
        self._gone_since = None
        self._timeout = max(job.timeout, RESTART)

    # ------------------------------------------------------------------ changes
    def change(self, store, action, *arguments, size=0):
        """Sends a change; that it is acknowledged is awaited later."""
        self._send('change', (store, action, *arguments), size)
        if len(self._waiting) > MOST_WAITING or self._bytes > MOST_BYTES:
            self.settle(MOST_WAITING // 2, MOST_BYTES // 2)

    def close(self, store):
        """This worker will not use a store any more."""
        if store in self.bounded:
            self.bounded.remove(store)
        self.change(store, 'close')

    def push_and_pull(self, store, entries, settings, keys, size):
        """Sends a push; `answer_to` its number has the new values of keys."""
        return self._send('change_and_pull', (store, entries, settings, keys), size)

    def _send(self, method, arguments, size):
        self._changes += 1
        ref = getattr(self._actor, method).remote(self.rank, self._changes, *arguments)
        self._waiting.append([self._changes, method, arguments, size, ref])
        self._bytes += size
        return self._changes

    def answer_to(self, number):
        """What a change came back with."""
        while self._waiting and self._waiting[0][0] <= number:
            self._settle_one()
        self._complain()
        return self._answers.pop(number)

    def settle(self, calls=0, size=0):
        """Waits until at most so many calls and bytes are not acknowledged."""
        while len(self._waiting) > calls or self._bytes > size or self._unwritten and not calls:
            if self._waiting:
                self._settle_one()
                continue
            outcome, _, *written = self._get(self._actor.written.remote(self.rank, self._changes))
            if outcome == AGAIN:
                self._send_again()
            else:
                self._forget(*written)
        self._complain()

    def _settle_one(self):
        number, method, arguments, size, ref = self._waiting[0]
        outcome, value, *written = self._get(ref)
        if outcome == AGAIN:
            self._send_again()
            return
        self._waiting.popleft()
        self._bytes -= size
        if method == 'change':
            again = arguments
        else:
            store, entries, settings, _ = arguments
            again = store, 'push', entries, settings        # the answer is here
        self._unwritten.append([number, 'change', again, size, None])
        self._forget(*written)
        if outcome == FAILED:
            self._problem = self._problem or (arguments[1] if method == 'change' else 'push', value)
        elif method != 'change':
            self._answers[number] = value

    def _complain(self):
        if self._problem is not None:
            (action, problem), self._problem = self._problem, None
            raise MXNetError(f'server {self.number} of {self._servers} failed at {action}:\n{problem}')

    def _forget(self, written):
        while self._unwritten and self._unwritten[0][0] <= written:
            self._unwritten.popleft()

    def _send_again(self):
        self._waiting.extendleft(reversed(self._unwritten))
        self._bytes = sum(entry[3] for entry in self._waiting)
        self._unwritten.clear()
        for entry in self._waiting:
            number, method, arguments = entry[:3]
            entry[4] = getattr(self._actor, method).remote(self.rank, number, *arguments)

    def _get(self, ref):
        """The answer; AGAIN if the server was killed meanwhile and may be back."""
        errors = self._ray.exceptions
        start = time.monotonic()
        while True:
            self.job.check()
            try:
                answer = self._ray.get(ref, timeout=1.0)
                if self._gone_since is not None and answer[0] != AGAIN:
                    logging.warning('worker %d: server %d was lost for %.1f seconds, and is back', self.rank,
                                    self.number, time.monotonic() - self._gone_since)
                    self._gone_since = None
                return answer
            except errors.GetTimeoutError:
                if time.monotonic() - start > self._timeout:
                    raise self._lost('it does not answer') from None
            except errors.RayActorError as error:
                self._gone_since = self._gone_since or start
                if time.monotonic() - self._gone_since > self._timeout:
                    raise self._lost(str(error).strip().split('\n')[0]) from error
                time.sleep(0.05)
                return AGAIN, None
            except errors.RayError as error:
                raise self._lost(str(error).strip().split('\n')[0]) from error

    def _lost(self, why):
        return MXNetError(f'worker {self.rank} of {self.job.size}: server {self.number} of {self._servers} is gone, '
                          f'for {self._timeout:g} seconds: {why}')

    # ------------------------------------------------------------------ questions
    def ask(self, store, action, *arguments, bound=None):
        """Starts a question; `answer` takes what this returns."""
        question = store, action, arguments, bound, self.job.size
        return question, self._actor.read.remote(self.rank, self._changes, *question)

    def answer(self, asked):
        """The answer to a question, which knows all changes of this worker before it."""
        question, ref = asked
        start = time.monotonic()
        pause = 0.001
        while True:
            outcome, value = self._get(ref)
            if outcome == DONE:
                return value
            if outcome == FAILED:
                raise MXNetError(f'server {self.number} of {self._servers} failed at {question[1]}:\n{value}')
            if outcome == AGAIN:
                self._send_again()
            elif outcome == WAIT:
                if time.monotonic() - start > self.job.timeout:
                    raise MXNetError(f'worker {self.rank} of {self.job.size} waits for worker {value}, which has not '
                                     f'pushed for {self.job.timeout:g} seconds (MXNET_KVSTORE_MAX_STALENESS)')
                time.sleep(pause)
                pause = min(2 * pause, 0.05)
            ref = self._actor.read.remote(self.rank, self._changes, *question)

    def end(self):
        """The last thing that a server hears."""
        try:
            self._ray.get(self._actor.end.remote(), timeout=5)
            self._ray.kill(self._actor)
        except self._ray.exceptions.RayError:
            pass
