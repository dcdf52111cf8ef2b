"""Versions of arrays that are written inside `with autograd.pause():` within `with autograd.record():`.

Networks update averages, vectors of a power iteration or memories this way, in arrays that recorded operators have
read.  As in MXNet, `backward` then computes with the values that the arrays have by that time.  torch would raise an
error, because the version counter of the tensor has changed, so the counter is restored when the pause ends.

Predictions use the same counter to see whether parameters have changed.  Before they read it, after `backward`, and
when recording begins, the restored counters are raised after all (`count_all`).
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import ref

from torch.autograd.graph import increment_version

from ._ops.core.late_reads import uncounted
from ._torch.autograd import PreservedVersion

if TYPE_CHECKING:
    import torch

__all__ = ['before_paused_write', 'count_all', 'restore_versions', 'uncounted']


def before_paused_write(writes: list[Any], tensor: torch.Tensor) -> None:
    """Appends to `writes`, the list of the current pause, the version that a tensor has before it is written."""
    if PreservedVersion is not None and not tensor.is_inference():
        writes.append(PreservedVersion(tensor))


def restore_versions(writes: list[Any]) -> None:
    """Restores the versions of the tensors that were written in a pause; called when the pause ends."""
    for preserved in reversed(writes):
        [tensor], [version] = preserved.tensors, preserved.prev_versions
        if tensor._version != version:
            preserved.__exit__(None, None, None)
            uncounted.append(ref(tensor))


def count_all() -> None:
    """Raises the versions that were restored."""
    while uncounted:
        tensor = uncounted.pop()()
        if tensor is not None:
            increment_version(tensor)
