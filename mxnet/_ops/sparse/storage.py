"""Operators about storage types.  A tensor here is always dense; sparse arrays have rules in `ndarray/_sparse_*.py`."""
from typing import Literal

import torch

from ...base import MXNetError
from ..core.checks import in_range
from ..core.table import operator


@operator(aliases=('_sparse_cast_storage',))
def cast_storage(data, *, stype: Literal['csr', 'default', 'row_sparse']):
    """A copy of an array in another storage type: 'default', 'row_sparse' or 'csr'."""
    return data.clone()


@operator('_sparse_retain')
def retain(data, indices):
    """A row_sparse array with only the rows at `indices`; the others become 0."""
    kept = torch.zeros(data.shape[0], dtype=torch.bool, device=data.device)
    rows = indices.detach().reshape(-1).long()
    kept = kept.index_fill(0, in_range('_sparse_retain', 'indices', rows, data.shape[0], -data.shape[0]), True)
    return data * kept.reshape(-1, *[1] * (data.dim() - 1))


@operator('_contrib_getnnz')
def getnnz(data, *, axis: int | None = None):
    """How many values a csr array stores: altogether, in each column (axis=0) or in each row (axis=1)."""
    if axis not in (None, 0, 1) or data.dim() != 2:
        raise MXNetError(f'operator _contrib_getnnz: data must have two axes and axis must be None, 0 or 1, not {axis} '
                         f'with shape {tuple(data.shape)}')
    filled = data.detach() != 0
    return filled.sum().reshape(1) if axis is None else filled.sum(axis)
