"""Linear algebra on the last two axes; all axes before them number the matrices."""
from math import isqrt

import torch

from ..._state import state
from ...base import MXNetError
from ..core import shapes
from ..core.table import operator


def _square(name, matrix):
    if matrix.dim() < 2 or matrix.shape[-1] != matrix.shape[-2]:
        raise MXNetError(f'operator {name}: A has shape {tuple(matrix.shape)}; it must be a square matrix, or several '
                         'with further axes before')


def _per_matrix(matrix, *values):
    """One value per matrix; outside np mode a single one has shape (1,)."""
    if matrix.dim() == 2 and not state.np_shape:
        values = tuple(v.view(1) for v in values)
    return values[0] if len(values) == 1 else values


# ---------------------------------------------------------------------- products
def _product(name, a, b, transpose_a, transpose_b, alpha, axis):
    """alpha * op(A) op(B), with the rows on `axis` and the columns on the last axis."""
    if a.dim() != b.dim() or a.dim() < 2 or not -a.dim() <= axis < a.dim() - 1 or axis == -1:
        raise MXNetError(f'operator {name}: A has shape {tuple(a.shape)}, B has {tuple(b.shape)}; both must have the '
                         f'same number of axes, 2 or more, with axis={axis} before the last')
    if axis not in (-2, a.dim() - 2):
        a, b = a.movedim(axis, -2), b.movedim(axis, -2)
    if a.shape[:-2] != b.shape[:-2]:
        raise MXNetError(f'operator {name}: A and B must have the same lengths on all axes but rows and columns, not '
                         f'{tuple(a.shape[:-2])} and {tuple(b.shape[:-2])}')
    product = torch.matmul(a.mT if transpose_a else a, b.mT if transpose_b else b)
    if alpha != 1:
        product = product * alpha
    return product if axis in (-2, product.dim() - 2) else product.movedim(-2, axis)


@operator(aliases=('linalg_gemm',), shapes=shapes.gemm, same_dtype='*')
def _linalg_gemm(A, B, C, *, transpose_a: bool = False, transpose_b: bool = False, alpha: float = 1.0,
                 beta: float = 1.0, axis: int = -2):
    """alpha * A B + beta * C, with A or B transposed on demand.

    The rows are on `axis`, the columns on the last axis.
    """
    product = _product('linalg_gemm', A, B, transpose_a, transpose_b, alpha, axis)
    if C.shape != product.shape:
        raise MXNetError(f'operator linalg_gemm: C has shape {tuple(C.shape)}; it must have that of the product, '
                         f'{tuple(product.shape)}')
    return torch.add(product, C, alpha=beta)


@operator(aliases=('linalg_gemm2',), same_dtype='*')
def _linalg_gemm2(A, B, *, transpose_a: bool = False, transpose_b: bool = False, alpha: float = 1.0, axis: int = -2):
    """alpha * A B, with A or B transposed on demand.

    The rows are on `axis`, the columns on the last axis.
    """
    return _product('linalg_gemm2', A, B, transpose_a, transpose_b, alpha, axis)


@operator(aliases=('linalg_syrk',))
def _linalg_syrk(A, *, transpose: bool = False, alpha: float = 1.0):
    """alpha * A A^T, or alpha * A^T A with `transpose`."""
    product = torch.matmul(A.mT, A) if transpose else torch.matmul(A, A.mT)
    return product if alpha == 1 else product * alpha


def _check_triangular(name, a, b, rightside):
    _square(name, a)
    if a.dim() != b.dim() or a.shape[:-2] != b.shape[:-2] or a.shape[-1] != b.shape[-1 if rightside else -2]:
        side = 'columns' if rightside else 'rows'
        raise MXNetError(f'operator {name}: A has shape {tuple(a.shape)}, B has {tuple(b.shape)}; B must have '
                         f'{a.shape[-1]} {side}, and the same lengths on all axes before')


@operator(aliases=('linalg_trmm',), same_dtype='*')
def _linalg_trmm(A, B, *, transpose: bool = False, rightside: bool = False, lower: bool = True, alpha: float = 1.0):
    """alpha * A B for a triangular A; alpha * B A with `rightside`; A is transposed with `transpose`.

    Only the triangle that `lower` names is read.
    """
    _check_triangular('linalg_trmm', A, B, rightside)
    triangle = A.tril() if lower else A.triu()
    if transpose:
        triangle = triangle.mT
    product = torch.matmul(B, triangle) if rightside else torch.matmul(triangle, B)
    return product if alpha == 1 else product * alpha


@operator(aliases=('linalg_trsm',), same_dtype='*')
def _linalg_trsm(A, B, *, transpose: bool = False, rightside: bool = False, lower: bool = True, alpha: float = 1.0):
    """Solves A X = alpha * B for a triangular A; X A = alpha * B with `rightside`; A is transposed with `transpose`.

    Only the triangle that `lower` names is read.
    """
    _check_triangular('linalg_trsm', A, B, rightside)
    if alpha != 1:
        B = B * alpha
    return torch.linalg.solve_triangular(A.mT if transpose else A, B, upper=lower == transpose, left=not rightside)


# ---------------------------------------------------------------------- factors, inverses, determinants
@operator(aliases=('linalg_potrf',), positional=('A',))
def _linalg_potrf(A, *, lower: bool = True):
    """Cholesky factor L of symmetric positive definite matrices: A = L L^T.

    With `lower=False` the result is upper triangular: A = U^T U.
    """
    _square('linalg_potrf', A)
    return torch.linalg.cholesky(A, upper=not lower)


