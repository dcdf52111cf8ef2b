"""Operations on lists of tensors in one call, as torch's own optimizers use them.  The fallbacks are loops."""
import torch

from .switch import private


def _each(method):
    """An operation that gives new tensors: (tensors, number, or one tensor or number for each) -> list."""
    def operation(tensors, others, *, alpha=None):
        named = {} if alpha is None else {'alpha': alpha}
        if not isinstance(others, (list, tuple)):
            others = [others] * len(tensors)
        return [getattr(t, method)(o, **named) for t, o in zip(tensors, others, strict=True)]
    return operation


def _each_in_place(method):
    def operation(tensors, others, *more, alpha=None):
        _each_of(method, tensors, others, *more, **({} if alpha is None else {'alpha': alpha}))
    return operation


def _each_of(method, tensors, others, *more, **named):
    if not isinstance(others, (list, tuple)):
        others = [others] * len(tensors)
    for tensor, other in zip(tensors, others, strict=True):
        getattr(tensor, method)(other, *more, **named)


def _norms(tensors, ord=2):
    return [torch.linalg.vector_norm(t, ord) for t in tensors]


def _sgd(weights, grads, moms, *, weight_decay, momentum, lr, dampening, nesterov, maximize, is_first_step):
    """As torch's fused kernel, for what `optimizer/_lists.py` asks of it: no Nesterov, never a first step."""
    with torch.no_grad():
        for number, (weight, grad) in enumerate(zip(weights, grads, strict=True)):
            step = grad.add(weight, alpha=weight_decay) if weight_decay else grad
            if moms:
                step = moms[number].mul_(momentum).add_(step, alpha=1.0 - dampening)
            weight.add_(step, alpha=-lr)


def _adam(decoupled):
    """As torch's fused kernel after infinitely many steps, when nothing is corrected for the averages' bias."""
    def kernel(weights, grads, means, variances, most, steps, *, lr, beta1, beta2, weight_decay, eps, amsgrad,
               maximize):
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
