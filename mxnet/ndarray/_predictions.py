"""Predictions of a graph by plans that know which inputs are parameters.

What follows from the parameters alone is computed when they change.  On a GPU, predictions become CUDA graphs.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import ref

import torch

from .._array import owned_apart, wrap
from .._cache import Cache
from .._graph.codegen.plan import LIMIT
from .._graph.cuda.runner import MOST_UNASKED, Predictor, is_small
from .._lazy.pending import GraphOutputs
from .._state import state
from ._plan_node import generators_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..context import Context
    from ._cached_op import CachedOp

# the prediction of a kind that makes a plan: where plans were asked for (`static_alloc` and `static_shape`), or not
FIRST_ASKED, FIRST_UNASKED = 2, 10


class Predictions:
    """The predictors of a CachedOp, by the kinds of all inputs.

    last: kinds of the inputs that are no parameters, their positions, and the Predictor of the last prediction
    """

    __slots__ = ('predictors', 'last', '_counts', '_refused')
    last: tuple[list[Any], list[int], Predictor] | None

    def __init__(self) -> None:
        self.predictors: Cache[Any, Predictor | None] = Cache(LIMIT)    # None: there is no plan
        self._counts: Cache[Any, int] = Cache(LIMIT)                    # predictions without one
        self.last = None
        self._refused: list[Any] | None = None                  # kinds that have no plan, of the last prediction

    def predict(self, cached: CachedOp, tensors: Sequence[torch.Tensor], ctx: Context, cls: type) -> list[Any] | None:
        """Output arrays of a prediction; None where there is no plan."""
        if cached.draws and state.batch_generators is not None:
            return None             # a plan draws from the program's generator, not from that of a loader's batch
        last = self.last
        if last is not None and last[0] == [(tensors[i].shape, tensors[i].dtype) for i in last[1]] \
                and last[2].knows(tensors):
            return self.run(cached, last[2], tensors, ctx, cls)
        fixed = set(cached.parameters)
        free = [i for i in range(len(tensors)) if i not in fixed]
        shapes = [(tensors[i].shape, tensors[i].dtype) for i in free]
        if shapes == self._refused:
            return None
        kind = tuple([(t.shape, t.dtype, t.device) for t in tensors])
        predictor = self.predictors.get(kind)
        if predictor is None and kind not in self.predictors:   # many networks predict once: the first times without
            count = self._counts[kind] = self._counts.get(kind, 0) + 1
            if count < (FIRST_ASKED if is_asked(cached) else FIRST_UNASKED):
                return None
            predictor = self.predictors[kind] = _make_predictor(cached, tensors, ctx)
        if predictor is None:
            self._refused = shapes
            return None
        self.last = shapes, free, predictor
        return self.run(cached, predictor, tensors, ctx, cls)

    def run(self, cached: CachedOp, predictor: Predictor, tensors: Sequence[torch.Tensor], ctx: Context,
            cls: type) -> list[Any]:
        """Output arrays of a prediction by a predictor."""
        with predictor.lock:
            before, predictor.outputs = predictor.outputs, None
            if before is not None:
                before.run()
            outputs = predictor.run(tensors)
            if predictor.captured is None:
                outputs = list(outputs) if predictor.fresh else owned_apart(outputs, tensors)
                return [wrap(o, ctx, cls) for o in outputs]
            arrays: list[Any] = [wrap(None, ctx, cls) for _ in outputs]
            predictor.outputs = GraphOutputs([ref(array) for array in arrays], outputs, ctx)
        return arrays


def is_asked(cached: CachedOp) -> bool:
    """Whether plans for predictions were asked for; else there are some on a GPU, late and of small networks."""
    return bool(cached.static or cached.program.inductor)


def _make_predictor(cached: CachedOp, tensors: Sequence[torch.Tensor], ctx: Context) -> Predictor | None:
    generator = generators_of(ctx)
    plan = cached._plans.find(tensors, (), training=False, generator=generator, device=ctx.torch_device,
                              parameters=cached.parameters)
    asked = is_asked(cached)
    if plan is None or not asked and not (is_small(plan.peak, ctx.torch_device) and MOST_UNASKED
                                          >= sum([tensors[i].nbytes for i in cached.parameters])):
        return None
    return Predictor(plan, cached.parameters, [generator(ctx.torch_device)] if cached.draws else [], static=asked)
