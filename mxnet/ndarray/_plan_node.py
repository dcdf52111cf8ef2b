"""A plan as one node of torch's tape, and what a graph that runs without a plan has in common with it.

The backward pass of the node is the plan's.  If that is itself differentiated (`autograd.grad(create_graph=True)`), the
graph runs once more on torch's tape instead.
"""
from __future__ import annotations

import torch

from .. import _random_state as _random
from .._array import before_write
from .._graph.codegen.states import Mover, move_all, move_when_differentiated, take_back
from .._ops.core.late_reads import Versions
from .._ops.core.moves import label
from .._state import state
from .._torch.autograd import keeps_graph
from .._torch.memory import storage_id
from . import _interop


def generators_of(ctx):
    """Function of a device: where the random numbers of a context come from, or those of another device."""
    return lambda device: _random.generator(ctx if device == ctx.torch_device else _interop.context_on(device))


def write_state(tensor, value):
    """Writes the new value of a state."""
    before_write(tensor)
    tensor.detach().copy_(value.detach())


def versions_read_again(program, tensors, outputs):
    """The versions of what upstream's backward pass of a graph reads again and torch's does not.

    They are those of the tensors that the program of the user can write into: what the operators get while the graph
    runs are aliases, which are gone by the time that `backward` looks.
    """
    return Versions([*[tensors[n] for n in program.late_reads_of(tensors)],
                     *[outputs[n] for n in program.late_outputs]])


def check_before(results, versions):
    """Has a backward pass that comes to one of the results check these versions first."""
    for node in dict.fromkeys(r.grad_fn for r in results if r.grad_fn is not None):
        node.register_prehook(versions)


class PlanNode(torch.autograd.Function):
    """A plan as one node of torch's tape."""

    @staticmethod
    def forward(ctx, cached, plan, training, place, movers, *tensors):
        # a second derivative draws the same random numbers once more
        ctx.generator_state = generators_of(place)(place.torch_device).get_state() if cached.draws else None
        outputs, states, saved = plan.forward(tensors)
        ctx.cached, ctx.plan, ctx.training, ctx.place = cached, plan, training, place
        # not through save_for_backward: states among them change, and only a second derivative looks at them
        ctx.tensors = tensors
        # what the program can write into is saved so that torch finds that out; the rest is let go as backward uses it
        ctx.shared, apart, copied = _aliases(plan, saved, tensors, outputs)
        if apart or copied:         # torch refuses writes into views that a node gives; these need not be views
            outputs = [o.data if i in apart else o.clone(memory_format=torch.contiguous_format) if i in copied else o
                       for i, o in enumerate(outputs)]
        ctx.save_for_backward(*[saved[i] for i in ctx.shared])
        ctx.own = list(saved)
        for i in ctx.shared:
            ctx.own[i] = None
        ctx.set_materialize_grads(False)
        # averages that the backward pass moves: (number, value, weight)
        ctx.moves = [(n, value, weight) for n, value, weight in
                     zip(plan.state_numbers, states, plan.state_weights, strict=True) if weight is not None]
        if ctx.moves:
            behind = cached.program.behind_states()
            movers += [Mover([(tensors[n].detach(), value, weight)], label(ctx), behind[n])
                       for n, value, weight in ctx.moves]
        ctx.late_reads = versions_read_again(cached.program, tensors, outputs)
        ctx.outputs = [(o.shape, o.dtype, o.device) for o in outputs]
        constants = [o for o, d in zip(outputs, plan.differentiable, strict=True) if not d]
        ctx.mark_non_differentiable(*constants, *states)
        return (*outputs, *states)

    @staticmethod
    def backward(ctx, *gradients):
        plan, count = ctx.plan, len(ctx.tensors)
        # row-major, as those that the plan was traced with: some kernels take nothing else
        heads = [torch.zeros(s, dtype=t, device=d) if g is None else g.contiguous()
                 for g, (s, t, d) in zip(gradients, ctx.outputs, strict=False)]
        if ctx.moves:
            take_back(ctx)
        if torch.is_grad_enabled():
            found = _differentiable_backward(ctx, plan, ctx.tensors, heads)
        else:
            ctx.late_reads.check()
            found = plan.backward(_saved(ctx), heads)
            if ctx.moves:
                move_all(_moves(ctx), ctx)
        places = dict(zip(plan.wanted, found, strict=True))
        return None, None, None, None, None, *[_or_zeros(places[i], ctx.tensors[i]) if i in places else None
                                         for i in range(count)]


def _aliases(plan, saved, given, outputs):
    """Which of the saved tensors share memory with the given ones or with outputs; which outputs are views of memory
    that none of the others has, and which are copied; found once for each plan.

    Copied are views of memory that one of the others has, and an output that is an earlier one: each has a gradient.
    """
    if plan.aliases is None:
        its, mine, theirs = ([storage_id(t.untyped_storage()) for t in some] for some in (outputs, saved, given))
        seen, everything = {*its, *theirs}, [*its, *mine, *theirs]
        shared = [i for i, memory in enumerate(mine) if memory in seen]
        views = [i for i, o in enumerate(outputs) if o._base is not None]
        apart = [i for i in views if everything.count(its[i]) == 1]
        again = [i for i, memory in enumerate(its) if memory in its[:i]]
        plan.aliases = shared, apart, sorted({*views, *again}.difference(apart))
    return plan.aliases


