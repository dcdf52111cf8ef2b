"""`CachedOp`: a graph that is called like a function on arrays; what a hybridized block runs.

The call goes through a plan (`_graph.codegen.plan`).  While recording, the whole graph is one node of the tape: its
backward is the plan's.  If that backward is itself differentiated (`autograd.grad(create_graph=True)`), it is computed
by torch's engine instead.
"""
from __future__ import annotations

from collections import Counter, OrderedDict
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any
from weakref import ref

import torch

from .. import _random_state as _random
from .._array import before_write, owned, readers, wrap
from .._dispatch import entering, interceptors
from .._graph.codegen.plan import LIMIT, Plans
from .._graph.codegen.states import move_all, move_when_differentiated
from .._graph.cuda.runner import MOST_UNASKED, Predictor, is_small
from .._graph.infer.inference import infer
from .._graph.ir.node import Node
from .._graph.ir.program import Program
from .._hooks import hooks
from .._integer_gradients import DifferentiableInteger
from .._lazy import inference, operators
from .._lazy.defer import defer
from .._lazy.pending import GraphOutputs
from .._lazy.step import DEFERRAL_BUDGET, run_moving_steps
from .._ops.core.late_reads import Versions
from .._ops.core.table import NAMES
from .._provenance import record_graph, source
from .._state import state
from .._torch.autograd import keeps_graph
from .._torch.memory import storage_id
from ..base import MXNetError
from . import _interop, _invoke
from ._sparse_cached import Lookups, by_nodes
from .ndarray import NDArray

if TYPE_CHECKING:
    from .._lazy.pending import ParameterGroup
    from .._lazy.step import BoundStep
    from .._lazy.step_plan import StepPlan
    from .._lazy.types import View


def generators_of(ctx):
    """Function of a device: where the random numbers of a context come from, or those of another device."""
    return lambda device: _random.generator(ctx if device == ctx.torch_device else _interop.context_on(device))


NONE = object()
SOON, LATE = 2, 10      # the first prediction of a kind that has a plan for predictions: if that was asked for, or not
_invoke.join_step = operators.join


