"""Gradients of arrays that are used only by their shape, as an index or a condition: zeros, as in MXNet 1.9.1.

The assumption that was wrong: what torch's engine does not come to has no gradient to be written, so that the one of an
earlier pass stayed.  1.9.1 writes the gradient of every variable that the heads were recorded from.
"""
import numpy
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd


def variable(*shape, dtype='float32', req='write'):
    array = nd.array(numpy.arange(numpy.prod(shape)).reshape(shape), dtype=dtype)
    array.attach_grad(req)
    array.grad[:] = 7
    return array


# what is recorded of x (3, 3), which has a gradient of its own, and of an array of this shape
CALLS = {
    'where': (lambda x, c: nd.where(c, x, x * 2), (3, 3)),
    'where of rows': (lambda x, c: nd.where(c, x, x * 2), (3,)),
    'where of constants': (lambda x, c: x * nd.where(c, nd.ones((3, 3)), nd.zeros((3, 3))), (3, 3)),
    'take': (lambda x, c: nd.take(x, c), (2,)),
    'take from a constant': (lambda x, c: x + nd.take(nd.ones((4, 3)), c), (3,)),
    'method take': (lambda x, c: x.take(c), (2,)),
    'pick': (lambda x, c: nd.pick(x, c), (3,)),
    'gather_nd': (lambda x, c: nd.gather_nd(x, c), (1, 2)),
    'scatter_nd': (lambda x, c: nd.scatter_nd(x[0], c, shape=(4,)), (1, 3)),
    'one_hot': (lambda x, c: x * nd.one_hot(c, 3), (3,)),
    'argsort': (lambda x, c: x * nd.argsort(c), (3, 3)),
    'topk': (lambda x, c: x[:, 0:1] * nd.topk(c), (3, 3)),
    'topk, both': (lambda x, c: x[:, 0:1] * nd.topk(c, ret_typ='both')[1], (3, 3)),
    'argmax': (lambda x, c: x[0] * nd.argmax(c, axis=1), (3, 3)),
    'reshape_like': (lambda x, c: nd.reshape_like(x.reshape((-1,)), c), (3, 3)),
    'broadcast_like': (lambda x, c: nd.broadcast_like(x[0:1], c), (3, 3)),
    'slice_like': (lambda x, c: nd.slice_like(x, c), (2, 2)),
    'arange_like': (lambda x, c: x * nd.contrib.arange_like(c, axis=0), (3,)),
    'zeros_like': (lambda x, c: x * nd.zeros_like(c), (3, 3)),
    'comparison': (lambda x, c: x * (c > 1), (3, 3)),
    'comparison of what was computed': (lambda x, c: nd.where(c * 2 > 1, x, x), (3, 3)),
    'an index': (lambda x, c: x[c], (2,)),
    'an index of a constant': (lambda x, c: x + nd.ones((4, 3))[c], (3,)),
    'two indices': (lambda x, c: x[c, nd.array([0, 1])], (2,)),
    'BlockGrad': (lambda x, c: x * nd.BlockGrad(c), (3, 3)),
    'softmax with lengths': (lambda x, c: nd.softmax(x, c.astype('int32'), use_length=True), (3,)),
    'rois': (lambda x, c: nd.ROIPooling(x.reshape((1, 1, 3, 3)), c, pooled_size=(1, 1), spatial_scale=1), (1, 5)),
    'lengths': (lambda x, c: nd.SequenceMask(x, c, use_sequence_length=True), (3,)),
    'stored': (lambda x, c: stored(x) * nd.sign(nd.BlockGrad(c)), (3, 3)),
}


def stored(x):
    array = nd.zeros(x.shape)
    array[:] = x
    return array


@pytest.mark.parametrize('name', CALLS)
@pytest.mark.parametrize('deferred', (False, True))
def test_zeros_are_written(name, deferred):
    call, shape = CALLS[name]
    net = gluon.nn.HybridLambda(lambda F, x: x * 2)
    if deferred:
        net.hybridize()
    for _ in range(3):
        x, c = variable(3, 3), variable(*shape)
        with autograd.record():
            loss = call(net(x), c).sum()
        loss.backward()
        assert c.grad.asnumpy().tolist() == numpy.zeros(shape).tolist()
        assert not (x.grad.asnumpy() == 7).any()


