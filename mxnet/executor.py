"""`Executor`: a symbol bound to arrays, ready to run forward and backward."""
import torch

from . import random as _random
from ._array import NDArrayBase, overwrite, wrap
from ._graph import infer as _infer
from ._graph.plan import Plans, copy_all
from ._graph.program import Program
from ._ops.dtypes import torch_dtype
from ._ops.table import CallSite
from .base import MXNetError
from .context import Context
from .ndarray import NDArray
from .ndarray import _interop

__all__ = ['Executor']

_REQS = ('write', 'add', 'null')


class Executor:
    """Runs a bound symbol.

    `arg_arrays`, `grad_arrays` and `aux_arrays` are in the order of the symbol's arguments and auxiliary states;
    `arg_dict`, `grad_dict`, `aux_dict` and `output_dict` find them by name.  `outputs` are the same array objects after
    every `forward`.
    """

    def __init__(self, symbol, ctx, grad_req, group2ctx, args, grads, aux):
        self._symbol = symbol
        self._ctx = ctx
        self._group2ctx = group2ctx or {}
        self.arg_arrays, self.grad_arrays, self.aux_arrays = args, grads, aux
        self._arg_names, self._aux_names = symbol.list_arguments(), symbol.list_auxiliary_states()
        self._program = _place(Program(symbol._entries), self._group2ctx)
        if self._program.open_shapes:
            facts = _infer.infer(symbol._entries, self._shapes(), self._dtypes(), default_dtype=torch.float32)
            self._program = self._program.with_shapes(facts)
        for call in self._program.calls:
            if call.node.op.wants_site:
                call.site = CallSite(self._context_of(call.node), {})
        self._reqs = grad_req
        self._outputs = None
        self._recorded = None         # what backward needs of the last forward, until it has been used
        self._training = False
        self._monitor = None
        self._plans = Plans(self._program)
        self._seen = set()
        self._ones = None

    # ------------------------------------------------------------------ by name
    @property
    def arg_dict(self):
        return dict(zip(self._arg_names, self.arg_arrays, strict=True))

    @property
    def grad_dict(self):
        return dict(zip(self._arg_names, self.grad_arrays, strict=True))

    @property
    def aux_dict(self):
        return dict(zip(self._aux_names, self.aux_arrays, strict=True))

    @property
    def output_dict(self):
        return dict(zip(self._symbol.list_outputs(), self.outputs, strict=True))

    @property
    def outputs(self):
        """The output arrays; zeros before the first `forward`."""
        if self._outputs is None:
            facts = _infer.infer(self._symbol._entries, self._shapes(), self._dtypes(), default_dtype=torch.float32)
            self._outputs = []
            for (node, i) in self._symbol._entries:
                shape = facts.shape((node, i))
                ctx = self._context_of(node)
                tensor = torch.zeros(shape if _infer.complete(shape) else (0,), dtype=facts.dtype((node, i)),
                                     device=ctx.torch_device)
                self._outputs.append(wrap(tensor, ctx, NDArray))
        return self._outputs

    def _shapes(self):
        return {n: a.shape for n, a in (*self.arg_dict.items(), *self.aux_dict.items())}

    def _dtypes(self):
        return {n: a._tensor.dtype for n, a in (*self.arg_dict.items(), *self.aux_dict.items())}

    def _context_of(self, node):
        return self._group2ctx.get(node.attrs.get('__ctx_group__'), self._ctx)

    # ------------------------------------------------------------------ running
    def forward(self, is_train=False, **kwargs):
        """Computes the outputs.  Keyword arguments are arrays that are copied into the arguments of these names."""
        if kwargs:
            own = self.arg_dict
            for name, value in kwargs.items():
                if name not in own:
                    raise TypeError(f'there is no argument {name}; there are {", ".join(self._arg_names)}')
                if not isinstance(value, NDArrayBase):
                    raise ValueError(f'{name} must be an NDArray, not a {type(value).__name__}')
                if value.shape != own[name].shape:
                    raise ValueError(f'{name} has shape {value.shape}, but the executor was bound for '
                                     f'{own[name].shape}; use reshape')
                value.copyto(own[name])
        self._training = bool(is_train)
        results = self._run(record=self._training and self._any_gradient())
        if self._outputs is None:
            self._outputs = [wrap(r, self._context_of(n), NDArray)
                             for r, (n, _) in zip(results, self._symbol._entries, strict=True)]
        else:
            for array, tensor in zip(self._outputs, results, strict=True):
                array._tensor, array._variable = tensor, None
        return self._outputs

    def _any_gradient(self):
        return any(r != 'null' for r in self._reqs)

    def _run(self, record, update_states=True):
        program = self._program
        wanted = tuple(place for place, array, req in zip(program.arguments, self.arg_arrays, self._reqs, strict=True)
                       if record and req != 'null' and array._tensor.is_floating_point())
        tensors = [None] * len(program.variables)
        for place, array in zip(program.arguments, self.arg_arrays, strict=True):
            tensors[place] = array._tensor.detach()
        for place, array in zip(program.states, self.aux_arrays, strict=True):
            tensors[place] = array._tensor.detach()
        plan = self._find_plan(tensors, wanted)
        if plan is not None:
            with torch.no_grad():
                outputs, values, saved = plan.forward(tensors)
            states = dict(zip(plan.state_numbers, values, strict=True))
            self._recorded = (plan, saved, outputs) if record else None
        else:
            for place in wanted:
                tensors[place].requires_grad_()
            with torch.set_grad_enabled(record):
                outputs, states = program.run(tensors, training=self._training, generator=self._generator,
                                              device=self._ctx.torch_device, monitor=self._watch())
            self._recorded = (None, (tensors, wanted), outputs) if record else None
        if update_states and self._training and states:
            arrays = dict(zip((*program.states, *program.arguments), (*self.aux_arrays, *self.arg_arrays), strict=True))
            for place, value in states.items():
                arrays[place]._tensor.detach().copy_(value.detach())
        # an output may be an input, or a view of one: programs write into both
        return [self._owned(o, tensors) for o in outputs]

    def _find_plan(self, tensors, wanted):
        """The plan for this run.  The first run goes without: many executors run only once."""
        if self._monitor is not None or self._program.placed:
            return None
        kind = (self._training, wanted)
        if kind not in self._seen:
            self._seen.add(kind)
            return None
        return self._plans.find(tensors, wanted, training=self._training, generator=self._generator,
                                device=self._ctx.torch_device)

    @staticmethod
    def _owned(tensor, inputs):
        from .ndarray._invoke import owned
        return owned(tensor, inputs).detach()

    def _generator(self, device):
        return _random.generator(self._ctx if device == self._ctx.torch_device else _interop.context_on(device))

    def _watch(self):
        if self._monitor is None:
            return None
        callback, everything = self._monitor
        if everything:
            for name, array in (*self.arg_dict.items(), *self.aux_dict.items()):
                callback(name, array)
        return _Watch(self, callback, everything)

    def backward(self, out_grads=None, is_train=True):
        """Computes the gradients of the arguments, into `grad_arrays`.

        `out_grads` are the gradients of the outputs; without them 1 is taken, which output layers such as
        SoftmaxOutput do not look at.
        """
        if self._recorded is None:
            self._run(record=True, update_states=False)
        plan, saved, outputs = self._recorded
        self._recorded = None
        heads = self._head_gradients(out_grads, outputs)
        if plan is not None:
            wanted = plan.wanted
            with torch.no_grad():
                found = plan.backward(saved, heads) or [None] * len(wanted)
        else:
            tensors, wanted = saved
            pairs = [(o, h) for o, h in zip(outputs, heads, strict=True) if o.requires_grad]
            found = torch.autograd.grad([o for o, _ in pairs], [tensors[p] for p in wanted], [h for _, h in pairs],
                                        allow_unused=True) if pairs and wanted else [None] * len(wanted)
        self._store(dict(zip(wanted, found, strict=True)))

    def _head_gradients(self, out_grads, outputs):
        """A gradient for every output: the given one, else ones."""
        if isinstance(out_grads, NDArrayBase):
            out_grads = [out_grads]
        elif isinstance(out_grads, dict):
            out_grads = [out_grads[n] for n in self._symbol.list_outputs()]
        if out_grads is None:
            key = [(o.shape, o.dtype, o.device) for o in outputs]
            if self._ones is None or self._ones[0] != key:
                self._ones = key, [torch.ones_like(o, requires_grad=False) for o in outputs]
            return self._ones[1]
        if len(out_grads) < len(outputs):
            raise MXNetError(f'backward: {len(out_grads)} gradients given for {len(outputs)} outputs')
        heads = []
        for i, (given, output) in enumerate(zip(out_grads, outputs, strict=False)):
            if given is None:
                heads.append(torch.ones_like(output, requires_grad=False))
                continue
            if given.shape != tuple(output.shape):
                raise MXNetError(f'backward: the gradient of output {i} has shape {given.shape}, '
                                 f'the output {tuple(output.shape)}')
            heads.append(given._tensor.detach().to(output.device, output.dtype))
        return heads

    def _store(self, found):
        """Writes or adds gradients, by number of the variable, to their buffers."""
        targets, values = [], []
        for i, place in enumerate(self._program.arguments):
            buffer, req = self.grad_arrays[i], self._reqs[i]
            if buffer is None or req == 'null' or place not in found:
                continue
            gradient = found[place]
            if buffer._sparse:
                before = buffer._tensor if req == 'add' else torch.zeros_like(buffer._tensor)
                overwrite(buffer, before if gradient is None else before + gradient)
                continue
            target = buffer._tensor.detach()
            if req == 'add':
                if gradient is not None:
                    target.add_(gradient)
            elif gradient is None:
                target.zero_()
            else:
                targets.append(target)
                values.append(gradient)
        with torch.no_grad():
            copy_all(targets, values)

    # ------------------------------------------------------------------ parameters, shapes, monitoring
    def copy_params_from(self, arg_params, aux_params=None, allow_extra_params=False):
        """Copies arrays into the arguments and auxiliary states of the same names."""
        for params, own, what in ((arg_params, self.arg_dict, 'argument'), (aux_params or {}, self.aux_dict, 'state')):
            for name, value in params.items():
                if name in own:
                    target = own[name]
                    if value.shape != target.shape:
                        raise ValueError(f'{name} has shape {value.shape}, the executor expects {target.shape}')
                    target[:] = value.astype(target.dtype, copy=False)
                elif not allow_extra_params:
                    raise ValueError(f'there is no {what} {name}; there are {", ".join(own)}')

    def reshape(self, partial_shaping=False, allow_up_sizing=False, **kwargs):
        """An executor for other shapes of the inputs, which shares all arrays whose shapes stay."""
        facts = _infer.infer(self._symbol._entries, kwargs, self._dtypes(), default_dtype=torch.float32)
        variables, states = self._symbol._variables()
        shapes = {n.name: facts.shape((n, 0)) for n in variables}
        undecided = [n for n, s in shapes.items() if not _infer.complete(s)]
        if undecided:
            raise MXNetError(f'reshape: the shapes of {", ".join(undecided)} do not follow from those given')

        def fit(name, array):
            wanted = shapes[name]
            if array is None or array.shape == wanted:
                return array
            if name not in kwargs and not partial_shaping:
                raise AssertionError(f'the shape of {name} changes from {array.shape} to {wanted}, although only that of '
                                     f'{", ".join(kwargs)} was asked for; pass partial_shaping=True if that is meant')
            count = 1
            for n in wanted:
                count *= n
            if count > array.size:
                if not allow_up_sizing:
                    raise AssertionError(f'{name} grows from {array.shape} to {wanted}; pass allow_up_sizing=True to '
                                         'allocate more memory')
                return wrap(torch.zeros(wanted, dtype=array._tensor.dtype, device=array._tensor.device), array._ctx,
                            NDArray)
            return wrap(array._tensor.detach().view(-1)[:count].view(wanted), array._ctx, NDArray)

        args = [fit(n, a) for n, a in zip(self._arg_names, self.arg_arrays, strict=True)]
        grads = [fit(n, a) for n, a in zip(self._arg_names, self.grad_arrays, strict=True)]
        aux = [fit(n, a) for n, a in zip(self._aux_names, self.aux_arrays, strict=True)]
        return Executor(self._symbol, self._ctx, self._reqs, self._group2ctx, args, grads, aux)

    def set_monitor_callback(self, callback, monitor_all=False):
        """Calls `callback(name, array)` for every value computed; with `monitor_all` for the inputs, too."""
        self._monitor = None if callback is None else (callback, monitor_all)

    def get_optimized_symbol(self):
        """The symbol as it runs."""
        return self._symbol

    def debug_str(self):
        """The graph as text, with the memory that its arrays take."""
        return self._symbol.debug_str() + f'Total {self._megabytes()} MB allocated\n'

    def _megabytes(self):
        facts = _infer.infer(self._symbol._entries, self._shapes(), self._dtypes(), default_dtype=torch.float32)

        def size(key):
            shape, dtype = facts.shapes.get(key), facts.dtypes.get(key)
            return 0 if not _infer.complete(shape) else torch.empty(shape, dtype=dtype, device='meta').nbytes

        recorded = self._any_gradient() and self._needs_history()
        alive = peak = 0
        for call in self._program.calls:
            alive += sum(size((id(call.node), i)) for i in range(call.count))
            peak = max(peak, alive)
            if not recorded:
                alive -= sum(self._value_size(v, size) for v in call.dead)
        return peak // 2 ** 20

    def _value_size(self, value, size):
        for call in self._program.calls:
            if call.first <= value < call.first + call.count:
                return size((id(call.node), value - call.first))
        return 0

    def _needs_history(self):
        return any(n.op is None or n.op.name not in ('BlockGrad',) for n, _ in self._symbol._entries)


