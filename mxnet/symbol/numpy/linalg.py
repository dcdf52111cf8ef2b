"""`mx.sym.np.linalg`: those functions of `mx.np.linalg` that are operators."""
from ..._names import suggest_names as _suggest_names
from ...numpy.linalg import (
    cholesky,
    det,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    inv,
    norm,
    pinv,
    slogdet,
    solve,
    svd,
    tensorinv,
    tensorsolve,
)

__all__ = ['cholesky', 'det', 'eig', 'eigh', 'eigvals', 'eigvalsh', 'inv', 'norm', 'pinv', 'slogdet', 'solve', 'svd',
           'tensorinv', 'tensorsolve']


_suggest_names(globals())
