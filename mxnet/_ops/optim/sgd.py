"""Update rules of the gradient descent family: plain, with momentum, Nesterov's, by signs.

An update takes the weight, the gradient and the states, returns the new weight and then the new states, which the
caller writes back; with `out=weight` the weight is updated, too.  Gradients are multiplied by `rescale_grad`, then cut
to [-clip_gradient, clip_gradient] where that is not negative.

`mp_*` are for weights of low precision: `weight32` is a float32 copy that the arithmetic happens on.
"""
import torch

from ..core.table import operator


def scaled(grad, rescale_grad, clip_gradient):
    """The gradient as an update uses it."""
    if rescale_grad != 1.0:
        grad = grad * rescale_grad
    return grad.clamp(-clip_gradient, clip_gradient) if clip_gradient >= 0 else grad


def decayed(grad, weight, wd):
    """The gradient with that of the weight decay."""
    return torch.add(grad, weight, alpha=wd) if wd else grad


def _sgd(weight, grad, lr, wd, rescale_grad, clip_gradient):
    step = scaled(grad, rescale_grad, clip_gradient)
    return torch.add(weight * (1.0 - lr * wd) if wd else weight, step, alpha=-lr)


def _sgd_mom(weight, grad, mom, lr, momentum, wd, rescale_grad, clip_gradient):
    step = decayed(scaled(grad, rescale_grad, clip_gradient), weight, wd)
    mom = torch.add(mom * momentum, step, alpha=-lr)
    return weight + mom, mom


def _nag_mom(weight, grad, mom, lr, momentum, wd, rescale_grad, clip_gradient):
    grad = scaled(grad, rescale_grad, clip_gradient)
    kept = mom * momentum
    new = weight - kept + torch.add(kept, decayed(grad, weight, wd), alpha=-lr) * (momentum + 1.0)
    # upstream writes the weight first: the decay inside the momentum is that of the new weight
    return new, torch.add(kept, decayed(grad, new, wd), alpha=-lr)


@operator(aliases=('_sparse_sgd_update',), same_dtype=('weight', 'grad'), auto_inputs=False)
def sgd_update(weight, grad, *, lr: float, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0,
               lazy_update: bool = True):
    """Gradient descent: `weight * (1 - lr * wd) - lr * grad`.

    `lazy_update` matters for row sparse gradients only: it leaves rows alone that have none.
    """
    return _sgd(weight, grad, lr, wd, rescale_grad, clip_gradient)


@operator(aliases=('_sparse_sgd_mom_update',), same_dtype=('weight', 'grad', 'mom'), aux=('mom',), mutates=('mom',),
          auto_inputs=False)
def sgd_mom_update(weight, grad, mom, *, lr: float, momentum: float = 0.0, wd: float = 0.0, rescale_grad: float = 1.0,
                   clip_gradient: float = -1.0, lazy_update: bool = True):
    """Gradient descent with momentum: `mom = momentum * mom - lr * (grad + wd * weight)`, then `weight + mom`."""
    return _sgd_mom(weight, grad, mom, lr, momentum, wd, rescale_grad, clip_gradient)


@operator(same_dtype=('weight', 'grad'), aux=('weight32',), mutates=('weight32',), auto_inputs=False)
def mp_sgd_update(weight, grad, weight32, *, lr: float, wd: float = 0.0, rescale_grad: float = 1.0,
                  clip_gradient: float = -1.0, lazy_update: bool = True):
    """`sgd_update` on the float32 copy of a weight of low precision."""
    new = _sgd(weight32, grad.float(), lr, wd, rescale_grad, clip_gradient)
    return new.to(weight.dtype), new


@operator(same_dtype=('weight', 'grad'), aux=('mom', 'weight32'), mutates=('mom', 'weight32'), auto_inputs=False)
def mp_sgd_mom_update(weight, grad, mom, weight32, *, lr: float, momentum: float = 0.0, wd: float = 0.0,
                      rescale_grad: float = 1.0, clip_gradient: float = -1.0, lazy_update: bool = True):
    """`sgd_mom_update` on the float32 copy of a weight of low precision; `mom` is float32, too."""
    new, mom = _sgd_mom(weight32, grad.float(), mom, lr, momentum, wd, rescale_grad, clip_gradient)
    return new.to(weight.dtype), mom, new


@operator(same_dtype=('weight', 'grad', 'mom'), aux=('mom',), mutates=('mom',), auto_inputs=False)
def nag_mom_update(weight, grad, mom, *, lr: float, momentum: float = 0.0, wd: float = 0.0, rescale_grad: float = 1.0,
                   clip_gradient: float = -1.0):
    """Gradient descent with Nesterov's momentum: the step is taken from where the momentum will have led."""
    return _nag_mom(weight, grad, mom, lr, momentum, wd, rescale_grad, clip_gradient)


@operator(same_dtype=('weight', 'grad'), aux=('mom', 'weight32'), mutates=('mom', 'weight32'), auto_inputs=False)
def mp_nag_mom_update(weight, grad, mom, weight32, *, lr: float, momentum: float = 0.0, wd: float = 0.0,
                      rescale_grad: float = 1.0, clip_gradient: float = -1.0):
    """`nag_mom_update` on the float32 copy of a weight of low precision; `mom` is float32, too."""
    new, mom = _nag_mom(weight32, grad.float(), mom, lr, momentum, wd, rescale_grad, clip_gradient)
    return new.to(weight.dtype), mom, new


@operator(same_dtype=('weight', 'grad'), auto_inputs=False)
def signsgd_update(weight, grad, *, lr: float, wd: float = 0.0, rescale_grad: float = 1.0,
                   clip_gradient: float = -1.0):
    """Moves every weight by `lr` against the sign of its gradient; how large the gradient is does not matter."""
    return torch.add(weight * (1.0 - lr * wd), grad.sign(), alpha=-lr)


@operator(same_dtype=('weight', 'grad', 'mom'), aux=('mom',), mutates=('mom',), auto_inputs=False)
def signum_update(weight, grad, mom, *, lr: float, momentum: float = 0.0, wd: float = 0.0, rescale_grad: float = 1.0,
                  clip_gradient: float = -1.0, wd_lh: float = 0.0):
    """Moves every weight by `lr` along the sign of its momentum.

    `wd` is a decay inside the momentum, `wd_lh` one of the weight itself.
    """
    step = decayed(scaled(grad, rescale_grad, clip_gradient), weight, wd)
    mom = torch.add(mom * momentum, step, alpha=momentum - 1.0)
    return torch.add(weight * (1.0 - lr * wd_lh), mom.sign(), alpha=lr), mom