class _Watch:
    """Shows a monitor's callback what nodes give and take, and the gradients on their way back."""

    def __init__(self, executor, callback, everything):
        self._executor, self._callback, self._everything = executor, callback, everything

    def _show(self, node, what, tensor):
        self._callback(what, wrap(tensor.detach(), self._executor._context_of(node), NDArray))

    def output(self, node, number, tensor):
        self._show(node, node.entry_name(number), tensor)

    def inputs(self, node, tensors):
        names = node.input_names() if node.op.variadic is not None else node.op.inputs
        shown = list(tensors)
        for i, tensor in enumerate(tensors):
            if tensor is None:
                continue
            if self._everything:
                self._show(node, f'{node.name}_{names[i]}', tensor)
            if tensor.requires_grad and torch.is_grad_enabled():
                # an alias, so that its gradient is what this node sends back and not what all users of the tensor do
                shown[i] = tensor.view_as(tensor)
                shown[i].register_hook(self._gradient(node, i if len(tensors) > 1 else ''))
        return shown

    def _gradient(self, node, which):
        def hook(gradient):
            if gradient is not None:        # torch's word for a gradient that is 0 throughout
                self._show(node, f'{node.name}_backward_output{which}', gradient)
        return hook


# ---------------------------------------------------------------------- binding
def _place(program, group2ctx):
    """Notes on each call the device of its group."""
    if group2ctx:
        for call in program.calls:
            ctx = group2ctx.get(call.node.attrs.get('__ctx_group__'))
            if ctx is not None:
                call.place, program.placed = ctx.torch_device, True
    return program


