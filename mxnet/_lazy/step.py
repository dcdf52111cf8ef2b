"""Steps: recorded calls of hybridized blocks that wait for `backward`, so that both run as one plan.

While recording, a hybridized block that ran before need not run at once: its outputs become pending arrays, and the
step keeps what the call reads: the tensors and the gradient variables of its inputs, as they are at the call.  A read
of an output, or a write into the memory of an input (`_array.before_write`), runs the step with torch's tape, call by
call.  A loop that trains does neither before `backward`: then the whole step runs as one plan (`Plan.joint`), forward
and backward, without torch's engine.

A step belongs to the thread that records it.  Another thread that needs one of its arrays runs it first, so that each
thread differentiates its own calls only.
"""
from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence, Set
from operator import attrgetter
from threading import get_ident
from typing import TYPE_CHECKING, Any
from weakref import ref

import torch

from .._array import NDArrayBase, before_write, owned_apart, readers
from .._autograd import OVERWRITTEN, adopted
from .._graph.cuda.runner import Runner
from .._graph.trace.defects import defect
from .._provenance import UNKNOWN, record_graph, source_of
from .._state import state
from ..base import MXNetError
from .deferral import BUDGET
from .pending import GraphOutputs, Pending, fill, fill_all, identity, memories_of, transition_lock
from .step_plan import StepPlan, needed, views_of

if TYPE_CHECKING:
    from .._autograd import Variable
    from .._graph.codegen.writing import Plan
    from ..context import Context
    from ..ndarray._cached_op import CachedOp
    from .pending import ParameterGroup
    from .types import ArrayRef, Groups, Place, Sources, Structure, Variables

_new: Any = object.__new__
_version = attrgetter('_version')
MOST_CALLS = 256        # calls of one step


class Call:
    """A call of a step: its CachedOp, train mode, where its inputs come from, and (weakly) its output arrays.

    output_metas: tensors without memory that have the shapes and dtypes of the outputs
    """

    __slots__ = ('cached', 'training', 'sources', 'outputs', 'output_metas')
    sources: Sources

    def __init__(self, cached: CachedOp, training: bool, sources: Sources, outputs: list[ArrayRef],
                 output_metas: list[torch.Tensor]) -> None:
        self.cached, self.training, self.sources, self.outputs = cached, training, sources, outputs
        self.output_metas = output_metas


