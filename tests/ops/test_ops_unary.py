"""Operators of unary.py and identity.py."""
import math

import numpy as np
import pytest
import torch
from ops_checks import check

import mxnet as mx
from mxnet import autograd, nd
from mxnet._ops import TABLE
from mxnet.base import MXNetError

EVERYWHERE = np.array([[-2.3, -1.2, -0.4], [0.3, 1.7, 2.6]])
INSIDE = EVERYWHERE / 3
POSITIVE = np.abs(EVERYWHERE) + 0.1
ABOVE_ONE = POSITIVE + 1


def per_value(function):
    return np.vectorize(function, otypes=['float64'])


PLAIN = {
    'abs': (np.abs, EVERYWHERE), 'arccos': (np.arccos, INSIDE), 'arccosh': (np.arccosh, ABOVE_ONE),
    'arcsin': (np.arcsin, INSIDE), 'arcsinh': (np.arcsinh, EVERYWHERE), 'arctan': (np.arctan, EVERYWHERE),
    'arctanh': (np.arctanh, INSIDE), 'cbrt': (np.cbrt, EVERYWHERE), 'ceil': (np.ceil, EVERYWHERE),
    'cos': (np.cos, EVERYWHERE), 'cosh': (np.cosh, EVERYWHERE), 'degrees': (np.degrees, EVERYWHERE),
    'erf': (per_value(math.erf), EVERYWHERE), 'exp': (np.exp, EVERYWHERE), 'expm1': (np.expm1, EVERYWHERE),
    'fix': (np.fix, EVERYWHERE), 'floor': (np.floor, EVERYWHERE), 'gamma': (per_value(math.gamma), EVERYWHERE),
    'gammaln': (per_value(math.lgamma), EVERYWHERE), 'log': (np.log, POSITIVE), 'log10': (np.log10, POSITIVE),
    'log1p': (np.log1p, POSITIVE), 'log2': (np.log2, POSITIVE), 'logical_not': (lambda x: x * 0, EVERYWHERE),
    'negative': (np.negative, EVERYWHERE), 'radians': (np.radians, EVERYWHERE),
    'rcbrt': (lambda x: 1 / np.cbrt(x), EVERYWHERE), 'reciprocal': (lambda x: 1 / x, EVERYWHERE),
    'relu': (lambda x: np.maximum(x, 0), EVERYWHERE), 'rsqrt': (lambda x: 1 / np.sqrt(x), POSITIVE),
    'sigmoid': (lambda x: 1 / (1 + np.exp(-x)), EVERYWHERE), 'sign': (np.sign, EVERYWHERE),
    'sin': (np.sin, EVERYWHERE), 'sinh': (np.sinh, EVERYWHERE), 'softsign': (lambda x: x / (1 + abs(x)), EVERYWHERE),
    'sqrt': (np.sqrt, POSITIVE), 'square': (np.square, EVERYWHERE), 'tan': (np.tan, INSIDE),
    'tanh': (np.tanh, EVERYWHERE), 'trunc': (np.trunc, EVERYWHERE), 'zeros_like': (np.zeros_like, EVERYWHERE),
    'ones_like': (np.ones_like, EVERYWHERE), '_copy': (lambda x: x, EVERYWHERE), 'rint': (np.rint, EVERYWHERE),
    'round': (np.round, EVERYWHERE),
}


@pytest.mark.parametrize('name', PLAIN)
def test_plain(name):
    function, data = PLAIN[name]
    # constants are recorded, but send nothing back: gradcheck wants at least zeros
    check(name, [data], function(data), gradient=name not in ('logical_not', 'zeros_like', 'ones_like'))


@pytest.mark.parametrize('name', PLAIN)
@pytest.mark.parametrize('dtype', ['float16', 'bfloat16', 'int32', 'uint8'])
def test_plain_keeps_the_dtype(name, dtype):
    data = torch.ones(3, dtype=getattr(torch, dtype))
    assert TABLE[name].function(data).dtype is data.dtype


def test_erfinv_is_the_inverse_of_erf():
    check('erfinv', [per_value(math.erf)(INSIDE)], INSIDE)


