"""Reductions, running sums, histograms, and numbers of elements.

Reductions take `axis`: one axis, several, or all by default; `exclude` reduces all other axes instead.  A result that
has no axis left has shape (1,).  It has the dtype of the input: the mean of integers is an integer, `argmax` of floats
gives floats.
"""
import math

import torch

from ...base import MXNetError
from ..core import shapes
from ..core.attributes import DType, Floats, Shape
from ..core.dtypes import TORCH
from ..core.gradients import every_tie, no_gradient, with_gradient
from ..core.integer_gradients import to_integers
from ..core.table import operator


# ---------------------------------------------------------------------- which axes, and in which shape
def reduction_axes(name, data, axis, exclude=False):
    """The axes to reduce, from 0 on and in order; None or () stand for all."""
    count = data.dim()
    if not axis:
        return tuple(range(count))
    if not count and len(axis) == 1 and axis[0] in (0, -1):
        return ()                      # NumPy takes a scalar for an array of one axis here
    for a in axis:
        if not -count <= a < count:
            raise MXNetError(f'operator {name}: axis {a} is out of range for data of shape {tuple(data.shape)}')
    axes = {a % count for a in axis}
    if len(axes) != len(axis):
        raise MXNetError(f'operator {name}: axis={axis} names an axis twice; data has {count} axes')
    return tuple(a for a in range(count) if (a in axes) != exclude)


def reduce_with(function, name, data, axis, keepdims, exclude=False):
    """`function(data, axes, keepdims)` with the axes found, and no result without axes."""
    if not axis and not keepdims:
        return function(data, None, False).reshape(1)
    axes = reduction_axes(name, data, axis, exclude)
    if not axes and axis:
        return data                    # every axis was excluded; torch takes an empty list for all
    result = function(data, axes, keepdims)
    return result if result.dim() else result.reshape(1)


# ---------------------------------------------------------------------- the functions of torch, where they differ
# each takes the data, a tuple of axes or None for all, and whether to keep these with length 1
def _of_one(data, axes, keepdims):
    """The sum or mean along axes of length 1; None if there are others."""
    shape = data.shape
    for a in axes:
        if shape[a] != 1:
            return None
    return data if keepdims else data.squeeze(axes[0] if len(axes) == 1 else axes)


def _sum(data, axes, keepdims):
    if data.is_floating_point():
        same = torch.sum(data) if axes is None else _of_one(data, axes, keepdims)
        if same is not None:
            return same
    # torch would turn small integers into int64
    return torch.sum(data, axes, keepdims, dtype=None if data.dtype is torch.bool else data.dtype)


def _mean(data, axes, keepdims):
    if data.is_floating_point():
        same = None if axes is None else _of_one(data, axes, keepdims)
        return torch.mean(data, axes, keepdims) if same is None else same
    count = data.numel() if axes is None else math.prod(data.shape[a] for a in axes)
    return torch.div(torch.sum(data, axes, keepdims), count, rounding_mode='trunc').to(data.dtype)


def _product(data, axes, keepdims):
    dtype = None if data.dtype is torch.bool else data.dtype
    shape = data.shape
    if axes is None:
        data = data.reshape(-1)
    elif len(axes) != 1 or axes[0] != data.dim() - 1:
        axes = sorted(axes)
        data = data.permute(*(a for a in range(data.dim()) if a not in axes), *axes)
        data = data.reshape(*data.shape[:data.dim() - len(axes)], -1) if axes else data.unsqueeze(-1)
    result = with_gradient(_last_product, _product_back, data) if data.is_floating_point() \
        else torch.prod(data, -1, dtype=dtype)
    if data.is_floating_point() and data.shape[-1] > 2:
        result = _as_in_order(data.detach(), result)
    if keepdims:
        result = result.reshape([1 if axes is None or a in axes else n for a, n in enumerate(shape)])
    return result


def _last_product(data):
    return torch.prod(data, -1)