def _requirements(grad_req, names):
    """grad_req in any of its forms, as a list."""
    if isinstance(grad_req, str):
        reqs = [grad_req] * len(names)
    elif isinstance(grad_req, (list, tuple)):
        reqs = list(grad_req)
        if len(reqs) != len(names):
            raise MXNetError(f'{len(reqs)} grad_reqs given for {len(names)} arguments')
    elif isinstance(grad_req, dict):
        reqs = [grad_req.get(n, 'null') for n in names]
    else:
        raise TypeError(f'grad_req must be a string, a list or a dict, not a {type(grad_req).__name__}')
    for req in reqs:
        if req not in _REQS:
            raise MXNetError(f"grad_req must be 'write', 'add' or 'null', not {req!r}")
    return reqs


def _arrays(given, names, what, allow_missing=False):
    """Arrays given as a list or a dict, in the order of the names."""
    if isinstance(given, (list, tuple)):
        if len(given) != len(names):
            raise ValueError(f'{len(given)} {what} given, {len(names)} expected: {", ".join(names)}')
        arrays = list(given)
    elif isinstance(given, dict):
        missing = [n for n in names if n not in given]
        if missing and not allow_missing:
            raise ValueError(f'{what}: {", ".join(missing)} missing')
        arrays = [given.get(n) for n in names]
    else:
        raise TypeError(f'{what} must be a list or a dict of arrays, not a {type(given).__name__}')
    for name, array in zip(names, arrays, strict=True):
        if not isinstance(array, NDArrayBase) and not (allow_missing and array is None):
            raise TypeError(f'{what}: {name} must be an array, not a {type(array).__name__}')
    return arrays


