# Made by `python -m mxnet._frontend.stubs`: do not edit.
from builtins import bool as _bool
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as _numpy

from mxnet._typing import ArrayLike, DType, Operand
from mxnet.context import Context
from mxnet.numpy.multiarray import ndarray as ndarray

def allclose(a: Operand, b: Operand, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: _bool = False) -> _bool:
    """Whether all elements of two arrays are equal within a tolerance."""

def alltrue(*args: Any, **kwargs: Any) -> ndarray:
    """The old name of `all`."""

def apply_along_axis(func1d: Any, axis: int | Sequence[int], arr: Operand, *args: Any, **kwargs: Any) -> Any:
    """Apply a function to 1-D slices along the given axis."""

def apply_over_axes(func: Any, a: Operand, axes: int | Sequence[int]) -> Any:
    """Apply a function repeatedly over multiple axes."""

def argpartition(a: Operand, kth: Any, axis: int | Sequence[int] = -1, kind: str = 'introselect', order: str | None = None) -> ndarray:
    """Perform an indirect partition along the given axis using the algorithm specified by the `kind` keyword. It returns an array of indices of the same shape as `a` that index data along the given axis in partitioned order."""

def argwhere(a: Operand) -> ndarray:
    """Find the indices of array elements that are non-zero, grouped by element."""

def array_equal(a1: Operand, a2: Operand, equal_nan: _bool = False) -> _bool:
    """Whether two arrays have the same shape and elements."""

def array_equiv(a1: Operand, a2: Operand) -> _bool:
    """Returns True if input arrays are shape consistent and all elements equal."""

def choose(a: Operand, choices: Any, out: Any = None, mode: str = 'raise') -> Any:
    """Construct an array from an index array and a list of arrays to choose from."""

def compress(condition: Operand, a: Operand, axis: int | Sequence[int] | None = None, out: Any = None) -> ndarray:
    """Return selected slices of an array along given axis."""

def corrcoef(x: Operand, y: Operand | None = None, rowvar: _bool = True, bias: _bool | None = None, ddof: int | None = None, *, dtype: DType | None = None) -> ndarray:
    """Correlations of variables, one to a row; `bias` and `ddof` have no effect."""

def correlate(a: Operand, v: Operand, mode: str = 'valid') -> ndarray:
    """Cross-correlation of two 1-dimensional sequences."""

def count_nonzero(a: Operand, axis: int | Sequence[int] | None = None, *, keepdims: _bool = False) -> Any:
    """Counts the number of non-zero values in the array ``a``."""

def cov(m: Operand, y: Operand | None = None, rowvar: _bool = True, bias: _bool = False, ddof: int | None = None, fweights: Any = None, aweights: Any = None, *, dtype: DType | None = None) -> ndarray:
    """Estimate a covariance matrix, given data and weights."""

def digitize(x: Operand, bins: Any, right: _bool = False) -> ndarray:
    """Return the indices of the bins to which each value in input array belongs."""

def divmod(x1: Operand, x2: Operand, /, out: Any = ..., *, where: Any = True, casting: Any = 'same_kind', order: str = 'K', dtype: DType | None = None, subok: _bool = True, signature: Any = None) -> Any:
    """divmod(x1, x2[, out1, out2], / [, out=(None, None)], *, where=True, casting='same_kind', order='K', dtype=None, subok=True[, signature])"""

def extract(condition: Operand, arr: Operand) -> ndarray:
    """Return the elements of an array that satisfy some condition."""

def flatnonzero(a: Operand) -> ndarray:
    """Return indices that are non-zero in the flattened version of a."""

def float_power(x1: Operand, x2: Operand, /, out: Any = None, *, where: Any = True, casting: Any = 'same_kind', order: str = 'K', dtype: DType | None = None, subok: _bool = True, signature: Any = None) -> ndarray:
    """float_power(x1, x2, /, out=None, *, where=True, casting='same_kind', order='K', dtype=None, subok=True[, signature])"""

def frexp(x: Operand, /, out: Any = ..., *, where: Any = True, casting: Any = 'same_kind', order: str = 'K', dtype: DType | None = None, subok: _bool = True, signature: Any = None) -> Any:
    """frexp(x[, out1, out2], / [, out=(None, None)], *, where=True, casting='same_kind', order='K', dtype=None, subok=True[, signature])"""

