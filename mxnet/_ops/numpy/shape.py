"""Shapes and the order of axes, as NumPy has them."""
from math import prod
from typing import Any, Literal

import torch

from ...base import MXNetError
from ..core.attributes import Count, Shape, Shapes
from ..core.table import operator
from ..tensor import joining
from .reshape_codes import resolve


@operator(elementwise=True)
def _np_copy(a):
    """The same values in new memory."""
    return a.clone()


# ---------------------------------------------------------------------- another shape
def _in_order(a, shape, order):
    if order in ('C', 'A', 'K'):
        return a.reshape(shape)
    if order != 'F':
        raise MXNetError(f"reshape: order={order!r} is not accepted; it takes 'C' or 'F'")
    backwards = a.permute(tuple(reversed(range(a.dim())))).reshape(shape[::-1])
    return backwards.permute(tuple(reversed(range(len(shape)))))


@operator()
def _np_reshape(a, *, newshape: Shape, order: str = 'C'):
    """The same elements in another shape, where -1 stands for what is left over."""
    if any(n < -1 for n in newshape):
        raise MXNetError(f'operator _np_reshape: argument newshape={newshape} is not accepted; the only negative '
                         'number accepted is -1 (npx.reshape accepts more)')
    return _in_order(a, newshape, order)


@operator(aliases=('_npi_reshape',))
def _npx_reshape(a, *, newshape: Shape, reverse: bool = False, order: str = 'C'):
    """The same elements in another shape; `newshape` may hold codes, which `reverse` reads from the right.

    -1 takes what is left over, -2 keeps an axis, -3 drops one of length 1, -4 keeps all axes that are left, -5 joins
    two and -6 splits one into the two numbers behind it.
    """
    return _in_order(a, resolve(tuple(a.shape), newshape, reverse), order)


@operator()
def _np_squeeze(a, *, axis: Shape | None = None):
    """Drops axes of length 1: those in `axis`, or all."""
    if axis is None:
        return a.squeeze()
    if not a.dim() and axis in ((0,), (-1,)):
        return a.clone()
    result = a.squeeze(axis)
    if result.dim() != a.dim() - len(axis):
        raise MXNetError(f'operator _np_squeeze: argument axis={axis} names an axis that is not of length 1 in shape '
                         f'{tuple(a.shape)}')
    return result


def _at_least(count, place):
    def function(*arys):
        results = []
        for x in arys:
            missing = count - x.dim()
            results.append(x if missing <= 0 else x.reshape(place(tuple(x.shape))))
        return tuple(results)
    return function


def _line(shape):
    return shape or (1,)


def _matrix(shape):
    return (1, *_line(shape)) if len(shape) < 2 else shape


def _block(shape):
    return (*_matrix(shape), 1) if len(shape) < 3 else shape


def _names(attributes):
    return tuple(f'ary{i}' for i in range(attributes['num_args']))


def _outputs(attributes):
    count = attributes['num_args']
    return ('output',) if count == 1 else tuple(f'output{i}' for i in range(count))


_one, _two, _three = _at_least(1, _line), _at_least(2, _matrix), _at_least(3, _block)


@operator(variadic='num_args', variadic_names=_names, outputs=_outputs)
def _np_atleast_1d(*arys, num_args: int):
    """Arrays without axes get one."""
    return _one(*arys)


@operator(variadic='num_args', variadic_names=_names, outputs=_outputs)
def _np_atleast_2d(*arys, num_args: int):
    """Arrays with less than two axes get more in front."""
    return _two(*arys)


@operator(variadic='num_args', variadic_names=_names, outputs=_outputs)
def _np_atleast_3d(*arys, num_args: int):
    """Arrays with less than three axes get more: the last one behind."""
    return _three(*arys)


