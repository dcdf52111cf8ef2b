"""The tracer (`_graph/trace/tracing.py`): what it writes down, what it refuses, and that it leaves no traces itself."""
import gc
import threading

import pytest
import torch
from ops_checks import run_graph

from mxnet._graph.trace.tracing import Shadow, Traced, trace
from mxnet._ops.core.traceable import CannotTrace
from mxnet._torch.autograd import gradients_of

aten = torch.ops.aten


def traced(function, *tensors):
    found = trace(lambda tracer: function(*[tracer.input(t) for t in tensors]))
    return found.graph, found.constants


def targets(graph):
    return [n.target for n in graph.nodes if n.op == 'call_function']


@pytest.mark.parametrize('function', [
    lambda x, y: [x + y * 2, torch.cat([x, y], 1), x.inner(y)],
    lambda x, y: [*torch.split(x, 1, 1), torch.stack([x, y]).permute(2, 0, 1)],
    lambda x, y: [torch.ones(3) + torch.arange(3), torch.zeros_like(x), x.new_full((2,), 3)],
    lambda x, y: [x.sort(1)[0], x.max(1)[1], x.t().contiguous(), x[:, 1:]],
    lambda x, y: [x.clone().add_(y).mul_(x), torch.zeros(2, 3).copy_(y)],
    lambda x, y: [x[torch.tensor([1, 0])], torch.tensor([1., 2, 3]).add_(1) + x],
    lambda x, y: [x.to(torch.float64), (x > y).float(), x.half()],
], ids=['lists', 'views', 'made', 'several', 'written', 'constants', 'casts'])
def test_a_graph_computes_what_the_function_does(function):
    x, y = torch.rand(2, 3), torch.rand(2, 3)
    graph, constants = traced(function, x, y)
    for expected, found in zip(function(x, y), run_graph(graph, constants, x, y), strict=True):
        assert expected.dtype is found.dtype and torch.equal(expected, found)
    x, y = torch.rand(2, 3), torch.rand(2, 3)
    for expected, found in zip(function(x, y), run_graph(graph, constants, x, y), strict=True):
        assert torch.equal(expected, found), 'values must not be part of a graph'


def test_gradients_are_part_of_it():
    def both(x, w):
        x, w = x.detach().requires_grad_(), w.detach().requires_grad_()
        y = torch.tanh(torch.nn.functional.linear(x, w)).relu()
        return [y, *gradients_of([y], [x, w], [torch.ones_like(y)])]

    x, w = torch.rand(2, 3), torch.rand(4, 3)
    graph, constants = traced(both, x, w)
    assert aten.threshold_backward.default in targets(graph)
    for expected, found in zip(both(x, w), run_graph(graph, constants, x, w), strict=True):
        torch.testing.assert_close(expected.detach(), found, rtol=0, atol=0)


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2 + ctx.saved_tensors[0] * 0


def test_functions_with_a_gradient_of_their_own():
    def both(x):
        x = x.detach().requires_grad_()
        y = Twice.apply(x)
        return [y, *gradients_of([y], [x], [torch.ones_like(y)])]

    graph, constants = traced(both, torch.rand(3))
    assert run_graph(graph, constants, torch.rand(3))[1].tolist() == [2, 2, 2]


@pytest.mark.parametrize('function', [
    lambda x: [x * x.sum().item()], lambda x: [x if x.sum() > 0 else -x], lambda x: [x[x > 0]], lambda x: [x.nonzero()],
    lambda x: [x * x.tolist()[0]], lambda x: [torch.from_numpy(x.numpy())], lambda x: [x * float(x[0])],
    lambda x: [x * x.data_ptr()], lambda x: [x.unique()], lambda x: [x.masked_select(x > 0)],
    lambda x: [x * torch.equal(x, x)], lambda x: [torch.zeros(int(x[0]))], lambda x: [x.repeat_interleave(x.long())],
], ids=range(13))
def test_whoever_looks_at_values_has_no_graph(function):
    with pytest.raises(CannotTrace):
        traced(function, torch.rand(3))


@pytest.mark.parametrize('function', [lambda x: [x.add_(1)], lambda x: [x.view(-1).zero_()], lambda x: [x.resize_(9)],
                                      lambda x: [torch.add(x, 1, out=x)], lambda x: [CONSTANT.add_(x)]])
def test_what_is_given_is_not_written_to(function):
    x = torch.arange(3.0)
    with pytest.raises(CannotTrace):
        traced(function, x)
    assert x.tolist() == [0, 1, 2] and CONSTANT.tolist() == [5, 5, 5]


