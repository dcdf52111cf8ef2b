"""Choosing, sorting, inserting and deleting elements."""
from typing import Any

import numpy

from .._array import NDArrayBase
from .._kinds import explain_kinds as _explain_kinds
from ._call import Numbers, apply, is_array, is_symbol, numbers, real

__all__ = ['argsort', 'delete', 'diag_indices_from', 'insert', 'may_share_memory', 'nonzero', 'shares_memory', 'sort',
           'take', 'take_along_axis', 'unique', 'unravel_index', 'where']


def _index_array(indices, like, dtype='int64'):
    from ._creation import array
    return array(numpy.asarray(indices), dtype=dtype, ctx=like.ctx)


def take(a, indices, axis=None, mode='raise', out=None):
    """The elements at `indices` along an axis, or of the flat array.

    Indices outside are an error, or are clipped to the ends ('clip') or counted round ('wrap').
    """
    if mode not in ('raise', 'wrap', 'clip'):
        raise ValueError(f"take: mode must be 'raise', 'wrap' or 'clip', not {mode!r}")
    if not is_array(indices):
        indices = _index_array(indices, a)
    if axis is None:
        a, axis = apply('_np_reshape', (a,), {'newshape': (-1,)}), 0
    if mode == 'raise' and isinstance(indices, NDArrayBase):
        # negative indices count from the end, as everywhere in NumPy
        length, index = a.meta().shape[axis], indices.materialize()
        if index.numel() and not index.is_meta and (int(index.min()) < -length or int(index.max()) >= length):
            raise IndexError(f'take: an index is out of bounds for an axis of length {length}')
        mode = 'wrap'
    return apply('_npi_take', (a, indices), {'axis': axis, 'mode': mode}, out)


def take_along_axis(arr, indices, axis=-1):
    """The elements of `arr` at `indices`, which have as many axes: each row of indices is for the row beside it.

    >>> x = mx.np.array([[3, 1, 2]])
    >>> mx.np.take_along_axis(x, mx.np.argsort(x), 1)
    array([[1., 2., 3.]])
    """
    return apply('_npi_take_along_axis', (arr, indices), {'axis': axis})


def where(condition, x=None, y=None):
    """`x` where the condition is true, else `y`; with the condition alone, as `nonzero`.

    >>> mx.np.where(mx.np.arange(3) > 1, 1, 0)
    array([0., 0., 1.])
    """
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise ValueError('where: give both x and y, or none of them')
    if isinstance(condition, Numbers):
        return x if condition else y
    if not is_array(condition):
        condition = _index_array(condition, next(v for v in (x, y) if is_array(v)), None)
    if isinstance(x, Numbers):
        if isinstance(y, Numbers):
            return apply('_npi_where_scalar2', (condition,), {'x': real(x), 'y': real(y)})
        return apply('_npi_where_lscalar', (condition, y), {'scalar': real(x)})
    if isinstance(y, Numbers):
        return apply('_npi_where_rscalar', (condition, x), {'scalar': float(y)})
    return apply('_npi_where', (condition, x, y), {})


def nonzero(a):
    """Positions of the elements that are not 0: an array for each axis."""
    found = apply('_npx_nonzero', (a,), {})
    return tuple(found[:, i] for i in range(max(a.ndim, 1)))       # a scalar counts as an array of length 1


def sort(a, axis=-1, kind=None, order=None):
    """The elements in rising order along an axis; with axis=None, of the flat array."""
    if order is not None:
        raise NotImplementedError('sort: order is for arrays with fields, which these are not')
    return apply('_npi_sort', (a,), {'axis': axis, 'is_ascend': True})


def argsort(a, axis=-1, kind=None, order=None):
    """The indices (int64) that would sort an axis; with axis=None, the flat array."""
    if order is not None:
        raise NotImplementedError('argsort: order is for arrays with fields, which these are not')
    return apply('_npi_argsort', (a,), {'axis': axis, 'is_ascend': True, 'dtype': 'int64'})


def unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None):
    """The different values in rising order (or different parts along `axis`).

    Then, as asked for: where each is first, which of them each element is, and how often each is there.
    """
    result = apply('_npi_unique', (ar,), {'return_index': return_index, 'return_inverse': return_inverse,
                                          'return_counts': return_counts, 'axis': axis})
    return tuple(result) if isinstance(result, list) else result


# ---------------------------------------------------------------------- deleting and inserting
def _where_to(obj, arr):
    """(attributes, array or None) of the positions that `delete` and `insert` take."""
    if isinstance(obj, slice):
        return {'start': obj.start, 'stop': obj.stop, 'step': 1 if obj.step is None else obj.step}, None
    if isinstance(obj, (int, numpy.integer)) and not isinstance(obj, bool):
        return {'int_ind': int(obj)}, None
    if is_array(obj):
        return {}, obj
    values = numpy.asarray(obj)
    return {}, _index_array(values, arr, 'bool' if values.dtype.kind == 'b' else 'int64')


def delete(arr, obj, axis=None):
    """The array without the elements at a position, a slice or several positions along an axis.

    >>> mx.np.delete(mx.np.arange(5), [1, 3])
    array([0., 2., 4.])
    """
    if not is_array(arr):
        raise TypeError(f'delete: type {type(arr)} not supported; it takes an array')
    attributes, positions = _where_to(obj, arr)
    return apply('_npi_delete', (arr,) if positions is None else (arr, positions), {**attributes, 'axis': axis})


def insert(arr, obj, values, axis=None):
    """The array with `values` before a position, the positions of a slice or several positions along an axis.

    >>> mx.np.insert(mx.np.array([1, 3]), 1, 2)
    array([1., 2., 3.])
    """
    if not is_array(arr):
        raise TypeError(f'insert: type {type(arr)} not supported; it takes an array')
    attributes, positions = _where_to(obj, arr)
    name = '_npi_insert_scalar' if 'int_ind' in attributes else \
        '_npi_insert_slice' if positions is None else '_npi_insert_tensor'
    attributes['axis'] = axis
    if isinstance(values, Numbers):
        attributes['val'] = float(values)
        inputs: tuple[Any, ...] = (arr,) if positions is None else (arr, None, positions)
    else:
        if not is_array(values):
            values = _index_array(values, arr, arr.dtype)
        inputs = (arr, values) if positions is None else (arr, values, positions)
    return apply(name, inputs, attributes)


# ---------------------------------------------------------------------- positions and memory
def unravel_index(indices, shape, order='C'):
    """Positions along each axis of an array of `shape`, from positions in the flat array; of a symbol, as rows."""
    if order != 'C':
        raise NotImplementedError("unravel_index: arrays are row-major, so order must be 'C'")
    if isinstance(indices, Numbers):
        return tuple(int(i) for i in numpy.unravel_index(int(indices), shape))
    if is_symbol(indices):
        return apply('unravel_index', (indices,), {'shape': numbers(shape)})
    if str(indices.dtype).startswith(('float', 'bool')):
        raise TypeError(f'unravel_index: positions must be ints, not {indices.dtype}')
    found = apply('unravel_index', (indices,), {'shape': numbers(shape)})
    return tuple(found)


def diag_indices_from(arr):
    """Positions of the main diagonal: an array for each axis; of a symbol, a row for each."""
    found = apply('_npi_diag_indices_from', (arr,), {})
    return found if is_symbol(found) else tuple(found)


def may_share_memory(a, b, max_work=None):
    """Whether two arrays share memory."""
    return apply('_npi_share_memory', (a, b), {}).item()


shares_memory = may_share_memory


_explain_kinds(globals(), ('insert', 'take', 'unravel_index'))
