"""Writes moving averages when gradients are computed: see `Move` of `_ops/core/moves.py`."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

import torch

from ..._array import before_write
from ..._ops.core.moves import NodeMoves, label
from ..._state import state
from ..._torch.lists import foreach_lerp_

if TYPE_CHECKING:
    from torch.autograd.graph import Node

    from ..._ops.core.moves import Move


NO_RANKS: dict = {}


class Mover:
    """Moves states, (tensor, value, weight), for one node of torch's graph.

    reads: the numbers of the inputs that the call which writes the states depends on, of a graph; None: all
    rank: when upstream's backward pass of the graph runs the call; 0 if that does not matter
    """

    __slots__ = ('label', 'reads', 'rank', '_moves')

    def __init__(self, moves: Sequence[tuple[torch.Tensor, torch.Tensor, float]], node_label: Any,
                 reads: Set[int] | None = None, rank: int = 0) -> None:
        self.label, self.reads, self.rank, self._moves = node_label, reads, rank, moves

    def __call__(self) -> None:
        _move(self._moves, self.label)


def move_when_differentiated(moves: Iterable[Move], tensor: torch.Tensor, applies: Callable[[], bool] | None = None,
                             node: Node | None = None, reads: Set[int] | None = None,
                             ranks: Mapping[Any, int] = NO_RANKS) -> list[Mover]:
    """Has a state's tensor moved whenever torch's engine runs the calls that the moves belong to.

    -> what does it, for backward passes that depend on the calls and do not come to them by torch's engine

    applies: function that says whether it is to be moved, if torch's engine runs more than the computation needs
    node: the node of torch's graph that the calls repeat, see `take_back`
    reads: as for `Mover`
    ranks: those of the calls of a graph, if their order matters
    """
    movers = []
    for move in moves:
        mover = Mover([(tensor.detach(), move.value, move.weight)], label(node or move.node), reads,
                      ranks.get(move.call, 0))
        move.node.register_prehook(_Hook(mover, applies))
        movers.append(mover)
    return movers


def take_back(node: Node) -> None:
    """Drops the moves of a node that this backward pass has come to so far.

    Where a gradient is differentiated, the calls of a node are run once more, as nodes of their own.  If a pass comes
    to them and to the node itself, these are still one call, which moves a state once.  The engine runs later nodes
    first.
    """
    if state.commits:
        node_label = label(node)
        state.commits[:] = [commit for commit in state.commits
                            if type(commit[0]) is not NodeMoves or commit[0].label is not node_label]


class _Hook:
    """A hook of a node of torch's graph."""

    __slots__ = ('_mover', '_applies')

    def __init__(self, mover: Mover, applies: Callable[[], bool] | None) -> None:
        self._mover, self._applies = mover, applies

    def __call__(self, gradients: Any) -> None:
        if self._applies is None or self._applies():
            self._mover()


def move_all(moves: Sequence[tuple[torch.Tensor, torch.Tensor, float]], node: Node | None = None) -> None:
    """Moves states, (tensor, value, weight): the last one is moved first.

    During a backward pass they are moved at its end, if it succeeds.

    node: the node of torch's graph that moves them in a backward pass
    """
    _move(moves, None if node is None else label(node))


def _move(moves: Sequence[tuple[torch.Tensor, torch.Tensor, float]], node_label: Any) -> None:
    if not moves or not state.moves:
        return
    if state.commits is None:
        _move_now(moves)
    else:
        state.commits.append((NodeMoves(moves, node_label, _move_now),))


def _move_now(moves: Sequence[tuple[torch.Tensor, torch.Tensor, float]]) -> None:
    before_write(*[tensor for tensor, _, _ in moves])
    tensors, values, weights = zip(*reversed(moves), strict=True)
    with torch.no_grad():
        if len(set(weights)) == 1 and len({id(t) for t in tensors}) == len(tensors):
            foreach_lerp_(list(tensors), list(values), weights[0])
        else:
            for tensor, value, weight in zip(tensors, values, weights, strict=True):
                tensor.lerp_(value, weight)
