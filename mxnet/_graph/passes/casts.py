"""Casts of mixed precision (`contrib.amp`) in a traced graph: those that cancel, and those that a copy does on its way.

Works on the graph of a plan (see plan.py) before it is simplified: equal casts of one value, such as those of a weight
that is used several times, are merged there, and casts of parameters alone are part of what predictions prepare.
No value changes.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from ..._torch.operators import TO_COPY, UNSAFE_VIEW

if TYPE_CHECKING:
    from ..types import FxNode

aten = torch.ops.aten
_COPY = TO_COPY

# dtype -> dtypes that have all of its values, so that a cast there and back changes nothing
_WIDER = {torch.float16: (torch.float32, torch.float64), torch.bfloat16: (torch.float32, torch.float64),
          torch.float32: (torch.float64,)}
# views, which can as well be taken before a cast
_VIEWS = {aten.view.default, UNSAFE_VIEW, aten.t.default, aten.transpose.int, aten.permute.default,
          aten.expand.default, aten.unsqueeze.default, aten.squeeze.dim, aten.squeeze.dims, aten.slice.Tensor,
          aten.select.int}


def settle_casts(graph: torch.fx.Graph) -> int:
    """Leaves out casts to a wider dtype and back, whatever views lie between; -> how many."""
    count = 0
    for node in list(graph.nodes):
        if node.target is not _COPY or not _is_cast(node):
            continue
        chain, inner = [], node.args[0]
        while inner.target in _VIEWS:
            chain.append(inner)
            inner = inner.args[0]
        if not _widens(inner) or inner.args[0].meta['val'].dtype is not node.meta['val'].dtype:
            continue
        source = inner.args[0]
        if source.meta['val'].stride() != inner.meta['val'].stride():
            continue                # views are of the layout that the cast gave
        with graph.inserting_before(node):
            for view in reversed(chain):
                value = source.meta['val']
                source = graph.call_function(view.target, (source, *view.args[1:]), view.kwargs)
                source.meta['val'] = view.meta['val'].to(value.dtype)
        if source.meta['val'].stride() == node.meta['val'].stride():
            node.replace_all_uses_with(source)
            count += 1
    return count


def uncast_gradients(graph: torch.fx.Graph, first: int) -> int:
    """Hands gradients (the results from `first` on) out before they are cast to a wider dtype, which the copy to their
    buffers does as well; -> how many."""
    output = next(n for n in graph.nodes if n.op == 'output')
    results, count = list(output.args[0]), 0
    for i, node in enumerate(results[first:], first):
        if isinstance(node, torch.fx.Node) and len(node.users) == 1 and _widens(node) and results.count(node) == 1 \
                and node.args[0] not in results:
            results[i] = node.args[0]
            output.args = (results,)
            graph.erase_node(node)
            count += 1
    return count


def _widens(node: FxNode) -> bool:
    return node.target is _COPY and _is_cast(node) and \
        node.meta['val'].dtype in _WIDER.get(node.args[0].meta['val'].dtype, ())


def _is_cast(node: FxNode) -> bool:
    """Whether a copy changes the dtype and nothing else; what it says about that is made short."""
    value, source = node.meta['val'], node.args[0].meta.get('val')
    if source is None or 'dtype' not in node.kwargs or value.device != source.device \
            or node.kwargs.get('memory_format') not in (None, torch.preserve_format) or value.dtype is source.dtype:
        return False
    node.kwargs = {'dtype': node.kwargs['dtype']}
    return True
