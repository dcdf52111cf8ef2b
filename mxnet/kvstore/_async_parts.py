"""Where the values of dist_async are: whole on one server, or cut into parts of rows or of numbers."""
import math
import zlib
from dataclasses import dataclass
from typing import Any

import numpy
import torch

from .._array import wrap
from ..context import cpu
from ..ndarray import NDArray, sparse
from ._async_server import from_numpy, to_numpy

__all__ = ['Known', 'copy_parts', 'joined', 'part_of', 'stable']


@dataclass(frozen=True)
class Known:
    """What a worker remembers of a value that the servers have."""

    shape: tuple
    dtype: Any
    tensor_dtype: torch.dtype
    stype: str
    parts: tuple                # (server, start, end) in rows, or in numbers of the flat array
    flat: bool = False          # which of the two
    context = cpu()

    @property
    def _sparse(self):
        return self.stype != 'default'

    def shape_of(self, start, end):
        """The shape of a part."""
        return (end - start,) if self.flat else (end - start, *self.shape[1:]) if len(self.parts) > 1 else self.shape

    @classmethod
    def of(cls, key, value, servers, bound):
        """A value that is cut into parts if it has `bound` numbers or more; None: never."""
        shape = tuple(value.shape)
        tensor_dtype = value.tensor_dtype if isinstance(value, Known) else \
            (value.data if value._sparse else value).meta().dtype
        size, flat = math.prod(shape), False
        if servers == 1 or bound is None or size < bound or not size:
            number = zlib.crc32(repr(key).encode()) % servers
            parts: tuple[Any, ...] = ((number, 0, shape[0] if shape else 1),)
        else:
            flat = not value._sparse and shape[0] < servers
            rows = size if flat else shape[0]
            edges = [rows * i // servers for i in range(servers + 1)]
            parts = tuple((i, *edges[i:i + 2]) for i in range(servers) if edges[i] < edges[i + 1])
        return cls(shape, value.dtype, tensor_dtype, value.stype, parts, flat)

    def pieces(self, tensor):
        """[(server, part of a dense tensor)]"""
        if len(self.parts) == 1:
            return [(self.parts[0][0], tensor)]
        rows = tensor.reshape(-1) if self.flat else tensor
        return [(server, rows[start:end]) for server, start, end in self.parts]

    def row_pieces(self, value):
        """[(server, (rows, data))] of a row_sparse array."""
        rows, data = value.indices.materialize().detach().to(torch.int64).cpu(), value.data.materialize().detach().cpu()
        found = []
        for server, start, end in self.parts:
            low, high = torch.searchsorted(rows, torch.tensor([start, end])).tolist()
            found.append((server, (stable(rows[low:high] - start), stable(data[low:high]))))
        return found

    def first_messages(self, value):
        """[(server, (dtype, shape, content))] of a first value."""
        name = str(self.tensor_dtype).removeprefix('torch.')
        pieces = self.row_pieces(value) if self._sparse else \
            [(server, stable(part)) for server, part in self.pieces(value.materialize().detach())]
        return [(server, (name, self.shape_of(start, end), content))
                for (server, content), (_, start, end) in zip(pieces, self.parts, strict=True)]

    def sparse_value(self, parts):
        """The row_sparse array of (start, end, (rows, data)) that servers sent."""
        rows = numpy.concatenate([rows + start for start, _, (rows, _) in parts])
        values = numpy.concatenate([data for _, _, (_, data) in parts])
        data = wrap(from_numpy(values, self.tensor_dtype), cpu(), NDArray)
        return sparse.row_sparse_array((data, wrap(torch.from_numpy(rows), cpu(), NDArray)), shape=self.shape,
                                       dtype=self.dtype, ctx=cpu())


def stable(tensor):
    """A NumPy array of its own memory."""
    return to_numpy(tensor.clone(memory_format=torch.contiguous_format))


def copy_parts(tensor, known, parts):
    """Fills a dense tensor from the parts that servers sent."""
    whole = tensor if tensor.is_contiguous() and tensor.device.type == 'cpu' else torch.empty(
        known.shape, dtype=known.tensor_dtype)
    if whole.dtype != known.tensor_dtype:
        whole = torch.empty(known.shape, dtype=known.tensor_dtype)
    rows = to_numpy(whole.reshape(-1) if known.flat or len(known.parts) == 1 else whole)
    for start, end, content in parts:
        if len(parts) == 1:
            numpy.copyto(rows, content.reshape(-1))
        else:
            numpy.copyto(rows[start:end], content)
    if whole is not tensor:
        tensor.copy_(whole)


def joined(states, known):
    """The state of a whole value from those of its parts."""
    first = states[0]
    if len(states) == 1 or first is None:
        return first
    if isinstance(first, (tuple, list)):
        return type(first)([joined(column, known) for column in zip(*states, strict=True)])
    start, end = known.parts[0][1:]
    if isinstance(first, NDArray) and tuple(first.shape) == known.shape_of(start, end):
        tensor = torch.cat([(s.tostype('default') if s._sparse else s).materialize() for s in states])
        whole = wrap(tensor.view(known.shape), cpu(), NDArray)
        return whole.tostype(first.stype) if first._sparse else whole
    return first


def part_of(state, known, number, start, end):
    """The part of a whole value's state."""
    if len(known.parts) == 1 or state is None:
        return state
    if isinstance(state, (tuple, list)):
        return type(state)([part_of(inner, known, number, start, end) for inner in state])
    if isinstance(state, NDArray) and tuple(state.shape) == known.shape:
        tensor = (state.tostype('default') if state._sparse else state).materialize()
        rows = tensor.reshape(-1) if known.flat else tensor
        part = wrap(rows[start:end].clone(), cpu(), NDArray)
        return part.tostype(state.stype) if state._sparse else part
    return state
