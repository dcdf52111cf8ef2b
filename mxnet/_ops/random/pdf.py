"""Densities of the distributions that draw.py draws from, differentiable by the parameters.

`sample` has the parameters' shape followed by the shape of the draws.  Discrete distributions send no gradient to
`sample`, continuous ones do.  Whether a sample can occur at all is not checked.
"""
import math

import torch

from ...base import MXNetError
from ..core.table import operator


def _spread(name, sample, parameters, trailing=0):
    """Parameters with axes for the draws; the last `trailing` axes stay last."""
    first = parameters[0].shape
    lead, own = first[:len(first) - trailing], first[len(first) - trailing:]
    draws = sample.dim() - len(first)
    fits = all(p.shape == first for p in parameters) and draws >= 0 and sample.shape[:len(lead)] == lead
    if not fits or sample.shape[sample.dim() - trailing:] != own:
        raise MXNetError(f'operator {name}: sample has shape {tuple(sample.shape)} and the parameters have '
                         + ' and '.join(str(tuple(p.shape)) for p in parameters)
                         + '; all parameters need one shape, which must be how the shape of sample starts')
    shape = (*lead, *[1] * draws, *own)
    return [p.reshape(shape) for p in parameters]


def _result(log_density, is_log):
    return log_density if is_log else log_density.exp()


@operator('_random_pdf_uniform', aliases=('random_pdf_uniform',), same_dtype=('*',))
def random_pdf_uniform(sample, low, high, *, is_log: bool = False):
    """Density of the uniform distribution between `low` and `high`, or its logarithm."""
    low, high = _spread('_random_pdf_uniform', sample, (low, high))
    width = high - low
    density = -width.log() if is_log else 1.0 / width
    return density.expand(sample.shape).contiguous()


@operator('_random_pdf_normal', aliases=('random_pdf_normal',), same_dtype=('*',))
def random_pdf_normal(sample, mu, sigma, *, is_log: bool = False):
    """Density of the normal distribution with mean `mu` and deviation `sigma`, or its logarithm."""
    mu, sigma = _spread('_random_pdf_normal', sample, (mu, sigma))
    return _result(-0.5 * ((sample - mu) / sigma).square() - (sigma * math.sqrt(2 * math.pi)).log(), is_log)


@operator('_random_pdf_gamma', aliases=('random_pdf_gamma',), same_dtype=('*',))
def random_pdf_gamma(sample, alpha, beta, *, is_log: bool = False):
    """Density of the gamma distribution with shape parameter `alpha` and rate `beta`, or its logarithm.

    Mind that `beta` is a rate here, but a scale where numbers are drawn.
    """
    alpha, beta = _spread('_random_pdf_gamma', sample, (alpha, beta))
    return _result(alpha * beta.log() + (alpha - 1) * sample.log() - beta * sample - torch.lgamma(alpha), is_log)


@operator('_random_pdf_exponential', aliases=('random_pdf_exponential',), same_dtype=('*',))
def random_pdf_exponential(sample, lam, *, is_log: bool = False):
    """Density of the exponential distribution with rate `lam`, or its logarithm."""
    lam, = _spread('_random_pdf_exponential', sample, (lam,))
    return _result(lam.log() - lam * sample, is_log)


@operator('_random_pdf_poisson', aliases=('random_pdf_poisson',), same_dtype=('*',))
def random_pdf_poisson(sample, lam, *, is_log: bool = False):
    """Probability of counts under the Poisson distribution with mean `lam`, or its logarithm."""
    lam, = _spread('_random_pdf_poisson', sample, (lam,))
    sample = sample.detach()
    return _result(sample * lam.log() - torch.lgamma(sample + 1) - lam, is_log)


def _log_negative_binomial(sample, k, p):
    choices = torch.lgamma(sample + k) - torch.lgamma(sample + 1) - torch.lgamma(k)
    return choices + k * p.log() + sample * torch.log1p(-p)


@operator('_random_pdf_negative_binomial', aliases=('random_pdf_negative_binomial',), same_dtype=('*',))
def random_pdf_negative_binomial(sample, k, p, *, is_log: bool = False):
    """Probability of that many failures before the `k`-th success of probability `p`, or its logarithm."""
    k, p = _spread('_random_pdf_negative_binomial', sample, (k, p))
    return _result(_log_negative_binomial(sample.detach(), k, p), is_log)


@operator('_random_pdf_generalized_negative_binomial', aliases=('random_pdf_generalized_negative_binomial',),
          same_dtype=('*',))
def random_pdf_generalized_negative_binomial(sample, mu, alpha, *, is_log: bool = False):
    """Probability of counts under the negative binomial with mean `mu` and dispersion `alpha`, or its logarithm."""
    mu, alpha = _spread('_random_pdf_generalized_negative_binomial', sample, (mu, alpha))
    return _result(_log_negative_binomial(sample.detach(), 1.0 / alpha, 1.0 / (mu * alpha + 1.0)), is_log)


@operator('_random_pdf_dirichlet', aliases=('random_pdf_dirichlet',), same_dtype=('*',))
def random_pdf_dirichlet(sample, alpha, *, is_log: bool = False):
    """Density of the Dirichlet distribution with concentrations `alpha` along the last axis, or its logarithm."""
    alpha, = _spread('_random_pdf_dirichlet', sample, (alpha,), trailing=1)
    weighted = ((alpha - 1) * sample.log()).sum(-1)
    result = _result(weighted + torch.lgamma(alpha.sum(-1)) - torch.lgamma(alpha).sum(-1), is_log)
    return result if result.dim() else result.reshape(1)
