"""Gradients of dense weights that are not computed until somebody looks: they must be what they always were."""
import gc
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import mxnet as mx
from mxnet import _array, autograd, gluon

BATCH, IN = 16, 600
LARGE = (64, IN)            # the weight whose gradient may be owed


def make(**flags):
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(LARGE[0], activation='relu', in_units=IN), gluon.nn.Dense(10, in_units=LARGE[0]))
    net.initialize(mx.init.Xavier())
    if flags:
        net.hybridize(**flags)
    return net


class Loop:
    """A network that is trained, and its twin that is not hybridized."""

    def __init__(self, optimizer='sgd', numbers=None, batch=BATCH):
        self.net, self.twin = make(static_alloc=True, static_shape=True), make()
        for mine, other in zip(self.net.collect_params().values(), self.twin.collect_params().values(), strict=True):
            other.set_data(mine.data())
        self.trainers = [gluon.Trainer(net.collect_params(), optimizer, {'learning_rate': 0.1, **(numbers or {})})
                         for net in (self.net, self.twin)]
        self.loss = gluon.loss.SoftmaxCrossEntropyLoss()
        self.x, self.y = data(batch)

    def backward(self, x=None, y=None):
        x, y = self.x if x is None else x, self.y if y is None else y
        for net in (self.net, self.twin):
            with autograd.record():
                loss = self.loss(net(x), y)
            loss.backward()

    def step(self, x=None, y=None):
        self.backward(x, y)
        self.update()

    def update(self):
        for trainer in self.trainers:
            trainer.step(BATCH)

    def gradients(self):
        return [net[0].weight.grad() for net in (self.net, self.twin)]

    def owes(self):
        return self.net[0].weight.grad()._pending is not None

    def check(self, gradients=True):
        mine, others = self.net.collect_params().values(), self.twin.collect_params().values()
        for a, b in zip(mine, others, strict=True):
            np.testing.assert_allclose(a.data().asnumpy(), b.data().asnumpy(), 1e-5, 1e-6)
            if gradients:
                np.testing.assert_allclose(a.grad().asnumpy(), b.grad().asnumpy(), 1e-4, 1e-5)


def data(batch=BATCH):
    return mx.nd.random.uniform(-1, 1, (batch, IN)), mx.nd.array(np.arange(batch) % 10)


@pytest.fixture
def loop():
    found = Loop()
    for _ in range(4):
        found.step()
    assert found.owes()
    return found


def test_learns_as_without(loop):
    for _ in range(5):
        loop.step(*data())
    assert loop.owes()
    loop.check()


def test_gradient_between_backward_and_step(loop):
    loop.backward()
    assert loop.owes()
    mine, other = loop.gradients()
    assert mine.shape == LARGE and mine.dtype == np.float32 and mine._pending is not None
    np.testing.assert_allclose(mine.asnumpy(), other.asnumpy(), 1e-4, 1e-5)
    assert not loop.owes()
    loop.update()
    loop.check()


@pytest.mark.parametrize('write', [
    lambda x: x.__setitem__(slice(None), 0),
    lambda x: x.__iadd__(1),
    lambda x: x[2:5].__setitem__(slice(None), 7),
    lambda x: mx.nd.random.uniform(out=x, shape=x.shape),
    lambda x: mx.nd.zeros_like(x, out=x),
    lambda x: mx.nd.ones(x.shape).copyto(x),
    lambda x: mx.nd.sgd_update(x, mx.nd.ones(x.shape), lr=1, out=x),
    lambda x: gluon.utils.clip_global_norm([x], 0.1),
    lambda x: x.as_np_ndarray().__imul__(2),
], ids=['set', 'iadd', 'view', 'random', 'out', 'copyto', 'update', 'clip', 'numpy'])
@pytest.mark.parametrize('before_update', [True, False])
def test_what_came_in_may_be_written(loop, write, before_update):
    loop.backward()
    assert loop.owes()
    if not before_update:
        loop.update()
        assert loop.owes()
    write(loop.x)
    assert not loop.owes()          # it was computed before
    if before_update:
        loop.update()
    loop.check()
    loop.step()
    loop.check()


def test_another_array_may_be_written(loop):
    other = mx.nd.zeros((3,))
    loop.backward()
    other[:] = 1
    assert loop.owes()


def test_views_of_the_gradient_stay_true(loop):
    row = loop.net[0].weight.grad()[3]
    for _ in range(3):
        loop.backward(*data())
        np.testing.assert_allclose(row.asnumpy(), loop.gradients()[1][3].asnumpy(), 1e-4, 1e-5)
        loop.update()
    loop.check()


