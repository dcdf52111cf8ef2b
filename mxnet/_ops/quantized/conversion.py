"""From floating point to int8 and back, and how to find the ranges for it."""
from typing import Literal

import torch
from torch.nn import functional as F

from ...base import MXNetError
from ..core import shapes
from ..core.table import operator
from .kernels import INT32_RANGE, LEVELS, RANGES, as_range, calibrated, expect, largest, saturated

_DTYPES = {'int8': torch.int8, 'uint8': torch.uint8}
_THREE = ('output0', 'output1', 'output2')


def _wanted(out_type, low, high):
    """The dtype that `out_type` asks for; 'auto' takes uint8 where nothing is negative."""
    if out_type == 'auto':
        return torch.uint8 if calibrated(low, high) and low >= 0 else torch.int8
    return _DTYPES[out_type]


def _scale(quantized, real):
    """quantized / real, where a range of 0 stands for data that is 0 throughout."""
    return torch.where(real == 0, INT32_RANGE, quantized / real)


@operator('_contrib_quantize', outputs=_THREE)
def quantize(data, min_range, max_range, *, out_type: Literal['int8', 'uint8'] = 'uint8'):
    """Floating point values between `min_range` and `max_range` as int8 or uint8, and the range that is mapped to them.

    int8 is symmetric: its range is from minus to plus the larger absolute value.  uint8 begins at 0.
    """
    real = largest(min_range, max_range)
    if out_type == 'uint8':
        return saturated(data * _scale(255.0, real), torch.uint8), min_range.clone(), max_range.clone()
    return saturated(data * _scale(127.0, real), torch.int8), -real, real


@operator('_contrib_quantize_v2', outputs=_THREE)
def quantize_v2(data, *, out_type: Literal['auto', 'int8', 'uint8'] = 'int8', min_calib_range: float | None = None,
                max_calib_range: float | None = None):
    """Floating point values as int8 or uint8, with the calibrated range, or else that of the data.

    Data that is int8 or uint8 already stays as it is.
    """
    given = calibrated(min_calib_range, max_calib_range)
    if data.dtype in LEVELS:
        low, high = (min_calib_range, max_calib_range) if given else \
            (0, 255) if data.dtype is torch.uint8 else (-127, 127)
        return data.clone(), as_range(low, data), as_range(high, data)
    wanted = _wanted(out_type, min_calib_range, max_calib_range)
    if given:
        low, high = as_range(min_calib_range, data), as_range(max_calib_range, data)
    else:
        low, high = [x.reshape(1).float() for x in data.aminmax()]
    real = largest(low, high)
    values = saturated(data * _scale(RANGES[wanted], real), wanted)
    return (values, low, high) if wanted is torch.uint8 else (values, -real, real)


@operator('_contrib_quantize_asym', outputs=('output', 'scale', 'shift'))
def quantize_asym(data, *, min_calib_range: float | None = None, max_calib_range: float | None = None):
    """Floating point values as uint8 by a scale and a shift: `data * scale + shift`, rounded."""
    one = as_range(1, data)
    if data.dtype is torch.uint8:
        return data.clone(), one, as_range(0, data)
    if data.dtype is torch.int8:
        return (data.to(torch.int16) + 128).to(torch.uint8), one, as_range(128, data)
    if calibrated(min_calib_range, max_calib_range):
        low, high = as_range(min_calib_range, data), as_range(max_calib_range, data)
    else:
        low, high = [x.reshape(1).float() for x in data.aminmax()]
    scale = 255.0 / (high - low)
    shift = 255.0 - high * scale
    return (data * scale + shift + 0.5).floor().clamp(0, 255).to(torch.uint8), scale, shift


@operator('_contrib_dequantize', shapes=shapes.ranges)
def dequantize(data, min_range, max_range, *, out_type: Literal['float32'] = 'float32'):
    """The floating point values that int8, uint8 or int32 data with its range stands for."""
    expect('_contrib_dequantize', 'data', data, *RANGES)
    return data.float() * (largest(min_range, max_range) / RANGES[data.dtype])


@operator('_contrib_requantize', outputs=_THREE, shapes=shapes.ranges)
def requantize(data, min_range, max_range, *, out_type: Literal['auto', 'int8', 'uint8'] = 'int8',
               min_calib_range: float | None = None, max_calib_range: float | None = None):
    """int32 data (the result of a quantized layer) as int8, with the calibrated range, or else that of the data."""
    expect('_contrib_requantize', 'data', data, torch.int32)
    wanted = _wanted(out_type, min_calib_range, max_calib_range)
    step = largest(min_range, max_range) / INT32_RANGE
    if min_calib_range is not None and max_calib_range is not None:
        real = as_range(max(abs(min_calib_range), abs(max_calib_range)), data)
    else:
        real = (data.float().abs() * step).max().reshape(1)
    values = saturated(data.float() * (step * _scale(LEVELS[wanted], real)), wanted)
    return values, torch.zeros_like(real) if wanted is torch.uint8 else -real, real


