"""Shapes, the order of axes, joining and splitting."""
import warnings
from collections.abc import Iterable

import numpy

from .._array import NDArrayBase
from .._kinds import explain_kinds as _explain_kinds
from .._names import kind_of
from .._wording import plain
from ..base import MXNetError
from ._call import Numbers, apply, is_array, numbers, unsupported

__all__ = ['append', 'array_split', 'atleast_1d', 'atleast_2d', 'atleast_3d', 'broadcast_to', 'column_stack',
           'concatenate', 'diag', 'diagflat', 'diagonal', 'dsplit', 'dstack', 'expand_dims', 'flip', 'fliplr',
           'flipud', 'hsplit', 'hstack', 'moveaxis', 'pad', 'ravel', 'repeat', 'reshape', 'resize', 'roll', 'rot90',
           'row_stack', 'shape', 'split', 'squeeze', 'stack', 'swapaxes', 'tile', 'trace', 'transpose', 'tril',
           'triu', 'vsplit', 'vstack']


def shape(a):
    """Lengths of the axes."""
    return a.shape if hasattr(a, 'shape') else numpy.shape(a)


# ---------------------------------------------------------------------- one array
def reshape(a, newshape, order='C', out=None):
    """The same elements in another shape, where -1 stands for what is left over.

    >>> mx.np.reshape(mx.np.arange(6), (2, -1)).shape
    (2, 3)
    """
    return apply('_np_reshape', (a,), {'newshape': numbers(newshape), 'order': order}, out)


def ravel(x, order='C'):
    """The elements in a row."""
    if isinstance(x, Numbers):
        return numpy.reshape(x, -1)
    if order not in ('C', 'F'):
        raise NotImplementedError(f"ravel: order must be 'C' or 'F', not {order!r}")
    return apply('_np_reshape', (x,), {'newshape': (-1,), 'order': order})


def transpose(a, axes=None):
    """The axes in the order `axes`, by default in reverse order."""
    return apply('_np_transpose', (a,), {'axes': numbers(axes)})


def swapaxes(a, axis1, axis2):
    """Exchanges two axes."""
    return apply('_npi_swapaxes', (a,), {'dim1': axis1, 'dim2': axis2})


def moveaxis(a, source, destination):
    """Moves axes to new places; the others keep their order."""
    try:
        return apply('_np_moveaxis', (a,), {'source': numbers(source), 'destination': numbers(destination)})
    except (RuntimeError, IndexError) as error:
        raise ValueError(f'moveaxis: {plain(error)}') from error


def expand_dims(a, axis):
    """New axes of length 1; `axis` says where they are in the result."""
    if isinstance(axis, (tuple, list)):
        count = a.ndim + len(axis)
        for place in sorted(x % count for x in axis):
            a = apply('_npi_expand_dims', (a,), {'axis': place})
        return a
    return apply('_npi_expand_dims', (a,), {'axis': axis})


def squeeze(a, axis=None, out=None):
    """Drops axes of length 1: those in `axis`, or all."""
    return apply('_np_squeeze', (a,), {'axis': numbers(axis)}, out)


def broadcast_to(array, shape):
    """A copy with axes of length 1 repeated, and axes added in front, to fit `shape`."""
    if isinstance(array, Numbers):
        array = _number(array)
    return apply('_npi_broadcast_to', (array,), {'shape': numbers(shape)})


def flip(m, axis=None, out=None):
    """The elements in reverse order along `axis`, or along all axes."""
    if isinstance(m, Numbers):
        return numpy.flip(m, axis)
    return apply('_npi_flip', (m,), {'axis': numbers(axis)}, out)


def flipud(m):
    """The first axis in reverse order."""
    return flip(m, 0)


def fliplr(m):
    """The second axis in reverse order."""
    return flip(m, 1)


def roll(a, shift, axis=None):
    """Moves elements along `axis` (without it, in the flat array); what leaves at one end comes in at the other."""
    return apply('_np_roll', (a,), {'shift': numbers(shift), 'axis': numbers(axis)})


def rot90(m, k=1, axes=(0, 1)):
    """Turns the plane of two axes by 90 degrees, `k` times, from the first towards the second."""
    return apply('_npi_rot90', (m,), {'k': k, 'axes': numbers(axes)})


def repeat(a, repeats, axis=None):
    """Every element `repeats` times (or as often as a list says) along an axis, or of the flat array."""
    if isinstance(repeats, (list, tuple, numpy.ndarray, NDArrayBase)):
        counts = numbers(repeats)
        if len(counts) != 1:
            from ._index import take
            axis, a = (0, ravel(a)) if axis is None else (axis, a)
            places = numpy.repeat(numpy.arange(a.shape[axis]), counts)
            return take(a, places, axis=axis, mode='clip')
        repeats = counts[0]
    return apply('_np_repeat', (a,), {'repeats': repeats, 'axis': axis})


def tile(A, reps):
    """The whole array repeated `reps` times along its axes."""
    if isinstance(A, Numbers):
        return numpy.tile(A, reps)
    return apply('_npi_tile', (A,), {'reps': numbers(reps)})


