# Made by `python -m mxnet._frontend.stubs`: do not edit.
from builtins import bool as _bool
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as _numpy

from mxnet._typing import ArrayLike, DType, Operand
from mxnet.context import Context
from mxnet.symbol.numpy._symbol import _Symbol as _Symbol

def cholesky(a: Any) -> _Symbol:
    """The lower triangular matrix L with `L @ L.T == a`."""

def det(a: Any) -> _Symbol:
    """The determinant of square matrices."""

def eig(a: Any) -> tuple[_Symbol, _Symbol]:
    """(eigenvalues, eigenvectors as columns) of square matrices that have real ones."""

def eigh(a: Any, UPLO: str = 'L') -> tuple[_Symbol, _Symbol]:
    """(eigenvalues, eigenvectors as columns) of symmetric matrices, of which one triangle is read."""

def eigvals(a: Any) -> _Symbol:
    """Eigenvalues of square matrices that have real ones."""

def eigvalsh(a: Any, UPLO: str = 'L') -> _Symbol:
    """Eigenvalues, rising, of symmetric matrices, of which one triangle is read."""

def inv(a: Any) -> _Symbol:
    """The inverse of square matrices."""

def norm(x: Any, ord: Any = None, axis: int | Sequence[int] | None = None, keepdims: _bool = False) -> _Symbol:
    """Norms of vectors (one axis) or matrices (two); without `ord` and `axis`, of all elements as one vector."""

def pinv(a: Any, rcond: float = 1e-15, hermitian: _bool = False) -> _Symbol:
    """The pseudoinverse; singular values below `rcond` times the largest count as 0."""

def slogdet(a: Any) -> tuple[_Symbol, _Symbol]:
    """(sign of the determinant, logarithm of its absolute value) of square matrices."""

def solve(a: Any, b: Any) -> _Symbol:
    """The x with `a @ x == b`."""

def svd(a: Any) -> tuple[_Symbol, _Symbol, _Symbol]:
    """The factors (u, s, v) with `a == u * s @ v`, with orthonormal columns of u and rows of v."""

def tensorinv(a: Any, ind: int = 2) -> _Symbol:
    """The inverse for `tensordot(b, a, ind)`."""

def tensorsolve(a: Any, b: Any, axes: int | Sequence[int] | None = None) -> _Symbol:
    """The x with `tensordot(a, x, x.ndim) == b`."""
