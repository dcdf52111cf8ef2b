"""`hybridize(backend='inductor')`: the plan of a step, and of a prediction, compiled."""
import shutil

import numpy
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not shutil.which('g++'), reason='inductor needs a C++ compiler')]


@pytest.mark.filterwarnings('ignore')
@pytest.mark.parametrize('ctx', [mx.cpu(), pytest.param(mx.gpu(), marks=pytest.mark.gpu)], ids=str)
def test_a_compiled_network_trains_and_predicts_alike(monkeypatch, tmp_path, ctx):
    monkeypatch.setenv('TORCHINDUCTOR_CACHE_DIR', str(tmp_path))
    found = []
    for backend in ('inductor', None):
        mx.random.seed(1)
        net = gluon.nn.HybridSequential()
        net.add(gluon.nn.Conv2D(4, 3, in_channels=1), gluon.nn.BatchNorm(in_channels=4), gluon.nn.Activation('relu'),
                gluon.nn.Dense(3))
        net.initialize(mx.init.Xavier(), ctx=ctx)
        net.hybridize(backend=backend, static_alloc=True, static_shape=True)
        loss = gluon.loss.SoftmaxCrossEntropyLoss()
        trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1})
        x, y = nd.random.uniform(shape=(4, 1, 8, 8), ctx=ctx), nd.array([0, 1, 2, 0], ctx=ctx)
        for _ in range(5):
            with autograd.record():
                value = loss(net(x), y)
            value.backward()
            trainer.step(4)
        if backend:
            assert net._cached_op.deferral.last_step.runner.plan.source == 'compiled'
        predicted = [net(x).asnumpy() for _ in range(3)][-1]
        found.append([value.asnumpy(), predicted, *[p.data().asnumpy() for p in net.collect_params().values()]])
    for one, other in zip(*found, strict=True):
        numpy.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)
