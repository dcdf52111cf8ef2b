"""Choosing, inserting, deleting and counting elements, as NumPy does."""
from typing import Any, Literal

import torch

from ...base import MXNetError, OutOfRange
from ..core.attributes import Shape
from ..core.checks import in_range, refuse
from ..core.late_reads import reads_late
from ..core.table import operator
from .binary import promoted


# ---------------------------------------------------------------------- by a condition
def _condition(condition):
    return condition if condition.dtype is torch.bool else condition != 0


@operator()
@reads_late('condition')
def _npi_where(condition, x, y):
    """`x` where the condition is true, else `y`; all three broadcast."""
    return torch.where(_condition(condition.detach()), *promoted(x, y))


def _like(number, data):
    return torch.scalar_tensor(number if data.is_floating_point() else int(number), dtype=data.dtype)


@operator()
def _npi_where_lscalar(condition, x, *, scalar: float = 0.0):
    """`scalar` where the condition is true, else `x`."""
    return torch.where(_condition(condition.detach()), _like(scalar, x).to(x.device), x)


@operator()
def _npi_where_rscalar(condition, y, *, scalar: float = 0.0):
    """`y` where the condition is true, else `scalar`."""
    return torch.where(_condition(condition.detach()), y, _like(scalar, y).to(y.device))


@operator(result_dtype='float32')
def _npi_where_scalar2(condition, *, x: float = 0.0, y: float = 0.0):
    """The number `x` where the condition is true, else `y`, as float32."""
    return torch.where(_condition(condition.detach()), torch.scalar_tensor(x, device=condition.device),
                       torch.scalar_tensor(y, device=condition.device))


def _mask(data, mask, start_axis):
    """The mask with axes that let it broadcast over `data` from `start_axis` on."""
    mask = _condition(mask)
    shape = tuple(data.shape)
    if shape[start_axis:start_axis + mask.dim()] != tuple(mask.shape):
        raise MXNetError(f'a mask of shape {tuple(mask.shape)} does not fit axes {start_axis} and following of {shape}')
    return mask.reshape((*mask.shape, *[1] * (data.dim() - start_axis - mask.dim())))


@operator()
def _npi_boolean_mask_assign_scalar(data, mask, *, value: float, start_axis: int):
    """`data` with a number where the mask is true; the mask lies on the axes from `start_axis` on."""
    return torch.where(_mask(data, mask, start_axis), _like(value, data).to(data.device), data)


@operator()
def _npi_boolean_mask_assign_tensor(data, mask, value, *, start_axis: int):
    """`data` with the values of an array, one after the other, where the mask is true."""
    _mask(data, mask, start_axis)
    result = data.clone()
    result[(slice(None),) * start_axis + (_condition(mask),)] = value.to(data.dtype)
    return result


@operator(aliases=('_npi_nonzero',), result_dtype='int64')
def _npx_nonzero(x):
    """Positions of the elements that are not 0: a row for each, a column for each axis (int64)."""
    return (x.detach() if x.dim() else x.detach().reshape(1)).nonzero()


@operator(elementwise=True)
def _npx_constraint_check(input, *, msg: str = 'Constraint violated.'):
    """True, unless a value of `input` is 0 (or False): then an error with `msg`."""
    if input.device.type != 'meta' and not bool(input.all()):
        raise _Violated(msg)
    return torch.ones((), dtype=torch.bool, device=input.device)


class _Violated(MXNetError, ValueError):
    """What a program asked to hold does not."""


# ---------------------------------------------------------------------- deleting and inserting
def _line(array, axis):
    """The array and the axis to work on: the flat array without one."""
    return (array.reshape(-1), 0) if axis is None else (array, axis % max(array.dim(), 1))


def _whole(name, index, length):
    if not -length <= index < length:
        raise OutOfRange(f'operator {name}: index {index} is out of bounds for an axis of length {length}')
    return index % length


