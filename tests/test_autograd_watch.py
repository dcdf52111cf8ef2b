"""What watches recorded calls: `detect_anomaly`, `keep_symbols` with `get_symbol`; and the first form of autograd."""
import numpy as np
import pytest

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
    with autograd.keep_symbols(), autograd.record():
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


def test_what_was_not_kept_is_said():
    x = nd.ones((2,))
    x.attach_grad()
    with autograd.record():
        y = x * 2
    with pytest.raises(mx.MXNetError, match=r'record it inside `with autograd.keep_symbols\(\):`'):
        autograd.get_symbol(y)
    with pytest.raises(TypeError, match='takes an array, not a int'):
        autograd.get_symbol(3)


def test_two_watchers():
    x = nd.array([-1.0])
    x.attach_grad()
    with autograd.detect_anomaly(), autograd.keep_symbols(), autograd.record():
        y = nd.exp(x)
        with pytest.raises(mx.MXNetError, match='operator log'):
            nd.log(x)
    assert autograd.get_symbol(y).list_arguments() == ['var0']


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
