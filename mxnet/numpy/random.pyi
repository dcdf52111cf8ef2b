# Made by `python -m mxnet._frontend.stubs`: do not edit.
from builtins import bool as _bool
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as _numpy

from mxnet._typing import ArrayLike, DType, Operand
from mxnet.context import Context
from mxnet.numpy.multiarray import ndarray as ndarray

def beta(a: Operand, b: Operand, size: int | Sequence[int] | None = None, dtype: DType | None = None, ctx: Context | None = None) -> ndarray:
    """Beta distributed numbers, between 0 and 1; their mean is `a / (a + b)`."""

def chisquare(df: Operand, size: int | Sequence[int] | None = None, dtype: DType | None = None, ctx: Context | None = None) -> ndarray:
    """Sums of `df` squared normal numbers."""

def choice(a: Any, size: int | Sequence[int] | None = None, replace: _bool = True, p: Any = None, ctx: Context | None = None, out: Any = None) -> ndarray:
    """Elements of `a` (or numbers from 0 up to it) drawn at random; `p` has the probability of each."""

def exponential(scale: float = 1.0, size: int | Sequence[int] | None = None, ctx: Context | None = None, out: Any = None) -> ndarray:
    """Exponentially distributed numbers with mean `scale`."""

def gamma(shape: Operand, scale: Operand = 1.0, size: int | Sequence[int] | None = None, dtype: DType | None = None, ctx: Context | None = None, out: Any = None) -> ndarray:
    """Gamma distributed numbers with shape parameter `shape`: their mean is `shape * scale`."""

def gumbel(loc: float = 0.0, scale: float = 1.0, size: int | Sequence[int] | None = None, ctx: Context | None = None, out: Any = None) -> ndarray:
    """Gumbel distributed numbers: how far the largest of many lies out."""

def logistic(loc: float = 0.0, scale: float = 1.0, size: int | Sequence[int] | None = None, ctx: Context | None = None, out: Any = None) -> ndarray:
    """Logistically distributed numbers."""

def lognormal(mean: Any = 0.0, sigma: float = 1.0, size: int | Sequence[int] | None = None, dtype: DType | None = None, ctx: Context | None = None, out: Any = None) -> ndarray:
    """Numbers whose logarithms are normally distributed with mean `mean` and deviation `sigma`."""

def multinomial(n: int, pvals: Any, size: int | Sequence[int] | None = None, **kwargs: Any) -> ndarray:
    """How often each of several outcomes comes up in `n` trials; `pvals` are their probabilities."""

def multivariate_normal(mean: ndarray, cov: ndarray, size: int | Sequence[int] | None = None, check_valid: Any = None, tol: float | None = None) -> ndarray:
    """Vectors whose elements are normally distributed with these means and covariances."""

def normal(loc: Operand = 0.0, scale: Operand = 1.0, size: int | Sequence[int] | None = None, dtype: DType | None = None, ctx: Context | None = None, out: Any = None) -> ndarray:
    """Normally distributed numbers with mean `loc` and standard deviation `scale`; gradients reach both."""

def pareto(a: Operand, size: int | Sequence[int] | None = None, ctx: Context | None = None, out: Any = None) -> ndarray:
    """Pareto (Lomax) distributed numbers with shape parameter `a`, from 0 on."""

def permutation(x: Any) -> ndarray:
    """The numbers up to `x`, or the parts of an array along its first axis, in random order."""

def power(a: Operand, size: int | Sequence[int] | None = None) -> ndarray:
    """Numbers between 0 and 1 whose density rises like `x^(a - 1)`."""

def rand(*size: int, **kwargs: Any) -> ndarray:
    """Uniformly distributed numbers between 0 and 1; the shape is given as separate arguments."""

def randint(low: int, high: int | None = None, size: int | Sequence[int] | None = None, dtype: DType | None = None, ctx: Context | None = None, out: Any = None) -> ndarray:
    """Integers between `low` (included) and `high` (excluded), or from 0 up to `low` if that stands alone."""

def randn(*size: int, **kwargs: Any) -> ndarray:
    """Normally distributed numbers; the shape is given as separate arguments."""

def rayleigh(scale: float = 1.0, size: int | Sequence[int] | None = None, ctx: Context | None = None, out: Any = None) -> ndarray:
    """Rayleigh distributed numbers: lengths of normal vectors in the plane."""

def seed(seed_state: int, ctx: Context | str = 'all') -> None:
    """Seeds the random numbers."""

def shuffle(x: Operand) -> None:
    """Puts the parts of `x` along its first axis in random order, in place."""

def uniform(low: Operand = 0.0, high: Operand = 1.0, size: int | Sequence[int] | None = None, dtype: DType | None = None, ctx: Context | None = None, out: Any = None) -> ndarray:
    """Uniformly distributed numbers between `low` (included) and `high` (excluded)."""

def weibull(a: Operand, size: int | Sequence[int] | None = None, ctx: Context | None = None, out: Any = None) -> ndarray:
    """Weibull distributed numbers with shape parameter `a` and scale 1."""
