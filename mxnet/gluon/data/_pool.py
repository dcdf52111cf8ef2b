"""Batches made by a pool of workers that the program has made itself: what loaders of GluonCV derive from."""
import io
import multiprocessing
import pickle
from multiprocessing.reduction import ForkingPickler
from typing import Any

from ... import context
from ._fetch import TIMEOUT, _as_in_context

_dataset: Any = None        # of a worker process


def _worker_initializer(dataset, *_):
    """Gives a worker process its data set."""
    global _dataset
    _dataset = dataset


def _worker_fn(samples, batchify_fn, dataset=None):
    """A batch as bytes, from the data set that the worker process was given."""
    stream = io.BytesIO()
    ForkingPickler(stream, pickle.HIGHEST_PROTOCOL).dump(batchify_fn([_dataset[i] for i in samples]))
    return stream.getvalue()


class _MultiWorkerIter:
    """The batches of one pass, in order; a class that derives from it may send other work in `_push_next`.

    worker_pool:    a `multiprocessing.Pool`, or a pool of threads
    worker_fn:      is called there with (indices, batchify_fn, dataset); without `dataset` it gives a pickle
    """

    def __init__(self, worker_pool, batchify_fn, batch_sampler, pin_memory=False, pin_device_id=0, worker_fn=_worker_fn,
                 prefetch=0, dataset=None, data_loader=None, timeout=120):
        self._worker_pool, self._worker_fn, self._batchify_fn = worker_pool, worker_fn, batchify_fn
        self._batch_sampler, self._iter = batch_sampler, iter(batch_sampler)
        self._pin_memory, self._pin_device_id = pin_memory, pin_device_id
        self._dataset, self._data_loader, self._timeout = dataset, data_loader, timeout
        self._data_buffer = {}              # results to come, by the number of the batch
        self._sent_idx = self._rcvd_idx = 0
        for _ in range(prefetch):
            self._push_next()

    def __len__(self):
        return len(self._batch_sampler)

    def __iter__(self):
        return self

    def _push_next(self):
        indices = next(self._iter, None)
        if indices is not None:
            self._data_buffer[self._sent_idx] = self._worker_pool.apply_async(
                self._worker_fn, (indices, self._batchify_fn, self._dataset))
            self._sent_idx += 1

    def __next__(self):
        self._push_next()
        coming = self._data_buffer.pop(self._rcvd_idx, None)
        if coming is None:
            raise StopIteration
        try:
            batch = coming.get(self._timeout)
        except multiprocessing.TimeoutError:
            raise multiprocessing.TimeoutError(TIMEOUT.format(timeout=self._timeout)) from None
        self._rcvd_idx += 1
        if self._dataset is None:
            batch = pickle.loads(batch)
        return _as_in_context(batch, context.cpu_pinned(self._pin_device_id)) if self._pin_memory else batch

    def next(self):
        """The next batch."""
        return next(self)
