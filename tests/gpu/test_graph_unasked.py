"""CUDA graphs of networks that are hybridized without `static_alloc` and `static_shape`: late, of small ones only."""
import gc

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet._graph.cuda import runner
from mxnet.ndarray import _predictions

pytestmark = pytest.mark.gpu


def network(seed=3, dropout=0.0):
    mx.random.seed(seed)
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(24, activation='relu'), gluon.nn.BatchNorm(), gluon.nn.Dropout(dropout), gluon.nn.Dense(10))
    net.initialize(mx.init.Xavier(), ctx=mx.gpu())
    net(nd.ones((2, 12), ctx=mx.gpu()))
    return net


class Training:
    """A network that trains on batches of its own, of several sizes."""

    def __init__(self, **flags):
        self.net, self.loss_of = network(), gluon.loss.SoftmaxCrossEntropyLoss()
        if flags.pop('hybrid', True):
            self.net.hybridize(**flags)
        self.trainer = gluon.Trainer(self.net.collect_params(), 'sgd', {'learning_rate': 0.1, 'momentum': 0.9})
        self.random, self.losses = np.random.RandomState(1), []

    def step(self, size=32):
        x = nd.array(self.random.rand(size, 12), ctx=mx.gpu())
        y = nd.array(self.random.randint(0, 10, size), ctx=mx.gpu())
        with autograd.record():
            out = self.net(x)
            loss = self.loss_of(out, y)
        loss.backward()
        self.trainer.step(size)
        self.losses.append(loss)
        return out

    def graph(self):
        return self.net._cached_op.deferral.last_step.runner.captured

    def values(self):
        return [p.data().asnumpy() for p in self.net.collect_params().values()]


def test_recorded_once_it_has_run_often():
    found, wanted = Training(), Training(hybrid=False)
    for number in range(runner.LATE + 30):
        outputs = [found.step(), wanted.step()]
        if number < runner.LATE:
            assert number < 4 or found.graph() is None
        if number % 7 == 0:
            np.testing.assert_allclose(*[o.asnumpy() for o in outputs], rtol=1e-3, atol=1e-4)
    assert found.graph() is not None
    for mine, theirs in zip(found.values(), wanted.values(), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-3, atol=1e-4)
    for mine, theirs in zip(found.losses, wanted.losses, strict=True):        # of all steps, all still there
        np.testing.assert_allclose(mine.asnumpy(), theirs.asnumpy(), rtol=1e-3, atol=1e-4)