class CachedOp:
    """Calls a symbol's graph on arrays, given in the order of `sym.list_inputs()`."""

    def __init__(self, sym, flags=()):
        self._symbol = sym
        self.what: tuple[Any, Any] = sym, None          # what it computes: see _provenance.py
        self._flags = dict(flags)
        self._np = self.is_np_sym
        self.program = Program(sym._entries)
        self.repeated = _repeated(list(sym._entries))
        self._plans = Plans(self.program)
        self._sharing: dict[Any, Any] = {}      # plan -> what it saves that programs can write into
        self._monitor: tuple[Any, bool] | None = None
        self._lookups = Lookups.of(sym, self._flags.items(), CachedOp)
        self._names = [n.name for n in self.program.variables]
        # zeros of a batch size that only the inputs tell: one program for each set of input shapes
        self._by_shapes: Any = OrderedDict() if self.program.open_shapes else None
        # may it become a CUDA graph; None if it was not said
        self.static = all(map(self._flags.get, ('static_alloc', 'static_shape'))) if self._flags else None
        self.draws = self.program.draws
        self.deferral_budget = DEFERRAL_BUDGET
        # which inputs are parameters, if whoever calls it has said so; what predictions with them know
        self.parameters: tuple[int, ...] = ()
        self._predictors: dict[Any, Any] = {}           # a Predictor or NONE, by kinds; or how many calls there were
        self._graph_outputs: dict[Any, GraphOutputs] = {}
        self.quick: Any = None                          # kinds and numbers of the free inputs, and the last Predictor
        self._refused: Any = None
        self.program.folds = bool(self.static)
        self.count = len(self.program.outputs)
        # what deferred calls know (_lazy/)
        self.group: ParameterGroup | None = None                # of the last one
        self.steps: OrderedDict[Any, StepPlan] = OrderedDict()  # plans of steps that begin with it, by key
        self.last_step: BoundStep | None = None
        self.seen: set[Any] = set()                             # keys of steps with operators that were seen once
        self.operators: dict[Any, CachedOp] = {}    # of operators that follow it in a step (_lazy/operators.py)
        # kinds of calls -> shapes and dtypes of the outputs (_lazy/inference.py)
        self.results: dict[Any, list[torch.Tensor]] = {}
        self.only_inferred = False  # whether calls that inference does not know to be right are refused (NotInferred)
        # how the output is made a view of the input, if it is one (_lazy/operators.py)
        self.view: View | None = None
        self._passing = _Passing.of(sym, self._flags)

    @staticmethod
    def of_nodes(calls, count):
        """The CachedOp of operators, (operator, attributes), each of which takes what the one before gives; the first
        takes `count` inputs.
        """
        from ..symbol._compose import make, text_of
        entries = [(Node(None, f'x{i}', {}), 0) for i in range(count)]
        for op, attributes in calls:
            attrs = {k: text_of(op, k, v) for k, v in attributes.items()
                     if k in op.attributes and (v is not None or op.attributes[k].default is not None)}
            entries = [(Node(op, '', attrs, entries), 0)]       # without a name, as it is no layer of anything
        return CachedOp(make(hooks.Symbol, entries))

    @staticmethod
    def generators(ctx):
        """Function of a device: where the random numbers of a context come from, or those of another device."""
        return generators_of(ctx)

    def hidden_states(self, training, ctx):
        """Positions of the inputs that a recorded call writes in its forward pass."""
        return self.program.written_forward(ctx.torch_device) if training else ()

    @property
    def is_np_sym(self):
        """Whether the graph was written in np mode."""
        return type(self._symbol) is not hooks.Symbol

    def _register_op_hook(self, callback, monitor_all=False):
        """Calls `callback(node name, operator name, array)` for every value computed."""
        self._monitor = (callback, monitor_all)
        if self._by_shapes is not None:
            self._by_shapes.clear()

    def __call__(self, *args, out=None, default_ctx=None):
        if interceptors and (scope := entering('CachedOp.__call__')) is not None:
            with scope:
                return CachedOp.__call__(self, *args, out=out, default_ctx=default_ctx)
        if len(args) != len(self._names):
            raise MXNetError(f'CachedOp: {len(args)} arrays given for {len(self._names)} inputs: '
                             f'{", ".join(self._names)}')
        if True in [x._sparse for x in args]:
            arrays = by_nodes(self.program, args, self._result_class())
            if arrays is not NotImplemented and out is None and self._monitor is None:
                return arrays[0] if len(arrays) == 1 else arrays
        if self._passing is not None:
            return self._passing(args, out)
        if self._lookups is not None and state.recording and self._monitor is None and self._lookups.wanted(args):
            return self._lookups(args, out, self._result_class())
        if self._by_shapes is not None:
            return self._for_shapes(args)(*args, out=out)
        ctx: Any = args[0]._ctx if args else None
        recording, cls = state.recording, self._result_class() if self._np or state.np_array else NDArray
        if recording:
            if self.deferral_budget > 0 and out is None and self._monitor is None and not state.interceptors \
                    and not state.naive:
                arrays = defer(self, args, ctx, state.training, cls)
                if arrays is not None:
                    return arrays[0] if len(arrays) == 1 else arrays
            if readers and self.program.states:
                run_moving_steps()
            tensors = [x.materialize() if x._variable is None else x._variable.leaf for x in args]
        else:
            tensors = [x.materialize() for x in args]
            if True in [t.requires_grad for t in tensors]:
                tensors = [t.detach() if t.requires_grad else t for t in tensors]
            if self.parameters and out is None and not state.training and self._monitor is None and not state.naive \
                    and (self._asked() or self.static is False and tensors[0].is_cuda):
                arrays = self._predict(tensors, ctx, cls)
                if arrays is not None:
                    return arrays[0] if len(arrays) == 1 else arrays
        try:
            results = self.compute(tensors, ctx, state.training, recording)
        except Exception:
            self.results.clear()        # calls are deferred once they are known to have no mistakes
            raise
        if recording:
            record_graph(self.what, tuple([source(x) for x in args]), results)
        if out is not None:
            targets = out if isinstance(out, (list, tuple)) else [out]
            for target, value in zip(targets, results, strict=True):
                before_write(target.materialize())
                target.materialize().detach().copy_(value.detach())
            return out
        arrays = [wrap(r, ctx, cls) for r in results]
        return arrays[0] if len(arrays) == 1 else arrays

    def _predict(self, tensors, ctx, cls):
        """Output arrays of a prediction whose plan knows which inputs are parameters; None where there is none."""
        if self.draws and state.chance is not None:
            return None             # a plan draws from the program's generator, not from that of a loader's batch
        quick = self.quick
        if quick is not None and quick[0] == [(tensors[i].shape, tensors[i].dtype) for i in quick[1]] \
                and quick[2].knows(tensors):
            return self.follow(quick[2], tensors, ctx, cls)
        fixed = set(self.parameters)
        free = [i for i in range(len(tensors)) if i not in fixed]
        shapes = [(tensors[i].shape, tensors[i].dtype) for i in free]
        if shapes == self._refused:
            return None
        kind = tuple([(t.shape, t.dtype, t.device) for t in tensors])
        predictor = self._predictors.get(kind, 0)
        if type(predictor) is int:                  # many networks predict once: the first times without
            if len(self._predictors) > LIMIT:
                self._predictors.clear()
            self._predictors[kind] = predictor + 1
            if predictor + 1 < (SOON if self._asked() else LATE):
                return None
            predictor = self._predictors[kind] = self._predictor(tensors, ctx)
        if predictor is NONE:
            self._refused = shapes
            return None
        self.quick = shapes, free, predictor
        return self.follow(predictor, tensors, ctx, cls)

    def _asked(self):
        """Whether plans for predictions were asked for; else there are some on a GPU, late and of small networks."""
        return bool(self.static or self.program.inductor)

    def follow(self, predictor, tensors, ctx, cls):
        with predictor.lock:
            before = self._graph_outputs.pop(predictor, None)
            if before is not None:
                before.run()
            outputs = predictor.run(tensors)
            if predictor.captured is None:
                outputs = list(outputs) if predictor.fresh else [owned(o, tensors) for o in outputs]
                for number in self.repeated:
                    outputs[number] = outputs[number].clone()
                return [wrap(o, ctx, cls) for o in outputs]
            arrays = [wrap(None, ctx, cls) for _ in outputs]
            self._graph_outputs[predictor] = GraphOutputs([ref(array) for array in arrays], outputs, ctx)
        return arrays

    def _predictor(self, tensors, ctx):
        generator = generators_of(ctx)
        plan = self._plans.find(tensors, (), training=False, generator=generator, device=ctx.torch_device,
                                parameters=self.parameters)
        asked = self._asked()
        if plan is None or not asked and not (is_small(plan.peak, ctx.torch_device) and MOST_UNASKED
                                              >= sum([tensors[i].nbytes for i in self.parameters])):
            return NONE
        return Predictor(plan, self.parameters, [generator(ctx.torch_device)] if self.draws else [], static=asked)

    def compute(self, tensors, ctx, training, recording):
        """The tensors of the outputs.  States among the given tensors are changed."""
        wanted = tuple(i for i, t in enumerate(tensors) if t.requires_grad) if recording else ()
        device = ctx.torch_device
        kind = (training, wanted, *[t.shape for t in tensors])
        plan = self._find(kind, tensors, wanted, training, ctx)
        if plan is None:
            begin = perf_counter()
            with torch.set_grad_enabled(bool(wanted)):
                given = _as_one(tensors, wanted) if wanted else tensors
                outputs, states = self.program.run(given, training=training, generator=generators_of(ctx),
                                                   device=device, monitor=self._watch(ctx))
            # going back takes about twice as long as going forward
            self._plans.ran(kind, (perf_counter() - begin) * (3 if wanted else 1))
            for place, value in states.items():
                if type(value) is list:
                    applies = partial(_is_on_the_way, self.program, place, tensors)
                    move_when_differentiated(value, tensors[place], applies)
                else:
                    _write(tensors[place], value)
        elif wanted:
            outputs = _Planned.apply(self, plan, training, ctx, *tensors)
            values, outputs = outputs[len(plan.differentiable):], outputs[:len(plan.differentiable)]
            for place, value, weight in zip(plan.state_numbers, values, plan.state_weights, strict=True):
                if weight is None:
                    _write(tensors[place], value)
        else:
            with torch.no_grad():
                outputs, values, _ = plan.forward(tensors)
            for place, value in zip(plan.state_numbers, values, strict=True):
                _write(tensors[place], value)
        results = [owned(o, tensors) for o in outputs]
        for number in self.repeated:
            results[number] = results[number].clone()
        if wanted and self.deferral_budget > 0 and (plan is not None or self.program.has_static_shapes):
            kinds = inference.kinds_of(training, tensors)
            if kinds not in self.results:
                inference.remember(self, kinds, [(r.shape, r.dtype) for r in results])
        return results if recording else [r.detach() if r.requires_grad else r for r in results]

    def _result_class(self):
        """What the outputs are: arrays with NumPy's semantics in np mode, and from a graph that was written so."""
        if not state.np_array and not self._np:
            return NDArray
        return hooks.np_ndarray

    def _for_shapes(self, args):
        """The same graph with the lengths that it leaves open filled in."""
        key = tuple((x.meta().shape, x.meta().dtype) for x in args)
        found = self._by_shapes.get(key)
        if found is None:
            found = CachedOp(self._symbol, self._flags.items())
            found._by_shapes = None
            found._monitor = self._monitor
            facts = infer(self._symbol._entries, dict(zip(self._names, (tuple(k[0]) for k in key), strict=True)),
                          dict(zip(self._names, (k[1] for k in key), strict=True)))
            found.program.with_shapes(facts)
            self._by_shapes[key] = found
            if len(self._by_shapes) > LIMIT:
                self._by_shapes.popitem(last=False)
        return found

    def _find(self, kind, tensors, wanted, training, ctx):
        """The plan for this call; none for the first of its kind, and for large graphs until they have earned it."""
        device = ctx.torch_device
        if state.naive or self.draws and state.chance is not None:
            return None
        if self._monitor is not None or any(t.device != device or type(t) is DifferentiableInteger for t in tensors):
            return None
        if not self._plans.due(kind):
            return None
        return self._plans.find(tensors, wanted, training=training, generator=generators_of(ctx), device=device)

    def _shared(self, plan, saved, given, outputs):
        """Which of the saved tensors share memory with the given ones or with outputs, and which outputs are views of
        memory that none of the others has; found once for each plan."""
        found = self._sharing.get(plan)
        if found is None:
            if len(self._sharing) > LIMIT:
                self._sharing.clear()
            its, mine, theirs = ([storage_id(t.untyped_storage()) for t in some] for some in (outputs, saved, given))
            seen, everything = {*its, *theirs}, [*its, *mine, *theirs]
            shared = [i for i, memory in enumerate(mine) if memory in seen]
            apart = [i for i, o in enumerate(outputs) if o._base is not None and everything.count(its[i]) == 1]
            found = self._sharing[plan] = shared, apart
        return found

    def _watch(self, ctx):
        if self._monitor is None:
            return None
        callback, everything = self._monitor
        return _Watch(callback, everything, ctx)


