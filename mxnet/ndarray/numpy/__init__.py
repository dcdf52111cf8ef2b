"""`mx.nd.np`: the functions of `mx.np`, where blocks that are written for `F` find them."""
from ... import numpy as _arrays
from ..._names import suggest_names as _suggest_names
from . import _internal, linalg, random

__all__ = ['linalg', 'random', 'shape']
for _module in ('_creation', '_elementwise', '_index', '_matrix', '_reduce', '_shape'):
    for _name in getattr(_arrays, _module).__all__:
        globals()[_name] = getattr(_arrays, _name)
        __all__.append(_name)


_suggest_names(globals())
