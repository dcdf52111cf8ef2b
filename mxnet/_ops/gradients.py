"""All gradients that are not the mathematical ones, in one place.

Upstream's output layers ignore the incoming gradient and send back "prediction minus label"; `MakeLoss` starts a
gradient of its own, `BlockGrad` ends one.  Everything not here is differentiated by torch as computed.

A backward rule is a function `(gradients, inputs, outputs) -> gradients of the inputs` (a tuple; None: no gradient),
where `gradients` holds one tensor per output.  Rules compute with torch, so they can be differentiated again.
"""
import torch


class _Special(torch.autograd.Function):
    @staticmethod
    def forward(ctx, forward, backward, *inputs):
        outputs = forward(*inputs)
        single = isinstance(outputs, torch.Tensor)
        outputs = (outputs,) if single else tuple(outputs)
        ctx.rule, ctx.count = backward, len(inputs)
        ctx.save_for_backward(*inputs, *outputs)
        return outputs[0] if single else outputs

    @staticmethod
    def backward(ctx, *gradients):
        saved = ctx.saved_tensors
        return None, None, *ctx.rule(gradients, saved[:ctx.count], saved[ctx.count:])


def with_gradient(forward, backward, *inputs):
    """Computes `forward(*inputs)` such that its gradient is what `backward` says.

    Attributes go in as closures or `functools.partial`s.
    """
    if torch.is_grad_enabled() and any(x.requires_grad for x in inputs):
        return _Special.apply(forward, backward, *inputs)
    return forward(*inputs)
