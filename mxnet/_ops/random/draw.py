"""Random numbers: draws from one distribution, from one per element, shuffling.

Every number comes from the generator that the caller supplies, never from torch's own; a draw is a constant for
autograd (upstream sends back zeros).  torch's public gamma sampler knows no generator, so that another is
used (`_torch/operators.py`).
"""
import math

import torch

from ..._torch.operators import standard_gamma
from ...base import MXNetError
from ..core.attributes import Device, DType, Rng, Shape
from ..core.checks import refuse
from ..core.dtypes import NAME, TORCH
from ..core.table import operator

_FLOATS = ('float16', 'float32', 'float64', 'bfloat16')


# ---------------------------------------------------------------------- helpers
def _refused(operator_name, argument, value, accepted):
    return MXNetError(f'operator {operator_name}: {argument}={value} is not accepted; it must be {accepted}')


def _require(holds, operator_name, argument, value, accepted):
    if not holds:
        raise _refused(operator_name, argument, value, accepted)


def _float_type(operator_name, dtype):
    if dtype is None:
        return torch.float32
    _require(dtype in _FLOATS, operator_name, 'dtype', repr(dtype), 'one of ' + ', '.join(_FLOATS))
    return TORCH[dtype]


def _float_like(operator_name, data):
    if not data.is_floating_point():
        raise MXNetError(f'operator {operator_name}: data is {NAME[data.dtype]}; it must have a floating point dtype')
    return torch.empty_like(data, requires_grad=False)


def _empty(operator_name, shape, ctx, dtype):
    return torch.empty((1,) if shape is None else shape, dtype=_float_type(operator_name, dtype), device=ctx)


def _wide(dtype):
    # the gamma and Poisson samplers want at least single precision
    return torch.float64 if dtype is torch.float64 else torch.float32


def _standard_gamma(shape_parameter, rng):
    if shape_parameter.is_meta:         # torch 2.11 cannot draw these
        return torch.empty_like(shape_parameter)
    drawn = standard_gamma(shape_parameter, generator=rng)
    return torch.where(shape_parameter > 0, drawn, 0.0)


def _poisson(name, rate, rng):
    """Poisson counts; torch's kernel raises for a rate that is none on a CPU, and stops a GPU for good."""
    if rate.device.type != 'cpu':
        rate = refuse(name, 'the rate', rate, ~(rate >= 0), 'at least 0', 0.0)
    return torch.poisson(rate, generator=rng)


def _gamma(alpha, beta, rng):
    return _standard_gamma(alpha, rng) * beta


def _negative_binomial(name, k, p, rng):
    # failures before the k-th success: a Poisson whose rate is gamma distributed
    return _poisson(name, _gamma(k, (1.0 - p) / p, rng).clamp_min(0.0), rng)


def _generalized_negative_binomial(name, mu, alpha, rng):
    # alpha is the dispersion; without any, it is a Poisson of rate mu
    safe = torch.where(alpha > 0, alpha, 1.0)
    rate = torch.where(alpha > 0, _gamma(1.0 / safe, safe * mu, rng), mu)
    return _poisson(name, rate, rng)


def _filled(out, *values):
    return [torch.full_like(out, v, dtype=_wide(out.dtype)) for v in values]


# ---------------------------------------------------------------------- one distribution, parameters are numbers
def _uniform_into(name, out, low, high, rng):
    _require(high >= low, name, 'high', high, f'at least low, which is {low}')
    return out.uniform_(low, high, generator=rng)


def _normal_into(name, out, loc, scale, rng):
    _require(scale > 0, name, 'scale', scale, 'positive')
    return out.normal_(loc, scale, generator=rng)


def _gamma_into(name, out, alpha, beta, rng):
    _require(alpha > 0, name, 'alpha', alpha, 'positive')
    _require(beta > 0, name, 'beta', beta, 'positive')
    shape_parameter, = _filled(out, alpha)
    return _gamma(shape_parameter, beta, rng).to(out.dtype)


