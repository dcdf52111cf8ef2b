"""Blocks whose `forward` is written on arrays, as graphs: a trace for each way in which such a block is called.

What a Python function does may depend on anything it looks at.  So a trace is found again by the nesting and the kinds
of the arguments, by numbers and texts among them, by train mode and recording, and, if the function has read lengths on
the way, by shapes.
"""
import warnings

from .. import symbol
from .._array import fill_ones, wrap
from .._cache import Cache
from .._deferred_compute import Tracer, Untraceable
from .._ops.core.attributes import exact
from .._state import state
from .._traced_array import Traced
from ..base import MXNetError
from ..context import Context, current_context
from ..ndarray import CachedOp, NDArray
from ._any_batch import for_any_batch
from ._backend import optimized
from .parameter import Parameter

LIMIT = 64                     # traces kept per block
NO_GRAPH = ('{name} cannot become one graph: {why}. It runs operator by operator, and its children as graphs where '
            'they can')
_PLAIN = (type(None), bool, int, float, str, Context)


# ---------------------------------------------------------------------- nested arguments
def kind_of(value, arrays):
    """What is hashable of an argument; arrays in it are appended to a list."""
    if isinstance(value, NDArray):
        if value._sparse:
            raise Untraceable(f'it takes a {value.stype} array')
        arrays.append(value)
        shape, dtype, ctx = value.meta()
        return value._dense, dtype, len(shape), ctx
    if isinstance(value, (list, tuple)):
        return type(value), *[kind_of(v, arrays) for v in value]
    if isinstance(value, dict):
        return dict, *[(k, kind_of(v, arrays)) for k, v in value.items()]
    if isinstance(value, _PLAIN):
        return exact(value)
    raise Untraceable(f'it is called with a {type(value).__name__}, and takes arrays, numbers, texts and lists of them')


def with_arrays(value, arrays):
    """The same nesting around other arrays, taken from an iterator."""
    if isinstance(value, NDArray):
        return next(arrays)
    if isinstance(value, (list, tuple)):
        items = [with_arrays(v, arrays) for v in value]
        return type(value)(*items) if hasattr(value, '_fields') else type(value)(items)
    if isinstance(value, dict):
        return {k: with_arrays(v, arrays) for k, v in value.items()}
    return value


# ---------------------------------------------------------------------- one trace
class Trace:
    """The graph of a block for one kind of call."""

    def __init__(self, block, args, arrays):
        ctx = arrays[0]._ctx if arrays else current_context()
        if any(a._ctx != ctx for a in arrays):
            raise Untraceable(f'its inputs are on several contexts: {sorted({str(a._ctx) for a in arrays})}')
        names = ['data'] if len(arrays) == 1 else [f'data{i}' for i in range(len(arrays))]
        self.inputs = [symbol.var(n) for n in names]
        tracer = Tracer(ctx)
        with tracer:
            given = iter([tracer.input(n, a, i) for i, (n, a) in enumerate(zip(names, arrays, strict=True))])
            with block.name_scope():
                result = block._forward_traced(*with_arrays(args, given))
            outputs: list = []
            kind_of(result, outputs)
            if not outputs:
                raise Untraceable('it gives no array')
            self.symbol = tracer.symbol(outputs)
        _check_leaks(block)
        self.reads_shapes = tracer.reads_shapes
        self.single = isinstance(result, NDArray)
        # the nesting of the results, around arrays whose only use is their type
        self._template = with_arrays(result, iter([NDArray() for _ in outputs]))
        self._kinds = [a._dense for a in outputs]
        self._mixed = len(set(self._kinds)) > 1
        variables = dict(tracer.variables)
        if block._backend:
            parameters = {n: p for n, p in variables.items() if isinstance(p, Parameter)}
            self.symbol = optimized(block, self.symbol, parameters)
            variables |= parameters
        self.sources = [variables[name] for name in self.symbol.list_inputs()]
        self.op = CachedOp(self.symbol, block._flags)
        self.op.program.inductor = block._backend == 'inductor'
        self.op.parameters = tuple(i for i, s in enumerate(self.sources) if not isinstance(s, int | NDArray))
        # whether it is called with parameters and arguments only, and gives one array
        self.inputs_only = self.single and not self._mixed and not any(isinstance(s, NDArray) for s in self.sources)
        self.params = [s for s in self.sources if isinstance(s, Parameter)]
        self.numbers = [(i, s) for i, s in enumerate(self.sources) if type(s) is int]
        if block._callback:
            self.op._register_op_hook(block._callback, block._monitor_all)

    def __call__(self, arrays):
        ctx = arrays[0]._ctx if arrays else current_context()
        given = []
        for source in self.sources:
            if type(source) is int:
                given.append(arrays[source])
            elif isinstance(source, NDArray):
                given.append(source)
            else:
                given.append(source.data(ctx))
        fill_fixed(self.op, given)
        results = self.op(*given)
        if self._mixed:
            results = [r.as_np_ndarray() if k is not NDArray else r.as_nd_ndarray()
                       for r, k in zip(results, self._kinds, strict=True)]
        if self.single:
            return results
        return with_arrays(self._template, iter(results if isinstance(results, list) else [results]))

    def stored(self):
        """What a file of the graph needs beside it: parameters, and constants as arrays, by name."""
        names = self.symbol.list_inputs()
        return {n: s for n, s in zip(names, self.sources, strict=True) if type(s) is not int}


