"""What a function on tensors does, as a graph of ATen calls.

`trace` runs the function once, on the tensors it is given, and writes every call down on its way.  To run is what makes
it quick and exact: shapes, strides and dtypes are those of the results, and nothing of torch's compiler is imported to
predict them.  The function sees stand-ins (`Traced`), tensors without memory that answer everything but what values
they have: where a program looks at values, what it does depends on them, and there is no graph (`CannotTrace`).

Nothing that the run is given is written to, and random numbers come from generators that are thrown away.  Of what it
computes, only the results are handed out.
"""
from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.fx import Graph

from ..._ops.core.traceable import CannotTrace
from ..._torch.dispatch import (
    SEES_ALL,
    DispatchMode,
    ShadowBase,
    StandIn,
    SubclassMode,
    no_dispatch,
    signature,
    stand_in,
)
from ..._torch.memory import storage_id
from ..._torch.operators import UNSAFE_VIEW

if TYPE_CHECKING:
    from ..types import Generators

aten = torch.ops.aten
META = torch.device('meta')


class Traced(StandIn):
    """The stand-in for a tensor while a function is traced; calls on it arrive at the `Tracer`."""

    behind: torch.Tensor
    node: torch.fx.Node

    # torch's own annotation is of the function that turns dispatch off
    @classmethod
    def __torch_dispatch__(cls, function: Any, types: Any, args: tuple[Any, ...] = (),     # type: ignore[override]
                           kwargs: dict[str, Any] | None = None) -> Any:
        if SubclassMode.current is not None:
            return SubclassMode.current.__torch_dispatch__(function, types, args, kwargs)
        raise CannotTrace(f'{function} on a tensor of a trace that is over')

    def data_ptr(self) -> int:
        raise CannotTrace('a traced tensor has no memory')

    def _no_values(self, *args: Any, **kwargs: Any) -> Any:
        raise CannotTrace('the values of a traced tensor are not known')

    numpy = tolist = __array__ = __dlpack__ = _no_values


class Shadow(ShadowBase):
    """What is kept of a result, as `meta['val']` of its node: dtype, device, shape and strides, no values.

    Calls on shadows give shadows, so that passes can ask what a view or a cast would look like.
    """

    # torch's own annotation is of the function that turns dispatch off
    @classmethod
    def __torch_dispatch__(cls, function: Any, types: Any, args: tuple[Any, ...] = (),     # type: ignore[override]
                           kwargs: dict[str, Any] | None = None) -> Any:
        device = next(a.device for a in args if isinstance(a, Shadow))
        given = [torch.empty_strided(a.shape, a.stride(), dtype=a.dtype, device=META) if isinstance(a, Shadow) else a
                 for a in args]
        return stand_in(Shadow, function(*given, **(kwargs or {})), device)


class _Facts:
    """What has to be known of an operator."""

    __slots__ = ('name', 'stops', 'mutates', 'written', 'draws', 'shares')

    def __init__(self, function: Any) -> None:
        known = signature(function)
        self.name = function.overloadpacket.__name__
        self.stops = known.gives_numbers or torch.Tag.data_dependent_output in function.tags \
            or torch.Tag.dynamic_output_shape in function.tags and function is not aten.index.Tensor
        self.mutates, self.written = known.mutable, known.written
        self.draws = torch.Tag.nondeterministic_seeded in function.tags
        self.shares = function.is_view or known.aliases or known.mutable        # a result may be memory of an argument


_facts: dict[Any, _Facts] = {}
# Calls whose results share memory with an argument, though their schema does not say so, and those that say so: passes
# write results into memory that is needed no more.
_VIEWS = {UNSAFE_VIEW: aten.view.default, aten.unsafe_split.Tensor: aten.split.Tensor,
          aten.unsafe_split_with_sizes.default: aten.split_with_sizes.default}


