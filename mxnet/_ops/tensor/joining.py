"""Operators that join arrays, split one, or repeat and frame its elements."""
from typing import Literal

import torch
from torch.nn import functional as F

from ..._state import state
from ...base import MXNetError
from ..core import shapes
from ..core.attributes import Count, Shape
from ..core.table import operator


# ---------------------------------------------------------------------- joining
@operator(aliases=('concat', '_sparse_concat'), variadic='num_args', shapes=shapes.concat, same_dtype='*')
def Concat(*data, num_args: int, dim: int = 1):
    """Arrays behind each other along axis `dim`; the other axes must agree."""
    return torch.cat(data, dim)


@operator(variadic='num_args', shapes=shapes.same_shape, same_dtype='*')
def stack(*data, axis: int = 0, num_args: int):
    """Arrays of one shape behind each other along a new axis."""
    return torch.stack(data, axis)


# ---------------------------------------------------------------------- splitting
@operator(aliases=('split',), methods='split',
          outputs=lambda a: tuple(f'output{i}' for i in range(a['num_outputs'])))
def SliceChannel(data, *, num_outputs: Count, axis: int = 1, squeeze_axis: bool = False):
    """Splits an axis into `num_outputs` parts of the same length; `squeeze_axis` drops it where they have length 1."""
    length = data.size(axis)
    if num_outputs < 1 or length % num_outputs:
        raise MXNetError(f'operator SliceChannel: axis {axis} of shape {tuple(data.shape)} cannot be split into '
                         f'num_outputs={num_outputs} equal parts')
    if not squeeze_axis:
        return data.split(length // num_outputs, axis) if length else (data,) * num_outputs
    if length != num_outputs:
        if state.kept is not None:
            state.kept()
            return data.split(length // num_outputs, axis)
        raise MXNetError(f'operator SliceChannel: squeeze_axis needs parts of length 1, but axis {axis} of shape '
                         f'{tuple(data.shape)} has num_outputs={num_outputs} parts of length {length // num_outputs}')
    return data.unbind(axis)


def _split_names(attributes):
    count = attributes['sections'] or len(attributes['indices'])
    return ('output',) if count == 1 else tuple(f'output{i}' for i in range(count))


@operator('_split_v2', aliases=('_npi_split',), outputs=_split_names)
def split_v2(data, *, indices: Shape, axis: int = 1, squeeze_axis: bool = False, sections: Count = 0):
    """Splits an axis where `indices` say a part begins (so the first is 0), or into `sections` parts.

    Sections need not divide the length: the first ones are then longer by one.
    """
    length = data.size(axis)
    if sections > 0:
        short, longer = divmod(length, sections)
        lengths = [short + 1] * longer + [short] * (sections - longer)
    else:
        limits = (*indices, length)
        lengths = [end - begin for begin, end in zip(limits, limits[1:], strict=False)]
        if not indices or min(lengths) < 0 or indices[0] != 0:
            raise MXNetError(f'operator _split_v2: argument indices={indices} is not accepted for an axis of length '
                             f'{length}; it takes rising positions that begin with 0')
    if not squeeze_axis:
        return data.split(lengths, axis)
    if any(n != 1 for n in lengths):
        raise MXNetError(f'operator _split_v2: squeeze_axis needs parts of length 1, but they have {lengths}')
    return data.unbind(axis)


# ---------------------------------------------------------------------- repeating
@operator(aliases=('_np_repeat',), methods='repeat')
def repeat(data, *, repeats: int, axis: int | None = None):
    """Every element `repeats` times, one beside the other, along an axis or (axis=None) of all elements in a row."""
    if repeats < 0:
        raise MXNetError(f'operator repeat: argument repeats={repeats} is not accepted; it takes an int >= 0')
    return torch.repeat_interleave(data, repeats, axis)


@operator(aliases=('_npi_tile',), methods='tile')
def tile(data, *, reps: Shape):
    """The whole array repeated `reps` times along its axes; missing axes or numbers count as 1 on the left."""
    least = 0 if state.np_shape else 1          # there are empty arrays in np mode only
    if any(n < least for n in reps):
        raise MXNetError(f'operator tile: argument reps={reps} is not accepted; it takes ints >= {least}')
    return torch.tile(data, reps)


@operator(aliases=('broadcast_axes',), methods='broadcast_axes')
def broadcast_axis(data, *, axis: Shape = (), size: Shape = ()):
    """Repeats axes of length 1: those in `axis` get the lengths in `size`."""
    if len(axis) != len(size):
        raise MXNetError(f'operator broadcast_axis: axis={axis} and size={size} must have the same number of values')
    shape = list(data.shape)
    for a, n in zip(axis, size, strict=True):
        if shape[a] != 1:
            raise MXNetError(f'operator broadcast_axis: axis {a} of shape {tuple(data.shape)} is not of length 1')
        shape[a] = n
    return data.expand(shape)


def _broadcast(name, data, shape):
    if data.dim() != len(shape) or any(n not in (1, m) for n, m in zip(data.shape, shape, strict=True)):
        raise MXNetError(f'operator {name}: an array of shape {tuple(data.shape)} cannot be broadcast to '
                         f'{tuple(shape)}; as many axes are needed, and only those of length 1 can change')
    return data.expand(shape)


@operator(methods='broadcast_to')
def broadcast_to(data, *, shape: Shape = ()):
    """Repeats axes of length 1 so that the array gets `shape`; 0 in it keeps an axis as it is."""
    if 0 in shape and len(shape) == data.dim():
        shape = tuple(m or n for n, m in zip(data.shape, shape, strict=True))
    return _broadcast('broadcast_to', data, shape)


@operator(methods='broadcast_like')
def broadcast_like(lhs, rhs, *, lhs_axes: Shape | None = None, rhs_axes: Shape | None = None):
    """Repeats axes of length 1 of `lhs` to fit `rhs`: all, or those in `lhs_axes` to fit those in `rhs_axes`."""
    if lhs_axes is None or rhs_axes is None:
        return _broadcast('broadcast_like', lhs, rhs.shape)
    if not lhs_axes or len(lhs_axes) != len(rhs_axes):
        raise MXNetError(f'operator broadcast_like: lhs_axes={lhs_axes} and rhs_axes={rhs_axes} must name the same '
                         'number of axes, and at least one')
    shape = list(lhs.shape)
    for left, right in zip(lhs_axes, rhs_axes, strict=True):
        if shape[left] != 1:
            raise MXNetError(f'operator broadcast_like: axis {left} of lhs with shape {tuple(lhs.shape)} is not of '
                             'length 1')
        shape[left] = rhs.shape[right]
    return lhs.expand(shape)


# ---------------------------------------------------------------------- frames
@operator(aliases=('pad',), methods='pad')
def Pad(data, *, mode: Literal['constant', 'edge', 'reflect'], pad_width: Shape, constant_value: float = 0.0):
    """A frame around the array: `pad_width` has the lengths before and after each axis, the first axis first.

    The frame holds `constant_value` ('constant'), the nearest element ('edge') or the mirrored ones ('reflect').
    """
    if len(pad_width) != 2 * data.dim() or min(pad_width, default=0) < 0:
        raise MXNetError(f'operator Pad: argument pad_width={pad_width} is not accepted for shape '
                         f'{tuple(data.shape)}; it takes two lengths >= 0 per axis')
    ends = [n for before in range(len(pad_width) - 2, -1, -2) for n in pad_width[before:before + 2]]
    if mode == 'constant':
        return F.pad(data, ends, value=constant_value if data.is_floating_point() else int(constant_value))
    for n, before, after in zip(data.shape, pad_width[::2], pad_width[1::2], strict=True):
        if mode == 'reflect' and (before or after) and max(before, after) >= n:
            raise MXNetError(f'operator Pad: reflect needs less than {n} elements before and after an axis of length '
                             f'{n}, but pad_width says {before} and {after}')
    if data.is_floating_point() and 3 <= data.dim() <= 5 and not any(pad_width[:4]):
        return F.pad(data, ends[:-4], 'replicate' if mode == 'edge' else 'reflect')
    for axis in range(data.dim()):
        before, after = pad_width[2 * axis:2 * axis + 2]
        if before or after:
            data = data.index_select(axis, _framed(mode, data.shape[axis], before, after, data.device))
    return data


def _framed(mode, length, before, after, device):
    """Positions of the elements of an axis with its frame."""
    positions = torch.arange(-before, length + after, device=device)
    if mode == 'edge':
        return positions.clamp(0, length - 1)
    return (length - 1) - ((length - 1) - positions.abs()).abs()


@operator(variadic='num_args')
def Crop(*data, num_args: int, offset: Shape = (0, 0), h_w: Shape = (0, 0), center_crop: bool = False):
    """A window of images (n, c, h, w): as large as `h_w`, or as the second input where there are two.

    It begins at `offset` (row, column), or lies in the middle with `center_crop`.
    """
    image = data[0]
    if image.dim() != 4 or len(data) > 2:
        raise MXNetError('operator Crop: it takes one or two inputs with 4 axes (batch, channel, height, width), but '
                         f'was given shapes {[tuple(d.shape) for d in data]}')
    size = data[1].shape[2:] if len(data) == 2 else h_w
    room = [n - m for n, m in zip(image.shape[2:], size, strict=True)]
    if min(size) < 1 or min(room) < 0:
        raise MXNetError(f'operator Crop: a window of {tuple(size)} does not fit into data with shape '
                         f'{tuple(image.shape)}')
    top, left = (room[0] // 2, room[1] // 2) if center_crop else offset
    if not (0 <= top <= room[0] and 0 <= left <= room[1]):
        raise MXNetError(f'operator Crop: argument offset={offset} is not accepted; a window of {tuple(size)} in '
                         f'{tuple(image.shape[2:])} leaves {tuple(room)}')
    return image[:, :, top:top + size[0], left:left + size[1]]
