"""`mx.sym.npx.image`: operators on pictures, derived from the operator table."""
from ..._frontend.namespaces import namespace
from ..._names import suggest_names as _suggest_names
from .._compose import make_function
from ..numpy._symbol import _Symbol

__all__ = []
for _name, _op in namespace('image').items():
    globals()[_name] = make_function(_op, _name, _Symbol)
    __all__.append(_name)


_suggest_names(globals())
