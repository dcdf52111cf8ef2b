"""Methods of symbols that are an operator with the symbol as its first input."""
from .._ops import TABLE
from ._compose import call


class OperatorMethods:
    """The derived methods of `Symbol`; its own come first."""

    __slots__ = ()


def _make(op, name):
    from .._frontend.signature import docstring, signature

    def method(self, *args, **kwargs):
        return call(op, name.lower(), (self, *args), kwargs, type(self))

    method.__name__ = name
    method.__qualname__ = f'Symbol.{name}'
    method.__doc__ = docstring(op)
    method.__signature__ = signature(op, 'Symbol', method=True, graph=True)
    return method


for _op in TABLE.values():
    for _name in _op.methods:
        setattr(OperatorMethods, _name, _make(_op, _name))
