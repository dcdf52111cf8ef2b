"""How equal two arrays are, and what to say when they are not."""
from __future__ import annotations

import numbers
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._array import NDArrayBase
from .._kinds import explain_kinds as _explain_kinds
from ..util import get_cuda_compute_capability

if TYPE_CHECKING:
    from .._typing import DType
    from ..ndarray import NDArray

__all__ = ['almost_equal', 'assert_allclose', 'assert_almost_equal', 'assert_almost_equal_ignore_nan',
           'assert_almost_equal_with_err', 'assert_exception', 'checkShapes', 'collapse_sum_like',
           'compare_ndarray_tuple', 'default_atols', 'default_dtype', 'default_numeric_eps', 'default_rtols',
           'effective_dtype', 'get_atol', 'get_etol', 'get_rtol', 'get_tolerance', 'get_tols', 'locationError',
           'np_reduce', 'same', 'same_array']

_FLOATS = [np.dtype(name) for name in ('float16', 'float32', 'float64')]
_EXACT = [np.dtype(name) for name in ('bool', 'int8', 'uint8', 'int32', 'uint32', 'int64', 'uint64')]


# ---------------------------------------------------------------------- tolerances
def _tolerances(half, single, double):
    return {**dict(zip(_FLOATS, (half, single, double), strict=True)), **dict.fromkeys(_EXACT, 0)}


def default_dtype() -> Any:
    """The dtype that tests use when they name none."""
    return np.float32


def default_rtols() -> Any:
    """{dtype: relative tolerance}."""
    return _tolerances(1e-2, 1e-4, 1e-5)


def default_atols() -> Any:
    """{dtype: absolute tolerance}."""
    return _tolerances(1e-1, 1e-3, 1e-20)


def default_numeric_eps() -> Any:
    """{dtype: step of finite differences}; powers of two, which lose no bits when added."""
    return {np.dtype(np.float16): 2.0 ** -6, np.dtype(np.float32): 2.0 ** -9, np.dtype(np.float64): 2.0 ** -14}


_DOUBLE = np.dtype(np.float64)


def get_rtol(rtol: float | None = None, dtype: DType = _DOUBLE) -> Any:
    """`rtol`, or the default of a dtype."""
    return default_rtols()[np.dtype(dtype)] if rtol is None else rtol


def get_atol(atol: float | None = None, dtype: DType = _DOUBLE) -> Any:
    """`atol`, or the default of a dtype."""
    return default_atols()[np.dtype(dtype)] if atol is None else atol


def get_etol(etol: float | None = None) -> Any:
    """The share of elements that may differ: `etol`, or none."""
    return 0 if etol is None else etol


def effective_dtype(dat: Any) -> Any:
    """The dtype whose tolerances an array should be compared with.

    float32 products on a GPU with TF32 have about the precision of float16, and so has bfloat16.
    """
    dtype = dat.dtype
    if isinstance(dat, NDArrayBase) and dat.meta().dtype.itemsize == 2 and dat.meta().dtype.is_floating_point:
        return np.dtype(np.float16)
    dtype = np.dtype(dtype)
    if dtype == np.float32 and _has_tf32(getattr(dat, 'ctx', None)):
        return np.dtype(np.float16)
    return dtype


def _has_tf32(ctx):
    if ctx is None or ctx.device_type != 'gpu' or ctx.torch_device.type != 'cuda':
        return False
    return get_cuda_compute_capability(ctx) >= 80 and os.environ.get('NVIDIA_TF32_OVERRIDE') != '0'


def get_tolerance(dat: Any, tol: Any, default_tol: Any) -> Any:
    """The tolerance for an array: `tol` if it is a number, else its entry for the dtype in `tol` or `default_tol`."""
    if isinstance(tol, numbers.Number):
        return tol
    dtype = effective_dtype(dat)
    return tol[dtype] if tol is not None and dtype in tol else default_tol[dtype]


def get_tols(x: Any, y: Any, rtol: float | None, atol: float | None) -> Any:
    """(rtol, atol) for comparing two arrays: the wider of what their dtypes need, where not given."""
    pair = [np.array(v) if isinstance(v, (numbers.Number, list, tuple)) else v for v in (x, y)]
    return (max(get_tolerance(v, rtol, default_rtols()) for v in pair),
            max(get_tolerance(v, atol, default_atols()) for v in pair))


