"""What a prediction need not compute each time: normalisation goes into weights, and what depends on parameters alone
is computed when they change.

Works on the graph of a plan (see plan.py) that has no backward.
"""
from __future__ import annotations

import operator
from collections.abc import Iterable, Set
from typing import TYPE_CHECKING

import torch

from ..._ops.core.library import CHECKS
from ..._torch.dispatch import OpOverload
from ..._torch.operators import BATCH_NORM_NO_TRAINING, TO_COPY
from .simplify import is_pure, written_to

if TYPE_CHECKING:
    from ..types import FxNode

aten = torch.ops.aten
_TINY = 1e-30           # a factor below this adds nothing to a sum of float32

# operator -> where its training flag and epsilon are among the arguments
_BATCH_NORMS = {aten.native_batch_norm.default: (5, 7), aten.cudnn_batch_norm.default: (5, 7),
                BATCH_NORM_NO_TRAINING: (None, 6)}


def depends_only(graph: torch.fx.Graph, fixed: Iterable[FxNode], apart: Set[FxNode] = frozenset()) -> set[FxNode]:
    """The pure calls that depend on nothing but the placeholders `fixed` (and on constants), other than checks.

    Without those that `apart` names, those whose memory another call writes to, and what depends on one of them.
    """
    found, constant, written = set(), set(fixed), written_to(graph)
    for node in graph.nodes:
        if node.op == 'get_attr':
            constant.add(node)
        elif node.op == 'call_function' and isinstance(node.target, OpOverload) and is_pure(node) \
                and node not in apart and node not in written and node.target not in CHECKS and node.all_input_nodes \
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


def fold_into_next(graph: torch.fx.Graph, fixed: Iterable[FxNode]) -> int:
    """Puts normalisation by moving averages, then relu, into the convolution after them; -> how often.

    For kernels of one pixel without padding, on a CPU.  relu(s x + t) is s c + t, where c is x limited to one side of
    -t / s: the limits stay a call, s goes into the weights and t into the bias.  Where s is 0, it is relu(t).
    """
    constant = depends_only(graph, fixed) | set(fixed)
    count = 0
    for node in list(graph.nodes):
        if node.target is not aten.relu.default or not node.users:
            continue
        norm = _norm_of(node, constant)
        if norm is None or not all(_is_pointwise(user, node, constant) for user in node.users):
            continue
        picture, gamma, beta, mean, variance = norm.args[:5]
        value, eps = picture.meta['val'], norm.args[_BATCH_NORMS[norm.target][1]]
        column = [1, value.shape[1], 1, 1]
        with graph.inserting_before(node):
            call = graph.call_function
            scale = call(aten.rsqrt.default, (call(aten.add.Tensor, (variance, eps)),))
            if gamma is not None:
                scale = call(aten.mul.Tensor, (scale, gamma))
            shift = call(aten.neg.default, (call(aten.mul.Tensor, (mean, scale)),))
            if beta is not None:
                shift = call(aten.add.Tensor, (shift, beta))
            none = call(aten.le.Scalar, (call(aten.abs.default, (scale,)), _TINY))
            bound = call(aten.neg.default, (call(aten.div.Tensor, (shift, scale)),))
            limits = []
            for sided, end in ((aten.lt.Scalar, -float('inf')), (aten.gt.Scalar, float('inf'))):
                limit = call(aten.masked_fill.Scalar, (bound, call(sided, (scale, 0)), end))
                limit = call(aten.masked_fill.Scalar, (limit, none, 0.0))
                limits.append(call(aten.view.default, (limit, column)))
            limited = call(aten.clamp.Tensor, (picture, *limits))
            limited.meta.update(node.meta)
            shift = call(aten.where.self, (none, call(aten.relu.default, (shift,)), shift))
            scale, shift = (call(aten.view.default, (v, column)) for v in (scale, shift))
        for user in list(node.users):
            _, weight, bias, *rest = user.args
            with graph.inserting_before(user):
                scaled = call(aten.mul.Tensor, (weight, scale))
                scaled = call(aten.clone.default, (scaled,), {'memory_format': torch.channels_last})
                scaled.meta['val'] = weight.meta['val']
                moved = call(aten.sum.dim_IntList, (call(aten.mul.Tensor, (weight, shift)), [1, 2, 3]))
                if bias is not None:
                    moved = call(aten.add.Tensor, (moved, bias))
            user.args = (limited, scaled, moved, *rest)
        for gone in (node, node.args[0], norm):
            graph.erase_node(gone)
        count += 1
    return count


def _norm_of(node: FxNode, constant: Set[FxNode]) -> FxNode:
    """The normalisation by constants that a call takes the result of, and nothing else reads; None if there is none."""
    part = node.args[0]
    norm = part.args[0] if part.target is operator.getitem and part.args[1] == 0 else None
    if norm is None or norm.target not in _BATCH_NORMS or len(part.users) != 1 or len(norm.users) != 1:
        return None
    training, _ = _BATCH_NORMS[norm.target]
    value = norm.args[0].meta['val']
    if training is not None and norm.args[training] or norm.args[3] is None or norm.args[4] is None \
            or any(p is not None and p not in constant for p in norm.args[1:5]) or value.dim() != 4 \
            or value.dtype is not torch.float32:
        return None
    return norm


def _is_pointwise(node: FxNode, data: FxNode, constant: Set[FxNode]) -> bool:
    """Whether a call is a convolution of `data` with constants, by kernels of one pixel without padding."""
    if node.target is not aten.convolution.default or node.args[0] is not data:
        return False
    _, weight, bias, _, padding, _, transposed, _, groups = node.args
    return weight in constant and (bias is None or bias in constant) and not transposed and groups == 1 \
        and not any(padding) and weight.meta['val'].dtype is torch.float32 and {*weight.meta['val'].shape[2:]} == {1}
