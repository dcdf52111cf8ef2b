"""The store for several devices of one process."""
from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import torch

from .._array import NDArrayBase, readable, wrap, writable
from .._dispatch import entering, interceptors
from .._files import paths
from .._kinds import explain_methods as _explain_methods
from .._names import kind_of, not_an_array
from .._state import state
from .._torch.lists import foreach_copy_
from ..base import MXNetError
from ..context import cpu
from ..ndarray import NDArray, sparse
from ..optimizer import Optimizer, Updater, get_updater
from ._compression import Compression
from .base import KVStoreBase, listed

if TYPE_CHECKING:
    from .._typing import Keys, NestedArrays, Path

__all__ = ['KVStore']


class KVStore(KVStoreBase):
    """Values by key, in one process.

    Keys are ints or strings, not both in one store.  A value that is pushed may be a list, one array of each device: it
    is added up.  The sum replaces the stored value or, where an optimizer or updater is set, updates it.  `priority` is
    accepted wherever upstream takes it; here things happen in the order of the calls.
    """

    def __init__(self, handle: str = 'local') -> None:
        self.handle = handle            # the name of the kind of store
        self._updater: Any = None
        self._values: dict[Any, Any] = {}
        self._number: dict[Any, Any] = {}               # the place of each key in the order of their init
        self._lent: set[Any] = set()              # keys whose value is an array of the program's: see push
        self._key_type: type | None = None
        self._compression: Any = None

    def __del__(self) -> None:
        # gradients that a residual was kept for may be as large as the model
        self.__dict__.clear()

    # ------------------------------------------------------------------ arguments
    def _pairs(self, key, value, what):
        """{key: arrays} of what a program gave: one key or a list of them, in the order of the first mention."""
        if not isinstance(key, (list, tuple)):
            key, value = [key], [value]
        else:
            value = listed(value)
            if len(key) != len(value):
                raise AssertionError(f'{what}: {len(key)} keys, but values for {len(value)}')
        found: dict[Any, Any] = {}
        kinds = set()
        for k, v in zip(key, value, strict=True):
            if isinstance(k, bool) or not isinstance(k, (str, numbers.Integral)):
                raise AssertionError(f'{what}: a key is an int or a str, not {kind_of(k)}')
            kinds.add(str if isinstance(k, str) else int)
            arrays = listed(v) if isinstance(v, (NDArrayBase, list, tuple)) else [v]
            if not arrays and what == 'push':
                raise AssertionError(f'push: there is no array for key {k!r}')
            for array in arrays:
                if not isinstance(array, NDArrayBase):
                    raise AssertionError(not_an_array(f'{what}: the value of key {k!r}', array))
            found.setdefault(k, []).extend(arrays)
        if len(kinds) > 1:
            raise AssertionError(f'{what}: the keys of a KVStore are all ints or all strs, not {list(key)}')
        if kinds:
            kind = kinds.pop()
            if self._key_type not in (None, kind):
                raise MXNetError(f'{what}: key {next(iter(found))!r} is of type {kind.__name__}, but the other keys of '
                                 f'this KVStore are of type {self._key_type.__name__}')
            self._key_type = kind
        return found

    def _stored(self, key, what):
        if key not in self._values:
            raise MXNetError(f'{what}: key {key!r} has no value yet; call init first')
        return self._values[key]

    # ------------------------------------------------------------------ values
    def init(self, key: Keys, value: NestedArrays) -> None:
        """Stores first values; every key must have one before it is pushed or pulled, and only once."""
        pairs = self._first_pairs(key, value)
        for k, source in pairs.items():
            self._values[k] = source.copyto(source.context if self._on_devices else cpu())
            self._number[k] = len(self._number)
        self._first_values(list(pairs))

    def _first_pairs(self, key, value):
        """{key: first value} of what a program gave to `init`."""
        pairs = self._pairs(key, value, 'init')
        for k, arrays in pairs.items():
            if k in self._values or len(arrays) > 1:
                raise MXNetError(f'init: key {k!r} has a value already; init and broadcast take each key once')
        return {k: arrays[0] for k, arrays in pairs.items()}

    def _first_values(self, keys):
        """For stores of several workers, who must agree on them."""

    @property
    def _on_devices(self):
        return 'device' in self.handle or 'nccl' in self.handle

    def push(self, key: Keys, value: NestedArrays, priority: int = 0) -> None:
        """Adds up the values of each key, and stores the sums or updates the stored values with them.

        Without an updater, a single dense array is not copied: it is the stored value until the next push, and what is
        written into it is what `pull` gives.
        """
        if interceptors and (scope := entering('KVStore.push')) is not None:
            with scope:
                return KVStore.push(self, key, value, priority)
        pairs = self._pairs(key, value, 'push')
        for k, arrays in pairs.items():
            self._check(k, arrays, self._stored(k, 'push'))
        merged = {}
        for k in self._ordered(pairs):
            arrays, stored = pairs[k], self._values[k]
            if self._on_devices and stored.context.device_type == 'cpu' != arrays[0].context.device_type:
                # the first push shows where the weights live
                stored = self._values[k] = stored.as_in_context(arrays[0].context)
            if not self._replaced(k, arrays, stored):
                merged[k] = self._sum(k, arrays, stored)
        self._arrived(merged)

    def _ordered(self, keys):
        """Upstream's order of keys that are pushed together: ints by their value, strings as they were first stored."""
        if len(keys) < 2:
            return list(keys)
        return sorted(keys, key=self._number.__getitem__) if self._key_type is str else sorted(keys)

    _local = True                       # whether the sum of what is pushed is all that there is to add up

    def _replaced(self, key, arrays, stored):
        """Adds up dense arrays right into the stored value, where nothing else happens to it."""
        if not self._local or self._updater is not None or self._rounds_here \
                or stored._sparse or any(array._sparse for array in arrays):
            return False
        if len(arrays) == 1:
            # as upstream: what the program writes into it later is what others pull
            self._values[key] = arrays[0]
            self._lent.add(key)
            return True
        if key in self._lent:
            self._lent.discard(key)
            memory = torch.empty_like(stored.materialize(), requires_grad=False)
            stored = self._values[key] = wrap(memory, stored.context, NDArray)
        target = stored.materialize().detach()
        tensors = [array.materialize().detach() for array in arrays]
        torch.add(tensors[0].to(target.device), tensors[1].to(target.device), out=target)
        for other in tensors[2:]:
            target += other.to(target.device)
        return True

    def _check(self, key, arrays, stored):
        for array in arrays:
            if array.stype not in ('default', 'row_sparse'):
                raise MXNetError(f'push: the value of key {key!r} is a {array.stype} array; dense and row_sparse ones '
                                 'can be pushed')
            if array.shape != stored.shape:
                raise MXNetError(f'push: the value of key {key!r} has shape {array.shape}, the stored one '
                                 f'{stored.shape}')
            if array.dtype != stored.dtype:
                raise MXNetError(f'push: the value of key {key!r} is of type {array.dtype.__name__}, the stored one of '
                                 f'type {stored.dtype.__name__}')

    def _sum(self, key, arrays, stored):
        """The sum of arrays where the stored one is; may be the only array itself."""
        ctx = stored.context
        if any(a._sparse for a in arrays):
            total = arrays[0].as_in_context(ctx)
            for other in arrays[1:]:
                total = sparse.add(total, other.as_in_context(ctx))
            return total
        tensors = [a.materialize().detach() for a in arrays]
        if self._rounds_here:
            tensors = [self._compression.round((key, i), tensor) for i, tensor in enumerate(tensors)]
        device = ctx.torch_device
        total = tensors[0].to(device)
        if len(tensors) > 1:
            total = total + tensors[1].to(device)
            for other in tensors[2:]:
                total += other.to(device)
        return wrap(total, ctx, NDArray)

    @property
    def _rounds_here(self):
        """Whether what devices give is compressed."""
        return self._compression is not None

    def _arrived(self, sums):
        """Takes in {key: sum}."""
        if self._updater is None:
            for k, total in sums.items():
                # a copy: the sum may be the program's own array
                self._values[k] = total.copy()
        else:
            self._update(sums)

    def _update(self, sums):
        if isinstance(self._updater, Updater):
            self._updater(list(sums), list(sums.values()), [self._values[k] for k in sums])
        else:
            for k, total in sums.items():
                self._updater(k, total, self._values[k])

    def pull(self, key: Keys, out: NestedArrays | None = None, priority: int = 0, ignore_sparse: bool = True) -> None:
        """Copies the values of keys to arrays; sparse ones are left out, as `row_sparse_pull` is there for them."""
        if interceptors and (scope := entering('KVStore.pull')) is not None:
            with scope:
                return KVStore.pull(self, key, out, priority, ignore_sparse)
        if out is None:
            raise AssertionError('pull: out is missing, the arrays to copy to')
        sources, dense = [], []
        for k, targets in self._pairs(key, out, 'pull').items():
            stored = self._stored(k, 'pull')
            for target in targets:
                if ignore_sparse and target._sparse:
                    continue
                self._fits(k, [target], stored)
                if target is stored:
                    continue
                if stored._sparse or target._sparse or state.recording:
                    stored.detach().copyto(target)
                else:
                    sources.append(readable(stored))
                    dense.append(writable(target, 'pull'))
        if dense:
            foreach_copy_(dense, sources)        # one call for all

    def _fits(self, key, targets, stored):
        for target in targets:
            if target.shape != stored.shape:
                raise MXNetError(f'pull: the value of key {key!r} has shape {stored.shape}, the array to copy it to '
                                 f'{target.shape}')

    def pushpull(self, key: Keys, value: NestedArrays, out: NestedArrays | None = None, priority: int = 0) -> None:
        """`push`, then `pull`; without `out` the results go to the values themselves."""
        if interceptors and (scope := entering('KVStore.pushpull')) is not None:
            with scope:
                return KVStore.pushpull(self, key, value, out, priority)
        self.push(key, value, priority)
        self.pull(key, value if out is None else out, priority, ignore_sparse=False)

    def broadcast(self, key: Keys, value: NestedArrays, out: NestedArrays | None, priority: int = 0) -> None:
        """`init`, then `pull`."""
        self.init(key, value)
        for k, targets in self._pairs(key, out, 'broadcast').items():
            stored = self._stored(k, 'broadcast')
            # what is equal already is not written, since autograd may have recorded it
            targets = [target for target in targets if not _equal(stored, target)]
            self.pull(k, targets, priority, ignore_sparse=False)

    def row_sparse_pull(self, key: Keys, out: NestedArrays | None = None, priority: int = 0,
                        row_ids: NestedArrays | None = None) -> None:
        """Copies the rows at `row_ids` of values to row_sparse arrays, whose other rows become zeros."""
        for k, arrays, wanted in self._row_requests(key, out, row_ids):
            stored = self._stored(k, 'row_sparse_pull')
            self._must_be_sparse(k, arrays, stored)
            for array, ids in zip(arrays, wanted, strict=True):
                unique = torch.unique(ids.materialize().detach().reshape(-1).to(torch.int64))
                sparse.retain(stored, wrap(unique, ids.context, NDArray)).copyto(array)

    def _row_requests(self, key, out, row_ids):
        """(key, arrays, row_ids of each) of what a program gave."""
        if out is None or row_ids is None:
            raise AssertionError(f'row_sparse_pull: {"out" if out is None else "row_ids"} is missing')
        targets = self._pairs(key, out, 'row_sparse_pull')
        rows = self._pairs(key, row_ids, 'row_sparse_pull') if isinstance(row_ids, (list, tuple)) \
            else {k: [row_ids] for k in targets}
        for k, arrays in targets.items():
            wanted = rows[k] * len(arrays) if len(rows[k]) == 1 else rows[k]
            if len(wanted) != len(arrays):
                raise AssertionError(f'row_sparse_pull: {len(arrays)} arrays for key {k!r}, but {len(wanted)} row_ids')
            yield k, arrays, wanted

    def _must_be_sparse(self, key, arrays, stored):
        for array, what in [*((a, 'out') for a in arrays), (stored, 'the stored value')]:
            if array.stype != 'row_sparse':
                raise MXNetError(f'row_sparse_pull: {what} of key {key!r} is a {array.stype} array, not row_sparse')

    # ------------------------------------------------------------------ updating
    def is_capable(self, capability: str) -> bool:
        """It has an optimizer."""
        if capability.lower() != KVStoreBase.OPTIMIZER:
            raise ValueError(f'a KVStore may be capable of {KVStoreBase.OPTIMIZER!r}; {capability!r} is not known')
        return True

    def set_optimizer(self, optimizer: Optimizer) -> None:
        """From then on, what is pushed are gradients, and the stored weights follow them.

        >>> kv = mx.kv.create()
        >>> kv.init(3, mx.nd.zeros((2,)))
        >>> kv.set_optimizer(mx.optimizer.SGD(learning_rate=0.5))
        >>> weight = mx.nd.zeros((2,))
        >>> kv.pushpull(3, mx.nd.ones((2,)), out=weight)
        >>> weight.asnumpy()
        array([-0.5, -0.5], dtype=float32)
        """
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f'set_optimizer takes an Optimizer, such as mx.optimizer.create("sgd"), not '
                            f'{kind_of(optimizer)}')
        self._set_updater(get_updater(optimizer))

    def set_updater(self, updater: Callable[..., Any]) -> None:
        """`updater(key, sum of what was pushed, stored value)` is called at each push and changes the stored value."""
        if updater is not None and not callable(updater):
            raise TypeError('set_updater: updater must be a function of (key, pushed value, stored value), not '
                            f'{kind_of(updater)}')
        self._updater = updater

    _set_updater = set_updater

    def _states(self, what):
        if not isinstance(self._updater, Updater):
            raise AssertionError(f'{what}: this KVStore has no optimizer; call set_optimizer first')
        return self._updater

    def save_optimizer_states(self, fname: Path, dump_optimizer: bool = False) -> None:
        """Writes the states of the optimizer, with `dump_optimizer` the optimizer too, to a file."""
        paths.write_atomic(fname, [self._states('save_optimizer_states').get_states(dump_optimizer)])

    def load_optimizer_states(self, fname: Path) -> None:
        """Reads what `save_optimizer_states` wrote."""
        self._states('load_optimizer_states').set_states(paths.read_bytes(fname), str(fname))

    # ------------------------------------------------------------------ compression
    def set_gradient_compression(self, compression_params: Mapping[str, Any]) -> None:
        """Gradients travel as two bits a number, {'type': '2bit', 'threshold': 0.5}, or as one, {'type': '1bit'}.

        With two, each device sends threshold, -threshold or 0; with one, 1 or -1.  It keeps what that leaves of its
        gradient, and adds it to the next one.

        >>> kv = mx.kv.create('device')
        >>> kv.set_gradient_compression({'type': '2bit', 'threshold': 0.5})
        >>> kv.init('w', mx.nd.zeros((3,)))
        >>> sent = mx.nd.zeros((3,))
        >>> kv.pushpull('w', mx.nd.array([0.3, 0.5, -2]), out=sent)
        >>> sent.asnumpy()
        array([ 0. ,  0.5, -0.5], dtype=float32)
        >>> kv.pushpull('w', mx.nd.array([0.3, 0, 0]), out=sent)
        >>> sent.asnumpy()
        array([ 0.5,  0. , -0.5], dtype=float32)
        """
        if not self._compresses:
            raise NotImplementedError(f'set_gradient_compression: a {self.handle!r} KVStore does not compress; use '
                                      "'device' or 'dist_sync'")
        self._compression = Compression(compression_params)

    @property
    def _compresses(self):
        return self._on_devices

    # ------------------------------------------------------------------ workers
    @property
    def type(self) -> str:
        """The name of the kind of store."""
        return self.handle

    @property
    def rank(self) -> int:
        """The number of this worker; 0 in one process."""
        return 0

    @property
    def num_workers(self) -> int:
        """How many workers there are; 1 in one process."""
        return 1

    def barrier(self) -> None:
        """Waits until all workers reach this call."""
        self._barrier()

    def _barrier(self):
        """Waits for all workers; there is one."""

    def _send_command_to_servers(self, head, body):
        """For programs that send commands to upstream's servers: there are no servers, so it has no effect."""


def _equal(stored, target):
    if stored._sparse or target._sparse or stored.shape != target.shape or stored.dtype != target.dtype:
        return False
    return torch.equal(stored.materialize().detach(), target.materialize().detach().to(stored.materialize().device))


_explain_methods(KVStore, 'init broadcast row_sparse_pull set_optimizer set_updater save_optimizer_states '
                 'load_optimizer_states set_gradient_compression')
