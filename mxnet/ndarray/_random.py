"""Random numbers on arrays: the hand-written functions of `mx.nd.random`.

A function takes its parameters as numbers (then `shape` is the shape of the result) or all of them as arrays (then
there are `shape` draws for each element, on the parameters' device).  `<name>_like` functions derive from the table.
"""
from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any, Unpack

from .._frontend.binding import _Null
from .._kinds import CAUGHT as _CAUGHT
from .._kinds import explain_kinds as _explain_kinds
from .._kinds import explanation as _explanation
from .._ops.core.dtypes import NAME, dtype_name
from .._ops.core.table import NAMES
from ..base import MXNetError
from ..context import Context
from . import _bound_creation
from ._invoke import call
from .ndarray import NDArray

if TYPE_CHECKING:
    from .._typing import DType, NameOption, ResultOptions, Shape

__all__ = ['uniform', 'normal', 'randn', 'poisson', 'exponential', 'gamma', 'multinomial', 'negative_binomial',
           'generalized_negative_binomial', 'shuffle', 'randint']


def _given(value):
    return value is not None and value is not _Null


def _draw(numbers_op, arrays_op, parameters, shape, dtype, ctx, out, kwargs):
    """Calls the operator for numbers or the one for arrays, whichever the parameters are."""
    if isinstance(dtype, Context):      # the fourth argument was the device before MXNet 0.12
        dtype, ctx = None, dtype
    first = next(iter(parameters.values()))
    if isinstance(first, NDArray) and arrays_op is not None:
        kind: type = NDArray
    elif isinstance(first, numbers.Number):
        kind = numbers.Number
    else:
        accepted = 'numbers' if arrays_op is None else 'numbers or NDArrays'
        hint = f'; the shape of the result is shape={first}' if isinstance(first, tuple) else ''
        raise ValueError(f'parameters of a distribution must be {accepted}; {next(iter(parameters))} is a '
                         f'{type(first).__name__}{hint}')
    for name, value in parameters.items():
        if not isinstance(value, kind):
            raise AssertionError('parameters of a distribution must be all numbers or all NDArrays; the first is a '
                                 f'{type(first).__name__}, {name} a {type(value).__name__}')
    if kind is NDArray:
        return call(NAMES[arrays_op], tuple(parameters.values()),
                    {'shape': shape, 'dtype': dtype, 'out': out, **kwargs}, NDArray)
    if out is not None:
        # what is written into tells what to draw
        own = NAME[out.meta().dtype]
        if _given(dtype) and dtype_name(dtype) != own:
            raise MXNetError(f'operator {numbers_op}: dtype is {dtype_name(dtype)}, but out has dtype {own}')
        dtype = own
        if not _given(shape):
            shape = out.shape
    elif not _given(shape):
        shape = (1,)
    return call(NAMES[numbers_op], (), {**parameters, 'shape': shape, 'dtype': dtype, 'ctx': ctx, 'out': out, **kwargs},
                NDArray)


def uniform(low: float | NDArray = 0, high: float | NDArray = 1, shape: Shape | None = _Null,
            dtype: DType | None = _Null, ctx: Context | None = None, out: NDArray | None = None,
            **kwargs: Unpack[NameOption]) -> NDArray:
    """Uniformly distributed numbers between `low` (included) and `high` (excluded).

    >>> mx.nd.random.uniform(0, 1, shape=(2, 3)).shape
    (2, 3)
    >>> mx.nd.random.uniform(mx.nd.array([0, 10]), mx.nd.array([1, 20]), shape=4).shape
    (2, 4)
    """
    try:
        if out is None and not kwargs:
            found = _bound_creation.made(_bound_creation.uniform, (low, high), shape, dtype, ctx, NDArray)
            if found is not None:
                return found
        return _draw('_random_uniform', '_sample_uniform', {'low': low, 'high': high}, shape, dtype, ctx, out, kwargs)
    except _CAUGHT as error:
        found = _explanation(uniform, 'uniform', (low, high, shape, dtype, ctx, out), kwargs, error)
        raise found from found.__cause__


def normal(loc: float | NDArray = 0, scale: float | NDArray = 1, shape: Shape | None = _Null,
           dtype: DType | None = _Null, ctx: Context | None = None, out: NDArray | None = None,
           **kwargs: Unpack[NameOption]) -> NDArray:
    """Normally distributed numbers with mean `loc` and standard deviation `scale`."""
    try:
        if out is None and not kwargs:
            found = _bound_creation.made(_bound_creation.normal, (loc, scale), shape, dtype, ctx, NDArray)
            if found is not None:
                return found
        return _draw('_random_normal', '_sample_normal', {'loc': loc, 'scale': scale}, shape, dtype, ctx, out, kwargs)
    except _CAUGHT as error:
        found = _explanation(normal, 'normal', (loc, scale, shape, dtype, ctx, out), kwargs, error)
        raise found from found.__cause__