def test_sizes_and_parameters_may_change_afterwards():
    found, wanted = Training(), Training(hybrid=False)
    for number in range(3 * runner.LATE):
        size = 32 if number < 2 * runner.LATE or number % 2 else 20
        if number == runner.LATE + 5:
            for each in (found, wanted):
                each.net[0].weight.set_data(each.net[0].weight.data() * 0.5)
        if number == runner.LATE + 9:
            for each in (found, wanted):
                each.net.collect_params('.*bias').setattr('grad_req', 'null')
                each.trainer = gluon.Trainer({n: p for n, p in each.net.collect_params().items()
                                              if p.grad_req != 'null'}, 'sgd', {'learning_rate': 0.05})
        found.step(size)
        wanted.step(size)
    for mine, theirs in zip(found.values(), wanted.values(), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(('name', 'value'), [('MOST_UNASKED', 100), ('SHARE_UNASKED', 1 << 40)])
def test_not_if_it_takes_much_memory(monkeypatch, name, value):
    monkeypatch.setattr(runner, name, value)
    training, asked = Training(), Training(static_alloc=True, static_shape=True)
    for _ in range(runner.LATE + 5):
        training.step()
        asked.step()
    assert training.graph() is None and asked.graph() is not None


@pytest.mark.parametrize('flags', [{}, {'static_alloc': True, 'static_shape': True}])
def test_not_if_there_are_to_be_none(monkeypatch, flags):
    monkeypatch.setenv('MXNET_ENABLE_CUDA_GRAPHS', '0')
    training = Training(**flags)
    for _ in range(runner.LATE + 5):
        training.step()
    assert training.graph() is None and training.trainer._updaters[0]._bound.graph is None


def test_memory_of_graphs_that_are_gone_counts_no_more():
    training = Training()
    before = len(runner._unasked)
    for _ in range(runner.LATE + 5):
        training.step()
    assert len(runner._unasked) == before + 1
    del training
    gc.collect()
    assert len(runner._unasked) <= before


def test_random_numbers_go_on():
    """Dropout draws the same numbers, whether it is part of a graph or not, early or late."""
    outputs = []
    for flags in ({}, {'static_alloc': True, 'static_shape': True}):
        net = network(dropout=0.5)
        net.hybridize(**flags)
        x, seen = nd.ones((8, 12), ctx=mx.gpu()), []
        mx.random.seed(5, ctx=mx.gpu())
        for _ in range(runner.LATE + 10):
            with autograd.record():
                out = net(x)
            out.backward()
            seen.append(out.asnumpy())
        outputs.append(seen)
    for mine, theirs in zip(*outputs, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-3, atol=1e-4)


# ---------------------------------------------------------------------- predictions
def predictor(net):
    quick = net._cached_op.predictions.last
    return None if quick is None else quick[2]


def test_predictions_are_recorded_late_and_follow_the_parameters():
    found, wanted = network(), network()
    found.hybridize()
    random = np.random.RandomState(2)
    for number in range(_predictions.FIRST_UNASKED + runner.LATE + 20):
        x = nd.array(random.rand(4, 12), ctx=mx.gpu())
        np.testing.assert_allclose(found(x).asnumpy(), wanted(x).asnumpy(), rtol=1e-4, atol=1e-5)
        if number % 13 == 12:
            for each in (found, wanted):
                each[0].weight.set_data(each[0].weight.data() + 0.1)
                each[1].running_mean.set_data(each[1].running_mean.data() + 0.2)
    assert predictor(found) is not None and predictor(found).captured is not None
    kept = [found(nd.ones((4, 12), ctx=mx.gpu()) * n) for n in range(3)]         # each has memory of its own
    for n, out in enumerate(kept):
        np.testing.assert_allclose(out.asnumpy(), wanted(nd.ones((4, 12), ctx=mx.gpu()) * n).asnumpy(), rtol=1e-4,
                                   atol=1e-5)


def test_training_and_predicting_by_turns():
    found, wanted = Training(), Training(hybrid=False)
    x = nd.ones((4, 12), ctx=mx.gpu())
    for _ in range(_predictions.FIRST_UNASKED + runner.LATE + 8):
        found.step()
        wanted.step()
        np.testing.assert_allclose(found.net(x).asnumpy(), wanted.net(x).asnumpy(), rtol=1e-3, atol=1e-4)
    assert found.graph() is not None and predictor(found.net).captured is not None


def test_predictions_of_large_networks_are_left_alone(monkeypatch):
    monkeypatch.setattr(_predictions, 'MOST_UNASKED', 100)
    net, asked = network(), network()
    net.hybridize()
    asked.hybridize(static_alloc=True, static_shape=True)
    for _ in range(_predictions.FIRST_UNASKED + runner.LATE + 5):
        net(nd.ones((4, 12), ctx=mx.gpu()))
        asked(nd.ones((4, 12), ctx=mx.gpu()))
    assert predictor(net) is None and predictor(asked).captured is not None


# ---------------------------------------------------------------------- executors
def module(ctx):
    data = mx.sym.BatchNorm(mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=9, name='first'), name='norm')
    out = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Dropout(data, p=0.5), num_hidden=4, name='second'),
                               name='softmax')
    found = mx.mod.Module(out, context=ctx)
    found.bind([('data', (6, 5))], [('softmax_label', (6,))])
    mx.random.seed(4)
    found.init_params(mx.init.Xavier())
    found.init_optimizer(optimizer_params={'learning_rate': 0.3})
    return found


def test_modules_predict_by_graphs():
    found, wanted = module(mx.gpu()), module(mx.cpu())
    wanted.set_params(*found.get_params())
    random = np.random.RandomState(6)
    for number in range(runner.LATE + 25):
        batch = mx.io.DataBatch([nd.array(random.rand(6, 5))], [nd.array(random.randint(0, 4, 6))])
        results = []
        for each in (found, wanted):
            each.forward(batch, is_train=False)
            results.append(each.get_outputs()[0])
        if number % 3:                      # others are never looked at
            np.testing.assert_allclose(*[r.asnumpy() for r in results], rtol=1e-4, atol=1e-5)
        if number % 11 == 10:               # a step in between, with other dropout
            found.forward_backward(batch)
            found.update()
            wanted.set_params(*found.get_params())
    executor = found._exec_group.execs[0]
    assert executor._bound_runs[False].forward.captured is not None
    kept = executor.outputs[0].copy()
    executor.forward(is_train=False, data=nd.ones((6, 5)))
    assert not np.array_equal(executor.outputs[0].asnumpy(), kept.asnumpy())


def test_executors_that_take_much_memory_predict_as_they_are(monkeypatch):
    monkeypatch.setattr(runner, 'MOST_UNASKED', 10)
    executor = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=3).simple_bind(mx.gpu(), data=(2, 4))
    for array in executor.arg_arrays:
        array[:] = 1
    for _ in range(runner.LATE + 5):
        np.testing.assert_array_equal(executor.forward()[0].asnumpy(), np.full((2, 3), 5, 'float32'))
    assert executor._bound_runs[False].forward.captured is None
