"""Iterators over batches of data."""
from __future__ import annotations

import contextlib
import numbers
from collections.abc import Mapping, Sequence
from typing import Any

from .._kinds import check_kept as _check_kept
from .._names import kind_of
from .._names import suggest_names as _suggest_names
from ..base import MXNetError
from ..ndarray import concat, tile  # noqa: F401  programs find them here, too
from ._ahead import Ahead
from ._base import DataBatch, DataDesc, DataIter, check_state
from ._csv import CSVIter
from ._image_detection import ImageDetRecordIter
from ._image_record import (
    ImageRecordInt8Iter,
    ImageRecordIter,
    ImageRecordIter_v1,
    ImageRecordUInt8Iter,
    ImageRecordUInt8Iter_v1,
)
from ._libsvm import LibSVMIter
from ._mnist import MNISTIter
from ._native import MXDataIter
from ._ndarray_iter import NDArrayIter

__all__ = ['CSVIter', 'DataBatch', 'DataDesc', 'DataIter', 'ImageDetRecordIter', 'ImageRecordInt8Iter',
           'ImageRecordIter', 'ImageRecordIter_v1', 'ImageRecordUInt8Iter', 'ImageRecordUInt8Iter_v1', 'LibSVMIter',
           'MNISTIter', 'MXDataIter', 'NDArrayIter', 'PrefetchingIter', 'ResizeIter']


class _HoldsBatch(DataIter):
    """An iterator over other iterators that keeps its latest batch in `current_batch`."""

    current_batch: Any = None

    def getdata(self) -> Any:
        return self.current_batch.data

    def getlabel(self) -> Any:
        return self.current_batch.label

    def getindex(self) -> Any:
        return self.current_batch.index

    def getpad(self) -> Any:
        return self.current_batch.pad


class ResizeIter(_HoldsBatch):
    """Gives exactly `size` batches of another iterator in each epoch.

    size: the number of batches.  An inner iterator with fewer is started again as often as needed; one with more goes
        on in the next epoch where it was, unless `reset` resets it.
    reset_internal: whether `reset` resets the inner iterator as well

    >>> inner = mx.io.NDArrayIter(np.arange(3))
    >>> len(list(mx.io.ResizeIter(inner, 7)))
    7
    """

    data_iter: Any

    cur: int
    current_batch: Any

    def __init__(self, data_iter: Any, size: int, reset_internal: bool = True) -> None:
        _check_inner('ResizeIter', data_iter)
        if not isinstance(size, numbers.Real) or size < 0:
            raise ValueError(f'ResizeIter: size must be a number of batches, 0 or more, not {size!r}')
        super().__init__(data_iter.batch_size)
        self.size: Any
        self.reset_internal: bool
        self.data_iter, self.size, self.reset_internal = data_iter, size, reset_internal
        self.cur = 0                    # batches given since the last reset
        for name in ('provide_data', 'provide_label', 'default_bucket_key'):
            if hasattr(data_iter, name):
                setattr(self, name, getattr(data_iter, name))

    def iter_next(self) -> bool:
        """Takes the next batch; False when all have been given."""
        remaining = self.cur < self.size
        if remaining:
            self.current_batch = self._take()
            self.cur += 1
        return remaining

    def _take(self):
        """The next batch of the inner iterator, which is started again at its end."""
        for restarted in (False, True):
            if restarted:
                self.data_iter.reset()
            with contextlib.suppress(StopIteration):
                return self.data_iter.next()
        raise MXNetError(f'ResizeIter: the inner {type(self.data_iter).__name__} gives no batches')

    def reset(self) -> None:
        """Starts the next epoch."""
        if self.reset_internal:
            self.data_iter.reset()
        self.cur = 0

    def state_dict(self) -> dict[str, Any]:
        """The position, if the inner iterator has a `state_dict`."""
        return {'size': self.size, 'cur': self.cur, 'inner': _state_of(self.data_iter)}

    def load_state_dict(self, state: Any) -> None:
        """Goes on where `state_dict` was called."""
        check_state('ResizeIter', state, size=self.size)
        self.data_iter.load_state_dict(state['inner'])
        self.cur = state['cur']


