"""Worker processes, on the machinery of `torch.utils.data`.

torch starts the processes, hands out work, keeps the order, and notices a worker that died or a parent that is gone.
Here is what it works on: one item is a whole batch, which comes back through `_shared`.
"""
import atexit
import contextlib
import itertools
import multiprocessing
import os
import pickle
import signal
import socket
import threading
import traceback
import warnings
import weakref
from typing import Any

import torch.utils.data

from ..._state import state
from ...base import MXNetError
from . import _seeds, _shared
from ._devices import on_cpu
from ._fetch import TIMEOUT, same_state, with_following

DIED = ('{error}. A worker of a DataLoader was killed or crashed: perhaps by the system for want of memory, perhaps in '
        'a library that a transform calls. num_workers=0 shows where.')
CANNOT_START = ('the workers of a DataLoader cannot be started: {error}. Locks between processes are in /dev/shm, and '
                'each process counts: make room there (in a container: --shm-size), or start fewer workers; '
                'thread_pool=True needs neither.')
_passes = itertools.count()


class Failure:
    """What went wrong in a worker."""

    def __init__(self, error):
        self.name = type(error).__name__
        self.text = ''.join(traceback.format_exception(error))
        try:
            self.error: bytes | None = pickle.dumps(error)
            pickle.loads(self.error)
        except Exception:           # an exception class may do anything while it is pickled
            self.error = None

    def throw(self):
        """Raises it in the program, with the worker's traceback."""
        if self.error is None:
            raise MXNetError(f'{self.name} in a worker of a DataLoader:\n\n{self.text}')
        raise pickle.loads(self.error) from WorkerTraceback(self.text)


class WorkerTraceback(Exception):
    """The traceback of an error in a worker process."""

    def __str__(self):
        return f'in a worker process of a DataLoader:\n\n{self.args[0]}'


class _Batches(torch.utils.data.Dataset[Any]):
    """What torch's loader takes for its data set, in the workers: a job in, a message out."""

    def __init__(self, fetcher):
        self._fetcher = fetcher
        self._flags = state.np_shape, state.np_array
        self.connections: tuple[socket.socket, ...] | None = None
        self._sender: _shared.Sender | None = None

    def __getitem__(self, job):
        pass_number, number, seed, indices, following = job
        if self._sender is None:
            worker = torch.utils.data.get_worker_info().id      # type: ignore[union-attr]  # it runs in a worker
            connection = None if self.connections is None else self.connections[worker]
            self._sender = _shared.Sender(worker, connection)
            same_state(*self._flags)
        _seeds.seed_everything(seed, number)
        try:
            return self._sender.pack(self._fetcher(indices, following), pass_number)
        except Exception as error:
            return Failure(error)


class _Feed:
    """What torch's loader takes for its sampler: the jobs of the pass that is to begin."""

    def __init__(self, distance):
        self.jobs: Any = None
        self._distance = distance       # to the next job of the same worker, if it is told of that; else 0

    def __iter__(self):
        pass_number, jobs = next(_passes), self.jobs
        return ((pass_number, number, jobs.seed, indices, following)
                for number, indices, following in with_following(jobs, self._distance))


@contextlib.contextmanager
def _interrupts_held():
    """Interrupts wait meanwhile, here and, until `_ignore_interrupts`, in processes that are started meanwhile.

    A worker that Ctrl-C meets while it starts would end without a word, and the next pass would wait for it.
    """
    if not hasattr(signal, 'pthread_sigmask'):
        yield
        return
    if multiprocessing.get_start_method() == 'forkserver':
        from multiprocessing import forkserver
        forkserver.ensure_running()         # it would hand on what it has from us to all that it starts later
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _ignore_interrupts(worker):
    # Ctrl-C is for the program; it ends its workers itself
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, 'pthread_sigmask'):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _same(item):
    return item


# workers that may still be there, and the process that has started them
_started: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def _wake(workers):
    """Lets workers that were stopped (SIGSTOP, Ctrl-Z) go on, so that they hear that they are to end."""
    for worker in workers:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            if worker.is_alive():
                os.kill(worker.pid, signal.SIGCONT)


def _kill(workers):
    """Ends workers that have not ended when they were told to: a process that waits for one would wait for ever."""
    for worker in workers:
        with contextlib.suppress(OSError, ValueError, RuntimeError):
            if worker.is_alive():
                worker.kill()
                worker.join(1)
    for worker in workers:
        _started.pop(worker, None)


