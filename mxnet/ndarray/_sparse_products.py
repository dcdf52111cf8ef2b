"""Products of sparse matrices, and embeddings, with gradients that hold only the rows in use."""
import torch
from torch.nn import functional as F

from .._array import wrap
from .._ops.tensor.gather import within
from ..base import MXNetError
from . import _sparse_links, _sparse_parts
from ._sparse_array import CSRNDArray, RowSparseNDArray, from_dense
from ._sparse_dispatch import rule
from ._sparse_rules import readable, recorded
from .ndarray import NDArray


# ---------------------------------------------------------------------- kernels
def csr_product(parts, shape, dense):
    """csr x dense"""
    values, indptr, columns = parts
    if not len(values) or not dense.shape[1]:
        return dense.new_zeros(shape[0], dense.shape[1])
    # sums of weighted rows: measured twice to ten times as fast as the product of torch's csr tensors
    return F.embedding_bag(columns.long(), dense, indptr[:-1].long(), per_sample_weights=values, mode='sum')


def csr_transposed(parts, shape):
    """(the columns in use, the parts of the transposed matrix with only these as rows)"""
    values, indptr, columns = parts
    found = getattr(columns, '_turned', None)
    if found is None or found[0] is not indptr:
        ordered, order = _sorted(columns, shape[1])
        used, counts = ordered.unique_consecutive(return_counts=True)
        begins = torch.zeros(len(used) + 1, dtype=torch.int64, device=values.device)
        begins[1:] = counts.cumsum(0)
        rows = _sparse_parts.csr_places(parts)[0]
        # kept with the indices: a batch is turned by every product with it, and so is its square
        # (index_select is three times as fast as brackets)
        found = columns._turned = indptr, order, used.long(), begins, rows.index_select(0, order)
    _, order, used, begins, rows = found
    return used, (values.index_select(0, order), begins, rows)


def _sorted(columns, limit):
    """(the columns in order, where each of them was), stable"""
    if columns.device.type != 'cpu' or len(columns) >= 1 << 15 or limit > 1 << 32:
        # 32 bits sort twice as fast
        return (columns.int() if limit < 1 << 31 else columns.long()).sort(stable=True)
    # torch counts digits only from this length on; NumPy does so with 16 bits, and two such sorts make one of 32:
    # four times as fast
    numbers = columns.numpy()
    order = numbers.astype('uint16').argsort(kind='stable')
    if limit > 1 << 16:
        order = order[(numbers >> 16).astype('uint16')[order].argsort(kind='stable')]
    order = torch.from_numpy(order)
    return columns.index_select(0, order), order


def csr_transposed_product(parts, shape, dense):
    """(rows of csr.T x dense that are not 0, their numbers)"""
    used, turned = csr_transposed(parts, shape)
    return csr_product(turned, (len(used), shape[0]), dense), used


# ---------------------------------------------------------------------- dot
@rule('dot')
def dot(op, inputs, attributes):
    lhs, rhs = inputs
    turn_lhs, turn_rhs, wanted = attributes['transpose_a'], attributes['transpose_b'], attributes['forward_stype']
    if lhs.dtype != rhs.dtype or len(lhs.shape) != 2 or len(rhs.shape) not in (1, 2) \
            or not lhs._sparse and len(rhs.shape) != 2:
        return NotImplemented
    if isinstance(lhs, CSRNDArray) and not isinstance(rhs, CSRNDArray) and not turn_rhs and len(rhs.shape) == 2 \
            and not recorded(lhs) and wanted in (None, 'default', 'row_sparse' if turn_lhs else 'default'):
        _check_lengths(lhs.shape[0 if turn_lhs else 1], lhs, rhs)
        if turn_lhs:
            return _transposed_csr_dot(lhs, rhs, wanted or 'row_sparse')
        return wrap(_csr_dot(lhs, rhs), lhs._ctx, NDArray)
    if not lhs._sparse and isinstance(rhs, CSRNDArray) and not turn_lhs and not recorded(lhs, rhs) \
            and lhs._ctx.device_type == rhs._ctx.device_type:
        _check_lengths(lhs.shape[1], lhs, rhs, 1 if turn_rhs else 0)
        return _dense_csr_dot(lhs, rhs, turn_rhs, wanted or ('default' if lhs._ctx.device_type == 'gpu' else 'csr'))
    stype = wanted or ('csr' if not lhs._sparse and isinstance(rhs, CSRNDArray) and not turn_lhs else None)
    if stype in (None, 'default'):
        return NotImplemented
    plain = {k: v for k, v in attributes.items() if k != 'forward_stype'}
    dense = op.function(*[readable(x) if recorded(x) else x.materialize().detach() for x in inputs], **plain)
    return from_dense(wrap(dense, lhs._ctx, NDArray), stype)


