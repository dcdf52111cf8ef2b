"""`DataLoader`: batches of a data set, made in this process, in threads or in worker processes."""
from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from ... import context
from ..._dispatch import Iterated, interceptors
from ..._names import explain_arguments, kind_of
from ..._names import suggest_names as _suggest_names
from ..._state import state
from . import sampler as _sampler
from ._fetch import Fetcher, Jobs, Threads, _as_in_context, same_state, serial
from ._pool import ForkingPickler, _MultiWorkerIter, _worker_fn, _worker_initializer  # noqa: F401  libraries, too
from ._seeds import epoch_seed
from .batchify import default_batchify_fn, default_mp_batchify_fn  # noqa: F401  programs import both from here

if TYPE_CHECKING:
    from ...gluon.data import Dataset, Sampler

__all__ = ['DataLoader']


@explain_arguments
class DataLoader:
    """Batches of a data set.

    dataset:        a `Dataset`, or anything else with a length and an index, such as an array
    batch_size:     samples in a batch
    shuffle:        a new random order in every pass (see `RandomSampler` for seeds)
    sampler:        the order, in place of `shuffle`
    last_batch:     what becomes of a last batch that is too small: 'keep', 'discard', or 'rollover' to the next pass
    batch_sampler:  the batches of indices, in place of the four above
    batchify_fn:    makes a batch of a list of samples; see `gluon.data.batchify`
    num_workers:    processes (or threads, with `thread_pool`) that make batches; 0: this process does it when asked
    pin_memory:     batches in memory that GPU `pin_device_id` copies from without waiting
    prefetch:       batches that workers are ahead; `2 * num_workers` if it is not given
    timeout:        seconds to wait for a worker's batch
    auto_reload:    begin the next pass as soon as one has ended, so that its first batches are there when asked for

    Random numbers in workers, of mx, NumPy and Python alike, follow from the program's seed and the number of the
    batch, so that they are the same with any number of workers; where only `mx.random.seed` was called, those of mx and
    of its transforms are the same with threads and without workers, too.  An error in a worker is raised here, with the
    worker's traceback.

    >>> loader = DataLoader(mx.gluon.data.ArrayDataset([1, 2, 3], [4, 5, 6]), batch_size=2)
    >>> for x, y in loader:
    ...     print(x.asnumpy(), y.asnumpy())
    [1 2] [4 5]
    [3] [6]
    """

    def __init__(self, dataset: Dataset | Sequence[Any], batch_size: int | None = None, shuffle: bool = False,
                 sampler: Sampler | Iterable[int] | None = None, last_batch: str | None = None,
                 batch_sampler: Sampler | Iterable[Sequence[int]] | None = None,
                 batchify_fn: Callable[..., Any] | None = None, num_workers: int = 0, pin_memory: bool = False,
                 pin_device_id: int = 0, prefetch: int | None = None, thread_pool: bool = False, timeout: int = 120,
                 auto_reload: bool = False) -> None:
        if timeout <= 0:
            raise AssertionError(f'timeout of a DataLoader must be positive, it is {timeout}')
        if not hasattr(dataset, '__getitem__') or isinstance(dataset, type):
            raise TypeError('DataLoader: dataset must be a Dataset, or another object that gives samples by number, '
                            f'not {kind_of(dataset)}')
        self._dataset = dataset
        self._batch_sampler = _batches_of(dataset, batch_size, shuffle, sampler, last_batch, batch_sampler)
        if batchify_fn is not None and not callable(batchify_fn):
            raise TypeError('DataLoader: batchify_fn must be a function of a list of samples, not '
                            f'{kind_of(batchify_fn)}')
        self._batchify_fn = default_batchify_fn if batchify_fn is None else batchify_fn
        self._num_workers = max(0, num_workers)
        self._pin_memory, self._pin_device_id = pin_memory, pin_device_id
        self._prefetch = max(0, 2 * self._num_workers if prefetch is None else int(prefetch))
        self._thread_pool, self._timeout = thread_pool, timeout
        self.auto_reload = auto_reload
        self._workers: Any = None           # an executor of threads, or `Processes`
        self._passes = 0
        self._jobs: Any = None
        self._resume: Any = None
        self._iter = None
        if auto_reload:
            self.refresh()

    def __len__(self) -> int:
        return len(self._batch_sampler)

    def __iter__(self) -> Iterator[Any]:
        batches = self._batches()
        return Iterated('DataLoader.next', batches) if interceptors else batches

    def _batches(self):
        if self._iter is None:
            self.refresh()
        batches: Any
        batches, self._iter = self._iter, None
        if not self._pin_memory:
            yield from batches
        else:
            pinned = context.cpu_pinned(self._pin_device_id)
            for batch in batches:
                yield _as_in_context(batch, pinned)
        if self._iter is None and self.auto_reload:
            self.refresh()

    def refresh(self) -> None:
        """Begins a new pass over the data; the next `iter` goes on with it."""
        self._iter = self._begin()

    def clean(self) -> None:
        """Gives up a pass that was begun ahead."""
        self._iter = None

    def _begin(self):
        if self._resume is not None:
            (batches, seed, number), self._resume = self._resume, None
            jobs = Jobs(batches, seed, number)
        else:
            # the seed is drawn with and without workers, so that the order is the same
            jobs = Jobs(_sampler.index_batches(self._batch_sampler), epoch_seed(self._passes))
        self._jobs = jobs
        self._passes += 1
        if not self._num_workers:
            return serial(Fetcher(self._dataset, self._batchify_fn), jobs)
        if self._thread_pool:
            if self._workers is None:
                self._workers = ThreadPoolExecutor(self._num_workers, 'DataLoader', same_state,
                                                   (state.np_shape, state.np_array))
            return iter(Threads(self._workers, Fetcher(self._dataset, self._batchify_fn), jobs, self._prefetch,
                                self._timeout))
        if self._workers is None or self._workers.busy:
            # the workers of a pass that goes on are left to it
            from ._workers import Processes
            workers = Processes(Fetcher(self._dataset, self._batchify_fn), self._num_workers, self._prefetch,
                                self._timeout)
            if self._workers is not None:
                return iter(workers.start(jobs))
            self._workers = workers
        return iter(self._workers.start(jobs))

    # ------------------------------------------------------------------ the place reached
    def state_dict(self) -> dict[str, Any]:
        """The place reached in the pass that was begun last, as plain numbers: what `load_state_dict` takes.

        >>> loader = DataLoader(list(range(6)), 2)
        >>> batches = iter(loader)
        >>> _ = next(batches)
        >>> again = DataLoader(list(range(6)), 2)
        >>> again.load_state_dict(loader.state_dict())
        >>> [batch.asnumpy().tolist() for batch in again]
        [[2, 3], [4, 5]]
        """
        jobs = self._jobs
        if isinstance(self._batch_sampler, _sampler.ShardedBatchSampler):
            return self._sharded_state(jobs)
        found = {'passes': self._passes, 'rollover': [int(i) for i in getattr(self._batch_sampler, '_prev', ())]}
        if jobs is not None:
            rest = jobs.rest()
            # of a pass that is over, nothing is left to be done again
            found['current'] = {'number': jobs.number, 'seed': jobs.seed, 'batches': rest} if rest else None
            found['rollover'] = [int(i) for i in getattr(self._batch_sampler, '_prev', ())]
        return found

    def load_state_dict(self, found: Mapping[str, Any]) -> None:
        """Goes on where another loader of the same data was: the next pass has the batches that it had left."""
        sampler, current = self._batch_sampler, found.get('current')
        sharded = isinstance(sampler, _sampler.ShardedBatchSampler)
        if sharded != ('order' in found):
            raise ValueError(f'DataLoader: the state is that of a loader with{"out" * sharded} a ShardedBatchSampler, '
                             f'and this one is with{"out" * (not sharded)}')
        self._passes = found['passes']
        if sharded:
            sampler.load_state_dict(found['order'])
            self._jobs = self._resume = None
            if current:
                self._resume = sampler, current['seed'], current['number']
        elif current:
            self._resume = current['batches'], current['seed'], current['number']
        if hasattr(self._batch_sampler, '_prev'):
            self._batch_sampler._prev = list(found['rollover'])
        self._iter = None

    def _sharded_state(self, jobs):
        """The place in an order of which this loader has one of several parts."""
        found = {'passes': self._passes, 'order': self._batch_sampler.state_dict()}
        if self._resume is not None:
            found['current'] = {'number': self._resume[2], 'seed': self._resume[1]}
        elif jobs is not None:
            found['order'] = self._batch_sampler.state_dict(jobs.number - jobs.first)
            if found['order']['position']:
                found['current'] = {'number': jobs.number, 'seed': jobs.seed}
        return found

    def __del__(self) -> None:
        workers = getattr(self, '_workers', None)
        if isinstance(workers, ThreadPoolExecutor):
            workers.shutdown(wait=False, cancel_futures=True)


