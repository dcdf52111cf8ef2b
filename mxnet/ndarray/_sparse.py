"""The functions of `mx.nd.sparse` that make and convert sparse arrays; those of the operator table are beside them."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy
import torch

from .._array import NDArrayBase
from .._hooks import hooks
from .._kinds import explain_kinds as _explain_kinds
from .._names import kind_of
from .._ops.core.dtypes import torch_dtype
from ..base import MXNetError, _Null
from ..context import cpu, current_context
from . import _creation, _interop, _sparse_links, _sparse_parts
from ._sparse_arithmetic import add, divide, multiply, subtract
from ._sparse_array import (
    CLASSES,
    STYPES,
    BaseSparseNDArray,
    CSRNDArray,
    RowSparseNDArray,
    check_axes,
    from_dense,
    nothing,
    unknown_stype,
)

if TYPE_CHECKING:
    from .._typing import DType, Shape
    from ..context import Context
    from ..ndarray import NDArray

__all__ = ['BaseSparseNDArray', 'CSRNDArray', 'RowSparseNDArray', 'add', 'cast_storage', 'csr_matrix', 'divide',
           'multiply', 'retain', 'row_sparse_array', 'subtract']


def zeros(stype: str, shape: Shape, ctx: Context | None = None, dtype: DType | None = None, **kwargs: Any) -> Any:
    """An array of zeros, which stores nothing.

    >>> mx.nd.sparse.zeros('csr', (1, 2))
    <BLANKLINE>
    <CSRNDArray 1x2 @cpu(0)>
    """
    if stype == 'default':
        return _creation.zeros(shape, ctx, dtype, **kwargs)
    if stype not in CLASSES:
        raise ValueError(f"a storage type is 'default', 'row_sparse' or 'csr', not {stype!r}")
    shape = _creation._shape(shape)
    check_axes(stype, shape, MXNetError)
    wanted = torch.float32 if dtype is None else torch_dtype(dtype)
    result = CLASSES[stype]._make(*nothing(stype, shape, wanted, ctx or current_context()))
    out = _creation._only_out(kwargs, 'sparse.zeros')
    return result if out is None else result.copyto(out)


def empty(stype: str, shape: Shape, ctx: Context | None = None, dtype: DType | None = None) -> Any:
    """The same as `zeros`: a sparse array has no memory for elements that were not set."""
    if stype == 'default':
        raise ValueError("nd.sparse.empty makes 'row_sparse' and 'csr' arrays; nd.empty makes dense ones")
    return zeros(stype, shape, ctx, dtype)


def array(source_array: Any, ctx: Context | None = None, dtype: DType | None = None) -> Any:
    """A sparse array from another one, or from a sparse matrix of SciPy; the dtype is that of the source.

    >>> mx.nd.sparse.array(mx.nd.sparse.zeros('row_sparse', (3, 2)))
    <BLANKLINE>
    <RowSparseNDArray 3x2 @cpu(0)>
    """
    ctx = ctx or current_context()
    if isinstance(source_array, BaseSparseNDArray):
        result = source_array.detach().copyto(ctx)
        return result if dtype is None else result.astype(dtype, copy=False)
    if hasattr(source_array, 'tocsr'):
        matrix = source_array.tocsr(copy=True)
        matrix.sum_duplicates()                         # sorts, too
        return _from_csr(matrix.data, matrix.indices, matrix.indptr, matrix.shape, ctx, dtype)
    hint = "use tostype, csr_matrix or row_sparse_array" if isinstance(source_array, (NDArrayBase, numpy.ndarray)) \
        else 'csr_matrix and row_sparse_array take lists'
    raise ValueError(f'nd.sparse.array takes a sparse array or a sparse matrix of SciPy, not '
                     f'{kind_of(source_array)}; {hint}')


def _part(source, ctx, dtype):
    """A tensor of an array-like on a context."""
    return _creation.array(source, ctx, dtype).materialize()


def _kept_dtype(source, dtype):
    """The dtype of arrays is kept; lists are float32."""
    if dtype is None and isinstance(source, (NDArrayBase, numpy.ndarray, torch.Tensor)):
        return source.dtype
    return dtype


def _check_shape(found, given):
    if given is not None and tuple(found) != tuple(given):
        raise ValueError(f'the shape is {tuple(found)}, not {tuple(given)} as given')


def csr_matrix(arg1: Any, shape: Shape | None = None, ctx: Context | None = None,
               dtype: DType | None = None) -> CSRNDArray:
    """A CSRNDArray from one of

    - (data, indices, indptr): its parts; the shape is found from them if not given
    - (data, (row, column)): elements and their places; elements of the same place are added
    - (rows, columns): its shape; it has no elements
    - nested lists, a dense array, a CSRNDArray or a sparse matrix of SciPy

    >>> mx.nd.sparse.csr_matrix(([1, 2, 3], [1, 0, 2], [0, 1, 2, 2, 3]), shape=(4, 3)).asnumpy()
    array([[0., 1., 0.],
           [2., 0., 0.],
           [0., 0., 0.],
           [0., 0., 3.]], dtype=float32)
    """
    if not isinstance(arg1, tuple):
        return _converted(arg1, 'csr', shape, ctx, dtype)
    if len(arg1) == 3:
        return _from_csr(*arg1, shape, ctx, dtype)
    if len(arg1) != 2:
        raise ValueError(f'csr_matrix: a tuple has 2 or 3 members, not {len(arg1)}')
    if isinstance(arg1[1], tuple) and len(arg1[1]) == 2:
        return _from_coordinates(arg1[0], *arg1[1], shape, ctx, dtype)
    if not all(isinstance(n, (int, numpy.integer)) for n in arg1):
        raise ValueError('csr_matrix: a tuple of two must be a shape (rows, columns) or (data, (row, column)), not '
                         f'({kind_of(arg1[0])}, {kind_of(arg1[1])})')
    _check_shape(arg1, shape)
    return zeros('csr', arg1, ctx, dtype)


def row_sparse_array(arg1: Any, shape: Shape | None = None, ctx: Context | None = None,
                     dtype: DType | None = None) -> RowSparseNDArray:
    """A RowSparseNDArray from one of

    - (data, indices): its parts; the shape is found from them if not given
    - (n, m, ...): its shape; it has no rows
    - nested lists, a dense array or a RowSparseNDArray

    >>> mx.nd.sparse.row_sparse_array(([[1, 2], [3, 4]], [1, 2]), shape=(4, 2)).asnumpy()
    array([[0., 0.],
           [1., 2.],
           [3., 4.],
           [0., 0.]], dtype=float32)
    """
    if not isinstance(arg1, tuple):
        return _converted(arg1, 'row_sparse', shape, ctx, dtype)
    if len(arg1) < 2:
        raise ValueError('row_sparse_array: a tuple is (data, indices) or a shape of two or more lengths')
    if len(arg1) == 2 and not all(isinstance(n, (int, numpy.integer)) for n in arg1):
        return _from_rows(*arg1, shape, ctx, dtype)
    _check_shape(arg1, shape)
    return zeros('row_sparse', arg1, ctx, dtype)


def _converted(source, stype, shape, ctx, dtype):
    if isinstance(source, BaseSparseNDArray) or hasattr(source, 'tocsr'):
        found = getattr(source, 'stype', 'csr')
        if found != stype:
            raise ValueError(f'a {found} array cannot become a {stype} one directly')
        _check_shape(source.shape, shape)
        return array(source, ctx, dtype)
    dense = _creation.array(source, ctx, _kept_dtype(source, dtype))
    _check_shape(dense.shape, shape)
    return from_dense(dense, stype)


def _from_csr(data, indices, indptr, shape, ctx, dtype):
    ctx = ctx or current_context()
    parts = _part(data, ctx, _kept_dtype(data, dtype)), _part(indptr, ctx, 'int64'), _part(indices, ctx, 'int64')
    if any(p.dim() != 1 for p in parts) or not len(parts[1]):
        raise ValueError('csr_matrix: data, indices and indptr have one axis, and indptr one entry or more; their '
                         f'shapes are {tuple(parts[0].shape)}, {tuple(parts[2].shape)} and {tuple(parts[1].shape)}')
    if shape is None:
        if not len(parts[2]):
            raise ValueError('csr_matrix: without any indices the shape must be given')
        shape = len(parts[1]) - 1, int(parts[2].max()) + 1
    return _defined('csr', parts, shape, ctx)


def _from_rows(data, indices, shape, ctx, dtype):
    ctx = ctx or current_context()
    parts = _part(data, ctx, _kept_dtype(data, dtype)), _part(indices, ctx, 'int64')
    if shape is None:
        if not parts[1].numel():
            raise ValueError('row_sparse_array: without any indices the shape must be given')
        shape = int(parts[1].max()) + 1, *parts[0].shape[1:]
    if parts[1].dim() != 1 or parts[0].dim() != len(shape):
        raise ValueError(f'row_sparse_array: data has {len(shape)} axes, as the array has, and indices one; their '
                         f'shapes are {tuple(parts[0].shape)} and {tuple(parts[1].shape)}')
    return _defined('row_sparse', parts, shape, ctx)


def _defined(stype, parts, shape, ctx):
    """An array of parts that a program gave.  Their shapes are checked here, the indices when they are first used."""
    shape = _creation._shape(shape)
    check_axes(stype, shape, ValueError)
    result = CLASSES[stype]._make(parts, shape, ctx, checked=False)
    result.check_format(full_check=False)
    return result


def _from_coordinates(data, row, column, shape, ctx, dtype):
    ctx = ctx or current_context()
    if dtype is None and not isinstance(data, (NDArrayBase, torch.Tensor)):
        dtype = numpy.asarray(data).dtype                       # ints stay ints here, as they do in SciPy
    values = _part(data, ctx, _kept_dtype(data, dtype))
    rows, columns = _part(row, ctx, 'int64'), _part(column, ctx, 'int64')
    if not values.shape == rows.shape == columns.shape or values.dim() != 1:
        raise ValueError('csr_matrix: data, row and column have one axis of the same length; their shapes are '
                         f'{tuple(values.shape)}, {tuple(rows.shape)} and {tuple(columns.shape)}')
    if shape is None:
        if not len(rows):
            raise ValueError('csr_matrix: without any elements the shape must be given')
        shape = int(rows.max()) + 1, int(columns.max()) + 1
    shape = _creation._shape(shape)
    check_axes('csr', shape, ValueError)
    for name, places, limit in ('row', rows, shape[0]), ('column', columns, shape[1]):
        if len(places) and not 0 <= int(places.min()) <= int(places.max()) < limit:
            raise ValueError(f'csr_matrix: {name} has indices outside of 0 to {limit - 1}')
    return CSRNDArray._make(_sparse_parts.csr_from_coordinates(values, rows, columns, shape), shape, ctx)


# ---------------------------------------------------------------------- the same memory
def from_scipy(matrix: Any) -> Any:
    """A CSRNDArray on the CPU that shares the memory of a `scipy.sparse.csr_matrix`.

    Other formats of SciPy are converted first, and so are unsorted indices.
    """
    if not hasattr(matrix, 'tocsr'):
        raise TypeError(f'from_scipy takes a sparse matrix of SciPy, not {kind_of(matrix)}')
    matrix = matrix.tocsr()
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    parts = [_interop.tensor_of(p) for p in (matrix.data, matrix.indptr, matrix.indices)]
    return CSRNDArray._make(parts, matrix.shape, cpu())


def from_torch(tensor: NDArray) -> Any:
    """A sparse array that shares the memory of a sparse tensor of torch.

    Of the layout `torch.sparse_csr`, a CSRNDArray.  Of `torch.sparse_coo` with one sparse axis (what gradients of
    embeddings are), a RowSparseNDArray; with two and no others, a CSRNDArray, which has copies of the indices.
    """
    if not isinstance(tensor, torch.Tensor) or tensor.layout not in (torch.sparse_csr, torch.sparse_coo):
        raise TypeError('from_torch takes a torch.sparse_csr or torch.sparse_coo tensor; nd.from_torch dense ones')
    tensor = tensor.detach()
    ctx = _interop.context_on(tensor.device)
    if tensor.layout is torch.sparse_csr:
        if tensor.dim() != 2 or tensor.values().dim() != 1:
            raise ValueError(f'from_torch: a csr array has two axes; the shape of the tensor is {tuple(tensor.shape)}')
        return CSRNDArray._make((tensor.values(), tensor.crow_indices(), tensor.col_indices()), tensor.shape, ctx)
    tensor = tensor.coalesce()
    if tensor.sparse_dim() == 1:
        return RowSparseNDArray._make((tensor.values(), tensor.indices()[0]), tensor.shape, ctx)
    if tensor.sparse_dim() != 2 or tensor.dense_dim():
        raise ValueError('from_torch: a sparse_coo tensor has one sparse axis, or two and no dense ones; this one has '
                         f'{tensor.sparse_dim()} and {tensor.dense_dim()}')
    rows, columns = tensor.indices()
    return CSRNDArray._make((tensor.values(), _sparse_parts._indptr(rows, tensor.shape[0]), columns.contiguous()),
                            tensor.shape, ctx)


# ---------------------------------------------------------------------- storage
def _check_arguments(operator, unknown, **given):
    """The errors that operators of the table raise for what they do not know and for what is missing."""
    if unknown:
        raise MXNetError(f'operator {operator}: unknown argument {next(iter(unknown))}; it takes {", ".join(given)}')
    for name, value in given.items():
        if value is None or value is _Null:
            raise MXNetError(f'operator {operator}: argument {name} is missing')


def cast_storage(data: Any = None, stype: str = _Null, out: Any = None, name: str | None = None, **kwargs: Any) -> Any:
    """A copy of an array in another storage type: 'default', 'row_sparse' or 'csr'."""
    _check_arguments('cast_storage', kwargs, data=data, stype=stype)
    if stype not in STYPES:
        raise unknown_stype(stype)
    if stype == 'csr' and data.ndim != 2:
        raise MXNetError(f'cast_storage: a csr array has two axes, which shape {data.shape} has not')
    if stype != 'default' and data.stype not in ('default', stype):
        raise MXNetError(f'cast_storage: a {data.stype} array cannot become a {stype} one directly')
    if out is None:
        return data.copy() if stype == data.stype else data.tostype(stype)
    if out.stype != stype:
        raise MXNetError(f'cast_storage: out is a {out.stype} array, not {stype}')
    return data.copyto(out)


def retain(data: Any = None, indices: Any = None, out: Any = None, name: str | None = None,
           **kwargs: Any) -> Any:
    """A row_sparse array with only the rows at `indices`.

    >>> x = mx.nd.sparse.row_sparse_array(([[1, 2], [3, 4]], [1, 2]), shape=(4, 2))
    >>> mx.nd.sparse.retain(x, mx.nd.array([2])).asnumpy().tolist()
    [[0.0, 0.0], [0.0, 0.0], [3.0, 4.0], [0.0, 0.0]]
    """
    _check_arguments('_sparse_retain', kwargs, data=data, indices=indices)
    if not isinstance(data, RowSparseNDArray):
        raise MXNetError(f'retain takes a row_sparse array, not a {getattr(data, "stype", type(data).__name__)} one')
    rows = indices.materialize().detach().reshape(-1).to(data._parts()[0].device, torch.int64)
    if len(rows) and not 0 <= int(rows.min()) <= int(rows.max()) < data._shape[0]:
        raise MXNetError(f'retain: indices must be from 0 to {data._shape[0] - 1}')
    link = data._recorded_link()
    history = None
    if link is not None:
        kept = rows.unique()

        def back(gradient):
            if gradient.layout is torch.strided:
                return _sparse_links.rows_gradient(gradient[kept], kept, data._shape)
            values, where = _sparse_links.rows_of(gradient)
            inside = torch.isin(where, kept)
            return _sparse_links.rows_gradient(values[inside], where[inside], data._shape)
        history = _sparse_links.passed_on(link, back)
    parts = _sparse_parts.rows_at(data._ordered_parts(), rows), rows.clone()
    result = RowSparseNDArray._make(parts, data._shape, data._ctx, history=history)
    return result if out is None else result.copyto(out)


hooks.retain, hooks.sparse_zeros = retain, zeros


_explain_kinds(globals(), ('array', 'cast_storage', 'csr_matrix', 'empty', 'retain', 'row_sparse_array', 'zeros'))
