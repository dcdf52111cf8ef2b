"""`mx.np.random`: random numbers with NumPy's signatures, from the generators of `mx.random`."""
from .._names import explain_keywords as _explain_keywords
from .._names import suggest_names as _suggest_names
from .._ops.core.table import NAMES
from .._random_state import seed
from ..ndarray import _invoke
from . import _call
from ._call import apply, numbers
from ._draw import makers


def _create(name, inputs, attributes, ctx, out):
    op = NAMES[name]
    if ctx is not None:
        attributes['ctx'] = ctx
    return _invoke.run(op, inputs, op.parse(attributes), out, _call.array_class)


_functions, _extension = makers(_create)
(beta, chisquare, choice, exponential, gamma, gumbel, logistic, lognormal, multinomial, normal, pareto, power, rand,
 randint, randn, rayleigh, uniform, weibull) = map(_explain_keywords, _functions.values())


def shuffle(x):
    """Puts the parts of `x` along its first axis in random order, in place."""
    apply('_npi_shuffle', (x,), {}, x)


def permutation(x):
    """The numbers up to `x`, or the parts of an array along its first axis, in random order."""
    from ._creation import arange
    return apply('_npi_shuffle', (arange(x, dtype='int64') if isinstance(x, int) else x,), {})


def multivariate_normal(mean, cov, size=None, check_valid=None, tol=None):
    """Vectors whose elements are normally distributed with these means and covariances.

    Means of shape (..., n) and covariances of shape (..., n, n) broadcast; the result has shape (*size, ..., n).
    """
    if check_valid is not None or tol is not None:
        raise NotImplementedError('multivariate_normal: check_valid and tol are not understood')
    from . import linalg
    from ._matrix import einsum
    factor = linalg.cholesky(cov)
    own = _broadcast(mean.shape[:-1], cov.shape[:-2])
    noise = _functions['normal'](0, 1, (*(() if size is None else numbers(size)), *own, mean.shape[-1]), ctx=mean.ctx)
    return mean + einsum('...jk,...k->...j', factor, noise)


def _broadcast(*shapes):
    import numpy
    return numpy.broadcast_shapes(*shapes)


__all__ = [*_functions, 'multivariate_normal', 'shuffle', 'permutation', 'seed']


_suggest_names(globals())
