"""Scores of few classes, on a CPU: computed column by column.

Along a last axis that is shorter than a register of the processor, torch's kernels for the logarithm of softmax go row
by row, which takes several times as long as along the first axis, where each register has as many rows as it is long.
So a matrix of scores is turned for them, if all that is asked of the logarithms is one in each row (`pick`) and their
gradient, which goes on into products of matrices as it lies.

It changes no value.  The rows must fill the registers, since single rows are computed by other code.  Sums of the
gradient, whose order depends on the layout of the matrix, get it row by row.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from ..._torch.operators import LOG_SOFTMAX, LOG_SOFTMAX_BACKWARD

if TYPE_CHECKING:
    from ..types import FxNode

aten = torch.ops.aten
# numbers of float32 that a register has
WIDTH = {'AVX512': 16, 'AVX2': 8}.get(torch.backends.cpu.get_cpu_capability(), 0)
LEAST_ROWS = 64               # rows from which on it pays
_GRADIENT = LOG_SOFTMAX_BACKWARD


def turn_scores(graph: torch.fx.Graph) -> bool:
    """Rewrites a graph; False if there was nothing to do.  Views that cancel each other are left for `simplify`."""
    found = [node for node in graph.nodes if node.target is LOG_SOFTMAX and _fits(node)]
    for node in found:
        _Turned(graph, node)
    return bool(found)


def _fits(node: FxNode) -> bool:
    scores, axis, _ = node.args
    value = scores.meta['val']
    if value.dim() != 2 or axis % 2 != 1 or value.dtype is not torch.float32 or not value.is_contiguous():
        return False
    rows, classes = value.shape
    return 1 < classes < WIDTH and rows >= LEAST_ROWS and rows % WIDTH == 0 and all(
        user.target is aten.gather.default and user.args[0] is node and user.args[1] % 2 == 1
        or user.target is _GRADIENT and user.args[0] is not node for user in node.users)


class _Turned:
    """Replaces a call and those that use it."""

    def __init__(self, graph: torch.fx.Graph, node: FxNode) -> None:
        self._graph = graph
        users = list(node.users)
        with graph.inserting_before(node):
            logs = self._call(node, LOG_SOFTMAX, self._turn(node.args[0]), 0, node.args[2])
        for user in users:
            with graph.inserting_before(user):
                if user.target is _GRADIENT:
                    self._go_on(user, self._call(user, _GRADIENT, self._turn(user.args[0]), logs, 0, user.args[3]))
                else:
                    picked = self._call(user, aten.gather.default, logs, 0, self._turn(user.args[2]))
                    user.replace_all_uses_with(self._turn(picked))
            graph.erase_node(user)
        graph.erase_node(node)

    def _go_on(self, node: FxNode, turned: FxNode) -> None:
        """Gives what a node gave, turned, to its users."""
        back = self._turn(turned)
        rows = self._graph.call_function(aten.clone.default, (back,), {'memory_format': torch.contiguous_format})
        rows.meta = dict(node.meta)
        for user in list(node.users):
            multiplied = user.target is aten.mm.default or user.target is aten.t.default and all(
                u.target is aten.mm.default for u in user.users)
            user.replace_input_with(node, back if multiplied else rows)

    def _turn(self, node: FxNode) -> FxNode:
        """A node with the transpose of a matrix."""
        shape = list(node.meta['val'].shape)
        if len(node.users) == 1 and node.target is aten.scatter_add.default:
            zeros, axis, index, values = node.args
            return self._call(node, aten.scatter_add.default, self._turn(zeros), 1 - axis % 2, self._turn(index),
                              self._turn(values))
        if node.target is aten.new_zeros.default:
            return self._call(node, aten.new_zeros.default, node.args[0], shape[::-1], **node.kwargs)
        turned = self._graph.call_function(aten.t.default, (node,))
        value = node.meta['val']            # of which a view would import torch's compiler
        turned.meta = {**node.meta, 'val': torch.empty_strided(value.shape[::-1], value.stride()[::-1],
                                                               dtype=value.dtype, device=value.device)}
        return turned

    def _call(self, like: FxNode, target: Any, *args: Any, **kwargs: Any) -> FxNode:
        """A new row-major matrix, with the label of a node that has its transpose."""
        node = self._graph.call_function(target, args, kwargs)
        value = like.meta['val']
        node.meta = {**like.meta, 'val': torch.empty(value.shape[::-1], dtype=value.dtype, device=value.device)}
        return node
