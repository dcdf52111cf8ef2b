"""Equal computations of a graph, made one."""
from __future__ import annotations

from collections.abc import Sequence

from ..._ops.core.table import NAMES
from .node import Entry, Node, rebuild


def merged(entries: Sequence[Entry]) -> list[Entry]:
    """The graph with one node in the place of several that do the same to the same inputs.

    Nodes that draw random numbers, change states or run code of the program stay.  Outputs stay apart: where two become
    one, the second is a copy.
    """
    known: dict = {}

    def change(node: Node, inputs: tuple[Entry, ...]) -> list[Entry] | None:
        op = node.op
        if op is None or op.wants_rng or op.mutates or op.wants_site or node.subgraphs:
            return None
        key = op.name, tuple(sorted(node.attrs.items())), tuple((id(n), i) for n, i in inputs)
        first = known.get(key)
        if first is None:
            same = all(a[0] is b[0] for a, b in zip(inputs, node.inputs, strict=True))
            first = known[key] = node if same else Node(op, node.name, node.attrs, inputs)
        return [(first, i) for i in range(max(1, first.output_count()))]

    found, seen = [], set()
    for original, entry in zip(entries, rebuild(entries, change), strict=True):
        place = id(entry[0]), entry[1]
        if place in seen:
            entry = Node(NAMES['_copy'], f'{original[0].name}_copy', {}, [entry]), 0
        seen.add(place)
        found.append(entry)
    return found