def _exponential_into(name, out, lam, rng):
    _require(lam > 0, name, 'lam', lam, 'positive')
    return out.exponential_(lam, generator=rng)


def _poisson_into(name, out, lam, rng):
    _require(lam >= 0, name, 'lam', lam, 'at least 0')
    rate, = _filled(out, lam)
    return torch.poisson(rate, generator=rng).to(out.dtype)


def _negative_binomial_into(name, out, k, p, rng):
    _require(k >= 0, name, 'k', k, 'at least 0')
    _require(0 < p <= 1, name, 'p', p, 'above 0 and at most 1')
    count, probability = _filled(out, k, p)
    return _negative_binomial(name, count, probability, rng).to(out.dtype)


def _generalized_negative_binomial_into(name, out, mu, alpha, rng):
    _require(mu >= 0, name, 'mu', mu, 'at least 0')
    _require(alpha >= 0, name, 'alpha', alpha, 'at least 0')
    mean, dispersion = _filled(out, mu, alpha)
    return _generalized_negative_binomial(name, mean, dispersion, rng).to(out.dtype)


@operator('_random_uniform', aliases=('uniform', 'random_uniform'))
def random_uniform(*, low: float = 0.0, high: float = 1.0, shape: Shape | None = None, ctx: Device = None,
                   dtype: DType | None = None, rng: Rng = None):
    """Uniformly distributed numbers between `low` (included) and `high` (excluded)."""
    return _uniform_into('_random_uniform', _empty('_random_uniform', shape, ctx, dtype), low, high, rng)


@operator('_random_normal', aliases=('normal', 'random_normal'))
def random_normal(*, loc: float = 0.0, scale: float = 1.0, shape: Shape | None = None, ctx: Device = None,
                  dtype: DType | None = None, rng: Rng = None):
    """Normally distributed numbers with mean `loc` and standard deviation `scale`."""
    return _normal_into('_random_normal', _empty('_random_normal', shape, ctx, dtype), loc, scale, rng)


@operator('_random_gamma', aliases=('random_gamma',))
def random_gamma(*, alpha: float = 1.0, beta: float = 1.0, shape: Shape | None = None, ctx: Device = None,
                 dtype: DType | None = None, rng: Rng = None):
    """Gamma distributed numbers with shape parameter `alpha` and scale `beta`: their mean is `alpha * beta`."""
    return _gamma_into('_random_gamma', _empty('_random_gamma', shape, ctx, dtype), alpha, beta, rng)


@operator('_random_exponential', aliases=('random_exponential',))
def random_exponential(*, lam: float = 1.0, shape: Shape | None = None, ctx: Device = None,
                       dtype: DType | None = None, rng: Rng = None):
    """Exponentially distributed numbers with rate `lam`: their mean is `1 / lam`."""
    return _exponential_into('_random_exponential', _empty('_random_exponential', shape, ctx, dtype), lam, rng)


@operator('_random_poisson', aliases=('random_poisson',))
def random_poisson(*, lam: float = 1.0, shape: Shape | None = None, ctx: Device = None,
                   dtype: DType | None = None, rng: Rng = None):
    """Poisson distributed counts with mean `lam`, as floating point numbers."""
    return _poisson_into('_random_poisson', _empty('_random_poisson', shape, ctx, dtype), lam, rng)


@operator('_random_negative_binomial', aliases=('random_negative_binomial',))
def random_negative_binomial(*, k: int = 1, p: float = 1.0, shape: Shape | None = None, ctx: Device = None,
                             dtype: DType | None = None, rng: Rng = None):
    """How often something fails before it has succeeded `k` times, where it succeeds with probability `p`.

    The counts are floating point numbers.
    """
    out = _empty('_random_negative_binomial', shape, ctx, dtype)
    return _negative_binomial_into('_random_negative_binomial', out, k, p, rng)