def _repeated(entries):
    """Numbers of the outputs that another one before is, too: they are copied, as programs write into both."""
    return [number for number, entry in enumerate(entries) if entry in entries[:number]]


def _write(tensor, value):
    """Writes the new value of a state."""
    before_write(tensor)
    tensor.detach().copy_(value.detach())


class _Passing:
    """Calls of a graph that has inputs among its outputs: those are new arrays that share memory, and the gradient.

    The other outputs are computed by a graph of their own.  An input that is there twice is copied the second time.
    """

    _outputs: list[int | None]          # for each output the number of the input that it is, or None
    _op: CachedOp | None                # of the other outputs
    _places: list[int]                  # numbers of its inputs

    @classmethod
    def of(cls, sym, flags):
        """None for a graph that has no inputs among its outputs."""
        entries = sym._entries
        passed: dict[int, Node] = {}
        rest = []
        for number, (node, _) in enumerate(entries):
            if node.is_variable and node not in passed.values():
                passed[number] = node
            else:
                rest.append(number)
        if not passed:
            return None
        from ..symbol._compose import make
        self = cls()
        names = sym.list_inputs()
        self._outputs = [(names.index(passed[n].name) if n in passed else None) for n in range(len(entries))]
        self._op = None
        if rest:
            copied = NAMES['_copy']
            chosen = [(Node(copied, '', {}, [entries[n]]), 0) if entries[n][0].is_variable else entries[n]
                      for n in rest]
            group = make(type(sym), chosen)
            self._op = CachedOp(group, flags.items())
            self._places = [names.index(name) for name in group.list_inputs()]
        return self

    def __call__(self, args, out):
        computed = []
        if self._op is not None:
            given = self._op(*[args[i] for i in self._places])
            computed = list(given) if isinstance(given, list) else [given]
        cls = None
        arrays = []
        for number in self._outputs:
            if number is None:
                arrays.append(computed.pop(0))
                continue
            array = args[number]
            cls = array._dense
            alias = wrap(array.materialize(), array._ctx, cls) if not array._sparse else array
            if not array._sparse:
                alias._variable = array._variable
            arrays.append(alias)
        if out is not None:
            for target, array in zip(out if isinstance(out, (list, tuple)) else [out], arrays, strict=True):
                array.copyto(target)
            return out
        return arrays[0] if len(arrays) == 1 else arrays


