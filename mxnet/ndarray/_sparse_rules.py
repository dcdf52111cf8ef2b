"""Operators of elements, sums and slices on the parts of sparse arrays."""
import torch

from .._array import wrap
from .._state import state
from ..base import MXNetError
from . import _sparse_links, _sparse_parts
from ._sparse_array import CSRNDArray, RowSparseNDArray
from ._sparse_dispatch import rule
from .ndarray import NDArray


def recorded(*arrays):
    """Whether autograd follows one of the arrays."""
    return state.recording and any(x._recorded_link() is not None if x._sparse else readable(x).requires_grad
                                   for x in arrays)


def readable(array):
    """The dense tensor of an array that an operator reads while recording."""
    return array.materialize() if array._variable is None else array._variable.leaf


def result_like(array, values, op, inputs, attributes):
    """An array with other values at the same places; its history is that of the dense operator."""
    history = None
    if recorded(*inputs):
        if len(inputs) == 1 and array.stype == 'row_sparse':
            history = _sparse_links.of_rows(lambda x: op.function(x, **attributes), array)
        else:
            history = _sparse_links.anchored(op.function(*[readable(x) for x in inputs], **attributes))
    return array._like((values, *array._safe_parts()[1:]), history)


# ---------------------------------------------------------------------- one operand
@rule('abs', 'sign', 'round', 'rint', 'ceil', 'floor', 'trunc', 'fix', 'square', 'sqrt', 'cbrt', 'log1p', 'expm1',
      'sin',
      'tan', 'arcsin', 'arctan', 'degrees', 'radians', 'sinh', 'tanh', 'arcsinh', 'arctanh', 'negative', 'relu',
      '_copy',
      'BlockGrad', 'make_loss', '_contrib_round_ste', '_contrib_sign_ste', '_contrib_gradientmultiplier', '_mul_scalar',
      '_div_scalar', '_scatter_plus_scalar', '_scatter_minus_scalar')
def zero_stays(op, inputs, attributes):
    """Functions that leave 0 alone, or that apply to stored values only."""
    array, = inputs
    if not array._parts()[0].is_floating_point() and op.name != '_copy':
        return NotImplemented
    values = op.function(array._parts()[0], **attributes)
    return result_like(array, values.clone() if values is array._parts()[0] else values, op, inputs, attributes)


@rule('_plus_scalar', '_minus_scalar', '_equal_scalar', '_not_equal_scalar', '_greater_scalar', '_greater_equal_scalar',
      '_lesser_scalar', '_lesser_equal_scalar', 'clip', '_contrib_quadratic')
def zero_may_stay(op, inputs, attributes):
    """Functions with arguments on which it depends what becomes of 0."""
    array, = inputs
    zero = torch.zeros(1, dtype=array.meta().dtype)
    if bool(op.function(zero, **attributes)):
        return NotImplemented
    return result_like(array, op.function(array._parts()[0], **attributes), op, inputs, attributes)


@rule('zeros_like')
def zeros_like(op, inputs, attributes):
    array, = inputs
    empty = array._parts()[0].new_zeros((0, *array._parts()[0].shape[1:]))
    if array.stype == 'csr':
        parts: tuple[torch.Tensor, ...] = empty, torch.zeros_like(array._parts()[1]), array._parts()[2][:0]
    else:
        parts = empty, array._parts()[1][:0]
    return array._like(parts)


# ---------------------------------------------------------------------- two operands
def same_kind(inputs):
    """Whether all inputs have one storage type, shape and dtype."""
    first = inputs[0]
    return first._sparse and all(type(x) is type(first) and x._shape == first._shape
                                 and x.meta().dtype is first.meta().dtype for x in inputs)


@rule('elemwise_add', 'elemwise_sub', '_maximum', '_minimum', '_hypot', '_grad_add')
def merged(op, inputs, attributes):
    """Functions of two arrays that give 0 for 0 and 0."""
    if not same_kind(inputs):
        return NotImplemented
    lhs, rhs = inputs
    if lhs.stype == 'csr':
        left, right, *places = _sparse_parts.csr_merged(lhs._safe_parts(), rhs._safe_parts(), lhs._shape)
    else:
        left, right, *places = _sparse_parts.rows_merged(lhs._ordered_parts(), rhs._ordered_parts(), lhs._shape)
    history = None
    if recorded(*inputs):
        if op.name in _SIGNS:
            history = _sum_of(inputs, _SIGNS[op.name])
        else:
            history = _sparse_links.anchored(op.function(readable(lhs), readable(rhs), **attributes))
    return lhs._make((op.function(left, right, **attributes), *places), lhs._shape, lhs._ctx, history=history)


