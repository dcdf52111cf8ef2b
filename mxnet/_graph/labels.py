"""Which node of a graph each call of a trace comes from, so that a profile of a plan can name layers.

`Labels` watches a program while it is traced.  Forward calls belong to the node that runs; for backward calls, hooks on
torch's own graph note when the gradient of a node begins.
"""
from typing import Any

try:
    from torch.fx.experimental.proxy_tensor import get_proxy_mode
except ImportError:              # then plans have no names: operators are still seen one by one
    get_proxy_mode = None        # type: ignore[assignment]

LABELS = '__labels__'            # where the functions of a plan have, among their globals, the labels of values


class Labels:
    """A monitor for `Program.run` under make_fx."""

    def __init__(self):
        self._marks = []         # (number of calls traced so far, label of those that follow)
        self._graph: Any = None
        self._inputs = set()

    def inputs(self, node, tensors):
        mode = get_proxy_mode() if get_proxy_mode is not None else None
        self._graph = None if mode is None else mode.tracer.graph
        self._mark((node.op.name, node.name))
        self._inputs = {t.grad_fn for t in tensors if t is not None}
        return tensors

    def output(self, node, number, tensor):
        """Hooks the nodes of torch's graph between this output and the inputs of its operator."""
        label = f'_backward_{node.op.name}', node.name
        waiting = [tensor.grad_fn]
        while waiting:
            below = waiting.pop()
            if below is None or below in self._inputs or below.name().endswith('AccumulateGrad'):
                continue
            self._inputs.add(below)
            below.register_prehook(lambda _: self._mark(label))
            waiting += [n for n, _ in below.next_functions]

    def _mark(self, label):
        if self._graph is not None:
            self._marks.append((len(self._graph.nodes), label))

    def write(self, graph):
        """Puts the labels into `meta` of the calls."""
        marks, label = iter([*self._marks, (float('inf'), None)]), None
        start, upcoming = next(marks)
        for i, node in enumerate(graph.nodes):
            while i >= start:
                label = upcoming
                start, upcoming = next(marks)
            if label is not None and node.op == 'call_function':
                node.meta['label'] = label


def labels_of(nodes) -> dict[str, tuple[str, str]]:
    """name of a value -> (operator, name of the node)."""
    return {n.name: n.meta['label'] for n in nodes if 'label' in n.meta}
