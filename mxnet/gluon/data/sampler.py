"""Samplers: which samples of a data set are taken, in which order, in which batches."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ..._kinds import explain_kinds as _explain_kinds
from ..._names import kind_of
from . import _seeds

if TYPE_CHECKING:
    from ...gluon.data import Dataset

__all__ = ['BatchSampler', 'FilterSampler', 'RandomSampler', 'Sampler', 'SequentialSampler']


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


def index_batches(batch_sampler: Any) -> Any:
    """An iterator over batches of indices: arrays where that is quick, else whatever the sampler gives."""
    if type(batch_sampler) is BatchSampler and type(batch_sampler._sampler) in (SequentialSampler, RandomSampler):
        return batch_sampler._arrays()
    return iter(batch_sampler)


_explain_kinds(globals(), ('FilterSampler',))
