"""Sums over the workers of a job inside operators, and their gradients; `mxnet._dist` says how once a job is joined."""
import torch

from ..core.traceable import CannotTrace

sum = None          # adds up a tensor over all workers, in place; None where this process has joined no job


class _Sum(torch.autograd.Function):
    """The gradient of a sum over workers is the sum of their gradients."""

    @staticmethod
    def forward(context, tensor):
        return _summed(tensor)

    @staticmethod
    def backward(context, gradient):
        return _Sum.apply(gradient)


def _summed(tensor):
    if type(tensor) is not torch.Tensor:
        # of a trace, which another worker may not make: nothing has been sent yet
        raise CannotTrace('sums over workers are no part of a traced graph')
    total = tensor.detach().clone(memory_format=torch.contiguous_format)
    if tensor.device.type == 'meta':
        pass                # its shape is asked for
    elif sum is not None:
        sum(total)
    else:
        torch.distributed.all_reduce(total)
    return total


def summed(tensor):
    """The sum of a tensor over all workers; gradients go through it."""
    return _Sum.apply(tensor)
