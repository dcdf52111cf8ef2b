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
    mx.random.seed(1)           # of weights by chance, nothing may get through the last relu
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
    found = next(p.source for p in net._cached_op._plans._plans.values() if p is not None and p.infer)
    return re.sub('^ *__ = .*\n', '', found, flags=re.M)       # values that are let go after an error


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


@pytest.mark.parametrize('activation, name', [
    (lambda F, x: F.clip(x, 0, 6), 'hardtanh'), (lambda F, x: F.clip(x, -0.5, 0.25), 'hardtanh'),
    (lambda F, x: F.relu(x), 'relu'), (lambda F, x: F.sigmoid(x), 'sigmoid'), (lambda F, x: F.tanh(x), 'tanh'),
    (lambda F, x: F.LeakyReLU(x, slope=0.1), 'leaky_relu')], ids=['relu6', 'clip', 'relu', 'sigmoid', 'tanh', 'leaky'])
def test_activations_are_part_of_the_call(activation, name):
    net, x = random_network(nn.Conv2D(16, 3, padding=1, in_channels=16), nn.BatchNorm(), nn.HybridLambda(activation),
                            nn.Flatten(), nn.Dense(500), nn.HybridLambda(activation), shape=(2, 16, 32, 32))
    text = check(net, x)
    infer = text[text.index('def infer'):]
    assert len(re.findall(rf"pointwise.*'{name}'", infer)) == 2
    assert not re.search('= _(reuse|relu|clamp|sigmoid|tanh|leaky_relu)', infer)


