"""`Symbol`: a computation that is described first and run later."""
from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import torch

from .._files import paths
from .._graph.infer import inference as _infer
from .._graph.ir import json as _json
from .._graph.ir.node import HIDDEN, Node, is_hidden, rebuild, states_of, topological
from .._hooks import hooks
from .._kinds import explain_kinds as _explain_kinds
from .._kinds import explain_methods as _explain_methods
from .._names import kind_of, near
from .._names import suggest_members as _suggest_members
from .._names import suggest_names as _suggest_names
from .._ops import NAMES
from .._ops.core.dtypes import NAME, NUMPY
from .._state import state
from ..attribute import AttrScope
from ..base import MXNetError, NotImplementedForSymbol
from . import _compose
from ._compose import SymbolBase, compose, make
from ._methods import OperatorMethods

if TYPE_CHECKING:
    from .._typing import DType, GradReq, Init, Path, Shape
    from ..context import Context
    from ..executor import Executor
    from ..ndarray import NDArray

__all__ = ['Group', 'Symbol', 'Variable', 'load', 'load_json', 'var']

UNDECIDED = ('Cannot decide {what} of the following arguments (0 stands for an unknown length). Give them, or let '
             'them follow from others:\n\t{missing}')


def _arithmetic(arrays, scalar, reverse=None) -> tuple[Callable[[Any, Any], Symbol], Callable[[Any, Any], Symbol]]:
    """A pair of methods for an operator and its reflection, from upstream's three operators."""
    def forward(self, other):
        if isinstance(other, SymbolBase):
            return _apply(arrays, (self, other), {})
        if isinstance(other, Real):
            return _apply(scalar, (self,), {'scalar': other})
        raise TypeError(f'an operand of a symbol must be a symbol or a number, not {kind_of(other)}; type '
                        f'{type(other).__name__} not supported')

    def backward(self, other):
        if isinstance(other, Real):
            return _apply(reverse or scalar, (self,), {'scalar': other})
        return forward(other, self) if isinstance(other, SymbolBase) else forward(self, other)

    return forward, backward


def _apply(name, args, kwargs):
    return _compose.call(NAMES[name], name.lower(), args, kwargs, type(args[0]))


def _not_for_symbols(operation) -> Callable[..., Any]:
    def method(self, *args):
        raise NotImplementedForSymbol(method, operation, *args)
    method.__name__ = operation
    return method


class _Memory:
    """What has been found out about a graph: its variables, and shapes that follow from given ones."""

    __slots__ = ('count', 'variables', 'states', 'shapes', '_open')
    changes = 0             # of any node's attributes
    MOST = 64               # sets of shapes: programs with images of many sizes ask for each of them

    def __init__(self, entries):
        order = topological(entries)
        self.count = self.changes
        self.variables, self.states, self.shapes = [n for n in order if n.is_variable], states_of(order), {}
        # then the program's code is asked
        self._open = any(n.op is not None and (n.op.name == 'Custom' or n.subgraphs) for n in order)

    def keep(self, key, found):
        if not self._open:
            if len(self.shapes) >= self.MOST:
                self.shapes.pop(next(iter(self.shapes)))
            self.shapes[key] = found


