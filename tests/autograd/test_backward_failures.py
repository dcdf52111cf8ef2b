"""A backward pass that fails writes nothing: no gradient, no moving average, and no gradient counts as new."""
import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn

MODES = {'plain': None, 'hybrid': {}, 'static': {'static_alloc': True, 'static_shape': True}}


@pytest.fixture(autouse=True, params=[mx.cpu(), pytest.param(mx.gpu(), marks=pytest.mark.gpu)], ids=str)
def device(request):
    with request.param:
        yield request.param


class Refuse(autograd.Function):
    """The identity, whose gradient raises the error of `Refuse.error`, if there is one."""

    error = None

    def forward(self, x):
        return x

    def backward(self, gradient):
        if Refuse.error is not None:
            raise Refuse.error
        return gradient


class Half(nn.HybridSequential):
    """Two networks with a `Function` between them: gradients of the second one come before the Function fails."""

    def __init__(self, mode):
        super().__init__()
        self.before, self.after = nn.HybridSequential(), nn.HybridSequential()
        self.before.add(nn.Dense(4, in_units=3), nn.BatchNorm(in_channels=4))
        self.after.add(nn.BatchNorm(in_channels=4), nn.Dense(2, in_units=4))
        self.initialize(mx.init.Xavier(rnd_type='gaussian'))
        if mode is not None:
            self.before.hybridize(**mode)
            self.after.hybridize(**mode)

    def forward(self, x):
        return self.after(Refuse()(self.before(x)))


def written(net):
    """The parameters that a backward pass writes: averages on a CPU only, see docs/en/differences.md."""
    return [p for p in net.collect_params().values()
            if p.grad_req != 'null' or p.list_ctx()[0].device_type == 'cpu']


def seen(net):
    """Everything that a backward pass writes."""
    return [p.data().asnumpy() if p.grad_req == 'null' else p.grad().asnumpy() for p in written(net)]


def fail_in_function(net, x):
    Refuse.error = ValueError('this gradient is refused')
    try:
        with autograd.record():
            loss = (net(x) ** 2).sum()
        with pytest.raises(Exception, match='is refused'):
            loss.backward()
    finally:
        Refuse.error = None


def fail_interrupted(net, x):
    Refuse.error = KeyboardInterrupt()
    try:
        with autograd.record():
            loss = (net(x) ** 2).sum()
        with pytest.raises(KeyboardInterrupt):
            loss.backward()
    finally:
        Refuse.error = None


def fail_overwritten(net, x):
    with autograd.record():
        hidden = net.before(x)
        hidden.asnumpy()
        loss = (net.after(hidden) ** 2).sum()
        loss.asnumpy()
    x += 1
    try:
        with pytest.raises(mx.MXNetError):
            loss.backward()
    finally:
        x -= 1


