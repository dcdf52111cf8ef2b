"""A graph lowered to a flat list of calls on tensors.

`Program(entries)` numbers the variables; `run` computes the outputs from their tensors.  Everything that executes a
graph goes through it: executors, hybridized blocks, exported models.
"""
from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from traceback import clear_frames
from typing import TYPE_CHECKING, Any

import torch

from ..._dispatch import interceptors, run_kernel
from ..._ops.core.complaints import CAUGHT, OWN, PROGRAMS, said
from ..._ops.core.dtypes import NAME
from ..._ops.core.moves import FORWARD, Move, backward_ranks
from ..._state import state
from ..._wording import is_out_of_memory
from ...base import MXNetError, OutOfRange
from .labels import Labels
from .node import Entry, Node, as_written, states_of, topological
from .static_shapes import have_static_shapes

if TYPE_CHECKING:
    from ..._ops.core.table import Operator
    from ..infer.facts import Facts
    from ..types import Generators

# operators whose backward pass moves their states: batch norms not on the types of devices in `FORWARD`
_BATCH_NORMS = frozenset(('BatchNorm', 'BatchNorm_v1', '_contrib_BatchNormWithReLU', '_contrib_SyncBatchNorm'))
MOVED_BACKWARD = _BATCH_NORMS | {'IdentityAttachKLSparseReg'}


class Call:
    """One operator call: where its inputs come from and where its outputs go (positions in a list of values)."""

    __slots__ = ('node', 'function', 'sources', 'first', 'count', 'attributes', 'rng', 'training', 'mutated', 'place',
                 'dead', 'bodies', 'site', 'same_dtype')

    def __init__(self, node: Node, sources: Sequence[int | None], first: int) -> None:
        op = node.op
        self.node = node
        self.function = op.function
        self.sources = tuple(sources)
        self.first = first
        self.count = node.visible_count()
        self.attributes = dict(node.attributes)
        self.rng, self.training = op.wants_rng, op.wants_training
        self.mutated: tuple[Any, ...] = tuple(sources[i] for i in _positions(op, node))     # None: it is absent
        self.place: Any = None     # torch.device, for operators without inputs and for placed groups
        self.dead: tuple[int, ...] = ()         # values that nothing needs after this call
        self.bodies = [Program(entries) for entries in node.subgraphs]
        # positions of the inputs that must agree in dtype
        self.same_dtype = _same_dtype(op, len(self.sources))
        self.site: Any = None      # CallSite, where the caller keeps what a custom operator remembers


def _same_dtype(op: Operator, count: int) -> tuple[int, ...]:
    if not op.same_dtype or count < 2 or op.name == 'broadcast_power':      # ONNX's Pow takes numbers of any dtypes
        return ()
    if op.same_dtype == ('*',) or op.variadic is not None:
        return tuple(range(count))
    return tuple(i for i, name in enumerate(op.inputs[:count]) if name in op.same_dtype)


def _check_dtypes(call: Call, inputs: Sequence[Any]) -> None:
    """Refuses inputs of different dtypes, as a call of the operator on arrays does."""
    found = [(i, inputs[i].dtype) for i in call.same_dtype if isinstance(inputs[i], torch.Tensor)]
    for i, dtype in found[1:]:
        if dtype is not found[0][1]:
            names = call.node.op.inputs if call.node.op.variadic is None else [f'arg{n}' for n in range(len(inputs))]
            raise MXNetError(f'node {call.node.name}: operator {call.node.op.name}: inputs must have the same dtype, '
                             f'but {names[found[0][0]]} is {NAME[found[0][1]]} and {names[i]} is {NAME[dtype]}; '
                             'convert one with astype')


def _positions(op: Operator, node: Node) -> tuple[int, ...]:
    """Positions in the padded inputs (absent ones counted) of what a node mutates."""
    if not op.mutates:
        return ()
    if op.variadic is not None:
        return op.mutated(node.attributes, len(node.inputs))
    names: Any = op.mutates         # a function of the attributes only if it is variadic
    return tuple(op.inputs.index(n) for n in names)