class Tracer(DispatchMode):
    """Writes down the calls that are made while it is active, in this thread and in those of torch's engine.

    graph: the calls; constants: {name: tensor or generator} of its attributes; label: `meta['label']` of calls to come
    """

    def __init__(self) -> None:
        super().__init__()
        self.graph = Graph()
        self.constants: dict[str, Any] = {}
        self.label: tuple[str, str] | None = None
        # id of a constant -> (constant, its node, what calls are given for it, the state that a generator was in)
        self._known: dict = {}
        self._given: dict = {}              # memory that is not the trace's own
        self._defaults: list = []           # torch's own generators, and their states before the trace
        self._copies = _Copies()            # of generators, where draws from them are not seen
        if not SEES_ALL:
            self._keep_defaults((), None)

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False                # its import takes longer than all that is traced here

    def input(self, tensor: torch.Tensor) -> Traced:
        """The stand-in for a tensor that the function is given."""
        with no_dispatch():      # this is no part of the trace
            tensor = tensor.detach()
            self._is_given(tensor)
            node = self.graph.placeholder(f'x{len(self.graph.nodes)}')
            node.meta['val'] = stand_in(Shadow, tensor)
            return self._traced(tensor, node)

    def input_like(self, tensor: torch.Tensor) -> Traced:
        """The stand-in for one that is given later, of the shape of a traced tensor."""
        with no_dispatch():
            ones = torch.ones(tensor.shape, dtype=tensor.dtype, device=tensor.device)
        return self.input(ones)

    def generators(self, generator: Generators) -> Generators:
        """The function `generator(device)` as it is: calls that draw from a generator are given a copy of it."""
        return generator if SEES_ALL else self._copies.of(generator)

    def _is_given(self, tensor: torch.Tensor) -> None:
        storage = tensor.untyped_storage()
        self._given[storage_id(storage)] = storage

    def draws(self) -> list[tuple[torch.Generator, torch.Tensor, torch.Tensor]] | None:
        """See `Trace`."""
        if not SEES_ALL:
            drawn = any(not torch.equal(g.get_state(), before) for g, before in self._defaults)
            if drawn or self._copies.are_used():
                raise CannotTrace('random numbers are not traced without a dispatch mode of torch')
            return []
        if self._defaults:
            return None
        return [(g, before, used.get_state()) for g, _, used, before in self._known.values() if before is not None]

    def close(self) -> None:
        """Leaves torch's own generators as they were."""
        for generator, state in self._defaults:
            generator.set_state(state)

    @staticmethod
    def _traced(tensor: torch.Tensor, node: torch.fx.Node) -> Traced:
        made = stand_in(Traced, tensor)
        made.behind, made.node = tensor, node
        return made

    def __torch_dispatch__(self, function: Any, types: Any, args: Sequence[Any] = (),
                           kwargs: dict[str, Any] | None = None) -> Any:
        function = _VIEWS.get(function, function)
        facts = _facts.get(function)
        if facts is None:
            facts = _facts[function] = _Facts(function)
        if facts.stops or function is aten.index.Tensor and _has_masks(args[1]):
            raise CannotTrace(f'{function} looks at values')
        if facts.draws:
            self._keep_defaults(args, kwargs)
        if function is aten.lift_fresh.default:         # a constant that the function has made, and may write to
            function = aten.lift_fresh_copy.default
        pairs = [self.take(a) for a in args]
        named = {k: self.take(v) for k, v in kwargs.items()} if kwargs else {}
        if facts.mutates:
            if not facts.written:
                raise CannotTrace(f'{function} writes to arguments that are not known')
            self._check(facts, args, kwargs)
        run = _CHEAPER.get(function, function)
        result = run(*[p[0] for p in pairs], **{k: p[0] for k, p in named.items()})
        if not facts.shares:
            _check_memory(function, (*[p[0] for p in pairs], *[p[0] for p in named.values()]), result)
        node = self.graph.create_node('call_function', function, tuple([p[1] for p in pairs]),
                                      {k: p[1] for k, p in named.items()}, name=facts.name)
        if self.label is not None:
            node.meta['label'] = self.label
        if facts.mutates:
            written = _written(facts, args, kwargs)
            for array in written:
                if array.behind.shape != array.shape or array.behind.stride() != array.stride():
                    raise CannotTrace(f'{function} changes the shape of what it is given')
            if isinstance(result, torch.Tensor):
                for array in written:
                    if result is array.behind:
                        node.meta['val'] = stand_in(Shadow, result)
                        array.node = node
                        return array
        return self._give(result, node)

    def _give(self, result: Any, node: torch.fx.Node) -> Any:
        if isinstance(result, torch.Tensor):
            if result.layout is not torch.strided:
                raise CannotTrace(f'{node.target} gives a tensor without strides')
            node.meta['val'] = stand_in(Shadow, result)
            return self._traced(result, node)
        if not isinstance(result, (list, tuple)):
            return result
        seen: dict[int, Traced] = {}
        parts, shadows, kept = [], [], []
        for i, part in enumerate(result):
            if isinstance(part, torch.Tensor) and id(part) in seen:       # one tensor twice
                part = seen[id(part)]
                shadows.append(part.node.meta['val'])
            elif isinstance(part, torch.Tensor):
                item = self.graph.create_node('call_function', operator.getitem, (node, i), name='getitem')
                if self.label is not None:
                    item.meta['label'] = self.label
                given = self._give(part, item)
                kept.append(part)
                seen[id(part)] = part = given
                shadows.append(item.meta['val'])
            else:
                shadows.append(part)
            parts.append(part)
        node.meta['val'] = tuple(shadows)
        return type(result)(parts) if type(result) in (list, tuple) else tuple(parts)

    def take(self, value: Any) -> tuple[Any, Any]:
        """(what a call is given, what its node is given)."""
        kind = type(value)
        if kind is Traced:
            if value.node.graph is not self.graph:
                raise CannotTrace('a tensor of another trace was kept')
            return value.behind, value.node
        if kind is list or kind is tuple:
            pairs = [self.take(v) for v in value]
            return kind([p[0] for p in pairs]), kind([p[1] for p in pairs])
        if isinstance(value, (torch.Tensor, torch.Generator)):
            return self._constant(value)
        return value, value

    def result(self, value: Any) -> tuple[Any, Any]:
        """As `take`, for a result: a constant is copied, since it is written to where results go."""
        if type(value) is Traced:
            return self.take(value)
        # before all calls: what comes after the last output is taken for the backward pass
        first = next((n for n in self.graph.nodes if n.op == 'call_function'), None)
        with contextlib.nullcontext() if first is None else self.graph.inserting_before(first):
            found, node = self.take(value)
        with self.graph.inserting_after(node):
            copy = self.graph.create_node('call_function', aten.clone.default, (node,), name='clone')
        copy.meta['val'] = node.meta['val']
        return found.clone(), copy

    def _constant(self, value: Any) -> tuple[Any, torch.fx.Node]:
        # where plain tensors can be written to unseen, a constant is what one has been when it was used
        key = id(value) if SEES_ALL else (id(value), getattr(value, '_version', None))
        known = self._known.get(key)
        used: Any
        if known is None:
            if isinstance(value, torch.Tensor):
                kept = used = value.detach() if SEES_ALL else value.detach().clone()
                self._is_given(used)
                kind, before = 'tensor', None
            elif not SEES_ALL:
                raise CannotTrace('random numbers are not traced without a dispatch mode of torch')
            else:
                kept, kind, before = value, 'generator', value.get_state()
                used = torch.Generator(value.device)
                used.set_state(before)
            name = f'_{kind}_constant{len(self.constants)}'
            self.constants[name] = kept
            node = self.graph.create_node('get_attr', name, (), {})
            if before is None:
                node.meta['val'] = stand_in(Shadow, used)
            known = self._known[key] = value, node, used, before
        return known[2], known[1]

    def _check(self, facts: _Facts, args: Sequence[Any], kwargs: dict[str, Any] | None) -> None:
        """Only what the trace has made itself may be written to."""
        for array in _written(facts, args, kwargs):
            if type(array) is not Traced or storage_id(array.behind.untyped_storage()) in self._given:
                raise CannotTrace(f'{facts.name} writes to a tensor that the function was given')

    def _keep_defaults(self, args: Sequence[Any], kwargs: dict[str, Any] | None) -> None:
        """Saves the states of torch's own generators before a call draws from them."""
        if self._defaults or any(isinstance(a, torch.Generator) for a in (*args, *(kwargs or {}).values())):
            return
        generators = [torch.default_generator]
        if torch.cuda.is_initialized():
            generators += torch.cuda.default_generators
        self._defaults = [(g, g.get_state()) for g in generators]


