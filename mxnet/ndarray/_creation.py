"""Functions that make arrays, and a few that rearrange them, with upstream's signatures."""
from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import contextmanager
from operator import index
from typing import TYPE_CHECKING, Any, Unpack

import numpy
import torch

from .._array import NDArrayBase, wrap
from .._dispatch import interceptors, run_kernel, tracer
from .._hooks import hooks
from .._kinds import CAUGHT as _CAUGHT
from .._kinds import explain_kinds as _explain_kinds
from .._kinds import explanation as _explanation
from .._names import kind_of, near
from .._ops import NAMES
from .._ops.core.dtypes import NAME, torch_dtype
from .._state import state
from .._wording import plain
from ..base import MXNetError
from ..context import cpu, current_context, given_context
from . import _bound_creation, _interop, _invoke
from ._pictures import bytes_of, decoded
from .ndarray import NDArray

if TYPE_CHECKING:
    from .._typing import ArrayLike, DType, ResultOptions, Shape
    from ..context import Context

__all__ = ['arange', 'concatenate', 'empty', 'eye', 'full', 'histogram', 'imdecode', 'linspace', 'moveaxis',
           'onehot_encode',
           'ones', 'split_v2', 'zeros']


NONE_IS_NAN = 'None in an array becomes nan, as in MXNet 1.9.1; is a value missing?'


def array(source_array: ArrayLike, ctx: Context | None = None, dtype: DType | None = None) -> NDArray:
    """An array from nested lists, a NumPy array or another array.

    The dtype is float32 unless given or taken from an NDArray.

    >>> mx.nd.array([[1, 2], [3, 4]]).dtype
    <class 'numpy.float32'>
    """
    ctx = given_context(ctx)
    if isinstance(source_array, NDArrayBase):
        wanted = source_array.meta().dtype if dtype is None else torch_dtype(dtype)
        if state.recording and not source_array._sparse:            # as any operator is
            copied = source_array.astype(source_array.dtype if dtype is None else dtype).as_nd_ndarray()
            return copied if ctx == source_array._ctx else copied.as_in_context(ctx)
        tensor = source_array.materialize().detach()
        if tensor.is_meta:              # an array of a graph that is being traced
            return source_array.astype(source_array.dtype if dtype is None else dtype).as_nd_ndarray()
        return wrap(_interop.move(tensor if wanted is tensor.dtype else tensor.to(wanted), ctx),
                    ctx, NDArray)
    wanted = torch.float32 if dtype is None else torch_dtype(dtype)
    if isinstance(source_array, torch.Tensor):
        return wrap(source_array.detach().to(ctx.torch_device, wanted, copy=True).contiguous(), ctx, NDArray)
    try:
        values = _interop.numbers_of(source_array)
    except (ValueError, TypeError):
        raise TypeError('source_array must be array-like: nested lists of numbers of equal length, a NumPy array '
                        f'or an NDArray; this {type(source_array).__name__} is not') from None
    if values.dtype.kind == 'f' and not isinstance(source_array, numpy.ndarray) and _interop.has_none(source_array):
        warnings.warn(NONE_IS_NAN, UserWarning, stacklevel=3)
    tensor = _interop.tensor_of(values)
    return wrap(_interop.allocate(tensor.to(wanted, copy=True), ctx), ctx, NDArray)


def _shape(shape):
    lengths = (shape,) if isinstance(shape, (int, numpy.integer)) else shape
    try:
        if isinstance(shape, (str, bytes)):
            raise TypeError
        result = tuple(index(n.asscalar() if isinstance(n, NDArrayBase) else n) for n in lengths)
    except (TypeError, ValueError):
        raise MXNetError(f'a shape is an int or a tuple of ints, not {shape!r}') from None
    if any(n < 0 for n in result):
        raise MXNetError(f'the shape {result} has a negative length')
    return result