def leaves_open(op: Operator, shape: Any) -> bool:
    """Whether lengths of a new array are left to be told by its neighbours: -1, and 0 where arrays are never empty."""
    # `_zeros` and `_ones` begin the states of recurrent layers in np mode, too; mx.np has others
    never_empty = not state.np_shape or op.name in ('_zeros', '_ones')
    # a number is no shape, but a parameter of that name: the gamma distribution has one
    return isinstance(shape, tuple) and any(n < 0 or n == 0 and never_empty for n in shape)


def counts_open(op: Operator, attributes: Mapping[str, Any]) -> bool:
    """Whether a range ends where its neighbours say (`arange(infer_range=True)`)."""
    return op.name == '_arange' and attributes['infer_range'] and attributes['stop'] is None


def _check_states(call: Call, variables: Sequence[Node]) -> None:
    """Refuses states that are computed: a call could not change them."""
    for position, number in zip(_positions(call.node.op, call.node), call.mutated, strict=False):
        if number is not None and number >= len(variables):
            op = call.node.op
            what = f'input {position}' if op.variadic is not None else op.inputs[position]
            raise MXNetError(f'node {call.node.name}: operator {op.name} changes {what}, which must be a variable '
                             'and not the result of another operator')


class Program:
    """The calls that compute a graph's outputs.

    `variables` are the graph's, in order; `arguments` and `states` the numbers of those that are arguments and
    auxiliary states.
    """

    def __init__(self, entries: Sequence[Entry]) -> None:
        order = topological(entries)
        self.entries: Any = list(entries)
        self.variables: Any = [n for n in order if n.is_variable]
        auxiliary = states_of(order)
        self.states: list[int] = [i for i, n in enumerate(self.variables) if id(n) in auxiliary]
        self.arguments: list[int] = [i for i, n in enumerate(self.variables) if id(n) not in auxiliary]
        places = {id(n): i for i, n in enumerate(self.variables)}
        size = len(self.variables)
        self.calls: list[Call] = []
        for node in as_written(order):
            if node.is_variable:
                continue
            places[id(node)] = size
            sources: list = [places[id(c)] + i for c, i in node.inputs]
            if node.op.variadic is None:
                present = dict(zip(node.input_names(), sources, strict=True))
                sources = [present.get(n) for n in node.op.inputs]
                while sources and sources[-1] is None:
                    sources.pop()
            self.calls.append(Call(node, sources, size))
            _check_states(self.calls[-1], self.variables)
            size += max(1, node.visible_count())
        self.size = size
        self.outputs: list[int] = [places[id(n)] + i for n, i in entries]
        self.placed = False            # are there calls with a device of their own
        self.individual = False        # are there calls that hold what belongs to one executor, or to its shapes
        self.inductor = False          # is it to be compiled
        self.folds = True              # may plans for predictions fold parameters into others
        self.rearranges = False        # may plans with gradients on a CPU keep channels last, which rounds otherwise
        # does it draw random numbers, be it in a loop
        self.draws: bool = any(c.rng or any(body.draws for body in c.bodies) for c in self.calls)
        # variables that a run fills with ones: of a graph that learns (or is recorded), and of any
        self.ones: Any = self._filled(False)
        self.ones_always: Any = self._filled(True)
        self.convolves: bool = any(c.node.op.name == 'Convolution' for c in self.calls)
        # the numbers of variables that are weights of convolutions
        weights = [c.sources[1] for c in self.calls if c.node.op.name == 'Convolution']
        self.kernels: Sequence[int] = [w for w in dict.fromkeys(weights) if w is not None and w < len(self.variables)]
        # variables and outputs that operators read again in the backward pass, without torch noticing
        self.late_reads, self.late_outputs = self._late_reads(None)
        self._late_if_alike: tuple[int, ...] | None = None
        self.has_static_shapes: bool = have_static_shapes(self.calls)
        self._written: dict[str, tuple[int, ...]] = {}
        self._behind: tuple[dict[int, frozenset[int]], list[frozenset[int]]] | None = None
        self._mark_dead()

    def late_reads_of(self, tensors: Sequence[torch.Tensor]) -> tuple[int, ...]:
        """`late_reads` for a call with these tensors.  Some operators read again only what they have converted: not if
        everything is of one dtype.
        """
        if not self.late_reads:
            return self.late_reads
        [dtype, *others] = {t.dtype for t in tensors}
        if others or any(call.attributes.get('dtype') not in (None, dtype, NAME[dtype]) for call in self.calls):
            return self.late_reads
        if self._late_if_alike is None:
            self._late_if_alike, _ = self._late_reads(tensors[0])
        return self._late_if_alike

    def _late_reads(self, like: torch.Tensor | None) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The numbers of variables, and the positions of outputs, that backward passes of operators read.

        like: a tensor of the dtype that all values have, or None where it is not known
        """
        variables: dict[int, None] = {}
        outputs: dict[int, None] = {}
        for call in self.calls:
            for names, positions, when in getattr(call.node.op.function, 'late_reads', ()):
                given = None if like is None else [like] * len(call.sources)
                if when is not None and not when(given, call.attributes):
                    continue
                for name, source in zip(call.node.op.inputs, call.sources, strict=False):
                    if name in names and source is not None:
                        if source < len(self.variables):
                            variables[source] = None
                        else:
                            outputs.update((i, None) for i, place in enumerate(self.outputs) if place == source)
                places = {call.first + i for i in positions}
                outputs.update((i, None) for i, place in enumerate(self.outputs) if place in places)
        return tuple(variables), tuple(outputs)

    def behind_states(self) -> dict[int, frozenset[int]]:
        """{number of a state: numbers of the variables that the call which writes it depends on}."""
        return self._dependencies()[0]

    def behind_outputs(self) -> list[frozenset[int]]:
        """For each output, the numbers of the variables that it depends on."""
        return self._dependencies()[1]

    def _dependencies(self) -> tuple[dict[int, frozenset[int]], list[frozenset[int]]]:
        if self._behind is None:
            before = {i: frozenset((i,)) for i in range(len(self.variables))}
            states: dict[int, frozenset[int]] = {}
            for call in self.calls:
                inputs = [s for s in call.sources if s is not None and s not in call.mutated]
                mine = frozenset().union(*[before[s] for s in inputs])
                before.update((call.first + i, mine) for i in range(max(1, call.count)))
                for state_number in call.mutated:
                    if state_number is not None:
                        states[state_number] = states.get(state_number, frozenset()) | mine
            self._behind = states, [before[number] for number in self.outputs]
        return self._behind

    def ranks(self, wanted: Container[int], heads: Iterable[int] | None = None) -> dict[int, int]:
        """{`first` of a call: when upstream's backward pass runs it}.

        wanted: the numbers of the variables that have a gradient
        heads: the positions of the outputs that it begins with; None: all
        """
        count = len(self.variables)
        owners = list(range(count)) + [-1] * (self.size - count)
        calls = {}
        for call in self.calls:
            calls[call.first] = call
            for number in range(call.first, call.first + max(1, call.count)):
                owners[number] = call.first

        def inputs(number: int) -> list[tuple[int, int]]:
            if number < count:
                return []
            call = calls[number]
            return [(owners[s], s - owners[s]) for s in call.sources
                    if s is not None and s not in call.mutated and (s >= count or s in wanted)]

        starts = self.outputs if heads is None else [self.outputs[i] for i in heads]
        starts = [owners[s] for s in starts]
        return backward_ranks(starts, inputs, [i for i in range(count) if i in wanted])

    def written_forward(self, device: torch.device) -> tuple[int, ...]:
        """The numbers of the variables that a forward pass in train mode writes on a device."""
        if device.type not in self._written:
            self._written[device.type] = tuple({
                number: None for call in self.calls for number in call.mutated
                if number is not None and number < len(self.variables)
                and (call.node.op.name not in MOVED_BACKWARD
                     or device.type in FORWARD and call.node.op.name in _BATCH_NORMS)})
        return self._written[device.type]

    def ones_where(self, wanted: Iterable[int]) -> tuple[int, ...]:
        """Of `ones` those of calls that gradients of the wanted variables go through."""
        learned, kept = set(wanted), set[int]()
        for call in self.calls if self.ones else ():
            sources = {s for s in call.sources if s is not None and s not in call.mutated}
            if not learned.isdisjoint(sources):
                learned.update(range(call.first, call.first + max(1, call.count)))
                kept.update(s for s in sources if s in self.ones)
        return tuple(n for n in self.ones if n in kept)

    def _filled(self, always: bool) -> tuple[int, ...]:
        """Numbers of the variables that BatchNorm keeps at 1 (`fix_gamma`)."""
        found = set()
        for call in self.calls:
            op = call.node.op
            if op.ones is not None and (op.ones_always or not always):
                name = op.ones(op.complete(call.attributes))
                place = None if name is None else call.sources[op.inputs.index(name)]
                if place is not None and place < len(self.variables):
                    found.add(place)
        return tuple(sorted(found))

    @property
    def open_shapes(self) -> list[Call]:
        """Calls that make arrays whose shape has lengths left open (0), to be found by inference."""
        return [c for c in self.calls if not c.sources and (leaves_open(c.node.op, c.attributes.get('shape'))
                                                            or counts_open(c.node.op, c.attributes))]

    def with_shapes(self, facts: Facts) -> Program:
        """Fills the open lengths in from what inference found."""
        for call in self.open_shapes:
            shape = facts.shape((call.node, 0))
            if shape is not None:
                a = call.attributes
                if 'infer_range' in a:
                    if shape[0] > 0:
                        a['stop'] = a['start'] + a['step'] * (shape[0] / a['repeat'])
                else:
                    a['shape'] = shape
                self.individual = True
        return self

    def _mark_dead(self) -> None:
        """Notes after which call each value is needed no more, so that its memory can go."""
        last = {}
        for k, call in enumerate(self.calls):
            for s in call.sources:
                if s is not None:
                    last[s] = k
            for i in range(call.first, call.first + call.count):
                last.setdefault(i, k)
        kept = set(self.outputs) | set(range(len(self.variables)))
        dead: dict[int, list[int]] = {}
        for value, k in last.items():
            if value not in kept:
                dead.setdefault(k, []).append(value)
        for k, values in dead.items():
            self.calls[k].dead = tuple(values)

    def run(self, tensors: Sequence[torch.Tensor], *, training: bool, generator: Callable, device: torch.device,
            monitor: Any = None) -> tuple[list[torch.Tensor], dict]:
        """-> (outputs, new values of states by number of the variable; a list of `Move` where backward writes a state).

        `generator(device)` gives the random generator for a device.  `monitor.inputs(node, tensors)` sees, and may
        replace, what a node takes in, `monitor.output(node, number, tensor)` sees what it gives.
        """
        values: list = [*tensors, *[None] * (self.size - len(tensors))]
        states: dict = {}
        for call in self.calls:
            inputs = [None if s is None else values[s] for s in call.sources]
            attributes = call.attributes
            where = call.place or device
            if self.placed:
                inputs = [t if t is None or t.device == where else t.to(where) for t in inputs]
            if call.rng or call.training or call.node.op.wants_device or call.bodies:
                attributes = dict(attributes)
                if call.bodies:
                    attributes['subgraphs'] = [_runner(b, training, generator, where) for b in call.bodies]
                if call.rng:
                    attributes['rng'] = generator(where)
                if call.training:
                    attributes['training'] = training
                if call.node.op.wants_device:
                    attributes['ctx'] = where
                if call.site is not None:
                    attributes['site'] = call.site
            if monitor is not None:
                inputs = monitor.inputs(call.node, inputs)
            if call.same_dtype:
                _check_dtypes(call, inputs)
            try:
                if interceptors and type(monitor) is not Labels:        # Labels: the program is traced, not computed
                    result = run_kernel(call.node.op, call.function, inputs, attributes, call.node)
                else:
                    result = call.function(*inputs, **attributes)
            except MXNetError as error:
                raise plain_kind(error)(f'node {call.node.name}: {error}{_of_label(call, inputs)}') from error
            except CAUGHT as error:
                if call.node.op.name in PROGRAMS and not isinstance(error, OWN):
                    raise
                failure = _call_error(call, inputs, error)
                if is_out_of_memory(str(error)):
                    # the error would keep them, and a program that catches it needs their memory
                    values.clear()
                    inputs.clear()
                    result = value = None
                    clear_frames(error.__traceback__)
                raise failure from error
            result = result if type(result) is tuple else (result,)
            count = call.count
            values[call.first:call.first + count] = result[:count]
            for variable, value in zip(call.mutated, result[count:], strict=True):
                if type(value) is Move or type(value) is list:
                    more: list[Any] = value if type(value) is list else [value]
                    for move in more:
                        move.call = call.first
                    if isinstance(states.get(variable), torch.Tensor):
                        raise NotImplementedError(f'{call.node.name}: a state that forward and backward '
                                                  'both write')
                    states[variable] = [*states.get(variable, ()), *more]
                elif value is not None:
                    states[variable] = value
                    values[variable] = value
            if monitor is not None:
                for i in range(count):
                    monitor.output(call.node, i, result[i])
            for i in call.dead:
                values[i] = None
        return [values[i] for i in self.outputs], states


def _runner(body: Program, training: bool, generator: Generators, device: torch.device) -> Callable[..., Any]:
    """A body as a function of tensors.  Loops and branches leave states as they are; `with_states` gives them, too."""
    def with_states(tensors: Sequence[Any]) -> tuple[list[Any], dict[int, Any]]:
        return body.run(tensors, training=training, generator=generator, device=device)

    def run(tensors: Sequence[Any]) -> list[Any]:
        return with_states(tensors)[0]
    run.with_states = with_states       # type: ignore[attr-defined]  # loops and branches look for it
    return run


def plain_kind(error: MXNetError) -> type[Exception]:
    """The type of an error that is also one of Python's own, which programs may wait for; else MXNetError."""
    return type(error) if isinstance(error, (ValueError, IndexError, TypeError)) else MXNetError


# where the losses of gluon bring label and prediction together: {operator: which input is the label}
_LABELS = {'reshape_like': 0, 'pick': 1, 'elemwise_sub': 0, 'broadcast_sub': 0}


def _of_label(call: Call, inputs: Sequence[Any]) -> str:
    """For an error in the graph of a loss, what it means: the shape of the label does not fit the prediction."""
    at = _LABELS.get(call.node.op.name)
    if at is None or len(inputs) < 2 or re.search(r'loss\d+_[a-z_]+\d*$', call.node.name) is None:
        return ''
    return f'; the label has shape {tuple(inputs[at].shape)}, the prediction {tuple(inputs[1 - at].shape)}'


def _call_error(call: Call, inputs: Sequence[Any], error: Exception) -> MXNetError:
    names = call.node.input_names()
    given = ', '.join(f'{n}={tuple(t.shape)}' for n, t in
                      zip(names, [t for t in inputs if t is not None], strict=False))
    kind = OutOfRange if isinstance(error, IndexError) else MXNetError
    why = error if call.node.op.name in PROGRAMS else said(error, call.node.op.name)
    return kind(f'node {call.node.name}: operator {call.node.op.name}({given}): {why}{_of_label(call, inputs)}')
