"""Updates of several weights in one call, so that many small ones cost few kernel launches.

Inputs come weight by weight: weight_0, grad_0, (states of 0), weight_1, grad_1, ...; `preloaded_*` take learning rates
and decays as two arrays at the end, AdamW its gradient scale as one.  Results are the new weights, then the new states
weight by weight.
"""
import torch

from ..._torch.lists import foreach_add, foreach_clamp_max, foreach_clamp_min, foreach_mul, foreach_norm, foreach_sub
from ...base import MXNetError
from ..core.attributes import Floats, Shape
from ..core.table import operator
from .adaptive import _adamw, lamb_direction, trust_ratio
from .sgd import scaled


def _columns(name, data, count_name, count, parts, last=0):
    """The lists of weights, gradients, ... of `parts`; then what stands behind them."""
    if len(data) != count * len(parts) + last:
        raise MXNetError(f'operator {name}: {count_name}={count} needs {count * len(parts) + last} arrays ('
                         f'{", ".join(parts)} for each weight' + (f', and {last} at the end' if last else '')
                         + f'), {len(data)} were given')
    step = len(parts)
    body = data[:len(data) - last]
    return [list(body[i::step]) for i in range(step)] + list(data[len(data) - last:])


def _one_each(name, count_name, count, **lists):
    for argument, values in lists.items():
        if len(values) != count:
            raise MXNetError(f'operator {name}: {argument} has {len(values)} values, but {count_name} is {count}')


def _facts(parts, changed, count_name='num_weights', last=()):
    """What the table must know about an operator whose inputs repeat for each weight."""
    def input_names(attributes):
        return [f'{p}_{i}' for i in range(attributes[count_name]) for p in parts] + list(last)

    def mutates(attributes, count):
        return [i * len(parts) + parts.index(p) for i in range(attributes[count_name]) for p in changed]

    def outputs(attributes):
        n = attributes[count_name]
        return ('output',) if n == 1 else tuple(f'output{i}' for i in range(n))

    return {'variadic': 'data', 'variadic_names': input_names, 'mutates': mutates if changed else (),
            'outputs': outputs}


def _interleave(*lists):
    return tuple(x for group in zip(*lists) for x in group)


# ---------------------------------------------------------------------- gradient descent
def _steps(weights, grads, lrs, wds, rescale_grad, clip_gradient):
    """lr * (gradient + decay) for each weight."""
    if rescale_grad != 1.0:
        grads = foreach_mul(grads, rescale_grad)
    if clip_gradient >= 0:
        grads = foreach_clamp_max(foreach_clamp_min(grads, -clip_gradient), clip_gradient)
    if isinstance(lrs, torch.Tensor):
        lrs, wds = lrs.unbind(), wds.unbind()
        return [(g + w * wd) * lr for g, w, lr, wd in zip(grads, weights, lrs, wds)]
    if any(wds):
        grads = foreach_add(grads, foreach_mul(weights, wds))
    return foreach_mul(grads, lrs)


def _float(tensors):
    return [t.float() for t in tensors]


def _wide(tensors):
    # lengths of half precision overflow
    return [t if t.dtype is torch.float64 else t.float() for t in tensors]


def _like(tensors, models):
    return [t.to(m.dtype) for t, m in zip(tensors, models)]


def _sgd(name, data, lrs, wds, rescale_grad, clip_gradient, num_weights, last=0):
    weights, grads, *preloaded = _columns(name, data, 'num_weights', num_weights, ('weight', 'grad'), last)
    lrs, wds = preloaded or (lrs, wds)
    _one_each(name, 'num_weights', num_weights, lrs=lrs, wds=wds)
    return tuple(foreach_sub(weights, _steps(weights, grads, lrs, wds, rescale_grad, clip_gradient)))


def _sgd_mom(name, data, lrs, wds, momentum, rescale_grad, clip_gradient, num_weights, last=0):
    weights, grads, moms, *preloaded = _columns(name, data, 'num_weights', num_weights, ('weight', 'grad', 'mom'), last)
    lrs, wds = preloaded or (lrs, wds)
    _one_each(name, 'num_weights', num_weights, lrs=lrs, wds=wds)
    steps = _steps(weights, grads, lrs, wds, rescale_grad, clip_gradient)
    moms = foreach_sub(foreach_mul(moms, momentum), steps)
    return (*foreach_add(weights, moms), *moms)


def _mp_sgd(name, data, lrs, wds, rescale_grad, clip_gradient, num_weights, last=0):
    low, grads, weights, *preloaded = _columns(name, data, 'num_weights', num_weights, ('weight', 'grad', 'weight32'),
                                               last)
    lrs, wds = preloaded or (lrs, wds)
    _one_each(name, 'num_weights', num_weights, lrs=lrs, wds=wds)
    weights = foreach_sub(weights, _steps(weights, _float(grads), lrs, wds, rescale_grad, clip_gradient))
    return (*_like(weights, low), *weights)