class _Copies:
    """Copies of generators, for runs that must draw from no others."""

    def __init__(self) -> None:
        self._made: list[tuple[torch.Generator, torch.Tensor]] = []     # (copy, its state before)

    def of(self, generator: Generators) -> Generators:
        """The function `generator(device)`, with copies."""
        def copied(device: torch.device) -> torch.Generator:
            given = generator(device)
            made = torch.Generator(given.device)
            made.set_state(given.get_state())
            self._made.append((made, made.get_state()))
            return made
        return copied

    def are_used(self) -> bool:
        """Whether something was drawn from a copy."""
        return any(not torch.equal(made.get_state(), before) for made, before in self._made)


class Untraced:
    """Takes the place of a `Tracer` for a run of the same function that is not traced."""

    label = None

    def input(self, tensor: torch.Tensor) -> torch.Tensor:
        """The tensor itself, apart from its history."""
        return tensor.detach()

    def input_like(self, tensor: torch.Tensor) -> torch.Tensor:
        """Ones, as a `Tracer` runs with."""
        return torch.ones_like(tensor)

    def generators(self, generator: Generators) -> Generators:
        """The function `generator(device)`, with copies of the generators."""
        return _Copies().of(generator)


def run_untraced(function: Callable[[Any], Any]) -> None:
    """Runs what `trace` would trace."""
    with torch.enable_grad(), torch.random.fork_rng(range(torch.cuda.device_count() * torch.cuda.is_initialized())):
        function(Untraced())


