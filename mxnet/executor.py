"""`Executor`: a symbol bound to arrays, ready to run forward and backward."""
from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy
import torch
from torch.autograd.graph import saved_tensors_hooks

from . import _executor_parts
from . import _random_state as _random
from ._array import NDArrayBase, before_write, fill_ones, overwrite, owned_apart, readers, wrap
from ._dispatch import entering, interceptors
from ._executor_monitor import GradientMonitor, leads_to
from ._executor_runs import BoundRun, BoundTraining
from ._graph.codegen.plan import Plans, alike, copy_all
from ._graph.codegen.states import move_all
from ._graph.infer import inference as _infer
from ._graph.ir.common import merged
from ._graph.ir.program import Program
from ._hooks import hooks
from ._kinds import explain_methods as _explain_methods
from ._lazy.pending import GraphOutputs
from ._names import kind_of, near, not_an_array
from ._names import suggest_names as _suggest_names
from ._ops.core.integer_gradients import differentiable_head
from ._ops.core.late_reads import Versions
from ._ops.core.moves import sort_moves
from ._ops.core.table import CallSite
from ._state import state
from ._torch.autograd import gradients_of
from ._torch.lists import foreach_copy_
from .base import MXNetError
from .ndarray import NDArray, _interop
from .ndarray.ndarray import ShapeMismatch
from .symbol._compose import make

if TYPE_CHECKING:
    from ._typing import Arrays
    from .symbol import Symbol

__all__ = ['Executor']


def _kind_of_outputs(symbol):
    """In np mode, a symbol with NumPy's operators gives arrays of that kind."""
    return hooks.np_ndarray if state.np_array and isinstance(symbol, hooks.np_Symbol) else NDArray


class _Reshaped(MXNetError, AssertionError):
    """A shape that `reshape` may not change; versions of MXNet raised one or the other."""


def check_parameter(name: str, value: Any, shape: Any) -> None:
    """Raises if a value that is to be copied into a parameter is no array, or one of another shape."""
    if not isinstance(value, NDArrayBase):
        raise TypeError(not_an_array(f'the value of parameter {name}', value))
    given = value.shape         # type: ignore[attr-defined]
    if given != shape:
        raise ShapeMismatch(f'the value of parameter {name} has shape {given}, the executor expects {shape}: is it of '
                            'another network, or for inputs of another width?')


