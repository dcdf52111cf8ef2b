"""Functions derived from the operator table: `mx.nd._internal`."""
from .._frontend.namespaces import namespace
from ._generated import make_function
from .ndarray import NDArray

__all__ = []
for _name, _op in namespace('_internal').items():
    globals()[_name] = make_function(_op, _name, NDArray)
    __all__.append(_name)