# ---------------------------------------------------------------------- comparisons
def _numpy(value):
    """Any array as NumPy's, in a dtype that NumPy computes with."""
    if isinstance(value, NDArrayBase):
        return value.astype('float32').asnumpy() if str(value.meta().dtype) == 'torch.bfloat16' else value.asnumpy()
    return value.asnumpy() if hasattr(value, 'asnumpy') else np.asarray(value)


def same(a: Any, b: Any) -> bool:
    """Whether two arrays have one shape and the same elements."""
    return np.array_equal(_numpy(a), _numpy(b))


def same_array(array1: NDArray, array2: NDArray) -> bool:
    """Whether two arrays share memory: found out by writing into one and looking at the other."""
    array1[:] += 1
    together = same(array1, array2)
    array1[:] -= 1
    return together and same(array1, array2)


def checkShapes(a: Any, b: Any) -> None:
    """Raises an AssertionError unless two arrays have one shape."""
    if tuple(a.shape) != tuple(b.shape):
        raise AssertionError(f'the shapes {tuple(a.shape)} and {tuple(b.shape)} differ')


def almost_equal(a: Any, b: Any, rtol: float | None = None, atol: float | None = None, equal_nan: bool = False,
                 use_broadcast: bool = True) -> bool:
    """Whether |a - b| <= atol + rtol * |b| everywhere."""
    if not use_broadcast:
        checkShapes(a, b)
    return np.allclose(_numpy(a), _numpy(b), rtol=get_rtol(rtol), atol=get_atol(atol), equal_nan=equal_nan)


def locationError(a: Any, b: Any, index: Any, names: Sequence[str], maxError: bool = False) -> str:
    """A line that says what two arrays have at an index."""
    return (f'{"largest error" if maxError else "error"} at {tuple(int(i) for i in index)}: '
            f'{names[0]}={a[index]:.8f}, {names[1]}={b[index]:.8f}')


def _complaint(a, b, rtol, atol, names, equal_nan, most):
    """What to say about two arrays that are not equal: how many elements, by how much, and where the worst are."""
    a, b = np.broadcast_arrays(a, b)
    wide = np.complex128 if a.dtype.kind == 'c' or b.dtype.kind == 'c' else np.float64
    a, b = a.astype(wide), b.astype(wide)
    with np.errstate(invalid='ignore', over='ignore', divide='ignore'):
        error = np.where(a == b, 0, np.abs(a - b))
        bad = ~np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)
        # in units of the tolerance; an error that is no number is the worst of all
        size = np.where(bad, np.nan_to_num(error / (atol + rtol * np.abs(b) + 1e-20), nan=np.inf), -1)
    order = np.argsort(-size, axis=None, kind='stable')[:min(most, int(bad.sum()))]
    lines = [f'{int(bad.sum())} of {bad.size} elements ({bad.mean():.2%}) of {names[0]} and {names[1]} differ by more '
             f'than rtol={rtol:g}, atol={atol:g} allow']
    for place, flat in enumerate(order):
        index = np.unravel_index(flat, a.shape)
        lines.append(f'  {size[index]:.4g} x the tolerance, {locationError(a, b, index, names, maxError=not place)}')
    with np.printoptions(threshold=8, edgeitems=2, suppress=True):
        lines += [f'{names[0]}, shape {a.shape}:', str(a), f'{names[1]}, shape {b.shape}:', str(b)]
    return '\n'.join(lines)


def assert_almost_equal(a: Any, b: Any, rtol: float | None = None, atol: float | None = None,
                        names: Sequence[str] = ('a', 'b'), equal_nan: bool = False, use_broadcast: bool = True,
                        mismatches: Sequence[Any] = (10, 10)) -> None:
    """Raises an AssertionError unless |a - b| <= atol + rtol * |b| everywhere.

    Tolerances that are not given, or given as {dtype: tolerance} without the dtype at hand, follow from the dtypes.
    `mismatches[0]` is how many of the worst elements the error lists.
    """
    if not use_broadcast:
        checkShapes(a, b)
    rtol, atol = get_tols(a, b, rtol, atol)
    a, b = _numpy(a), _numpy(b)
    if a.dtype == b.dtype == np.bool_:
        np.testing.assert_equal(a, b)
    elif not almost_equal(a, b, rtol, atol, equal_nan=equal_nan):
        raise AssertionError(_complaint(a, b, rtol, atol, names, equal_nan, mismatches[0]))