class PrefetchingIter(_HoldsBatch):
    """Reads one batch ahead, in a thread for each of its iterators, and joins their batches into one.

    rename_data, rename_label: for each iterator a dict of old and new names

    An error in a thread is raised by the call that would have given its batch.

    >>> inner = mx.io.NDArrayIter({'x': np.arange(4)}, batch_size=2)
    >>> batches = mx.io.PrefetchingIter(inner, rename_data=[{'x': 'data'}])
    >>> batches.provide_data
    [DataDesc[data,(2,),<class 'numpy.float32'>,NCHW]]
    >>> [batch.data[0].asnumpy().tolist() for batch in batches]
    [[0.0, 1.0], [2.0, 3.0]]
    """

    current_batch: Any

    def __init__(self, iters: Any, rename_data: Sequence[Mapping[str, str]] | None = None,
                 rename_label: Sequence[Mapping[str, str]] | None = None) -> None:
        super().__init__()
        self.iters: Any = list(iters) if isinstance(iters, (list, tuple)) else [iters]
        if not self.iters:
            raise ValueError('PrefetchingIter needs at least one iterator')
        for inner in self.iters:
            _check_inner('PrefetchingIter', inner)
        self.n_iter: int = len(self.iters)
        self.rename_data = rename_data
        self.rename_label = rename_label
        self.batch_size: Any = self.provide_data[0][1][0]
        self._note()
        self._ahead = [Ahead(inner.next) for inner in self.iters]

    def __del__(self) -> None:
        for ahead in getattr(self, '_ahead', ()):
            ahead.stop()

    @property
    def provide_data(self) -> list[DataDesc]:
        """The data of all iterators, renamed."""
        return self._renamed([inner.provide_data for inner in self.iters], self.rename_data)

    @property
    def provide_label(self) -> list[DataDesc]:
        """The labels of all iterators, renamed."""
        return self._renamed([inner.provide_label for inner in self.iters], self.rename_label)

    @staticmethod
    def _renamed(lists, names):
        lists = [[DataDesc(*d) if not isinstance(d, DataDesc) else d for d in descriptions] for descriptions in lists]
        if names is not None:
            lists = [[DataDesc(new[d.name], d.shape, d.dtype, d.layout) for d in descriptions]
                     for new, descriptions in zip(names, lists, strict=True)]
        return [d for descriptions in lists for d in descriptions]

    def reset(self) -> None:
        for ahead in self._ahead:
            ahead.stop()
        for inner in self.iters:
            inner.reset()
        self._note()
        for ahead in self._ahead:
            ahead.start()

    def _note(self):
        """Notes where the iterators are before the threads go on with them."""
        self._given = 0
        self._at_first = [inner.state_dict() if hasattr(inner, 'state_dict') else None for inner in self.iters]

    def state_dict(self) -> dict[str, Any]:
        """Where it is, if the inner iterators have a `state_dict`."""
        for inner in self.iters:
            _state_of(inner)
        return {'at_first': self._at_first, 'given': self._given}

    def load_state_dict(self, state: Any) -> None:
        """Goes on where `state_dict` was called; the batches in between are read again."""
        check_state('PrefetchingIter', state)
        for ahead in self._ahead:
            ahead.stop()
        for inner, found in zip(self.iters, state['at_first'], strict=True):
            inner.load_state_dict(found)
        self._note()
        for ahead in self._ahead:
            ahead.start()
        for _ in range(state['given']):
            self.iter_next()

    def iter_next(self) -> bool:
        batches: list[Any] = []
        for ahead in self._ahead:
            try:
                batches.append(ahead.next())
            except StopIteration:
                batches.append(None)
        if all(batch is None for batch in batches):
            return False
        pads = {None if batch is None else batch.pad for batch in batches}
        if None in batches or len(pads) > 1:
            raise MXNetError('PrefetchingIter: its iterators have different numbers of examples')
        self.current_batch = DataBatch([array for batch in batches for array in batch.data],
                                       [array for batch in batches for array in batch.label or ()],
                                       batches[0].pad, batches[0].index, batches[0].bucket_key,
                                       provide_data=self.provide_data, provide_label=self.provide_label)
        self._given += 1
        return True

    def next(self) -> DataBatch:
        if not self.iter_next():
            raise StopIteration
        return self.current_batch


def _check_inner(name, inner):
    if not hasattr(inner, 'provide_data'):
        raise TypeError(f'{name} wraps another iterator: it takes a DataIter, not {kind_of(inner)}')


def _state_of(inner):
    if not hasattr(inner, 'state_dict'):
        raise AttributeError(f'{type(inner).__name__} has no state_dict')
    return inner.state_dict()


_check_kept(PrefetchingIter, 'rename_data rename_label')
_suggest_names(globals())
