"""Gradient descent: plain, with momentum, by signs, with noise, and for workers that are late."""
from __future__ import annotations

import math
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Unpack

import torch

from .._ops.optim.sgd import decayed, nag_mom_update, scaled, sgd_mom_update, sgd_update, signsgd_update, signum_update
from ..ndarray.random import normal
from . import _lists
from ._base import aggregation_size, register, zeros_like
from ._bound_update import descend, descent_of
from ._builtin import BuiltIn

if TYPE_CHECKING:
    from .._typing import OptimizerOptions, RatedOptimizerOptions
    from ..ndarray import NDArray


def _sgd(weight, grad, **numbers):
    return (sgd_update(weight, grad, **numbers),)


def descent(optimizer, lr, wd, with_momentum):
    """The rule of an optimizer that descends, with or without momentum, and its numbers."""
    numbers = {'lr': lr, 'wd': wd, 'rescale_grad': optimizer._rescale, 'clip_gradient': optimizer._clip}
    if with_momentum:
        return sgd_mom_update, {'momentum': optimizer.momentum, **numbers}
    return _sgd, numbers


@register
class SGD(BuiltIn):
    """Gradient descent, with momentum if that is not 0.

        mom = momentum * mom - lr * (clip(rescale_grad * grad) + wd * weight)
        weight = weight + mom

    lazy_update: rows that a row sparse gradient leaves out stay as they are, momentum and decay included.
    """

    _master_last = _asks_for_lists = True

    def __init__(self, momentum: float = 0.0, lazy_update: bool = True,
                 **kwargs: Unpack[RatedOptimizerOptions]) -> None:
        super().__init__(**kwargs)
        self.momentum = momentum
        self.lazy_update = lazy_update
        self.aggregate_num = aggregation_size() or 4

    @property
    def _slots(self):
        return 1 if self.momentum else 0

    _steady = property(attrgetter('momentum', 'rescale_grad', 'clip_gradient'))
    _counted_together = property(lambda self: max(1, self.aggregate_num))

    def _lazy(self, weight):
        return self.lazy_update

    def _rule(self, index, lr, wd):
        return descent(self, lr, wd, bool(self.momentum))

    def _columns_apart(self, columns, states):
        """As in MXNet 1.9.1, a state that is there is written where arrays are sparse, also with momentum 0."""
        return columns or ([list(states)] if any(s is not None for s in states) else [])

    def _step(self, indices, weights, grads, states, lrs, wds):
        moms = states[0] if states and states[0][0] is not None else []
        if moms and not self.momentum:              # one weight, see `_columns_apart`; torch's fused update refuses it
            rule, numbers = descent(self, lrs[0], wds[0], True)
            _lists.apply(rule, numbers, [weights, grads, moms])
        elif _lists.fusible(weights[0]):
            _step_groups(self, descend, weights, grads, moms, lrs, wds)
        else:
            super()._step(indices, weights, grads, states, lrs, wds)

    def _bind_update(self, indices, weights, states, lrs, wds):
        if _lists.fusible(weights[0]) and _same(lrs) and _same(wds):
            return descent_of(weights, states[0] if self.momentum else [], lrs[0], wds[0], self.momentum,
                              self._rescale, self._clip)
        return super()._bind_update(indices, weights, states, lrs, wds)


def _same(numbers):
    return numbers.count(numbers[0]) == len(numbers)


def _step_groups(optimizer, step, weights, grads, moms, lrs, wds):
    """Calls `step`, a function of lists, once where all rates and decays are equal."""
    rest = optimizer.momentum, optimizer._rescale, optimizer._clip
    if _same(lrs) and _same(wds):
        step(weights, grads, moms, lrs[0], wds[0], *rest)
        return
    for (lr, wd), at in _lists.groups(zip(lrs, wds)).items():
        step([weights[i] for i in at], [grads[i] for i in at], moms and [moms[i] for i in at], lr, wd, *rest)


