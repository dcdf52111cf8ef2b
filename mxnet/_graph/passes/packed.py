"""Convolutions of a CPU that predicts: weights as oneDNN orders them, additions and rectifiers within the same call.

Works on the graph of a plan (see plan.py) that has no backward and keeps channels last in memory.  Weights are ordered
when parameters change, not at each call, and pictures not at all.
"""
from __future__ import annotations

from collections.abc import Iterable, Set
from typing import TYPE_CHECKING

import torch

from ..._torch.operators import (
    convolution_backend,
    convolution_pointwise,
    has_packed_convolutions,
    reorder_convolution_weight,
)
from .fold import depends_only

if TYPE_CHECKING:
    from ..types import FxNode

aten = torch.ops.aten


def can_pack() -> bool:
    """Whether torch has these calls: it was built with oneDNN."""
    return torch.backends.mkldnn.is_available() and bool(torch.backends.mkldnn.enabled) \
        and has_packed_convolutions()


def pack_convolutions(graph: torch.fx.Graph, fixed: Iterable[FxNode]) -> int:
    """Exchanges the convolutions that oneDNN can do; -> how many."""
    constant = depends_only(graph, fixed) | set(fixed)
    count = 0
    for node in list(graph.nodes):
        if node.target is aten.convolution.default and _fits(node, constant):
            _exchange(graph, node)
            count += 1
    return count


def _fits(node: FxNode, constant: Set[FxNode]) -> bool:
    data, weight, bias, stride, padding, dilation, transposed, output_padding, groups = node.args
    x = data.meta['val']
    if transposed or weight not in constant or bias is not None and bias not in constant or x.dim() != 4 \
            or x.dtype is not torch.float32 \
            or not node.meta['val'].is_contiguous(memory_format=torch.channels_last):       # as these calls give it
        return False
    # asked about memory of a CPU that is never touched, since what is traced has none
    chosen = convolution_backend(torch.empty_strided(x.shape, x.stride()), torch.empty(weight.meta['val'].shape), None,
                                 stride, padding, dilation, False, output_padding, groups)
    if chosen == 'slow2d':
        # for small pictures on one thread torch's own code is faster, as long as weights are not packed
        return x.is_contiguous(memory_format=torch.channels_last) and not x.is_contiguous()
    return chosen == 'mkldnn'


def _exchange(graph: torch.fx.Graph, node: FxNode) -> None:
    data, weight, bias, stride, padding, dilation, _, _, groups = node.args
    last, other, rectified = node, None, False
    user = _only_user(last)
    if user is not None and user.target is aten.add.Tensor and not user.kwargs:
        other = next((a for a in user.args if a is not node), None)
        if isinstance(other, torch.fx.Node) and _alike(other, node) and _alike(user, node):
            last, user = user, _only_user(user)
        else:
            other = None
    if user is not None and user.target is aten.relu.default:
        last, rectified = user, True
    with graph.inserting_before(last):
        shape = list(data.meta['val'].shape)
        packed = graph.call_function(reorder_convolution_weight.default,
                                     (weight, padding, stride, dilation, groups, shape))
        how = (packed, bias, padding, stride, dilation, groups)
        pointwise = convolution_pointwise
        if other is None:
            made = graph.call_function(pointwise.default, (data, *how, 'relu' if rectified else 'none', [], ''))
        else:
            made = graph.call_function(pointwise.binary, (data, other, *how, 'add', 1, 'relu' if rectified else None,
                                                          [], None))
    made.meta.update(last.meta)
    last.replace_all_uses_with(made)
    while last is not node:
        before = node if node in last.all_input_nodes else next(a for a in last.all_input_nodes if node in
                                                                a.all_input_nodes)
        graph.erase_node(last)
        last = before
    graph.erase_node(node)


def _only_user(node: FxNode) -> FxNode | None:
    return next(iter(node.users)) if len(node.users) == 1 else None


def _alike(a: FxNode, b: FxNode) -> bool:
    a, b = a.meta['val'], b.meta['val']
    return a.dtype is b.dtype and a.shape == b.shape and a.stride() == b.stride()
