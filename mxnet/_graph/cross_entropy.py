"""The gradient of a cross entropy, said shorter.

The loss of a class is the negative logarithm of its softmax.  Traced, its gradient is a table of zeros with -1 at the
labels that goes back through the logarithm of the softmax; which is the softmax itself, less 1 at the labels.  The last
bit may differ, since another kernel computes the exponential.
"""
import torch

aten = torch.ops.aten


def shorten_cross_entropies(graph, constants):
    """Rewrites a graph in place; `constants` are the nodes whose tensors are known."""
    for node in list(graph.nodes):
        if node.target is not aten._log_softmax_backward_data.default:
            continue
        gradient, result, axis, dtype = node.args
        if gradient.target is not aten.scatter_add.default or len(gradient.users) != 1 or node.kwargs \
                or node.meta['val'].dtype is not dtype or result.meta['val'].dtype is not dtype:
            continue
        table, over, labels, source = gradient.args
        if table not in constants or source not in constants or (over - axis) % node.meta['val'].dim() \
                or labels.meta['val'].shape[axis] != 1 \
                or constants[table].count_nonzero() or not (constants[source] == -1).all():
            continue
        with graph.inserting_before(node):
            softmax = graph.call_function(aten.exp.default, (result,))
            less = graph.call_function(aten.scatter_add.default, (softmax, over, labels, source))
        softmax.meta, less.meta = dict(node.meta), dict(node.meta)         # of the same shape and dtype
        node.replace_all_uses_with(less)
        graph.erase_node(node)
        graph.erase_node(gradient)
