"""Normalisation: over the batch, a layer, groups, instances, neighbouring channels."""
from typing import Any, Literal

import torch
from torch.nn import functional as F

from ...base import MXNetError
from ..core import shapes
from ..core.attributes import NonNegative, Training
from ..core.gradients import ones_with_zero_gradient
from ..core.moves import FORWARD, Move
from ..core.table import operator
from . import _workers

_CUDNN = torch.version.cuda is not None and torch.backends.cudnn.is_available()
_STATES = ('moving_mean', 'moving_var')


# ---------------------------------------------------------------------- over the batch
def _with_statistics(attributes):
    return ('output', 'mean', 'var') if attributes['output_mean_var'] else ('output',)


_BATCH_NORM: dict[str, Any] = {
    'shapes': shapes.batch_norm, 'initializers': {'moving_mean': '["zero", {}]', 'moving_var': '["one", {}]'},
    'aux': _STATES, 'mutates': _STATES, 'outputs': _with_statistics,
    'ones': lambda a: 'gamma' if a['fix_gamma'] else None,
    'hidden': lambda a: 0 if a['output_mean_var'] else 2,
}


def _batch_norm(name, data, gamma, beta, moving_mean, moving_var, eps, momentum, fix_gamma, use_batch, axis=1,
                cudnn=True, forward=False):
    """-> output, mean, 1 / sqrt(variance + eps), new moving mean, new moving variance (None: unchanged).

    Upstream computed batch norms on a GPU by cuDNN, which moves the averages in the forward pass, towards the unbiased
    variance.  All its other kernels (CPU, `cudnn_off`, SyncBatchNorm) move them in the backward pass, towards the
    biased one, and so does this; `forward` says which it is on a GPU.
    """
    if not -data.dim() <= axis < data.dim():
        raise MXNetError(f'operator {name}: axis={axis} is not an axis of data with shape {tuple(data.shape)}')
    flat = data.dim() == 1
    x = data.unsqueeze(0) if flat else data if axis == 1 else data.movedim(axis, 1)
    channels = x.shape[1]
    # torch's kernels do not check gamma and beta, and would read past their end
    if not gamma.numel() == beta.numel() == moving_mean.numel() == moving_var.numel() == channels:
        _refuse_channels(name, channels, gamma=gamma, beta=beta, moving_mean=moving_mean, moving_var=moving_var)
    scale = ones_with_zero_gradient(gamma) if fix_gamma else gamma
    use_batch = use_batch and x.numel() > 0
    if not use_batch:
        if torch.is_grad_enabled() and (moving_mean.requires_grad or moving_var.requires_grad):
            moving_mean, moving_var = moving_mean.detach(), moving_var.detach()     # no gradient flows into averages
        kept = moving_mean, moving_var
        if torch.is_grad_enabled() and (x.requires_grad or scale.requires_grad):
            # backward looks at them, and another call may have moved them by then
            kept = moving_mean.clone(), moving_var.clone()
        output = torch.native_batch_norm(x, scale, beta, *kept, False, 0.0, eps)[0]
        mean, inverse = moving_mean, None
    elif x.is_cuda and cudnn and _suits_cudnn(x, eps):
        output, mean, inverse, _ = torch.cudnn_batch_norm(_packed(x), scale, beta, None, None, True, 0.0, eps)
    else:
        # torch's kernel for memory with gaps, such as a slice's, is slow and inexact
        output, mean, inverse = torch.native_batch_norm(_packed(x), scale, beta, None, None, True, 0.0, eps)
    new_mean = new_var = None
    forward = forward and x.device.type in FORWARD
    if inverse is not None and (forward or output.requires_grad):       # it used the statistics of the batch
        new_mean, new_var = mean.detach().to(moving_mean.dtype), inverse.detach().pow(-2) - eps
        if forward:
            count = x.numel() // channels
            new_mean = torch.lerp(moving_mean, new_mean, 1 - momentum)
            new_var = (new_var * (count / max(count - 1, 1))).to(moving_var.dtype)
            new_var = torch.lerp(moving_var, new_var, 1 - momentum)
        else:
            new_mean, new_var = _moves(output, new_mean, new_var.to(moving_var.dtype), momentum)
    if flat:
        output = output.squeeze(0)
    elif axis != 1:
        output = output.movedim(1, axis)
    return output, mean, inverse, new_mean, new_var


