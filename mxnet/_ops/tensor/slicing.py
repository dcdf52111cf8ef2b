"""Slices, and arrays with a slice replaced."""
import torch

from ...base import MXNetError
from ..core import shapes
from ..core.attributes import Shape, Slices
from ..core.table import operator


def positions(name, shape, begin, end, step):
    """What each axis keeps, as one `range` per axis: Python's rules for slices."""
    if len(begin) != len(end) or (step and len(step) != len(begin)) or len(begin) > len(shape):
        raise MXNetError(f'operator {name}: begin={begin}, end={end} and step={step} must be of one length, at most '
                         f'the {len(shape)} axes of shape {tuple(shape)}')
    if 0 in step:
        raise MXNetError(f'operator {name}: argument step={step} is not accepted; it takes ints other than 0, or None')
    kept = [range(*slice(*limits).indices(n))
            for *limits, n in zip(begin, end, step or (None,) * len(begin), shape, strict=False)]
    return kept + [range(n) for n in shape[len(kept):]]


def _forward(kept):
    """The positions of a range as (first, stop, step) with a positive step; the caller flips where it was negative."""
    if not kept:
        return 0, 0, 1
    if kept.step > 0:
        return kept[0], kept[-1] + 1, kept.step
    return kept[-1], kept[0] + 1, -kept.step


def _backward_axes(kept):
    return [axis for axis, r in enumerate(kept) if r.step < 0]


@operator('slice', aliases=('crop', '_npi_slice', '_npx_slice', '_sparse_slice'), methods='slice')
def slice_(data, *, begin: Slices, end: Slices, step: Slices = ()):
    """Elements from `begin` up to `end` in steps of `step`, for the first axes; None means from or to the very end."""
    kept = positions('slice', data.shape, begin, end, () if step == (None,) else step)
    data = data[tuple([slice(*_forward(r)) for r in kept])]
    turned = _backward_axes(kept)
    return data.flip(turned) if turned else data


@operator(methods='slice_axis')
def slice_axis(data, *, axis: int, begin: int, end: int | None):
    """Elements from `begin` up to `end` (None: to the very end) of one axis; the range must not be empty."""
    length = data.size(axis)
    first = begin + length if begin < 0 else begin
    stop = length if end is None else end + length if end < 0 else end
    if length and not 0 <= first < stop <= length:
        raise MXNetError(f'operator slice_axis: begin={begin} and end={end} do not name a range within the {length} '
                         f'elements of axis {axis}')
    return data.narrow(axis, first, stop - first) if length else data


@operator(methods='slice_like')
def slice_like(data, shape_like, *, axes: Shape = ()):
    """The first elements of `data` along `axes` (by default along all), as many as `shape_like` has there."""
    if not axes and data.dim() != shape_like.dim():
        raise MXNetError(f'operator slice_like: without axes, data and shape_like must have the same number of axes, '
                         f'but their shapes are {tuple(data.shape)} and {tuple(shape_like.shape)}')
    result = data
    for axis in axes or range(data.dim()):
        place = axis % data.dim()
        length = shape_like.size(place)
        if length > data.size(place):
            raise MXNetError(f'operator slice_like: axis {axis} of shape_like with shape {tuple(shape_like.shape)} is '
                             f'longer than that of data with shape {tuple(data.shape)}')
        result = result.narrow(place, 0, length)
    return result


# ---------------------------------------------------------------------- replacing
def _replace(data, value, kept, axis=0):
    """`data` with the elements at `kept` replaced; without writing in place, so that it can be traced."""
    while axis < data.dim() and kept[axis] == range(data.shape[axis]):
        axis += 1
    if axis == data.dim():
        return value
    first, stop, step = _forward(kept[axis])
    inner = data[(slice(None),) * axis + (slice(first, stop, step),)]
    inner = _replace(inner, value, [*kept[:axis], range(inner.shape[axis]), *kept[axis + 1:]], axis + 1)
    return torch.slice_scatter(data, inner, axis, first, stop, step)


@operator('_slice_assign', aliases=('_crop_assign', '_npi_slice_assign'), shapes=shapes.slice_assign,
          same_dtype=('lhs', 'rhs'))
def slice_assign(lhs, rhs, *, begin: Slices, end: Slices, step: Slices = ()):
    """`lhs` with a slice of it replaced by `rhs`, which must have the shape of that slice."""
    kept = positions('_slice_assign', lhs.shape, begin, end, step)
    if tuple(rhs.shape) != tuple(map(len, kept)):
        raise MXNetError(f'operator _slice_assign: rhs has shape {tuple(rhs.shape)}, but the slice has '
                         f'{tuple(map(len, kept))}')
    turned = _backward_axes(kept)
    return _replace(lhs, rhs.flip(turned) if turned else rhs, kept)


@operator('_slice_assign_scalar', aliases=('_crop_assign_scalar', '_npi_slice_assign_scalar'))
def slice_assign_scalar(data, *, scalar: float = 0.0, begin: Slices, end: Slices, step: Slices = ()):
    """`data` with a slice of it replaced by a number."""
    kept = positions('_slice_assign_scalar', data.shape, begin, end, step)
    value = scalar if data.is_floating_point() else int(scalar)
    return _replace(data, data.new_full((), value).expand([len(r) for r in kept]), kept)
