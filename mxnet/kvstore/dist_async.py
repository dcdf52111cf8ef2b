"""dist_async: servers hold the values, and apply what a worker pushes as soon as it arrives.

- Nobody waits for the others: a worker pulls the newest values, which the pushes of some workers have changed already.
  MXNET_KVSTORE_MAX_STALENESS=3 bounds that: who is more than 3 pushes of a key ahead of the slowest waits in `pull`.
- The keys are shared out over the servers, and arrays of MXNET_KVSTORE_BIGARRAY_BOUND numbers (1,000,000) or more are
  cut into as many parts as there are servers.
- A push returns before it is acknowledged; `barrier`, and the end of the program, wait for that.  What a server has
  acknowledged survives its death: a new one takes its place and goes on from the checkpoint, and the worker sends
  again what was under way.
"""
from __future__ import annotations

import collections
import itertools
import weakref
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy
import torch

from .. import _dispatch
from .._array import overwrite, wrap
from .._files import paths
from .._names import kind_of
from ..base import MXNetError
from ..context import cpu
from ..ndarray import NDArray
from ..optimizer import Optimizer, Updater, get_updater
from ._async_link import links, same_for_all, whole_number
from ._async_parts import Known, copy_parts, joined, part_of, stable
from ._async_server import to_numpy
from ._workers import WorkersKVStore
from .kvstore import _equal

if TYPE_CHECKING:
    from .._typing import Keys, NestedArrays, Path

__all__ = ['AsyncKVStore']

INLINE = 100_000            # Ray sends arguments of fewer bytes with the call, others through its object store

_count = itertools.count()
_over: collections.deque[int] = collections.deque()      # stores that are no more, unknown to the servers


def _close_others(connected):
    """Tells the servers which stores this worker is done with: not as they go, which may be in the midst of a call."""
    while _over:
        store = _over.popleft()
        for link in connected:
            link.close(store)


