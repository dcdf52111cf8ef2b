"""The memory under tensors: its identity, how many tensors share it, and what cuBLAS keeps of it."""
from __future__ import annotations

from typing import Any

import torch

from .switch import private


def _address(storage: Any) -> int:
    """The address of a storage's memory; one without memory is equal to itself only."""
    return storage.data_ptr() or -id(storage)


_pointer = private('UntypedStorage._cdata', _address)
if _pointer is _address:
    storage_id = _address
else:
    def storage_id(storage: Any) -> int:
        """A number that is the same for two storages if and only if they are the same memory."""
        return storage._cdata

# how many tensors, and objects that ask, share a storage; where torch cannot tell, many
_count = private('_C._storage_Use_Count', None)


def users_of(tensor: torch.Tensor) -> int:
    """How many tensors (and this question) share a tensor's memory; many, where torch cannot tell."""
    return 1 << 30 if _count is None else _count(tensor.untyped_storage()._cdata)


# what `users_of` says of memory that one tensor has; where torch cannot tell, it never says so
ALONE = 0 if _count is None else users_of(torch.empty(0))


# gives back the memory that cuBLAS has for each stream; without it, that stays where it is
clear_cublas_workspaces = private('_C._cuda_clearCublasWorkspaces', lambda: None)
