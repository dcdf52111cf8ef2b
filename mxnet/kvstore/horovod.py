"""`mx.kv.create('horovod')`: the store that only adds up and copies.  `mx.contrib.horovod` has Horovod's names."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import torch

from .._array import overwrite
from .._dist.world import world
from ..base import MXNetError
from ._workers import even_end
from .base import KVStoreBase, listed

if TYPE_CHECKING:
    from .._typing import Keys, NestedArrays

__all__ = ['Horovod']


@KVStoreBase.register
class Horovod(KVStoreBase):
    """Sums over workers; it keeps nothing, and the optimizer runs in the program.

    Keys name operations in errors only; sums happen in the order of the calls.
    """

    def __init__(self) -> None:
        self._world = world()

    def together(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The batches of this worker, as long as all workers have one, as with `dist_sync`."""
        return iter(batches) if self._world.size == 1 else even_end(self._world, batches)

    def broadcast(self, key: Keys, value: NestedArrays, out: Any, priority: int = 0) -> None:
        """Gives everyone the value that worker 0 has."""
        values = listed(value)
        tensor = values[0].materialize().detach().clone(memory_format=torch.contiguous_format)
        self._world.wait(self._world.copy(tensor, f'broadcast of {key!r}'))
        for target in listed(out):
            overwrite(target, tensor)

    def pushpull(self, key: Keys, value: NestedArrays, out: Any = None, priority: int = 0) -> None:
        """Adds up the values of all devices and workers, into `out` or into the values themselves.

        With lists of keys and values, all are on their way at the same time.
        """
        keys = key if isinstance(key, (list, tuple)) else [key]
        values = value if isinstance(key, (list, tuple)) else [value]
        outs = values if out is None else out if isinstance(key, (list, tuple)) else [out]
        if not len(keys) == len(values) == len(outs):
            raise MXNetError(f'pushpull: {len(keys)} keys, {len(values)} values and {len(outs)} outs')
        started = []
        for k, v, o in zip(keys, values, outs, strict=True):
            arrays = listed(v)
            if any(array._sparse for array in arrays):
                raise MXNetError(f'pushpull: the value of key {k!r} is sparse; a horovod KVStore takes dense arrays')
            total = arrays[0].materialize().detach().clone(memory_format=torch.contiguous_format)
            for other in arrays[1:]:
                total += other.materialize().detach().to(total.device)
            started.append((self._world.sum(total, f'pushpull of {k!r}'), total, listed(o)))
        for work, total, targets in started:
            self._world.wait(work)
            for target in targets:
                overwrite(target, total)

    def is_capable(self, capability: str) -> bool:
        """It has no optimizer."""
        if capability.lower() != KVStoreBase.OPTIMIZER:
            raise ValueError(f'a KVStore may be capable of {KVStoreBase.OPTIMIZER!r}; {capability!r} is not known')
        return False

    type = property(lambda self: 'horovod', doc='horovod')
    rank = property(lambda self: self._world.rank, doc='The number of this worker.')
    num_workers = property(lambda self: self._world.size, doc='How many workers there are.')
    local_rank = property(lambda self: self._world.local_rank, doc='The number of this worker on its machine.')