_SIGNS = {'elemwise_add': (1, 1), '_grad_add': (1, 1), 'elemwise_sub': (1, -1)}


def _sum_of(inputs, signs):
    """The anchor of a sum or difference; gradients go through as they come."""
    links = [x._link() for x in inputs]
    first = links[0]
    return _sparse_links.computed(lambda: _sparse_links.anchor(first.shape, first.dtype, first.device),
                                  lambda gradient: tuple(gradient if s > 0 else -gradient for s in signs), *links)


@rule('elemwise_mul', 'broadcast_mul', 'broadcast_div', '_scatter_elemwise_div')
def at_places(op, inputs, attributes):
    """Functions of two arrays that give 0 where one of them is 0 (where the left one is, of quotients)."""
    lhs, rhs = inputs
    if lhs.dtype != rhs.dtype:
        return NotImplemented
    sparse, other = (lhs, rhs) if lhs._sparse else (rhs, lhs)
    broadcast = op.name.startswith('broadcast')
    if op.name == '_scatter_elemwise_div':
        if not isinstance(lhs, RowSparseNDArray):
            return NotImplemented
    elif broadcast:
        if not isinstance(lhs, CSRNDArray) or rhs._sparse or not fits(lhs, rhs) \
                or (op.name == 'broadcast_div' and lhs.shape == rhs.shape):
            return NotImplemented
    elif other._sparse and type(other) is not type(sparse):
        return NotImplemented
    if not broadcast and lhs.shape != rhs.shape:
        return NotImplemented
    if other._sparse and other.stype == 'row_sparse' == sparse.stype:
        values = _sparse_parts.rows_at(other._ordered_parts(), sparse._safe_parts()[1].long())
    elif other._sparse and other.stype == 'csr' == sparse.stype:
        values = _sparse_parts.csr_at(other._safe_parts(), sparse._safe_parts(), sparse._shape)
    else:
        parts = sparse._safe_parts()
        places = _sparse_parts.csr_places(parts) if sparse.stype == 'csr' else parts[1].long()
        dense = other._values() if other._sparse else other.materialize().detach()
        if dense.device != parts[0].device:
            return NotImplemented
        values = dense.expand(sparse._shape)[places]
    pair = (sparse._parts()[0], values) if sparse is lhs else (values, sparse._parts()[0])
    return result_like(sparse, op.function(*pair, **attributes), op, inputs, attributes)


def fits(array, other):
    """Does `other` broadcast to the shape of the array?"""
    try:
        return torch.broadcast_shapes(array.shape, other.shape) == torch.Size(array.shape)
    except RuntimeError:
        return False


@rule('add_n')
def add_n(op, inputs, attributes):
    if not same_kind(inputs) or inputs[0].stype != 'row_sparse':
        return NotImplemented
    first = inputs[0]
    rows = torch.cat([x._safe_parts()[1].long() for x in inputs]).unique()
    total = first._parts()[0].new_zeros((len(rows), *first._shape[1:]))
    for x in inputs:
        total.index_add_(0, torch.searchsorted(rows, x._parts()[1].long()), x._parts()[0])
    history = None
    if recorded(*inputs):
        history = _sum_of(inputs, (1,) * len(inputs))
    return first._make((total, rows), first._shape, first._ctx, history=history)