@pytest.mark.parametrize('name, expected', [
    ('round', [-3, -2, -1, 0, 1, 2, 3, 8388609]),        # away from 0
    ('rint', [-3, -2, -1, 0, 0, 1, 2, 8388609]),         # down
    ('fix', [-2, -1, 0, 0, 0, 1, 2, 8388609]),
])
def test_halves(name, expected):
    data = nd.array([-2.5, -1.5, -0.5, 0.49999997, 0.5, 1.5, 2.5, 8388609])
    assert getattr(nd, name)(data).asnumpy().tolist() == expected


def test_integers_are_cut_off():
    data = nd.array([1, 4, 8, 9], dtype='int32')
    assert nd.sqrt(data).asnumpy().tolist() == [1, 2, 2, 3]
    assert nd.cbrt(data).asnumpy().tolist() == [1, 1, 2, 2]
    assert nd.sigmoid(data).asnumpy().tolist() == [0, 0, 0, 0]
    assert nd.gamma(nd.array([1, 5], dtype='int32')).asnumpy().tolist() == [1, 24]


def test_special_values():
    assert nd.gamma(nd.array([5, 6])).asnumpy().tolist() == [24, 120]
    assert np.isnan(nd.gamma(nd.array([-1, -2])).asnumpy()).all()
    assert np.isnan(nd.relu(nd.array([math.nan])).asnumpy()).all()
    assert nd.sign(nd.array([-3, 0, 2])).asnumpy().tolist() == [-1, 0, 1]


def gradient(function, *arrays, **arguments):
    arrays = [nd.array(a) for a in arrays]
    for a in arrays:
        a.attach_grad()
    with autograd.record():
        result = function(*arrays, **arguments)
    result.backward()
    return [a.grad.asnumpy().tolist() for a in arrays]


@pytest.mark.parametrize('name, at, expected', [
    ('abs', [-1, 0, 1], [-1, 0, 1]), ('relu', [-1, 0, 1], [0, 0, 1]), ('cbrt', [0], [math.inf]),
    ('rcbrt', [8], [-1 / 48]), ('round', [1.2], [0]), ('rint', [1.2], [0]), ('sign', [2], [0]),
    ('logical_not', [2], [0]), ('ones_like', [2], [0]),
])
def test_gradients_at_corners(name, at, expected):
    np.testing.assert_allclose(gradient(getattr(nd, name), at)[0], expected, rtol=1e-6)


# ---------------------------------------------------------------------- with parameters
def test_clip():
    check('clip', [EVERYWHERE], np.clip(EVERYWHERE, -1, 1.5), a_min=-1, a_max=1.5)
    assert gradient(nd.clip, [-1, 0, 1, 2], a_min=0, a_max=1)[0] == [0, 1, 1, 0]
    whole = nd.array([-5, 0, 5], dtype='int32')
    assert nd.clip(whole, -1.9, 2.9).asnumpy().tolist() == [-1, 0, 2]
    assert nd.clip(whole, -math.inf, math.inf).asnumpy().tolist() == [-5, 0, 5]


def test_hard_sigmoid():
    check('hard_sigmoid', [EVERYWHERE], np.clip(0.3 * EVERYWHERE + 0.5, 0, 1), alpha=0.3)
    assert gradient(nd.hard_sigmoid, [-1, 0, 1], alpha=0.5)[0] == [0, 0.5, 0]      # the corners included


def test_smooth_l1():
    small = np.abs(EVERYWHERE) < 1 / 0.64
    expected = np.where(small, 0.5 * 0.64 * EVERYWHERE ** 2, np.abs(EVERYWHERE) - 0.5 / 0.64)
    check('smooth_l1', [EVERYWHERE], expected, scalar=0.8)
    assert nd.smooth_l1(nd.array([0.5, -3])).asnumpy().tolist() == [0.125, 2.5]
    assert nd.smooth_l1(nd.array([5, -3]), scalar=0).asnumpy().tolist() == [0, 0]


def test_scaling_and_quadratic():
    check('_contrib_div_sqrt_dim', [EVERYWHERE], EVERYWHERE / math.sqrt(3))
    check('_contrib_quadratic', [EVERYWHERE], 2 * EVERYWHERE ** 2 - EVERYWHERE + 3, a=2, b=-1, c=3)


