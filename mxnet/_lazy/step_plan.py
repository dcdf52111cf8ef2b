"""The plans of steps: forward and backward of deferred calls, at once."""
import threading

from .._array import before_write, owned, readers
from .._graph.plan import make_plan
from .._graph.runner import Runner
from .._state import state
from ..autograd import adopted
from .pending import GraphOutputs, fill_all


class Chain:
    """Programs one after the other, as one that `make_plan` can trace.

    needed: the numbers of the calls that the heads depend on; only these have a backward pass, which moves averages
    """

    def __init__(self, calls, needed):
        self.parts = [(c.cached.program, c.training, c.sources, number in needed) for number, c in enumerate(calls)]
        self.convolves = any(c.cached.program.convolves for c in calls)
        self.inductor = any(c.cached.program.inductor for c in calls)

    def run(self, tensors, *, generator, device, training=None, monitor=None):
        values, results, states = list(tensors), [], {}
        for program, mode, sources, needed in self.parts:
            given = [values[s] if type(s) is int else results[s[0]][s[1]] for s in sources]
            outputs, changed = program.run(given, training=mode, generator=generator, device=device, monitor=monitor)
            for place, value in changed.items():
                number = sources[place]
                if type(value) is not list:
                    values[number] = states[number] = value
                elif needed:
                    states.setdefault(number, []).extend(value)
            results.append(outputs)
        return [o for outputs in results for o in outputs], states


class StepPlan:
    """The plan of all steps of one structure and with tensors of the same kinds."""

    def __init__(self, step, heads):
        mine = needed([c.sources for c in step.calls], heads)
        read = {s for number in mine for s in step.calls[number].sources}
        wanted = tuple(n for n, v in enumerate(step.variables) if n in read and v is not None and v.req != 'null')
        firsts = _first_outputs([c.cached for c in step.calls])
        self.heads = tuple(firsts[c] + n for c, n in heads)
        self.plan = make_plan(Chain(step.calls, mine), step.tensors, wanted, training=None,
                              generator=step.calls[0].cached.generators(step.ctx), device=step.ctx.torch_device,
                              heads=self.heads)
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


def _first_outputs(ops):
    """The number of the first output of each call, among the outputs of all."""
    firsts = [0]
    for cached in ops:
        firsts.append(firsts[-1] + cached.count)
    return firsts


def _views(structure):
    """(number, base, view) for outputs that are views of another one, which is none: see `fill_all`."""
    firsts, found = _first_outputs([cached for cached, _, _ in structure]), {}
    for number, (cached, _, sources) in enumerate(structure):
        if cached.view is not None:
            call, output = sources[0]
            base, inner = found.get(firsts[call] + output, (firsts[call] + output, None))
            found[firsts[number]] = base, cached.view if inner is None else _composed(cached.view, inner)
    return [(number, base, view) for number, (base, view) in found.items()]


def _composed(outer, inner):
    return lambda tensor, ctx, recording: outer(inner(tensor, ctx, recording), ctx, recording)


