"""dist_async: servers hold the values, and apply what a worker pushes as soon as it arrives.

- Nobody waits for the others: a worker pulls the newest values, which the pushes of some workers have changed already.
  MXNET_KVSTORE_MAX_STALENESS=3 bounds that: who is more than 3 pushes of a key ahead of the slowest waits in `pull`.
- The keys are shared out over the servers, and arrays of MXNET_KVSTORE_BIGARRAY_BOUND numbers (1,000,000) or more are
  cut into as many parts as there are servers.
- A push returns before it is acknowledged; `barrier`, and the end of the program, wait for that.  What a server has
  acknowledged survives its death: a new one takes its place and goes on from the checkpoint, and the worker sends
  again what was under way.
"""
import atexit
import collections
import itertools
import logging
import math
import os
import time
import weakref
import zlib
from dataclasses import dataclass
from typing import Any

import numpy
import torch

from .. import _taps
from .._array import overwrite, wrap
from .._dist.cluster import Cluster, failed
from .._dist.world import world
from .._files import paths
from ..base import MXNetError
from ..context import cpu
from ..ndarray import NDArray, sparse
from ..optimizer import Optimizer, Updater, get_updater
from ._async_server import AGAIN, DONE, FAILED, WAIT, Server, from_numpy, to_numpy
from .kvstore import KVStore, _equal

__all__ = ['AsyncKVStore']

INLINE = 100_000            # Ray sends arguments of fewer bytes with the call, others through its object store
RESTART = 60.0              # seconds in which a server must be back, at least
MOST_WAITING = 32           # calls under way to a server
MOST_BYTES = 64 * 2**20     # ... and how much they may hold

_links = None
_count = itertools.count()


