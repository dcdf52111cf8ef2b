"""`autograd.grad`, and derivatives of derivatives, against finite differences of the first ones."""
import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd


def values(*shape, low=0.3, high=1.2):
    return np.random.RandomState(7).uniform(low, high, size=shape)


def first_derivatives(function, arrays, heads):
    """The gradients for random head gradients, as NumPy arrays."""
    arrays = [nd.array(a, dtype='float64') for a in arrays]
    for a in arrays:
        a.attach_grad()
    with autograd.record():
        y = function(*arrays)
    y.backward(nd.array(heads, dtype='float64'))
    return [a.grad.asnumpy() for a in arrays]


def check_second(function, *arrays, rtol=1e-4, atol=1e-5):
    """d/dx of (first derivatives . random weights): by `create_graph`, and by differences."""
    inputs = [nd.array(a, dtype='float64') for a in arrays]
    for a in inputs:
        a.attach_grad()
    with autograd.record():
        y = function(*inputs)
        heads = np.random.RandomState(1).uniform(0.5, 1.5, size=y.shape)
        gradients = autograd.grad(y, inputs, nd.array(heads, dtype='float64'), create_graph=True)
        weights = [np.random.RandomState(i).uniform(-1, 1, size=a.shape) for i, a in enumerate(arrays)]
        total = nd.add_n(*[(g * nd.array(w, dtype='float64')).sum() for g, w in zip(gradients, weights, strict=True)])
    total.backward()
    step = 1e-5
    for k, array in enumerate(arrays):
        expected = np.zeros(array.shape)
        for i in np.ndindex(array.shape):
            sums = []
            for sign in (1, -1):
                moved = [a.copy() for a in arrays]
                moved[k][i] += sign * step
                found = first_derivatives(function, moved, heads)
                sums.append(sum((f * w).sum() for f, w in zip(found, weights, strict=True)))
            expected[i] = (sums[0] - sums[1]) / (2 * step)
        np.testing.assert_allclose(inputs[k].grad.asnumpy(), expected, rtol=rtol, atol=atol)


SMOOTH = ['exp', 'log', 'sqrt', 'rsqrt', 'cbrt', 'rcbrt', 'square', 'reciprocal', 'sin', 'cos', 'tan', 'arctan', 'sinh',
          'cosh', 'tanh', 'sigmoid', 'softsign', 'erf', 'expm1', 'log1p', 'log2', 'log10', 'gamma',
          'gammaln', 'relu', 'abs', 'negative', 'degrees', 'softmax', 'log_softmax']


@pytest.mark.parametrize('name', SMOOTH)
def test_second_derivatives_of_one_array(name):
    check_second(getattr(nd, name), values(2, 3))


@pytest.mark.parametrize('name', ['arcsin', 'arccos', 'arctanh', 'erfinv'])
def test_second_derivatives_of_one_array_within_one(name):
    check_second(getattr(nd, name), values(2, 3, high=0.7))


@pytest.mark.parametrize('function, slope', [
    (nd.arcsinh, lambda x: -x / (x * x + 1) ** 1.5), (nd.arccosh, lambda x: -x / (x * x - 1) ** 1.5)])
def test_second_derivatives_with_upstreams_sign(function, slope):
    """The opposite of the mathematical ones: what upstream computes and tests."""
    x = nd.array([1.5, 2, 4], dtype='float64')
    x.attach_grad()
    with autograd.record():
        first, = autograd.grad(function(x), [x], create_graph=True)
    first.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), -slope(x.asnumpy()), rtol=1e-6)


@pytest.mark.parametrize('function', [
    lambda x, y: x * y, lambda x, y: x / y, lambda x, y: x ** y, lambda x, y: nd.dot(x, y.T),
    lambda x, y: nd.broadcast_hypot(x, y),
    lambda x, y: nd.broadcast_mul(x, y.sum(axis=0, keepdims=True)), lambda x, y: nd.where(x > y, x * x, y * y * y),
    lambda x, y: nd.concat(x * y, x, dim=1)[0], lambda x, y: nd.linalg.gemm2(x, y, transpose_b=True),
], ids=['mul', 'div', 'pow', 'dot', 'hypot', 'broadcast', 'where', 'concat', 'gemm2'])
def test_second_derivatives_of_two_arrays(function):
    check_second(function, values(2, 3), values(2, 3)[::-1] + 0.1)