@operator('_random_generalized_negative_binomial', aliases=('random_generalized_negative_binomial',))
def random_generalized_negative_binomial(*, mu: float = 1.0, alpha: float = 1.0, shape: Shape | None = None,
                                         ctx: Device = None, dtype: DType | None = None, rng: Rng = None):
    """Negative binomial counts with mean `mu` and dispersion `alpha`: their variance is `mu + alpha * mu**2`."""
    out = _empty('_random_generalized_negative_binomial', shape, ctx, dtype)
    return _generalized_negative_binomial_into('_random_generalized_negative_binomial', out, mu, alpha, rng)


@operator('_random_randint', aliases=('_npi_random_randint', 'random_randint'))
def random_randint(*, low: int, high: int, shape: Shape | None = None, ctx: Device = None, dtype: DType | None = None,
                   rng: Rng = None):
    """Integers between `low` (included) and `high` (excluded), all equally likely; int32 unless `dtype` says int64."""
    _require(dtype in (None, 'int32', 'int64'), '_random_randint', 'dtype', repr(dtype), "'int32' or 'int64'")
    _require(high > low, '_random_randint', 'high', high, f'above low, which is {low}')
    return torch.randint(low, high, (1,) if shape is None else shape, generator=rng, device=ctx,
                         dtype=TORCH[dtype or 'int32'])


# ---------------------------------------------------------------------- the same, shaped like an array
@operator('_random_uniform_like')
def random_uniform_like(data, *, low: float = 0.0, high: float = 1.0, rng: Rng = None):
    """Uniformly distributed numbers between `low` and `high`, with shape and dtype of `data`."""
    return _uniform_into('_random_uniform_like', _float_like('_random_uniform_like', data), low, high, rng)


@operator('_random_normal_like')
def random_normal_like(data, *, loc: float = 0.0, scale: float = 1.0, rng: Rng = None):
    """Normally distributed numbers with mean `loc` and deviation `scale`, with shape and dtype of `data`."""
    return _normal_into('_random_normal_like', _float_like('_random_normal_like', data), loc, scale, rng)


@operator('_random_gamma_like')
def random_gamma_like(data, *, alpha: float = 1.0, beta: float = 1.0, rng: Rng = None):
    """Gamma distributed numbers with shape parameter `alpha` and scale `beta`, with shape and dtype of `data`."""
    return _gamma_into('_random_gamma_like', _float_like('_random_gamma_like', data), alpha, beta, rng)


@operator('_random_exponential_like')
def random_exponential_like(data, *, lam: float = 1.0, rng: Rng = None):
    """Exponentially distributed numbers with rate `lam`, with shape and dtype of `data`."""
    return _exponential_into('_random_exponential_like', _float_like('_random_exponential_like', data), lam, rng)


@operator('_random_poisson_like')
def random_poisson_like(data, *, lam: float = 1.0, rng: Rng = None):
    """Poisson distributed counts with mean `lam`, with shape and dtype of `data`."""
    return _poisson_into('_random_poisson_like', _float_like('_random_poisson_like', data), lam, rng)


@operator('_random_negative_binomial_like')
def random_negative_binomial_like(data, *, k: int = 1, p: float = 1.0, rng: Rng = None):
    """Counts of failures before the `k`-th success of probability `p`, with shape and dtype of `data`."""
    name = '_random_negative_binomial_like'
    return _negative_binomial_into(name, _float_like(name, data), k, p, rng)


@operator('_random_generalized_negative_binomial_like')
def random_generalized_negative_binomial_like(data, *, mu: float = 1.0, alpha: float = 1.0, rng: Rng = None):
    """Negative binomial counts with mean `mu` and dispersion `alpha`, with shape and dtype of `data`."""
    name = '_random_generalized_negative_binomial_like'
    return _generalized_negative_binomial_into(name, _float_like(name, data), mu, alpha, rng)


