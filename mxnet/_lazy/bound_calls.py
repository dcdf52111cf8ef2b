"""Calls of blocks that are bound to a guard: in a loop, all but the first few.

A call that was deferred (step.py) or predicted by a plan is bound to what it depends on.  While its guard holds, the
next call is made without looking at anything else.

A bound call compares the CachedOp and its hook, its guard (`_guard.py`: parameters, their tensors and gradient
variables), the switches of the thread, and the kinds of the arguments: class, context, shape, dtype, and that autograd
does not know them.
"""
from __future__ import annotations

from collections.abc import Sequence
from threading import get_ident
from typing import TYPE_CHECKING, Any

from .._array import NDArrayBase, fill_ones
from .._guard import Guard, invalidations, switches
from .._state import state
from .pending import transition_lock
from .step import MOST_CALLS, Step, drawing, will_draw

if TYPE_CHECKING:
    import torch

    from ..context import Context
    from ..gluon.parameter import Parameter
    from ..ndarray._cached_op import CachedOp
    from .pending import ParameterGroup
    from .step import BoundStep
    from .types import ArgumentKind, Source, Switches


class BoundCall:
    """A deferred call, bound to what it depends on.

    While the calls of a step are those of an earlier step (`Step.template`), only the kinds of the arguments are
    compared.
    """

    __slots__ = ('cached', 'order', 'kinds', 'ctx', 'switches', 'cls', 'template', 'output_metas')
    cached: CachedOp
    order: list[int]                        # numbers of the arguments, in the order of the CachedOp's inputs
    kinds: list[ArgumentKind]
    ctx: Context
    switches: Switches
    cls: type
    template: BoundStep | None
    output_metas: list[torch.Tensor]

    @staticmethod
    def of(cached: CachedOp, params: Sequence[Parameter], inputs: Sequence[tuple[int, int]], args: Sequence[Any],
           out: Any) -> FirstCall | NextCall | None:
        """The bound call for a call that gave `out`; None if such calls cannot be bound.

        params: the parameters that the CachedOp is called with
        inputs: (position, number) of its other inputs, which are all of the block's arguments, by number
        """
        pending = getattr(out, '_pending', None)
        if pending is None or type(pending.work) is not Step or cached.count != 1 \
                or len(set(map(id, args))) != len(args) \
                or sorted(number for _, number in inputs) != list(range(len(args))):
            return None
        step, numbers = pending.work, dict(inputs)
        with transition_lock:
            # another thread that read an array of the step has run it in the meantime
            if not step.is_open() or step.calls[pending.call].cached is not cached \
                    or not all(isinstance(x, NDArrayBase) for x in args):
                return None
            kinds = []
            for x in args:
                kind = _kind(x, step)
                if kind is None:
                    return None
                kinds.append(kind)
            self: FirstCall | NextCall
            # either the first call of a step, on parameters and arrays, or one that takes outputs of another call
            if params:
                if pending.call or cached.deferral.group is None or len(cached.deferral.group.arrays) != len(params) \
                        or any(k[0] is None for k in kinds):
                    return None
                self = FirstCall(params, cached, cached.deferral.group, step.ctx)
                given = {position for position, _ in inputs}
                positions = [i for i in range(len(params) + len(inputs)) if i not in given]
                self.ones = [p.data(step.ctx) for i, p in zip(positions, params, strict=True)
                             if i in cached.program.ones]
                self.order = [numbers[i] for i in cached.deferral.group.free]
            else:
                if not any(k[0] is None for k in kinds):
                    return None
                self = NextCall()
                self.order = [numbers[i] for i in sorted(numbers)]
                self.taken = [number for number in self.order if kinds[number][0] is not None]
            self.cached, self.kinds, self.ctx, self.switches = cached, kinds, step.ctx, switches()
            self.cls, self.template, self.output_metas = type(out), None, step.calls[pending.call].output_metas
            return self


