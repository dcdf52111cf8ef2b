"""Quantization-aware training: a graph that computes in floating point with the rounding of int8.

A fake quantization is a chain of plain operators, `round(clip(x / t * 127)) * t / 127`; its rounding has the gradient
1 (`_contrib_round_ste`), and clipping has its own.  The last node of a chain has a note with the name of the value, so
that the chain can be found and taken out again, also after the graph was saved.
"""
from typing import Any

from .._graph.ir.node import Node, rebuild, topological
from .._ops.core.table import NAMES
from ..symbol.symbol import make
from ._quantize_graph import _FOLLOWING, _WEIGHTED

NOTE = '__fake_quantize__'          # on the last node of a chain: the name of the value that it rounds
THRESHOLD = '_threshold'


def _node(op: str, name: str, inputs: Any, **attrs: Any) -> Any:
    return Node(NAMES[op], name, {k: str(v) for k, v in attrs.items()}, inputs), 0


def _chain(entry: Any, threshold: Any, name: str, steps: float = 127.0) -> Any:
    """An entry, rounded to whole steps between -threshold and threshold; what is beyond it is cut off."""
    scaled = _node('broadcast_div', f'{name}_fq_scaled', [entry, threshold])
    counted = _node('_mul_scalar', f'{name}_fq_steps', [scaled], scalar=steps)
    clipped = _node('clip', f'{name}_fq_clipped', [counted], a_min=-128.0, a_max=127.0)
    rounded = _node('_contrib_round_ste', f'{name}_fq_rounded', [clipped])
    back = _node('broadcast_mul', f'{name}_fq_back', [rounded, threshold])
    last, _ = _node('_div_scalar', f'{name}_fq', [back], scalar=127.0)
    last.attrs[NOTE] = name
    return last, 0


def _weight(entry: Any, by_channel: bool, axes: int) -> Any:
    """A weight, rounded within its own range at that time."""
    name = entry[0].name
    size = _node('abs', f'{name}_fq_abs', [entry])
    options = {'axis': tuple(range(1, axes)), 'keepdims': True} if by_channel else {}
    most = _node('max', f'{name}_fq_max', [size], **options)
    if not by_channel:
        most = _node('Reshape', f'{name}_fq_one', [most], shape=(1,) * axes)
    fixed = _node('BlockGrad', f'{name}_fq_range', [most])
    # of a channel that is 0 throughout
    above = _node('_plus_scalar', f'{name}_fq_above', [fixed], scalar=1e-12)
    return _chain(entry, above, name)


def make_aware(symbol: Any, values: Any, names: Any, by_channel: bool, axes: Any) -> Any:
    """A symbol in which the named values, and the weights of the named layers, are rounded as int8 is.

    values: names of values, whose thresholds become variables;  names: of layers;  axes: {weight: number of axes}
    """
    done: dict[int, Any] = {}
    made: dict[str, Any] = {}

    def rounded(entry, name):
        if name not in made:
            variable = Node(None, name + THRESHOLD, {'__shape__': '(1,)', '__lr_mult__': '0.0', '__wd_mult__': '0.0'})
            # `requantize`, behind layers, has 127 steps to the threshold; `quantize_v2`, elsewhere, has 127.5
            again = entry[0].name in names or not entry[0].is_variable and entry[0].op.name == 'elemwise_add'
            made[name] = _chain(entry, (variable, 0), name, 127.0 if again else 127.5)
        return made[name]

    def change(node, inputs):
        if node.is_variable:
            return [rounded((node, 0), node.name)] if node.name in values else None
        if node.name in names:
            inputs = list(inputs)
            key = id(inputs[1][0])
            if key not in done:
                done[key] = _weight(inputs[1], by_channel, axes[inputs[1][0].name])
            inputs[1] = done[key]
        copy = Node(node.op, node.name, node.attrs, inputs, node.subgraphs)
        return [rounded((copy, i), copy.entry_name(i)) if i < copy.visible_count() and copy.entry_name(i) in values
                else (copy, i) for i in range(max(1, copy.output_count()))]
    return make(type(symbol), rebuild(symbol._entries, change))


def without_fakes(symbol: Any) -> Any:
    """-> (the symbol as it was, {value that it rounded: variable with its range}, weights that it rounded)"""
    values: dict[str, str] = {}
    weights: list[str] = []

    def change(node, inputs):
        if node.is_variable or NOTE not in node.attrs:
            return None
        entry = inputs[0]
        while entry[0].op.name != 'broadcast_div':          # where the chain begins
            entry = entry[0].inputs[0]
        entry = entry[0].inputs[0]
        name = node.attrs[NOTE]
        threshold = node.inputs[0][0].inputs[1][0]
        if threshold.is_variable:
            # the name of the value in the new graph: chains before it are gone there
            values[entry[0].entry_name(entry[1])] = threshold.name
        else:
            weights.append(name)
        return [entry]
    return make(type(symbol), rebuild(symbol._entries, change)), values, weights


def follows(entry: Any, values: Any) -> bool:
    """Whether an entry is a rounded value, or one that was only moved or compared since."""
    while True:
        node, i = entry
        if (node.name if node.is_variable else node.entry_name(i)) in values:
            return True
        if node.is_variable or node.op.name not in _FOLLOWING:
            return False
        entry = node.inputs[0]


def weighted(symbol: Any) -> list[Any]:
    """The layers with weights that are computed in int8."""
    return [n for n in topological(symbol._entries) if not n.is_variable and n.op.name in _WEIGHTED]
