"""New arrays by one look-up: zeros, ones, ranges and draws whose arguments are plain values.

As in _generated.py, a key holds all that a bound kernel depends on: parameters, shape and dtype, with their types.  The
context is looked at in each call.  What is not plain (an unusual shape or dtype, a context of special memory, a
mistake) gives None, and the caller goes its general way.
"""
import torch

from .. import _random_state as _random
from .._array import wrap
from .._cache import Cache
from .._dispatch import interceptors
from .._ops.core.dtypes import torch_dtype
from .._state import state
from ..base import _Null
from ..context import Context, current_context

LIMIT = 1024                # kernels that are kept
_new = object.__new__
_known: Cache = Cache(LIMIT)
_NUMBERS = (int, float)


def made(prepare, parameters, shape, dtype, ctx, cls):
    """The array that `prepare(parameters, shape, dtype)` tells how to make, or None."""
    if interceptors:
        return None
    if ctx is None:
        ctx = state.context or current_context()
    elif ctx.__class__ is not Context:
        return None
    try:
        key = (prepare, parameters, shape, dtype, dtype.__class__, *map(type, parameters),
               tuple(map(type, shape)) if shape.__class__ is tuple else shape.__class__)
        kernel = _known.get(key) or _bind(key, prepare, parameters, shape, dtype)
        if ctx.device_typeid > 2:           # pinned or shared
            return None
        return wrap(kernel(ctx), ctx, cls)
    except Exception:
        return None                         # whatever it was, the general way says it properly


def _lengths(shape):
    lengths = (shape,) if type(shape) is int else shape
    if type(lengths) is not tuple or not lengths or any(type(n) is not int or n < 1 for n in lengths):
        raise TypeError
    return lengths


def _bind(key, prepare, parameters, shape, dtype):
    if any(type(p) not in _NUMBERS for p in parameters):
        raise TypeError
    wanted = torch.float32 if dtype is None or dtype is _Null else torch_dtype(dtype)
    kernel = prepare(parameters, _lengths(shape), wanted)
    _known[key] = kernel
    return kernel


# ---------------------------------------------------------------------- constants and ranges
def constant(create, shape, dtype, ctx, cls):
    """`create(shape, dtype=, device=)`, which is torch.zeros or torch.ones, as an array; or None."""
    if interceptors:
        return None
    if ctx is None:
        ctx = state.context or current_context()
    elif ctx.__class__ is not Context:
        return None
    try:
        found = _known.get((shape, shape.__class__, dtype, dtype.__class__))
        if found is None or found[0] is not shape:          # an equal tuple may hold other types: True == 1
            found = _bind_shape(shape, dtype)
        if ctx.device_typeid > 2:                           # pinned or shared
            return None
        tensor = create(found[1], dtype=found[2], device=ctx._torch or ctx.torch_device)
    except Exception:
        return None
    array = _new(cls)
    array._storage = tensor
    array._ctx = ctx
    array._variable = None
    array._pending = None
    return array


def _bind_shape(shape, dtype):
    key = (shape, shape.__class__, dtype, dtype.__class__)
    found = shape, _lengths(shape), torch.float32 if dtype is None else torch_dtype(dtype)
    _known[key] = found
    return found


def whole_numbers(parameters, shape, dtype):
    """start, start + 1, ... up to stop, which torch counts exactly."""
    start, stop = parameters
    if start != int(start) or stop != int(stop) or stop <= start or max(abs(start), abs(stop)) >= 1 << 24 \
            or dtype not in (torch.float32, torch.float64, torch.int32, torch.int64):
        raise ValueError
    start, stop, create = int(start), int(stop), torch.arange
    return lambda ctx: create(start, stop, dtype=dtype, device=ctx.torch_device)


# ---------------------------------------------------------------------- draws
_FLOATS = (torch.float32, torch.float64)


def normal(parameters, shape, dtype):
    mean, deviation = map(float, parameters)
    if deviation <= 0 or dtype not in _FLOATS:
        raise ValueError
    draw, generator = torch.normal, _random.generator
    return lambda ctx: draw(mean, deviation, shape, generator=generator(ctx), dtype=dtype, device=ctx.torch_device)


def uniform(parameters, shape, dtype):
    low, high = map(float, parameters)
    if high < low or dtype not in _FLOATS:
        raise ValueError
    generator = _random.generator
    if (low, high) == (0, 1):
        draw = torch.rand
        return lambda ctx: draw(shape, generator=generator(ctx), dtype=dtype, device=ctx.torch_device)
    empty = torch.empty
    return lambda ctx: empty(shape, dtype=dtype, device=ctx.torch_device).uniform_(low, high, generator=generator(ctx))