# ---------------------------------------------------------------------- sums
@rule('sum', 'mean', 'norm', '_square_sum')
def reduced(op, inputs, attributes):
    """Reductions over everything or one axis, from the stored values alone."""
    array, = inputs
    axis = attributes.get('axis')
    axis = tuple(axis) if isinstance(axis, (tuple, list)) else () if axis is None else (axis,)
    axis = tuple(a % len(array._shape) for a in axis if -len(array._shape) <= a < len(array._shape))
    values = array._parts()[0]
    if len(axis) > 1 or attributes.get('exclude') or not values.is_floating_point() \
            or attributes.get('out_dtype') or attributes.get('ord', 2) != 2:
        return NotImplemented
    if op.name == '_square_sum' and axis == (1,) and array.stype == 'row_sparse' and len(array._shape) == 2:
        result = _squares_of_rows(array, attributes['keepdims'])
        if result._sparse:
            result._parts()        # the array may be written to
        return result
    if axis and (recorded(array) or attributes['keepdims']):
        return NotImplemented
    if not axis:
        return _total(op, array, attributes['keepdims'])
    if op.name in ('norm', '_square_sum'):
        values = values.square()
    if array.stype == 'csr':
        places = _sparse_parts.csr_places(array._safe_parts())[1 - axis[0]]
        total = values.new_zeros(array._shape[1 - axis[0]]).index_add_(0, places, values)
    elif axis == (0,):
        total = values.sum(0)
    else:
        return NotImplemented
    if op.name == 'mean':
        total = total / array._shape[axis[0]]
    elif op.name == 'norm':
        total = total.sqrt()
    return wrap(total, array._ctx, NDArray)


def _total(op, array, keepdims):
    """Reductions of all elements; gradients are one number repeated, or belong to stored elements."""
    values, shape = array._parts()[0], array._shape
    version, squares = values._version, op.name in ('norm', '_square_sum')
    if squares and array.stype == 'csr' and recorded(array):
        return NotImplemented
    total = (values.square() if squares else values).sum()
    if op.name == 'mean':
        total = total / torch.Size(shape).numel()
    elif op.name == 'norm':
        total = total.sqrt()

    def back(gradient):
        gradient = gradient.reshape(())
        if not squares:
            return (gradient if op.name == 'sum' else gradient / torch.Size(shape).numel()).expand(shape)
        _sparse_links.check_unchanged(values, version)
        slope = 2 * gradient if op.name == '_square_sum' else gradient / total
        kept, rows = array._ordered_parts()
        return _sparse_links.rows_gradient(kept * slope, rows, shape)
    total = total.reshape([1] * len(shape) if keepdims else [1])
    link = array._recorded_link()
    return wrap(total if link is None else _sparse_links.computed(lambda: total, back, link), array._ctx, NDArray)


def _squares(values, spare):
    return (values.square_() if spare else values.square()).sum(1, keepdim=True)


def _squares_of_rows(array, keepdims):
    """The sum of squares of each row; a gradient that comes as rows goes back as rows."""
    values, rows = array._ordered_parts()
    link = array._recorded_link()
    shape = (array._shape[0], 1)

    def back(gradient):
        if gradient.layout is torch.strided:
            return _sparse_links.rows_gradient(2 * values * gradient.reshape(shape)[rows], rows,
                                               array._shape)
        incoming, where = _sparse_links.rows_of(gradient)
        mine = _sparse_parts.rows_at((values, rows), where)
        return _sparse_links.rows_gradient(mine.mul_(2 * incoming), where, array._shape)

    if keepdims:
        history = None if link is None else _sparse_links.computed(
            lambda: _sparse_links.anchor(shape, values.dtype, values.device), back, link)
        return array._later(_sparse_parts.Later(_squares, (values, rows)), shape, array._ctx, history)
    dense = _sparse_links.computed(
        lambda: values.new_zeros(shape[0]).index_copy_(0, rows, _squares(values, False)[:, 0]), back, link)
    return wrap(dense, array._ctx, NDArray)


def postponed(op, inputs, attributes):
    """What the rules give for functions of rows, with values that are computed when they are read.

    For graphs, whose arguments stay as they are while they run, and in which a product may want only some rows.
    """
    array, = inputs
    if not isinstance(array, RowSparseNDArray) or not array._parts()[0].is_floating_point():
        return NotImplemented
    if op.name == '_square_sum':
        if attributes['axis'] not in (1, (1,)) or not attributes['keepdims'] or len(array._shape) != 2:
            return NotImplemented
        return _squares_of_rows(array, True)

    def function(values, spare=False):
        return op.function(values, **attributes)
    history = _sparse_links.of_rows(function, array) if recorded(array) else None
    return array._later(_sparse_parts.Later(function, array._ordered_parts()), array._shape, array._ctx, history)


OF_ROWS = frozenset(['_square_sum', 'square', 'abs', 'sqrt', 'sign', 'relu', 'negative', '_mul_scalar', '_div_scalar'])


