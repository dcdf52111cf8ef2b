# Made by `python -m mxnet._frontend.stubs`: do not edit.
from builtins import bool as _bool
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as _numpy

from mxnet._typing import ArrayLike, DType, Operand
from mxnet.context import Context
from mxnet.numpy.multiarray import ndarray as ndarray

def cholesky(a: Operand) -> ndarray:
    """The lower triangular matrix L with `L @ L.T == a`."""

def cond(x: Operand, p: Operand | None = None) -> ndarray:
    """Compute the condition number of a matrix."""

def det(a: Operand) -> ndarray:
    """The determinant of square matrices."""

def eig(a: Operand) -> tuple[ndarray, ndarray]:
    """(eigenvalues, eigenvectors as columns) of square matrices that have real ones."""

def eigh(a: Operand, UPLO: str = 'L') -> tuple[ndarray, ndarray]:
    """(eigenvalues, eigenvectors as columns) of symmetric matrices, of which one triangle is read."""

def eigvals(a: Operand) -> ndarray:
    """Eigenvalues of square matrices that have real ones."""

def eigvalsh(a: Operand, UPLO: str = 'L') -> ndarray:
    """Eigenvalues, rising, of symmetric matrices, of which one triangle is read."""

def inv(a: Operand) -> ndarray:
    """The inverse of square matrices."""

def lstsq(a: Operand, b: Operand, rcond: Any = 'warn') -> Any:
    """(solution, residuals, rank, singular values) of `a @ x == b` in the sense of least squares."""

def matrix_power(a: Operand, n: int) -> ndarray:
    """Raise a square matrix to the (integer) power `n`."""

def matrix_rank(A: Any, tol: float | None = None, hermitian: _bool = False, *, rtol: float | None = None) -> ndarray:
    """Return matrix rank of array using SVD method"""

def multi_dot(arrays: Sequence[ndarray], *, out: Any = None) -> ndarray:
    """Compute the dot product of two or more arrays in a single function call, while automatically selecting the fastest evaluation order."""

def norm(x: Operand, ord: Any = None, axis: int | Sequence[int] | None = None, keepdims: _bool = False) -> ndarray:
    """Norms of vectors (one axis) or matrices (two); without `ord` and `axis`, of all elements as one vector."""

def pinv(a: Operand, rcond: float = 1e-15, hermitian: _bool = False) -> ndarray:
    """The pseudoinverse; singular values below `rcond` times the largest count as 0."""

def qr(a: Operand, mode: str = 'reduced') -> Any:
    """Compute the qr factorization of a matrix."""

def slogdet(a: Operand) -> tuple[ndarray, ndarray]:
    """(sign of the determinant, logarithm of its absolute value) of square matrices."""

def solve(a: Operand, b: Operand) -> ndarray:
    """The x with `a @ x == b`."""

def svd(a: Operand) -> tuple[ndarray, ndarray, ndarray]:
    """The factors (u, s, v) with `a == u * s @ v`, with orthonormal columns of u and rows of v."""

def tensorinv(a: Operand, ind: int = 2) -> ndarray:
    """The inverse for `tensordot(b, a, ind)`."""

def tensorsolve(a: Operand, b: Operand, axes: int | Sequence[int] | None = None) -> ndarray:
    """The x with `tensordot(a, x, x.ndim) == b`."""
