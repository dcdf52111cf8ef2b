"""Operators of activation.py."""
import math

import numpy as np
import pytest
import torch
from ops_checks import check

import mxnet as mx
from mxnet import autograd, nd
from mxnet._ops import TABLE
from mxnet.base import MXNetError

A = np.array([[[-2.3, 0.4], [1.7, -0.6], [0.9, -3.1]], [[0.2, 2.8], [-0.1, 1.1], [-1.9, 0.7]]])


def exp_over_sum(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def gradients(function, *values, **arguments):
    arrays = [nd.array(v) for v in values]
    for a in arrays:
        a.attach_grad()
    with autograd.record():
        result = function(*arrays, **arguments)
    result.backward()
    return [a.grad.asnumpy() for a in arrays]


@pytest.mark.parametrize('name, function', [
    ('relu', lambda x: np.maximum(x, 0)), ('sigmoid', lambda x: 1 / (1 + np.exp(-x))), ('tanh', np.tanh),
    ('softrelu', lambda x: np.log1p(np.exp(x))), ('softsign', lambda x: x / (1 + np.abs(x)))])
def test_activation(name, function):
    check('Activation', [A], function(A), act_type=name)


def test_activation_wants_a_known_type():
    with pytest.raises(MXNetError, match="act_type='swish' is not accepted.*'relu'"):
        nd.Activation(nd.array(A), act_type='swish')
    with pytest.raises(MXNetError, match='act_type is missing'):
        nd.Activation(nd.array(A))


# ---------------------------------------------------------------------- LeakyReLU
SCALE, ALPHA = 1.0507009873554805, 1.6732632423543772


@pytest.mark.parametrize('name, function', [
    ('leaky', lambda x: np.where(x > 0, x, 0.3 * x)), ('elu', lambda x: np.where(x > 0, x, 0.3 * np.expm1(x))),
    ('selu', lambda x: SCALE * np.where(x > 0, x, ALPHA * np.expm1(x)))])
def test_leaky(name, function):
    check('LeakyReLU', [A], function(A), act_type=name, slope=0.3, gradient=name != 'selu')


def test_gelu_is_in_single_precision():
    want = A * 0.5 * (1 + np.vectorize(math.erf)(A / math.sqrt(2)))
    np.testing.assert_allclose(nd.LeakyReLU(nd.array(A, dtype='float64'), act_type='gelu').asnumpy(), want, 1e-6, 1e-6)
    np.testing.assert_allclose(nd.LeakyReLU(nd.array(A), act_type='gelu').asnumpy(), want, 1e-5, 1e-6)


def test_selu_has_upstreams_gradient():
    (gradient,) = gradients(nd.LeakyReLU, [-1, 2], act_type='selu')
    y = SCALE * ALPHA * math.expm1(-1)
    np.testing.assert_allclose(gradient, [SCALE * (ALPHA + y), SCALE], rtol=1e-6)


@pytest.mark.parametrize('shape, as_column', [((1,), (1, 1, 1)), ((3,), (1, 3, 1)), ((2,), (2, 1, 1)),
                                              ((2, 3), (2, 3, 1)), ((2, 1), (2, 1, 1))])
def test_prelu(shape, as_column):
    gamma = np.linspace(0.1, 0.6, int(np.prod(shape))).reshape(shape)
    check('LeakyReLU', [A, gamma], np.where(A > 0, A, A * gamma.reshape(as_column)), act_type='prelu')


def test_prelu_of_one_axis():
    check('LeakyReLU', [A[0, 0], np.array([0.5])], np.where(A[0, 0] > 0, A[0, 0], A[0, 0] / 2), act_type='prelu')


def test_prelu_shapes():
    rule = TABLE['LeakyReLU'].shapes
    assert rule({'data': (2, 5, 7), 'gamma': None}, {'act_type': 'prelu'}) == {'gamma': (5,)}
    assert rule({'data': (2, 5, 7), 'gamma': (1,)}, {'act_type': 'prelu'}) == {}
    assert rule({'data': (2, 5, 7)}, {'act_type': 'elu'}) == {}


def test_what_leaky_refuses():
    data = nd.array(A)
    with pytest.raises(MXNetError, match='gamma is missing'):
        nd.LeakyReLU(data, act_type='prelu')
    with pytest.raises(MXNetError, match="gamma is accepted only with act_type='prelu'"):
        nd.LeakyReLU(data, nd.ones(1), act_type='elu')
    with pytest.raises(MXNetError, match=r'gamma has shape \(4,\), data \(2, 3, 2\)'):
        nd.LeakyReLU(data, nd.ones(4), act_type='prelu')


def test_rrelu():
    data = nd.array(A)
    out, slopes = nd.LeakyReLU(data, act_type='rrelu', lower_bound=0.1, upper_bound=0.3)
    np.testing.assert_allclose(out.asnumpy(), np.where(A > 0, A, 0.2 * A), rtol=1e-6)
    data.attach_grad()
    with autograd.record():
        out, slopes = nd.LeakyReLU(data, act_type='rrelu', lower_bound=0.1, upper_bound=0.3)
    out.backward()
    slopes = slopes.asnumpy()
    assert 0.1 <= slopes.min() < slopes.max() <= 0.3
    np.testing.assert_allclose(out.asnumpy(), np.where(A > 0, A, slopes * A), rtol=1e-6)
    np.testing.assert_allclose(data.grad.asnumpy(), np.where(A > 0, 1, slopes), rtol=1e-6)


# ---------------------------------------------------------------------- softmax
@pytest.mark.parametrize('axis', [0, 1, -1, -3])
@pytest.mark.parametrize('temperature', [None, 0.5])
def test_softmax(axis, temperature):
    scaled = A / (temperature or 1)
    check('softmax', [A], exp_over_sum(scaled, axis), axis=axis, temperature=temperature)
    check('softmin', [A], exp_over_sum(-scaled, axis), axis=axis, temperature=temperature)
    check('log_softmax', [A], np.log(exp_over_sum(scaled, axis)), axis=axis, temperature=temperature)


@pytest.mark.parametrize('name', ['softmax', 'softmin', 'log_softmax'])
@pytest.mark.parametrize('given, wanted', [('float16', 'float32'), ('float32', 'float16'), ('float64', 'float32')])
def test_softmax_into_another_dtype(name, given, wanted):
    data = nd.array(A, dtype=given)
    result = getattr(nd, name)(data, dtype=wanted)
    assert result.dtype == np.dtype(wanted) and getattr(data, name)().dtype == np.dtype(given)
    np.testing.assert_allclose(result.asnumpy(), getattr(nd, name)(nd.array(A)).asnumpy(), rtol=2e-2)


def test_softmax_over_a_length():
    length = np.array([[1, 2], [3, 0]], 'int32')
    expected = np.zeros_like(A)
    for i in range(2):
        for j in range(2):
            n = length[i, j]
            if n:
                expected[i, :n, j] = exp_over_sum(A[i, :n, j], 0)
    check('softmax', [A, length], expected, axis=1, use_length=True)
    check('softmax', [A, length], expected, axis=-2, use_length=True, temperature=1)
    assert TABLE['softmax'].shapes({'data': (2, 3, 5)}, {'axis': 1, 'use_length': True}) == {'length': (2, 5)}


def test_what_softmax_refuses():
    data = nd.array(A)
    with pytest.raises(MXNetError, match='length is missing'):
        nd.softmax(data, use_length=True)
    with pytest.raises(MXNetError, match='use_length is False'):
        nd.softmax(data, nd.ones((2, 3), dtype='int32'))
    with pytest.raises(MXNetError, match=r'length has shape \(2, 2\).*takes \(2, 3\)'):
        nd.softmax(data, nd.ones((2, 2), dtype='int32'), use_length=True)
    with pytest.raises(MXNetError, match='log_softmax has no input length'):
        nd.log_softmax(data, use_length=True)
    with pytest.raises(MXNetError, match='softmax'):
        nd.softmax(data, axis=3)


def test_softmax_activation():
    check('SoftmaxActivation', [A], exp_over_sum(A, -1))
    check('SoftmaxActivation', [A], exp_over_sum(A, 1), mode='channel')


def test_softmax_cross_entropy():
    data, label = A[0], np.array([1.0, 0.0, 1.0])
    chosen = exp_over_sum(data, 1)[np.arange(3), label.astype(int)]
    check('softmax_cross_entropy', [data, label], np.array([-np.log(chosen).sum()]), gradient=False)
    to_data, to_label = gradients(nd.softmax_cross_entropy, data, label)
    np.testing.assert_allclose(to_data, exp_over_sum(data, 1) - np.eye(2)[label.astype(int)], rtol=1e-5, atol=1e-6)
    assert to_label.tolist() == [0, 0, 0]
    with pytest.raises(MXNetError, match=r'label \(3, 1\)'):
        nd.softmax_cross_entropy(nd.array(data), nd.zeros((3, 1)))
    assert TABLE['softmax_cross_entropy'].shapes({'data': (4, 7)}, {}) == {'label': (4,)}


# ---------------------------------------------------------------------- dropout
def test_dropout_in_training():
    data = nd.ones((200, 50))
    data.attach_grad()
    with autograd.record():
        out = nd.Dropout(data, p=0.2)
    out.backward()
    values = out.asnumpy()
    assert set(np.unique(values)) == {0, np.float32(1.25)}
    assert abs((values == 0).mean() - 0.2) < 0.02
    assert data.grad.asnumpy().tolist() == values.tolist()


def test_dropout_outside_training():
    data = nd.array(A)
    assert (nd.Dropout(data, p=0.9) == data).asnumpy().all()
    assert (nd.Dropout(nd.ones((20, 20)), mode='always').asnumpy() == 0).any()
    with autograd.train_mode():
        assert (nd.Dropout(data, p=0) == data).asnumpy().all()
        assert np.isnan(nd.Dropout(data, p=1).asnumpy()).all()        # 0 times infinity, as upstream has it


def test_dropout_of_whole_lines():
    with autograd.train_mode():
        values = nd.Dropout(nd.ones((30, 40, 3)), axes=(0, 2)).asnumpy()
    assert (values == values[:1, :, :1]).all() and set(np.unique(values)) == {0, 2}


def test_dropout_obeys_the_seed():
    def draw():
        mx.random.seed(3)
        with autograd.train_mode():
            return nd.Dropout(nd.ones((5, 5)))
    assert (draw() == draw()).asnumpy().all()


@pytest.mark.parametrize('p', [-0.1, 1.5])
def test_dropout_wants_a_fraction(p):
    with pytest.raises(MXNetError, match=f'p={p} is not accepted'):
        nd.Dropout(nd.array(A), p=p)


def test_dropout_on_meta_tensors():
    data = torch.empty(3, 4, device='meta', dtype=torch.float16)
    result = TABLE['Dropout'].function(data, p=0.5, axes=(1,), training=True, rng=torch.Generator())
    assert (result.shape, result.dtype) == (data.shape, data.dtype)