def test_sizes():
    data = nd.zeros((2, 3, 4))
    assert nd.shape_array(data).asnumpy().tolist() == [2, 3, 4] and nd.shape_array(data).dtype == np.int64
    assert nd.size_array(data).asnumpy().tolist() == [24] and nd.size_array(data).dtype == np.int64
    assert TABLE['shape_array'].function(torch.empty(5, 0, device='meta')).shape == (2,)


# ---------------------------------------------------------------------- copies and their gradients
@pytest.mark.parametrize('name', ['identity', 'BlockGrad', 'make_loss', 'cast'])
def test_copies_do_not_share_memory(name):
    data = nd.array([1, 2])
    copy = getattr(nd, name)(data, **({'dtype': 'float32'} if name == 'cast' else {}))
    copy[:] = 7
    assert data.asnumpy().tolist() == [1, 2]


def test_gradients_of_copies():
    assert gradient(lambda x: nd.BlockGrad(x * x) * x, [3, 4])[0] == [9, 16]
    assert gradient(lambda x: nd.make_loss(x * x) * 100, [3, 4])[0] == [6, 8]
    assert gradient(nd.contrib.gradientmultiplier, [3, 4], scalar=-0.5)[0] == [-0.5, -0.5]
    assert gradient(lambda x: nd.contrib.round_ste(x) * 3, [1.2, 4.6])[0] == [3, 3]
    assert gradient(lambda x: nd.contrib.sign_ste(x) * 3, [-1.2, 4.6])[0] == [3, 3]
    assert nd.contrib.round_ste(nd.array([1.5, -2.5])).asnumpy().tolist() == [2, -3]


def test_blocked_gradient_does_not_run_through_what_is_behind():
    # a gradient of 0 would become NaN on its way through sqrt at 0
    assert gradient(lambda x: nd.BlockGrad(nd.sqrt(x)) + x, [0])[0] == [1]


def test_kl_regularizer():
    data = np.random.RandomState(0).rand(4, 3).astype('float32')
    average = np.array([0.3, 0.4, 0.5], 'float32')
    x, state = nd.array(data), nd.array(average)
    x.attach_grad()
    with autograd.record():
        y = nd.IdentityAttachKLSparseReg(x, state, penalty=0.1, momentum=0.8, sparseness_target=0.2)
    np.testing.assert_array_equal(state.asnumpy(), average)
    y.backward()
    expected = 0.8 * average + 0.2 * data.mean(0)
    np.testing.assert_allclose(state.asnumpy(), expected, rtol=1e-6)
    pull = 0.1 * (-0.2 / expected + 0.8 / (1 - expected))
    np.testing.assert_allclose(x.grad.asnumpy(), 1 + pull + 0 * data, rtol=1e-5)
    nd.IdentityAttachKLSparseReg(x, state)
    np.testing.assert_allclose(state.asnumpy(), expected, rtol=1e-6)      # only training moves the average


def test_kl_regularizer_in_a_graph():
    # recorded with MXNet 1.9.1: backward moves the average, each time it is called
    out = mx.sym.IdentityAttachKLSparseReg(mx.sym.sigmoid(mx.sym.var('x')), penalty=0.1, momentum=0.5,
                                           sparseness_target=0.2)
    bound = out.simple_bind(mx.cpu(), x=(3, 4))
    bound.aux_arrays[0][:] = 0.3
    bound.arg_arrays[0][:] = np.arange(12).reshape(3, 4) / 10
    moved, twice = [0.44811, 0.45973, 0.47109, 0.48215], [0.52217, 0.5396, 0.55664, 0.57322]
    bound.forward(is_train=True)
    np.testing.assert_allclose(bound.aux_arrays[0].asnumpy(), [0.3] * 4, rtol=1e-6)
    for averages, gradient in ((moved, [0.27508, 0.27545, 0.27445, 0.27208]),
                               (twice, [0.28228, 0.28346, 0.28328, 0.28175])):
        bound.backward(nd.ones((3, 4)))
        np.testing.assert_allclose(bound.aux_arrays[0].asnumpy(), averages, rtol=1e-4)
        np.testing.assert_allclose(bound.grad_arrays[0].asnumpy()[0], gradient, rtol=1e-4)