CONSTANT = torch.full((3,), 5.0)


def test_generators_and_their_states():
    mine, before = torch.Generator().manual_seed(3), torch.get_rng_state()
    state = mine.get_state()

    def draw(x):
        return [torch.empty(4).uniform_(generator=mine), torch.rand(2), torch.nn.functional.dropout(x)]

    graph, constants = traced(draw, torch.ones(5))
    assert torch.equal(torch.get_rng_state(), before) and torch.equal(mine.get_state(), state)
    found = run_graph(graph, constants, torch.ones(5))
    mine.set_state(state)
    torch.set_rng_state(before)
    for expected, value in zip(draw(torch.ones(5)), found, strict=True):
        assert torch.equal(expected, value), 'a graph draws from the generators of the function'
    torch.set_rng_state(before)


def test_one_result_twice_is_one_value():
    library = torch.library.Library('remx_test_tracing', 'DEF')
    library.define('pair(Tensor x) -> (Tensor, Tensor)')
    library.impl('pair', lambda x: (x.clone(),) * 2, 'CPU')
    graph, _ = traced(lambda x: list(torch.ops.remx_test_tracing.pair(x)), torch.ones(2))
    one, two = next(n for n in graph.nodes if n.op == 'output').args[0]
    assert one is two


def test_nothing_is_kept():
    graph, constants = traced(lambda x: [x @ x + CONSTANT[0]], torch.rand(10, 10))
    gc.collect()
    assert not [o for o in gc.get_objects() if type(o) is Traced]
    values = [n.meta['val'] for n in graph.nodes if 'val' in n.meta]
    assert {type(v) for v in values} == {Shadow} and len(values) == 5
    with pytest.raises(RuntimeError):
        values[0].numpy()
    assert [c.data_ptr() for c in constants.values()] == [CONSTANT.data_ptr()]


def test_shadows_tell_what_views_and_casts_look_like():
    graph, _ = traced(lambda x: [x + 1], torch.rand(2, 3))
    value = next(n.meta['val'] for n in graph.nodes if n.op == 'call_function')
    assert value.t().stride() == (1, 3) and value.to(torch.float16).dtype is torch.float16
    assert value.is_contiguous() and not value.t().is_contiguous() and value.t().device.type == 'cpu'


def test_an_error_leaves_nothing_behind():
    x, before = torch.rand(3, 3), torch.get_rng_state()
    for _ in range(2):
        with pytest.raises(RuntimeError, match='shape'):
            traced(lambda x: [torch.rand(3) + x, x @ x.new_ones(5, 5)], x)
    assert torch.equal(torch.get_rng_state(), before)
    assert type(torch.ones(1)) is torch.Tensor


def test_other_threads_do_not_take_part():
    found = []

    def look(x):
        thread = threading.Thread(target=lambda: found.append(torch.ones(1) + 1))
        thread.start()
        thread.join()
        return [x + 1]

    graph, _ = traced(look, torch.ones(1))
    assert targets(graph) == [aten.add.Tensor] and type(found[0]) is torch.Tensor and found[0].item() == 2


@pytest.mark.gpu
def test_a_trace_has_the_memory_of_its_values():
    """The gradient of a bias, added up on a GPU, would take more than all else here."""
    x = torch.rand((128, 512, 7, 7), device='cuda', dtype=torch.bfloat16).to(memory_format=torch.channels_last)
    weight, bias = (torch.rand(s, device='cuda', dtype=torch.bfloat16) for s in ((2048, 512, 1, 1), (2048,)))

    def both(*given):
        given = [t.detach().requires_grad_() for t in given]
        y = torch.nn.functional.conv2d(*given)
        return gradients_of([y], given, [torch.ones_like(y)])

    both(x, weight, bias)
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    graph, constants = traced(both, x, weight, bias)
    values = sum(n.meta['val'].nbytes for n in graph.nodes
                 if n.op == 'call_function' and isinstance(n.meta['val'], torch.Tensor))
    assert torch.cuda.max_memory_allocated() - before < 1.2 * values
    for expected, found in zip(both(x, weight, bias), run_graph(graph, constants, x, weight, bias), strict=True):
        assert torch.equal(expected, found)


def test_tensors_of_another_trace_are_refused():
    kept = []
    traced(lambda x: [kept.append(x) or x + 1], torch.ones(2))
    with pytest.raises(CannotTrace, match='another trace'):
        traced(lambda x: [x + kept[0]], torch.ones(2))
    with pytest.raises(CannotTrace, match='over'):
        kept[0] + 1
