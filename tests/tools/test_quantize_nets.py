"""int8 networks: weights by channel, layers that stay floating point, training that knows of int8, ONNX."""
import sys

import numpy as np
import pytest
from conftest import ROOT

import mxnet as mx
from mxnet import gluon, nd
from mxnet.contrib import quantization
from mxnet.gluon import nn

RNG = np.random.RandomState(0)


def network(spread=True):
    """Filters of very different sizes: what one range for a weight cannot hold."""
    mx.random.seed(0)
    net = nn.HybridSequential(prefix='net_')
    with net.name_scope():
        net.add(nn.Conv2D(8, 3, padding=1, in_channels=3), nn.BatchNorm(in_channels=8), nn.Activation('relu'),
                nn.Conv2D(8, 3, groups=8, in_channels=8), nn.MaxPool2D(), nn.Dense(6, flatten=False, in_units=5),
                nn.Dense(5))
    net.initialize(mx.init.Xavier())
    x = nd.random.normal(shape=(4, 3, 12, 12))
    net(x)
    if spread:
        weight = net[0].weight
        weight.set_data(weight.data() * nd.array(np.logspace(-3, 1, 8)).reshape((8, 1, 1, 1)))
        net[1].gamma.set_data(nd.array(np.logspace(3, -1, 8)))
    return net, x


def error(found, expected):
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)


def imported(prefix):
    return gluon.SymbolBlock.imports(f'{prefix}-symbol.json', ['data'], f'{prefix}-0000.params')


def operators(block):
    return [n.op.name for n, _ in block._cached_graph[1].get_internals()._entries if n.op]


@pytest.mark.parametrize('mode', ['none', 'naive'])
def test_weights_by_channel(mode, tmp_path):
    net, x = network()
    net[1].running_var.set_data(nd.array(np.logspace(-6, 2, 8)))
    expected = net(x).asnumpy()
    block = quantization.quantize_net_v2(net, calib_data=[x], calib_mode=mode, quantize_granularity='channel-wise')
    assert error(block(x).asnumpy(), expected) < 0.05
    params = block.collect_params()
    assert params['net_conv0_weight_quantize_min'].shape == (8,)
    assert params['net_conv0_weight_quantize'].dtype == np.int8
    block.export(str(tmp_path / 'int8'))
    again = imported(tmp_path / 'int8')
    assert np.array_equal(again(x).asnumpy(), block(x).asnumpy())


def test_one_range_loses_small_filters():
    """The same layer, with filters from 0.001 to 10: by channel each is as exact as the others."""
    weight = RNG.normal(size=(8, 16)).astype('float32') * np.logspace(-3, 1, 8).reshape(-1, 1).astype('float32')
    bias = RNG.normal(size=8).astype('float32') * np.logspace(-3, 1, 8).astype('float32')
    x = nd.array(RNG.normal(size=(50, 16)))
    sym = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=8, name='fc')
    args = {'fc_weight': nd.array(weight), 'fc_bias': nd.array(bias)}
    expected = x.asnumpy() @ weight.T + bias
    found = {}
    for granularity in 'tensor-wise', 'channel-wise':
        qsym, qargs, _ = quantization.quantize_model(sym, args, {}, calib_mode='none',
                                                     quantize_granularity=granularity)
        # the sums, before one range for all channels rounds them again
        whole, low, high = [qsym.get_internals()[f'quantized_fc_{name}'] for name in ('output', 'min_output',
                                                                                       'max_output')]
        values = mx.sym.Group([whole, low, high]).bind(mx.cpu(), {**qargs, 'data': x}).forward()
        real = values[0].asnumpy() * (values[2].asnumpy() / 2147483647)
        found[granularity] = [error(real[:, i], expected[:, i]) for i in range(8)]
    assert max(found['channel-wise']) < 0.02 and max(found['tensor-wise']) > 0.5


def test_granularity_is_checked():
    net, x = network()
    with pytest.raises(ValueError, match="'channel-wise' .each channel has its own., not 'row-wise'"):
        quantization.quantize_net_v2(net, data_shapes=[x.shape], quantize_granularity='row-wise')


