"""`BoundStep`: a plan bound to what one step read, which steps that are like it run again."""
from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from .._array import NDArrayBase, before_write, owned_apart, readers
from .._autograd import adopted
from .._graph.cuda.runner import Runner
from .._state import state
from .pending import GraphOutputs, fill_all
from .step_plan import needed, views_of

if TYPE_CHECKING:
    from .._graph.codegen.writing import Plan
    from ..context import Context
    from .step import Step
    from .types import ArrayRef, Place, Structure


class BoundStep:
    """A plan bound to what a step read: another step that fits runs it without finding anything out again.

    It depends on, and `fits` compares: the CachedOps, their train modes and how they are connected (`structure`); the
    heads; the ParameterGroups, which stand for arrays with their tensors and gradient variables; and of each other
    input its shape, dtype and gradient variable, whose buffer the plan's gradient goes to; the context, and the rule
    for shapes (`np_shape`).
    """

    __slots__ = ('structure', 'heads', 'others', 'groups', 'free_inputs', 'kinds', 'free_variables', 'np_shape', 'ctx',
                 'targets', 'flags', 'runner', 'outputs', 'plain', 'output_metas', 'views', '_at', '_lock', '_derived')
    targets: list[Any]                  # the gradient variables that the plan's gradients go to
    outputs: GraphOutputs | None        # of the last run, in the memory of a CUDA graph

    def __init__(self, step: Step, structure: Structure, heads: tuple[Place, ...], plan: Plan,
                 outputs: tuple[int, ...]) -> None:
        """outputs: the numbers of the heads among the outputs of all calls"""
        self.structure, self.heads, self.groups = structure, heads, list(step.groups)
        mine = needed([sources for _, _, sources in structure], heads)
        self.others = [number for number in range(len(structure)) if number not in mine]
        self.free_inputs = list(step.free_inputs)
        self.kinds = [(step.tensors[n].shape, step.tensors[n].dtype) for n in step.free_inputs]
        self.free_variables = [step.variables[n] for n in step.free_inputs]
        self.np_shape, self.ctx = step.np_shape, step.ctx
        self.targets = [step.variables[n] for n in plan.wanted]
        self.flags = [variable.fresh for variable in self.targets]
        self.views = views_of(structure)
        self._derived = {number for number, _, _ in self.views}
        wishes = {c.cached.static for c in step.calls} - {None}
        generators = []
        if any(c.cached.draws for c in step.calls):
            generators.append(step.calls[0].cached.generators(step.ctx)(step.ctx.torch_device))
        on_gpu = step.tensors[0].is_cuda
        self.runner = Runner(plan, [v.req for v in self.targets], static=wishes == {True}, generators=generators,
                             adopt=None if on_gpu else self._adopt)
        self.outputs, self._lock = None, threading.Lock()
        self.output_metas, self._at = [like for call in step.calls for like in call.output_metas], outputs
        # then the functions of a plan are all there is to a run
        self.plain = self.runner.plain and not on_gpu

    def _adopt(self, number: int, gradient: torch.Tensor) -> torch.Tensor | None:
        buffer = self.targets[number].buffer
        return None if adopted(buffer, gradient) else buffer.materialize()

    def is_template(self) -> bool:
        """Whether steps may follow it call by call: then inputs that are no parameters have no gradients."""
        return not any(self.free_variables)

    def fits(self, step: Step, heads: Sequence[NDArrayBase]) -> bool:
        """Whether a step is like the one that this was made for, but for the values of its arrays."""
        if len(step.calls) != len(self.structure) or step.groups != self.groups \
                or step.free_inputs != self.free_inputs or step.np_shape != self.np_shape or step.ctx != self.ctx:
            return False
        for call, (cached, training, sources) in zip(step.calls, self.structure):
            if call.cached is not cached or call.training is not training or call.sources != sources:
                return False
        if not self.begins_at(heads):
            return False
        for number, (shape, dtype), variable in zip(step.free_inputs, self.kinds, self.free_variables):
            tensor = step.tensors[number]
            if tensor.dtype is not dtype or tensor.shape != shape or step.variables[number] is not variable:
                return False
        return True

    def begins_at(self, heads: Sequence[NDArrayBase]) -> bool:
        """Whether the gradients are of the same arrays as before."""
        if len(heads) != len(self.heads):
            return False
        for head, (call, number) in zip(heads, self.heads):
            if head._pending.call != call or head._pending.number != number:
                return False
        return True

    def length(self) -> int:
        """How many numbers the heads have along their first axes."""
        return sum([self.output_metas[n].shape[0] for n in self._at])

    def run(self, step: Step, tensors: list[torch.Tensor], refs: Sequence[ArrayRef], ctx: Context,
            then: Any = None) -> None:
        """Fills the output arrays; states and gradients go where they belong, and then it does what follows
        (`Runner.run`).
        """
        with self._lock:
            if self.outputs is not None:
                self.outputs.run()
                self.outputs = None
            runner = self.runner
            buffers = [v.buffer._storage for v in self.targets]
            if True in [b is None for b in buffers]:
                buffers = [v.buffer.materialize() for v in self.targets]
            if readers or state.writes is not None:
                before_write(*buffers, *[tensors[n] for n in runner.plan.state_numbers],
                             *(() if then is None else then.written))
            if self.plain and then is None:
                outputs = runner.plan.joint(tensors, buffers)[0]
            else:
                outputs = runner.run(tensors, buffers, then)
            for flag in self.flags:
                flag[0] = True
            if runner.captured is not None:
                self.outputs = GraphOutputs(refs, outputs, ctx, self.views)
            else:
                if not runner.fresh:
                    outputs = owned_apart(outputs, tensors, self._derived)
                if self.views:
                    fill_all(refs, outputs, ctx, self.views)
                else:
                    for made, tensor in zip(refs, outputs, strict=True):
                        array = made()
                        if array is not None:
                            array._storage = tensor
                            array._pending = None
