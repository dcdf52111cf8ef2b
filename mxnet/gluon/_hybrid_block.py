"""`HybridBlock`: a block that can also be a graph."""
from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import ndarray, symbol
from .._deferred_compute import tracing, untraced
from .._dispatch import interceptors
from .._files import paths
from .._guard import Guard
from .._kinds import explain_methods as _explain_methods
from .._lazy.bound_calls import BoundCall, BoundPrediction
from .._state import state
from .._typing import any_signature
from ..base import MXNetError
from ..context import _CPU
from ..ndarray import NDArray
from ..symbol import Symbol
from ..util import is_np_array
from . import _structure as nested
from ._backend import optimized
from ._call_errors import not_a_child
from ._parameter_files import save_arrays
from ._traces import Trace, Traces, fill_fixed, kind_of
from .block import Block
from .parameter import DeferredInitializationError, Parameter

if TYPE_CHECKING:
    from .._typing import DType, Path
    from ..gluon._namespaces import Operators
    from ..gluon.parameter import ParameterDict

__all__ = ['HybridBlock']

_building = threading.RLock()     # a graph is made by one thread, and once


def _are_arrays(values):
    """Whether all of them are arrays or None."""
    for value in values:
        if not isinstance(value, NDArray) and value is not None:
            return False
    return True