def _mp_sgd_mom(name, data, lrs, wds, momentum, rescale_grad, clip_gradient, num_weights, last=0):
    low, grads, moms, weights, *preloaded = _columns(name, data, 'num_weights', num_weights,
                                                     ('weight', 'grad', 'mom', 'weight32'), last)
    lrs, wds = preloaded or (lrs, wds)
    _one_each(name, 'num_weights', num_weights, lrs=lrs, wds=wds)
    steps = _steps(weights, _float(grads), lrs, wds, rescale_grad, clip_gradient)
    moms = foreach_sub(foreach_mul(moms, momentum), steps)
    weights = foreach_add(weights, moms)
    return (*_like(weights, low), *_interleave(moms, weights))


@operator(**_facts(('weight', 'grad'), ()))
def multi_sgd_update(*data, lrs: Floats, wds: Floats, rescale_grad: float = 1.0, clip_gradient: float = -1.0,
                     num_weights: int = 1):
    """`sgd_update` of several weights, each with a learning rate of `lrs` and a decay of `wds`."""
    return _sgd('multi_sgd_update', data, lrs, wds, rescale_grad, clip_gradient, num_weights)


@operator(**_facts(('weight', 'grad', 'mom'), ('mom',)))
def multi_sgd_mom_update(*data, lrs: Floats, wds: Floats, momentum: float = 0.0, rescale_grad: float = 1.0,
                         clip_gradient: float = -1.0, num_weights: int = 1):
    """`sgd_mom_update` of several weights, each with a learning rate of `lrs` and a decay of `wds`."""
    return _sgd_mom('multi_sgd_mom_update', data, lrs, wds, momentum, rescale_grad, clip_gradient, num_weights)


@operator(**_facts(('weight', 'grad', 'weight32'), ('weight32',)))
def multi_mp_sgd_update(*data, lrs: Floats, wds: Floats, rescale_grad: float = 1.0, clip_gradient: float = -1.0,
                        num_weights: int = 1):
    """`mp_sgd_update` of several weights, each with a learning rate of `lrs` and a decay of `wds`."""
    return _mp_sgd('multi_mp_sgd_update', data, lrs, wds, rescale_grad, clip_gradient, num_weights)


@operator(**_facts(('weight', 'grad', 'mom', 'weight32'), ('mom', 'weight32')))
def multi_mp_sgd_mom_update(*data, lrs: Floats, wds: Floats, momentum: float = 0.0, rescale_grad: float = 1.0,
                            clip_gradient: float = -1.0, num_weights: int = 1):
    """`mp_sgd_mom_update` of several weights, each with a learning rate of `lrs` and a decay of `wds`."""
    return _mp_sgd_mom('multi_mp_sgd_mom_update', data, lrs, wds, momentum, rescale_grad, clip_gradient, num_weights)


_PRELOADED = ('lrs', 'wds')


@operator(**_facts(('weight', 'grad'), (), last=_PRELOADED))
def preloaded_multi_sgd_update(*data, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1):
    """`multi_sgd_update` whose learning rates and decays are two arrays, the last inputs."""
    return _sgd('preloaded_multi_sgd_update', data, None, None, rescale_grad, clip_gradient, num_weights, last=2)


@operator(**_facts(('weight', 'grad', 'mom'), ('mom',), last=_PRELOADED))
def preloaded_multi_sgd_mom_update(*data, momentum: float = 0.0, rescale_grad: float = 1.0,
                                   clip_gradient: float = -1.0, num_weights: int = 1):
    """`multi_sgd_mom_update` whose learning rates and decays are two arrays, the last inputs."""
    return _sgd_mom('preloaded_multi_sgd_mom_update', data, None, None, momentum, rescale_grad, clip_gradient,
                    num_weights, last=2)


@operator(**_facts(('weight', 'grad', 'weight32'), ('weight32',), last=_PRELOADED))
def preloaded_multi_mp_sgd_update(*data, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1):
    """`multi_mp_sgd_update` whose learning rates and decays are two arrays, the last inputs."""
    return _mp_sgd('preloaded_multi_mp_sgd_update', data, None, None, rescale_grad, clip_gradient, num_weights, last=2)


@operator(**_facts(('weight', 'grad', 'mom', 'weight32'), ('mom', 'weight32'), last=_PRELOADED))
def preloaded_multi_mp_sgd_mom_update(*data, momentum: float = 0.0, rescale_grad: float = 1.0,
                                      clip_gradient: float = -1.0, num_weights: int = 1):
    """`multi_mp_sgd_mom_update` whose learning rates and decays are two arrays, the last inputs."""
    return _mp_sgd_mom('preloaded_multi_mp_sgd_mom_update', data, None, None, momentum, rescale_grad, clip_gradient,
                       num_weights, last=2)


# ---------------------------------------------------------------------- AdamW
_ADAM = ('weight', 'grad', 'mean', 'var')