def _moves(output, mean, variance, momentum):
    """The averages move when the gradient of `output` is computed."""
    return Move(mean, 1 - momentum, output.grad_fn), Move(variance, 1 - momentum, output.grad_fn)


def _suits_cudnn(x, eps):
    """cuDNN is up to three times as fast as torch's own kernel, within the bounds that torch itself keeps to."""
    return (_CUDNN and x.dtype in (torch.float32, torch.float16) and x.dim() > 2 and eps >= 1e-5
            and x.numel() < 2 ** 31 and x.shape[0] <= 880801 and torch.backends.cudnn.enabled)


def _packed(x):
    """The tensor without gaps, its channels left last if they are; cuDNN takes no other layout."""
    last = {4: torch.channels_last, 5: torch.channels_last_3d}.get(x.dim())
    return x if last is not None and x.is_contiguous(memory_format=last) else x.contiguous()


def _refuse_channels(name, count, **parameters):
    wrong = [f'{key} has shape {tuple(value.shape)}' for key, value in parameters.items() if value.numel() != count]
    raise MXNetError(f'operator {name}: {", ".join(wrong)}, but data has {count} channels: it must be ({count},)')


@operator(aliases=('_npx_batch_norm',), **_BATCH_NORM)
def BatchNorm(data, gamma, beta, moving_mean, moving_var, *, eps: float = 1e-3, momentum: float = 0.9,
              fix_gamma: bool = True, use_global_stats: bool = False, output_mean_var: bool = False, axis: int = 1,
              cudnn_off: bool = False, min_calib_range: float | None = None, max_calib_range: float | None = None,
              training: Training):
    """Normalises each channel over the batch to mean 0 and variance 1, then times `gamma` plus `beta`.

    In train mode the statistics are those of the batch, and `moving_mean` and `moving_var` go towards them by 1 -
    `momentum`: on a CPU when `backward` computes the gradient of the call, on a GPU in the call itself (as cuDNN does
    it; with `cudnn_off` as on a CPU).  Else, or with `use_global_stats`, the moving ones are used.  `fix_gamma`, on by
    default, computes with a gamma of 1 and writes ones into it.  With `output_mean_var` two more results: mean and
    1 / sqrt(variance + eps).
    """
    output, mean, inverse, new_mean, new_var = _batch_norm(
        'BatchNorm', data, gamma, beta, moving_mean, moving_var, eps, momentum, fix_gamma,
        training and not use_global_stats, axis, cudnn=not cudnn_off, forward=not cudnn_off)
    if output_mean_var:
        if inverse is None:
            mean, inverse = mean.detach().clone(), torch.rsqrt(moving_var.detach() + eps)
        return output, mean, inverse, new_mean, new_var
    return output, new_mean, new_var


@operator(**_BATCH_NORM | {'hidden': lambda a: 1 if a['output_mean_var'] else 3})
def _contrib_BatchNormWithReLU(data, gamma, beta, moving_mean, moving_var, *, eps: float = 1e-3, momentum: float = 0.9,
                               fix_gamma: bool = True, use_global_stats: bool = False, output_mean_var: bool = False,
                               axis: int = 1, cudnn_off: bool = False, min_calib_range: float | None = None,
                               max_calib_range: float | None = None, training: Training):
    """BatchNorm, then relu."""
    output, *rest = BatchNorm(data, gamma, beta, moving_mean, moving_var, eps=eps, momentum=momentum,
                              fix_gamma=fix_gamma, use_global_stats=use_global_stats,
                              output_mean_var=output_mean_var, axis=axis, cudnn_off=cudnn_off, training=training)
    return torch.relu(output), *rest


@operator(positional=('data', 'gamma', 'beta', 'eps', 'momentum', 'fix_gamma', 'use_global_stats', 'output_mean_var'),
          ones_always=True, **_BATCH_NORM)
def BatchNorm_v1(data, gamma, beta, moving_mean, moving_var, *, eps: float = 1e-3, momentum: float = 0.9,
                 fix_gamma: bool = True, use_global_stats: bool = False, output_mean_var: bool = False,
                 training: Training):
    """BatchNorm of old files, along axis 1; `output_mean_var` gives the variance itself, not its inverse root."""
    output, mean, inverse, new_mean, new_var = _batch_norm(
        'BatchNorm_v1', data, gamma, beta, moving_mean, moving_var, eps, momentum, fix_gamma,
        training and not use_global_stats)
    if output_mean_var:
        return output, *_mean_and_variance(mean, inverse, moving_var, eps), new_mean, new_var
    return output, new_mean, new_var


