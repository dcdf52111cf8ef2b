"""Deferred compute: what a program does with arrays, noted as a graph instead of being computed.

Inside a `Tracer`'s scope every operator call on this thread makes a node; its results are `Traced` arrays, which know
their shape and dtype (the operator runs on meta tensors) but have no values.  That is how a HybridBlock whose `forward`
is written on arrays becomes a Symbol.  Arrays that come from elsewhere are variables of the graph: the block's inputs
and parameters by name, all others as constants, which are read again whenever the graph runs.

A program that asks for values on the way (`x.asnumpy()`, `if x.sum() > 0:`) or does what a graph has no place for gets
an `Untraceable`; the code that traces may then run it as it is.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from ._array import wrap
from ._dispatch import TRACE, Interceptor, install, remove, tracer
from ._graph.infer.facts import complete, unknown_length
from ._graph.infer.inference import infer, run_on_meta
from ._graph.ir.node import Entry, Node
from ._ops.core.table import NAMES, Operator
from ._state import state
from ._traced_array import TRACED, Traced, Untraceable, Value
from .base import MXNetError
from .name import NameManager
from .ndarray import NDArray, _invoke
from .numpy import ndarray
from .symbol._compose import make, text_of
from .symbol.numpy._symbol import _Symbol, hint
from .symbol.symbol import Symbol

if TYPE_CHECKING:
    from .context import Context

META = torch.device('meta')


class Tracer(Interceptor):
    """The scope in which calls become nodes.

    `reads_shapes` tells whether the program has looked at lengths: then its graph may hold for these alone.
    """

    rank, whole_process, traces = TRACE, False, True

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.recording = self.began_recording = state.recording
        self.reads_shapes = False
        self._sources: dict[int, tuple] = {}         # by id: (entry, the array, so that the id stays its own)
        self.variables: dict[str, Any] = {}       # an input's number, a parameter or a constant array
        self._names: set[str] = set()

    def __enter__(self) -> Tracer:
        self._before = state.recording
        state.recording = True
        install(self)
        return self

    def __exit__(self, *exc: Any) -> None:
        remove(self)
        state.recording = self._before

    def differentiate(self, heads: Any) -> None:
        raise Untraceable('gradients are computed inside of the block')

    # ------------------------------------------------------------------ what goes in
    def input(self, name: str, like: NDArray, number: int) -> Any:
        """A variable for an array of the block's caller."""
        node = Node(None, name, {})
        self.variables[name] = number
        self._names.add(name)
        return self._array(like._dense, tuple(like.meta().shape), like.meta().dtype, Value((node, 0), owned=False))

    def parameter(self, param: Any, ctx: Context | None) -> Any:
        """A parameter as an array; one of unknown shape gets it from the first operator that tells."""
        param._check_dense('data')
        found = self._sources.get(id(param))
        if found is None:
            entry = param.var()._entries[0]
            self.variables[param.name] = param
            self._names.add(param.name)
            found = self._sources[id(param)] = entry, param
        if param._deferred is None:
            array = param._array(ctx)
            return self._array(array._dense, tuple(array.meta().shape), array.meta().dtype,
                               Value(found[0], owned=False))
        result = self._array(_array_class(), (0,), torch.float32, Value(found[0], owned=False))
        result._value.pending = param
        return result

    def _constant(self, array: Any) -> Entry:
        """A variable for an array that the program has from elsewhere."""
        tensor = array.materialize()
        if tensor.is_meta:
            raise Untraceable('an array was computed from the inputs by a function that is not an MXNet operator')
        if tensor.grad_fn is not None:
            raise Untraceable('an array that was recorded outside of the block, or indexed inside of it, is used')
        number = 0
        while f'constant{number}' in self._names:
            number += 1
        name = f'constant{number}'
        self._names.add(name)
        self.variables[name] = array
        return Node(None, name, {}), 0

    def entry(self, array: Any) -> Entry:
        """What an array is in the graph."""
        if isinstance(array, Traced):
            if array._tracer is not self:
                raise Untraceable('an array of another, or an earlier, trace is used')
            return array._value.entry
        if array._sparse:
            raise Untraceable(f'a {array.stype} array is used')
        found = self._sources.get(id(array))
        if found is None:
            found = self._sources[id(array)] = self._constant(array), array
        return found[0]

    # ------------------------------------------------------------------ calls
    def call(self, proceed: Callable[..., Any], op: Operator, inputs: Sequence[Any], attributes: dict[str, Any],
             out: Any, cls: Any) -> Any:
        """Notes a call with bound inputs and parsed attributes; what it gives, as `_invoke.run` would give it."""
        if op.same_dtype and len(inputs) > 1:
            _invoke._check_dtypes(op, [x for x in inputs if not _pending(x)])
        given = dict(attributes)
        where = given.pop('ctx', None) if op.wants_device else None
        if where and _invoke.parse_context(where).torch_device != self.ctx.torch_device:
            raise Untraceable(f'operator {op.name} makes an array on {where}, the inputs are on {self.ctx}')
        attrs = {k: text_of(op, k, v) for k, v in given.items()
                 if k in op.attributes and (v is not None or op.attributes[k].default is not None)}
        present = [x for x in inputs if x is not None]
        node = Node(op, NameManager.current.get(None, hint(op.name)), attrs, [self.entry(x) for x in present])
        if any(map(_pending, present)):
            self._tell_shapes(node, present)
        shapes, dtypes = [tuple(x.meta().shape) for x in present], [x.meta().dtype for x in present]
        found = run_on_meta(node, shapes, dtypes)
        if isinstance(found, str):
            raise _invoke.operator_error(op, inputs, attributes, found)
        for i in node.mutated():
            if not node.inputs[i][0].is_variable:
                raise Untraceable(f'operator {op.name} changes an array that was computed in the block')
        kind = TRACED.get(cls)
        if kind is None:
            raise Untraceable(f'operator {op.name} gives a {cls.__name__}')
        results = [self._array(cls, shape, dtype, Value(self._end((node, i))))
                   for i, (shape, dtype) in enumerate(found)]
        if out is not None:
            return self._into(op, results, out)
        return results if len(results) > 1 else results[0]

    def _end(self, entry: Entry) -> Any:
        """Without a gradient, where the program has paused recording."""
        if self.began_recording and not self.recording:
            return Node(NAMES['BlockGrad'], NameManager.current.get(None, 'blockgrad'), {}, [entry]), 0
        return entry

    def _into(self, op: Operator, results: Any, out: Any) -> Any:
        outs = out if isinstance(out, (list, tuple)) else (out,)
        if len(outs) > len(results):
            raise MXNetError(f'operator {op.name}: out has {len(outs)} arrays, but there are {len(results)} results')
        for target, value in zip(outs, results, strict=False):
            if not isinstance(target, Traced):
                raise Untraceable(f'out= of operator {op.name} is an array from outside of the block')
            target._become(value, f'out= of operator {op.name}')
        return out

    def _tell_shapes(self, node: Node, inputs: Sequence[Any]) -> None:
        """Finds the shapes of parameters that have waited for the operator that tells them."""
        names = [f'input{i}' for i in range(len(inputs))]
        alone = Node(node.op, node.name, node.attrs, [(Node(None, n, {}), 0) for n in names], node.subgraphs)
        shapes, dtypes = {}, {}
        for name, x in zip(names, inputs, strict=True):
            param = _pending(x)
            if not param:
                shapes[name], dtypes[name] = tuple(x.meta().shape), x.meta().dtype
            elif param._shape is not None:
                shapes[name] = tuple(unknown_length() if n <= 0 else n for n in param._shape)
        facts = infer([(alone, 0)], shapes, dtypes)
        for x, (variable, _) in zip(inputs, alone.inputs, strict=True):
            param = _pending(x)
            if param:
                shape = facts.shape((variable, 0))
                if not complete(shape):
                    raise param._missing(f' Operator {node.op.name} uses it, and does not tell.')
                param.shape = shape
                param._finish_deferred_init()
                array = param._array(None if len(param._data) == 1 else self.ctx)
                x._rebind(torch.empty(array.shape, dtype=array.meta().dtype, device=META))
                x._value.pending = None

    # ------------------------------------------------------------------ what comes out
    def _array(self, cls: Any, shape: Sequence[int], dtype: torch.dtype, value: Any) -> Any:
        array: Any = wrap(torch.empty(shape, dtype=dtype, device=META), self.ctx, TRACED[cls])
        array._tracer, array._value = self, value
        return array

    def symbol(self, arrays: Sequence[Any]) -> Any:
        """The graph that computes arrays: a Symbol with NumPy's operators if one of them is of that kind."""
        kind = _Symbol if any(a._dense is ndarray for a in arrays) else Symbol
        return make(kind, [self.entry(a) for a in arrays])


class untraced:
    """A scope in which arrays are computed although a trace goes on: what initializes parameters is no part of it."""

    def __enter__(self) -> None:
        self._before = None
        if tracing() is not None:
            self._before = state.recording, state.interceptors
            state.recording, state.interceptors = False, tuple(i for i in state.interceptors if not i.traces)

    def __exit__(self, *exc: Any) -> None:
        if self._before is not None:
            state.recording, state.interceptors = self._before


tracing = tracer            # the Tracer that is at work on this thread, or None


def _pending(array: Any) -> Any:
    """The parameter of unknown shape that an array stands for, or None."""
    return array._value.pending if isinstance(array, Traced) else None


def _array_class() -> Any:
    return ndarray if state.np_array else NDArray
