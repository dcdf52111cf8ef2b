"""Batch normalisation in plans for a GPU: a bias before it is left out, and relu and addition after it go with it.

Works on the graph of a plan with forward and backward (see plan.py), for pictures with channels last.
"""
from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from ..types import FxNode

aten = torch.ops.aten
_DTYPES = (torch.float16, torch.bfloat16, torch.float32)
# operator -> its gradient, and where that has the picture and the gradient of the result
_BACK = {aten.native_batch_norm.default: (aten.native_batch_norm_backward.default, 1, 0),
         aten.cudnn_batch_norm.default: (aten.cudnn_batch_norm_backward.default, 0, 1)}


def available(device: torch.device) -> bool:
    """Whether our kernels can run on a device."""
    if device.type != 'cuda' or torch.version.cuda is None:
        return False
    try:
        import triton  # noqa: F401
    except ImportError:
        return False
    return True


class _Norm:
    """A normalisation by the statistics of the batch, and its gradient."""

    def __init__(self, node: FxNode) -> None:
        self.node = node
        self.x, self.gamma, self.beta = node.args[:3]
        self.eps = node.args[7]
        self.parts = {user.args[1]: user for user in node.users}
        self.back: FxNode = None
        target, picture, self._gradient = _BACK[node.target]
        for user in self.x.users:
            if user.target is target and user.args[picture] is self.x and user.args[5] is self.parts.get(1):
                self.back = user

    @property
    def gradient(self) -> FxNode:
        """The gradient of the result."""
        return self.back.args[self._gradient]


def _norms(graph: torch.fx.Graph) -> list[_Norm]:
    found = []
    for node in graph.nodes:
        if node.target not in _BACK or not node.args[5] or node.args[3] is not None:
            continue
        norm = _Norm(node)
        value = norm.x.meta.get('val')
        if isinstance(value, torch.Tensor) and value.dim() == 4 and value.dtype in _DTYPES and norm.gamma is not None \
                and norm.beta is not None and value.is_contiguous(memory_format=torch.channels_last) \
                and all(p.meta['val'].dtype is torch.float32 for p in (norm.gamma, norm.beta)) \
                and 0 in norm.parts and len(norm.parts) == len(norm.node.users) \
                and not set(getattr(norm.parts.get(3), 'users', ())) - {norm.back} \
                and (norm.back is not None or 1 not in norm.parts):
            found.append(norm)
    return found


def fuse_batch_norms(graph: torch.fx.Graph) -> int:
    """Rewrites a graph in place; -> how many normalisations it has found."""
    from ..cuda.kernels import batch_norm_apply, batch_norm_back, batch_norm_stats, batch_norm_sums
    norms = _norms(graph)
    for norm in norms:
        _leave_bias_out(graph, norm)
    for norm in norms:
        _fuse(graph, norm, batch_norm_stats, batch_norm_apply, batch_norm_sums, batch_norm_back)
    return len(norms)


def _part(graph: torch.fx.Graph, call: FxNode, number: int, like: torch.Tensor | None) -> FxNode:
    node = graph.call_function(operator.getitem, (call, number))
    if like is not None:
        node.meta['val'] = like
    return node


def _leave_bias_out(graph: torch.fx.Graph, norm: _Norm) -> None:
    """A bias moves the mean, which normalisation takes away: only the moving average knows it.  Its gradient is 0."""
    conv = norm.x
    if conv.target is not aten.convolution.default or conv.args[2] is None \
            or set(conv.users) - {norm.node, norm.back}:
        return
    bias = conv.args[2]
    backs = [user for user in bias.users if user is not conv]
    if backs or norm.back is None:
        return
    into = [u for u in norm.back.users if u.target is operator.getitem and u.args[1] == 0]
    back = next((u for node in into for u in node.users if u.target is aten.convolution_backward.default), None)
    if back is None or back.args[0] not in into or back.args[2] is not conv.args[1]:
        return
    mean = norm.parts.get(1)
    conv.args = (*conv.args[:2], None, *conv.args[3:])
    if mean is not None:
        others = [u for u in mean.users if u is not norm.back]
        if others:
            with graph.inserting_after(mean):
                moved = graph.call_function(aten.add.Tensor, (mean, bias))
                moved.meta['val'] = mean.meta['val']
            for user in others:
                user.replace_input_with(mean, moved)
    for user in list(back.users):
        if user.target is operator.getitem and user.args[1] == 2:
            with graph.inserting_before(user):
                nothing = graph.call_function(aten.zeros_like.default, (bias,))
                nothing.meta['val'] = user.meta.get('val')
            user.replace_all_uses_with(nothing)
            graph.erase_node(user)
    back.args = (*back.args[:3], [0], *back.args[4:10], [*back.args[10][:2], False])