@pytest.mark.parametrize('mode', MODES)
@pytest.mark.parametrize('req', ['write', 'add'])
@pytest.mark.parametrize('fail', [fail_in_function, fail_interrupted, fail_overwritten])
def test_nothing_is_written(mode, req, fail):
    mx.random.seed(3)
    net = Half(MODES[mode])
    net.collect_params('.*(weight|bias|gamma|beta)').setattr('grad_req', req)
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1})
    x = nd.array(np.random.RandomState(0).rand(5, 3))

    def step():
        with autograd.record():
            loss = (net(x) ** 2).sum()
        loss.backward()
        trainer.step(5)

    for warm in range(4):
        step()
        before = seen(net)
        fail(net, x)
        for a, b in zip(before, seen(net), strict=True):
            np.testing.assert_array_equal(a, b, err_msg=f'after {warm} steps')
        with pytest.raises(UserWarning, match='has not been written by backward'):
            trainer.step(5)
    # training goes on as in a program in which nothing failed
    mx.random.seed(3)
    twin = Half(None)
    twin.collect_params('.*(weight|bias|gamma|beta)').setattr('grad_req', req)
    again = gluon.Trainer(twin.collect_params(), 'sgd', {'learning_rate': 0.1})
    for _ in range(4):
        with autograd.record():
            loss = (twin(x) ** 2).sum()
        loss.backward()
        again.step(5)
    for p, q in zip(written(net), written(twin), strict=True):
        np.testing.assert_allclose(p.data().asnumpy(), q.data().asnumpy(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize('mode', MODES)
def test_a_graph_that_was_given_up(mode):
    mx.random.seed(3)
    net = Half(MODES[mode])
    x = nd.array(np.random.RandomState(0).rand(5, 3))
    for _ in range(4):
        with autograd.record():
            hidden = net.before(x)
            first, second = (hidden ** 2).sum(), (net.after(hidden) ** 2).sum()
        first.backward()
        before = seen(net)
        with pytest.raises(mx.MXNetError, match='second time'):
            second.backward()
        for a, b in zip(before, seen(net), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize('mode', MODES)
def test_a_backward_inside_of_another_that_fails(mode):
    """A backward pass that a Function runs in its own backward is complete, whatever becomes of the outer one."""
    inner = nn.Dense(1, in_units=2)
    inner.initialize(mx.init.One())
    outer = nn.Dense(2, in_units=2)
    outer.initialize(mx.init.One())
    if MODES[mode] is not None:
        inner.hybridize(**MODES[mode])
        outer.hybridize(**MODES[mode])

    class Nested(autograd.Function):
        def forward(self, x):
            return x

        def backward(self, gradient):
            with autograd.record():
                loss = inner(nd.array([[1, 2]])).sum()
            loss.backward()
            raise ValueError('after the inner one')

    for _ in range(3):
        inner.weight.grad()[:] = 0
        outer.weight.grad()[:] = 7
        with autograd.record():
            loss = Nested()(outer(nd.array([[1, 2]]))).sum()
        with pytest.raises(Exception, match='after the inner one'):
            loss.backward()
        assert inner.weight.grad().asnumpy().tolist() == [[1, 2]]
        assert outer.weight.grad().asnumpy().tolist() == [[7, 7], [7, 7]]


def test_gradients_of_gradients_reach_the_same_parameters():
    """A parameter on which a gradient does not depend gets a zero, hybridized or not."""
    found = {}
    for mode in MODES:
        mx.random.seed(3)
        net = nn.HybridSequential()
        net.add(nn.Dense(4, in_units=4, use_bias=False), nn.LayerNorm(in_channels=4), nn.Dense(3, in_units=4))
        net.initialize(mx.init.Xavier())
        if MODES[mode] is not None:
            net.hybridize(**MODES[mode])
        z = nd.array(np.random.RandomState(1).rand(4, 4))
        with autograd.record():
            loss = (net(z) ** 2).sum()
        loss.backward()
        z.attach_grad()
        with autograd.record():
            out = net(z)
            slope = autograd.grad(out, z, create_graph=True, retain_graph=True)[0]
        slope.backward()
        found[mode] = [p.grad().asnumpy() for p in net.collect_params().values()]
    assert not found['plain'][2].any()          # beta of LayerNorm
    for mode in ('hybrid', 'static'):
        for a, b in zip(found['plain'], found[mode], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


class OfTwo(gluon.HybridBlock):
    """A function of the input and one parameter."""

    def __init__(self, function):
        super().__init__()
        self.function = function
        self.w = self.params.get('w', shape=(3,), init=mx.init.One())

    def hybrid_forward(self, F, x, w):
        return self.function(F, x, w)


READ_AGAIN = {'maximum': lambda F, x, w: F.maximum(x, w), 'prod': lambda F, x, w: F.prod(x * 1) * w.prod(),
              'output': lambda F, x, w: F.erfinv(x * w * .1), 'two outputs': lambda F, x, w: (F.maximum(x, w), x * w)}


@pytest.mark.parametrize('pause', [False, True], ids=['after record', 'in a pause'])
@pytest.mark.parametrize('mode', MODES)
@pytest.mark.parametrize('function', READ_AGAIN)
def test_what_backward_reads_again_is_watched_from_the_first_call_on(function, mode, pause):
    net = OfTwo(READ_AGAIN[function])
    net.initialize()
    if MODES[mode] is not None:
        net.hybridize(**MODES[mode])
    for _ in range(3):
        x = nd.array([1., 2, 3])
        x.attach_grad()
        with autograd.record():
            found = net(x)
            first = found[0] if isinstance(found, tuple | list) else found
            written = first if function == 'output' else net.w.data()
            if pause:
                with autograd.pause():
                    written[:] = .5
            loss = (first * 2).sum()
        if not pause:
            written[:] = .5
        with pytest.raises(mx.MXNetError, match='written in place after it was recorded'):
            loss.backward()
        assert not x.grad.asnumpy().any()


@pytest.mark.parametrize('mode', MODES)
@pytest.mark.parametrize('two_dtypes', [False, True])
def test_a_parameter_in_np_mode_is_read_again_only_if_it_is_converted(mode, two_dtypes):
    with mx.util.np_shape(True), mx.util.np_array(True):
        net = OfTwo(lambda F, x, w: x * w)
        net.initialize()
        if MODES[mode] is not None:
            net.hybridize(**MODES[mode])
        for _ in range(3):
            net.w.set_data(mx.np.array([1., 2, 3]))
            x = mx.np.array([1., 1, 1], dtype='float64' if two_dtypes else 'float32')
            x.attach_grad()
            with autograd.record():
                found = net(x)
                with autograd.pause():
                    net.w.data()[:] = net.w.data() * .5
                loss = (found * found).sum()
            if two_dtypes:
                with pytest.raises(mx.MXNetError, match='written in place after it was recorded'):
                    loss.backward()
            else:
                loss.backward()
                np.testing.assert_allclose(x.grad.asnumpy(), [1, 4, 9])         # 1.9.1: 2 * (x * w) * (w / 2)
                np.testing.assert_allclose(net.w.grad().asnumpy(), [2, 4, 6])
