"""Functions derived from the operator table: `mx.sym.sparse`."""
from .._frontend.namespaces import namespace
from .._names import suggest_names as _suggest_names
from ._compose import make_function
from .symbol import Symbol

__all__ = []
for _name, _op in namespace('sparse').items():
    globals()[_name] = make_function(_op, _name, Symbol)
    __all__.append(_name)


_suggest_names(globals())
