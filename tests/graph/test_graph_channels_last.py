"""Training on a CPU with `static_alloc` and `static_shape`: channels last in memory where the weights suggest it."""
import numpy
import pytest
import torch

import mxnet as mx
from mxnet import autograd, gluon, nd

pytestmark = pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason='this torch was built without oneDNN')
nn = gluon.nn


def separable():
    """A block of MobileNet v2, pooling, a concatenation and a classifier."""
    net = nn.HybridSequential()
    branches = gluon.contrib.nn.HybridConcurrent(axis=1)
    branches.add(nn.Conv2D(8, 1), nn.MaxPool2D(3, 1, 1))
    net.add(nn.Conv2D(8, 3, padding=1, strides=2, use_bias=False), nn.BatchNorm(), nn.Activation('relu'),
            nn.Conv2D(24, 1, use_bias=False), nn.BatchNorm(), nn.HybridLambda(lambda F, x: F.clip(x, 0, 6)),
            nn.Conv2D(24, 3, padding=1, groups=24, in_channels=24, use_bias=False), nn.BatchNorm(), branches,
            nn.AvgPool2D(),
            nn.Conv2D(32, 1), nn.Flatten(), nn.Dense(5))
    return net


def dense():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(8, 3, padding=1), nn.BatchNorm(), nn.Activation('relu'), nn.Conv2D(8, 3), nn.Flatten(),
            nn.Dense(5))
    return net


def trained(make, shape=(4, 3, 16, 16), steps=4, loss=True, **flags):
    """(losses, parameters, gradients) of some steps, and the sources of the plans that ran."""
    mx.random.seed(3)
    numpy.random.seed(3)
    net, loss_of = make(), gluon.loss.SoftmaxCrossEntropyLoss()
    net.initialize(mx.init.Xavier())
    random = numpy.random.RandomState(0)
    x, y = nd.array(random.rand(*shape)), nd.array(random.randint(0, 5, shape[0]))
    x.attach_grad()
    net(x)
    if flags:
        net.hybridize(**flags)
        loss_of.hybridize(**flags)
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.05, 'momentum': 0.9})
    losses, plans = [], set()
    from mxnet._graph.codegen.writing import Plan
    before = set(Plan.live)
    for _ in range(steps):
        with autograd.record():
            value = loss_of(net(x), y) if loss else net(x).tanh().mean(axis=1)
        value.backward()
        trainer.step(shape[0])
        losses.append(value.asnumpy())
        plans |= set(Plan.live) - before
    params = net.collect_params().values()
    return (losses, [p.data().asnumpy() for p in params],
            [x.grad.asnumpy(), *[p.grad().asnumpy() for p in params if p.grad_req != 'null']]), plans


def moves_channels(plans):
    """Whether a plan puts a picture into channels last."""
    return any(torch.channels_last in f.__globals__.values() for p in plans for f in (p.joint, p.forward)
               if f is not None)


STATIC = {'static_alloc': True, 'static_shape': True}


@pytest.mark.parametrize('shape', [(4, 3, 16, 16), (1, 3, 9, 7), (2, 1, 16, 16)], ids=str)
@pytest.mark.parametrize('loss', [True, False], ids=['step', 'tape'])
def test_steps_are_those_of_plain_blocks(shape, loss):
    expected, _ = trained(separable, shape, loss=loss)
    found, plans = trained(separable, shape, loss=loss, **STATIC)
    # a single channel and kernels of one pixel need not be moved
    assert moves_channels(plans) or shape[1] == 1
    for ours, theirs in zip(found, expected, strict=True):
        for a, b in zip(ours, theirs, strict=True):
            numpy.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4 * max(1, abs(b).max()))


def test_gradients_are_row_major_arrays():
    net = separable()
    net.initialize()
    net.hybridize(**STATIC)
    x = nd.random.uniform(shape=(4, 3, 16, 16))
    for _ in range(3):
        with autograd.record():
            value = net(x).sum()
        value.backward()
    for p in net.collect_params().values():
        assert p.data().to_torch().is_contiguous()
        assert p.grad_req == 'null' or p.grad().to_torch().is_contiguous()


@pytest.mark.parametrize('make, flags', [(separable, {'active': True}), (separable, {'static_alloc': True}),
                                         (dense, STATIC)], ids=['plain hybridize', 'alloc only', 'large kernels'])
def test_otherwise_the_layout_and_the_bits_stay(make, flags):
    expected, _ = trained(make)
    found, plans = trained(make, **flags)
    assert plans and not moves_channels(plans)
    for ours, theirs in zip(found, expected, strict=True):
        for a, b in zip(ours, theirs, strict=True):
            numpy.testing.assert_array_equal(a, b)


def test_a_network_computes_the_same_each_time():
    first, _ = trained(separable, **STATIC)
    second, _ = trained(separable, **STATIC)
    for ours, theirs in zip(first, second, strict=True):
        for a, b in zip(ours, theirs, strict=True):
            numpy.testing.assert_array_equal(a, b)


def test_instance_norm_of_which_only_beta_learns():
    """torch's gradient for channels last ends the process where neither the data nor gamma have one."""
    net = nn.HybridSequential()
    net.add(nn.Conv2D(3, 1, in_channels=2), nn.InstanceNorm(in_channels=3), nn.Flatten(), nn.Dense(2))
    net.initialize(mx.init.Xavier())
    net[0].collect_params().setattr('grad_req', 'null')
    x, found = nd.array(numpy.random.RandomState(0).rand(4, 2, 6, 6)), []
    for flags in (None, {'static_alloc': True, 'static_shape': True}):
        if flags:
            net.hybridize(**flags)
        for _ in range(4):
            with autograd.record():
                value = net(x).tanh().sum()
            value.backward()
        found.append([p.grad().asnumpy() for p in net.collect_params().values() if p.grad_req != 'null'])
    for a, b in zip(*found, strict=True):
        numpy.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