class Symbol(OperatorMethods, SymbolBase):
    """One or several outputs of a graph of operators.

    Made by `mx.sym.var` and by operators on symbols.  It never changes; `bind` makes something that runs.

    >>> x = mx.sym.var('x')
    >>> y = mx.sym.FullyConnected(x, num_hidden=10, name='fc')
    >>> y.list_arguments()
    ['x', 'fc_weight', 'fc_bias']
    """

    __slots__ = ()
    __array_priority__: float = 1000.0

    def __new__(cls, handle: Any = None) -> Symbol:
        return object.__new__(cls)          # for `__setstate__`; programs get symbols from `var` and operators

    # ------------------------------------------------------------------ Python's operators
    __add__: ClassVar[Callable[[Any, Any], Symbol]]
    __radd__: ClassVar[Callable[[Any, Any], Symbol]]
    __add__, __radd__ = _arithmetic('_Plus', '_PlusScalar')
    __sub__: ClassVar[Callable[[Any, Any], Symbol]]
    __rsub__: ClassVar[Callable[[Any, Any], Symbol]]
    __sub__, __rsub__ = _arithmetic('_Minus', '_MinusScalar', '_RMinusScalar')
    __mul__: ClassVar[Callable[[Any, Any], Symbol]]
    __rmul__: ClassVar[Callable[[Any, Any], Symbol]]
    __mul__, __rmul__ = _arithmetic('_Mul', '_MulScalar')
    __truediv__: ClassVar[Callable[[Any, Any], Symbol]]
    __rtruediv__: ClassVar[Callable[[Any, Any], Symbol]]
    __div__: ClassVar[Callable[[Any, Any], Symbol]]
    __rdiv__: ClassVar[Callable[[Any, Any], Symbol]]
    __truediv__, __rtruediv__ = __div__, __rdiv__ = _arithmetic('_Div', '_DivScalar', '_RDivScalar')
    __mod__: ClassVar[Callable[[Any, Any], Symbol]]
    __rmod__: ClassVar[Callable[[Any, Any], Symbol]]
    __mod__, __rmod__ = _arithmetic('_Mod', '_ModScalar', '_RModScalar')
    __pow__: ClassVar[Callable[[Any, Any], Symbol]]
    __rpow__: ClassVar[Callable[[Any, Any], Symbol]]
    __pow__, __rpow__ = _arithmetic('_Power', '_PowerScalar', '_rpower_scalar')
    __eq__: ClassVar[Callable[[Any, Any], Symbol]]      # type: ignore[assignment]
    __ne__: ClassVar[Callable[[Any, Any], Symbol]]      # type: ignore[assignment]
    _: Any
    __eq__, _ = _arithmetic('_equal', '_equal_scalar')      # type: ignore[assignment]
    __ne__, _ = _arithmetic('_not_equal', '_not_equal_scalar')      # type: ignore[assignment]
    __gt__: ClassVar[Callable[[Any, Any], Symbol]]
    __gt__, _ = _arithmetic('_greater', '_greater_scalar')
    __ge__: ClassVar[Callable[[Any, Any], Symbol]]
    __ge__, _ = _arithmetic('_greater_equal', '_greater_equal_scalar')
    __lt__: ClassVar[Callable[[Any, Any], Symbol]]
    __lt__, _ = _arithmetic('_lesser', '_lesser_scalar')
    __le__: ClassVar[Callable[[Any, Any], Symbol]]
    __le__, _ = _arithmetic('_lesser_equal', '_lesser_equal_scalar')
    del _
    __iadd__: Any
    __isub__: Any
    __iadd__, __isub__ = _not_for_symbols('+='), _not_for_symbols('-=')
    __imul__: Any
    __idiv__: Any
    __itruediv__: Any
    __imul__, __idiv__, __itruediv__ = _not_for_symbols('*='), _not_for_symbols('/='), _not_for_symbols('/=')
    __bool__: Any
    __nonzero__: Any
    __bool__ = __nonzero__ = _not_for_symbols('bool')

    def __neg__(self) -> Symbol:
        return self * -1.0

    def __abs__(self) -> Symbol:
        return self.abs()

    def __hash__(self) -> int:
        return id(self) // 16

    # ------------------------------------------------------------------ parts
    @property
    def name(self) -> str:
        """The name of the node, or None for a group of several."""
        first = self._entries[0][0]
        return first.name if all(n is first for n, _ in self._entries) else None     # type: ignore[return-value]

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Symbol]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: int | str | slice) -> Symbol:
        """An output by number, by name (`'fc1_output'`), or several by a slice."""
        if isinstance(index, slice):
            return make(type(self), self._entries[index])
        if isinstance(index, str):
            names = self.list_outputs()
            found = [i for i, n in enumerate(names) if n == index]
            if not found:
                shown = ', '.join(names[-8:])
                raise ValueError(f'there is no output {index!r}{near(index, names)}; the outputs are '
                                 f'{"..., " if len(names) > 8 else ""}{shown}')
            if len(found) > 1:
                raise ValueError(f'there are {len(found)} outputs named {index!r}')
            index = found[0]
        if not isinstance(index, int):
            hint = '; slice_axis takes a part of its values: F.slice_axis(x, axis=1, begin=0, end=1)'
            raise TypeError('the index of a symbol, which selects outputs, must be an int, a name or a slice, not '
                            f'{index!r}{hint if isinstance(index, tuple) else ""}')
        if index >= len(self._entries) or index < -len(self._entries):
            raise IndexError(f'output {index} of a symbol with {len(self._entries)}')
        return make(type(self), [self._entries[index]])

    def get_internals(self) -> Symbol:
        """All outputs of all nodes, as one group: `net.get_internals()['fc1_output']`."""
        return make(type(self), [(n, i) for n in topological(self._entries) for i in range(n.visible_count())])

    def get_children(self) -> Any:
        """The direct inputs of the outputs' nodes, as one group; None if there are none."""
        found: Any
        seen, found = set(), []
        for node, _ in self._entries:
            if id(node) not in seen:
                seen.add(id(node))
                found += node.inputs
        return make(type(self), found) if found else None

    def list_outputs(self) -> list[str]:
        """Names of the outputs."""
        return [n.entry_name(i) for n, i in self._entries]

    def _variables(self):
        memory = self._remembered()
        return memory.variables, memory.states

    def _remembered(self):
        memory = getattr(self, '_memory', None)
        if memory is None or memory.count != _Memory.changes:
            memory = self._memory = _Memory(self._entries)
        return memory

    def list_arguments(self) -> list[str]:
        """Names of the variables that are arguments, in the order that `bind` takes them."""
        variables, states = self._variables()
        return [n.name for n in variables if id(n) not in states]

    def list_auxiliary_states(self) -> list[str]:
        """Names of the variables that are auxiliary states, such as moving averages."""
        variables, states = self._variables()
        return [n.name for n in variables if id(n) in states]

    def list_inputs(self) -> list[str]:
        """Names of all variables."""
        return [n.name for n in self._variables()[0]]

    # ------------------------------------------------------------------ composition
    def __call__(self, *args: Any, **kwargs: Any) -> Symbol:
        """The same computation with other symbols in place of variables.

        >>> net = mx.sym.FullyConnected(mx.sym.var('x'), num_hidden=3, name='fc')
        >>> net(x=mx.sym.var('a') + mx.sym.var('b')).list_arguments()
        ['a', 'b', 'fc_weight', 'fc_bias']
        """
        name = kwargs.pop('name', None)
        if args and kwargs:
            raise TypeError('compose a symbol by position or by name, not both')
        variables = list(self._variables()[0])
        if len(args) > len(variables):
            raise TypeError(f'{len(args)} symbols given for {len(variables)} variables')
        new = dict(zip([n.name for n in variables], args, strict=False)) if args else kwargs
        for key, symbol in new.items():
            if not isinstance(symbol, SymbolBase):
                raise TypeError(f'{key} must be a symbol, not {kind_of(symbol)}')
            if len(symbol._entries) != 1:
                raise MXNetError(f'{key} must be one symbol, not a group of {len(symbol._entries)}')
        unknown = set(new) - {n.name for n in variables}
        if unknown:
            known = [n.name for n in variables]
            wrong = min(unknown)
            raise MXNetError(f'{self} has no variable {wrong}{near(wrong, known)}; it has {", ".join(known)}')
        heads = {id(n) for n, _ in self._entries}

        def change(node, inputs):
            if node.is_variable:
                return [new[node.name]._entries[0]] if node.name in new else None
            if name and len(heads) == 1 and id(node) in heads:
                renamed = Node(node.op, name, node.attrs, inputs, node.subgraphs)
                return [(renamed, i) for i in range(node.output_count())]
            return None

        return make(type(self), rebuild(self._entries, change))

    def __copy__(self) -> Self:
        return self.__deepcopy__(None)

    def __deepcopy__(self, memo: Any) -> Self:
        def change(node, inputs):
            copy = Node(node.op, node.name, node.attrs, inputs, node.subgraphs)
            return [(copy, i) for i in range(node.output_count())]
        return make(type(self), rebuild(self._entries, change))

    # ------------------------------------------------------------------ attributes
    def attr(self, key: str) -> str | None:
        """A text attribute of the node, or None; its name and operator are `name` and `op_name`."""
        node = self._entries[0][0]
        if key in ('name', 'op_name') and all(other is node for other, _ in self._entries):
            return node.name if key == 'name' else 'null' if node.op is None else node.op.name
        value = node.attrs.get(key)
        return node.attrs.get(f'__{key}__') if value is None and key in HIDDEN else value

    def list_attr(self, recursive: bool = False) -> dict[str, str]:
        """All attributes of the node."""
        if recursive:
            raise DeprecationWarning('list_attr(recursive=True) was removed; use attr_dict')
        return _shown(self._entries[0][0].attrs)

    def attr_dict(self) -> dict[str, dict[str, str]]:
        """The attributes of all nodes, by their names; nodes of one name share them."""
        found: dict = {}
        for node in topological(self._entries):
            if node.attrs:
                found.setdefault(node.name, {}).update(_shown(node.attrs))
        return found

    def _set_attr(self, **kwargs):
        for key, value in kwargs.items():
            if not isinstance(value, str):
                raise ValueError(f'attribute {key} must be a string, not {value!r}')
            if key == 'name':           # the name of a node, not one of its attributes
                for node, _ in self._entries:
                    node.name = value
                continue
            for node in {id(n): n for n, _ in self._entries}.values():
                node.attrs[f'__{key}__' if key in HIDDEN else key] = value
        _Memory.changes += 1

    # ------------------------------------------------------------------ inference
    def _known(self, args, kwargs, what):
        names = self.list_arguments()
        if args and kwargs:
            raise ValueError(f'give {what}s by position or by name, not both')
        if args:
            if len(args) > len(names):
                raise ValueError(f'{len(args)} {what}s given for {len(names)} arguments')
            return {n: v for n, v in zip(names, args, strict=False) if v is not None}
        unknown = set(kwargs) - set(self.list_inputs())
        if unknown:
            raise MXNetError(f'there is no argument {", ".join(sorted(unknown))}{near(min(unknown), names)}; there are '
                             f'{", ".join(names)}')
        return {n: v for n, v in kwargs.items() if v is not None}

    def _facts(self, shapes, dtypes=None, **options):
        return _infer.infer(self._entries, shapes, dtypes or {}, **options)

    def infer_shape(self, *args: Any, **kwargs: Any) -> tuple[Any, Any, Any]:
        """Shapes of (arguments, outputs, auxiliary states), from some of the arguments' shapes.

        (None, None, None), with a warning, where they cannot be decided.

        >>> net = mx.sym.FullyConnected(mx.sym.var('x'), num_hidden=3, name='fc')
        >>> net.infer_shape(x=(2, 5))
        ([(2, 5), (3, 5), (3,)], [(2, 3)], [])
        """
        result = self._infer_shape(args, kwargs)
        missing = [(n, s) for n, s in zip(self.list_arguments(), result[0], strict=True) if not _infer.complete(s)]
        if missing or not all(_infer.complete(s) for part in result[1:] for s in part):
            warnings.warn(UNDECIDED.format(what='the shapes', missing='\n\t'.join(f'{n}: {s or ()}' for n,
                                                                                  s in missing)),
                          stacklevel=3)
            return None, None, None
        return result

    def infer_shape_partial(self, *args: Any, **kwargs: Any) -> tuple[Any, Any, Any]:
        """As `infer_shape`, with 0 for unknown lengths and () for unknown shapes (-1 and None in np mode)."""
        def spell(shape):
            if shape is None:
                return None if state.np_shape else ()
            return shape
        return tuple([spell(s) for s in part] for part in self._infer_shape(args, kwargs))      # type: ignore[return-value]

    def _infer_shape(self, args, kwargs):
        known = self._known(args, kwargs, 'shape')
        for name, shape in known.items():
            if not isinstance(shape, (tuple, list)):
                raise TypeError(f'infer_shape: the shape of {name} must be a tuple of ints, not {kind_of(shape)}')
        known = {n: tuple(s) for n, s in known.items()}
        memory, key = self._remembered(), (bool(state.np_shape), *sorted(known.items()))
        found = memory.shapes.get(key)
        if found is None:
            facts = self._facts(known, default_dtype=torch.float32)
            variables, states = memory.variables, memory.states
            found = ([facts.shape((n, 0)) for n in variables if id(n) not in states],
                     [facts.shape(e) for e in self._entries],
                     [facts.shape((n, 0)) for n in variables if id(n) in states])
            memory.keep(key, found)
        return tuple(list(part) for part in found)

    def infer_type(self, *args: Any, **kwargs: Any) -> tuple[Any, Any, Any]:
        """dtypes of (arguments, outputs, auxiliary states), from some of the arguments' dtypes."""
        return self._infer_type(args, kwargs, default=True)

    def infer_type_partial(self, *args: Any, **kwargs: Any) -> tuple[Any, Any, Any]:
        """As `infer_type`, with None for what is unknown."""
        return self._infer_type(args, kwargs, default=False)

    def _infer_type(self, args, kwargs, default):
        known = self._known(args, kwargs, 'dtype')
        facts = self._facts({}, known, need_shapes=False, spread=default)
        variables, states = self._variables()

        def name(dtype):
            return None if dtype is None else NUMPY[NAME[dtype]]

        result = ([name(facts.dtype((n, 0))) for n in variables if id(n) not in states],
                  [name(facts.dtype(e)) for e in self._entries],
                  [name(facts.dtype((n, 0))) for n in variables if id(n) in states])
        if default and None in result[0] + result[1] + result[2]:
            missing = [n for n, dtype in zip(self.list_arguments(), result[0], strict=True) if dtype is None]
            warnings.warn(UNDECIDED.format(what='the dtypes', missing=', '.join(missing)), stacklevel=4)
            return None, None, None
        return result

    # ------------------------------------------------------------------ files
    def tojson(self, remove_amp_cast: bool = True) -> str:
        """The graph as JSON, in the format of `-symbol.json`."""
        entries = _without_casts(self._entries) if remove_amp_cast else self._entries
        return _json.dumps(entries, np_shape=bool(state.np_shape))

    def save(self, fname: Path, remove_amp_cast: bool = True) -> None:
        """Writes the graph to a file (or URL): `net.save('model-symbol.json')`."""
        paths.write_atomic(fname, [self.tojson(remove_amp_cast).encode()])

    def __reduce__(self) -> Any:
        return type(self), (None,), self.__getstate__()         # as MXNet 1.9.1 does

    def __getstate__(self) -> Any:
        return {'handle': self.tojson(remove_amp_cast=False)}

    def __setstate__(self, state: Any) -> None:
        self._entries = tuple(_json.loads(state['handle'], 'a pickled Symbol'))

    def debug_str(self) -> str:
        """The graph as text, a node a line."""
        lines = ['Symbol Outputs:', *[f'\toutput[{i}]={n}' for i, n in enumerate(self.list_outputs())]]
        for node in topological(self._entries):
            if node.is_variable:
                lines.append(f'Variable:{node.name}')
                continue
            lines += ['-' * 20, f'Op:{node.op.name}, Name={node.name}', 'Inputs:']
            names = node.input_names()
            lines += [f'\targ[{i}]={c.name}({k}) {n}' for i, ((c, k), n) in
                      enumerate(zip(node.inputs, names, strict=True))]
            if node.attrs:
                lines += ['Attrs:', *[f'\t{k}={v}' for k, v in sorted(node.attrs.items())]]
        return '\n'.join(lines) + '\n'

    def __repr__(self) -> str:
        name = self.name
        if name is None:
            return f'<{type(self).__name__} group [{", ".join(s.name for s in self)}]>'
        return f'<{type(self).__name__} {name}>'

    def _repr_svg_(self):
        """The drawing that a notebook shows; None, and so the text, where graphviz is missing or the graph is large."""
        from ._drawing import svg
        return svg(self)

    def _repr_html_(self):
        """A table of the operators, where a notebook has no drawing."""
        from ._drawing import table
        return table(self)

    # ------------------------------------------------------------------ running
    def bind(self, ctx: Any, args: Any, args_grad: Any = None, grad_req: GradReq = 'write', aux_states: Any = None,
             group2ctx: Mapping[str, Context] | None = None, shared_exec: Any = None) -> Executor:
        """An `Executor` of this graph on given arrays."""
        from ._bind import bind
        return bind(self, ctx, args, args_grad, grad_req, aux_states, group2ctx)

    def simple_bind(self, ctx: Any = None, grad_req: GradReq = 'write', type_dict: Any = None, stype_dict: Any = None,
                    group2ctx: Mapping[str, Context] | None = None, shared_arg_names: Any = None,
                    shared_exec: Any = None, shared_buffer: Any = None, **kwargs: Any) -> Executor:
        """An `Executor` on new arrays, whose shapes follow from those given by name.

        ctx: where they are; the current context unless given, as programs of MXNet's first years expect
        """
        from ..context import current_context
        from ._bind import simple_bind
        return simple_bind(self, ctx or current_context(), grad_req, type_dict, stype_dict, group2ctx,
                           shared_arg_names, shared_exec,
                           shared_buffer, kwargs)

    def eval(self, ctx: Any = None, **kwargs: Any) -> list[NDArray]:
        """The outputs for given arrays, as a list."""
        from ..context import current_context
        return self.bind(ctx or current_context(), kwargs).forward()

    def gradient(self, wrt: Sequence[str]) -> Symbol:
        """Not supported, as in upstream: bind with args_grad, or use autograd."""
        raise MXNetError('Symbol.gradient is not supported; bind the symbol with args_grad and call backward')

    def optimize_for(self, backend: str, args: Any = None, aux: Any = None, ctx: Any = None, shape_dict: Any = None,
                     type_dict: Any = None, stype_dict: Any = None, skip_infer: bool = False, **kwargs: Any) -> Symbol:
        """The graph, optimized by a backend; without one of that name, an error that lists those there are.

        args, aux: dicts of arrays, which the backend may read, change and add to.  Further arguments are its options.
        `mx.library` tells how to write a backend.
        """
        from .._graph.ir.backends import optimize
        return make(type(self), optimize(backend, self._entries, kwargs, args, aux))

    def _gen_atomic_symbol(self):
        """The operator of this symbol alone: its inputs are new variables."""
        node = self._entries[0][0]
        if node.is_variable:
            raise MXNetError(f'{node.name} is a variable, not an operator')
        hidden = {k: v for k, v in node.attrs.items() if is_hidden(k)}
        return compose(node.op, node.name, [], {k: v for k, v in node.attrs.items() if k not in hidden}, hidden,
                       type(self))

    def get_backend_symbol(self, backend: str) -> Symbol:
        """The graph, optimized by a backend."""
        return self.optimize_for(backend)

    # ------------------------------------------------------------------ shape and type, as arrays have them
    def reshape(self, *shape: Any, **kwargs: Any) -> Symbol:
        """See `mx.sym.reshape`."""
        if len(shape) == 1 and not isinstance(shape[0], int):
            shape = shape[0]
        if shape != ():
            kwargs['shape'] = tuple(shape)
        return _apply('reshape', (self,), kwargs)

    def astype(self, dtype: DType, **kwargs: Any) -> Symbol:
        """See `mx.sym.cast`."""
        return _apply('cast', (self,), {'dtype': dtype, **kwargs})

    def expand_dims(self, axis: int, inplace: bool = False, **kwargs: Any) -> Symbol:      # type: ignore[override]
        """See `mx.sym.expand_dims`."""
        return _apply('expand_dims', (self,), {'axis': axis, **kwargs})

    def squeeze(self, axis: Shape | None = None, inplace: bool = False, **kwargs: Any) -> Symbol:
        """See `mx.sym.squeeze`."""
        return _apply('squeeze', (self,), {'axis': axis, **kwargs})

    def flatten(self, inplace: bool = False, **kwargs: Any) -> Symbol:
        """See `mx.sym.flatten`."""
        return _apply('flatten', (self,), kwargs)

    def diag(self, k: int = 0, **kwargs: Any) -> Symbol:      # type: ignore[override]
        """See `mx.sym.diag`."""
        return _apply('diag', (self,), {'k': k, **kwargs})

    def split_v2(self, *args: Any, **kwargs: Any) -> Symbol:
        """See `mx.sym.split_v2`."""
        from ._creation import split_v2
        return split_v2(self, *args, **kwargs)

    def as_nd_ndarray(self) -> Symbol:
        """The symbol as an `mx.sym.Symbol`."""
        return self

    def as_np_ndarray(self) -> Any:
        """The symbol as an `mx.sym.np._Symbol`."""
        return make(hooks.np_Symbol, self._entries)

    wait_to_read: Any = _not_for_symbols('wait_to_read')
    asnumpy: Any = _not_for_symbols('asnumpy')
    asscalar: Any = _not_for_symbols('asscalar')
    copy: Any = _not_for_symbols('copy')
    as_in_context: Any = _not_for_symbols('as_in_context')
    detach: Any = _not_for_symbols('detach')
    backward: Any = _not_for_symbols('backward')


