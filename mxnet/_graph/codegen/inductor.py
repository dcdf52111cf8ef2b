"""Plans compiled by torch's inductor, for `hybridize(backend='inductor')`: a first call takes long, later ones less."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from ..._torch.tools import compile_graph
from ..passes.simplify import simplify
from .writing import FUNCTIONS, Plan


def compiled(graph: torch.fx.Graph, constants: Mapping[str, Any], tensors: Sequence[torch.Tensor],
             facts: dict[str, Any], wanted: tuple[int, ...], predicts: bool) -> Plan:
    """A plan with `joint`, or with `prepare` and `infer` for predictions."""
    simplify(graph)
    for node in graph.nodes:
        node.meta.pop('val', None)          # the compiler has stand-ins for tensors of its own
    root = torch.nn.Module()
    for name, value in constants.items():
        setattr(root, name, value)
    with torch.no_grad():
        function = compile_graph(torch.fx.GraphModule(root, graph), list(tensors))
    outputs, states = len(facts['differentiable']), len(facts['states'])

    def joint(tensors: Sequence[torch.Tensor], targets: Any = None) -> tuple[Any, Any, Any]:
        found = function(*tensors)
        return found[:outputs], found[outputs:outputs + states], found[outputs + states:]

    functions: dict[str, Callable] = {'joint': joint}
    if predicts:
        functions = {'prepare': lambda tensors: (), 'infer': lambda tensors, prepared: function(*tensors)}
    gradients = next(n for n in graph.nodes if n.op == 'output').args[0][outputs + states:]
    return Plan(**{name: functions.get(name) for name in FUNCTIONS}, state_numbers=facts['states'],
                state_weights=facts['weights'], wanted=wanted,
                differentiable=facts['differentiable'], direct=(False,) * len(gradients), source='compiled',
                fresh=(False,) * outputs, adoptable=(False,) * len(gradients),
                present=tuple(g is not None for g in gradients))
