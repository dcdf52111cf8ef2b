"""Sorting, and the largest or smallest elements.

Equal elements keep their order, whichever way they are sorted.
"""
from typing import Literal

import torch

from ...base import MXNetError
from ..core.attributes import DType
from ..core.dtypes import TORCH
from ..core.table import operator


@operator(aliases=('_npi_sort',), methods='sort', outputs='output0', hidden=1)
def sort(data, *, axis: int | None = -1, is_ascend: bool = True):
    """The elements in order along an axis, or (axis=None) all of them in a row."""
    if axis is None:
        data, axis = data.reshape(-1), 0
    return data.sort(dim=axis, descending=not is_ascend, stable=True).values


@operator(aliases=('_npi_argsort',), methods='argsort')
def argsort(data, *, axis: int | None = -1, is_ascend: bool = True, dtype: DType = 'float32'):
    """The indices that would sort an axis, or (axis=None) all elements in a row."""
    if axis is None:
        data, axis = data.reshape(-1), 0
    return data.sort(dim=axis, descending=not is_ascend, stable=True).indices.to(TORCH[dtype])


_TOPK_OUTPUTS = {'both': ('output0', 'output1'), 'value': ('output0',)}


@operator(aliases=('_npx_topk',), methods='topk', outputs=lambda a: _TOPK_OUTPUTS.get(a['ret_typ'], ('output',)),
          hidden=lambda a: int(a['ret_typ'] == 'value'))
def topk(data, *, axis: int | None = -1, k: int = 1, ret_typ: Literal['both', 'indices', 'mask', 'value'] = 'indices',
         is_ascend: bool = False, dtype: DType = 'float32'):
    """The `k` largest elements along an axis (the smallest with `is_ascend`), in order; k < 1 means all of them.

    `ret_typ` says what to return: their indices (in `dtype`), their values, both (values first), or a mask that has
    the shape of `data` and 1 where they are.  With axis=None, all elements count as one row.
    """
    row = data.reshape(-1) if axis is None else data
    at = 0 if axis is None else axis
    length = row.size(at)
    if k > length:
        raise MXNetError(f'operator topk: argument k={k} is not accepted; there are only {length} elements')
    values, indices = _first(row, at, k if k > 0 else length, is_ascend)
    if ret_typ == 'indices':
        return indices.to(TORCH[dtype])
    if ret_typ == 'value':
        return values
    if ret_typ == 'both':
        return values, indices.to(TORCH[dtype])
    return torch.zeros_like(row).scatter(at, indices, 1).reshape(data.shape)


def _first(row, axis, k, is_ascend):
    length = row.size(axis)
    if length > 64 and 8 * k <= length:       # few of many: no need to sort the others
        return row.topk(k, axis, largest=not is_ascend, sorted=True)
    values, indices = row.sort(dim=axis, descending=not is_ascend, stable=True)
    return values.narrow(axis, 0, k), indices.narrow(axis, 0, k)
