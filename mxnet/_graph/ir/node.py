"""Nodes of a graph.  A node never changes once it is made; graphs share them freely."""
from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..._ops.core.table import NAMES, Operator
from ...base import MXNetError

# attributes that upstream stores as __name__ although programs say name
HIDDEN = ('ctx_group', 'lr_mult', 'wd_mult', 'force_mirroring', 'mirror_stage')


class Node:
    """A variable (`op` is None) or the application of an operator to entries.

    `attrs` is what a file holds: texts, the operator's attributes and the program's own (`__lr_mult__`) side by side.
    `attributes` are the operator's, parsed and complete.  `number` tells which of two nodes was made first.
    """

    __slots__ = ('op', 'name', 'attrs', 'inputs', 'attributes', 'subgraphs', 'number', '__weakref__')
    op: Any            # an Operator, or None for a variable

    def __init__(self, op: Operator | None, name: str, attrs: Mapping[str, str], inputs: Sequence[Entry] = (),
                 subgraphs: Sequence[Any] = ()) -> None:
        self.op = op
        self.name = name
        self.number = next(_numbers)
        self.attrs = dict(attrs)
        self.inputs = tuple(inputs)
        self.subgraphs = tuple(subgraphs)
        self.attributes = {} if op is None else op.complete(op.parse(own_attributes(attrs)))

    @property
    def is_variable(self) -> bool:
        return self.op is None

    def output_names(self) -> tuple[str, ...]:
        return ('',) if self.op is None else self.op.output_names(self.attributes)

    def output_count(self) -> int:
        """Outputs with hidden ones, as `node_row_ptr` of a file counts."""
        return 1 if self.op is None else self.op.output_count(self.attributes)

    def visible_count(self) -> int:
        return 1 if self.op is None else len(self.op.output_names(self.attributes))

    def input_names(self) -> tuple[str, ...]:
        return self.op.input_names(self.attributes, len(self.inputs))

    def mutated(self) -> tuple[int, ...]:
        """Positions among `inputs` that hold states which running the node changes."""
        op = self.op
        if op is None or not op.mutates:
            return ()
        if op.variadic is not None:
            return op.mutated(self.attributes, len(self.inputs))
        present = self.input_names()
        names: Any = op.mutates
        return tuple(present.index(n) for n in names if n in present)

    def aux_positions(self) -> tuple[int, ...]:
        op = self.op
        if op is None or not (op.aux or op.variadic is not None and op.mutates):
            return ()
        states = op.aux_names(self.attributes, len(self.inputs))
        return tuple(i for i, n in enumerate(self.input_names()) if n in states)

    def entry_name(self, index: int) -> str:
        """`fc1_output`, `bn_mean`; a variable's own name."""
        if self.op is None:
            return self.name
        names = self.output_names()
        if index >= len(names):
            return f'{self.name}_hidden{index}'
        return f'{self.name}_{names[index]}'

    def __repr__(self) -> str:
        return f'<node {self.name}: {self.op.name if self.op else "variable"}>'


Entry = tuple[Node, int]
_numbers = itertools.count()


def is_hidden(key: str) -> bool:
    return key.startswith('__') and key.endswith('__')


def own_attributes(attrs: Mapping[str, str]) -> dict[str, str]:
    """The operator's part of `attrs`."""
    return {k: v for k, v in attrs.items() if not is_hidden(k) and k not in HIDDEN}


def topological(entries: Iterable[Entry]) -> list[Node]:
    """All nodes that the entries need, inputs first, in the order that upstream visits and writes them."""
    order: list[Node] = []
    seen: set[int] = set()
    for root, _ in entries:
        if id(root) in seen:
            continue
        seen.add(id(root))
        stack = [(root, 0)]
        while stack:
            node, i = stack.pop()
            if i < len(node.inputs):
                stack.append((node, i + 1))
                child = node.inputs[i][0]
                if id(child) not in seen:
                    seen.add(id(child))
                    stack.append((child, 0))
            else:
                order.append(node)
    return order


def as_written(nodes: Iterable[Node]) -> list[Node]:
    """Nodes in the order in which a program made them, inputs first: that in which it would draw random numbers and
    add up gradients if it ran line by line."""
    return sorted(nodes, key=lambda node: node.number)


def states_of(nodes: Iterable[Node]) -> set[int]:
    """ids of the variables that are auxiliary states."""
    found = set()
    for node in nodes:
        for i in node.aux_positions():
            child = node.inputs[i][0]
            if child.is_variable:
                found.add(id(child))
    return found


def rebuild(entries: Sequence[Entry],
            change: Callable[[Node, tuple[Entry, ...]], Sequence[Entry] | None]) -> list[Entry]:
    """A copy of a graph in which `change(node, new inputs)` may replace nodes.

    `change` returns None to keep a node (with its new inputs), or entries that replace its outputs.
    """
    new: dict[int, list[Entry]] = {}

    def entry(e: Entry) -> Entry:
        return new[id(e[0])][e[1]]

    for node in topological(entries):
        inputs = tuple(entry(e) for e in node.inputs)
        replaced = change(node, inputs)
        if replaced is None:
            same = all(a[0] is b[0] and a[1] == b[1] for a, b in zip(inputs, node.inputs, strict=True))
            copy = node if same else Node(node.op, node.name, node.attrs, inputs, node.subgraphs)
            replaced = [(copy, i) for i in range(max(1, node.output_count()))]
        new[id(node)] = list(replaced)
    return [entry(e) for e in entries]


def uniquely_named(entries: Sequence[Entry]) -> list[Entry]:
    """A copy of a graph in which no two operators have one name: a layer that is called twice gives two of it."""
    taken: set[str] = set()

    def change(node: Node, inputs: tuple[Entry, ...]) -> Sequence[Entry] | None:
        name, number = node.name, 1
        while name in taken:
            name, number = f'{node.name}_{number}', number + 1
        taken.add(name)
        if name == node.name or node.is_variable:
            return None
        copy = Node(node.op, name, node.attrs, inputs, node.subgraphs)
        return [(copy, i) for i in range(max(1, copy.output_count()))]
    return rebuild(entries, change)


def cached_node(name: str, attrs: Mapping[str, str], inputs: Sequence[Entry], entries: Sequence[Entry]) -> Node:
    """A node that runs a whole graph; `inputs` are what the graph's variables stand for, in their order."""
    order = topological(entries)
    variables = [n for n in order if n.is_variable]
    if len(inputs) != len(variables):
        raise MXNetError(f'node {name}: the subgraph has {len(variables)} inputs '
                         f'({", ".join(v.name for v in variables)}), but {len(inputs)} are given')
    states = states_of(order)
    facts = {'num_args': len(inputs), 'num_outputs': len(entries),
             'state_locs': [i for i, v in enumerate(variables) if id(v) in states]}
    kept = {k: v for k, v in attrs.items() if k != 'subgraph'} | {k: str(v) for k, v in facts.items()}
    return Node(NAMES['_CachedOp'], name, kept, inputs, [tuple(entries)])