@operator(optional={'obj': lambda a: a['int_ind'] is None and a['step'] is None})
def _npi_delete(arr, obj=None, *, start: int | None = None, stop: int | None = None, step: int | None = None,
                int_ind: int | None = None, axis: int | None = None):
    """The array without the elements at `int_ind`, at `start:stop:step`, or at the positions (or mask) `obj`."""
    arr, axis = _line(arr, axis)
    length = arr.shape[axis]
    if obj is not None:
        keep = torch.ones(length, dtype=torch.bool, device=arr.device)
        positions = obj.reshape(-1)
        if positions.dtype is not torch.bool:
            positions = positions.long()
            if positions.numel() and (int(positions.max()) >= length or int(positions.min()) < -length):
                raise OutOfRange(f'operator _npi_delete: obj has positions outside of an axis of length {length}')
        keep[positions] = False
        return arr.index_select(axis, keep.nonzero().reshape(-1))
    if int_ind is not None:
        gone = {_whole('_npi_delete', int_ind, length)}
    else:
        gone = set(range(length)[slice(start, stop, step)])
    kept = [i for i in range(length) if i not in gone]
    return arr.index_select(axis, torch.tensor(kept, dtype=torch.int64, device=arr.device))


def _inserted(arr, positions, values, axis):
    """The array with new elements before these positions of an axis."""
    length, count = arr.shape[axis], positions.shape[0]
    order = torch.argsort(positions, stable=True)
    places = torch.empty_like(positions)
    places[order] = positions[order] + torch.arange(count, device=arr.device)
    source = torch.full((length + count,), -1, dtype=torch.int64, device=arr.device)
    source[places] = torch.arange(count, device=arr.device) + length
    source[source < 0] = torch.arange(length, device=arr.device)
    shape = list(arr.shape)
    shape[axis] = count
    return torch.cat([arr, values.to(arr.dtype).expand(shape)], axis).index_select(axis, source)


def _values(arr, values, val):
    if values is None:
        values = torch.full((), val if arr.is_floating_point() else int(val), dtype=arr.dtype, device=arr.device)
    return values.reshape([1] * (arr.dim() - values.dim()) + list(values.shape))


def _at_one(name, arr, index, values, axis, along):
    """Insertion of one or several elements at one position."""
    length = arr.shape[axis]
    if not -length <= index <= length:
        raise OutOfRange(f'operator {name}: index {index} is out of bounds for an axis of length {length}')
    values = values.movedim(0, axis) if along else values
    positions = torch.full((values.shape[axis],), index + length if index < 0 else index, device=arr.device)
    return _inserted(arr, positions, values, axis)


_INSERT: dict[str, Any] = {'optional': {'values': lambda a: a['val'] is None}}


@operator(**_INSERT)
def _npi_insert_scalar(arr, values=None, *, val: float | None = None, start: int | None = None, stop: int | None = None,
                       step: int | None = None, int_ind: int | None = None, axis: int | None = None):
    """The array with `values` (or the number `val`) before the position `int_ind`."""
    arr, axis = _line(arr, axis)
    return _at_one('_npi_insert_scalar', arr, int_ind, _values(arr, values, val), axis, True)


@operator(**_INSERT)
def _npi_insert_slice(arr, values=None, *, val: float | None = None, start: int | None = None, stop: int | None = None,
                      step: int | None = None, int_ind: int | None = None, axis: int | None = None):
    """The array with `values` (or the number `val`) before the positions `start:stop:step`."""
    arr, axis = _line(arr, axis)
    chosen = list(range(arr.shape[axis])[slice(start, stop, step)])
    values = _values(arr, values, val)
    if not chosen:
        return arr.clone()
    if len(chosen) == 1:
        return _at_one('_npi_insert_slice', arr, chosen[0], values, axis, False)
    return _inserted(arr, torch.tensor(chosen, device=arr.device), values, axis)


@operator(optional={'values': lambda a: a['val'] is None})
def _npi_insert_tensor(arr, values=None, obj=None, *, val: float | None = None, start: int | None = None,
                       stop: int | None = None, step: int | None = None, int_ind: int | None = None,
                       axis: int | None = None):
    """The array with `values` (or the number `val`) before the positions in `obj`."""
    arr, axis = _line(arr, axis)
    values = _values(arr, values, val)
    positions = obj.reshape(-1)
    positions = positions.nonzero().reshape(-1) if positions.dtype is torch.bool else positions.long()
    length = arr.shape[axis]
    if positions.shape[0] == 1 and arr.device.type != 'meta':
        return _at_one('_npi_insert_tensor', arr, int(positions), values, axis, not obj.dim())
    if arr.device.type == 'cpu' and bool(((positions < -length) | (positions > length)).any()):
        raise OutOfRange(f'operator _npi_insert_tensor: obj has positions outside of an axis of length {length}')
    positions = in_range('_npi_insert_tensor', 'obj', positions, length + 1, -length)
    return _inserted(arr, torch.where(positions < 0, positions + length, positions), values, axis)


