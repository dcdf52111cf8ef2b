"""All gradients that are not the mathematical ones, in one place.

Upstream's output layers ignore the incoming gradient and send back "prediction minus label"; `MakeLoss` starts a
gradient of its own, `BlockGrad` ends one.  Everything not here is differentiated by torch as computed.

A backward rule is a function `(gradients, inputs, outputs) -> gradients of the inputs` (a tuple; None: no gradient),
where `gradients` holds one tensor per output.  Rules compute with torch, so they can be differentiated again.
"""
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from .checks import checked
from .integer_gradients import DifferentiableInteger, on_shadows

Tensors = tuple[Tensor, ...]
Gradients = tuple[Tensor | None, ...]
Rule = Callable[[Tensors, Tensors, Tensors], Gradients]


class _Special(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, forward: Callable[..., Any], backward: Rule, *inputs: Tensor) -> Any:
        outputs = forward(*inputs)
        single = isinstance(outputs, torch.Tensor)
        outputs = (outputs,) if single else tuple(outputs)
        ctx.rule, ctx.count = backward, len(inputs)
        ctx.save_for_backward(*inputs, *outputs)
        return outputs[0] if single else outputs

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Gradients:
        saved = ctx.saved_tensors
        return None, None, *ctx.rule(gradients, saved[:ctx.count], saved[ctx.count:])


def with_gradient(forward: Callable[..., Any], backward: Rule, *inputs: Tensor) -> Any:
    """Computes `forward(*inputs)` such that its gradient is what `backward` says.

    Attributes go in as closures or `functools.partial`s.
    """
    if torch.is_grad_enabled() and any(x.requires_grad for x in inputs):
        if DifferentiableInteger in map(type, inputs):
            return on_shadows(lambda *given: _Special.apply(forward, backward, *given), forward, inputs)
        return _Special.apply(forward, backward, *inputs)
    return forward(*inputs)


def of_integers(function: Callable[..., Tensor], *inputs: Tensor, value: Callable[..., Tensor] | None = None,
                slope: Callable[[Tensor], Tensor] | None = None) -> Tensor:
    """A function of floating point numbers, of integers: the result is cut off, and so is the slope.

    The gradient is the incoming one times the slope in the integers' own arithmetic, as in upstream: nothing where the
    slope is a fraction.

    value: computes the result, if that is not what `function` gives
    slope: computes the slope from the result, where upstream does
    """
    dtype = inputs[0].dtype

    def compute(*given: Tensor) -> Tensor:
        return _cut_off(function(*given), dtype) if value is None else value(*given)

    def back(gradients: Tensors, inputs: Tensors, outputs: Tensors) -> Gradients:
        if slope is not None:
            return ((_cut_off(gradients[0], dtype) * _cut_off(slope(outputs[0]), dtype)).double(),)
        with torch.enable_grad():
            points = [x.detach().float().expand(outputs[0].shape).requires_grad_() for x in inputs]
            slopes = torch.autograd.grad(function(*points).sum(), points)
        return tuple([(_cut_off(gradients[0], dtype) * _cut_off(s, dtype)).double().sum_to_size(x.shape)
                      for s, x in zip(slopes, inputs, strict=True)])

    if not torch.is_grad_enabled() or DifferentiableInteger not in map(type, inputs):
        return compute(*inputs)
    return on_shadows(lambda *shadows: _Special.apply(
        lambda *given: compute(*[x.to(dtype) for x in given]).double(), back, *shadows), compute, inputs)


def _cut_off(data: Tensor, dtype: torch.dtype) -> Tensor:
    # as processors cast: small types through int32
    return data.to(dtype) if dtype in (torch.int32, torch.int64) else data.to(torch.int32).to(dtype)


def softsign(data: Tensor) -> Tensor:
    """`x / (1 + |x|)`; the slope of torch's is NaN at infinity."""
    return with_gradient(F.softsign, _softsign_back, data)


def _softsign_back(gradients: Tensors, inputs: Tensors, outputs: Tensors) -> Gradients:
    return (gradients[0] / torch.square(1 + torch.abs(inputs[0])),)


# ---------------------------------------------------------------------- limits
def _passes_at_limits() -> bool:
    """Whether the gradient of torch's own function passes where a value is at a limit: in 2.13 it does, in 2.15 not."""
    with torch.enable_grad():
        limited = torch.clamp(torch.zeros(1, requires_grad=True), 0.0, 1.0)
    node: Any = limited.grad_fn         # nodes are callable, which torch's annotations do not say
    return bool(node(torch.ones(1)))


def _clamp(data: Tensor, low: float | None = None, high: float | None = None) -> Tensor:
    limited = torch.clamp(data.detach(), low, high)
    return torch.where(limited == data, data, limited) if data.requires_grad else limited


def _clamp_min(data: Tensor, low: float) -> Tensor:
    return _clamp(data, low)


def _clamp_max(data: Tensor, high: float) -> Tensor:
    return _clamp(data, None, high)