@contextmanager
def _enough_memory(shape):
    """Says which array was too large."""
    try:
        yield
    except (RuntimeError, OverflowError, TypeError) as error:
        if isinstance(error, MXNetError) or isinstance(error, TypeError) and max(_shape(shape), default=0) < 1 << 63:
            raise
        if isinstance(error, TypeError):
            raise MXNetError(f'an array of shape {_shape(shape)} cannot be made: a length is over 2**63 - 1') from None
        raise MXNetError(f'an array of shape {_shape(shape)} cannot be made: {plain(error)}') from error


def _filled(shape, ctx, dtype, value, out=None):
    if out is not None:
        out[:] = value
        return out
    if not state.np_shape and not isinstance(shape, int) and (not (lengths := _shape(shape)) or 0 in lengths):
        raise MXNetError(f'shape {shape}: outside np mode 0 stands for an unknown length and () for an unknown shape; '
                         'an array without elements or axes needs mx.util.set_np_shape(True)')
    ctx = given_context(ctx)
    wanted = torch.float32 if dtype is None else torch_dtype(dtype)
    if interceptors and tracer() is not None:
        given = {'shape': _shape(shape), 'value': value, 'dtype': NAME[wanted]}
        return _invoke.call(NAMES['_full'], (), given, NDArray)
    with _enough_memory(shape):
        if interceptors:
            op = NAMES['_zeros' if value == 0 else '_ones' if value == 1 else '_full']
            tensor = run_kernel(op, torch.full, (_shape(shape), value), {'dtype': wanted, 'device': ctx.torch_device})
        else:
            tensor = torch.full(_shape(shape), value, dtype=wanted, device=ctx.torch_device)
        return wrap(_interop.allocate(tensor, ctx), ctx, NDArray)


def empty(shape: Shape, ctx: Context | None = None, dtype: DType | None = None, stype: str | None = None) -> NDArray:
    """An array whose values are whatever was in memory."""
    if stype is not None and stype != 'default':
        return zeros(shape, ctx, dtype, stype)
    if interceptors and tracer() is not None:
        return zeros(shape, ctx, dtype)
    ctx = given_context(ctx)
    wanted = torch.float32 if dtype is None else torch_dtype(dtype)
    with _enough_memory(shape):
        tensor = torch.empty(_shape(shape), dtype=wanted, device=ctx.torch_device)
        return wrap(_interop.allocate(tensor, ctx), ctx, NDArray)


def zeros(shape: Shape, ctx: Context | None = None, dtype: DType | None = None, stype: str | None = None,
          **kwargs: Unpack[ResultOptions]) -> NDArray:
    """An array of zeros.

    >>> mx.nd.zeros((1, 2))
    <BLANKLINE>
    [[0. 0.]]
    <NDArray 1x2 @cpu(0)>
    """
    if stype is not None and stype != 'default':
        return hooks.sparse_zeros(stype, shape, ctx, dtype)
    if not kwargs:
        found = _bound_creation.constant(torch.zeros, shape, dtype, ctx, NDArray)
        if found is not None:
            return found
    return _filled(shape, ctx, dtype, 0, _only_out(kwargs, 'zeros'))


def ones(shape: Shape, ctx: Context | None = None, dtype: DType | None = None,
         **kwargs: Unpack[ResultOptions]) -> NDArray:
    """An array of ones."""
    if not kwargs:
        found = _bound_creation.constant(torch.ones, shape, dtype, ctx, NDArray)
        if found is not None:
            return found
    return _filled(shape, ctx, dtype, 1, _only_out(kwargs, 'ones'))


def full(shape: Shape, val: Any, ctx: Context | None = None, dtype: DType = numpy.float32,
         out: NDArray | None = None) -> NDArray:
    """An array with every element equal to `val`, or with an array-like `val` broadcast to its shape."""
    if isinstance(val, NDArrayBase) and val.size == 1:                      # type: ignore[attr-defined]
        val = val.asscalar().item()      # type: ignore[attr-defined]
    if isinstance(val, (str, bytes, dict, complex)) or val is None:
        raise TypeError(f'nd.full: val must be a number or an array, not {kind_of(val)}')
    if isinstance(val, (NDArrayBase, numpy.ndarray, list, tuple)):
        result = _filled(shape, ctx, dtype, 0, out)
        result[:] = val
        return result
    return _filled(shape, ctx, dtype, val, out)


