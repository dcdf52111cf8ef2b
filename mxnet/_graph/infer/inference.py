"""Shapes and dtypes of every entry of a graph, from what is known of some.

Information flows both ways.  A node's outputs follow from its inputs by running its function on meta tensors.  Unknown
inputs follow from the operator's shape rule (a weight from its data), from the rule that elementwise operators have
one shape, and from *probing*: the function is run with two or three trial lengths for an unknown axis; an output
length that does not move is known, and one that moves along a line is solved for the length that it is known to have.

An unknown length is 0, or -1 where arrays may be empty (`np_shape`); a wholly unknown shape is None, and so are unknown
dtypes.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import torch

from ..._cache import Cache
from ..._ops.core.attributes import literal
from ..._ops.core.complaints import CAUGHT, OWN, PROGRAMS, called_with, completed, said
from ..._ops.core.dtypes import torch_dtype
from ..._ops.core.gradients import is_constant
from ..._ops.core.shapes import NoAxis
from ..._ops.core.table import Operator
from ...base import MXNetError
from ..ir.control_flow import body_inputs
from ..ir.node import Entry, Node, topological
from ..ir.program import Program, _runner, counts_open, leaves_open
from .facts import Facts, complete, describe
from .sizes import Sizes

if TYPE_CHECKING:
    from ..types import PartialShape

TRIAL = 5040             # divisible by all small numbers, so that splits and strides come out even
MOST_PROBED = 200_000    # unknown axes times inputs of one call; each axis is tried four times
META = torch.device('meta')
HALVES = (torch.float16, torch.bfloat16)
CUTS = ('slice', 'slice_axis')          # they may give less than they are asked for, if the axis is shorter than trials
LIMIT = 20000            # visits that are remembered


def _for_rules(shape: PartialShape | None) -> PartialShape | None:
    """A shape as the rules of `_ops.core.shapes` read it: an unknown length is 0."""
    return shape if not shape or min(shape) >= 0 else tuple(max(0, n) for n in shape)


def _from_rules(shape: PartialShape, unknown: int) -> PartialShape:
    return tuple(unknown if n == 0 else n for n in shape) if 0 in shape else shape


# ---------------------------------------------------------------------- one operator
@lru_cache(maxsize=20000)
def _outputs(op: Operator, attributes: tuple, shapes: tuple, dtypes: tuple,
             bodies: tuple = ()) -> tuple[tuple[PartialShape, torch.dtype], ...] | str:
    """(shapes, dtypes) of an operator's visible outputs, or the text of an error."""
    try:
        tensors = [None if s is None else torch.empty(s, dtype=d, device=META)
                   for s, d in zip(shapes, dtypes, strict=True)]
        result = _call(op, attributes, tensors, bodies)
    except CAUGHT as error:
        if op.name in PROGRAMS:
            if isinstance(error, OWN):
                return str(error)
            raise
        return str(completed(op, error, dict(attributes)) if isinstance(error, MXNetError) else
                   f'{said(error, op.name)} (called with {called_with(dict(attributes))})')
    count = len(op.output_names(dict(attributes)))
    return tuple((tuple(r.shape), r.dtype) for r in result[:count])


def _call(op: Operator, attributes: Any, tensors: Sequence[torch.Tensor | None], bodies: Any) -> tuple[Any, ...]:
    supplied = dict(attributes)
    if op.wants_training:
        supplied['training'] = True
    if op.wants_rng:
        supplied['rng'] = None
    if op.wants_device:
        supplied['ctx'] = META
    if bodies:
        no_generator: Any = lambda device: None         # noqa: E731  # nothing is drawn on meta tensors
        supplied['subgraphs'] = [_runner(Program(entries), True, no_generator, META) for entries in bodies]
    with Sizes():
        result = op.function(*tensors, **supplied)
    return result if isinstance(result, tuple) else (result,)


def run_on_meta(node: Node, shapes: Sequence, dtypes: Sequence) -> tuple[tuple[PartialShape, torch.dtype], ...] | str:
    """As `_outputs`, for a node's inputs (present ones only)."""
    shapes, dtypes = _padded(node, shapes, dtypes)
    return _outputs(node.op, _frozen(node.attributes), tuple(shapes), tuple(dtypes),
                    tuple(tuple(entries) for entries in node.subgraphs))