def whole_number(name, default, least):
    """The value of a variable; None where it is not set and has no default."""
    text = os.environ.get(name)
    if text in (None, ''):
        return default
    if not text.isdigit() or int(text) < least:
        raise MXNetError(f'{name} must be a whole number from {least} on, not {text!r}')
    return int(text)


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
        self._waiting = collections.deque()     # [number, method, arguments, bytes, ref of the answer]
        self._bytes = 0                         # of those
        self._answers = {}                      # number: what a change came back with
        self._problem = None
        self._gone_since = None
        self._patience = max(job.timeout, RESTART)

    # ------------------------------------------------------------------ changes
    def change(self, store, action, *arguments, size=0):
        """Sends a change; that it is acknowledged is awaited later."""
        self._send('change', (store, action, *arguments), size)
        if len(self._waiting) > MOST_WAITING or self._bytes > MOST_BYTES:
            self.settle(MOST_WAITING // 2, MOST_BYTES // 2)

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
        while len(self._waiting) > calls or self._bytes > size:
            self._settle_one()
        self._complain()

    def _settle_one(self):
        number, method, arguments, size, ref = self._waiting[0]
        outcome, value = self._get(ref)
        if outcome == AGAIN:
            self._send_again()
            return
        self._waiting.popleft()
        self._bytes -= size
        if outcome == FAILED:
            self._problem = self._problem or (arguments[1] if method == 'change' else 'push', value)
        elif method != 'change':
            self._answers[number] = value

    def _complain(self):
        if self._problem is not None:
            (action, problem), self._problem = self._problem, None
            raise MXNetError(f'server {self.number} of {self._servers} failed at {action}:\n{problem}')

    def _send_again(self):
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
                if time.monotonic() - start > self._patience:
                    raise self._lost('it does not answer') from None
            except errors.RayActorError as error:
                self._gone_since = self._gone_since or start
                if time.monotonic() - self._gone_since > self._patience:
                    raise self._lost(str(error).strip().split('\n')[0]) from error
                time.sleep(0.05)
                return AGAIN, None
            except errors.RayError as error:
                raise self._lost(str(error).strip().split('\n')[0]) from error

    def _lost(self, why):
        return MXNetError(f'worker {self.rank} of {self.job.size}: server {self.number} of {self._servers} is gone, '
                          f'for {self._patience:g} seconds: {why}')

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


@dataclass(frozen=True)
class Known:
    """What a worker remembers of a value that the servers have."""

    shape: tuple
    dtype: Any
    tensor_dtype: torch.dtype
    stype: str
    parts: tuple                # (server, start, end) in rows, or in numbers of the flat array
    flat: bool = False          # which of the two
    context = cpu()

    @property
    def _sparse(self):
        return self.stype != 'default'

    def shape_of(self, start, end):
        """The shape of a part."""
        return (end - start,) if self.flat else (end - start, *self.shape[1:]) if len(self.parts) > 1 else self.shape


class AsyncKVStore(KVStore):
    """Values by key, on servers; see `KVStore` for the rest.

    All workers call `create`, `init`, `set_optimizer`, `set_updater` and `load_optimizer_states`, in the same order;
    what worker 0 gives counts.
    """

    _on_devices = _local = False
    _compresses = True
    _rounds_here = False            # what the devices gave is added up before it is rounded

    def __init__(self, handle='dist_async'):
        super().__init__(handle)
        self._world = world()
        self._bound = whole_number('MXNET_KVSTORE_BIGARRAY_BOUND', 1_000_000, 1)
        self._staleness = whole_number('MXNET_KVSTORE_MAX_STALENESS', None, 0)
        self._links = links(self._world)
        self._id = next(_count)
        self._compression_params = None
        _taps.servers = weakref.ref(self)
        for link in self._links:
            # by each worker: a server keeps the order of one worker's changes only, and `barrier` sends some at once
            link.change(self._id, 'open')
            if self._staleness is not None:
                link.bounded.append(self._id)
        self.barrier()

    # ------------------------------------------------------------------ where values are
    def _known(self, key, value):
        shape, servers = tuple(value.shape), len(self._links)
        tensor = (value.data if value._sparse else value)._tensor
        size, flat = math.prod(shape), False
        if servers == 1 or size < self._bound or not size:
            number = zlib.crc32(repr(key).encode()) % servers
            parts = ((number, 0, shape[0] if shape else 1),)
        else:
            flat = not value._sparse and shape[0] < servers
            rows = size if flat else shape[0]
            edges = [rows * i // servers for i in range(servers + 1)]
            parts = tuple((i, *edges[i:i + 2]) for i in range(servers) if edges[i] < edges[i + 1])
        return Known(shape, value.dtype, tensor.dtype, value.stype, parts, flat)

    def _pieces(self, known, tensor):
        """[(server, part of a dense tensor)]"""
        if len(known.parts) == 1:
            return [(known.parts[0][0], tensor)]
        rows = tensor.reshape(-1) if known.flat else tensor
        return [(server, rows[start:end]) for server, start, end in known.parts]

    def _row_pieces(self, known, value):
        """[(server, (rows, data))] of a row_sparse array."""
        rows, data = value.indices._tensor.detach().to(torch.int64).cpu(), value.data._tensor.detach().cpu()
        found = []
        for server, start, end in known.parts:
            low, high = torch.searchsorted(rows, torch.tensor([start, end])).tolist()
            found.append((server, (_stable(rows[low:high] - start), _stable(data[low:high]))))
        return found

    # ------------------------------------------------------------------ first values
    def init(self, key, value):
        """Stores first values, those of worker 0; every key must have one before it is pushed or pulled, and once."""
        pairs = self._pairs(key, value, 'init')
        for k, arrays in pairs.items():
            if k in self._values or len(arrays) > 1:
                raise MXNetError(f'init: key {k!r} has a value already; init and broadcast take each key once')
        for k, arrays in pairs.items():
            known = self._values[k] = self._known(k, arrays[0])
            self._number[k] = len(self._number)
            if self.rank:
                continue
            name = str(known.tensor_dtype).removeprefix('torch.')
            pieces = self._row_pieces(known, arrays[0]) if known._sparse else \
                [(server, _stable(part)) for server, part in self._pieces(known, arrays[0]._tensor.detach())]
            for (server, content), (_, start, end) in zip(pieces, known.parts, strict=True):
                self._links[server].change(self._id, 'init', k, (name, known.shape_of(start, end), content))
        self.barrier()

    # ------------------------------------------------------------------ pushing
    def _settings(self):
        if not isinstance(self._updater, Updater):
            return None
        optimizer = self._updater.optimizer
        return float(optimizer.rescale_grad), optimizer.lr, optimizer.wd

    def _messages(self, sums):
        """{server: [(key, content)]}, {server: bytes}"""
        entries, sizes = {}, {}
        for key, total in sums.items():
            known = self._values[key]
            if total._sparse:
                pieces = self._row_pieces(known, total)
            else:
                tensor = total._tensor.detach()
                if self._compression is None:
                    pieces = [(server, to_numpy(part)) for server, part in self._pieces(known, tensor)]
                else:
                    sent = self._compression.round(key, tensor.cpu())
                    pieces = [(server, ('packed', to_numpy(self._compression.pack(part)), self._compression_params))
                              for server, part in self._pieces(known, sent)]
            for server, content in pieces:
                entries.setdefault(server, []).append((key, content))
                arrays = content if isinstance(content, tuple) else (content,)
                sizes[server] = sizes.get(server, 0) + sum(getattr(array, 'nbytes', 0) for array in arrays)
        return {server: self._kept(found, sizes[server]) for server, found in entries.items()}, sizes

    def _kept(self, entries, size):
        """What can be sent again later, though the program goes on with its arrays."""
        if size >= INLINE:
            return self._links[0]._ray.put(entries)
        return [(key, content if isinstance(content, tuple) else numpy.array(content)) for key, content in entries]

    def _arrived(self, sums):
        entries, sizes = self._messages(sums)
        for server, found in entries.items():
            self._links[server].change(self._id, 'push', found, self._settings(), size=sizes[server])

    def pushpull(self, key, value, out=None, priority=0):
        """`push`, then `pull`, in one message a server; without `out` the results go to the values themselves."""
        targets = self._pairs(key, value if out is None else out, 'pushpull')
        pairs = self._pairs(key, value, 'pushpull')
        sparse_ones = any(array._sparse for arrays in [*targets.values(), *pairs.values()] for array in arrays)
        if self._staleness is not None or sparse_ones or targets.keys() != pairs.keys():
            super().pushpull(key, value, out, priority)
            return
        sums = {}
        for k, arrays in pairs.items():
            known = self._stored(k, 'push')
            self._check(k, arrays, known)
            self._fits(k, targets[k], known)
            sums[k] = self._sum(k, arrays, known)
        entries, sizes = self._messages(sums)
        wanted = self._by_server(sums)
        asked = [(server, self._links[server].push_and_pull(self._id, found, self._settings(), wanted[server],
                                                            sizes[server])) for server, found in entries.items()]
        found = {server: self._links[server].answer_to(number) for server, number in asked}
        self._spread(found, wanted, targets)

    # ------------------------------------------------------------------ pulling
    def _by_server(self, keys):
        found = {}
        for key in keys:
            for server, _, _ in self._values[key].parts:
                found.setdefault(server, []).append(key)
        return found

    def pull(self, key, out=None, priority=0, ignore_sparse=True):
        """Copies the newest values of keys to arrays; sparse ones are left out: `row_sparse_pull` is there for them."""
        if out is None:
            raise AssertionError('pull: out is missing, the arrays to copy to')
        targets = {}
        for k, arrays in self._pairs(key, out, 'pull').items():
            known = self._stored(k, 'pull')
            arrays = [array for array in arrays if not (ignore_sparse and array._sparse)]
            self._fits(k, arrays, known)
            if arrays:
                targets[k] = arrays
        wanted = self._by_server(targets)
        asked = [(server, self._links[server].ask(self._id, 'pull', keys, bound=self._staleness))
                 for server, keys in wanted.items()]
        self._spread({server: self._links[server].answer(question) for server, question in asked}, wanted, targets)

    def _spread(self, found, wanted, targets):
        """Copies what servers answered to arrays."""
        contents = {}
        for server, (values, count) in found.items():
            if isinstance(self._updater, Updater):
                optimizer = self._updater.optimizer
                optimizer.num_update = max(optimizer.num_update, count)
            for key, content in zip(wanted[server], values, strict=True):
                contents.setdefault(key, {})[server] = content
        for key, arrays in targets.items():
            known = self._values[key]
            parts = [(start, end, contents[key][server]) for server, start, end in known.parts]
            if known._sparse:
                value = self._sparse_value(known, parts)
                for array in arrays:
                    value.copyto(array)
                continue
            first = arrays[0]
            if first._sparse:
                first = wrap(torch.empty(known.shape, dtype=known.tensor_dtype), cpu(), NDArray)
            _copy_parts(first._tensor.detach(), known, parts)
            for array in arrays:
                if array is not first:
                    overwrite(array, first._tensor)

    def _sparse_value(self, known, parts):
        rows = numpy.concatenate([rows + start for start, _, (rows, _) in parts])
        data = numpy.concatenate([data for _, _, (_, data) in parts])
        data = wrap(from_numpy(data, known.tensor_dtype), cpu(), NDArray)
        return sparse.row_sparse_array((data, wrap(torch.from_numpy(rows), cpu(), NDArray)), shape=known.shape,
                                       dtype=known.dtype, ctx=cpu())

    def row_sparse_pull(self, key, out=None, priority=0, row_ids=None):
        """Copies the rows at `row_ids` of values to row_sparse arrays, whose other rows become zeros."""
        for k, arrays, wanted in self._row_requests(key, out, row_ids):
            known = self._stored(k, 'row_sparse_pull')
            self._must_be_sparse(k, arrays, known)
            for array, ids in zip(arrays, wanted, strict=True):
                unique = torch.unique(ids._tensor.detach().reshape(-1).to(torch.int64)).cpu()
                asked = []
                for server, start, end in known.parts:
                    low, high = torch.searchsorted(unique, torch.tensor([start, end])).tolist()
                    rows = _stable(unique[low:high] - start)
                    asked.append((start, end, server, self._links[server].ask(self._id, 'rows', k, rows)))
                parts = [(start, end, self._links[server].answer(question)) for start, end, server, question in asked]
                self._sparse_value(known, parts).copyto(array)

    def broadcast(self, key, value, out, priority=0):
        """`init`, then `pull`."""
        self.init(key, value)
        targets = self._pairs(key, out, 'broadcast')
        fresh = {k: [wrap(torch.empty_like(array._tensor), array.context, NDArray) for array in arrays[:1]]
                 for k, arrays in targets.items() if not self._values[k]._sparse and not arrays[0]._sparse}
        if fresh:
            self.pull(list(fresh), list(fresh.values()))
        for k, arrays in targets.items():
            if k not in fresh:
                self.pull(k, arrays, ignore_sparse=False)
                continue
            for array in arrays:
                # what is equal already is not written, since autograd may have recorded it
                if not _equal(fresh[k][0], array):
                    overwrite(array, fresh[k][0]._tensor)

    # ------------------------------------------------------------------ updating
    def set_optimizer(self, optimizer):
        """The servers apply a copy of the optimizer to what is pushed from then on.

        `rescale_grad`, `lr` and `wd` may change afterwards: each push tells how they are.
        """
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f'set_optimizer takes an Optimizer, such as mx.optimizer.create("sgd"), not a '
                            f'{type(optimizer).__name__}')
        self._updater = get_updater(optimizer)
        self._to_servers('optimizer', _pickled(optimizer))

    def set_updater(self, updater):
        """`updater(key, what was pushed, stored value)` is called on the servers, at each push."""
        self._updater = updater
        self._to_servers('updater', None if updater is None else _cloudpickle().dumps(updater))

    _set_updater = set_updater

    def _to_servers(self, action, argument):
        self.barrier()                  # what was pushed before is not meant
        if self.rank == 0:
            for link in self._links:
                link.change(self._id, action, argument)
        self.barrier()

    def set_gradient_compression(self, compression_params):
        """See `KVStore.set_gradient_compression`; each worker rounds the sum of its devices."""
        super().set_gradient_compression(compression_params)
        self._compression_params = dict(compression_params)

    def save_optimizer_states(self, fname, dump_optimizer=False):
        """Collects the states of the optimizer from the servers, and writes them as other stores do."""
        self._states('save_optimizer_states')
        asked = [(link, link.ask(self._id, 'states', True)) for link in self._links]
        whole, parts = Updater(self._updater.optimizer), {}
        for link, question in asked:
            own = Updater(self._updater.optimizer)
            own.set_states(link.answer(question))
            if link.number == 0 or own.optimizer.num_update > whole.optimizer.num_update:
                whole.optimizer = own.optimizer
            for key, state in own.states.items():
                parts.setdefault(key, {})[link.number] = state
        for key, found in parts.items():
            known = self._values[key]
            whole.states[key] = _joined([found[server] for server, _, _ in known.parts], known)
        paths.write_atomic(fname, [whole.get_states(dump_optimizer)])

    def load_optimizer_states(self, fname):
        """Reads what `save_optimizer_states` wrote, here or with another store; all workers call it."""
        whole = self._states('load_optimizer_states')
        whole.set_states(paths.read_bytes(fname))
        whole.optimizer.param_dict = whole.optimizer.param_dict or {}
        shares = [{} for _ in self._links]
        for key, state in whole.states.items():
            known = self._stored(key, 'load_optimizer_states')
            for number, (server, start, end) in enumerate(known.parts):
                shares[server][key] = _part(state, known, number, start, end)
        self.barrier()
        if self.rank == 0:
            for link, share in zip(self._links, shares, strict=True):
                own = Updater(whole.optimizer)
                own.states = share
                link.change(self._id, 'states', own.get_states(dump_optimizer=True))
        whole.states, whole.states_synced = {}, {}
        self.barrier()

    # ------------------------------------------------------------------ workers
    @property
    def rank(self):
        """The number of this worker."""
        return self._world.rank

    @property
    def num_workers(self):
        """How many workers there are."""
        return self._world.size

    @property
    def local_rank(self):
        """The number of this worker among those of its machine, which is the number of the GPU to use."""
        return self._world.local_rank

    @property
    def num_servers(self):
        """How many servers there are."""
        return len(self._links)

    def _processes(self):
        """The numbers of the servers' processes on their machines."""
        asked = [(link, link.ask(self._id, 'process')) for link in self._links]
        return [link.answer(question) for link, question in asked]

    def _profile_servers(self, what, arguments):
        """Calls a function of `mx.profiler` on every server: what `profile_process='server'` asks for."""
        asked = [(link, link.ask(self._id, 'profile', link.number, what, arguments)) for link in self._links]
        for link, question in asked:
            link.answer(question)

    def barrier(self):
        """Waits until all workers are here, and all that they have pushed is in the values."""
        bounded = self._staleness is not None and self._world.size > 1
        problem = None
        for link in self._links:
            if bounded:
                link.change(self._id, 'absent', True)
            try:
                link.settle()
            except MXNetError as error:
                problem = problem or error
        self._world.barrier()
        if bounded:
            for link in self._links:
                link.change(self._id, 'absent', False)
                link.settle()
            # nobody is ahead before all are back
            self._world.barrier()
        if problem is not None:
            raise problem               # not before the others are told that this worker is here

    _barrier = barrier


# ---------------------------------------------------------------------- arrays and states
def _stable(tensor):
    """A NumPy array of its own memory."""
    return to_numpy(tensor.clone(memory_format=torch.contiguous_format))


def _copy_parts(tensor, known, parts):
    """Fills a dense tensor from the parts that servers sent."""
    whole = tensor if tensor.is_contiguous() and tensor.device.type == 'cpu' else torch.empty(
        known.shape, dtype=known.tensor_dtype)
    if whole.dtype != known.tensor_dtype:
        whole = torch.empty(known.shape, dtype=known.tensor_dtype)
    rows = to_numpy(whole.reshape(-1) if known.flat or len(known.parts) == 1 else whole)
    for start, end, content in parts:
        if len(parts) == 1:
            numpy.copyto(rows, content.reshape(-1))
        else:
            numpy.copyto(rows[start:end], content)
    if whole is not tensor:
        tensor.copy_(whole)


def _joined(states, known):
    """The state of a whole value from those of its parts."""
    first = states[0]
    if len(states) == 1 or first is None:
        return first
    if isinstance(first, (tuple, list)):
        return type(first)([_joined(column, known) for column in zip(*states, strict=True)])
    start, end = known.parts[0][1:]
    if isinstance(first, NDArray) and tuple(first.shape) == known.shape_of(start, end):
        tensor = torch.cat([(s.tostype('default') if s._sparse else s)._tensor for s in states])
        whole = wrap(tensor.view(known.shape), cpu(), NDArray)
        return whole.tostype(first.stype) if first._sparse else whole
    return first


def _part(state, known, number, start, end):
    """The part of a whole value's state."""
    if len(known.parts) == 1 or state is None:
        return state
    if isinstance(state, (tuple, list)):
        return type(state)([_part(inner, known, number, start, end) for inner in state])
    if isinstance(state, NDArray) and tuple(state.shape) == known.shape:
        tensor = (state.tostype('default') if state._sparse else state)._tensor
        rows = tensor.reshape(-1) if known.flat else tensor
        part = wrap(rows[start:end].clone(), cpu(), NDArray)
        return part.tostype(state.stype) if state._sparse else part
    return state


def _pickled(optimizer):
    """An optimizer for the servers, with the factors of a Trainer's parameters, which it cannot take along."""
    cloudpickle = _cloudpickle()
    if optimizer.param_dict:
        parameters = optimizer.param_dict
        optimizer = cloudpickle.loads(cloudpickle.dumps(optimizer))
        optimizer.lr_mult = {**optimizer.lr_mult, **{i: p.lr_mult for i, p in parameters.items() if p.lr_mult != 1}}
        optimizer.wd_mult = {**optimizer.wd_mult, **{i: p.wd_mult for i, p in parameters.items() if p.wd_mult != 1}}
    return cloudpickle.dumps(optimizer)


def _cloudpickle():
    from ray import cloudpickle
    return cloudpickle
