"""Moving averages that the backward pass moves.

Where an operator's backward pass writes a state (BatchNorm on a CPU), its forward pass gives a `Move` in the place of
the new value: who writes states back has it done once the gradient of the call is computed.

Where a state is moved more than once in one backward pass (a BatchNorm that was called twice), the order matters.  It
is upstream's: `backward_ranks`.
"""
from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import Any, TypeVar

from torch import Tensor
from torch.autograd.graph import Node

_LABEL = 'mxnet.moves'          # key of a node's metadata

# Types of devices on which BatchNorm moves its averages in the forward pass, as cuDNN does.  Tests add 'cpu', so that
# what only a GPU does with states is also run, and compared, without one.
FORWARD = {'cuda'}


class Move:
    """A state goes towards `value` by `weight` (1: all the way) each time torch's engine runs `node`.

    call: in a graph, what its `ranks` know the call as
    """

    __slots__ = ('value', 'weight', 'node', 'call')

    def __init__(self, value: Tensor, weight: float, node: Node) -> None:
        self.value, self.weight, self.node = value, weight, node
        self.call: Any = None


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


def label_of(node: Node) -> Any:
    """The label that a node has, or None."""
    return node.metadata.get(_LABEL)        # type: ignore[attr-defined]  # as above


def in_backward_order(commits: list, ranks: Callable[[], Callable[[Any], Any]]) -> list:
    """What a backward pass writes at its end; states that several calls move, in upstream's order.

    ranks: gives a function of a label that says when upstream's backward pass runs its call
    """
    places = [i for i, (write, *_) in enumerate(commits) if type(write) is NodeMoves]
    if len(places) > 1:
        found = [commits[i] for i in places]
        memory = [tensor.data_ptr() for write, *_ in found for tensor, _, _ in write.moves]
        if len(set(memory)) < len(memory):
            rank = ranks()
            found.sort(key=lambda commit: rank(commit[0].label))
            for i, commit in zip(places, found, strict=True):
                commits[i] = commit
    return commits


def move_several_times(states: dict[int, Any]) -> bool:
    """Whether a graph's calls, {number of a state: new value, or moves}, move a state more than once."""
    return any(type(value) is list and len(value) > 1 for value in states.values())


def sort_moves(states: dict[int, Any], heads: Iterable[Tensor],
               ranks: Callable[[], Mapping[Any, Any]]) -> dict[int, Any]:
    """Lists of moves, {number of a state: moves}, so that the move that is last in a list comes first in backward.

    heads: the outputs, on torch's tape: moves of one call (a loop) are in the order of its nodes
    ranks: those of the graph's calls
    """
    if move_several_times(states):
        calls, nodes = ranks(), ranks_on_tape(heads)
        states = {number: sorted(value, key=lambda m: (calls.get(m.call, -1), nodes.get(m.node, -1)), reverse=True)
                  if type(value) is list else value for number, value in states.items()}
    return states


# Nodes of torch's graph whose first input is added to a product of the others.  In upstream it is the last: a bias
# comes after data and weight.
_ADDEND_FIRST = {'AddmmBackward0', 'AddmvBackward0', 'AddrBackward0', 'AddbmmBackward0', 'BaddbmmBackward0'}


LONG_SUM = 8            # terms of a gradient from which on upstream adds them one after the other


def _inputs(node: Node) -> list[tuple[Node, int]]:
    """What a node reads, (node, number of its output), in the order of upstream's inputs."""
    found: list[Any] = list(node.next_functions)
    if node.name() in _ADDEND_FIRST:
        found.append(found.pop(0))
    return [(source, number) for source, number in found if source is not None]


def ranks_on_tape(heads: Iterable[Tensor], wanted: Sequence[Tensor] = ()) -> dict[Node, int]:
    """`backward_ranks` of the nodes of torch's graph."""
    starts = [head.grad_fn for head in heads if head.grad_fn is not None]
    order = _depth_first(starts, lambda node: [source for source, _ in _inputs(node)])
    variables = [node for node in order if not node.next_functions]
    if len(wanted):
        leaves = {id(leaf): node for node in variables if (leaf := getattr(node, 'variable', None)) is not None}
        given = [leaves.get(id(tensor)) if tensor.grad_fn is None else tensor.grad_fn for tensor in wanted]
        variables = [node for node in given if node is not None]
    return backward_ranks(starts, _inputs, variables)


N = TypeVar('N', bound=Hashable)


def backward_ranks(heads: Sequence[N], inputs: Callable[[N], Sequence[tuple[N, int]]],
                   variables: Sequence[N] | None = None) -> dict[N, int]:
    """{call or variable: when upstream's backward pass runs the call}.

    Upstream computes the gradients of the variables one by one, in the order in which they are given, or else a
    depth-first search from the heads finds them.  The gradient of a variable or result is the sum of what its readers
    give back; the reader that this search finds last is asked first.  From `LONG_SUM` readers on, each waits for the
    one before it.

    inputs: (call or variable, number of its output) that a call reads, in order; none of a variable
    """
    order = _depth_first(heads, lambda node: [source for source, _ in inputs(node)])
    readers: dict[N, list[tuple[int, N]]] = {}
    for node in reversed(order):
        for source, number in inputs(node):
            readers.setdefault(source, []).append((number, node))
    if variables is None:
        variables = [node for node in order if not inputs(node)]
    for found in readers.values():
        found.sort(key=itemgetter(0))
    before: dict[N, list[N]] = {}
    for found in readers.values():
        for output in {number for number, _ in found}:
            terms = [reader for number, reader in found if number == output]
            if len(terms) >= LONG_SUM:
                for first, second in pairwise(terms):
                    before.setdefault(second, []).append(first)
    emitted = _depth_first(variables, lambda node: [*[reader for _, reader in readers.get(node, ())],
                                                    *before.get(node, ())])
    return {node: rank for rank, node in enumerate(emitted)}


def _depth_first(starts: Sequence[N], following: Callable[[N], Sequence[N]]) -> list[N]:
    """Nodes in the order in which a depth-first search leaves them."""
    left: list[N] = []
    seen: set[N] = set()
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
