"""Reading and writing parts of a tensor by Python's and NumPy's keys.

- A basic key (ints, slices, None, ...) that selects contiguous memory gives a view, any other a copy, as upstream does.
- Arrays as keys are advanced indices; floats in them are taken as ints (an `nd` array is float32 by default).
- What torch cannot do itself (negative steps) is done by flipping, or, among advanced indices, through flat positions.
"""
from __future__ import annotations

import numbers
from typing import Any

import numpy
import torch

from .._array import NDArrayBase, apart
from .._names import kind_of
from .._ops.core import checks
from .._ops.core.gradients import depends, linked
from .._provenance import GETITEM, record_result
from .._wording import plain
from ._interop import tensor_of

_BASIC = (int, slice, type(None), type(Ellipsis), numpy.integer)


def normalize(key: Any, tensor: torch.Tensor) -> Any:
    """-> (tuple of ints, slices, None, Ellipsis and tensors, is it basic)."""
    if not isinstance(key, tuple):
        key = (key,)
    parts = []
    basic = True
    for part in key:
        if isinstance(part, _BASIC) and not isinstance(part, bool):
            parts.append(_plain_slice(part) if isinstance(part, slice) else part)
        else:
            basic = False
            parts.append(_index_tensor(part))
    return tuple(parts if basic else _placed(_apart(parts, tensor.device), tensor)), basic


def _apart(parts, device):
    """The parts with ints as indices, where one stands apart from an array: the axes of the indices come first then.

    torch selects by an int, or an array without axes, before it looks at the arrays.
    """
    places = [i for i, p in enumerate(parts) if not (p is None or p is Ellipsis or isinstance(p, slice))]
    if len(places) == places[-1] - places[0] + 1 or not any(isinstance(parts[i], torch.Tensor) and parts[i].dim()
                                                            for i in places):
        return parts
    for i in places:
        part = parts[i]
        if not isinstance(part, torch.Tensor):
            parts[i] = torch.tensor([part], device=device)
        elif not part.dim() and part.dtype is not torch.bool:
            parts[i] = part.reshape(1)
    return parts


def _placed(parts, tensor):
    """The parts with indices on the device of the tensor, where torch would not raise for one that is out of range."""
    device = tensor.device
    if not checks.notes(device):
        return [p.to(device) if isinstance(p, torch.Tensor) and p.device != device else p for p in parts]
    shape, axis, found = tensor.shape, 0, []
    for part in parts:
        if isinstance(part, torch.Tensor):
            if part.dtype is not torch.bool and axis < len(shape):
                part = _watched(part, axis, shape[axis], device)
            elif part.device != device:
                part = part.to(device)
        found.append(part)
        axis += len(shape) - sum(_axes(p) for p in parts) if part is Ellipsis else _axes(part)
    return found


def _axes(part):
    """How many axes a part of a key selects from."""
    if isinstance(part, torch.Tensor) and part.dtype is torch.bool:
        return part.dim()
    return int(part is not None and part is not Ellipsis)


# what errors call an index; torch's tensors have at most 64 axes
_NAMED = [f'the index of axis {axis}' for axis in range(64)]


def _watched(index, axis, length, device):
    if index.device == device:
        return checks.in_range('x[index]', _NAMED[axis], index, length, -length)
    # values that are here are looked at here
    if index.device.type == 'cpu' and index.numel():
        outside = index[(index < -length) | (index >= length)]
        if outside.numel():
            raise IndexError(f'index {int(outside[0])} is out of bounds: axis {axis} has length {length}')
    return index.to(device)


def _plain_slice(part):
    if all(x is None or type(x) is int for x in (part.start, part.stop, part.step)):
        return part
    for x in (part.start, part.stop, part.step):
        if isinstance(x, (str, bytes)) or x is not None and not hasattr(x, '__int__') and not hasattr(x, '__index__'):
            raise ValueError(f'an array cannot be indexed with the slice {part.start!r}:{part.stop!r}: its ends must '
                             f'be ints, not {kind_of(x)}')
    start, stop, step = (None if x is None else int(x.asscalar() if isinstance(x, NDArrayBase) else x)
                         for x in (part.start, part.stop, part.step))
    return slice(start, stop, step)


