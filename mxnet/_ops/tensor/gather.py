"""Operators that pick elements by index arrays, or put them there.

Index arrays may be of any dtype, since arrays of upstream's programs are float32 unless they say otherwise; what is
behind the point is cut off.
"""
from typing import Literal

import torch

from ..._state import state
from ...base import MXNetError
from ..core import shapes
from ..core.attributes import DType, Shape
from ..core.checks import in_range
from ..core.dtypes import TORCH
from ..core.late_reads import reads_late
from ..core.table import operator


def within(index, length, mode='clip'):
    """Whole indices of elements that exist: clipped to the ends, or counted round and round."""
    index = index.long()
    return index.clamp(0, length - 1) if mode == 'clip' else index.remainder(length)


# ---------------------------------------------------------------------- along an axis
@operator(aliases=('_npi_take',), methods='take')
@reads_late('indices')
def take(a, indices, *, axis: int = 0, mode: Literal['clip', 'raise', 'wrap'] = 'clip'):
    """The elements of an axis at `indices`, whose axes take its place in the result.

    Indices outside are clipped to the ends, counted round ('wrap'), or an error ('raise', as negative ones then are).
    """
    length = a.size(axis)
    if mode == 'raise':
        index = in_range('take', 'indices', indices.long(), length)
    else:
        index = within(indices, length, mode)
    if index.dim() == 1:
        return a.index_select(axis, index)
    axis %= a.dim()
    shape = a.shape[:axis] + index.shape + a.shape[axis + 1:]
    return a.index_select(axis, index.reshape(-1)).reshape(shape)


@operator()
@reads_late('indices')
def batch_take(a, indices):
    """One element of each row of `a`: the one at `indices`, clipped to the row.  `pick` does the same and more."""
    rows = a.reshape(-1, a.shape[-1])
    if indices.numel() != rows.shape[0]:
        raise MXNetError(f'operator batch_take: indices has shape {tuple(indices.shape)}, but a with shape '
                         f'{tuple(a.shape)} has {rows.shape[0]} rows')
    return rows.gather(1, within(indices, a.shape[-1]).reshape(-1, 1)).reshape(indices.shape)


@operator(aliases=('_npx_pick', 'choose_element_0index'), methods='pick', shapes=shapes.pick)
@reads_late('index')
def pick(data, index, *, axis: int | None = -1, keepdims: bool = False, mode: Literal['clip', 'wrap'] = 'clip'):
    """One element along `axis` for each place of the other axes: the one that `index` says there.

    `index` has the shape of `data` without that axis, or with 1 in its place.
    """
    if axis is None:
        raise MXNetError('operator pick: argument axis=None is not accepted; it takes an int')
    length = data.size(axis)
    index = within(index, length, mode)
    narrow = list(data.shape)
    narrow[axis] = 1
    column = index if index.dim() == data.dim() else index.unsqueeze(axis)
    if list(column.shape) != narrow:
        raise MXNetError(f'operator pick: index has shape {tuple(index.shape)}, but for data with shape '
                         f'{tuple(data.shape)} and axis={axis} it must have {tuple(narrow)}, with or without the 1')
    result = data.gather(axis, column)
    # outside of np mode there are no arrays without axes
    if keepdims or data.dim() == 1 and (index.dim() == 1 or not state.np_shape):
        return result
    return result.squeeze(axis)


# ---------------------------------------------------------------------- at coordinates
def _coordinates(name, indices, shape):
    if indices.dim() < 2 or indices.shape[0] > len(shape):
        raise MXNetError(f'operator {name}: indices has shape {tuple(indices.shape)}; it must have at least 2 axes, '
                         f'the first of them at most {len(shape)} long: one row of coordinates per axis')
    return tuple([in_range(name, f'indices[{axis}]', row, length, -length)
                  for axis, (row, length) in enumerate(zip(indices.long().unbind(0), shape))])


@operator(aliases=('_npi_gather_nd', '_npx_gather_nd'))
@reads_late('indices')
def gather_nd(data, indices):
    """The elements at coordinates: `indices[i]` has those along axis i of `data`; negative ones count from the end."""
    return data[_coordinates('gather_nd', indices, data.shape)]


