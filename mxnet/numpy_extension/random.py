"""`mx.npx.random`: random numbers that NumPy has no function for."""
from .. import random as _random
from ..numpy.random import _extension

globals().update(_extension)
__all__ = [*_extension, 'seed']


def seed(seed, ctx='all'):
    """Sets the state of the generators: of all devices, or of one."""
    _random.seed(seed, ctx)