def test_sensitive_layers_stay():
    net, x = network(spread=False)
    losses = quantization.layer_losses(net, [x])
    assert sorted(losses) == ['net_conv0_fwd', 'net_conv1_fwd', 'net_dense0_fwd', 'net_dense1_fwd']
    assert list(losses.values()) == sorted(losses.values(), reverse=True)
    expected = net(x).asnumpy()
    whole = quantization.quantize_net_v2(net, calib_data=[x], calib_mode='naive', quantize_mode='smart')
    all_int8 = error(whole(x).asnumpy(), expected)
    assert max(losses.values()) < all_int8 * 1.5
    part = quantization.quantize_net_v2(net, calib_data=[x], calib_mode='naive', tolerance=0.8 * all_int8)
    assert 0 < error(part(x).asnumpy(), expected) <= 0.8 * all_int8
    assert {'Convolution', 'FullyConnected'} & set(operators(part))
    assert [n for n in operators(part) if n.startswith('_contrib_quantized')]
    same = quantization.quantize_net_v2(net, calib_data=[x], calib_mode='naive', tolerance=2 * all_int8)
    assert not {'Convolution', 'FullyConnected'} & set(operators(same))
    none = quantization.quantize_net_v2(net, calib_data=[x], calib_mode='naive', tolerance=0)
    assert error(none(x).asnumpy(), expected) < 1e-6
    calls = []
    quantization.quantize_net_v2(net, calib_data=[x], calib_mode='naive', tolerance=1, evaluate=lambda b: len(
        calls.append(b) or calls))
    assert len(calls) == 1 + 4 + 1          # the float network, each layer, all layers


# ---------------------------------------------------------------------- training
@pytest.mark.parametrize('granularity', ['tensor-wise', 'channel-wise'])
def test_aware_networks_compute_what_int8_will(granularity, tmp_path):
    net, x = network(spread=False)
    aware = quantization.quantize_aware_net(net, [x], granularity)
    small = quantization.convert_aware_net(aware, granularity)
    plain, rounded, whole = (n(x).asnumpy() for n in (net, aware, small))
    assert 0.001 < error(rounded, plain) < 0.05
    # the last `dequantize` has half a step more; a bias of one range is rounded
    assert error(whole * (127.5 / 127), rounded) < (1e-5 if granularity == 'channel-wise' else 0.01)
    assert {'_contrib_quantized_conv', '_contrib_quantized_fully_connected'} <= set(operators(small))
    assert not {'Convolution', 'FullyConnected', '_contrib_round_ste'} & set(operators(small))
    aware.export(str(tmp_path / 'aware'))
    again = imported(tmp_path / 'aware')
    assert np.array_equal(quantization.convert_aware_net(again, granularity)(x).asnumpy(), whole)


def test_gradients_go_straight_through():
    net = nn.HybridSequential(prefix='one_')
    with net.name_scope():
        net.add(nn.Dense(1, in_units=2, use_bias=False))
    net.initialize()
    net[0].weight.set_data(nd.array([[0.5, -1.0]]))
    aware = quantization.quantize_aware_net(net, [nd.array([[1.0, -1.0]])])       # results up to 1.5
    x = nd.array([[0.503, 3.0]])            # 3 is out of range, and becomes 1
    x.attach_grad()
    with mx.autograd.record():
        aware(x).backward()
    assert np.allclose(x.grad.asnumpy(), [[0.5, 0]], atol=0.01)
    gradient = aware.collect_params()['one_dense0_weight'].grad().asnumpy()
    assert np.allclose(gradient, [[0.503, 1.0]], atol=0.01)
    with pytest.raises(ValueError, match='no rounded values'):
        quantization.convert_aware_net(quantization.quantize_net(net, data_shapes=[(1, 2)]))
    with pytest.raises(ValueError, match='a SymbolBlock, not a HybridSequential'):
        quantization.convert_aware_net(net)


def digits(part, folder=None):
    sys.path.insert(0, str(ROOT / 'examples'))
    try:
        import digits as module
    finally:
        sys.path.pop(0)
    return module.load(part, folder)


def small_lenet():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(8, 5, activation='relu'), nn.MaxPool2D(2, 2), nn.Conv2D(16, 5, activation='relu'),
            nn.MaxPool2D(2, 2), nn.Dense(32, activation='relu'), nn.Dense(10))
    return net


def learn(net, pictures, labels, epochs, rate, seed=0):
    draw = np.random.RandomState(seed)
    trainer = gluon.Trainer(net.collect_params(), 'adam', {'learning_rate': rate})
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    for _ in range(epochs):
        order = draw.permutation(len(pictures))
        for start in range(0, len(order), 50):
            part = order[start:start + 50]
            with mx.autograd.record():
                loss = loss_of(net(nd.array(pictures[part])), nd.array(labels[part]))
            loss.backward()
            trainer.step(len(part))


def accuracy(net, pictures, labels):
    return float((net(nd.array(pictures)).asnumpy().argmax(1) == labels).mean())


def test_digits_lose_little_and_training_wins_it_back():
    mx.random.seed(1)
    train, test = digits('train'), digits('t10k')
    net = small_lenet()
    net.initialize(mx.init.Xavier())
    net.hybridize()
    learn(net, *train, 5, 0.003)
    base = accuracy(net, *test)
    calibration = [nd.array(train[0][:200])]
    for granularity in 'tensor-wise', 'channel-wise':
        block = quantization.quantize_net_v2(net, calib_data=calibration, calib_mode='naive',
                                             quantize_granularity=granularity)
        assert accuracy(block, *test) >= base - 0.0041              # two of 500
    aware = quantization.quantize_aware_net(net, calibration)
    aware.hybridize()
    name = next(n for n in aware.collect_params() if n.endswith('weight'))
    before = aware.collect_params()[name].data().asnumpy()
    learn(aware, *train, 1, 0.0005)
    assert (aware.collect_params()[name].data().asnumpy() != before).any()
    assert accuracy(quantization.convert_aware_net(aware), *test) >= base - 0.0041


