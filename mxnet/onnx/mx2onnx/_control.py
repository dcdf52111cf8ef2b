"""Translations of loops and branches: Scan, Loop and If, whose bodies are graphs of their own."""
import numpy as np

from ..._graph.ir.control_flow import body_inputs
from ..._graph.ir.node import topological
from ._builder import onnx_type, translates


def _variables(body):
    return [node for node in topological(body) if node.is_variable]


def _info(name, dtype, shape):
    """The type of an input or an output of a body; None is a length that varies."""
    from ._builder import onnx
    return onnx().helper.make_tensor_value_info(name, onnx_type(dtype), list(shape))


def _graph(c, inner, inputs, outputs):
    """An ONNX graph of the nodes that a body has made."""
    from ._builder import onnx
    return onnx().helper.make_graph(inner.nodes, c.graph.name(f'{c.name}/body'), inputs, outputs)


def _result(c, inner, name):
    """An output of a body, which must be computed in it."""
    made = c.graph.name(f'{c.name}/result')
    inner.add('Identity', [name], [made], made, {})
    return made


def _truth(c, inner, name):
    """One element as a scalar truth value."""
    cast, made, shape = (c.graph.name(f'{c.name}/{part}') for part in ('truth', 'goes_on', 'scalar'))
    inner.add('Cast', [name], [cast], cast, {'to': onnx_type(np.bool_)})
    inner.add('Reshape', [cast, c.graph.constant(shape, np.zeros(0, np.int64))], [made], made, {})
    return made


@translates('_foreach')
def foreach(c):
    body, = c.node.subgraphs
    (places, _), = body_inputs(c.node)
    slices, states = len(c['in_data_locs']), len(c['in_state_locs'])
    inner, given, bound = c.graph.inner(), {}, {}
    for number in range(slices + states):
        given[number] = c.graph.name(f'{c.name}/given')
    named = dict(given)
    for number in range(slices):
        if len(c.shapes[number]) == 1:          # numbers are arrays of one element
            named[number] = c.graph.name(f'{c.name}/slice')
            inner.add('Unsqueeze', [given[number], c.ints([0])], [named[number]], named[number], {})
    for variable, number in zip(_variables(body), places, strict=True):
        bound[variable.name] = (number, named.get(number, c.inputs[number]), number < slices)
    results, shapes = c.translate(inner, body, bound)
    results = [_result(c, inner, name) for name in results]
    count = c['num_out_data']
    order = [*range(count, len(results)), *range(count)]            # states come first
    inputs = [_info(given[slices + i], c.dtypes[slices + i], c.shapes[slices + i]) for i in range(states)]
    inputs += [_info(given[i], c.dtypes[i], c.shapes[i][1:]) for i in range(slices)]
    outputs = [_info(results[i], c.out_dtypes[i], shapes[i]) for i in order]
    found = c.op('Scan', *c.inputs[slices:slices + states], *c.inputs[:slices], outputs=len(results),
                 num_scan_inputs=slices, body=_graph(c, inner, inputs, outputs))
    found = [found] if isinstance(found, str) else found
    return found[states:] + found[:states]


@translates('_while_loop')
def while_loop(c):
    condition, body = c.node.subgraphs
    (asked, _), (used, _) = body_inputs(c.node)
    carried = [used[i] for i in c['func_var_locs']]
    first = c.translate(c.graph, condition, _bound(condition, asked, c.inputs))[0]
    goes_on = _truth(c, c.graph, first[0])
    inner, values = c.graph.inner(), list(c.inputs)
    for place in carried:
        values[place] = c.graph.name(f'{c.name}/carried')
    given = [values[place] for place in carried]
    results, shapes = c.translate(inner, body, _bound(body, used, values))
    results = [_result(c, inner, name) for name in results]
    count = c['num_out_data']
    after = list(values)
    for place, name in zip(carried, results[count:], strict=True):
        after[place] = name
    again = _truth(c, inner, c.translate(inner, condition, _bound(condition, asked, after))[0][0])
    number, before = c.graph.name(f'{c.name}/number'), c.graph.name(f'{c.name}/before')
    inputs = [_info(number, np.int64, ()), _info(before, np.bool_, ())]
    inputs += [_info(name, c.dtypes[place], c.shapes[place]) for name, place in zip(given, carried)]
    outputs = [_info(again, np.bool_, ())]
    order = (*range(count, len(results)), *range(count))
    outputs += [_info(results[i], c.out_dtypes[i], shapes[i]) for i in order]
    found = c.op('Loop', c.ints(c['max_iterations']), goes_on, *[c.inputs[place] for place in carried],
                 outputs=len(results), body=_graph(c, inner, inputs, outputs))
    found = [found] if isinstance(found, str) else found
    states, rows = found[:len(carried)], found[len(carried):]
    # the outputs of steps that were not run are zeros
    return [_filled(c, name, len(c.out_shapes[i])) for i, name in enumerate(rows)] + states


def _filled(c, rows, rank):
    have = c.slice(c.op('Shape', rows), [0], [0], [1])
    missing = c.op('Sub', c.ints([c['max_iterations']]), have)
    zeros = c.ints([0] * rank)
    pads = c.op('Concat', zeros, missing, *([c.ints([0] * (rank - 1))] if rank > 1 else []), axis=0)
    return c.op('Pad', rows, pads)


@translates('_cond')
def cond(c):
    condition, *branches = c.node.subgraphs
    (asked, _), *used = body_inputs(c.node)
    chosen = _truth(c, c.graph, c.translate(c.graph, condition, _bound(condition, asked, c.inputs))[0][0])
    bodies = []
    for branch, (places, _) in zip(branches, used, strict=True):
        inner = c.graph.inner()
        results, shapes = c.translate(inner, branch, _bound(branch, places, c.inputs))
        results = [_result(c, inner, name) for name in results]
        bodies.append(_graph(c, inner, [], [_info(name, kind, shape) for name, kind, shape in
                                            zip(results, c.out_dtypes, shapes, strict=True)]))
    return c.op('If', chosen, outputs=len(c.out_shapes), then_branch=bodies[0], else_branch=bodies[1])


def _bound(body, places, names):
    """{variable of a body: (the input of the node that it is, its name in ONNX, whether it is a slice of it)}"""
    return {variable.name: (place, names[place], False) for variable, place in
            zip(_variables(body), places, strict=True)}
