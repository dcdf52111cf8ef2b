"""Gradients on a GPU, where torch goes back in a thread of its own."""
import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, nd

pytestmark = pytest.mark.gpu


@pytest.fixture
def x():
    array = nd.array([1, 2, 3], ctx=mx.gpu(0))
    array.attach_grad()
    return array


def test_gradients_go_to_the_same_memory(x):
    memory = x.grad.materialize().data_ptr()
    for _ in range(2):
        with autograd.record():
            y = (x * x).sum()
        y.backward()
    assert x.grad.materialize().data_ptr() == memory and x.grad.context == mx.gpu(0)
    assert x.grad.asnumpy().tolist() == [2, 4, 6]


@pytest.mark.parametrize('layer', ['LSTM', 'GRU', 'RNN'])
@pytest.mark.parametrize('flags', [{}, {'static_alloc': True, 'static_shape': True}], ids=['hybrid', 'static'])
def test_backward_twice_through_recurrent_layers(layer, flags):
    """cuDNN overwrites what its gradient reads; a second `backward` gives the same gradient nevertheless."""
    def gradients(hybrid):
        mx.random.seed(1)
        net = getattr(mx.gluon.rnn, layer)(4, input_size=3)
        net.initialize(mx.init.Uniform(1), ctx=mx.gpu(0))
        if hybrid:
            net.hybridize(**flags)
        data = nd.array(np.random.RandomState(2).rand(5, 2, 3), ctx=mx.gpu(0))
        found = []
        for _ in range(4):
            with autograd.record():
                out = net(data) * 2
                kept = out.sum()
            for retain in (True, True, False):
                kept.backward(retain_graph=retain)
                found.append([p.grad(mx.gpu(0)).asnumpy() for p in net.collect_params().values()])
        return found

    wanted = gradients(False)
    for mine in gradients(True):
        for a, b in zip(mine, wanted[0], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_across_devices(x):
    weight = nd.array([5, 6, 7])
    weight.attach_grad()
    with autograd.record():
        y = (x.as_in_context(mx.cpu()) * weight).as_in_context(mx.gpu(0)) * x
    y.backward()
    assert x.grad.asnumpy().tolist() == [10, 24, 42] and weight.grad.asnumpy().tolist() == [1, 4, 9]
    assert weight.grad.context == mx.cpu()


def test_functions_find_the_switches_of_the_thread_that_recorded(x):
    seen = []

    class Look(autograd.Function):
        def forward(self, x):
            return x * 2

        def backward(self, dy):
            seen.append((autograd.is_recording(), autograd.is_training(), mx.util.is_np_array(), mx.current_context()))
            assert nd.zeros((1,)).context == mx.gpu(0)
            return dy * 2

    with mx.gpu(0), mx.util.np_array(True), autograd.record():
        y = Look()(x)
    y.backward()
    assert seen == [(False, True, True, mx.gpu(0))] and x.grad.asnumpy().tolist() == [2, 2, 2]


def test_errors_come_out_of_the_thread(x):
    class Broken(autograd.Function):
        def forward(self, x):
            return x * 2

        def backward(self, dy):
            raise KeyError('mine')

    with autograd.record():
        y = Broken()(x)
    with pytest.raises(KeyError, match='mine'):
        y.backward()


def test_custom_operators(x):
    class Square(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            assert in_data[0].context == mx.current_context() == mx.gpu(0)
            self.assign(out_data[0], req[0], in_data[0].asnumpy() ** 2)

        def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
            assert mx.current_context() == mx.gpu(0)
            self.assign(in_grad[0], req[0], 2 * in_data[0] * out_grad[0])

    @mx.operator.register('t_gpu_square')
    class SquareProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx, in_shapes, in_dtypes):
            assert ctx == mx.gpu(0)
            return Square()

    with autograd.record():
        y = nd.Custom(x, op_type='t_gpu_square')
    y.backward()
    assert y.asnumpy().tolist() == [1, 4, 9] and x.grad.asnumpy().tolist() == [2, 4, 6]
    executor = mx.sym.Custom(mx.sym.var('x'), op_type='t_gpu_square').bind(mx.gpu(0), {'x': x}, {'x': nd.zeros_like(x)})
    for _ in range(3):
        executor.forward(is_train=True)
        executor.backward(nd.ones((3,), ctx=mx.gpu(0)))
    assert executor.grad_dict['x'].asnumpy().tolist() == [2, 4, 6]


def test_the_first_nan_is_named():
    x = nd.array([0, 4], ctx=mx.gpu(0))
    x.attach_grad()
    with autograd.detect_anomaly():
        with autograd.record():
            y = (nd.sqrt(x) * x).sum()
        with pytest.raises(mx.MXNetError, match=r'the gradient of operator sqrt\(data=float32\(2,\)@gpu\(0\)\)'):
            y.backward()


def test_second_derivatives_of_a_convolution():
    image, kernel = (nd.array(np.random.rand(*s), ctx=mx.gpu(0)) for s in ((2, 3, 6, 6), (4, 3, 3, 3)))
    for array in (image, kernel):
        array.attach_grad()
    found = []
    for ctx in (mx.gpu(0), mx.cpu()):
        a, b = image.copyto(ctx), kernel.copyto(ctx)
        a.attach_grad()
        b.attach_grad()
        with autograd.record():
            y = nd.tanh(nd.Convolution(a, b, no_bias=True, kernel=(3, 3), num_filter=4) * 0.1)
            slope = autograd.grad(y, a, create_graph=True)[0]
            penalty = (slope * slope).sum()
        penalty.backward()
        found.append(b.grad.asnumpy())
    np.testing.assert_allclose(*found, rtol=1e-2, atol=1e-3)


def test_the_symbol_of_a_computation_on_two_devices():
    x = nd.ones((2, 3))
    x.attach_grad()
    with autograd.record():
        y = (x.as_in_context(mx.gpu()) * 2)[1:].as_in_context(mx.cpu()) + 1
    assert autograd.get_symbol(y).eval(var0=x)[0].asnumpy().tolist() == y.asnumpy().tolist()


@pytest.mark.parametrize('dtype, channels', [('float16', 16), ('float32', 1200)])
@pytest.mark.parametrize('flags', [None, {}, {'static_alloc': True, 'static_shape': True}], ids=str)
def test_a_picture_that_is_written_in_a_pause(dtype, channels, flags):
    """`backward` computes with the new values, also where plans keep channels last, which copies pictures."""
    net = mx.gluon.nn.Conv2D(channels, 1, in_channels=channels)
    net.initialize(mx.init.Xavier(), ctx=mx.gpu(0))
    net.cast(dtype)
    if flags is not None:
        net.hybridize(**flags)
    for _ in range(6):
        x = nd.array(np.random.RandomState(1).uniform(-1, 1, (2, channels, 3, 3)), ctx=mx.gpu(0), dtype=dtype)
        with autograd.record():
            loss = net(x).sum()
            with autograd.pause():
                x[:] = x * 0.5
        expected = x.asnumpy().astype('float64').sum((0, 2, 3))
        loss.backward()
        found = net.weight.grad().asnumpy().reshape(channels, channels)
        np.testing.assert_allclose(found[0], expected, rtol=2e-2, atol=2e-2)
        np.testing.assert_allclose(found[-1], expected, rtol=2e-2, atol=2e-2)
