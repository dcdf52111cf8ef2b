"""What looks at recorded calls: `detect_anomaly`, `get_symbol`; and the first form of autograd."""
import io
import json
import weakref

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import autograd, nd


# ---------------------------------------------------------------------- detect_anomaly
def test_the_first_nan_forward_is_named():
    x = nd.array([-1.0, 4.0])
    x.attach_grad()
    with pytest.raises(mx.MXNetError, match=r'operator log\(data=float32\(2,\)@cpu\(0\)\) made the first NaN; '
                                            r'called in .*test_autograd_watch.py.*nd.log'):
        with autograd.detect_anomaly(), autograd.record():
            y = nd.exp(x * 2)
            z = nd.log(x)
            y + z


def test_the_first_nan_backward_is_named():
    x = nd.array([0.0, 4.0])
    x.attach_grad()
    with autograd.detect_anomaly():
        with autograd.record():
            y = (nd.sqrt(x) * x).sum()
        with pytest.raises(mx.MXNetError, match=r'the gradient of operator sqrt\(.*called in .*test_autograd_watch'):
            y.backward()


@pytest.mark.parametrize('differentiate', [lambda y, x: y.backward(), lambda y, x: autograd.grad(y, x)])
def test_without_a_nan_nothing_changes(differentiate):
    x = nd.array([1.0, 4.0])
    x.attach_grad()
    with autograd.detect_anomaly():
        with autograd.record():
            y = (nd.Dropout(nd.sqrt(x), p=0.5) + x[1]).sum()
        differentiate(y, x)
    assert autograd.is_recording() is False


def test_a_nan_that_came_with_the_data():
    x = nd.array([np.nan, 4.0])
    x.attach_grad()
    with autograd.detect_anomaly():
        with autograd.record():
            y = x * 2
        with pytest.raises(mx.MXNetError, match='came in with the data'):
            y.backward()


def test_it_is_off_afterwards():
    x = nd.array([-1.0])
    x.attach_grad()
    with autograd.detect_anomaly():
        pass
    with autograd.record():
        y = nd.log(x)
    assert np.isnan(y.asscalar())


# ---------------------------------------------------------------------- get_symbol
def test_the_recorded_graph_as_a_symbol():
    x, w, constant = nd.random.uniform(shape=(2, 3)), nd.random.uniform(shape=(4, 3)), nd.ones((2, 4))
    x.attach_grad()
    w.attach_grad()
    with autograd.record():
        first, _, third = nd.split(x, 3, axis=1)
        y = nd.FullyConnected(x * x + 2 * x - 1, w, no_bias=True, num_hidden=4) + constant
        y = (y * first - third).transpose()
    symbol = autograd.get_symbol(y)
    assert symbol.list_arguments() == ['var0', 'var1', 'null0']
    again = symbol.eval(var0=x, var1=w, null0=constant)[0]
    np.testing.assert_allclose(again.asnumpy(), y.asnumpy(), rtol=1e-6)


def test_the_symbol_of_a_variable():
    x = nd.ones((2,))
    x.attach_grad()
    assert autograd.get_symbol(x).list_outputs() == ['var0']


def test_what_has_no_symbol_is_said():
    x = nd.ones((2,))
    x.attach_grad()
    with pytest.raises(mx.MXNetError, match='was not computed from an array with a gradient inside'):
        autograd.get_symbol(x.detach() * 2)
    with autograd.record():
        y = x * x
        gradient, = autograd.grad(y, [x], create_graph=True)
        z = gradient * 2
    for array in (gradient, z):
        with pytest.raises(mx.MXNetError, match='was not computed by operators alone: a gradient'):
            autograd.get_symbol(array)
    with pytest.raises(TypeError, match='takes an array, not the int'):
        autograd.get_symbol(3)


def _written(x):
    y = nd.zeros((2, 3))
    y[1] = x[0]
    return y * 2


def _hybrid(x):
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(3, flatten=False), mx.gluon.nn.Activation('tanh'))
    net.initialize()
    net.hybridize()
    with autograd.pause():
        net(x)
    return net(net(x)).sum()


@pytest.mark.parametrize('compute', [
    lambda x: x[0], lambda x: x[0:1] * x[1:], lambda x: x[:, 1], lambda x: x[None, ..., ::-1], lambda x: x[-1, -1],
    lambda x: x[:], lambda x: x.reshape((3, 2)), lambda x: x.expand_dims(0, inplace=True), lambda x: x.T,
    lambda x: x.copy() + x.copyto(mx.cpu(1)).as_in_context(mx.cpu()), lambda x: x.astype('float64'),
    lambda x: 1 - x ** 2 / 3, lambda x: nd.elemwise_add(x, x, out=nd.zeros((2, 3))), _written,
    lambda x: sum(nd.split(x, 3, axis=1)), lambda x: nd.concat(x, x, dim=1), lambda x: nd.BlockGrad(x) * x,
    lambda x: nd.LayerNorm(x, nd.ones(3), nd.zeros(3)), lambda x: x.as_np_ndarray()[1] + 1,
    lambda x: mx.np.exp(x.as_np_ndarray()).reshape(6).copy() / 2, _hybrid])
