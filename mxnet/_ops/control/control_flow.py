"""Loops and branches of graphs.

The bodies are graphs of their own; the function gets them as callables from a list of tensors to a list of tensors.
`*_locs` say which input of a body each input of the operator is.
"""
import torch

from ...base import MXNetError
from ..core.attributes import Count, Locations, Subgraphs
from ..core.table import operator


def _numbered(attributes):
    count = attributes['num_outputs']
    return ('output',) if count == 1 else tuple(f'output{i}' for i in range(count))


def _truth(value):
    if value.numel() != 1:
        raise MXNetError(f'a condition must have one element, but its shape is {tuple(value.shape)}')
    return bool(value)


def _chosen(condition, one, other):
    """`one` where the condition holds, else `other`; without reading the condition."""
    return torch.where(condition.reshape(()) != 0, one, other)


@operator(variadic='num_args', outputs=_numbered, auto_inputs=False)
def _foreach(*data, num_args: int, num_outputs: Count, num_out_data: Count, in_state_locs: Locations,
             in_data_locs: Locations,
             remain_locs: Locations, subgraphs: Subgraphs = ()):
    """Runs a body on each slice of the data along axis 0, with states carried on; the outputs are stacked."""
    body, = subgraphs
    n_data, n_states = len(in_data_locs), len(in_state_locs)
    slices, states, rest = data[:n_data], list(data[n_data:n_data + n_states]), data[n_data + n_states:]
    lengths = {len(x) for x in slices}
    if len(lengths) != 1:
        raise MXNetError(f'operator _foreach: the data have different lengths {sorted(lengths)} on axis 0')
    inputs = [None] * (n_data + n_states + len(rest))
    for place, value in zip(remain_locs, rest, strict=True):
        inputs[place] = value
    collected = []
    for t in range(lengths.pop()):
        for place, value in zip(in_data_locs, slices, strict=True):
            inputs[place] = value[t] if value.dim() > 1 else value[t:t + 1]
        for place, value in zip(in_state_locs, states, strict=True):
            inputs[place] = value
        results = body(inputs)
        collected.append(results[:num_out_data])
        states = results[num_out_data:]
    return (*[torch.stack(column) for column in zip(*collected, strict=True)], *states)


@operator(variadic='num_args', outputs=_numbered, auto_inputs=False)
def _while_loop(*data, num_args: int, num_outputs: Count, num_out_data: Count, max_iterations: int,
                cond_input_locs: Locations,
                func_input_locs: Locations, func_var_locs: Locations, subgraphs: Subgraphs = ()):
    """Runs a body while a condition holds; the outputs are stacked and filled up with zeros to `max_iterations`."""
    condition, body = subgraphs
    values = list(data)
    variables = [func_input_locs[i] for i in func_var_locs]
    if torch.compiler.is_exporting():
        return _every_step(data, max_iterations, num_out_data, variables,
                           lambda values: condition([values[i] for i in cond_input_locs])[0],
                           lambda values: body([values[i] for i in func_input_locs]))
    collected: list[list[torch.Tensor]] = []

    def step():
        return body([values[i] for i in func_input_locs])

    while len(collected) < max_iterations:
        goes_on = condition([values[i] for i in cond_input_locs])[0]
        if goes_on.device.type == 'meta':        # only shapes are asked for: one step tells them
            results = step()
            collected = [results[:num_out_data]] * max_iterations
            break
        if not _truth(goes_on):
            break
        results = step()
        collected.append(results[:num_out_data])
        for place, value in zip(variables, results[num_out_data:], strict=True):
            values[place] = value
    shapes = collected[0] if collected else [torch.zeros_like(x) for x in step()[:num_out_data]]
    outputs = []
    for i, like in enumerate(shapes):
        rows = [c[i] for c in collected]
        missing = max_iterations - len(rows)
        parts = [torch.stack(rows)] if rows else []
        if missing:
            parts.append(like.new_zeros((missing, *like.shape)))
        outputs.append(torch.cat(parts) if len(parts) > 1 else parts[0])
    return (*outputs, *[values[i] for i in variables])


def _every_step(data, count, outputs, variables, condition, body):
    """A loop for torch.export, which cannot read values: all steps are computed, those after its end are not used."""
    values, collected, goes_on = list(data), [], None
    for _ in range(count):
        now = condition(values).reshape(()) != 0
        goes_on = now if goes_on is None else goes_on & now
        results = body(values)
        collected.append([_chosen(goes_on, x, torch.zeros_like(x)) for x in results[:outputs]])
        for place, value in zip(variables, results[outputs:], strict=True):
            values[place] = _chosen(goes_on, value, values[place])
    return (*[torch.stack(column) for column in zip(*collected, strict=True)], *[values[i] for i in variables])


@operator(variadic='num_args', outputs=_numbered, auto_inputs=False)
def _cond(*data, num_args: int, num_outputs: Count, cond_input_locs: Locations, then_input_locs: Locations,
          else_input_locs: Locations, subgraphs: Subgraphs = ()):
    """Runs one of two bodies, as a condition says."""
    condition, then_branch, else_branch = subgraphs
    chosen = condition([data[i] for i in cond_input_locs])[0]
    if torch.compiler.is_exporting():           # it cannot read values: both are computed
        branches = (then_branch([data[i] for i in then_input_locs]), else_branch([data[i] for i in else_input_locs]))
        return tuple(_chosen(chosen, *pair) for pair in zip(*branches, strict=True))
    if chosen.device.type == 'meta' or _truth(chosen):
        return tuple(then_branch([data[i] for i in then_input_locs]))
    return tuple(else_branch([data[i] for i in else_input_locs]))


@operator(aliases=('_CachedOpThreadSafe',), variadic='num_args', outputs=_numbered, auto_inputs=False,
          mutates=lambda a, count: a['state_locs'])
def _CachedOp(*data, num_args: int, num_outputs: Count = 1, state_locs: Locations = (), subgraph: str = '',
              subgraphs: Subgraphs = ()):
    """Runs a whole graph as one node; what `optimize_for` makes of the nodes that a backend chooses."""
    if not subgraphs:
        raise MXNetError('operator _CachedOp is a node of graphs; to run a graph on arrays, use mx.nd.CachedOp(symbol)')
    outputs, states = subgraphs[0].with_states(data)
    return (*outputs, *[states.get(i) for i in state_locs])