def assert_allclose(a: Any, b: Any, rtol: float | None = 1e-07, atol: float | None = 0, equal_nan: bool = True) -> None:
    """`assert_almost_equal` with the tolerances of `numpy.testing.assert_allclose`."""
    assert_almost_equal(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)


def assert_almost_equal_with_err(a: Any, b: Any, rtol: float | None = None, atol: float | None = None,
                                 etol: float | None = None, names: Sequence[str] = ('a', 'b'), equal_nan: bool = False,
                                 mismatches: Sequence[Any] = (10, 10)) -> None:
    """`assert_almost_equal` that lets a share `etol` of the elements differ."""
    etol = get_etol(etol)
    if etol <= 0:
        assert_almost_equal(a, b, rtol=rtol, atol=atol, names=names, equal_nan=equal_nan, mismatches=mismatches)
        return
    rtol, atol = get_tols(a, b, rtol, atol)
    a, b = _numpy(a), _numpy(b)
    share = 1 - np.mean(np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan))
    if share > etol:
        raise AssertionError(f'more than {etol:.2%} of the elements differ: '
                             + _complaint(a, b, rtol, atol, names, equal_nan, mismatches[0]))


def assert_almost_equal_ignore_nan(a: Any, b: Any, rtol: float | None = None, atol: float | None = None,
                                   names: Sequence[str] = ('a', 'b')) -> None:
    """`assert_almost_equal` over the elements that are numbers in both arrays."""
    a, b = np.copy(_numpy(a)), np.copy(_numpy(b))
    missing = np.isnan(a) | np.isnan(b)
    a[missing] = b[missing] = 0
    assert_almost_equal(a, b, rtol, atol, names)


def assert_exception(f: Any, exception_type: Any, *args: Any, **kwargs: Any) -> Any:
    """Raises an AssertionError unless `f(*args, **kwargs)` raises an `exception_type`."""
    try:
        f(*args, **kwargs)
    except exception_type:
        return
    raise AssertionError(f'{getattr(f, "__name__", f)} raised no {exception_type.__name__}')


def compare_ndarray_tuple(t1: Any, t2: Any, rtol: float | None = None, atol: float | None = None) -> None:
    """`assert_almost_equal` over nested tuples of arrays; None equals everything."""
    if t1 is None or t2 is None:
        return
    if isinstance(t1, tuple):
        for one, other in zip(t1, t2, strict=True):
            compare_ndarray_tuple(one, other, rtol, atol)
    else:
        assert_almost_equal(t1, t2, rtol=rtol, atol=atol)


# ---------------------------------------------------------------------- reductions for expected values
def np_reduce(dat: Any, axis: int, keepdims: bool, numpy_reduce_func: Any) -> Any:
    """A NumPy reduction over one axis, several, or all (None), one after the other."""
    axes = range(dat.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    axes = sorted(a % dat.ndim for a in axes)
    for a in reversed(axes):
        dat = numpy_reduce_func(np.expand_dims(dat, 0) if not dat.ndim else dat, axis=a, keepdims=True)
    return dat if keepdims else dat.squeeze(tuple(axes))


def collapse_sum_like(a: Any, shape: Any) -> Any:
    """The sum of a NumPy array over the axes that broadcasting from `shape` has repeated."""
    if np.prod(shape) == 0 or a.size == 0:
        return np.zeros(shape, dtype=a.dtype)
    new = a.ndim - len(shape)
    if new < 0 or any(n not in (1, m) for n, m in zip(shape, a.shape[new:], strict=True)):
        raise AssertionError(f'an array of shape {tuple(shape)} cannot be broadcast to {a.shape}')
    axes = [i for i in range(a.ndim) if i < new or shape[i - new] != a.shape[i]]
    return np.sum(a, axis=tuple(axes)).reshape(shape)


_explain_kinds(globals(), __all__)