def has_gradient(node: Node, shapes: Sequence, dtypes: Sequence) -> bool:
    """Whether a node's first output sends a gradient to any of its inputs: argmax does not."""
    shapes, dtypes = _padded(node, shapes, dtypes)
    tensors = [None if s is None else torch.empty(s, dtype=d, device=META, requires_grad=d.is_floating_point)
               for s, d in zip(shapes, dtypes, strict=True)]
    with torch.enable_grad():
        first, *_ = _call(node.op, _frozen(node.attributes), tensors, tuple(map(tuple, node.subgraphs)))
    return first.grad_fn is not None and not is_constant(first)


def _padded(node: Node, shapes: Sequence[Any], dtypes: Sequence[Any]) -> tuple[Sequence[Any], list[torch.dtype]]:
    """Shapes and dtypes of all inputs of an operator, None for absent ones."""
    op = node.op
    if op.variadic is None:
        present = dict(zip(node.input_names(), zip(shapes, dtypes, strict=True), strict=True))
        pairs = [present.get(n, (None, None)) for n in op.inputs]
        while pairs and pairs[-1][0] is None and op.inputs[len(pairs) - 1] not in present:
            pairs.pop()
        shapes, dtypes = [p[0] for p in pairs], [p[1] for p in pairs]
    likely = next((d for d in dtypes if d is not None), torch.float32)
    return shapes, [d or likely for d in dtypes]


def _frozen(attributes: Mapping) -> tuple[tuple[str, Any], ...]:
    return tuple(attributes.items())


# ---------------------------------------------------------------------- one node
# (operator, attributes, what was known) -> what a visit has learned of that
_learned: Cache[Any, Any] = Cache(LIMIT)


def _visit(node: Node, facts: Facts, need_shapes: bool) -> None:
    """Learns what one operator tells of its inputs and outputs.

    This depends on the operator, its attributes and what is known of these entries.  Networks repeat their blocks, so
    it is remembered.
    """
    if node in facts.settled:
        return
    places = facts.places.get(node)
    if places is None:
        places = facts.places[node] = _places(node)
    entries, kind = places
    shapes, dtypes = facts.shapes, facts.dtypes
    key = (kind, need_shapes, facts.waits, facts.unknown, *[shapes.get(e) for e in entries],
           *[dtypes.get(e) for e in entries])
    found = _learned.get(key) if kind is not None else None
    if found is None:
        before = [shapes.get(e) for e in entries], [dtypes.get(e) for e in entries]
        _learn(node, facts, need_shapes)
        new_shapes = [(i, shapes[e]) for i, e in enumerate(entries) if shapes.get(e) != before[0][i]]
        new_dtypes = [(i, dtypes[e]) for i, e in enumerate(entries) if dtypes.get(e) is not before[1][i]]
        shaped = need_shapes and all(complete(shapes.get(e)) for e in entries)
        found = new_shapes, new_dtypes, shaped, None not in [dtypes.get(e) for e in entries]
        if kind is not None:
            _learned[key] = found
    else:
        for i, shape in found[0]:
            shapes[entries[i]] = shape
        for i, dtype in found[1]:
            dtypes[entries[i]] = dtype
        if found[0] or found[1]:
            facts.changed = True
    if found[2]:
        facts.shaped.add(node)
    if found[3] and (found[2] or not need_shapes):
        facts.settled.add(node)         # nothing can be added to that


def _places(node: Node) -> tuple[Sequence[tuple[int, int]], Any]:
    """Where facts of a node's inputs and outputs are, and what a visit depends on besides them.

    The latter is None where that is more: code of the program, graphs, an entry that is there twice.
    """
    entries = [*[(id(source), i) for source, i in node.inputs], *[(id(node), i) for i in range(node.visible_count())]]
    if node.subgraphs or node.op.name in PROGRAMS or len({*entries}) != len(entries):
        return entries, None
    return entries, (node.op, len(node.inputs), _frozen(node.attributes))


def _learn(node: Node, facts: Facts, need_shapes: bool) -> None:
    outputs = [(node, i) for i in range(node.visible_count())]
    if need_shapes:
        _visit_shapes(node, node.op, outputs, facts)
    _visit_dtypes(node, node.op, outputs, facts)