def _fuse(graph: torch.fx.Graph, norm: _Norm, stats: Callable[..., Any], apply: Callable[..., Any],
          sums: Callable[..., Any], back: Callable[..., Any]) -> None:
    node, x = norm.node, norm.x
    result = norm.parts[0]
    value = x.meta['val']
    with graph.inserting_before(node):
        found = graph.call_function(stats, (x, norm.eps))
        mean, inverse = (_part(graph, found, i, norm.parts[i + 1].meta['val'] if i + 1 in norm.parts else None)
                         for i in range(2))
    last, other, relu = _followers(result)
    with graph.inserting_before(last if last is not result else node):
        made = graph.call_function(apply, (x, mean, inverse, norm.gamma, norm.beta, other, relu))
        made.meta['val'] = value
    gone = [last] if last is result else [last, *([last.args[0]] if last.args[0] is not result else []), result]
    masks = [u for u in last.users if u.target is aten.threshold_backward.default and u.args[1] is last] if relu else []
    if norm.back is not None:
        gradient = norm.gradient
        fused = relu and masks == [gradient] and gradient.args[2] == 0
        place = gradient if fused else norm.back
        given = added = gradient.args[0] if fused else gradient
        given, more = _summands(given, value)
        # what is computed on the way to the sums, or from memory that need not be read again, is kept
        keep = more is not None or fused and (other is not None or len(gradient.users) > 1)
        with graph.inserting_before(place):
            if not given.meta['val'].is_contiguous(memory_format=torch.channels_last):
                given = graph.call_function(aten.clone.default, (given,), {'memory_format': torch.channels_last})
                given.meta['val'] = value
            numbers = mean, inverse, norm.gamma, norm.beta
            call = graph.call_function(sums, (given, more, x, made if fused and other is not None else None, *numbers,
                                              fused, keep))
            slopes = [_part(graph, call, i, norm.gamma.meta['val']) for i in range(2)]
            masked = _part(graph, call, 2, value) if keep else given
            into = graph.call_function(back, (masked, x, *numbers, *slopes, fused and not keep))
            into.meta['val'] = value
        for user in list(norm.back.users):
            user.replace_all_uses_with((into, *slopes)[user.args[1]])
            graph.erase_node(user)
        graph.erase_node(norm.back)
        if fused:
            if keep:
                gradient.replace_all_uses_with(masked)
            graph.erase_node(gradient)
        if more is not None:
            graph.erase_node(added)
    last.replace_all_uses_with(made)
    for old in gone:
        graph.erase_node(old)
    for number, new in ((1, mean), (2, inverse), (3, None)):
        if number in norm.parts:
            if new is not None:
                norm.parts[number].replace_all_uses_with(new)
            graph.erase_node(norm.parts[number])
    graph.erase_node(node)


def _summands(gradient: FxNode, like: torch.Tensor) -> tuple[FxNode, FxNode | None]:
    """The two gradients that one is the sum of, if nothing else needs the sum; else that one, and None."""
    if gradient.target is aten.add.Tensor and not gradient.kwargs and len(gradient.users) == 1:
        values = [a.meta.get('val') if isinstance(a, torch.fx.Node) else None for a in gradient.args]
        if all(isinstance(v, torch.Tensor) and v.shape == like.shape and v.dtype is like.dtype
               and v.stride() == like.stride() for v in values):
            return gradient.args
    return gradient, None


def _followers(result: FxNode) -> tuple[FxNode, FxNode | None, bool]:
    """What goes with a normalisation: (the last node, the picture that is added or None, whether relu ends it)."""
    if len(result.users) != 1:
        return result, None, False
    user = next(iter(result.users))
    if user.target is aten.relu.default:
        return user, None, True
    if user.target is aten.add.Tensor and not user.kwargs and len(user.users) == 1:
        after = next(iter(user.users))
        one, two = user.args
        other = two if one is result else one
        if after.target is aten.relu.default and isinstance(other, torch.fx.Node) and other is not result:
            mine, its = result.meta['val'], other.meta['val']
            if its.shape == mine.shape and its.dtype is mine.dtype and its.stride() == mine.stride():
                return after, other, True
    return result, None, False
