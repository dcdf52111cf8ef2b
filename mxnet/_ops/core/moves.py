"""Moving averages that the backward pass moves.

Where an operator's backward pass writes a state (BatchNorm on a CPU), its forward pass gives a `Move` in the place of
the new value: who writes states back has it done once the gradient of the call is computed.

Where a state is moved more than once in one backward pass (a BatchNorm that was called twice), the order matters.  It
is upstream's: `backward_ranks`.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

from torch import Tensor
from torch.autograd.graph import Node

_LABEL = 'mxnet.moves'          # key of a node's metadata

# Types of devices on which BatchNorm moves its averages in the forward pass, as cuDNN does.  Tests add 'cpu', so that
# what only a GPU does with states is also run, and compared, without one.
FORWARD = {'cuda'}


class Move:
    """A state goes towards `value` by `weight` (1: all the way) each time torch's engine runs `node`."""

    __slots__ = ('value', 'weight', 'node')

    def __init__(self, value: Tensor, weight: float, node: Node) -> None:
        self.value, self.weight, self.node = value, weight, node


class NodeMoves:
    """(tensor, value, weight) of states that a node of torch's graph moves, in the order of the forward pass.

    label: as `label` gave it for the node
    """

    __slots__ = ('moves', 'label', '_write')

    def __init__(self, moves: Sequence[tuple[Tensor, Tensor, float]], node_label: Any,
                 write: Callable[[Sequence[tuple[Tensor, Tensor, float]]], None]) -> None:
        self.moves, self.label, self._write = moves, node_label, write

    def __call__(self) -> None:
        self._write(self.moves)


def label(node: Node) -> Any:
    """An object that stands for a node.  A hook of the node may hold it; holding the node would be a cycle."""
    return node.metadata.setdefault(_LABEL, object())       # type: ignore[attr-defined]  # torch annotates a function


def in_backward_order(commits: list, heads: Iterable[Tensor], variables: Sequence[Tensor] = ()) -> list:
    """What a backward pass from `heads` writes at its end; states that several nodes move, in upstream's order.

    variables: those of `autograd.grad`
    """
    places = [i for i, (write, *_) in enumerate(commits) if type(write) is NodeMoves]
    if len(places) > 1:
        found = [commits[i] for i in places]
        memory = [tensor.data_ptr() for write, *_ in found for tensor, _, _ in write.moves]
        if len(set(memory)) < len(memory):
            ranks = {node.metadata.get(_LABEL): rank        # type: ignore[attr-defined]  # as above
                     for node, rank in backward_ranks(heads, variables).items()}
            found.sort(key=lambda commit: ranks.get(commit[0].label, -1))
            for i, commit in zip(places, found, strict=True):
                commits[i] = commit
    return commits


def sort_moves(states: dict[int, Any], heads: Iterable[Tensor]) -> dict[int, Any]:
    """Lists of moves, {number of a state: moves}, so that the move that is last in a list comes first in backward."""
    if any(type(value) is list and len(value) > 1 for value in states.values()):
        ranks = backward_ranks(heads)
        states = {number: sorted(value, key=lambda move: -ranks.get(move.node, -1)) if type(value) is list else value
                  for number, value in states.items()}
    return states


# Nodes of torch's graph whose first input is added to a product of the others.  In upstream it is the last: a bias
# comes after data and weight.
_ADDEND_FIRST = {'AddmmBackward0', 'AddmvBackward0', 'AddrBackward0', 'AddbmmBackward0', 'BaddbmmBackward0'}


LONG_SUM = 8            # terms of a gradient from which on upstream adds them one after the other


def _sources(node: Node) -> list[Node]:
    """The nodes that a node reads, in the order of upstream's inputs."""
    found = [source for source, _ in node.next_functions]
    if node.name() in _ADDEND_FIRST:
        found.append(found.pop(0))
    return [source for source in found if source is not None]


def backward_ranks(heads: Iterable[Tensor], wanted: Sequence[Tensor] = ()) -> dict[Node, int]:
    """{node of torch's graph: when upstream's backward pass runs the call that the node belongs to}.

    Upstream computes the gradients of the variables one by one, in the order in which they are `wanted`, or else a
    depth-first search from the heads finds them.  The gradient of a variable or result is the sum of what its readers
    give back; the reader that this search finds last is asked first.  From `LONG_SUM` readers on, each waits for the
    one before it.
    """
    order = _depth_first([head.grad_fn for head in heads if head.grad_fn is not None], _sources)
    readers: dict[Node, list[tuple[int, Node]]] = {}
    for node in reversed(order):
        for source, number in node.next_functions:
            if source is not None:
                readers.setdefault(source, []).append((number, node))
    variables = [node for node in order if not node.next_functions]
    if len(wanted):
        leaves = {id(leaf): node for node in variables if (leaf := getattr(node, 'variable', None)) is not None}
        given = [leaves.get(id(tensor)) if tensor.grad_fn is None else tensor.grad_fn for tensor in wanted]
        variables = [node for node in given if node is not None]
    for found in readers.values():
        found.sort(key=lambda r: r[0])
    before: dict[Node, list[Node]] = {}
    for found in readers.values():
        for output in {number for number, _ in found}:
            terms = [reader for number, reader in found if number == output]
            if len(terms) >= LONG_SUM:
                for first, second in pairwise(terms):
                    before.setdefault(second, []).append(first)
    emitted = _depth_first(variables, lambda node: [*[reader for _, reader in readers.get(node, ())],
                                                    *before.get(node, ())])
    return {node: rank for rank, node in enumerate(emitted)}


def _depth_first(starts: Sequence[Node], following: Callable[[Node], Sequence[Node]]) -> list[Node]:
    """Nodes in the order in which a depth-first search leaves them."""
    left, seen = [], set(starts[:0])
    for start in starts:
        if start in seen:
            continue
        seen.add(start)
        path = [(start, iter(following(start)))]
        while path:
            node, rest = path[-1]
            for other in rest:
                if other not in seen:
                    seen.add(other)
                    path.append((other, iter(following(other))))
                    break
            else:
                left.append(node)
                path.pop()
    return left
