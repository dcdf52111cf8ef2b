"""`mx.npx.random`: random numbers that NumPy has no function for."""
from ..numpy.random import _extension
from ..random import seed

globals().update(_extension)
__all__ = [*_extension, 'seed']