def _shown(attrs):
    """Attributes as programs see them: hidden ones under both of their names."""
    result = dict(attrs)
    for key in HIDDEN:
        if f'__{key}__' in attrs:
            result[key] = attrs[f'__{key}__']
    return result


def _is_cast(node):
    return node.op is not None and node.op.name in ('amp_cast', 'amp_multicast')


def _without_casts(entries):
    """A graph whose operators read what mixed precision casts for them.  A cast that is an output stays one."""
    flat = [e for node, i in entries for e in (node.inputs if _is_cast(node) else [(node, i)])]
    new = iter(rebuild(flat, lambda node, inputs: list(inputs) if _is_cast(node) else None))
    casts: dict[int, Any] = {}
    found = []
    for node, i in entries:
        if not _is_cast(node):
            found.append(next(new))
            continue
        inputs = tuple(next(new) for _ in node.inputs)
        cast = casts.setdefault(id(node), Node(node.op, node.name, node.attrs, inputs, node.subgraphs))
        found.append((cast, i))
    return found


# ---------------------------------------------------------------------- making symbols
STYPES = ('default', 'row_sparse', 'csr')          # their numbers in files


def var(name: str, attr: Mapping[str, str] | None = None, shape: Shape | None = None, lr_mult: float | None = None,
        wd_mult: float | None = None, dtype: DType | None = None, init: Init | None = None, stype: str | None = None,
        **kwargs: Any) -> Symbol:
    """A variable: an argument of the computation.

    `shape` (0: unknown length), `dtype`, `init` (an initializer) and the multipliers are hints that inference and
    training take up.
    """
    if not isinstance(name, str):
        raise TypeError(f'the name of a variable must be a string, not {name!r}')
    attrs = {}
    for key, value in AttrScope.current.get(attr).items():
        if not isinstance(value, str):
            raise ValueError(f'var: attribute {key} must be a string, not {kind_of(value)}')
        attrs[f'__{key}__' if key in HIDDEN else key] = value
    if shape is not None:
        attrs['__shape__'] = str(shape)
    if lr_mult is not None:
        attrs['__lr_mult__'] = str(lr_mult)
    if wd_mult is not None:
        attrs['__wd_mult__'] = str(wd_mult)
    if dtype is not None:
        from .._ops.core.attributes import dtype_flag
        attrs['__dtype__'] = str(dtype_flag(dtype))
    if init is not None:
        if not isinstance(init, str) and not hasattr(init, 'dumps'):
            raise TypeError(f'var: init must be an initializer of mx.init or the name of one, not {kind_of(init)}')
        attrs['__init__'] = init if isinstance(init, str) else init.dumps()
    if stype is not None:
        if stype not in STYPES:
            raise ValueError(f"var: stype must be {', '.join(map(repr, STYPES))}, not {stype!r}")
        attrs['__storage_type__'] = str(STYPES.index(stype))
    for key, value in kwargs.items():
        if not (key.startswith('__') and key.endswith('__')):
            raise ValueError(f'attribute {key} of variable {name} must be named __{key}__')
        attrs[key] = str(value)
    return make(Symbol, [(Node(None, name, attrs), 0)])


