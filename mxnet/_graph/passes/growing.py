"""Concatenations that continue one another: predictions of a CPU write what is new into memory that has room for all.

A block of a DenseNet appends a few channels to all that came before, once per layer.  As calls of `cat`, each copies
everything again.  Here the first one reserves the memory of the last one, with channels last; each result is a view of
its first channels.  Works on the graph of a plan (see plan.py) that has no backward.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from ..types import FxNode

aten = torch.ops.aten


def begin(channels: int, parts: Sequence[torch.Tensor]) -> torch.Tensor:
    """Pictures one behind the other, in memory with room for `channels` channels."""
    count, _, height, width = parts[0].shape
    memory = parts[0].new_empty(count * height * width * channels)
    return extend(memory.as_strided((count, 0, height, width), _strides(parts[0].shape, channels)), parts)


def extend(before: torch.Tensor, parts: Sequence[torch.Tensor]) -> torch.Tensor:
    """`before` with the channels of further pictures behind its own; both share memory."""
    count, start, height, width = before.shape
    for part in parts:
        size = part.shape[1]
        before.as_strided(part.shape, before.stride(), before.storage_offset() + start).copy_(part)
        start += size
    return before.as_strided((count, start, height, width), before.stride())


def _strides(shape: Sequence[int], channels: int) -> tuple[int, int, int, int]:
    _, _, height, width = shape
    return height * width * channels, 1, width * channels, channels


def grow_concatenations(graph: torch.fx.Graph) -> int:
    """Exchanges chains of concatenations; -> how many."""
    chains, seen = 0, set()
    for node in list(graph.nodes):
        if node in seen or not _fits(node):
            continue
        chain = [node]
        while (following := _next(chain[-1])) is not None:
            chain.append(following)
        seen.update(chain)
        if len(chain) > 1:
            _exchange(graph, chain)
            chains += 1
    return chains


def _fits(node: FxNode) -> bool:
    if node.target is not aten.cat.default or len(node.args) != 2 or node.args[1] not in (1, -3):
        return False
    values = [n.meta['val'] for n in (node, *node.args[0])]
    return all(v.dim() == 4 and v.dtype is torch.float32 and v.numel() for v in values) \
        and values[0].is_contiguous(memory_format=torch.channels_last) and not values[0].is_contiguous()


def _next(node: FxNode) -> FxNode | None:
    """The concatenation that continues this one; None unless all other calls that read it can read a part of memory."""
    found = [user for user in node.users if _fits(user)]
    if len(found) != 1 or found[0].args[0][0] is not node or found[0].args[0].count(node) != 1:
        return None
    others = [user for user in node.users if user is not found[0]]
    return found[0] if all(u.target is aten.clamp.Tensor and u.args[0] is node for u in others) else None


def _exchange(graph: torch.fx.Graph, chain: Sequence[FxNode]) -> None:
    channels = chain[-1].meta['val'].shape[1]
    before = None
    for node in chain:
        value, parts = node.meta['val'], list(node.args[0])
        with graph.inserting_before(node):
            made = graph.call_function(begin, (channels, parts)) if before is None else \
                graph.call_function(extend, (before, parts[1:]))
        made.meta = {**node.meta, 'val': torch.empty_strided(value.shape, _strides(value.shape, channels),
                                                             dtype=value.dtype, device=value.device)}
        node.replace_all_uses_with(made)
        graph.erase_node(node)
        before = made
