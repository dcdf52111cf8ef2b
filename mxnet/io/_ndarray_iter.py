"""`NDArrayIter`: batches of arrays that are in memory, or in an h5py file."""
from __future__ import annotations

from typing import Any

import numpy
import torch

from .._array import wrap
from ..base import MXNetError
from ..ndarray import NDArray
from ..ndarray.sparse import CSRNDArray
from ._base import DataBatch, DataDesc, DataIter, check_state
from .utils import _consecutive, _examples, _has_instance, _init_data

__all__ = ['NDArrayIter']

_LAST = ('pad', 'discard', 'roll_over')


class NDArrayIter(DataIter):
    """Batches of arrays.

    data, label: an NDArray, numpy.ndarray, h5py.Dataset, CSRNDArray or scipy.sparse.csr_matrix, a list of them, or a
        dict of names and arrays.  Arrays are given in the order of their names.
    shuffle: a new order at each `reset`, drawn from `numpy.random`, as upstream
    last_batch_handle: what becomes of the examples that are left when the last batch is not full.  'pad' fills it with
        examples from the beginning, 'discard' drops them, 'roll_over' puts them at the front of the next epoch.
        CSR arrays know 'discard' only.
    layout: the place of N in it is the axis of the examples

    >>> batches = mx.io.NDArrayIter(np.arange(5), batch_size=2)
    >>> [(batch.data[0].asnumpy().tolist(), batch.pad) for batch in batches]
    [([0.0, 1.0], 0), ([2.0, 3.0], 0), ([4.0, 0.0], 1)]
    """

    idx: Any
    cursor: Any

    __module__ = 'mxnet.io.io'

    def __init__(self, data: Any, label: Any = None, batch_size: int = 1, shuffle: bool = False,
                 last_batch_handle: str = 'pad', data_name: str = 'data', label_name: str = 'softmax_label',
                 layout: str = 'NCHW') -> None:
        super().__init__(batch_size)
        if not isinstance(batch_size, (int, numpy.integer)):
            raise TypeError(f'NDArrayIter: batch_size must be an int, not {batch_size!r}')
        if batch_size < 1:
            raise ValueError(f'NDArrayIter: batch_size must be positive, not {batch_size}')
        if last_batch_handle not in _LAST:
            raise ValueError(f'NDArrayIter: last_batch_handle must be one of {_LAST}, not {last_batch_handle!r}')
        if 'N' not in layout:
            raise ValueError(f'NDArrayIter: layout {layout!r} has no N, the axis of the examples')
        self.data: Any = _init_data(data, allow_empty=False, default_name=data_name)
        self.label: Any = _init_data(label, allow_empty=True, default_name=label_name)
        if last_batch_handle != 'discard' and _has_instance(self.data + self.label, CSRNDArray):
            raise NotImplementedError("NDArrayIter: CSR arrays can be used with last_batch_handle='discard' only, "
                                      f'not {last_batch_handle!r}')
        self.layout: str
        self.shuffle: bool
        self.layout, self.shuffle, self.last_batch_handle = layout, shuffle, last_batch_handle
        first = self.data[0][1]
        self.num_data: Any = first.shape[self._axis(first)]
        for name, array in self.data + self.label:
            found = array.shape[self._axis(array)]
            if found != self.num_data:
                raise MXNetError(f'NDArrayIter: {name!r} has {found} examples, but {self.data[0][0]!r} has '
                                 f'{self.num_data}; all arrays must have the same number of examples')
        if not self.num_data:
            raise MXNetError(f'NDArrayIter: {self.data[0][0]!r} has no examples: its shape is {first.shape}')
        self.idx = numpy.arange(self.num_data)          # the order of the examples
        self._shuffled, self._order = self.idx.copy(), self.idx.copy()
        self._own = self.data, self.label               # lists that a class of the program's may exchange
        self._rolled = self.idx[:0]                     # what the last epoch has left over
        self.cursor = -batch_size
        self._pieces: dict[Any, Any] = {}
        self.reset()

    def _axis(self, array):
        axis = self.layout.find('N')
        return axis if axis < len(array.shape) else 0       # labels have fewer axes than data, and one of examples

    # ------------------------------------------------------------------ what it gives
    @property
    def data_list(self) -> list[Any]:
        """All arrays, data first."""
        return [array for _, array in self.data + self.label]

    @property
    def num_source(self) -> int:
        """How many arrays there are."""
        return len(self.data) + len(self.label)

    @property
    def provide_data(self) -> list[DataDesc]:
        """Names, shapes and dtypes of the data."""
        return self._descriptions(self.data)

    @property
    def provide_label(self) -> list[DataDesc]:
        """Names, shapes and dtypes of the labels."""
        return self._descriptions(self.label)

    def _descriptions(self, sources):
        found = []
        for name, array in sources:
            axis = self._axis(array)
            shape = (*array.shape[:axis], self.batch_size, *array.shape[axis + 1:])
            found.append(DataDesc(name, shape, array.dtype, layout=self.layout))
        return found

    # ------------------------------------------------------------------ where it is
    def reset(self) -> None:
        """Back to the first batch, in a new order if shuffled; leftovers of 'roll_over' come first."""
        left = self.idx[:0]
        if self.last_batch_handle == 'roll_over' and self.num_data - self.batch_size < self.cursor < self.num_data:
            left = numpy.concatenate([self._rolled, self._order])[self.cursor + len(self._rolled):]
        self._rolled = left
        self._begin()

    def hard_reset(self) -> None:
        """As `reset`, but leftovers of 'roll_over' are forgotten."""
        self._rolled = self.idx[:0]
        self._begin()

    def _begin(self):
        if self.shuffle:
            # each epoch shuffles the one before it, in the way that gives upstream's orders for the same seed
            numpy.random.shuffle(self._shuffled)
            self._order = self._order[self._shuffled]
            self.idx = self._order.copy()
        self.cursor = -self.batch_size - len(self._rolled)

    def state_dict(self) -> dict[str, Any]:
        """Where the iterator is, and in which order it goes, for `load_state_dict`."""
        return {'num_data': self.num_data, 'batch_size': self.batch_size, 'cursor': int(self.cursor),
                'order': self._order.copy() if self.shuffle else None,
                'shuffled': self._shuffled.copy() if self.shuffle else None, 'rolled': self._rolled.copy()}

    def load_state_dict(self, state: Any) -> None:
        """Goes on where `state_dict` was called, here or in an iterator over as many examples in another process."""
        check_state('NDArrayIter', state, num_data=self.num_data, batch_size=self.batch_size)
        if (state['order'] is not None) != bool(self.shuffle):
            raise ValueError(f'NDArrayIter: the state is one of other data: here shuffle={self.shuffle}')
        if self.shuffle:
            self._order, self._shuffled = state['order'].copy(), state['shuffled'].copy()
            self.idx = self._order.copy()
        self._rolled, self.cursor = state['rolled'].copy(), state['cursor']
        self._pieces = {}

    def iter_next(self) -> bool:
        """Goes on to the next batch; whether there is one."""
        last = self._last()
        if self.cursor <= last:         # the end stays the end
            self.cursor += self.batch_size
        return self.cursor <= last

    def _last(self):
        """Where a batch can begin at most."""
        return self.num_data - (1 if self.last_batch_handle == 'pad' else self.batch_size)

    def next(self) -> DataBatch:
        """The next batch; StopIteration when there is none."""
        if not self.iter_next():
            raise StopIteration
        return DataBatch(data=self.getdata(), label=self.getlabel(), pad=self.getpad(), index=None)

    # ------------------------------------------------------------------ batches
    def getdata(self) -> Any:
        """The data of the batch that `iter_next` went to."""
        return self._batch(self.data)

    def getlabel(self) -> Any:
        """Its labels."""
        return self._batch(self.label)

    def getpad(self) -> Any:
        """How many examples fill up the last batch; with 'roll_over', how many the first one has from before."""
        if self.last_batch_handle == 'pad':
            return max(0, self.cursor + self.batch_size - self.num_data)
        return max(0, -self.cursor) if self.cursor > -self.batch_size else 0

    def _batch(self, sources):
        begin, end = self.cursor, self.cursor + self.batch_size
        if 0 <= begin and end <= self.num_data:
            order = self._order if self.shuffle and self._is_own(sources) else None
            return [self._part(array, begin, end, order) for _, array in sources]
        if begin <= -self.batch_size or begin > self._last():
            raise MXNetError('NDArrayIter: there is no batch here; call reset, then next or iter_next')
        whole = self._order if self._is_own(sources) else numpy.arange(self.num_data)
        if begin < 0:
            order = numpy.concatenate([self._rolled, whole[:end]])
        else:
            order = whole[numpy.arange(begin, end) % self.num_data]
        return [_examples(array, order, self._axis(array)) for _, array in sources]

    def _is_own(self, sources):
        """Whether arrays are to be given in our order: a program that exchanges them orders them itself."""
        return sources is self._own[0] or sources is self._own[1]

    def _part(self, array, begin, end, order):
        """Examples begin to end of an array."""
        pieces = self._pieces.get(id(array))
        tensor = None if pieces is None else pieces.take(array, begin, order)
        if tensor is None:
            axis = self._axis(array)
            if axis or not isinstance(array, NDArray) or array._sparse:
                return _consecutive(array, begin, end, axis) if order is None else \
                    _examples(array, order[begin:end], axis)
            pieces = self._pieces[id(array)] = _Pieces(array, begin, self.num_data, self.batch_size, order)
            tensor = pieces.take(array, begin, order)
        return wrap(tensor, array._ctx, array._dense)


