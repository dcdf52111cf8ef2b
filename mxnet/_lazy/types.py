"""Names of types that the modules here share; only type checkers load this."""
from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias
    from weakref import ref

    import torch

    from .._array import NDArrayBase
    from .._autograd import Variable
    from ..context import Context
    from ..ndarray._cached_op import CachedOp
    from .pending import GraphOutputs, ParameterGroup
    from .step import Step

    # where an input of a call comes from: the number of an input of the step, or (call, output) of the step
    Source: TypeAlias = int | tuple[int, int]
    Sources: TypeAlias = tuple[Source, ...]
    # a call of a step: CachedOp, train mode, sources
    CallKey: TypeAlias = tuple[CachedOp, bool, Sources]
    Structure: TypeAlias = tuple[CallKey, ...]
    # (call, output) of a step
    Place: TypeAlias = tuple[int, int]
    # shape and dtype
    Kind: TypeAlias = tuple[torch.Size, torch.dtype]
    # class, shape and dtype of an argument; the class is None for one that the step gives
    ArgumentKind: TypeAlias = tuple[type[NDArrayBase] | None, torch.Size, torch.dtype]
    # what decides how a call behaves: train mode, np_array, np_shape, interceptors, naive
    Switches: TypeAlias = tuple[bool, bool, bool, tuple[object, ...], bool]
    Work: TypeAlias = Step | GraphOutputs
    ArrayRef: TypeAlias = ref[NDArrayBase]
    Variables: TypeAlias = list[Variable | None]
    # output `number` is `view(tensor, context, recording)` of that of output `base`: (number, base, view)
    View: TypeAlias = Callable[[torch.Tensor, Context, bool], torch.Tensor]
    Views: TypeAlias = list[tuple[int, int, View]]
    Groups: TypeAlias = list[tuple[ParameterGroup, int]]
