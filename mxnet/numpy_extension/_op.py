"""Functions derived from the operator table: neural networks' operators on `mx.np` arrays."""
from .._frontend.namespaces import namespace
from ..ndarray._generated import make_function
from ..numpy.multiarray import ndarray
from ._own import *
from ._own import __all__ as _by_hand

__all__ = list(_by_hand)
for _name, _op in namespace('npx').items():
    if not _name.startswith('_') and _name not in _by_hand:
        globals()[_name] = make_function(_op, _name, ndarray)
        __all__.append(_name)