class HybridBlock(Block):
    """A block whose computation can also be described as a graph.  After `hybridize()`, it runs as one.

    It defines one of two methods:

    - `hybrid_forward(self, F, x, *args, **params)`, where F is `mx.nd` or `mx.sym` (in np mode, `F.np` and `F.npx` have
      the functions) and `params` are its parameters by attribute name;
    - `forward(self, x, *args)`, written on arrays like that of a Block, with `self.weight.data()` for parameters.  The
      graph is what it does with arrays without values; one that looks at values runs operator by operator.

    >>> class Net(mx.gluon.HybridBlock):
    ...     def __init__(self, **kwargs):
    ...         super().__init__(**kwargs)
    ...         self.dense = mx.gluon.nn.Dense(2)
    ...     def forward(self, x):
    ...         return mx.nd.relu(self.dense(x)) * x.shape[0]
    >>> net = Net()
    >>> net.initialize()
    >>> net.hybridize()
    >>> net(mx.nd.ones((3, 5))).shape
    (3, 2)
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._traced = not getattr(cls.forward, 'takes_symbols', False)

    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        super().__init__(prefix=prefix, params=params)
        self._cached_graph: Any = ()
        self._cached_op: Any = None
        self._cached_op_args: list[Any] = []
        self._in_format: Any = None            # how inputs and outputs are nested, once there is a graph
        self._out_format: Any = None
        self._plain_inputs = -1                # so many arrays in and one out, nothing nested; else -1
        self._bound_arguments: Any = None      # context, Guard, parameters, arguments of the CachedOp, its inputs
        self._active = False
        self._flags: list[Any] = []
        self._backend_opts: Any
        self._backend: Any
        self._backend, self._backend_opts = None, {}
        self._callback: Any
        self._monitor_all: Any
        self._callback, self._monitor_all = None, False

        self._traces: Any = None               # Traces; False where `hybrid_forward` makes the graph; None: not known

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if isinstance(value, HybridBlock):
            self._clear_cached_op()

    def register_child(self, block: Block, name: str | None = None) -> None:
        if not isinstance(block, HybridBlock):
            raise ValueError(not_a_child(self, block, name))
        super().register_child(block, name)
        self._clear_cached_op()

    def _clear_cached_op(self):
        self._cached_graph = ()
        self._cached_op = None
        self._cached_op_args = []
        self._traces = self._bound_call = self._bound_prediction = None

    def __getstate__(self) -> Any:
        # caches belong to the arrays of this block, or to threads: copies have none
        return {**self.__dict__, '_cached_op': None, '_bound_arguments': None, '_traces': None, '_bound_call': None,
                '_bound_prediction': None}

    def cast(self, dtype: DType) -> None:
        self._clear_cached_op()
        super().cast(dtype)

    def hybridize(self, active: bool = True, backend: str | None = None, clear: bool = True, static_alloc: bool = False,
                  static_shape: bool = False, inline_limit: int = 2, forward_bulk_size: Any = None,
                  backward_bulk_size: Any = None, **kwargs: Any) -> None:
        """Runs the block as one graph from now on.

        `static_alloc` and `static_shape` together promise that inputs keep their shapes and parameters their memory: on
        a GPU, training steps and predictions then become CUDA graphs, and predictions anywhere fold normalisation into
        the weights before it.  Without them, CUDA graphs are made later, and of small networks only.

        `backend` names a function that rewrites the graph first (`mx.library`); 'inductor' compiles it with torch's
        compiler, which takes long once.  The bulk sizes mean nothing here.
        """
        if kwargs:
            self._backend_opts = kwargs
        self._backend = backend
        self._active = active
        self._bound_call = self._bound_prediction = None
        self._flags = [('static_alloc', static_alloc), ('static_shape', static_shape), ('inline_limit', inline_limit)]
        if clear:
            self._clear_cached_op()
        if active and (self._forward_hooks or self._forward_pre_hooks):
            warnings.warn(f'{self.name} is hybridized while it has hooks; inside a hybridized block they do not run',
                          stacklevel=2)
        super().hybridize(active, static_alloc=static_alloc, static_shape=static_shape, inline_limit=inline_limit,
                          forward_bulk_size=forward_bulk_size, backward_bulk_size=backward_bulk_size)

    def register_op_hook(self, callback: Callable[..., Any], monitor_all: bool = False) -> None:
        self._callback, self._monitor_all = callback, monitor_all
        self._traces = self._traces and None         # traces are made once more, with the hook
        if self._cached_op is not None:
            self._cached_op._register_op_hook(callback, monitor_all)
        for child in self._children.values():
            child._callback, child._monitor_all = callback, monitor_all

    # ------------------------------------------------------------------ the graph
    def _needs_arrays(self):
        """Whether this block, or one in it, is written on arrays, so that the graph is traced."""
        return self._traced or any(isinstance(c, HybridBlock) and c._needs_arrays() for c in self._children.values())

    def _graphs(self):
        """The traces of the block; False where `hybrid_forward` on symbols makes its graph."""
        if self._traces is None:
            self._traces = Traces(self) if not self._cached_graph and self._needs_arrays() else False
        return self._traces

    def _get_graph(self, *args):
        """(input symbols, output symbol) of the block, made on first use."""
        if not self._cached_graph:
            flat, self._in_format = nested.flatten(args, 'an input')
            count = sum(x is not None for x in flat)
            inputs = [symbol.var(f'data{i}' if count > 1 else 'data') for i in range(count)]
            arrays = [x for x in flat if x is not None]
            if is_np_array() or arrays and all(x._dense is not NDArray for x in arrays):
                inputs = [s.as_np_ndarray() for s in inputs]
            given = iter(inputs)
            grouped = nested.regroup([None if x is None else next(given) for x in flat], self._in_format)
            with self.name_scope():
                out = self._forward_symbol(*grouped)
            if is_np_array():
                nested.check_outputs(self, out)
            if out is None:
                raise TypeError(f'{self.name} ({type(self).__name__}): hybrid_forward returned None; '
                                'a return statement may be missing')
            flat_out, self._out_format = nested.flatten(out, 'an output')
            self._cached_graph = inputs, symbol.Group(flat_out, type(flat_out[0]))
        return self._cached_graph

    def _forward_symbol(self, *args):
        params = {name: param.var() for name, param in self._reg_params.items()}
        with self.name_scope():
            return self.hybrid_forward(symbol, *args, **params)

    def _infer(self, what, *args):
        if self._graphs():
            self._infer_by_arrays(*args)
            return
        inputs, out = self._get_graph(*args)
        flat = [x for x in nested.flatten(args, 'an input')[0] if x is not None]
        known = {s.name: getattr(x, what) for s, x in zip(inputs, flat, strict=True)}
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter('always')
            found, _, states = getattr(out, f'infer_{"type" if what == "dtype" else what}')(**known)
        if found is None:
            raise ValueError(str(said[0].message) if said else f'{what} cannot be inferred')
        values = dict(zip(out.list_arguments(), found, strict=True)) | \
            dict(zip(out.list_auxiliary_states(), states, strict=True))
        for param in self.collect_params().values():
            if param.name in values:
                setattr(param, what, values[param.name])

    def _infer_by_arrays(self, *args):
        """Traces the block for what its operators tell of its parameters."""
        arrays: list[Any] = []
        kind_of(args, arrays)
        Trace(self, args, arrays)

    def infer_shape(self, *args: Any) -> None:
        """Finds the parameters' shapes from those of the inputs."""
        self._infer('shape', *args)

    def infer_type(self, *args: Any) -> None:
        """Finds the parameters' dtypes from those of the inputs."""
        self._infer('dtype', *args)

    def _deferred_infer_shape(self, *args):
        try:
            self.infer_shape(*args)
        except Exception as error:
            raise ValueError(f'the shapes of the parameters of {self.name} cannot be found from the inputs: '
                             f'{error}') from error

    def _build_cache(self, *args):
        inputs, out = self._get_graph(*args)
        numbers = {s.name: i for i, s in enumerate(inputs)}
        names = out.list_inputs()
        params = {p.name: p for p in self.collect_params().values()}
        unknown = [n for n in names if n not in numbers and n not in params]
        if unknown:
            raise MXNetError(f'{self.name} uses {", ".join(unknown)}, which is neither an input nor a parameter of it')
        for what, unused in (('input', [n for n in numbers if n not in names]),
                             ('parameter', [n for n in params if n not in names])):
            if unused:
                warnings.warn(f'{what} {", ".join(unused)} of {self.name} is not used by its computation', stacklevel=4)
        try:
            for name in names:
                if name in params:
                    params[name].list_data()
        except DeferredInitializationError:
            self._deferred_infer_shape(*args)
            for name in names:
                if name in params:
                    params[name]._finish_deferred_init()
        if self._backend:
            out = optimized(self, out, params)
            self._cached_graph = inputs, out
            names = out.list_inputs()
        self._cached_op_args = [(True, numbers[n]) if n in numbers else (False, params[n]) for n in names]
        op = ndarray.CachedOp(out, self._flags)
        op.program.inductor = self._backend == 'inductor'
        op.parameters = tuple(i for i, (is_input, _) in enumerate(self._cached_op_args) if not is_input)
        plain = self._out_format == nested.LEAF and self._in_format == [nested.LEAF] * len(self._in_format)
        self._plain_inputs, self._bound_arguments = len(self._in_format) if plain else -1, None
        if self._callback:
            op._register_op_hook(self._callback, self._monitor_all)
        self._cached_op = op                # last: other threads run it as soon as it is there

    def _call_cached_op(self, *args):
        if self._cached_op is None:
            if self._graphs():
                return self._traces(*args) if self._traces.failure is None else self._forward_plainly(*args)
            with _building:
                if self._cached_op is None:
                    self._build_cache(*args)
        row = self._op_arguments(args)
        if row is not None:
            return self._run_cached_op(row, args)
        flat, form = nested.flatten(args, 'an input')
        if form != self._in_format and not nested.same_format(form, self._in_format):
            raise ValueError(f'{self.name} was hybridized for inputs nested like {self._in_format}, '
                             f'but is called with {form}')
        given = [x for x in flat if x is not None]
        ctx = given[0]._ctx
        row = [given[what] if is_input else what.data(ctx) for is_input, what in self._cached_op_args]
        fill_fixed(self._cached_op, row)
        out = self._cached_op(*row, default_ctx=ctx)
        return nested.regroup(out if isinstance(out, list) else [out], self._out_format)

    def _op_arguments(self, args):
        """The arguments of the graph's CachedOp, inputs and parameters; None unless the inputs are plain arrays."""
        if len(args) != self._plain_inputs:
            return None
        first = args[0]
        if not isinstance(first, NDArray):
            return None
        ctx = first._ctx
        for x in args:
            if not isinstance(x, NDArray) or x._ctx is not ctx:
                return None
        known = self._bound_arguments
        if known is None or known[0] is not ctx or not known[1].holds():
            params = [what for is_input, what in self._cached_op_args if not is_input]
            row = [what if is_input else what.data(ctx) for is_input, what in self._cached_op_args]
            inputs = [(i, what) for i, (is_input, what) in enumerate(self._cached_op_args) if is_input]
            known = ctx, Guard(params), params, row, inputs
            # others give another array each time, such as one with dropout
            self._bound_arguments = known if all(type(p).data is Parameter.data for p in params) else None
        row = known[3].copy()
        for i, number in known[4]:
            row[i] = args[number]
        return row

    def _run_cached_op(self, row, args):
        fill_fixed(self._cached_op, row)
        out = self._cached_op(*row) if row else self._cached_op(default_ctx=args[0]._ctx)
        known = self._bound_arguments
        if not self._traced and known is not None:
            self._bind_call(self._cached_op, known[2], known[4], args, out)
        return out

    def _bind_call(self, cached, params, inputs, args, out):
        """The next call may be like this one, whose CachedOp's results are all that the block gives."""
        if self._forward_hooks or self._forward_pre_hooks or state.naive:
            return
        if cached.program.ones_always and not state.recording:
            return              # they are filled by the call
        if state.recording:
            self._bound_call = BoundCall.of(cached, params, inputs, args, out)
        elif cached.predictions.last is not None:
            self._bound_prediction = BoundPrediction.of(cached, params, inputs, args, out)

    def optimize_for(self, x: Any, *args: Any, backend: str | None = None, clear: bool = False,
                     static_alloc: bool = False, static_shape: bool = False, inline_limit: int = 2,
                     forward_bulk_size: Any = None, backward_bulk_size: Any = None, **kwargs: Any) -> None:
        """Hybridizes for a backend and builds the graph at once."""
        if not backend:
            raise ValueError('optimize_for needs a backend')
        self.hybridize(True, backend, clear, static_alloc, static_shape, inline_limit, forward_bulk_size,
                       backward_bulk_size, **kwargs)
        if not any(True for _ in nested.leaves((x, *args))):
            raise ValueError('optimize_for needs at least one array or symbol as input')
        if self._graphs():
            self._traces(x, *args)
        else:
            self._build_cache(x, *args)

    def export(self, path: Path, epoch: int = 0, remove_amp_cast: bool = True) -> None:
        """Writes `path-symbol.json` and `path-0000.params`, for `SymbolBlock.imports` or `Module`."""
        if self._graphs():
            out, stored = self._traces.for_export()
        elif self._cached_graph:
            out = self._cached_graph[1]
            stored = {param.name: param for is_input, param in self._cached_op_args if not is_input}
        else:
            raise RuntimeError('export needs a graph: call hybridize() and run the block once first')
        arguments, states = set(out.list_arguments()), set(out.list_auxiliary_states())
        arrays = {}
        for name, param in stored.items():
            kind = 'arg' if name in arguments else 'aux' if name in states else None
            if kind is None:
                warnings.warn(f'parameter {name} is not in the graph', stacklevel=3)
            else:
                arrays[f'{kind}:{name}'] = param if isinstance(param, NDArray) else param._reduce()
        with paths.together(path):
            out.save(f'{path}-symbol.json', remove_amp_cast=remove_amp_cast)
            save_arrays(f'{path}-{epoch:04d}.params', arrays)

    # ------------------------------------------------------------------ running
    @nested.takes_symbols
    @any_signature
    def forward(self, x: Any, *args: Any) -> Any:
        """Calls `hybrid_forward`, or the graph once hybridized."""
        if self._cached_op is not None and self._active and not (interceptors and tracing()):
            row = self._op_arguments((x, *args))
            if row is not None:
                return self._run_cached_op(row, (x, *args))
        if isinstance(x, NDArray) and (not args or not self._active and _are_arrays(args)):
            ctx = x._ctx
        else:
            ctx = self._context_of_inputs((x, *args))
            if ctx is None:
                return self._forward_symbol(x, *args)
        if ctx is not (state.context or _CPU):
            with ctx:
                return HybridBlock.forward(self, x, *args)
        if self._active:
            if interceptors and tracing():
                with self.name_scope():
                    return self._forward_arrays(ctx, x, *args)
            if not self._traced:            # else a `forward` of the block's own has called this one
                return self._call_cached_op(x, *args)
        if interceptors:
            return self._forward_arrays(ctx, x, *args)
        try:
            params = {name: param.data(ctx) for name, param in self._reg_params.items()} if self._reg_params else {}
        except DeferredInitializationError:
            return self._forward_arrays(ctx, x, *args)
        return self.hybrid_forward(ndarray, x, *args, **params)

    def _forward_arrays(self, ctx, *args):
        """`hybrid_forward` on arrays."""
        try:
            if interceptors and tracing() and not self._graphs() \
                    and any(p._deferred is not None for p in self._reg_params.values()):
                raise DeferredInitializationError           # its own graph tells more than one operator after the other
            own = self._reg_params
            params = {name: param.data(ctx) for name, param in own.items()} if own else {}
        except DeferredInitializationError:
            with untraced():
                self._deferred_infer_shape(*args)
                for param in self.params.values():
                    param._finish_deferred_init()
            params = {name: param.data(ctx) for name, param in self._reg_params.items()}
        return self.hybrid_forward(ndarray, *args, **params)

    def _by_arrays(self, *args):
        """A call of a block whose `forward` is written on arrays."""
        if interceptors and tracing():
            with self.name_scope():
                return self.forward(*args)
        if self._active and not any(isinstance(v, Symbol) for v in nested.leaves(args)):
            traces = self._graphs()
            if traces.failure is None:
                out = traces(*args)
                if traces.failure is None and traces.last[0].inputs_only:
                    trace = traces.last[0]
                    self._bind_call(trace.op, trace.params, trace.numbers, args, out)
                return out
        return self._forward_plainly(*args)

    def _forward_traced(self, *args):
        """What a trace runs."""
        return self.forward(*args) if self._traced else self._forward_arrays(self._context_of_inputs(args), *args)

    def _forward_plainly(self, *args):
        """`forward` as it is written, operator by operator."""
        if not self._traced:
            return self._forward_arrays(self._context_of_inputs(args), *args)
        try:
            return self.forward(*args)
        except DeferredInitializationError:
            waiting = [p for p in self.params.values() if p._deferred is not None]
            if not waiting:
                raise
            self._deferred_infer_shape(*args)
            for param in waiting:
                param._finish_deferred_init()
            return self.forward(*args)

    def _context_of_inputs(self, inputs):
        """The context of the first array; None if the inputs are symbols."""
        found = list(nested.leaves(inputs))
        arrays = [v for v in found if isinstance(v, NDArray)]
        if not found:
            kinds = ', '.join(type(value).__name__ for value in inputs) or 'nothing'
            raise ValueError(f'{self.name}: a HybridBlock needs at least one array or symbol as input, not {kinds}; '
                             'mx.nd.array makes an array of numbers')
        if arrays and len(arrays) != len(found):
            raise ValueError(f'{self.name}: arrays and symbols cannot be mixed as inputs')
        if not arrays:
            return None
        ctx = arrays[0]._ctx
        if self._active and any(a._ctx is not ctx for a in arrays):
            raise ValueError(f'{self.name}: the inputs of a hybridized block must be on one context; they are on '
                             f'{sorted({str(a._ctx) for a in arrays})}')
        return ctx

    @any_signature
    def hybrid_forward(self, F: Operators, x: Any) -> Any:
        """Computes the output with the functions of `F`; blocks define it."""
        raise NotImplementedError(f'{type(self).__name__} has no hybrid_forward')


_explain_methods(HybridBlock, 'register_child cast infer_shape infer_type optimize_for export')
