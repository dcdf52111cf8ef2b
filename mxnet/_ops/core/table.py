"""The table of operators, and the decorator that puts one into it.

A declaration is a plain function on torch tensors:

    @operator(shapes=fully_connected_shapes, optional={'bias': lambda a: not a['no_bias']})
    def FullyConnected(data, weight, bias=None, *, num_hidden: int, no_bias: bool = False, flatten: bool = True):
        '''What a user must know.'''
        ...

- Positional parameters are input tensors, named as upstream names them (`fc1_weight` and keyword calls depend on it);
  `*data` stands for any number of them.
- Keyword parameters are attributes; `attributes.py` says which annotations there are.  Four are supplied by the
  calling side: `training: Training` (is autograd in train mode), `rng: Rng` (the `torch.Generator` of the device) and
  `ctx: Device` (a program gives 'cpu(0)' or a Context; the function receives a `torch.device`) and
  `subgraphs: Subgraphs` (the bodies of loops and branches), `site: Site` (a `CallSite`).
- The function returns a tensor, or a tuple: first the visible outputs, then the new value of each input that
  `mutates` names (BatchNorm's moving averages, an optimizer's momentum); the caller writes these back.
- It computes with torch only, so that it is differentiable, runs on any device, and on meta tensors gives shapes.

Everything else that is known about operators (mx.nd, mx.sym, methods, stubs, the reference) derives from this table.
"""
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

from ..._names import nearest
from ...base import MXNetError
from .attributes import COUNT, Device, Kind, Rng, Subgraphs, Training, bad_attribute, kind_of

TABLE: dict[str, 'Operator'] = {}     # by declared name
NAMES: dict[str, 'Operator'] = {}     # by declared name and every alias

REQUIRED = inspect.Parameter.empty
_Function = TypeVar('_Function', bound=Callable[..., Any])


class CallSite:
    """Where an operator is called from: the context of its arrays, and a dict that lives as long as the executor that
    calls it (None: there is nothing that lives longer than the call).
    """

    __slots__ = ('context', 'kept')

    def __init__(self, context: Any = None, kept: dict[Any, Any] | None = None) -> None:
        self.context, self.kept = context, kept


Site = Annotated[Any, CallSite]
_COUNTS = ('num_args', 'num_arrays', 'num_outputs', 'num_tensors', 'num_weights')
_SUPPLIED = {Training: 'wants_training', Rng: 'wants_rng', Subgraphs: 'wants_subgraphs', Site: 'wants_site'}


@dataclass(slots=True)
class Attribute:
    name: str
    kind: Kind
    default: Any            # REQUIRED where there is none

    @property
    def required(self) -> bool:
        return self.default is REQUIRED


