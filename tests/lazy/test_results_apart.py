"""Results share no memory with each other, as upstream's do not: programs write into what they got."""
import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn

LARGE = (200, 200)          # gradients of this size take the place of their buffer's memory, if they can
SAME = {
    'itself': lambda F, h: h, 'flatten': lambda F, h: F.flatten(h),
    'expand_dims': lambda F, h: F.expand_dims(h, axis=0), 'reshape': lambda F, h: F.reshape(h, (-1,)),
    'slice_axis': lambda F, h: F.slice_axis(h, axis=0, begin=0, end=1), 'identity': lambda F, h: F.identity(h),
    'BlockGrad': lambda F, h: F.BlockGrad(h), 'T': lambda F, h: F.transpose(h),
    'cast': lambda F, h: F.cast(h, 'float32'), 'squeeze': lambda F, h: F.squeeze(h), 'add_n': lambda F, h: F.add_n(h),
    'broadcast_like': lambda F, h: F.broadcast_like(h, h), 'slice_like': lambda F, h: F.slice_like(h, h),
    'split': lambda F, h: F.split(h, 2, axis=0)[1], 'sum': lambda F, h: F.sum(F.expand_dims(h, axis=0), axis=0)}
FLAGS = ({}, {'static_alloc': True, 'static_shape': True})


class Pair(gluon.HybridBlock):
    def __init__(self, way, first):
        super().__init__()
        self.way, self.first = way, first

    def hybrid_forward(self, F, x):
        h = x * 2
        return (h, self.way(F, h)) if self.first else (self.way(F, h), h)


@pytest.mark.parametrize('flags', FLAGS, ids=('hybrid', 'static'))
@pytest.mark.parametrize('first', (True, False))
@pytest.mark.parametrize('way', SAME)
def test_outputs_of_a_block(way, first, flags):
    block = Pair(SAME[way], first)
    block.hybridize(**flags)
    for time in range(24):
        x = nd.array([[1, 2, 3], [4, 5, 6]])
        x.attach_grad()
        if time % 3 == 2:
            outputs = block(x)
        else:
            with autograd.record():
                outputs = block(x)
        if time % 3 == 1:
            autograd.backward(outputs)
        written, other = outputs if time % 2 else outputs[::-1]
        expected = other.copy()
        written[:] = 7
        np.testing.assert_array_equal(other.asnumpy(), expected.asnumpy())
        assert (written.asnumpy() == 7).all()


@pytest.mark.parametrize('training', (True, False))
@pytest.mark.parametrize('way', SAME)
def test_outputs_of_an_executor(way, training):
    x = mx.sym.Variable('x')
    h = x * 2
    executor = mx.sym.Group([h, SAME[way](mx.sym, h)]).simple_bind(mx.cpu(), x=(2, 3))
    for time in range(6):
        outputs = executor.forward(is_train=training, x=nd.array([[1, 2, 3], [4, 5, 6]]))
        expected = outputs[1].copy()
        outputs[0][:] = 7
        np.testing.assert_array_equal(outputs[1].asnumpy(), expected.asnumpy())
        if training and time % 2:
            executor.backward([nd.ones(o.shape) for o in outputs])


BETWEEN = {
    'expand_dims': lambda o: o.expand_dims(0), 'flatten': lambda o: o.flatten(),
    'astype': lambda o: o.astype('float32'),
    'squeeze': lambda o: o.squeeze(), 'slice_axis': lambda o: o.slice_axis(axis=0, begin=0, end=1),
    'nd.reshape': lambda o: nd.reshape(o, (-1,)), 'T': lambda o: o.T, 'swapaxes': lambda o: o.swapaxes(0, 1)}


@pytest.mark.parametrize('what', BETWEEN)
def test_operators_between_blocks(what):
    net = nn.Dense(4, in_units=3)
    net.initialize(mx.init.One())
    net.hybridize()
    for _ in range(5):
        with autograd.record():
            o = net(nd.ones((2, 3)))
            v = BETWEEN[what](o)
            loss = (o * o).sum() + v.sum()
        loss.backward()
        v[:] = 7
        assert (o.asnumpy() == 3).all()


