"""Update rules that adapt the step to each weight: Adam, AdamW, LAMB, FTML, FTRL, RMSProp.

As in sgd.py an update returns the new weight and then its new states; `mp_*` compute on `weight32`.
"""
import math

import torch

from ..core.table import operator
from .sgd import decayed, scaled


def moments(grad, mean, var, beta1, beta2):
    """The running averages of the gradient and of its square."""
    return mean.lerp(grad, 1.0 - beta1), torch.addcmul(var * beta2, grad, grad, value=1.0 - beta2)


def _clipped(tensor, bound):
    return tensor.clamp(-bound, bound) if bound >= 0 else tensor


# ---------------------------------------------------------------------- Adam
@operator(aliases=('_sparse_adam_update',), same_dtype=('*',), aux=('mean', 'var'), mutates=('mean', 'var'),
          auto_inputs=False)
def adam_update(weight, grad, mean, var, *, lr: float, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8,
                wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, lazy_update: bool = True):
    """Adam: `weight - lr * mean / (sqrt(var) + epsilon)` with running averages of the gradient and its square.

    Weight decay is part of the gradient, before clipping.  The correction of the averages' bias is not in here: whoever
    calls puts it into `lr`.
    """
    grad = _clipped(decayed(scaled(grad, rescale_grad, -1.0), weight, wd), clip_gradient)
    mean, var = moments(grad, mean, var, beta1, beta2)
    return torch.addcdiv(weight, mean, var.sqrt() + epsilon, value=-lr), mean, var


# ---------------------------------------------------------------------- AdamW
def _adamw(weight, grad, mean, var, rescale_grad, lr, beta1, beta2, epsilon, wd, eta, clip_gradient):
    """New weight, mean and variance; the old ones where the scale is 0 or not finite (an overflow was found)."""
    rescale_grad = rescale_grad.reshape(())
    go = rescale_grad.isfinite() & (rescale_grad != 0)
    grad = _clipped(grad * rescale_grad, clip_gradient)
    new_mean, new_var = moments(grad, mean, var, beta1, beta2)
    step = decayed(lr * new_mean / (new_var.sqrt() + epsilon), weight, wd)
    return tuple(torch.where(go, new, old) for new, old in
                 ((torch.add(weight, step, alpha=-eta), weight), (new_mean, mean), (new_var, var)))


@operator('_adamw_update', same_dtype=('weight', 'grad', 'mean', 'var'), aux=('mean', 'var'), mutates=('mean', 'var'),
          auto_inputs=False)
def adamw_update(weight, grad, mean, var, rescale_grad, *, lr: float, beta1: float = 0.9, beta2: float = 0.999,
                 epsilon: float = 1e-8, wd: float = 0.0, eta: float, clip_gradient: float = -1.0):
    """Adam with weight decay of its own: `weight - eta * (lr * mean / (sqrt(var) + epsilon) + wd * weight)`.

    `rescale_grad` is an array of one value; where that is 0, infinite or NaN, nothing is updated.
    """
    return _adamw(weight, grad, mean, var, rescale_grad, lr, beta1, beta2, epsilon, wd, eta, clip_gradient)


@operator('_mp_adamw_update', same_dtype=('weight', 'grad'), aux=('mean', 'var', 'weight32'),
          mutates=('mean', 'var', 'weight32'), auto_inputs=False)
def mp_adamw_update(weight, grad, mean, var, weight32, rescale_grad, *, lr: float, beta1: float = 0.9,
                    beta2: float = 0.999, epsilon: float = 1e-8, wd: float = 0.0, eta: float,
                    clip_gradient: float = -1.0):
    """`_adamw_update` on the float32 copy of a weight of low precision; its states are float32, too."""
    new, mean, var = _adamw(weight32, grad.float(), mean, var, rescale_grad, lr, beta1, beta2, epsilon, wd, eta,
                            clip_gradient)
    return new.to(weight.dtype), mean, var, new


# ---------------------------------------------------------------------- LAMB
def lamb_direction(weight, grad, mean, var, beta1, beta2, epsilon, t, bias_correction, wd):
    """LAMB's step before it is scaled by the trust ratio, and the new averages."""
    mean, var = moments(grad, mean, var, beta1, beta2)
    if bias_correction:
        direction = mean / (1.0 - float(beta1) ** t) / ((var / (1.0 - float(beta2) ** t)).sqrt() + epsilon)
    else:
        direction = mean / (var.sqrt() + epsilon)
    return decayed(direction, weight, wd), mean, var


def trust_ratio(r1, r2, lower_bound, upper_bound):
    """Length of the weight (within bounds) over that of the step; 1 where either has none."""
    if lower_bound >= 0:
        r1 = r1.clamp_min(lower_bound)
    if upper_bound >= 0:
        r1 = r1.clamp_max(upper_bound)
    return torch.where((r1 == 0) | (r2 == 0), 1.0, r1 / r2)


@operator(same_dtype=('*',), aux=('mean', 'var'), mutates=('mean', 'var'), auto_inputs=False)
def lamb_update_phase1(weight, grad, mean, var, *, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-6,
                       t: int, bias_correction: bool = True, wd: float, rescale_grad: float = 1.0,
                       clip_gradient: float = -1.0):
    """First half of LAMB: the direction of the step (Adam's with weight decay), not yet scaled.

    `t` counts the updates from 1 on.  The second half, `lamb_update_phase2`, needs the lengths of weight and direction.
    """
    grad = scaled(grad, rescale_grad, clip_gradient)
    return lamb_direction(weight, grad, mean, var, beta1, beta2, epsilon, t, bias_correction, wd)


