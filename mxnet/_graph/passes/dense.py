"""Dense layers in plans that become CUDA graphs: bias and relu in one kernel after the product, and the gradients of
both in one.

For small matrices of float32, cuBLAS takes longer for a product with a bias than for the product alone and a kernel
that adds it; and torch's sum over a few rows takes as long as a product.  Works on the graph of a plan (see plan.py).
"""
from __future__ import annotations

import operator
from collections.abc import Callable, Set
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from ..types import FxNode

aten = torch.ops.aten
LARGEST = 1 << 20           # elements; the libraries' own kernels are as good for larger ones
ROWS = 1 << 8               # that a program of ours adds up; torch's sum is as good for more


def fuse_dense(graph: torch.fx.Graph, calls: Set[FxNode]) -> int:
    """Rewrites those calls of a graph, in place; -> how many it has found."""
    from ..cuda.kernels import add_bias, column_sums, relu_back
    count = 0
    for node in list(graph.nodes):
        if node not in calls:
            continue
        if node.target is aten.linear.default and len(node.args) == 3 and node.args[2] is not None:
            count += _bias(graph, node, add_bias)
        elif node.target is aten.sum.dim_IntList and list(node.args[1]) in ([0], [-2]) and len(node.args) == 2 \
                and not node.kwargs and _is_small(node.args[0], ROWS):
            count += _sum(graph, node, column_sums, relu_back)
    return count


def _is_small(node: FxNode, rows: int = LARGEST) -> bool:
    value = node.meta.get('val')
    return isinstance(value, torch.Tensor) and value.dim() == 2 and value.dtype is torch.float32 \
        and value.is_contiguous() and 0 < value.numel() <= LARGEST and 1 < value.shape[0] <= rows


def _bias(graph: torch.fx.Graph, node: FxNode, add_bias: Callable[..., Any]) -> int:
    data, weight, bias = node.args
    if not _is_small(node) or any(a.meta['val'].dtype is not torch.float32 or not a.meta['val'].is_contiguous()
                                  for a in (weight, bias)):
        return 0
    after: FxNode = next(iter(node.users)) if len(node.users) == 1 else None
    relu = after is not None and after.target is aten.relu.default
    last = after if relu else node
    with graph.inserting_before(node):
        turned = graph.call_function(aten.t.default, (weight,))
        turned.meta.update(node.meta, val=weight.meta['val'].t())
        product = graph.call_function(aten.mm.default, (data, turned))
        product.meta.update(node.meta)
        made = graph.call_function(add_bias, (product, bias, relu))
        made.meta.update(last.meta, in_place=True)          # for `streams`: it has the memory of the product
    last.replace_all_uses_with(made)
    graph.erase_node(last)
    if relu:
        graph.erase_node(node)
    return 1


def _sum(graph: torch.fx.Graph, node: FxNode, column_sums: Callable[..., Any], relu_back: Callable[..., Any]) -> int:
    source = node.args[0]
    if source.target is not aten.threshold_backward.default or source.args[2] != 0 \
            or not all(_is_small(a) for a in source.args[:2]):
        node.target, node.args = column_sums, (source,)
        return 1
    with graph.inserting_before(source):
        call = graph.call_function(relu_back, source.args[:2])
        masked, total = (graph.call_function(operator.getitem, (call, i)) for i in range(2))
        masked.meta.update(source.meta)
        total.meta.update(node.meta)
    source.replace_all_uses_with(masked)
    node.replace_all_uses_with(total)
    graph.erase_node(node)
    graph.erase_node(source)
    return 1
