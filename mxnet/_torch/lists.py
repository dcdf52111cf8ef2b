"""Operations on lists of tensors in one call, as torch's own optimizers use them.  The fallbacks are loops."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from .switch import private


def _each(method: str) -> Callable[..., list[torch.Tensor]]:
    """An operation that gives new tensors: (tensors, number, or one tensor or number for each) -> list."""
    def operation(tensors: Sequence[torch.Tensor], others: Any, *, alpha: float | None = None) -> list[torch.Tensor]:
        named = {} if alpha is None else {'alpha': alpha}
        if not isinstance(others, (list, tuple)):
            others = [others] * len(tensors)
        return [getattr(t, method)(o, **named) for t, o in zip(tensors, others, strict=True)]
    return operation


def _each_in_place(method: str) -> Callable[..., None]:
    def operation(tensors: Sequence[torch.Tensor], others: Any, *more: Any, alpha: float | None = None) -> None:
        _each_of(method, tensors, others, *more, **({} if alpha is None else {'alpha': alpha}))
    return operation


def _each_of(method: str, tensors: Sequence[torch.Tensor], others: Any, *more: Any, **named: Any) -> None:
    if not isinstance(others, (list, tuple)):
        others = [others] * len(tensors)
    for tensor, other in zip(tensors, others, strict=True):
        getattr(tensor, method)(other, *more, **named)


def _norms(tensors: Sequence[torch.Tensor], ord: float = 2) -> list[torch.Tensor]:
    return [torch.linalg.vector_norm(t, ord) for t in tensors]


def _sgd(weights: Sequence[torch.Tensor], grads: Sequence[torch.Tensor], moms: Sequence[torch.Tensor], *,
         weight_decay: float, momentum: float, lr: Any, dampening: float, nesterov: bool, maximize: bool,
         is_first_step: bool) -> None:
    """As torch's fused kernel, for what `optimizer/_lists.py` asks of it: no Nesterov, never a first step."""
    with torch.no_grad():
        for number, (weight, grad) in enumerate(zip(weights, grads, strict=True)):
            step = grad.add(weight, alpha=weight_decay) if weight_decay else grad
            if moms:
                step = moms[number].mul_(momentum).add_(step, alpha=1.0 - dampening)
            weight.add_(step, alpha=-lr)


def _adam(decoupled: bool) -> Callable[..., None]:
    """As torch's fused kernel after infinitely many steps, when nothing is corrected for the averages' bias."""
    def kernel(weights: Sequence[torch.Tensor], grads: Sequence[torch.Tensor], means: Sequence[torch.Tensor],
               variances: Sequence[torch.Tensor], most: Any, steps: Any, *, lr: Any, beta1: float, beta2: float,
               weight_decay: float, eps: float, amsgrad: bool, maximize: bool) -> None:
        with torch.no_grad():
            for weight, grad, mean, variance in zip(weights, grads, means, variances, strict=True):
                if decoupled:
                    weight.mul_(1.0 - lr * weight_decay)
                elif weight_decay:
                    grad = grad.add(weight, alpha=weight_decay)
                mean.lerp_(grad, 1.0 - beta1)
                variance.mul_(beta2).addcmul_(grad, grad, value=1.0 - beta2)
                weight.sub_(mean / (variance.sqrt() + eps) * lr)
    return kernel


foreach_add = private('_foreach_add', _each('add'))
foreach_sub = private('_foreach_sub', _each('sub'))
foreach_mul = private('_foreach_mul', _each('mul'))
foreach_clamp_min = private('_foreach_clamp_min', _each('clamp_min'))
foreach_clamp_max = private('_foreach_clamp_max', _each('clamp_max'))
foreach_norm = private('_foreach_norm', _norms)
foreach_add_ = private('_foreach_add_', _each_in_place('add_'))
foreach_mul_ = private('_foreach_mul_', _each_in_place('mul_'))
foreach_copy_ = private('_foreach_copy_', _each_in_place('copy_'))
foreach_lerp_ = private('_foreach_lerp_', _each_in_place('lerp_'))
fused_sgd_ = private('_fused_sgd_', _sgd)
fused_adam_ = private('_fused_adam_', _adam(False))
fused_adamw_ = private('_fused_adamw_', _adam(True))
