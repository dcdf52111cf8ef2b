"""Rewrites of plans: what takes the place of a value, what is computed only once, and what programs write into."""
import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd

MODES = {'plain': None, 'hybridized': {}, 'static': {'static_alloc': True, 'static_shape': True}}


class Net(gluon.HybridBlock):
    """A function of F, inputs and a weight."""

    def __init__(self, function, weight=(3, 4)):
        super().__init__()
        self.function = function
        with self.name_scope():
            if weight:
                self.weight = self.params.get('weight', shape=weight, init=mx.init.Constant(0.5))

    def hybrid_forward(self, F, *x, **params):
        return self.function(F, *x, *params.values())


def made(function, mode, weight=None):
    net = Net(function, weight)
    net.initialize()
    if MODES[mode] is not None:
        net.hybridize(**MODES[mode])
    return net


def outputs_of(net, inputs, recording):
    with autograd.record() if recording else autograd.predict_mode():
        out = net(*inputs)
    return list(out) if isinstance(out, (list, tuple)) else [out]


LAYOUTS = {
    'sum of a slice': (lambda F, x: F.max(F.slice_axis(x, axis=1, begin=0, end=2), axis=2).reshape((-1,)), [(3, 4, 1)]),
    'sum of one row many times': (lambda F, x: F.sum(F.broadcast_to(x, (3, 4, 1)), axis=2).reshape((-1,)), [(3, 1, 1)]),
    'part that is transposed': (
        lambda F, x, y: F.slice_axis(F.concat(F.transpose(x), y, dim=0), axis=0, begin=0, end=4).reshape((-1,)),
        [(3, 4), (2, 3)]),
    'part that is broadcast': (
        lambda F, x, y: F.slice_axis(F.concat(F.broadcast_to(x, (3, 4)), y, dim=0), axis=0, begin=0,
                                     end=3).reshape((-1,)), [(3, 1), (3, 4)]),
    'pieces of a concatenation': (
        lambda F, x, y: [p.reshape((-1,)) for p in F.split(F.concat(F.transpose(x), F.transpose(y), dim=0), 2, axis=0)],
        [(3, 4), (3, 4)])}


@pytest.mark.parametrize('recording', [False, True])
@pytest.mark.parametrize('mode', ['hybridized', 'static'])
@pytest.mark.parametrize('name', LAYOUTS)
def test_values_with_another_layout(name, mode, recording):
    function, shapes = LAYOUTS[name]
    inputs = [nd.array(np.random.RandomState(i).randn(*s)) for i, s in enumerate(shapes)]
    wanted = outputs_of(made(function, 'plain'), inputs, False)
    net = made(function, mode)
    for _ in range(4):
        for value, right in zip(outputs_of(net, inputs, recording), wanted, strict=True):
            assert value.shape == right.shape and (value.asnumpy() == right.asnumpy()).all()


@pytest.mark.parametrize('mode', MODES)
@pytest.mark.parametrize('dtype', ['uint8', 'int32', 'int64'])
def test_integers_times_minus_one(dtype, mode):
    net = made(lambda F, x: F.hard_sigmoid(x, alpha=-1, beta=3), mode)
    for _ in range(4):
        assert net(nd.array([0, 2, 4], dtype=dtype)).asnumpy().tolist() == [1, 1, 0]


CONSTANTS = {
    'shape_array': lambda F, x: F.shape_array(x),
    'its reshape': lambda F, x: F.shape_array(x).reshape((-1, 1)),
    'ones': lambda F, x: F.ones((2, 2)),
    'reshape of ones': lambda F, x: (F.ones((2, 2)) + 1).reshape((-1,)),
    'broadcast': lambda F, x: F.broadcast_to((F.ones((2, 2)) + 1).reshape((1, 4)), (3, 4)),
    'pieces': lambda F, x: F.split(F.ones((2, 4)) + 1, 2, axis=0),
    'a slice': lambda F, x: F.slice_axis(F.eye(3), axis=0, begin=0, end=1),
    'two': lambda F, x: (F.full((2, 2), 3), F.full((2, 2), 3)),
    'one and a view of it': lambda F, x: (F.arange(0, 4), F.arange(0, 4).reshape((2, 2))),
    'beside a result': lambda F, x: (F.shape_array(x), x * 2)}


