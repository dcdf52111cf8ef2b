"""Runs of an executor that are bound to a guard on its arrays: plans of runs forward, of training, of predictions."""
from __future__ import annotations

from typing import Any

import torch

from . import _paused_writes
from ._array import owned_apart
from ._autograd import adopted
from ._graph.codegen.plan import alike
from ._graph.cuda.runner import Forward, Predictor, Runner
from ._graph.ir.node import topological
from ._guard import Guard
from ._state import state

_ATTEMPTS = 4           # how often another argument may turn out to be an input, until predictions are left as they are


class BoundRun:
    """A plan of forward runs, bound to a guard on the tensors of the arrays, and what is known of both."""

    __slots__ = ('plan', 'guard', 'record', 'fresh', 'alike', 'plain', 'buffers', 'copied', 'zeros', 'ones',
                 'forward', 'folded')

    def __init__(self, executor, plan, values, record):
        arrays = executor._arrays
        self.plan: Any
        self.plan, self.record, self.fresh = plan, record, all(plan.fresh)
        self.guard, tensors = Guard(arrays=arrays), [array.materialize() for array in arrays]
        self.alike = all(alike(tensors[p], v) for p, v in zip(plan.state_numbers, values, strict=True))
        self.plain = False
        self.forward = self.folded = None
        if not record and not executor._training and tensors:
            if tensors[0].is_cuda:             # predictions on a GPU, which may become a CUDA graph
                self.forward = Forward(plan, executor._generators())
            elif executor._program.convolves:
                self.folded = FoldedPrediction(executor)
        if not record or len(plan.present) != len(plan.wanted):
            return
        found = dict(zip(executor._program.arguments, zip(executor.grad_arrays, executor._reqs, strict=True),
                         strict=True))
        pairs = [found[place] for place in plan.wanted]
        # gradients that are written, all of them, to dense arrays like the arguments
        self.plain = all(r == 'write' and not b._sparse and alike(b.materialize(), tensors[place])
                         for place, (b, r) in zip(plan.wanted, pairs, strict=True))
        self.buffers = [b for b, _ in pairs]
        self.copied = [i for i, there in enumerate(plan.present) if there and not plan.direct[i]]
        self.zeros = [i for i, there in enumerate(plan.present) if not there]
        self.ones = [torch.ones_like(output, requires_grad=False) for output in executor._recorded[2]]


class FoldedPrediction:
    """Predictions of a CPU while the parameters stay: what follows from these alone is computed once.

    That is folding batch norms into convolutions, and bringing weights into the order that oneDNN wants.  An executor
    is not told which of its arguments are parameters: all but those that are written between two predictions, as
    torch's version counters say.  While weights of convolutions are written, the network is being trained, and predicts
    unfolded.
    """

    __slots__ = ('_weights', '_inputs', '_versions', '_predictor', '_attempts_left')

    def __init__(self, executor):
        self._versions = self._predictor = None
        self._inputs, self._attempts_left = set(), _ATTEMPTS
        places = dict(zip(executor._arg_names, executor._program.arguments, strict=True))
        self._weights = {places[node.inputs[1][0].name] for node in topological(executor._symbol._entries)
                         if not node.is_variable and node.op.name == 'Convolution' and node.inputs[1][0].is_variable}

    def run(self, executor, tensors):
        """The outputs; None if they are better computed as ever."""
        if _paused_writes.uncounted:
            _paused_writes.count_all()
        before, self._versions = self._versions, [t._version for t in tensors]
        if before is None or not self._attempts_left or state.batch_generators is not None:
            return None
        moved = {n for n, (a, b) in enumerate(zip(before, self._versions, strict=True)) if a != b}
        if moved & self._weights:
            return None
        if not moved <= self._inputs:
            self._inputs |= moved
            self._predictor, self._attempts_left = None, self._attempts_left - 1
        if not self._inputs or not self._attempts_left:
            return None
        if self._predictor is None:
            self._predictor = self._made(executor, tensors)
            if self._predictor is None:
                self._attempts_left = 0
                return None
        outputs = self._predictor.run(tensors)
        return outputs if self._predictor.fresh else [o.detach() for o in owned_apart(outputs, tensors)]

    def _made(self, own, tensors):
        parameters = tuple(n for n in range(len(tensors)) if n not in self._inputs)
        plan = own._plans.find(tensors, (), training=False, generator=own._generator, device=own._ctx.torch_device,
                               parameters=parameters)
        return None if plan is None else Predictor(plan, parameters, own._generators())


class BoundTraining:
    """A plan of forward and backward, bound to a guard on the tensors of the arrays that it works on."""

    __slots__ = ('guard', 'plain', 'buffers', 'runner')

    def __init__(self, plan, arrays, tensors, buffers, reqs, generators):
        self.guard, self.buffers = Guard(arrays=arrays), buffers
        self.plain = True not in [t.requires_grad for t in tensors]
        self.runner = Runner(plan, reqs, static=True, generators=generators,
                             adopt=None if tensors[0].is_cuda else self._adopt)

    def _adopt(self, number, gradient):
        buffer = self.buffers[number]
        return None if adopted(buffer, gradient) else buffer.materialize()
