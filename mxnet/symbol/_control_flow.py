"""Loops and branches as symbols: `foreach`, `while_loop`, `cond`.

A body is called once, on fresh variables, and what it computes becomes a graph of its own.  Nodes made inside the body
carry its name (an attribute that the scope sets); an edge that comes from outside is cut, and becomes an input of both.
"""
from __future__ import annotations

from typing import Any

from .._graph.ir.node import Node, as_written, topological
from .._kinds import pair
from .._names import kind_of
from .._ops import NAMES
from ..attribute import AttrScope
from ..base import MXNetError
from ..name import NameManager
from ._compose import SymbolBase, call, make
from .symbol import Symbol, var

__all__ = ['cond', 'foreach', 'while_loop']

MARK = '__subgraph_name__'


def _unique(name):
    outer = AttrScope.current.get(None).get(MARK, '')
    name = f'{outer}${name}' if outer else name
    number = AttrScope._subgraph_names[name]
    AttrScope._subgraph_names[name] = number + 1
    return f'{name}{number}'


# ---------------------------------------------------------------------- nesting
def _flatten(values, what):
    """-> (single symbols in order, a function that gives new ones the old nesting)."""
    if isinstance(values, SymbolBase):
        if len(values) > 1:
            return list(values), list
        return [values], lambda new: new[0]
    if not isinstance(values, (list, tuple)):
        raise TypeError(f'{what} must be a symbol or nested lists of symbols, not {kind_of(values)}')
    parts = [_flatten(v, what) for v in values]
    sizes = [len(flat) for flat, _ in parts]

    def rebuild_nesting(new):
        result, start = [], 0
        for size, (_, inner) in zip(sizes, parts, strict=True):
            result.append(inner(new[start:start + size]))
            start += size
        return result

    return [s for flat, _ in parts for s in flat], rebuild_nesting


# ---------------------------------------------------------------------- bodies
def _distinct(name, taken):
    """`name`, numbered if it is taken.  Inputs of a body are found by their names, and two different entries of the
    surrounding graph may have one name: a layer that is called twice makes two nodes of the same name."""
    number, result = 1, name
    while result in taken:
        result, number = f'{name}-{number}', number + 1
    taken.add(result)
    return result


class _Body:
    """A body's graph, its input names in order, and the outer entries that it closes over.

    `variables` are those of the loop, whose names are taken even where the body does not use them.
    """

    def __init__(self, name, outputs, variables=()):
        self.name = name
        entries = [e for s in outputs for e in s._entries]
        self.outer: dict[str, Any] = {}       # name of an input -> entry of the surrounding graph
        cut = {}

        def inside(node):
            return node.attrs.get(MARK, '') == name or node.attrs.get(MARK, '').startswith(name + '$')

        nodes = as_written(topological(entries))
        taken = {s.name for s in variables} | {node.name for node in nodes if node.is_variable and inside(node)}

        def boundary(entry):
            key = (id(entry[0]), entry[1])
            if key not in cut:
                node, index = entry
                label = _distinct(node.name if node.is_variable else node.entry_name(index), taken)
                cut[key] = Node(None, label, {}), 0
                self.outer[label] = entry
            return cut[key]

        copies: dict[Any, Any] = {}
        for node in nodes:
            if inside(node):
                inputs = [copies[id(c)][i] if id(c) in copies else boundary((c, i)) for c, i in node.inputs]
                copy = node if node.is_variable else Node(node.op, node.name, node.attrs, inputs, node.subgraphs)
                copies[id(node)] = [(copy, i) for i in range(node.output_count())]
        self.entries = [copies[id(n)][i] if id(n) in copies else boundary((n, i)) for n, i in entries]
        self.inputs = [n for n in topological(self.entries) if n.is_variable]

    def names(self):
        return [n.name for n in self.inputs]

    def outer_entry(self, node):
        """What the surrounding graph feeds to an input that is no loop variable."""
        found = self.outer.get(node.name)
        return found if found is not None else (Node(None, node.name, node.attrs), 0)


def _fresh(symbols):
    """A variable for each, of its own also where a symbol is given twice."""
    taken: set[str] = set()
    return [var(_distinct(f'{s.name}-{s._entries[0][1]}', taken)) for s in symbols]


def _copied(symbols, inputs, name):
    """Outputs that are inputs of the body themselves, come from outside or appear twice, as copies."""
    taken = {id(s._entries[0][0]) for s in inputs}
    seen, result = set(), []
    for s in symbols:
        node, index = s._entries[0]
        if id(node) in taken or node.attrs.get(MARK, '') != name or (id(node), index) in seen:
            s = call(NAMES['identity'], 'identity', (s,), {}, type(s))
        seen.add((id(node), index))
        result.append(s)
    return result


def _node(op_name, hint, name, attributes, inputs, bodies, count):
    op = NAMES[op_name]
    attrs = {k: str(v) for k, v in attributes.items()}
    attrs |= {'num_args': str(len(inputs) + len(bodies)), 'num_outputs': str(count)}
    attrs |= AttrScope.current.get(None)
    node = Node(op, NameManager.current.get(name, hint), attrs, inputs, [tuple(b.entries) for b in bodies])
    return [make(Symbol, [(node, i)]) for i in range(count)]


