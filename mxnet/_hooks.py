"""Classes and functions that lower modules use and higher ones define.

The module that defines one sets it here when it is loaded; the packages `ndarray` and `symbol` load all of theirs, and
`mx.np` with them.  So a lower module can give an array of a class that is built on it without importing that.
"""
from typing import Any


class _Hooks:
    NDArray: Any = None             # ndarray/ndarray.py
    np_ndarray: Any = None          # numpy/multiarray.py
    Symbol: Any = None              # symbol/symbol.py
    np_Symbol: Any = None           # symbol/numpy/_symbol.py
    compose_np: Any = None          # the symbol of an operator call; symbol/numpy/_symbol.py
    split_v2: Any = None            # ndarray/_creation.py
    to_bytes: Any = None            # an array as a pickle holds it; this and the next three: ndarray/utils.py
    handle_of: Any = None
    set_from_bytes: Any = None
    from_record: Any = None
    from_dense: Any = None          # ndarray/_sparse_array.py
    retain: Any = None              # ndarray/_sparse.py
    sparse_zeros: Any = None


hooks = _Hooks()