_TAKEN = ('shape', 'ctx', 'dtype', 'out')


def _only_out(kwargs, name):
    out = kwargs.pop('out', None)
    kwargs.pop('name', None)
    unknown = [k for k in kwargs if not (k.startswith('__') and k.endswith('__'))]      # __layout__ is a note
    if unknown:
        raise TypeError(f'nd.{name}: unknown argument {unknown[0]}{near(unknown[0], _TAKEN)}; it takes '
                        f'{", ".join(_TAKEN)}')
    return out


def arange(start: float, stop: float | None = None, step: float = 1.0, repeat: int = 1, infer_range: bool | None = None,
           ctx: Context | None = None, dtype: DType = numpy.float32) -> NDArray:
    """Evenly spaced numbers from `start` up to, and without, `stop`, each one `repeat` times.

    >>> mx.nd.arange(3)
    <BLANKLINE>
    [0. 1. 2.]
    <NDArray 3 @cpu(0)>
    """
    if infer_range is not None:
        warnings.warn('infer_range is deprecated and has no effect', DeprecationWarning, stacklevel=2)
    try:
        begin, end = (0, start) if stop is None else (start, stop)
        if step == 1 and repeat == 1:
            found = _bound_creation.made(_bound_creation.whole_numbers, (begin, end), 1, dtype, ctx, NDArray)
            if found is not None:
                return found
        return _invoke.call(NAMES['_arange'], (), {
            'start': begin, 'stop': end, 'step': step, 'repeat': repeat, 'infer_range': False, 'dtype': dtype,
            'ctx': ctx or current_context()}, NDArray)
    except _CAUGHT as error:
        given = (start, stop, step, repeat, infer_range, ctx, dtype)
        found = _explanation(arange, 'arange', given, {}, error)
        raise found from found.__cause__


def linspace(start: float, stop: float | None, num: int, endpoint: bool = True, ctx: Context | None = None,
             dtype: DType = numpy.float32) -> NDArray:
    """`num` evenly spaced numbers from `start` to `stop`, which is included if `endpoint`."""
    return _invoke.call(NAMES['_linspace'], (), {'start': start, 'stop': stop, 'num': num, 'endpoint': endpoint,
                                                 'dtype': dtype, 'ctx': ctx or current_context()}, NDArray)


def eye(N: int, M: int = 0, k: int = 0, ctx: Context | None = None, dtype: DType | None = None,
        **kwargs: Unpack[ResultOptions]) -> NDArray:
    """A matrix of N rows (and M columns) with ones on its k-th diagonal."""
    return _invoke.call(NAMES['_eye'], (), {'N': N, 'M': M, 'k': k, 'dtype': dtype or 'float32',
                                            'ctx': ctx or current_context(), **kwargs}, NDArray)


def concatenate(arrays: Sequence[NDArray], axis: int = 0, always_copy: bool = True) -> NDArray:
    """Joins arrays along an axis."""
    if not isinstance(arrays, list | tuple) or not arrays or not all(isinstance(a, NDArrayBase) for a in arrays):
        raise TypeError('concatenate takes a list of one or more arrays')
    if len(arrays) == 1 and not always_copy:
        return arrays[0]
    return _invoke.call(NAMES['Concat'], tuple(arrays), {'dim': axis}, arrays[0]._dense)