class AsyncKVStore(WorkersKVStore):
    """Values by key, on servers; see `KVStore` for the rest.

    All workers call `create`, `init`, `set_optimizer`, `set_updater` and `load_optimizer_states`, in the same order;
    what worker 0 gives counts.
    """

    _on_devices = False

    def __init__(self, handle: str = 'dist_async') -> None:
        super().__init__(handle)
        self._bound = whole_number('MXNET_KVSTORE_BIGARRAY_BOUND', 1_000_000, 1)
        self._staleness = whole_number('MXNET_KVSTORE_MAX_STALENESS', None, 0)
        self._links = links(self._world)
        self._id = next(_count)
        same_for_all(self._world, f'variables of store {self._id}', {
            'MXNET_KVSTORE_BIGARRAY_BOUND': self._bound, 'MXNET_KVSTORE_MAX_STALENESS': self._staleness})
        self._compression_params: Any = None
        _dispatch.servers = weakref.ref(self)
        for link in self._links:
            # by each worker: a server keeps the order of one worker's changes only, and `barrier` sends some at once
            link.change(self._id, 'open')
            if self._staleness is not None:
                link.bounded.append(self._id)
        weakref.finalize(self, _over.append, self._id).atexit = False
        self.barrier()

    # ------------------------------------------------------------------ first values
    def init(self, key: Keys, value: NestedArrays) -> None:
        """Stores first values, those of worker 0; every key must have one before it is pushed or pulled, and once."""
        for k, first in self._first_pairs(key, value).items():
            known = self._values[k] = Known.of(k, first, len(self._links), self._most())
            self._number[k] = len(self._number)
            if self.rank == 0:
                self._store_first(k, known, first)
        self.barrier()

    def _store_first(self, key, known, value):
        for server, message in known.first_messages(value):
            self._links[server].change(self._id, 'init', key, message)

    def _most(self):
        """From how many numbers on a value is cut into parts; None: never, since the optimizer must see all of it."""
        return None if isinstance(self._updater, Updater) and self._updater.optimizer.whole_arrays else self._bound

    def _make_whole(self):
        """Brings the parts of values together on one server each."""
        cut = {key: known for key, known in self._values.items() if len(known.parts) > 1}
        for key, known in cut.items():
            whole = Known.of(key, known, len(self._links), None)
            if self.rank == 0:
                asked = [(part, self._links[part[0]].ask(self._id, 'pull', [key])) for part in known.parts]
                parts = [(start, end, self._links[server].answer(question)[0][0])
                         for (server, start, end), question in asked]
                if known._sparse:
                    value = known.sparse_value(parts)
                else:
                    value = wrap(torch.empty(known.shape, dtype=known.tensor_dtype), cpu(), NDArray)
                    copy_parts(value.materialize(), known, parts)
                for server, _, _ in known.parts:
                    self._links[server].change(self._id, 'forget', key)
                self._store_first(key, whole, value)
            self._values[key] = whole

    # ------------------------------------------------------------------ pushing
    def _settings(self):
        if not isinstance(self._updater, Updater):
            return None
        optimizer = self._updater.optimizer
        return float(optimizer.rescale_grad), optimizer.lr, optimizer.wd

    def _messages(self, sums):
        """{server: [(key, content)]}, {server: bytes}"""
        entries: dict[int, list[Any]] = {}
        sizes: dict[int, int] = {}
        for key, total in sums.items():
            known = self._values[key]
            if total._sparse:
                pieces = known.row_pieces(total)
            else:
                tensor = total.materialize().detach()
                if self._compression is None:
                    pieces = [(server, to_numpy(part)) for server, part in known.pieces(tensor)]
                else:
                    sent = self._compression.round(key, tensor.cpu())
                    pieces = [(server, ('packed', to_numpy(self._compression.pack(part)), self._compression_params))
                              for server, part in known.pieces(sent)]
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

    def pushpull(self, key: Keys, value: NestedArrays, out: Any = None, priority: int = 0) -> None:
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
        found: dict[int, list[Any]] = {}
        for key in keys:
            for server, _, _ in self._values[key].parts:
                found.setdefault(server, []).append(key)
        return found

    def pull(self, key: Keys, out: Any = None, priority: int = 0, ignore_sparse: bool = True) -> None:
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

    def _counted(self, count):
        """The optimizer knows how many updates the servers have made."""
        if isinstance(self._updater, Updater):
            optimizer = self._updater.optimizer
            optimizer.num_update = max(optimizer.num_update, count)

    def _spread(self, found, wanted, targets):
        """Copies what servers answered to arrays."""
        contents: dict[Any, Any] = {}
        for server, (values, count) in found.items():
            self._counted(count)
            for key, content in zip(wanted[server], values, strict=True):
                contents.setdefault(key, {})[server] = content
        for key, arrays in targets.items():
            known = self._values[key]
            parts = [(start, end, contents[key][server]) for server, start, end in known.parts]
            if known._sparse:
                value = known.sparse_value(parts)
                for array in arrays:
                    value.copyto(array)
                continue
            first = arrays[0]
            if first._sparse:
                first = wrap(torch.empty(known.shape, dtype=known.tensor_dtype), cpu(), NDArray)
            copy_parts(first.materialize().detach(), known, parts)
            for array in arrays:
                if array is not first:
                    overwrite(array, first.materialize())

    def row_sparse_pull(self, key: Keys, out: Any = None, priority: int = 0,
                        row_ids: NestedArrays | None = None) -> None:
        """Copies the rows at `row_ids` of values to row_sparse arrays, whose other rows become zeros."""
        for k, arrays, wanted in self._row_requests(key, out, row_ids):
            known = self._stored(k, 'row_sparse_pull')
            self._must_be_sparse(k, arrays, known)
            for array, ids in zip(arrays, wanted, strict=True):
                unique = torch.unique(ids.materialize().detach().reshape(-1).to(torch.int64)).cpu()
                asked = []
                for server, start, end in known.parts:
                    low, high = torch.searchsorted(unique, torch.tensor([start, end])).tolist()
                    rows = stable(unique[low:high] - start)
                    asked.append((start, end, server, self._links[server].ask(self._id, 'rows', k, rows)))
                parts = [(start, end, self._links[server].answer(question)) for start, end, server, question in asked]
                known.sparse_value(parts).copyto(array)

    def broadcast(self, key: Keys, value: NestedArrays, out: Any, priority: int = 0) -> None:
        """`init`, then `pull`."""
        self.init(key, value)
        targets = self._pairs(key, out, 'broadcast')
        fresh = {k: [wrap(torch.empty_like(array.materialize()), array.context, NDArray) for array in arrays[:1]]
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
                    overwrite(array, fresh[k][0].materialize())

    # ------------------------------------------------------------------ updating
    def set_optimizer(self, optimizer: Optimizer) -> None:
        """The servers apply a copy of the optimizer to what is pushed from then on.

        `rescale_grad`, `lr` and `wd` may change afterwards: each push tells how they are.
        """
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f'set_optimizer takes an Optimizer, such as mx.optimizer.create("sgd"), not '
                            f'{kind_of(optimizer)}')
        self._updater = get_updater(optimizer)
        if optimizer.whole_arrays:
            self.barrier()
            self._make_whole()
        self._to_servers('optimizer', _pickled(optimizer))

    def set_updater(self, updater: Callable[..., Any]) -> None:
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

    def set_gradient_compression(self, compression_params: Mapping[str, Any]) -> None:
        """See `KVStore.set_gradient_compression`; each worker rounds the sum of its devices."""
        super().set_gradient_compression(compression_params)
        self._compression_params = dict(compression_params)

    def save_optimizer_states(self, fname: Path, dump_optimizer: bool = False) -> None:
        """Collects the states of the optimizer from the servers, and writes them as other stores do."""
        self._states('save_optimizer_states')
        asked = [(link, link.ask(self._id, 'states', True)) for link in self._links]
        parts: Any
        whole, parts = Updater(self._updater.optimizer), {}
        whole._before = self._updater._before       # what the optimizer was before training
        for link, question in asked:
            own = Updater(self._updater.optimizer)
            own.set_states(link.answer(question))
            if link.number == 0 or own.optimizer.num_update > whole.optimizer.num_update:
                whole.optimizer = own.optimizer
            for key, state in own.states.items():
                parts.setdefault(key, {})[link.number] = state
        for key, found in parts.items():
            known = self._values[key]
            whole.states[key] = joined([found[server] for server, _, _ in known.parts], known)
        paths.write_atomic(fname, [whole.get_states(dump_optimizer)])

    def load_optimizer_states(self, fname: Path) -> None:
        """Reads what `save_optimizer_states` wrote, here or with another store; all workers call it."""
        whole = self._states('load_optimizer_states')
        whole.set_states(paths.read_bytes(fname), str(fname))
        whole.optimizer.param_dict = whole.optimizer.param_dict or {}
        shares: Any = [{} for _ in self._links]
        for key, state in whole.states.items():
            known = self._stored(key, 'load_optimizer_states')
            for number, (server, start, end) in enumerate(known.parts):
                shares[server][key] = part_of(state, known, number, start, end)
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
    def num_servers(self) -> int:
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

    def _barrier(self):
        """Waits until all workers are here, and all that they have pushed is in the values."""
        _close_others(self._links)
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
