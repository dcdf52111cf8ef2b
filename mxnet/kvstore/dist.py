"""dist_sync and its kin: every worker holds all values, and sums of what all workers push keep them equal.

- A push starts at once: what a worker's devices gave is added up, copied into a bucket with its neighbours, and full
  buckets are added up over the workers while the program goes on.  A pull, a barrier, or another push of the same key
  waits.
- The optimizer runs in each worker on the same sums, so weights stay equal, as if one had applied it once.
- Workers make the same calls in the same order.  A few numbers travel with each bucket to check that, and to agree on
  the scale of gradients when the last batches of the workers differ in size: behind the sums, or ahead of them where
  the keys of a bucket are new, for sums of different sizes cannot be added up.
"""
from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import torch

from .._array import wrap
from ..base import MXNetError
from ..ndarray import NDArray, sparse
from ..optimizer import Updater
from ._buckets import HEADER, Bucket, Group, bucket_bytes
from ._gathered import Packed, Rows
from ._overlap import Early
from ._workers import WorkersKVStore, even_end

if TYPE_CHECKING:
    from .._typing import Keys, NestedArrays

__all__ = ['DistKVStore']

STRAIGHT = 2**16    # numbers of a value from which on pushpull does without buckets
PIECE = 2**24       # bytes that it adds up at once

LOW = torch.float16, torch.bfloat16

# beyond so many workers, collecting everyone's packed gradients is more to receive than adding them up
MOST_GATHERED = 16


