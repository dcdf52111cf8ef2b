"""The outputs of one graph, which have their gradients together."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ..._ops.core.integer_gradients import DifferentiableInteger


class _Together(torch.autograd.Function):
    """Passes outputs on; where a gradient comes back for one of them, the others have zeros."""

    @staticmethod
    def forward(ctx: Any, *outputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple([o.detach() for o in outputs])        # no views for autograd: programs may write them

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return gradients


def together(outputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """The outputs of a graph that is recorded, with gradients of zeros where no other comes back.

    A graph is one operator for autograd, as in upstream: all of it goes back, also from outputs that the heads do not
    depend on.  Loss layers (SoftmaxOutput, MakeLoss, ...) have a gradient whatever comes back.
    """
    found = list(outputs)
    chosen = [i for i, o in enumerate(found) if o.requires_grad and not isinstance(o, DifferentiableInteger)]
    if len(chosen) > 1:
        for i, output in zip(chosen, _Together.apply(*[found[i] for i in chosen]), strict=True):
            found[i] = output
    return found
