"""`autograd.Function`, and the memory that graphs hold."""
import gc
import threading

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import autograd, nd


class Sigmoid(autograd.Function):
    def forward(self, x):
        y = 1 / (1 + nd.exp(-x))
        self.save_for_backward(y)
        return y

    def backward(self, dy):
        y, = self.saved_tensors
        return dy * y * (1 - y)


class TwoByTwo(autograd.Function):
    """Two inputs, two outputs."""

    def forward(self, x, y):
        self.save_for_backward(x, y)
        return x / y, x * y

    def backward(self, dm, dn):
        x, y = self.saved_tensors
        return dm / y + dn * y, dn * x - dm * x / y / y


def test_one_input():
    x = nd.array([-1, 0, 2])
    x.attach_grad()
    with autograd.record():
        y = Sigmoid()(x)
    y.backward()
    expected = 1 / (1 + np.exp(-x.asnumpy()))
    np.testing.assert_allclose(x.grad.asnumpy(), expected * (1 - expected), rtol=1e-6)


def test_several_inputs_and_outputs():
    x, y = nd.array([1, 2]), nd.array([3, 4])
    for array in (x, y):
        array.attach_grad()
    with autograd.record():
        quotient, product = TwoByTwo()(x * 2, y)
    autograd.backward([quotient, product], [nd.ones((2,)), nd.array([10, 100])])
    own = x.grad.asnumpy(), y.grad.asnumpy()
    with autograd.record():
        quotient, product = x * 2 / y, x * 2 * y
    autograd.backward([quotient, product], [nd.ones((2,)), nd.array([10, 100])])
    for found, expected in zip(own, (x.grad, y.grad), strict=True):
        np.testing.assert_allclose(found, expected.asnumpy(), rtol=1e-6)


def test_one_of_the_outputs_is_enough():
    x, y = nd.array([1.0]), nd.array([2.0])
    x.attach_grad()
    with autograd.record():
        _, product = TwoByTwo()(x, y)
    product.backward()
    assert x.grad.asscalar() == 2


def test_the_halves_run_unrecorded_and_in_train_mode():
    seen = []

    class Look(autograd.Function):
        def forward(self, x):
            seen.append((autograd.is_recording(), autograd.is_training()))
            return x * 1

        def backward(self, dy):
            seen.append((autograd.is_recording(), autograd.is_training()))
            return dy

    x = nd.ones((1,))
    x.attach_grad()
    with autograd.record():
        y = Look()(x)
    y.backward()
    assert seen == [(False, True), (False, True)]


def test_backward_in_another_thread_finds_the_switches_of_the_one_that_recorded():
    seen = []

    class Look(autograd.Function):
        def forward(self, x):
            return x * 2

        def backward(self, dy):
            seen.append((autograd.is_training(), mx.util.is_np_array(), mx.current_context()))
            return dy * 2

    x = nd.ones((1,))
    x.attach_grad()
    with mx.cpu(3), mx.util.np_array(True), autograd.record():
        y = Look()(x)

    def go_back():
        y.backward()
        seen.append((autograd.is_training(), mx.util.is_np_array(), mx.current_context()))

    thread = threading.Thread(target=go_back)
    thread.start()
    thread.join()
    assert seen == [(True, True, mx.cpu(3)), (False, False, mx.cpu())] and x.grad.asscalar() == 2


def test_without_recording_it_is_forward_alone():
    y = Sigmoid()(nd.zeros((2,)))
    assert y.asnumpy().tolist() == [0.5, 0.5]


def test_inputs_without_a_gradient():
    with autograd.record():
        y = Sigmoid()(nd.zeros((2,)))
    with pytest.raises(mx.MXNetError, match='was not computed from an array with a gradient'):
        y.backward()


def test_an_output_may_be_an_input():
    class Same(autograd.Function):
        def forward(self, x):
            return x

        def backward(self, dy):
            return dy * 5

    x = nd.ones((2,))
    x.attach_grad()
    with autograd.record():
        y = Same()(x) * 2
    y.backward()
    assert x.grad.asnumpy().tolist() == [10, 10]


