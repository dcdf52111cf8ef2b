"""Optimizers for large batches, which give each layer a learning rate by the length of its weights."""
from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Unpack

import torch

from .._ops.optim.multi import multi_lamb_update, preloaded_multi_sgd_mom_update, preloaded_multi_sgd_update
from .._ops.tensor.identity import multi_lars, multi_sum_sq
from ..autograd import pause
from ..base import MXNetError
from ..ndarray.ndarray import NDArray
from . import _lists
from ._base import aggregation_size, is_list, register
from ._builtin import BuiltIn
from ._descent import WithMomentum, descent

if TYPE_CHECKING:
    from .._typing import OptimizerOptions, RatedOptimizerOptions


def _interleave(*columns):
    return [tensor for row in zip(*columns, strict=True) for tensor in row]


def _write(targets, values):
    for target, value in zip(targets, values, strict=True):
        target.copy_(value)


@register
class LARS(BuiltIn):
    """Gradient descent with momentum, whose learning rate follows the length of each layer's weights.

        lr = lr * eta * |weight| / (|rescale_grad * grad| + wd * |weight| + eps)

    where neither length is 0.  Weights called `...gamma`, `...beta` or `...bias` keep their rate; only those called
    `..._weight` decay.

    lazy_update: rows that a row sparse gradient leaves out stay as they are, momentum and decay included. The lengths
    are those of the whole layer.
    momentum_correction: when a scheduler changes the learning rate, the momentum is scaled along for that step.

    You, Gitman and Ginsburg, https://arxiv.org/abs/1708.03888
    """

    whole_arrays = True
    _master_last = _asks_for_lists = True
    _counted_together = property(lambda self: max(1, self.aggregate_num))
    _counted = None             # num_update when cur_lr was last looked at

    def __init__(self, momentum: float = 0.0, lazy_update: bool = True, eta: float = 0.001, eps: float = 0,
                 momentum_correction: bool = True, **kwargs: Unpack[RatedOptimizerOptions]) -> None:
        super().__init__(**kwargs)
        self.momentum = momentum
        self.momentum_correction = momentum_correction
        self.lazy_update = lazy_update
        self.aggregate_num = aggregation_size() or 4
        self.eta = eta
        self.eps = eps
        self.skip = 0
        self.last_lr: float | None = None
        self.cur_lr: float | None = None

    @property
    def _slots(self):
        return 1 if self.momentum else 0

    def set_wd_mult(self, args_wd_mult: Mapping[Any, float]) -> None:
        """As for other optimizers, but only weights whose names end in `_weight` decay by themselves."""
        self.wd_mult = {**self._without_decay('_weight'), **self._from_symbol('__wd_mult__'), **args_wd_mult}

    def _get_lrs(self, indices):
        if self._counted != self.num_update:        # once a step, however many calls that takes
            self._counted = self.num_update
            lr = self.learning_rate
            self.last_lr = lr if self.cur_lr is None else self.cur_lr
            self.cur_lr = lr
        return super()._get_lrs(indices)

    def _current_momentum(self):
        if self.momentum_correction and self.last_lr and self.cur_lr is not None:
            return self.momentum * (self.cur_lr / self.last_lr)
        return self.momentum

    def _lazy(self, weight):
        return self.lazy_update

    def _update_one(self, index, weight, grad, state, lr, wd):
        if self._updates_rows(weight, grad, state):         # by the length of all rows, not of those with a gradient
            [lr] = self._layer_rates((index,), [weight.materialize().detach()], [grad.materialize().detach()],
                                     [lr], [wd])[0].tolist()
        super()._update_one(index, weight, grad, state, lr, wd)

    def _step_rows(self, indices, weights, grads, states, lrs, wds):
        rule, numbers = descent(self, lrs[0], wds[0], bool(states))
        if states:
            numbers['momentum'] = self._current_momentum()
        _lists.apply(rule, numbers, [weights, grads, *states])

    def _layer_rates(self, indices, weights, grads, lrs, wds):
        """The rates of the layers and their decays, as tensors."""
        # the lengths stay on the device: nothing waits for them
        rates, decays = (torch.tensor(x, dtype=torch.float32, device=weights[0].device) for x in (lrs, wds))
        layers = [n for n, index in enumerate(indices)
                  if not self.idx2name.get(index, '').endswith(('gamma', 'beta', 'bias'))]
        if layers:
            of_weights, of_gradients = (multi_sum_sq(*[column[n] for n in layers], num_arrays=len(layers))
                                        for column in (weights, grads))
            at = torch.tensor(layers, device=rates.device)
            rates[at] = multi_lars(rates[at], of_weights, of_gradients, decays[at], eta=self.eta, eps=self.eps,
                                   rescale_grad=self._rescale)
        return rates, decays

    def _step(self, indices, weights, grads, states, lrs, wds):
        rates, decays = self._layer_rates(indices, weights, grads, lrs, wds)
        numbers = {'rescale_grad': self._rescale, 'clip_gradient': self._clip, 'num_weights': len(weights)}
        if self.momentum:
            moms = states[0]
            _write((*weights, *moms), preloaded_multi_sgd_mom_update(
                *_interleave(weights, grads, moms), rates, decays, momentum=self._current_momentum(), **numbers))
        else:
            _write(weights, preloaded_multi_sgd_update(*_interleave(weights, grads), rates, decays, **numbers))