class FirstCall(BoundCall):
    """The call that begins a step."""

    __slots__ = ('group', 'guard', 'ones', 'states', 'moves')
    group: ParameterGroup                   # has the guard of the arrays
    ones: list[Any]
    states: Sequence[NDArrayBase]
    guard: Guard                            # of the Parameters alone: states of a step that is open are pending
    moves: bool

    def __init__(self, params: Sequence[Parameter], cached: CachedOp, group: ParameterGroup, ctx: Context) -> None:
        self.group = group
        self.guard = Guard(params)
        hidden = cached.hidden_states(state.training, ctx)
        self.states = group.states if hidden else ()
        self.moves = state.training and bool(cached.program.states)

    def __call__(self, args: Sequence[Any]) -> Any:
        """The pending array that the block gives; None if this call is another."""
        cached, group, kinds = self.cached, self.group, self.kinds
        if len(args) != len(kinds) or cached.deferral.budget <= 0 or cached._monitor is not None \
                or (state.training, state.np_array, state.np_shape, state.interceptors, state.naive) != self.switches \
                or invalidations.count != self.guard.seen and not self.guard.holds():
            return None
        with transition_lock:
            if cached.deferral.group is not group \
                    or (group.states or invalidations.count != group.guard.seen) and not group.is_valid():
                return None
            ctx, tensors = self.ctx, []
            for x, (cls, shape, dtype) in zip(args, kinds):
                if type(x) is not cls or x._ctx is not ctx or x._variable is not None:
                    return None
                tensor = x._storage
                if tensor is None or tensor.requires_grad or tensor.dtype is not dtype or tensor.shape != shape \
                        or hasattr(tensor, '_provenance') or id(x) in group.index:
                    return None
                tensors.append(tensor)
            if len(args) > 1 and len(set(map(id, args))) != len(args) or cached.draws and drawing(ctx) is not None:
                return None
            if self.ones:               # gamma of BatchNorm with `fix_gamma`
                fill_ones(self.ones)
            order = self.order
            step = Step(ctx, group, [args[n] for n in order], [tensors[n] for n in order])
            if self.states:
                step.hide_states(self.states)
            step.moves = self.moves
            if cached.draws:
                will_draw(step)
            template = cached.deferral.last_step
            if template is not None and (template is self.template or self._matches_first(template)):
                step.template = template
                return step.add_from_template(self.cls)
            return step.add(cached, self.switches[0], group.sources, self.cls, self.output_metas)[0]

    def _matches_first(self, template: BoundStep) -> bool:
        """Whether a template begins with this call."""
        group, count = self.group, len(self.order)
        start = len(group.arrays)
        if not template.is_template() or template.structure[0] != (self.cached, self.switches[0], group.sources) \
                or template.groups != [(group, 0)] or template.np_shape != self.switches[2] \
                or template.free_inputs[:count] != list(range(start, start + count)) \
                or template.kinds[:count] != [self.kinds[number][1:] for number in self.order]:
            return False
        self.template = template
        return True


class NextCall(BoundCall):
    """A call, without parameters, that takes outputs of other calls of its step."""

    __slots__ = ('at', 'start', 'expected', 'taken')
    at: int                                 # how many calls and inputs the template has before this call
    start: int
    expected: list[Source]                  # where the pending arguments come from
    taken: list[int]                        # numbers of the other arguments

    def __call__(self, args: Sequence[Any]) -> Any:
        """As `FirstCall`."""
        cached, kinds = self.cached, self.kinds
        if len(args) != len(kinds) or cached.deferral.budget <= 0 or cached._monitor is not None \
                or (state.training, state.np_array, state.np_shape, state.interceptors, state.naive) != self.switches:
            return None
        with transition_lock:
            step: Step | None
            tensors: list[Any]
            step, ctx, given, tensors = None, self.ctx, [], []
            for x, kind in zip(args, kinds):
                tensors.append(x._storage if isinstance(x, NDArrayBase) else None)
                if kind[0] is None:
                    pending = getattr(x, '_pending', None)
                    if pending is None:
                        return None
                    work = pending.work
                    if work is not step:
                        if step is not None or type(work) is not Step or work.closed or work.thread != get_ident() \
                                or work.ctx is not ctx or work.np_shape != state.np_shape \
                                or len(work.outputs) + len(work._calls) > MOST_CALLS:
                            return None
                        step = work
                    if pending.call is None:
                        return None
                    given.append((pending.call, pending.number))
                elif type(x) is not kind[0] or x._ctx is not ctx or x._variable is not None:
                    return None
                else:
                    tensor = tensors[-1]
                    if tensor is None or tensor.requires_grad or tensor.dtype is not kind[2] \
                            or tensor.shape != kind[1] or hasattr(tensor, '_provenance'):
                        return None
            assert step is not None             # at least one argument is pending
            if cached.draws:
                if drawing(ctx) not in (None, step):
                    return None
                will_draw(step)
            template = step.template
            if template is not None and (template is self.template and len(step.outputs) == self.at
                                      and len(step.arrays) == self.start or self._matches_next(template, step)) \
                    and given == self.expected:
                # the inputs that are no outputs must be distinct, and the step must not read them yet
                for number in self.taken:
                    x = args[number]
                    if id(x) in step.free_index or True in [id(x) in group.index for group, _ in step.groups]:
                        break
                else:
                    if len(self.taken) == 1 or len({id(args[n]) for n in self.taken}) == len(self.taken):
                        for number in self.taken:
                            step.take_input(args[number], tensors[number], None, id(args[number]))
                        return step.add_from_template(self.cls)
            for x, kind in zip(args, kinds):        # with a template, these are compared already
                if kind[0] is None:
                    like = step.meta_of(x._pending)
                    if like.shape != kind[1] or like.dtype is not kind[2]:
                        return None
            found: list[Source] = []
            for number in self.order:
                x = args[number]
                pending = x._pending
                if pending is not None:
                    found.append((pending.call, pending.number))
                else:
                    known = step.number_of(x)
                    found.append(step.take(x) if known is None else known)
            return step.add(cached, self.switches[0], tuple(found), self.cls, self.output_metas)[0]

    def _matches_next(self, template: BoundStep, step: Step) -> bool:
        """Whether the next call of a template is this one."""
        at, start = len(step.outputs), len(step.arrays)
        if at >= len(template.structure):
            return False
        cached, training, sources = template.structure[at]
        if cached is not self.cached or training is not self.switches[0]:
            return False
        known, fresh, expected = dict(zip(template.free_inputs, template.kinds)), start, []
        for number, source in zip(self.order, sources):
            kind = self.kinds[number]
            if kind[0] is None:
                if isinstance(source, int):
                    return False
                like = template.output_metas[source[0]]       # calls of a template have one output each
                if like.shape != kind[1] or like.dtype is not kind[2]:
                    return False
                expected.append((number, source))
            elif source != fresh or known[source] != kind[1:]:
                return False
            else:
                fresh += 1
        self.template, self.at, self.start = template, at, start
        self.expected = [source for _, source in sorted(expected)]
        return True


