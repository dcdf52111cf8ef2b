"""`mx.np.linalg`: linear algebra with NumPy's signatures."""
from ._call import apply


def cholesky(a):
    """The lower triangular matrix L with `L @ L.T == a`."""
    return apply('_npi_cholesky', (a,), {})
