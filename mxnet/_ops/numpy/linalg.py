"""Linear algebra, as NumPy has it: on the last two axes, for all others at once."""
import math
from typing import Literal

import torch

from ...base import MXNetError
from ..core.attributes import Shape
from ..core.table import operator
from .binary import known, promoted
from .matrix import float_matrices


def _square(name, a):
    if a.dim() < 2 or a.shape[-1] != a.shape[-2]:
        raise MXNetError(f'operator {name}: square matrices are needed, not an array of shape {tuple(a.shape)}')


@operator()
def _npi_cholesky(A):
    """The lower triangular matrix L with `L @ L.T == A` of a positive definite matrix.

    The gradient is symmetric.
    """
    A, = float_matrices('_npi_cholesky', A)
    _square('_npi_cholesky', A)
    dtype = A.dtype
    return torch.linalg.cholesky(A.float() if dtype in (torch.float16, torch.bfloat16) else A).to(dtype)


def _triangle(name, A, UPLO):
    A, = float_matrices(name, A)
    _square(name, A)
    return A


_Triangle = Literal['L', 'U']


@operator(outputs=('output0', 'output1'))
def _npi_eigh(A, *, UPLO: _Triangle = 'L'):
    """Eigenvalues, rising, and eigenvectors (columns) of a symmetric matrix, of which one triangle is read."""
    return tuple(torch.linalg.eigh(_triangle('_npi_eigh', A, UPLO), UPLO))


@operator()
def _npi_eigvalsh(A, *, UPLO: _Triangle = 'L'):
    """Eigenvalues of a symmetric matrix, rising; one triangle is read."""
    return torch.linalg.eigvalsh(_triangle('_npi_eigvalsh', A, UPLO), UPLO)


def _real(name, values):
    if known((values.imag.abs() <= 1e-5 * (1 + values.real.abs())).all()) is False:
        raise MXNetError(f'operator {name}: an eigenvalue is complex, which arrays cannot hold')
    return values.real


@operator(outputs=('output0', 'output1'))
def _npi_eig(A):
    """Eigenvalues and eigenvectors (columns) of a square matrix that has real ones."""
    values, vectors = torch.linalg.eig(_triangle('_npi_eig', A, 'L'))
    return _real('_npi_eig', values), vectors.real


@operator()
def _npi_eigvals(A):
    """Eigenvalues of a square matrix that has real ones."""
    return _real('_npi_eigvals', torch.linalg.eigvals(_triangle('_npi_eigvals', A, 'L')))


@operator(outputs=('output0', 'output1', 'output2'))
def _npi_svd(A):
    """Singular values: the three factors of `A == U * L @ V`, with orthonormal columns of U and rows of V."""
    A, = float_matrices('_npi_svd', A)
    return tuple(torch.linalg.svd(A, full_matrices=False))


@operator()
def _npi_solve(A, B):
    """The X with `A @ X == B`; where B has one axis less than A, it holds vectors."""
    if A.dim() < 2:
        raise MXNetError(f'operator _npi_solve: A has shape {tuple(A.shape)}; it takes square matrices')
    A, B = promoted(*(x if x.is_floating_point() else x.float() for x in (A, B)))
    _square('_npi_solve', A)
    if B.dim() == A.dim() - 1:
        return torch.linalg.solve(A, B.unsqueeze(-1)).squeeze(-1)
    return torch.linalg.solve(A, B)


def _pseudo_inverse(A, rcond, hermitian):
    A, = float_matrices('_npi_pinv', A)
    return torch.linalg.pinv(A, rtol=rcond, hermitian=hermitian)


@operator()
def _npi_pinv(A, rcond, *, hermitian: bool = False):
    """The pseudoinverse; singular values below `rcond` times the largest count as 0."""
    return _pseudo_inverse(A, rcond, hermitian)


@operator()
def _npi_pinv_scalar_rcond(A, *, rcond: float = 1e-15, hermitian: bool = False):
    """The pseudoinverse; singular values below `rcond` times the largest count as 0."""
    return _pseudo_inverse(A, rcond, hermitian)


@operator()
def _npi_tensorinv(a, *, ind: int = 2):
    """The inverse for `tensordot(b, a, ind)`: the first `ind` axes of `a` and the others have as many elements."""
    if ind <= 0 or math.prod(a.shape[:ind]) != math.prod(a.shape[ind:]):
        raise MXNetError(f'operator _npi_tensorinv: the first ind={ind} axes of shape {tuple(a.shape)} must have as '
                         'many elements as the others')
    return torch.linalg.tensorinv(a if a.is_floating_point() else a.float(), ind)


@operator()
def _npi_tensorsolve(a, b, *, a_axes: Shape = ()):
    """The x with `tensordot(a, x, x.ndim) == b`; axes in `a_axes` go to the end of `a` before."""
    a, b = promoted(*(x if x.is_floating_point() else x.float() for x in (a, b)))
    if a_axes:
        last = [n % a.dim() for n in a_axes]
        a = a.permute([n for n in range(a.dim()) if n not in last] + last)
    shape = a.shape[b.dim() - a.dim():]
    matrix = a.reshape(-1, math.prod(shape))
    if matrix.shape[0] != matrix.shape[1] or matrix.shape[0] != b.numel():
        raise MXNetError(f'operator _npi_tensorsolve: a of shape {tuple(a.shape)} does not form a square system with '
                         f'b of shape {tuple(b.shape)}')
    return torch.linalg.solve(matrix, b.reshape(-1)).reshape(shape)


@operator(outputs='output0', hidden=3)
def _npi_norm(data, *, ord: float = 2.0, axis: Shape | None = None, keepdims: bool = False, flag: int = -1):
    """Norms along `axis` (all, if not given).

    `flag` says of which kind: -2 the root of the sum of squares of everything, 0 of vectors of order `ord`, 1
    Frobenius, 2 nuclear, -1 of order `ord` of vectors (one axis) or matrices (two axes).
    """
    wide = data if data.is_floating_point() else data.double()
    axes = tuple(range(data.dim())) if axis is None else tuple(axis)
    if flag == -2 or flag == 1:
        result = torch.linalg.vector_norm(wide, 2, axes or None, keepdims)
    elif flag == 2:
        result = torch.linalg.matrix_norm(wide, 'nuc', axes, keepdims)
    elif flag == -1 and len(axes) == 2:
        result = torch.linalg.matrix_norm(wide, ord, axes, keepdims)
    elif len(axes) == 1 or flag == 0:
        result = torch.linalg.vector_norm(wide, ord, axes or None, keepdims)
    else:
        raise MXNetError(f'operator _npi_norm: argument axis={axis} is not accepted for shape {tuple(data.shape)}; a '
                         'norm is that of vectors (one axis) or of matrices (two)')
    return result.to(data.dtype)