def randn(*shape: int, **kwargs: Any) -> NDArray:
    """Normally distributed numbers; the shape is given as separate arguments, mean and deviation as `loc`, `scale`.

    >>> mx.nd.random.randn(2, 3).shape
    (2, 3)
    """
    loc = kwargs.pop('loc', 0)
    scale = kwargs.pop('scale', 1)
    dtype = kwargs.pop('dtype', _Null)
    ctx = kwargs.pop('ctx', None)
    out = kwargs.pop('out', None)
    return normal(loc, scale, shape or _Null, dtype, ctx, out, **kwargs)


def poisson(lam: float | NDArray = 1, shape: Shape | None = _Null, dtype: DType | None = _Null,
            ctx: Context | None = None, out: NDArray | None = None, **kwargs: Unpack[NameOption]) -> NDArray:
    """Poisson distributed counts with mean `lam`, as floating point numbers."""
    return _draw('_random_poisson', '_sample_poisson', {'lam': lam}, shape, dtype, ctx, out, kwargs)


def exponential(scale: float | NDArray = 1, shape: Shape | None = _Null, dtype: DType | None = _Null,
                ctx: Context | None = None, out: NDArray | None = None, **kwargs: Unpack[NameOption]) -> NDArray:
    """Exponentially distributed numbers with mean `scale`: one over the rate that the operators take."""
    return _draw('_random_exponential', '_sample_exponential', {'lam': 1.0 / scale}, shape, dtype, ctx, out, kwargs)


def gamma(alpha: float | NDArray = 1, beta: float | NDArray = 1, shape: Shape | None = _Null,
          dtype: DType | None = _Null, ctx: Context | None = None, out: NDArray | None = None,
          **kwargs: Unpack[NameOption]) -> NDArray:
    """Gamma distributed numbers with shape parameter `alpha` and scale `beta`: their mean is `alpha * beta`."""
    return _draw('_random_gamma', '_sample_gamma', {'alpha': alpha, 'beta': beta}, shape, dtype, ctx, out, kwargs)


def negative_binomial(k: float | NDArray = 1, p: float | NDArray = 1, shape: Shape | None = _Null,
                      dtype: DType | None = _Null, ctx: Context | None = None, out: NDArray | None = None,
                      **kwargs: Unpack[NameOption]) -> NDArray:
    """How often something of probability `p` fails before it has succeeded `k` times."""
    return _draw('_random_negative_binomial', '_sample_negative_binomial', {'k': k, 'p': p}, shape, dtype, ctx, out,
                 kwargs)


def generalized_negative_binomial(mu: float | NDArray = 1, alpha: float | NDArray = 1, shape: Shape | None = _Null,
                                  dtype: DType | None = _Null, ctx: Context | None = None, out: NDArray | None = None,
                                  **kwargs: Unpack[NameOption]) -> NDArray:
    """Negative binomial counts with mean `mu` and dispersion `alpha`: their variance is `mu + alpha * mu**2`."""
    return _draw('_random_generalized_negative_binomial', '_sample_generalized_negative_binomial',
                 {'mu': mu, 'alpha': alpha}, shape, dtype, ctx, out, kwargs)


def multinomial(data: NDArray, shape: Shape | None = _Null, get_prob: bool = False, out: NDArray | None = None,
                dtype: DType | None = 'int32', **kwargs: Unpack[NameOption]) -> Any:
    """Draws positions along the last axis of `data`, whose values are their probabilities.

    With `get_prob`, a list of the positions and of the logarithms of their probabilities, which are differentiable.
    """
    return call(NAMES['_sample_multinomial'], (data,),
                {'shape': shape, 'get_prob': get_prob, 'dtype': dtype, 'out': out, **kwargs}, NDArray)


def shuffle(data: NDArray, **kwargs: Unpack[ResultOptions]) -> NDArray:
    """The rows of `data` in random order: a new array unless `out` is given."""
    return call(NAMES['_shuffle'], (data,), kwargs, NDArray)


def randint(low: float | NDArray, high: float | NDArray, shape: Shape | None = _Null, dtype: DType | None = _Null,
            ctx: Context | None = None, out: NDArray | None = None, **kwargs: Unpack[NameOption]) -> NDArray:
    """Integers between `low` (included) and `high` (excluded); int32 unless `dtype` says int64."""
    return _draw('_random_randint', None, {'low': low, 'high': high}, shape, dtype, ctx, out, kwargs)


_explain_kinds(globals(), [name for name in __all__ if name not in ('uniform', 'normal')])