@operator()
def _npi_resize(a, *, new_shape: Shape):
    """The elements in another shape, from the start again where there are too few of them; of none, zeros."""
    flat, size = a.reshape(-1), prod(new_shape)
    if not flat.numel() or not size:
        return a.new_zeros(new_shape)
    return flat.repeat(-(-size // flat.numel()))[:size].reshape(new_shape)


@operator()
def _npi_broadcast_to(array, *, shape: Shape = ()):
    """Repeats axes of length 1, and adds axes in front, so that the array gets `shape`; -1 and -2 keep an axis."""
    extra = len(shape) - array.dim()
    wanted = tuple(array.shape[i - extra] if n in (-1, -2) and i >= extra else n for i, n in enumerate(shape))
    if extra < 0 or any(n not in (1, m) for n, m in zip(array.shape, wanted[extra:], strict=True)):
        raise MXNetError(f'operator _npi_broadcast_to: an array of shape {tuple(array.shape)} cannot be broadcast to '
                         f'{shape}')
    return array.expand(wanted)


# ---------------------------------------------------------------------- another order
class _BadAxes(MXNetError, ValueError):
    """Axes that are not all, or one of them twice."""


@operator()
def _np_transpose(a, *, axes: Shape | None = None):
    """The axes in the order `axes`, by default in reverse order."""
    if not axes:
        return a.permute(tuple(range(a.dim() - 1, -1, -1)))
    if sorted(x % a.dim() if -a.dim() <= x < a.dim() else -1 for x in axes) != list(range(a.dim())):
        raise _BadAxes(f'operator _np_transpose: argument axes={axes} is not accepted for shape {tuple(a.shape)}; it '
                       'takes all axes in a new order')
    return a.permute(axes)


@operator()
def _np_moveaxis(a, *, source: Shape, destination: Shape):
    """Moves axes to new places; the others keep their order."""
    if len(source) != len(destination):
        raise MXNetError(f'operator _np_moveaxis: source={source} and destination={destination} must have the same '
                         'number of axes')
    return a.movedim(source, destination)


@operator()
def _np_roll(data, *, shift: Shape | None = None, axis: Shape | None = None):
    """Moves elements along axes (without `axis`: in the flat array); what leaves at one end comes in at the other."""
    if shift is None:
        raise MXNetError('operator _np_roll: argument shift is missing; it takes an int, or one for each axis')
    if axis is None:
        return torch.roll(data, sum(shift))
    count = max(len(shift), len(axis))
    if any(len(x) not in (1, count) for x in (shift, axis)):
        raise MXNetError(f'operator _np_roll: shift={shift} and axis={axis} do not fit; they take as many ints, or one')
    result = data
    for move, along in zip(shift * (count // len(shift)), axis * (count // len(axis)), strict=True):
        result = torch.roll(result, move, along)
    return result


@operator()
def _npi_flip(data, *, axis: Shape | None):
    """The elements in reverse order along the axes in `axis`, or (None) along all."""
    return data.flip(tuple(range(data.dim())) if axis is None else axis)


@operator()
def _npi_rot90(data, *, k: int = 1, axes: Shape | None = None):
    """Turns the plane of two axes by 90 degrees, `k` times, from the first towards the second."""
    axes = (0, 1) if axes is None else axes
    if len(axes) != 2 or axes[0] % max(data.dim(), 1) == axes[1] % max(data.dim(), 1):
        raise MXNetError(f'operator _npi_rot90: argument axes={axes} is not accepted for shape {tuple(data.shape)}; '
                         'it takes two different axes')
    return torch.rot90(data, k, axes)


# ---------------------------------------------------------------------- diagonals and triangles
@operator()
def _np_diag(data, *, k: int = 0):
    """The k-th diagonal of a matrix, or a matrix that has this one."""
    if data.dim() not in (1, 2):
        raise MXNetError(f'operator _np_diag: data has shape {tuple(data.shape)}; it takes a vector or a matrix')
    return torch.diag(data, k)


@operator()
def _np_diagflat(data, *, k: int = 0):
    """A matrix with all elements on its k-th diagonal."""
    return torch.diagflat(data, k)


def _pair(name, data, axis1, axis2):
    if data.dim() < 2 or not all(-data.dim() <= x < data.dim() for x in (axis1, axis2)) \
            or axis1 % data.dim() == axis2 % data.dim():
        raise MXNetError(f'operator {name}: axis1={axis1} and axis2={axis2} are not two axes of shape '
                         f'{tuple(data.shape)}')


@operator()
def _np_diagonal(data, *, offset: int = 0, axis1: int = 0, axis2: int = 1):
    """Diagonals of the plane of two axes, as the last axis of the result."""
    _pair('_np_diagonal', data, axis1, axis2)
    return data.diagonal(offset, axis1, axis2)


@operator()
def _np_trace(data, *, offset: int = 0, axis1: int = 0, axis2: int = 1):
    """Sums of diagonals of the plane of two axes."""
    _pair('_np_trace', data, axis1, axis2)
    return data.diagonal(offset, axis1, axis2).sum(-1, dtype=None if data.dtype is torch.bool else data.dtype)


@operator()
def _npi_tril(data, *, k: int = 0):
    """Matrices with zeros above the k-th diagonal; a vector stands for a matrix of such rows."""
    return torch.tril(data if data.dim() > 1 else data.expand(data.shape[0], data.shape[0]), k)


@operator(outputs=('output',), result_dtype='int64')
def _npi_diag_indices_from(data):
    """Positions of the main diagonal of an array whose axes have one length: a row for each axis (int64)."""
    if data.dim() < 2 or len(set(data.shape)) != 1:
        raise MXNetError(f'operator _npi_diag_indices_from: data has shape {tuple(data.shape)}; it takes two or more '
                         'axes of one length')
    return torch.arange(data.shape[0], device=data.device).expand(data.dim(), -1)


# ---------------------------------------------------------------------- joining
def _data_names(attributes):
    return tuple(f'data{i}' for i in range(attributes['num_args']))


def one_dtype(arrays):
    """All arrays in the widest of their dtypes."""
    dtype = arrays[0].dtype
    for x in arrays[1:]:
        if x.dtype is not dtype:
            dtype = torch.promote_types(dtype, x.dtype)
    return [x.to(dtype) for x in arrays]


_JOIN: dict[str, Any] = {'variadic': 'num_args', 'variadic_names': _data_names, 'outputs': 'out'}


@operator(**_JOIN)
def _npi_concatenate(*data, num_args: int, axis: int | None = 0):
    """Arrays behind each other along an axis, whose other axes must agree; with axis=None, their elements in a row."""
    arrays = one_dtype(data)
    return torch.cat([x.reshape(-1) for x in arrays]) if axis is None else torch.cat(arrays, axis)


@operator(variadic='num_args')
def _npi_stack(*data, axis: int = 0, num_args: int):
    """Arrays of one shape behind each other along a new axis."""
    return torch.stack(one_dtype(data), axis)


@operator(variadic='num_args')
def _npi_vstack(*data, num_args: int):
    """Arrays above each other: along the first axis, where vectors count as rows."""
    return torch.cat(_two(*one_dtype(data)), 0)


@operator(**_JOIN)
def _npi_hstack(*data, num_args: int, dim: int = 1):
    """Arrays beside each other: along the second axis, or vectors along their only one."""
    arrays = _one(*one_dtype(data))
    return torch.cat(arrays, 0 if arrays[0].dim() == 1 else 1)


@operator(**_JOIN)
def _npi_dstack(*data, num_args: int, dim: int = 1):
    """Arrays behind each other: along the third axis, which those with less get."""
    return torch.cat(_three(*one_dtype(data)), 2)


@operator(variadic='num_args')
def _npi_column_stack(*data, num_args: int):
    """Matrices beside each other, where vectors count as columns."""
    columns = [x.reshape(-1, 1) if x.dim() < 2 else x for x in one_dtype(data)]
    return torch.cat(columns, 1)


# ---------------------------------------------------------------------- splitting
@operator(outputs=joining._split_names)
def _npi_hsplit(data, *, indices: Shape, axis: int = 1, squeeze_axis: bool = False, sections: Count = 0):
    """Splits the second axis, or a vector's only one; `indices` and `sections` are those of `_npi_split`."""
    return joining.split_v2(data, indices=indices, axis=0 if data.dim() == 1 else 1, squeeze_axis=squeeze_axis,
                            sections=sections)


@operator(outputs=joining._split_names)
def _npi_dsplit(data, *, indices: Shape, axis: int = 1, squeeze_axis: bool = False, sections: Count = 0):
    """Splits the third axis; `indices` and `sections` are those of `_npi_split`."""
    if data.dim() < 3:
        raise MXNetError(f'operator _npi_dsplit: data has shape {tuple(data.shape)}; it takes three axes or more')
    return joining.split_v2(data, indices=indices, axis=2, squeeze_axis=squeeze_axis, sections=sections)


# ---------------------------------------------------------------------- frames
def _positions(mode, length, before, after, device):
    """Positions of the elements of an axis with its frame, mirrored as often as it takes."""
    places = torch.arange(-before, length + after, device=device)
    if mode == 'edge':
        return places.clamp(0, length - 1)
    period = 2 * length if mode == 'symmetric' else max(2 * length - 2, 1)
    places = places.remainder(period)
    mirrored = period - places - (1 if mode == 'symmetric' else 0)
    return torch.where(places < length, places, mirrored)


_PadMode = Literal['constant', 'edge', 'maximum', 'minimum', 'reflect', 'symmetric']


@operator()
def _npi_pad(data, *, pad_width: Shapes, mode: _PadMode = 'constant', constant_value: float = 0.0,
             reflect_type: str = 'even'):
    """A frame around the array: `pad_width` has the lengths before and after each axis.

    The frame holds `constant_value` ('constant'), the nearest element ('edge'), the mirrored ones without
    ('reflect') or with ('symmetric') the element at the edge, or the 'maximum' or 'minimum' along the axis.
    """
    if len(pad_width) == 1:
        pad_width = pad_width * data.dim()
    if len(pad_width) != data.dim() or any(len(p) != 2 or min(p) < 0 for p in pad_width):
        raise MXNetError(f'operator _npi_pad: argument pad_width={pad_width} is not accepted for shape '
                         f'{tuple(data.shape)}; it takes two lengths >= 0 per axis')
    if reflect_type != 'even':
        raise MXNetError(f"operator _npi_pad: argument reflect_type={reflect_type!r} is not accepted; it takes 'even'")
    if mode == 'constant':
        return joining.Pad(data, mode='constant', pad_width=tuple(n for p in pad_width for n in p),
                           constant_value=constant_value)
    for axis, (before, after) in enumerate(pad_width):
        if not before and not after:
            continue
        if mode in ('maximum', 'minimum'):
            value = torch.amax(data, axis, True) if mode == 'maximum' else torch.amin(data, axis, True)
            data = torch.cat([value.repeat_interleave(before, axis), data, value.repeat_interleave(after, axis)], axis)
        else:
            data = data.index_select(axis, _positions(mode, data.shape[axis], before, after, data.device))
    return data