def test_integers_get_zeros():
    x, index = variable(3), variable(2, dtype='int32')
    with autograd.record():
        loss = nd.take(x, index).sum()
    loss.backward()
    assert x.grad.asnumpy().tolist() == [1, 1, 0]
    assert index.grad.asnumpy().tolist() == [0, 0]


def test_add_and_null_keep_what_is_there():
    x, c, d = variable(3, 3), variable(3, 3, req='add'), nd.ones((3, 3))
    d.attach_grad('null')
    with autograd.record():
        loss = nd.where(c, x, x).sum() + nd.where(d, x, x).sum()
    loss.backward()
    assert (c.grad.asnumpy() == 7).all()


def test_each_pass_writes_them():
    x, c = variable(3, 3), variable(3, 3)
    with autograd.record():
        loss = nd.where(c, x, x).sum()
    loss.backward(retain_graph=True)
    c.grad[:] = 5
    loss.backward()
    assert (c.grad.asnumpy() == 0).all()


def test_what_the_heads_do_not_depend_on_is_left_alone():
    x, y, c = variable(3, 3), variable(3, 3), variable(3, 3)
    with autograd.record():
        other, loss = nd.where(c, x, x).sum(), (y * 2).sum() + (x.detach() * y).sum()
    loss.backward()
    assert (c.grad.asnumpy() == 7).all()
    assert (x.grad.asnumpy() == 7).all()
    other.backward()
    assert (c.grad.asnumpy() == 0).all()


def test_the_head_itself_may_have_no_other_variable():
    index = variable(3)
    with autograd.record():
        codes = nd.one_hot(index, 4)
    codes.backward()
    assert (index.grad.asnumpy() == 0).all()


def test_grad_gives_zeros():
    x, c, other = variable(3, 3), variable(3, 3), variable(3, 3)
    with autograd.record():
        loss = nd.where(c, x, x).sum()
    assert [g.asnumpy().tolist() for g in autograd.grad(loss, [c, x])] == [numpy.zeros((3, 3)).tolist(),
                                                                          numpy.ones((3, 3)).tolist()]
    assert (c.grad.asnumpy() == 7).all()
    with autograd.record():
        loss = nd.where(c, x, x).sum()
    with pytest.raises(mx.MXNetError, match='do not depend on it'):
        autograd.grad(loss, [other])


def test_a_pass_that_fails_writes_nothing():
    class Broken(autograd.Function):
        def forward(self, x):
            return x * 2

        def backward(self, dy):
            raise ValueError('broken')

    x, c = variable(3, 3), variable(3, 3)
    with autograd.record():
        loss = nd.where(c, Broken()(x), x).sum()
    with pytest.raises(ValueError, match='broken'):
        loss.backward()
    assert (c.grad.asnumpy() == 7).all()


def test_trainer_takes_the_zeros_for_a_gradient():
    weight = gluon.Parameter('w', shape=(3,))
    weight.initialize(mx.init.One())
    trainer = gluon.Trainer([weight], 'sgd', {'learning_rate': 1.})
    x = nd.array([1, 2, 3])
    with autograd.record():
        loss = (weight.data() * x).sum()
    loss.backward()
    trainer.step(1)
    x.attach_grad()
    with autograd.record():
        loss = nd.broadcast_like(x.sum(), weight.data()).sum()
    loss.backward()
    trainer.step(1)
    assert weight.data().asnumpy().tolist() == [0, -1, -2]


@pytest.mark.parametrize('hybridize', (False, True))
def test_an_output_that_depends_on_an_index_only(hybridize):
    net = gluon.nn.HybridLambda(lambda F, x: F.take(F.BlockGrad(x) * 0, x * 2))
    if hybridize:
        net.hybridize()
    for _ in range(3):
        index = variable(3)
        with autograd.record():
            out = net(index)
        out.backward()
        assert (index.grad.asnumpy() == 0).all()