@rule('_contrib_getnnz')
def getnnz(op, inputs, attributes):
    array, = inputs
    if array.stype != 'csr':
        raise MXNetError(f'operator _contrib_getnnz: data must be a csr array, not {array.stype}')
    values, indptr, columns = array._safe_parts()
    axis = attributes['axis']
    if axis is None:
        counts = torch.tensor([len(values)], device=values.device)
    elif axis == 1:
        counts = indptr.diff().long()
    elif axis == 0:
        counts = torch.bincount(columns.long(), minlength=array._shape[1])
    else:
        raise MXNetError(f'operator _contrib_getnnz: axis must be None, 0 or 1, not {axis}')
    return wrap(counts, array._ctx, NDArray)


# ---------------------------------------------------------------------- parts of arrays
@rule('slice')
def slice_(op, inputs, attributes):
    """Consecutive rows and columns of a csr array."""
    array, = inputs
    begin, end, step = attributes['begin'], attributes['end'], attributes['step']
    if array.stype != 'csr' or any(s not in (None,
                                             1) for s in step or ()) or not 0 < len(begin) <= 2 or recorded(array):
        return NotImplemented
    bounds = [slice(b, e).indices(n)[:2] for b, e, n in
              zip((*begin, None)[:2], (*end, None)[:2], array._shape, strict=True)]
    (first, last), (left, right) = [(b, max(b, e)) for b, e in bounds]
    parts = _sparse_parts.csr_rows(array._safe_parts(), first, last)
    if (left, right) != (0, array._shape[1]):
        parts = _sparse_parts.csr_columns(parts, left, right)
    return array._make(parts, (last - first, right - left), array._ctx)


@rule('take')
def take(op, inputs, attributes):
    """Rows of a csr array by number."""
    array, indices = inputs
    if not isinstance(array,
                      CSRNDArray) or indices._sparse or attributes['axis'] != 0 or attributes['mode'] == 'raise' \
            or len(indices.shape) != 1 or recorded(array):
        return NotImplemented
    length, rows = array._shape[0], indices.materialize().long().to(array._parts()[0].device)
    rows = rows.clamp(0, length - 1) if attributes['mode'] == 'clip' else rows.remainder(length)
    return array._make(_sparse_parts.csr_take(array._safe_parts(), rows), (len(rows), array._shape[1]), array._ctx)


@rule('Concat')
def concat(op, inputs, attributes):
    """csr arrays below each other."""
    if attributes['dim'] != 0 or not all(x._sparse and x.stype == 'csr' for x in inputs) or recorded(*inputs) \
            or len({(x._shape[1], x.dtype) for x in inputs}) > 1:
        return NotImplemented
    parts = [x._safe_parts() for x in inputs]
    indptr, offset = [parts[0][1][:1].long()], 0
    for _, begins, columns in parts:
        indptr.append(begins[1:].long() + offset)
        offset += len(columns)
    joined = torch.cat([p[0] for p in parts]), torch.cat(indptr), torch.cat([p[2].long() for p in parts])
    first = inputs[0]
    return first._make(joined, (sum(x._shape[0] for x in inputs), first._shape[1]), first._ctx)


@rule('_sparse_retain')
def retain(op, inputs, attributes):
    from ._sparse import retain
    return retain(*inputs)


@rule('cast_storage')
def cast_storage(op, inputs, attributes):
    from ._sparse import cast_storage
    return cast_storage(inputs[0], attributes['stype'])


@rule('BatchNorm')
def batch_norm(op, inputs, attributes):
    """Refuses what upstream refuses: gamma cannot be set to ones in a sparse array."""
    if attributes['fix_gamma']:
        raise MXNetError('operator BatchNorm: with sparse arrays fix_gamma must be False; or convert them with '
                         "tostype('default')")
    return NotImplemented


@rule('FullyConnected')
def fully_connected(op, inputs, attributes):
    """On dense copies, but a row_sparse bias may have a second axis of length 1."""
    bias = inputs[2] if len(inputs) > 2 else None
    if bias is None or len(bias.shape) != 2 or bias.shape[1] != 1:
        return NotImplemented
    data, weight, bias = [readable(x) if state.recording else x.materialize().detach() for x in inputs]
    return wrap(op.function(data, weight, bias.reshape(-1), **attributes), inputs[0]._ctx, NDArray)