# ---------------------------------------------------------------------- one distribution per element of the parameters
def _each(name, parameters, shape, dtype):
    """Parameters without history, of working precision, spread over the samples; and the dtype of these."""
    if any(p.shape != parameters[0].shape for p in parameters):
        raise MXNetError(f'operator {name}: the parameters must have the same shape, not '
                         + ' and '.join(str(tuple(p.shape)) for p in parameters))
    target = _float_type(name, dtype)
    whole = (*parameters[0].shape, *shape)
    index = (..., *[None] * len(shape))
    return [p.detach().to(_wide(target))[index].expand(whole) for p in parameters], target


def _noise(like):
    return torch.empty_like(like, memory_format=torch.contiguous_format)


@operator('_sample_uniform', aliases=('sample_uniform',), same_dtype=('low', 'high'))
def sample_uniform(low, high, *, shape: Shape = (), dtype: DType | None = None, rng: Rng = None):
    """Uniform draws, `shape` of them for each pair of `low` and `high`: the result has shape low.shape + shape."""
    (low, high), target = _each('_sample_uniform', (low, high), shape, dtype)
    return (low + (high - low) * _noise(low).uniform_(generator=rng)).to(target)


@operator('_sample_normal', aliases=('sample_normal',), same_dtype=('mu', 'sigma'))
def sample_normal(mu, sigma, *, shape: Shape = (), dtype: DType | None = None, rng: Rng = None):
    """Normal draws, `shape` of them for each mean `mu` and deviation `sigma`: the result has shape mu.shape + shape."""
    (mu, sigma), target = _each('_sample_normal', (mu, sigma), shape, dtype)
    return (mu + sigma * _noise(mu).normal_(generator=rng)).to(target)


@operator('_sample_gamma', aliases=('sample_gamma',), same_dtype=('alpha', 'beta'))
def sample_gamma(alpha, beta, *, shape: Shape = (), dtype: DType | None = None, rng: Rng = None):
    """Gamma draws, `shape` of them for each shape parameter `alpha` and scale `beta`."""
    (alpha, beta), target = _each('_sample_gamma', (alpha, beta), shape, dtype)
    return _gamma(alpha, beta, rng).to(target)


@operator('_sample_exponential', aliases=('sample_exponential',))
def sample_exponential(lam, *, shape: Shape = (), dtype: DType | None = None, rng: Rng = None):
    """Exponential draws, `shape` of them for each rate `lam`."""
    (lam,), target = _each('_sample_exponential', (lam,), shape, dtype)
    return (_noise(lam).exponential_(generator=rng) / lam).to(target)


@operator('_sample_poisson', aliases=('sample_poisson',))
def sample_poisson(lam, *, shape: Shape = (), dtype: DType | None = None, rng: Rng = None):
    """Poisson counts, `shape` of them for each mean `lam`, as floating point numbers."""
    (lam,), target = _each('_sample_poisson', (lam,), shape, dtype)
    return _poisson('_sample_poisson', lam, rng).to(target)


@operator('_sample_negative_binomial', aliases=('sample_negative_binomial',), same_dtype=('k', 'p'))
def sample_negative_binomial(k, p, *, shape: Shape = (), dtype: DType | None = None, rng: Rng = None):
    """Counts of failures, `shape` of them for each number of successes `k` and probability of success `p`."""
    (k, p), target = _each('_sample_negative_binomial', (k, p), shape, dtype)
    return _negative_binomial('_sample_negative_binomial', k, p, rng).to(target)


@operator('_sample_generalized_negative_binomial', aliases=('sample_generalized_negative_binomial',),
          same_dtype=('mu', 'alpha'))
