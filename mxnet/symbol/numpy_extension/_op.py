"""Functions derived from the operator table."""
from ..._frontend.namespaces import namespace
from ...numpy_extension._op import constraint_check, nonzero, reshape
from .._compose import make_function
from ..numpy._symbol import _Symbol

__all__ = ['constraint_check', 'nonzero', 'reshape']
for _name, _op in namespace('npx').items():
    if not _name.startswith('_') and _name not in __all__:
        globals()[_name] = make_function(_op, _name, _Symbol)
        __all__.append(_name)
