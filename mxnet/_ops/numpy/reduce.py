"""Reductions, as NumPy has them: the kernels are those of `tensor/reduce.py`.

What differs: a full reduction has no axes, `axis=()` reduces nothing, sums and products of booleans are int64, the
mean of integers is float32, positions are int64.
"""
import torch

from ...base import MXNetError
from ..core.attributes import DType, Shape
from ..core.dtypes import TORCH
from ..core.gradients import clamp_max, clamp_min, no_gradient
from ..core.table import operator
from ..tensor import reduce as kernels


def _axes(name, data, axis, keepdims):
    """The axes to reduce; None for all of them with none kept."""
    if axis is None:
        return tuple(range(data.dim())) if keepdims else None
    axes = kernels.reduction_axes(name, data, axis)
    return axes if len(axes) < data.dim() or keepdims else None


def _reduced(kernel, name, data, axis, keepdims):
    if axis == ():
        return data.clone()
    axes = _axes(name, data, axis, keepdims)
    return kernel(data, axes, keepdims) if data.dim() else data.clone()


def _accumulator(data, dtype):
    """The array in the dtype that it is summed up in."""
    if dtype is not None:
        return data.to(TORCH[dtype])
    return data.long() if data.dtype is torch.bool else data


# ---------------------------------------------------------------------- sums, products, means
@operator()
def _np_sum(a, *, axis: Shape | None = None, dtype: DType | None = None, keepdims: bool = False,
            initial: float | None = None):
    """The sum along `axis`; of booleans as int64."""
    total = _reduced(kernels._sum, '_np_sum', _accumulator(a, dtype), axis, keepdims)
    return total if initial is None else total + initial


@operator(aliases=('_np_product',), positional=('a', 'axis', 'dtype', 'keepdims', 'initial'))
def _np_prod(a, *, axis: Shape | None = None, dtype: DType | None = None, keepdims: bool = False,
             initial: float | None = None):
    """The product along `axis`; of booleans as int64."""
    total = _reduced(kernels._product, '_np_prod', _accumulator(a, dtype), axis, keepdims)
    return total if initial is None else total * initial


@operator()
def _npi_mean(a, *, axis: Shape | None = None, dtype: DType | None = None, keepdims: bool = False,
              initial: float | None = None):
    """The mean along `axis`; of integers as float32."""
    wanted = TORCH[dtype] if dtype is not None else a.dtype if a.is_floating_point() else torch.float32
    return _reduced(kernels._mean, '_npi_mean', a.to(wanted), axis, keepdims)


def _spread(name, function, a, axis, dtype, ddof, keepdims):
    wanted = a.dtype if dtype is None else TORCH[dtype]
    wide = a.to(wanted) if wanted.is_floating_point else a.double()
    axes = tuple(range(a.dim())) if axis is None else kernels.reduction_axes(name, a, axis) if axis else ()
    if not axes:
        return (torch.zeros_like(wide) if ddof < 1 else torch.full_like(wide, float('nan'))).to(wanted)
    return function(wide, axes, correction=ddof, keepdim=keepdims).to(wanted)


@operator()
def _npi_cumprod(a, *, axis: int | None = None, dtype: DType | None = None):
    """The running product along `axis`; without it, of the flat array."""
    if axis is None:
        a, axis = a.reshape(-1), 0
    return torch.cumprod(a, axis, dtype=None if dtype is None else TORCH[dtype])


@operator(outputs='std')
def _npi_std(a, *, axis: Shape | None = None, dtype: DType | None = None, ddof: int = 0, keepdims: bool = False):
    """The standard deviation along `axis`, of integers without its fraction; squares are divided by n - `ddof`."""
    return _spread('_npi_std', torch.std, a, axis, dtype, ddof, keepdims)


@operator(outputs='var')
def _npi_var(a, *, axis: Shape | None = None, dtype: DType | None = None, ddof: int = 0, keepdims: bool = False):
    """The variance along `axis`, of integers without its fraction; squares are divided by n - `ddof`."""
    return _spread('_npi_var', torch.var, a, axis, dtype, ddof, keepdims)


# ---------------------------------------------------------------------- extremes
def _extreme(kernel, combine, name, a, axis, keepdims, initial):
    if not a.numel() and initial is None and axis != ():
        axes = range(a.dim()) if axis is None else kernels.reduction_axes(name, a, axis)
        if any(a.shape[x] == 0 for x in axes):
            raise MXNetError(f'operator {name}: an axis of length 0 in shape {tuple(a.shape)} has no such value')
    if a.dtype is torch.bool:
        return _extreme(kernel, combine, name, a.byte(), axis, keepdims, initial).bool()
    result = _reduced(kernel, name, a, axis, keepdims)
    return result if initial is None else combine(result, initial)


