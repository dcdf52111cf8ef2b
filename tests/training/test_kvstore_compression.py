"""Compressed gradients: bit by bit what MXNet 1.9.1 defines, and what is lost comes back later."""
import struct

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet.base import MXNetError
from mxnet.kvstore._compression import Compression


def reference_2bit(gradient, rest, threshold):
    """One number at a time, in float32."""
    threshold = np.float32(threshold)
    sent = np.zeros_like(gradient)
    for i, g in enumerate(gradient):
        rest[i] = rest[i] + g
        if rest[i] >= threshold:
            sent[i] = threshold
        elif rest[i] <= -threshold:
            sent[i] = -threshold
        rest[i] -= sent[i]
    return sent


# what MXNet 1.9.1 pulled: three CPU contexts push RandomState(0).uniform(-1, 1, 7) five times, threshold 0.3
UPSTREAM = np.array([[0, 1, -1, 2, 1, 1, 2], [1, 0, -1, 1, 1, -1, 1], [1, -2, 0, 2, -3, -3, 0],
                     [0, -2, 0, 2, -1, -2, -1], [2, -3, 1, -1, -2, 0, -2]]) * np.float32(0.3)


def test_two_bits_are_upstreams():
    kv = mx.kv.create('device')
    kv.set_gradient_compression({'type': '2bit', 'threshold': 0.3})
    kv.init(3, mx.nd.zeros((7,)))
    draw = np.random.RandomState(0)
    for expected in UPSTREAM:
        gradients = [mx.nd.array(draw.uniform(-1, 1, 7).astype('f'), mx.cpu(i)) for i in range(3)]
        out = mx.nd.zeros((7,))
        kv.pushpull(3, gradients, out=out)
        np.testing.assert_allclose(out.asnumpy(), expected, rtol=1e-6, atol=1e-7)


def test_a_single_device_is_compressed_too_and_first_values_are_not():
    kv = mx.kv.create('device')
    kv.set_gradient_compression({'type': '2bit'})
    kv.init('w', mx.nd.full((2,), 3))
    out = mx.nd.zeros((2,))
    kv.pull('w', out)
    assert out.asnumpy().tolist() == [3, 3]
    kv.pushpull('w', mx.nd.array([9, -0.4]), out=out)
    assert out.asnumpy().tolist() == [0.5, 0]


@pytest.mark.parametrize('threshold', [0.5, 0.3, 1e-3])
def test_rests_add_up_exactly(threshold):
    compression = Compression({'type': '2bit', 'threshold': threshold})
    draw = np.random.RandomState(1)
    rest = np.zeros(50, 'f')
    for _ in range(20):
        gradient = draw.normal(0, threshold, 50).astype('f')
        sent = compression.round('k', torch.from_numpy(gradient.copy()))
        assert (sent.numpy() == reference_2bit(gradient, rest, threshold)).all()
        assert (compression.residuals['k'].numpy() == rest).all()


def test_one_bit():
    compression = Compression({'type': '1bit', 'threshold': 0})
    assert compression.round('k', torch.tensor([0.25, -0.25, 3.0, 0.0])).tolist() == [1, -1, 1, -1]
    assert compression.residuals['k'].tolist() == [-0.75, 0.75, 2, 1]
    assert compression.round('k', torch.tensor([0.5, 0.5, 0.0, 0.0])).tolist() == [-1, 1, 1, 1]


@pytest.mark.parametrize('params', [{'type': '2bit', 'threshold': 0.3}, {'type': '1bit'}])
@pytest.mark.parametrize('size', [0, 1, 3, 4, 5, 8, 16, 17, 1001])
def test_bytes_and_back(params, size):
    compression = Compression(params)
    sent = compression.round('k', torch.randn(size, generator=torch.Generator().manual_seed(size)))
    packed = compression.pack(sent)
    assert packed.dtype == torch.uint8 and len(packed) == compression.packed_size(size)
    assert torch.equal(compression.unpack(packed, size), sent)


def test_the_bytes_are_upstreams():
    """11 is the threshold, 10 its negative; the first number is in the highest bits of the first byte."""
    compression = Compression({'type': '2bit', 'threshold': 0.5})
    packed = compression.pack(torch.tensor([0.5, -0.5, 0.0, 0.5, -0.5]))
    assert packed.tolist() == [0b11100011, 0b10000000]
    assert Compression({'type': '1bit'}).pack(torch.tensor([1.0, -1, 1])).tolist() == [0b10100000]


def test_a_threshold_is_a_float32():
    threshold = struct.unpack('f', struct.pack('f', 0.3))[0]
    assert Compression({'type': '2bit', 'threshold': '0.3'}).threshold == threshold != 0.3


@pytest.mark.parametrize('error, params', [
    (AssertionError, '2bit'), (MXNetError, {}), (MXNetError, {'threshold': 1}), (MXNetError, {'type': 'none'}),
    (MXNetError, {'type': '3bit'}), (MXNetError, {'type': '2bit', 'threshold': 0}),
    (MXNetError, {'type': '2bit', 'threshold': -1}),
    (MXNetError, {'type': '2bit', 'threshold': 'much'}), (MXNetError, {'type': '1bit', 'threshold': 'nan'})])
def test_parameters(error, params):
    with pytest.raises(error, match='set_gradient_compression takes'):
        mx.kv.create('device').set_gradient_compression(params)


def test_who_compresses():
    with pytest.raises(NotImplementedError, match="a 'local' KVStore does not compress"):
        mx.kv.create('local').set_gradient_compression({'type': '2bit'})
    kv = mx.kv.create('device')
    kv.set_gradient_compression({'type': '2bit'})
    kv.init(1, mx.nd.zeros((2,), dtype='float16'))
    with pytest.raises(MXNetError, match='only float32'):
        kv.push(1, mx.nd.ones((2,), dtype='float16'))


def test_training_converges_to_the_same_point():
    """What rounding leaves out comes later, so it leads to the same weights."""
    target = mx.nd.array([0.7, -0.9, 0.05])
    for params in ({'type': '2bit', 'threshold': 1}, {'type': '1bit', 'threshold': 0}):
        kv = mx.kv.create('device')
        kv.set_gradient_compression(params)
        weight = mx.nd.zeros((3,))
        kv.init('w', weight)
        kv.set_optimizer(mx.optimizer.SGD(learning_rate=0.01))
        for _ in range(1500):
            kv.pushpull('w', weight - target, out=weight)
        np.testing.assert_allclose(weight.asnumpy(), target.asnumpy(), atol=0.02)
