"""Products of matrices and of stacks of matrices."""
from typing import Literal

from ...base import MXNetError
from ..core.table import operator
from . import products

StorageType = Literal[None, 'csr', 'default', 'row_sparse']


@operator(aliases=('_sparse_dot',), fresh=True)
def dot(lhs, rhs, *, transpose_a: bool = False, transpose_b: bool = False, forward_stype: StorageType = None):
    """Product over the last axis of `lhs` and the first of `rhs`: of matrices, the matrix product.

    All other axes stay, those of `lhs` first.  `transpose_a` takes the first axis of `lhs` instead, `transpose_b` the
    last of `rhs`.  Of two vectors it is the inner product, with shape (1,).
    """
    if lhs.ndim == 2 == rhs.ndim:
        return products.matmul(lhs.t() if transpose_a else lhs, rhs.t() if transpose_b else rhs)
    if lhs.dim() == 0 or rhs.dim() == 0:
        raise MXNetError(f'operator dot: lhs has shape {tuple(lhs.shape)}, rhs has {tuple(rhs.shape)}; '
                         'both must have at least 1 axis')
    if lhs.dim() == 1 and rhs.dim() == 1:
        if transpose_a or transpose_b:
            raise MXNetError('operator dot: lhs and rhs are vectors, which transpose_a and transpose_b do not apply to')
        return products.inner(lhs, rhs).view(1)
    left, right = 0 if transpose_a else lhs.dim() - 1, rhs.dim() - 1 if transpose_b else 0
    if lhs.shape[left] != rhs.shape[right]:
        raise MXNetError(f'operator dot: axis {left} of lhs with shape {tuple(lhs.shape)} and axis {right} of rhs with '
                         f'shape {tuple(rhs.shape)} differ in length')
    return products.tensordot(lhs, rhs, ([left], [right]))


@operator(aliases=('_npx_batch_dot',))
def batch_dot(lhs, rhs, *, transpose_a: bool = False, transpose_b: bool = False, forward_stype: StorageType = None):
    """Matrix products over the last two axes; all axes before them number the matrices and must agree."""
    if lhs.dim() != rhs.dim() or lhs.dim() < 3 or lhs.shape[:-2] != rhs.shape[:-2]:
        raise MXNetError(f'operator batch_dot: lhs has shape {tuple(lhs.shape)}, rhs has {tuple(rhs.shape)}; both must '
                         'have 3 axes or more, and the same lengths on all but the last two')
    return products.matmul(lhs.mT if transpose_a else lhs, rhs.mT if transpose_b else rhs)