def _index_tensor(part):
    if isinstance(part, NDArrayBase):
        index = part.materialize().detach()
    elif isinstance(part, torch.Tensor):
        index = part
    elif isinstance(part, (list, tuple, range, numpy.ndarray, bool)):
        try:
            values = numpy.asarray([x.asnumpy() if isinstance(x, NDArrayBase) else x for x in part]
                                   if isinstance(part, (list, tuple)) else part)
        except ValueError:
            raise IndexError(f'an array cannot be indexed with {part!r}: its rows differ in length') from None
        if values.size == 0 and values.dtype.kind == 'f':
            values = values.astype('int64')
        if values.dtype.kind not in 'biuf':
            raise IndexError(f'an array cannot be indexed with {part!r}')
        index = tensor_of(values)
    else:
        raise ValueError(f'an array cannot be indexed with {part!r} of type {type(part).__name__}; '
                         'ints, slices, None, ..., lists and arrays can')
    return index if index.dtype is torch.bool else index.to(torch.int64)


def selects_all(key: Any, kind: Any) -> bool:
    """Whether a key (and its type) is one that gives the array itself: x[:], x[::1] and x[()]."""
    if kind is slice:
        return key.start is None and key.stop is None and (key.step is None or key.step == 1)
    return kind is tuple and not key


def _negative_steps(parts):
    return any(isinstance(p, slice) and p.step is not None and p.step < 0 for p in parts)


def _forward(parts, shape):
    """A basic key without negative steps, and the axes of its result that must be flipped to make up for it."""
    taken = sum(1 for p in parts if p is not None and p is not Ellipsis)
    axis = out = 0
    result, flips = [], []
    for p in parts:
        if p is Ellipsis:
            skipped = len(shape) - taken
            axis += skipped
            out += skipped
        elif p is None:
            out += 1
        else:
            if isinstance(p, slice):
                if p.step is not None and p.step < 0:
                    start, stop, step = p.indices(shape[axis])
                    count = len(range(start, stop, step))
                    p = slice(start + (count - 1) * step, start + 1, -step) if count else slice(0, 0)
                    flips.append(out)
                out += 1
            axis += 1
        result.append(p)
    return tuple(result), flips


def _flat_positions(parts, tensor):
    """Positions in the flattened tensor of what a key selects, found by NumPy on a table of positions."""
    positions = numpy.arange(tensor.numel()).reshape(tuple(tensor.shape))
    key = tuple(p.cpu().numpy() if isinstance(p, torch.Tensor) else p for p in parts)
    return tensor_of(numpy.asarray(positions[key])).to(tensor.device)


def out_of_range(error: IndexError, key: Any, tensor: torch.Tensor) -> IndexError:
    """An IndexError that names the key and the array's shape, once."""
    text = str(error)
    if ' of an array of shape ' in text:
        return error
    return IndexError(f'[{_spell(key)}] of an array of shape {tuple(tensor.shape)}: {plain(error)}')


def read(tensor: torch.Tensor, key: Any) -> Any:
    """What a key selects: a view where that is contiguous, else a copy."""
    try:
        parts, basic = normalize(key, tensor)
        if not _negative_steps(parts):
            result = tensor[parts]
        elif basic:
            parts, flips = _forward(parts, tensor.shape)
            result = tensor[parts].flip(flips)
        else:
            result = tensor.reshape(-1)[_flat_positions(parts, tensor)]
    except IndexError as error:
        raise out_of_range(error, key, tensor) from None
    return result if result.is_contiguous() else result.contiguous()


def recorded(array: Any, key: Any, tensor: torch.Tensor, result: torch.Tensor) -> torch.Tensor:
    """The result of a recorded `array[key]`, which depends on the arrays in the key as well."""
    kind = type(key)
    arrays = [k for k in (key if kind is tuple else (key,)) if isinstance(k, NDArrayBase)] \
        if kind is not int and kind is not slice else ()
    if arrays and not result.requires_grad:
        indices = [k.materialize() if k._variable is None else k._variable.leaf for k in arrays]
        if depends(indices):
            result = linked(result, indices)
    record_result(GETITEM, (key, tensor.shape, result.shape), (array, *arrays), result)
    return result