def test_grad_req_is_the_one_of_the_call():
    net = gluon.nn.Dense(2, in_units=3)
    net.initialize()
    net.hybridize()
    for _ in range(3):
        net.collect_params().setattr('grad_req', 'null')
        x = variable(3, 3)
        with autograd.record():
            loss = net(x).sum()
        net.collect_params().setattr('grad_req', 'write')
        net.weight.grad()[:] = 7
        loss.backward()
        assert (net.weight.grad().asnumpy() == 7).all()


NUMPY = {
    'where': lambda x, c: mx.np.where(c > 3, x, x * 2),
    'a product with truths': lambda x, c: (c > 3) * x,
    'a function': lambda x, c: mx.np.where(mx.np.greater(c, 3), x, x * 2),
    'two arrays': lambda x, c: (c > x) * x,
    'isnan': lambda x, c: mx.np.where(mx.np.isnan(c), x, x * 2),
    'a mask': lambda x, c: x[c > 3],
    'argmax': lambda x, c: mx.npx.pick(x, mx.np.argmax(c, axis=1)),
    'a condition': lambda x, c: mx.np.where(c, x, x * 2),
    'take': lambda x, c: mx.np.take(x, c, mode='clip'),
}


@pytest.fixture
def np_mode():
    mx.npx.set_np()
    yield
    mx.npx.reset_np()


@pytest.mark.parametrize('name', NUMPY)
def test_np_arrays(name, np_mode):
    x, c = mx.np.arange(9).reshape(3, 3), mx.np.arange(9).reshape(3, 3)
    for array in (x, c):
        array.attach_grad()
        array.grad[:] = 7
    with autograd.record():
        loss = NUMPY[name](x, c).sum()
    loss.backward()
    assert (c.grad.asnumpy() == 0).all()
    assert not (x.grad.asnumpy() == 7).any()


@pytest.mark.parametrize('hybridize', (False, True))
def test_arrays_with_grad_req_null_are_constants(hybridize):
    """Also for calls with several results: a network that is frozen altogether has nothing to differentiate."""
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(2, in_units=2), gluon.nn.BatchNorm(in_channels=2))
    net.initialize()
    if hybridize:
        net.hybridize()
    net.collect_params().reset_ctx(mx.cpu())            # copies of variables, made without recording
    net.collect_params().setattr('grad_req', 'null')
    for _ in range(3):
        with autograd.record():
            loss = net(nd.ones((3, 2))).sum()
        with pytest.raises(mx.MXNetError, match='was not computed from'):
            loss.backward()
    assert (net[1].running_mean.data().asnumpy() == 0).all()


# computed of x (3,) and c (3,), where truths and integers are computed from c, and others from these
OF_TRUTHS = {
    'and': lambda x, c: x * ((c > 0) & (c < 1)),
    'or, cast': lambda x, c: x * ((c > 0) | (c < 1)).astype('float32'),
    'not': lambda x, c: x * ~(c > 0),
    'product of truths': lambda x, c: x * ((c > 0) * (c < 1)),
    'sum of truths': lambda x, c: x * (c > 0).sum(),
    'largest truth': lambda x, c: x * mx.np.maximum(c > 0, c < 1),
    'positions': lambda x, c: x[mx.np.argsort(c)],
    'position of a position': lambda x, c: x[mx.np.argsort(mx.np.argsort(c))],
    'mask': lambda x, c: x[(c > 0) & (c < 5)],
    'codes': lambda x, c: x * mx.npx.one_hot(mx.np.argmax(c), 3),
    'choice of numbers': lambda x, c: x * mx.np.where((c > 0) & (c < 1), 1., 2.),
    'isnan': lambda x, c: x * (mx.np.isnan(c) + 1),
}


@pytest.mark.parametrize('name', OF_TRUTHS)
@pytest.mark.parametrize('alone', (False, True))
def test_what_is_computed_from_truths(name, alone):
    """Of `alone`, nothing in the heads has a gradient: the call is made of constants and `c`."""
    x, c = mx.np.array([1., 2., 3.]), mx.np.array([.5, 1.5, -.5])
    for array in (x, c):
        array.attach_grad()
        array.grad[:] = 7
    with autograd.record():
        y = OF_TRUTHS[name](mx.np.ones(3) if alone else x, c)
    y.backward()
    assert c.grad.asnumpy().tolist() == [0, 0, 0]
    assert (x.grad.asnumpy() == 7).all() == alone


