"""The linear algebra of the array API standard: `array_api.linalg`."""
import collections
from typing import Any

import numpy

from . import _elementwise as _e
from . import _matrix, _protocols, _reduce, _shape
from . import linalg as _own
from ._call import apply, numbers
from .fallback_linalg import matrix_power, matrix_rank  # noqa: F401
from .linalg import det, eigvalsh, inv, solve  # noqa: F401


def _named(name: str, fields: str) -> Any:
    """A class of named results with the name that the standard gives it."""
    return collections.namedtuple(name, fields)


_Eigh = _named('eigh', 'eigenvalues eigenvectors')
_Qr = _named('qr', 'Q R')
_Slogdet = _named('slogdet', 'sign logabsdet')
_Svd = _named('svd', 'U S Vh')


def cholesky(x, /, *, upper=False):
    """The triangular factor of positive definite matrices, the lower one unless `upper`."""
    factor = _own.cholesky(x)
    return matrix_transpose(factor) if upper else factor


def cross(x1, x2, /, *, axis=-1):
    """The cross product of vectors of three elements along an axis."""
    shape = numpy.broadcast_shapes(x1.shape, x2.shape)
    if shape[axis] != 3:
        raise ValueError(f'cross: axis {axis} must have length 3, but has {shape[axis]}')
    a, b = (_shape.moveaxis(_shape.broadcast_to(x, shape), axis, 0) for x in (x1, x2))
    parts = [a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3] for i in range(3)]
    return _shape.stack(parts, axis=axis)


def diagonal(x, /, *, offset=0):
    """Diagonals of matrices."""
    return _shape.diagonal(x, offset, -2, -1)


def eigh(x, /):
    """(eigenvalues, eigenvectors) of symmetric matrices."""
    return _Eigh(*_own.eigh(x))


def matmul(x1, x2, /):
    """The matrix product over the last two axes."""
    return _matrix.matmul(x1, x2)


def matrix_norm(x, /, *, keepdims=False, ord='fro'):
    """Norms of matrices."""
    return _own.norm(x, ord, (-2, -1), keepdims)


def matrix_transpose(x, /):
    """The last two axes exchanged."""
    return _matrix.matrix_transpose(x)


def outer(x1, x2, /):
    """The products of each element of one vector with each of another."""
    return _matrix.outer(x1, x2)


def pinv(x, /, *, rtol=None):
    """The pseudoinverse."""
    if rtol is None:
        rtol = max(x.shape[-2:]) * float(numpy.finfo(x.dtype).eps)
    return _own.pinv(x, rtol)


def qr(x, /, *, mode='reduced'):
    """The factors of `x == Q @ R`."""
    return _Qr(*_own.qr(x, mode))


def slogdet(x, /):
    """(sign, logarithm of the absolute value) of the determinant."""
    return _Slogdet(*_own.slogdet(x))


def svd(x, /, *, full_matrices=True):
    """The factors of `x == U * S @ Vh`."""
    if full_matrices:
        return _Svd(*_protocols.through_numpy(numpy.linalg.svd)(x))
    return _Svd(*_own.svd(x))


def svdvals(x, /):
    """Singular values."""
    return _own.svd(x)[1]


def tensordot(x1, x2, /, *, axes=2):
    """The sum of products over pairs of axes."""
    return _matrix.tensordot(x1, x2, axes)


def trace(x, /, *, offset=0, dtype=None):
    """Sums of the diagonals of matrices; of integers as int64."""
    return _reduce.sum(diagonal(x, offset=offset), -1, dtype or ('int64' if x.dtype.kind in 'iu' else None))


def vecdot(x1, x2, /, *, axis=-1):
    """The sum of products along an axis of both."""
    return _reduce.sum(x1 * x2, axis=axis, dtype=(x1[..., :0] * x2[..., :0]).dtype if x1.ndim and x2.ndim else None)


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """Norms of vectors along an axis, or of all elements."""
    if axis is None:
        result = apply('_npi_norm', (x.reshape(-1),), {'ord': float(ord), 'axis': (0,), 'keepdims': False, 'flag': 0})
        return result.reshape((1,) * x.ndim) if keepdims else result
    axes = numbers(axis)
    if len(axes) == 1:
        return apply('_npi_norm', (x,), {'ord': float(ord), 'axis': axes, 'keepdims': keepdims, 'flag': 0})
    total = _reduce.sum(_e.abs(x) ** ord, axes, keepdims=keepdims)
    return total ** (1 / ord)