@operator(aliases=('_np_amax',))
def _np_max(a, *, axis: Shape | None = None, keepdims: bool = False, initial: float | None = None):
    """The largest value along `axis`; if there are several, each gets the gradient."""
    return _extreme(kernels._extreme(torch.amax), clamp_min, '_np_max', a, axis, keepdims, initial)


@operator(aliases=('_np_amin',))
def _np_min(a, *, axis: Shape | None = None, keepdims: bool = False, initial: float | None = None):
    """The smallest value along `axis`; if there are several, each gets the gradient."""
    return _extreme(kernels._extreme(torch.amin), clamp_max, '_np_min', a, axis, keepdims, initial)


def _position(function, name, data, axis, keepdims):
    if axis is not None and (data.dim() or axis not in (0, -1)):
        kernels.reduction_axes(name, data, (axis,))
    if not (data.numel() if axis is None else data.shape[axis] if data.dim() else 1):
        raise MXNetError(f'operator {name}: there are no values along axis {axis} of shape {tuple(data.shape)}')
    data = data.byte() if data.dtype is torch.bool else data
    return no_gradient(lambda x: function(x, axis, keepdims), data)


@operator(result_dtype='int64')
def _npi_argmax(data, *, axis: int | None = None, keepdims: bool = False):
    """The number of the largest value along `axis` (int64), the first of several; without it, in the flat array."""
    return _position(torch.argmax, '_npi_argmax', data, axis, keepdims)


@operator(result_dtype='int64')
def _npi_argmin(data, *, axis: int | None = None, keepdims: bool = False):
    """The number of the smallest value along `axis` (int64), the first of several; without it, in the flat array."""
    return _position(torch.argmin, '_npi_argmin', data, axis, keepdims)


# ---------------------------------------------------------------------- truth
def _truth(function, name, data, axis, keepdims):
    data = data.detach() if data.dtype is torch.bool else data.detach() != 0
    if axis == ():
        return data.clone()
    axes = _axes(name, data, axis, keepdims)
    return function(data) if axes is None else function(data, axes, keepdims)


@operator(result_dtype='bool')
def _np_all(data, *, axis: Shape | None = None, keepdims: bool = False):
    """Whether no value along `axis` is 0."""
    return _truth(torch.all, '_np_all', data, axis, keepdims)


@operator(aliases=('_np_sometrue',), result_dtype='bool')
def _np_any(data, *, axis: Shape | None = None, keepdims: bool = False):
    """Whether a value along `axis` is not 0."""
    return _truth(torch.any, '_np_any', data, axis, keepdims)


# ---------------------------------------------------------------------- weighted means
@operator(optional={'weights': lambda a: a['weighted']}, hidden=lambda a: not a['returned'],
          outputs=lambda a: ('output0', 'output1') if a['returned'] else ('output0',))
def _npi_average(a, weights=None, *, axis: Shape | None = None, returned: bool = False, weighted: bool = True):
    """The mean along `axis`, each value weighted; with `returned`, the sum of weights as well.

    `weights` has the shape of `a`, or one number for each place of a single `axis`.
    """
    data = a if a.is_floating_point() else a.float()
    axes = tuple(range(a.dim())) if axis is None else kernels.reduction_axes('_npi_average', a, axis) if axis else ()
    if weights is None:
        mean = torch.mean(data, axes) if axes else data
        count = data.numel() // max(mean.numel(), 1)
        return (mean, torch.full((), float(count), dtype=data.dtype, device=data.device)) if returned else mean
    weights = weights.to(data.dtype)
    if weights.shape != data.shape:
        if len(axes) != 1 or weights.dim() != 1 or weights.shape[0] != data.shape[axes[0]]:
            raise MXNetError(f'operator _npi_average: weights of shape {tuple(weights.shape)} do not fit a of shape '
                             f'{tuple(a.shape)}; they take that shape, or one number for each place of a single axis')
        weights = weights.reshape([-1 if i == axes[0] else 1 for i in range(data.dim())]).expand(data.shape)
    total = torch.sum(weights, axes) if axes else weights       # torch sums over all axes where none is given
    mean = (torch.sum(data * weights, axes) if axes else data * weights) / total
    return (mean, total) if returned else mean
