"""Reductions: sums, means, extremes, truth, and what statistics need."""
from typing import Any

import numpy
import torch

from .._array import NDArrayBase
from .._dispatch import interceptors
from .._kinds import explain_kinds as _explain_kinds
from .._state import state
from ..ndarray._arithmetic import FLOATS
from . import _call
from ._call import Numbers, apply, dtype_text, is_array, numbers, unsupported

__all__ = ['all', 'amax', 'amin', 'any', 'argmax', 'argmin', 'average', 'bincount', 'cumsum', 'diff', 'ediff1d',
           'histogram', 'max', 'mean', 'min', 'percentile', 'prod', 'product', 'quantile', 'sometrue', 'std', 'sum',
           'var']


_new = object.__new__


def _plain(a, axis, dtype, out, keepdims):
    """Whether torch's own reduction of all elements, or along one axis, is the result: floats, nothing asked for."""
    return not state.recording and not interceptors and type(a) is _call.array_class and out is None \
        and dtype is None and not keepdims and (axis is None or type(axis) is int) and a.materialize().dtype in FLOATS


def _straight(kernel, a, axis):
    try:
        result = kernel(a._storage) if axis is None else kernel(a._storage, axis)       # `_plain` has computed it
    except (RuntimeError, IndexError):
        return None                         # the long way words the error
    array = _new(_call.array_class)
    array._storage = result.detach() if result.requires_grad else result
    array._ctx = a._ctx
    array._variable = None
    array._pending = None
    return array


def sum(a, axis=None, dtype=None, keepdims=False, initial=None, out=None):
    """The sum along `axis`: one axis, several, or all by default.

    >>> mx.np.sum(mx.np.ones((2, 3)), axis=0)
    array([2., 2., 2.])
    """
    if initial is None and _plain(a, axis, dtype, out, keepdims):
        result = _straight(torch.sum, a, axis)
        if result is not None:
            return result
    return apply('_np_sum', (a,), {'axis': numbers(axis), 'dtype': dtype_text(dtype), 'keepdims': keepdims,
                                   'initial': initial}, out)


def prod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None):
    """The product along `axis`."""
    return apply('_np_prod', (a,), {'axis': numbers(axis), 'dtype': dtype_text(dtype), 'keepdims': keepdims,
                                    'initial': initial}, out)


product = prod


def mean(a, axis=None, dtype=None, out=None, keepdims=False):
    """The mean along `axis`; of integers as float32."""
    if _plain(a, axis, dtype, out, keepdims):
        result = _straight(torch.mean, a, axis)
        if result is not None:
            return result
    return apply('_npi_mean', (a,), {'axis': numbers(axis), 'dtype': dtype_text(dtype), 'keepdims': keepdims}, out)


def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    """The standard deviation along `axis`; squares are divided by n - `ddof`."""
    return apply('_npi_std', (a,), {'axis': numbers(axis), 'dtype': dtype_text(dtype), 'ddof': ddof,
                                    'keepdims': keepdims}, out)


def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    """The variance along `axis`; squares are divided by n - `ddof`."""
    return apply('_npi_var', (a,), {'axis': numbers(axis), 'dtype': dtype_text(dtype), 'ddof': ddof,
                                    'keepdims': keepdims}, out)


def max(a, axis=None, keepdims=False, out=None, initial=None):
    """The largest value along `axis`."""
    if initial is None and _plain(a, axis, None, out, keepdims):
        result = _straight(torch.amax, a, axis)
        if result is not None:
            return result
    return apply('_np_max', (a,), {'axis': numbers(axis), 'keepdims': keepdims, 'initial': initial}, out)


def min(a, axis=None, keepdims=False, out=None, initial=None):
    """The smallest value along `axis`."""
    if initial is None and _plain(a, axis, None, out, keepdims):
        result = _straight(torch.amin, a, axis)
        if result is not None:
            return result
    return apply('_np_min', (a,), {'axis': numbers(axis), 'keepdims': keepdims, 'initial': initial}, out)


amax, amin = max, min


def all(a, axis=None, keepdims=False, out=None):
    """Whether no value along `axis` is 0."""
    return apply('_np_all', (a,), {'axis': numbers(axis), 'keepdims': keepdims}, out)


def any(a, axis=None, keepdims=False, out=None):
    """Whether a value along `axis` is not 0."""
    return apply('_np_any', (a,), {'axis': numbers(axis), 'keepdims': keepdims}, out)


sometrue = any


def argmax(a, axis=None, out=None, keepdims=False):
    """The number (int64) of the largest value along `axis`, the first of several; without it, in the flat array."""
    return apply('_npi_argmax', (a,), {'axis': axis, 'keepdims': keepdims}, out)


def argmin(a, axis=None, out=None, keepdims=False):
    """The number (int64) of the smallest value along `axis`, the first of several; without it, in the flat array."""
    return apply('_npi_argmin', (a,), {'axis': axis, 'keepdims': keepdims}, out)


def cumsum(a, axis=None, dtype=None, out=None):
    """The running sum along `axis`; without it, of the flat array."""
    return apply('_np_cumsum', (a,), {'axis': axis, 'dtype': dtype_text(dtype)}, out)


