"""Which node of a graph each call of a trace comes from, so that a profile of a plan can name layers.

`Labels` watches a program while it is traced.  Forward calls belong to the node that runs; for backward calls, hooks on
torch's own graph note when the gradient of a node begins.
"""
LABELS = '__labels__'            # where the functions of a plan have, among their globals, the labels of values


class Labels:
    """A monitor for `Program.run`, which tells a `Tracer` what the calls to come belong to."""

    def __init__(self, tracer):
        self._tracer = tracer
        self._inputs = set()

    def inputs(self, node, tensors):
        self._tracer.label = node.op.name, node.name
        self._inputs = {t.grad_fn for t in tensors if t is not None}
        return tensors

    def output(self, node, number, tensor):
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


def labels_of(nodes) -> dict[str, tuple[str, str]]:
    """name of a value -> (operator, name of the node)."""
    return {n.name: n.meta['label'] for n in nodes if 'label' in n.meta}
