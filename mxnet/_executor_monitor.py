"""What an executor shows its monitor: values of nodes, and the gradients that nodes send back."""
from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import torch
from torch.autograd.graph import Node as GraphNode

from ._graph.ir.monitors import NodeMonitor, input_names
from ._graph.ir.node import Node


def leads_to(node: GraphNode, leaves: Collection[int]) -> bool:
    """Whether torch's graph leads from a node to one of some tensors, given by their ids."""
    seen, open_nodes = {node}, [node]
    while open_nodes:
        node = open_nodes.pop()
        if id(getattr(node, 'variable', None)) in leaves:
            return True
        for source, _ in node.next_functions:
            if source is not None and source not in seen:
                seen.add(source)
                open_nodes.append(source)
    return False


class GradientMonitor(NodeMonitor):
    """Shows gradients as well, where a run is recorded by torch's tape.

    leaves: inputs of nodes that the executor itself needs no gradient of; upstream's operators send gradients to all of
        their inputs, whether they are wanted or not
    """

    def __init__(self, show: Callable[[Node, str, Any], None], everything: bool) -> None:
        super().__init__(show, everything, variables=True)
        self.leaves: list[torch.Tensor] = []
        self._names: list[tuple[Node, str]] = []        # of the gradients of `leaves`

    def inputs(self, node: Node, values: Sequence[Any]) -> Sequence[Any]:
        super().inputs(node, values)
        if not torch.is_grad_enabled():
            return values
        names, used = input_names(node), list(values)
        for i, tensor in enumerate(values):
            if tensor is None or not tensor.is_floating_point() or names[i] in node.op.aux:
                continue
            name = f'{node.name}_backward_output{i if len(values) > 1 else ""}'
            if tensor.requires_grad:
                # an alias, so that its gradient is what this node sends back and not what all users of the tensor do
                used[i] = tensor.view_as(tensor)
                used[i].register_hook(self._hook(node, name))
            else:
                used[i] = tensor.detach().requires_grad_()
                self.leaves.append(used[i])
                self._names.append((node, name))
        return used

    def _hook(self, node: Node, name: str) -> Callable[[Any], None]:
        def hook(gradient):
            if gradient is not None:        # torch's word for a gradient that is 0 throughout
                self._show(node, name, gradient)
        return hook

    def show_gradients(self, gradients: Sequence[torch.Tensor | None]) -> None:
        """Shows the gradients of `leaves`."""
        for (node, name), leaf, gradient in zip(self._names, self.leaves, gradients, strict=True):
            self._show(node, name, torch.zeros_like(leaf) if gradient is None else gradient)