def heaviside(x1: Operand, x2: Operand, /, out: Any = None, *, where: Any = True, casting: Any = 'same_kind', order: str = 'K', dtype: DType | None = None, subok: _bool = True, signature: Any = None) -> ndarray:
    """heaviside(x1, x2, /, out=None, *, where=True, casting='same_kind', order='K', dtype=None, subok=True[, signature])"""

def histogram2d(x: Operand, y: Operand, bins: Any = 10, range: Any = None, normed: _bool | None = None, weights: Any = None, density: _bool | None = None) -> Any:
    """(counts, edges, edges): how many points lie in each rectangle; `normed` is the old name of `density`."""

def histogram_bin_edges(a: Operand, bins: Any = 10, range: Any = None, weights: Any = None) -> ndarray:
    """Function to calculate only the edges of the bins used by the `histogram` function."""

def histogramdd(sample: Any, bins: Any = 10, range: Any = None, normed: _bool | None = None, weights: Any = None, density: _bool | None = None) -> Any:
    """(counts, list of edges): how many points lie in each box; `normed` is the old name of `density`."""

def i0(x: Operand) -> ndarray:
    """Modified Bessel function of the first kind, order 0."""

def in1d(ar1: Operand, ar2: Operand, assume_unique: _bool = False, invert: _bool = False) -> ndarray:
    """Whether each element of the flat `ar1` is in `ar2`; `isin` is its successor."""

def interp(x: Operand, xp: Any, fp: Any, left: Any = None, right: _bool | None = None, period: float | None = None) -> ndarray:
    """One-dimensional linear interpolation for monotonically increasing sample points."""

def intersect1d(ar1: Operand, ar2: Operand, assume_unique: _bool = False, return_indices: _bool = False) -> Any:
    """Find the intersection of two arrays."""

def isclose(a: Operand, b: Operand, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: _bool = False) -> ndarray:
    """Returns a boolean array where two arrays are element-wise equal within a tolerance."""

def isin(element: Operand, test_elements: Operand, assume_unique: _bool = False, invert: _bool = False, *, kind: str | None = None) -> ndarray:
    """Calculates ``element in test_elements``, broadcasting over `element` only. Returns a boolean array of the same shape as `element` that is True where an element of `element` is in `test_elements` and False otherwise."""

def ix_(*args: Any) -> Any:
    """Construct an open mesh from multiple sequences."""

def lexsort(keys: Any, axis: int | Sequence[int] = -1) -> ndarray:
    """lexsort(keys, axis=-1)"""

def min_scalar_type(a: Operand, /) -> _numpy.dtype[Any]:
    """min_scalar_type(a, /)"""

def mirr(values: Operand, finance_rate: Any, reinvest_rate: Any) -> Any:
    """The rate of return if income is invested at one rate and spending paid at another."""

def modf(x: Operand, /, out: Any = ..., *, where: Any = True, casting: Any = 'same_kind', order: str = 'K', dtype: DType | None = None, subok: _bool = True, signature: Any = None) -> Any:
    """modf(x[, out1, out2], / [, out=(None, None)], *, where=True, casting='same_kind', order='K', dtype=None, subok=True[, signature])"""

def msort(a: Operand) -> ndarray:
    """The elements in rising order along the first axis."""

def nanargmax(a: Operand, axis: int | Sequence[int] | None = None, out: Any = None, *, keepdims: _bool | None = ...) -> ndarray:
    """Return the indices of the maximum values in the specified axis ignoring NaNs. For all-NaN slices ``ValueError`` is raised. Warning: the results cannot be trusted if a slice contains only NaNs and -Infs."""

def nanargmin(a: Operand, axis: int | Sequence[int] | None = None, out: Any = None, *, keepdims: _bool | None = ...) -> ndarray:
    """Return the indices of the minimum values in the specified axis ignoring NaNs. For all-NaN slices ``ValueError`` is raised. Warning: the results cannot be trusted if a slice contains only NaNs and Infs."""

def nancumprod(a: Operand, axis: int | Sequence[int] | None = None, dtype: DType | None = None, out: Any = None) -> ndarray:
    """Return the cumulative product of array elements over a given axis treating Not a Numbers (NaNs) as one.  The cumulative product does not change when NaNs are encountered and leading NaNs are replaced by ones."""

