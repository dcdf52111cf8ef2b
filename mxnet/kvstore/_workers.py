"""What the stores of several workers have in common, whether they add up or have servers."""
from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterable, Iterator
from typing import Any

from .._dist.world import world
from ..optimizer import Updater
from .kvstore import KVStore

__all__ = ['WorkersKVStore', 'even_end']


def even_end(world, batches: Iterable[Any]) -> Iterator[Any]:
    """The batches of this worker, as long as all workers have one; who had more and who had none is logged."""
    given, end = 0, object()
    for batch in _and_then(batches, end):
        left, work = world.agree([float(batch is not end)], 'looking for the next batch')
        world.wait(work)
        if int(left) < world.size:
            if int(left):
                _say_who(world, batch is not end, given)
            return
        yield batch
        given += 1


def _and_then(batches, end):
    yield from batches
    yield end


def _say_who(world, more, given):
    found = world.objects(more)
    lists = [', '.join(str(rank) for rank, has in enumerate(found) if has is which) for which in (False, True)]
    if world.rank == 0:
        logging.warning('The epoch ends after %d batches: worker%s %s had no more; worker%s %s had, and left the rest '
                        'out. Parts of equal length are used up: gluon.data.ShardedBatchSampler, or even_parts=True '
                        'of ImageRecordIter.', given, 's' * (',' in lists[0]), lists[0], 's' * (',' in lists[1]),
                        lists[1])


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