def test_written_gradients_count(loop):
    for _ in range(12):
        loop.backward(*data())
        for net in (loop.net, loop.twin):
            gluon.utils.clip_global_norm([p.grad() for p in net.collect_params().values()], 0.01)
        loop.update()
    loop.check()
    assert not loop.owes()


def test_who_looks_each_time_gets_gradients_at_once(loop):
    for _ in range(12):
        loop.backward()
        looked = loop.owes()
        loop.gradients()[0].wait_to_read()
        loop.gradients()[0].asnumpy()
        loop.update()
    assert not looked
    loop.check()


def test_zero_grad(loop):
    loop.backward()
    loop.net.collect_params().zero_grad()
    assert not loop.gradients()[0].asnumpy().any()


def test_other_batches_in_between(loop):
    for size in (BATCH, 5, BATCH, BATCH, 5, 5, 5, 5, BATCH):
        loop.step(*data(size))
    loop.check()


def test_rates_that_change(loop):
    for rate in (0.1, 0.2, 0.2, 0.05, 0.05):
        for trainer in loop.trainers:
            trainer.set_learning_rate(rate)
        loop.step(*data())
    assert loop.owes()
    loop.check()


@pytest.mark.parametrize('optimizer, numbers', [('sgd', {'momentum': 0.9}), ('sgd', {'wd': 0.1}), ('adam', {}),
                                                ('sgd', {'clip_gradient': 0.001}), ('nag', {'momentum': 0.9})])
def test_other_optimizers_look(optimizer, numbers):
    loop = Loop(optimizer, numbers)
    for _ in range(14):
        loop.step(*data())
    assert not loop.owes()
    for mine, other in zip(loop.net.collect_params().values(), loop.twin.collect_params().values(), strict=True):
        np.testing.assert_array_equal(mine.data().asnumpy(), other.data().asnumpy())


@pytest.mark.parametrize('flags', [{}, {'static_alloc': True}])
def test_same_bits_unless_static(flags):
    loop = Loop()
    loop.net.hybridize(**flags)
    for _ in range(6):
        loop.step(*data())
    assert not loop.owes()
    np.testing.assert_array_equal(*[net[0].weight.data().asnumpy() for net in (loop.net, loop.twin)])


def test_switched_off(monkeypatch):
    monkeypatch.setenv('MXNET_USE_FUSION', '0')
    loop = Loop()
    for _ in range(6):
        loop.step(*data())
    assert not loop.owes()
    np.testing.assert_array_equal(*[net[0].weight.data().asnumpy() for net in (loop.net, loop.twin)])


def test_sums_of_gradients():
    loop = Loop()
    for net in (loop.net, loop.twin):
        net.collect_params().setattr('grad_req', 'add')
    for _ in range(6):
        loop.step(*data())
    assert not loop.owes()
    loop.check()


def test_a_weight_that_comes_in_is_not_read_late():
    """The gradient of one weight is a product with another, which the update changes."""
    class Two(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.a = self.params.get('a', shape=(64, 600), init=mx.init.Uniform(0.1))
                self.b = self.params.get('b', shape=(600, 64), init=mx.init.Uniform(0.1))

        def hybrid_forward(self, F, x, a, b):
            return F.dot(a, b) * x

    nets = [Two(), Two()]
    for net in nets:
        net.initialize()
    nets[1].a.set_data(nets[0].a.data())
    nets[1].b.set_data(nets[0].b.data())
    nets[0].hybridize(static_alloc=True, static_shape=True)
    trainers = [gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1}) for net in nets]
    for _ in range(5):
        for net, trainer in zip(nets, trainers, strict=True):
            with autograd.record():
                loss = net(mx.nd.ones((64, 64)))
            loss.backward()
            trainer.step(1)
    for name in ('a', 'b'):
        mine, other = [getattr(net, name) for net in nets]
        np.testing.assert_allclose(mine.data().asnumpy(), other.data().asnumpy(), 1e-5, 1e-6)
        np.testing.assert_allclose(mine.grad().asnumpy(), other.grad().asnumpy(), 1e-5, 1e-6)


