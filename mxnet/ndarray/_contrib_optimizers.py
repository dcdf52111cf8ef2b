"""Optimizer updates of `mx.nd.contrib` that put an operator's arrays together: AdamW and LAMB, one or many weights."""
import numbers

import torch

from .._array import wrap
from .._ops.table import NAMES
from ._invoke import call
from .ndarray import NDArray

__all__ = ['adamw_update', 'mp_adamw_update', 'multi_adamw_update', 'multi_mp_adamw_update', 'multi_lamb_update',
           'multi_mp_lamb_update']


def _scale(rescale_grad, weight):
    """The scale of the gradients as the array that AdamW's operators want it to be."""
    if isinstance(rescale_grad, NDArray):
        return rescale_grad.as_in_context(weight.context)
    if not isinstance(rescale_grad, numbers.Number):
        raise TypeError(f'rescale_grad must be a number or an NDArray, not {type(rescale_grad).__name__}')
    tensor = torch.full((1,), float(rescale_grad), dtype=torch.float32, device=weight.meta().device)
    return wrap(tensor, weight.context, NDArray)


def _run(name, inputs, attributes):
    return call(NAMES[name], tuple(inputs), attributes, NDArray)


def _rows(*columns):
    return [array for row in zip(*columns, strict=True) for array in row]


def adamw_update(weight, grad, mean, var, rescale_grad, lr, eta, beta1=0.9, beta2=0.999, epsilon=1e-8, wd=0,
                 clip_gradient=-1, out=None, name=None, **kwargs):
    """One step of AdamW; `rescale_grad` is a number or an array of one.

    Where it is 0, infinite or NaN, nothing is updated: that is how loss scaling skips a step that overflowed.
    """
    return _run('_adamw_update', (weight, grad, mean, var, _scale(rescale_grad, weight)),
                dict(lr=lr, eta=eta, beta1=beta1, beta2=beta2, epsilon=epsilon, wd=wd, clip_gradient=clip_gradient,
                     out=out, name=name, **kwargs))


def mp_adamw_update(weight, grad, mean, var, weight32, rescale_grad, lr, eta, beta1=0.9, beta2=0.999, epsilon=1e-8,
                    wd=0, clip_gradient=-1, out=None, name=None, **kwargs):
    """`adamw_update` for a weight of low precision with a float32 copy `weight32`."""
    return _run('_mp_adamw_update', (weight, grad, mean, var, weight32, _scale(rescale_grad, weight)),
                dict(lr=lr, eta=eta, beta1=beta1, beta2=beta2, epsilon=epsilon, wd=wd, clip_gradient=clip_gradient,
                     out=out, name=name, **kwargs))


def multi_adamw_update(weights, grads, mean, var, rescale_grad, lrs, wds, etas, out=None, name=None, size=0, **kwargs):
    """`adamw_update` for lists of weights, gradients and states."""
    return _run('_multi_adamw_update', [*_rows(weights, grads, mean, var), _scale(rescale_grad, weights[0])],
                dict(num_weights=size or len(weights), lrs=lrs, wds=wds, etas=etas, out=out, name=name, **kwargs))


def multi_mp_adamw_update(weights, grads, mean, var, weights32, rescale_grad, lrs, wds, etas, out=None, name=None,
                          size=0, **kwargs):
    """`mp_adamw_update` for lists of weights, gradients and states."""
    return _run('_multi_mp_adamw_update', [*_rows(weights, grads, mean, var, weights32),
                                           _scale(rescale_grad, weights[0])],
                dict(num_weights=size or len(weights), lrs=lrs, wds=wds, etas=etas, out=out, name=name, **kwargs))


def multi_lamb_update(weights, grads, mean, var, step_count, lrs, wds, out=None, num_tensors=0, **kwargs):
    """One step of LAMB for lists of weights, gradients and states; `step_count` counts each weight's updates."""
    return _run('_multi_lamb_update', _rows(weights, grads, mean, var),
                dict(num_tensors=num_tensors or len(weights), step_count=step_count, learning_rates=lrs, wds=wds,
                     out=out, **kwargs))


def multi_mp_lamb_update(weights, grads, mean, var, weights32, step_count, lrs, wds, out=None, num_tensors=0,
                         **kwargs):
    """`multi_lamb_update` for weights of low precision with float32 copies `weights32`."""
    return _run('_multi_mp_lamb_update', _rows(weights, grads, mean, var, weights32),
                dict(num_tensors=num_tensors or len(weights), step_count=step_count, learning_rates=lrs, wds=wds,
                     out=out, **kwargs))
