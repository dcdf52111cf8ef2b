"""Predictions from pictures on a CPU: weights packed for oneDNN, additions and rectifiers in the convolution."""
import re

import numpy
import pytest

import mxnet as mx
from mxnet import gluon, nd
from mxnet._graph.passes.packed import can_pack

pytestmark = pytest.mark.skipif(not can_pack(), reason='this torch was built without oneDNN')
nn = gluon.nn


class Residual(nn.HybridBlock):
    """Two ways that are added, as ResNets have them."""

    def __init__(self, channels, narrow, **kwargs):
        super().__init__()
        self.body = nn.HybridSequential()
        self.body.add(nn.Conv2D(channels, 3, padding=1, **kwargs), nn.BatchNorm(), nn.Activation('relu'),
                      nn.Conv2D(channels, 3, padding=1, strides=2 if narrow else 1, use_bias=False), nn.BatchNorm())
        self.shortcut = nn.Conv2D(channels, 1, strides=2, use_bias=False) if narrow else None

    def hybrid_forward(self, F, x):
        return F.relu(self.body(x) + (x if self.shortcut is None else self.shortcut(x)))


def random_network(*layers, shape):
    net = nn.HybridSequential()
    net.add(*layers)
    net.initialize(mx.init.Xavier())
    random = numpy.random.RandomState(0)
    x = nd.array(random.rand(*shape))
    net(x)
    for name, param in net.collect_params().items():
        if name.endswith(('gamma', 'beta', 'running_mean', 'running_var')):
            param.set_data(nd.array(random.rand(*param.shape) + 0.5))
    return net, x


def source(net):
    return next(p.source for p in net._cached_op._plans._plans.values() if p is not None and p.infer)


def check(net, x):
    """The sources of its plan, once predictions are what the plain network gives."""
    expected = net(x).asnumpy()
    net.hybridize(static_alloc=True, static_shape=True)
    for _ in range(4):
        numpy.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-4, atol=1e-5 * abs(expected).max())
    return source(net)


def test_residual_blocks():
    net, x = random_network(nn.Conv2D(32, 7, strides=2, padding=3), nn.BatchNorm(), nn.Activation('relu'),
                            nn.MaxPool2D(), Residual(32, False), Residual(64, True), nn.GlobalAvgPool2D(),
                            nn.Flatten(), nn.Dense(5), shape=(2, 3, 96, 96))
    text = check(net, x)
    infer = text[text.index('def infer'):]
    calls = re.findall(r'= _mkldnn\w*convolution_pointwise\w*\((.*)\)', infer)
    assert len(calls) == 6
    assert sum("'relu'" in call for call in calls) == 5 and sum("'add'" in call for call in calls) == 2
    assert not re.search('batch_norm|reuse|= _relu|reorder_convolution_weight[0-9]+[(]', infer)
    assert 'reorder_convolution_weight' in text[:text.index('def infer')]


def test_parameters_that_change_count():
    net, x = random_network(nn.Conv2D(16, 5), nn.BatchNorm(), nn.Activation('relu'), nn.Flatten(), nn.Dense(3),
                            shape=(1, 3, 64, 64))
    check(net, x)
    for param in net.collect_params().values():
        param.set_data(param.data() * 1.5)
        found = net(x).asnumpy()
        net.hybridize(False, clear=False)
        numpy.testing.assert_allclose(found, net(x).asnumpy(), rtol=1e-4, atol=1e-4)
        net.hybridize(static_alloc=True, static_shape=True, clear=False)


@pytest.mark.parametrize('layers, shape', [
    ((nn.Conv2D(8, 3, padding=1), nn.MaxPool2D(), nn.Flatten(), nn.Dense(4)), (1, 1, 28, 28)),     # one channel
    ((nn.Conv2D(64, 4), nn.Flatten(), nn.Dense(4)), (1, 32, 4, 4)),                                # one place is left
    ((nn.Conv2D(32, 5, padding=2, groups=16, in_channels=32), nn.Activation('relu')), (1, 32, 48, 48)),
    ((nn.Conv2D(32, 5, padding=4, dilation=2), nn.Activation('sigmoid'), nn.Conv2D(1, 1)), (1, 3, 48, 48)),
    ((nn.Conv2D(16, 5), nn.Conv2DTranspose(8, 3, strides=2), nn.Activation('relu'), nn.Flatten()), (1, 3, 48, 48)),
    ((nn.Conv2D(16, 5), nn.HybridLambda(lambda F, x: F.relu(x) + x)), (1, 3, 64, 64)),              # it is used twice
    ((nn.Conv2D(16, 5), nn.HybridLambda(lambda F, x: F.reshape(F.transpose(x, (0, 2, 3, 1)), (0, -1)))),
     (1, 3, 64, 64)),
    ((nn.Conv2D(16, 5), nn.HybridLambda(lambda F, x: F.relu(x + x))), (1, 3, 64, 64)),
    ((nn.Conv1D(16, 5), nn.Activation('relu')), (1, 3, 640)),
], ids=str)
def test_layouts(layers, shape):
    check(*random_network(*layers, shape=shape))



@pytest.mark.parametrize('shape', [(4, 1, 8, 8), (1, 1, 8, 8), (4, 1, 8, 1), (1, 3, 3, 3)], ids=str)
@pytest.mark.parametrize('kernel', [1, 3])
def test_pictures_of_one_channel_or_pixel(shape, kernel):
    """Both orders are the same memory then, and what follows relies on one."""
    net, x = random_network(nn.Conv2D(4, kernel, padding=kernel // 2), nn.BatchNorm(), nn.Activation('relu'),
                            nn.Conv2D(1, 1), nn.Conv2D(5, 1), nn.Flatten(), nn.Dense(3), shape=shape)
    assert 'def infer' in check(net, x)
