"""Making batches: in this process, in threads, and what a worker process does."""
import multiprocessing
from collections import deque
from functools import partial
from operator import getitem
from typing import Any

from ..._state import state
from ...ndarray import NDArray
from . import _seeds
from . import _sources as sources
from .batchify import default_batchify_fn

TIMEOUT = ('no batch came from the workers of a DataLoader within {timeout} seconds. A slow transform needs a larger '
           'timeout=, or more workers (num_workers).')


class Fetcher:
    """Makes a batch from indices."""

    def __init__(self, dataset, batchify):
        self._read, self._batchify = partial(getitem, dataset), batchify
        self._source = sources.of(dataset) if batchify is default_batchify_fn else None
        self.expect = sources.expecter(dataset)     # told of samples that will be read soon; None if that is no use

    def __call__(self, indices, following=None):
        if self.expect is not None:
            self.expect(indices)
            if following is not None:
                self.expect(following)
        read = self._read
        if self._source is not None:
            found = sources.as_indices(indices)
            if found is not None:
                try:
                    batch = self._source.batch(found)
                except IndexError:
                    batch = None
                else:
                    indices, read = found, self._source.sample
                if batch is not None:
                    return batch
        samples, index = [], None
        try:
            for index in indices.tolist() if hasattr(indices, 'tolist') else indices:
                samples.append(read(index))
        except Exception as error:
            error.add_note(f'while sample {index!r} of the data set was read')
            raise
        return self._batchify(samples)


class Jobs:
    """The batches of one pass over the data that are still to be made, and the place reached.

    Iterating gives (number of the batch, its indices); `delivered` says that the program has got the oldest of them.
    """

    def __init__(self, batches, seed, number=0):
        self._batches = iter(batches)
        self.seed = seed
        self.first = self.number = number           # of the next batch that the program gets
        self._sent: deque[Any] = deque()

    def __iter__(self):
        return self

    def __next__(self):
        indices = next(self._batches)
        self._sent.append(indices)
        return self.number + len(self._sent) - 1, indices

    def delivered(self):
        self._sent.popleft()
        self.number += 1

    def rest(self):
        """All batches that the program has not got, as lists of indices."""
        left = list(self._batches)
        self._batches = iter(left)
        return [list(b.tolist() if hasattr(b, 'tolist') else b) for b in (*self._sent, *left)]


def with_following(jobs, distance):
    """Yields each job with the indices of the one so many places behind it, or None."""
    ahead: deque[Any] = deque()
    for job in jobs:
        ahead.append(job)
        if len(ahead) > distance:
            yield *ahead.popleft(), ahead[-1][1] if distance else None
    for job in ahead:
        yield *job, None


def serial(fetcher, jobs):
    """Batches made one after the other, when they are asked for."""
    for number, indices, following in with_following(jobs, int(fetcher.expect is not None)):
        if _seeds.follows_program():
            batch = fetcher(indices, following)
        else:
            with _seeds.drawn_for(jobs.seed, number):
                batch = fetcher(indices, following)
        jobs.delivered()
        yield batch


class Threads:
    """Batches made by threads, some of them ahead."""

    def __init__(self, executor, fetcher, jobs, ahead, timeout):
        self._executor, self._fetcher, self._jobs, self._timeout = executor, fetcher, jobs, timeout
        self._futures: deque[Any] = deque()
        for _ in range(ahead):
            self._submit()

    def _submit(self):
        job = next(self._jobs, None)
        if job is not None:
            if self._fetcher.expect is not None:
                self._fetcher.expect(job[1])
            self._futures.append(self._executor.submit(self._make, *job))

    def _make(self, number, indices):
        with _seeds.drawn_for(self._jobs.seed, number):
            return self._fetcher(indices)

    def __iter__(self):
        try:
            while True:
                self._submit()
                if not self._futures:
                    return
                future = self._futures.popleft()
                try:
                    batch = future.result(self._timeout)
                except TimeoutError:
                    if future.done():       # it is the transform's own
                        raise
                    raise multiprocessing.TimeoutError(TIMEOUT.format(timeout=self._timeout)) from None
                self._jobs.delivered()
                yield batch
        finally:
            for future in self._futures:
                future.cancel()


def same_state(np_shape, np_array):
    """Gives a thread or process of a loader the switches of the program."""
    state.np_shape, state.np_array, state.context = np_shape, np_array, None


def _as_in_context(data, ctx):
    """All arrays of a batch on a context."""
    if isinstance(data, NDArray):
        return data.as_in_context(ctx)
    if isinstance(data, (list, tuple)):
        return [_as_in_context(d, ctx) for d in data]
    return data
