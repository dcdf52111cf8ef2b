"""Random numbers, as the NumPy interface draws them.

A parameter is a number (an attribute) or an array (an input: `input1`, and `input2` if both are); they broadcast, and
the result has the shape `size`, or theirs.  Draws are a fixed noise moved and scaled by the parameters, so that
gradients reach these ("reparameterization") where upstream's do.
"""
import math
from typing import Literal

import torch

from ...base import MXNetError
from ..core.attributes import Device, DType, Floats, Rng, Shape
from ..core.checks import refuse
from ..core.dtypes import TORCH
from ..core.table import operator
from ..random.draw import _standard_gamma
from .binary import known


class BadParameter(MXNetError, ValueError):
    """A parameter outside of what a distribution knows."""


def _checked(name, parameter, value, holds, accepted):
    """The value; an error for a number, or an array that has one, outside of what is accepted.

    A GPU finds it itself: see core/checks.py.
    """
    if not isinstance(value, torch.Tensor):
        good = holds(value)
    else:
        held = holds(value.detach())
        good = known(held.all())
        if good is None:
            return refuse(name, parameter, value, ~held, accepted, 1.0, BadParameter)
    if not good:
        raise BadParameter(f'operator {name}: {parameter}={value} is not accepted; it must be {accepted}')
    return value


def _positive(value):
    return value > 0


def _not_negative(value):
    return value >= 0


def _weights(values):
    """Which of the weights of a draw are none; all of them, where there is nothing to draw."""
    return (values >= 0) & values.isfinite() & (values.sum() > 0)


def _pick(first, second, input1, input2):
    """The two parameters, each from its attribute or from the inputs in order."""
    if first is None:
        return input1, (second if second is not None else input2)
    return first, (second if second is not None else input1)


def _shape(size, *parameters, extra=False):
    own = torch.broadcast_shapes(*[p.shape for p in parameters if isinstance(p, torch.Tensor)])
    if size is None:
        return own
    if extra:
        return (*size, *own)
    try:
        whole = torch.broadcast_shapes(size, own)
    except RuntimeError:
        whole = None
    if whole != tuple(size):
        raise BadParameter(f'a sample of size {tuple(size)} cannot be drawn from parameters of shape {tuple(own)}')
    return tuple(size)


def _device(ctx, *parameters):
    return next((p.device for p in parameters if isinstance(p, torch.Tensor)), ctx or None)


def _uniform_noise(shape, device, dtype, rng):
    """Numbers above 0 and below 1, so that their logarithms are finite."""
    tiny = torch.finfo(dtype).tiny
    return torch.empty(shape, dtype=dtype, device=device).uniform_(generator=rng).clamp_(min=tiny)


def _wide(dtype):
    return torch.float64 if dtype == 'float64' else torch.float32


_PAIR = {'input1': lambda a: None in _two(a), 'input2': lambda a: _two(a) == (None, None)}
_NAMES = (('low', 'high'), ('loc', 'scale'), ('shape', 'scale'), ('prob', 'logit'))


def _two(attributes):
    """Values of the two parameters that a distribution has."""
    pair = next(p for p in _NAMES if p[0] in attributes and p[1] in attributes)
    return attributes[pair[0]], attributes[pair[1]]


_Floats = Literal['float16', 'float32', 'float64']


# ---------------------------------------------------------------------- two parameters
def _uniform(name, input1, input2, low, high, size, ctx, dtype, rng, extra):
    low, high = _pick(low, high, input1, input2)
    low, high = (p.detach() if isinstance(p, torch.Tensor) else p for p in (low, high))
    noise = torch.empty(_shape(size, low, high, extra=extra), dtype=_wide(dtype), device=_device(ctx, low, high))
    noise = noise.uniform_(generator=rng)
    return (low + noise * (high - low)).to(TORCH[dtype])


