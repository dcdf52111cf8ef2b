"""Finds the ranges of a network's values from examples: the extremes, or the threshold that loses least."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from .. import ndarray
from ..base import py_str

if TYPE_CHECKING:
    from ..ndarray import NDArray


def combine_histogram(old_hist: Any, arr: NDArray, new_min: float, new_max: float, new_th: float) -> Any:
    """Adds values to a histogram (counts, edges, min, max, threshold), which is widened where they do not fit."""
    counts, edges, low, high, threshold = old_hist
    low, high = min(low, new_min), max(high, new_max)
    if new_th <= threshold:
        more, _ = numpy.histogram(arr, bins=len(counts), range=(-threshold, threshold))
        return counts + more, edges, low, high, threshold
    step = 2 * threshold / len(counts)
    added = int((new_th - threshold) // step + 1)         # bins on each side
    threshold += added * step
    more, edges = numpy.histogram(arr, bins=len(counts) + 2 * added, range=(-threshold, threshold))
    more[added:-added] += counts
    return more, edges, low, high, threshold


class _LayerHistogramCollector:
    """Collects histograms of the values named in `include_layer`."""

    def __init__(self, num_bins=8001, include_layer=None, logger=None):
        self.hist_dict = {}
        self.num_bins, self.include_layer, self.logger = num_bins, include_layer, logger

    def collect(self, name, arr):
        """Takes a value in; it can be the callback of a monitor."""
        name = py_str(name)
        if self.include_layer is not None and name not in self.include_layer:
            return
        values = arr.asnumpy()
        low, high = values.min(), values.max()
        threshold = max(abs(low), abs(high))
        if self.logger:
            self.logger.debug('histogram of %s, shape %s', name, values.shape)
        if name in self.hist_dict:
            self.hist_dict[name] = combine_histogram(self.hist_dict[name], values, low, high, threshold)
        else:
            # a range of one point cannot be divided into bins
            threshold = threshold or numpy.float32(1e-8)
            # NumPy's annotation has no numbers of its own here; of float64 the edges would be other numbers
            span: Any = -threshold, threshold
            counts, edges = numpy.histogram(values, bins=self.num_bins, range=span)
            self.hist_dict[name] = counts, edges, low, high, threshold


class _LayerOutputMinMaxCollector:
    """Collects the smallest and largest of the values named in `include_layer`."""

    def __init__(self, quantized_dtype, include_layer=None, logger=None):
        self.min_max_dict = {}
        self.quantized_dtype, self.include_layer, self.logger = quantized_dtype, include_layer, logger

    def collect(self, name, arr):
        """Takes a value in; it can be the callback of a monitor."""
        name = py_str(name)
        if self.include_layer is not None and name not in self.include_layer:
            return
        low, high = float(arr.min().asscalar()), float(arr.max().asscalar())
        if name in self.min_max_dict:
            before = self.min_max_dict[name]
            low, high = min(low, before[0]), max(high, before[1])
        self.min_max_dict[name] = low, high
        if self.logger:
            self.logger.debug('%s is from %f to %f', name, low, high)


def _smooth_distribution(p, eps=0.0001):
    """A distribution in which zeros are `eps`, taken in equal shares from the other entries."""
    filled = p != 0
    count = int(filled.sum())
    if not count:
        raise ValueError('a distribution cannot be 0 everywhere')
    share = eps * (p.size - count) / count
    if share >= 1:
        raise AssertionError(f'{p.size - count} of {p.size} entries are 0: the others cannot give {share} each')
    return numpy.where(filled, p - share, eps).astype(numpy.float32)


def _get_optimal_threshold(hist_data, quantized_dtype, num_quantized_bins=255):
    """(min, max, threshold, divergence) of a histogram (counts, edges, min, max, threshold)."""
    counts, edges, low, high, _ = hist_data
    if len(counts) % 2 != 1:
        raise AssertionError(f'a histogram needs an odd number of bins, so that 0 has one; this has {len(counts)}')
    if low >= 0 and quantized_dtype in ('auto', 'uint8'):
        num_quantized_bins = num_quantized_bins * 2 + 1       # only half of the bins have something in them
    threshold, divergence = ndarray.contrib.calibrate_entropy(
        ndarray.array(counts, dtype='float32'), ndarray.array(edges, dtype='float32'),
        num_quantized_bins=num_quantized_bins)
    return low, high, threshold.asnumpy(), divergence.asnumpy()


def _get_optimal_thresholds(hist_dict, quantized_dtype, num_quantized_bins=255, logger=None):
    """{name: (min, max)} of {name: histogram}, which is emptied on the way."""
    found = {}
    for name in list(hist_dict):
        low, high, threshold, divergence = _get_optimal_threshold(hist_dict.pop(name), quantized_dtype,
                                                                  num_quantized_bins)
        unsigned = low >= 0 and quantized_dtype in ('auto', 'uint8')
        found[name] = (0, threshold) if unsigned else (-threshold, threshold)
        if logger:
            logger.debug('%s is from %f to %f; threshold %f, divergence %f', name, low, high, threshold[0],
                         divergence[0])
    return {n: (float(numpy.ravel(a)[0]), float(numpy.ravel(b)[0])) for n, (a, b) in found.items()}