@pytest.mark.filterwarnings('ignore:input data of')
@pytest.mark.parametrize('recording', [False, True])
@pytest.mark.parametrize('mode', MODES)
@pytest.mark.parametrize('name', CONSTANTS)
def test_constants_that_the_program_writes_into(name, mode, recording):
    """A later call gives the constant, whatever was written into what an earlier one gave."""
    net, x = made(CONSTANTS[name], mode), nd.array([[1, 2], [3, 4]])
    x.attach_grad()
    wanted = [o.asnumpy() for o in outputs_of(made(CONSTANTS[name], 'plain'), [x], False)]
    for _ in range(5):
        outputs = outputs_of(net, [x], recording)
        for output, right in zip(outputs, wanted, strict=True):
            assert (output.asnumpy() == right).all()
        for output in outputs:
            output[:] = 7


@pytest.mark.parametrize('mode', MODES)
@pytest.mark.parametrize('how', ['grad', 'backward'])
def test_gradients_that_are_constants(how, mode):
    net = made(lambda F, x: F.MakeLoss(x.reshape((-1,)), grad_scale=3), mode)
    for _ in range(5):
        x = nd.ones((2, 2))
        x.attach_grad()
        with autograd.record():
            out = net(x)
        if how == 'grad':
            gradient, = autograd.grad(out, [x])
        else:
            out.backward()
            gradient = x.grad
        assert (gradient.asnumpy() == 3).all()
        gradient[:] = 5


OF_WEIGHTS = {
    'a result and what comes of it': lambda F, x, w: (F.exp(w), F.broadcast_add(F.sin(F.exp(w)), x)),
    'a view, and what comes of its base': lambda F, x, w: (
        F.exp(w).reshape((-1,)), F.broadcast_add(F.sin(F.exp(w)), x)),
    'a slice': lambda F, x, w: (F.slice_axis(F.exp(w), axis=0, begin=0, end=1), x * 1),
    'both': lambda F, x, w: (F.exp(w), F.exp(w).reshape((-1,)), x * 1),
    'pieces': lambda F, x, w: (*F.split(F.exp(w), 2, axis=1), x * 1),
    'over one': lambda F, x, w: (F.sum(F.expand_dims(F.exp(w), 0), axis=0), x * 1)}


@pytest.mark.parametrize('recording', [False, True])
@pytest.mark.parametrize('mode', MODES)
@pytest.mark.parametrize('name', OF_WEIGHTS)
def test_results_of_weights_alone(name, mode, recording):
    """Predictions compute them once, but hand them out as new memory."""
    net, x = made(OF_WEIGHTS[name], mode, (3, 4)), nd.array([[1], [2], [3]])
    plain = made(OF_WEIGHTS[name], 'plain', (3, 4))
    for number in range(6):
        outputs = outputs_of(net, [x], recording)
        for output, right in zip(outputs, outputs_of(plain, [x], False), strict=True):
            assert (output.asnumpy() == right.asnumpy()).all()
        for output in outputs:
            output[:] = 7
        if number == 3:
            net.weight.set_data(nd.ones((3, 4)))
            plain.weight.set_data(nd.ones((3, 4)))


SPECIAL = [[0, -1.5, 2, .5], [0, 0, 3, 1], [np.inf, 0, 1, 2], [1e30, 1e30, 2, -1], [np.nan, 0, 1, 1], [-2, .3, 1.7, .9]]


@pytest.mark.parametrize('operator', ['prod', 'nanprod'])
def test_gradients_of_products_are_those_of_single_calls(operator):
    """torch's own gradient looks for zeros, and has another formula where it cannot: in plans."""
    found = {}
    for mode in MODES:
        net = made(lambda F, x: getattr(F, operator)(x, axis=1), mode)
        for _ in range(3):
            x = nd.array(SPECIAL)
            x.attach_grad()
            with autograd.record():
                out = net(x)
            out.backward()
        found[mode] = x.grad.asnumpy()
    for mode in ('hybridized', 'static'):
        np.testing.assert_array_equal(found[mode], found['plain'])
    assert found['plain'][0].tolist() == [-1.5, 0, 0, 0] and found['plain'][1].tolist() == [0, 0, 0, 0]


def test_second_derivative_of_a_product():
    x = nd.array([[2, 0, 3, 0]])
    x.attach_grad()
    with autograd.record():
        gradient, = autograd.grad(nd.prod(x, axis=1), [x], create_graph=True)
        gradient[0, 1].backward()
    assert x.grad.asnumpy().tolist() == [[0, 0, 0, 6]]