Variable = var


def Group(symbols: Sequence[Symbol], create_fn: Any = Symbol) -> Symbol:
    """One symbol with the outputs of several."""
    if isinstance(symbols, SymbolBase) or not isinstance(symbols, Iterable):
        raise TypeError(f'Group takes a list of one or more symbols, not {kind_of(symbols)}')
    symbols = list(symbols)
    if not symbols or any(not isinstance(s, SymbolBase) for s in symbols):
        raise TypeError('Group takes a list of one or more symbols')
    return make(create_fn if isinstance(create_fn, type) else Symbol, [e for s in symbols for e in s._entries])


def load(fname: Path) -> Symbol:
    """A symbol from a file (or URL) that `save` wrote; files of older versions are brought up to date."""
    if not isinstance(fname, (str, bytes)) and not hasattr(fname, '__fspath__'):
        raise TypeError('the file name must be a string')
    return make(Symbol, _json.loads(paths.read_bytes(fname), str(fname)))


def load_json(json_str: str) -> Symbol:
    """A symbol from the text that `tojson` gave."""
    if not isinstance(json_str, str):
        raise TypeError(f'load_json takes a string, not {kind_of(json_str)}')
    return make(Symbol, _json.loads(json_str))


fromjson = load_json


_suggest_names(globals())
_suggest_members(Symbol, {
    'shape': 'infer_shape(...), or an operator that needs no shape (reshape_like, shape_array, 0 and -1 in reshape),',
    'dtype': 'infer_type(...)', 'ndim': 'infer_shape(...)'})


hooks.Symbol = Symbol


_explain_methods(Symbol, 'attr list_attr infer_shape infer_shape_partial infer_type save bind simple_bind eval '
                 'gradient optimize_for')
_explain_kinds(globals(), ('var', 'Group', 'load', 'load_json'))