def moveaxis(tensor: NDArray, source: Shape, destination: Shape) -> NDArray:
    """Moves axes to new places; the others keep their order.

    >>> mx.nd.moveaxis(mx.nd.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    source = [source] if isinstance(source, int) else list(source)
    destination = [destination] if isinstance(destination, int) else list(destination)
    n = tensor.ndim
    if len(source) != len(destination):
        raise ValueError(f'moveaxis: {len(source)} axes to move, {len(destination)} places')
    for axis in source + destination:
        if not -n <= axis < n:
            raise ValueError(f'moveaxis: axis {axis} of an array with {n} axes')
    source, destination = [a % n for a in source], [a % n for a in destination]
    if len(set(source)) != len(source) or len(set(destination)) != len(destination):
        raise ValueError('moveaxis: an axis is named twice')
    order = [a for a in range(n) if a not in source]
    for place, axis in sorted(zip(destination, source, strict=True)):
        order.insert(place, axis)
    return _invoke.call(NAMES['transpose'], (tensor,), {'axes': order}, tensor._dense)


def split_v2(ary: NDArray, indices_or_sections: int | Sequence[int], axis: int = 0, squeeze_axis: bool = False) -> Any:
    """Splits an array into a number of equal parts, or before each of the given indices."""
    if isinstance(indices_or_sections, int):
        if ary.shape[axis] % indices_or_sections:
            raise ValueError(f'split_v2: axis {axis} of length {ary.shape[axis]} has no {indices_or_sections} equal '
                             'parts')
        attributes = {'indices': (), 'sections': indices_or_sections}
    elif isinstance(indices_or_sections, (list, tuple)):
        attributes = {'indices': (0, *indices_or_sections), 'sections': 0}
    else:
        raise ValueError('split_v2: indices_or_sections must be an int or a tuple of ints')
    return _invoke.call(NAMES['_split_v2'], (ary,), {**attributes, 'axis': axis, 'squeeze_axis': squeeze_axis},
                        ary._dense)


def histogram(a: NDArray, bins: int | NDArray = 10,
              range: tuple[float, float] | None = None) -> list[NDArray]:
    """[counts, edges] of an array's values."""
    if isinstance(bins, NDArrayBase):
        return list(_invoke.call(NAMES['_histogram'], (a, bins), {}, a._dense))
    if not isinstance(bins, int):
        raise ValueError(f'histogram: bins must be an int or an array of edges, not {bins!r}')
    if range is None:
        range = (float(a.min().asscalar()), float(a.max().asscalar()))
    edges = array(numpy.linspace(*range, bins + 1), ctx=a.context, dtype=a.dtype)
    counts, _ = _invoke.call(NAMES['_histogram'], (a, edges), {'bin_cnt': bins, 'range': range}, a._dense)
    return [counts, edges]


def onehot_encode(indices: NDArray, out: NDArray) -> NDArray:
    """Writes one-hot rows for `indices` into `out`; `nd.one_hot` is its successor."""
    return _invoke.call(NAMES['_onehot_encode'], (indices, out), {'out': out}, out._dense)


def imdecode(str_img: Any, clip_rect: Any = (0, 0, 0, 0), out: NDArray | None = None, index: Any = 0, channels: Any = 3,
             mean: Any = None) -> NDArray:
    """Decodes an image into an array of shape (1, channels, height, width); `mx.image.imdecode` is its successor."""
    pixels = decoded(bytes_of(str_img), int(channels == 3), True, 'imdecode')
    tensor = _interop.tensor_of(pixels if pixels.ndim == 3 else pixels[..., None])
    cls = hooks.np_ndarray if state.np_array else NDArray
    picture = wrap(tensor, cpu(), cls).transpose((2, 0, 1)).astype('float32').expand_dims(0)
    left, top, right, bottom = clip_rect
    if right and bottom:
        picture = picture[:, :, top:bottom, left:right]
    if mean is not None:
        picture = picture - mean
    if out is None:
        return picture
    out[index] = picture[0]
    return out


hooks.split_v2 = split_v2


_explain_kinds(globals(), ('array', 'concatenate', 'eye', 'full', 'histogram', 'linspace', 'moveaxis',
                           'onehot_encode', 'split_v2'))
