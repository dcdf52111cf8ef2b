"""Layers: how they are named and print, and what they compute, as MXNet 1.9.1 described itself in data/gluon."""
import importlib.util
import json
import os
import subprocess

import numpy as np
import pytest
from conftest import ROOT

import mxnet as mx
from mxnet import autograd, gluon, nd, npx
from mxnet.gluon import contrib, nn

DATA = ROOT / 'tests' / 'data' / 'gluon'
UPSTREAM = json.loads((DATA / 'described.json').read_text())


def make():
    """The script that describes layers and networks."""
    spec = importlib.util.spec_from_file_location('gluon_make', DATA / 'make.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MAKE = make()


def near(found, expected, tolerance):
    """Pairs of mean and mean size, which near zero are compared by size."""
    assert found.keys() == expected.keys()
    for key, (mean, size) in expected.items():
        scale = max(size, 1e-3)
        assert abs(found[key][0] - mean) < tolerance * scale and abs(found[key][1] - size) < tolerance * scale, \
            (key, found[key], expected[key])


@pytest.mark.parametrize('text, shape', MAKE.LAYERS, ids=[text for text, _ in MAKE.LAYERS])
def test_layers_are_those_of_upstream(text, shape):
    expected, found = dict(UPSTREAM['layers'][text]), MAKE.layer(text, shape)
    near(found.pop('numbers', {}), expected.pop('numbers', {}), 1e-4)
    if 'Deformable' in text:        # upstream has a list for the shape of this parameter until it is known
        expected['params'], found['params'] = sorted(expected['params']), sorted(found['params'])
    assert found == expected


@pytest.mark.slow
def test_upstream_describes_itself_so(tmp_path):
    python = os.environ.get('MXNET191_PYTHON')
    if not python:
        pytest.skip('MXNET191_PYTHON names no Python with MXNet 1.9.1')
    environment = {key: value for key, value in os.environ.items() if key != 'PYTHONPATH'}
    subprocess.run([python, DATA / 'make.py', tmp_path], cwd=tmp_path, env=environment, check=True, timeout=240)
    described = json.loads((tmp_path / 'described.json').read_text())

    def without_numbers(facts):
        return {k: without_numbers(v) for k, v in facts.items() if k != 'numbers'} if isinstance(facts, dict) else facts
    assert without_numbers(described) == without_numbers(UPSTREAM)


# ---------------------------------------------------------------------- graphs
def step(net, x):
    mx.random.seed(5)
    x.attach_grad()
    with autograd.record():
        y = net(x)
        (y * y * y).sum().backward()
    return [y.asnumpy(), x.grad.asnumpy(), *[p.grad().asnumpy() for p in net.collect_params().values()
                                             if p.grad_req != 'null']]


PLAIN = ('nn.Lambda', 'nn.Concurrent', 'nn.Sequential', 'Embedding')
HYBRID = [(text, shape) for text, shape in MAKE.LAYERS if not any(word in text for word in PLAIN)]


@pytest.mark.parametrize('text, shape', HYBRID, ids=[text for text, _ in HYBRID])
def test_hybridized_layers_compute_the_same(text, shape):
    scope = {**vars(MAKE)}
    net = eval(text, scope)
    net.initialize(mx.init.Normal(0.5))
    x = nd.random.uniform(-1, 1, shape=shape)
    plain = step(net, x)
    net.hybridize()
    for _ in range(2):              # the first call runs the graph, the second its plan
        for a, b in zip(step(net, x), plain, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


NP = [(text, shape) for text, shape in HYBRID if 'Two' not in text]


@pytest.fixture
def np_mode():
    npx.set_np()
    yield
    npx.reset_np()


@pytest.mark.parametrize('text, shape', NP, ids=[text for text, _ in NP])
def test_layers_in_np_mode(text, shape, np_mode):
    text = text.replace("F.exp", "F.np.exp")
    values = np.random.RandomState(3).uniform(-1, 1, shape).astype('float32')
    net = eval(text, {**vars(MAKE)})
    net.initialize(mx.init.Normal(0.5))
    found = step(net, mx.np.array(values))
    assert type(net(mx.np.array(values))) is mx.np.ndarray
    net.hybridize()
    for _ in range(2):
        for a, b in zip(step(net, mx.np.array(values)), found, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
    parameters = {name: p.data().asnumpy() for name, p in net._collect_params_with_prefix().items()}
    npx.reset_np()
    old = eval(text.replace("F.np.exp", "F.exp"), {**vars(MAKE)})
    old.initialize()
    old(nd.array(values))
    for name, p in old._collect_params_with_prefix().items():
        p.set_data(nd.array(parameters[name]))
    for a, b in zip(step(old, nd.array(values)), found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_shapes_print_as_unknown_in_np_mode(np_mode):
    assert repr(nn.Dense(3)) == 'Dense(-1 -> 3, linear)'
    assert repr(nn.Conv2D(4, 3)) == 'Conv2D(-1 -> 4, kernel_size=(3, 3), stride=(1, 1))'


# ---------------------------------------------------------------------- single layers
def test_stacks_are_sequences():
    net = nn.HybridSequential()
    net.add(nn.Dense(4), nn.Activation('relu'), nn.Dense(2))
    assert len(net) == 3 and net[2] is list(net._children.values())[2] and len(net[:2]) == 2
    assert type(net[1:]) is nn.HybridSequential and net[-1] is net[2]
    plain = nn.Sequential()
    plain.add(nn.Dense(2))
    with pytest.warns(UserWarning, match='HybridSequential'):
        plain.hybridize()
    with pytest.raises(ValueError, match='a child must be a HybridBlock, not a Lambda'):
        net.add(nn.Lambda('relu'))


def test_hybrid_layers_take_the_last_axis_for_channels():
    x = nd.random.uniform(shape=(2, 6, 7, 3))
    last = nn.Conv2D(4, 3, layout='NHWC', use_bias=False)
    first = nn.Conv2D(4, 3, use_bias=False)
    last.initialize(), first.initialize()
    first(x.transpose((0, 3, 1, 2)))
    last(x)
    assert last.weight.shape == (4, 3, 3, 3) and last.weight.data().shape == (4, 3, 3, 3)
    last.weight.set_data(first.weight.data().transpose((0, 2, 3, 1)))
    np.testing.assert_allclose(last(x).transpose((0, 3, 1, 2)).asnumpy(), first(x.transpose((0, 3, 1, 2))).asnumpy(),
                               rtol=1e-4, atol=1e-5)
    pooled = nn.GlobalAvgPool2D(layout='NHWC')(x)
    np.testing.assert_allclose(pooled.asnumpy()[:, 0, 0], x.asnumpy().mean((1, 2)), rtol=1e-5)


@pytest.mark.parametrize('wrong, message', [
    (lambda: nn.Conv1D(4, 3, layout='NWC'), 'layout of Conv1D must be NCW'),
    (lambda: nn.Conv2D(4, (3, 3, 3)), 'kernel_size of Conv2D'),
    (lambda: nn.Conv2D(4, 3, layout='CHWN'), 'NCHW or NHWC'),
    (lambda: nn.Conv3DTranspose(4, 3, output_padding=(1, 1)), 'output_padding'),
    (lambda: nn.MaxPool2D((2, 2, 2)), 'pool_size'), (lambda: nn.GlobalMaxPool3D(layout='NCW'), 'layout'),
    (lambda: nn.ReflectionPad2D((1, 1)), '8 numbers'), (lambda: nn.LeakyReLU(-1), 'negative'),
    (lambda: nn.Lambda('no_such_operator'), 'no_such_operator'),
    (lambda: nn.HybridLambda('no_such_operator'), 'no_such_operator'),
    (lambda: contrib.nn.PixelShuffle2D((1, 2, 3)), 'factor'),
    (lambda: contrib.cnn.DeformableConvolution(4, layout='NCW'), 'layout'),
])
def test_wrong_arguments(wrong, message):
    with pytest.raises(AssertionError, match=message):
        wrong()


def test_functions_as_layers_must_be_functions():
    for layer in (nn.Lambda, nn.HybridLambda):
        with pytest.raises(ValueError, match='int'):
            layer(3)


def test_layers_are_named_by_what_they_do():
    assert nn.Activation('relu').name.startswith('relu') and nn.Conv3D(1, 1).name.startswith('conv')
    assert nn.MaxPool1D().prefix.startswith('pool')
    layer = nn.Dense(2, activation='tanh', prefix='fc_')
    assert layer(mx.sym.var('x')).list_outputs() == ['fc_tanh_fwd_output']


def test_batch_norm_keeps_float32_for_16_bits():
    net = nn.HybridSequential()
    net.add(nn.Dense(3, in_units=2), nn.BatchNorm(in_channels=3))
    net.initialize()
    for dtype in ('float16', 'bfloat16'):
        net.cast(dtype)
        assert net[0].weight.data().dtype == nd.zeros(1, dtype=dtype).dtype
        assert all(p.data().dtype == np.float32 for p in net[1].collect_params().values())
    net.cast('float64')
    assert all(p.data().dtype == np.float64 for p in net.collect_params().values())


def test_batch_norm_moves_its_averages_in_training_only():
    layer = nn.BatchNorm(momentum=0.5)
    layer.initialize()
    x = nd.random.normal(3, 2, shape=(8, 4, 5))
    layer(x)
    assert (layer.running_mean.data().asnumpy() == 0).all()
    for hybridize in (False, True):
        if hybridize:
            layer.hybridize()
        before = layer.running_mean.data().asnumpy()
        with autograd.record():
            y = layer(x)
        y.backward()
        expected = before / 2 + x.asnumpy().mean((0, 2)) / 2
        np.testing.assert_allclose(layer.running_mean.data().asnumpy(), expected, rtol=1e-4)
    assert layer.running_mean.grad_req == 'null' and layer.gamma.grad_req == 'write'
    assert nn.BatchNorm(scale=False).gamma.grad_req == 'null'


def test_batch_norm_with_relu(np_mode):
    """Upstream forgets the ReLU in np mode."""
    layer = nn.BatchNormReLU()
    layer.initialize()
    assert layer(mx.np.array([[-1.0, 1.0]])).asnumpy().min() == 0


def test_embedding_with_sparse_gradient():
    layer = nn.Embedding(6, 3, sparse_grad=True)
    layer.initialize()
    with autograd.record():
        y = layer(nd.array([1, 4, 4]))
    y.backward()
    gradient = layer.weight.grad()
    assert gradient.stype == 'row_sparse' and gradient.indices.asnumpy().tolist() == [1, 4]
    assert gradient.asnumpy()[4].tolist() == [2, 2, 2]


def test_sparse_embedding_learns():
    layer = contrib.nn.SparseEmbedding(5, 2)
    layer.initialize(mx.init.One())
    assert repr(layer) == 'SparseEmbedding(5 -> 2, float32)'
    trainer = gluon.Trainer(layer.collect_params(), 'sgd', {'learning_rate': 1.0})
    x = nd.array([0, 3])
    with autograd.record():
        y = layer(x)
    assert y.asnumpy().tolist() == [[1, 1], [1, 1]]
    y.backward()
    trainer.step(1)
    assert layer(nd.array([0, 1, 3])).asnumpy().tolist() == [[0, 0], [1, 1], [0, 0]]
    with pytest.raises(RuntimeError, match='row_sparse'):
        layer.weight.data()


def test_sync_batch_norm_asks_for_the_devices():
    with pytest.warns(UserWarning, match='num_devices'):
        layer = contrib.nn.SyncBatchNorm()
    assert layer._kwargs['ndev'] == max(1, mx.context.num_gpus())


def test_modulated_deformable_convolution_is_a_convolution_where_nothing_moves():
    layer = contrib.cnn.ModulatedDeformableConvolution(4, 3, padding=1, in_channels=3)
    layer.initialize(mx.init.Normal())
    plain = nn.Conv2D(4, 3, padding=1, in_channels=3)
    plain.initialize()
    x = nd.random.uniform(shape=(2, 3, 6, 6))
    layer(x)
    plain.weight.set_data(layer.deformable_conv_weight.data())
    assert list(layer.collect_params()) == [layer.prefix + n for n in (
        'deformable_conv_weight', 'deformable_conv_bias', 'offset_weight', 'offset_bias')]
    # offsets and masks start from zeros: no movement, and weights of 2 * sigmoid(0) = 1
    np.testing.assert_allclose(layer(x).asnumpy(), plain(x).asnumpy(), rtol=1e-3, atol=1e-5)


# ---------------------------------------------------------------------- gradients of large layers
def large():
    net = nn.HybridSequential()
    net.add(nn.Dense(300, in_units=300), nn.Dense(4, in_units=300))
    net.initialize(mx.init.Normal(0.1))
    return net


@pytest.mark.parametrize('hybridize', [False, True])
def test_large_gradients_stay_the_same_array(hybridize):
    net, x = large(), nd.ones((2, 300))
    if hybridize:
        net.hybridize()

    def back(factor):
        with autograd.record():
            loss = (net(x) * factor).sum()
        loss.backward()

    back(1)
    gradient = net[0].weight.grad()
    first = gradient.asnumpy().copy()
    view = gradient[10:20]
    for factor in (2, 3, 4):            # while a part of it is held, the memory stays
        back(factor)
        np.testing.assert_allclose(view.asnumpy(), first[10:20] * factor, rtol=1e-4)
    kept = gradient.asnumpy()
    values = kept.copy()
    del view
    for factor in (5, 6):
        back(factor)
        assert net[0].weight.grad() is gradient
        np.testing.assert_allclose(gradient.asnumpy(), first * factor, rtol=1e-4)
    np.testing.assert_array_equal(kept, values)


def test_large_gradients_are_nobody_elses():
    x, head = nd.ones((200, 300)), nd.ones((200, 300)) * 5
    x.attach_grad()
    for f in (lambda: x + 0, lambda: x.reshape((300, 200))):
        with autograd.record():
            y = f()
        given = head.reshape(y.shape)
        y.backward(given)
        given[:] = 7
        assert x.grad.asnumpy().min() == x.grad.asnumpy().max() == 5
        x.grad[:] = 1
        assert given.asnumpy().min() == 7
        head[:] = 5


def test_a_plan_goes_back_twice_only_if_it_is_kept():
    net, x = large(), nd.ones((2, 300))
    net.hybridize()
    for _ in range(2):
        with autograd.record():
            loss = net(x).sum()
        loss.backward(retain_graph=True)
        first = net[0].weight.grad().asnumpy().copy()
        loss.backward()
        np.testing.assert_array_equal(net[0].weight.grad().asnumpy(), first)
        with pytest.raises(mx.MXNetError, match='second time'):
            loss.backward()


def test_writing_into_what_a_plan_needs_is_found_out():
    net, x = large(), nd.ones((2, 300))
    net.hybridize()
    for _ in range(2):
        with autograd.record():
            loss = net(x).sum()
        loss.backward()
    with autograd.record():
        loss = net(x).sum()
    net[1].weight.data()[:] = 0
    with pytest.raises(mx.MXNetError, match='written in place'):
        loss.backward()
