"""Names of types that the modules here share; only type checkers load this."""
from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import torch

# A node of a traced graph, a torch.fx.Node.  Any, because torch annotates an argument of a call as everything that an
# argument can be, while the operator of the call decides which of these it is.
FxNode: TypeAlias = Any
# the random generator of a device
Generators: TypeAlias = Callable[[torch.device], torch.Generator]
# lengths that are not known are 0, or -1 where 0 is a length like others
PartialShape: TypeAlias = tuple[int, ...]
# by the numbers of states: the new tensor, or a list of moves (`_ops/core/moves.py`)
States: TypeAlias = dict[int, Any]


class Runnable(Protocol):
    """What can be traced: a `Program`, or several of them in a row (`Chain` of `_lazy/step_plan.py`)."""

    convolves: bool         # whether there are convolutions
    inductor: bool          # whether torch's compiler is asked for
    folds: bool             # whether plans for predictions may fold parameters into others
    rearranges: bool        # whether plans with gradients may keep channels last on a CPU
    kernels: Sequence[int]  # the numbers of variables that are weights of convolutions

    def run(self, tensors: Sequence[Any], *, training: Any, generator: Any, device: Any,
            monitor: Any = None) -> tuple[list[Any], States]:
        """The outputs, and the new values of states."""

    def ranks(self, wanted: Container[int], heads: Iterable[int] | None = None) -> Mapping[Any, Any]:
        """{what `Move`s know a call as: when upstream's backward pass runs it}.

        wanted: the numbers of the variables that have a gradient
        heads: the positions of the outputs that it begins with; None: all
        """
