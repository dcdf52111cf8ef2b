"""`mx.np.linalg`: linear algebra with NumPy's signatures, on the last two axes and for all others at once."""
import math

import numpy

from .._names import suggest_names as _suggest_names
from .._np_mode import NumpyShapes
from ._call import apply, is_symbol, numbers
from .fallback_linalg import *
from .fallback_linalg import __all__ as _fallbacks

__all__ = ['cholesky', 'det', 'eig', 'eigh', 'eigvals', 'eigvalsh', 'inv', 'norm', 'pinv', 'slogdet', 'solve', 'svd',
           'tensorinv', 'tensorsolve', *_fallbacks]


def norm(x, ord=None, axis=None, keepdims=False):
    """Norms of vectors (one axis) or matrices (two); without `ord` and `axis`, of all elements as one vector.

    `ord` is a number, inf, -inf, 'fro' or 'nuc', as in NumPy.

    >>> mx.np.linalg.norm(mx.np.array([3, 4]))
    array(5.)
    """
    def call(flag, axis, order=2.0):
        return apply('_npi_norm', (x,), {'ord': float(order), 'axis': axis, 'keepdims': keepdims, 'flag': flag})

    if ord in ('inf', '-inf'):
        ord = float(ord)
    axes = numbers(axis)
    if axes is None and ord is None:
        return call(-2, None)
    if axes is None:
        if is_symbol(x):            # of which the number of axes is not known before it runs
            return call({'fro': 1, 'nuc': 2}.get(ord, -1), None, 2.0 if isinstance(ord, str) else ord)
        axes = tuple(range(x.ndim))
    if len(axes) == 1:
        if isinstance(ord, str):
            raise ValueError(f'norm: a vector has no norm of order {ord!r}')
        return call(0, axes, 2.0 if ord is None else ord)
    if len(axes) != 2:
        raise ValueError(f'norm: one axis or two are needed, but there are {len(axes)}')
    if ord in (None, 'fro', 'f'):
        return call(1, axes)
    if ord == 'nuc':
        return call(2, axes)
    if ord not in (1, -1, 2, -2, math.inf, -math.inf):
        raise ValueError(f'norm: a matrix has no norm of order {ord!r}')
    return call(-1, axes, ord)


def _unary(name, doc):
    def function(a):
        return apply(f'_npi_{name}', (a,), {})
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


cholesky = _unary('cholesky', 'The lower triangular matrix L with `L @ L.T == a`.')
inv = _unary('inv', 'The inverse of square matrices.')


def det(a):
    """The determinant of square matrices."""
    with NumpyShapes():
        return apply('_npi_det', (a,), {})


def slogdet(a):
    """(sign of the determinant, logarithm of its absolute value) of square matrices."""
    with NumpyShapes():
        return tuple(apply('_npi_slogdet', (a,), {}))


def solve(a, b):
    """The x with `a @ x == b`."""
    return apply('_npi_solve', (a, b), {})


def svd(a):
    """The factors (u, s, v) with `a == u * s @ v`, with orthonormal columns of u and rows of v."""
    return tuple(apply('_npi_svd', (a,), {}))


def eig(a):
    """(eigenvalues, eigenvectors as columns) of square matrices that have real ones."""
    return tuple(apply('_npi_eig', (a,), {}))


def eigvals(a):
    """Eigenvalues of square matrices that have real ones."""
    return apply('_npi_eigvals', (a,), {})


def eigh(a, UPLO='L'):
    """(eigenvalues, eigenvectors as columns) of symmetric matrices, of which one triangle is read."""
    return tuple(apply('_npi_eigh', (a,), {'UPLO': UPLO}))


def eigvalsh(a, UPLO='L'):
    """Eigenvalues, rising, of symmetric matrices, of which one triangle is read."""
    return apply('_npi_eigvalsh', (a,), {'UPLO': UPLO})


def pinv(a, rcond=1e-15, hermitian=False):
    """The pseudoinverse; singular values below `rcond` times the largest count as 0."""
    if isinstance(rcond, (int, float, numpy.generic)):
        return apply('_npi_pinv_scalar_rcond', (a,), {'rcond': float(rcond), 'hermitian': hermitian})
    return apply('_npi_pinv', (a, rcond), {'hermitian': hermitian})


def tensorinv(a, ind=2):
    """The inverse for `tensordot(b, a, ind)`."""
    return apply('_npi_tensorinv', (a,), {'ind': ind})


def tensorsolve(a, b, axes=None):
    """The x with `tensordot(a, x, x.ndim) == b`."""
    return apply('_npi_tensorsolve', (a, b), {'a_axes': numbers(axes) or ()})


_suggest_names(globals())