def _moves(ctx):
    """(tensor, value, weight) of the averages that this backward pass moves.

    For `autograd.grad`, those between the heads and its variables.
    """
    return [(ctx.tensors[n].detach(), value, weight) for n, value, weight in ctx.moves
            if is_between(ctx.cached.program, n, ctx.tensors)]


def is_between(program, number, tensors):
    """Whether the call that writes a state lies between a graph's outputs and the variables of `autograd.grad`."""
    wanted = state.wanted
    if wanted is None:
        return True
    return any(t.requires_grad and (t.grad_fn is not None or any(t is w for w in wanted))
               for t in [tensors[i] for i in program.behind_states().get(number, ())])


class _JointGradients(torch.autograd.Function):
    """Passes inputs on; where a gradient comes back for one of them, it does for all, as for those of one operator."""

    @staticmethod
    def forward(ctx, *tensors):
        ctx.set_materialize_grads(False)
        ctx.tensors = tensors
        return tuple([t.view_as(t) for t in tensors])

    @staticmethod
    def backward(ctx, *gradients):
        if torch.is_grad_enabled():
            ctx.higher = True
        if getattr(ctx, 'higher', False):           # gradients of gradients go as through single operators
            reached = _inputs_reached(ctx) if None in gradients else ()
            for number, (gradient, tensor) in enumerate(zip(gradients, ctx.tensors, strict=True)):
                if gradient is None and tensor.is_leaf and number not in reached:
                    tensor._unreached = True        # for `_gradient_hook` of autograd.py
            return gradients
        return tuple(map(_or_zeros, gradients, ctx.tensors))


def _inputs_reached(node):
    """The inputs of a node to which edges lead from the heads of this backward pass."""
    waiting, seen, found = [head.grad_fn for head in state.heads], set(), set()
    while waiting:
        at = waiting.pop()
        if at is None or at in seen:
            continue
        seen.add(at)
        for below, number in at.next_functions:
            if below is node:
                found.add(number)
            waiting.append(below)
    return found


def with_joint_gradients(tensors, wanted):
    """The tensors, of which those that are wanted go through `_JointGradients`."""
    # others know more than torch does of how their gradients come about: whole numbers, rows of sparse ones
    chosen = [i for i in wanted if type(tensors[i]) is torch.Tensor and not hasattr(tensors[i], '_wants_rows')]
    given = list(tensors)
    if chosen:
        for i, tensor in zip(chosen, _JointGradients.apply(*[tensors[i] for i in chosen]), strict=True):
            given[i] = tensor
    return given


def _or_zeros(gradient, tensor):
    if gradient is not None:
        return gradient
    return torch.zeros((), dtype=tensor.dtype, device=tensor.device).expand(tensor.shape)


def _saved(ctx):
    """What backward needs, handed out once: memory is free for new values as soon as the last use is over."""
    if ctx.own is None:
        raise RuntimeError('backward through a graph a second time')
    values = ctx.own
    if keeps_graph():
        values = list(values)
    else:
        ctx.own = None
    for i, tensor in zip(ctx.shared, ctx.saved_tensors, strict=True):
        values[i] = tensor
    values.reverse()
    return _drained(values)


def _drained(values):
    while values:
        yield values.pop()


def _same_generators(ctx):
    """Generators that give a call the random numbers that it drew before."""
    if ctx.generator_state is None:
        return generators_of(ctx.place)
    generator = torch.Generator(ctx.place.torch_device)
    generator.set_state(ctx.generator_state)
    return lambda device: generator


def _with_own_gradients(tensors):
    """The tensors, with an alias for each place, so that each place has its own gradient.

    One tensor may be given twice, and one may have been computed from another: the gradient of the other would contain
    the path through the first, which torch's engine follows as well.
    """
    return [t.view_as(t) if t.requires_grad else t for t in tensors]


def _differentiable_backward(ctx, plan, tensors, heads):
    """The gradients, computed so that they can be differentiated: forward once more, on torch's tape."""
    tensors = _with_own_gradients(tensors)
    outputs, states = ctx.cached.program.run(tensors, training=ctx.training, generator=_same_generators(ctx),
                                             device=ctx.place.torch_device)
    for place, value in states.items():
        if type(value) is list:                 # others have been written in the forward pass
            move_when_differentiated(value, tensors[place], node=ctx)
    pairs = [(o, h) for o, h in zip(outputs, heads, strict=True) if o.requires_grad]
    return torch.autograd.grad([o for o, _ in pairs], [tensors[i] for i in plan.wanted], [h for _, h in pairs],
                               create_graph=True, allow_unused=True)
