"""Optimizer updates that upstream has for row_sparse gradients: these functions see the rows with a gradient."""
import torch

from ...base import MXNetError
from ..core.table import operator


def _gradient(grad, rescale_grad, clip_gradient):
    grad = grad * rescale_grad
    return grad.clamp(-clip_gradient, clip_gradient) if clip_gradient > 0 else grad


@operator('_sparse_adagrad_update', auto_inputs=False, aux='history', mutates='history')
def adagrad_update(weight, grad, history, *, lr: float, epsilon: float = 1e-7, wd: float = 0.0,
                   rescale_grad: float = 1.0,
                   clip_gradient: float = -1.0):
    """AdaGrad: `history += grad ** 2; weight -= lr * grad / sqrt(history + epsilon)`.

    Rows that a row_sparse gradient leaves out stay as they are.  Weight decay is not supported.
    """
    if wd:
        raise MXNetError(f'operator _sparse_adagrad_update: wd must be 0, not {wd}')
    grad = _gradient(grad, rescale_grad, clip_gradient)
    history = history + grad.square()
    return weight - lr * grad / (history + epsilon).sqrt(), history


@operator('_contrib_group_adagrad_update', auto_inputs=False, aux='history', mutates='history')
def group_adagrad_update(weight, grad, history, *, lr: float, rescale_grad: float = 1.0, clip_gradient: float = -1.0,
                         epsilon: float = 1e-5):
    """AdaGrad with one rate for each row: `history += mean(grad ** 2, of a row); weight -= lr * grad / sqrt(history +
    epsilon)`.
    """
    grad = _gradient(grad, rescale_grad, clip_gradient)
    history = history + grad.square().flatten(1).mean(1).reshape(history.shape)
    rate = lr / torch.sqrt(history + epsilon)
    return weight - rate.reshape(-1, *[1] * (grad.dim() - 1)) * grad, history
