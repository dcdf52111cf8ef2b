"""Whether numbers are drawn from the distribution that they should be drawn from."""
from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ['chi_square_check', 'gen_buckets_probs_with_ppf', 'mean_check', 'var_check', 'verify_generator']


def gen_buckets_probs_with_ppf(ppf: Any, nbuckets: int) -> Any:
    """Buckets that all are hit equally often, from the inverse of a distribution function: (buckets, probabilities)."""
    if nbuckets <= 0:
        raise AssertionError(f'nbuckets must be positive, not {nbuckets}')
    edges = [ppf(i / nbuckets) for i in range(nbuckets + 1)]
    return list(zip(edges[:-1], edges[1:], strict=True)), [1 / nbuckets] * nbuckets


def mean_check(generator: Any, mu: float, sigma: float, nsamples: int = 1000000) -> bool:
    """Whether the mean of `generator(nsamples)` is within three standard errors of `mu`."""
    samples = np.array(generator(nsamples))
    return bool(abs(samples.mean() - mu) < 3 * sigma / np.sqrt(nsamples))


def var_check(generator: Any, sigma: float, nsamples: int = 1000000) -> bool:
    """Whether the variance of `generator(nsamples)` is within three standard errors of `sigma ** 2`."""
    samples = np.array(generator(nsamples))
    return bool(abs(samples.var(ddof=1) - sigma ** 2) < 3 * np.sqrt(2 * sigma ** 4 / (nsamples - 1)))


def chi_square_check(generator: Any, buckets: Any, probs: Any, nsamples: int = 1000000) -> Any:
    """A chi-square test of `generator(nsamples)`: (p value, observed counts, expected counts).

    `buckets` holds (from, to) ranges in ascending order for a continuous distribution, or the values of a discrete one;
    `probs` their probabilities.  Needs SciPy.
    """
    try:
        from scipy.stats import chisquare
    except ImportError:
        raise ImportError('a chi-square test needs SciPy: pip install scipy') from None
    if not isinstance(buckets, list) or len(probs) != len(buckets):
        raise AssertionError(f'{len(probs)} probabilities given for {len(buckets)} buckets, which must be a list')
    samples = np.asarray(generator(nsamples))
    expected = (nsamples * np.array(probs, dtype=np.float32)).astype(np.int32)
    if isinstance(buckets[0], (list, tuple)):
        edges = np.array(buckets, dtype=np.float32).reshape(-1)
        if np.any(edges[:-1] > edges[1:]):
            raise AssertionError(f'the buckets {buckets} are not in ascending order')
        # the even places between edges are buckets, the odd ones gaps; before the first edge is place -1
        places = np.searchsorted(edges, samples, side='right') - 1
        observed = np.array([(places == 2 * i).sum() for i in range(len(buckets))])
        # what equals the very last edge lies in the last bucket
        observed[-1] += (samples == edges[-1]).sum()
    else:
        observed = np.array([(samples == value).sum() for value in buckets])
    # both sides must add up: rounding of the expected counts may not fail a test
    _, p = chisquare(f_obs=observed, f_exp=expected * (observed.sum() / expected.sum()))
    return p, observed, expected


def verify_generator(generator: Any, buckets: Any, probs: Any, nsamples: int = 1000000, nrepeat: int = 5,
                     success_rate: float = 0.2, alpha: float = 0.05) -> Any:
    """Repeats `chi_square_check`; raises an AssertionError unless p > alpha in `success_rate` of the cases."""
    results = [chi_square_check(generator, buckets, probs, nsamples) for _ in range(nrepeat)]
    values = [p for p, _, _ in results]
    if sum(p > alpha for p in values) < nrepeat * success_rate:
        raise AssertionError(f'the generator does not draw from this distribution: p values {values}, '
                             f'observed {[list(o) for _, o, _ in results]}, expected {list(results[0][2])}, '
                             f'buckets {buckets}, probabilities {probs}')
    return values
