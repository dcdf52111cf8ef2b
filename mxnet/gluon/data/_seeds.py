"""Where the order of a data set and the randomness in workers come from.

A program that seeds NumPy gets upstream's order for its seed.  One that calls `mx.random.seed` alone gets an order that
follows from this seed.  One that seeds nothing gets another order every time.
"""
import contextlib
import functools
import hashlib
import random
from typing import Any

import numpy

from ... import _random_state as _random
from ..._state import state
from ...context import cpu


def numpy_is_seeded():
    """Whether the program called `np.random.seed`: from then on NumPy no longer knows of entropy that it began with."""
    if hasattr(numpy.random, 'get_bit_generator'):
        generator = numpy.random.get_bit_generator()
    else:
        generator = numpy.random.mtrand._rand._bit_generator        # before NumPy 1.24
    return getattr(generator, 'seed_seq' if hasattr(generator, 'seed_seq') else '_seed_seq') is None


def shuffled(length):
    """The numbers from 0 to `length` in random order."""
    if _random._seeded and not numpy_is_seeded():
        import torch
        return torch.randperm(length, generator=_random.generator(cpu())).numpy()
    order = numpy.arange(length)
    numpy.random.shuffle(order)
    return order


def epoch_seed(epoch):
    """A seed for one pass over the data, from what the program seeded.

    Only `mx.random` is drawn from: its numbers are ours to use, those of NumPy and Python the program counts on.
    """
    if _random._seeded:
        import torch
        return int(torch.randint(1 << 62, (), generator=_random.generator(cpu())))
    digest = hashlib.blake2b(str(epoch).encode(), digest_size=8)
    if numpy_is_seeded():
        numbers: Any = numpy.random.get_state()     # NumPy's annotation allows a dict, which another argument asks for
        _, key, position, *_ = numbers
        digest.update(key.tobytes() + str(position).encode())
    else:
        digest.update(repr(random.getstate()).encode())
    return int.from_bytes(digest.digest()) >> 2


def _seed_of(seed, number):
    digest = hashlib.blake2b(f'{seed} {number}'.encode(), digest_size=8).digest()
    return int.from_bytes(digest) >> 1


class BatchGenerators:
    """The random numbers for batch `number`: those that a worker process would draw.  Generators are made on first use.
    """

    def __init__(self, seed, number):
        self._of = seed, number

    @functools.cached_property
    def mx(self):
        import torch
        return torch.Generator().manual_seed(_seed_of(*self._of))

    @functools.cached_property
    def python(self):
        return random.Random(_seed_of(*self._of))

    @functools.cached_property
    def numpy(self):
        return numpy.random.RandomState(_seed_of(*self._of) & 0xFFFFFFFF)


@contextlib.contextmanager
def drawn_for(seed, number):
    """Within it, mx and its augmenters draw in this thread what a worker process would draw for this batch."""
    before, state.batch_generators = state.batch_generators, BatchGenerators(seed, number)
    try:
        yield
    finally:
        state.batch_generators = before


def follows_program():
    """Whether a loader without workers draws from the program's own random numbers, as upstream's does.

    A program that seeds mx alone has nothing to compare with, and gets the same numbers with any number of workers.
    """
    return not _random._seeded or numpy_is_seeded()


def seed_everything(seed, number):
    """Seeds all random numbers of a worker for batch `number`, so that every worker makes the same batch."""
    value = _seed_of(seed, number)
    _random.seed(value, ctx=cpu())
    random.seed(value)
    numpy.random.seed(value & 0xFFFFFFFF)
