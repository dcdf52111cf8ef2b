"""Functions derived from the operator table: neural networks' operators on `mx.np` arrays."""
from .._frontend.namespaces import namespace
from ..ndarray._invoke import make_function
from ..numpy.multiarray import ndarray

__all__ = []
for _name, _op in namespace('npx').items():
    if not _name.startswith('_'):
        globals()[_name] = make_function(_op, _name, ndarray)
        __all__.append(_name)
