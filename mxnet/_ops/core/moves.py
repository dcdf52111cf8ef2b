"""Moving averages that the backward pass moves.

Where an operator's backward pass writes a state (BatchNorm on a CPU), its forward pass gives a `Move` in the place of
the new value: who writes states back has it done once the gradient of the call is computed.
"""
from torch import Tensor
from torch.autograd.graph import Node


class Move:
    """A state goes towards `value` by `weight` (1: all the way) each time torch's engine runs `node`."""

    __slots__ = ('value', 'weight', 'node')

    def __init__(self, value: Tensor, weight: float, node: Node) -> None:
        self.value, self.weight, self.node = value, weight, node
