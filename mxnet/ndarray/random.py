"""`mx.nd.random`: the functions of `_random`, and those derived from the operator table (`uniform_like`, ...)."""
from .._frontend.namespaces import namespace
from .._names import suggest_names as _suggest_names
from . import _random
from ._generated import make_function
from ._random import *
from .ndarray import NDArray

__all__ = list(_random.__all__)
for _name, _op in namespace('random').items():
    globals()[_name] = make_function(_op, _name, NDArray)
    __all__.append(_name)


_suggest_names(globals())
