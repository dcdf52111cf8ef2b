"""One call that checks an operator's function from all sides: `check('take', [a, index], expected, axis=1)`."""
import numpy as np
import torch

from mxnet._graph.infer.sizes import Sizes
from mxnet._graph.trace.tracing import trace
from mxnet._ops import TABLE


def tensor(values):
    """A float64 tensor of floats (for precise gradients); anything else as it is."""
    array = np.asarray(values)
    return torch.from_numpy(array.astype('float64') if array.dtype.kind == 'f' else array.copy())


def traced(function, *inputs):
    """What a plan would run in the place of a function."""
    found = trace(lambda tracer: function(*map(tracer.input, inputs)))
    return lambda *tensors: run_graph(found.graph, found.constants, *tensors)


def run_graph(graph, constants, *tensors):
    """What a traced graph computes, call by call; each result must look as its node says."""
    values, given = {}, iter(tensors)
    for node in graph.nodes:
        args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), values.__getitem__)
        if node.op == 'placeholder':
            values[node] = next(given)
        elif node.op == 'get_attr':
            values[node] = constants[node.target]
        elif node.op == 'call_function':
            values[node] = found = node.target(*args, **kwargs)
            noted = node.meta.get('val')
            for one, two in zip(found if isinstance(found, (list, tuple)) else (found,),
                                noted if isinstance(noted, tuple) else (noted,), strict=True):
                if isinstance(one, torch.Tensor):
                    assert (one.shape, one.stride(), one.dtype, one.device, one.storage_offset()) == \
                        (two.shape, two.stride(), two.dtype, two.device, two.storage_offset())
        else:
            return args[0]


def on_meta(function, inputs):
    """The results as shape inference finds them."""
    with Sizes():
        return function(*[x.to('meta') for x in inputs])


def check(name, inputs, expected, *, meta=True, gradient=True, **attributes):
    """Values, dtype and shape; the same on meta tensors and when traced; inputs unharmed; gradients by differences.

    `expected` is what NumPy has (a list of it for several outputs).  `meta=False`: the shape depends on values.
    """
    op = TABLE[name]
    inputs = [tensor(x) for x in inputs]
    before = [x.clone() for x in inputs]
    attributes = op.parse(attributes)

    def function(*tensors):
        result = op.function(*tensors, **attributes)
        return result if type(result) is tuple else (result,)

    results = function(*inputs)
    expected = expected if isinstance(expected, list) else [expected]
    assert len(results) == len(expected)
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_allclose(result.numpy(), wanted, rtol=1e-12, atol=1e-12)
        assert result.shape == np.shape(wanted)
        if isinstance(wanted, np.ndarray):
            assert result.numpy().dtype == wanted.dtype
    assert all(torch.equal(x, y) for x, y in zip(inputs, before, strict=True)), 'an input was changed'

    if meta:
        for result, shadow in zip(results, on_meta(function, inputs), strict=True):
            assert (shadow.shape, shadow.dtype) == (result.shape, result.dtype)
        for result, again in zip(results, traced(function, *inputs)(*inputs), strict=True):
            assert torch.equal(result, again)
    if gradient and any(x.is_floating_point() for x in inputs):
        leaves = [x.requires_grad_() if x.is_floating_point() else x for x in inputs]
        smooth = [i for i, r in enumerate(function(*leaves)) if r.requires_grad]
        if smooth:
            torch.autograd.gradcheck(lambda *xs: [function(*xs)[i] for i in smooth], leaves)
