"""Plans compiled by torch's inductor, for `hybridize(backend='inductor')`: a first call takes long, later ones less."""
import torch

from .simplify import simplify


def compiled(module, tensors, facts, predicts):
    """The functions of a plan for a traced graph: {'whole': ...}, or {'prepare': ..., 'infer': ...} for predictions."""
    from torch._inductor import compile as compile_graph
    graph = module.graph
    simplify(graph)
    graph.set_codegen(torch.fx.graph.CodeGen())         # plain arguments instead of nested lists
    flat = torch.fx.GraphModule(module, graph)
    with torch.no_grad():
        function = compile_graph(flat, list(tensors))
    outputs, states = len(facts['differentiable']), len(facts['states'])

    def whole(tensors, targets=None):
        found = function(*tensors)
        return found[:outputs], found[outputs:outputs + states], found[outputs + states:]

    if predicts:
        return {'prepare': lambda tensors: (), 'infer': lambda tensors, prepared: function(*tensors)}
    return {'whole': whole}
