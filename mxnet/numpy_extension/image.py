"""`mx.npx.image`: operators on pictures, derived from the operator table."""
from .._frontend.namespaces import namespace
from .._names import suggest_names as _suggest_names
from ..ndarray._generated import make_function
from ..numpy.multiarray import ndarray

__all__ = []
for _name, _op in namespace('image').items():
    globals()[_name] = make_function(_op, _name, ndarray)
    __all__.append(_name)


_suggest_names(globals())
