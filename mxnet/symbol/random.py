"""Random numbers in graphs: `mx.sym.random`.

Parameters are numbers (then `shape` is the shape of the result) or all of them symbols (then there are `shape` draws
for each element).
"""
from __future__ import annotations

from numbers import Number
from typing import TYPE_CHECKING, Any

from .._frontend.binding import _Null
from .._frontend.namespaces import namespace
from .._names import suggest_names as _suggest_names
from .._ops import NAMES
from . import _compose
from ._compose import SymbolBase, make_function
from .symbol import Symbol

if TYPE_CHECKING:
    from .._typing import DType, Shape

__all__ = ['uniform', 'normal', 'randn', 'poisson', 'exponential', 'gamma', 'multinomial', 'negative_binomial',
           'generalized_negative_binomial', 'shuffle', 'randint']


def _call(name, args, kwargs):
    cls = type(args[0]) if args else Symbol
    return _compose.call(NAMES[name], name.lower(), args, {k: v for k, v in kwargs.items() if v is not _Null}, cls)


def _draw(numbers, symbols, parameters, shape, dtype, kwargs):
    values = tuple(parameters.values())
    if all(isinstance(v, SymbolBase) for v in values) and symbols is not None:
        return _call(symbols, values, {'shape': shape, 'dtype': dtype, **kwargs})
    if all(isinstance(v, Number) for v in values):
        return _call(numbers, (), {**parameters, 'shape': (1,) if shape is _Null else shape, 'dtype': dtype, **kwargs})
    raise ValueError('parameters of a distribution must be all numbers or all symbols; they are '
                     + ', '.join(f'{k}: {type(v).__name__}' for k, v in parameters.items()))


def uniform(low: float | Symbol = 0, high: float | Symbol = 1, shape: Shape | None = _Null, dtype: DType | None = _Null,
            **kwargs: Any) -> Symbol:
    """Uniformly distributed numbers between `low` (included) and `high` (excluded)."""
    return _draw('_random_uniform', '_sample_uniform', {'low': low, 'high': high}, shape, dtype, kwargs)


def normal(loc: float | Symbol = 0, scale: Any = 1, shape: Shape | None = _Null, dtype: DType | None = _Null,
           **kwargs: Any) -> Symbol:
    """Normally distributed numbers with mean `loc` and standard deviation `scale`."""
    return _draw('_random_normal', '_sample_normal', {'loc': loc, 'scale': scale}, shape, dtype, kwargs)


def randn(*shape: int, **kwargs: Any) -> Symbol:
    """Normally distributed numbers; the shape is given as separate arguments, or as that of a symbol, `data`."""
    loc, scale, dtype = kwargs.pop('loc', 0), kwargs.pop('scale', 1), kwargs.pop('dtype', _Null)
    data = kwargs.pop('data', None)
    if data is not None:
        data = data if dtype is _Null else _call('Cast', (data,), {'dtype': dtype})
        return _call('_random_normal_like', (data,), {'loc': loc, 'scale': scale, **kwargs})
    return normal(loc, scale, shape or _Null, dtype, **kwargs)


def poisson(lam: float | Symbol = 1, shape: Shape | None = _Null, dtype: DType | None = _Null, **kwargs: Any) -> Symbol:
    """Poisson distributed counts with mean `lam`."""
    return _draw('_random_poisson', '_sample_poisson', {'lam': lam}, shape, dtype, kwargs)


def exponential(scale: Any = 1, shape: Shape | None = _Null, dtype: DType | None = _Null, **kwargs: Any) -> Symbol:
    """Exponentially distributed numbers with mean `scale`."""
    return _draw('_random_exponential', '_sample_exponential', {'lam': 1.0 / scale}, shape, dtype, kwargs)


def gamma(alpha: float | Symbol = 1, beta: float | Symbol = 1, shape: Shape | None = _Null, dtype: DType | None = _Null,
          **kwargs: Any) -> Symbol:
    """Gamma distributed numbers with mean `alpha * beta`."""
    return _draw('_random_gamma', '_sample_gamma', {'alpha': alpha, 'beta': beta}, shape, dtype, kwargs)


def negative_binomial(k: float | Symbol = 1, p: float | Symbol = 1, shape: Shape | None = _Null,
                      dtype: DType | None = _Null, **kwargs: Any) -> Symbol:
    """How often something of probability `p` fails before it has succeeded `k` times."""
    return _draw('_random_negative_binomial', '_sample_negative_binomial', {'k': k, 'p': p}, shape, dtype, kwargs)


def generalized_negative_binomial(mu: float | Symbol = 1, alpha: float | Symbol = 1, shape: Shape | None = _Null,
                                  dtype: DType | None = _Null, **kwargs: Any) -> Symbol:
    """Negative binomial counts with mean `mu` and dispersion `alpha`."""
    return _draw('_random_generalized_negative_binomial', '_sample_generalized_negative_binomial',
                 {'mu': mu, 'alpha': alpha}, shape, dtype, kwargs)


def multinomial(data: Symbol, shape: Shape | None = _Null, get_prob: bool = True, dtype: DType | None = 'int32',
                **kwargs: Any) -> Symbol:
    """Draws positions along the last axis of `data`, whose values are their probabilities."""
    return _call('_sample_multinomial', (data,), {'shape': shape, 'get_prob': get_prob, 'dtype': dtype, **kwargs})


def shuffle(data: Symbol, **kwargs: Any) -> Symbol:
    """The rows of `data` in random order."""
    return _call('_shuffle', (data,), kwargs)


def randint(low: float | Symbol, high: float | Symbol, shape: Shape | None = _Null, dtype: DType | None = _Null,
            **kwargs: Any) -> Symbol:
    """Integers between `low` (included) and `high` (excluded)."""
    return _draw('_random_randint', None, {'low': low, 'high': high}, shape, dtype, kwargs)


for _name, _op in namespace('random').items():
    globals()[_name] = make_function(_op, _name, Symbol)
    __all__.append(_name)


_suggest_names(globals())
