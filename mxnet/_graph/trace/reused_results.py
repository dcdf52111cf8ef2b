"""The first run of a plan returns the results of its trace, so that they are not computed twice.

On a CPU only, where a step can take seconds.  On a GPU the second computation costs little, and keeping the results of
the trace would occupy memory.
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any
from weakref import ref

import torch

from ..._torch.memory import storage_id

if TYPE_CHECKING:
    from ..codegen.writing import Plan
    from .tracing import Trace


class TraceResults:
    """Stands in for a function of a plan (`joint`, `infer`, or a `forward` without gradients) until it is called.

    The results are those of the trace if the call is for the same tensors, unchanged, and draws the same random
    numbers; else the function itself runs.
    """

    def __init__(self, plan: Plan, name: str, tensors: Sequence[torch.Tensor], trace: Trace) -> None:
        self._plan, self._slot, self._function = plan, name, getattr(plan, name)
        # as of a function: the profiler compiles an instrumented copy (profiler/_ranges.py)
        self.__globals__, self.__name__ = self._function.__globals__, self._function.__name__
        self._given = [(ref(t), t._version) for t in tensors]
        self._draws = trace.draws or []         # `offer` has seen that these are known
        self._results = [_owned(trace.results, tensors)]

    def __call__(self, tensors: Sequence[torch.Tensor], *rest: Any) -> Any:
        if getattr(self._plan, self._slot) is self:
            setattr(self._plan, self._slot, self._function)
        try:
            results = self._results.pop()               # once, by the first caller
        except IndexError:
            results = None
        if results is None or not self._fits(tensors):
            return self._function(tensors, *rest)
        for generator, _, after in self._draws:
            generator.set_state(after)
        plan = self._plan
        outputs, states = len(plan.differentiable), len(plan.state_numbers)
        groups = results[:outputs], results[outputs:outputs + states], results[outputs + states:]
        if self._slot == 'infer':
            return groups[0]
        if self._slot == 'joint' and rest and rest[0] is not None:
            for i, target in enumerate(rest[0]):
                if plan.direct[i] and target is not None:
                    groups[2][i] = target.copy_(groups[2][i])
        return groups

    def _fits(self, tensors: Sequence[torch.Tensor]) -> bool:
        return len(tensors) == len(self._given) \
            and all(known() is t and version == t._version for t, (known, version) in zip(tensors, self._given)) \
            and all(torch.equal(generator.get_state(), before) for generator, before, _ in self._draws)


def _owned(results: Iterable[torch.Tensor | None], tensors: Sequence[torch.Tensor]) -> list[torch.Tensor | None]:
    """Results that share no memory with each other or with what was given: a plan may compute them elsewhere."""
    taken = {storage_id(t.untyped_storage()) for t in tensors}
    found = []
    for result in results:
        if result is not None:
            storage = result.untyped_storage()
            if storage_id(storage) in taken or storage.nbytes() != result.nbytes:
                result = result.clone()
            taken.add(storage_id(result.untyped_storage()))
        found.append(result)
    return found


def offer(plan: Plan, tensors: Sequence[torch.Tensor], trace: Trace) -> None:
    """Lets the first run of a plan take the results of its trace."""
    if trace.draws is None or any(t.is_inference() for t in tensors):       # nothing tells whether these change
        return
    name = next((n for n in ('joint', 'infer', 'forward') if getattr(plan, n) is not None), None)
    if name is not None and (name != 'forward' or not plan.wanted):
        setattr(plan, name, TraceResults(plan, name, tensors, trace))
