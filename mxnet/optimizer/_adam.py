"""Adam and what grew out of it: steps along the average gradient, in units of its average size."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Unpack

import torch

from .._ops.optim.adaptive import adam_update, moments
from .._ops.optim.sgd import decayed, scaled
from . import _lists
from ._base import register
from ._builtin import BuiltIn

if TYPE_CHECKING:
    from .._typing import OptimizerOptions


def full_gradient(weight, grad, wd, rescale_grad, clip_gradient):
    """The gradient with its weight decay, clipped after both have been added up."""
    return scaled(decayed(scaled(grad, rescale_grad, -1.0), weight, wd), 1.0, clip_gradient)


def bias_correction(beta1: float, beta2: float, t: int) -> float:
    """What the learning rate is multiplied by, since averages that start at 0 are too small at first."""
    # floats: a power of ints is computed to its last digit
    return math.sqrt(1.0 - float(beta2) ** t) / (1.0 - float(beta1) ** t)


@register
class Adam(BuiltIn):
    """Adam.

        grad = clip(rescale_grad * grad + wd * weight)
        mean = beta1 * mean + (1 - beta1) * grad
        var = beta2 * var + (1 - beta2) * grad ** 2
        weight = weight - lr * sqrt(1 - beta2 ** t) / (1 - beta1 ** t) * mean / (sqrt(var) + epsilon)

    lazy_update: rows that a row sparse gradient leaves out stay as they are, averages included.

    Kingma and Ba, https://arxiv.org/abs/1412.6980
    """

    _needs_count = True
    _slots = 2
    _by_count = True

    def __init__(self, learning_rate: float = 0.001, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8,
                 lazy_update: bool = True, **kwargs: Unpack[OptimizerOptions]) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.lazy_update = lazy_update

    def _lazy(self, weight):
        return self.lazy_update

    def _corrected(self, index, lr):
        return lr * bias_correction(self.beta1, self.beta2, self._index_update_count[index])

    def _rule(self, index, lr, wd):
        return adam_update, {'lr': self._corrected(index, lr), 'wd': wd, 'beta1': self.beta1, 'beta2': self.beta2,
                             'epsilon': self.epsilon, 'rescale_grad': self._rescale, 'clip_gradient': self._clip}

    def _step(self, indices, weights, grads, states, lrs, wds):
        # the fused kernel adds the decay by itself, but cannot clip after that
        if self.clip_gradient or not _lists.fusible(weights[0]):
            super()._step(indices, weights, grads, states, lrs, wds)
            return
        grads = _lists.scaled(grads, self._rescale, -1.0)
        rates = [self._corrected(index, lr) for index, lr in zip(indices, lrs)]
        for (lr, wd), at in _lists.groups(zip(rates, wds)).items():
            w, g, mean, variance = ([column[i] for i in at] for column in (weights, grads, *states))
            _lists.adam(w, g, mean, variance, lr, self.beta1, self.beta2, self.epsilon, wd)

    @property
    def _steady(self):
        return () if self.clip_gradient else (self.beta1, self.beta2, self.epsilon, self._rescale)

    def _bind_update(self, indices, weights, states, lrs, wds):
        counts = self._index_update_count
        if self._steady and _lists.fusible(weights[0]) and len({*lrs}) == len({counts[i] for i in indices}) == 1:
            return _BoundAdam(self, indices, weights, states, lrs[0], wds)
        return super()._bind_update(indices, weights, states, lrs, wds)


class _BoundAdam:
    """Updates of the same weights, whose numbers stay but for the correction of the rate, which is the same for all.

    `prepare` sets the rate before each update; for a GPU in its memory, where recorded kernels find it.
    """

    def __init__(self, optimizer, indices, weights, states, lr, wds):
        self._optimizer, self._indices, self._lr = optimizer, indices, lr
        self._numbers = optimizer.beta1, optimizer.beta2, optimizer.epsilon
        self._rescale = optimizer._rescale
        self._rate = torch.zeros((), dtype=torch.float32, device=weights[0].device) if weights[0].is_cuda else 0.0
        self._groups = [(wd, at, [[column[i] for i in at] for column in (weights, *states)])
                        for wd, at in _lists.groups(wds).items()]

    def prepare(self):
        """Makes ready for the next update, which has been counted; False if weights have different counts by now."""
        counts = list(map(self._optimizer._index_update_count.get, self._indices))
        if counts.count(counts[0]) != len(counts):
            return False
        rate = self._optimizer._corrected(self._indices[0], self._lr)
        if isinstance(self._rate, float):
            self._rate = rate
        else:
            self._rate.fill_(rate)
        return True

    def __call__(self, grads):
        """Updates by gradients."""
        grads = _lists.scaled(grads, self._rescale, -1.0)
        beta1, beta2, epsilon = self._numbers
        for wd, at, (weights, means, variances) in self._groups:
            _lists.adam(weights, [grads[i] for i in at], means, variances, self._rate, beta1, beta2, epsilon, wd)


def adamax(weight, grad, mean, peak, *, lr, beta1, beta2, wd, rescale_grad, clip_gradient):
    """Adam whose measure of the gradient is its largest size, slowly forgotten.

        mean = beta1 * mean + (1 - beta1) * grad
        peak = max(beta2 * peak, abs(grad))
        weight = weight - lr * mean / peak

    A weight whose gradients have all been 0 stays as it is.
    """
    grad = full_gradient(weight, grad, wd, rescale_grad, clip_gradient)
    mean = mean.lerp(grad, 1.0 - beta1)
    peak = torch.maximum(peak * beta2, grad.abs())
    return torch.addcdiv(weight, mean, peak.clamp_min(torch.finfo(peak.dtype).tiny), value=-lr), mean, peak


@register
class Adamax(BuiltIn):
    """AdaMax; `adamax` has the formula, with lr divided by 1 - beta1 ** t.

    Kingma and Ba, https://arxiv.org/abs/1412.6980, section 7.
    """

    _needs_count = True
    _slots = 2
    _clips_to_zero = True

    def __init__(self, learning_rate: float = 0.002, beta1: float = 0.9, beta2: float = 0.999,
                 **kwargs: Unpack[OptimizerOptions]) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2

    def _rule(self, index, lr, wd):
        lr /= 1.0 - float(self.beta1) ** self._index_update_count[index]
        return adamax, {'lr': lr, 'wd': wd, 'beta1': self.beta1, 'beta2': self.beta2,
                        'rescale_grad': self._rescale, 'clip_gradient': self._clip}


def nadam(weight, grad, mean, var, *, lr, beta1, beta2, epsilon, of_grad, of_mean, of_var, wd, rescale_grad,
          clip_gradient):
    """Adam with Nesterov's momentum: the step mixes the gradient into the average once more.

        step = of_grad * grad + of_mean * mean
        weight = weight - lr * step / (sqrt(of_var * var) + epsilon)
    """
    grad = full_gradient(weight, grad, wd, rescale_grad, clip_gradient)
    mean, var = moments(grad, mean, var, beta1, beta2)
    step = torch.add(grad * of_grad, mean, alpha=of_mean)
    return torch.addcdiv(weight, step, (var * of_var).sqrt() + epsilon, value=-lr), mean, var


@register
class Nadam(BuiltIn):
    """Adam with Nesterov's momentum; `nadam` has the formula.

    schedule_decay: how fast the momentum approaches beta1.

    As in MXNet 1.9.1, the product of all momenta so far, `m_schedule`, is one for all weights.

    Dozat, "Incorporating Nesterov Momentum into Adam", 2015.
    """

    _needs_count = True
    _slots = 2
    _clips_to_zero = True
    _same_rule = False

    def __init__(self, learning_rate: float = 0.001, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8,
                 schedule_decay: float = 0.004, **kwargs: Unpack[OptimizerOptions]) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.schedule_decay = schedule_decay
        self.m_schedule = 1.

    def _rule(self, index, lr, wd):
        t = self._index_update_count[index]
        now, following = (self.beta1 * (1.0 - 0.5 * 0.96 ** (step * self.schedule_decay)) for step in (t, t + 1))
        self.m_schedule *= now
        return nadam, {'lr': lr, 'wd': wd, 'beta1': self.beta1, 'beta2': self.beta2, 'epsilon': self.epsilon,
                       'of_grad': (1.0 - now) / (1.0 - self.m_schedule),
                       'of_mean': following / (1.0 - self.m_schedule * following),
                       'of_var': 1.0 / (1.0 - float(self.beta2) ** t),
                       'rescale_grad': self._rescale, 'clip_gradient': self._clip}


def adabound(weight, grad, mean, var, *, lr, beta1, beta2, epsilon, low, high, wd, rescale_grad, clip_gradient):
    """Adam whose learning rate, weight by weight, is kept between two bounds.

        weight = weight - clip(lr / (sqrt(var) + epsilon), low, high) * mean
    """
    grad = full_gradient(weight, grad, wd, rescale_grad, clip_gradient)
    mean, var = moments(grad, mean, var, beta1, beta2)
    return torch.addcmul(weight, _bounded(var, lr, epsilon, low, high), mean, value=-1), mean, var


def amsbound(weight, grad, mean, var, peak, *, lr, beta1, beta2, epsilon, low, high, wd, rescale_grad, clip_gradient):
    """`adabound` with the largest of all `var` so far, `peak`, in its place: rates can only fall."""
    grad = full_gradient(weight, grad, wd, rescale_grad, clip_gradient)
    mean, var = moments(grad, mean, var, beta1, beta2)
    peak = torch.maximum(peak, var)
    return torch.addcmul(weight, _bounded(peak, lr, epsilon, low, high), mean, value=-1), mean, var, peak


def _bounded(var, lr, epsilon, low, high):
    return (lr / (var.sqrt() + epsilon)).clamp(low, high)


@register
class AdaBound(BuiltIn):
    """Adam that turns into gradient descent: bounds of each weight's rate close in on `final_lr`.

        low = final_lr * (1 - 1 / (gamma * t + 1))
        high = final_lr * (1 + 1 / (gamma * t))

    `adabound` has the rest of the formula.  `final_lr` belongs to the learning rate that the optimizer started with,
    and changes in proportion when a scheduler or `set_learning_rate` changes that.

    final_lr: the rate of gradient descent at the end.
    gamma: how fast the bounds close in.

    Luo et al., https://arxiv.org/abs/1902.09843.  MXNet 1.9.1 does not have it.
    """

    _needs_count = True
    _slots = 2

    def __init__(self, learning_rate: float = 0.001, beta1: float = 0.9, beta2: float = 0.999, final_lr: float = 0.1,
                 gamma: float = 0.001, epsilon: float = 1e-8, **kwargs: Unpack[OptimizerOptions]) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.final_lr = final_lr
        self.gamma = gamma
        self.epsilon = epsilon
        self.base_lr = self.lr_scheduler.base_lr if learning_rate is None else learning_rate
        if not self.base_lr or gamma <= 0:
            raise ValueError(f'{type(self).__name__}: learning_rate ({self.base_lr}) must not be 0, and gamma '
                             f'({gamma}) must be greater than 0')

    def _rule(self, index, lr, wd):
        t = self._index_update_count[index]
        final = self.final_lr * lr / self.base_lr
        return self._formula, {'lr': lr * bias_correction(self.beta1, self.beta2, t), 'wd': wd, 'beta1': self.beta1,
                               'beta2': self.beta2, 'epsilon': self.epsilon,
                               'low': final * (1.0 - 1.0 / (self.gamma * t + 1.0)),
                               'high': final * (1.0 + 1.0 / (self.gamma * t)),
                               'rescale_grad': self._rescale, 'clip_gradient': self._clip}

    _formula: Callable = staticmethod(adabound)


@register
class AMSBound(AdaBound):
    """`AdaBound` whose rates can only fall; `amsbound` has the formula."""

    _slots = 3
    _formula = staticmethod(amsbound)
