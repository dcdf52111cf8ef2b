"""torch's engine, without the checks of `torch.autograd.backward` and `grad`.

These cost as much as a small graph, and import a part of torch's compiler first.  The only use of this private function
of torch; `checked` is what stands in where it is not there.
"""
import torch

_ENGINE = getattr(torch.autograd.Variable, '_execution_engine', None)


def unchecked(tensors, gradients, retain_graph, create_graph, inputs, accumulate):
    return _ENGINE.run_backward(tuple(tensors), tuple(gradients), retain_graph, create_graph, tuple(inputs),
                                allow_unreachable=True, accumulate_grad=accumulate)


def checked(tensors, gradients, retain_graph, create_graph, inputs, accumulate):
    if accumulate:
        return torch.autograd.backward(tensors, gradients, retain_graph=retain_graph, create_graph=create_graph)
    return torch.autograd.grad(tensors, inputs, gradients, retain_graph=retain_graph, create_graph=create_graph,
                               allow_unused=True)


run_backward = unchecked if hasattr(_ENGINE, 'run_backward') else checked


def gradients_of(tensors, inputs, gradients):
    """The gradients of `inputs`, None for those that nothing depends on, where those of `tensors` are given."""
    return run_backward(tensors, gradients, False, False, inputs, False)
