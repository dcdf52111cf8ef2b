"""`mx.sym.np.random`: random numbers in a graph, drawn anew each time it runs."""
from __future__ import annotations

from typing import TYPE_CHECKING

from ..._names import suggest_names as _suggest_names
from ..._ops.core.table import NAMES
from ...numpy._call import apply, numbers
from ...numpy._draw import makers
from ._symbol import compose

if TYPE_CHECKING:
    from ..._typing import Shape
    from ..symbol import Symbol


def _create(name, inputs, attributes, ctx, out):
    if ctx is not None:
        attributes['ctx'] = str(ctx)
    return compose(NAMES[name], name, inputs, attributes)


_functions, _extension = makers(_create)
(beta, chisquare, choice, exponential, gamma, gumbel, logistic, lognormal, multinomial, normal, pareto, power, rand,
 randint, randn, rayleigh, uniform, weibull) = _functions.values()


def shuffle(x: Symbol) -> Symbol:
    """The parts of `x` along its first axis in random order."""
    return apply('_npi_shuffle', (x,), {})


def multivariate_normal(mean: Symbol, cov: Symbol, size: Shape | None = None, check_valid: str | None = None,
                        tol: float | None = None) -> Symbol:
    """Vectors with these means and covariances, `size` of them for each mean."""
    if check_valid is not None or tol is not None:
        raise NotImplementedError('multivariate_normal: check_valid and tol are not understood')
    factor = apply('_npi_cholesky', (cov,), {})
    # zeros in the shape that means and covariances have together
    zeros = mean * 0 + (cov * 0).sum(axis=-1)
    noise = _extension['normal_n'](zeros, 1.0, () if size is None else numbers(size))
    return mean + apply('_npi_einsum', (factor, noise), {'num_args': 2, 'subscripts': '...jk,...k->...j'})


__all__ = [*_functions, 'shuffle', 'multivariate_normal']


_suggest_names(globals())