# `data` within limits; the gradient passes there, at the limits as well
clamp: Callable[..., Tensor]
clamp_min: Callable[..., Tensor]
clamp_max: Callable[..., Tensor]
if _passes_at_limits():
    clamp, clamp_min, clamp_max = torch.clamp, torch.clamp_min, torch.clamp_max
else:
    clamp, clamp_min, clamp_max = _clamp, _clamp_min, _clamp_max


# ---------------------------------------------------------------------- elementwise: no gradient, or another one
class _Constant(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, forward: Callable[..., Any], *inputs: Tensor) -> Any:
        ctx.count = len(inputs)
        ctx.set_materialize_grads(False)
        return forward(*inputs)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Gradients:
        return (None,) * (1 + ctx.count)


def no_gradient(forward: Callable[..., Any], *inputs: Tensor) -> Any:
    """Computes `forward(*inputs)` as something that is recorded, but sends no gradient back (comparisons, BlockGrad).

    The result must not be one of the inputs.
    """
    if torch.is_grad_enabled() and any(x.requires_grad for x in inputs):
        return _Constant.apply(forward, *inputs)
    return forward(*inputs)


def depends(tensors: Sequence[Tensor | None]) -> bool:
    """Whether one of the inputs of a recorded call carries a gradient, or was computed from what does."""
    return True in [t is not None and (t.requires_grad or hasattr(t, '_provenance')) for t in tensors]


def linked(result: Tensor, inputs: Sequence[Tensor | None]) -> Tensor:
    """A recorded result that has no gradient although its inputs have (indices, shapes): it depends on them as well.

    `backward` then comes to the inputs, whose gradient is zero.  Integers and truths, to which torch's engine knows no
    way, stay as they are: it is their provenance that leads to the variables, also of what is computed from them alone.
    """
    if result.requires_grad or not result.is_floating_point():
        return result
    differentiable = [getattr(t, '_shadow', t) for t in inputs if t is not None and t.requires_grad]
    return _Constant.apply(lambda *_: result, *(differentiable or [torch.empty(0, requires_grad=True)]))


def is_constant(tensor: Tensor) -> bool:
    """Whether `no_gradient` computed a tensor."""
    return tensor.grad_fn is not None and tensor.grad_fn.name() == '_ConstantBackward'


def straight_through(gradients: Tensors, inputs: Tensors, outputs: Tensors) -> Gradients:
    """The incoming gradient, as if nothing had been computed (round_ste, sign_ste)."""
    return gradients


def ones(gradients: Tensors, inputs: Tensors, outputs: Tensors) -> Gradients:
    """Starts a gradient of its own (make_loss)."""
    return (torch.ones_like(gradients[0]),)


def scaled(scalar: float) -> Rule:
    """The incoming gradient times a number (gradientmultiplier)."""
    return lambda gradients, inputs, outputs: (gradients[0] * scalar,)


def with_penalty(penalty: Tensor) -> Rule:
    """The incoming gradient plus that of a penalty per channel (IdentityAttachKLSparseReg)."""
    return lambda gradients, inputs, outputs: (gradients[0] + penalty,)


# ---------------------------------------------------------------------- output layers
def _is_class(label: Tensor, count: int, axis: int) -> Tensor:
    """1 where an index along `axis` is the label's class; nowhere, for a label that is no class."""
    classes = torch.arange(count, device=label.device)
    return classes.view(-1, *[1] * (-axis - 1)) == label


def softmax_output(gradients: Tensors, inputs: Tensors, outputs: Tensors, *, grad_scale: float, ignore_label: float,
                   multi_output: bool, use_ignore: bool, preserve_shape: bool, normalization: str, out_grad: bool,
                   smooth_alpha: float) -> Gradients:
    """SoftmaxOutput: probability minus label, whatever gradient comes in."""
    (_, label), (output,) = inputs, outputs
    if label.shape == output.shape:               # probabilities as labels
        gradient = (output - label) * grad_scale
        return (gradient * output if out_grad else gradient), None
    batch = output.shape[0]
    label = label.to(torch.int64)
    ignored = int(ignore_label)
    if multi_output:
        axis, smooth_alpha = -2, 0.0
        probability = output.reshape(batch, output.shape[1], -1)
        target = label.reshape(batch, 1, -1)
    else:
        axis = -1
        probability = output.flatten(0, -2) if preserve_shape else output.flatten(1)
        # without preserve_shape there is one label a sample, even if more are given
        target = label.reshape(-1, 1)[:len(probability)]
    count = probability.shape[axis]
    hit = _is_class(target, count, axis)
    if smooth_alpha:
        gradient = torch.where(hit, probability - (1 - smooth_alpha), probability - smooth_alpha / max(count - 1, 1))
    else:
        gradient = probability - hit.to(probability.dtype)
    if use_ignore:
        gradient = gradient.masked_fill(target == ignored, 0)
    if normalization == 'valid':
        gradient = gradient * (grad_scale / (label != ignored).sum().clamp(min=1).to(gradient.dtype))
    else:
        scale = grad_scale / probability.shape[-1] if multi_output else grad_scale
        if normalization == 'batch':
            scale /= batch if multi_output else label.numel()
        if scale != 1:
            gradient = gradient * scale
    gradient = gradient.reshape(output.shape)
    return (gradient * output if out_grad else gradient), None