@operator('_multi_adamw_update', **_facts(_ADAM, ('mean', 'var'), last=('rescale_grad',)))
def multi_adamw_update(*data, lrs: Floats, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8,
                       wds: Floats, etas: Floats, clip_gradient: float = -1.0, num_weights: int = 1):
    """`_adamw_update` of several weights; the last input is the scale of the gradients, one for all."""
    name = '_multi_adamw_update'
    *columns, scale = _columns(name, data, 'num_weights', num_weights, _ADAM, 1)
    _one_each(name, 'num_weights', num_weights, lrs=lrs, wds=wds, etas=etas)
    done = [_adamw(weight, grad, mean, var, scale, lr, beta1, beta2, epsilon, wd, eta, clip_gradient)
            for weight, grad, mean, var, lr, wd, eta in zip(*columns, lrs, wds, etas)]
    weights, *states = zip(*done)
    return (*weights, *_interleave(*states))


@operator('_multi_mp_adamw_update', **_facts((*_ADAM, 'weight32'), ('mean', 'var', 'weight32'), last=('rescale_grad',)))
def multi_mp_adamw_update(*data, lrs: Floats, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8,
                          wds: Floats, etas: Floats, clip_gradient: float = -1.0, num_weights: int = 1):
    """`_mp_adamw_update` of several weights; the last input is the scale of the gradients, one for all."""
    name = '_multi_mp_adamw_update'
    low, grads, *states, weights, scale = _columns(name, data, 'num_weights', num_weights, (*_ADAM, 'weight32'), 1)
    _one_each(name, 'num_weights', num_weights, lrs=lrs, wds=wds, etas=etas)
    done = [_adamw(weight, grad, mean, var, scale, lr, beta1, beta2, epsilon, wd, eta, clip_gradient)
            for weight, grad, mean, var, lr, wd, eta in zip(weights, _float(grads), *states, lrs, wds, etas)]
    weights, *states = zip(*done)
    return (*_like(weights, low), *_interleave(*states, weights))


# ---------------------------------------------------------------------- LAMB
def _lamb(measured, weights, grads, means, variances, learning_rates, wds, step_count, options):
    """New weights and averages; the length of `measured` (the weights as the network has them) sets the pace."""
    beta1, beta2, epsilon, rescale_grad, lower_bound, upper_bound, clip_gradient, bias_correction = options
    grads = [scaled(g, rescale_grad, clip_gradient) for g in grads]
    done = [lamb_direction(w, g, m, v, beta1, beta2, epsilon, t, bias_correction, wd)
            for w, g, m, v, t, wd in zip(weights, grads, means, variances, step_count, wds)]
    directions, means, variances = (list(x) for x in zip(*done))
    lengths, steps = foreach_norm(_wide(measured)), foreach_norm(_wide(directions))
    new = [w - lr * trust_ratio(r1, r2, lower_bound, upper_bound) * d
           for w, d, lr, r1, r2 in zip(weights, directions, learning_rates, lengths, steps)]
    return new, means, variances


@operator('_multi_lamb_update', **_facts(_ADAM, ('mean', 'var'), 'num_tensors'))
def multi_lamb_update(*data, learning_rates: Floats, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-6,
                      wds: Floats, rescale_grad: float = 1.0, lower_bound: float = -1.0, upper_bound: float = -1.0,
                      clip_gradient: float = -1.0, bias_correction: bool = True, step_count: Shape,
                      num_tensors: int = 1):
    """LAMB, both phases, for several weights; `step_count` has the number of updates of each, this one included."""
    name = '_multi_lamb_update'
    weights, grads, means, variances = _columns(name, data, 'num_tensors', num_tensors, _ADAM)
    _one_each(name, 'num_tensors', num_tensors, learning_rates=learning_rates, wds=wds, step_count=step_count)
    options = beta1, beta2, epsilon, rescale_grad, lower_bound, upper_bound, clip_gradient, bias_correction
    new, means, variances = _lamb(weights, weights, grads, means, variances, learning_rates, wds, step_count, options)
    return (*new, *_interleave(means, variances))


@operator('_multi_mp_lamb_update', **_facts((*_ADAM, 'weight32'), ('mean', 'var', 'weight32'), 'num_tensors'))
def multi_mp_lamb_update(*data, learning_rates: Floats, beta1: float = 0.9, beta2: float = 0.999,
                         epsilon: float = 1e-6, wds: Floats, rescale_grad: float = 1.0, lower_bound: float = -1.0,
                         upper_bound: float = -1.0, clip_gradient: float = -1.0, bias_correction: bool = True,
                         step_count: Shape, num_tensors: int = 1):
    """`_multi_lamb_update` on the float32 copies of weights of low precision."""
    name = '_multi_mp_lamb_update'
    low, grads, means, variances, weights = _columns(name, data, 'num_tensors', num_tensors, (*_ADAM, 'weight32'))
    _one_each(name, 'num_tensors', num_tensors, learning_rates=learning_rates, wds=wds, step_count=step_count)
    options = beta1, beta2, epsilon, rescale_grad, lower_bound, upper_bound, clip_gradient, bias_correction
    new, means, variances = _lamb(low, weights, _float(grads), means, variances, learning_rates, wds, step_count,
                                  options)
    return (*_like(new, low), *_interleave(means, variances, new))
