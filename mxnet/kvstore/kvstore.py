"""The store for several devices of one process."""
import numbers

import torch

from .._array import NDArrayBase, wrap
from .._files import paths
from ..base import MXNetError
from ..context import cpu
from ..ndarray import NDArray, sparse
from ..optimizer import Updater, get_updater
from .base import KVStoreBase, listed

__all__ = ['KVStore']


class KVStore(KVStoreBase):
    """Values by key, in one process.

    Keys are ints or strings, not both in one store.  A value that is pushed may be a list, one array of each device: it is
    added up.  The sum replaces the stored value or, where an optimizer or updater is set, updates it.
    """

    def __init__(self, handle='local'):
        self.handle = handle            # the name of the kind of store
        self._updater = None
        self._values = {}
        self._key_type = None
        self._compression = None        # the threshold of 2-bit compression
        self._residuals = {}

    # ------------------------------------------------------------------ arguments
    def _pairs(self, key, value, what):
        """{key: arrays} of what a program gave: one key or a list of them, in the order of the first mention."""
        if not isinstance(key, (list, tuple)):
            key, value = [key], [value]
        elif len(key) != len(value):
            raise AssertionError(f'{what}: {len(key)} keys, but values for {len(value)}')
        found = {}
        for k, v in zip(key, value, strict=True):
            if isinstance(k, bool) or not isinstance(k, (str, numbers.Integral)):
                raise AssertionError(f'{what}: a key is an int or a str, not a {type(k).__name__}')
            kind = str if isinstance(k, str) else int
            if self._key_type not in (None, kind):
                raise MXNetError(f'{what}: key {k!r} is a {kind.__name__}, but the other keys of this KVStore are '
                                 f'{self._key_type.__name__}s')
            self._key_type = kind
            arrays = listed(v)
            for array in arrays:
                if not isinstance(array, NDArrayBase):
                    raise AssertionError(f'{what}: values are NDArrays, not {type(array).__name__}')
            found.setdefault(k, []).extend(arrays)
        return found

    def _stored(self, key, what):
        if key not in self._values:
            raise MXNetError(f'{what}: key {key!r} has no value yet; call init first')
        return self._values[key]

    # ------------------------------------------------------------------ values
    def init(self, key, value):
        """Stores first values; every key must have one before it is pushed or pulled, and only once."""
        for k, arrays in self._pairs(key, value, 'init').items():
            if k in self._values or len(arrays) > 1:
                raise MXNetError(f'init: key {k!r} has a value already; init and broadcast take each key once')
            source = arrays[0]
            self._values[k] = source.copyto(source.context if self._on_devices else cpu())

    @property
    def _on_devices(self):
        return 'device' in self.handle

    def push(self, key, value, priority=0):
        """Adds up the values of each key, and stores the sums or updates the stored values with them."""
        merged = {}
        for k, arrays in self._pairs(key, value, 'push').items():
            stored = self._stored(k, 'push')
            if self._on_devices and stored.context.device_type == 'cpu' != arrays[0].context.device_type:
                # the first push shows where the weights live
                stored = self._values[k] = stored.as_in_context(arrays[0].context)
            merged[k] = self._sum(k, arrays, stored)
        if self._updater is None:
            for k, total in merged.items():
                self._values[k] = total
        elif isinstance(self._updater, Updater):
            self._updater(list(merged), list(merged.values()), [self._values[k] for k in merged])
        else:
            for k, total in merged.items():
                self._updater(k, total, self._values[k])

    def _sum(self, key, arrays, stored):
        """The sum of arrays as a new array, where the stored one is."""
        for array in arrays:
            if array.shape != stored.shape:
                raise MXNetError(f'push: the value of key {key!r} has shape {array.shape}, the stored one '
                                 f'{stored.shape}')
        ctx = stored.context
        if any(a._sparse for a in arrays):
            total = arrays[0].copyto(ctx)
            for other in arrays[1:]:
                total = sparse.add(total, other.as_in_context(ctx))
            return total
        if self._compression is not None and len(arrays) > 1:
            tensors = [self._quantized((key, i), a._tensor.detach()) for i, a in enumerate(arrays)]
        else:
            tensors = [a._tensor.detach() for a in arrays]
        device = ctx.torch_device
        if len(tensors) == 1:
            total = tensors[0].to(device, copy=True)
        else:
            total = tensors[0].to(device) + tensors[1].to(device)
            for other in tensors[2:]:
                total += other.to(device)
        return wrap(total, ctx, NDArray)

    def pull(self, key, out=None, priority=0, ignore_sparse=True):
        """Copies the values of keys to arrays; sparse ones are left out, as `row_sparse_pull` is there for them."""
        if out is None:
            raise AssertionError('pull: out is missing, the arrays to copy to')
        for k, targets in self._pairs(key, out, 'pull').items():
            stored = self._stored(k, 'pull')
            for target in targets:
                if not (ignore_sparse and (target._sparse or stored._sparse)):
                    stored.copyto(target)

    def pushpull(self, key, value, out=None, priority=0):
        """`push`, then `pull`; without `out` the results go to the values themselves."""
        self.push(key, value, priority)
        self.pull(key, value if out is None else out, priority, ignore_sparse=False)

    def broadcast(self, key, value, out, priority=0):
        """`init`, then `pull`."""
        self.init(key, value)
        self.pull(key, out, priority, ignore_sparse=False)

    def row_sparse_pull(self, key, out=None, priority=0, row_ids=None):
        """Copies the rows at `row_ids` of values to row_sparse arrays, whose other rows become zeros."""
        if out is None or row_ids is None:
            raise AssertionError(f'row_sparse_pull: {"out" if out is None else "row_ids"} is missing')
        targets = self._pairs(key, out, 'row_sparse_pull')
        rows = self._pairs(key, row_ids, 'row_sparse_pull') if isinstance(row_ids, (list, tuple)) \
            else {k: [row_ids] for k in targets}
        for k, arrays in targets.items():
            wanted = rows[k] * len(arrays) if len(rows[k]) == 1 else rows[k]
            if len(wanted) != len(arrays):
                raise AssertionError(f'row_sparse_pull: {len(arrays)} arrays for key {k!r}, but {len(wanted)} row_ids')
            stored = self._stored(k, 'row_sparse_pull').tostype('row_sparse')
            for array, ids in zip(arrays, wanted, strict=True):
                if array.stype != 'row_sparse':
                    raise MXNetError(f'row_sparse_pull: out of key {k!r} is a {array.stype} array, not row_sparse')
                unique = torch.unique(ids._tensor.detach().reshape(-1).to(torch.int64))
                sparse.retain(stored, wrap(unique, ids.context, NDArray)).copyto(array)

    # ------------------------------------------------------------------ updating
    def is_capable(self, capability):
        """It has an optimizer."""
        if capability.lower() != KVStoreBase.OPTIMIZER:
            raise ValueError(f'a KVStore may be capable of {KVStoreBase.OPTIMIZER!r}; {capability!r} is not known')
        return True

    def set_optimizer(self, optimizer):
        """From then on, what is pushed are gradients, and the stored weights follow them.

        >>> kv = mx.kv.create()
        >>> kv.init(3, mx.nd.zeros((2,)))
        >>> kv.set_optimizer(mx.optimizer.SGD(learning_rate=0.5))
        >>> weight = mx.nd.zeros((2,))
        >>> kv.pushpull(3, mx.nd.ones((2,)), out=weight)
        >>> weight.asnumpy()
        array([-0.5, -0.5], dtype=float32)
        """
        self._set_updater(get_updater(optimizer))

    def set_updater(self, updater):
        """`updater(key, sum of what was pushed, stored value)` is called at each push and changes the stored value."""
        self._updater = updater

    _set_updater = set_updater

    def save_optimizer_states(self, fname, dump_optimizer=False):
        """Writes the states of the optimizer, with `dump_optimizer` the optimizer too, to a file."""
        if self._updater is None:
            raise AssertionError('save_optimizer_states: this KVStore has no optimizer; call set_optimizer first')
        paths.write_atomic(fname, [self._updater.get_states(dump_optimizer)])

    def load_optimizer_states(self, fname):
        """Reads what `save_optimizer_states` wrote."""
        if self._updater is None:
            raise AssertionError('load_optimizer_states: this KVStore has no optimizer; call set_optimizer first')
        self._updater.set_states(paths.read_bytes(fname))

    # ------------------------------------------------------------------ compression
    def set_gradient_compression(self, compression_params):
        """Sends gradients as two bits a number: {'type': '2bit', 'threshold': 0.5}.

        Each device sends threshold, -threshold or 0, and keeps the difference for its next gradient.
        """
        if not self._on_devices:
            raise NotImplementedError(f"set_gradient_compression: a {self.handle!r} KVStore does not compress; use 'device'")
        params = dict(compression_params)
        kind, threshold = params.pop('type', None), float(params.pop('threshold', 0.5))
        if kind not in ('2bit', 'none') or params or threshold <= 0:
            raise MXNetError("set_gradient_compression takes {'type': '2bit', 'threshold': a positive number}, not "
                             f'{compression_params}')
        self._compression = threshold if kind == '2bit' else None

    def _quantized(self, key, gradient):
        residual = self._residuals.get(key)
        total = gradient if residual is None else gradient + residual
        limit = self._compression
        sent = torch.where(total >= limit, limit, torch.where(total <= -limit, -limit, 0.0)).to(total.dtype)
        self._residuals[key] = total - sent
        return sent

    # ------------------------------------------------------------------ workers
    @property
    def type(self):
        """The name of the kind of store."""
        return self.handle

    @property
    def rank(self):
        """0: there is one worker."""
        return 0

    @property
    def num_workers(self):
        """1: there is one worker."""
        return 1

    def _barrier(self):
        """Waits for all workers; there is one."""
