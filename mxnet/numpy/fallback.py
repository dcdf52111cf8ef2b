"""Functions that go through NumPy: the arrays are copied there, and what comes back is copied here.

They record no gradient: given an array that autograd follows, while recording, they say so.  On a GPU they wait.
"""
import functools
import warnings

import numpy

from .._array import NDArrayBase
from .._kinds import explained
from .._state import state
from ..context import current_context
from . import _finance, _protocols

# upstream's list; NumPy 2 has dropped some of them, which are below
_NAMES = [
    'apply_along_axis', 'apply_over_axes', 'argpartition', 'argwhere', 'array_equiv', 'choose', 'compress',
    'correlate', 'count_nonzero', 'cov', 'digitize', 'divmod', 'extract', 'flatnonzero', 'float_power', 'frexp',
    'heaviside', 'histogram_bin_edges', 'i0', 'interp', 'intersect1d', 'isclose', 'isin',
    'ix_', 'lexsort', 'min_scalar_type', 'modf', 'nanargmax', 'nanargmin', 'nancumprod', 'nancumsum', 'nanmax',
    'nanmedian', 'nanmin', 'nanprod', 'partition', 'packbits', 'piecewise', 'poly',
    'polyadd', 'polydiv', 'polyfit', 'polyint', 'polymul', 'polysub', 'positive', 'promote_types', 'ptp', 'real',
    'result_type', 'rollaxis', 'roots', 'searchsorted', 'select', 'setdiff1d', 'setxor1d', 'signbit', 'spacing',
    'tril_indices_from', 'trim_zeros', 'triu_indices_from', 'union1d', 'unpackbits',
    'unwrap', 'vander',
]
__all__ = [*_NAMES, 'allclose', 'alltrue', 'array_equal', 'corrcoef', 'histogram2d', 'histogramdd', 'in1d',
           'nanpercentile', 'nanquantile', 'mirr', 'msort', 'ndim', 'npv', 'ppmt', 'pv', 'rate', 'size', 'trapz']


def through_numpy(function):
    """A NumPy function that takes and returns our arrays."""
    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        arrays = [x for x in _flat((args, kwargs)) if isinstance(x, NDArrayBase)]
        if state.recording and any(x._variable is not None or x.materialize().requires_grad for x in arrays):
            raise ValueError(f'{function.__name__} goes through NumPy, where autograd cannot follow; call it outside '
                             'of `with autograd.record():`, or on x.detach()')
        ctx = arrays[0]._ctx if arrays else current_context()
        out = kwargs.pop('out', None)
        with warnings.catch_warnings():
            warnings.simplefilter('ignore', DeprecationWarning)
            result = function(*_protocols.to_numpy(args), **_protocols.to_numpy(kwargs))
        result = _protocols.from_numpy(result, ctx)
        if out is None:
            return result
        out[...] = result
        return out
    return explained(wrapped, function.__name__)


def _flat(value):
    if isinstance(value, (list, tuple)):
        for v in value:
            yield from _flat(v)
    elif isinstance(value, dict):
        yield from _flat(list(value.values()))
    else:
        yield value


for _name in _NAMES:
    globals()[_name] = through_numpy(getattr(numpy, _name))
mirr, npv, ppmt, pv, rate = (through_numpy(getattr(_finance, n)) for n in ('mirr', 'npv', 'ppmt', 'pv', 'rate'))

_allclose, _array_equal = through_numpy(numpy.allclose), through_numpy(numpy.array_equal)
# NumPy before 2 knows it by its older name
_trapezoid = through_numpy(getattr(numpy, 'trapezoid' if hasattr(numpy, 'trapezoid') else 'trapz'))
_isin = through_numpy(numpy.isin)
_corrcoef, _histogram2d, _histogramdd = (
    through_numpy(getattr(numpy, n)) for n in ('corrcoef', 'histogram2d', 'histogramdd'))
_nanpercentile, _nanquantile = through_numpy(numpy.nanpercentile), through_numpy(numpy.nanquantile)


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether all elements of two arrays are equal within a tolerance."""
    return bool(_allclose(a, b, rtol, atol, equal_nan))


def array_equal(a1, a2, equal_nan=False):
    """Whether two arrays have the same shape and elements."""
    return bool(_array_equal(a1, a2, equal_nan))


def alltrue(*args, **kwargs):
    """The old name of `all`."""
    from ._reduce import all
    return all(*args, **kwargs)


def in1d(ar1, ar2, assume_unique=False, invert=False):
    """Whether each element of the flat `ar1` is in `ar2`; `isin` is its successor."""
    return _isin(ar1, ar2, assume_unique=assume_unique, invert=invert).reshape(-1)


def msort(a):
    """The elements in rising order along the first axis."""
    from ._index import sort
    return sort(a, axis=0)


def trapz(y, x=None, dx=1.0, axis=-1):
    """The area below points, by trapezoids."""
    return _trapezoid(y, x, dx, axis)


def ndim(a):
    """Number of axes."""
    return a.ndim if hasattr(a, 'ndim') else numpy.ndim(a)


def size(a, axis=None):
    """Number of elements, or length of an axis."""
    if not hasattr(a, 'shape'):
        return numpy.size(a, axis)
    return a.size if axis is None else a.shape[axis]


def corrcoef(x, y=None, rowvar=True, bias=None, ddof=None, *, dtype=None):
    """Correlations of variables, one to a row; `bias` and `ddof` have no effect."""
    return _corrcoef(x, y, rowvar, dtype=dtype)


def histogram2d(x, y, bins=10, range=None, normed=None, weights=None, density=None):
    """(counts, edges, edges): how many points lie in each rectangle; `normed` is the old name of `density`."""
    return _histogram2d(x, y, bins, range, density=normed if density is None else density, weights=weights)


def histogramdd(sample, bins=10, range=None, normed=None, weights=None, density=None):
    """(counts, list of edges): how many points lie in each box; `normed` is the old name of `density`."""
    return _histogramdd(sample, bins, range, density=normed if density is None else density, weights=weights)


def nanpercentile(a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False, *,
                  interpolation=None):
    """As `percentile`, without the values that are NaN."""
    return _nanpercentile(a, q, axis, out=out, method=interpolation or method, keepdims=keepdims)


def nanquantile(a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False, *,
                interpolation=None):
    """As `quantile`, without the values that are NaN."""
    return _nanquantile(a, q, axis, out=out, method=interpolation or method, keepdims=keepdims)

_protocols.through_numpy = through_numpy
