"""Backends of `optimize_for`: functions that rewrite a graph, by name.  `mx.library` is how programs register them."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...base import MXNetError
from .node import Entry

BACKENDS: dict[str, Callable] = {}


def register(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers `function(entries, options, args, aux) -> entries` as a backend."""
    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        BACKENDS[name] = function
        return function
    return add


@register('MKLDNN')
@register('MKLDNN_QUANTIZE')
@register('inductor')
def unchanged(entries: Sequence[Entry], options: dict[str, Any], args: Any, aux: Any) -> Sequence[Entry]:
    """What upstream's CPU backends fuse, torch's kernels take as it is; 'inductor' is for plans."""
    return entries


def optimize(name: str, entries: Sequence[Entry], options: dict, args: Any = None, aux: Any = None) -> list[Entry]:
    """The graph as a backend rewrites it."""
    if name not in BACKENDS:
        raise MXNetError(f'there is no backend {name!r} to optimize a graph for; registered: '
                         f'{", ".join(sorted(BACKENDS))}')
    return list(BACKENDS[name](entries, options, args, aux))