def sample_generalized_negative_binomial(mu, alpha, *, shape: Shape = (), dtype: DType | None = None,
                                         rng: Rng = None):
    """Negative binomial counts, `shape` of them for each mean `mu` and dispersion `alpha`."""
    (mu, alpha), target = _each('_sample_generalized_negative_binomial', (mu, alpha), shape, dtype)
    return _generalized_negative_binomial('_sample_generalized_negative_binomial', mu, alpha, rng).to(target)


@operator('_sample_multinomial', aliases=('sample_multinomial',),
          outputs=lambda a: ('output0', 'output1') if a['get_prob'] else ('output',))
def sample_multinomial(data, *, shape: Shape = (), get_prob: bool = False, dtype: DType = 'int32', rng: Rng = None):
    """Draws positions along the last axis of `data`, whose values are their probabilities.

    The result has shape data.shape[:-1] + shape, and (1,) for one distribution without a shape.  With `get_prob` there
    is a second result, the logarithm of what was drawn; its gradient reaches `data`, as policy gradients need it.
    """
    name = '_sample_multinomial'
    _float_like(name, data)
    _require(dtype in ('uint8', 'int32', 'int64', *_FLOATS), name, 'dtype', repr(dtype),
             'one of uint8, int32, int64, ' + ', '.join(_FLOATS))
    if data.dim() == 1 and not shape:
        shape = (1,)
    classes = data.shape[-1]
    weights = data.detach().reshape(-1, classes)
    table = weights.to(_wide(data.dtype)).cumsum(-1)
    drawn = torch.empty((*table.shape[:-1], math.prod(shape)), dtype=table.dtype, device=table.device)
    drawn = drawn.uniform_(generator=rng) * table[:, -1:]
    found = torch.searchsorted(table, drawn, right=True).clamp_max(classes - 1)
    whole = (*data.shape[:-1], *shape)
    index = found.reshape(whole).to(TORCH[dtype])
    if not get_prob:
        return index
    return index, data.reshape(-1, classes).gather(-1, found).log().reshape(whole)


@operator('_sample_unique_zipfian', outputs=('output0', 'output1'))
def sample_unique_zipfian(*, range_max: int, shape: Shape | None = None, rng: Rng = None):
    """Draws different classes per row, class `c` with a probability that falls like log((c + 2) / (c + 1)).

    `shape` is (rows, classes per row).  The second result tells how many draws each row took until all its classes were
    different, which the expected counts of a sampled softmax need.
    """
    name = '_sample_unique_zipfian'
    if shape is None or len(shape) != 2:
        raise _refused(name, 'shape', shape, '(rows, classes per row)')
    rows, wanted = shape
    _require(wanted <= range_max, name, 'shape', shape, f'at most range_max={range_max} classes per row')
    device = 'meta' if rng is None else rng.device
    if rng is None or rows == 0 or wanted == 0:
        return tuple(torch.zeros(s, dtype=torch.int64, device=device) for s in (shape, (rows,)))
    values = torch.empty((rows, 0), dtype=torch.int64, device=device)
    while True:
        more = torch.empty((rows, max(2 * wanted, values.shape[1])), dtype=torch.float64, device=device)
        more = (more.uniform_(generator=rng) * math.log(range_max)).exp().round().long() - 1
        values = torch.cat((values, more), 1)
        ordered, order = values.sort(dim=1, stable=True)
        fresh = torch.ones_like(ordered, dtype=torch.bool)
        fresh[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
        first = torch.zeros_like(fresh).scatter_(1, order, fresh)      # is it the first of its value in the row
        count = first.cumsum(1)
        if bool((count[:, -1] >= wanted).all()):
            break
    tries = (count < wanted).sum(1) + 1
    return values[first & (count <= wanted)].reshape(rows, wanted), tries


@operator('_shuffle', aliases=('_npi_shuffle', 'shuffle'))
def shuffle(data, *, rng: Rng = None):
    """The rows of `data` (its parts along the first axis) in random order; what is inside a row stays in order."""
    return data.index_select(0, torch.randperm(data.shape[0], generator=rng, device=data.device))
