"""Whether a call of a block is deferred, and to which step it is added."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._ops.core.integer_gradients import DifferentiableInteger
from .._provenance import is_computed
from .inference import infer_outputs
from .pending import ParameterGroup, identity, transition_lock
from .step import Step, drawing, will_draw

if TYPE_CHECKING:
    from ..context import Context
    from ..ndarray._cached_op import CachedOp
    from .types import Sources


class NotInferred(Exception):
    """A call of a CachedOp with `only_inferred` may be wrong: its caller runs it in another way."""


def defer(cached: CachedOp, args: Sequence[Any], ctx: Context, training: bool, cls: type) -> list[Any] | None:
    """The pending outputs of a recorded call; None if it has to run now."""
    while True:
        with transition_lock:
            found = _defer(cached, args, ctx, training, cls)
        if not isinstance(found, Step):
            return found
        found.run()


def _defer(cached: CachedOp, args: Sequence[Any], ctx: Context, training: bool, cls: type) -> list[Any] | Step | None:
    """As `defer`; or a step that has to be run first: one of another thread, or one that cannot take the call."""
    group = cached.deferral.group
    if group is not None and not group.fits(args):
        group = None
    step: Step | None
    kinds: list[Any]
    step, kinds, learns, able, fixed = None, [], group is not None and group.learns, True, []
    for i in range(len(args)) if group is None else group.free:
        x = args[i]
        if x._sparse or x._ctx is not ctx and x._ctx != ctx:
            return None
        variable, pending = x._variable, x._pending
        if pending is not None and type(pending.work) is Step:
            if not pending.work.is_open():
                return pending.work
            if step is None:
                step = pending.work
            elif pending.work is not step:
                step.join(pending.work)
                pending = x._pending
            if pending.call is not None:
                if variable is not None:
                    return step
                like = step.meta_of(pending)
                kinds.append((like.shape, like.dtype))
                learns = True
                continue
            tensor = step.tensors[pending.number]
        else:
            tensor = x.materialize()
        kinds.append((tensor.shape, tensor.dtype))
        if variable is None:
            able = able and not is_computed(tensor)
            if i not in cached.parameters:
                continue
        elif variable.req != 'null':
            if type(variable.leaf) is DifferentiableInteger or variable.buffer._sparse:
                return None
            learns = True
        fixed.append(i)
    if group is not None:
        kinds = [*map((group.kinds + kinds).__getitem__, group.sources)]
    key = training, *kinds
    output_metas = cached.deferral.output_kinds.get(key) if cached.parameters else infer_outputs(cached, key)
    if output_metas is None:
        if cached.deferral.only_inferred:
            raise NotInferred
        return None         # the first of its kind runs at once, so that mistakes are found where they are made
    if not able or not learns:
        return None
    if step is not None and step.is_full():
        return step
    pending = drawing(ctx) if cached.draws else None
    if pending is not None and pending is not step:         # it draws first
        if pending.is_full() or not pending.is_open():
            return pending
        if step is not None:
            pending.join(step)
        step = pending
    if group is None and fixed and not any(args[i]._pending is not None for i in fixed) \
            and len({identity(args[i], args[i]._variable) for i in fixed}) == len(fixed):
        group = cached.deferral.group = ParameterGroup(args, fixed, cached.hidden_states(training, ctx))
    step, sources = _read_by(step, group, args, ctx)
    step.hide_states([args[i] for i in cached.hidden_states(training, ctx)])
    step.moves = step.moves or training and bool(cached.program.states)
    if cached.draws:
        will_draw(step)
    return step.add(cached, training, sources, cls, output_metas)


def _read_by(step: Step | None, group: ParameterGroup | None, args: Sequence[Any],
             ctx: Context) -> tuple[Step, Sources]:
    """The step that a call is added to, a new one if there is none, and where the call's inputs come from in it."""
    if group is not None and step is None and _are_distinct(args, group):
        step = Step(ctx)
        step.take_group(group)
        for i in group.free:
            step.take(args[i])
        return step, group.sources
    if step is None:
        step = Step(ctx)
    if group is not None and not step.overlaps(group):
        step.take_group(group)
    found = []
    for x in args:
        pending = x._pending
        if pending is not None and type(pending.work) is Step:
            found.append(pending.number if pending.call is None else (pending.call, pending.number))
        else:
            number = step.number_of(x)
            found.append(step.take(x) if number is None else number)
    return step, tuple(found)


def _are_distinct(args: Sequence[Any], group: ParameterGroup) -> bool:
    """Whether the inputs that are no parameters are distinct, and none of them is one."""
    found = [identity(args[i], args[i]._variable) for i in group.free]
    return len(set(found)) == len(found) and group.index.keys().isdisjoint(found)
