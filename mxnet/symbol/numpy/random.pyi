# Made by `python -m mxnet._frontend.stubs`: do not edit.
from builtins import bool as _bool
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as _numpy

from mxnet._typing import ArrayLike, DType, Operand
from mxnet.context import Context
from mxnet.symbol.numpy._symbol import _Symbol as _Symbol

def beta(a: Any, b: Any, size: int | Sequence[int] | None = None, dtype: DType | None = None, ctx: Context | None = None) -> _Symbol:
    """Beta distributed numbers, between 0 and 1; their mean is `a / (a + b)`."""

def chisquare(df: Any, size: int | Sequence[int] | None = None, dtype: DType | None = None, ctx: Context | None = None) -> _Symbol:
    """Sums of `df` squared normal numbers."""

def choice(a: Any, size: int | Sequence[int] | None = None, replace: _bool = True, p: Any = None, ctx: Context | None = None, out: Any = None) -> _Symbol:
    """Elements of `a` (or numbers from 0 up to it) drawn at random; `p` has the probability of each."""

def exponential(scale: float = 1.0, size: int | Sequence[int] | None = None, ctx: Context | None = None, out: Any = None) -> _Symbol:
    """Exponentially distributed numbers with mean `scale`."""

def gamma(shape: Any, scale: Any = 1.0, size: int | Sequence[int] | None = None, dtype: DType | None = None, ctx: Context | None = None, out: Any = None) -> _Symbol:
    """Gamma distributed numbers with shape parameter `shape`: their mean is `shape * scale`."""

def gumbel(loc: float = 0.0, scale: float = 1.0, size: int | Sequence[int] | None = None, ctx: Context | None = None, out: Any = None) -> _Symbol:
    """Gumbel distributed numbers: how far the largest of many lies out."""

def logistic(loc: float = 0.0, scale: float = 1.0, size: int | Sequence[int] | None = None, ctx: Context | None = None, out: Any = None) -> _Symbol:
    """Logistically distributed numbers."""

def lognormal(mean: Any = 0.0, sigma: float = 1.0, size: int | Sequence[int] | None = None, dtype: DType | None = None, ctx: Context | None = None, out: Any = None) -> _Symbol:
    """Numbers whose logarithms are normally distributed with mean `mean` and deviation `sigma`."""

def multinomial(n: int, pvals: Any, size: int | Sequence[int] | None = None, **kwargs: Any) -> _Symbol:
    """How often each of several outcomes comes up in `n` trials; `pvals` are their probabilities."""

def multivariate_normal(mean: _Symbol, cov: _Symbol, size: int | Sequence[int] | None = None, check_valid: Any = None, tol: float | None = None) -> _Symbol:
    """Vectors with these means and covariances, `size` of them for each mean."""

def normal(loc: Any = 0.0, scale: Any = 1.0, size: int | Sequence[int] | None = None, dtype: DType | None = None, ctx: Context | None = None, out: Any = None) -> _Symbol:
    """Normally distributed numbers with mean `loc` and standard deviation `scale`; gradients reach both."""

def pareto(a: Any, size: int | Sequence[int] | None = None, ctx: Context | None = None, out: Any = None) -> _Symbol:
    """Pareto (Lomax) distributed numbers with shape parameter `a`, from 0 on."""

def power(a: Any, size: int | Sequence[int] | None = None) -> _Symbol:
    """Numbers between 0 and 1 whose density rises like `x^(a - 1)`."""

def rand(*size: int, **kwargs: Any) -> _Symbol:
    """Uniformly distributed numbers between 0 and 1; the shape is given as separate arguments."""

def randint(low: int, high: int | None = None, size: int | Sequence[int] | None = None, dtype: DType | None = None, ctx: Context | None = None, out: Any = None) -> _Symbol:
    """Integers between `low` (included) and `high` (excluded), or from 0 up to `low` if that stands alone."""

def randn(*size: int, **kwargs: Any) -> _Symbol:
    """Normally distributed numbers; the shape is given as separate arguments."""

def rayleigh(scale: float = 1.0, size: int | Sequence[int] | None = None, ctx: Context | None = None, out: Any = None) -> _Symbol:
    """Rayleigh distributed numbers: lengths of normal vectors in the plane."""

def shuffle(x: Any) -> None:
    """The parts of `x` along its first axis in random order."""

def uniform(low: Any = 0.0, high: Any = 1.0, size: int | Sequence[int] | None = None, dtype: DType | None = None, ctx: Context | None = None, out: Any = None) -> _Symbol:
    """Uniformly distributed numbers between `low` (included) and `high` (excluded)."""

def weibull(a: Any, size: int | Sequence[int] | None = None, ctx: Context | None = None, out: Any = None) -> _Symbol:
    """Weibull distributed numbers with shape parameter `a` and scale 1."""
