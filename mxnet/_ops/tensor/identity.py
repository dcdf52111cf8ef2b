"""Operators that keep the values: copies, casts, checks, and copies with a gradient of their own."""
import torch

from ...base import MXNetError
from ..core import shapes
from ..core.attributes import DType, Training
from ..core.dtypes import INTEGERS, TORCH
from ..core.gradients import is_constant, no_gradient, ones, scaled, straight_through, with_gradient, with_penalty
from ..core.integer_gradients import to_integers
from ..core.moves import Move
from ..core.table import operator
from ..core.traceable import CannotTrace
from .unary import round_half_away

# the types between which mixed precision casts; it leaves all others alone
_AMP = (torch.float32, torch.float16, torch.bfloat16)


# ---------------------------------------------------------------------- copies
@operator(aliases=('identity',), elementwise=True)
def _copy(data):
    """A copy."""
    return data


@operator(elementwise=True)
def _identity_with_attr_like_rhs(lhs, rhs):
    """A copy of `lhs`; `rhs` only lends its shape where that of `lhs` is not known yet."""
    return lhs


@operator(aliases=('_sparse_stop_gradient', 'stop_gradient'), elementwise=True, special_gradient=True)
def BlockGrad(data):
    """A copy through which no gradient goes back."""
    return no_gradient(torch.clone, data) if data.requires_grad else data


@operator(aliases=('_sparse_make_loss',), outputs='loss', elementwise=True, special_gradient=True)
def make_loss(data):
    """A copy that makes `data` a loss: its gradient is 1, whatever comes in from behind."""
    return with_gradient(torch.clone, ones, data)


@operator(elementwise=True, special_gradient=True)
def _contrib_gradientmultiplier(data, *, scalar: float = 1.0, is_int: bool = True):
    """A copy whose gradient is multiplied by `scalar`; a negative one reverses it, for adversarial training."""
    return with_gradient(torch.clone, scaled(scalar), data)


@operator(aliases=('_sparse__contrib_round_ste',), elementwise=True, special_gradient=True)
def _contrib_round_ste(data):
    """`round`, with the gradient of a copy (a straight-through estimator)."""
    return with_gradient(round_half_away, straight_through, data)


@operator(aliases=('_sparse__contrib_sign_ste',), elementwise=True, special_gradient=True)
def _contrib_sign_ste(data):
    """`sign`, with the gradient of a copy (a straight-through estimator)."""
    return with_gradient(torch.sign, straight_through, data)


@operator(shapes=shapes.channel_average, aux='moving_avg', mutates='moving_avg', special_gradient=True,
          initializers={'moving_avg': '["zero", {}]'})
def IdentityAttachKLSparseReg(data, moving_avg, *, sparseness_target: float = 0.1, penalty: float = 0.001,
                              momentum: float = 0.9, training: Training = False):
    """A copy that drives activations of a sigmoid, channel by channel, towards `sparseness_target`.

    In training, the gradient gets `penalty` times that of the Kullback-Leibler divergence between the target and
    `moving_avg`, the running mean of each channel (axis 1), which must stay between 0 and 1.  `backward` moves it.
    """
    if not (training and torch.is_grad_enabled() and data.requires_grad):
        return data, None
    with torch.no_grad():
        mean = data.mean(dim=[d for d in range(data.dim()) if d != 1])
        average = momentum * moving_avg + (1 - momentum) * mean
        pull = penalty * ((1 - sparseness_target) / (1 - average) - sparseness_target / average)
        pull = pull.reshape((-1,) + (1,) * (data.dim() - 2))
    output = with_gradient(torch.clone, with_penalty(pull), data)
    return output, Move(mean, 1 - momentum, output.grad_fn)


# ---------------------------------------------------------------------- casts
@operator(aliases=('_npi_cast', '_npx_cast', 'cast'), elementwise=True)
def Cast(data, *, dtype: DType):
    """`data` in another dtype; floats become integers by dropping the fraction."""
    target = TORCH[dtype]
    if target in INTEGERS and data.requires_grad and data.is_floating_point() and torch.is_grad_enabled() \
            and not is_constant(data):
        if type(data) is not torch.Tensor:
            raise CannotTrace('gradients through integers are no part of a traced graph')
        return to_integers(data, target)
    return data.to(target)


