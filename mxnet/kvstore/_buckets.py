"""Flat tensors in which values of several keys are added up over the workers in one go."""
import os
from typing import Any

import torch

from .._array import NDArrayBase, wrap
from .._torch.lists import foreach_copy_
from ..base import MXNetError
from ..ndarray import NDArray

__all__ = ['Bucket', 'Group', 'HEADER', 'bucket_bytes']

HEADER = 8          # how many numbers workers compare


def bucket_bytes():
    """How much is added up in one go: MXNET_KVSTORE_BUCKET_MB, 25 if it is not set."""
    text = os.environ.get('MXNET_KVSTORE_BUCKET_MB', '25')
    try:
        size = float(text)
    except ValueError:
        size = 0
    if not size > 0:
        raise MXNetError(f'MXNET_KVSTORE_BUCKET_MB must be a number above 0, not {text!r}')
    return int(size * 2**20)


class Bucket:
    """Sums of some keys on their way: one flat tensor."""

    lasting = False                     # whether the flat tensor belongs to this bucket for good

    def __init__(self, flat, key=None):
        self.flat, self.used = flat, 0
        self.key = key                  # of a large value that goes alone
        self.values = 0                 # how many stored values lie in the flat tensor
        self.parts = {}                 # key: (start, end, stored value)
        self.settings = None            # of the optimizer when the values were pushed
        self.own, self.what = [], ''               # the numbers that workers compare, and what happens in words
        self._world: Any = None
        self._apart: Any = None
        self._work: Any = None
        # float32 and float64 hold the numbers that workers compare; others would round them
        self.room = HEADER if flat.dtype in (torch.float32, torch.float64) else 0

    def fits(self, tensor):
        """Whether there is room for one more."""
        return self.used + tensor.numel() + self.room <= self.flat.numel()

    def add(self, key, tensor, stored):
        """Copies a value into it."""
        start, self.used = self.used, self.used + tensor.numel()
        self.flat[start:self.used].copy_(tensor.reshape(-1))
        self.parts[key] = start, self.used, stored

    def start(self, world, own, what, apart, end):
        """Starts adding it up; `apart`: the numbers on their way, if they are not behind the values."""
        self.own, self.what, self._world, self._apart = own, what, world, apart
        self._work = world.sum(self.flat[:end], what)

    def compared(self):
        """Waits for the sums; that of the numbers that workers compare."""
        self._world.wait(self._work)
        if self._apart is None:
            return self.flat[self.used:self.used + HEADER].tolist()
        total, work = self._apart
        self._world.wait(work)
        return total.tolist()

    def entries(self):
        """[(key, stored value)]"""
        return [(key, stored) for key, (_, _, stored) in self.parts.items()]

    def sums(self):
        """{key: sum} once the flat tensor has been added up."""
        return {key: wrap(self.flat[start:end].view(stored.shape), stored.context, NDArray)
                for key, (start, end, stored) in self.parts.items()}


class Group(Bucket):
    """The bucket of keys that are pushed in one call: it is made once, and copying into it is one call of torch."""

    lasting = True

    def __init__(self, keys, order, stored, dtype_of_sum):
        first = stored[keys[0]].materialize()
        count = sum(stored[key].size for key in keys)
        super().__init__(torch.empty(count + HEADER, dtype=dtype_of_sum(first.dtype), device=first.device))
        for key in order:
            start, self.used = self.used, self.used + stored[key].size
            self.parts[key] = start, self.used, stored[key]
        self.described = None           # (numbers that are the same each time, what happens in words)
        self._sums = super().sums()
        self._places = [self._sums[key].materialize() for key in keys]        # in the order of the call
        self._kind = first.dtype, first.device

    @classmethod
    def of(cls, keys, order, stored, limit, dtype_of_sum):
        """The group of some keys, or None if they do not go together."""
        if len(order) != len(keys) or any(stored[key]._sparse for key in keys):
            return None
        tensors = [stored[key].materialize() for key in keys]
        if len({(tensor.dtype, tensor.device) for tensor in tensors}) > 1 \
                or sum(tensor.numel() * tensor.element_size() for tensor in tensors) > limit:
            return None
        return cls(keys, order, stored, dtype_of_sum)

    def tensors(self, values):
        """The sum over devices of what a program gave for each key, dense arrays; None where it gave anything else."""
        found, (dtype, device) = [], self._kind
        for value, place in zip(values, self._places, strict=True):
            total, several = None, value if isinstance(value, (list, tuple)) else (value,)
            for number, array in enumerate(several):
                if not isinstance(array, NDArrayBase) or array._sparse:
                    return None
                tensor = array.materialize()
                if tensor.shape != place.shape or tensor.dtype != dtype or not number and tensor.device != device:
                    return None
                if tensor.requires_grad:
                    tensor = tensor.detach()
                total = tensor if total is None else total + tensor.to(device)
            if total is None:
                return None
            found.append(total)
        return found

    def fill(self, tensors):
        """Copies what `tensors` found into it."""
        foreach_copy_(self._places, tensors)

    def sums(self):
        """The same arrays each time."""
        return self._sums