def _product_back(gradients, inputs, outputs):
    """The gradient of a product along the last axis; that of the only 0 is the product of the others.

    torch's own looks at values, and traced graphs would have another formula than single calls.
    """
    gradient, data, result = gradients[0].unsqueeze(-1), inputs[0], outputs[0].unsqueeze(-1)
    if torch.is_grad_enabled():         # it is differentiated again
        again = data.view_as(data)
        return torch.autograd.grad(torch.prod(again, -1), again, gradients[0], create_graph=True)
    zeros = data == 0
    others = torch.where(zeros.sum(-1, keepdim=True) == 1, torch.where(zeros, 1, data).prod(-1, keepdim=True), 0)
    return (gradient * torch.where(zeros, others, result / data),)


def _as_in_order(data, result):
    """Products of the last axis, infinite, 0 or NaN where a multiplication one by one, which upstream does, has that.

    torch multiplies in several lanes and its cumulative products are accumulated in higher precision, so neither
    overflows where upstream's does.  A partial product that is infinite or 0 stays so: later elements change its
    sign, or make it NaN.
    """
    partial = torch.cumprod(data, -1)
    final = partial.isinf() | (partial == 0)
    first = final.to(torch.int8).argmax(-1, keepdim=True)
    later = torch.arange(data.shape[-1], device=data.device) > first
    rest = torch.where(later, torch.where(data.isfinite(), data.sign(), data), 1).prod(-1)
    stopped = partial.gather(-1, first).squeeze(-1) * rest
    # results that are equal stay those of `torch.prod`, which have the history
    last, stopped = partial[..., -1], stopped.to(result.dtype)
    result = torch.where((result == last) | result.isfinite() & (result != 0), result, last)
    return torch.where(final.any(-1) & (result != stopped), stopped, result)


def _sum_of_numbers(data, axes, keepdims):
    return torch.nansum(data, axes, keepdims, dtype=data.dtype)


def _product_of_numbers(data, axes, keepdims):
    return _product(torch.where(torch.isnan(data), 1, data), axes, keepdims)


def _extreme(function):
    def reduce(data, axes, keepdims):
        axes = tuple(range(data.dim())) if axes is None else axes
        if not data.requires_grad:
            return function(data, axes, keepdims)
        # torch shares the gradient among equal values; upstream gives all of it to each
        result = with_gradient(lambda x: function(x, axes, True), every_tie, data)
        return result if keepdims else result.squeeze(axes)
    return reduce


def _sum_of_squares(data, axes, keepdims):
    return _sum(torch.square(data), axes, keepdims)


_REDUCTIONS = [
    # function, names, what it computes
    (_sum, 'sum _sparse_sum sum_axis', 'The sum along `axis`.'),
    (_mean, 'mean _sparse_mean', 'The mean along `axis`; of integers without its fraction.'),
    (_product, 'prod', 'The product along `axis`.'),
    (_sum_of_numbers, 'nansum', 'The sum along `axis`, NaN counted as 0.'),
    (_product_of_numbers, 'nanprod', 'The product along `axis`, NaN counted as 1.'),
    (_extreme(torch.amax), 'max max_axis',
     'The largest value along `axis`; if there are several, each gets the gradient.'),
    (_extreme(torch.amin), 'min min_axis',
     'The smallest value along `axis`; if there are several, each gets the gradient.'),
    (_sum_of_squares, '_square_sum', 'The sum of squares along `axis`.'),
]


def _whole_sum(data):
    # of a flat view with its one axis kept: the cheapest way to a sum of shape (1,)
    return torch.sum(data.ravel(), 0, True) if data.is_floating_point() else _sum(data, None, False).unsqueeze(0)


