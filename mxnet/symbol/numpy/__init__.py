"""`mx.sym.np`: the functions of `mx.np` on symbols.

They are the same functions; only those that take no symbol among their arguments are made anew, so that they give
symbols.
"""
from ..._names import suggest_names as _suggest_names
from ...numpy import _creation, _elementwise, _index, _matrix, _reduce, _shape
from . import _internal, linalg, random
from ._create import *
from ._create import _made
from ._symbol import _Symbol, compose

# those that make an array from numbers, or need an array's values or number of axes
_ONLY_ARRAYS = {'array', 'asarray', 'empty', 'nonzero'}

__all__ = ['_Symbol', 'linalg', 'random', *_made]
for _module in (_creation, _elementwise, _index, _matrix, _reduce, _shape):
    for _name in _module.__all__:
        if _name not in _ONLY_ARRAYS and _name not in _made:
            globals()[_name] = getattr(_module, _name)
            __all__.append(_name)


_suggest_names(globals())
