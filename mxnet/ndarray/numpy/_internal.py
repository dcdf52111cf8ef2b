"""Operators under their internal names, `_npi_...`, on arrays with NumPy's semantics."""
from ..._frontend.namespaces import namespace
from ...numpy.multiarray import ndarray
from .._generated import make_function

__all__ = []
for _name, _op in namespace('np._internal').items():
    globals()[_name] = make_function(_op, _name, ndarray)
    __all__.append(_name)