def nancumsum(a: Operand, axis: int | Sequence[int] | None = None, dtype: DType | None = None, out: Any = None) -> ndarray:
    """Return the cumulative sum of array elements over a given axis treating Not a Numbers (NaNs) as zero.  The cumulative sum does not change when NaNs are encountered and leading NaNs are replaced by zeros."""

def nanmax(a: Operand, axis: int | Sequence[int] | None = None, out: Any = None, keepdims: _bool | None = ..., initial: Any = ..., where: Any = ...) -> ndarray:
    """Return the maximum of an array or maximum along an axis, ignoring any NaNs.  When all-NaN slices are encountered a ``RuntimeWarning`` is raised and NaN is returned for that slice."""

def nanmedian(a: Operand, axis: int | Sequence[int] | None = None, out: Any = None, overwrite_input: _bool = False, keepdims: _bool | None = ...) -> ndarray:
    """Compute the median along the specified axis, while ignoring NaNs."""

def nanmin(a: Operand, axis: int | Sequence[int] | None = None, out: Any = None, keepdims: _bool | None = ..., initial: Any = ..., where: Any = ...) -> ndarray:
    """Return minimum of an array or minimum along an axis, ignoring any NaNs. When all-NaN slices are encountered a ``RuntimeWarning`` is raised and Nan is returned for that slice."""

def nanpercentile(a: Operand, q: float, axis: int | Sequence[int] | None = None, out: Any = None, overwrite_input: _bool = False, method: str = 'linear', keepdims: _bool = False, *, interpolation: str | None = None) -> ndarray:
    """As `percentile`, without the values that are NaN."""

def nanprod(a: Operand, axis: int | Sequence[int] | None = None, dtype: DType | None = None, out: Any = None, keepdims: _bool | None = ..., initial: Any = ..., where: Any = ...) -> ndarray:
    """Return the product of array elements over a given axis treating Not a Numbers (NaNs) as ones."""

def nanquantile(a: Operand, q: float, axis: int | Sequence[int] | None = None, out: Any = None, overwrite_input: _bool = False, method: str = 'linear', keepdims: _bool = False, *, interpolation: str | None = None) -> ndarray:
    """As `quantile`, without the values that are NaN."""

def ndim(a: Operand) -> int:
    """Number of axes."""

def npv(rate: Any, values: Operand) -> Any:
    """What payments at times 0, 1, ... are worth now."""

def packbits(a: Operand, /, axis: int | Sequence[int] | None = None, bitorder: str = 'big') -> ndarray:
    """packbits(a, /, axis=None, bitorder='big')"""

def partition(a: Operand, kth: Any, axis: int | Sequence[int] = -1, kind: str = 'introselect', order: str | None = None) -> ndarray:
    """Return a partitioned copy of an array."""