# ---------------------------------------------------------------------- calibration
_EPSILON = 0.0001


def _smooth(p, length):
    """Distributions, one a row, in which no bin is 0; and which of them there are."""
    filled = p != 0
    count = filled.sum(1, keepdim=True)
    taken = _EPSILON * (length - count) / count.clamp(min=1)
    p = torch.where(filled, p - taken, _EPSILON)
    return p, ((count > 0) & (taken < 1)).squeeze(1) & (p.amin(1) > 0)


def _divergences(histogram, before, halves, levels):
    """How much is lost when the bins middle - half to middle + half become `levels`, and the others the outermost.

    A number for each of `halves`, which fall by one.  `before` has the sum of the values, that of whole values, and how
    many of these are not 0, before each bin.
    """
    middle, device = len(histogram) // 2, histogram.device
    most = int(halves[0])
    length = (2 * halves + 1).unsqueeze(1)
    begin = middle - halves.unsqueeze(1)
    end = begin + length
    # a row for each half; they begin one bin later each time, and end one earlier
    offset = torch.arange(2 * most + 1, device=device)
    rows = F.pad(histogram, (0, len(halves))).as_strided((len(halves), len(offset)), (1, 1), middle - most)
    p = rows * (offset < length)
    p[:, :1] = before[0][begin + 1]
    p.scatter_add_(1, length - 1, (before[0][-1] - before[0][end]).to(p.dtype))
    bounds = begin + length // levels * torch.arange(levels + 1, device=device)
    bounds[:, -1:] = end
    # the first bin stands for all below, and does not count
    totals, counts = (b[bounds].diff(dim=1) for b in before[1:])
    for sums, b in ((totals, before[1]), (counts, before[2])):
        sums[:, :1] -= b[begin + 1] - b[begin]
    level = (offset // int(length[-1] // levels)).clamp_(max=levels - 1)
    q = (totals / counts.clamp(min=1)).to(p.dtype).index_select(1, level).mul_(p != 0)
    # behind the end of a row both are the same small number, so that nothing is added there
    totals = p.sum(1), q.sum(1)
    p, _ = _smooth(p, length)
    q, valid = _smooth(q, length)
    loss = (p * (p / q).log()).sum(1) / totals[0] + (totals[1] / totals[0]).log()
    return torch.where(valid, loss, torch.inf)


@operator('_contrib_calibrate_entropy', outputs=('threshold', 'divergence'))
def calibrate_entropy(hist, hist_edges, *, num_quantized_bins: int = 255):
    """The threshold of a range, found from a histogram: int8 values within it tell most about the floating point ones.

    Of all thresholds, the one whose distribution diverges least (Kullback-Leibler) from that of the histogram.
    """
    bins = hist.numel()
    if hist_edges.numel() != bins + 1:
        raise MXNetError(f'operator _contrib_calibrate_entropy: hist has {bins} bins, so hist_edges must have '
                         f'{bins + 1} values, not {hist_edges.numel()}')
    middle = bins // 2
    if not 0 < num_quantized_bins // 2 <= middle:
        raise MXNetError(f'operator _contrib_calibrate_entropy: num_quantized_bins must be from 2 to the {bins} bins '
                         f'of hist, not {num_quantized_bins}')
    if hist.is_meta:
        return hist.new_empty(1), hist.new_empty(1)
    hist, hist_edges = hist.float().reshape(-1), hist_edges.float().reshape(-1)
    whole = hist.trunc()
    before = [F.pad(values.double().cumsum(0), (1, 0)) for values in (hist, whole, whole != 0)]
    halves = torch.arange(middle, num_quantized_bins // 2 - 1, -1, device=hist.device)
    # those that merge as many bins, and no more at a time than a core's cache holds
    merged = ((2 * halves + 1) // num_quantized_bins).unique_consecutive(return_counts=True)[1].tolist()
    losses = torch.cat([_divergences(hist, before, part, num_quantized_bins)
                        for group in halves.split(merged) for part in group.split(max(1, (1 << 17) // bins))]).flip(0)
    best = losses.argmin().reshape(1)
    return hist_edges[best + (middle + num_quantized_bins // 2 + 1)], losses[best]
