"""A server of dist_async: holds a share of the values, and applies what workers push as it arrives.

It is a Ray actor, one process, that does one thing at a time.  Each change has the worker's count of changes with it:
what arrives twice is done once, and what arrives too early, after the server was killed, is asked for again.  A change
is in the server's journal before it is acknowledged; a new process of the server reads it.  A large push is answered
while it is being written: the worker keeps it until it hears that it is there.
"""
import concurrent.futures
import contextlib
import math
import os
import pickle
import traceback
import warnings

import torch

from .._array import overwrite, wrap
from .._dispatch import entering, interceptors
from .._dist.journal import Journal, folder_for
from ..context import cpu
from ..ndarray import NDArray, sparse
from ..optimizer import Updater
from ._compression import Compression
from .kvstore import KVStore

__all__ = ['Server', 'from_numpy', 'to_numpy']

DONE, FAILED, AGAIN, WAIT = 'done', 'failed', 'again', 'wait'
LEAST_LOG = 64 * 2**20          # bytes of changes before a snapshot is taken
LARGE = 2**20                   # bytes of a push that is answered before it is written


def to_numpy(tensor):
    """A tensor as a NumPy array on the same memory; NumPy has no bfloat16, which goes as int16."""
    tensor = tensor.detach().cpu()
    return (tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor).numpy()


def from_numpy(array, dtype):
    """The tensor of what `to_numpy` gave, on the same memory."""
    tensor = torch.from_numpy(array)
    return tensor.view(dtype) if tensor.dtype != dtype else tensor