class _Watch:
    """Shows a hook what nodes give and, with `everything`, what they take."""

    def __init__(self, callback, everything, ctx):
        self._callback, self._everything, self._ctx = callback, everything, ctx

    def _show(self, node, name, tensor):
        self._callback(name, node.op.name, wrap(tensor.detach(), self._ctx, NDArray))

    def output(self, node, number, tensor):
        self._show(node, node.entry_name(number), tensor)

    def inputs(self, node, tensors):
        if self._everything:
            names = node.input_names() if node.op.variadic is not None else node.op.inputs
            if node.op.elementwise and len(names) == 1:
                names = ('input0',)             # what upstream calls the input of such operators here
            for name, tensor in zip(names, tensors, strict=False):
                if tensor is not None:
                    self._show(node, f'{node.name}_{name}', tensor)
        return tensors


class _Planned(torch.autograd.Function):
    """A plan as one node of torch's tape."""

    @staticmethod
    def forward(ctx, cached, plan, training, place, *tensors):
        # random numbers, to be drawn once more by whoever differentiates a gradient
        ctx.chance = generators_of(place)(place.torch_device).get_state() if cached.draws else None
        outputs, states, saved = plan.forward(tensors)
        ctx.cached, ctx.plan, ctx.training, ctx.place = cached, plan, training, place
        # not through save_for_backward: states among them change, and only a second derivative looks at them
        ctx.tensors = tensors
        # what the program can write into is saved so that torch finds that out; the rest is let go as backward uses it
        ctx.shared, apart = cached._shared(plan, saved, tensors, outputs)
        if apart:                   # torch lets nobody write into a view that a node gives, which these need not be
            outputs = [o.data if i in apart else o for i, o in enumerate(outputs)]
        ctx.save_for_backward(*[saved[i] for i in ctx.shared])
        ctx.own = list(saved)
        for i in ctx.shared:
            ctx.own[i] = None
        ctx.set_materialize_grads(False)
        # averages that the backward pass moves: (number, value, weight)
        ctx.moves = [(n, value, weight) for n, value, weight in
                     zip(plan.state_numbers, states, plan.state_weights, strict=True) if weight is not None]
        ctx.late_reads = Versions([tensors[n] for n in cached.program.late_reads])
        ctx.outputs = [(o.shape, o.dtype, o.device) for o in outputs]
        still = [o for o, d in zip(outputs, plan.differentiable, strict=True) if not d]
        ctx.mark_non_differentiable(*still, *states)
        return (*outputs, *states)

    @staticmethod
    def backward(ctx, *gradients):
        plan, count = ctx.plan, len(ctx.tensors)
        # row-major, as those that the plan was traced with: some kernels take nothing else
        heads = [torch.zeros(s, dtype=t, device=d) if g is None else g.contiguous()
                 for g, (s, t, d) in zip(gradients, ctx.outputs, strict=False)]
        if torch.is_grad_enabled():
            found = _again(ctx, plan, ctx.tensors, heads)
        else:
            ctx.late_reads.check()
            found = plan.backward(_saved(ctx), heads)
            if ctx.moves:
                move_all(_moves(ctx), ctx)
        places = dict(zip(plan.wanted, found, strict=True))
        return None, None, None, None, *[_or_zeros(places[i], ctx.tensors[i]) if i in places else None
                                         for i in range(count)]