# ---------------------------------------------------------------------- the three of them
def foreach(body: Any, data: Any, init_states: Any, name: Any = 'foreach') -> Any:
    """Calls `out, states = body(slice, states)` for each slice of `data` along axis 0, and stacks the outs."""
    flat_data, nest_data = _flatten(data, 'data')
    flat_states, nest_states = _flatten(init_states, 'init_states')
    unique = _unique(name)
    with AttrScope(**{MARK: unique}):
        variables = _fresh(flat_data + flat_states)
        slices, states = variables[:len(flat_data)], variables[len(flat_data):]
        out, new_states = pair(body(nest_data(slices), nest_states(states)), 'foreach: body', '(output, states)')
        flat_out, nest_out = _flatten(out, "body's output")
        flat_new, nest_new = _flatten(new_states, "body's states")
        if len(flat_new) != len(flat_states):
            raise MXNetError(f'foreach: body got {len(flat_states)} states and returned {len(flat_new)}')
        graph = _Body(unique, _copied(flat_out + flat_new, variables, unique), variables)
    names = graph.names()
    inputs = [s._entries[0] for s in flat_data + flat_states]
    locations = {}
    for what, symbols in (('data', slices), ('state', states)):
        for s in symbols:
            if s.name not in names:
                raise AssertionError(f'foreach: the body does not use the {what} {s.name}')
        locations[what] = [names.index(s.name) for s in symbols]
    own = {s.name for s in slices + states}
    remaining = [i for i, n in enumerate(graph.inputs) if n.name not in own]
    inputs += [graph.outer_entry(graph.inputs[i]) for i in remaining]
    results = _node('_foreach', '_foreach', None, {
        'in_data_locs': locations['data'], 'in_state_locs': locations['state'], 'remain_locs': remaining,
        'num_out_data': len(flat_out)}, inputs, [graph], len(flat_out) + len(flat_new))
    return nest_out(results[:len(flat_out)]), nest_new(results[len(flat_out):])


def _union(bodies, loop_variables):
    """Inputs of several bodies together, and for each body which of them its own inputs are."""
    inputs: list[Any] = []
    places: dict[Any, int] = {}
    locations = []
    for body in bodies:
        own = []
        for node in body.inputs:
            entry = loop_variables.get(node.name) or body.outer_entry(node)
            # a loop variable changes; the entry it starts from may also come in by itself, and that stays
            key = (id(entry[0]), entry[1]) if node.name in body.outer else node.name
            if key not in places:
                places[key] = len(inputs)
                inputs.append(entry)
            own.append(places[key])
        locations.append(own)
    return inputs, locations


def while_loop(cond: Any, func: Any, loop_vars: Any, max_iterations: Any = None, name: Any = 'while_loop') -> Any:
    """Calls `out, loop_vars = func(*loop_vars)` while `cond(*loop_vars)` holds, at most `max_iterations` times.

    The outs are stacked along axis 0 and filled up with zeros.
    """
    if max_iterations is None:
        raise ValueError('while_loop: max_iterations is needed')
    flat, nest = _flatten(loop_vars, 'loop_vars')
    if not flat:
        raise ValueError('while_loop: loop_vars must hold at least one symbol')

    def body(suffix, function):
        unique = _unique(name + suffix)
        with AttrScope(**{MARK: unique}):
            variables = _fresh(flat)
            given = nest(variables)
            outs, new, shape = function(given if isinstance(given, list) else [given])
            return _Body(unique, _copied(outs + new, variables, unique), variables), outs, shape

    def condition(variables):
        result = cond(*variables)
        if not isinstance(result, SymbolBase):
            raise ValueError(f'while_loop: cond must return a symbol, not {kind_of(result)}')
        return [], [result], None

    def step(variables):
        out, new = pair(func(*variables), 'while_loop: func', '(output, loop_vars)')
        flat_out, nest_out = _flatten([] if out is None else out, "func's output")
        flat_new, _ = _flatten([] if new is None else new, "func's loop_vars")
        if len(flat_new) != len(flat):
            raise ValueError(f'while_loop: func got {len(flat)} loop_vars and returned {len(flat_new)}')
        return flat_out, flat_new, nest_out

    cond_body, _, _ = body('_cond', condition)
    func_body, outs, nest_out = body('_func', step)
    labels: set[str] = set()
    variables = {_distinct(f'{s.name}-{s._entries[0][1]}', labels): s._entries[0] for s in flat}
    inputs, (cond_locations, func_locations) = _union([cond_body, func_body], variables)
    names = func_body.names()
    for i, label in enumerate(variables):
        if label not in names:
            raise ValueError(f'while_loop: loop_var {i} takes no part in func')
    results = _node('_while_loop', '_while_loop', None, {
        'max_iterations': int(max_iterations), 'cond_input_locs': cond_locations, 'func_input_locs': func_locations,
        'func_var_locs': [names.index(label) for label in variables], 'num_out_data': len(outs)},
        inputs, [cond_body, func_body], len(outs) + len(flat))
    return nest_out(results[:len(outs)]), nest(results[len(outs):])


def cond(pred: Any, then_func: Any, else_func: Any, name: Any = 'cond') -> Any:
    """`then_func()` where the one element of `pred` is not 0, else `else_func()`."""
    def body(suffix, function):
        unique = _unique(name + suffix)
        with AttrScope(**{MARK: unique}):
            flat, nest = _flatten(function(), f'the output of {suffix[1:]}_func')
            return _Body(unique, _copied(flat, [], unique)), len(flat), nest

    pred_body, _, _ = body('_pred', lambda: pred)
    then_body, then_count, nest = body('_then', then_func)
    else_body, else_count, _ = body('_else', else_func)
    if then_count != else_count:
        raise ValueError(f'cond: then_func returned {then_count} symbols, else_func {else_count}')
    inputs, locations = _union([pred_body, then_body, else_body], {})
    results = _node('_cond', '_cond', None, dict(zip(('cond_input_locs', 'then_input_locs', 'else_input_locs'),
                                                    locations, strict=True)),
                    inputs, [pred_body, then_body, else_body], then_count)
    return nest(results)


