"""`mx.sym.npx.random`: random numbers that NumPy has no function for."""
from ..numpy.random import _extension

bernoulli, normal_n, uniform_n = _extension.values()
__all__ = list(_extension)