# ---------------------------------------------------------------------- statistics
def average(a, axis=None, weights=None, returned=False, out=None):
    """The mean along `axis`, each value weighted; with `returned`, the sum of weights as well.

    >>> mx.np.average(mx.np.array([1, 3]), weights=mx.np.array([3, 1]))
    array(1.5)
    """
    inputs = (a,) if weights is None else (a, weights)
    result = apply('_npi_average', inputs, {'axis': numbers(axis), 'returned': returned,
                                            'weighted': weights is not None}, out)
    return result


def percentile(a, q, axis=None, out=None, overwrite_input=None, interpolation='linear', keepdims=False):
    """Values below which `q` per cent of those along `axis` lie.

    >>> mx.np.percentile(mx.np.arange(5), 25)
    array(1.)
    """
    if overwrite_input is not None:
        raise NotImplementedError('percentile: overwrite_input is not understood')
    attributes = {'axis': numbers(axis), 'interpolation': interpolation, 'keepdims': keepdims}
    if isinstance(q, Numbers):
        return apply('_npi_percentile', (a,), {**attributes, 'q_scalar': float(q)}, out)
    if not is_array(q):
        from ._creation import array
        q = array(q, dtype='float64', ctx=a.ctx)
    if isinstance(q, NDArrayBase) and bool(((q < 0) | (q > 100)).any()):
        raise ValueError('percentile: q must be between 0 and 100')
    return apply('_npi_percentile', (a, q), {**attributes, 'q_scalar': None}, out)


def quantile(a, q, axis=None, out=None, overwrite_input=None, interpolation='linear', keepdims=False):
    """Values below which the share `q`, from 0 to 1, of those along `axis` lies."""
    if isinstance(q, (list, tuple, numpy.ndarray)):
        q = numpy.asarray(q, dtype='float64')
    elif isinstance(q, NDArrayBase):
        q = q.astype('float64')
    return percentile(a, q * 100, axis, out, overwrite_input, interpolation, keepdims)


def bincount(x, weights=None, minlength=0):
    """How often each of the numbers 0, 1, ... is in a vector of integers; with weights, the sum of these."""
    if minlength < 0:
        raise ValueError(f'bincount: minlength must not be negative, but is {minlength}')
    inputs = (x,) if weights is None else (x, weights)
    return apply('_npi_bincount', inputs, {'minlength': minlength, 'has_weights': weights is not None})


def histogram(a, bins=10, range=None, normed=None, weights=None, density=None):
    """(counts, edges): how many values lie in each of several intervals.

    `bins` is their number, over `range` or from the smallest to the largest value, or an array of their edges.
    """
    if normed or weights is not None or density:
        raise NotImplementedError('histogram: normed, weights and density are not understood')
    if not is_array(a):
        raise unsupported('histogram', a)
    if is_array(bins):
        return apply('_npi_histogram', (a, bins), {})
    if isinstance(bins, (list, tuple, numpy.ndarray)):
        from ._creation import array
        return apply('_npi_histogram', (a, array(bins, ctx=a.ctx)), {})
    if not isinstance(bins, (int, numpy.integer)):
        raise TypeError(f'histogram: bins must be an int or an array of edges, not {bins!r}')
    if range is None:
        low, high = float(a.min()), float(a.max())
        range = (low, high) if low < high else (low - 0.5, high + 0.5)
    return apply('_npi_histogram', (a,), {'bin_cnt': int(bins), 'range': range})


def diff(a, n=1, axis=-1, prepend=None, append=None):
    """The differences of neighbours along an axis, `n` times over."""
    if prepend is not None or append is not None:
        from ._creation import array
        from ._shape import broadcast_to, concatenate
        parts = []
        for part in (prepend, a, append):
            if part is None:
                continue
            part = part if is_array(part) else array(part, dtype=a.dtype, ctx=a.ctx)
            if not part.ndim:
                shape = list(a.shape)
                shape[axis] = 1
                part = broadcast_to(part, tuple(shape))
            parts.append(part)
        a = concatenate(parts, axis)
    return apply('_npi_diff', (a,), {'n': n, 'axis': axis})


def ediff1d(ary, to_end=None, to_begin=None):
    """The differences of neighbours in the flat array, with more in front of and behind them."""
    attributes: dict[str, Any] = {}
    inputs = [ary]
    for name, extra in (('to_begin', to_begin), ('to_end', to_end)):
        if is_array(extra):
            inputs.append(extra)
            attributes[f'{name}_arr_given'] = True
        elif isinstance(extra, (list, tuple, numpy.ndarray)):
            from ._creation import array
            inputs.append(array(extra, dtype=ary.dtype, ctx=ary.ctx))
            attributes[f'{name}_arr_given'] = True
        elif extra is not None:
            attributes[f'{name}_scalar'] = float(extra)
    return apply('_npi_ediff1d', tuple(inputs), attributes)


_explain_kinds(globals(), ('ediff1d', 'percentile', 'quantile'))