class BoundPrediction:
    """A prediction by a plan, bound to what it depends on: besides the above, that nothing is recorded or trained."""

    __slots__ = ('cached', 'predictor', 'guard', 'tensors', 'inputs', 'kinds', 'ctx', 'switches', 'cls')
    cached: CachedOp
    predictor: Any
    guard: Guard
    tensors: list[torch.Tensor]
    inputs: Sequence[tuple[int, int]]
    kinds: list[Any]
    ctx: Context
    switches: Switches
    cls: type

    @classmethod
    def of(cls, cached: CachedOp, params: Sequence[Parameter], inputs: Sequence[tuple[int, int]], args: Sequence[Any],
           out: Any) -> BoundPrediction | None:
        """As `BoundCall.of`."""
        last = cached.predictions.last
        if last is None or state.training or cached.count != 1 or not isinstance(out, NDArrayBase) \
                or not all(isinstance(x, NDArrayBase) and x._pending is None and not x._sparse for x in args) \
                or sorted(number for _, number in inputs) != list(range(len(args))):
            return None
        # the predictor that is bound is that of the kinds of this very call
        by_position = {position: args[number] for position, number in inputs}
        if by_position.keys() != {*last[1]} \
                or [(*by_position[i].meta()[:2],) for i in last[1]] != last[0]:
            return None
        self = cls()
        self.cached, self.predictor = cached, last[2]
        self.ctx = args[0]._ctx
        arrays = [p.data(self.ctx) for p in params]
        self.guard, self.tensors = Guard(params, arrays), [a.materialize() for a in arrays]
        self.inputs, self.kinds = inputs, [(type(x), *x.meta()[:2]) for x in args]
        self.switches, self.cls = switches(), type(out)
        return self

    def __call__(self, args: Sequence[Any]) -> Any:
        """The array that the block gives; None if this call is another."""
        cached = self.cached
        if len(args) != len(self.kinds) or cached._monitor is not None or switches() != self.switches \
                or cached.draws and state.batch_generators is not None or cached.predictions.last is None \
                or cached.predictions.last[2] is not self.predictor or not self.guard.is_same():
            return None
        given = []
        for x, (cls, shape, dtype) in zip(args, self.kinds):
            if type(x) is not cls or x._ctx is not self.ctx:
                return None
            tensor = x.materialize()
            if tensor.requires_grad or tensor.dtype is not dtype or tensor.shape != shape:
                return None
            given.append(tensor)
        tensors = self.tensors.copy()
        for position, number in self.inputs:
            tensors.insert(position, given[number])
        return cached.predictions.run(cached, self.predictor, tensors, self.ctx, self.cls)[0]


def _kind(array: NDArrayBase, step: Step) -> ArgumentKind | None:
    """Class, shape and dtype of an argument; the class is None for one that the step gives.  None: it is unknown."""
    pending = array._pending
    if pending is None:
        return type(array), *array.meta()[:2]
    if pending.work is not step or pending.call is None:
        return None
    like = step.meta_of(pending)
    return None, like.shape, like.dtype