class BoundStep:
    """A plan bound to what a step read: another step that fits runs it without finding anything out again.

    It depends on, and `fits` compares: the CachedOps, their train modes and how they are connected (`structure`); the
    heads; the ParameterGroups, which stand for arrays with their tensors and gradient variables; and of each other
    input its shape, dtype and gradient variable, whose buffer the plan's gradient goes to; the context, and the rule
    for shapes (`np_shape`).
    """

    __slots__ = ('structure', 'heads', 'others', 'groups', 'loose', 'kinds', 'loose_variables', 'np_shape', 'ctx',
                 'targets', 'flags', 'runner', 'outputs', 'plain', 'likes', 'views', '_at', '_lock', '_repeated')

    def __init__(self, step, structure, heads, known):
        self.structure, self.heads, self.groups = structure, heads, list(step.groups)
        mine = needed([sources for _, _, sources in structure], heads)
        self.others = [number for number in range(len(structure)) if number not in mine]
        self.loose = list(step.loose)
        self.kinds = [(step.tensors[n].shape, step.tensors[n].dtype) for n in step.loose]
        self.loose_variables = [step.variables[n] for n in step.loose]
        self.np_shape, self.ctx = step.np_shape, step.ctx
        self.targets = [step.variables[n] for n in known.plan.wanted]
        self.flags = [variable.fresh for variable in self.targets]
        self.views = _views(structure)
        firsts = _first_outputs([cached for cached, _, _ in structure])
        self._repeated = [first + n for first, (cached, _, _) in zip(firsts, structure) for n in cached.repeated]
        wishes = {c.cached.static for c in step.calls} - {None}
        generators = []
        if any(c.cached.draws for c in step.calls):
            generators.append(step.calls[0].cached.generators(step.ctx)(step.ctx.torch_device))
        on_gpu = step.tensors[0].is_cuda
        self.runner = Runner(known.plan, [v.req for v in self.targets], static=wishes == {True}, generators=generators,
                             adopt=None if on_gpu else self._adopt)
        self.outputs, self._lock = None, threading.Lock()
        self.likes, self._at = [like for call in step.calls for like in call.likes], known.heads
        # then the functions of a plan are all there is to a run
        self.plain = self.runner.plain and not on_gpu

    def _adopt(self, number, gradient):
        buffer = self.targets[number].buffer
        return None if adopted(buffer, gradient) else buffer.materialize()

    def is_route(self):
        """Whether steps may follow it call by call: then inputs that are no parameters have no gradients."""
        return not any(self.loose_variables)

    def fits(self, step, heads):
        """Whether a step is like the one that this was made for, but for the values of its arrays."""
        if len(step.calls) != len(self.structure) or step.groups != self.groups or step.loose != self.loose \
                or step.np_shape != self.np_shape or step.ctx != self.ctx:
            return False
        for call, (cached, training, sources) in zip(step.calls, self.structure):
            if call.cached is not cached or call.training is not training or call.sources != sources:
                return False
        if not self.begins_at(heads):
            return False
        for number, (shape, dtype), variable in zip(step.loose, self.kinds, self.loose_variables):
            tensor = step.tensors[number]
            if tensor.dtype is not dtype or tensor.shape != shape or step.variables[number] is not variable:
                return False
        return True

    def begins_at(self, heads):
        """Whether the gradients are of the same arrays as before."""
        if len(heads) != len(self.heads):
            return False
        for head, (call, number) in zip(heads, self.heads):
            if head._pending.call != call or head._pending.number != number:
                return False
        return True

    def length(self):
        """How many numbers the heads have along their first axes."""
        return sum([self.likes[n].shape[0] for n in self._at])

    def run(self, step, tensors, refs, ctx, then=None):
        """Fills the output arrays; states and gradients go where they belong, and then it does what follows
        (`Runner.run`).  False if it fails.
        """
        with self._lock:
            if self.outputs is not None:
                self.outputs.run()
                self.outputs = None
            runner = self.runner
            buffers = [v.buffer.materialize() for v in self.targets]
            if readers or state.writes is not None:
                before_write(*buffers, *[tensors[n] for n in runner.plan.state_numbers],
                             *(() if then is None else then.written))
            try:
                if self.plain and then is None:
                    outputs = runner.plan.whole(tensors, buffers)[0]
                else:
                    outputs = runner.run(tensors, buffers, then)
            except RuntimeError:
                return False
            for flag in self.flags:
                flag[0] = True
            if runner.captured is not None:
                self.outputs = GraphOutputs(refs, outputs, ctx, self.views)
            else:
                if not runner.fresh:
                    outputs = [owned(o, tensors) for o in outputs]
                    for number in self._repeated:
                        outputs[number] = outputs[number].clone()
                fill_all(refs, outputs, ctx, self.views)
            return True
