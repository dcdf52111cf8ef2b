"""What an iterator is, and what it gives: `DataDesc`, `DataBatch`, `DataIter`."""
from collections import namedtuple

import numpy

from .._dispatch import entering, interceptors
from .._names import explain_arguments

__all__ = ['DataBatch', 'DataDesc', 'DataIter']

_LISTS = (list, tuple, type(None))


class DataDesc(namedtuple('DataDesc', ['name', 'shape'])):
    """Name, shape, dtype and layout of an array that an iterator gives or a network takes.

    To compare and to unpack, it is the pair (name, shape).  The layout says which axis is which: the one called N has
    the examples of a batch.

    >>> mx.io.DataDesc('data', (32, 3, 224, 224))
    DataDesc[data,(32, 3, 224, 224),<class 'numpy.float32'>,NCHW]
    """

    __module__ = 'mxnet.io.io'
    dtype: object
    layout: str | None

    def __new__(cls, name, shape, dtype=numpy.float32, layout='NCHW'):
        self = super().__new__(cls, name, shape)
        self.dtype, self.layout = dtype, layout
        return self

    def __repr__(self):
        return f'DataDesc[{self.name},{self.shape},{self.dtype},{self.layout}]'

    @staticmethod
    def get_batch_axis(layout):
        """The axis that has the examples: 0 without a layout, -1 if the layout has no N (such arrays are not split).

        >>> mx.io.DataDesc.get_batch_axis('TNC')
        1
        """
        return 0 if layout is None else layout.find('N')

    @staticmethod
    def get_list(shapes, types):
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

    def __init__(self, data, label=None, pad=None, index=None, bucket_key=None, provide_data=None, provide_label=None):
        if not isinstance(data, _LISTS) or not isinstance(label, _LISTS):
            name, value = ('label', label) if isinstance(data, _LISTS) else ('data', data)
            raise TypeError(f'DataBatch: {name} must be a list of arrays, not a {type(value).__name__}')
        self.data = data
        self.label = label
        self.pad = pad
        self.index = index
        self.bucket_key = bucket_key
        self.provide_data = provide_data
        self.provide_label = provide_label

    def __str__(self):
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

    __module__ = 'mxnet.io.io'

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        explain_arguments(cls)

    def __init__(self, batch_size=0):
        self.batch_size = batch_size

    def __iter__(self):
        return self

    def __next__(self):
        if interceptors and (scope := entering('DataIter.__next__')) is not None:
            with scope:
                return DataIter.__next__(self)
        return self.next()

    def reset(self):
        """Back to the first batch."""

    def next(self):
        """The next batch; StopIteration when there is none."""
        if not self.iter_next():
            raise StopIteration
        return DataBatch(data=self.getdata(), label=self.getlabel(), pad=self.getpad(), index=self.getindex())

    def iter_next(self):
        """Goes on to the next batch; whether there is one."""

    def getdata(self):
        """The data of the batch that `iter_next` went to."""

    def getlabel(self):
        """Its labels."""

    def getindex(self):
        """The numbers of its examples, or None."""
        return None

    def getpad(self):
        """How many examples at its end only fill it up."""


def check_state(name, state, /, **own):
    """Raises ValueError if a state is not that of an iterator over the same data."""
    if not isinstance(state, dict):
        raise ValueError(f'{name}: the state of an iterator is a dict, not a {type(state).__name__}')
    for key, value in own.items():
        if state.get(key) != value:
            raise ValueError(f'{name}: the state is one of other data: {key} is {state.get(key)!r} there, here '
                             f'{value!r}')