def test_backward_may_use_autograd_itself():
    class Cube(autograd.Function):
        def forward(self, x):
            self.save_for_backward(x)
            return x ** 3

        def backward(self, dy):
            x, = self.saved_tensors
            x.attach_grad()
            with autograd.record():
                y = x ** 3
            y.backward(dy)
            return x.grad

    x = nd.array([2.0])
    x.attach_grad()
    with autograd.record():
        y = Cube()(x)
    y.backward()
    assert x.grad.asscalar() == 12


@pytest.mark.parametrize('returned, message', [
    (lambda dy: (dy, dy), 'Bad.backward returned 2 gradients for 1 inputs'),
    (lambda dy: (3,), 'Bad.backward must return arrays, not the int 3'),
])
def test_what_backward_must_return(returned, message):
    class Bad(autograd.Function):
        def forward(self, x):
            return x * 2

        def backward(self, dy):
            return returned(dy)

    x = nd.ones((2,))
    x.attach_grad()
    with autograd.record():
        y = Bad()(x)
    with pytest.raises(mx.MXNetError, match=message):
        y.backward()


def test_an_error_inside_backward_comes_out_as_it_is():
    class Broken(autograd.Function):
        def forward(self, x):
            return x * 2

        def backward(self, dy):
            raise KeyError('mine')

    x = nd.ones((2,))
    x.attach_grad()
    with autograd.record():
        y = Broken()(x)
    with pytest.raises(KeyError, match='mine'):
        y.backward()


def test_once_is_enough():
    function = Sigmoid()
    function(nd.zeros((1,)))
    with pytest.raises(mx.MXNetError, match='a Sigmoid can be called once'):
        function(nd.zeros((1,)))


def test_no_second_derivative():
    x = nd.ones((2,))
    x.attach_grad()
    with autograd.record():
        y = Sigmoid()(x)
        first = autograd.grad(y, x, create_graph=True)[0]
        z = (first * first).sum()
    with pytest.raises(mx.MXNetError, match='has no second derivative'):
        z.backward()


def test_missing_halves():
    class Empty(autograd.Function):
        pass

    with pytest.raises(NotImplementedError, match='Empty has no forward'):
        Empty()(nd.zeros((1,)))


# ---------------------------------------------------------------------- memory
def alive():
    """How many tensors and arrays there are."""
    kinds = (torch.Tensor, mx.nd.NDArray)
    return sum(issubclass(type(o), kinds) for o in gc.get_objects())


def steps(count, kept):
    weight, x = nd.random.uniform(shape=(8, 8)), nd.ones((4, 8))
    weight.attach_grad()
    for _ in range(count):
        with autograd.record():
            hidden = Sigmoid()(nd.dot(x, weight)).reshape((8, 4))
            loss = (hidden[1:] * hidden[1:]).mean()
        loss.backward()
        weight -= 0.01 * weight.grad
        kept.append(loss)


@pytest.mark.parametrize('count', [1000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_thousands_of_steps_hold_no_graph(count):
    """The losses are kept, as programs do; the graphs behind them are not, even without the garbage collector."""
    kept = []
    steps(10, kept)
    kept.clear()
    gc.collect()
    before = alive()
    gc.disable()
    try:
        steps(count, kept)
        assert alive() - before == 2 * len(kept)          # an array and its tensor
        assert all(loss.materialize().grad_fn is None for loss in kept)
        kept.clear()
        assert alive() == before
    finally:
        gc.enable()


def test_an_abandoned_graph_is_freed():
    x = nd.ones((4,))
    x.attach_grad()
    gc.collect()
    gc.disable()
    try:
        before = alive()
        for _ in range(100):
            with autograd.record():
                y = TwoByTwo()(x * 2, x)[0] * x
        del y
        assert alive() == before
    finally:
        gc.enable()


def test_functions_in_threads():
    failures, start = [], threading.Barrier(4)

    def work():
        start.wait()
        x = nd.array([1.0, 2.0])
        x.attach_grad()
        for _ in range(50):
            with autograd.record():
                y = TwoByTwo()(x, x + 1)[1]
            y.backward()
            if x.grad.asnumpy().tolist() != [3, 5]:
                failures.append(x.grad)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failures and not any(thread.is_alive() for thread in threads)