def _visit_shapes(node: Node, op: Operator, outputs: Sequence[Entry], facts: Facts) -> None:
    if op.elementwise:
        entries = [*node.inputs, *outputs]
        first, others = entries[0], entries[1:]
        for entry in others:
            facts.learn_shape(first, facts.shape(entry), node)
        for entry in others:
            facts.learn_shape(entry, facts.shape(first), node)
    elif op.shapes is not None or op.shapes_back is not None:
        names = node.input_names()
        known = {n: _for_rules(facts.shape(e)) for n, e in zip(names, node.inputs, strict=True)}
        try:
            if op.shapes_back is None:
                found = op.shapes(known, node.attributes)       # type: ignore[misc]  # one of the two is there
            else:
                found = op.shapes_back(known, node.attributes, [_for_rules(facts.shape(e)) for e in outputs])
        except CAUGHT as error:             # more axes than a rule knows, or fewer, or attributes that make no sense
            if op.name in PROGRAMS:
                raise
            if isinstance(error, MXNetError):
                raise MXNetError(str(completed(op, error, node.attributes))) from error
            given = ', '.join(f'{n}={s}' for n, s in known.items() if s)
            why = f': {error}' if isinstance(error, NoAxis) else ''
            axis = node.attributes.get('dim', node.attributes.get('axis'))
            if isinstance(error, IndexError) and not why and isinstance(axis, int):
                why = f': there is no axis {axis}'
            raise MXNetError(f'{describe(node)} cannot take these shapes: {given}{why} (called with '
                             f'{called_with(node.attributes)})') from error
        inputs = dict(zip(names, node.inputs, strict=True))
        for name, shape in found.items():
            if name in inputs:
                facts.learn_shape(inputs[name], _from_rules(shape, facts.unknown), node)
    if node.subgraphs and not all(complete(facts.shape(e)) for e in node.inputs):
        _look_inside(node, facts)
    shapes = [facts.shape(e) for e in node.inputs]
    if any(s is None for s in shapes):
        return
    if not shapes and leaves_open(op, node.attributes.get('shape')):
        # its neighbours tell the lengths
        facts.learn_shape(outputs[0], tuple(facts.unknown if n <= 0 else n for n in node.attributes['shape']), node)
        return
    if not shapes and counts_open(op, node.attributes):
        facts.learn_shape(outputs[0], (facts.unknown,), node)
        return
    dtypes = [facts.dtype(e) for e in node.inputs]
    if not any(facts.unknown in s for s in shapes):     # type: ignore[operator]  # none of them is None
        found = run_on_meta(node, shapes, dtypes)
        if isinstance(found, str):
            if facts.waits and None in dtypes:
                return                  # it may be for want of the right dtype
            given = ', '.join(f'{n}={s}' for n, s in zip(node.input_names(), shapes, strict=True))
            raise MXNetError(f'{describe(node)} cannot take these shapes: {given}: {found}')
        for entry, (shape, _) in zip(outputs, found, strict=True):
            facts.learn_shape(entry, shape, node)
    elif not op.elementwise:
        _probe(node, [s for s in shapes if s is not None], dtypes, outputs, facts)


def _look_inside(node: Node, facts: Facts) -> None:
    """Shapes of what a loop or branch takes in (weights), from the graphs of its bodies."""
    for entries, (sources, sliced) in zip(node.subgraphs, body_inputs(node), strict=True):
        names = [v.name for v in topological(entries) if v.is_variable]
        known = {}
        for name, i in zip(names, sources, strict=True):
            shape = facts.shape(node.inputs[i])
            if shape is not None:
                known[name] = (shape[1:] or (1,)) if i in sliced else shape
        found = infer(entries, known, {})
        inside = {v.name: found.shape((v, 0)) for v in topological(entries) if v.is_variable}
        for name, i in zip(names, sources, strict=True):
            if inside[name] is not None and i not in sliced:
                facts.learn_shape(node.inputs[i], inside[name], node)


