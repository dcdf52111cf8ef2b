"""The plans of steps: forward and backward of deferred calls, at once."""
from .._graph.codegen.plan import make_plan


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
        firsts = first_outputs([c.cached for c in step.calls])
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


def first_outputs(ops):
    """The number of the first output of each call, among the outputs of all."""
    firsts = [0]
    for cached in ops:
        firsts.append(firsts[-1] + cached.count)
    return firsts


def views_of(structure):
    """(number, base, view) for outputs that are views of another one, which is none: see `fill_all`."""
    firsts, found = first_outputs([cached for cached, _, _ in structure]), {}
    for number, (cached, _, sources) in enumerate(structure):
        if cached.view is not None:
            call, output = sources[0]
            base, inner = found.get(firsts[call] + output, (firsts[call] + output, None))
            found[firsts[number]] = base, cached.view if inner is None else _composed(cached.view, inner)
    return [(number, base, view) for number, (base, view) in found.items()]


def _composed(outer, inner):
    return lambda tensor, ctx, recording: outer(inner(tensor, ctx, recording), ctx, recording)
