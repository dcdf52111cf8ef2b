"""Methods of arrays that are an operator with the array as its first input: `x.sum(axis=0)` is `nd.sum(x, axis=0)`."""
from .._ops import TABLE
from ._generated import make_method


class OperatorMethods:
    """The derived methods of `NDArray`; its own come first."""

    __slots__ = ()


for _op in TABLE.values():
    for _name in _op.methods:
        setattr(OperatorMethods, _name, make_method(_op, _name))