# ---------------------------------------------------------------------- differences
@operator()
def _npi_diff(a, *, n: int = 1, axis: int = -1):
    """The differences of neighbours along an axis, `n` times over."""
    if n < 0:
        raise MXNetError(f'operator _npi_diff: argument n={n} is not accepted; it takes an int >= 0')
    return torch.diff(a, n, axis) if n else a.clone()


@operator(optional={'input2': lambda a: a['to_begin_arr_given'] or a['to_end_arr_given'],
                    'input3': lambda a: a['to_begin_arr_given'] and a['to_end_arr_given']})
def _npi_ediff1d(input1, input2=None, input3=None, *, to_begin_arr_given: bool = False, to_end_arr_given: bool = False,
                 to_begin_scalar: float | None = None, to_end_scalar: float | None = None):
    """The differences of neighbours in the flat array, with more in front of and behind them."""
    flat = input1.reshape(-1)

    def line(number):
        value = number if flat.is_floating_point() else int(number)
        return torch.full((1,), value, dtype=flat.dtype, device=flat.device)

    parts = [torch.diff(flat)]
    arrays = [x.reshape(-1).to(flat.dtype) for x in (input2, input3) if x is not None]
    if to_begin_arr_given:
        parts.insert(0, arrays.pop(0))
    elif to_begin_scalar is not None:
        parts.insert(0, line(to_begin_scalar))
    if to_end_arr_given:
        parts.append(arrays.pop(0))
    elif to_end_scalar is not None:
        parts.append(line(to_end_scalar))
    return torch.cat(parts)


# ---------------------------------------------------------------------- sets and counts
def _unique_outputs(attributes):
    count = 1 + sum(attributes[f'return_{n}'] for n in ('index', 'inverse', 'counts'))
    return ('output',) if count == 1 else tuple(f'output{i}' for i in range(count))


@operator(outputs=_unique_outputs)
def _npi_unique(data, *, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
                axis: int | None = None):
    """The different values in rising order (or different parts along `axis`).

    Then, as asked for, where each is first, which of them each element is, and how often each is there (int64).
    """
    data = data.detach()
    if axis is None:
        values, inverse, counts = torch.unique(data.reshape(-1), return_inverse=True, return_counts=True)
    else:
        values, inverse, counts = torch.unique(data, return_inverse=True, return_counts=True, dim=axis)
    results = [values]
    if return_index:
        first = torch.full(counts.shape, inverse.numel(), dtype=torch.int64, device=data.device)
        places = torch.arange(inverse.numel(), device=data.device)
        results.append(first.scatter_reduce(0, inverse.reshape(-1), places, 'amin'))
    if return_inverse:
        results.append(inverse)
    if return_counts:
        results.append(counts)
    return results[0] if len(results) == 1 else tuple(results)


@operator(optional={'weights': lambda a: a['has_weights']})
def _npi_bincount(data, weights=None, *, minlength: int = 0, has_weights: bool = False):
    """How often each of the numbers 0, 1, ... is in a vector of integers; with weights, the sum of these."""
    if data.is_floating_point() or data.dtype is torch.bool or data.dim() != 1:
        raise MXNetError('operator _npi_bincount: data must be a vector of integers')
    if minlength < 0:
        raise MXNetError(f'operator _npi_bincount: argument minlength={minlength} is not accepted; it takes an int '
                         '>= 0')
    if data.numel() and data.device.type != 'meta' and int(data.min()) < 0:
        raise MXNetError('operator _npi_bincount: data has negative values')
    if weights is None:
        return torch.bincount(data.long(), minlength=minlength).to(data.dtype)
    if weights.shape != data.shape:
        raise MXNetError(f'operator _npi_bincount: weights has shape {tuple(weights.shape)}, data {tuple(data.shape)}')
    return torch.bincount(data.long(), weights.detach(), minlength).to(weights.dtype)


