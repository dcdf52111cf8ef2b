"""Remainders by 0, and NumPy's bools as numbers; expected values are those of 1.9.1."""
import numpy
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd


@pytest.mark.parametrize('remainder', [
    lambda x: x % 0, lambda x: x % 0.0, lambda x: x % nd.zeros(3), lambda x: nd.modulo(x, 0),
    lambda x: nd.broadcast_mod(x, nd.zeros(1))])
@pytest.mark.parametrize('hybridize', [False, True])
def test_a_remainder_by_zero_is_zero_and_its_gradient_one(remainder, hybridize):
    net = gluon.nn.HybridLambda(lambda F, x: x * 1)
    net.hybridize(active=hybridize)
    x = nd.array([0.5, -2, 3])
    x.attach_grad()
    for _ in range(3):
        with autograd.record():
            y = remainder(net(x))
        y.backward()
        assert y.asnumpy().tolist() == [0, 0, 0]
        assert x.grad.asnumpy().tolist() == [1, 1, 1]


def test_a_remainder_by_zero_in_np_mode():
    x = mx.np.array([0.5, -2, 3])
    x.attach_grad()
    with autograd.record():
        y = x % 0
    y.backward()
    assert y.asnumpy().tolist() == [0, 0, 0] and x.grad.asnumpy().tolist() == [1, 1, 1]


def test_bools_of_numpy_are_numbers():
    x = nd.array([0.5, -2, 3])
    yes, no = numpy.bool_(True), numpy.bool_(False)
    for result, expected in [(x * yes, [0.5, -2, 3]), (yes * x, [0.5, -2, 3]), (x + no, [0.5, -2, 3]),
                             (yes - x, [0.5, 3, -2]), (x == yes, [0, 0, 0]), (nd.maximum(x, no), [0.5, 0, 3])]:
        assert result.dtype == numpy.float32 and result.asnumpy().tolist() == expected