class Executor(_executor_parts.Gradients, _executor_parts.Memory):
    """Runs a bound symbol.

    `arg_arrays`, `grad_arrays` and `aux_arrays` are in the order of the symbol's arguments and auxiliary states;
    `arg_dict`, `grad_dict`, `aux_dict` and `output_dict` find them by name.  `outputs` are the same array objects after
    every `forward`.
    """

    def __new__(cls, symbol: Any, ctx: Any, grad_req: Any, group2ctx: Any, args: Any, grads: Any, aux: Any,
                like: Any = None) -> Executor:
        from . import _sparse_executor
        return object.__new__(_sparse_executor.SparseExecutor if _sparse_executor.concerns(symbol, (*args, *grads,
                                                                                                    *aux))
                              else cls)

    def __init__(self, symbol: Any, ctx: Any, grad_req: Any, group2ctx: Any, args: Any, grads: Any, aux: Any,
                 like: Any = None) -> None:
        self._symbol = symbol
        self._ctx = ctx
        self._group2ctx = group2ctx or {}
        self.arg_arrays: Any
        self.grad_arrays: Any
        self.aux_arrays: Any
        self.arg_arrays, self.grad_arrays, self.aux_arrays = args, grads, aux
        self._arg_names, self._aux_names = symbol.list_arguments(), symbol.list_auxiliary_states()
        if like is not None and not like._program.individual:
            # plans are cached by shapes, so that alternating between shapes makes none twice
            self._program, self._plans = like._program, like._plans
        else:
            self._program = self._lowered()
            self._plans = Plans(self._program)
        program = self._program
        self._arrays: list[Any] = [None] * len(program.variables)
        for place, array in zip((*program.arguments, *program.states), (*args, *aux), strict=True):
            self._arrays[place] = array
        # outputs that are arguments or states, (number, number of the variable): they share memory with these
        self._passed = [(i, place) for i, place in enumerate(program.outputs) if place < len(program.variables)]
        self._reqs = grad_req
        self._learns = any(req != 'null' for req in grad_req)
        self._ones_of_learned = self._program.ones_where(
            place for place, req in zip(self._program.arguments, grad_req, strict=True) if req != 'null')
        # backward after a prediction computes that again, which must not draw other numbers
        self._always_draws = any(c.rng and c.attributes.get('mode') == 'always' for c in program.calls)
        self._outputs: Any
        self._kind: Any
        self._outputs, self._kind = None, _kind_of_outputs(symbol)
        self._graph_outputs: Any = None    # outputs that lie in the memory of a CUDA graph
        self._recorded: Any = None         # what backward needs of the last forward, until it has been used
        self._late: Versions | None = None      # of what it must find as it was, where a plan ran forward
        self._fed: Any = ()                # what `_forward_backward` read in the place of arguments
        self._training = False
        self._monitor: Any = None
        self._as_written = os.environ.get('MXNET_ELIMINATE_COMMON_EXPR') == '0'
        self._bound_runs: dict[Any, Any] = {}         # BoundRun of the last run with a plan, by train flag
        self._bound_training: Any = None   # BoundTraining of the last run forward and backward at once
        self._ones: Any = None              # kinds of the outputs, and tensors of ones like them

    def __del__(self) -> None:
        """Lets go of what is large first: values kept for `backward`, and CUDA graphs with their memory."""
        self._recorded = self._bound_training = None
        self._bound_runs = {}

    def _lowered(self):
        program = _place(Program(self._symbol._entries), self._group2ctx)
        if program.open_shapes:
            facts = _infer.infer(self._symbol._entries, self._shapes(), self._dtypes(), default_dtype=torch.float32)
            program = program.with_shapes(facts)
        for call in program.calls:
            if call.node.op.wants_site:
                call.site, program.individual = CallSite(self._context_of(call.node), {}), True
        return program

    # ------------------------------------------------------------------ by name
    @property
    def arg_dict(self) -> dict[str, NDArray]:
        return dict(zip(self._arg_names, self.arg_arrays, strict=True))

    @property
    def grad_dict(self) -> dict[str, NDArray]:
        return dict(zip(self._arg_names, self.grad_arrays, strict=True))

    @property
    def aux_dict(self) -> dict[str, NDArray]:
        return dict(zip(self._aux_names, self.aux_arrays, strict=True))

    @property
    def output_dict(self) -> dict[str, NDArray]:
        return dict(zip(self._symbol.list_outputs(), self.outputs, strict=True))

    @property
    def outputs(self) -> list[NDArray]:
        """The output arrays; zeros before the first `forward`."""
        if self._outputs is None:
            facts = _infer.infer(self._symbol._entries, self._shapes(), self._dtypes(), default_dtype=torch.float32)
            self._outputs = []
            for (node, i) in self._symbol._entries:
                shape = facts.shape((node, i))
                ctx = self._context_of(node)
                tensor = torch.zeros(shape if _infer.complete(shape) else (0,), dtype=facts.dtype((node, i)),
                                     device=ctx.torch_device)
                self._outputs.append(wrap(tensor, ctx, self._kind))
            self._pass_on()
        return self._outputs

    def _shapes(self):
        return {n: a.shape for n, a in (*self.arg_dict.items(), *self.aux_dict.items())}

    def _dtypes(self):
        return {n: a.meta().dtype for n, a in (*self.arg_dict.items(), *self.aux_dict.items())}

    def _context_of(self, node):
        return self._group2ctx.get(node.attrs.get('__ctx_group__'), self._ctx)

    # ------------------------------------------------------------------ running
    def forward(self, is_train: bool = False, **kwargs: Any) -> list[NDArray]:
        """Computes the outputs.  Keyword arguments are arrays that are copied into the arguments of these names."""
        if interceptors and (scope := entering('Executor.forward')) is not None:
            with scope:
                return Executor.forward(self, is_train, **kwargs)
        if kwargs:
            own = self.arg_dict
            for name, value in kwargs.items():
                if name not in own:
                    raise TypeError(f'there is no argument {name}{near(name, self._arg_names)}; there are '
                                    f'{", ".join(self._arg_names)}')
                if not isinstance(value, (NDArrayBase, numpy.ndarray)):
                    raise ValueError(f'{name} must be an NDArray, not {kind_of(value)}')
                if value.shape != own[name].shape:      # type: ignore[union-attr]
                    raise ValueError(f'{name} has shape {value.shape}, but the executor was bound for '      # type: ignore[union-attr]
                                     f'{own[name].shape}; use reshape')
                if value is own[name]:
                    continue
                if isinstance(value, NDArrayBase):
                    value.copyto(own[name])      # type: ignore[attr-defined]
                else:
                    own[name][:] = value
        self._training, self._fed = bool(is_train), ()
        self._fill_ones()
        outputs = self._forward(self._training)
        self._pass_on()
        return outputs

    def _pass_on(self):
        for i, place in self._passed:
            if not self._arrays[place]._sparse:
                self._put(self._outputs[i], self._arrays[place].materialize().detach())

    def _forward(self, training):
        bound = self._bound_runs.get(training)
        if bound is not None and not state.naive:
            tensors = [array.materialize() for array in self._arrays]
            if bound.guard.is_same():
                with torch.no_grad():
                    if bound.folded is not None:
                        outputs = bound.folded.run(self, tensors)
                        if outputs is not None:
                            self._recorded = None
                            return self._give(outputs)
                    if bound.forward is None:
                        return self._give(self._follow(bound, tensors))
                    self._recorded = None
                    self._show(bound.forward, bound.forward.run(tensors), tensors)
                    return self._outputs
        return self._give(self._run(record=self._learns and (training or self._always_draws)))

    def _give(self, results):
        """Puts results into the arrays of the outputs."""
        if self._outputs is None:
            self._outputs = [wrap(r, self._context_of(n), self._kind)
                             for r, (n, _) in zip(results, self._symbol._entries, strict=True)]
        else:
            for array, tensor in zip(self._outputs, results, strict=True):
                self._put(array, tensor)
        return self._outputs

    @staticmethod
    def _put(array, tensor):
        array._rebind(tensor)
        array._variable = None

    def _run(self, record, update_states=True):
        program, arrays = self._program, self._arrays
        wanted = self._wanted() if record else ()
        tensors = [array.materialize().detach() for array in arrays]
        kind = (self._training, wanted, *[t.shape for t in tensors])
        plan = self._find_plan(kind, tensors, wanted)
        if plan is not None:
            with torch.no_grad():
                outputs, values, saved = plan.forward(tensors)
            changed = [*zip(plan.state_numbers, values, plan.state_weights, strict=True)]
            moves = [(tensors[n], value, weight) for n, value, weight in changed if weight is not None]
            states = {n: value for n, value, weight in changed if weight is None}
            self._recorded = (plan, saved, outputs, None, moves) if record else None
            self._note_late_reads()
            if record == (self._training and self._learns) and not any(array._sparse for array in arrays):
                self._bound_runs[self._training] = BoundRun(self, plan, values, record)
        else:
            for place in wanted:
                tensors[place].requires_grad_()
            watch, begin = self._watch(), perf_counter()
            # arguments may be written before backward, which takes them as they are then: torch is not to count writes
            with torch.set_grad_enabled(record), saved_tensors_hooks(torch.Tensor.detach, lambda saved: saved):
                outputs, states = program.run(tensors, training=self._training, generator=self._generator,
                                              device=self._ctx.torch_device, monitor=watch)
            # going back takes about twice as long as going forward
            self._plans.ran(kind, (perf_counter() - begin) * (3 if record else 1))
            # a monitor has gradients computed that the executor does not need; these move no averages
            needed = None if watch is None else {id(tensors[place]) for place in wanted}
            states = sort_moves(states, outputs, lambda: program.ranks(wanted))
            moves = [(tensors[place], move.value, move.weight) for place, value in states.items()
                     if type(value) is list for move in value if needed is None or leads_to(move.node, needed)]
            states = {place: value for place, value in states.items() if type(value) is not list}
            self._recorded = (None, (tensors, wanted, watch), outputs, None, moves) if record else None
        if update_states and self._training:
            for place, value in states.items():
                overwrite(arrays[place], value)
        # an output may be an input, or a view of one: programs write into both.  They may write into outputs that
        # backward needs, which then takes them as they are, as a plan does: torch is not told
        return [o.data for o in owned_apart(outputs, tensors)]

    def _follow(self, bound, tensors):
        """Runs a plan forward; the caller has seen that the tensors are like those it was made for."""
        plan = bound.plan
        outputs, values, saved = plan.forward(tensors)
        moves = []
        if values and self._training:
            if readers:
                before_write(*[tensors[place] for place in plan.state_numbers])
            if all(weight is None for weight in plan.state_weights):
                copy = foreach_copy_ if bound.alike else copy_all
                copy([tensors[place] for place in plan.state_numbers], values)
            else:
                for place, value, weight in zip(plan.state_numbers, values, plan.state_weights, strict=True):
                    if weight is None:
                        tensors[place].copy_(value)
                    else:
                        moves.append((tensors[place], value, weight))
        self._recorded = (plan, saved, outputs, bound, moves) if bound.record else None
        self._note_late_reads()
        return outputs if bound.fresh else [o.detach() for o in owned_apart(outputs, tensors)]

    def _note_late_reads(self):
        """Keeps the versions of what upstream's backward pass reads again and that of a plan does not."""
        self._late = None
        if self._recorded is not None and (places := self._program.late_reads):
            if not any(a._sparse for a in self._arrays):
                places = self._program.late_reads_of([a.materialize() for a in self._arrays])
            self._late = Versions([a.materialize() for n in places if not (a := self._arrays[n])._sparse])

    def _forward_backward(self, feed, update=None):
        """`forward(is_train=True)`, then `backward()`, as one plan where there is one.

        feed: [(number of a variable, array)]; these are read where they are instead of being copied into the arguments,
            which they are like in shape, dtype and device
        update: function that gives what is to follow the plan (`then` of `Runner.run`), or None; it is called only if
            there is a plan.  The result says whether that has been done
        """
        self._fill_ones()
        tensors = [array.materialize() for array in self._arrays]
        step = None if state.naive else self._bound_training
        if step is None or not step.guard.is_same():
            step = self._bound_training = self._find_training(tensors)
        if step is not None:
            plain = step.plain
            for place, array in feed:
                tensors[place] = tensor = array.materialize()
                plain = plain and not tensor.requires_grad
            self._training, self._recorded = True, None
            if plain:
                runner = step.runner
                if readers:
                    before_write(*[b.materialize() for b in step.buffers],
                                 *[tensors[n] for n in runner.plan.state_numbers])
                then = None if update is None else update()
                self._show(runner, runner.run(tensors, [b.materialize() for b in step.buffers], then), tensors)
                self._fed = feed
                return then is not None
        for place, array in feed:
            array.copyto(self._arrays[place])
        self.forward(is_train=True)
        self.backward()
        return False

    def _fill_ones(self):
        program = self._program
        fixed = self._ones_of_learned if self._learns else program.ones_always
        if fixed:
            fill_ones([self._arrays[place] for place in fixed])

    def _wanted(self):
        """The numbers of the variables that have gradients."""
        return tuple(place for place, req in zip(self._program.arguments, self._reqs, strict=True)
                     if req != 'null' and self._arrays[place].meta().dtype.is_floating_point)

    def _find_training(self, tensors):
        """What `_forward_backward` needs; None where, or as long as, there is no plan."""
        if state.naive or self._monitor is not None or self._program.placed or not self._learns \
                or any(array._sparse for array in self._arrays):
            return None
        wanted = self._wanted()
        kind = (True, wanted, *[t.shape for t in tensors])
        found = dict(zip(self._program.arguments, zip(self.grad_arrays, self._reqs, strict=True), strict=True))
        buffers = [found[place][0] for place in wanted]
        if not self._plans.due(kind) or not all(not b._sparse and alike(b.materialize(), tensors[place])
                                                for place, b in zip(wanted, buffers, strict=True)):
            return None
        plan = self._plans.find(tensors, wanted, training=True, generator=self._generator,
                                device=self._ctx.torch_device, heads=tuple(range(len(self._symbol._entries))))
        if plan is None or len(plan.present) != len(wanted):
            return None
        return BoundTraining(plan, self._arrays, tensors, buffers, [found[place][1] for place in wanted],
                             self._generators())

    def _generators(self):
        return [self._generator(self._ctx.torch_device)] if self._program.draws else []

    def _show(self, runner, results, tensors):
        """Puts the results of a plan into the arrays of the outputs."""
        if runner.captured is None:
            self._give(results if runner.fresh else [o.detach() for o in owned_apart(results, tensors)])
            return
        # they lie in the memory of a CUDA graph; a read copies them
        if self._graph_outputs is None or not self._graph_outputs.are_current(self._outputs, results):
            self._give([None] * len(results))
            self._graph_outputs = GraphOutputs([ref(array) for array in self._outputs], results, self._ctx)

    def _find_plan(self, kind, tensors, wanted):
        """The plan for this run; none for the first of its kind."""
        if state.naive or self._monitor is not None or self._program.placed or state.batch_generators is not None \
                or not self._plans.due(kind):
            return None         # (a plan would keep the generator of a loader's batch)
        return self._plans.find(tensors, wanted, training=self._training, generator=self._generator,
                                device=self._ctx.torch_device)

    def _generator(self, device):
        return _random.generator(self._ctx if device == self._ctx.torch_device else _interop.context_on(device))

    def _watch(self):
        if self._monitor is None:
            return None
        callback, everything = self._monitor
        return GradientMonitor(partial(self._show_value, callback), everything)

    def _show_value(self, callback, node, name, value):
        callback(name, wrap(value.detach(), self._context_of(node), NDArray))

    def backward(self, out_grads: Arrays | None = None, is_train: bool = True) -> None:
        """Computes the gradients of the arguments, into `grad_arrays`.

        `out_grads` are the gradients of the outputs; without them 1 is taken, which output layers such as
        SoftmaxOutput do not look at.
        """
        if interceptors and (scope := entering('Executor.backward')) is not None:
            with scope:
                return Executor.backward(self, out_grads, is_train)
        if out_grads is not None and not isinstance(out_grads, (NDArrayBase, list, tuple, dict)):
            raise TypeError(not_an_array('backward: out_grads', out_grads))
        for array, buffer, req in zip(self.arg_arrays, self.grad_arrays, self._reqs, strict=True):
            if req == 'write' and buffer is not None and not array._sparse and not array.meta().dtype.is_floating_point:
                buffer[:] = 0            # integers, such as lengths and indices, have no gradient
        if self._recorded is None:
            for place, array in self._fed:
                array.copyto(self._arrays[place])
            self._fed = ()
            self._run(record=True, update_states=False)
        plan, saved, outputs, bound, moves = self._recorded
        self._recorded = None
        if self._late is not None and plan is not None:
            self._late.check()
        if readers:
            before_write(*[b.materialize() for b in self.grad_arrays if b is not None and not b._sparse])
        if bound is not None and bound.plain:
            heads = bound.ones if out_grads is None else self._head_gradients(out_grads, outputs)
            with torch.no_grad():
                self._follow_back(bound, saved, heads)
            if is_train:
                move_all(moves)
            return
        heads = self._head_gradients(out_grads, outputs)
        if plan is not None:
            wanted = plan.wanted
            with torch.no_grad():
                found = plan.backward(saved, heads) or [None] * len(wanted)
        else:
            tensors, wanted, watch = saved
            found = [None] * len(wanted)
            pairs = [differentiable_head(o, h) for o, h in zip(outputs, heads, strict=True) if o.requires_grad]
            leaves = [tensors[p] for p in wanted] + ([] if watch is None else watch.leaves)
            if pairs and leaves:
                found = gradients_of([o for o, _ in pairs], leaves, [h for _, h in pairs])
                if watch is not None:
                    watch.show_gradients(found[len(wanted):])
        if is_train:                # a pass that has failed moves nothing
            move_all(moves)
        self._store(dict(zip(wanted, found, strict=False)))

    @staticmethod
    def _follow_back(bound, saved, heads):
        """Runs a plan backward, into the gradients' arrays."""
        targets = [array.materialize() for array in bound.buffers]
        found = bound.plan.backward(saved, heads, targets)
        if bound.copied:
            foreach_copy_([targets[i] for i in bound.copied], [found[i] for i in bound.copied])
        for i in bound.zeros:
            targets[i].zero_()

    # ------------------------------------------------------------------ parameters, shapes, monitoring
    def copy_params_from(self, arg_params: Mapping[str, NDArray], aux_params: Mapping[str, NDArray] | None = None,
                         allow_extra_params: bool = False) -> None:
        """Copies arrays into the arguments and auxiliary states of the same names."""
        for params, own, what in ((arg_params, self.arg_dict, 'argument'), (aux_params or {}, self.aux_dict, 'state')):
            for name, value in params.items():
                if name in own:
                    target = own[name]
                    check_parameter(name, value, target.shape)
                    target[:] = value.astype(target.dtype, copy=False)
                elif not allow_extra_params:
                    raise ValueError(f'there is no {what} {name}{near(name, own)}; there are {", ".join(own)}')

    def reshape(self, partial_shaping: bool = False, allow_up_sizing: bool = False, **kwargs: Any) -> Executor:
        """An executor for other shapes of the inputs, which shares all arrays whose shapes stay."""
        facts = _infer.infer(self._symbol._entries, kwargs, self._dtypes(), default_dtype=torch.float32)
        variables, states = self._symbol._variables()
        shapes: dict[str, Any] = {n.name: facts.shape((n, 0)) for n in variables}
        undecided = [n for n, s in shapes.items() if not _infer.complete(s)]
        if undecided:
            raise MXNetError(f'reshape: the shapes of {", ".join(undecided)} do not follow from those given')

        def fit(name, array):
            wanted = shapes[name]
            if array is None or array.shape == wanted:
                return array
            if name not in kwargs and not partial_shaping:
                raise _Reshaped(f'the shape of {name} changes from {array.shape} to {wanted}, although only the '
                                     f'shape of {", ".join(kwargs)} was changed; pass partial_shaping=True to '
                                     'allow it')
            count = 1
            for n in wanted:
                count *= n
            if count > array.size:
                if not allow_up_sizing:
                    raise _Reshaped(f'{name} grows from {array.shape} to {wanted}; pass allow_up_sizing=True to '
                                         'allocate more memory')
                return wrap(torch.zeros(wanted, dtype=array.meta().dtype, device=array.meta().device), array._ctx,
                            NDArray)
            return wrap(array.materialize().detach().view(-1)[:count].view(wanted), array._ctx, NDArray)

        args = [fit(n, a) for n, a in zip(self._arg_names, self.arg_arrays, strict=True)]
        grads = [fit(n, a) for n, a in zip(self._arg_names, self.grad_arrays, strict=True)]
        aux = [fit(n, a) for n, a in zip(self._aux_names, self.aux_arrays, strict=True)]
        executor = Executor(self._symbol, self._ctx, self._reqs, self._group2ctx, args, grads, aux, like=self)
        executor._monitor = self._monitor
        return executor

    def set_monitor_callback(self, callback: Callable[..., Any], monitor_all: bool = False) -> None:
        """Calls `callback(name, array)` for every value computed; with `monitor_all` for the inputs, too."""
        self._monitor = None if callback is None else (callback, monitor_all)
        self._bound_runs, self._bound_training = {}, None

    def get_optimized_symbol(self) -> Symbol:
        """The symbol as it runs: equal computations in it are made once, unless MXNET_ELIMINATE_COMMON_EXPR was 0."""
        return self._symbol if self._as_written else make(type(self._symbol), merged(self._symbol._entries))

    def debug_str(self) -> str:
        """The graph as text, with the memory that its arrays take."""
        return self._symbol.debug_str() + f'Total {self._megabytes()} MB allocated\n' \
            + 'Total 0 TempSpace resource requested\n'

def _place(program, group2ctx):
    """Sets the device of each call to that of its group."""
    if group2ctx:
        for call in program.calls:
            ctx = group2ctx.get(call.node.attrs.get('__ctx_group__'))
            if ctx is not None:
                call.place, program.placed = ctx.torch_device, True
    return program


_explain_methods(Executor, 'copy_params_from reshape set_monitor_callback')
_suggest_names(globals())
