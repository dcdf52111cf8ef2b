"""The plans of steps: forward and backward of calls that waited for each other, at once."""
import threading

import torch

from .._graph.plan import make_plan
from .._graph.runner import Runner
from .._graph.writing import OWED, fusing
from ..autograd import adopted
from ._debts import Debt
from ._invoke import owned
from ._waiting import Shown, fill


class Chain:
    """Programs one after the other, as one that `make_plan` can trace."""

    def __init__(self, calls):
        self.parts = [(c.cached.program, c.training, c.sources) for c in calls]
        self.convolves = any(c.cached.program.convolves for c in calls)
        self.inductor = any(c.cached.program.inductor for c in calls)

    def run(self, tensors, *, generator, device, training=None, monitor=None):
        values, results, states = list(tensors), [], {}
        for program, mode, sources in self.parts:
            given = [values[s] if type(s) is int else results[s[0]][s[1]] for s in sources]
            outputs, changed = program.run(given, training=mode, generator=generator, device=device, monitor=monitor)
            for place, value in changed.items():
                number = sources[place]
                values[number] = states[number] = value
            results.append(outputs)
        return [o for outputs in results for o in outputs], states


class Known:
    """The plan of all steps of one structure and with tensors of the same kinds."""

    def __init__(self, step, heads):
        from ._cached_op import generators_of
        read = {s for number in needed([c.sources for c in step.calls], heads) for s in step.calls[number].sources}
        wanted = tuple(n for n, a in enumerate(step.arrays) if n in read and a._variable is not None
                       and a._variable.req != 'null')
        firsts = [0]
        for call in step.calls:
            firsts.append(firsts[-1] + len(call.outputs))
        self.heads = tuple(firsts[c] + n for c, n in heads)
        self.plan = make_plan(Chain(step.calls), step.tensors, wanted, training=None, generator=generators_of(step.ctx),
                              device=step.ctx.torch_device, heads=self.heads)
        if not wanted or self.plan is not None and len(self.plan.present) != len(wanted):
            self.plan = None                # nothing can be differentiated: the long way says so


def needed(sources, heads):
    """Numbers of the calls that heads, (call, output), depend on; `sources` has those of each call."""
    found, waiting = set(), [call for call, _ in heads]
    while waiting:
        number = waiting.pop()
        if number not in found:
            found.add(number)
            waiting += [s[0] for s in sources[number] if type(s) is not int]
    return found


class Ready:
    """A plan and the arrays that it was last run with: what the next run need not find out again."""

    __slots__ = ('structure', 'heads', 'others', 'bundles', 'loose', 'shapes', 'targets', 'flags', 'runner', 'shown',
                 'plain', 'likes', '_at', '_lock', '_owing', '_debts')

    def __init__(self, step, structure, heads, known):
        self.structure, self.heads, self.bundles = structure, heads, list(step.bundles)
        mine = needed([sources for _, _, sources in structure], heads)
        self.others = [number for number in range(len(structure)) if number not in mine]
        self.loose = list(step.loose)
        self.shapes = [(step.tensors[n].shape, step.tensors[n].dtype) for n in step.loose]
        self.targets = [step.arrays[n]._variable for n in known.plan.wanted]
        self.flags = [variable.fresh for variable in self.targets]
        wishes = {c.cached.static for c in step.calls} - {None}
        generators = []
        if any(c.cached.draws for c in step.calls):
            from ._cached_op import generators_of
            generators.append(generators_of(step.ctx)(step.ctx.torch_device))
        self.runner = Runner(known.plan, [v.req for v in self.targets], static=wishes == {True}, generators=generators,
                             adopt=None if step.tensors[0].is_cuda else self._adopt)
        self.shown, self._lock = None, threading.Lock()
        self.likes, self._at = None, known.heads            # tensors of the outputs' shapes and dtypes, once known
        # then the functions of a plan are all there is to a run
        self.plain = self.runner.plain and not step.tensors[0].is_cuda
        owable = known.plan.owable if wishes == {True} and fusing() else ()
        self._owing = [(v, Debt(n, v.buffer) if owable and owable[n] and v.req == 'write' else None)
                       for n, v in enumerate(self.targets)]
        self._debts = [debt for _, debt in self._owing if debt is not None]

    def _adopt(self, number, gradient):
        buffer = self.targets[number].buffer
        return None if adopted(buffer, gradient) else buffer._tensor

    def fits(self, step, heads):
        """Whether a step is like the one before but for the values of its arrays."""
        if len(step.calls) != len(self.structure) or step.bundles != self.bundles or step.loose != self.loose:
            return False
        for call, (cached, training, sources) in zip(step.calls, self.structure):
            if call.cached is not cached or call.training is not training or call.sources != sources:
                return False
        if not self.begins_at(heads):
            return False
        arrays, tensors = step.arrays, step.tensors
        for number, (shape, dtype) in zip(step.loose, self.shapes):
            tensor = tensors[number]
            if tensor.dtype is not dtype or tensor.shape != shape or arrays[number]._variable is not None:
                return False
        return True

    def begins_at(self, heads):
        """Whether the gradients are of the same arrays as before."""
        if len(heads) != len(self.heads):
            return False
        for head, (call, number) in zip(heads, self.heads):
            if head._place.call != call or head._place.number != number:
                return False
        return True

    def length(self):
        """How many numbers the heads have along their first axes; None if it is not known yet."""
        return self.likes and sum([self.likes[n].shape[0] for n in self._at])

    def run(self, tensors, refs, then=None):
        """Fills the output arrays; states and gradients go where they belong, and then it does what follows
        (`Runner.run`).  False if it fails.
        """
        with self._lock:
            if self.shown is not None:
                self.shown.run()
                self.shown = None
            # the first run may have been computed already, with its gradients (first.py)
            runner, debts = self.runner, self._debts if self.likes is not None else ()
            if not debts:
                buffers = [v.buffer._tensor for v in self.targets]
            else:
                buffers = [v.buffer._tensor if debt is None else debt.asks() for v, debt in self._owing]
                debts = [debt for debt in debts if buffers[debt.number] is OWED]
            try:
                if self.plain and then is None:
                    outputs, _, found = runner.plan.whole(tensors, buffers)
                    for debt in debts:
                        debt.owe(found[debt.number])
                else:
                    outputs = runner.run(tensors, buffers, then, debts)
            except RuntimeError:
                return False
            if self.likes is None:
                self.likes = [torch.empty_like(o, device='meta') for o in outputs]
            for flag in self.flags:
                flag[0] = True
            if runner.captured is not None:
                self.shown = Shown(refs, outputs)
            else:
                fill(refs, outputs if runner.fresh else [owned(o, tensors) for o in outputs])
            return True