@pytest.mark.parametrize('head', (
    'c > 0', '(c > 0) & (c < 1)', 'mx.np.argmax(c)', '(c > 0).sum()', 'mx.np.isnan(c) * 1.0', 'mx.np.nonzero(c)[0]',
    '(c > 0).astype("float32")', 'mx.np.where(c > 0, 1., 0.)'))
def test_heads_without_a_gradient(head):
    c = mx.np.array([.5, 1.5, -.5])
    c.attach_grad()
    for _ in range(2):
        c.grad[:] = 7
        with autograd.record():
            y = eval(head, {'c': c, 'mx': mx})
        y.backward()
        assert c.grad.asnumpy().tolist() == [0, 0, 0]
    with autograd.record():
        y = eval(head, {'c': c, 'mx': mx})
    assert autograd.grad(y, [c])[0].asnumpy().tolist() == [0, 0, 0]
    with pytest.raises(mx.MXNetError, match='was not computed from'):
        mx.np.ones(3).backward()


@pytest.mark.parametrize('labels', (
    lambda c: mx.np.argmax(c.reshape(2, 3), axis=1), lambda c: ((c > 0) & (c < 2))[:2].astype('int32'),
    lambda c: (c * 1).astype('int32')[0:2], lambda c: mx.np.argsort(c[:3])[1:]))
@pytest.mark.parametrize('hybridize', (False, True))
def test_labels_that_were_computed(labels, hybridize):
    """A call that reads integers with a history is not deferred: a plan would not know their variables."""
    net, loss_of = gluon.nn.Dense(3, in_units=3), gluon.loss.SoftmaxCrossEntropyLoss()
    net.initialize()
    if hybridize:
        net.hybridize()
        loss_of.hybridize()
    for step in range(8):
        x, c = mx.np.ones((2, 3)), mx.np.array([.5, 1.5, -.5, 2, 1, 0])
        c.attach_grad()
        c.grad[:] = 7
        with autograd.record():
            loss = loss_of(net(x), labels(c) if step % 4 else mx.np.array([0, 1], dtype='int32'))
        loss.backward()
        assert c.grad.asnumpy().tolist() == [0 if step % 4 else 7] * 6


class Returning(gluon.HybridBlock):
    def __init__(self, call):
        super().__init__()
        self._call = call

    def hybrid_forward(self, F, c, w):
        return self._call(F, c, w)


# what a block returns; the head; the gradients of c and w (7: not written), plain and hybridized, as in 1.9.1
RETURNED = {
    'position': (lambda F, c, w: [F.np.argmax(c * w)], 0, ([0] * 3, [0] * 3), ([0] * 3, [0] * 3)),
    'truths': (lambda F, c, w: [c * w > 1], 0, ([0] * 3, [0] * 3), ([0] * 3, [0] * 3)),
    'first of two': (lambda F, c, w: [w * 2, F.np.argmax(c * 1)], 0, ([7] * 3, [2] * 3), ([0] * 3, [2] * 3)),
    'second of two': (lambda F, c, w: [w * 2, F.np.argmax(c * 1)], 1, ([0] * 3, [7] * 3), ([0] * 3, [0] * 3)),
}


@pytest.mark.parametrize('name', RETURNED)
@pytest.mark.parametrize('flags', (None, {}, {'static_alloc': True, 'static_shape': True}))
def test_truths_and_integers_that_blocks_return(name, flags):
    """A deferred block runs when `backward` is called, outside of `record()`; what it computes was recorded."""
    call, number, plain, hybridized = RETURNED[name]
    net = Returning(call)
    if flags is not None:
        net.hybridize(**flags)
    for _ in range(4):
        c, w = mx.np.array([1, 2, 3.]), mx.np.array([1, 2, .5])
        for array in (c, w):
            array.attach_grad()
            array.grad[:] = 7
        with autograd.record():
            outputs = net(c, w)
        (outputs[number] if isinstance(outputs, list) else outputs).backward()
        assert (c.grad.tolist(), w.grad.tolist()) == (plain if flags is None else hybridized)
