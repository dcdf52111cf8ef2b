"""`mx.sym.contrib`: functions derived from the operator table, and the hand-written ones of `_contrib`."""
from .._frontend.namespaces import namespace
from .._names import suggest_names as _suggest_names
from . import _contrib
from ._compose import make_function
from ._contrib import *
from .symbol import Symbol

__all__ = list(_contrib.__all__)
for _name, _op in namespace('contrib').items():
    globals()[_name] = make_function(_op, _name, Symbol)
    __all__.append(_name)


_suggest_names(globals())
