"""How samples of data sets in memory are read: a whole batch at once, or as rows that are computed together.

A source has `sample(i)`, which is `dataset[i]` with arrays as `Row`s, and `batch(indices)`, which is what
`default_batchify_fn` would make of these samples, or None where it must be made of samples.  Indices that are out of
range, or count from the end, may raise IndexError; then the data set itself decides what they mean.
"""
import numpy

from ..._array import wrap
from ...context import cpu, current_context
from ...ndarray import NDArray, array
from ...ndarray._interop import tensor_of
from ...util import is_np_array
from ._rows import row, take

_PLAIN = frozenset(numpy.dtype(d) for d in ('uint8', 'int8', 'int32', 'int64', 'float16', 'float32', 'float64'))


def of(data):
    """The source of a data set, list or array; None where samples can only be had by index."""
    if is_np_array():
        return None
    if type(data) is NDArray or type(data) is numpy.ndarray:
        return columns([data])
    find = getattr(data, '_source', None)
    return find() if callable(find) else None


def expecter(data):
    """What takes the indices of samples that will be read soon; None where the data are on this machine."""
    find = getattr(data, '_expecter', None)
    return find() if callable(find) else None


def reads_like(dataset, cls):
    """Whether a data set reads its samples as `cls` does: a subclass may do it in its own way."""
    return type(dataset).__getitem__ is cls.__getitem__ and type(dataset).__len__ is cls.__len__


def columns(arrays):
    """A source for arrays side by side."""
    if is_np_array() or not all(_is_column(a) for a in arrays):
        return None
    return Columns([a.materialize().detach() if isinstance(a, NDArray) else a for a in arrays],
                   [a._ctx if isinstance(a, NDArray) else None for a in arrays])


def _is_column(data):
    if type(data) is NDArray:
        return len(data.meta().shape) > 1
    return type(data) is numpy.ndarray and data.ndim > 0 and data.dtype in _PLAIN


def transformed(source, fn):
    return None if source is None else Transformed(source, fn)


def selected(source, indices):
    indices = as_indices(indices)
    return None if source is None or indices is None else Selected(source, indices)


def as_indices(indices):
    """Indices as a NumPy array; None where they are not numbers."""
    if type(indices) is numpy.ndarray and indices.dtype == numpy.int64:
        return indices
    found = numpy.asarray(indices)
    if found.ndim != 1 or not len(found) or found.dtype.kind not in 'iu':
        return None
    return found.astype(numpy.int64, copy=False)


class Columns:
    """Arrays side by side: torch tensors, whose rows are `Row`s, and NumPy arrays."""

    def __init__(self, arrays, contexts):
        self._arrays, self._contexts = arrays, contexts

    def sample(self, i):
        parts = tuple(a[i] if ctx is None else row(a, i, ctx)
                      for a, ctx in zip(self._arrays, self._contexts, strict=True))
        return parts if len(parts) > 1 else parts[0]

    def batch(self, indices):
        parts = [stacked(a[indices]) if ctx is None else wrap(take(a, indices), ctx, NDArray)
                 for a, ctx in zip(self._arrays, self._contexts, strict=True)]
        return parts if len(parts) > 1 else parts[0]


class Transformed:
    """A source whose samples go through a function."""

    def __init__(self, source, fn):
        self._source, self._fn = source, fn

    def sample(self, i):
        item = self._source.sample(i)
        return self._fn(*item) if isinstance(item, tuple) else self._fn(item)

    def batch(self, indices):
        return None


class Selected:
    """Some samples of a source."""

    def __init__(self, source, indices):
        self._source, self._indices = source, indices

    def sample(self, i):
        return self._source.sample(int(self._indices[i]))

    def batch(self, indices):
        return self._source.batch(self._indices[indices])


def stacked(values):
    """A NumPy array to which nothing else refers, as an NDArray on the current context."""
    if values.dtype in _PLAIN and values.flags.c_contiguous and current_context() is cpu():
        return wrap(tensor_of(values), cpu(), NDArray)
    return array(values, dtype=values.dtype)
