"""How the nodes of loops and branches hand their inputs to the graphs that they run (their bodies)."""
from collections.abc import Mapping, Sequence
from typing import Any

from .node import Node, topological

BODIES = {'_foreach': 1, '_while_loop': 2, '_cond': 3}


def body_inputs(node: Node) -> list[tuple[Sequence[int], Sequence[int]]]:
    """For each body: the inputs of the node that its variables are, and those of them that it receives in slices."""
    a = node.attributes
    if node.op.name == '_CachedOp':
        return [(range(len(node.inputs)), ())]
    if node.op.name == '_foreach':
        places = (*a['in_data_locs'], *a['in_state_locs'], *a['remain_locs'])
        return [([places.index(i) for i in range(len(places))], range(len(a['in_data_locs'])))]
    return [(a[key], ()) for key in ('cond_input_locs', 'func_input_locs', 'then_input_locs', 'else_input_locs')
            if key in a]


def control_flow_problem(node: Node) -> str:
    """What contradicts itself in a node that was read from a file; '' if nothing does."""
    name, a, count = node.op.name, node.attributes, len(node.inputs)
    if name not in BODIES:
        return f'runs no graphs, but there are {len(node.subgraphs)}'
    if len(node.subgraphs) != BODIES[name]:
        return f'runs {BODIES[name]} graphs, but there are {len(node.subgraphs)}'
    if name == '_foreach':
        places = [*a['in_data_locs'], *a['in_state_locs'], *a['remain_locs']]
        if sorted(places) != list(range(count)):
            return f'has {count} inputs, but in_data_locs, in_state_locs and remain_locs place {places}'
    for key, value in a.items():
        limit = len(a['func_input_locs']) if key == 'func_var_locs' else count
        if key.endswith('_locs') and not all(0 <= i < limit for i in value):
            return f'has the {key} {list(value)}, of which there are {limit}'
    for body, (inputs, _) in zip(node.subgraphs, body_inputs(node), strict=True):
        variables = sum(n.is_variable for n in topological(body))
        if variables != len(inputs):
            return f'gives {len(inputs)} inputs to a graph that has {variables}'
    return _output_problem(name, a, [len(body) for body in node.subgraphs])


def _output_problem(name: str, a: Mapping[str, Any], outputs: Sequence[int]) -> str:
    wanted = a['num_outputs']
    if name in ('_while_loop', '_cond') and outputs[0] != 1:
        return f'has a condition with {outputs[0]} outputs, not one'
    if name in ('_foreach', '_while_loop'):
        states = len(a['in_state_locs'] if name == '_foreach' else a['func_var_locs'])
        if a['num_out_data'] + states != wanted:
            return f'has {wanted} outputs, but num_out_data is {a["num_out_data"]} and there are {states} states'
    for found in outputs[name != '_foreach':]:
        if found != wanted:
            return f'has {wanted} outputs, but a graph that it runs has {found}'
    return ''