def bind(symbol, ctx, args, args_grad, grad_req, aux_states, group2ctx):
    """`Symbol.bind`."""
    if not isinstance(ctx, Context):
        raise TypeError(f'the context must be a Context, not a {type(ctx).__name__}')
    names, states = symbol.list_arguments(), symbol.list_auxiliary_states()
    arrays = _arrays(args, names, 'args')
    aux = _arrays(aux_states if aux_states is not None else [], states, 'aux_states')
    reqs = _requirements(grad_req, names)
    if args_grad is None:
        grads, reqs = [None] * len(names), ['null'] * len(names)
    else:
        grads = _arrays(args_grad, names, 'args_grad', allow_missing=True)
        reqs = ['null' if g is None else r for g, r in zip(grads, reqs, strict=True)]
    return Executor(symbol, ctx, reqs, group2ctx, arrays, grads, aux)


def simple_bind(symbol, ctx, grad_req, type_dict, group2ctx, shared_arg_names, shared_exec, shared_buffer, shapes):
    """`Symbol.simple_bind`."""
    names = symbol.list_arguments()
    unknown = [n for n in shapes if n not in names and n not in symbol.list_auxiliary_states()]
    facts = _infer.infer(symbol._entries, {n: s for n, s in shapes.items() if n not in unknown},
                         {n: torch_dtype(d) for n, d in (type_dict or {}).items()}, default_dtype=torch.float32)
    variables, auxiliary = symbol._variables()
    undecided = [f'{n.name}: {facts.shape((n, 0)) or ()}' for n in variables if not _infer.complete(facts.shape((n, 0)))]
    if undecided:
        raise MXNetError('simple_bind: these shapes do not follow from those given: ' + ', '.join(undecided))
    group2ctx = group2ctx or {}
    reqs = _requirements(grad_req, names)
    shared = shared_exec.arg_dict if shared_exec is not None else {}
    shared_grads = shared_exec.grad_dict if shared_exec is not None else {}
    shared_states = shared_exec.aux_dict if shared_exec is not None else {}
    where = _contexts(symbol, ctx, group2ctx)

    def new(node):
        place = where.get(id(node), ctx)
        shape, dtype = facts.shape((node, 0)), facts.dtype((node, 0))
        return wrap(torch.zeros(shape, dtype=dtype, device=place.torch_device), place, NDArray)

    def fits(array, node):
        return array is not None and array.shape == facts.shape((node, 0)) \
            and array._tensor.dtype is facts.dtype((node, 0))

    def argument(node):
        sharable = shared_arg_names is None or node.name in shared_arg_names
        if sharable and fits(shared.get(node.name), node):
            return shared[node.name]
        if shared_buffer is not None:
            if not fits(shared_buffer.get(node.name), node):
                shared_buffer[node.name] = new(node)
            return shared_buffer[node.name]
        return new(node)

    arguments = [n for n in variables if id(n) not in auxiliary]
    args = [argument(n) for n in arguments]
    grads = [None if r == 'null' else shared_grads[n.name] if fits(shared_grads.get(n.name), n) else new(n)
             for n, r in zip(arguments, reqs, strict=True)]
    aux = [shared_states[n.name] if fits(shared_states.get(n.name), n) else new(n)
           for n in variables if id(n) in auxiliary]
    return Executor(symbol, ctx, reqs, group2ctx, args, grads, aux)


def _contexts(symbol, ctx, group2ctx):
    """Where each variable's array goes: its own group's context, else that of the first node that takes it."""
    if not group2ctx:
        return {}
    from ._graph.node import topological
    found = {}
    for node in topological(symbol._entries):
        own = group2ctx.get(node.attrs.get('__ctx_group__'))
        if node.is_variable:
            if own is not None:
                found[id(node)] = own
        elif own is not None:
            for child, _ in node.inputs:
                if child.is_variable:
                    found.setdefault(id(child), own)
    return found
