"""Extensions in Python: backends and passes for `optimize_for`.

A pass rewrites a graph as a whole:

    @mx.library.register_pass('without_dropout')
    def without_dropout(symbol, args, aux, **options):
        ...
        return other_symbol

A backend chooses nodes.  Those that hang together become one node each, which runs them as a graph of their own, or
whatever the backend puts in their place:

    @mx.library.register_backend('mine')
    class Mine(mx.library.Backend):
        def select(self, node):
            return node.op in ('exp', 'log')

        def create(self, subgraph, inputs, number):
            return mx.sym.Custom(*inputs, op_type='my_fused_operator')

    net.optimize_for('mine')            # a Symbol
    block.optimize_for(x, backend='mine')

Compiled libraries of upstream's cannot be loaded; see `load`.
"""
from __future__ import annotations

import os
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ._graph.ir import backends, partition
from ._names import kind_of
from ._names import suggest_names as _suggest_names
from .base import MXNetError
from .symbol import Symbol
from .symbol._compose import make
from .symbol._internal import _CachedOp

if TYPE_CHECKING:
    from ._typing import Path

__all__ = ['Backend', 'load', 'register_backend', 'register_pass']

NO_LIBRARIES = ('{path}: libraries of operators, passes and partitioners are built against the C++ interface of Apache '
                'MXNet 1.x (lib_api.h), and there is no C++ library here that could call them. An operator can be '
                'written in Python (mx.operator.CustomOp, mx.autograd.Function), in CUDA (mx.rtc.CudaModule) or as an '
                'extension of PyTorch (torch.utils.cpp_extension) that a CustomOp calls; a pass or partitioner in '
                'Python (mx.library.register_pass, mx.library.register_backend)')


def load(path: Path, verbose: bool = True) -> Any:
    """Refuses a compiled library of operators with an error that names the ways there are instead."""
    if not os.path.exists(path):
        raise MXNetError(f'{path}: no such file')
    if not os.path.isabs(path):
        raise MXNetError(f'{path}: the path of a library must be absolute')
    if os.path.splitext(path)[1] not in ('.so', '.dll'):
        raise MXNetError(f'{path}: the name of a library ends in .so or .dll')
    raise MXNetError(NO_LIBRARIES.format(path=path))


class NodeView:
    """What a backend sees of a node: its name, its operator's name, attributes as texts, and where inputs come from."""

    __slots__ = ('name', 'op', 'attrs', 'inputs')

    def __init__(self, node: Any) -> None:
        self.name: Any
        self.op: Any
        self.attrs: Any
        self.name, self.op, self.attrs = node.name, node.op.name, MappingProxyType(node.attrs)
        self.inputs: Any = tuple(child.entry_name(i) for child, i in node.inputs)

    def __repr__(self) -> str:
        return f'<node {self.name}: {self.op}>'


class Backend:
    """The base of backends.  Options of `optimize_for` are in `self.options`, parameters in `self.args`, `self.aux`.

    The last two are the dicts that the program gave to `optimize_for`; a backend may change them and add to them.
    """

    def __init__(self, options: Any, args: Any, aux: Any) -> None:
        self.options: Any
        self.args: Any
        self.aux: Any
        self.options, self.args, self.aux = options, args, aux

    def begin(self, symbol: Symbol) -> Any:
        """The graph to choose from: `symbol` itself, or something else."""
        return symbol

    def select(self, node: Any) -> Any:
        """Whether a node (with `name`, `op`, `attrs`, `inputs`) is for this backend."""
        raise NotImplementedError(f'{type(self).__name__} has no select')

    def create(self, subgraph: Any, inputs: Any, number: int) -> Any:
        """What stands for a part of the graph: a Symbol with as many outputs, or None to leave the part as it is.

        subgraph: the part, a Symbol; inputs: Symbols for its `list_inputs()`; number: parts are counted from 0
        """
        return _CachedOp(*inputs, subgraph=subgraph, name=f'{type(self).__name__.lower()}{number}')

    def end(self, symbol: Symbol) -> Any:
        """The graph that is given back, after all parts are replaced."""
        return symbol


def register_backend(name: str) -> Any:
    """Registers a class derived from `Backend` under a name for `optimize_for`."""
    def register(cls):
        if not (isinstance(cls, type) and issubclass(cls, Backend)):
            raise TypeError(f'register_backend takes a class derived from mx.library.Backend, not {cls!r}')

        def run(entries, options, args, aux):
            backend = cls(options, args, aux)
            entries = backend.begin(make(Symbol, entries))._entries
            found = partition.groups(entries, lambda node: backend.select(NodeView(node)))
            count = iter(range(len(found)))

            def create(graph, inputs):
                symbol = backend.create(make(Symbol, graph), [make(Symbol, [e]) for e in inputs], next(count))
                return None if symbol is None else symbol._entries
            return backend.end(make(Symbol, partition.replace(entries, found, create)))._entries
        backends.register(name)(run)
        return cls
    return register


def register_pass(name: str) -> Any:
    """Registers `function(symbol, args, aux, **options) -> symbol` under a name for `optimize_for`."""
    def register(function):
        def run(entries, options, args, aux):
            result = function(make(Symbol, entries), args, aux, **options)
            if not isinstance(result, Symbol):
                raise TypeError(f'pass {name!r} must give a Symbol, not {kind_of(result)}')
            return result._entries
        backends.register(name)(run)
        return function
    return register


_suggest_names(globals())
