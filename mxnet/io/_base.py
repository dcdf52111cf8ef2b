"""What an iterator is, and what it gives: `DataDesc`, `DataBatch`, `DataIter`."""
from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy

from .._dispatch import entering, interceptors
from .._names import explain_arguments, kind_of

if TYPE_CHECKING:
    from .._typing import DataDescs, DType
    from ..ndarray import NDArray

__all__ = ['DataBatch', 'DataDesc', 'DataIter']

_LISTS = (list, tuple, type(None))


class DataDesc(namedtuple('DataDesc', ['name', 'shape'])):
    """Name, shape, dtype and layout of an array that an iterator gives or a network takes.

    To compare and to unpack, it is the pair (name, shape).  The layout says which axis is which: the one called N has
    the examples of a batch.

    >>> mx.io.DataDesc('data', (32, 3, 224, 224))
    DataDesc[data,(32, 3, 224, 224),<class 'numpy.float32'>,NCHW]
    """

    name: Any
    shape: Any

    __module__ = 'mxnet.io.io'
    dtype: DType
    layout: str | None

    def __new__(cls, name: str, shape: Sequence[int], dtype: DType = numpy.float32,
                layout: str | None = 'NCHW') -> Self:
        self = super().__new__(cls, name, shape)
        self.dtype, self.layout = dtype, layout
        return self

    def __repr__(self) -> str:
        return f'DataDesc[{self.name},{self.shape},{self.dtype},{self.layout}]'

    @staticmethod
    def get_batch_axis(layout: str | None) -> int:
        """The axis that has the examples: 0 without a layout, -1 if the layout has no N (such arrays are not split).

        >>> mx.io.DataDesc.get_batch_axis('TNC')
        1
        """
        return 0 if layout is None else layout.find('N')

    @staticmethod
    def get_list(shapes: Any, types: Any) -> list[DataDesc]:
        """A list of DataDesc from (name, shape) pairs and (name, dtype) pairs; `types` may be None."""
        if types is None:
            return [DataDesc(name, shape) for name, shape in shapes]
        types = dict(types)
        return [DataDesc(name, shape, types[name]) for name, shape in shapes]


class DataBatch:
    """What `DataIter.next` returns.

    data, label: lists of arrays
    pad: how many examples at the end of the batch only fill it up
    index: numbers of the examples, where the iterator knows them
    bucket_key: for BucketingModule
    provide_data, provide_label: lists of DataDesc, where they differ from those of the iterator
    """

    __module__ = 'mxnet.io.io'
    data: Any           # lists of arrays; None where an iterator has none
    label: Any

    def __init__(self, data: Sequence[NDArray] | None, label: Sequence[NDArray] | None = None, pad: int | None = None,
                 index: Any = None, bucket_key: Any = None, provide_data: DataDescs | None = None,
                 provide_label: DataDescs | None = None) -> None:
        if not isinstance(data, _LISTS) or not isinstance(label, _LISTS):
            name, value = ('label', label) if isinstance(data, _LISTS) else ('data', data)
            raise TypeError(f'DataBatch: {name} must be a list of arrays, not {kind_of(value)}')
        self.data = data
        self.label = label
        self.pad = pad
        self.index = index
        self.bucket_key = bucket_key
        self.provide_data = provide_data
        self.provide_label = provide_label

    def __str__(self) -> str:
        data = [array.shape for array in self.data]
        label = [array.shape for array in self.label] if self.label else None
        return f'{type(self).__name__}: data shapes: {data} label shapes: {label}'


class DataIter:
    """The base of all iterators: `for batch in iterator` gives one DataBatch after the other, `reset` starts again.

    A subclass has either `next`, or `iter_next`, `getdata`, `getlabel` and `getpad`; and the properties `provide_data`
    and `provide_label`, lists of DataDesc.  With `state_dict`, which gives a dict of plain values and NumPy arrays that
    says where it is, and `load_state_dict`, which takes it, training that is resumed gets the batches that were to
    come.
    """

    provide_data: Any           # lists of DataDesc, set by subclasses
    provide_label: Any

    __module__ = 'mxnet.io.io'

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        explain_arguments(cls)

    def __init__(self, batch_size: int = 0) -> None:
        self.batch_size = batch_size

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> DataBatch:
        if interceptors and (scope := entering('DataIter.__next__')) is not None:
            with scope:
                return DataIter.__next__(self)
        return self.next()

    def reset(self) -> None:
        """Back to the first batch."""

    def next(self) -> DataBatch:
        """The next batch; StopIteration when there is none."""
        if not self.iter_next():
            raise StopIteration
        return DataBatch(data=self.getdata(), label=self.getlabel(), pad=self.getpad(), index=self.getindex())

    def iter_next(self) -> bool:
        """Goes on to the next batch; whether there is one."""
        return None         # type: ignore[return-value]  # as upstream's

    def getdata(self) -> Any:
        """The data of the batch that `iter_next` went to."""

    def getlabel(self) -> Any:
        """Its labels."""

    def getindex(self) -> Any:
        """The numbers of its examples, or None."""
        return None

    def getpad(self) -> Any:
        """How many examples at its end only fill it up."""


def check_state(name: str, state: Mapping[str, Any], /, **own: Any) -> None:
    """Raises ValueError if a state is not that of an iterator over the same data."""
    if not isinstance(state, dict):
        raise ValueError(f'{name}: the state of an iterator is a dict, not {kind_of(state)}')
    for key, value in own.items():
        if state.get(key) != value:
            raise ValueError(f'{name}: the state is one of other data: {key} is {state.get(key)!r} there, here '
                             f'{value!r}')
