# Made by `python -m mxnet._frontend.stubs`: do not edit.
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from mxnet._typing import DType
from mxnet.symbol.symbol import Symbol

def det(A: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Determinant of square matrices; of a single one with shape (1,), in np mode ()."""

def extractdiag(A: Symbol | None = None, offset: int = 0, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Diagonal of square matrices; `offset` counts to the right of the main one (negative: below)."""

def extracttrian(A: Symbol | None = None, offset: int = 0, lower: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Triangle of square matrices as a vector, the lower one row by row, the upper one column by column."""

def gelqf(A: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Q and L of the LQ factorisation A = L Q: L is lower triangular, the rows of Q are orthonormal."""

def gemm(A: Symbol | None = None, B: Symbol | None = None, C: Symbol | None = None, transpose_a: bool = False, transpose_b: bool = False, alpha: float = 1.0, beta: float = 1.0, axis: int = -2, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """alpha * A B + beta * C, with A or B transposed on demand."""

def gemm2(A: Symbol | None = None, B: Symbol | None = None, transpose_a: bool = False, transpose_b: bool = False, alpha: float = 1.0, axis: int = -2, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """alpha * A B, with A or B transposed on demand."""

def inverse(A: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Inverse of square matrices."""

def makediag(A: Symbol | None = None, offset: int = 0, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Square matrices with the last axis of `A` on a diagonal; `offset` counts to the right (negative: below)."""

def maketrian(A: Symbol | None = None, offset: int = 0, lower: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Square matrices, zero but for a triangle with the values of `A`'s last axis: the inverse of extracttrian."""

def potrf(A: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Cholesky factor L of symmetric positive definite matrices: A = L L^T."""

def potri(A: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Inverse of the matrices that `A` is the Cholesky factor of: (A A^T)^-1, or (A^T A)^-1 with `lower=False`."""

def slogdet(A: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Sign of the determinant of square matrices, and the logarithm of its absolute value."""

def sumlogdiag(A: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Sum of the logarithms of the diagonal; of a single matrix with shape (1,)."""

def syevd(A: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Eigenvectors U, one a row, and eigenvalues L, ascending, of symmetric matrices: A = U^T diag(L) U."""

def syrk(A: Symbol | None = None, transpose: bool = False, alpha: float = 1.0, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """alpha * A A^T, or alpha * A^T A with `transpose`."""

def trmm(A: Symbol | None = None, B: Symbol | None = None, transpose: bool = False, rightside: bool = False, lower: bool = True, alpha: float = 1.0, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """alpha * A B for a triangular A; alpha * B A with `rightside`; A is transposed with `transpose`."""

def trsm(A: Symbol | None = None, B: Symbol | None = None, transpose: bool = False, rightside: bool = False, lower: bool = True, alpha: float = 1.0, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Solves A X = alpha * B for a triangular A; X A = alpha * B with `rightside`; A is transposed with `transpose`."""