def resize(a, new_shape):
    """The elements in another shape, from the start again where there are too few of them."""
    return apply('_npi_resize', (a,), {'new_shape': numbers(new_shape)})


def pad(x, pad_width=None, mode='constant', **kwargs):
    """A frame around the array: `pad_width` is (before, after) for each axis, for all of them, or one number.

    `mode` is constant, edge, reflect, symmetric, maximum or minimum.  The frame of mode constant holds zeros, whatever
    `constant_values` says: so it was in MXNet 1.9.1, and saved results depend on it.
    """
    if mode not in ('constant', 'edge', 'reflect', 'symmetric', 'maximum', 'minimum'):
        raise ValueError(f'pad: mode {mode!r} is not known; there are constant, edge, reflect, symmetric, maximum and '
                         'minimum')
    allowed = {'constant': 'constant_values', 'reflect': 'reflect_type', 'symmetric': 'reflect_type'}
    for name in kwargs:
        if name != allowed.get(mode) and not (name == 'stat_length' and kwargs[name] is None):
            raise ValueError(f'pad: mode {mode!r} has no option {name}')
    if is_array(pad_width):
        raise TypeError('pad: pad_width must be a tuple or a number, not an array')
    widths = numpy.asarray(pad_width)
    if widths.dtype.kind not in 'iu':
        raise TypeError('pad: pad_width must be made of ints')
    # one pair stands for all axes, of which a symbol does not know the number
    axes = x.ndim if isinstance(x, NDArrayBase) else widths.shape[0] if widths.ndim == 2 else 1
    pairs = tuple(tuple(int(n) for n in p) for p in numpy.broadcast_to(widths, (axes, 2)))
    value = kwargs.get('constant_values', 0)
    if numpy.ndim(value):
        raise TypeError('pad: constant_values must be a number')
    if value:
        warnings.warn(f'np.pad frames with zeros, as MXNet 1.9.1 did, not with constant_values={value}; '
                      f'for those, np.pad(x - c, ...) + c', stacklevel=2)
    return apply('_npi_pad', (x,), {'pad_width': pairs, 'mode': mode,
                                    'reflect_type': kwargs.get('reflect_type') or 'even'})


# ---------------------------------------------------------------------- diagonals and triangles
def diag(array, k=0):
    """The k-th diagonal of a matrix, or a matrix that has this one."""
    return apply('_np_diag', (array,), {'k': k})


def diagflat(array, k=0):
    """A matrix with all elements on its k-th diagonal."""
    return apply('_np_diagflat', (array,), {'k': k})


def diagonal(a, offset=0, axis1=0, axis2=1):
    """Diagonals of the plane of two axes, as the last axis of the result."""
    return apply('_np_diagonal', (a,), {'offset': offset, 'axis1': axis1, 'axis2': axis2})


def trace(a, offset=0, axis1=0, axis2=1, out=None):
    """Sums of diagonals of the plane of two axes."""
    return apply('_np_trace', (a,), {'offset': offset, 'axis1': axis1, 'axis2': axis2}, out)


def tril(m, k=0):
    """Matrices with zeros above the k-th diagonal."""
    return apply('_npi_tril', (m,), {'k': k})


def triu(m, k=0):
    """Matrices with zeros below the k-th diagonal."""
    lower = apply('_npi_tril', (m,), {'k': k - 1})
    if str(m.dtype) == 'bool':
        return m ^ lower
    return m - lower


# ---------------------------------------------------------------------- joining
def _arrays(name, arrays):
    if is_array(arrays):
        return tuple(arrays)
    if not isinstance(arrays, Iterable):
        raise TypeError(f'np.{name}: the arrays must be given as a list, not {kind_of(arrays)}')
    arrays = tuple(arrays)
    if not arrays:
        raise ValueError(f'{name}: at least one array is needed')
    like = next((x for x in arrays if is_array(x)), None)
    if like is None:
        raise unsupported(name, arrays[0])
    from ._creation import array
    return tuple(x if is_array(x) else array(x, dtype=like.dtype, ctx=like.ctx) for x in arrays)


def concatenate(seq, axis=0, out=None):
    """Arrays behind each other along an axis; with axis=None, their elements in a row.

    >>> mx.np.concatenate([mx.np.zeros((1, 2)), mx.np.ones((1, 2))])
    array([[0., 0.],
           [1., 1.]])
    """
    if is_array(axis):
        raise TypeError('np.concatenate: axis must be an int, not an array; give the arrays as a list: '
                        'np.concatenate([a, b])')
    arrays = _arrays('concatenate', seq)
    # a graph's node keeps axis=None too, which is not the default
    return apply('_npi_concatenate', arrays, {'num_args': len(arrays), 'axis': 'None' if axis is None else axis}, out)


def append(arr, values, axis=None):
    """`values` behind the array along an axis; without one, both in a row."""
    return concatenate((arr, values), axis)