class DataLoaderV1(DataLoader):
    """The loader's first form: no threads, nothing ahead of a pass."""

    def __init__(self, dataset: Dataset | Sequence[Any], batch_size: int | None = None, shuffle: bool = False,
                 sampler: Sampler | Iterable[int] | None = None, last_batch: str | None = None,
                 batch_sampler: Sampler | Iterable[Sequence[int]] | None = None,
                 batchify_fn: Callable[..., Any] | None = None, num_workers: int = 0, pin_memory: bool = False,
                 pin_device_id: int = 0) -> None:
        super().__init__(dataset, batch_size, shuffle, sampler, last_batch, batch_sampler, batchify_fn, num_workers,
                         pin_memory, pin_device_id)


def _batches_of(dataset, batch_size, shuffle, sampler, last_batch, batch_sampler):
    """The batch sampler that the arguments of a loader ask for."""
    if batch_sampler is not None:
        if batch_size is not None or shuffle or sampler is not None or last_batch is not None:
            raise ValueError('batch_size, shuffle, sampler and last_batch have no meaning with batch_sampler: leave '
                             'them out')
        if not hasattr(batch_sampler, '__iter__'):
            raise TypeError(f'DataLoader: batch_sampler must be an iterable of lists of numbers, not '
                            f'{kind_of(batch_sampler)}')
        return batch_sampler
    if last_batch not in (None, 'keep', 'discard', 'rollover'):
        raise ValueError(f"last_batch of a DataLoader must be 'keep', 'discard' or 'rollover', not {last_batch!r}")
    if not hasattr(dataset, '__len__') and sampler is None:
        raise TypeError(f'dataset of a DataLoader must have a length and be indexed, as a Dataset or a list; '
                        f'{kind_of(dataset)} does not')
    if batch_size is None:
        raise ValueError('a DataLoader needs batch_size, or batch_sampler')
    size: Any = batch_size          # programs give floats, too
    if not isinstance(batch_size, numbers.Real) or size < 1:
        raise ValueError(f'batch_size of a DataLoader must be a number from 1 on, not {batch_size!r}')
    if sampler is None:
        sampler = (_sampler.RandomSampler if shuffle else _sampler.SequentialSampler)(len(dataset))
    elif shuffle:
        raise ValueError('shuffle has no meaning with sampler, which is the order: leave one of them out')
    return _sampler.BatchSampler(sampler, size, last_batch or 'keep')


_suggest_names(globals())
