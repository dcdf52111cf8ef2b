"""Quantized operators against exact arithmetic, and int8 networks against the floating point ones."""
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd
from mxnet.base import MXNetError

RNG = np.random.RandomState(0)
ONE = nd.array([1.0])


def whole(shape, dtype='int8'):
    low, high = (-127, 128) if dtype == 'int8' else (0, 256)
    return RNG.randint(low, high, shape).astype(dtype)


def array(values):
    return nd.array(values, dtype=values.dtype)


def conv_exact(x, w, stride, dilate, pad, groups):
    x = np.pad(x.astype('int64'), ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    size = [(n - dilate * (k - 1) - 1) // stride + 1 for n, k in zip(x.shape[2:], w.shape[2:])]
    out = np.zeros((len(x), len(w), *size), 'int64')
    per_in, per_out = w.shape[1], len(w) // groups
    for f in range(len(w)):
        part = x[:, f // per_out * per_in:][:, :per_in]
        for i in range(w.shape[2]):
            for j in range(w.shape[3]):
                window = part[:, :, i * dilate:, j * dilate:][:, :, ::stride, ::stride][:, :, :size[0], :size[1]]
                out[:, f] += np.einsum('nchw,c->nhw', window, w[f, :, i, j].astype('int64'))
    return out


@pytest.mark.parametrize('dtype', ['int8', 'uint8'])
@pytest.mark.parametrize('stride, dilate, pad, groups', [(1, 1, 0, 1), (2, 1, 1, 1), (1, 2, 2, 1), (1, 1, 1, 2)])
def test_convolution_is_exact(dtype, stride, dilate, pad, groups):
    x, w = whole((2, 6, 9, 8), dtype), whole((4, 6 // groups, 3, 3))
    out, low, high = nd.contrib.quantized_conv(
        array(x), array(w), None, -ONE, ONE, -ONE, ONE, kernel=(3, 3), num_filter=4, no_bias=True, stride=(stride,) * 2,
        dilate=(dilate,) * 2, pad=(pad,) * 2, num_group=groups)
    assert out.dtype == np.int32
    assert (out.asnumpy() == conv_exact(x, w, stride, dilate, pad, groups)).all()
    assert low.asscalar() == -high.asscalar()


def conv_in_pairs(x, w, stride, dilate, pad):
    """What upstream's CPU kernels compute: products of two channels at a place are added in 16 bits, saturated."""
    total = 0
    for c in range(0, x.shape[1], 2):
        for i in range(w.shape[2]):
            for j in range(w.shape[3]):
                one = np.zeros_like(w[:, c:c + 2])
                one[:, :, i, j] = w[:, c:c + 2, i, j]
                total = total + conv_exact(x[:, c:c + 2], one, stride, dilate, pad, 1).clip(-32768, 32767)
    return total


@pytest.mark.parametrize('stride, dilate, pad', [(1, 1, 0), (2, 1, 1), (1, 2, 2)])
@pytest.mark.parametrize('filters', [4, 16, 20])
def test_unsigned_convolution_adds_pairs_of_channels_in_16_bits(stride, dilate, pad, filters):
    x, w = whole((2, 8, 7, 6), 'uint8'), whole((filters, 8, 3, 3))
    out = nd.contrib.quantized_conv(array(x), array(w), None, -ONE, ONE, -ONE, ONE, kernel=(3, 3), num_filter=filters,
                                    no_bias=True, stride=(stride,) * 2, dilate=(dilate,) * 2, pad=(pad,) * 2)[0]
    exact, in_pairs = conv_exact(x, w, stride, dilate, pad, 1), conv_in_pairs(x, w, stride, dilate, pad)
    assert (exact != in_pairs).any()
    assert (out.asnumpy() == (exact if filters == 16 else in_pairs)).all()


def test_small_weights_need_no_16_bits():
    x, w = whole((1, 4, 5, 5), 'uint8'), whole((4, 4, 3, 3)) // 2
    out = nd.contrib.quantized_conv(array(x), array(w), None, -ONE, ONE, -ONE, ONE, kernel=(3, 3), num_filter=4,
                                    no_bias=True)[0]
    assert (out.asnumpy() == conv_exact(x, w, 1, 1, 0, 1)).all()


CONVOLUTIONS = r"""
import json, sys
import mxnet as mx, numpy as np
results = {}
for number, (channels, filters, n, size, kernel, stride, dilate, pad) in enumerate(json.loads(sys.argv[1])):
    draw = np.random.RandomState(number)
    x = mx.nd.array(draw.randint(0, 256, (n, channels, *size)), dtype='uint8')
    w = mx.nd.array(draw.randint(-128, 128, (filters, channels, *kernel)), dtype='int8')
    one = mx.nd.ones(1)
    results[str(number)] = mx.nd.contrib.quantized_conv(
        x, w, None, 0 * one, one, -one, one, kernel=kernel, stride=stride, dilate=dilate, pad=pad, num_filter=filters,
        no_bias=True)[0].asnumpy()
np.savez(sys.argv[2], **results)
"""


@pytest.mark.slow
@pytest.mark.skipif('MXNET191_PYTHON' not in os.environ, reason='MXNET191_PYTHON names no Python with MXNet 1.9.1')
def test_unsigned_convolutions_are_those_of_upstream(tmp_path):
    draw = np.random.RandomState(1)
    cases = []
    while len(cases) < 200:
        axes = draw.choice([2, 2, 3])
        kernel, stride, dilate, pad, size = (draw.choice(values, axes).tolist() for values in (
            [1, 2, 3, 5], [1, 1, 2, 3], [1, 1, 2], [0, 1, 2], [3, 5, 7, 12]))
        fits = all(s + 2 * p > d * (k - 1) for s, p, d, k in zip(size, pad, dilate, kernel))
        filters = int(draw.choice([4, 8, 12, 20, 24, 40, 72]))
        if fits:
            cases.append((int(draw.choice([4, 8, 12, 16, 20, 32])), filters, int(draw.randint(1, 4)), size, kernel,
                          stride, dilate, pad))
    found = []
    for python, name in ((os.environ['MXNET191_PYTHON'], 'theirs.npz'), (sys.executable, 'ours.npz')):
        environment = dict(os.environ)
        if name == 'theirs.npz':
            environment.pop('PYTHONPATH', None)
        subprocess.run([python, '-c', CONVOLUTIONS, json.dumps(cases), str(tmp_path / name)], check=True,
                       env=environment, cwd=tmp_path if name == 'theirs.npz' else None)
        found.append(np.load(tmp_path / name))
    theirs, ours = found
    assert [cases[int(k)] for k in theirs.files if not (theirs[k] == ours[k]).all()] == []


def test_products_of_one_column():
    """torch's integer kernel misreads a transposed matrix with one row."""
    x, w = whole((5, 1)), whole((7, 1))
    out = nd.contrib.quantized_fully_connected(array(x), array(w), None, -ONE, ONE, -ONE, ONE, num_hidden=7,
                                               no_bias=True)[0]
    assert (out.asnumpy() == x.astype('int32') @ w.T.astype('int32')).all()


@pytest.mark.parametrize('dtype', ['int8', 'uint8'])
def test_fully_connected_is_exact(dtype):
    x, w = whole((3, 5, 700), dtype), whole((4, 3500))
    out = nd.contrib.quantized_fully_connected(array(x), array(w), None, -ONE, ONE, -ONE, ONE, num_hidden=4,
                                               no_bias=True)
    assert (out[0].asnumpy() == x.reshape(3, -1).astype('int64') @ w.T.astype('int64')).all()


def test_products_without_the_integer_kernel(monkeypatch):
    from mxnet._ops.quantized import kernels as quantized_kernels
    a, b = whole((5, 40), 'uint8'), whole((40, 3))
    tensors = array(a).materialize(), array(b).materialize()

    def broken(*_):
        raise RuntimeError('not on this device')
    for kernel in quantized_kernels._int_mm, quantized_kernels._exact_mm, broken:
        monkeypatch.setattr(quantized_kernels, '_int_mm', kernel)
        assert (quantized_kernels.product(*tensors).numpy() == a.astype('int64') @ b.astype('int64')).all()


@pytest.mark.parametrize('dtype', ['int8', 'uint8'])
def test_round_trip_loses_half_a_step(dtype):
    x = RNG.uniform(-3 if dtype == 'int8' else 0, 3, (50,)).astype('float32')
    back = nd.contrib.dequantize(*nd.contrib.quantize_v2(nd.array(x), out_type=dtype)).asnumpy()
    assert np.abs(back - x).max() <= 3 / (127 if dtype == 'int8' else 255)


def test_auto_takes_uint8_where_nothing_is_negative():
    x = nd.array([0.5, 1])
    assert nd.contrib.quantize_v2(x, out_type='auto', min_calib_range=0, max_calib_range=1)[0].dtype == np.uint8
    assert nd.contrib.quantize_v2(x, out_type='auto', min_calib_range=-1, max_calib_range=1)[0].dtype == np.int8


def test_requantize_keeps_the_values():
    x, low, high = nd.contrib.quantized_elemwise_mul(array(whole((20,))), array(whole((20,))), -ONE, ONE, -ONE, ONE)
    real = x.asnumpy() / 2147483647 * high.asscalar()
    again = nd.contrib.requantize(x, low, high)
    assert again[0].dtype == np.int8
    assert np.allclose(nd.contrib.dequantize(*again).asnumpy(), real, atol=0.01)


def test_asymmetric():
    x = nd.array([-1, 0, 3])
    values, scale, shift = nd.contrib.quantize_asym(x)
    assert values.asnumpy().tolist() == [0, 64, 255]
    assert np.allclose((values.astype('float32') - shift) / scale, x.asnumpy(), atol=0.01)


def test_concat_finds_a_common_range():
    a, b = array(np.array([[127]], 'int8')), array(np.array([[127]], 'int8'))
    values, low, high = nd.contrib.quantized_concat(a, b, -ONE, ONE, -2 * ONE, 2 * ONE, num_args=2)
    assert values.asnumpy().tolist() == [[64, 127]] and (low.asscalar(), high.asscalar()) == (-2, 2)


@pytest.mark.parametrize('call, message', [
    (lambda: nd.contrib.quantized_act(array(whole((2,))), ONE, ONE, act_type='tanh'), "must be 'relu', not 'tanh'"),
    (lambda: nd.contrib.requantize(nd.ones((2,)), ONE, ONE), 'data must be int32, not float32'),
    (lambda: nd.contrib.quantized_batch_norm(array(whole((2, 3))), *[nd.ones(3)] * 4, ONE, ONE), 'calibrated range'),
    (lambda: nd.contrib.calibrate_entropy(nd.ones(7), nd.ones(7)), 'hist_edges must have 8')])
def test_mistakes(call, message):
    with pytest.raises(MXNetError, match=message):
        call()


# ---------------------------------------------------------------------- networks
def network():
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Conv2D(8, 3, padding=1, use_bias=False), mx.gluon.nn.BatchNorm(),
            mx.gluon.nn.Activation('relu'), mx.gluon.nn.MaxPool2D(), mx.gluon.nn.Flatten(), mx.gluon.nn.Dense(5))
    mx.random.seed(1)
    net.initialize(mx.init.Xavier())
    x = nd.random.normal(shape=(8, 3, 8, 8))
    with mx.autograd.record():
        net(x)
    return net, x


@pytest.mark.parametrize('mode', ['none', 'naive', 'entropy'])
def test_quantize_net(mode, monkeypatch):
    monkeypatch.setattr(mx.contrib.quantization._LayerHistogramCollector.__init__, '__defaults__', (801, None, None))
    net, x = network()
    expected = net(x).asnumpy()
    block = mx.contrib.quantization.quantize_net(net, calib_mode=mode, calib_data=[x])
    found = block(x).asnumpy()
    # thresholds cut off the largest values, which is why this is about the mean
    assert np.abs(found - expected).mean() < 0.03 * np.abs(expected).max()
    operators = {n.op.name for n, _ in block._cached_graph[1].get_internals()._entries if n.op}
    assert {'_contrib_quantized_conv', '_contrib_quantized_pooling', '_contrib_quantized_fully_connected'} <= operators
    assert not operators & {'Convolution', 'BatchNorm', 'FullyConnected'}
    assert {p.dtype for n, p in block.collect_params().items() if n.endswith('weight_quantize')} == {np.int8}


def test_excluded_layers_stay():
    net, x = network()
    block = mx.contrib.quantization.quantize_net(net, data_shapes=[x.shape], exclude_operators=['FullyConnected'])
    operators = {n.op.name for n, _ in block._cached_graph[1].get_internals()._entries if n.op}
    assert 'FullyConnected' in operators and 'Convolution' not in operators


@pytest.mark.parametrize('mode', ['none', 'naive'])
def test_quantize_model(mode):
    data = mx.sym.var('data')
    sym = mx.sym.FullyConnected(mx.sym.relu(mx.sym.FullyConnected(data, num_hidden=16, name='a')), num_hidden=4,
                                name='b')
    args = {'a_weight': nd.random.normal(shape=(16, 6)), 'a_bias': nd.random.normal(shape=(16,)),
            'b_weight': nd.random.normal(shape=(4, 16)), 'b_bias': nd.random.normal(shape=(4,))}
    x = nd.random.normal(shape=(10, 6))
    expected = sym.bind(mx.cpu(), {**args, 'data': x}).forward()[0].asnumpy()
    qsym, qargs, _ = mx.contrib.quantization.quantize_model(sym, args, {}, calib_mode=mode,
                                                            calib_data=mx.io.NDArrayIter(x, batch_size=5))
    assert qargs['a_weight_quantize'].dtype == np.int8 and set(qargs) >= {'a_weight_quantize_min',
                                                                          'b_bias_quantize_max'}
    loaded = mx.sym.load_json(qsym.tojson())
    found = loaded.bind(mx.cpu(), {**qargs, 'data': x}).forward()[0].asnumpy()
    assert np.abs(found - expected).max() < 0.05 * np.abs(expected).max()
    assert ('min_calib_range' in qsym.tojson()) == (mode == 'naive')


def test_arguments_are_checked():
    net, x = network()
    with pytest.raises(ValueError, match='needs calib_data'):
        mx.contrib.quantization.quantize_net(net, data_shapes=[x.shape], calib_mode='naive')
    with pytest.raises(ValueError, match='calib_data or data_shapes'):
        mx.contrib.quantization.quantize_net(net)
    with pytest.raises(ValueError, match="'int8', 'uint8' or 'auto', not 'int4'"):
        mx.contrib.quantization.quantize_net(net, 'int4', data_shapes=[x.shape])


def test_histograms_grow():
    collector = mx.contrib.quantization._LayerHistogramCollector(num_bins=11, include_layer=['x'])
    for scale in 1, 0.5, 3:
        collector.collect('x', nd.array([-scale, 0, scale]))
    counts, edges, low, high, threshold = collector.hist_dict['x']
    assert counts.sum() == 9 and (low, high) == (-3, 3) and len(counts) % 2 == 1 and threshold >= 3
    assert len(edges) == len(counts) + 1


# ---------------------------------------------------------------------- shapes in graphs
@pytest.mark.parametrize(('name', 'dtype', 'attributes'), [
    ('quantized_pooling', 'int8', {'kernel': (3, 3), 'pool_type': 'max'}),
    ('quantized_act', 'int8', {'act_type': 'relu'}),
    ('quantized_flatten', 'int8', {}), ('dequantize', 'int8', {}), ('requantize', 'int32', {})])
def test_ranges_have_one_number_in_a_graph(name, dtype, attributes):
    inputs = mx.sym.var('data', dtype=dtype), mx.sym.var('low'), mx.sym.var('high')
    symbol = getattr(mx.sym.contrib, name)(*inputs, **attributes)
    assert symbol.infer_shape(data=(2, 3, 8, 8))[0] == [(2, 3, 8, 8), (1,), (1,)]