def stack(arrays, axis=0, out=None):
    """Arrays of one shape behind each other along a new axis."""
    if is_array(axis):
        raise TypeError('np.stack: axis must be an int, not an array; give the arrays as a list: np.stack([a, b])')
    arrays = _arrays('stack', arrays)
    return apply('_npi_stack', arrays, {'num_args': len(arrays), 'axis': axis}, out)


def vstack(arrays, out=None):
    """Arrays above each other: along the first axis, where vectors count as rows."""
    arrays = _arrays('vstack', arrays)
    return apply('_npi_vstack', arrays, {'num_args': len(arrays)}, out)


row_stack = vstack


def hstack(arrays):
    """Arrays beside each other: along the second axis, or vectors along their only one."""
    arrays = _arrays('hstack', arrays)
    return apply('_npi_hstack', arrays, {'num_args': len(arrays)})


def dstack(arrays):
    """Arrays behind each other along the third axis."""
    arrays = _arrays('dstack', arrays)
    return apply('_npi_dstack', arrays, {'num_args': len(arrays)})


def column_stack(tup):
    """Matrices beside each other, where vectors count as columns."""
    arrays = _arrays('column_stack', tup)
    return apply('_npi_column_stack', arrays, {'num_args': len(arrays)})


def _at_least(name):
    def function(*arys):
        arys = tuple(x if is_array(x) else _number(x) for x in arys)
        return apply(f'_np_{name}', arys, {'num_args': len(arys)})
    function.__name__ = function.__qualname__ = name
    return function


def _number(x):
    from ._creation import array
    return array(x)


atleast_1d, atleast_2d, atleast_3d = _at_least('atleast_1d'), _at_least('atleast_2d'), _at_least('atleast_3d')
atleast_1d.__doc__ = 'Arrays with one axis or more: numbers get one.'
atleast_2d.__doc__ = 'Arrays with two axes or more: missing ones are added in front.'
atleast_3d.__doc__ = 'Arrays with three axes or more.'


# ---------------------------------------------------------------------- splitting
def _split(internal, name, ary, indices_or_sections, axis, length, equal):
    if isinstance(indices_or_sections, (int, numpy.integer)):
        sections = int(indices_or_sections)
        if sections < 1:
            raise ValueError(f'{name}: the number of parts must be positive, but is {sections}')
        if equal and length is not None and length % sections:
            raise ValueError(f'{name}: an axis of length {length} has no {sections} equal parts')
        attributes = {'indices': (), 'sections': sections}
    else:
        attributes = {'indices': (0, *_limits(numbers(indices_or_sections), length)), 'sections': 0}
    result = apply(internal, (ary,), {**attributes, 'axis': axis, 'squeeze_axis': False})
    return result if isinstance(result, list) else [result]


def _limits(indices, length):
    """Where parts begin, as slices understand it: negative numbers count from the end, those beyond it are cut."""
    if length is None:
        return indices
    limits, last = [], 0
    for index in indices:
        index = index + length if index < 0 else index
        last = max(last, min(max(index, 0), length))
        limits.append(last)
    return tuple(limits)


def _length(ary, axis):
    if not isinstance(ary, NDArrayBase):
        return None
    if not -len(ary.shape) <= axis < len(ary.shape):
        raise MXNetError(f'an array of shape {ary.shape} has no axis {axis}')
    return ary.shape[axis]


def split(ary, indices_or_sections, axis=0):
    """A list of equal parts along an axis, or of those that begin at each of the given indices.

    >>> mx.np.split(mx.np.arange(4), 2)
    [array([0., 1.]), array([2., 3.])]
    """
    return _split('_npi_split', 'split', ary, indices_or_sections, axis, _length(ary, axis), True)


def array_split(ary, indices_or_sections, axis=0):
    """As `split`, where parts may differ in length by one."""
    return _split('_npi_split', 'array_split', ary, indices_or_sections, axis, _length(ary, axis), False)


def vsplit(ary, indices_or_sections):
    """Parts along the first axis."""
    if isinstance(ary, NDArrayBase) and ary.ndim < 2:
        raise ValueError('vsplit: the array must have two axes or more')
    return split(ary, indices_or_sections, 0)


def hsplit(ary, indices_or_sections):
    """Parts along the second axis, or along a vector's only one."""
    if isinstance(ary, NDArrayBase) and ary.ndim < 1:
        raise ValueError('hsplit: the array must have an axis or more')
    length = _length(ary, 0 if isinstance(ary, NDArrayBase) and ary.ndim == 1 else 1)
    return _split('_npi_hsplit', 'hsplit', ary, indices_or_sections, 1, length, True)


def dsplit(ary, indices_or_sections):
    """Parts along the third axis."""
    if isinstance(ary, NDArrayBase) and ary.ndim < 3:
        raise ValueError('dsplit: the array must have three axes or more')
    return _split('_npi_dsplit', 'dsplit', ary, indices_or_sections, 2, _length(ary, 2), True)


_explain_kinds(globals(), ('append', 'array_split', 'broadcast_to', 'diag', 'dsplit', 'hsplit', 'hstack', 'moveaxis',
                           'pad', 'repeat', 'resize',
                           'roll', 'rot90', 'split', 'tile', 'vsplit', 'vstack', 'row_stack'))
