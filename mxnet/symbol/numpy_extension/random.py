"""`mx.sym.npx.random`: random numbers that NumPy has no function for."""
from ..._names import suggest_names as _suggest_names
from ..numpy.random import _extension

bernoulli, normal_n, uniform_n = _extension.values()
__all__ = list(_extension)


_suggest_names(globals())
