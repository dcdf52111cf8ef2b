"""What every worker collects from all, and adds up for itself: rows of sparse values, and compressed gradients.

The keys of a call that lie on one device are one message.  It begins with the numbers that workers compare.  All add up
in the order of the workers, so that all get the same bits.
"""
import math

import torch

from .._array import wrap
from ..ndarray import NDArray, sparse
from ._buckets import HEADER

__all__ = ['Packed', 'Rows']

ALIGNED = 8             # bytes: every part of a message starts at a multiple


class Rows:
    """Row_sparse values of some keys on their way."""

    settings = None                     # of the optimizer when the values were pushed

    def __init__(self, world, own, what, totals):
        self.own, self.what = own, what
        self._world, self._totals = world, totals
        rows = [total.indices.materialize().to(torch.int64) for total in totals.values()]
        data = [total.data.materialize().detach() for total in totals.values()]
        # how much there is to come differs from worker to worker
        numbers = torch.tensor([*own, *(len(one) for one in rows)], dtype=torch.float64)
        found, work = world.gather(numbers, what)
        world.wait(work)
        self._numbers = torch.stack(found)
        self._counts = [[int(count) for count in one[HEADER:].tolist()] for one in found]
        most = max(self._places(counts)[1] for counts in self._counts)
        self._found, self._work = [], None
        if most:
            message = data[0].new_zeros(most, dtype=torch.uint8)
            places, _ = self._places(self._counts[world.rank])
            for (at_rows, at_data), one, other in zip(places, rows, data, strict=True):
                _view(message, at_rows, torch.int64, one.numel()).copy_(one)
                _view(message, at_data, other.dtype, other.numel()).copy_(other.reshape(-1))
            self._found, self._work = world.gather(message, what)

    def _places(self, counts):
        """([(start of the rows' numbers, start of their data)] of each key in a worker's message, its length)."""
        places, at = [], 0
        for total, count in zip(self._totals.values(), counts, strict=True):
            first = at
            at += count * ALIGNED                       # numbers of rows have 8 bytes
            places.append((first, at))
            size = count * math.prod(total.shape[1:]) * total.data.meta().dtype.itemsize
            at += -(-size // ALIGNED) * ALIGNED
        return places, at

    def compared(self):
        """Waits for the messages; the sum of the numbers of all workers."""
        self._world.wait(self._work)
        return self._numbers[:, :HEADER].sum(0).tolist()

    def sums(self):
        """{key: sum} after `compared`."""
        device = next(iter(self._totals.values())).data.meta().device
        messages = [(message.to(device), self._places(counts)[0], counts)
                    for message, counts in zip(self._found, self._counts, strict=bool(self._found))]
        found = {}
        for number, (key, total) in enumerate(self._totals.items()):
            dtype, shape, context = total.data.meta().dtype, total.shape[1:], total.context
            rows, data = [], []
            for message, places, counts in messages:
                (at_rows, at_data), count = places[number], counts[number]
                rows.append(_view(message, at_rows, torch.int64, count))
                data.append(_view(message, at_data, dtype, count * math.prod(shape)).view(count, *shape))
            every = torch.unique(torch.cat(rows)) if rows else torch.empty(0, dtype=torch.int64, device=device)
            merged = torch.zeros(len(every), *shape, dtype=dtype, device=device)
            for one, other in zip(rows, data, strict=True):
                # one worker at a time: its rows are all different, so the order of additions is fixed
                merged.index_add_(0, torch.searchsorted(every, one), other)
            found[key] = sparse.row_sparse_array((wrap(merged, context, NDArray), wrap(every, context, NDArray)),
                                                 shape=total.shape, dtype=total.dtype, ctx=context)
        return found


def _view(message, start, dtype, count):
    """Some numbers of a message."""
    return message[start:start + count * dtype.itemsize].view(dtype)


class Packed:
    """Compressed gradients of some keys on their way."""

    settings = None

    def __init__(self, world, own, what, totals, compression):
        self.own, self.what = own, what
        self._world, self._totals, self._compression = world, totals, compression
        sent = torch.cat([compression.round(key, total.materialize().detach()).reshape(-1)
                          for key, total in totals.items()])
        self._count = sent.numel()
        numbers = torch.tensor(own, dtype=torch.float64).view(torch.uint8).to(sent.device)
        self._found, self._work = world.gather(torch.cat([numbers, compression.pack(sent)]), what)

    def compared(self):
        """Waits for the messages; the sum of the numbers of all workers."""
        self._world.wait(self._work)
        numbers = torch.stack([_view(message, 0, torch.float64, HEADER) for message in self._found])
        return numbers.sum(0).tolist()

    def sums(self):
        """{key: sum} after `compared`."""
        start, unpack = HEADER * ALIGNED, self._compression.unpack
        device = next(iter(self._totals.values())).meta().device
        first, *others = (message[start:].to(device) for message in self._found)
        flat = unpack(first, self._count)
        for other in others:
            flat += unpack(other, self._count)
        parts = flat.split([total.size for total in self._totals.values()])
        return {key: wrap(part.view(total.shape), total.context, NDArray)
                for part, (key, total) in zip(parts, self._totals.items(), strict=True)}
