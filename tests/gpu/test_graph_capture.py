"""Recordings of CUDA graphs: random numbers go on in order, and one that fails leaves nothing behind."""
import gc

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet._graph.cuda import capture
from mxnet._graph.cuda.capture import Captured

pytestmark = pytest.mark.gpu


def drawn(generator, count=4):
    return torch.empty(count, device='cuda').uniform_(generator=generator)


def beside(generator):
    """A generator that gives the same numbers."""
    other = torch.Generator('cuda')
    other.set_state(generator.get_state())
    return other


def test_the_first_launch_goes_on_with_the_random_numbers():
    """Also on a GPU that others use, where what was written before a recording may be late."""
    generator, given = mx.random.generator(mx.gpu()), [torch.ones(4, device='cuda')]
    for number in range(60):
        generator.manual_seed(number)
        drawn(generator, 400)
        other = beside(generator)
        graph = Captured(lambda tensors: drawn(generator), given, (), [generator])
        for _ in range(2):
            graph.launch(given)
            assert torch.equal(graph.results, drawn(other))


def broken(generator):
    def function(tensors, *branches):
        found = drawn(generator)
        torch.cuda.synchronize()            # which CUDA does not allow now
        return found
    return function


def test_a_recording_that_fails_leaves_generators_and_graphs_as_they_were():
    generator, given = mx.random.generator(mx.gpu()), [torch.ones(4, device='cuda')]
    graph = Captured(lambda tensors: drawn(generator), given, (), [generator])
    for _ in range(2):
        other = beside(generator)
        with pytest.raises(RuntimeError):
            Captured(broken(generator), given, (), [generator])
        assert torch.equal(drawn(generator), drawn(other))
        graph.launch(given)
        assert torch.equal(graph.results, drawn(other))
        more = Captured(lambda tensors: drawn(generator) + 1, given, (), [generator])
        more.launch(given)
        assert torch.equal(more.results, drawn(other) + 1)


def test_no_garbage_is_collected_meanwhile():
    given, seen = [torch.ones(4, device='cuda')], []

    def function(tensors):
        seen.append(gc.isenabled())
        return tensors[0] + 1

    Captured(function, given, ())
    assert seen == [False] and gc.isenabled()


@pytest.mark.parametrize('failures', [1, 5])
def test_a_recording_is_tried_again(failures, monkeypatch):
    """A few times; the results are those of steps without a graph."""
    real, calls = capture.Captured, []

    def some(function, tensors, moving, generators=(), **kwargs):
        calls.append(len(calls))
        if len(calls) <= failures:
            function = broken(mx.random.generator(mx.gpu()))
        return real(function, tensors, moving, generators, **kwargs)

    monkeypatch.setattr('mxnet._graph.cuda.runner.Captured', some)
    found = []
    for static in (False, True):
        mx.random.seed(3)
        net = gluon.nn.HybridSequential()
        net.add(gluon.nn.Dense(8, in_units=5, activation='relu'), gluon.nn.Dropout(0.5), gluon.nn.Dense(3, in_units=8))
        net.initialize(mx.init.One(), ctx=mx.gpu())
        net.hybridize(static_alloc=static, static_shape=static)
        trainer, loss_of = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1}), gluon.loss.L2Loss()
        for number in range(12):
            x = nd.arange(20, ctx=mx.gpu()).reshape((4, 5)) * (number + 1) / 50
            with autograd.record():
                loss = loss_of(net(x), nd.ones((4, 3), ctx=mx.gpu()))
            loss.backward()
            trainer.step(4)
        found.append([p.data().asnumpy() for p in net.collect_params().values()])
    assert len(calls) == (2 if failures == 1 else 3)
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)        # recorded, small layers have other kernels


def test_a_graph_may_be_forgotten_while_launches_are_under_way():
    """Another one that is made at once does not change what they read."""
    big = torch.ones((4096, 4096), device='cuda')
    for _ in range(5):
        given = [torch.full((4,), float(n), device='cuda') for n in range(200)]
        out = torch.zeros(200, 4, device='cuda')
        rows = torch.zeros(1, dtype=torch.int64, device='cuda')
        kept = [rows, out]

        def note(tensors, kept=kept):
            kept[1].index_copy_(0, kept[0], tensors[0][None])
            kept[0].add_(1)
            return ()

        graph = Captured(note, [torch.zeros(4, device='cuda')], [0])
        for _ in range(20):
            big = (big @ big).clamp_(0, 1)              # so that the launches have to wait
        for t in given:
            graph.launch([t])
        del graph
        Captured(lambda tensors: tensors[0] * 2, [torch.zeros(4, device='cuda')], [0]).launch(given[:1])
        assert torch.equal(out[:, 0].cpu(), torch.arange(200.0))


def test_operators_between_blocks_are_part_of_the_graph():
    """A loss of which the program takes the mean, and adds up parts."""
    found = []
    for hybridize in (False, True):
        mx.random.seed(3)
        np.random.seed(3)
        net, loss_of = gluon.nn.HybridSequential(), gluon.loss.L2Loss()
        net.add(gluon.nn.Dense(8, in_units=5, activation='relu'), gluon.nn.Dense(3, in_units=8))
        net.initialize(mx.init.Xavier(), ctx=mx.gpu())
        if hybridize:
            net.hybridize(static_alloc=True, static_shape=True)
        trainer, losses = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1}), []
        for number in range(12):
            x = nd.arange(20, ctx=mx.gpu()).reshape((4, 5)) * (number + 1) / 50
            with autograd.record():
                out = net(x)
                loss = loss_of(out, nd.ones((4, 3), ctx=mx.gpu())).mean() + (out ** 2).sum() * 0.01
            loss.backward()
            trainer.step(1)
            losses.append(loss)
        found.append([a.asnumpy() for a in (*losses, *[p.data() for p in net.collect_params().values()])])
    assert net._cached_op.deferral.last_step.runner.captured is not None
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


class Halves(gluon.HybridBlock):
    """Half of a parameter, which a call with several results gives."""

    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.w = self.params.get('w', shape=(4,), init='ones')

    def hybrid_forward(self, F, x, w):
        return F.broadcast_add(x, F.split(w * 2, 2, axis=0)[1])


def test_parameters_that_change_are_prepared_again_for_a_captured_prediction():
    net = Halves()
    net.initialize(ctx=mx.gpu())
    net.hybridize(static_alloc=True, static_shape=True)
    x = nd.zeros((1, 2), ctx=mx.gpu())
    for value in (1, 2, 3):
        net.w.set_data(nd.full((4,), value))
        for _ in range(4):
            assert net(x).asnumpy().tolist() == [[2 * value] * 2]