def fill_fixed(cached, arrays):
    """Writes ones into what a call of a CachedOp on these arrays keeps at 1: gamma of BatchNorm with `fix_gamma`."""
    program = cached.program
    fixed = program.ones if state.recording else program.ones_always
    if fixed:
        fill_ones([arrays[i] for i in fixed])


def _check_leaks(block):
    """Arrays without values that the block keeps for later would be of no use there."""
    found = []

    def holds(value):
        if isinstance(value, (list, tuple)):
            return any(map(holds, value))
        if isinstance(value, dict):
            return any(map(holds, value.values()))
        return isinstance(value, Traced)

    def look(part):
        for key, value in part.__dict__.items():
            if holds(value):
                found.append(f'{type(part).__name__}.{key}')

    block.apply(look)
    if found:
        raise Untraceable(f'it keeps arrays in {", ".join(found)}, and a graph gives only what forward returns')


# ---------------------------------------------------------------------- all traces of a block
class Traces:
    """The graphs of a block, by how it is called."""

    def __init__(self, block):
        self._block = block
        self._known: Cache = Cache(LIMIT)       # a Trace, or a Cache of them by shapes
        self.last = None            # the trace that ran last, and how: what `export` writes
        self.failure = None         # why there are none

    def __call__(self, *args):
        arrays: list = []
        try:
            key = (kind_of(args, arrays), state.training, state.recording, state.np_array, state.np_shape)
            found = self._known.get(key)
            if type(found) is Cache:
                found = found.get(tuple([a.meta().shape for a in arrays]))
            if found is None:
                found = self._make(key, args, arrays)
        except Exception as error:      # whatever stops a trace: the block itself runs, or says what is wrong
            return self._run_untraced(error, args)
        if self.last is None or self.last[0] is not found:
            self.last = found, args
        return found(arrays)

    def _make(self, key, args, arrays):
        trace = Trace(self._block, args, arrays)
        if trace.reads_shapes:
            by_shapes = self._known.get(key)
            if type(by_shapes) is not Cache:
                by_shapes = self._known[key] = Cache(LIMIT)
            by_shapes[tuple([a.meta().shape for a in arrays])] = trace
        else:
            self._known[key] = trace
        return trace

    def _run_untraced(self, error, args):
        self.failure = str(error) if isinstance(error, MXNetError) else f'{type(error).__name__}: {error}'
        result = self._block._forward_plainly(*args)
        warnings.warn(NO_GRAPH.format(name=self._block.name, why=self.failure), stacklevel=5)
        return result

    def for_export(self):
        """(symbol, what is stored beside it): in prediction, for inputs like those of the last call.

        A graph that has the size of its batch in it is written for any size, where that can be done.
        """
        if self.failure is not None:
            raise RuntimeError(NO_GRAPH.format(name=self._block.name, why=self.failure))
        if self.last is None:
            raise RuntimeError('export needs a graph: call hybridize() and run the block once first')
        before = state.training, state.recording
        state.training = state.recording = False
        try:
            trace = Trace(self._block, self.last[1], _arrays(self.last[1]))
            return (_for_any_batch(self._block, trace, self.last[1]) if trace.reads_shapes else trace.symbol,
                    trace.stored())
        finally:
            state.training, state.recording = before


def _arrays(args):
    found: list = []
    kind_of(args, found)
    return found


def _for_any_batch(block, trace, args):
    """The graph with the size of the batch taken out of it; where that is not possible, as it is, with a warning."""
    arrays = _arrays(args)
    size = arrays[0].shape[0] if arrays and arrays[0].ndim else 0
    larger = [_longer(a) if a.ndim and a.shape[0] == size else a for a in arrays]
    found = None
    if size:
        try:
            other = Trace(block, with_arrays(args, iter(larger)), larger)
            shapes = [dict(zip((s.name for s in trace.inputs), (a.shape for a in some), strict=True))
                      for some in (arrays, larger)]
            params = {n: p.shape for n, p in trace.stored().items()}
            found = for_any_batch(trace.symbol, other.symbol, [{**params, **s} for s in shapes])
        except MXNetError:
            pass                # not with another size
    if found is None:
        warnings.warn(f'the graph of {block.name} holds for inputs of shapes {[a.shape for a in arrays]} only, since '
                      'its forward looks at shapes; -1 in a reshape, and functions like np.zeros_like, keep it general',
                      stacklevel=4)
    return trace.symbol if found is None else found


def _longer(array):
    """An array with one more entry along its first axis; its values do not matter."""
    tensor = array.materialize().detach()
    return wrap(tensor.new_empty((tensor.shape[0] + 1, *tensor.shape[1:])), array._ctx, array._dense)