@register
class LAMB(BuiltIn):
    """Adam with weight decay, whose step follows the length of each layer's weights.

        step = mean / (1 - beta1 ** t) / (sqrt(var / (1 - beta2 ** t)) + epsilon) + wd * weight
        weight = weight - lr * |weight| / |step| * step

    lower_bound, upper_bound: limits of |weight| in that ratio, which is 1 where a length is 0.
    bias_correction: False leaves out the divisions by 1 - beta ** t.

    You et al., https://arxiv.org/abs/1904.00962
    """

    _needs_count = True
    whole_arrays = True
    _slots = 2

    def __init__(self, learning_rate: float = 0.001, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-6,
                 lower_bound: float | None = None, upper_bound: float | None = None, bias_correction: bool = True,
                 **kwargs: Unpack[OptimizerOptions]) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound
        self.bias_correction = bias_correction
        self.aggregate_num = min(aggregation_size() or 45, 45)

    def _step(self, indices, weights, grads, states, lrs, wds):
        means, variances = states
        results = multi_lamb_update(
            *_interleave(weights, grads, means, variances), learning_rates=lrs, wds=wds, beta1=self.beta1,
            beta2=self.beta2, epsilon=self.epsilon, rescale_grad=self._rescale, clip_gradient=self._clip,
            lower_bound=self.lower_bound or -1.0, upper_bound=self.upper_bound or -1.0,
            bias_correction=self.bias_correction, step_count=tuple(self._index_update_count[i] for i in indices),
            num_tensors=len(weights))
        _write((*weights, *_interleave(means, variances)), results)


@register
class LBSGD(WithMomentum):
    """Gradient descent that adds up `batch_scale` gradients before each update, with a warmed-up learning rate.

    warmup_strategy: over `warmup_epochs * updates_per_epoch` gradients the rate grows up to `batch_scale` times its
        value: 'linear'ly, with the square ('power2') or the root ('sqrt') of their number.  'lars' multiplies it by
        sqrt(|weight|^2 / (|grad|^2 + wd * |weight|^2)) instead, kept between 0.01 and 100.
    begin_epoch: the epoch to start from.

    The updates themselves are those of `SGD`.
    """

    _needs_count = True
    whole_arrays = True
    _at_once = False            # each weight has sums and counts of its own

    def __init__(self, momentum: float = 0.0, multi_precision: bool = False, warmup_strategy: str = 'linear',
                 warmup_epochs: int = 5, batch_scale: int = 1, updates_per_epoch: int = 32, begin_epoch: int = 0,
                 num_epochs: int = 60, **kwargs: Any) -> None:
        super().__init__(multi_precision=multi_precision, **kwargs)
        logging.info('LBSGD: batch_scale=%g, warmup_epochs=%d, warmup_strategy=%s, updates_per_epoch=%d', batch_scale,
                     warmup_epochs, warmup_strategy, updates_per_epoch)
        self.momentum = momentum
        self.warmup_strategy = warmup_strategy
        self.warmup_epochs = warmup_epochs
        self.batch_scale = batch_scale
        self.updates_per_epoch = updates_per_epoch
        self.init_updates = begin_epoch * updates_per_epoch
        self.num_epochs = num_epochs
        self.lbmult = 1
        self.cumgrads: dict[Any, Any] = {}
        self.adaptive = False
        self.admult = 1

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Adds up a gradient; updates the weight, in place, when `batch_scale` of them are there."""
        if is_list(index):
            raise MXNetError('LBSGD.update takes one weight at a time, not a list')
        columns = self._columns((index,), (weight,), (state,))
        self._check((index,), (weight,), (grad,), columns)
        lr, wd = self._get_lr(index), self._get_wd(index)
        self._update_count(index)
        total, count = self._add_up(index, grad)
        if count % self.batch_scale:
            return
        self.cumgrads[index]['cum_grad'] = 0
        with pause():
            mean = total if self.batch_scale == 1 else total / self.batch_scale
        lr *= self._layer_rate(weight, mean, wd) if self.warmup_strategy == 'lars' else self._warmup(count)
        self._update_one(index, weight, mean, [s for s, in columns if s is not None], lr, wd)

    def _lazy(self, weight):
        return True             # as in MXNet 1.9.1, updates are those of SGD, which leaves rows without gradient alone

    def _step(self, indices, weights, grads, states, lrs, wds):
        rule, numbers = descent(self, lrs[0], wds[0], bool(states))
        _lists.apply(rule, numbers, [weights, grads, *states])

    def _add_up(self, index, grad):
        """The sum of the gradients since the last update, and how many there have been in all."""
        before = self.cumgrads.get(index, {'cum_grad': 0, 'num_cums': self.init_updates})
        earlier = before['cum_grad']
        # a new array: what is in `grad` will be overwritten
        with pause():
            # one from a file is on the CPU
            total = earlier.as_in_context(grad._ctx) + grad if isinstance(earlier, NDArray) else grad.copy()
        self.cumgrads[index] = {'cum_grad': total, 'num_cums': before['num_cums'] + 1}
        return total, before['num_cums'] + 1

    def _warmup(self, count):
        end = self.warmup_epochs * self.updates_per_epoch
        if count >= end:
            return float(self.batch_scale)
        progress = {'linear': count / end, 'power2': (count / end) ** 2, 'sqrt': math.sqrt(count / end)}
        return 1.0 + (self.batch_scale - 1) * progress.get(self.warmup_strategy, 0.0)

    @staticmethod
    def _layer_rate(weight, grad, wd):
        of_weight, of_grad = (a.materialize().detach().float().square().sum().item() for a in (weight, grad))
        return min(max(math.sqrt(of_weight / (of_grad + wd * of_weight + 1e-18)), 0.01), 100.0)
