"""`mx.sym.npx.random`: random numbers that NumPy has no function for."""
from ..numpy.random import _extension

globals().update(_extension)
__all__ = list(_extension)
