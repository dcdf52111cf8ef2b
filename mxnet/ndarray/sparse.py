"""Arrays that store only what is not zero: `mx.nd.sparse`.

Functions derived from the operator table, and the hand-written ones of `_sparse`.
"""
from .._frontend.namespaces import namespace
from .._names import suggest_names as _suggest_names
from . import _sparse, _sparse_graphs, _sparse_products, _sparse_rules, _sparse_updates  # noqa: F401 - their rules
from ._generated import make_function
from ._sparse import *
from ._sparse import array as array
from ._sparse import empty as empty
from ._sparse import from_scipy as from_scipy
from ._sparse import from_torch as from_torch
from ._sparse import zeros as zeros
from ._sparse_array import from_dense as from_dense
from ._sparse_array import from_record as from_record
from .ndarray import NDArray

__all__ = list(_sparse.__all__)
for _name, _op in namespace('sparse').items():
    if _name not in __all__:
        globals()[_name] = make_function(_op, _name, NDArray)
        __all__.append(_name)


_suggest_names(globals())
