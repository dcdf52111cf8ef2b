# Made by `python -m mxnet._frontend.stubs`: do not edit.
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from mxnet._typing import DType
from mxnet.ndarray.ndarray import NDArray
from ._random import *

def exponential_like(data: NDArray, lam: float = 1.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """Exponentially distributed numbers with rate `lam`, with shape and dtype of `data`."""

def gamma_like(data: NDArray, alpha: float = 1.0, beta: float = 1.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """Gamma distributed numbers with shape parameter `alpha` and scale `beta`, with shape and dtype of `data`."""

def generalized_negative_binomial_like(data: NDArray, mu: float = 1.0, alpha: float = 1.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """Negative binomial counts with mean `mu` and dispersion `alpha`, with shape and dtype of `data`."""

def negative_binomial_like(data: NDArray, k: int = 1, p: float = 1.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """Counts of failures before the `k`-th success of probability `p`, with shape and dtype of `data`."""

def normal_like(data: NDArray, loc: float = 0.0, scale: float = 1.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """Normally distributed numbers with mean `loc` and deviation `scale`, with shape and dtype of `data`."""

def poisson_like(data: NDArray, lam: float = 1.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """Poisson distributed counts with mean `lam`, with shape and dtype of `data`."""

def uniform_like(data: NDArray, low: float = 0.0, high: float = 1.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """Uniformly distributed numbers between `low` and `high`, with shape and dtype of `data`."""