def _declare(function, names, doc):
    name, *aliases = names.split()
    whole = _whole_sum if function is _sum else lambda data: function(data, None, False).unsqueeze(0)

    def reduce(data, *, axis: Shape | None = None, keepdims: bool = False, exclude: bool = False):
        if axis is None and not keepdims:        # everything: the common case takes no detour
            return whole(data)
        return reduce_with(function, name, data, axis, keepdims, exclude)

    reduce.__name__ = reduce.__qualname__ = name
    reduce.__doc__ = f'{doc}\n\nWithout `axis` all axes are reduced; with `exclude`, all but those named.'
    operator(name, aliases=aliases, methods=() if name.startswith('_') else (name,))(reduce)


for _row in _REDUCTIONS:
    _declare(*_row)


# ---------------------------------------------------------------------- norms and moments
@operator(aliases=('_sparse_norm',), methods='norm')
def norm(data, *, ord: int = 2, axis: Shape | None = None, out_dtype: DType | None = None, keepdims: bool = False):
    """The square root of the sum of squares along `axis`, or with `ord=1` the sum of absolute values.

    The axes are taken as one: this is never a matrix norm.
    """
    if ord not in (1, 2):
        raise MXNetError(f'operator norm: argument ord={ord} is not accepted; it takes 1 or 2')
    wide = data if data.is_floating_point() else data.double()

    def length(x, axes, keep):
        return torch.linalg.vector_norm(x, ord, axes, keep)
    result = reduce_with(length, 'norm', wide, axis, keepdims)
    return result.to(data.dtype if out_dtype is None else TORCH[out_dtype])


@operator(outputs=('output0', 'output1'))
def moments(data, *, axes: Shape | None = None, keepdims: bool = False):
    """The mean and the variance (the mean of squared deviations) along `axes`."""
    over = reduction_axes('moments', data, axes)
    wide = data if data.is_floating_point() else data.double()
    variance, mean = torch.var_mean(wide, over, correction=0, keepdim=keepdims)
    if len(over) == data.dim() and not keepdims:
        variance, mean = variance.reshape(1), mean.reshape(1)
    return mean.to(data.dtype), variance.to(data.dtype)


# ---------------------------------------------------------------------- where the largest is
def _position(function, name, data, axis, keepdims):
    if axis is not None:
        reduction_axes(name, data, (axis,))
    found = no_gradient(lambda x: function(x, axis, keepdims).to(x.dtype), data)
    return found if found.dim() else found.reshape(1)


@operator(methods='argmax')
def argmax(data, *, axis: int | None = None, keepdims: bool = False):
    """The number of the largest value along `axis`, the first of several, in the dtype of `data`.

    Without `axis`, its number in the flattened array.
    """
    return _position(torch.argmax, 'argmax', data, axis, keepdims)


@operator(methods='argmin')
def argmin(data, *, axis: int | None = None, keepdims: bool = False):
    """The number of the smallest value along `axis`, the first of several, in the dtype of `data`.

    Without `axis`, its number in the flattened array.
    """
    return _position(torch.argmin, 'argmin', data, axis, keepdims)


@operator(methods='argmax_channel')
def argmax_channel(data):
    """`argmax` along axis 1: the class with the highest score."""
    return _position(torch.argmax, 'argmax_channel', data, 1, False)


# ---------------------------------------------------------------------- running sums, histograms
@operator(aliases=('cumsum',))
def _np_cumsum(a, *, axis: int | None = None, dtype: DType | None = None):
    """The running sum along `axis`; without it, of the flattened array."""
    if axis is None:
        a, axis = a.reshape(-1), 0
    if dtype is not None:
        target = TORCH[dtype]
        if a.requires_grad and a.is_floating_point() and not target.is_floating_point:
            a = to_integers(a, target)          # torch refuses sums of floats as integers then
        return torch.cumsum(a, axis, dtype=target)
    if a.dtype in (torch.float16, torch.bfloat16):
        return torch.cumsum(a, axis, dtype=torch.float32).to(a.dtype)        # rounded once, not at every step
    return torch.cumsum(a, axis, dtype=torch.int64 if a.dtype is torch.bool else a.dtype)


@operator(aliases=('_npi_histogram',), optional={'bins': lambda a: a['bin_cnt'] is None},
          outputs=('output0', 'output1'))
