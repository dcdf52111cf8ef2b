"""Operators of torch whose names begin with an underscore.

Those of graphs are found by name.  One that torch does not have is `ABSENT`, which no call of a graph has as its
target: the pass leaves such calls as they are.
"""
from __future__ import annotations

from typing import Any

import torch

from .switch import private


class _Absent:
    """Stands for an operator that torch does not have."""

    def __repr__(self) -> str:
        return 'an operator that torch does not have'


def _aten(name: str, documented: bool = False) -> Any:
    """An operator of graphs; `documented` for those of torch's Core ATen IR, which are public."""
    if documented:
        found = torch.ops.aten
        for part in name.split('.'):
            found = getattr(found, part)
        return found
    return private(f'ops.aten.{name}', _Absent())


# of the Core ATen IR, which torch documents
TO_COPY = _aten('_to_copy.default', documented=True)
SOFTMAX = _aten('_softmax.default', documented=True)
LOG_SOFTMAX = _aten('_log_softmax.default', documented=True)
ADAPTIVE_AVG_POOL2D = _aten('_adaptive_avg_pool2d.default', documented=True)
BATCH_NORM_NO_TRAINING = _aten('_native_batch_norm_legit_no_training.default', documented=True)
# of its own
LOG_SOFTMAX_BACKWARD = _aten('_log_softmax_backward_data.default')
UNSAFE_VIEW = _aten('_unsafe_view.default')
LINALG_CHECK = _aten('_linalg_check_errors.default')
RESHAPE_ALIAS = _aten('_reshape_alias.default')
PRELU_KERNEL = _aten('_prelu_kernel.default')


def direct_functions() -> dict[str, Any]:
    """{name: function} of ATen operators whose function in torch takes the same arguments and is called faster."""
    names = ('mm addmm bmm baddbmm relu sigmoid tanh exp log sqrt rsqrt add sub mul div neg abs sum mean amax amin t '
             'transpose permute unsqueeze squeeze cat stack where gather index_select convolution native_batch_norm '
             'native_layer_norm native_group_norm reciprocal pow clamp maximum minimum eq ne lt le gt ge logical_and '
             'logical_or logical_not sign erf cumsum cudnn_batch_norm embedding argmax argmin topk sort scatter_add '
             'masked_fill floor ceil sin cos log1p expm1 square as_strided clone select').split()
    found = {name: getattr(torch, name) for name in names if hasattr(torch, name)}
    found |= {name: getattr(torch.Tensor, name) for name in ('view', 'expand') if hasattr(torch.Tensor, name)}
    for name in '_softmax _log_softmax _softmax_backward_data _log_softmax_backward_data'.split():
        found[name] = private(name, None)
    for name in 'linear max_pool2d_with_indices avg_pool2d gelu silu elu leaky_relu softplus hardtanh'.split():
        found[name] = private(f'_C._nn.{name}', None)
    return {name: function for name, function in found.items() if function is not None}


# ---------------------------------------------------------------------- oneDNN
convolution_pointwise = private('ops.mkldnn._convolution_pointwise', None)
reorder_convolution_weight = private('ops.mkldnn._reorder_convolution_weight', None)
linear_pointwise = private('ops.mkldnn._linear_pointwise', None)
reorder_linear_weight = private('ops.mkldnn._reorder_linear_weight', None)
_select_backend = private('_C._select_conv_backend', None)
_backends = private('_C._ConvBackend', None, lambda kinds: hasattr(kinds, 'Slow2d') and hasattr(kinds, 'Mkldnn'))


def has_packed_convolutions() -> bool:
    """Whether there are convolutions whose weights are packed once, and a way to ask which kernel torch chooses."""
    return None not in (convolution_pointwise, reorder_convolution_weight, _select_backend, _backends)


def has_packed_layers() -> bool:
    """Whether there are dense layers whose weights are packed once."""
    return None not in (linear_pointwise, reorder_linear_weight)


def convolution_backend(*arguments: Any) -> str:
    """The kernel that torch chooses for a convolution: 'mkldnn', 'slow2d' (its own) or 'other'."""
    chosen = _select_backend(*arguments)
    return 'mkldnn' if chosen == _backends.Mkldnn else 'slow2d' if chosen == _backends.Slow2d else 'other'


# ---------------------------------------------------------------------- single operators
# int8 (m, k) x int8 (k, n) -> int32; doubles hold these sums exactly
int_mm = private('_int_mm', lambda a, b: (a.double() @ b.double()).to(torch.int32))


def _gamma(alpha: torch.Tensor, generator: torch.Generator | None = None) -> torch.Tensor:
    """Gamma variates by Marsaglia and Tsang's method: a cube of a normal variate, rejected now and then.

    For alpha below 1, a variate of alpha + 1 is multiplied by a uniform variate to the power of 1 / alpha.
    """
    shape = torch.where(alpha < 1, alpha + 1, alpha)
    d = shape - 1 / 3
    c = 1 / (9 * d).sqrt()
    result, open_ = torch.zeros_like(alpha), torch.ones_like(alpha, dtype=torch.bool)
    valid = alpha > 0
    while bool((open_ & valid).any()):
        x = torch.empty_like(alpha).normal_(generator=generator)
        u = torch.empty_like(alpha).uniform_(generator=generator)
        v = (1 + c * x) ** 3
        accepted = open_ & (v > 0) & (u.log() < 0.5 * x * x + d - d * v + d * v.clamp_min(1e-30).log())
        result = torch.where(accepted, d * v, result)
        open_ = open_ & ~accepted
    power = torch.empty_like(alpha).uniform_(generator=generator) ** (1 / alpha)
    return torch.where(alpha < 1, result * power, result)


standard_gamma = private('_standard_gamma', _gamma)

# recurrent layers of cuDNN with the weights in one vector; without them, the layers are computed step by step
cudnn_rnn = private('_cudnn_rnn', None)
cudnn_rnn_backward = private('ops.aten._cudnn_rnn_backward', None)