@dataclass(slots=True, eq=False)
class Operator:
    """One row of the table."""

    name: str
    function: Callable
    aliases: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()                  # all that it may have, in order; () where variadic is set
    variadic: str | None = None                   # name of the attribute that counts the inputs
    variadic_names: Callable | None = None        # attributes -> names of the inputs of a variadic operator
    attributes: dict[str, Attribute] = field(default_factory=dict)
    positional: tuple[str, ...] = ()              # order of inputs and attributes in a call without keywords
    optional: Mapping[str, Callable] = field(default_factory=dict)   # input -> (attributes -> is it there)
    aux: tuple[str, ...] = ()                     # inputs that are states, not arguments, of a graph
    mutates: tuple[str, ...] | Callable = ()      # inputs whose new value the function returns after its outputs
    ones: Callable | None = None                  # attributes -> input that a call fills with ones (fix_gamma), or None
    ones_always: bool = False                     # does it in graphs that learn nothing, too
    outputs: tuple[str, ...] | Callable = ('output',)   # names of the visible outputs (or: attributes -> names)
    hidden: int | Callable = 0                    # outputs a graph counts beyond these (saved masks, statistics)
    shapes: Callable | None = None                # finds unknown input shapes: see shapes.py
    shapes_back: Callable | None = None           # the same from those of the outputs, too
    initializers: Mapping[str, str] = field(default_factory=dict)   # input -> how a graph's variable for it starts
    same_dtype: tuple[str, ...] = ()              # inputs that must agree in dtype ('*': all)
    fresh: bool = False                           # the result is always new memory in row-major order
    elementwise: bool = False                     # all inputs and outputs have one shape (and dtype)
    result_dtype: str | None = None               # dtype of the outputs, where it is always the same
    dtype_of: str | None = None                   # the input that outputs have the dtype of, if not the first; where
                                                  # nothing tells it, it has that of the attribute `dtype`
    methods: tuple[str, ...] = ()                 # names under which arrays have it as a method
    special_gradient: bool = False                # the gradient is not the mathematical one: see gradients.py
    auto_inputs: bool = True                      # may a symbol create missing inputs by itself
    wants_training: bool = False
    wants_rng: bool = False
    wants_device: bool = False
    wants_subgraphs: bool = False                 # loops and branches: their bodies, as functions of lists of tensors
    wants_site: bool = False
    extra: Callable | None = None                 # (attributes, undeclared ones as texts) -> attributes (Custom)
    has_required: bool = False
    doc: str = ''

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.aliases)

    # ------------------------------------------------------------------ attributes
    def parse(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Typed values of the given attributes; defaults are left to the function."""
        parsed, undeclared = {}, {}
        for name, value in given.items():
            attribute = self.attributes.get(name)
            if attribute is None:
                if self.extra is not None and not name.startswith('__'):
                    undeclared[name] = str(value)
                    continue
                if not self.attributes or (name.startswith('__') and name.endswith('__')):
                    # upstream looks at no arguments here, and programs give broadcast_maximum an axis; `__layout__` and
                    # the like are notes, not arguments
                    continue
                raise unknown_argument(self, name)
            try:
                parsed[name] = attribute.kind.parse(value)
            except (ValueError, TypeError, KeyError, SyntaxError, OverflowError, AttributeError, RecursionError,
                    MemoryError, MXNetError):
                raise bad_attribute(self.name, name, value, attribute.kind) from None
        for attribute in self.attributes.values():
            if attribute.required and attribute.name not in parsed:
                raise MXNetError(f'operator {self.name}: required argument {attribute.name} is missing; '
                                 f'it takes {attribute.kind.accepts}')
        return parsed if self.extra is None else self.extra(parsed, undeclared)

    def complete(self, parsed: Mapping[str, Any]) -> dict[str, Any]:
        """Parsed attributes with the defaults filled in."""
        complete = {a.name: parsed.get(a.name, a.default) for a in self.attributes.values()}
        return complete if self.extra is None else {**parsed, **complete}

    # ------------------------------------------------------------------ inputs and outputs
    def input_names(self, attributes: Mapping[str, Any], count: int | None = None) -> tuple[str, ...]:
        """Names of the inputs that are there with these (complete) attributes."""
        if self.variadic is not None:
            if self.variadic_names is not None:
                return tuple(self.variadic_names(attributes))
            n = count if count is not None else attributes[self.variadic]
            return tuple(f'arg{i}' for i in range(n))
        return tuple(n for n in self.inputs if n not in self.optional or self.optional[n](attributes))

    def output_names(self, attributes: Mapping[str, Any]) -> tuple[str, ...]:
        """Names of the visible outputs with these (complete) attributes."""
        return self.outputs(attributes) if callable(self.outputs) else self.outputs

    def output_count(self, attributes: Mapping[str, Any]) -> int:
        """All outputs of a node in a graph, hidden ones included."""
        hidden = self.hidden(attributes) if callable(self.hidden) else self.hidden
        return len(self.output_names(attributes)) + hidden

    def mutated(self, attributes: Mapping[str, Any], count: int) -> tuple[int, ...]:
        """Positions of the inputs that the function returns new values for."""
        if callable(self.mutates):
            return tuple(self.mutates(attributes, count))
        return tuple(self.inputs.index(n) for n in self.mutates)

    def aux_names(self, attributes: Mapping[str, Any], count: int | None = None) -> tuple[str, ...]:
        """Names of the inputs that are states of a graph: of a variadic operator, what it mutates."""
        if self.variadic is None:
            return tuple(n for n in self.input_names(attributes) if n in self.aux)
        names = self.input_names(attributes, count)
        if not self.mutates:
            return ()
        positions = self.mutated(attributes, len(names))
        if any(not 0 <= i < len(names) for i in positions):
            raise MXNetError(f'operator {self.name}: {self._locations(attributes)} names an input that does not exist; '
                             f'there are {len(names)}')
        return tuple(names[i] for i in positions)

    def _locations(self, attributes: Mapping[str, Any]) -> str:
        return ', '.join(f'{k}={v!r}' for k, v in attributes.items() if 'locs' in k) or 'it'

    def __repr__(self) -> str:
        return f'<operator {self.name}>'


def unknown_argument(op: Operator, name: str) -> MXNetError:
    known = [*op.inputs, *op.attributes]
    close = nearest(name, known)
    hint = f'; did you mean {close}?' if close else f'; it takes {", ".join(known)}'
    return MXNetError(f'operator {op.name}: unknown argument {name}{hint}')


def operator(name: str | None = None, *, aliases: Iterable[str] = (), positional: Iterable[str] | None = None,
             **facts: Any) -> Callable[[_Function], _Function]:
    """Declares an operator; the keyword arguments are fields of `Operator`.

    `name` is needed only where it is not a Python name of the function.
    """
    def declare(function: _Function) -> _Function:
        op = _read_declaration(name or function.__name__, function, tuple(aliases), positional, facts)
        for n in op.names:
            if n in NAMES:
                raise ValueError(f'two declarations for operator {n}')
            NAMES[n] = op
        TABLE[op.name] = op
        return function
    return declare


def _read_declaration(name: str, function: Callable[..., Any], aliases: tuple[str, ...],
                      positional: Iterable[str] | None, facts: dict[str, Any]) -> Operator:
    inputs: list[str] = []
    attributes: dict[str, Attribute] = {}
    supplied: dict[str, Any] = {}
    starred = False
    for p in inspect.signature(function).parameters.values():
        if p.kind is p.VAR_POSITIONAL:
            starred = True
        elif p.kind is p.VAR_KEYWORD:
            continue                    # what `extra` makes of undeclared attributes
        elif p.kind is p.POSITIONAL_OR_KEYWORD:
            inputs.append(p.name)
        elif p.annotation in _SUPPLIED:
            supplied[_SUPPLIED[p.annotation]] = True
        else:
            if p.annotation is Device:
                supplied['wants_device'] = True
            kind = Kind() if p.annotation is Device else kind_of(p.annotation)
            if p.annotation is int and (p.name == facts.get('variadic') or p.name in _COUNTS):
                kind = COUNT
            attributes[p.name] = Attribute(p.name, kind, p.default)
    if starred and 'variadic' not in facts:
        raise TypeError(f'operator {name} has *inputs, so its declaration must say variadic=...')
    for key in ('outputs', 'aux', 'mutates', 'same_dtype', 'methods'):
        if isinstance(facts.get(key), str):
            facts[key] = (facts[key],)
    order = tuple(positional) if positional else (*inputs, *attributes)
    return Operator(name, function, aliases, inputs=tuple(inputs), attributes=attributes, positional=order,
                    has_required=any(a.required for a in attributes.values()), doc=inspect.getdoc(function) or '',
                    **facts, **supplied)
