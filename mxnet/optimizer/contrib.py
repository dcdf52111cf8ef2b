"""Optimizers beside the main ones: `GroupAdaGrad` and `AdamW`."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

import torch

from .._names import suggest_names as _suggest_names
from .._ops.optim.adaptive import moments
from .._ops.optim.sgd import scaled
from ..base import MXNetError
from ..ndarray import zeros
from . import _lists
from ._adam import bias_correction
from ._base import register
from ._builtin import BuiltIn

if TYPE_CHECKING:
    from .._typing import OptimizerOptions, RatedOptimizerOptions
    from ..ndarray import NDArray

__all__ = ['AdamW', 'GroupAdaGrad']


def group_adagrad(weight: torch.Tensor, grad: torch.Tensor, history: torch.Tensor, *, lr: float, epsilon: float,
                  rescale_grad: Any, clip_gradient: float) -> Any:
    """AdaGrad with one learning rate for each row.

        history = history + mean(grad ** 2, axis=1)
        weight = weight - lr * grad / sqrt(history + epsilon)
    """
    grad = scaled(grad, rescale_grad, clip_gradient)
    history = history + grad.square().mean(1, keepdim=True)
    return torch.addcdiv(weight, grad, (history + epsilon).sqrt(), value=-lr), history


@register
class GroupAdaGrad(BuiltIn):
    """AdaGrad with one learning rate for each row of a matrix; `group_adagrad` has the formula.

    For embeddings.  There is no weight decay.

    eps: keeps the divisor from being 0.
    """

    whole_arrays = True
    _slots = 1
    _elementwise = False

    def __init__(self, eps: float = 1e-5, **kwargs: Unpack[RatedOptimizerOptions]) -> None:
        super().__init__(**kwargs)
        self.float_stable_eps = eps

    def create_state(self, index: Any, weight: NDArray) -> Any:
        """A column: the sum of the mean squares of each row's gradients."""
        if weight.ndim != 2:
            raise MXNetError(f'GroupAdaGrad is for matrices, but weight {index!r} has shape {weight.shape}')
        return zeros((weight.shape[0], 1), weight.context, weight.dtype, weight.stype)

    def _lazy(self, weight):
        return True

    def _rule(self, index, lr, wd):
        if wd:
            raise MXNetError(f'GroupAdaGrad has no weight decay, but wd of weight {index!r} is {wd}')
        return group_adagrad, {'lr': lr, 'epsilon': self.float_stable_eps, 'rescale_grad': self._rescale,
                               'clip_gradient': self._clip}


def adamw(weight: torch.Tensor, grad: torch.Tensor, mean: torch.Tensor, var: torch.Tensor, *, lr: float, beta1: float,
          beta2: float, epsilon: float, decay: float, rescale_grad: Any, clip_gradient: float) -> Any:
    """Adam with weight decay beside the gradient: `weight * (1 - decay) - lr * mean / (sqrt(var) + epsilon)`."""
    grad = scaled(grad, rescale_grad, clip_gradient)
    mean, var = moments(grad, mean, var, beta1, beta2)
    return torch.addcdiv(weight * (1.0 - decay), mean, var.sqrt() + epsilon, value=-lr), mean, var


@register
class AdamW(BuiltIn):
    """Adam whose weight decay does not go through the averages.

        grad = clip(rescale_grad * grad)
        mean = beta1 * mean + (1 - beta1) * grad
        var = beta2 * var + (1 - beta2) * grad ** 2
        weight = weight - lr * (correction * mean / (sqrt(var) + epsilon) + wd * weight)

    where correction is sqrt(1 - beta2 ** t) / (1 - beta1 ** t), or 1 without `correct_bias`.

    Loshchilov and Hutter, https://arxiv.org/abs/1711.05101.  MXNet 1.9.1 has its operator, `nd.contrib.adamw_update`,
    but no class.
    """

    _needs_count = True
    _slots = 2

    def __init__(self, learning_rate: float = 0.001, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-6,
                 correct_bias: bool = True, **kwargs: Unpack[OptimizerOptions]) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.correct_bias = correct_bias

    def _rate(self, index, lr):
        if not self.correct_bias:
            return lr
        return lr * bias_correction(self.beta1, self.beta2, self._index_update_count[index])

    def _rule(self, index, lr, wd):
        return adamw, {'lr': self._rate(index, lr), 'decay': lr * wd, 'beta1': self.beta1, 'beta2': self.beta2,
                       'epsilon': self.epsilon, 'rescale_grad': self._rescale, 'clip_gradient': self._clip}

    def _step(self, indices, weights, grads, states, lrs, wds):
        if not all(lrs) or not _lists.fusible(weights[0]):
            super()._step(indices, weights, grads, states, lrs, wds)
            return
        grads = _lists.scaled(grads, self._rescale, self._clip)
        rates = [self._rate(index, lr) for index, lr in zip(indices, lrs)]
        for (rate, decay), at in _lists.groups(zip(rates, [lr * wd for lr, wd in zip(lrs, wds)])).items():
            w, g, mean, variance = ([column[i] for i in at] for column in (weights, grads, *states))
            _lists.adam(w, g, mean, variance, rate, self.beta1, self.beta2, self.epsilon, decay / rate, decoupled=True)


_suggest_names(globals())