def _normal(name, input1, input2, loc, scale, size, ctx, dtype, rng, extra):
    loc, scale = _pick(loc, scale, input1, input2)
    scale = _checked(name, 'scale', scale, _not_negative, 'at least 0')
    noise = torch.empty(_shape(size, loc, scale, extra=extra), dtype=_wide(dtype), device=_device(ctx, loc, scale))
    return (loc + noise.normal_(generator=rng) * scale).to(TORCH[dtype])


@operator(optional=_PAIR)
def _npi_uniform(input1=None, input2=None, *, low: float | None, high: float | None, size: Shape | None = None,
                 ctx: Device = 'cpu', dtype: _Floats = 'float32', rng: Rng = None):
    """Uniformly distributed numbers between `low` (included) and `high` (excluded)."""
    return _uniform('_npi_uniform', input1, input2, low, high, size, ctx, dtype, rng, False)


@operator(optional=_PAIR)
def _npi_uniform_n(input1=None, input2=None, *, low: float | None, high: float | None, size: Shape | None = None,
                   ctx: Device = 'cpu', dtype: _Floats = 'float32', rng: Rng = None):
    """As `_npi_uniform`, with `size` draws for each element of the parameters."""
    return _uniform('_npi_uniform_n', input1, input2, low, high, size, ctx, dtype, rng, True)


@operator(optional=_PAIR, outputs='output0', hidden=1)
def _npi_normal(input1=None, input2=None, *, loc: float | None, scale: float | None, size: Shape | None = None,
                ctx: Device = 'cpu', dtype: _Floats = 'float32', rng: Rng = None):
    """Normally distributed numbers with mean `loc` and standard deviation `scale`; gradients reach both."""
    return _normal('_npi_normal', input1, input2, loc, scale, size, ctx, dtype, rng, False)


@operator(optional=_PAIR, outputs='output0', hidden=1)
def _npi_normal_n(input1=None, input2=None, *, loc: float | None, scale: float | None, size: Shape | None = None,
                  ctx: Device = 'cpu', dtype: _Floats = 'float32', rng: Rng = None):
    """As `_npi_normal`, with `size` draws for each element of the parameters."""
    return _normal('_npi_normal_n', input1, input2, loc, scale, size, ctx, dtype, rng, True)


def _located(name, transform, input1, input2, loc, scale, size, ctx, rng):
    """A fixed noise, times scale, plus loc."""
    loc, scale = _pick(loc, scale, input1, input2)
    scale = _checked(name, 'scale', scale, _not_negative, 'at least 0')
    noise = _uniform_noise(_shape(size, loc, scale), _device(ctx, loc, scale), torch.float32, rng)
    return loc + transform(noise) * scale


@operator(optional=_PAIR, outputs='output0', hidden=1)
def _npi_gumbel(input1=None, input2=None, *, loc: float | None, scale: float | None, size: Shape | None = None,
                ctx: Device = 'cpu', rng: Rng = None):
    """Gumbel distributed numbers: how far the largest of many lies out; gradients reach `loc` and `scale`."""
    return _located('_npi_gumbel', lambda u: -torch.log(-torch.log(u)), input1, input2, loc, scale, size, ctx, rng)


@operator(optional=_PAIR, outputs='output0', hidden=1)
def _npi_logistic(input1=None, input2=None, *, loc: float | None, scale: float | None, size: Shape | None = None,
                  ctx: Device = 'cpu', rng: Rng = None):
    """Logistically distributed numbers; gradients reach `loc` and `scale`."""
    return _located('_npi_logistic', torch.logit, input1, input2, loc, scale, size, ctx, rng)


