"""Functions that make a batch of samples, for `DataLoader(batchify_fn=...)`.

>>> pad = Group(Pad(), Stack())
>>> words, labels = pad([([1, 2, 3], 0), ([4], 1)])
>>> words.asnumpy().tolist(), labels.asnumpy().tolist()
([[1, 2, 3], [4, 0, 0]], [0, 1])
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy
import torch

from ..._array import wrap
from ..._names import kind_of
from ...ndarray import NDArray, array
from ...util import is_np_array
from ._rows import Row, join
from ._sources import stacked

if TYPE_CHECKING:
    from ..._typing import DType

__all__ = ['Append', 'AsList', 'Group', 'Pad', 'Stack', 'default_batchify_fn', 'default_mp_batchify_fn']


def default_batchify_fn(data: Any) -> Any:
    """A batch of samples: arrays stacked, tuples part by part, everything else through NumPy."""
    first = data[0]
    if isinstance(first, NDArray):
        return _stack(data)
    if isinstance(first, tuple):
        if any(len(sample) != len(data[0]) for sample in data):
            raise ValueError('the samples of a batch must have the same number of parts, but there are some with '
                             f'{len(data[0])} and with {next(len(s) for s in data if len(s) != len(data[0]))}')
        return [default_batchify_fn(part) for part in zip(*data, strict=True)]
    return _from_numpy(_numbers_of(data))


default_mp_batchify_fn = default_batchify_fn        # memory is shared on the way from a worker


def _numbers_of(data):
    try:
        values = numpy.asarray(data)
    except ValueError:
        values = None
    if values is None or values.dtype.kind not in 'biuf':
        raise TypeError(f'samples of type {type(data[0]).__name__} cannot be combined into an array, or have different '
                        'shapes; pass batchify_fn=, such as gluon.data.batchify.AsList() or Pad()')
    return values


def _from_numpy(values):
    if is_np_array():
        from ... import numpy as np
        return np.array(values, dtype=values.dtype)
    return stacked(values)


def _stack(arrays):
    """Arrays of one shape as one array."""
    if type(arrays[0]) is Row:
        batch = join(arrays)
        if batch is not None:
            return batch
    first = arrays[0]
    tensors = [a.materialize() for a in arrays]
    shape = tensors[0].shape
    if any(t.shape != shape for t in tensors):
        shapes = sorted({tuple(t.shape) for t in tensors})
        raise ValueError(f'samples of different shapes cannot be stacked to a batch: {shapes[0]} and {shapes[1]}; '
                         'make them equal in a transform, or pass batchify_fn=gluon.data.batchify.Pad()')
    batch = torch.stack(tensors)
    return wrap(batch.detach() if batch.requires_grad else batch, first._ctx, first._dense)


def _numbers(value):
    """A sample's part as a NumPy array."""
    return value.asnumpy() if isinstance(value, NDArray) else numpy.asarray(value)


class Stack:
    """Stacks samples of one shape along a new first axis.

    >>> Stack()([mx.nd.ones((2,)), mx.nd.zeros((2,))]).shape
    (2, 2)
    """

    def __call__(self, data: Any) -> Any:
        if isinstance(data[0], NDArray):
            return _stack(data)
        return _from_numpy(numpy.stack([numpy.asarray(d) for d in data]))


class Pad:
    """Fills samples up to the longest in each axis and stacks them.

    `val` is what they are filled with; `ret_length=True` gives (batch, lengths along `axis`) instead; `round_to` makes
    lengths along `axis` a multiple.

    >>> Pad(val=-1)([[1, 2], [3]]).asnumpy().tolist()
    [[1, 2], [3, -1]]
    """

    def __init__(self, axis: int = 0, val: float = 0, ret_length: bool = False, dtype: DType | None = None,
                 round_to: int | None = None) -> None:
        self._axis, self._val, self._ret_length = axis, val, ret_length
        self._dtype, self._round_to = dtype, round_to

    def __call__(self, data: Any) -> Any:
        values = [_numbers(d) for d in data]
        if len({v.ndim for v in values}) != 1:
            raise ValueError(f'Pad: samples have different numbers of axes: {sorted({v.ndim for v in values})}')
        shape = [max(v.shape[i] for v in values) for i in range(values[0].ndim)]
        if self._round_to:
            shape[self._axis] = -(-shape[self._axis] // self._round_to) * self._round_to
        batch = numpy.full((len(values), *shape), self._val, self._dtype or numpy.result_type(*values))
        for place, value in zip(batch, values, strict=True):
            place[tuple(slice(n) for n in value.shape)] = value
        if not self._ret_length:
            return _from_numpy(batch)
        return _from_numpy(batch), _from_numpy(numpy.array([v.shape[self._axis] for v in values], dtype='int32'))


class Append:
    """A list of arrays, each with a batch axis of length 1 in front unless `expand` is False."""

    def __init__(self, expand: bool = True, batch_axis: int = 0) -> None:
        self._expand, self._batch_axis = expand, batch_axis

    def __call__(self, data: Any) -> Any:
        values = [_numbers(d) for d in data]
        if self._expand:
            values = [numpy.expand_dims(v, self._batch_axis) for v in values]
        return [array(v, dtype=v.dtype) if not is_np_array() else _from_numpy(v) for v in values]


class Group:
    """One batchify function for each part of a sample."""

    def __init__(self, fn: Callable[..., Any] | Sequence[Callable[..., Any]], *args: Any) -> None:
        self._fn = tuple(fn) if isinstance(fn, (list, tuple)) else (fn, *args)
        for function in self._fn:
            if not callable(function):
                raise TypeError(f'Group takes functions, not {kind_of(function)}')

    def __call__(self, data: Any) -> Any:
        if len(data[0]) != len(self._fn):
            raise ValueError(f'Group has {len(self._fn)} functions, but a sample has {len(data[0])} parts')
        return tuple(fn([sample[i] for sample in data]) for i, fn in enumerate(self._fn))


class AsList:
    """The samples as they are, in a list: for text and the like."""

    def __call__(self, data: Any) -> Any:
        return list(data)
