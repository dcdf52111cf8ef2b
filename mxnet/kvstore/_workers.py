"""What the stores of several workers have in common, whether they add up or have servers."""
from __future__ import annotations

import contextlib
from typing import Any

from .._dist.world import world
from ..optimizer import Updater
from .kvstore import KVStore

__all__ = ['WorkersKVStore']


class WorkersKVStore(KVStore):
    """A store that the workers of a job share; what the devices of one worker push is added up first."""

    _local = False
    _compresses = True
    _rounds_here = False                # what the devices gave is added up before it is rounded

    def __init__(self, handle: str) -> None:
        super().__init__(handle)
        self._world = world()

    @property
    def rank(self) -> int:
        """The number of this worker."""
        return self._world.rank

    @property
    def num_workers(self) -> int:
        """How many workers there are."""
        return self._world.size

    @property
    def local_rank(self) -> Any:
        """The number of this worker among those of its machine, which is the number of the GPU to use."""
        return self._world.local_rank

    def barrier(self) -> None:
        """Waits until all workers reach this call. The values then contain everything that was pushed before."""
        self._barrier()

    @contextlib.contextmanager
    def _applied(self, settings, scale):
        """The optimizer with the settings with which values were pushed, but for the scale that workers agreed on."""
        if settings is None or not isinstance(self._updater, Updater):
            yield
            return
        optimizer = self._updater.optimizer
        wanted = {'rescale_grad': scale, 'wd': settings[2]}
        if optimizer.lr_scheduler is None:
            wanted['lr'] = settings[1]
        own = {name: getattr(optimizer, name) for name in wanted}
        for name, value in wanted.items():
            setattr(optimizer, name, value)
        try:
            yield
        finally:
            for name, value in own.items():
                setattr(optimizer, name, value)