def _moves(ctx):
    """(tensor, value, weight) of the averages that this backward pass moves.

    For `autograd.grad`, those on the way to what it differentiates with respect to.
    """
    return [(ctx.tensors[n].detach(), value, weight) for n, value, weight in ctx.moves
            if _is_on_the_way(ctx.cached.program, n, ctx.tensors)]


def _is_on_the_way(program, number, tensors):
    """Whether what writes a state of a graph lies between its outputs and what `autograd.grad` asks for."""
    wanted = state.wanted
    if wanted is None:
        return True
    return any(t.requires_grad and (t.grad_fn is not None or any(t is w for w in wanted))
               for t in [tensors[i] for i in program.behind_states().get(number, ())])


class _AsOne(torch.autograd.Function):
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
                    tensor._unreached = True        # for `_mover` of autograd.py
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


def _as_one(tensors, wanted):
    """The tensors, of which those that are wanted go through `_AsOne`."""
    # others know more than torch does of how their gradients come about: whole numbers, rows of sparse ones
    chosen = [i for i in wanted if type(tensors[i]) is torch.Tensor and not hasattr(tensors[i], '_wants_rows')]
    given = list(tensors)
    if chosen:
        for i, tensor in zip(chosen, _AsOne.apply(*[tensors[i] for i in chosen]), strict=True):
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


def _same_numbers(ctx):
    """Where a call finds the random numbers that it had before."""
    if ctx.chance is None:
        return generators_of(ctx.place)
    generator = torch.Generator(ctx.place.torch_device)
    generator.set_state(ctx.chance)
    return lambda device: generator


def _distinct(tensors):
    """The tensors, with an alias for each place of a tensor given more than once, so that each has its own gradient."""
    counts = Counter(map(id, tensors))
    return [t.view_as(t) if counts[id(t)] > 1 and t.requires_grad else t for t in tensors]


def _again(ctx, plan, tensors, heads):
    """The gradients, computed so that they can be differentiated: forward once more, on torch's tape."""
    tensors = _distinct(tensors)
    outputs, states = ctx.cached.program.run(tensors, training=ctx.training, generator=_same_numbers(ctx),
                                             device=ctx.place.torch_device)
    for place, value in states.items():
        if type(value) is list:                 # others have been written in the forward pass
            move_when_differentiated(value, tensors[place])
    pairs = [(o, h) for o, h in zip(outputs, heads, strict=True) if o.requires_grad]
    return torch.autograd.grad([o for o, _ in pairs], [tensors[i] for i in plan.wanted], [h for _, h in pairs],
                               create_graph=True, allow_unused=True)