# ---------------------------------------------------------------------- quantiles
_Interpolation = Literal['linear', 'lower', 'higher', 'midpoint', 'nearest']


@operator(optional={'q': lambda a: a['q_scalar'] is None})
def _npi_percentile(a, q=None, *, axis: Shape | None = None, interpolation: _Interpolation = 'linear',
                    keepdims: bool = False, q_scalar: float | None = None):
    """Values below which `q` per cent of those along `axis` lie; all but float64 give float32.

    Between two values, `interpolation` takes the point between them, the lower, the higher, the middle or the nearest.
    """
    data = a if a.dtype is torch.float64 else a.float()
    axes = tuple(range(a.dim())) if axis is None else tuple(sorted(x % a.dim() for x in axis))
    rest = [i for i in range(a.dim()) if i not in axes]
    ordered = data.permute(*rest, *axes).reshape([*[a.shape[i] for i in rest], -1]).sort(-1).values
    count = ordered.shape[-1]
    if q_scalar is not None and not 0 <= q_scalar <= 100:
        raise _BadQuantile(f'operator _npi_percentile: q must be between 0 and 100, but is {q_scalar}')
    if not count:
        raise MXNetError(f'operator _npi_percentile: an array of shape {tuple(a.shape)} has no values along axis '
                         f'{axis}')
    if q is not None:
        wanted = q.detach().double()
        if wanted.device.type != 'cpu':
            outside = ~((wanted >= 0) & (wanted <= 100))
            wanted = refuse('_npi_percentile', 'q', wanted, outside, 'between 0 and 100', 0.0, _BadQuantile)
    elif q_scalar is not None:
        wanted = torch.full((), q_scalar, dtype=torch.float64, device=a.device)
    else:
        raise MXNetError('operator _npi_percentile: q is missing; it takes an array or a number from 0 to 100')
    exact = wanted.reshape(-1) * (count - 1) / 100
    low, high = exact.floor().long(), exact.ceil().long()
    if interpolation == 'linear':
        weight = (exact - low).to(data.dtype)
        below, above = ordered.index_select(-1, low), ordered.index_select(-1, high)
        step = above - below
        # from the nearer of the two, as NumPy does: it rounds less
        result = torch.where(weight < 0.5, below + step * weight, above - step * (1 - weight))
    elif interpolation == 'midpoint':
        result = (ordered.index_select(-1, low) + ordered.index_select(-1, high)) / 2
    else:
        place = {'lower': low, 'higher': high, 'nearest': exact.round().long()}[interpolation]
        result = ordered.index_select(-1, place)
    result = result.movedim(-1, 0).reshape((*wanted.shape, *[a.shape[i] for i in rest]))
    if keepdims:
        result = result.reshape((*wanted.shape, *[1 if i in axes else n for i, n in enumerate(a.shape)]))
    return result


class _BadQuantile(MXNetError, ValueError):
    """A share of the values that is none."""


@operator()
@reads_late('indices')
def _npi_take_along_axis(arr, indices, *, axis: int | None = None):
    """The elements of `arr` at `indices`, which have as many axes: each row of indices is for the row beside it."""
    if axis is None:
        index = in_range('_npi_take_along_axis', 'indices', indices.long().reshape(-1), arr.numel(), -arr.numel())
        return arr.reshape(-1).take(index)
    return torch.take_along_dim(arr, indices.long() % max(arr.shape[axis], 1), axis)


# ---------------------------------------------------------------------- memory
@operator(result_dtype='bool')
def _npi_share_memory(a, b):
    """Whether two arrays share memory; they are row-major, so it is enough to look where each begins and ends."""
    if 'meta' in (a.device.type, b.device.type):
        return torch.zeros((), dtype=torch.bool, device='meta')
    begin, other = a.data_ptr(), b.data_ptr()
    end, other_end = begin + a.numel() * a.element_size(), other + b.numel() * b.element_size()
    return torch.tensor(a.device == b.device and begin < other_end and other < end)