def _probe(node: Node, shapes: Sequence[PartialShape], dtypes: Sequence[torch.dtype | None], outputs: Sequence[Entry],
           facts: Facts) -> None:
    unknown = [(i, j) for i, s in enumerate(shapes) for j, n in enumerate(s)
               if n == facts.unknown]

    def trial(lengths: Sequence[int]) -> list[PartialShape] | None:
        filled = [list(s) for s in shapes]
        for (i, j), n in zip(unknown, lengths, strict=True):
            filled[i][j] = n
        found = run_on_meta(node, [tuple(s) for s in filled], dtypes)
        return None if isinstance(found, str) else [s for s, _ in found]

    first, second = (trial([TRIAL * k] * len(unknown)) for k in (1, 2))
    if first is None or second is None:
        return
    for entry, a, b in zip(outputs, first, second, strict=True):
        if len(a) == len(b):
            shape = [x if x == y else facts.unknown for x, y in zip(a, b, strict=True)]
            if node.op.name in CUTS:
                shape = [facts.unknown if n == facts.unknown else m for n, m in zip(shapes[0], shape, strict=True)]
            facts.learn_shape(entry, tuple(shape), node)
    if len(unknown) * len(shapes) > MOST_PROBED:
        return
    for place, (i, j) in enumerate(unknown):
        length = _solve(place, len(unknown), trial, first, [facts.shape(e) for e in outputs], facts.unknown)
        if length is not None:
            shape = list(shapes[i])
            shape[j] = length
            facts.learn_shape(node.inputs[i], tuple(shape), node)


def _solve(place: int, count: int, trial: Callable[[Sequence[int]], list[PartialShape] | None],
           first: list[PartialShape], known: Sequence[PartialShape | None], unknown: int) -> int | None:
    """The length of one unknown axis for which the outputs get their known lengths."""
    moved = []
    for k in (2, 3):
        lengths = [TRIAL] * count
        lengths[place] = TRIAL * k
        found = trial(lengths)
        # an axis that cannot change alone is tied to the others (batches that are concatenated): change them together
        found = trial([TRIAL * k] * count) if found is None else found
        if found is None:
            return None
        moved.append(found)
    for at_one, at_two, at_three, shape in zip(first, moved[0], moved[1], known, strict=True):
        if shape is None or not len(at_one) == len(at_two) == len(at_three) == len(shape):
            continue
        for a, b, c, length in zip(at_one, at_two, at_three, shape, strict=True):
            step = b - a
            if length != unknown and step and c - b == step:
                more, rest = divmod((length - a) * TRIAL, step)
                if not rest and more + TRIAL > unknown:
                    return more + TRIAL
    return None


def _visit_dtypes(node: Node, op: Operator, outputs: Sequence[Entry], facts: Facts) -> None:
    names = node.input_names()
    tied = [e for n, e in zip(names, node.inputs, strict=True)
            if op.elementwise or op.same_dtype == ('*',) or n in op.same_dtype]
    if op.elementwise and op.result_dtype is None and 'dtype' not in op.attributes:
        tied += outputs
    known = next((facts.dtype(e) for e in tied if facts.dtype(e) is not None), None)
    for entry in tied:
        facts.learn_dtype(entry, known, node)
    told = _told_dtype(node, op)
    if told is not None and facts.dtype(node.inputs[0]) is not None:
        entry = node.inputs[names.index(op.dtype_of)]
        if facts.dtype(entry) is None:
            facts.learn_dtype(entry, told, node)
    if op.aux and facts.dtype(node.inputs[0]) is not None:
        # averages, and what goes with them, are not kept in halves
        first = facts.dtype(node.inputs[0])
        for entry in node.inputs[1:]:
            if facts.dtype(entry) is None:
                facts.learn_dtype(entry, torch.float32 if first in HALVES else first, node)
    dtypes = [facts.dtype(e) for e in node.inputs]
    shapes = [facts.shape(e) for e in node.inputs]
    if None not in dtypes and None not in shapes and not any(facts.unknown in s for s in shapes if s is not None):
        found = run_on_meta(node, shapes, dtypes)
        if not isinstance(found, str):
            for entry, (_, dtype) in zip(outputs, found, strict=True):
                facts.learn_dtype(entry, dtype, node)
            return
    for entry in outputs:
        facts.learn_dtype(entry, _likely_dtype(node, op, dtypes), node)


def _likely_dtype(node: Node, op: Operator, dtypes: Sequence[torch.dtype | None]) -> torch.dtype | None:
    """An output's dtype where shapes are unknown: what the attribute says, else that of the first input."""
    if op.result_dtype is not None:
        return torch_dtype(op.result_dtype)
    if op.dtype_of is not None:
        return dtypes[node.input_names().index(op.dtype_of)]
    given = node.attributes.get('dtype')
    if given is not None and isinstance(given, str) and given != 'None':
        return torch_dtype(given)
    return dtypes[0] if dtypes else torch.float32


def _told_dtype(node: Node, op: Operator) -> torch.dtype | None:
    """The dtype that an attribute gives the input that outputs have the dtype of; None if there is no such thing."""
    given = node.attributes.get('dtype') if op.dtype_of is not None else None
    return None if given is None else torch_dtype(given)