def write(tensor, key, value):
    """Stores a number or a tensor of the same dtype and device where a key points."""
    number = isinstance(value, numbers.Number)
    if not number:
        value = apart(value, tensor)
    try:
        parts, basic = normalize(key, tensor)
        if not _negative_steps(parts):
            tensor[parts] = value
        elif basic:
            parts, flips = _forward(parts, tensor.shape)
            if not number:
                value = _trim(value, tensor[parts].dim()).expand(tensor[parts].shape).flip(flips)
            tensor[parts] = value
        else:
            tensor.view(-1)[_flat_positions(parts, tensor)] = value
    except IndexError as error:
        raise out_of_range(error, key, tensor) from None
    except RuntimeError as error:
        shape = '' if number else f' of shape {tuple(value.shape)}'
        raise ValueError(f'cannot store a value{shape} at [{_spell(key)}] of an array of shape '
                         f'{tuple(tensor.shape)}: {plain(error)}') from None


def _trim(value, dims):
    """Drops leading axes of length 1 that the target does not have."""
    while value.dim() > dims and value.shape[0] == 1:
        value = value[0]
    return value


def _spell(key):
    def one(p):
        if isinstance(p, slice):
            text = ':'.join('' if x is None else str(x) for x in (p.start, p.stop))
            return text if p.step is None else f'{text}:{p.step}'
        if p is Ellipsis:
            return '...'
        return f'array{tuple(p.shape)}' if hasattr(p, 'shape') else repr(p)
    return ', '.join(one(p) for p in key) if isinstance(key, tuple) else one(key)


# ---------------------------------------------------------------------- upstream's names for parts of this
def get_indexing_dispatch_code(key: Any) -> Any:
    """0: a basic key, 1: an advanced one, -1: not a key."""
    if not isinstance(key, tuple):
        key = (key,)
    code = 0
    for part in key:
        if isinstance(part, (NDArrayBase, numpy.ndarray, list, tuple, range)):
            code = 1
        elif not isinstance(part, _BASIC):
            return -1
    return code


def indexing_key_expand_implicit_axes(key: Any, shape: Any) -> Any:
    """The key with `...` spelled out and slices for the axes it leaves unsaid."""
    if not isinstance(key, tuple):
        key = (key,)
    taken = sum(1 for p in key if p is not None and p is not Ellipsis)
    missing = (slice(None),) * (len(shape) - taken)
    for i, part in enumerate(key):
        if part is Ellipsis:
            return key[:i] + missing + key[i + 1:]
    return key + missing


def slice_is_contiguous(key: Any, shape: Any) -> bool:
    """Whether slices, one for each axis, select one piece of the memory of an array of this shape."""
    kept = [range(*part.indices(n)) for part, n in zip(key, shape, strict=True)]
    if not all(kept):
        return True                     # nothing is in one piece
    inside = selected = 1
    for part, n in zip(reversed(kept), reversed(shape), strict=True):
        if len(part) > 1 and part.step * inside != selected:
            return False
        inside, selected = inside * n, selected * len(part)
    return True


def get_oshape_of_gather_nd_op(dshape: Any, ishape: Any) -> Any:
    """The shape of `gather_nd` of data and indices of these shapes."""
    if not ishape or ishape[0] > len(dshape):
        raise ValueError(f'indices of shape {ishape} do not fit data of shape {dshape}')
    return tuple(ishape[1:]) + tuple(dshape[ishape[0]:])


def check_boolean_array_dimension(array_shape: Any, axis: int, bool_shape: Any) -> None:
    """Raises IndexError where a mask's shape differs from the axes it selects from."""
    for i, size in enumerate(bool_shape):
        if array_shape[axis + i] != size:
            raise IndexError(f'the mask has {size} entries on axis {i}, but axis {axis + i} of the array has '
                             f'{array_shape[axis + i]}')