def test_the_symbol_gives_the_array_again(compute):
    x = nd.random.uniform(shape=(2, 3))
    x.attach_grad()
    with autograd.record():
        y = compute(x)
    symbol = autograd.get_symbol(y)
    others = {'null0': nd.ones(3), 'null1': nd.zeros(3)} if 'null1' in symbol.list_arguments() else \
        {'null0': nd.zeros((2, 3))} if 'null0' in symbol.list_arguments() else {}
    if compute is _hybrid:          # one layer, called twice, with two parameters
        assert symbol.list_arguments() == ['var0', 'var1', 'var2']
        assert symbol.tojson().count('"op": "FullyConnected"') == 2
        return
    again = symbol.eval(var0=x, **others)[0]
    np.testing.assert_allclose(again.asnumpy(), y.asnumpy(), rtol=1e-6)


def test_keys_with_arrays_and_functions_in_a_symbol():
    class Twice(autograd.Function):
        def forward(self, x):
            return 2 * x

        def backward(self, dy):
            return 2 * dy

    x, rows = nd.ones((2, 3)), nd.array([1, 0])
    x.attach_grad()
    with autograd.record():
        chosen, twice = x[rows], Twice()(x)
        written = nd.zeros((2, 3))
        written[rows] = x * 2
    symbol = autograd.get_symbol(chosen)
    assert symbol.list_arguments() == ['var0', 'null0']
    positions = nd.array([[3, 4, 5], [0, 1, 2]])
    assert symbol.eval(var0=x, null0=positions)[0].asnumpy().tolist() == chosen.asnumpy().tolist()
    assert autograd.get_symbol(written).list_arguments() == ['null0', 'var0', 'null1']
    assert [n['op'] for n in json.loads(autograd.get_symbol(twice).tojson())['nodes']] == ['null', '_CustomFunction']


def test_a_symbol_of_sparse_arrays():
    weight = nd.array([[1, 0], [2, 0]])
    data = nd.array([[1, 0], [0, 3]]).tostype('csr')
    weight.attach_grad()
    with autograd.record():
        y = nd.sparse.dot(data, weight) + 1
    assert autograd.get_symbol(y).list_arguments() == ['null0', 'var0']


@pytest.mark.parametrize('function, uses', [(lambda y: y + 1.0, ('nothing', 'backward', 'symbol')),
                                            (nd.sin, ('nothing', 'backward')), (lambda y: y[:1], ('nothing',))],
                         ids=['arithmetic', 'function', 'view'])
def test_deep_graphs(function, uses):
    x = nd.ones((2,))
    x.attach_grad()
    for use in uses:
        with autograd.record():
            y = x
            for _ in range(20000):
                y = function(y)
        if use == 'backward':
            y.backward()
        elif use == 'symbol':
            assert len(autograd.get_symbol(y).get_internals().list_outputs()) >= 20000
        del y


def test_notes_hold_no_memory():
    x = nd.ones((2,))
    x.attach_grad()
    with autograd.record():
        constant = nd.ones((1000,))
        gone = weakref.ref(constant)
        y = x * constant[:2].sum()
        del constant
        assert gone() is None
        z = y.detach()
        for _ in range(3):
            z = z + 1.0             # without a gradient: torch's tape does not grow, and nothing is noted
        assert not hasattr(z.materialize(), '_provenance')
    tensor = y.to_torch()
    assert torch.load(io.BytesIO(_saved(tensor))).shape == (2,)
    y.backward()
    assert not hasattr(y.materialize(), '_provenance')


def _saved(tensor):
    buffer = io.BytesIO()
    torch.save(tensor, buffer)
    return buffer.getvalue()


# ---------------------------------------------------------------------- mx.contrib.autograd
def test_the_first_form_of_autograd():
    from mxnet.contrib import autograd as first

    def f(x, y, plus):
        return x + y if plus else x * y

    x, y = nd.array([1, 2]), nd.array([3, 4])
    gradients, output = first.grad_and_loss(f, argnum=[0, 1])(x, y, False)
    assert [g.asnumpy().tolist() for g in gradients] == [[3, 4], [1, 2]]
    assert output.asnumpy().tolist() == [3, 8]
    assert first.grad(lambda x: x * x)(x)[0].asnumpy().tolist() == [2, 4]
    assert first.grad(f, argnum=1)(x, y, False)[0].asnumpy().tolist() == [1, 2]
    with pytest.raises(AssertionError, match='argument 2 must be an NDArray'):
        first.grad(f)(x, y, False)
    with first.train_section():
        assert autograd.is_recording() and autograd.is_training()
        with first.test_section():
            assert not autograd.is_recording() and not autograd.is_training()
        assert first.set_is_training(False) is True
    assert not autograd.is_recording()
    with pytest.raises(AssertionError, match='outputs must be a list'):
        first.compute_gradient(x)


def test_marked_variables_of_the_first_form():
    from mxnet.contrib import autograd as first
    x, dx = nd.ones((2,)), nd.zeros((2,))
    first.mark_variables([x], [dx])
    with first.train_section():
        y = x * 4
        first.backward([y], [nd.array([1, 2])])
    assert dx.asnumpy().tolist() == [4, 8]
