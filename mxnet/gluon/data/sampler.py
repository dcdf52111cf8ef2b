"""Samplers: which samples of a data set are taken, in which order, in which batches."""
from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ..._kinds import check_kept as _check_kept
from ..._kinds import explain_kinds as _explain_kinds
from ..._names import kind_of
from ...io._base import check_state
from ...io._deal import batches_of, dealt
from . import _seeds

if TYPE_CHECKING:
    from ...gluon.data import Dataset

__all__ = ['BatchSampler', 'FilterSampler', 'RandomSampler', 'Sampler', 'SequentialSampler', 'ShardedBatchSampler']


class Sampler:
    """A sequence of indices: a subclass has `__iter__` and `__len__`."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f'{type(self).__name__} has no __iter__')

    def __len__(self) -> int:
        raise NotImplementedError(f'{type(self).__name__} has no __len__')


def _check_length(sampler, length):
    if not hasattr(length, '__index__'):
        hint = '; pass len(dataset)' if hasattr(length, '__len__') and not isinstance(length, str) else ''
        raise TypeError(f'{type(sampler).__name__}: length must be an int, not {kind_of(length)}{hint}')


class SequentialSampler(Sampler):
    """The numbers from `start` on, one after the other."""

    def __init__(self, length: int, start: int = 0) -> None:
        _check_length(self, length)
        self._length, self._start = length, start

    def __iter__(self) -> Iterator[Any]:
        return iter(range(self._start, self._start + self._length))

    def __len__(self) -> int:
        return self._length

    def _order(self):
        return numpy.arange(self._start, self._start + self._length)


class RandomSampler(Sampler):
    """The numbers from 0 to `length` in random order, another one each time.

    The order is NumPy's (`np.random.seed`); where only `mx.random.seed` was called, it follows from that.
    """

    def __init__(self, length: int) -> None:
        _check_length(self, length)
        self._length = length

    def __iter__(self) -> Iterator[Any]:
        return iter(self._order())

    def __len__(self) -> int:
        return self._length

    def _order(self):
        return _seeds.shuffled(self._length)


class FilterSampler(Sampler):
    """The indices of samples for which `fn(sample)` is true."""

    def __init__(self, fn: Callable[..., Any], dataset: Dataset | Sequence[Any]) -> None:
        if not callable(fn):
            raise TypeError(f'FilterSampler: fn must be a function of a sample, not {kind_of(fn)}')
        self._fn, self._dataset = fn, dataset
        self._indices = [i for i in range(len(dataset)) if fn(dataset[i])]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._indices)

    def __len__(self) -> int:
        return len(self._indices)


class BatchSampler(Sampler):
    """Batches of a sampler's indices.

    What is left over at the end makes a smaller batch ('keep'), is left out ('discard') or begins the next round
    ('rollover').

    >>> list(BatchSampler(SequentialSampler(5), 2))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Sampler | Sequence[int], batch_size: int, last_batch: str = 'keep') -> None:
        if not hasattr(sampler, '__iter__') and not hasattr(sampler, '__getitem__'):
            raise TypeError('BatchSampler: sampler must be a Sampler, such as gluon.data.SequentialSampler(length), '
                            f'not {kind_of(sampler)}')
        self._sampler, self._batch_size, self._last_batch = sampler, batch_size, last_batch
        self._prev: list[Any] = []
        self._check()

    def _check(self):
        if self._last_batch not in ('keep', 'discard', 'rollover'):
            raise ValueError(f"last_batch must be 'keep', 'discard' or 'rollover', not {self._last_batch!r}")

    def __iter__(self) -> Iterator[Any]:
        self._check()
        batch, self._prev = self._prev, []
        for index in self._sampler:
            batch.append(index)
            if len(batch) == self._batch_size:
                yield batch
                batch = []
        yield from self._rest(batch)

    def _rest(self, batch):
        if len(batch):
            if self._last_batch == 'keep':
                yield batch
            elif self._last_batch == 'rollover':
                self._prev = list(batch)

    def _arrays(self):
        """The same batches as NumPy arrays, where the sampler knows all of its order at once."""
        self._check()
        order = self._sampler._order()      # type: ignore[union-attr]  # `index_batches` has looked
        if self._prev:
            order, self._prev = numpy.concatenate([self._prev, order]), []
        whole = len(order) - len(order) % self._batch_size
        for start in range(0, whole, self._batch_size):
            yield order[start:start + self._batch_size]
        yield from self._rest(order[whole:])

    def __len__(self) -> int:
        self._check()
        if self._last_batch == 'keep':
            return -(-len(self._sampler) // self._batch_size)
        if self._last_batch == 'discard':
            return len(self._sampler) // self._batch_size
        return (len(self._prev) + len(self._sampler)) // self._batch_size


class ShardedBatchSampler(Sampler):
    """Batches of indices for one worker of a job: a `batch_sampler` of `DataLoader`.

    length:         of the data set
    batch_size:     samples in a batch of one worker
    num_parts:      how many workers there are, such as `kv.num_workers`
    part_index:     which one this is, such as `kv.rank`
    shuffle:        a random order in every pass, which depends on `seed` and the number of the pass only
    last_batch:     what is left at the end of a pass is divided evenly ('keep') or left out ('discard')

    All workers have the same number of batches.  Each step takes the next `num_parts * batch_size` samples of one
    order, so that a pass can go on with another number of workers (`DataLoader.load_state_dict`) and has every sample
    once.  With 'keep' the last batches of the workers differ by at most one sample; where there is less than one for
    each worker, the others repeat samples from the beginning of the order.

    >>> [list(ShardedBatchSampler(7, 2, 2, part)) for part in (0, 1)]
    [[[0, 1], [4, 5]], [[2, 3], [6]]]
    """

    def __init__(self, length: int, batch_size: int, num_parts: int = 1, part_index: int = 0, shuffle: bool = False,
                 seed: int = 0, last_batch: str = 'keep') -> None:
        _check_length(self, length)
        if batch_size < 1:
            raise ValueError(f'ShardedBatchSampler: batch_size must be positive, not {batch_size}')
        if num_parts < 1 or not 0 <= part_index < num_parts:
            raise ValueError(f'ShardedBatchSampler: there is no part {part_index} of {num_parts}; part_index is '
                             'between 0 and num_parts - 1')
        if last_batch not in ('keep', 'discard'):
            raise ValueError(f"last_batch of a ShardedBatchSampler must be 'keep' or 'discard', not {last_batch!r}")
        self._length, self._batch_size, self._part = length, int(batch_size), (num_parts, part_index)
        self._shuffle, self._seed, self._keep = bool(shuffle), seed, last_batch == 'keep'
        self._next = 0, 0               # the pass that `iter` begins, and where in its order
        self._begun = 0, 0              # the same of the pass that was begun last

    def __iter__(self) -> Iterator[Any]:
        self._begun, self._next = self._next, (self._next[0] + 1, 0)
        epoch, position = self._begun
        return (list(indices) for _, indices in
                dealt(self._order(epoch), position, self._batch_size, *self._part, self._keep))

    def __len__(self) -> int:
        """Batches of the pass that `iter` begins next."""
        return batches_of(self._length, self._next[1], self._batch_size, self._part[0], self._keep)

    def _order(self, epoch):
        if not self._shuffle:
            return range(self._length)
        digest = hashlib.blake2b(f'{self._seed} {epoch}'.encode(), digest_size=4).digest()
        return numpy.random.RandomState(int.from_bytes(digest)).permutation(self._length).tolist()

    def state_dict(self, given: int | None = None) -> dict[str, Any]:
        """The place after `given` batches of the pass that was begun last; without it, where the next pass begins."""
        epoch, position = self._next
        if given is not None:
            epoch, position = self._begun[0], self._begun[1] + given * self._part[0] * self._batch_size
            if given >= batches_of(self._length, self._begun[1], self._batch_size, self._part[0], self._keep):
                epoch, position = epoch + 1, 0
        return {'length': self._length, 'shuffle': self._shuffle, 'seed': self._seed, 'epoch': epoch,
                'position': position}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """The next pass goes on at a place that a sampler of the same data had reached, with any number of parts."""
        check_state('ShardedBatchSampler', state, length=self._length, shuffle=self._shuffle, seed=self._seed)
        self._next = state['epoch'], state['position']


def index_batches(batch_sampler: Any) -> Any:
    """An iterator over batches of indices: arrays where that is quick, else whatever the sampler gives."""
    if type(batch_sampler) is BatchSampler and type(batch_sampler._sampler) in (SequentialSampler, RandomSampler):
        return batch_sampler._arrays()
    return iter(batch_sampler)


_explain_kinds(globals(), ('FilterSampler',))
_check_kept(SequentialSampler, 'start')