@operator(aliases=('linalg_potri',), positional=('A',))
def _linalg_potri(A, *, lower: bool = True):
    """Inverse of the matrices that `A` is the Cholesky factor of: (A A^T)^-1, or (A^T A)^-1 with `lower=False`."""
    _square('linalg_potri', A)
    return torch.cholesky_inverse(A.tril() if lower else A.triu(), upper=not lower)


@operator(aliases=('linalg_gelqf',), outputs=('output0', 'output1'))
def _linalg_gelqf(A):
    """Q and L of the LQ factorisation A = L Q: L is lower triangular, the rows of Q are orthonormal.

    A must not have more rows than columns.
    """
    if A.dim() < 2 or A.shape[-2] > A.shape[-1]:
        raise MXNetError(f'operator linalg_gelqf: A has shape {tuple(A.shape)}; it must not have more rows '
                         'than columns')
    q, r = torch.linalg.qr(A.mT)
    return q.mT, r.mT


@operator(outputs=('output0', 'output1'))
def _linalg_syevd(A):
    """Eigenvectors U, one a row, and eigenvalues L, ascending, of symmetric matrices: A = U^T diag(L) U.

    In each eigenvector the entry that is largest in size is positive.
    """
    _square('linalg_syevd', A)
    values, vectors = torch.linalg.eigh(A)
    rows = vectors.mT
    largest = rows.detach().abs().argmax(-1, keepdim=True)
    signs = torch.where(rows.detach().gather(-1, largest) < 0, -1, 1).to(rows.dtype)
    return rows * signs, values


@operator(aliases=('_npi_inv', 'linalg_inverse'))
def _linalg_inverse(A):
    """Inverse of square matrices."""
    _square('linalg_inverse', A)
    return torch.linalg.inv(A)


@operator(aliases=('_npi_det', 'linalg_det'), outputs='output0', hidden=2)
def _linalg_det(A):
    """Determinant of square matrices; of a single one with shape (1,), in np mode ()."""
    _square('linalg_det', A)
    return _per_matrix(A, torch.linalg.det(A))


@operator(aliases=('_npi_slogdet', 'linalg_slogdet'), outputs=('output0', 'output1'), hidden=2)
def _linalg_slogdet(A):
    """Sign of the determinant of square matrices, and the logarithm of its absolute value.

    Of a single matrix both have shape (1,), in np mode ().
    """
    _square('linalg_slogdet', A)
    return _per_matrix(A, *torch.linalg.slogdet(A))


@operator(aliases=('linalg_sumlogdiag',))
def _linalg_sumlogdiag(A):
    """Sum of the logarithms of the diagonal; of a single matrix with shape (1,)."""
    _square('linalg_sumlogdiag', A)
    total = A.diagonal(dim1=-2, dim2=-1).log().sum(-1)
    return total.view(1) if A.dim() == 2 else total


# ---------------------------------------------------------------------- diagonals and triangles
def _check_offset(name, matrix, offset):
    _square(name, matrix)
    if abs(offset) >= matrix.shape[-1]:
        raise MXNetError(f'operator {name}: offset={offset} is outside of matrices of size {matrix.shape[-1]}')


@operator(aliases=('linalg_extractdiag',))
def _linalg_extractdiag(A, *, offset: int = 0):
    """Diagonal of square matrices; `offset` counts to the right of the main one (negative: below)."""
    _check_offset('linalg_extractdiag', A, offset)
    return A.diagonal(offset, -2, -1).clone()


@operator(aliases=('linalg_makediag',))
def _linalg_makediag(A, *, offset: int = 0):
    """Square matrices with the last axis of `A` on a diagonal; `offset` counts to the right (negative: below)."""
    return torch.diag_embed(A, offset)


def _triangle(rows, size, offset, lower, device):
    """Positions, in flattened matrices, of a triangle with `rows` rows.

    A positive offset means the upper triangle that starts there, a negative one the lower; `lower` decides at 0.
    """
    i, j = torch.tril_indices(rows, rows, device=device)
    if offset < 0 or offset == 0 and lower:
        return (i - offset) * size + j
    return j * size + i + offset          # the upper one in the order of its mirror image


@operator(aliases=('linalg_extracttrian',))
def _linalg_extracttrian(A, *, offset: int = 0, lower: bool = True):
    """Triangle of square matrices as a vector, the lower one row by row, the upper one column by column.

    With a positive `offset` it is the upper triangle from that diagonal on, with a negative one the lower; only
    with 0 `lower` decides.
    """
    _check_offset('linalg_extracttrian', A, offset)
    size = A.shape[-1]
    return A.flatten(-2).index_select(-1, _triangle(size - abs(offset), size, offset, lower, A.device))


@operator(aliases=('linalg_maketrian',))
def _linalg_maketrian(A, *, offset: int = 0, lower: bool = True):
    """Square matrices, zero but for a triangle with the values of `A`'s last axis: the inverse of extracttrian."""
    count = A.shape[-1]
    rows = (isqrt(8 * count + 1) - 1) // 2
    if rows * (rows + 1) // 2 != count:
        raise MXNetError(f'operator linalg_maketrian: the last axis of A with shape {tuple(A.shape)} is not the number '
                         'of values of a triangle (1, 3, 6, 10, ...)')
    size = rows + abs(offset)
    flat = A.new_zeros(*A.shape[:-1], size * size)
    return flat.index_copy(-1, _triangle(rows, size, offset, lower, A.device), A).unflatten(-1, (size, size))