def regression_output(gradients: Tensors, inputs: Tensors, outputs: Tensors, *, grad_scale: float,
                      absolute: bool = False) -> Gradients:
    """Linear-, Logistic- and MAERegressionOutput: output minus label (its sign), divided by the values a sample."""
    (_, label), (output,) = inputs, outputs
    difference = output - label.reshape(output.shape)
    if absolute:
        difference = difference.sign()
    return difference * (grad_scale * label.shape[0] / max(label.numel(), 1)), None


def svm_output(gradients: Tensors, inputs: Tensors, outputs: Tensors, *, margin: float,
               regularization_coefficient: float, use_linear: bool) -> Gradients:
    """SVMOutput: the hinge loss of each class against the rest (squared, unless linear)."""
    (_, label), (output,) = inputs, outputs
    hit = _is_class(label.to(torch.int64).reshape(*output.shape[:-1], 1), output.shape[-1], -1)
    side = torch.where(hit, -1.0, 1.0).to(output.dtype)
    violation = (margin + side * output).clamp(min=0)
    if use_linear:
        violation = (violation > 0).to(output.dtype)
    else:
        violation = 2 * violation
    return side * violation * regularization_coefficient, None


def make_loss(gradients: Tensors, inputs: Tensors, outputs: Tensors, *, grad_scale: float, valid_thresh: float,
              normalization: str) -> Gradients:
    """MakeLoss: a constant, whatever gradient comes in."""
    data, = inputs
    if normalization == 'valid':
        valid = (data > valid_thresh).sum().clamp(min=1).to(data.dtype)
        return (grad_scale / valid).expand_as(data),
    if normalization == 'batch':
        grad_scale /= max(data[..., 0].numel(), 1)
    return torch.full_like(data, grad_scale),


# ---------------------------------------------------------------------- normalisation
def ones_with_zero_gradient(gamma: Tensor) -> Tensor:
    """What BatchNorm computes with in place of a fixed gamma: gamma's gradient is zero, but it is written."""
    return with_gradient(torch.ones_like, lambda gradients, inputs, outputs: (torch.zeros_like(gradients[0]),), gamma)


# ---------------------------------------------------------------------- activations
SELU_ALPHA, SELU_SCALE = 1.6732631921768188, 1.0507010221481323        # in single precision, as upstream has them


def selu(gradients: Tensors, inputs: Tensors, outputs: Tensors) -> Gradients:
    """What upstream's selu networks were trained with: below 0 it is scale * (alpha + y), the derivative scale * alpha
    + y.
    """
    return (gradients[0] * torch.where(outputs[0] > 0, SELU_SCALE, SELU_SCALE * (SELU_ALPHA + outputs[0])),)


# ---------------------------------------------------------------------- second derivatives with upstream's sign
def arcsinh(gradients: Tensors, inputs: Tensors, outputs: Tensors) -> Gradients:
    """1 / sqrt(x^2 + 1), whose own derivative has the other sign: so upstream's programs were trained and tested."""
    return (gradients[0] * _turned(torch.rsqrt(inputs[0] * inputs[0] + 1)),)


def arccosh(gradients: Tensors, inputs: Tensors, outputs: Tensors) -> Gradients:
    """1 / sqrt(x^2 - 1), whose own derivative has the other sign, as that of arcsinh."""
    return (gradients[0] * _turned(torch.rsqrt(inputs[0] * inputs[0] - 1)),)


def _turned(value: Tensor) -> Tensor:
    """The same value with the opposite derivative."""
    return 2 * value.detach() - value if value.requires_grad else value


# ---------------------------------------------------------------------- reductions
def every_tie(gradients: Tensors, inputs: Tensors, outputs: Tensors) -> Gradients:
    """Each of several largest (or smallest) values gets the whole gradient; reduced axes are still there."""
    return (gradients[0] * (inputs[0] == outputs[0]),)


# ---------------------------------------------------------------------- WarpCTC
def warp_ctc(inputs: Tensors, input_length: int, label_length: int) -> Gradients:
    """WarpCTC: the gradient of the CTC loss, summed over the batch, whatever gradient comes in."""
    data, label = inputs
    batch, alphabet = data.shape[0] // input_length, data.shape[1]
    label = checked('WarpCTC', 'label', label.reshape(batch, label_length).to(torch.int64), 0, alphabet - 1)
    order = torch.argsort((label == 0).to(torch.int8), dim=1, stable=True)      # blanks to the end
    lengths = (label != 0).sum(1)
    times = torch.full((batch,), input_length, dtype=torch.int64, device=data.device)
    with torch.enable_grad():
        scores = data.detach().float().requires_grad_()
        loss = torch.ctc_loss(torch.log_softmax(scores.reshape(input_length, batch, alphabet), -1),
                              label.gather(1, order), times, lengths, blank=0, reduction=2, zero_infinity=True)
        gradient, = torch.autograd.grad(loss, scores)
    return gradient.to(data.dtype), None
