# Made by `python -m mxnet._frontend.stubs`: do not edit.
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from mxnet._typing import DType
from mxnet.ndarray.ndarray import NDArray

def det(A: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """Determinant of square matrices; of a single one with shape (1,), in np mode ()."""

def extractdiag(A: NDArray, offset: int = 0, *, out: Any = None, name: str | None = None) -> NDArray:
    """Diagonal of square matrices; `offset` counts to the right of the main one (negative: below)."""

def extracttrian(A: NDArray, offset: int = 0, lower: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """Triangle of square matrices as a vector, the lower one row by row, the upper one column by column."""

def gelqf(A: NDArray, *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """Q and L of the LQ factorisation A = L Q: L is lower triangular, the rows of Q are orthonormal."""

def gemm(A: NDArray, B: NDArray, C: NDArray, transpose_a: bool = False, transpose_b: bool = False, alpha: float = 1.0, beta: float = 1.0, axis: int = -2, *, out: Any = None, name: str | None = None) -> NDArray:
    """alpha * A B + beta * C, with A or B transposed on demand."""

def gemm2(A: NDArray, B: NDArray, transpose_a: bool = False, transpose_b: bool = False, alpha: float = 1.0, axis: int = -2, *, out: Any = None, name: str | None = None) -> NDArray:
    """alpha * A B, with A or B transposed on demand."""

def inverse(A: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """Inverse of square matrices."""

def makediag(A: NDArray, offset: int = 0, *, out: Any = None, name: str | None = None) -> NDArray:
    """Square matrices with the last axis of `A` on a diagonal; `offset` counts to the right (negative: below)."""

def maketrian(A: NDArray, offset: int = 0, lower: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """Square matrices, zero but for a triangle with the values of `A`'s last axis: the inverse of extracttrian."""

def potrf(A: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """Cholesky factor L of symmetric positive definite matrices: A = L L^T."""

def potri(A: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """Inverse of the matrices that `A` is the Cholesky factor of: (A A^T)^-1, or (A^T A)^-1 with `lower=False`."""

def slogdet(A: NDArray, *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """Sign of the determinant of square matrices, and the logarithm of its absolute value."""

def sumlogdiag(A: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """Sum of the logarithms of the diagonal; of a single matrix with shape (1,)."""

def syevd(A: NDArray, *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """Eigenvectors U, one a row, and eigenvalues L, ascending, of symmetric matrices: A = U^T diag(L) U."""

def syrk(A: NDArray, transpose: bool = False, alpha: float = 1.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """alpha * A A^T, or alpha * A^T A with `transpose`."""

def trmm(A: NDArray, B: NDArray, transpose: bool = False, rightside: bool = False, lower: bool = True, alpha: float = 1.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """alpha * A B for a triangular A; alpha * B A with `rightside`; A is transposed with `transpose`."""

def trsm(A: NDArray, B: NDArray, transpose: bool = False, rightside: bool = False, lower: bool = True, alpha: float = 1.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """Solves A X = alpha * B for a triangular A; X A = alpha * B with `rightside`; A is transposed with `transpose`."""
