"""Writes inside `with autograd.pause():` that stands inside `with autograd.record():`.

Networks keep averages, vectors of a power iteration or memories this way, in arrays that the recorded operators around
have read.  `backward` then computes with what the arrays have by that time, as upstream's did.  torch would refuse to,
since its version counter tells it of the write; so the counter is set back when the pause ends.

Predictions remember what follows from parameters by the same counter.  Before they look at it, after `backward`, and
when something new is recorded, the writes are counted after all (`tell`).
"""
from weakref import ref

from torch.autograd.graph import increment_version

from ._torch.autograd import PreservedVersion

untold: list = []              # weak references to tensors that were written since


def will_write(writes, tensor):
    """Notes in `writes`, a list that belongs to the pause, the version that a tensor has before it is written."""
    if PreservedVersion is not None and not tensor.is_inference():
        writes.append(PreservedVersion(tensor))


def set_back(writes):
    """Ends a pause."""
    for preserved in reversed(writes):
        [tensor], [version] = preserved.tensors, preserved.prev_versions
        if tensor._version != version:
            preserved.__exit__(None, None, None)
            untold.append(ref(tensor))


def tell():
    """Counts the writes that were not counted."""
    while untold:
        tensor = untold.pop()()
        if tensor is not None:
            increment_version(tensor)