class _Pieces:
    """A copy of the examples of some batches to come, in one piece; each batch is a part of it, given out once."""

    __slots__ = ('_tensor', '_version', '_order', '_begin', '_size', '_parts')

    def __init__(self, array, begin, count, size, order):
        self._tensor = array.materialize()
        source = self._tensor.detach()
        self._version, self._order, self._begin, self._size = source._version, order, begin, size
        each = max(1, source[:1].nbytes * size)
        most, most_bytes = MOST[source.is_cuda]
        end = begin + max(1, min((count - begin) // size, most, most_bytes // each)) * size
        if order is None:
            copy = source[begin:end].clone()
        else:
            copy = source.index_select(0, torch.from_numpy(order[begin:end]).to(source.device))
        # unsafe: a write into one batch is not, for autograd, a write into the others
        self._parts = list(torch.unsafe_split(copy, size))
        self._parts.reverse()

    def take(self, array, begin, order):
        """The batch at `begin`; None if it is not the next part, or if the array has been written since."""
        tensor = array.materialize()
        if not self._parts or begin != self._begin or order is not self._order or tensor is not self._tensor \
                or tensor._version != self._version:
            return None
        self._begin += self._size
        return self._parts.pop()


# {on a GPU: (batches, bytes)} that are copied together: a GPU's copies cost much to start, a CPU's cache is small
MOST = {True: (64, 1 << 26), False: (16, 1 << 20)}