def test_clip_after_a_sum_stays_a_call():
    """oneDNN has no such sum: the sum is part of the convolution, the limits are not."""
    class Sum(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.body = nn.Conv2D(16, 3, padding=1, in_channels=16)

        def hybrid_forward(self, F, x):
            return F.clip(self.body(x) + x, 0, 1)

    net, x = random_network(Sum(), nn.Conv2D(3, 1), shape=(1, 16, 32, 32))
    text = check(net, x)
    assert re.search("pointwise.*'add', 1, None", text) and re.search(r'= _(reuse|clamp)\d*\(', text)


@pytest.mark.parametrize('rows', [1, 5])
@pytest.mark.parametrize('bias', [True, False])
def test_large_dense_layers_are_packed(rows, bias):
    net, x = random_network(nn.Dense(1024, use_bias=bias, activation='relu'), nn.Dense(700, use_bias=bias), nn.Dense(7),
                            shape=(rows, 600))
    text = check(net, x)
    prepare, infer = text[:text.index('def infer')], text[text.index('def infer'):]
    assert prepare.count('= _mkldnn___reorder_linear_weight') == 2 == infer.count('= _mkldnn___linear_pointwise')
    assert re.search("linear_pointwise.*'relu'", infer) and infer.count('= _linear') == 1
    weight = next(iter(net.collect_params().values()))
    weight.set_data(weight.data() * 2)
    found = net(x).asnumpy()
    net.hybridize(False, clear=False)
    numpy.testing.assert_allclose(found, net(x).asnumpy(), rtol=1e-4, atol=1e-4)


def test_a_layer_whose_weight_is_computed_or_an_input_is_not_packed():
    class Product(nn.HybridBlock):
        def hybrid_forward(self, F, x, weight):
            return F.FullyConnected(x, weight, no_bias=True, num_hidden=1000)

    net, random = Product(), numpy.random.RandomState(0)
    net.hybridize(static_alloc=True, static_shape=True)
    for _ in range(4):
        x, weight = nd.array(random.rand(2, 600)), nd.array(random.rand(1000, 600))
        numpy.testing.assert_allclose(net(x, weight).asnumpy(), x.asnumpy() @ weight.asnumpy().T, rtol=1e-5)


@pytest.mark.parametrize('rows', [1, 3])
def test_a_convolution_of_single_pixels_is_a_dense_layer(rows):
    net, x = random_network(nn.Conv2D(640, 3), nn.GlobalAvgPool2D(), nn.Conv2D(900, 1), nn.Flatten(),
                            shape=(rows, 3, 16, 16))
    text = check(net, x)
    assert text.count('= _mkldnn___linear_pointwise') == 1 and '= _convolution' not in text


class Dense(nn.HybridBlock):
    """A block of a DenseNet: each layer reads what all layers before it gave."""

    def __init__(self, layers, growth, kernel=1):
        super().__init__()
        self.layers = nn.HybridSequential()
        for _ in range(layers):
            layer = nn.HybridSequential()
            layer.add(nn.BatchNorm(), nn.Activation('relu'), nn.Conv2D(24, kernel, use_bias=kernel > 1), nn.BatchNorm(),
                      nn.Activation('relu'), nn.Conv2D(growth, 3, padding=kernel // 2 + 1, use_bias=False))
            self.layers.add(layer)

    def hybrid_forward(self, F, x):
        for layer in self.layers._children.values():
            x = F.concat(x, layer(x), dim=1)
        return x


@pytest.mark.parametrize('count', [1, 3])
def test_dense_blocks(count):
    net, x = random_network(nn.Conv2D(16, 3), Dense(4, 8), nn.BatchNorm(), nn.Activation('relu'), nn.Conv2D(20, 1),
                            nn.AvgPool2D(), Dense(3, 12), nn.Flatten(), nn.Dense(3), shape=(count, 3, 34, 34))
    text = check(net, x)
    infer = text[text.index('def infer'):]
    assert not re.search('= _(cat|native_batch_norm|reuse|relu)', infer)
    assert infer.count('= _clamp') == 8 and len(re.findall(r'= _f\d+\(', infer)) == 7


def test_scales_of_both_signs_and_zero():
    """Normalisation before a convolution becomes limits: on the other side for a negative factor, none for 0."""
    net, x = random_network(nn.Conv2D(16, 3), nn.BatchNorm(), nn.MaxPool2D(2, 1), nn.BatchNorm(), nn.Activation('relu'),
                            nn.Conv2D(20, 1), nn.BatchNorm(), shape=(2, 3, 34, 34))
    params = net.collect_params()
    name = next(n for n in params if 'batchnorm' in n and n.endswith('gamma') and params[n] is net[3].gamma)
    for gamma, beta in ((1, 1), (-1, 1), (1, -1), (-1, -1), (0, 1), (0, -1), (1e-38, 0.5)):
        value = numpy.random.RandomState(1).rand(16).astype('float32') * gamma
        params[name].set_data(nd.array(value))
        net[3].beta.set_data(nd.array(numpy.full(16, beta) * 0.3))
        net.hybridize(False)
        assert '= _clamp' in check(net, x)
    value[::3], value[1::3] = 0, -0.7
    params[name].set_data(nd.array(value))
    net.hybridize(False)
    check(net, x)


@pytest.mark.parametrize('layers', [
    (nn.Conv2D(8, 3, padding=1),), (nn.Conv2D(8, 1, padding=1),), (nn.Conv2D(8, 1, groups=2, in_channels=16),),
    (nn.HybridLambda(lambda F, x: x * 2),)], ids=['3x3', 'padding', 'groups', 'other'])
def test_normalisation_before_other_calls_stays(layers):
    net, x = random_network(nn.Conv2D(16, 3), nn.MaxPool2D(2, 1), nn.BatchNorm(), nn.Activation('relu'), *layers,
                            shape=(2, 3, 34, 34))
    assert '= _native_batch_norm' in check(net, x)


def test_a_concatenation_that_something_else_reads_is_not_continued():
    class Twice(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.block = Dense(1, 8)

        def hybrid_forward(self, F, x):
            first = self.block(x)
            second = F.concat(first, F.tanh(first), dim=1)
            third = F.concat(second, F.sum(second, axis=1, keepdims=True), dim=1)
            return F.broadcast_add(third, F.sum(first, axis=(1, 2, 3), keepdims=True))

    net, x = random_network(nn.Conv2D(16, 3), Twice(), nn.BatchNorm(), nn.Activation('relu'), nn.Conv2D(8, 1),
                            shape=(2, 3, 18, 18))
    assert check(net, x).count('= _cat') == 3
