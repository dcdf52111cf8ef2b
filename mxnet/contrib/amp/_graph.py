"""Casts as nodes of graphs: a pass over a whole graph, and one over a node that is just being made."""
from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from ..._graph.infer.inference import infer
from ..._graph.ir.node import Node, rebuild, topological
from ..._ops.core.attributes import dtype_flag
from ..._ops.core.dtypes import NAME
from ..._ops.core.table import NAMES
from ...base import MXNetError
from ._rules import WIDEST

CAST, MULTICAST = NAMES['amp_cast'], NAMES['amp_multicast']


def cast(entry, dtype):
    """An entry in another dtype."""
    node, index = entry
    return Node(CAST, f'{node.entry_name(index)}_amp_cast_{dtype}', {'dtype': dtype}, [entry]), 0


def multicast(entries):
    """Entries in the widest dtype among them."""
    node, index = entries[0]
    together = Node(MULTICAST, f'{node.entry_name(index)}_amp_multicast', {'num_outputs': str(len(entries))}, entries)
    return [(together, i) for i in range(len(entries))]


def _untouched(rules, node):
    """As `Rules.untouched`, among the inputs that the node has."""
    skipped = rules.untouched(node.op, node.attributes, len(node.inputs))
    if not skipped or node.op.variadic is not None:
        return skipped
    names = {node.op.inputs[i] for i in skipped}
    return {i for i, name in enumerate(node.input_names()) if name in names}


class Pass:
    """The copy of a float32 graph with casts in it.

    It follows which values are known to be in the target dtype or in float32, so that only casts which may change
    something are made, each of them once.

    data: names of the variables that are inputs, not parameters
    excluded: names of nodes that run in float32
    store_low: parameters that only products read are declared in the target dtype, instead of being cast
    """

    def __init__(self, rules: Any, data: Any, excluded: Sequence[Any] = (), store_low: bool = False) -> None:
        self.rules, self.data, self.excluded, self.store_low = rules, set(data), set(excluded), store_low
        self.known: dict[Any, Any] = {}             # (id of a new node, output) -> its dtype
        self.casts: dict[Any, Any] = {}             # (id of a new node, output, dtype) -> its cast
        self.stored_low: set[Any] = set()

    def run(self, entries: Any) -> Any:
        if self.store_low:
            self.stored_low = self._only_for_products(entries)
        self.kept: list[Any] = []              # new nodes live as long as their ids are looked up
        return [self._as(entry, 'float32') for entry in rebuild(entries, self._change)]

    def _wanted(self, node):
        # bodies of loops and branches are graphs of their own, in float32
        if node.name in self.excluded or node.subgraphs:
            return 'float32'
        return self.rules.dtype(node.op, node.attributes)

    def _only_for_products(self, entries):
        low: set[str] = set()
        other = {node.name for node, _ in entries}
        for node in topological(entries):
            if not node.is_variable:
                untouched = _untouched(self.rules, node)
                for i, (child, _) in enumerate(node.inputs):
                    fits = self._wanted(node) == self.rules.target and i not in untouched
                    if child.is_variable and child.name not in self.data:
                        (low if fits else other).add(child.name)
        return low - other

    def _as(self, entry, dtype):
        node, index = entry
        if self.known.get((id(node), index)) == dtype:
            return entry
        key = id(node), index, dtype
        if key not in self.casts:
            self.casts[key] = cast(entry, dtype)
            self.known[id(self.casts[key][0]), 0] = dtype
        return self.casts[key]

    def _change(self, node, inputs):
        if node.is_variable:
            return [(self._variable(node), 0)]
        wanted = self._wanted(node)
        untouched = _untouched(self.rules, node)
        known = [self.known.get((id(child), i)) for child, i in inputs]
        result = None
        if wanted == WIDEST:
            if len(inputs) > 1 and None in known:
                inputs = multicast(inputs)
            elif None not in known:
                result = 'float32' if 'float32' in known else self.rules.target
                inputs = [self._as(entry, result) for entry in inputs]
        elif wanted is not None:
            # a variable of unknown dtype is float32: the graph is one of a float32 model
            inputs = [entry if i in untouched or wanted == 'float32' and entry[0].is_variable and not known[i]
                      else self._as(entry, wanted) for i, entry in enumerate(inputs)]
            result = wanted
        copy = Node(node.op, node.name, node.attrs, inputs, node.subgraphs)
        self.kept.append(copy)
        results = [result] * node.output_count() if wanted is not None else self._inferred(copy, known)
        for i, dtype in enumerate(results):
            if dtype is not None:
                self.known[id(copy), i] = dtype
        return [(copy, i) for i in range(max(1, node.output_count()))]

    def _variable(self, node):
        if node.name in self.data:
            return node
        low = node.name in self.stored_low
        flag = dtype_flag(self.rules.target if low else 'float32')
        copy = Node(None, node.name, {**node.attrs, '__dtype__': str(flag)})
        self.kept.append(copy)
        if low:
            self.known[id(copy), 0] = self.rules.target
        return copy

    def _inferred(self, node, known):
        """dtypes of the outputs of a node that takes what it is given, from that of its first input."""
        count = node.output_count()
        if not known or known[0] is None:
            return [None] * count
        alone = Node(node.op, node.name, node.attrs, [(Node(None, str(i), {}), 0) for i in range(len(known))])
        try:
            facts = infer([(alone, i) for i in range(count)], {}, {'0': known[0]}, need_shapes=False)
        except MXNetError:
            return [None] * count
        found = [None if (dtype := facts.dtype((alone, i))) is None else NAME.get(dtype) for i in range(count)]
        return [dtype if dtype in (self.rules.target, 'float32') else None for dtype in found]


class Composer:
    """Gives nodes their casts while a program makes its graph, one after the other."""

    def __init__(self, rules):
        self.rules = rules
        # a cast keeps what it casts alive, so the id in a key is right as long as the cast is there
        self.casts: weakref.WeakValueDictionary[Any, Any] = weakref.WeakValueDictionary()

    def __call__(self, node):
        """The node, or one with casts before it."""
        wanted = self.rules.dtype(node.op, node.attributes)
        if wanted is None:
            return node
        if wanted == WIDEST:
            if len(node.inputs) < 2:
                return node
            inputs = multicast(node.inputs)
        else:
            untouched = _untouched(self.rules, node)
            inputs = [entry if i in untouched else self._as(entry, wanted) for i, entry in enumerate(node.inputs)]
        return Node(node.op, node.name, node.attrs, inputs, node.subgraphs)

    def _as(self, entry, dtype):
        key = id(entry[0]), entry[1], dtype
        found = self.casts.get(key)
        if found is None:
            found = self.casts[key] = cast(entry, dtype)[0]
        return found, 0