def convolution(x, w, b):
    return nd.Convolution(x, w, b, kernel=(2, 2), num_filter=2, pad=(1, 1))


def deconvolution(x, w):
    return nd.Deconvolution(x, w, kernel=(2, 2), num_filter=1, stride=(2, 2))


@pytest.mark.parametrize('function, shapes', [
    (lambda x, w, b: nd.FullyConnected(x, w, b, num_hidden=2), [(3, 4), (2, 4), (2,)]),
    (lambda x, w, b: nd.tanh(nd.FullyConnected(x, w, b, num_hidden=2)), [(3, 4), (2, 4), (2,)]),
    (convolution, [(1, 1, 3, 3), (2, 1, 2, 2), (2,)]),
    (lambda x, w, b: nd.sigmoid(convolution(x, w, b)), [(1, 1, 3, 3), (2, 1, 2, 2), (2,)]),
    (lambda x, w: nd.tanh(deconvolution(x, w)), [(1, 1, 2, 2), (1, 1, 2, 2)]),
    (lambda x: nd.Pooling(x * x, kernel=(2, 2), pool_type='avg'), [(1, 1, 3, 3)]),
    (lambda x: nd.Pooling(x * x, kernel=(2, 2), pool_type='max'), [(1, 1, 3, 3)]),
    (lambda x, g, b: nd.LayerNorm(x, g, b), [(2, 4), (4,), (4,)]),
    (lambda x, g, b: nd.BatchNorm(x, g, b, nd.zeros((2,), dtype='float64'), nd.ones((2,), dtype='float64'),
                                  fix_gamma=False), [(3, 2), (2,), (2,)]),
    (lambda x: nd.L2Normalization(x), [(2, 3)]),
    (lambda x, w: nd.Embedding(nd.array([0, 2, 0], dtype='float64'), w, input_dim=3, output_dim=2) * x,
     [(3, 2), (3, 2)]),
    (lambda x: nd.Activation(x, act_type='softrelu'), [(2, 3)]),
    (lambda x: nd.LeakyReLU(x - 0.8, act_type='elu'), [(2, 3)]),
    (lambda x: nd.Activation(x, act_type='softsign'), [(2, 3)]),
    (lambda x: nd.linalg.potrf(nd.dot(x, x.T) + nd.eye(2, dtype='float64')), [(2, 3)]),
    (lambda x: nd.norm(x), [(2, 3)]),
    (lambda x: nd.smooth_l1(x, scalar=2.0), [(2, 3)]),
    (lambda x: nd.mean(x * x * x, axis=1), [(2, 3)]),
    (lambda x: nd.prod(x, axis=1), [(2, 3)]),
])
def test_second_derivatives_of_layers(function, shapes):
    check_second(function, *[values(*s) * (1 + 0.1 * i) for i, s in enumerate(shapes)])


def test_third_order():
    x = nd.array([2.0])
    x.attach_grad()
    with autograd.record():
        y = x * x * x * x
        first = autograd.grad(y, x, create_graph=True)[0]
        second = autograd.grad(first, x, create_graph=True)[0]
    second.backward()
    assert (first.asscalar(), second.asscalar(), x.grad.asscalar()) == (32, 48, 48)


@pytest.mark.parametrize('function', [lambda x: x * 3, nd.radians, lambda x: nd.clip(x, -1, 1)])
def test_the_second_derivative_of_something_linear_is_zero(function):
    x = nd.array([0.5, 0.25])
    x.attach_grad()
    with autograd.record():
        y = function(x)
        first = autograd.grad(y, x, create_graph=True)[0]
    second = autograd.grad(first, x, create_graph=True)[0]
    assert second.asnumpy().tolist() == [0, 0]
    third = autograd.grad(second, x)[0]
    assert third.asnumpy().tolist() == [0, 0]


# ---------------------------------------------------------------------- autograd.grad itself
def test_grad_returns_a_list_and_leaves_buffers_alone():
    x, y = nd.array([1, 2]), nd.array([3, 4])
    x.attach_grad()
    y.attach_grad()
    with autograd.record():
        z = x * y
    found = autograd.grad(z, [x, y], nd.array([1, 10]))
    assert isinstance(found, list)
    assert [f.asnumpy().tolist() for f in found] == [[3, 40], [1, 20]]
    assert x.grad.asnumpy().tolist() == [0, 0]
    assert not x._fresh_grad


