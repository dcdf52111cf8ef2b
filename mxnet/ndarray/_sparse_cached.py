"""Hybridized blocks with sparse arrays: what a plan on dense tensors cannot do is done outside of it.

- Embeddings with `sparse_grad` are looked up before the plan of the rest runs, so that their gradients stay rows.
- A graph that is given csr or row_sparse arrays runs node by node, as the block would without `hybridize`.
"""
from .._graph.ir.node import Node, rebuild, topological
from ..symbol._compose import make
from . import _invoke


def _looks_up(node):
    """Whether a node looks rows of a variable up, with a gradient that holds these alone."""
    return node.op is not None and (node.op.name == '_contrib_SparseEmbedding' or node.op.name == 'Embedding'
                                    and node.attributes['sparse_grad']) \
        and all(child.is_variable for child, _ in node.inputs)


class Lookups:
    """A graph, cut behind its embeddings."""

    def __init__(self, symbol, flags, cached_op):
        self._names = symbol.list_inputs()
        self._nodes = {n.entry_name(0): n for n in topological(symbol._entries) if _looks_up(n)}
        entries = rebuild(symbol._entries, lambda node, inputs: [(Node(None, node.entry_name(0), {}), 0)]
                          if _looks_up(node) else None)
        rest = make(type(symbol), entries)
        self._inputs = rest.list_inputs()
        self._rest = cached_op(rest, flags)

    @classmethod
    def of(cls, symbol, flags, cached_op):
        """None for graphs without such embeddings."""
        return cls(symbol, flags, cached_op) if any(_looks_up(n) for n in topological(symbol._entries)) else None

    def wanted(self, args):
        """Whether one of the weights has a gradient by rows."""
        given = dict(zip(self._names, args, strict=True))
        return any(w._variable is not None and getattr(w._variable.leaf, '_wants_rows', False)
                   for w in (given[node.inputs[1][0].name] for node in self._nodes.values()))

    def __call__(self, args, out, cls):
        known = dict(zip(self._names, args, strict=True))
        for name, node in self._nodes.items():
            data, weight = [known[child.name] for child, _ in node.inputs]
            known[name] = _invoke.run(node.op, [data, weight], node.attributes, None, cls)
        return self._rest(*[known[name] for name in self._inputs], out=out)


def by_nodes(program, args, cls):
    """The arrays of a graph's outputs, computed node by node; NotImplemented for graphs with loops or branches."""
    if any(call.bodies for call in program.calls):
        return NotImplemented
    values = [*args, *[None] * (program.size - len(args))]
    for call in program.calls:
        inputs = [None if s is None else values[s] for s in call.sources]
        result = _invoke.run(call.node.op, inputs, call.attributes, None, cls)
        values[call.first:call.first + call.count] = result if isinstance(result, list) else [result]
    return [values[i] for i in program.outputs]
