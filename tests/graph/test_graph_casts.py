"""Casts of mixed precision in plans: as few as there can be, and no value changes."""
import re

import numpy
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.contrib import amp

nn = gluon.nn
CAST = re.compile(r'= \w+\.(?:bfloat16|float|half|double)\(\)|= __to_copy\w*\(')


def forth_and_back(F, x):
    """Casts that cancel, with a view between some of them."""
    x = F.cast(F.relu(F.cast(x, dtype='float16')), dtype='float32')
    x = F.cast(F.reshape(x, (-1,)), dtype='float16')
    x = F.cast(F.cast(x, dtype='float32'), dtype='float16')
    return F.cast(x * 3, dtype='float32')


def lossy(F, x):
    """Rounds: nothing cancels."""
    return F.cast(F.cast(x, dtype='float16'), dtype='float32') * 3


def plan_of(net):
    return net._cached_op.deferral.last_step.runner.plan.source


@pytest.mark.parametrize('function, casts', [(forth_and_back, 2), (lossy, 3)], ids=['cancels', 'rounds'])
def test_casts_that_cancel(function, casts):
    x = nd.array(numpy.linspace(-3, 3, 12).reshape(3, 4))
    x.attach_grad()
    results = []
    for hybridize in (False, True):
        net = nn.HybridLambda(function)
        if hybridize:
            net.hybridize()
        for _ in range(3):
            with autograd.record():
                y = net(x)
            y.backward()
        results.append((y.asnumpy(), x.grad.asnumpy()))
    for plain, planned in zip(*results, strict=True):
        numpy.testing.assert_array_equal(plain, planned)
    assert len(CAST.findall(plan_of(net))) == casts


def network():
    net = nn.HybridSequential()
    net.add(nn.Dense(16, activation='relu', in_units=20), nn.Dense(16, activation='relu', in_units=16, use_bias=False),
            nn.Dense(5, in_units=16))
    net.initialize(mx.init.Xavier())
    return net


def trained(dtype, hybridize, req):
    """Parameters after a few steps in mixed precision, and the plan."""
    mx.random.seed(3)
    numpy.random.seed(3)
    amp.init(dtype)
    try:
        net = network()
        net.collect_params().setattr('grad_req', req)
        if hybridize:
            net.hybridize()
        loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
        trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.3})
        x, y = nd.array(numpy.random.rand(8, 20)), nd.arange(8) % 5
        amp.init_trainer(trainer)
        for _ in range(5):
            with autograd.record():
                loss = loss_of(net(x), y)
                with amp.scale_loss(loss, trainer) as scaled:
                    autograd.backward(scaled)
            trainer.step(8)
            if req == 'add':
                net.collect_params().zero_grad()
        return [p.data().asnumpy() for p in net.collect_params().values()], net
    finally:
        amp.stop()


@pytest.mark.parametrize('req', ['write', 'add'])
def test_training_is_the_same(req):
    plain, _ = trained('bfloat16', False, req)
    planned, net = trained('bfloat16', True, req)
    for a, b in zip(plain, planned, strict=True):
        numpy.testing.assert_array_equal(a, b)
    # the input, five parameters, scores for the loss and their gradient: gradients are cast as they are stored
    assert len(CAST.findall(plan_of(net))) == 8


def test_scaled_losses_train_as_well():
    plain, _ = trained('float16', False, 'write')
    planned, _ = trained('float16', True, 'write')
    for a, b in zip(plain, planned, strict=True):
        numpy.testing.assert_array_equal(a, b)


def test_predictions_cast_weights_once():
    net = network()
    x = nd.random.uniform(shape=(4, 20))
    net.hybridize()
    net(x)
    low = amp.convert_hybrid_block(net, 'bfloat16', ctx=mx.cpu())
    low.hybridize(static_alloc=True, static_shape=True)
    for _ in range(4):
        found = low(x)
    source = next(p.source for p in low._cached_op._plans._plans.values() if p is not None and p.infer)
    prepare, infer = source.split('def infer')
    assert len(CAST.findall(prepare)) == 5 and len(CAST.findall(infer)) == 2
    numpy.testing.assert_allclose(found.asnumpy(), net(x).asnumpy(), rtol=0.05, atol=0.02)