def fill_dtypes(node: Node, facts: Facts, default: torch.dtype | None) -> None:
    """Inputs that nothing tells the dtype of take that of the node's first input of a floating one, else the default.

    Integers are mostly indices, which say nothing of what they choose from.
    """
    known = next((d for d in map(facts.dtype, node.inputs) if d is not None and d.is_floating_point), default)
    told = _told_dtype(node, node.op) if node.inputs and facts.dtype(node.inputs[0]) is not None else None
    for name, entry in zip(node.input_names(), node.inputs, strict=True):
        if facts.dtype(entry) is None and entry[0].is_variable:
            facts.learn_dtype(entry, told if told is not None and name == node.op.dtype_of else known, node)


# ---------------------------------------------------------------------- a graph
def infer(entries: Sequence[Entry], shapes: Mapping[str, Sequence[int]], dtypes: Mapping[str, object], *,
          need_shapes: bool = True, default_dtype: torch.dtype | None = None, spread: bool = False) -> Facts:
    """Everything that follows from the variables' known shapes and dtypes, by name.

    With `default_dtype`, variables that nothing is known of get it.  With `spread`, those that meet others of a
    floating dtype in an operator get that: what asks for types alone has no shapes to find them by.
    """
    nodes = topological(entries)
    facts = Facts()
    for node in nodes:
        if node.is_variable:
            shape = shapes.get(node.name, _declared(node, '__shape__'))
            if shape is not None:
                facts.learn_shape((node, 0), _given(shape, facts.unknown), node)
            dtype = dtypes.get(node.name) or _declared_dtype(node)
            if dtype is not None:
                facts.learn_dtype((node, 0), torch_dtype(dtype), node)
    operators = [n for n in nodes if not n.is_variable]
    facts.waits = default_dtype is not None
    _settle(operators, facts, need_shapes)
    if spread:
        for node in operators:
            if any(d is not None and d.is_floating_point for d in map(facts.dtype, node.inputs)):
                fill_dtypes(node, facts, None)
                _visit(node, facts, need_shapes)
        _settle(operators, facts, need_shapes)
    facts.waits = False
    if default_dtype is not None:
        for node in operators:
            if node not in facts.settled:
                fill_dtypes(node, facts, default_dtype)
                _visit(node, facts, need_shapes)
        _settle(operators, facts, need_shapes)
        for node in nodes:
            if node.is_variable and facts.dtype((node, 0)) is None:
                facts.learn_dtype((node, 0), default_dtype, node)
    return facts


def _given(shape: Sequence[int], unknown: int) -> PartialShape | None:
    """A shape that a program gives; None where it says nothing, as () does unless that is a shape like others."""
    if not shape and not unknown:
        return None
    return tuple(unknown if n < 0 else n for n in map(int, shape))


def _settle(operators: Sequence[Node], facts: Facts, need_shapes: bool) -> None:
    """Forward and backward in turns until nothing new is found."""
    forward = True
    while len(facts.settled) < len(operators):
        facts.changed = False
        for node in operators if forward else reversed(operators):
            _visit(node, facts, need_shapes)
        # without any dtype and with all shapes, there is nothing left that could be learned from
        if not facts.changed or not facts.dtypes and len(facts.shaped) == len(operators):
            return
        forward = not forward


def _declared(node: Node, key: str) -> tuple[int, ...] | None:
    text = node.attrs.get(key)
    try:
        return None if text is None else _numbers(text)
    except (ValueError, TypeError):
        raise MXNetError(f'variable {node.name}: {key}={str(text)[:60]!r} is not a shape such as (2, 3)') from None


@lru_cache(maxsize=4096)
def _numbers(text: str) -> tuple[int, ...]:
    value = literal(text)
    return (value,) if isinstance(value, int) else tuple(value)


def _declared_dtype(node: Node) -> Any:
    text = node.attrs.get('__dtype__')
    try:
        return None if text is None else _parsed_dtype(text)
    except (MXNetError, KeyError, ValueError, TypeError):
        raise MXNetError(f'variable {node.name}: __dtype__={str(text)[:60]!r} is not the number or the name of a dtype'
                         ) from None


@lru_cache(maxsize=64)
def _parsed_dtype(text: str) -> Any:
    from ..._ops.core.attributes import DataType
    return None if text == '-1' else DataType().parse(text)
