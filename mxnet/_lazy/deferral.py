"""What the deferred calls of one CachedOp have found out."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._cache import Cache
from .._graph.codegen.plan import LIMIT

if TYPE_CHECKING:
    import torch

    from ..ndarray._cached_op import CachedOp
    from .pending import ParameterGroup
    from .step import BoundStep
    from .step_plan import StepPlan
    from .types import View

BUDGET = 8              # how often a step may be read before `backward`, until its blocks are not deferred any more
MOST_SEEN = 1024        # keys of steps that were seen once
MOST_OPERATORS = 4096   # calls of operators: their numbers may change from step to step


class Deferral:
    """The state of deferred calls of a CachedOp, and the caches of steps that begin with it.

    budget: how often its outputs may be read before `backward`; at 0, calls run at once
    group: the parameters of the last deferred call
    last_step: the last step that ran as a plan and began with this CachedOp
    step_plans: plans of such steps, by key
    seen_once: keys of such steps with operators, of which the first runs without a plan
    operators: CachedOps of operators that follow it in a step (operators.py)
    output_kinds: kinds of the inputs -> meta tensors with the shapes and dtypes of the outputs (inference.py)
    only_inferred: whether calls that inference does not know to be right are refused (`NotInferred`)
    view: how the output is made a view of the input, if it is one (operators.py)
    """

    __slots__ = ('budget', 'group', 'last_step', 'step_plans', 'seen_once', 'operators', 'output_kinds',
                 'only_inferred', 'view')
    group: ParameterGroup | None
    last_step: BoundStep | None
    view: View | None

    def __init__(self) -> None:
        self.budget, self.group, self.last_step = BUDGET, None, None
        self.step_plans: Cache[Any, StepPlan] = Cache(LIMIT)
        self.seen_once: Cache[Any, bool] = Cache(MOST_SEEN)
        self.operators: Cache[Any, CachedOp] = Cache(MOST_OPERATORS)
        self.output_kinds: Cache[Any, list[torch.Tensor]] = Cache(LIMIT)
        self.only_inferred, self.view = False, None
