"""Operators under their internal names, `_npi_...`, on symbols with NumPy's semantics."""
from ..._frontend.namespaces import namespace
from .._compose import make_function
from ._symbol import _Symbol

__all__ = []
for _name, _op in namespace('np._internal').items():
    globals()[_name] = make_function(_op, _name, _Symbol)
    __all__.append(_name)
