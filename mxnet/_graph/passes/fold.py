"""What a prediction need not compute each time: normalisation goes into weights, and what depends on parameters alone
is computed when they change.

Works on the graph of a plan (see plan.py) that has no backward.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import torch

from ..._ops.core.library import CHECKS
from ..._torch.dispatch import OpOverload
from ..._torch.operators import BATCH_NORM_NO_TRAINING, TO_COPY
from .simplify import is_pure

if TYPE_CHECKING:
    from ..types import FxNode

aten = torch.ops.aten

# operator -> where its training flag and epsilon are among the arguments
_BATCH_NORMS = {aten.native_batch_norm.default: (5, 7), aten.cudnn_batch_norm.default: (5, 7),
                BATCH_NORM_NO_TRAINING: (None, 6)}


def depends_only(graph: torch.fx.Graph, fixed: Iterable[FxNode]) -> set[FxNode]:
    """The pure calls that depend on nothing but the placeholders `fixed` (and on constants), other than checks."""
    found, constant = set(), set(fixed)
    for node in graph.nodes:
        if node.op == 'get_attr':
            constant.add(node)
        elif node.op == 'call_function' and isinstance(node.target, OpOverload) and is_pure(node) \
                and node.target not in CHECKS and node.all_input_nodes \
                and all(a in constant for a in node.all_input_nodes):
            constant.add(node)
            found.add(node)
    return found


def fold_batch_norms(graph: torch.fx.Graph, fixed: Iterable[FxNode]) -> int:
    """Puts normalisation by moving averages into the weights of the convolution before it; -> how often."""
    constant = depends_only(graph, fixed) | set(fixed)
    count = 0
    for node in list(graph.nodes):
        if node.target not in _BATCH_NORMS:
            continue
        training, eps = _BATCH_NORMS[node.target]
        if training is not None and node.args[training]:
            continue
        picture, gamma, beta, mean, variance = node.args[:5]
        if picture.target is not aten.convolution.default or len(picture.users) != 1 or picture.args[6]:
            continue
        data, weight, bias, *rest = picture.args
        if any(p is not None and p not in constant for p in (weight, bias, gamma, beta, mean, variance)) \
                or mean is None or variance is None:
            continue
        outputs = [user for user in node.users if user.args[1] == 0]
        if len(outputs) != len(node.users):
            continue                    # the statistics are used as well
        with graph.inserting_before(picture):
            call = graph.call_function
            # in the precision of the statistics
            scale = call(aten.rsqrt.default, (call(aten.add.Tensor, (variance, node.args[eps])),))
            if gamma is not None:
                scale = call(aten.mul.Tensor, (scale, gamma))
            dtype = weight.meta['val'].dtype
            column = call(aten.view.default, (scale, [-1] + [1] * (weight.meta['val'].dim() - 1)))
            scaled = call(aten.mul.Tensor, (weight, column))
            shift = mean if bias is None else call(aten.sub.Tensor, (mean, bias))
            shift = call(aten.neg.default, (call(aten.mul.Tensor, (shift, scale)),))
            if beta is not None:
                shift = call(aten.add.Tensor, (shift, beta))
            if dtype is not variance.meta['val'].dtype:
                scaled, shift = (call(TO_COPY, (t,), {'dtype': dtype}) for t in (scaled, shift))
            if weight.meta['val'].is_contiguous(memory_format=torch.channels_last) and \
                    not weight.meta['val'].is_contiguous():
                scaled = call(aten.clone.default, (scaled,), {'memory_format': torch.channels_last})
            folded = call(aten.convolution.default, (data, scaled, shift, *rest))
            folded.meta['val'], scaled.meta['val'] = outputs[0].meta['val'], weight.meta['val']
        for output in outputs:
            output.replace_all_uses_with(folded)
            graph.erase_node(output)
        graph.erase_node(node)
        graph.erase_node(picture)
        count += 1
    return count
