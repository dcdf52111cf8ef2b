"""Backends of `optimize_for`: functions that rewrite a graph, by name.  `mx.library` is how programs register them."""
from collections.abc import Callable, Sequence

from ...base import MXNetError
from .node import Entry

BACKENDS: dict[str, Callable] = {}


def register(name: str):
    """Registers `function(entries, options, args, aux) -> entries` as a backend."""
    def add(function):
        BACKENDS[name] = function
        return function
    return add


@register('MKLDNN')
@register('MKLDNN_QUANTIZE')
@register('inductor')
def unchanged(entries, options, args, aux):
    """What upstream's CPU backends fuse, torch's kernels take as it is; 'inductor' is for plans."""
    return entries


def optimize(name: str, entries: Sequence[Entry], options: dict, args=None, aux=None) -> list[Entry]:
    """The graph as a backend rewrites it."""
    if name not in BACKENDS:
        raise MXNetError(f'there is no backend {name!r} to optimize a graph for; registered: '
                         f'{", ".join(sorted(BACKENDS))}')
    return list(BACKENDS[name](entries, options, args, aux))
