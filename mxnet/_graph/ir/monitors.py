"""What `Program.run` shows a monitor: the values that each node takes and gives, under the names that upstream has."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .node import Node


class NodeMonitor:
    """Passes values to `show(node, name, value)`.

    everything: whether inputs are shown as well, not only outputs
    variables: whether an input that is a variable is also shown under its own name
    """

    def __init__(self, show: Callable[[Node, str, Any], None], everything: bool, variables: bool) -> None:
        self._show, self._everything, self._variables = show, everything, variables

    def output(self, node: Node, number: int, value: Any) -> None:
        self._show(node, node.entry_name(number), value)

    def inputs(self, node: Node, values: Sequence[Any]) -> Sequence[Any]:
        """The values that the node computes with."""
        if self._everything:
            names, sources = input_names(node), iter(node.inputs)
            if node.op.elementwise and len(names) == 1:
                names = ('input0',)             # upstream has no names for the inputs of such operators
            for name, value in zip(names, values, strict=False):
                if value is None:
                    continue
                source = next(sources)[0]
                if self._variables and source.is_variable:
                    self._show(node, source.name, value)
                self._show(node, f'{node.name}_{name}', value)
        return values


def input_names(node: Node) -> Sequence[str]:
    """The names of the inputs that the operator of a node declares."""
    return node.input_names() if node.op.variadic is not None else node.op.inputs
