"""`mx.npx.random`: random numbers that NumPy has no function for."""
from .. import random as _random
from .._names import suggest_names as _suggest_names
from ..numpy.random import _extension

bernoulli, normal_n, uniform_n = _extension.values()
__all__ = [*_extension, 'seed']


def seed(seed, ctx='all'):
    """Sets the state of the generators: of all devices, or of one."""
    _random.seed(seed, ctx)


_suggest_names(globals())
