"""`CachedOp`: a graph that is called like a function on arrays; what a hybridized block runs.

The call goes through a plan (`_graph.codegen.plan`).  While recording, the whole graph is one node of the tape: its
backward is the plan's.  If that backward is itself differentiated (`autograd.grad(create_graph=True)`), it is computed
by torch's engine instead.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import torch

from .._array import before_write, owned_apart, readers, wrap
from .._cache import Cache
from .._dispatch import entering, interceptors
from .._graph.codegen.plan import LIMIT, Plans
from .._graph.codegen.states import Mover, move_when_differentiated
from .._graph.infer.inference import infer
from .._graph.ir.monitors import NodeMonitor
from .._graph.ir.node import Node
from .._graph.ir.outputs import together
from .._graph.ir.program import Program
from .._hooks import hooks
from .._lazy import inference, operators
from .._lazy.defer import defer
from .._lazy.deferral import Deferral
from .._lazy.step import run_moving_steps
from .._ops.core.gradients import linked
from .._ops.core.integer_gradients import DifferentiableInteger
from .._ops.core.moves import move_several_times
from .._ops.core.table import NAMES
from .._provenance import Reach, companion_among, note_companions, record_graph, source
from .._state import state
from ..base import MXNetError
from ..context import current_context
from . import _invoke
from ._plan_node import (
    PlanNode,
    check_before,
    generators_of,
    is_between,
    versions_read_again,
    with_joint_gradients,
    write_state,
)
from ._predictions import Predictions, is_asked
from ._sparse_cached import Lookups, by_nodes
from .ndarray import NDArray

if TYPE_CHECKING:
    from .._ops.core.table import Operator
    from ..context import Context

_invoke.join_step = operators.join
INLINE_LIMIT = 2            # operators of a graph that is recorded one by one, if a block does not say another number


class CachedOp:
    """Calls a symbol's graph on arrays, given in the order of `sym.list_inputs()`."""

    def __init__(self, sym: Any, flags: Mapping[str, Any] | Iterable[tuple[str, Any]] = ()) -> None:
        self._symbol = sym
        self.what: tuple[Any, Any] = sym, None          # what it computes: see _provenance.py
        self._flags = dict(flags)
        self._np = self.is_np_sym
        self.program = Program(sym._entries)
        self._plans = Plans(self.program)
        self._monitor: tuple[Any, bool] | None = None
        self._lookups = Lookups.of(sym, self._flags.items(), CachedOp)
        self._names = [n.name for n in self.program.variables]
        # zeros of a batch size that only the inputs tell: one program for each set of input shapes
        self._by_shapes: Any = Cache(LIMIT) if self.program.open_shapes else None
        # may it become a CUDA graph; None if it was not said
        self.static = all(map(self._flags.get, ('static_alloc', 'static_shape'))) if self._flags else None
        self.program.folds = self.program.rearranges = bool(self.static)
        self.draws, self.count = self.program.draws, len(self.program.outputs)
        # upstream records the operators of a small graph one by one: each output goes back by itself
        self.inlined = self.count > 1 and not self._flags.get('static_alloc') \
            and len(self.program.calls) <= self._flags.get('inline_limit', INLINE_LIMIT)
        self.reach = Reach(self.program.behind_outputs()) if self.inlined else None
        self.parameters: tuple[int, ...] = ()       # which inputs are parameters, if the caller has said so
        self.predictions, self.deferral = Predictions(), Deferral()
        self._passing = _Passing.of(sym, self._flags)

    @staticmethod
    def of_nodes(calls: Iterable[tuple[Operator, dict[str, Any]]], count: int) -> CachedOp:
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
    def generators(ctx: Context) -> Callable[[torch.device], torch.Generator]:
        """Function of a device: where the random numbers of a context come from, or those of another device."""
        return generators_of(ctx)

    def hidden_states(self, training: bool, ctx: Context) -> Sequence[int]:
        """Positions of the inputs that a recorded call writes in its forward pass."""
        return self.program.written_forward(ctx.torch_device) if training else ()

    @property
    def is_np_sym(self) -> bool:
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
        ctx = args[0]._ctx if args else default_ctx or current_context()
        recording, cls = state.recording, self._result_class() if self._np or state.np_array else NDArray
        if recording:
            if args and not self.inlined and self.deferral.budget > 0 and out is None and self._monitor is None \
                    and not state.interceptors and not state.naive:
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
                    and (is_asked(self) or self.static is False and tensors[0].is_cuda):
                arrays = self.predictions.predict(self, tensors, ctx, cls)
                if arrays is not None:
                    return arrays[0] if len(arrays) == 1 else arrays
        try:
            results, moves = self.compute(tensors, ctx, state.training, recording)
        except Exception:
            self.deferral.output_kinds.clear()      # calls are deferred once they are known to have no mistakes
            raise
        if recording:
            record_graph(self.what, tuple([source(x) for x in args]), results, self.reach, moves)
        if out is not None:
            targets = out if isinstance(out, (list, tuple)) else [out]
            for target, value in zip(targets, results, strict=True):
                before_write(target.materialize())
                target.materialize().detach().copy_(value.detach())
            return out
        arrays = [wrap(r, ctx, cls) for r in results]
        return arrays[0] if len(arrays) == 1 else arrays

    def compute(self, tensors: Sequence[torch.Tensor], ctx: Context, training: bool,
                recording: bool) -> tuple[list[torch.Tensor], list[Mover]]:
        """The tensors of the outputs, and what moves states in backward passes.

        Other states among the given tensors are changed.
        """
        moves: list[Mover] = []
        wanted = tuple(i for i, t in enumerate(tensors) if t.requires_grad) if recording else ()
        device = ctx.torch_device
        kind = (training, wanted, *[t.shape for t in tensors])
        plan = self._find(kind, tensors, wanted, training, ctx)
        if plan is None:
            begin = perf_counter()
            with torch.set_grad_enabled(bool(wanted)):
                joint = bool(wanted) and not self.inlined
                given = with_joint_gradients(tensors, wanted) if joint else tensors
                outputs, states = self.program.run(given, training=training, generator=generators_of(ctx),
                                                   device=device, monitor=self._watch(ctx))
                if wanted:          # a view may be one of what the tape has saved, which the program must not write
                    outputs = [o if o._base is None else o.clone(memory_format=torch.contiguous_format)
                               for o in outputs]
                if joint:
                    outputs = together(outputs)
            # going back takes about twice as long as going forward
            self._plans.ran(kind, (perf_counter() - begin) * (3 if wanted else 1))
            ranks = self.program.ranks(wanted) if move_several_times(states) else {}
            for place, value in states.items():
                if type(value) is list:
                    applies = partial(is_between, self.program, place, tensors)
                    moves += move_when_differentiated(value, tensors[place], applies,
                                                      reads=self.program.behind_states()[place], ranks=ranks)
                else:
                    write_state(tensors[place], value)
        elif wanted:
            outputs = PlanNode.apply(self, plan, training, ctx, moves, *tensors)
            values, outputs = outputs[len(plan.differentiable):], outputs[:len(plan.differentiable)]
            for place, value, weight in zip(plan.state_numbers, values, plan.state_weights, strict=True):
                if weight is None:
                    write_state(tensors[place], value)
        else:
            with torch.no_grad():
                outputs, values, _ = plan.forward(tensors)
            for place, value in zip(plan.state_numbers, values, strict=True):
                write_state(tensors[place], value)
        results = owned_apart(outputs, tensors)
        if wanted and plan is None and not self.inlined and (self.program.late_reads or self.program.late_outputs):
            check_before(results, versions_read_again(self.program, tensors, results))
        if wanted and False in [r.requires_grad for r in results]:
            # through an output that has a gradient, all of the graph goes back
            companion = None if self.inlined else companion_among(results)
            results = [linked(r, tensors if companion is None else [companion]) for r in results]
        if wanted and self.deferral.budget > 0 and (plan is not None or self.program.has_static_shapes):
            kinds = inference.kinds_of(training, tensors)
            if kinds not in self.deferral.output_kinds:
                inference.remember(self, kinds, [(r.shape, r.dtype) for r in results])
        if not recording:
            return [r.detach() if r.requires_grad else r for r in results], []
        if wanted and len(results) > 1 and not self.inlined:
            note_companions(results)
        return results, moves

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
        return found

    def _find(self, kind, tensors, wanted, training, ctx):
        """The plan for this call; none for the first of its kind, and for large graphs until they have earned it."""
        device = ctx.torch_device
        if state.naive or wanted and self.inlined or self.draws and state.batch_generators is not None:
            return None
        if self._monitor is not None or any(t.device != device or type(t) is DifferentiableInteger for t in tensors):
            return None
        if not self._plans.due(kind):
            return None
        return self._plans.find(tensors, wanted, training=training, generator=generators_of(ctx), device=device)

    def _watch(self, ctx):
        if self._monitor is None:
            return None
        callback, everything = self._monitor

        def show(node, name, value):
            callback(name, node.op.name, wrap(value.detach(), ctx, NDArray))
        return NodeMonitor(show, everything, variables=False)


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
            given = self._op(*[args[i] for i in self._places], default_ctx=args[0]._ctx)
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
