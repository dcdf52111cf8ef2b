"""Optimizer updates of `mx.nd.contrib` that put an operator's arrays together: AdamW and LAMB, one or many weights."""
from __future__ import annotations

import numbers
from typing import Any

import torch

from .._array import wrap
from .._names import kind_of
from .._ops.core.table import NAMES
from ._invoke import call
from .ndarray import NDArray

__all__ = ['adamw_update', 'mp_adamw_update', 'multi_adamw_update', 'multi_mp_adamw_update', 'multi_lamb_update',
           'multi_mp_lamb_update']


def _scale(rescale_grad, weight):
    """The scale of the gradients as the array that AdamW's operators want it to be."""
    if isinstance(rescale_grad, NDArray):
        return rescale_grad.as_in_context(weight.context)
    if not isinstance(rescale_grad, numbers.Real):
        raise TypeError(f'rescale_grad must be a number or an NDArray, not {kind_of(rescale_grad)}')
    tensor = torch.full((1,), float(rescale_grad), dtype=torch.float32, device=weight.meta().device)
    return wrap(tensor, weight.context, NDArray)


def _run(name, inputs, attributes):
    return call(NAMES[name], tuple(inputs), attributes, NDArray)


def _rows(*columns):
    return [array for row in zip(*columns, strict=True) for array in row]


def adamw_update(weight: NDArray, grad: NDArray, mean: Any, var: Any, rescale_grad: float, lr: float, eta: float,
                 beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8, wd: float = 0,
                 clip_gradient: float = -1, out: Any = None, name: str | None = None, **kwargs: Any) -> Any:
    """One step of AdamW; `rescale_grad` is a number or an array of one.

    Where it is 0, infinite or NaN, nothing is updated: that is how loss scaling skips a step that overflowed.
    """
    return _run('_adamw_update', (weight, grad, mean, var, _scale(rescale_grad, weight)),
                dict(lr=lr, eta=eta, beta1=beta1, beta2=beta2, epsilon=epsilon, wd=wd, clip_gradient=clip_gradient,
                     out=out, name=name, **kwargs))


def mp_adamw_update(weight: NDArray, grad: NDArray, mean: Any, var: Any, weight32: Any, rescale_grad: float, lr: float,
                    eta: float, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8, wd: float = 0,
                    clip_gradient: float = -1, out: Any = None, name: str | None = None, **kwargs: Any) -> Any:
    """`adamw_update` for a weight of low precision with a float32 copy `weight32`."""
    return _run('_mp_adamw_update', (weight, grad, mean, var, weight32, _scale(rescale_grad, weight)),
                dict(lr=lr, eta=eta, beta1=beta1, beta2=beta2, epsilon=epsilon, wd=wd, clip_gradient=clip_gradient,
                     out=out, name=name, **kwargs))


def multi_adamw_update(weights: Any, grads: Any, mean: Any, var: Any, rescale_grad: float, lrs: Any, wds: Any,
                       etas: Any, out: Any = None, name: str | None = None, size: int = 0, **kwargs: Any) -> Any:
    """`adamw_update` for lists of weights, gradients and states."""
    return _run('_multi_adamw_update', [*_rows(weights, grads, mean, var), _scale(rescale_grad, weights[0])],
                dict(num_weights=size or len(weights), lrs=lrs, wds=wds, etas=etas, out=out, name=name, **kwargs))


def multi_mp_adamw_update(weights: Any, grads: Any, mean: Any, var: Any, weights32: Any, rescale_grad: float, lrs: Any,
                          wds: Any, etas: Any, out: Any = None, name: str | None = None, size: int = 0,
                          **kwargs: Any) -> Any:
    """`mp_adamw_update` for lists of weights, gradients and states."""
    return _run('_multi_mp_adamw_update', [*_rows(weights, grads, mean, var, weights32),
                                           _scale(rescale_grad, weights[0])],
                dict(num_weights=size or len(weights), lrs=lrs, wds=wds, etas=etas, out=out, name=name, **kwargs))


def multi_lamb_update(weights: Any, grads: Any, mean: Any, var: Any, step_count: Any, lrs: Any, wds: Any,
                      out: Any = None, num_tensors: int = 0, **kwargs: Any) -> Any:
    """One step of LAMB for lists of weights, gradients and states; `step_count` counts each weight's updates."""
    return _run('_multi_lamb_update', _rows(weights, grads, mean, var),
                dict(num_tensors=num_tensors or len(weights), step_count=step_count, learning_rates=lrs, wds=wds,
                     out=out, **kwargs))


def multi_mp_lamb_update(weights: Any, grads: Any, mean: Any, var: Any, weights32: Any, step_count: Any, lrs: Any,
                         wds: Any, out: Any = None, num_tensors: int = 0, **kwargs: Any) -> Any:
    """`multi_lamb_update` for weights of low precision with float32 copies `weights32`."""
    return _run('_multi_mp_lamb_update', _rows(weights, grads, mean, var, weights32),
                dict(num_tensors=num_tensors or len(weights), step_count=step_count, learning_rates=lrs, wds=wds,
                     out=out, **kwargs))