class Step:
    """Calls that are deferred together, and what they read.

    A step whose calls so far are those of an earlier one has that one as its `template` (a BoundStep); `outputs` has,
    weakly, the output of each call.  `closed`: no call can be added.  `done`: the outputs have their tensors.
    """

    __slots__ = ('_calls', 'template', 'outputs', 'arrays', 'tensors', 'variables', 'groups', 'free_inputs',
                 'free_index', '_hidden', 'version', 'ctx', 'np_shape', 'moves', 'closed', 'done', 'failed', 'thread',
                 '_lock', '_memories', '__weakref__')
    _calls: list[Call]
    template: BoundStep | None
    outputs: list[ArrayRef]
    arrays: list[NDArrayBase]
    tensors: list[torch.Tensor]
    variables: Variables
    groups: Groups
    free_inputs: list[int]                    # numbers of the inputs that are in no group
    free_index: dict[int, int]         # identity of such an input -> its number
    _hidden: list[tuple[NDArrayBase, torch.Tensor]]
    version: int
    failed: BaseException | None
    _memories: tuple[int, Set[int]]     # how many free_inputs inputs there were, and where their memory begins

    def __init__(self, ctx: Context, group: ParameterGroup | None = None, arrays: Sequence[NDArrayBase] = (),
                 tensors: Sequence[torch.Tensor] = ()) -> None:
        """It begins with what its first call reads: a group, and distinct arrays that have no gradient."""
        self._calls, self.template, self.outputs = [], None, []
        # (ParameterGroup, its first number), and numbers of other inputs; the sum of the versions of all tensors when
        # they were taken
        if group is None:
            self.arrays, self.tensors, self.variables, self.groups, self.free_inputs = [], [], [], [], []
            self.free_index, self.version = {}, 0
        else:
            self.arrays, self.tensors = [*group.arrays, *arrays], [*group.tensors, *tensors]
            self.variables, self.groups = [*group.variables, *[None] * len(arrays)], [(group, 0)]
            self.free_inputs = list(range(len(group.arrays), len(self.arrays)))
            self.free_index = dict(zip(map(id, arrays), self.free_inputs))
            self.version = sum(map(_version, self.tensors))
        self._hidden, self._memories = [], (0, frozenset())
        self.ctx, self.np_shape, self.moves = ctx, state.np_shape, False
        self.closed, self.done, self.failed = False, False, None
        self.thread, self._lock = get_ident(), threading.RLock()
        key = id(self)
        readers[key] = ref(self, lambda _: readers.pop(key, None))

    @property
    def calls(self) -> list[Call]:
        """The calls; to ask for them leaves the template."""
        if self.template is not None:
            self._calls = [Call(cached, training, sources, [made], [like]) for (cached, training, sources), made, like
                           in zip(self.template.structure, self.outputs, self.template.output_metas, strict=False)]
            self.template = None
        return self._calls

    @property
    def first(self) -> CachedOp:
        """The CachedOp that the step begins with."""
        return self._calls[0].cached if self.template is None else self.template.structure[0][0]

    def is_full(self) -> bool:
        """Whether so many calls are deferred that they run now: programs that read nothing would fill the memory."""
        return len(self.outputs) + len(self._calls) > MOST_CALLS

    def is_open(self) -> bool:
        """Whether this thread can add a call now: one of the step's own, under the same rules for shapes."""
        return not self.closed and self.thread == get_ident() and self.np_shape == state.np_shape

    # ------------------------------------------------------------------ what it reads
    def number_of(self, array: NDArrayBase) -> int | None:
        """The number of an array that the step reads already, as it is now; None if it does not."""
        variable, tensor = array._variable, array.materialize()
        key = identity(array, variable)
        for group, first in self.groups:
            number = group.index.get(key)
            if number is not None and group.tensors[number] is tensor:
                return first + number
        number = self.free_index.get(key)
        return number if number is not None and self.tensors[number] is tensor else None

    def take(self, array: NDArrayBase) -> int:
        """The number of an array that a call reads, from now on one of the step's inputs."""
        tensor, variable = array.materialize(), array._variable
        return self.take_input(array, tensor, variable, identity(array, variable))

    def take_input(self, array: NDArrayBase, tensor: torch.Tensor, variable: Variable | None, key: int) -> int:
        """As `take`, of what is known."""
        number = len(self.arrays)
        self.arrays.append(array)
        self.tensors.append(tensor)
        self.variables.append(variable)
        self.free_inputs.append(number)
        self.free_index[key] = number
        self.version += tensor._version
        return number

    def take_group(self, group: ParameterGroup) -> None:
        """Takes all arrays of a group."""
        self.groups.append((group, len(self.arrays)))
        self.arrays += group.arrays
        self.tensors += group.tensors
        self.variables += group.variables
        self.version += sum(map(_version, group.tensors))

    def overlaps(self, group: ParameterGroup) -> bool:
        """Whether it reads one of the arrays of a group already."""
        return not group.index.keys().isdisjoint(self.free_index) \
            or any(not group.index.keys().isdisjoint(other.index) for other, _ in self.groups)

    def hide_states(self, states: Iterable[NDArrayBase]) -> None:
        """Makes arrays that the step writes when it runs pending: a read of one runs the step first."""
        for array in states:
            if array._pending is None:
                self._hidden.append((array, array.materialize()))
                number = self.number_of(array)
                assert number is not None           # states are inputs of the call
                array._pending = Pending(self, None, number)
                array._storage = None

    def reads(self, memories: Iterable[int]) -> bool:
        """Whether it reads one of these pieces of memory."""
        with transition_lock:           # the thread of the step may close it at any time
            if self.closed:
                return False
            count, found = self._memories
            if count != len(self.free_inputs):
                found = memories_of([self.tensors[n] for n in self.free_inputs])
                self._memories = len(self.free_inputs), found
            return not found.isdisjoint(memories) or any(group.reads(memories) for group, _ in self.groups)

    # ------------------------------------------------------------------ calls
    def add_from_template(self, cls: type) -> Any:
        """The output array of the next call of the template."""
        pending, array = _new(Pending), _new(cls)
        pending.work, pending.call, pending.number = self, len(self.outputs), 0
        array._ctx = self.ctx
        array._storage = array._variable = None
        array._pending = pending
        self.outputs.append(ref(array))
        return array

    def add(self, cached: CachedOp, training: bool, sources: Sources, cls: type,
            output_metas: list[torch.Tensor]) -> list[Any]:
        """Output arrays of a new call."""
        number, arrays = len(self.calls), []
        for output in range(cached.count):
            array = _new(cls)
            array._ctx = self.ctx
            array._storage = array._variable = None
            array._pending = Pending(self, number, output)
            arrays.append(array)
        self.calls.append(Call(cached, training, sources, [ref(array) for array in arrays], output_metas))
        return arrays

    def join(self, other: Step) -> None:
        """Takes over another step, whose calls come after those that are here."""
        offset, more = len(self.calls), len(self.arrays)
        for array, _ in other._hidden:
            array._pending = Pending(self, None, more + array._pending.number)
        self._hidden += other._hidden
        self.arrays += other.arrays
        self.tensors += other.tensors
        self.variables += other.variables
        self.groups += [(group, more + first) for group, first in other.groups]
        self.free_inputs += [more + number for number in other.free_inputs]
        for key, number in other.free_index.items():
            self.free_index.setdefault(key, more + number)
        self.version += other.version
        self.moves = self.moves or other.moves
        # an input of both is one input, so that its gradients are added up
        same = {more + n: m for n, (a, v, t) in enumerate(zip(other.arrays, other.variables, other.tensors))
                if (m := self._number_before(a, v, t, more)) is not None}
        for call in other.calls:
            call.sources = tuple(same.get(s + more, s + more) if isinstance(s, int) else (s[0] + offset, s[1])
                                 for s in call.sources)
            for made in [made() for made in call.outputs]:
                if made is not None:
                    made._pending = Pending(self, made._pending.call + offset, made._pending.number)
            self.calls.append(call)
        if other in state.draws:
            state.draws = tuple([step for step in state.draws if step is not other])
            will_draw(self)
        other.closed = True
        other._forget()

    def _number_before(self, array: NDArrayBase, variable: Variable | None, tensor: torch.Tensor,
                       limit: int) -> int | None:
        key = identity(array, variable)
        for number in range(limit):
            if identity(self.arrays[number], self.variables[number]) == key and self.tensors[number] is tensor:
                return number
        return None

    # ------------------------------------------------------------------ run before `backward`
    def run(self) -> None:
        """Runs the calls one by one, with torch's tape."""
        with self._lock:
            if self.failed is not None:
                raise MXNetError(f'an earlier error left this array without a value: {self.failed}')
            if self.done:
                return
            for call in self.calls:
                if call.cached.parameters:      # losses and operators go with the networks before them
                    call.cached.deferral.budget -= 1
            if self.moves:
                self._run_earlier()
            if not self.closed:
                self._close()
            values = [t if v is None else v.leaf for t, v in zip(self.tensors, self.variables, strict=True)]
            results: list[Sequence[torch.Tensor]] = []
            try:
                if self._overwritten():
                    raise MXNetError(OVERWRITTEN)
                with torch.enable_grad():
                    for call in self.calls:
                        given = [values[s] if isinstance(s, int) else results[s[0]][s[1]] for s in call.sources]
                        if call.cached.deferral.view is not None:
                            results.append([call.cached.deferral.view(given[0], self.ctx, True)])
                            continue
                        outputs, moves = call.cached.compute(given, self.ctx, call.training, recording=True)
                        results.append(outputs)
                        record_graph(call.cached.what, tuple([
                            source_of(self.variables[s], self.tensors[s], self.arrays[s]) if isinstance(s, int)
                            else getattr(results[s[0]][s[1]], '_provenance', UNKNOWN)
                            for s in call.sources]), outputs, call.cached.reach, moves)
            except BaseException as error:
                self.failed = error
                raise
            finally:                # what was computed before a mistake is as good as ever
                for call, tensors in zip(self.calls, results):
                    for made, tensor in zip(call.outputs, tensors, strict=True):
                        array = made()
                        if array is not None:
                            fill(array, tensor)
                self._forget()

    def _run_earlier(self) -> None:
        """Runs steps of this thread that were begun before: the tape has the order in which averages are moved."""
        for made in list(readers.values()):
            step = made()
            if step is self:
                break
            if type(step) is Step and step.moves and step.thread == self.thread and not step.closed:
                step.run()

    def borrow(self, array: NDArrayBase) -> torch.Tensor:
        return array.materialize()

    def meta_of(self, pending: Pending) -> Any:
        """A tensor with the shape and dtype of an array; None once the step is done."""
        with transition_lock:
            if self.done:
                return None
            if pending.call is None:
                return self.tensors[pending.number]
            if self.template is not None:
                return self.template.output_metas[pending.call]
            return self._calls[pending.call].output_metas[pending.number]

    def _close(self) -> None:
        """Ends the construction: hidden arrays get their tensors back, and writers need not wait for it any more."""
        with transition_lock:
            self.closed = True
            readers.pop(id(self), None)
            if state.draws:
                self._draws_no_more()
            for array, tensor in self._hidden:
                fill(array, tensor)
            self._hidden = []

    def _draws_no_more(self) -> None:
        if self in state.draws:
            state.draws = tuple([step for step in state.draws if step is not self])

    def _forget(self) -> None:
        with transition_lock:
            self.done = True
            readers.pop(id(self), None)         # of one that has been joined to another
            # nothing is added any more
            self._calls = self.arrays = self.tensors = self.variables = self.groups = ()    # type: ignore[assignment]
            self.template = None

    def _overwritten(self) -> bool:
        # writes into arrays run the step before; this finds writes by other means into the same memory
        return sum(map(_version, self.tensors)) != self.version

    # ------------------------------------------------------------------ backward
    def backward_from(self, heads: NDArrayBase | Sequence[NDArrayBase],
                      update: Callable[[BoundStep], Any] | None = None) -> bool:
        """Differentiates arrays of this step at once; False if they have to be computed first.

        update: function of the BoundStep that gives what is to follow its plan (`then` of `Runner.run`), or None.  What
            it gives has been done if this returns True
        """
        heads = [heads] if isinstance(heads, NDArrayBase) else heads
        if len(heads) > 1 and len(set(map(id, heads))) != len(heads):
            return False                    # the gradient of one that is there twice is 2
        for head in heads:
            pending = getattr(head, '_pending', None)
            if pending is None or pending.call is None or type(pending.work) is not Step \
                    or head._variable is not None:
                return False
            if pending.work is not self:
                if pending.work.thread != self.thread or pending.work.ctx != self.ctx:
                    return False
                with transition_lock:
                    if self.closed or pending.work.closed:
                        return False
                    self.join(pending.work)
        return self.thread == get_ident() and self._backward(heads, update)

    def _backward(self, heads: Sequence[NDArrayBase], update: Callable[[BoundStep], Any] | None) -> bool:
        """Runs everything, forward and backward from `heads`, as one plan; False if there is none."""
        with self._lock:
            if self.closed:
                return False
            if state.draws:
                self._draws_no_more()
            bound = self.template
            follows = bound is not None and len(self.outputs) == len(bound.structure) and bound.begins_at(heads)
            if not follows:
                bound = self._find(heads)
            if bound is None or bound.others and self._wanted_later(bound):
                return False
            tensors, ctx = self.tensors, self.ctx
            if sum(map(_version, tensors)) != self.version:
                self._close()
                self.failed = error = MXNetError(OVERWRITTEN)
                self._forget()
                raise error
            refs = self.outputs if follows else [m for c in self.calls for m in c.outputs]
            self._close()
            then = None if update is None else update(bound)
            try:
                bound.run(self, tensors, refs, ctx, then)
            except MXNetError as error:
                failed = getattr(error, 'of_plan', None)
                if failed is None:              # what follows the plan has failed
                    raise
                self.run()          # call by call: a mistake of the program is raised, and keeps what came before it
                if failed == 'forward':
                    defect(error)
                return False
            for cached, _, _ in bound.structure:
                cached.deferral.budget = BUDGET
            for head in heads:
                if head._storage is not None:
                    head._storage._graph_released = True
            self._forget()
            return True

    def _wanted_later(self, bound: BoundStep) -> bool:
        """Whether outputs of calls that the heads do not depend on still exist: their own backward may come."""
        return any(made() is not None for number in bound.others for made in self.calls[number].outputs)

    def _find(self, heads: Sequence[NDArrayBase]) -> BoundStep | None:
        """The BoundStep for this step; None where there is no plan."""
        first = self.calls[0].cached.deferral
        bound = first.last_step
        if bound is not None and bound.fits(self, heads):
            return bound
        structure = tuple([(c.cached, c.training, c.sources) for c in self.calls])
        places = tuple([(h._pending.call, h._pending.number) for h in heads])
        # a plan draws from the generator that it was traced with
        drawn = self.ctx if any(c.cached.draws for c in self.calls) else None
        key = (structure, places, drawn, self.np_shape, *[(t.shape, t.dtype, t.device, v and v.req)
                                                          for t, v in zip(self.tensors, self.variables, strict=True)])
        known = first.step_plans.get(key)
        if known is None:
            if key not in first.seen_once and any(c.cached.what[1] is not None for c in self.calls):
                # numbers and slices of operators may be others each time: a plan is for steps that come again
                first.seen_once[key] = True
                return None
            known = first.step_plans[key] = StepPlan(self, places)
        if known.plan is None:
            for call in self.calls:
                if call.cached.parameters:
                    call.cached.deferral.budget = 0
            return None
        first.last_step = bound = BoundStep(self, structure, places, known.plan, known.heads)
        return bound


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


def run_moving_steps() -> None:
    """Runs steps of this thread that move averages: a call that does, too, is about to be recorded on the tape."""
    for made in list(readers.values()):
        step = made()
        if type(step) is Step and step.moves and step.thread == get_ident() and not step.closed:
            step.run()


def drawing(ctx: Context) -> Step | None:
    """The step of this thread that is deferred, and draws random numbers of a context; None if there is none."""
    for step in state.draws:
        if step.ctx == ctx and not step.closed:
            return step
    return None


def will_draw(step: Step) -> None:
    """Registers a step that draws random numbers when it runs."""
    if step not in state.draws:
        state.draws = (*[other for other in state.draws if not other.closed], step)