def _end_all():
    """At the end of the program: multiprocessing tells workers to end and then waits for them, however long."""
    ours = [worker for worker, owner in _started.items() if owner == os.getpid()]
    _wake(ours)
    with contextlib.suppress(RuntimeError):         # what torch says when a worker is ended
        for worker in ours:
            with contextlib.suppress(OSError, ValueError):
                worker.terminate()
        for worker in ours:
            with contextlib.suppress(OSError, ValueError):
                worker.join(1)
    _kill(ours)


class Processes:
    """Worker processes that stay from one pass over the data to the next."""

    def __init__(self, fetcher, count, ahead, timeout):
        self._fetcher, self._count, self._timeout = fetcher, count, timeout
        self._ahead = max(1, -(-ahead // count))
        self._loader: torch.utils.data.DataLoader[Any] | None = None
        self._receiver: Any = None
        self._workers: set = set()
        self._feed = _Feed(count if fetcher.expect is not None else 0)
        self.busy = False

    def start(self, jobs):
        """Begins a pass over the data: workers set to work at once -> an iterator over the batches."""
        self.busy = True
        self._feed.jobs = jobs
        try:
            with warnings.catch_warnings():
                # of forking while there are threads, and of more workers than cores: both as ever
                warnings.simplefilter('ignore')
                messages = iter(self._loader) if self._loader is not None else self._first_start()
        except OSError as error:
            self.close()
            raise MXNetError(CANNOT_START.format(error=error)) from error
        except RuntimeError as error:
            self.close()
            self._tell(error)
            raise
        except BaseException:
            self.close()
            raise
        return _Pass(self, messages, jobs)

    def _first_start(self):
        multiprocessing.Lock()              # where there is no room for one, torch's half-made iterator would complain
        batches = _Batches(on_cpu(self._fetcher))
        ours = None
        if _shared.can_share() and multiprocessing.get_start_method() == 'fork':
            ours, theirs = zip(*[socket.socketpair() for _ in range(self._count)], strict=True)
            batches.connections = theirs
        self._receiver = _shared.Receiver(ours)
        self._loader = torch.utils.data.DataLoader(
            batches, batch_size=None, sampler=self._feed, collate_fn=_same, num_workers=self._count,
            prefetch_factor=self._ahead, timeout=self._timeout, persistent_workers=True,
            worker_init_fn=_ignore_interrupts)
        before = set(multiprocessing.active_children())
        try:
            with _interrupts_held():
                return iter(self._loader)
        finally:
            self._workers = set(multiprocessing.active_children()) - before
            if not _started:
                atexit.unregister(_end_all)
                atexit.register(_end_all)           # behind those of multiprocessing, so that it runs before them
            _started.update(dict.fromkeys(self._workers, os.getpid()))
            for connection in batches.connections or ():
                connection.close()

    def take(self, messages):
        """The next batch, or a `Failure`."""
        try:
            message = next(messages)
            return message if isinstance(message, Failure) else self._receiver.unpack(message)
        except (RuntimeError, EOFError) as error:
            self._tell(error)
            raise

    def _tell(self, error):
        """Raises what torch or a connection says of the workers, in words of ours."""
        text = str(error)
        if text.startswith('DataLoader timed out'):
            raise multiprocessing.TimeoutError(TIMEOUT.format(timeout=self._timeout)) from None
        # torch notices in a signal handler, which may raise its error anywhere in here
        if text.startswith('DataLoader worker') or isinstance(error, EOFError):
            raise MXNetError(DIED.format(error=text.rstrip('.'))) from error

    def close(self):
        """Ends the workers; the next pass starts new ones."""
        self.busy = False
        workers, self._workers = self._workers, set()
        _wake(workers)
        if self._receiver is not None:
            self._receiver.close()
        self._loader = self._receiver = None        # torch tells them to end, and waits a little
        if workers:
            threading.Thread(target=_after_a_while, args=(workers,), daemon=True).start()


def _after_a_while(workers):
    for worker in workers:
        with contextlib.suppress(AssertionError, ValueError, OSError):
            worker.join(5)
    _kill(workers)


class _Pass:
    """The batches of one pass over the data."""

    def __init__(self, processes, messages, jobs):
        self._processes, self._messages, self._jobs = processes, messages, jobs

    def __iter__(self):
        processes = self._processes
        healthy = True
        try:
            while True:
                healthy = False         # an interrupt in the middle of it leaves torch's iterator who knows where
                try:
                    batch = processes.take(self._messages)
                except StopIteration:
                    healthy = True
                    return
                healthy = True
                if isinstance(batch, Failure):
                    batch.throw()
                self._jobs.delivered()
                yield batch
        finally:
            self._release(healthy)

    def _release(self, healthy):
        processes, self._processes = self._processes, None
        if processes is not None:
            processes.busy = False
            if not healthy:
                _wake(processes._workers)
                self._messages = None
                processes.close()

    def __del__(self):
        self._release(True)
