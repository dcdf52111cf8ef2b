"""Mathematics of `contrib`: Fourier transforms, count sketches, a point process, and a comparison."""
import torch

from ...base import MXNetError
from ..core.checks import in_range
from ..core.table import operator


@operator('_contrib_allclose', same_dtype=('a', 'b'))
def allclose(a, b, *, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = True):
    """1 if all elements of `a` and `b` are equal up to `atol + rtol * abs(b)`, else 0; a uint8 without axes."""
    if a.shape != b.shape:
        raise MXNetError(f'operator allclose: a and b must have one shape, but have {tuple(a.shape)} and '
                         f'{tuple(b.shape)}')
    return torch.isclose(a, b, rtol, atol, equal_nan).all().to(torch.uint8)


# ---------------------------------------------------------------------- Fourier transforms
@operator('_contrib_fft')
def fft(data, *, compute_size: int = 128):
    """The Fourier transform of the last axis: real and imaginary parts in turns, so twice as long.

    `compute_size` is for memory-bound devices of the past and does nothing.
    """
    return torch.view_as_real(torch.fft.fft(data)).flatten(-2)


@operator('_contrib_ifft')
def ifft(data, *, compute_size: int = 128):
    """The real part of the inverse Fourier transform of what `fft` returns, not divided by its length.

    `compute_size` is for memory-bound devices of the past and does nothing.
    """
    if data.shape[-1] % 2:
        raise MXNetError(f'operator ifft: the last axis of data with shape {tuple(data.shape)} must hold pairs of real '
                         'and imaginary parts')
    pairs = data.reshape(*data.shape[:-1], data.shape[-1] // 2, 2).contiguous()
    return torch.fft.ifft(torch.view_as_complex(pairs), norm='forward').real


@operator('_contrib_count_sketch', same_dtype=('data', 'h', 's'))
def count_sketch(data, h, s, *, out_dim: int, processing_batch_size: int = 32):
    """The count sketch of the last axis: element i is added, times the sign `s[i]`, to element `h[i]` of the result.

    `processing_batch_size` is for memory-bound devices of the past and does nothing.
    """
    if h.numel() != data.shape[-1] or s.numel() != data.shape[-1]:
        raise MXNetError(f'operator count_sketch: h and s must have one value per element of the last axis of data, '
                         f'but the shapes are {tuple(h.shape)}, {tuple(s.shape)} and {tuple(data.shape)}')
    zeros = data.new_zeros(*data.shape[:-1], out_dim)
    index = in_range('_contrib_count_sketch', 'h', h.reshape(-1).long(), out_dim)
    return zeros.index_add(-1, index, data * s.reshape(-1))


# ---------------------------------------------------------------------- Hawkes processes
@operator('_contrib_hawkesll', outputs=('output', 'out_state'))
def hawkesll(lda, alpha, beta, state, lags, marks, valid_length, max_time):
    """The log likelihood of marked points in time under independent, self-exciting (Hawkes) processes.

    Process k has the intensity `lda[k] + alpha[k] * beta[k] * s(t)`, where s(t) is the sum of exp(-beta[k] * age) over
    its past points.  For N samples of up to T points and K processes: `lda` and `state` (s at time 0) are (N, K),
    `alpha` and `beta` (K,), `lags` (times since the point before) and `marks` (which process) (N, T), `valid_length`
    (points that count) and `max_time` (end of observation) (N,).  Returns the likelihoods (N,) and s at the end (N, K).
    """
    samples, points = lags.shape
    processes = torch.arange(lda.shape[1], device=lda.device)
    time = lags.new_zeros(samples, 1)
    last = torch.zeros_like(lda)         # when each process had its last point
    total = lda.new_zeros(samples)
    for i in range(points):
        valid = (valid_length > i).unsqueeze(1)
        here = valid & (marks[:, i:i + 1] == processes)
        time = torch.where(valid, time + lags[:, i:i + 1], time)
        gap = time - last
        decay = torch.exp(-beta * gap)
        # 1 where there is no point, so that its logarithm has a finite gradient
        intensity = torch.where(here, lda + alpha * beta * state * decay, 1)
        expected = lda * gap + alpha * state * (1 - decay)
        total = total + torch.where(here, intensity.log() - expected, 0).sum(1)
        state = torch.where(here, 1 + state * decay, state)
        last = torch.where(here, time, last)
    gap = max_time.unsqueeze(1) - last
    decay = torch.exp(-beta * gap)
    expected = lda * gap + alpha * state * (1 - decay)
    return total - expected.sum(1), state * decay
