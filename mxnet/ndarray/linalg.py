"""Functions derived from the operator table: `mx.nd.linalg`."""
from .._frontend.namespaces import namespace
from .._names import suggest_names as _suggest_names
from ._generated import make_function
from .ndarray import NDArray

__all__ = []
for _name, _op in namespace('linalg').items():
    globals()[_name] = make_function(_op, _name, NDArray)
    __all__.append(_name)


_suggest_names(globals())