class Table:
    """The share of one store that this server has."""

    def __init__(self):
        self.store = KVStore('local')
        self.held = 0                   # bytes of the values, about
        self.pushes = {}                # key: {worker: how many pushes}
        self.users = set()              # workers who have this store
        self.idle = set()               # workers who are not expected to push for now
        self.function = None            # cloudpickle of a program's own updater
        self.unpacker = None

    # ------------------------------------------------------------------ changes
    def init(self, key, value):
        value = self.store._values[key] = self._array(value)
        self.held += math.prod(value.shape) * 4
        self.pushes[key] = {}

    def forget(self, key):
        value = self.store._values.pop(key)
        self.held -= math.prod(value.shape) * 4
        del self.pushes[key]

    def _array(self, value):
        """An array of its own memory from (dtype, shape, array) or (dtype, shape, (rows, data))."""
        name, shape, content = value
        dtype = getattr(torch, name)
        if not isinstance(content, tuple):
            return wrap(from_numpy(content, dtype).clone().view(shape), cpu(), NDArray)
        rows, data = content
        return self._rows(rows, from_numpy(data, dtype).clone(), shape)

    def _rows(self, rows, data, shape):
        rows = wrap(torch.from_numpy(rows).clone(), cpu(), NDArray)
        data = wrap(data, cpu(), NDArray)
        return sparse.row_sparse_array((data, rows), shape=shape, dtype=data.dtype, ctx=cpu())

    def push(self, worker, entries, settings):
        if interceptors and (scope := entering('Table.push')) is not None:
            with scope:
                return Table.push(self, worker, entries, settings)
        updater = self.store._updater
        if settings is not None and isinstance(updater, Updater):
            optimizer = updater.optimizer
            optimizer.rescale_grad, rate, optimizer.wd = settings
            if optimizer.lr_scheduler is None:
                optimizer.lr = rate
        sums = {}
        for key, content in entries:
            stored = self.store._values[key]
            if isinstance(content, tuple) and isinstance(content[0], str):
                if self.unpacker is None:
                    self.unpacker = Compression(content[2])
                gradient = wrap(self.unpacker.unpack(torch.from_numpy(content[1]), stored.size).view(stored.shape),
                                cpu(), NDArray)
            elif isinstance(content, tuple):
                gradient = self._rows(content[0], from_numpy(content[1], _torch_dtype(stored)).clone(), stored.shape)
            else:
                tensor = from_numpy(content, _torch_dtype(stored)).view(stored.shape)
                if updater is None and not stored._sparse:
                    overwrite(stored, tensor)
                    continue
                # a copy: an optimizer may write into it, and it is the memory of Ray's object store
                gradient = wrap(tensor.clone(), cpu(), NDArray)
            sums[key] = gradient
        if sums:
            self.store._arrived(sums)
        for key, _ in entries:
            counts = self.pushes[key]
            counts[worker] = counts.get(worker, 0) + 1

    def optimizer(self, text):
        self.function = None
        self.store.set_optimizer(pickle.loads(text))

    def updater(self, text):
        self.function = text
        self.store._updater = None if text is None else pickle.loads(text)

    def states(self, text):
        self.store._states('load_optimizer_states').set_states(text)

    def absent(self, worker, away):
        """A worker waits for others, or is back from it: nobody waits for it meanwhile."""
        if away:
            self.idle.add(worker)
            return
        self.idle.discard(worker)
        for counts in self.pushes.values():
            if counts:
                counts[worker] = max(counts.values())

    # ------------------------------------------------------------------ reading
    def behind(self, worker, keys, bound, workers):
        """The slowest worker, if `worker` is more than `bound` pushes ahead of it at any of the keys."""
        expected = set(range(workers)) - self.idle - {worker}
        for key in keys:
            counts = self.pushes[key]
            mine = counts.get(worker, 0)
            for other in sorted(expected, key=lambda rank: counts.get(rank, 0)):
                if mine - counts.get(other, 0) > bound:
                    return other
                break
        return None

    def pull(self, keys):
        if interceptors and (scope := entering('Table.pull')) is not None:
            with scope:
                return Table.pull(self, keys)
        return [self._content(self.store._values[key]) for key in keys], self._count()

    def rows(self, key, wanted):
        ids = wrap(torch.from_numpy(wanted).clone(), cpu(), NDArray)
        return self._content(sparse.retain(self.store._values[key], ids))

    def process(self):
        """The number of the server's process."""
        return os.getpid()

    def profile(self, server, what, arguments):
        """Calls a function of `mx.profiler` here; files have the server's number before their name."""
        from .. import profiler
        if 'filename' in arguments:
            folder, name = os.path.split(str(arguments['filename']))
            arguments = {**arguments, 'filename': os.path.join(folder, f'server{server}_{name}')}
        getattr(profiler, what)(**arguments)

    def _content(self, value):
        if value._sparse:
            return to_numpy(value.indices.materialize().to(torch.int64)), to_numpy(value.data.materialize())
        return to_numpy(value.materialize())

    def _count(self):
        updater = self.store._updater
        return updater.optimizer.num_update if isinstance(updater, Updater) else 0

    # ------------------------------------------------------------------ checkpoints
    def state(self):
        updater, own = self.store._updater, None
        if isinstance(updater, Updater):
            own = _cloudpickle().dumps((updater.states, updater.optimizer))
        return {'values': {key: (str(_torch_dtype(value)).removeprefix('torch.'), value.shape, self._content(value))
                           for key, value in self.store._values.items()},
                'pushes': self.pushes, 'users': self.users, 'idle': self.idle, 'function': self.function,
                'optimizer': own}

    def restore(self, state):
        self.store._values = {key: self._array(value) for key, value in state['values'].items()}
        self.held = sum(math.prod(value.shape) * 4 for value in self.store._values.values())
        self.pushes, self.users, self.idle = state['pushes'], state['users'], state['idle']
        if state['optimizer'] is not None:
            states, optimizer = pickle.loads(state['optimizer'])
            self.store.set_optimizer(optimizer)
            self.store._updater.states = states
            self.store._updater.states_synced = dict.fromkeys(states, True)
        else:
            self.updater(state['function'])


