"""One hybridized network in several threads: plans of many shapes, made, run and thrown away at once."""
import random
import sys
import threading

import numpy
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet._graph.codegen import plan

THREADS, ROUNDS = 4, 60
BATCHES = tuple(range(1, 10))


def together(work):
    """Runs work(number) in several threads that start at once; the first error of any is raised."""
    errors, ready = [], threading.Barrier(THREADS)

    def run(number):
        try:
            ready.wait()
            work(number)
        except BaseException as error:      # shown by the thread that joins
            errors.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)             # many changes of threads, at bad moments too
    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
            assert not thread.is_alive()
    finally:
        sys.setswitchinterval(before)
    if errors:
        raise errors[0]


def network(**flags):
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(8, activation='relu', in_units=5), gluon.nn.BatchNorm(in_channels=8, use_global_stats=True),
            gluon.nn.Dense(3, in_units=8))
    net.initialize(mx.init.Xavier())
    expected = {}
    for n in BATCHES:
        x = nd.random.uniform(shape=(n, 5))
        x.attach_grad()
        with autograd.record():
            value = net(x)
        value.backward()
        expected[n] = x.asnumpy(), value.asnumpy(), x.grad.asnumpy()
    net.hybridize(**flags)
    return net, expected


@pytest.mark.parametrize('flags', [{}, {'static_alloc': True, 'static_shape': True}], ids=['plain', 'static'])
def test_predictions_of_many_shapes(flags, monkeypatch):
    monkeypatch.setattr(plan, 'LIMIT', 4)           # plans come and go
    net, expected = network(**flags)

    def work(number):
        chance = random.Random(number)
        for _ in range(ROUNDS):
            given, value, _ = expected[chance.choice(BATCHES)]
            numpy.testing.assert_allclose(net(nd.array(given)).asnumpy(), value, rtol=1e-4, atol=1e-5)

    together(work)
    assert len(net._cached_op._plans._plans) <= 4


@pytest.mark.parametrize('flags', [{}, {'static_alloc': True, 'static_shape': True}], ids=['plain', 'static'])
def test_some_train_and_some_predict(flags):
    net, expected = network(**flags)
    for param in net.collect_params().values():
        param.grad_req = 'null'                     # threads differentiate their own inputs

    def work(number):
        chance = random.Random(number)
        for _ in range(ROUNDS):
            given, value, gradient = expected[chance.choice(BATCHES)]
            x = nd.array(given)
            if number % 2:
                x.attach_grad()
                with autograd.record():
                    found = net(x)
                found.backward()
                numpy.testing.assert_allclose(x.grad.asnumpy(), gradient, rtol=1e-4, atol=1e-5)
            else:
                found = net(x)
            numpy.testing.assert_allclose(found.asnumpy(), value, rtol=1e-4, atol=1e-5)

    together(work)


def test_networks_of_their_own_share_nothing():
    def work(number):
        net = gluon.nn.HybridSequential()
        net.add(gluon.nn.Dense(4, in_units=3), gluon.nn.Dense(1, in_units=4))
        net.initialize(mx.init.Constant(0.1 * (number + 1)))
        net.hybridize(static_alloc=True, static_shape=True)
        loss_of, trainer = gluon.loss.L2Loss(), gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.05})
        losses = []
        for _ in range(ROUNDS):
            with autograd.record():
                loss = loss_of(net(nd.ones((4, 3))), nd.ones((4, 1)))
            loss.backward()
            trainer.step(4)
            losses.append(loss.mean().asscalar())
        assert losses[-1] < 1e-2 * losses[0] + 1e-6

    together(work)


def test_what_a_plan_was_made_for_is_said(monkeypatch, caplog):
    monkeypatch.setenv('MXNET_LOG_PLANS', '1')
    net, _ = network()
    with caplog.at_level('WARNING', 'mxnet.plans'):
        for n in (2, 2, 3, 3):
            net(nd.ones((n, 5)))
    said = [r.getMessage() for r in caplog.records if r.name == 'mxnet.plans']
    assert len(said) == 2 and 'the first one' in said[0] and '(2, 5) float32' in said[0]
    assert 'new shapes;' in said[1] and '(3, 5) float32' in said[1]
