"""`mx.nd.contrib`: functions derived from the operator table, and the hand-written ones of `_contrib`."""
from .._frontend.namespaces import namespace
from .._names import suggest_names as _suggest_names
from . import _contrib, _contrib_optimizers
from ._contrib import *
from ._contrib_optimizers import *
from ._generated import make_function
from .ndarray import NDArray

__all__ = [*_contrib.__all__, *_contrib_optimizers.__all__]
for _name, _op in namespace('contrib').items():
    globals()[_name] = make_function(_op, _name, NDArray)
    __all__.append(_name)


_suggest_names(globals())