# ---------------------------------------------------------------------- ONNX
def run_onnx(path, x):
    runtime = pytest.importorskip('onnxruntime')
    session = runtime.InferenceSession(str(path), providers=['CPUExecutionProvider'])
    return session.run(None, {session.get_inputs()[0].name: x.asnumpy()})[0]


def residual():
    class Net(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Conv2D(4, 3, padding=1), nn.Conv2D(4, 1)
            self.c = nn.Dense(3)

        def hybrid_forward(self, F, x):
            joined = F.concat(F.relu(self.a(x)), self.b(x), dim=1)
            return self.c(F.Pooling(self.a(x) + self.b(x) + F.slice_axis(joined, axis=1, begin=2, end=6),
                                    kernel=(2, 2), stride=(2, 2), pool_type='avg'))
    net = Net()
    net.initialize(mx.init.Xavier())
    x = nd.random.normal(shape=(2, 3, 8, 8))
    net(x)
    return net, x


@pytest.mark.parametrize('make', [lambda: network(spread=False), residual], ids=['chain', 'residual'])
@pytest.mark.parametrize('granularity', ['tensor-wise', 'channel-wise'])
def test_onnx_there_and_back(make, granularity, tmp_path):
    onnx = pytest.importorskip('onnx')
    net, x = make()
    expected = net(x).asnumpy()
    block = quantization.quantize_net_v2(net, 'int8', calib_data=[x], calib_mode='naive',
                                         quantize_granularity=granularity)
    path = mx.onnx.export_model(block, in_shapes=[x.shape], onnx_file_path=str(tmp_path / 'int8.onnx'))
    kinds = [n.op_type for n in onnx.load(path).graph.node]
    assert {'QuantizeLinear', 'DequantizeLinear'} <= set(kinds)
    stored = [i.data_type for i in onnx.load(path).graph.initializer]
    assert onnx.TensorProto.INT8 in stored
    found = run_onnx(path, x)
    assert error(found, block(x).asnumpy()) < 0.01
    back = mx.contrib.onnx.import_to_gluon(path, mx.cpu())
    assert error(back(x).asnumpy(), found) < 0.04        # halves may go to the other side, a step each
    again = quantization.convert_aware_net(back, granularity)
    assert error(again(x).asnumpy(), expected) < 0.06
    assert [n for n in operators(again) if n.startswith('_contrib_quantized_')]
    assert any(p.dtype == np.int8 for p in again.collect_params().values())


def test_onnx_files_of_others(tmp_path):
    """ONNX Runtime's own quantization: uint8 with a zero point for values, int8 for weights."""
    pytest.importorskip('onnx')
    tools = pytest.importorskip('onnxruntime.quantization')
    net, x = network(spread=False)
    net.hybridize()
    net(x)
    mx.onnx.export_model(net, in_shapes=[x.shape], onnx_file_path=str(tmp_path / 'float.onnx'))

    class Reader(tools.CalibrationDataReader):
        rows = iter([{'data': x.asnumpy()}])

        def get_next(self):
            return next(self.rows, None)
    for by_channel in False, True:
        Reader.rows = iter([{'data': x.asnumpy()}])
        tools.quantize_static(str(tmp_path / 'float.onnx'), str(tmp_path / 'theirs.onnx'), Reader(),
                              quant_format=tools.QuantFormat.QDQ, per_channel=by_channel,
                              extra_options={'DisableShapeInference': True})
        want = run_onnx(tmp_path / 'theirs.onnx', x)
        found = mx.contrib.onnx.import_to_gluon(str(tmp_path / 'theirs.onnx'), mx.cpu())(x).asnumpy()
        assert error(found, want) < 0.01 and error(found, net(x).asnumpy()) > 1e-4


def test_onnx_needs_ranges(tmp_path):
    pytest.importorskip('onnx')
    net, x = network()
    block = quantization.quantize_net(net, data_shapes=[x.shape])
    with pytest.raises(mx.base.MXNetError, match="only calibrated networks are translated: calib_mode='naive'"):
        mx.onnx.export_model(block, in_shapes=[x.shape], onnx_file_path=str(tmp_path / 'x.onnx'))
    aware = quantization.quantize_aware_net(net, [x])
    path = mx.onnx.export_model(aware, in_shapes=[x.shape], onnx_file_path=str(tmp_path / 'aware.onnx'))
    assert error(run_onnx(path, x), aware(x).asnumpy()) < 0.01
