"""Memory for large batches that is used again.

A system hands out fresh memory as pages of zeros, at their first use: for a batch of pictures that takes a third of the
time that decoding them takes.  So a batch gets the memory of one that nobody has any more.
"""
import math
import mmap
import weakref
from collections import deque
from typing import Any

import numpy
import torch

_KEPT = 2               # buffers that wait to be used again
_SMALL = 1 << 17        # bytes up to which malloc keeps memory by itself


class Buffers:
    """Gives tensors; when all arrays on the memory of one are gone, the next one may have it."""

    def __init__(self):
        self._free: deque[Any] = deque()

    def empty(self, shape, dtype):
        """A tensor with any values."""
        size = math.prod(shape) * dtype.itemsize
        if size <= _SMALL:
            return torch.empty(shape, dtype=dtype)
        try:
            memory = self._free.pop()
        except IndexError:
            memory = None
        if memory is None or len(memory) != size:
            memory = _allocate(size)
        view = memory[:]                # only the tensor has it; it goes when the last array does that looks at it
        weakref.finalize(view, _give_back, self._free, memory).atexit = False
        return torch.from_numpy(view).view(dtype).view(shape)


def _allocate(size):
    # not by malloc: what threads free there comes back in pieces, and iterators that are made again would grow
    if hasattr(mmap, 'MAP_PRIVATE'):
        return numpy.frombuffer(mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS), numpy.uint8)
    return numpy.empty(size, numpy.uint8)


def _give_back(free, memory):
    if len(free) < _KEPT:
        free.append(memory)
