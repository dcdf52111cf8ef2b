"""Where the order of a data set and the randomness in workers come from.

A program that seeds NumPy gets upstream's order for its seed.  One that calls `mx.random.seed` alone gets an order that
follows from this seed.  One that seeds nothing gets another order every time.
"""
import hashlib
import random

import numpy

from ... import random as _random
from ...context import cpu


def numpy_is_seeded():
    """Whether the program called `np.random.seed`: from then on NumPy no longer knows of entropy that it began with."""
    return numpy.random.get_bit_generator().seed_seq is None


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
        _, key, position, *_ = numpy.random.get_state()
        digest.update(key.tobytes() + str(position).encode())
    else:
        digest.update(repr(random.getstate()).encode())
    return int.from_bytes(digest.digest()) >> 2


def seed_everything(seed, number):
    """Starts all random numbers of a worker anew for batch `number`, so that it does not matter who makes it."""
    digest = hashlib.blake2b(f'{seed} {number}'.encode(), digest_size=8).digest()
    value = int.from_bytes(digest) >> 1
    _random.seed(value, ctx=cpu())
    random.seed(value)
    numpy.random.seed(value & 0xFFFFFFFF)
