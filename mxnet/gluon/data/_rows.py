"""Rows of an array that a program works on one by one and that are computed together.

A transform such as `lambda data, label: (data.astype('float32') / 255, label)` is called for every sample.  It gets a
`Row`: an NDArray that notes conversions and arithmetic with numbers instead of doing them.  If all rows of a batch have
the same notes, which is what happens, `join` does them once for the whole batch.  Any other use of its values
(`materialize`) computes the row by itself.
"""
from typing import Any

import numpy
import torch

from ..._array import wrap
from ..._state import state
from ...ndarray import NDArray
from ...ndarray._interop import tensor_of


class Row(NDArray):
    """Row `_index` of the tensor `_base` after `_steps`, until it is materialized.

    Steps are (function, *arguments), and take an array with or without a batch axis in front.  An array that NDArray's
    own methods made of a row has a value and nothing else.
    """

    __slots__ = ('_base', '_index', '_steps')
    _base: torch.Tensor
    _index: int
    _steps: tuple[Any, ...]

    def meta(self):
        if self._storage is None:
            return self._after(torch.empty(self._base.shape[1:], dtype=self._base.dtype, device='meta')).meta()
        return NDArray.meta(self)

    def materialize(self, borrow=False):
        if self._storage is None:
            self._storage = self._after(self._base[self._index]).materialize()
        return self._storage

    def _after(self, tensor):
        """A tensor, as an array, after the steps."""
        array = wrap(tensor, self._ctx, NDArray)
        for function, *arguments in self._steps:
            array = function(array, *arguments)
        return array

    def open_to(self, dimensions=None):
        """Whether another step can be noted (for rows of so many dimensions)."""
        return (self._storage is None and not state.recording
                and (dimensions is None or self._base.dim() == dimensions + 1))

    def later(self, *step):
        """The row after one more step."""
        return row(self._base, self._index, self._ctx, (*self._steps, step))

    def astype(self, dtype, copy=True):
        if copy and self._storage is None and not state.recording:
            return self.later(NDArray.astype, dtype)
        return NDArray.astype(self, dtype, copy)

    def __reduce__(self):
        return wrap(self.materialize(), self._ctx, NDArray).__reduce__()


_new = object.__new__


def row(base, index, ctx, steps=()):
    array = _new(Row)
    array._base = base
    array._index = index
    array._ctx = ctx
    array._steps = steps
    array._storage = array._variable = array._pending = None
    return array


def _noted(name):
    compute = getattr(NDArray, name)

    def method(self, other):
        if self._storage is None and (type(other) is float or type(other) is int) and not state.recording:
            return row(self._base, self._index, self._ctx, (*self._steps, (compute, other)))
        return compute(self, other)

    method.__name__, method.__doc__ = name, compute.__doc__
    return method


# Division and the like are the same number for number, alone or in a batch; for exp and its kind torch promises less.
for _name in ('__add__', '__radd__', '__sub__', '__rsub__', '__mul__', '__rmul__', '__truediv__', '__rtruediv__'):
    setattr(Row, _name, _noted(_name))

# Programs see an NDArray, and print it as one.
Row.__name__ = Row.__qualname__ = 'NDArray'


def take(base, indices):
    """Rows of a tensor in memory of their own; `indices` is a NumPy array."""
    count = len(indices)
    first, last = int(indices[0]), int(indices[-1])
    if last - first == count - 1 and 0 <= first and last < len(base) and (indices[1:] - indices[:-1] == 1).all():
        return base[first:first + count].clone()
    chosen = tensor_of(indices)
    return base.index_select(0, chosen if base.device.type == 'cpu' else chosen.to(base.device))


def join(rows):
    """A batch of rows with the same notes about the same array; None if they are not that."""
    first = rows[0]
    if first._storage is not None:
        return None
    base, steps = first._base, first._steps
    for other in rows:
        if type(other) is not Row or other._storage is not None or other._base is not base or other._steps != steps:
            return None
    indices = numpy.fromiter((r._index for r in rows), numpy.int64, len(rows))
    if indices.min() < 0:
        return None
    batch = wrap(take(base, indices), first._ctx, NDArray)
    for function, *arguments in steps:
        batch = function(batch, *arguments)
    return batch