def _check_lengths(length, lhs, rhs, axis=0):
    if rhs.shape[axis] != length:
        raise MXNetError(f'operator dot: lhs with shape {lhs.shape} and rhs with shape {rhs.shape} do not fit: '
                         f'{length} and {rhs.shape[axis]} differ')


def _csr_dot(lhs, rhs):
    """csr x dense or row_sparse; the gradient of rhs has the rows that are columns of lhs."""
    parts, shape = lhs._safe_parts(), lhs._shape
    if rhs._sparse:
        link = rhs._recorded_link()

        def compute():
            columns = parts[2].long()
            if isinstance(rhs._stored, _sparse_parts.Later):
                # a row for each value, and no others
                stored, place = rhs._stored.at(columns), torch.arange(len(columns), device=columns.device)
                return csr_product((parts[0], parts[1], place), (shape[0], len(columns)), stored)
            stored, rows = rhs._ordered_parts()
            if not len(rows):
                return stored.new_zeros(shape[0], stored.shape[1])
            place, there = _sparse_parts.rows_found(rows, columns)
            weights = parts[0] if there is None else parts[0] * there
            return csr_product((weights, parts[1], place), (shape[0], len(rows)), stored)
        by_rows = True
    else:
        dense = readable(rhs) if recorded(rhs) else rhs.materialize().detach()
        link = dense if dense.requires_grad else None
        by_rows = getattr(dense, '_wants_rows', False)
        dense = dense.detach()

        def compute():
            return csr_product(parts, shape, dense)

    def back(gradient):
        values, rows = csr_transposed_product(parts, shape, _sparse_links.dense_gradient(gradient))
        gradient = _sparse_links.rows_gradient(values, rows, (shape[1], values.shape[1]))
        return gradient if by_rows else gradient.to_dense()
    return _sparse_links.computed(compute, back, link)


def _transposed_csr_dot(lhs, rhs, stype):
    """csr.T x dense or row_sparse, with the columns of lhs as the rows of the result."""
    parts, shape = lhs._safe_parts(), lhs._shape
    dense = readable(rhs) if recorded(rhs) else rhs.materialize().detach()
    values, rows = csr_transposed_product(parts, shape, dense.detach())
    result_shape = (shape[1], values.shape[1])

    def back(gradient):
        return csr_product(parts, shape, _sparse_links.dense_gradient(gradient))

    def whole():
        return values.new_zeros(result_shape).index_copy_(0, rows, values)
    link = dense if dense.requires_grad else None
    if stype == 'default':
        return wrap(_sparse_links.computed(whole, back, link), lhs._ctx, NDArray)
    history = None if link is None else _sparse_links.computed(
        lambda: _sparse_links.anchor(result_shape, values.dtype, values.device), back, link)
    return RowSparseNDArray._make((values, rows), result_shape, lhs._ctx, history=history)


def _dense_csr_dot(lhs, rhs, turn_rhs, stype):
    """dense x csr, which has non-zeros only in the columns of rhs, or dense x csr.T"""
    parts, shape, dense = rhs._safe_parts(), rhs._shape, lhs.materialize().detach()
    if turn_rhs:
        result = csr_product(parts, shape, dense.t().contiguous()).t().contiguous()
        columns = None
    else:
        values, columns = csr_transposed_product(parts, shape, dense.t().contiguous())
        result = values.t().contiguous()
    if stype == 'csr' and columns is not None:
        values, indptr, narrow = _sparse_parts.csr_from_dense(result)
        return CSRNDArray._make((values, indptr, columns[narrow]), (dense.shape[0], shape[1]), lhs._ctx)
    if columns is not None:
        result = dense.new_zeros(dense.shape[0], shape[1]).index_copy_(1, columns, result)
    array = wrap(result, lhs._ctx, NDArray)
    return array if stype == 'default' else from_dense(array, stype)


# ---------------------------------------------------------------------- rows of a weight
@rule('Embedding', '_contrib_SparseEmbedding')
def embedding(op, inputs, attributes):
    """Rows of a row_sparse weight; rows that it does not store are 0."""
    data, weight = inputs
    if data._sparse or not isinstance(weight, RowSparseNDArray) \
            or weight._shape != (attributes['input_dim'], attributes['output_dim']):
        return NotImplemented
    index = within(data.materialize().detach(), weight._shape[0])
    shape = weight._shape

    def compute():
        return _sparse_parts.rows_at(weight._ordered_parts(), index.reshape(-1)).reshape(*index.shape, shape[1])

    def back(gradient):
        rows, where = index.reshape(-1).unique(return_inverse=True)
        values = gradient.new_zeros(len(rows), shape[1]).index_add_(0, where, gradient.reshape(-1, shape[1]))
        return _sparse_links.rows_gradient(values, rows, shape)
    return wrap(_sparse_links.computed(compute, back, weight._recorded_link()), data._ctx, NDArray)


