"""Functions of `mx.sym.np` that make symbols from numbers."""
from ..._ops.core.table import NAMES
from ...numpy._creation import makers
from ._symbol import compose


def create(name, attributes, ctx=None, out=None):
    """The symbol of an operator without inputs."""
    if ctx is not None:
        attributes['ctx'] = str(ctx)
    return compose(NAMES[name], name, (), attributes)


_made = makers(create)
zeros, ones, full, arange, linspace, logspace, eye, identity, indices, blackman, hamming, hanning = _made.values()
__all__ = list(_made)