def test_weights_of_others_that_come_in_as_views():
    """An update writes into what a gradient is still to be computed from."""
    results = []
    for static in (True, False):
        mx.random.seed(3)
        net, other = make(**({'static_alloc': True, 'static_shape': True} if static else {})), gluon.nn.Dense(BATCH)
        other.initialize(mx.init.Uniform(0.1))
        other(mx.nd.ones((1, IN)))
        trainers = [gluon.Trainer(n.collect_params(), 'sgd', {'learning_rate': 0.1}) for n in (other, net)]
        for _ in range(6):
            with autograd.record():
                loss = net(other.weight.data().detach()).sum()
            loss.backward()
            with autograd.record():
                more = other(mx.nd.ones((1, IN))).sum()
            more.backward()
            for trainer in trainers:
                trainer.step(1)
        results.append([net[0].weight.data().asnumpy(), net[0].weight.grad().asnumpy()])
    for mine, twin in zip(*results, strict=True):
        np.testing.assert_allclose(mine, twin, 1e-4, 1e-5)


def test_outputs_that_are_factors_may_be_written():
    class Both(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.first = gluon.nn.Dense(512, activation='relu', in_units=8)
                self.second = gluon.nn.Dense(128, in_units=512)

        def hybrid_forward(self, F, x):
            features = self.first(x)
            return features, self.second(features)

    nets = [Both(), Both()]
    for net in nets:
        net.initialize(mx.init.Xavier())
    for mine, other in zip(nets[0].collect_params().values(), nets[1].collect_params().values(), strict=True):
        other.set_data(mine.data())
    nets[0].hybridize(static_alloc=True, static_shape=True)
    trainers = [gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1}) for net in nets]
    x = mx.nd.random.uniform(shape=(4, 8))
    for i in range(6):
        for net, trainer in zip(nets, trainers, strict=True):
            with autograd.record():
                features, scores = net(x)
            scores.backward()
            if i > 3:
                features[:] = 5
            trainer.step(4)
    np.testing.assert_allclose(*[net.second.weight.data().asnumpy() for net in nets], 1e-5, 1e-6)


def test_writes_that_nobody_sees_are_an_error(loop):
    loop.backward()
    loop.x.materialize().add_(1)
    with pytest.raises(mx.MXNetError, match=r'gradient of shape \(64, 600\).*MXNET_USE_FUSION=0'):
        loop.trainers[0].step(BATCH)
    with pytest.raises(mx.MXNetError, match='can no longer be computed'):
        loop.gradients()[0].asnumpy()
    loop.backward()
    assert loop.owes() and np.isfinite(loop.gradients()[0].asnumpy()).all()


def test_other_threads_may_look(loop):
    for _ in range(5):
        loop.backward(*data())
        with ThreadPoolExecutor(4) as pool:
            found = [pool.submit(loop.gradients()[0].asnumpy) for _ in range(4)]
            loop.update()
        for gradient in found:
            np.testing.assert_allclose(gradient.result(), loop.gradients()[1].asnumpy(), 1e-4, 1e-5)
    loop.check()


def test_estimator_owes():
    from mxnet.gluon.contrib.estimator import Estimator
    nets = [make(static_alloc=True, static_shape=True), make()]
    for mine, other in zip(nets[0].collect_params().values(), nets[1].collect_params().values(), strict=True):
        other.set_data(mine.data())
    x, y = data(BATCH * 6)
    for net in nets:
        trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1})
        estimator = Estimator(net, gluon.loss.SoftmaxCrossEntropyLoss(), trainer=trainer)
        batches = gluon.data.DataLoader(gluon.data.ArrayDataset(x, y), BATCH)
        estimator.fit(batches, epochs=2)
    assert nets[0][0].weight.grad()._pending is not None
    for mine, other in zip(nets[0].collect_params().values(), nets[1].collect_params().values(), strict=True):
        np.testing.assert_allclose(mine.data().asnumpy(), other.data().asnumpy(), 1e-4, 1e-5)
        np.testing.assert_allclose(mine.grad().asnumpy(), other.grad().asnumpy(), 1e-4, 1e-5)


def test_nothing_stays_behind():
    loop = Loop()
    for _ in range(5):
        loop.step()
    assert loop.owes()
    debt, x = weakref.ref(loop.net[0].weight.grad()._pending.work), weakref.ref(loop.x.materialize())
    key = id(debt())
    assert _array.readers[key]() is debt()
    loop.net[0].weight.grad().wait_to_read()
    assert key not in _array.readers
    loop.step()
    assert key in _array.readers
    del loop
    gc.collect()
    assert debt() is None and x() is None and key not in _array.readers
