"""`x[key]` and `x[key] = value` of arrays without values, spelled in operators."""
from numbers import Real

import numpy
import torch

from ._array import NDArrayBase
from ._ops.core.table import NAMES
from ._traced_array import Untraceable
from .ndarray import _invoke
from .numpy.multiarray import ndarray

_INTS = (int, numpy.integer)


def _spelled_out(array, key):
    """The key with a part for every axis: ints, slices, None (a new axis) and arrays."""
    parts = list(key) if isinstance(key, tuple) else [key]
    for i, part in enumerate(parts):
        if isinstance(part, (list, range, numpy.ndarray)):
            parts[i] = _constant(part, array)
        elif isinstance(part, bool) or not (isinstance(part, (*_INTS, slice, NDArrayBase)) or part is None
                                            or part is Ellipsis):
            raise Untraceable(f'an array is indexed with a {type(part).__name__}')
    taken = sum(part is not None and part is not Ellipsis for part in parts)
    rest = [slice(None)] * (array.ndim - taken)
    places = [i for i, part in enumerate(parts) if part is Ellipsis]
    at = places[0] if places else len(parts)
    parts[at:at + 1] = rest
    if taken > array.ndim or len(places) > 1:
        raise IndexError(f'an array with {array.ndim} axes cannot be indexed with {len(parts)} keys')
    return parts


def _constant(values, like):
    """Positions from Python as an array on the device."""
    from .numpy import array
    values = numpy.asarray(values)
    return array(values, dtype='bool' if values.dtype == bool else 'int64', ctx=like._ctx)


def _limits(parts):
    """begin, end and step of `slice` for ints and slices; other parts are taken whole."""
    limits: list[tuple[int | None, ...]] = []
    for part in parts:
        if isinstance(part, _INTS):
            limits.append((int(part), int(part) + 1 if part != -1 else None, 1))
        elif isinstance(part, slice):
            limits.append(tuple(None if x is None else int(x) for x in (part.start, part.stop, part.step)))
        else:
            limits.append((None, None, None))
    return [tuple(column) for column in zip(*limits, strict=True)]


def _check_bounds(array, parts):
    for n, part in zip(array.meta().shape, parts, strict=True):
        if isinstance(part, _INTS) and not -n <= part < n:
            raise IndexError(f'index {part} is out of bounds for an axis of length {n}')


def read(array, key):
    """What a key selects."""
    parts = _spelled_out(array, key)
    own = [p for p in parts if p is not None]
    if any(isinstance(p, NDArrayBase) for p in own):
        return _gather(array, parts, own)
    _check_bounds(array, own)
    result = array
    if any(not (isinstance(p, slice) and p == slice(None)) for p in own):
        begin, end, step = _limits(own)
        result = array._operate('slice', begin=begin, end=end, step=step)
    dropped = tuple(i for i, p in enumerate(own) if isinstance(p, _INTS))
    if dropped:
        if len(dropped) == len(own) and not isinstance(array, ndarray):
            result = result._operate('Reshape', shape=(1,))      # outside np mode an element is an array of one
            return result
        result = result._squeeze(dropped)
    at = 0
    for part in parts:
        if part is None:
            result = result._operate('expand_dims', axis=at)
        if not isinstance(part, _INTS):
            at += 1
    return array._as_view(result) if result is not array else result


def _gather(array, parts, own):
    """Elements at positions that arrays name; ints beside them are positions, too."""
    if None in [p for p in parts if not isinstance(p, NDArrayBase)]:
        raise Untraceable('an array is indexed with arrays and new axes at once')
    if any(p.meta().dtype is torch.bool for p in own if isinstance(p, NDArrayBase)):
        raise Untraceable('an array is indexed with a mask; the size of the result depends on values')
    _check_bounds(array, own)
    if any(isinstance(p, slice) and p != slice(None) for p in own):
        begin, end, step = _limits([p if isinstance(p, slice) else None for p in own])
        array = array._operate('slice', begin=begin, end=end, step=step)
    places = [i for i, p in enumerate(own) if not isinstance(p, slice)]
    chosen = [own[i] if isinstance(own[i], NDArrayBase) else _constant(own[i], array) for i in places]
    if len(places) == 1:
        return _call('take', (array, chosen[0]), array, axis=places[0], mode='wrap')
    count = len(places)
    together = places == list(range(places[0], places[0] + count))
    order = [*places, *[i for i in range(len(own)) if i not in places]]
    front = array if places == list(range(count)) else array._operate('transpose', axes=tuple(order))
    index = _call('_npi_stack', _same_shape(chosen), array, axis=0, num_args=count)
    result = _call('gather_nd', (front, index), array)
    if together and places[0]:
        # axes that the arrays bring stand where the arrays stood
        new = index.ndim - 1
        axes = (*range(new, new + places[0]), *range(new), *range(new + places[0], result.ndim))
        result = result._operate('transpose', axes=axes)
    return result


def _same_shape(arrays):
    shape = numpy.broadcast_shapes(*[tuple(a.meta().shape) for a in arrays])
    found = []
    for a in arrays:
        a = _call('Cast', (a,), a, dtype='int64')
        found.append(a if tuple(a.meta().shape) == shape else _call('_npi_broadcast_to', (a,), a, shape=shape))
    return tuple(found)


def _call(name, inputs, like, **attributes):
    return _invoke.run(NAMES[name], inputs, NAMES[name].parse(attributes), None, like._dense)


# ---------------------------------------------------------------------- writing
def written(array, key, value):
    """The array with what a key selects replaced."""
    parts = _spelled_out(array, key)
    own = [p for p in parts if p is not None]
    if isinstance(value, numpy.ndarray | list | tuple):
        from .numpy import array as make
        value = make(value, dtype=array.dtype, ctx=array._ctx)
    if len(own) == 1 and isinstance(own[0], NDArrayBase) or any(isinstance(p, NDArrayBase) for p in own):
        return _masked(array, own, value)
    _check_bounds(array, own)
    begin, end, step = _limits(own) if own else ((), (), ())
    if isinstance(value, Real):
        if not own:
            return _call('_npi_full_like', (array,), array, fill_value=float(value))
        return array._operate('_slice_assign_scalar', scalar=float(value), begin=begin, end=end, step=step)
    shape = tuple(len(range(*slice(*limits).indices(n))) for *limits, n in
                  zip(begin, end, step, array.meta().shape, strict=True))
    kept = [n for n, p in zip(shape, own, strict=True) if not isinstance(p, _INTS)]
    value = _call('Cast', (value,), array, dtype=str(numpy.dtype(array.dtype)))
    given = list(value.meta().shape)
    while len(given) > len(kept) and given[0] == 1:
        given.pop(0)
    value = _call('_np_reshape', (value,), array, newshape=tuple(given))
    value = _call('_npi_broadcast_to', (value,), array, shape=tuple(kept))
    value = _call('_np_reshape', (value,), array, newshape=shape)
    if not own or shape == tuple(array.meta().shape) and all(s in (None, 1) for s in step):
        return value
    return array._operate('_slice_assign', value, begin=begin, end=end, step=step)


def _masked(array, own, value):
    mask = own[0]
    if len(own) != 1 and any(isinstance(p, NDArrayBase) for p in own[1:]) or not isinstance(mask, NDArrayBase) \
            or mask.meta().dtype is not torch.bool or not isinstance(value, Real):
        raise Untraceable('parts of an array that other arrays name are written')
    while mask.ndim < array.ndim:
        mask = _call('expand_dims', (mask,), array, axis=mask.ndim)
    return _call('_npi_where_lscalar', (mask, array), array, scalar=float(value))
