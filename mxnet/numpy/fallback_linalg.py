"""Functions of `mx.np.linalg` that go through NumPy."""
import numpy

from .fallback import through_numpy

__all__ = ['cond', 'lstsq', 'matrix_power', 'matrix_rank', 'multi_dot', 'qr']

cond, matrix_power, matrix_rank, multi_dot, qr = (
    through_numpy(getattr(numpy.linalg, n)) for n in ('cond', 'matrix_power', 'matrix_rank', 'multi_dot', 'qr'))
_lstsq = through_numpy(numpy.linalg.lstsq)


def lstsq(a, b, rcond='warn'):
    """(solution, residuals, rank, singular values) of `a @ x == b` in the sense of least squares."""
    return _lstsq(a, b, rcond=-1 if rcond == 'warn' else rcond)