@pytest.mark.parametrize('flags', [None, {}, {'static_alloc': True, 'static_shape': True}])
def test_kl_regularizer_in_a_block(flags):
    class Sparse(mx.gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.average = self.params.get('average', shape=(4,), init='zeros', grad_req='null', differentiable=False)

        def hybrid_forward(self, F, x, average):
            return F.IdentityAttachKLSparseReg(x, average, penalty=0.1, momentum=0.5)

    net = Sparse()
    net.initialize()
    if flags is not None:
        net.hybridize(**flags)
    x, wanted = nd.ones((2, 4)) * 0.5, 0.0
    x.attach_grad()
    for _ in range(5):
        with autograd.record():
            y = net(x)
        assert net.average.data().asnumpy()[0] == np.float32(wanted)
        y.backward()
        wanted = wanted / 2 + 0.25
        assert net.average.data().asnumpy()[0] == np.float32(wanted)


# ---------------------------------------------------------------------- casts and checks
def test_casts():
    data = nd.array([-1.7, 0, 2.9])
    assert nd.cast(data, 'int32').asnumpy().tolist() == [-1, 0, 2]
    assert nd.cast(data, 'bool').asnumpy().tolist() == [True, False, True]
    assert gradient(lambda x: nd.cast(x, 'float64') * 2, [1, 2])[0] == [2, 2]
    assert nd.amp_cast(data, 'float16').dtype == np.float16
    assert nd.amp_cast(nd.array([1], dtype='int32'), 'float16').dtype == np.int32
    with pytest.raises(MXNetError, match='dtype'):
        nd.cast(data, 'complex128')


@pytest.mark.parametrize('narrow, expected', [(False, np.float32), (True, np.float16)])
def test_amp_multicast(narrow, expected):
    arrays = [nd.ones(2, dtype=t) for t in ('float16', 'float32', 'int32')]
    types = [r.dtype for r in nd.amp_multicast(*arrays, num_outputs=3, cast_narrow=narrow)]
    assert types == [expected, expected, np.int32]


@pytest.mark.parametrize('bad', [math.inf, -math.inf, math.nan])
def test_all_finite(bad):
    good = nd.array([1, 2])
    assert nd.all_finite(good).asnumpy().tolist() == [1]
    assert nd.all_finite(nd.array([1, bad])).asnumpy().tolist() == [0]
    assert nd.multi_all_finite(good, good, num_arrays=2).asnumpy().tolist() == [1]
    assert nd.multi_all_finite(good, nd.array([[bad]]), good, num_arrays=3).asnumpy().tolist() == [0]
    with pytest.raises(MXNetError, match='input 1 is int32'):
        nd.multi_all_finite(good, nd.array([1], dtype='int32'), num_arrays=2)
    with pytest.raises(MXNetError, match='init_output'):
        nd.all_finite(good, init_output=False)


def test_many_arrays():
    arrays = [nd.array([1, 2]), nd.array([[3]], dtype='float16')]
    sums = nd.multi_sum_sq(*arrays, num_arrays=2)
    assert sums.asnumpy().tolist() == [5, 9] and sums.dtype == np.float32
    assert nd.reset_arrays(*arrays, num_arrays=2) == []
    assert arrays[0].asnumpy().tolist() == [0, 0] and arrays[1].asnumpy().tolist() == [[0]]


def test_multi_lars():
    rates, weights, grads, decay = [.1, .2, .3], [4, 0, 2], [9, 1, 0], [.5, .1, .2]
    expected = [.1 * .01 * 2 / (3 * .5 + .5 * 2 + 1), .2, .3]
    check('multi_lars', [np.array(v, float) for v in (rates, weights, grads, decay)], np.array(expected),
          eta=.01, eps=1, rescale_grad=.5, gradient=False)


@pytest.mark.parametrize('name, attributes, expected', [('softsign', {}, [0, 0]), ('smooth_l1', {}, [1, -1]),
                                                        ('Activation', {'act_type': 'softsign'}, [0, 0])])
def test_slopes_at_infinity(name, attributes, expected):
    x = nd.array([math.inf, -math.inf])
    x.attach_grad()
    with autograd.record():
        y = getattr(nd, name)(x, **attributes)
    y.backward()
    assert x.grad.asnumpy().tolist() == expected


def test_gamma_of_minus_zero_and_of_integers():
    assert nd.gamma(nd.array([-0., 0])).asnumpy().tolist() == [-math.inf, math.inf]
    assert nd.gamma(nd.arange(1, 11, dtype='int32')).asnumpy().tolist() == [math.factorial(i) for i in range(10)]
