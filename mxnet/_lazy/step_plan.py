"""The plans of steps: forward and backward of deferred calls, at once."""
from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .._graph.codegen.plan import make_plan
from .._graph.ir.outputs import together
from .._ops.core.moves import backward_ranks

if TYPE_CHECKING:
    import torch

    from .._graph.codegen.writing import Plan
    from ..ndarray._cached_op import CachedOp
    from .step import Call, Step
    from .types import Place, Sources, Structure, View, Views


class Chain:
    """Programs one after the other, as one that `make_plan` can trace.

    needed: the numbers of the calls that the heads depend on; only these have a backward pass, which moves averages
    """

    def __init__(self, calls: Sequence[Call], needed: set[int]) -> None:
        self.parts = [(c.cached.program, c.training, c.sources, number in needed) for number, c in enumerate(calls)]
        self.folds = False              # steps are no predictions
        self.convolves = any(c.cached.program.convolves for c in calls)
        self.rearranges = all(c.cached.program.rearranges for c in calls if c.cached.program.convolves)
        weights = [c.sources[k] for c in calls for k in c.cached.program.kernels]
        self.kernels: Sequence[int] = [w for w in weights if isinstance(w, int)]
        self.inductor = any(c.cached.program.inductor for c in calls)

    def run(self, tensors: Sequence[torch.Tensor], *, generator: Any, device: torch.device,
            training: bool | None = None, monitor: Any = None) -> tuple[list[torch.Tensor], dict[int, Any]]:
        values = list(tensors)
        results: list[Sequence[torch.Tensor]] = []
        states: dict[int, Any] = {}
        for program, mode, sources, needed in self.parts:
            given = [values[s] if isinstance(s, int) else results[s[0]][s[1]] for s in sources]
            outputs, changed = program.run(given, training=mode, generator=generator, device=device, monitor=monitor)
            for place, value in changed.items():
                number = sources[place]
                for move in value if type(value) is list else ():
                    move.call = len(results), move.call
                if type(value) is not list:
                    values[number] = states[number] = value
                elif needed:
                    states.setdefault(number, []).extend(value)
            results.append(together(outputs))
        return [o for outputs in results for o in outputs], states


    def ranks(self, wanted: Container[int], heads: Iterable[int] | None = None) -> dict[Any, Any]:
        """{(number of a call, call in its program): when upstream's backward pass runs it}, see `Program.ranks`."""
        def inputs(node: int | tuple[int]) -> list[tuple[int | tuple[int], int]]:
            if isinstance(node, int):
                return []
            sources = self.parts[node[0]][2]
            return [(s, 0) if isinstance(s, int) else ((s[0],), s[1]) for s in sources
                    if not isinstance(s, int) or s in wanted]

        owners = [(number,) for number, part in enumerate(self.parts) for _ in part[0].outputs]
        starts: list[Any] = owners if heads is None else [owners[i] for i in heads]
        outer = backward_ranks(starts, inputs)
        found = {}
        for number, (program, _, sources, _) in enumerate(self.parts):
            if program.states:
                learned = {i for i, s in enumerate(sources) if not isinstance(s, int) or s in wanted}
                found.update({(number, call): (outer.get((number,), -1), rank)
                              for call, rank in program.ranks(learned).items()})
        return found


class StepPlan:
    """The plan of all steps of one structure and with tensors of the same kinds."""

    plan: Plan | None

    def __init__(self, step: Step, heads: tuple[Place, ...]) -> None:
        mine = needed([c.sources for c in step.calls], heads)
        read = {s for number in mine for s in step.calls[number].sources}
        wanted = tuple(n for n, v in enumerate(step.variables) if n in read and v is not None and v.req != 'null')
        firsts = first_outputs([c.cached for c in step.calls])
        self.heads = tuple(firsts[c] + n for c, n in heads)
        self.plan = make_plan(Chain(step.calls, mine), step.tensors, wanted, training=None,
                              generator=step.calls[0].cached.generators(step.ctx), device=step.ctx.torch_device,
                              heads=self.heads)
        if not wanted or self.plan is not None and len(self.plan.present) != len(wanted):
            self.plan = None                # nothing can be differentiated: `on_tape` raises the error


def needed(sources: Sequence[Sources], heads: Iterable[Place]) -> set[int]:
    """Numbers of the calls that heads, (call, output), depend on; `sources` has those of each call."""
    found, waiting = set(), [call for call, _ in heads]
    while waiting:
        number = waiting.pop()
        if number not in found:
            found.add(number)
            waiting += [s[0] for s in sources[number] if not isinstance(s, int)]
    return found


def first_outputs(ops: Iterable[CachedOp]) -> list[int]:
    """The number of the first output of each call, among the outputs of all."""
    firsts = [0]
    for cached in ops:
        firsts.append(firsts[-1] + cached.count)
    return firsts


def views_of(structure: Structure) -> Views:
    """(number, base, view) for outputs that are views of another one, which is none: see `fill_all`."""
    firsts = first_outputs([cached for cached, _, _ in structure])
    found: dict[int, tuple[int, View]] = {}
    for number, (cached, _, sources) in enumerate(structure):
        view = cached.deferral.view
        if view is not None:
            call, output = sources[0]       # type: ignore[misc]  # a view of an output: inputs are not pending
            base, inner = found.get(firsts[call] + output, (firsts[call] + output, None))
            found[firsts[number]] = base, view if inner is None else _composed(view, inner)
    return [(number, base, view) for number, (base, view) in found.items()]


def _composed(outer: View, inner: View) -> View:
    return lambda tensor, ctx, recording: outer(inner(tensor, ctx, recording), ctx, recording)
