# Made by `python -m mxnet._frontend.stubs`: do not edit.
from builtins import bool as _bool
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as _numpy

from mxnet._typing import ArrayLike, DType, Operand
from mxnet.context import Context
from mxnet.numpy.multiarray import ndarray as ndarray

def bernoulli(prob: float | None = None, logit: float | None = None, size: int | Sequence[int] | None = None, dtype: DType | None = None, ctx: Context | None = None, out: Any = None) -> ndarray:
    """1 with probability `prob` (or sigmoid of `logit`), else 0."""

def normal_n(loc: float = 0.0, scale: float = 1.0, batch_shape: int | Sequence[int] | None = None, dtype: DType | None = None, ctx: Context | None = None) -> ndarray:
    """Normal draws, `batch_shape` of them for each element of the parameters: batch axes come first."""

def seed(seed: int, ctx: Context | str = 'all') -> None:
    """Sets the state of the generators: of all devices, or of one."""

def uniform_n(low: float = 0.0, high: float = 1.0, batch_shape: int | Sequence[int] | None = None, dtype: DType | None = None, ctx: Context | None = None) -> ndarray:
    """Uniform draws, `batch_shape` of them for each element of the parameters: batch axes come first."""
