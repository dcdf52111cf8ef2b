"""Convolutions and large dense layers of a CPU that predicts: weights as oneDNN orders them, additions and activations
within the same call.

Works on the graph of a plan (see plan.py) that has no backward; for convolutions, one that keeps channels last in
memory.  Weights are ordered when parameters change, not at each call, and pictures not at all.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from typing import TYPE_CHECKING, Any

import torch

from ..._torch.operators import (
    convolution_backend,
    convolution_pointwise,
    has_packed_convolutions,
    has_packed_layers,
    linear_pointwise,
    reorder_convolution_weight,
    reorder_linear_weight,
)
from .fold import depends_only

if TYPE_CHECKING:
    from ..types import FxNode

aten = torch.ops.aten
# numbers of a weight from which on oneDNN's product of packed weights is faster than MKL's (two cores, 1 to 128 rows:
# 0.3 to 0.9 of its time); below, the 15 us that a call of it takes longer decide
LARGE = 500_000


def can_pack() -> bool:
    """Whether torch has these calls for convolutions: it was built with oneDNN."""
    return _has_onednn() and has_packed_convolutions()


def can_pack_layers() -> bool:
    """The same for dense layers."""
    return _has_onednn() and has_packed_layers()


def _has_onednn() -> bool:
    return torch.backends.mkldnn.is_available() and bool(torch.backends.mkldnn.enabled)


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
    last, other = node, None
    user = _only_user(node)
    if user is not None and user.target is aten.add.Tensor and not user.kwargs:
        other = next((a for a in user.args if a is not node), None)
        if isinstance(other, torch.fx.Node) and _alike(other, node) and _alike(user, node):
            last = user
        else:
            other = None
    activation, numbers, end = _activation(last)
    if other is not None and activation not in ('none', 'relu'):
        activation, numbers, end = 'none', [], last         # the sum allows no others
    with graph.inserting_before(end):
        shape = list(data.meta['val'].shape)
        packed = graph.call_function(reorder_convolution_weight.default,
                                     (weight, padding, stride, dilation, groups, shape))
        how = (packed, bias, padding, stride, dilation, groups)
        pointwise = convolution_pointwise
        if other is None:
            made = graph.call_function(pointwise.default, (data, *how, activation, numbers, ''))
        else:
            made = graph.call_function(pointwise.binary, (data, other, *how, 'add', 1,
                                                          None if activation == 'none' else activation, [], None))
        made.meta.update(end.meta)
        made = _as_traced(graph, made)
    _replace(graph, node, end, made)


def _as_traced(graph: torch.fx.Graph, made: FxNode) -> FxNode:
    """A result with the strides that were traced, which the calls after it rely on.

    oneDNN's calls give those of channels last.  Where there is one channel or one pixel, torch's convolution may give
    others for the same memory, depending on the processor.
    """
    value = made.meta['val']
    if value.stride() == torch.empty(value.shape, device='meta', memory_format=torch.channels_last).stride():
        return made
    return graph.call_function(aten.as_strided.default, (made, list(value.shape), list(value.stride())))


def pack_layers(graph: torch.fx.Graph, fixed: Iterable[FxNode]) -> int:
    """Exchanges large dense layers; -> how many."""
    constant = depends_only(graph, fixed) | set(fixed)
    count = 0
    for node in list(graph.nodes):
        if node.target is not aten.linear.default:
            continue
        data, weight, *bias = node.args
        x, w = data.meta['val'], weight.meta['val']
        if weight not in constant or any(b is not None and b not in constant for b in bias) or w.numel() < LARGE \
                or w.dim() != 2 or not w.is_contiguous() or not x.is_contiguous() or x.numel() == 0 \
                or x.dtype is not torch.float32 or w.dtype is not torch.float32:
            continue
        activation, numbers, end = _activation(node)
        with graph.inserting_before(end):
            packed = graph.call_function(reorder_linear_weight.default, (weight, x.numel() // x.shape[-1]))
            made = graph.call_function(linear_pointwise.default,
                                       (data, packed, bias[0] if bias else None, activation, numbers, ''))
        _replace(graph, node, end, made)
        count += 1
    return count


def convolutions_as_layers(graph: torch.fx.Graph) -> None:
    """Rewrites convolutions that are dense layers as such, for `pack_layers`."""
    for node in list(graph.nodes):
        if node.target is aten.convolution.default:
            _as_layer(graph, node)


def _as_layer(graph: torch.fx.Graph, node: FxNode) -> None:
    """A convolution of single pixels with kernels of one pixel, the classifier of some networks, as a dense layer."""
    data, weight, bias, _, padding, _, transposed, _, groups = node.args
    x, w = data.meta['val'], weight.meta['val']
    if transposed or groups != 1 or any(padding) or w.numel() < LARGE or w.dim() != 4 \
            or {*x.shape[2:], *w.shape[2:]} != {1}:
        return
    rows, columns = x.shape[0], w.shape[0]
    with graph.inserting_before(node):
        flat, matrix, layer, made = (graph.create_node('call_function', target, args) for target, args in (
            (aten.view.default, (data, list(x.shape[:2]))), (aten.view.default, (weight, list(w.shape[:2]))),
            (aten.linear.default, ()), (aten.view.default, ())))
    layer.args = (flat, matrix) if bias is None else (flat, matrix, bias)
    made.args = (layer, [rows, columns, 1, 1])
    for new, like, shape in ((flat, x, x.shape[:2]), (matrix, w, w.shape[:2]), (layer, x, (rows, columns)),
                             (made, x, (rows, columns, 1, 1))):
        new.meta = {**node.meta, 'val': torch.empty(shape, dtype=like.dtype, device=like.device)}
    node.replace_all_uses_with(made)
    graph.erase_node(node)


def _activation(node: FxNode) -> tuple[str, list[float], FxNode]:
    """The activation of a result that nothing else reads: oneDNN's name, its numbers, and the call that computes it.

    ('none', [], node) where there is no such call.
    """
    user = _only_user(node)
    if user is not None and user.target in _ACTIVATIONS and not user.kwargs and _alike(user, node):
        found = _ACTIVATIONS[user.target](*user.args[1:])
        if found is not None:
            return *found, user
    return 'none', [], node


def _clamp(least: float | None = None, most: float | None = None) -> tuple[str, list[float]] | None:
    return None if least is None or most is None else ('hardtanh', [float(least), float(most)])


# call -> what its further arguments mean to oneDNN.  Each is as exact as torch's own; but NaN becomes the least value
# of `relu` and `hardtanh`
_ACTIVATIONS: dict[Any, Callable[..., tuple[str, list[float]] | None]] = {
    aten.relu.default: lambda: ('relu', []),
    aten.clamp.default: _clamp,
    aten.sigmoid.default: lambda: ('sigmoid', []),
    aten.tanh.default: lambda: ('tanh', []),
    aten.leaky_relu.default: lambda slope=0.01: ('leaky_relu', [float(slope)]),
}


def _replace(graph: torch.fx.Graph, node: FxNode, last: FxNode, made: FxNode) -> None:
    """Puts `made` in the place of the calls from `node` to `last`, each of which only the next one reads."""
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