def _mean_and_variance(mean, inverse, moving_var, eps):
    return (mean.clone(), moving_var.clone()) if inverse is None else (mean, inverse.pow(-2) - eps)


# ---------------------------------------------------------------------- over the batches of several devices
UNSYNCHRONISED = ('SyncBatchNorm with ndev={ndev} uses the statistics of each device alone: one process computes its '
                  'devices one after the other, so there is nothing to wait for. Start one process per device '
                  '(torchrun, or remx launch) to have them synchronised.')


@operator(ones_always=True, **_BATCH_NORM)
def _contrib_SyncBatchNorm(data, gamma, beta, moving_mean, moving_var, *, eps: float = 1e-3, momentum: float = 0.9,
                           fix_gamma: bool = True, use_global_stats: bool = False, output_mean_var: bool = False,
                           ndev: int = 1, key: str, training: Training):
    """BatchNorm along axis 1 with the statistics of the batches of all processes.

    With `ndev` > 1, the processes are the workers of the job that this one has joined (`mx.kv.create('dist_sync')`),
    or those of torch.distributed's default group.  `key`, which upstream matched
    devices with, is not needed.  `output_mean_var` gives mean and variance.
    """
    use_batch = training and not use_global_stats
    if use_batch and ndev > 1:
        if _workers.sum is not None or torch.distributed.is_available() and torch.distributed.is_initialized():
            return _sync_batch_norm(data, gamma, beta, moving_mean, moving_var, eps, momentum, fix_gamma,
                                    output_mean_var)
        import warnings
        warnings.warn(UNSYNCHRONISED.format(ndev=ndev), stacklevel=2)
    output, mean, inverse, new_mean, new_var = _batch_norm(
        'SyncBatchNorm', data, gamma, beta, moving_mean, moving_var, eps, momentum, fix_gamma, use_batch)
    if output_mean_var:
        return output, *_mean_and_variance(mean, inverse, moving_var, eps), new_mean, new_var
    return output, new_mean, new_var


def _sync_batch_norm(data, gamma, beta, moving_mean, moving_var, eps, momentum, fix_gamma, output_mean_var):
    x = data.to(gamma.dtype)
    axes = [i for i in range(x.dim()) if i != 1]
    column = (1, -1, *[1] * (x.dim() - 2))
    # one message: sums, sums of squares and the number of values (processes may have batches of different sizes)
    total = _workers.summed(torch.cat([x.sum(axes), (x * x).sum(axes), x.new_full((1,), x.numel() / x.shape[1])]))
    mean = total[:-1].view(2, -1)[0] / total[-1]
    variance = total[:-1].view(2, -1)[1] / total[-1] - mean * mean
    scale = ones_with_zero_gradient(gamma) if fix_gamma else gamma
    output = (x - mean.view(column)) * (torch.rsqrt(variance + eps) * scale).view(column) + beta.view(column)
    output = output.to(data.dtype)
    mean, variance = mean.detach(), variance.detach()
    new_mean = new_var = None
    if output.requires_grad:
        new_mean, new_var = _moves(output, mean.to(moving_mean.dtype), variance.to(moving_var.dtype), momentum)
    if output_mean_var:
        return output, mean, variance, new_mean, new_var
    return output, new_mean, new_var


# ---------------------------------------------------------------------- within a sample
def _with_std(attributes):
    return ('output', 'mean', 'std') if attributes['output_mean_var'] else ('output',)


_LAYER_NORM: dict[str, Any] = {
    'outputs': _with_std, 'hidden': lambda a: 0 if a['output_mean_var'] else 2, 'same_dtype': ('data', 'gamma', 'beta'),
}


@operator(aliases=('_npx_layer_norm',), shapes=shapes.layer_norm, **_LAYER_NORM)
def LayerNorm(data, gamma, beta, *, axis: int = -1, eps: float = 1e-5, output_mean_var: bool = False):
    """Normalises along `axis` to mean 0 and variance 1, then times `gamma` plus `beta`, one value per position.

    With `output_mean_var` two more results, which no gradient goes through: mean and sqrt(variance + eps), both with
    length 1 along `axis`.
    """
    if not -data.dim() <= axis < data.dim():
        raise MXNetError(f'operator LayerNorm: axis={axis} is not an axis of data with shape {tuple(data.shape)}')
    last = axis == -1 or axis == data.dim() - 1
    x = data if last else data.movedim(axis, -1)
    output, mean, inverse = torch.native_layer_norm(x, x.shape[-1:], gamma, beta, eps)
    if not last:
        output = output.movedim(-1, axis)
    if not output_mean_var:
        return output
    std = inverse.detach().reciprocal().to(data.dtype)
    mean = mean.detach().to(data.dtype)
    return (output, mean, std) if last else (output, mean.movedim(-1, axis), std.movedim(-1, axis))