def test_views_between_blocks_stay_views():
    net = nn.Dense(4, in_units=3)
    net.initialize(mx.init.One())
    net.hybridize()
    for _ in range(5):
        with autograd.record():
            o = net(nd.ones((2, 3)))
            v, w = o.reshape((-1,)), o.flatten()
            loss = (o * o).sum() + v.sum() + w.sum()
        loss.backward()
        v[:] = 7
        assert (o.asnumpy() == 7).all() and (w.asnumpy() == 3).all()


class Two(gluon.HybridBlock):
    def __init__(self, way):
        super().__init__()
        self.way = way

    def hybrid_forward(self, F, x, w):
        return self.way(F, x, w)


@pytest.mark.parametrize('way', (
    lambda F, x, w: x + w, lambda F, x, w: x - w, lambda F, x, w: F.concat(x, w, dim=0), lambda F, x, w: F.exp(x) + w,
    lambda F, x, w: [F.exp(x), F.broadcast_add(F.exp(x).sum(), w)],
    lambda F, x, w: [F.broadcast_add(F.exp(x).sum(), w), F.exp(x).reshape((-1,))],
    lambda F, x, w: x * w, lambda F, x, w: F.dot(x, w)))
@pytest.mark.parametrize('flags', FLAGS, ids=('hybrid', 'static'))
def test_large_gradients(flags, way):
    block = Two(way)
    block.hybridize(**flags)
    x, w = nd.random.uniform(shape=LARGE), nd.random.uniform(shape=LARGE)
    x.attach_grad()
    w.attach_grad()
    for time in range(5):
        with autograd.record():
            outputs = block(x, w)
        outputs = outputs if isinstance(outputs, list) else [outputs]
        outputs[0].backward()
        arrays = [*outputs, x, w, x.grad, w.grad]
        expected = [a.copy() for a in arrays]
        for number, array in enumerate(arrays):
            array[:] = expected[number] = nd.full(array.shape, 0.1 * time + number)
            for a, e in zip(arrays, expected, strict=True):
                np.testing.assert_array_equal(a.asnumpy(), e.asnumpy())


@pytest.mark.parametrize('shape', ((2, 2), LARGE))
@pytest.mark.parametrize('way', (lambda x, w: x + w, lambda x, w: x.reshape((-1,)) + w.reshape((-1,)),
                                 lambda x, w: nd.concat(x, w, dim=0), lambda x, w: x.copy() + w * 2))
@pytest.mark.parametrize('create', (False, True))
def test_gradients_of_grad(shape, way, create):
    x, w = nd.random.uniform(shape=shape), nd.random.uniform(shape=shape)
    x.attach_grad()
    w.attach_grad()
    with autograd.record():
        o = way(x, w)
    head = nd.random.uniform(shape=o.shape)
    first, second = autograd.grad(o, [x, w], head, create_graph=create)
    arrays = [first, second, head, x, w, o]
    expected = [a.copy() for a in arrays]
    for number, array in enumerate(arrays):
        array[:] = expected[number] = nd.full(array.shape, number)
        for a, e in zip(arrays, expected, strict=True):
            np.testing.assert_array_equal(a.asnumpy(), e.asnumpy())


@pytest.mark.parametrize('way', (lambda F, x: F.squeeze(F.exp(x)), lambda F, x: F.reshape(F.exp(x), (-1,)),
                                 lambda F, x: [F.squeeze(F.exp(x)), F.stack(F.exp(x), axis=0)],
                                 lambda F, x: F.expand_dims(F.exp(x), axis=0)))
@pytest.mark.parametrize('flags', FLAGS, ids=('hybrid', 'static'))
@pytest.mark.parametrize('alias', (False, True))
def test_outputs_are_no_views_of_what_backward_needs(way, flags, alias):
    block = Two(lambda F, x, w: way(F, x + w))
    block.hybridize(**flags)
    for time in range(5):
        x, w = nd.array([[1, 2]]), nd.zeros((1, 2))
        x.attach_grad()
        with autograd.record():
            outputs = block(x, w)
        outputs = outputs if isinstance(outputs, list) else [outputs]
        if time % 2:
            outputs[0].wait_to_read()
        written = outputs[0].detach() if alias else outputs[0]
        written[:] = 7
        assert (outputs[0].asnumpy() == 7).all()
        autograd.backward(outputs)
        np.testing.assert_allclose(x.grad.asnumpy(), len(outputs) * np.exp([[1, 2]]), rtol=1e-5)