@operator(optional=_PAIR)
def _npi_gamma(input1=None, input2=None, *, shape: float | None, scale: float | None, size: Shape | None = None,
               ctx: Device = 'cpu', dtype: _Floats = 'float32', rng: Rng = None):
    """Gamma distributed numbers with shape parameter `shape` and `scale`: their mean is the product of both."""
    alpha, beta = _pick(shape, scale, input1, input2)
    alpha = _checked('_npi_gamma', 'shape', alpha, _positive, 'positive')
    beta = _checked('_npi_gamma', 'scale', beta, _positive, 'positive')
    whole = _shape(size, alpha, beta)
    device = _device(ctx, alpha, beta)
    alpha = torch.as_tensor(alpha.detach() if isinstance(alpha, torch.Tensor) else alpha, dtype=_wide(dtype),
                            device=device).expand(whole).contiguous()
    beta = beta.detach() if isinstance(beta, torch.Tensor) else beta
    if alpha.device.type == 'meta':
        return torch.empty(whole, dtype=TORCH[dtype], device=device)
    return (_standard_gamma(alpha, rng) * beta).to(TORCH[dtype])


@operator(optional={'input1': lambda a: a['prob'] is None and a['logit'] is None})
def _npi_bernoulli(input1=None, *, prob: float | None, logit: float | None, size: Shape | None = None,
                   ctx: Device = 'cpu', dtype: DType = 'float32', is_logit: bool, rng: Rng = None):
    """1 with probability `prob` (or sigmoid of `logit`), else 0."""
    value = input1.detach() if input1 is not None else logit if is_logit else prob
    if is_logit:
        value = torch.sigmoid(torch.as_tensor(value, dtype=torch.float32)) if not isinstance(value, torch.Tensor) \
            else torch.sigmoid(value)
    elif value is None:
        raise MXNetError('operator _npi_bernoulli: argument prob is missing; it takes a number from 0 to 1')
    else:
        value = _checked('_npi_bernoulli', 'prob', value, lambda p: (p >= 0) & (p <= 1), 'between 0 and 1')
    shape = _shape(size, *([input1] if input1 is not None else []))
    noise = torch.empty(shape, device=_device(ctx, input1)).uniform_(generator=rng)
    return (noise < value).to(TORCH[dtype])


# ---------------------------------------------------------------------- one parameter
_ONE = {'input1': lambda a: (a['a'] if 'a' in a else a['scale']) is None}


def _shaped(name, label, transform, input1, value, size, ctx, rng, accepted=_positive, words='positive'):
    value = input1 if value is None else value
    value = _checked(name, label, value, accepted, words)
    noise = _uniform_noise(_shape(size, value), _device(ctx, value), torch.float32, rng)
    return transform(noise, value)


@operator(optional=_ONE, outputs='output0', hidden=1)
def _npi_exponential(input1=None, *, scale: float | None = 1.0, size: Shape | None = None, ctx: Device = 'cpu',
                     rng: Rng = None):
    """Exponentially distributed numbers with mean `scale`; gradients reach it."""
    return _shaped('_npi_exponential', 'scale', lambda u, scale: -torch.log(u) * scale, input1, scale, size, ctx, rng,
                   _not_negative, 'at least 0')


@operator(optional=_ONE, outputs='output0', hidden=1)
def _npi_rayleigh(input1=None, *, scale: float | None = 1.0, size: Shape | None = None, ctx: Device = 'cpu',
                  rng: Rng = None):
    """Rayleigh distributed numbers: lengths of normal vectors in the plane; gradients reach `scale`."""
    return _shaped('_npi_rayleigh', 'scale', lambda u, scale: torch.sqrt(-2 * torch.log(u)) * scale, input1, scale,
                   size, ctx, rng, _not_negative, 'at least 0')


@operator(optional=_ONE, outputs='output0', hidden=1)
def _npi_weibull(input1=None, *, a: float | None = None, size: Shape | None = None, ctx: Device = 'cpu',
                 rng: Rng = None):
    """Weibull distributed numbers with shape parameter `a` and scale 1; gradients reach it."""
    return _shaped('_npi_weibull', 'a', lambda u, a: torch.pow(-torch.log(u), 1.0 / a), input1, a, size, ctx, rng)