@operator(elementwise=True)
def amp_cast(data, *, dtype: DType):
    """`data` in another dtype if it is float32, float16 or bfloat16; all others stay as they are."""
    return data.to(TORCH[dtype]) if data.dtype in _AMP else data


@operator(variadic='num_outputs', variadic_names=lambda a: [f'data_{i}' for i in range(a['num_outputs'])],
          outputs=lambda a: tuple(f'output{i}' for i in range(a['num_outputs'])))
def amp_multicast(*data, num_outputs: int, cast_narrow: bool = False):
    """All inputs of float32, float16 and bfloat16 in one dtype: the widest among them, or with `cast_narrow` the
    narrowest.  Inputs of other types stay as they are.
    """
    there = [x.dtype for x in data if x.dtype in _AMP]
    by_preference = (torch.bfloat16, torch.float16, torch.float32) if cast_narrow else _AMP
    target = next((t for t in by_preference if t in there), None)
    return tuple(x.to(target) if x.dtype in _AMP else x for x in data)


# ---------------------------------------------------------------------- over whole arrays, for mixed precision and LARS
def _only_floats(name, arrays):
    for i, x in enumerate(arrays):
        if not x.is_floating_point():
            raise MXNetError(f'operator {name}: input {i} is {str(x.dtype)[6:]}; it takes arrays of a float type')


def _all_finite(name, arrays, init_output):
    if not init_output:
        raise MXNetError(f'operator {name}: init_output=False is not accepted, since a result here never depends on '
                         f'what out= held; multiply the results of several calls instead')
    _only_floats(name, arrays)
    # the largest magnitude is finite if all are; torch finds it for all arrays in a few kernels
    some = [x.detach() for x in arrays if x.numel()]
    if not some:
        return torch.ones(1, device=arrays[0].device)
    return torch.isfinite(torch.nn.utils.get_total_norm(some, torch.inf)).reshape(1).to(torch.float32)


@operator(result_dtype='float32')
def all_finite(data, *, init_output: bool = True):
    """1 if no value is infinite or NaN, else 0; float32 of shape (1,)."""
    return _all_finite('all_finite', (data,), init_output)


@operator(variadic='num_arrays', variadic_names=lambda a: [f'array_{i}' for i in range(a['num_arrays'])])
def multi_all_finite(*data, num_arrays: int = 1, init_output: bool = True):
    """1 if no value of any array is infinite or NaN, else 0; float32 of shape (1,)."""
    return _all_finite('multi_all_finite', data, init_output)


@operator(variadic='num_arrays', variadic_names=lambda a: [f'array_{i}' for i in range(a['num_arrays'])])
def multi_sum_sq(*data, num_arrays: int):
    """The sum of squares of each array; float32 of shape (num_arrays,)."""
    _only_floats('multi_sum_sq', data)
    return torch.stack([x.float().square().sum() for x in data])


@operator(variadic='num_arrays', variadic_names=lambda a: [f'array_{i}' for i in range(a['num_arrays'])],
          outputs=(), mutates=lambda attributes, count: range(count))
def reset_arrays(*data, num_arrays: int):
    """Sets all given arrays to zero."""
    return tuple(torch.zeros_like(x) for x in data)


@operator()
def multi_lars(lrs, weights_sum_sq, grads_sum_sq, wds, *, eta: float, eps: float, rescale_grad: float = 1.0):
    """Learning rates of LARS, one per layer: `lrs` times `eta |w| / (rescale_grad |g| + wd |w| + eps)`.

    The lengths |w| and |g| come from the sums of squares; where one is 0, the rate stays as it is.
    """
    weight = torch.sqrt(weights_sum_sq)
    rate = lrs * (eta * weight / (torch.sqrt(grads_sum_sq) * rescale_grad + wds * weight + eps))
    return torch.where((weights_sum_sq > 0) & (grads_sum_sq > 0), rate, lrs)