def _histogram(data, bins=None, *, bin_cnt: int | None = None, range: Floats | None = None):
    """Counts the values in each interval; returns the counts (int64) and the limits of the intervals.

    The limits are `bins` (rising), or without it those of `bin_cnt` intervals of equal width over `range`.  A value
    on a limit counts above it, on the last one below it; what is outside, or NaN, does not count.
    """
    if bins is None:
        bins = _equal_intervals(data, bin_cnt, range)
    count = bins.shape[0] - 1
    flat = data.reshape(-1)
    position = torch.bucketize(flat, bins, right=True) - 1
    position = torch.where(flat == bins[-1], count - 1, position)
    inside = (flat >= bins[0]) & (flat <= bins[-1])
    position = torch.where(inside, position, count)         # one more place for what does not count
    counts = torch.zeros(count + 1, dtype=torch.int64, device=data.device)
    return counts.scatter_add(0, position, torch.ones_like(position))[:count], bins


def _equal_intervals(data, bin_cnt, limits):
    if limits is None or len(limits) != 2 or limits[0] > limits[1]:
        raise MXNetError(f'operator _histogram: argument range={limits} is not accepted; with bin_cnt it takes the '
                         f'lower and the upper limit')
    if bin_cnt < 1:
        raise MXNetError(f'operator _histogram: argument bin_cnt={bin_cnt} is not accepted; it takes an int >= 1')
    low, high = limits
    return torch.linspace(low, high, bin_cnt + 1, dtype=torch.float64, device=data.device).to(data.dtype)


# ---------------------------------------------------------------------- products of columns, numbers of elements
@operator(variadic='num_args', same_dtype='*', shapes=shapes.same_columns)
def khatri_rao(*args, num_args: int):
    """The Kronecker products of the columns: column k of the result is that of column k of all matrices."""
    total = args[0]
    for i, x in enumerate(args):
        if x.dim() != 2 or x.shape[1] != total.shape[-1]:
            raise MXNetError(f'operator khatri_rao: input {i} has shape {tuple(x.shape)}, input 0 '
                             f'{tuple(args[0].shape)}; it takes matrices with equally many columns')
        if i:
            total = (total[:, None] * x[None]).flatten(0, 1)
    return total


def _required_shape(name: str, shape: Shape | None) -> Shape:
    if not shape:
        raise MXNetError(f'operator {name}: argument shape is missing; it takes ints such as (2, 3)')
    return shape


@operator(aliases=('ravel_multi_index',))
def _ravel_multi_index(data, *, shape: Shape | None = None):
    """Turns positions in an array of `shape`, one per column of `data`, into numbers in the flattened array.

    Nothing checks that they are inside; the first length in `shape` may be -1, since it does not matter.
    """
    whole = _required_shape('_ravel_multi_index', shape)
    if data.dim() != 2 or data.shape[0] != len(whole):
        raise MXNetError(f'operator _ravel_multi_index: data has shape {tuple(data.shape)}; for shape={shape} it takes '
                         f'({len(whole)}, any)')

    def ravel(x):
        number, *rest = x.long().unbind(0)
        for length, coordinate in zip(whole[1:], rest, strict=True):
            number = number * length + coordinate
        return number.to(x.dtype)
    return no_gradient(ravel, data)


@operator(aliases=('unravel_index',))
def _unravel_index(data, *, shape: Shape | None = None):
    """Turns numbers in the flattened array into positions in an array of `shape`, one row per axis.

    The first length in `shape` may be -1, since it does not matter.
    """
    whole = _required_shape('_unravel_index', shape)

    def unravel(x):
        number, rows = x.long(), []
        for length in reversed(whole[1:]):
            rows.append(torch.fmod(number, length))
            number = torch.div(number, length, rounding_mode='trunc')
        return torch.stack([number, *reversed(rows)]).to(x.dtype)
    return no_gradient(unravel, data)
