"""Plans of a CPU keep small products on one thread, with the same bits, and give the threads back."""
import threading

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet._graph.passes import one_thread
from mxnet.gluon import nn

pytestmark = pytest.mark.skipif(one_thread._library is None, reason='this torch does not use OpenMP')


@pytest.fixture(autouse=True)
def two_threads(monkeypatch):
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    monkeypatch.setattr(one_thread, 'MORE', 2)
    yield
    torch.set_num_threads(before)


def step(net, *inputs):
    """The outputs, and the gradients of all parameters."""
    with autograd.record():
        out = net(*inputs)
        loss = (out * out).sum()
    loss.backward()
    return [out.asnumpy(), *[p.grad().asnumpy() for p in net.collect_params().values() if p.grad_req != 'null']]


def plans(net):
    """The texts of what a network has planned."""
    cached = net._cached_op
    found = [p.source for p in cached._plans._plans.values() if p is not None]
    return found + ([cached.deferral.last_step.runner.plan.source] if cached.deferral.last_step else [])


def dense():
    net = nn.HybridSequential()
    net.add(nn.Dense(16, activation='relu', in_units=8), nn.Dense(16, activation='tanh', in_units=16),
            nn.Dense(10, in_units=16))
    return net, (4, 8)


def convolutions():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, 3, in_channels=1), nn.BatchNorm(in_channels=4), nn.Activation('relu'), nn.MaxPool2D(),
            nn.Conv2D(4, 3, in_channels=4), nn.Dense(3, in_units=36))
    return net, (2, 1, 12, 12)


def normalised():
    net = nn.HybridSequential()
    net.add(nn.Dense(12, in_units=6), nn.LayerNorm(in_channels=12), nn.Dense(12, in_units=12),
            nn.LayerNorm(in_channels=12), nn.Dense(3, in_units=12))
    return net, (5, 6)


def recurrent():
    return gluon.rnn.LSTM(8, 2, input_size=6), (5, 3, 6)


def gated():
    return gluon.rnn.GRU(8, 1, input_size=6), (5, 3, 6)


@pytest.mark.parametrize('make', [dense, convolutions, normalised, recurrent, gated])
def test_small_networks_keep_to_one_thread_and_give_the_same_bits(make):
    mx.random.seed(3)
    net, shape = make()
    net.initialize(mx.init.Normal(0.5))
    x = nd.random.normal(shape=shape)
    expected = step(net, x)
    net.hybridize(static_alloc=True, static_shape=True)
    for _ in range(4):
        assert all(map(np.array_equal, step(net, x), expected))
        assert torch.get_num_threads() == 2
    for _ in range(3):
        predicted = net(x).asnumpy()
        assert torch.get_num_threads() == 2
    if make is not gated:           # a loop of the recurrent operator's own
        assert any('alone.begin()' in text for text in plans(net))
    net.hybridize(False)
    np.testing.assert_allclose(net(x).asnumpy(), predicted, rtol=1e-5, atol=1e-6)


def test_a_few_calls_are_not_worth_it(monkeypatch):
    monkeypatch.undo()
    net = nn.HybridSequential()
    net.add(nn.Dense(16, in_units=8), nn.Dense(4, in_units=16))
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    for _ in range(4):
        step(net, nd.ones((4, 8)))
    assert plans(net) and not any('alone' in text for text in plans(net))
    net, shape = recurrent()            # whose steps count
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    for _ in range(4):
        step(net, nd.ones(shape))
    assert any('alone.begin()' in text for text in plans(net))


def test_large_products_have_all_threads():
    net = nn.HybridSequential()
    net.add(nn.Dense(256, in_units=300), nn.Dense(300, in_units=256), nn.Dense(300, in_units=300))
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    x = nd.ones((64, 300))
    for _ in range(4):
        step(net, x)
    assert plans(net) and not any('alone' in text for text in plans(net))


def test_one_thread_needs_no_care():
    torch.set_num_threads(1)
    net, shape = dense()
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    for _ in range(4):
        step(net, nd.ones(shape))
    assert plans(net) and not any('alone' in text for text in plans(net))


@pytest.mark.parametrize('count', [1, 3])
def test_another_number_of_threads_than_was_tried_is_left_alone(count):
    net, shape = dense()
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    x = nd.ones(shape)
    for _ in range(4):
        step(net, x)
    torch.set_num_threads(count)
    step(net, x)
    assert torch.get_num_threads() == count
    with one_thread.Alone(2) as here:
        here.begin()
        assert torch.get_num_threads() == count
    assert torch.get_num_threads() == count


def test_threads_come_back_after_an_error():
    net, shape = dense()
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    for _ in range(4):
        step(net, nd.ones(shape))
    plan = net._cached_op.deferral.last_step.runner.plan
    assert 'alone.begin()' in plan.source
    with pytest.raises(RuntimeError):
        plan.joint([torch.ones(2, 3) for _ in range(plan.source.split(' = tensors')[0].rsplit('\n', 1)[1].count(','))])
    assert torch.get_num_threads() == 2


def test_only_the_calling_thread_changes():
    others, done = [], threading.Event()

    def look():
        torch.ones(3).sum()
        others.append(torch.get_num_threads())
        done.set()

    with one_thread.Alone(2) as here:
        here.begin()
        assert torch.get_num_threads() == 1
        threading.Thread(target=look).start()
        assert done.wait(60)
        here.end()
        assert torch.get_num_threads() == 2
    assert others == [2]


def test_sums_that_threads_share_otherwise_keep_their_bits(monkeypatch):
    """A call that fails its trial runs with all threads, in the midst of others."""
    monkeypatch.setattr(one_thread, '_trials', {})
    tried = one_thread._tried
    monkeypatch.setattr(one_thread, '_tried', lambda node: 'bmm' not in str(node.target) and tried(node))
    a, b, c = (mx.sym.Variable(n) for n in 'abc')
    product = mx.sym.dot(mx.sym.dot(a, b), c)
    several = mx.sym.batch_dot(mx.sym.expand_dims(product, 0), mx.sym.expand_dims(product, 0))
    last = mx.sym.dot(mx.sym.dot(mx.sym.reshape(several, (4, 4)), b), c)
    exe = last.simple_bind(mx.cpu(), a=(4, 4), b=(4, 4), c=(4, 4), grad_req='null')
    for array in exe.arg_arrays:
        array[:] = nd.random.normal(shape=(4, 4))
    for _ in range(3):
        got = exe.forward()[0].asnumpy()
    values = [exe.arg_dict[n].asnumpy() for n in 'abc']
    p = values[0] @ values[1] @ values[2]
    np.testing.assert_allclose(got, p @ p @ values[1] @ values[2], rtol=1e-4)
    text = next(p.source for p in exe._plans._plans.values() if p is not None)
    lines = text.split('\n')
    at = next(i for i, line in enumerate(lines) if '_bmm' in line)
    before = [line.strip() for line in lines[:at] if 'alone.' in line]
    assert before and before[-1] == 'alone.end()', text


def test_profiles_name_the_calls_in_between(tmp_path):
    net, shape = dense()
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    for _ in range(4):
        step(net, nd.ones(shape))
    mx.profiler.set_config(profile_all=True, aggregate_stats=True, filename=str(tmp_path / 'profile.json'))
    mx.profiler.start()
    try:
        step(net, nd.ones(shape))
    finally:
        mx.profiler.stop()
    assert 'FullyConnected' in mx.profiler.dumps(reset=True)