class Server:
    """What the actor runs."""

    def __init__(self, job, name, kept=None):
        # arrays from Ray's object store are not to be written, and are not
        warnings.filterwarnings('ignore', message='The given (NumPy array|buffer) is not writable')
        self._tables = {}
        self._last = {}                 # worker: its last change
        self._journal = Journal(os.path.join(folder_for(job, kept), name))
        self._writer = concurrent.futures.ThreadPoolExecutor(1)
        self._writing = None            # (worker, number, future) of a push that is being written
        self._compacting = None         # future of a snapshot that may be being written
        state, changes = self._journal.recover()
        if state is not None:
            self._last = state['last']
            for number, own in state['tables'].items():
                self._tables[number] = Table()
                self._tables[number].restore(own)
        for worker, number, store, action, arguments in changes:
            self._apply(worker, store, action, arguments)
            self._last[worker] = number

    def change(self, worker, number, store, action, *arguments):
        """Does what a worker wants, once."""
        last = self._last.get(worker, 0)
        if number <= last:
            return DONE, None, self._written(worker)
        if number > last + 1:
            return AGAIN, None, 0
        self._rest()
        change = worker, number, store, action, arguments
        large = action == 'push' and sum(_bytes(content) for _, content in arguments[0]) > LARGE
        if large:
            self._writing = worker, number, self._writer.submit(self._journal.write, change)
        else:
            self._journal.write(change)
        self._last[worker] = number
        problem = self._apply(worker, store, action, arguments)
        if large or self._journal.bytes > LEAST_LOG:
            self._compacting = self._writer.submit(self._compact)
        return DONE if problem is None else FAILED, problem, self._written(worker)

    def _rest(self):
        """Waits for what is being written, of what is about to change."""
        if self._writing is not None:
            self._writing[2].result()
        if self._compacting is not None:
            self._compacting.result()
        self._writing = self._compacting = None

    def _compact(self):
        if self._journal.bytes > max(LEAST_LOG, sum(table.held for table in self._tables.values())):
            self._journal.snapshot({'last': self._last, 'tables': {n: t.state() for n, t in self._tables.items()}})

    def _written(self, worker):
        """The last change of a worker that survives the death of this process."""
        if self._writing is not None and self._writing[0] == worker and not self._writing[2].done():
            return self._writing[1] - 1
        return self._last.get(worker, 0)

    def written(self, worker, after):
        """Waits until all changes of a worker survive; it has made `after`."""
        if self._last.get(worker, 0) < after:
            return AGAIN, None, 0
        self._rest()
        return DONE, None, self._written(worker)

    def _apply(self, worker, store, action, arguments):
        """What went wrong in words, or None.  The same happens again when the journal is read."""
        try:
            if action == 'open':
                self._tables.setdefault(store, Table()).users.add(worker)
            elif action == 'close':
                table = self._tables[store]
                table.users.discard(worker)
                table.idle.add(worker)
                if not table.users:
                    del self._tables[store]
            elif action in ('push', 'absent'):
                getattr(self._tables[store], action)(worker, *arguments)
            else:
                getattr(self._tables[store], action)(*arguments)
        except Exception:
            return traceback.format_exc(limit=-3)
        return None

    def read(self, worker, after, store, action, arguments, bound=None, workers=1):
        """Answers a question of a worker, who has made `after` changes."""
        if self._last.get(worker, 0) < after:
            return AGAIN, None
        try:
            table = self._tables[store]
            if bound is not None and action == 'pull':
                slowest = table.behind(worker, arguments[0], bound, workers)
                if slowest is not None:
                    return WAIT, slowest
            if action == 'states':
                return DONE, table.store._states('save_optimizer_states').get_states(*arguments)
            return DONE, getattr(table, action)(*arguments)
        except Exception:
            return FAILED, traceback.format_exc(limit=-3)

    def change_and_pull(self, worker, number, store, entries, settings, keys):
        """A push and a pull in one go."""
        outcome, problem, written = self.change(worker, number, store, 'push', entries, settings)
        return outcome, problem if outcome != DONE else self._tables[store].pull(keys), written

    def end(self):
        """The job is over: nobody will ask for the state again."""
        self._writer.shutdown()
        self._journal.remove()
        with contextlib.suppress(OSError):          # the last server of a machine removes the folder of all
            os.rmdir(os.path.dirname(self._journal.folder))


def _bytes(content):
    return sum(getattr(part, 'nbytes', 0) for part in (content if isinstance(content, tuple) else (content,)))


def _torch_dtype(value):
    return (value.data if value._sparse else value).meta().dtype


def _cloudpickle():
    from ray import cloudpickle
    return cloudpickle
