"""Functions derived from the operator table."""
from ..._frontend.namespaces import namespace
from ...numpy_extension._own import *
from ...numpy_extension._own import __all__ as _by_hand
from .._compose import make_function
from ..numpy._symbol import _Symbol

__all__ = list(_by_hand)
for _name, _op in namespace('npx').items():
    if not _name.startswith('_') and _name not in _by_hand:
        globals()[_name] = make_function(_op, _name, _Symbol)
        __all__.append(_name)
