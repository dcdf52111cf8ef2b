"""Functions of `mx.sym.contrib` that are not one operator."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .._kinds import explain_kinds as _explain_kinds
from ._control_flow import cond, foreach, while_loop

if TYPE_CHECKING:
    from ..symbol import Symbol

__all__ = ['adamw_update', 'cond', 'foreach', 'isfinite', 'isinf', 'isnan', 'mp_adamw_update', 'rand_zipfian',
           'while_loop']


def isnan(data: Any) -> Symbol:
    """1 where an element is not a number, else 0."""
    return data != data


def isinf(data: Any) -> Symbol:
    """1 where an element is infinite, else 0."""
    return data.abs() == math.inf


def isfinite(data: Any) -> Symbol:
    """1 where an element is a finite number, else 0."""
    return (data == data) * (data.abs() != math.inf)


def rand_zipfian(true_classes: Any, num_sampled: Any, range_max: Any) -> tuple[Symbol, Symbol, Symbol]:
    """Draws candidate classes, the smaller the likelier; see `mx.nd.contrib.rand_zipfian`."""
    from .random import uniform
    log_range = math.log(range_max + 1)
    sampled = (uniform(0, log_range, shape=(num_sampled,), dtype='float64').exp() - 1).astype('int64') % range_max

    def expected(classes):
        k = classes.astype('float64')
        return ((k + 2) / (k + 1)).log() / log_range * num_sampled

    return sampled, expected(true_classes), expected(sampled)


def _adamw(op, hint, states, rescale_grad, kwargs):
    from .._ops import NAMES
    from ._compose import SymbolBase, call
    from ._creation import full
    if not isinstance(rescale_grad, SymbolBase):
        rescale_grad = full((1,), rescale_grad)
    return call(NAMES[op], hint, (*states, rescale_grad), kwargs, type(states[0]))


def adamw_update(weight: Any, grad: Any, mean: Any, var: Any, rescale_grad: Any, lr: Any, eta: Any, beta1: Any = 0.9,
                 beta2: Any = 0.999, epsilon: Any = 1e-8, wd: Any = 0, clip_gradient: Any = -1, out: Any = None,
                 name: Any = None, **kwargs: Any) -> Symbol:
    """One step of AdamW; `rescale_grad` is a number or a symbol."""
    return _adamw('_adamw_update', 'adamw_update', (weight, grad, mean, var), rescale_grad,
                  {'lr': lr, 'eta': eta, 'beta1': beta1, 'beta2': beta2, 'epsilon': epsilon, 'wd': wd,
                   'clip_gradient': clip_gradient, 'name': name, **kwargs})


def mp_adamw_update(weight: Any, grad: Any, mean: Any, var: Any, weight32: Any, rescale_grad: Any, lr: Any, eta: Any,
                    beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-8, wd: Any = 0, clip_gradient: Any = -1,
                    out: Any = None, name: Any = None, **kwargs: Any) -> Symbol:
    """`adamw_update` for a weight of low precision with a float32 copy."""
    return _adamw('_mp_adamw_update', 'mp_adamw_update', (weight, grad, mean, var, weight32), rescale_grad,
                  {'lr': lr, 'eta': eta, 'beta1': beta1, 'beta2': beta2, 'epsilon': epsilon, 'wd': wd,
                   'clip_gradient': clip_gradient, 'name': name, **kwargs})


_explain_kinds(globals(), ('rand_zipfian',))
