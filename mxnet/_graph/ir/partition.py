"""Cuts a graph into parts: nodes that a function chooses, joined as far as no part would need its own result."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...base import MXNetError
from .node import Entry, Node, topological


def groups(entries: Sequence[Entry], chosen: Callable[[Node], Any]) -> list[list[Node]]:
    """Connected groups of the chosen nodes.  Each could be one node: no way leads out of a group and back into it."""
    order = topological(entries)
    users: dict[int, list[Node]] = {}
    for node in order:
        for child, _ in node.inputs:
            users.setdefault(id(child), []).append(node)
    found: dict[int, list[Node]] = {}           # id of a node: its group
    for node in order:
        if node.is_variable or not chosen(node):
            continue
        found[id(node)] = [node]
        for child, _ in node.inputs:
            first, second = found.get(id(child)), found[id(node)]
            if first is None or first is second:
                continue
            joined = first + second
            if not _returns(joined, users, found):
                for n in joined:
                    found[id(n)] = joined
    return list({id(g): g for n in order if (g := found.get(id(n))) is not None}.values())


def _returns(group: list[Node], users: dict[int, list[Node]], found: dict[int, list[Node]]) -> bool:
    """Whether a way leads out of a group and back.  Other groups are entered by one of their nodes and left by any."""
    inside = {id(n) for n in group}
    seen: set[int] = set()
    ahead = [u for n in group for u in users.get(id(n), ()) if id(u) not in inside]
    while ahead:
        node = ahead.pop()
        if id(node) in inside:
            return True
        for n in found.get(id(node), [node]):
            if id(n) not in seen:
                seen.add(id(n))
                ahead += users.get(id(n), ())
    return False


def replace(entries: Sequence[Entry], parts: Sequence[list[Node]],
            make: Callable[[list[Entry], list[Entry]], Sequence[Entry] | None]) -> list[Entry]:
    """The graph with `make(graph of a part, what its variables stand for)` in the place of each part.

    `make` gives an entry for each output of the part, or None, which leaves the part as it is.
    """
    order = topological(entries)
    place = {id(n): k for k, n in enumerate(order)}
    unit: dict[int, list[Node]] = {id(n): [n] for n in order}
    for part in parts:
        part = sorted(part, key=lambda n: place[id(n)])
        unit |= {id(n): part for n in part}
    whole = {id(unit[id(part[0])]) for part in parts}
    new: dict[tuple[int, int], Entry] = {}
    for nodes in _sorted(order, unit):
        if id(nodes) in whole:
            inside = {id(n) for n in nodes}
            outputs = _outputs(order, entries, inside)
            graph, outer = _cut_out(nodes, outputs)
            made = make(graph, [new[id(n), i] for n, i in outer])
            if made is not None:
                if len(made) != len(outputs):
                    raise MXNetError(f'a part of a graph with {len(outputs)} outputs cannot be replaced by '
                                     f'{len(made)} outputs')
                new |= {(id(n), i): e for (n, i), e in zip(outputs, made, strict=True)}
                continue
        for node in nodes:
            inputs = tuple(new[id(c), i] for c, i in node.inputs)
            same = all(a[0] is b[0] and a[1] == b[1] for a, b in zip(inputs, node.inputs, strict=True))
            copy = node if same else Node(node.op, node.name, node.attrs, inputs, node.subgraphs)
            new |= {(id(node), i): (copy, i) for i in range(node.output_count())}
    return [new[id(n), i] for n, i in entries]


def _sorted(order: Sequence[Node], unit: dict[int, list[Node]]) -> list[list[Node]]:
    """Parts and single nodes, what goes into them first."""
    done: set[int] = set()
    result = []
    for node in order:
        stack = [(unit[id(node)], False)]
        while stack:
            nodes, ready = stack.pop()
            if ready:
                result.append(nodes)
            elif id(nodes) not in done:
                done.add(id(nodes))
                stack.append((nodes, True))
                stack += [(unit[id(c)], False) for n in nodes for c, _ in n.inputs if unit[id(c)] is not nodes]
    return result


def _outputs(order: Sequence[Node], entries: Sequence[Entry], inside: set[int]) -> list[Entry]:
    """What others need of the nodes inside, in order."""
    found = {(id(c), i): (c, i) for n in order if id(n) not in inside for c, i in n.inputs if id(c) in inside}
    found |= {(id(n), i): (n, i) for n, i in entries if id(n) in inside}
    place = {id(n): k for k, n in enumerate(order)}
    return sorted(found.values(), key=lambda e: (place[id(e[0])], e[1]))


def _cut_out(nodes: Sequence[Node], outputs: Sequence[Entry]) -> tuple[list[Entry], list[Entry]]:
    """(the graph of a part, the entries outside that its variables stand for, in their order)"""
    copies: dict[int, Node] = {}
    variables: dict[tuple[int, int], Node] = {}
    outside: dict[int, Entry] = {}

    def entry(e: Entry) -> Entry:
        child, i = e
        if id(child) in copies:
            return copies[id(child)], i
        if (id(child), i) not in variables:
            attrs = child.attrs if child.is_variable else {}
            variables[id(child), i] = variable = Node(None, child.entry_name(i), attrs)
            outside[id(variable)] = e
        return variables[id(child), i], 0
    for node in nodes:
        copies[id(node)] = Node(node.op, node.name, node.attrs, [entry(e) for e in node.inputs], node.subgraphs)
    graph = [(copies[id(n)], i) for n, i in outputs]
    return graph, [outside[id(n)] for n in topological(graph) if n.is_variable]