@register
class ccSGD(SGD):
    """An old name of `SGD`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)


class WithMomentum(BuiltIn):
    """An optimizer that keeps a momentum where there was one when the state was made.

    As in MXNet 1.9.1 the state decides: with `momentum` 0 from some update on, it has the last step alone.
    """

    momentum: float

    @property
    def _slots(self):
        return 1 if self.momentum else 0

    def _columns(self, indices, weights, states):
        if self._slots or all(state is None for state in states):
            return super()._columns(indices, weights, states)
        return [list(states)]


def _nag(weight, grad, *mom, momentum, **numbers):
    if not mom or mom[0] is None:
        return sgd_update(weight, grad, **numbers), *mom
    return nag_mom_update(weight, grad, *mom, momentum=momentum, **numbers)


@register
class NAG(WithMomentum):
    """Gradient descent with Nesterov's momentum; plain gradient descent without momentum.

        grad = clip(rescale_grad * grad) + wd * weight
        weight = weight + momentum ** 2 * mom - lr * (momentum + 1) * grad
        mom = momentum * mom - lr * grad
    """

    _master_last = True

    def __init__(self, momentum: float = 0.0, **kwargs: Unpack[RatedOptimizerOptions]) -> None:
        super().__init__(**kwargs)
        self.momentum = momentum

    @property
    def _steady(self):
        return self.momentum, self._rescale, self._clip

    def _updates_rows(self, weight, grad, state):
        """As in MXNet 1.9.1, updates without momentum are those of SGD, which leaves the other rows alone."""
        return grad.stype == 'row_sparse' and all(s is None for s in state)

    def _rule(self, index, lr, wd):
        return _nag, {'momentum': self.momentum, 'lr': lr, 'wd': wd, 'rescale_grad': self._rescale,
                      'clip_gradient': self._clip}

    def _step(self, indices, weights, grads, states, lrs, wds):
        if states and states[0][0] is not None and _lists.fusible(weights[0]):
            _step_groups(self, _lists.nesterov, weights, grads, states[0], lrs, wds)
        else:
            super()._step(indices, weights, grads, states, lrs, wds)


def _signum(weight, grad, *mom, momentum, wd_lh, **numbers):
    if not mom or mom[0] is None:
        return signsgd_update(weight, grad, **numbers), *mom
    return signum_update(weight, grad, *mom, momentum=momentum, wd_lh=wd_lh, **numbers)


@register
class Signum(WithMomentum):
    """Steps of one length, along the sign of the momentum (of the gradient, without momentum).

        mom = momentum * mom - (1 - momentum) * (clip(rescale_grad * grad) + wd * weight)
        weight = (1 - lr * wd_lh) * weight + lr * sign(mom)

    wd_lh: weight decay that does not go through the sign (https://arxiv.org/abs/1711.05101).

    Bernstein et al., https://arxiv.org/abs/1802.04434
    """

    def __init__(self, learning_rate: float = 0.01, momentum: float = 0.9, wd_lh: float = 0.0,
                 **kwargs: Unpack[OptimizerOptions]) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.momentum = momentum
        self.wd_lh = wd_lh

    def _rule(self, index, lr, wd):
        return _signum, {'momentum': self.momentum, 'wd_lh': self.wd_lh, 'lr': lr, 'wd': wd,
                         'rescale_grad': self._rescale, 'clip_gradient': self._clip}


def dcasgd(weight, grad, mom, previous, *, lr, momentum, lamda, wd, rescale_grad, clip_gradient):
    """Gradient descent whose gradient is corrected for how far the weight has moved since it was computed.

        step = grad + wd * weight + lamda * grad ** 2 * (weight - previous)
        mom = momentum * mom - lr * step
        previous, weight = weight, weight + mom
    """
    grad = scaled(grad, rescale_grad, clip_gradient)
    step = decayed(grad, weight, wd) + lamda * grad.square() * (weight - previous)
    moved = step * -lr if mom is None else torch.add(mom * momentum, step, alpha=-lr)
    return weight + moved, None if mom is None else moved, weight.clone()


@register
class DCASGD(BuiltIn):
    """Gradient descent with delay compensation, for asynchronous training; `dcasgd` has the formula.

    Zheng et al., https://arxiv.org/abs/1609.08326
    """

    def __init__(self, momentum: float = 0.0, lamda: float = 0.04, **kwargs: Unpack[RatedOptimizerOptions]) -> None:
        super().__init__(**kwargs)
        self.momentum = momentum
        self.weight_previous: dict[Any, Any] = {}
        self.lamda = lamda

    _slots = 2
    _clips_to_zero = True

    def create_state(self, index: Any, weight: NDArray) -> Any:
        """The momentum or None, and the weight as it was before the last update."""
        return zeros_like(weight) if self.momentum else None, weight.copy()

    def _rule(self, index, lr, wd):
        return dcasgd, {'lr': lr, 'wd': wd, 'momentum': self.momentum, 'lamda': self.lamda,
                        'rescale_grad': self._rescale, 'clip_gradient': self._clip}


def sgld(weight, grad, noise, *, lr, wd, rescale_grad, clip_gradient):
    """`weight - lr / 2 * (grad + wd * weight) + sqrt(lr) * noise`, the noise being standard normal."""
    step = decayed(scaled(grad, rescale_grad, clip_gradient), weight, wd)
    return torch.add(weight, step, alpha=-lr / 2).add_(noise, alpha=math.sqrt(lr)), noise


@register
class SGLD(BuiltIn):
    """Stochastic gradient Langevin dynamics: gradient descent with noise, whose weights sample the posterior.

    `sgld` has the formula.  Patterson and Teh, "Stochastic Gradient Riemannian Langevin Dynamics on the Probability
    Simplex", NIPS 2013.
    """

    def __init__(self, **kwargs: Unpack[RatedOptimizerOptions]) -> None:
        super().__init__(**kwargs)

    _slots = 1
    _can_bind = False
    _clips_to_zero = True

    def create_state(self, index: Any, weight: NDArray) -> Any:
        """None: there is nothing to remember."""

    def _columns(self, indices, weights, states):
        # where other rules have a state stands noise, new for each update
        return [[normal(0, 1, shape=w.shape, dtype=w.dtype, ctx=w.context) for w in weights]]

    def _rule(self, index, lr, wd):
        return sgld, {'lr': lr, 'wd': wd, 'rescale_grad': self._rescale, 'clip_gradient': self._clip}