@operator(optional=_ONE, outputs='output0', hidden=1)
def _npi_pareto(input1=None, *, a: float | None = None, size: Shape | None = None, ctx: Device = 'cpu',
                rng: Rng = None):
    """Pareto (Lomax) distributed numbers with shape parameter `a`, from 0 on; gradients reach it."""
    return _shaped('_npi_pareto', 'a', lambda u, a: torch.expm1(-torch.log(u) / a), input1, a, size, ctx, rng)


@operator(optional=_ONE)
def _npi_powerd(input1=None, *, a: float | None = None, size: Shape | None = None, rng: Rng = None):
    """Numbers between 0 and 1 whose density rises like `x^(a - 1)`."""
    def draw(u, a):
        return torch.pow(u, 1.0 / (a.detach() if isinstance(a, torch.Tensor) else a))
    device = None if rng is None else rng.device
    return _shaped('_npi_powerd', 'a', draw, input1, a, size, device, rng)


# ---------------------------------------------------------------------- choosing
@operator(optional={'input1': lambda a: a['weighted'] or a['a'] is None,
                    'input2': lambda a: a['weighted'] and a['a'] is None})
def _npi_choice(input1=None, input2=None, *, a: int | None, size: Shape | None, ctx: Device = 'cpu',
                replace: bool = True, weighted: bool = False, rng: Rng = None):
    """Numbers from 0 to `a` (or to the length of `input1`), with or without putting back what was drawn.

    `weighted`: the last input has the probability of each.
    """
    count = a if a is not None else input1.shape[0]
    weights = None if not weighted else input2 if a is None else input1
    shape = () if size is None else size
    wanted = math.prod(shape)
    if count < 1 or not replace and wanted > count:
        raise BadParameter(f'operator _npi_choice: {wanted} of {count} cannot be drawn with replace={replace}')
    device = weights.device if weights is not None else ctx or None
    if torch.device(device or 'cpu').type == 'meta':
        return torch.empty(shape, dtype=torch.int64, device=device)
    if weights is not None:
        if weights.shape != (count,):
            raise BadParameter(f'operator _npi_choice: {count} probabilities are needed, not {tuple(weights.shape)}')
        weights = _checked('_npi_choice', 'p', weights.detach().double(), _weights, 'at least 0, finite and not all 0')
        drawn = torch.multinomial(weights, wanted, replace, generator=rng)
    elif replace:
        drawn = torch.randint(0, count, (wanted,), generator=rng, device=device)
    else:
        drawn = torch.randperm(count, generator=rng, device=device)[:wanted]
    return drawn.reshape(shape)


@operator(optional={'a': lambda attributes: attributes['pvals'] is None})
def _npi_multinomial(a=None, *, n: int, pvals: Floats | None = None, size: Shape | None = None, rng: Rng = None):
    """How often each of several outcomes comes up in `n` trials; their probabilities are `pvals`, or `a`."""
    device = a.device if a is not None else None if rng is None else rng.device
    weights = a.detach().double() if a is not None else torch.tensor(pvals, dtype=torch.float64, device=device)
    shape = () if size is None else size
    if weights.device.type == 'meta' or rng is None:
        return torch.empty((*shape, *weights.shape), dtype=torch.int64, device=weights.device)
    total = float(weights[:-1].sum())
    if total > 1 + 1e-5 or bool((weights < 0).any()):
        raise BadParameter(f'operator _npi_multinomial: pvals={weights.tolist()} is not accepted; they must be at '
                           'least 0, and all but the last must sum up to at most 1')
    count = math.prod(shape)
    result = torch.zeros((count, weights.shape[0]), dtype=torch.int64, device=weights.device)
    if n and count and weights.shape[0]:
        weights = torch.cat((weights[:-1], (1 - weights[:-1].sum()).clamp(min=0).reshape(1)))
        drawn = torch.multinomial(weights.expand(count, -1), n, True, generator=rng)
        result = result.scatter_add(1, drawn, torch.ones_like(drawn))
    return result.reshape((*shape, weights.shape[0]))