def piecewise(x: Operand, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> ndarray:
    """Evaluate a piecewise-defined function."""

def poly(seq_of_zeros: Any) -> ndarray:
    """Find the coefficients of a polynomial with the given sequence of roots."""

def polyadd(a1: Operand, a2: Operand) -> ndarray:
    """Find the sum of two polynomials."""

def polydiv(u: Operand, v: Operand) -> Any:
    """Returns the quotient and remainder of polynomial division."""

def polyfit(x: Operand, y: Operand, deg: int, rcond: float | None = None, full: _bool = False, w: Any = None, cov: Any = False) -> Any:
    """Least squares polynomial fit."""

def polyint(p: Operand, m: Operand = 1, k: int | None = None) -> ndarray:
    """Return an antiderivative (indefinite integral) of a polynomial."""

def polymul(a1: Operand, a2: Operand) -> ndarray:
    """Find the product of two polynomials."""

def polysub(a1: Operand, a2: Operand) -> ndarray:
    """Difference (subtraction) of two polynomials."""

def positive(x: Operand, /, out: Any = None, *, where: Any = True, casting: Any = 'same_kind', order: str = 'K', dtype: DType | None = None, subok: _bool = True, signature: Any = None) -> ndarray:
    """positive(x, /, out=None, *, where=True, casting='same_kind', order='K', dtype=None, subok=True[, signature])"""

def ppmt(rate: Any, per: Any, nper: Any, pv: Any, fv: Any = 0, when: Any = 'end') -> Any:
    """The part of the payment number `per` that pays the loan back: the payment without its interest."""

def promote_types(type1: Any, type2: Any, /) -> _numpy.dtype[Any]:
    """promote_types(type1, type2, /)"""

def ptp(a: Operand, axis: int | Sequence[int] | None = None, out: Any = None, keepdims: _bool | None = ...) -> ndarray:
    """Range of values (maximum - minimum) along an axis."""

def pv(rate: Any, nper: Any, pmt: Any, fv: Any = 0, when: Any = 'end') -> Any:
    """What `nper` payments, and `fv` at their end, are worth now."""

def rate(nper: Any, pmt: Any, pv: Any, fv: Any, when: Any = 'end', guess: Any = 0.1, tol: float = 1e-06, maxiter: Any = 100) -> Any:
    """The interest rate at which `nper` payments turn `pv` into `fv`; NaN if it is not found."""

def real(val: Operand) -> ndarray:
    """Return the real part of the complex argument."""

def result_type(*arrays_and_dtypes: Any) -> _numpy.dtype[Any]:
    """result_type(*arrays_and_dtypes)"""

def rollaxis(a: Operand, axis: int | Sequence[int], start: Operand = 0) -> ndarray:
    """Roll the specified axis backwards, until it lies in a given position."""

def roots(p: Operand) -> ndarray:
    """Return the roots of a polynomial with coefficients given in p."""

def searchsorted(a: Operand, v: Operand, side: str = 'left', sorter: Any = None) -> ndarray:
    """Find indices where elements should be inserted to maintain order."""

def select(condlist: Any, choicelist: Any, default: Any = 0) -> ndarray:
    """Return an array drawn from elements in choicelist, depending on conditions."""

def setdiff1d(ar1: Operand, ar2: Operand, assume_unique: _bool = False) -> ndarray:
    """Find the set difference of two arrays."""

def setxor1d(ar1: Operand, ar2: Operand, assume_unique: _bool = False) -> ndarray:
    """Find the set exclusive-or of two arrays."""

def signbit(x: Operand, /, out: Any = None, *, where: Any = True, casting: Any = 'same_kind', order: str = 'K', dtype: DType | None = None, subok: _bool = True, signature: Any = None) -> ndarray:
    """signbit(x, /, out=None, *, where=True, casting='same_kind', order='K', dtype=None, subok=True[, signature])"""

def size(a: Operand, axis: int | Sequence[int] | None = None) -> int:
    """Number of elements, or length of an axis."""

def spacing(x: Operand, /, out: Any = None, *, where: Any = True, casting: Any = 'same_kind', order: str = 'K', dtype: DType | None = None, subok: _bool = True, signature: Any = None) -> ndarray:
    """spacing(x, /, out=None, *, where=True, casting='same_kind', order='K', dtype=None, subok=True[, signature])"""

def trapz(y: Operand, x: Operand | None = None, dx: float = 1.0, axis: int | Sequence[int] = -1) -> ndarray:
    """The area below points, by trapezoids."""

def tril_indices_from(arr: Operand, k: int = 0) -> Any:
    """Return the indices for the lower-triangle of arr."""

def trim_zeros(filt: Any, trim: str = 'fb', axis: int | Sequence[int] | None = None) -> ndarray:
    """Remove values along a dimension which are zero along all other."""

def triu_indices_from(arr: Operand, k: int = 0) -> Any:
    """Return the indices for the upper-triangle of arr."""

def union1d(ar1: Operand, ar2: Operand) -> ndarray:
    """Find the union of two arrays."""

def unpackbits(a: Operand, /, axis: int | Sequence[int] | None = None, count: Any = None, bitorder: str = 'big') -> ndarray:
    """unpackbits(a, /, axis=None, count=None, bitorder='big')"""

def unwrap(p: Operand, discont: float | None = None, axis: int | Sequence[int] = -1, *, period: float = 6.283185307179586) -> ndarray:
    """Unwrap by taking the complement of large deltas with respect to the period."""

def vander(x: Operand, N: int | None = None, increasing: _bool = False) -> ndarray:
    """Generate a Vandermonde matrix."""