def _convolution_backward(gradient: torch.Tensor, image: torch.Tensor, weight: torch.Tensor, bias_sizes: Sequence[int],
                          *rest: Any) -> Any:
    """As the operator, but that the gradient of the bias has no values.

    To add it up takes a GPU memory for many parts of the sum: more than anything else in the step of a large network.
    """
    *options, (first, second, third) = rest
    if not third or not gradient.is_cuda:
        return aten.convolution_backward.default(gradient, image, weight, bias_sizes, *rest)
    found = aten.convolution_backward.default(gradient, image, weight, None, *options, [first, second, False])
    return found[0], found[1], gradient.new_empty(bias_sizes)


# calls that are run in another way while they are traced, with results of the same kinds
_CHEAPER = {aten.convolution_backward.default: _convolution_backward}


def _check_memory(function: Any, given: Iterable[Any], result: Any) -> None:
    """Refuses calls whose results share memory with arguments, or with each other, though their schema does not say so.
    """
    def memories(values: Any) -> list[int]:
        parts = {id(part): part for v in values for part in (v if isinstance(v, (list, tuple)) else (v,))}
        return [storage_id(t.untyped_storage()) for t in parts.values() if isinstance(t, torch.Tensor) and t.numel()]

    mine = memories(result if isinstance(result, (list, tuple)) else (result,))
    if len(set(mine)) < len(mine) or not set(mine).isdisjoint(memories(given)):
        raise CannotTrace(f'{function} gives memory that is not its own')


def _written(facts: _Facts, args: Sequence[Any], kwargs: dict[str, Any] | None) -> list[Any]:
    """The tensors that a call writes to."""
    found: list[Any] = []
    for i, name in facts.written:
        given = args[i] if i < len(args) else kwargs.get(name) if kwargs else None
        found += given if isinstance(given, (list, tuple)) else [given]
    return [t for t in found if t is not None]


def _has_masks(positions: Iterable[torch.Tensor | None]) -> bool:
    return any(p is not None and p.dtype in (torch.bool, torch.uint8) for p in positions)


class Trace:
    """graph, and {name: constant} of its attributes
    results: what the run has computed (all of it on a CPU)
    draws: (generator, its state before, its state after) of those that were drawn from; None if torch's own were
    """

    def __init__(self, tracer: Tracer, results: Iterable[Any]) -> None:
        pairs = [(None, None) if r is None else tracer.result(r) for r in results]
        self.graph, self.constants, self.results = tracer.graph, tracer.constants, [p[0] for p in pairs]
        self.graph.output([p[1] for p in pairs])
        self.draws = tracer.draws()


def trace(function: Callable[[Tracer], Iterable[Any]]) -> Trace:
    """Traces `function(tracer) -> results`, which makes its inputs with `tracer.input`."""
    tracer = Tracer()
    try:
        with torch.enable_grad(), tracer:
            results = function(tracer)
        return Trace(tracer, results)
    finally:
        tracer.close()
