"""Which node of a graph each call of a trace comes from, so that a profile of a plan can name layers.

`Labels` watches a program while it is traced.  Forward calls belong to the node that runs; for backward calls, hooks on
torch's own graph note when the gradient of a node begins.
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

    from ..types import FxNode
    from .node import Node

LABELS = '__labels__'            # where the functions of a plan have, among their globals, the labels of values


class Labels:
    """A monitor for `Program.run`, which tells a `Tracer` what the calls to come belong to."""

    def __init__(self, tracer: Any) -> None:
        self._tracer = tracer
        self._inputs: set[Any] = set()          # nodes of torch's graph that the inputs come from

    def inputs(self, node: Node, tensors: Sequence[torch.Tensor | None]) -> Sequence[torch.Tensor | None]:
        self._tracer.label = node.op.name, node.name
        self._inputs = {t.grad_fn for t in tensors if t is not None}
        return tensors

    def output(self, node: Node, number: int, tensor: torch.Tensor) -> None:
        """Hooks the nodes of torch's graph between this output and the inputs of its operator."""
        # not `self`, which knows nodes of torch's graph: they would keep each other, and all values, for ever
        tracer, label = self._tracer, (f'_backward_{node.op.name}', node.name)
        waiting = [tensor.grad_fn]
        while waiting:
            below = waiting.pop()
            if below is None or below in self._inputs or below.name().endswith('AccumulateGrad'):
                continue
            self._inputs.add(below)
            below.register_prehook(lambda _: setattr(tracer, 'label', label))
            waiting += [n for n, _ in below.next_functions]


def labels_of(nodes: Iterable[FxNode]) -> dict[str, tuple[str, str]]:
    """name of a value -> (operator, name of the node)."""
    return {n.name: n.meta['label'] for n in nodes if 'label' in n.meta}