@operator(same_dtype=('weight', 'grad'), aux=('mean', 'var'), mutates=('mean', 'var'), auto_inputs=False)
def mp_lamb_update_phase1(weight, grad, mean, var, weight32, *, beta1: float = 0.9, beta2: float = 0.999,
                          epsilon: float = 1e-6, t: int, bias_correction: bool = True, wd: float,
                          rescale_grad: float = 1.0, clip_gradient: float = -1.0):
    """`lamb_update_phase1` for a weight of low precision; the direction is float32."""
    grad = scaled(grad.float(), rescale_grad, clip_gradient)
    return lamb_direction(weight32, grad, mean, var, beta1, beta2, epsilon, t, bias_correction, wd)


@operator(same_dtype=('*',), auto_inputs=False)
def lamb_update_phase2(weight, g, r1, r2, *, lr: float, lower_bound: float = -1.0, upper_bound: float = -1.0):
    """Second half of LAMB: a step along `g`, scaled by the length of the weight `r1` over that of `g`, `r2`.

    Bounds that are not negative limit `r1`.
    """
    return weight - lr * trust_ratio(r1.reshape(()), r2.reshape(()), lower_bound, upper_bound) * g


@operator(aux=('weight32',), auto_inputs=False)
def mp_lamb_update_phase2(weight, g, r1, r2, weight32, *, lr: float, lower_bound: float = -1.0,
                          upper_bound: float = -1.0):
    """`lamb_update_phase2` from the float32 copy of a weight of low precision.

    As upstream's, it leaves `weight32` as it was: to train, call `lamb_update_phase2` on `weight32` itself and cast.
    """
    new = weight32 - lr * trust_ratio(r1.reshape(()), r2.reshape(()), lower_bound, upper_bound) * g
    return new.to(weight.dtype)


# ---------------------------------------------------------------------- FTML, FTRL
@operator(same_dtype=('*',), aux=('d', 'v', 'z'), mutates=('d', 'v', 'z'), auto_inputs=False)
def ftml_update(weight, grad, d, v, z, *, lr: float, beta1: float = 0.6, beta2: float = 0.999, epsilon: float = 1e-8,
                t: int, wd: float = 0.0, rescale_grad: float = 1.0, clip_grad: float = -1.0):
    """Follow the moving leader: the weight is where a running sum of gradients and of distances is smallest.

    `t` counts the updates from 1 on.
    """
    grad = _clipped(decayed(scaled(grad, rescale_grad, -1.0), weight, wd), clip_grad)
    v = torch.addcmul(v * beta2, grad, grad, value=1.0 - beta2)
    new_d = ((v / (1.0 - float(beta2) ** t)).sqrt() + epsilon) * ((1.0 - float(beta1) ** t) / lr if lr else math.inf)
    z = z.lerp(grad, 1.0 - beta1) - (new_d - beta1 * d) * weight
    return -z / new_d, new_d, v, z


@operator(aliases=('_sparse_ftrl_update',), same_dtype=('*',), aux=('z', 'n'), mutates=('z', 'n'), auto_inputs=False)
def ftrl_update(weight, grad, z, n, *, lr: float, lamda1: float = 0.01, beta: float = 1.0, wd: float = 0.0,
                rescale_grad: float = 1.0, clip_gradient: float = -1.0):
    """Follow the regularized leader: weights whose sum of gradients stays below `lamda1` are exactly zero."""
    grad = scaled(grad, rescale_grad, clip_gradient)
    new_n = torch.addcmul(n, grad, grad)
    root = new_n.sqrt()
    z = z + grad - (root - n.sqrt()) * weight / lr
    moved = (z.sign() * lamda1 - z) / ((beta + root) / lr + wd)
    return moved * (z.abs() > lamda1), z, new_n      # NaN stays NaN


# ---------------------------------------------------------------------- RMSProp
@operator(same_dtype=('*',), aux=('n',), mutates=('n',), auto_inputs=False)
def rmsprop_update(weight, grad, n, *, lr: float, gamma1: float = 0.95, epsilon: float = 1e-8, wd: float = 0.0,
                   rescale_grad: float = 1.0, clip_gradient: float = -1.0, clip_weights: float = -1.0):
    """Tieleman and Hinton's RMSProp: the gradient over the root of the running average of its square.

    `epsilon` is inside the root.  Weights are cut to [-clip_weights, clip_weights] where that is not negative.
    """
    grad = _clipped(decayed(scaled(grad, rescale_grad, -1.0), weight, wd), clip_gradient)
    n = torch.addcmul(n * gamma1, grad, grad, value=1.0 - gamma1)
    return _clipped(torch.addcdiv(weight, grad, (n + epsilon).sqrt(), value=-lr), clip_weights), n


@operator(same_dtype=('*',), aux=('n', 'g', 'delta'), mutates=('n', 'g', 'delta'), auto_inputs=False)
def rmspropalex_update(weight, grad, n, g, delta, *, lr: float, gamma1: float = 0.95, gamma2: float = 0.9,
                       epsilon: float = 1e-8, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0,
                       clip_weights: float = -1.0):
    """Graves' RMSProp: divides by the running deviation of the gradient, `sqrt(n - g**2 + epsilon)`, with momentum."""
    grad = _clipped(decayed(scaled(grad, rescale_grad, -1.0), weight, wd), clip_gradient)
    g, n = moments(grad, g, n, gamma1, gamma1)
    delta = torch.addcdiv(delta * gamma2, grad, (n - g.square() + epsilon).sqrt(), value=-lr)
    return _clipped(weight + delta, clip_weights), n, g, delta
