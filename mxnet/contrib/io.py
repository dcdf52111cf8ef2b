"""A Gluon DataLoader as an iterator for Module."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import ndarray as nd
from ..io import DataDesc, DataIter

if TYPE_CHECKING:
    from .._typing import DType
    from ..ndarray import NDArray

__all__ = ['DataLoaderIter']


class DataLoaderIter(DataIter):
    """Batches (data, label) of a `gluon.data.DataLoader` for `Module.fit` and its like, as `dtype`.

    The first batch tells the shapes.  A smaller one is filled up with zeros, and `pad` says by how many samples.

    >>> samples = mx.gluon.data.ArrayDataset(mx.nd.ones((5, 2)), mx.nd.arange(5))
    >>> iterator = DataLoaderIter(mx.gluon.data.DataLoader(samples, batch_size=2))
    >>> [(batch.data[0].shape, batch.pad) for batch in iterator]
    [((2, 2), 0), ((2, 2), 0), ((2, 2), 1)]
    """

    provide_data: Any
    provide_label: Any

    def __init__(self, loader: Any, data_name: str = 'data', label_name: str = 'softmax_label',
                 dtype: DType = 'float32') -> None:
        super().__init__()
        self._loader = loader
        self._batches: Any = None
        self._current: Any = None
        first = next(iter(loader), None)
        if first is None:
            raise ValueError('DataLoaderIter: the loader has no batch, so its shapes are unknown')
        data, label = first
        self.batch_size: Any = data.shape[0]
        self.dtype = dtype
        self.provide_data = [DataDesc(data_name, data.shape, dtype)]
        self.provide_label = [DataDesc(label_name, label.shape, dtype)]

    def reset(self) -> None:
        """Begins with the first batch again."""
        self._batches = None

    def iter_next(self) -> bool:
        """Goes to the next batch; False if there is none."""
        # workers begin when a batch is wanted, not when an iterator is made or reset
        if self._batches is None:
            self._batches = iter(self._loader)
        self._current = next(self._batches, None)
        return self._current is not None

    def _part(self, index):
        values = self._current[index].astype(self.dtype)
        missing = self.getpad()
        if missing:
            filler = nd.zeros((missing, *values.shape[1:]), ctx=values.context, dtype=self.dtype)
            values = nd.concat(values, filler, dim=0)
        return [values]

    def getdata(self) -> list[NDArray]:
        """The data of the batch."""
        return self._part(0)

    def getlabel(self) -> list[NDArray]:
        """The labels of the batch."""
        return self._part(1)

    def getpad(self) -> int:
        """How many samples of the batch are filler."""
        return self.batch_size - self._current[0].shape[0]

    def getindex(self) -> None:
        """None: a loader does not tell the places of its samples."""
        return None
