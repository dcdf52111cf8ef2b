"""New arrays: constants, ranges, and copies to somewhere else."""
from math import ceil

import torch

from ...base import MXNetError
from ..core.attributes import _DTYPE_FLAGS, Device, DType, Shape
from ..core.dtypes import TORCH
from ..core.table import operator


# ---------------------------------------------------------------------- constants
@operator('_zeros')
def zeros(*, shape: Shape = (), ctx: Device = '', dtype: DType = 'float32'):
    """Zeros of a shape."""
    return torch.zeros(shape, dtype=TORCH[dtype], device=ctx or None)


@operator('_ones')
def ones(*, shape: Shape = (), ctx: Device = '', dtype: DType = 'float32'):
    """Ones of a shape."""
    return torch.ones(shape, dtype=TORCH[dtype], device=ctx or None)


@operator('_full', aliases=('_npi_full',))
def full(*, shape: Shape | None = None, ctx: Device = '', dtype: DType = 'float32', value: float):
    """One number in a whole shape."""
    if shape is None:
        raise MXNetError('operator _full: argument shape is missing; it takes ints such as (2, 3)')
    kind = TORCH[dtype]
    if not kind.is_floating_point:
        value = bool(value) if kind is torch.bool else int(value)
    return torch.full(shape, value, dtype=kind, device=ctx or None)


@operator('_zeros_without_dtype')
def zeros_without_dtype(*, shape: Shape | None = None, ctx: Device = '', dtype: int = -1):
    """Zeros of a shape; `dtype` is a number of upstream's, -1 where it does not matter (then float32)."""
    return torch.zeros(shape or (), dtype=TORCH[_DTYPE_FLAGS[max(dtype, 0)]], device=ctx or None)


@operator('_eye')
def eye(*, N: int, M: int = 0, k: int = 0, ctx: Device = '', dtype: DType = 'float32'):
    """Zeros of N rows and M columns (0: as many as rows) with ones on the k-th diagonal."""
    columns = M if M > 0 else N
    if k == 0:
        return torch.eye(N, columns, dtype=TORCH[dtype], device=ctx or None)
    rows = torch.arange(N, device=ctx or None).unsqueeze(1)
    return (torch.arange(columns, device=ctx or None) - rows == k).to(TORCH[dtype])


@operator('_set_value')
def set_value(*, src: float):
    """A number without a shape of its own, to be written into all of `out`."""
    return torch.full((), src)


# ---------------------------------------------------------------------- ranges
def _counted(count, start, step, repeat, dtype, device):
    """start, start + step, ... in `dtype`, every number `repeat` times."""
    if not dtype.is_floating_point:
        start, step = int(start), int(step)
    if repeat == 1:
        steps = torch.arange(count, device=device)
    else:
        steps = torch.arange(count, device=device).div(repeat, rounding_mode='floor')
    if not dtype.is_floating_point:
        return (steps * step + start).to(dtype)
    wide = torch.float64 if dtype is torch.float64 else torch.float32
    return (steps.to(wide) * step + start).to(dtype)


@operator('_arange')
def arange(*, start: float, stop: float | None = None, step: float = 1.0, repeat: int = 1, infer_range: bool = False,
           ctx: Device = '', dtype: DType = 'float32'):
    """Numbers from `start` up to `stop`, every one `repeat` times; with one limit alone, from 0 up to it.

    In an integer dtype, `start` and `step` are cut to whole numbers, but how many there are is counted before that.
    """
    if stop is None:
        if infer_range:
            raise MXNetError('operator _arange: infer_range needs a graph whose other operators tell the shape; '
                             'give stop instead')
        start, stop = 0.0, start
    if repeat < 1 or step == 0 or (stop - start) / step <= 0:
        raise MXNetError(f'operator _arange: start={start}, stop={stop}, step={step}, repeat={repeat} give no numbers; '
                         'step must lead from start to stop, and repeat must be at least 1')
    count = ceil((stop - start) / step) * repeat
    return _counted(count, start, step, repeat, TORCH[dtype], ctx or None)


@operator('_linspace', aliases=('_npi_linspace',))
def linspace(*, start: float, stop: float, num: int, endpoint: bool = True, ctx: Device = '',
             dtype: DType = 'float32'):
    """`num` numbers at equal distances from `start` to `stop`, which is one of them only with `endpoint`."""
    if num < 0:
        raise MXNetError(f'operator _linspace: argument num={num} is not accepted; it takes an int >= 0')
    gaps = num - 1 if endpoint else num
    step = (stop - start) / gaps if gaps > 0 else 0.0
    return torch.arange(num, dtype=torch.float64, device=ctx or None).mul(step).add(start).to(TORCH[dtype])


@operator('_contrib_arange_like', aliases=('_npx_arange_like',))
def arange_like(data, *, start: float = 0.0, step: float = 1.0, repeat: int = 1, ctx: Device = '',
                axis: int | None = None):
    """start, start + step, ... in the shape and dtype of `data`, or as many as one axis of it has."""
    if axis is not None:
        return _counted(data.size(axis), start, step, repeat, data.dtype, data.device)
    return _counted(data.numel(), start, step, repeat, data.dtype, data.device).reshape(data.shape)


@operator('_contrib_index_array')
def index_array(data, *, axes: Shape | None = None):
    """The coordinates of every element of `data` as a new last axis (int64): all of them, or those along `axes`."""
    if not data.dim():
        return torch.zeros(0, dtype=torch.int64, device=data.device)
    grids = torch.meshgrid([torch.arange(n, device=data.device) for n in data.shape], indexing='ij')
    return torch.stack(grids if axes is None else [grids[a] for a in axes], -1)


# ---------------------------------------------------------------------- copies
@operator('_copyto', aliases=('_npi_copyto',))
def copyto(data):
    """The same values; with `out`, in the dtype and on the device of that."""
    return data


@operator('_CrossDeviceCopy')
def cross_device_copy(data):
    """The same values on another device: what a graph has where an edge crosses from one to the other."""
    return data


@operator('_NoGradient')
def no_gradient():
    """Stands where a graph has no gradient: a zero."""
    return torch.zeros(1)
