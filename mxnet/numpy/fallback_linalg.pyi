# Made by `python -m mxnet._frontend.stubs`: do not edit.
from builtins import bool as _bool
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as _numpy

from mxnet._typing import ArrayLike, DType, Operand
from mxnet.context import Context
from mxnet.numpy.multiarray import ndarray as ndarray

def cond(x: Operand, p: Operand | None = None) -> ndarray:
    """Compute the condition number of a matrix."""

def lstsq(a: Operand, b: Operand, rcond: Any = 'warn') -> ndarray:
    """(solution, residuals, rank, singular values) of `a @ x == b` in the sense of least squares."""

def matrix_power(a: Operand, n: int) -> ndarray:
    """Raise a square matrix to the (integer) power `n`."""

def matrix_rank(A: Operand, tol: float | None = None, hermitian: _bool = False, *, rtol: float | None = None) -> ndarray:
    """Return matrix rank of array using SVD method"""

def multi_dot(arrays: Any, *, out: Any = None) -> ndarray:
    """Compute the dot product of two or more arrays in a single function call, while automatically selecting the fastest evaluation order."""

def qr(a: Operand, mode: str = 'reduced') -> ndarray:
    """Compute the qr factorization of a matrix."""