class DistKVStore(WorkersKVStore):
    """Values by key, the same in all workers of a job; see `KVStore` for the rest."""

    def __init__(self, handle: str = 'dist_sync') -> None:
        super().__init__(handle)
        self._limit = bucket_bytes()
        self._open: dict[Any, Any] = {}                 # (dtype, device): the bucket that is being filled
        self._started: list[Any] = []              # buckets on their way, in order
        self._pending: set[Any] = set()           # keys in any of them
        self._spare: dict[Any, Any] = {}                # (dtype, device): flat tensors for later buckets
        self._groups: dict[Any, Any] = {}               # keys that were pushed in one call: their bucket, or None
        self._large: dict[Any, Any] = {}                # key: flat tensor for the next bucket of a key that goes alone
        self._behind: dict[Any, Any] = {}               # key: the bucket that its stored value lies in
        self._early: Any = None              # a Trainer's gradients on their way
        self._headers: dict[Any, Any] = {}              # key: what workers compare at its pushpull
        self._known: set[Any] = set()             # what workers have agreed to do before

    @property
    def _on_devices(self):
        return True                     # values stay where they are pushed from

    # ------------------------------------------------------------------ agreeing
    def _header(self, action, entries, settings=None):
        """(numbers to compare, what is about to happen in words)."""
        check, what = self._described(action, entries)
        return [*check, *self._numbers(settings)], what

    def _described(self, action, entries):
        """The part of the header that is the same each time."""
        what = action
        if entries:
            shown = [f'{key!r} {value.stype} {tuple(value.shape)}' for key, value in entries[:3]]
            more = [f'{len(entries) - 3} more'] if len(entries) > 3 else []
            what = f'{action} of {", ".join(shown + more)}'
        text = repr([(action, key, value.stype, value.shape, value.dtype) for key, value in entries] or action)
        check = zlib.crc32(text.encode())
        # bytes: their sums over many workers are exact in a float32
        return [check & 255, check >> 8 & 255, check >> 16 & 255], what

    def _settings(self):
        """What the optimizer applies to what is pushed now: (scale of gradients, learning rate, decay)."""
        if not isinstance(self._updater, Updater):
            return None
        optimizer = self._updater.optimizer
        return float(optimizer.rescale_grad), float(optimizer.learning_rate), optimizer.wd

    @staticmethod
    def _numbers(settings):
        """What workers compare of `_settings`.

        A worker may have the mean of all though they differ: hence the square of the rate, and two bytes of a checksum
        of the scale.
        """
        if settings is None:
            return 0.0, 0.0, 0.0, 0, 0
        scale, rate, _ = settings
        check = zlib.crc32(repr(scale).encode())
        return scale, rate, rate * rate, check & 255, check >> 8 & 255

    def _agreed(self, own, total, what):
        """Compares own numbers with the sum of all; returns the scale of gradients that all use."""
        size = self._world.size
        if any(a != size * b for a, b in zip(total[:3], own[:3], strict=True)):
            raise MXNetError(f'worker {self.rank} of {size} is at the {what}, and others are not: all must make '
                             'the same calls in the same order, with the same shapes and types')
        scale, rate, square, *checks = total[3:]
        if abs(rate - size * own[4]) > 1e-5 * abs(rate) or abs(square - size * own[5]) > 1e-5 * square:
            raise MXNetError(f'worker {self.rank} of {size} has learning rate {own[4]:g}, the mean of all is '
                             f'{rate / size:g}: they must be equal')
        same = abs(scale - size * own[3]) <= 1e-5 * abs(scale) and checks == [size * check for check in own[6:]]
        return own[3] if same else scale / size

    def _agree(self, action, entries):
        """Waits until all workers are about to do the same; (scale of gradients, what they do)."""
        own, what = self._header(action, entries)
        return self._compare(own, what), what

    def _compare(self, own, what):
        total, work = self._world.agree(own, what)
        self._world.wait(work)
        return self._agreed(own, total.tolist(), what)

    def _new(self, own, what):
        """Compares what workers have not done together before: tensors of different sizes cannot be added up."""
        seen = what, *own[:3]
        if seen not in self._known:
            self._compare(own, what)
            self._known.add(seen)

    # ------------------------------------------------------------------ first values
    def _first_values(self, keys):
        """Everyone starts with the values of worker 0."""
        if self._world.size == 1:
            return
        self._finish()
        values = [(key, self._values[key]) for key in keys]
        self._agree('init', values)
        works = []
        for key, value in values:
            if value._sparse:
                self._values[key] = self._copied_rows(value)
            else:
                tensor = value.materialize().detach()
                if not tensor.is_contiguous():
                    tensor = tensor.contiguous()
                    self._values[key] = wrap(tensor, value.context, type(value))
                works.append(self._world.copy(tensor, f'init of {key!r}'))
        for work in works:
            self._world.wait(work)

    def _copied_rows(self, value):
        data, indices = value.data.materialize(), value.indices.materialize().to(torch.int64)
        count = torch.tensor([len(indices)])
        self._world.wait(self._world.copy(count, 'init'))
        length = int(count)
        if self.rank:
            data = data.new_empty(length, *value.shape[1:])
            indices = indices.new_empty(length)
        data, indices = data.contiguous(), indices.contiguous()
        for part in (data, indices):
            self._world.wait(self._world.copy(part, 'init'))
        return sparse.row_sparse_array((wrap(data, value.context, NDArray), wrap(indices, value.context, NDArray)),
                                       shape=value.shape, dtype=value.dtype, ctx=value.context)

    # ------------------------------------------------------------------ sums
    def push(self, key: Keys, value: NestedArrays, priority: int = 0) -> None:
        """Adds up the values of each key over devices and workers, and stores the sums or updates with them."""
        group = self._group(key, value)
        tensors = None if group is None else group.tensors(value)
        if tensors is None:
            super().push(key, value, priority)
            return
        if not self._pending.isdisjoint(group.parts):
            self._finish()
        group.fill(tensors)
        group.settings = self._settings()
        self._pending.update(group.parts)
        self._start(group)

    def _group(self, key, value):
        """The bucket of several keys, if they and what is pushed go together."""
        if self._world.size == 1 or self._compression is not None or not isinstance(key, (list, tuple)) \
                or not isinstance(value, (list, tuple)) or not 1 < len(key) == len(value):
            return None
        keys = tuple(key)
        if keys not in self._groups:
            pairs = self._pairs(key, value, 'push')
            for k, arrays in pairs.items():
                self._check(k, arrays, self._stored(k, 'push'))
            group = Group.of(keys, self._ordered(pairs), self._values, self._limit, self._dtype_of_sum)
            if group is not None and group.tensors(value) is None:
                return None             # values are still to come to the device that pushes
            self._groups[keys] = group
        return self._groups[keys]

    def _arrived(self, sums):
        alone, compression = self._world.size == 1, self._compression
        if not self._pending.isdisjoint(sums):
            self._finish()
        rows: dict[Any, Any] = {}           # device: {key: sum of this worker}
        rounded: dict[Any, Any] = {}
        for key, total in sums.items():
            if not total._sparse and compression is not None:
                if not alone and self._world.size <= MOST_GATHERED:
                    rounded.setdefault(total.meta().device, {})[key] = total
                    continue
                total = wrap(compression.round(key, total.materialize().detach()), total.context, NDArray)
            if alone:
                super()._arrived({key: total})
            elif total._sparse:
                if self._dtype_of_sum(total.data.meta().dtype) == torch.float32 != total.data.meta().dtype:
                    total = total.astype('float32')
                rows.setdefault(total.data.meta().device, {})[key] = total
            else:
                self._enter(key, total)
        for totals in rows.values():
            self._collect(Rows, totals)
        for totals in rounded.values():
            self._collect(Packed, totals, compression)

    def _collect(self, kind, totals, *arguments):
        """Sends values that all workers collect, behind everything that is under way."""
        self._start_open()
        settings = self._settings()
        own, what = self._header('push', list(totals.items()), settings)
        self._new(own, what)
        gathered = kind(self._world, own, what, totals, *arguments)
        gathered.settings = settings
        self._started.append(gathered)
        self._pending.update(totals)

    def _dtype_of_sum(self, dtype):
        """Low precision is added up in float32 where the optimizer computes in float32, as on upstream's servers."""
        if dtype in LOW and isinstance(self._updater, Updater) and self._updater.optimizer.multi_precision:
            return torch.float32
        return dtype

    def _enter(self, key, total):
        """Puts a sum into a bucket, and starts buckets that are full."""
        tensor, stored = total.materialize().detach(), self._values[key]
        tensor = tensor.to(self._dtype_of_sum(tensor.dtype))
        settings = self._settings()
        kind = tensor.dtype, tensor.device, settings
        self._pending.add(key)
        bucket = self._open.get(kind)
        if bucket is not None and not bucket.fits(tensor):
            self._start(self._open.pop(kind))
            bucket = None
        if tensor.numel() * tensor.element_size() >= self._limit:
            # large enough to go alone
            bucket = Bucket(self._flat_of_its_own(key, tensor), key)
            bucket.add(key, tensor, stored)
            bucket.settings = settings
            self._start(bucket)
            return
        if bucket is None:
            spare = self._spare.get(kind[:2])
            flat = spare.pop() if spare else torch.empty(self._limit // tensor.element_size(), dtype=tensor.dtype,
                                                         device=tensor.device)
            bucket = self._open[kind] = Bucket(flat)
            bucket.settings = settings
        bucket.add(key, tensor, stored)

    def _flat_of_its_own(self, key, tensor):
        flat = self._large.pop(key, None)
        if flat is None or flat.dtype != tensor.dtype or flat.device != tensor.device:
            flat = torch.empty(tensor.numel() + HEADER, dtype=tensor.dtype, device=tensor.device)
        return flat

    def pushpull(self, key: Keys, value: NestedArrays, out: Any = None, priority: int = 0) -> None:
        """`push`, then `pull`; without `out` the results go to the values themselves."""
        if self._world.size == 1 or self._updater is not None or self._compression is not None:
            super().pushpull(key, value, out, priority)
            return
        pairs = self._pairs(key, value, 'pushpull')
        targets = pairs if out is None else self._pairs(key, out, 'pushpull')
        rest, under_way = [], []
        for k in self._ordered(pairs):
            arrays, stored = pairs[k], self._stored(k, 'push')
            if any(array._sparse for array in [*arrays, *targets[k], stored]):
                rest.append(k)
                continue
            device, one = stored.meta().device, len(pairs) == 1
            near = self._world.side_by_side and device.type == 'cpu' and one
            if not near and (stored.size < STRAIGHT or not one and not self._world.sums_into(device)):
                rest.append(k)
                continue
            self._check(k, arrays, stored)
            self._fits(k, targets[k], stored)
            total = self._sum(k, arrays, stored).materialize().detach().reshape(-1)
            if near:
                self._beside(k, total, targets[k])
            else:
                under_way.append(self._straight(k, total, targets[k]))
        if rest:
            super().pushpull(rest, [pairs[k] for k in rest], [targets[k] for k in rest], priority)
        for end in under_way:
            end()

    def _prepared(self, key):
        """(numbers to compare, what happens in words) of a pushpull of one key."""
        self._finish()
        if key not in self._headers:
            self._headers[key] = self._header('pushpull', [(key, self._values[key])])
        self._new(*self._headers[key])
        return self._headers[key]

    def _beside(self, key, tensor, targets):
        """The sum of a value to the stored one and to arrays, by workers who share memory."""
        own, what = self._prepared(key)
        total, compared = self._world.agree(own, what)
        stored = self._values[key].materialize().detach()
        rows = [target.materialize().detach() for target in targets]
        direct = [row.view(-1) for row in (stored, *rows)
                  if row.is_contiguous() and row.dtype == tensor.dtype and row.device == tensor.device]
        work = self._world.sum_to(tensor, direct, what)
        self._world.wait(compared)
        self._agreed(own, total.tolist(), what)
        self._world.wait(work)
        for row in rows:
            if not (row.is_contiguous() and row.dtype == tensor.dtype and row.device == tensor.device):
                row.copy_(stored)

    def _straight(self, key, tensor, targets):
        """Starts the sum of a large value to arrays; returns what ends it.

        It goes piece by piece: while one is added up, others are copied.
        """
        own, what = self._prepared(key)
        bucket = Bucket(self._flat_of_its_own(key, tensor), key)
        flat, count, stored = bucket.flat, tensor.numel(), self._values[key]
        bucket.parts[key], bucket.used = (0, count, stored), count
        apart, into = None, self._world.sums_into(tensor.device)
        if into:
            check = sum(int(byte) << 8 * i for i, byte in enumerate(own[:3]))       # travels with each piece
        elif bucket.room:
            flat[count:count + HEADER] = torch.tensor(own, dtype=flat.dtype)
        else:
            apart = self._world.agree(own, what)
        pieces = [(start, min(count, start + PIECE // flat.element_size()))
                  for start in range(0, count, PIECE // flat.element_size())]
        works = []
        for start, end in pieces:
            if into:
                works.append(self._world.sum_into(tensor[start:end], flat[start:end], what, check))
                continue
            flat[start:end].copy_(tensor[start:end])
            works.append(self._world.sum(flat[start:end + bucket.room * (end == count)], what))
        under_way = list(zip(pieces, works, strict=True))
        return lambda: self._end_straight(bucket, under_way, own, what, apart, into, targets)

    def _end_straight(self, bucket, works, own, what, apart, into, targets):
        flat, count, (key,) = bucket.flat, bucket.used, bucket.parts
        rows = [target.materialize().detach() for target in targets]
        rows = [row.view(-1) if row.is_contiguous() else None for row in rows]
        for (start, end), work in works:
            self._world.wait(work)
            for row in rows:
                if row is not None:
                    row[start:end].copy_(flat[start:end])
        if apart is not None:
            self._world.wait(apart[1])
            self._agreed(own, apart[0].tolist(), what)
        elif not into:
            self._agreed(own, flat[count:count + HEADER].tolist(), what)
        self._keep(bucket, bucket.sums())
        for target, row in zip(targets, rows, strict=True):
            if row is None:
                self._values[key].copyto(target)

    def _start(self, bucket):
        if bucket.lasting:
            bucket.described = bucket.described or self._described('push', bucket.entries())
            check, what = bucket.described
            own = [*check, *self._numbers(bucket.settings)]
        else:
            own, what = self._header('push', bucket.entries(), bucket.settings)
        self._new(own, what)
        end, apart = bucket.used + bucket.room, None
        if bucket.room:
            bucket.flat[bucket.used:end] = torch.tensor(own, dtype=bucket.flat.dtype)
        else:
            apart = self._world.agree(own, what)
        bucket.start(self._world, own, what, apart, end)
        self._started.append(bucket)

    def _finish(self):
        """Waits for all sums, and takes them in."""
        if not self._pending:
            return
        self._start_open()
        self._pending = set()
        started, self._started = self._started, []
        for bucket in started:
            self._take_in(bucket)

    def _start_open(self):
        opened, self._open = self._open, {}
        for bucket in opened.values():
            self._start(bucket)

    def _take_in(self, bucket):
        scale = self._agreed(bucket.own, bucket.compared(), bucket.what)
        sums = bucket.sums()
        if self._updater is not None:
            with self._applied(bucket.settings, scale):
                self._update(sums)
        elif isinstance(bucket, Bucket):
            self._keep(bucket, sums)
        else:
            self._values.update(sums)
        if isinstance(bucket, Bucket) and not bucket.values:
            self._recycle(bucket)

    def _keep(self, bucket, sums):
        """The sums are the stored values from now on, where they are: one copy less."""
        for key, total in sums.items():
            if self._values[key]._sparse:
                self._values[key] = total.copy()
                continue
            if self._values[key] is total:
                continue                # of a group that was pushed before
            self._values[key] = total
            before, self._behind[key] = self._behind.get(key), bucket
            bucket.values += 1
            if before is not None:
                before.values -= 1
                if not before.values:
                    self._recycle(before)

    def _recycle(self, bucket):
        """Its flat tensor serves again."""
        flat = bucket.flat
        if bucket.lasting:
            return
        if bucket.key is None:
            self._spare.setdefault((flat.dtype, flat.device), []).append(flat)
        else:
            self._large[bucket.key] = flat

    def sum_gradients(self, keys: Any, arrays: Any, gradients: Any, update: Any) -> bool:
        """For a Trainer: adds up dense gradients, one of each device for a key, some of them since backward.

        With `update` the stored values follow, else the sums become the gradients.  False if it is not for this store.
        """
        if self._world.size == 1 or self._compression is not None \
                or any(gradient._sparse for several in gradients for gradient in several) \
                or any(self._values[key]._sparse for key in keys):
            return False
        self._finish()
        early = self._early
        if early is None or early.keys != keys \
                or any(a is not b for old, new in zip(early.gradients, gradients, strict=True)
                       for a, b in zip_longest(old, new)):
            early = self._early = Early(self, keys, arrays, gradients, self._limit)
        scale = early.finish()
        early.watch(arrays)
        if update:
            with self._applied(self._settings(), scale):
                if isinstance(self._updater, Updater):
                    self._updater(keys, early.sums, tuple(self._values[key] for key in keys))
                else:
                    self._update(dict(zip(keys, early.sums, strict=True)))
        else:
            early.write_back()
        return True

    # ------------------------------------------------------------------ reading
    def _stored(self, key, what):
        if what != 'push' and key in self._pending:
            self._finish()
        return super()._stored(key, what)

    def _set_updater(self, updater: Callable[..., Any]) -> None:
        """`updater(key, sum of what all workers pushed, stored value)` runs in each worker, for each push."""
        self._finish()
        super()._set_updater(updater)
        self._groups.clear()            # the type of a sum depends on the optimizer
        self._early = None

    set_updater = _set_updater

    def set_gradient_compression(self, compression_params: Mapping[str, Any]) -> None:
        """See `KVStore.set_gradient_compression`; each worker rounds the sum of its devices."""
        self._finish()
        super().set_gradient_compression(compression_params)

    def _states(self, what):
        self._finish()
        return super()._states(what)

    # ------------------------------------------------------------------ workers
    def together(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The batches of this worker, as long as all workers have one: a call of all workers.

        Workers whose data have different lengths end an epoch together, and worker 0 logs who had more.  `Module.fit`
        and `Estimator.fit` do this by themselves.
        """
        return iter(batches) if self._world.size == 1 else even_end(self._world, batches)

    def _barrier(self):
        """Waits until all workers are here; what they pushed is taken in."""
        self._finish()
        self._agree('barrier', [])

    def __del__(self) -> None:
        pass                            # sums that nobody pulled are nobody's loss
