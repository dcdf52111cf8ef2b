"""The executor of graphs with sparse arrays in them.

It goes node by node, as an executor's first run does, and has no plans: how sparse values are is known only when they
are there.  Values between nodes are tensors, or sparse arrays where a node gives one.
"""
from functools import partial
from typing import Any

import torch

from ._array import overwrite, owned_apart, wrap
from ._graph.ir.monitors import NodeMonitor
from ._graph.ir.node import topological
from ._ops.core.moves import sort_moves
from ._state import state
from .executor import Executor
from .ndarray import NDArray, _sparse_dispatch, _sparse_links, _sparse_rules
from .ndarray.sparse import BaseSparseNDArray

_GIVE_SPARSE = ('cast_storage', 'dot')      # these may give a sparse array for dense ones


def concerns(symbol, arrays):
    """Whether a graph bound to these arrays has sparse values."""
    return any(a is not None and a._sparse for a in arrays) or any(
        n.op is not None and n.op.name in _GIVE_SPARSE and n.attributes.get('stype', n.attributes.get('forward_stype'))
        in ('csr', 'row_sparse') for n in topological(symbol._entries))


def _takes_some_rows(call, position):
    """Whether an input of a call is a matrix of which products with csr arrays take some rows."""
    return call.node.op.name == 'dot' and position == 1 and not call.attributes.get('transpose_a') \
        and not call.attributes.get('transpose_b')


class SparseExecutor(Executor):
    """An `Executor` that computes on the parts of sparse arrays where an operator can."""

    def _lowered(self):
        program = super()._lowered()
        uses: dict[int, list[bool]] = {}
        for call in program.calls:
            for position, source in enumerate(call.sources):
                uses.setdefault(source, []).append(_takes_some_rows(call, position))
        for call in program.calls:
            later = call.node.op.name in _sparse_rules.OF_ROWS and call.first not in program.outputs \
                and all(uses.get(call.first, [False]))
            call.function = _Function(call.node.op, self._context_of(call.node), later)
        program.individual = True
        return program

    def _dtypes(self):
        return {n: a.meta().dtype
                for n, a in (*self.arg_dict.items(), *self.aux_dict.items())}

    def _run(self, record, update_states=True):
        program, arrays = self._program, self._arrays
        values, leaves, wanted = [], {}, []
        buffers = dict(zip(program.arguments, zip(self.grad_arrays, self._reqs, strict=True), strict=True))
        for place, array in enumerate(arrays):
            buffer, req = buffers.get(place, (None, 'null'))
            learns = record and req != 'null'
            if array._sparse:
                value = array._like(array._parts())
                if learns:
                    leaves[place] = value._link().detach().requires_grad_()
                    with torch.enable_grad():
                        value._history = _sparse_links.collecting(leaves[place])
            else:
                value = array.materialize().detach()
                learns = learns and value.is_floating_point()
                if learns:
                    leaves[place] = value.requires_grad_()
                    if buffer is not None and buffer._sparse:
                        value._wants_rows = True
            if learns:
                wanted.append(place)
            values.append(value)
        with torch.set_grad_enabled(record):
            outputs, states = program.run(values, training=self._training, generator=self._generator,
                                          device=self._ctx.torch_device, monitor=self._watch())
        if record:
            places = [o._link() if isinstance(o, BaseSparseNDArray) else o for o in outputs]
            states = sort_moves(states, places, lambda: program.ranks(wanted))
            moves = [(arrays[place].materialize(), move.value, move.weight) for place, value in states.items()
                     if type(value) is list for move in value]
            self._recorded = None, (leaves, wanted, None), places, None, moves
        else:
            self._recorded = None
        if update_states and self._training:
            for place, value in states.items():
                if type(value) is not list:
                    overwrite(arrays[place], value)
        tensors = [v for v in values if isinstance(v, torch.Tensor)]
        dense = iter(owned_apart([o for o in outputs if not isinstance(o, BaseSparseNDArray)], tensors))
        return [o if isinstance(o, BaseSparseNDArray) else next(dense).detach() for o in outputs]

    def _forward_backward(self, feed, update=None):
        for place, array in feed:
            array.copyto(self._arrays[place])
        self.forward(is_train=True)
        self.backward()
        return False

    def _give(self, results):
        arrays = []
        for i, (result, (node, _)) in enumerate(zip(results, self._symbol._entries, strict=True)):
            new: Any = result.detach() if isinstance(result, BaseSparseNDArray) \
                else wrap(result, self._context_of(node), NDArray)
            old = None if self._outputs is None else self._outputs[i]
            if old is None or type(old) is not type(new):
                arrays.append(new)
                continue
            if new._sparse:
                old._take(new)
            else:
                old._rebind(new.materialize())
            old._variable = None
            arrays.append(old)
        self._outputs = arrays
        return arrays

    def _store(self, found):
        dense = {}
        for place, buffer, req in zip(self._program.arguments, self.grad_arrays, self._reqs, strict=True):
            if buffer is None or req == 'null' or place not in found:
                continue
            gradient = found[place]
            if not buffer._sparse:
                dense[place] = None if gradient is None else _sparse_links.dense_gradient(gradient)
            elif gradient is not None:
                buffer._take_gradient(gradient.detach(), req)
            elif req == 'write':
                buffer._take_gradient(torch.zeros((), dtype=buffer.meta().dtype), req)
        super()._store(dense)

    def _watch(self):
        if self._monitor is None:
            return None
        callback, everything = self._monitor
        return NodeMonitor(partial(self._show_value, callback), everything, variables=True)

    def _show_value(self, callback, node, name, value):
        if isinstance(value, BaseSparseNDArray):
            callback(name, value.detach())
        else:
            super()._show_value(callback, node, name, value)


class _Function:
    """An operator on tensors and sparse arrays."""

    def __init__(self, op, ctx, later):
        self._op, self._ctx, self._rule = op, ctx, _sparse_dispatch.RULES.get(op.name)
        self._later = later         # does it pay to compute values only when they are looked at

    def __call__(self, *inputs, **attributes):
        op = self._op
        if not any(isinstance(x, BaseSparseNDArray) for x in inputs) and \
                attributes.get('stype', attributes.get('forward_stype')) not in ('csr', 'row_sparse'):
            return op.function(*inputs, **attributes)
        before, state.recording = state.recording, torch.is_grad_enabled()
        try:
            result = NotImplemented
            if self._rule is not None:
                function, takes_out = self._rule
                arrays = [wrap(x, self._ctx, NDArray) if isinstance(x, torch.Tensor) else x for x in inputs]
                if self._later:
                    result = _sparse_rules.postponed(op, arrays, op.complete(attributes))
                if result is NotImplemented:
                    result = function(op, arrays, op.complete(attributes), *[None] * takes_out)
            if result is NotImplemented:
                return op.function(*[x.materialize() if isinstance(x, BaseSparseNDArray) else x for x in inputs],
                                   **attributes)
        finally:
            state.recording = before
        if isinstance(result, list):
            return tuple(r if r._sparse else r.materialize() for r in result)
        return result if result._sparse else result.materialize()