def test_grad_with_respect_to_something_computed():
    x = nd.array([1, 2])
    x.attach_grad()
    with autograd.record():
        y = x * 2
        z = y * y
    assert autograd.grad(z, y)[0].asnumpy().tolist() == [4, 8]


def test_grad_gives_the_graph_up_unless_told_otherwise():
    x = nd.array([1.0])
    x.attach_grad()
    with autograd.record():
        y = x * x
    assert autograd.grad(y, x, retain_graph=True)[0].asscalar() == 2
    autograd.grad(y, x)
    with pytest.raises(mx.MXNetError, match='a second time'):
        autograd.grad(y, x)


def test_grad_of_what_is_not_there():
    x, other, plain = nd.array([1.0]), nd.array([1.0]), nd.array([1.0])
    x.attach_grad()
    other.attach_grad()
    with autograd.record():
        y = x * 2
    with pytest.raises(mx.MXNetError, match='variable 1: the heads do not depend on it'):
        autograd.grad(y, [x, other], retain_graph=True)
    with pytest.raises(mx.MXNetError, match='with respect to variable 0: it was not computed'):
        autograd.grad(y, [plain])


def test_gradient_penalty():
    """A loss with a gradient in it, as Wasserstein networks use: trains through convolution and dense layer."""
    image, kernel = nd.array(values(1, 1, 4, 4)) / 4, nd.array(values(1, 1, 3, 3))
    dense = nd.array(values(1, 4))
    for array in (image, kernel, dense):
        array.attach_grad()

    def penalty():
        with autograd.record():
            score = nd.FullyConnected(nd.tanh(nd.Convolution(image, kernel, no_bias=True, kernel=(3, 3), num_filter=1)),
                                      dense, no_bias=True, num_hidden=1)
            slope = autograd.grad(score, image, create_graph=True)[0]
            return ((nd.norm(slope) - 1) ** 2).sum()

    before = penalty()
    for _ in range(60):
        loss = penalty()
        loss.backward()
        for weight in (kernel, dense):
            weight -= 0.05 * weight.grad
    assert loss.asscalar() < before.asscalar() / 10


@pytest.mark.parametrize('mode', [None, {}, {'static_alloc': True, 'static_shape': True}],
                         ids=['plain', 'hybrid', 'static'])
def test_an_array_that_is_given_twice(mode):
    """A gradient that is differentiated again has a part for each place at which an array was given."""
    class Two(gluon.HybridBlock):
        def hybrid_forward(self, F, a, b):
            return a * b ** 2

    net = Two()
    if mode is not None:
        net.hybridize(**mode)
    for _ in range(3):
        x = nd.array([1, 2, 3])
        x.attach_grad()
        with autograd.record():
            y = net(x, x)                                                   # x ** 3
            slope = autograd.grad(y, x, create_graph=True, retain_graph=True)[0]
        assert slope.asnumpy().tolist() == [3, 12, 27]
        slope.backward()
        assert x.grad.asnumpy().tolist() == [6, 12, 18]


@pytest.mark.parametrize('mode', [None, {}, {'static_alloc': True, 'static_shape': True}],
                         ids=['plain', 'hybrid', 'static'])
def test_an_input_that_was_computed_from_another(mode):
    """The gradient of an input has no part that goes through another input: the engine follows that path as well."""
    class Two(gluon.HybridBlock):
        def hybrid_forward(self, F, a, b):
            return a * b ** 2

    class Cube(gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return x ** 3

    net, cube = Two(), Cube()
    if mode is not None:
        net.hybridize(**mode)
        cube.hybridize(**mode)
    for _ in range(3):
        x = nd.array([1, 2, 3])
        x.attach_grad()
        with autograd.record():
            y = net(2 * cube(x), x) + cube(x) * 0.5 + x                     # 2 x^5 + x^3 / 2 + x
            slope = autograd.grad(y, x, create_graph=True, retain_graph=True)[0]
        assert np.allclose(slope.asnumpy(), [10 + 1.5 + 1, 160 + 6 + 1, 810 + 13.5 + 1])
        slope.backward()
        assert np.allclose(x.grad.asnumpy(), [40 + 3, 320 + 6, 1080 + 9])