@operator()
@reads_late('indices')
def scatter_nd(data, indices, *, shape: Shape):
    """Zeros of `shape` with `data` at coordinates: `indices[i]` has those along axis i.

    Where two have the same coordinates, any of them may win.
    """
    return data.new_zeros(shape).index_put(_coordinates('scatter_nd', indices, shape), data)


@operator('_scatter_set_nd', aliases=('_npi_scatter_set_nd',), same_dtype=('lhs', 'rhs'))
@reads_late('indices')
def scatter_set_nd(lhs, rhs, indices, *, shape: Shape):
    """`lhs`, which has `shape`, with `rhs` at coordinates: `indices[i]` has those along axis i."""
    return lhs.index_put(_coordinates('_scatter_set_nd', indices, lhs.shape), rhs)


@operator('_contrib_index_copy')
@reads_late('index_vector')
def index_copy(old_tensor, index_vector, new_tensor):
    """`old_tensor` with rows replaced: row i of `new_tensor` goes to row `index_vector[i]`."""
    index = in_range('_contrib_index_copy', 'index_vector', index_vector.long(), old_tensor.shape[0])
    return old_tensor.index_copy(0, index, new_tensor)


@operator(auto_inputs=False)
@reads_late('rhs')
def fill_element_0index(lhs, mhs, rhs):
    """The matrix `lhs` with one element per row replaced: row i has `mhs[i]` in column `rhs[i]`."""
    column = in_range('fill_element_0index', 'rhs', rhs.long(), lhs.shape[1])
    return lhs.scatter(1, column.unsqueeze(1), mhs.unsqueeze(1))


# ---------------------------------------------------------------------- by a condition
@operator(aliases=('_sparse_where',), same_dtype=('x', 'y'), shapes_back=shapes.where, dtype_of='x')
@reads_late('condition')
def where(condition, x, y):
    """`x` where `condition` is not 0, else `y`.  A condition with one axis may choose whole rows."""
    if x.shape != y.shape or (condition.shape != x.shape and tuple(condition.shape) != tuple(x.shape[:1])):
        raise MXNetError('operator where: x and y must have one shape and condition this or its first axis, but they '
                         f'have {tuple(condition.shape)}, {tuple(x.shape)}, {tuple(y.shape)}')
    if condition.dim() < x.dim():
        condition = condition.reshape(condition.shape + (1,) * (x.dim() - 1))
    return torch.where(condition.bool(), x, y)


@operator('_contrib_boolean_mask', aliases=('_npi_boolean_mask',))
@reads_late('index')
def boolean_mask(data, index, *, axis: int = 0):
    """The elements along `axis` where the vector `index` is not 0.  How many depends on the values."""
    if index.dim() != 1 or index.shape[0] != data.size(axis):
        raise MXNetError(f'operator boolean_mask: index has shape {tuple(index.shape)}, but for axis {axis} of data '
                         f'with shape {tuple(data.shape)} it must have {(data.size(axis),)}')
    return data.index_select(axis, index.nonzero().squeeze(1))


# ---------------------------------------------------------------------- one-hot codes
@operator(aliases=('_npx_one_hot',), methods='one_hot')
def one_hot(indices, *, depth: int, on_value: float = 1.0, off_value: float = 0.0, dtype: DType = 'float32'):
    """A new last axis of length `depth` with `on_value` at the index and `off_value` elsewhere.

    An index outside has `off_value` everywhere.
    """
    if depth < 0:
        raise MXNetError(f'operator one_hot: argument depth={depth} is not accepted; it takes an int >= 0')
    kind = TORCH[dtype]
    hot = indices.long().unsqueeze(-1) == torch.arange(depth, device=indices.device)
    if on_value == 1 and off_value == 0:
        return hot.to(kind)
    if not kind.is_floating_point:
        on_value, off_value = int(on_value), int(off_value)
    return torch.full(hot.shape, off_value, dtype=kind, device=hot.device).masked_fill(hot, on_value)


@operator('_onehot_encode', auto_inputs=False)
def onehot_encode(lhs, rhs):
    """The indices `lhs` as rows of zeros with a one, in the shape and dtype of the matrix `rhs`."""
    hot = lhs.long().unsqueeze(1) == torch.arange(rhs.shape[1], device=lhs.device)
    return hot.to(rhs.dtype)