@operator(shapes=shapes.group_norm, **_LAYER_NORM)
def GroupNorm(data, gamma, beta, *, num_groups: int = 1, eps: float = 1e-5, output_mean_var: bool = False):
    """Normalises each of `num_groups` groups of channels (axis 1) of each sample, then times `gamma` plus `beta`.

    `gamma` and `beta` have one value per group, not per channel.  With `output_mean_var` two more results, of shape
    (batch, num_groups), which no gradient goes through: mean and sqrt(variance + eps).
    """
    if data.dim() < 3:
        raise MXNetError(f'operator GroupNorm: data has shape {tuple(data.shape)}; it must have at least 3 axes: '
                         '(batch, channel, ...)')
    batch, channels = data.shape[:2]
    if num_groups < 1 or channels % num_groups:
        raise MXNetError(f'operator GroupNorm: num_groups={num_groups} does not divide the {channels} channels of data')
    for name, value in (('gamma', gamma), ('beta', beta)):
        if value.shape != (num_groups,):
            raise MXNetError(f'operator GroupNorm: {name} has shape {tuple(value.shape)}; it must be ({num_groups},), '
                             'one value per group')
    per_group = channels // num_groups
    output, mean, inverse = torch.native_group_norm(
        data.contiguous(), gamma.repeat_interleave(per_group), beta.repeat_interleave(per_group), batch, channels,
        data[0, 0].numel() if batch else 0, num_groups, eps)
    if output_mean_var:
        return output, mean.detach().to(data.dtype), inverse.detach().reciprocal().to(data.dtype)
    return output


@operator(shapes=shapes.instance_norm, hidden=2, same_dtype=('data', 'gamma', 'beta'))
def InstanceNorm(data, gamma, beta, *, eps: float = 1e-3):
    """Normalises each channel (axis 1) of each sample to mean 0 and variance 1, then times `gamma` plus `beta`."""
    if data.dim() < 3:
        raise MXNetError(f'operator InstanceNorm: data has shape {tuple(data.shape)}; it must have at least 3 axes: '
                         '(batch, channel, ...)')
    # with channels last, torch's gradient ends the process on a CPU where only beta learns
    return torch.group_norm(data.contiguous(), data.shape[1], gamma, beta, eps)


@operator(hidden=1)
def L2Normalization(data, *, eps: float = 1e-10, mode: Literal['channel', 'instance', 'spatial'] = 'instance'):
    """Divides by the Euclidean norm, sqrt(sum of squares + eps).

    The norm is taken over all of a sample ('instance'), over the channels at each place ('channel'), or over all
    places of each channel ('spatial').
    """
    if mode != 'instance' and data.dim() < 3:
        raise MXNetError(f'operator L2Normalization: data has shape {tuple(data.shape)}; mode={mode!r} needs at least '
                         '3 axes: (batch, channel, ...)')
    first = {'instance': 1, 'channel': 1, 'spatial': 2}[mode]
    axes = [1] if mode == 'channel' else list(range(first, data.dim()))
    squares = data * data
    # no axes: a sum over "all of a sample" of a 1-D array is the value itself, while torch would take every axis
    total = squares.sum(axes, keepdim=True) if axes else squares
    return data / torch.sqrt(total + eps)


@operator(hidden=1)
def LRN(data, *, alpha: float = 1e-4, beta: float = 0.75, knorm: float = 2.0, nsize: NonNegative):
    """Local response normalisation: divides by (knorm + alpha / nsize * sum of squares) ** beta.

    The sum goes over the `nsize` neighbouring channels (axis 1) at the same place.
    """
    squares = F.pad(data * data, [0, 0] * (data.dim() - 2) + [nsize // 2, (nsize - 1) // 2])
    return data / (knorm + alpha / nsize * squares.unfold(1, nsize, 1).sum(-1)) ** beta
