"""New arrays of the NumPy interface: the kernels of `tensor/creation.py`, with shapes that may be () or hold 0."""
import math

import torch

from ...base import MXNetError
from ..core.attributes import Device, DType, Shape
from ..core.dtypes import TORCH
from ..core.gradients import no_gradient
from ..core.table import operator
from ..tensor import creation


@operator()
def _npi_zeros(*, shape: Shape = (), ctx: Device = '', dtype: DType = 'float32'):
    """Zeros of a shape."""
    return creation.zeros(shape=shape, ctx=ctx, dtype=dtype)


@operator()
def _npi_ones(*, shape: Shape = (), ctx: Device = '', dtype: DType = 'float32'):
    """Ones of a shape."""
    return creation.ones(shape=shape, ctx=ctx, dtype=dtype)


@operator()
def _npi_identity(*, shape: Shape = (), ctx: Device = '', dtype: DType = 'float32'):
    """A square matrix with ones on its diagonal; `shape` is (n, n)."""
    if len(shape) != 2 or shape[0] != shape[1]:
        raise MXNetError(f'operator _npi_identity: argument shape={shape} is not accepted; it takes (n, n)')
    return torch.eye(shape[0], dtype=TORCH[dtype], device=ctx or None)


@operator()
def _npi_eye(*, N: int, M: int | None = None, k: int = 0, ctx: Device = '', dtype: DType = 'float32'):
    """Zeros of N rows and M columns (as many as rows, if not given) with ones on the k-th diagonal."""
    columns = N if M is None else M
    rows = torch.arange(N, device=ctx or None).unsqueeze(1)
    return (torch.arange(columns, device=ctx or None) - rows == k).to(TORCH[dtype])


@operator(elementwise=True)
def _npi_full_like(a, *, fill_value: float, ctx: Device = '', dtype: DType | None = None):
    """One number in the shape of `a`, and in its dtype unless another is given.  The gradient is zero."""
    wanted = a.dtype if dtype is None else TORCH[dtype]
    if not wanted.is_floating_point:
        fill_value = bool(fill_value) if wanted is torch.bool else int(fill_value)
    return no_gradient(lambda x: torch.full_like(x, fill_value, dtype=wanted, device=ctx or None), a)


@operator()
def _npi_arange(*, start: float, stop: float | None = None, step: float = 1.0, repeat: int = 1,
                infer_range: bool = False, ctx: Device = '', dtype: DType = 'float32'):
    """Numbers from `start` up to `stop`, every one `repeat` times; none where `step` does not lead there."""
    if stop is None:
        start, stop = 0.0, start
    if step == 0:
        raise MXNetError('operator _npi_arange: argument step must not be 0')
    if (stop - start) / step <= 0:
        return torch.empty(0, dtype=TORCH[dtype], device=ctx or None)
    return creation.arange(start=start, stop=stop, step=step, repeat=repeat, ctx=ctx, dtype=dtype)


@operator()
def _npi_logspace(*, start: float, stop: float, num: int, endpoint: bool = True, base: float = 10.0, ctx: Device = '',
                  dtype: DType = 'float32'):
    """`base` to the power of `num` numbers at equal distances from `start` to `stop`."""
    powers = creation.linspace(start=start, stop=stop, num=num, endpoint=endpoint, ctx=ctx, dtype='float64')
    return torch.pow(base, powers).to(TORCH[dtype])


@operator()
def _npi_indices(*, dimensions: Shape, dtype: DType = 'int32', ctx: Device = ''):
    """For each axis of a grid of these lengths, the position along it of every point: shape (axes, *dimensions)."""
    lines = [torch.arange(n, dtype=TORCH[dtype], device=ctx or None) for n in dimensions]
    return torch.stack(torch.meshgrid(lines, indexing='ij')) if lines else \
        torch.empty(0, dtype=TORCH[dtype], device=ctx or None)


# ---------------------------------------------------------------------- windows
def _window(weights):
    """A window from the weights of 1, cos(t), cos(2 t), ... over one period."""
    def make(M, ctx, dtype):
        if not M or M < 1:
            return torch.empty(0, dtype=TORCH[dtype], device=ctx or None)
        if M == 1:
            return torch.ones(1, dtype=TORCH[dtype], device=ctx or None)
        t = torch.arange(M, dtype=torch.float64, device=ctx or None) * (2 * math.pi / (M - 1))
        total = sum(w * torch.cos(k * t) for k, w in enumerate(weights))
        return total.to(TORCH[dtype])
    return make


_blackman, _hamming, _hanning = _window((0.42, -0.5, 0.08)), _window((0.54, -0.46)), _window((0.5, -0.5))


@operator()
def _npi_blackman(*, M: int | None = None, ctx: Device = '', dtype: DType = 'float32'):
    """The Blackman window of M points: 0.42 - 0.5 cos(t) + 0.08 cos(2 t)."""
    return _blackman(M, ctx, dtype)


@operator()
def _npi_hamming(*, M: int | None = None, ctx: Device = '', dtype: DType = 'float32'):
    """The Hamming window of M points: 0.54 - 0.46 cos(t)."""
    return _hamming(M, ctx, dtype)


@operator()
def _npi_hanning(*, M: int | None = None, ctx: Device = '', dtype: DType = 'float32'):
    """The Hann window of M points: 0.5 - 0.5 cos(t)."""
    return _hanning(M, ctx, dtype)
