"""Backends of `optimize_for`: functions that rewrite a graph, by name.

    from mxnet._graph import backends

    @backends.register('drop_dropout')
    def drop_dropout(entries, options):
        return rebuild(entries, lambda node, inputs: inputs if node.op and node.op.name == 'Dropout' else None)
"""
from collections.abc import Callable, Sequence

from ..base import MXNetError
from .node import Entry

BACKENDS: dict[str, Callable] = {}


def register(name: str):
    """Registers `function(entries, options) -> entries` as a backend."""
    def add(function):
        BACKENDS[name] = function
        return function
    return add


def optimize(name: str, entries: Sequence[Entry], options: dict) -> list[Entry]:
    """The graph as a backend rewrites it."""
    if name not in BACKENDS:
        there = ', '.join(sorted(BACKENDS)) or 'none'
        raise MXNetError(f'there is no backend {name!r} to optimize a graph for; registered: {there}')
    return list(BACKENDS[name](entries, options))
