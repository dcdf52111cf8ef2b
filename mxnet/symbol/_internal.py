"""Functions derived from the operator table: `mx.sym._internal`."""
from .._frontend.namespaces import namespace
from ._compose import make_function
from .symbol import Symbol

__all__ = []
for _name, _op in namespace('_internal').items():
    globals()[_name] = make_function(_op, _name, Symbol)
    __all__.append(_name)
