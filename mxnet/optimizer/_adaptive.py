"""Optimizers that divide the step by how large a weight's gradients have been."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

import torch

from .._ops.optim.adaptive import ftml_update, ftrl_update, rmsprop_update, rmspropalex_update
from .._ops.optim.sgd import decayed, scaled
from ._base import register, zeros_like
from ._builtin import BuiltIn

if TYPE_CHECKING:
    from .._typing import OptimizerOptions, RatedOptimizerOptions
    from ..ndarray import NDArray


def adagrad(weight, grad, history, *, lr, epsilon, wd, rescale_grad, clip_gradient):
    """The gradient over the root of the sum of all its squares.

        history = history + grad ** 2
        weight = weight - lr * (grad / sqrt(history + epsilon) + wd * weight)
    """
    grad = scaled(grad, rescale_grad, clip_gradient)
    history = torch.addcmul(history, grad, grad)
    return torch.add(weight, decayed(grad / (history + epsilon).sqrt(), weight, wd), alpha=-lr), history


@register
class AdaGrad(BuiltIn):
    """AdaGrad; `adagrad` has the formula.

    eps: keeps the divisor from being 0.

    Duchi, Hazan and Singer, "Adaptive Subgradient Methods for Online Learning and Stochastic Optimization", JMLR 2011.
    """

    _slots = 1
    _clips_to_zero = True

    def __init__(self, eps: float = 1e-7, **kwargs: Unpack[RatedOptimizerOptions]) -> None:
        super().__init__(**kwargs)
        self.float_stable_eps = eps

    def _lazy(self, weight):
        return True

    def _rule(self, index, lr, wd):
        return adagrad, {'lr': lr, 'wd': wd, 'epsilon': self.float_stable_eps, 'rescale_grad': self._rescale,
                         'clip_gradient': self._clip}


@register
class RMSProp(BuiltIn):
    """RMSProp: the gradient over the root of the running average of its square (Tieleman and Hinton, 2012).

        grad = clip(rescale_grad * grad + wd * weight)
        n = gamma1 * n + (1 - gamma1) * grad ** 2
        weight = weight - lr * grad / sqrt(n + epsilon)

    centered: Graves' variant (https://arxiv.org/abs/1308.0850, 38 to 45), which divides by the deviation of the
        gradient and has a momentum, `gamma2`:

        g = gamma1 * g + (1 - gamma1) * grad
        delta = gamma2 * delta - lr * grad / sqrt(n - g ** 2 + epsilon)
        weight = weight + delta

    clip_weights: weights are cut to [-clip_weights, clip_weights].
    """

    def __init__(self, learning_rate: float = 0.001, gamma1: float = 0.9, gamma2: float = 0.9, epsilon: float = 1e-8,
                 centered: bool = False, clip_weights: float | None = None, **kwargs: Unpack[OptimizerOptions]) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.gamma1 = gamma1
        self.gamma2 = gamma2
        self.centered = centered
        self.epsilon = epsilon
        self.clip_weights = clip_weights

    @property
    def _slots(self):
        return 3 if self.centered else 1

    def create_state(self, index: Any, weight: NDArray) -> Any:
        """n; with `centered` n, g and delta."""
        return tuple(zeros_like(weight) for _ in range(self._slots))

    def _rule(self, index, lr, wd):
        numbers = {'lr': lr, 'wd': wd, 'gamma1': self.gamma1, 'epsilon': self.epsilon,
                   'rescale_grad': self._rescale, 'clip_gradient': self._clip,
                   'clip_weights': self.clip_weights or -1.0}
        if self.centered:
            return rmspropalex_update, {'gamma2': self.gamma2, **numbers}
        return rmsprop_update, numbers


def adadelta(weight, grad, squares, deltas, *, rho, epsilon, wd, rescale_grad, clip_gradient):
    """A step as long as the steps so far, in units of the gradients so far.

        squares = rho * squares + (1 - rho) * grad ** 2
        delta = sqrt(deltas + epsilon) / sqrt(squares + epsilon) * grad
        deltas = rho * deltas + (1 - rho) * delta ** 2
        weight = weight - delta - wd * weight
    """
    grad = scaled(grad, rescale_grad, clip_gradient)
    squares = torch.addcmul(squares * rho, grad, grad, value=1.0 - rho)
    delta = (deltas + epsilon).sqrt() / (squares + epsilon).sqrt() * grad
    deltas = torch.addcmul(deltas * rho, delta, delta, value=1.0 - rho)
    return weight - decayed(delta, weight, wd), squares, deltas


@register
class AdaDelta(BuiltIn):
    """AdaDelta, which needs no learning rate; `adadelta` has the formula.

    Zeiler, https://arxiv.org/abs/1212.5701
    """

    _slots = 2
    _clips_to_zero = True

    def __init__(self, rho: float = 0.90, epsilon: float = 1e-5, **kwargs: Unpack[RatedOptimizerOptions]) -> None:
        super().__init__(**kwargs)
        self.rho = rho
        self.epsilon = epsilon

    def _rule(self, index, lr, wd):
        return adadelta, {'rho': self.rho, 'epsilon': self.epsilon, 'wd': wd, 'rescale_grad': self._rescale,
                          'clip_gradient': self._clip}


@register
class Ftrl(BuiltIn):
    """Follow the regularized leader: weights whose gradients do not add up to more than `lamda1` are exactly 0.

        grad = clip(rescale_grad * grad)
        z = z + grad - (sqrt(n + grad ** 2) - sqrt(n)) * weight / lr
        n = n + grad ** 2
        weight = (sign(z) * lamda1 - z) / ((beta + sqrt(n)) / lr + wd) if abs(z) > lamda1 else 0

    McMahan et al., "Ad Click Prediction: a View from the Trenches", KDD 2013.
    """

    _slots = 2

    def __init__(self, lamda1: float = 0.01, learning_rate: float = 0.1, beta: float = 1,
                 **kwargs: Unpack[OptimizerOptions]) -> None:
        super().__init__(**kwargs)
        self.lamda1 = lamda1
        self.beta = beta
        self.lr = learning_rate

    def _lazy(self, weight):
        return weight.stype == 'row_sparse'

    def _rule(self, index, lr, wd):
        return ftrl_update, {'lr': lr, 'wd': wd, 'lamda1': self.lamda1, 'beta': self.beta,
                             'rescale_grad': self._rescale, 'clip_gradient': self._clip}


@register
class FTML(BuiltIn):
    """Follow the moving leader.

        grad = clip(rescale_grad * grad + wd * weight)
        v = beta2 * v + (1 - beta2) * grad ** 2
        d = (1 - beta1 ** t) / lr * (sqrt(v / (1 - beta2 ** t)) + epsilon)
        z = beta1 * z + (1 - beta1) * grad - (d - beta1 * previous d) * weight
        weight = -z / d

    Zheng and Kwok, "Follow the Moving Leader in Deep Learning", ICML 2017.
    """

    _needs_count = True
    _slots = 3

    def __init__(self, beta1: float = 0.6, beta2: float = 0.999, epsilon: float = 1e-8,
                 **kwargs: Unpack[RatedOptimizerOptions]) -> None:
        super().__init__(**kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon

    def _rule(self, index, lr, wd):
        return ftml_update, {'lr': lr, 'wd': wd, 'beta1': self.beta1, 'beta2': self.beta2, 'epsilon': self.epsilon,
                             't': self._index_update_count[index], 'rescale_grad': self._rescale,
                             'clip_grad': self._clip}
