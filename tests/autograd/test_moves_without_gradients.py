"""BatchNorm behind inputs that have no gradient (indices, conditions, shapes): `backward` moves its averages."""
import numpy
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn


def index(F, b, low=0, high=3):
    return F.clip(F.floor(F.abs(b)), low, high)


def column(F, b):
    return F.slice_axis(b, axis=1, begin=0, end=1).reshape((-1,))


def row(F, b):
    return F.slice_axis(b, axis=0, begin=0, end=1)


def spread(F, w, *shape):
    return F.broadcast_mul(F.ones(shape), F.sum(w))


# functions of b, the output of a BatchNorm (4 x 3), and a parameter w (4 x 3): MXNet 1.9.1 moves the averages for each
READERS = {
    'Embedding': lambda F, b, w: F.Embedding(index(F, b), w, input_dim=4, output_dim=3),
    'take': lambda F, b, w: F.take(w, index(F, b)),
    'pick': lambda F, b, w: F.pick(F.dot(F.ones((4, 4)), w), index(F, column(F, b), 0, 2)),
    'where': lambda F, b, w: F.where(b > 0, F.broadcast_add(F.zeros_like(b), F.sum(w)), F.zeros_like(b)),
    'gather_nd': lambda F, b, w: F.gather_nd(w, index(F, F.slice_axis(b, axis=0, begin=0, end=2), 0, 2)),
    'cast': lambda F, b, w: F.take(w, F.cast(index(F, b), 'int32')),
    'argmax': lambda F, b, w: F.take(w, F.argmax(b, axis=1)),
    'one_hot': lambda F, b, w: F.dot(F.one_hot(F.argmax(b, axis=1), 4), w),
    'topk': lambda F, b, w: F.take(w, F.topk(b, k=2)),
    'comparison': lambda F, b, w: F.broadcast_mul(b > 0, F.sum(w)),
    'SequenceMask': lambda F, b, w: F.SequenceMask(spread(F, w, 4, 3, 2), index(F, row(F, b).reshape((-1,)), 1),
                                                   use_sequence_length=True),
    'SequenceLast': lambda F, b, w: F.SequenceLast(spread(F, w, 4, 3, 2), index(F, row(F, b).reshape((-1,)), 1),
                                                   use_sequence_length=True),
    'softmax_cross_entropy': lambda F, b, w: F.softmax_cross_entropy(F.dot(F.ones((4, 4)), w), F.argmax(b, axis=1)),
    'SoftmaxOutput': lambda F, b, w: F.SoftmaxOutput(F.dot(F.ones((4, 4)), w), F.argmax(b, axis=1)),
    'LinearRegressionOutput': lambda F, b, w: F.LinearRegressionOutput(F.dot(F.ones((4, 4)), w), b),
    'CTCLoss': lambda F, b, w: F.CTCLoss(spread(F, w, 6, 4, 5), index(F, b, 1)),
    'ROIPooling': lambda F, b, w: F.ROIPooling(
        spread(F, w, 1, 1, 6, 6), F.concat(F.zeros((4, 3)), index(F, F.slice_axis(b, axis=1, begin=0, end=2), 2, 5),
                                           dim=1), pooled_size=(2, 2), spatial_scale=1.0),
    'boolean_mask': lambda F, b, w: F.contrib.boolean_mask(w, column(F, b) > 0),
    'index_copy': lambda F, b, w: F.contrib.index_copy(w, index(F, F.slice_axis(column(F, b), axis=0, begin=0, end=1)),
                                                       F.ones((1, 3))),
    'scatter_nd': lambda F, b, w: F.scatter_nd(spread(F, w, 3), index(F, row(F, b), 0, 2), shape=(4,)),
    'BlockGrad': lambda F, b, w: F.broadcast_mul(F.BlockGrad(b), F.sum(w)),
    'zeros_like': lambda F, b, w: F.broadcast_mul(F.zeros_like(b), F.sum(w)),
    'ones_like': lambda F, b, w: F.broadcast_mul(F.ones_like(b), F.sum(w)),
    'broadcast_like': lambda F, b, w: F.broadcast_like(F.sum(w).reshape((1, 1)), b),
    'reshape_like': lambda F, b, w: F.reshape_like(w, b),
    'slice_like': lambda F, b, w: F.slice_like(F.dot(F.ones((6, 4)), w), b),
    'size_array': lambda F, b, w: F.broadcast_mul(F.cast(F.size_array(b), 'float32'), F.sum(w)),
    'uniform_like': lambda F, b, w: F.broadcast_mul(F.random.uniform_like(b), F.sum(w)),
}


class Reader(gluon.HybridBlock):
    def __init__(self, read):
        super().__init__()
        self.read = read
        with self.name_scope():
            self.bn = nn.BatchNorm(in_channels=3)
            self.w = self.params.get('w', shape=(4, 3), init='ones')

    def hybrid_forward(self, F, x, w):
        return self.read(F, self.bn(x), w)


MODES = {'plain': lambda net: None, 'hybridized': lambda net: net.hybridize(),
         'static': lambda net: net.hybridize(static_alloc=True, static_shape=True),
         'the BatchNorm hybridized': lambda net: net.bn.hybridize()}
X = numpy.random.RandomState(0).randn(4, 3).astype('float32') * 3 + 1
MOVED = [0.0, *numpy.cumsum(X.mean(0)[0] * 0.1 * 0.9 ** numpy.arange(4))]


@pytest.mark.parametrize('mode', MODES)
@pytest.mark.parametrize('name', READERS)
def test_averages_move_behind_inputs_without_a_gradient(name, mode):
    net = Reader(READERS[name])
    net.initialize()
    MODES[mode](net)
    means = [0.0]
    for _ in range(4):
        net.bn.gamma.grad()[:] = 7
        with autograd.record():
            loss = net(nd.array(X)).sum()
        loss.backward()
        means.append(float(net.bn.running_mean.data()[0].asscalar()))
        assert (net.bn.gamma.grad().asnumpy() == 0).all() or name in ('SoftmaxOutput',)
    assert numpy.allclose(means, MOVED, atol=1e-5)



def test_calls_that_are_reached_move_once():
    net = Reader(READERS['take'])
    net.initialize()
    x = nd.array(X)
    with autograd.record():
        b = net.bn(x)
        loss = nd.take(net.w.data(), index(nd, b)).sum() + b.sum()
    loss.backward()
    assert numpy.allclose(net.bn.running_mean.data()[0].asscalar(), MOVED[1], atol=1e-5)


def test_nothing_moves_in_predict_mode_or_outside_of_the_history():
    net = Reader(READERS['take'])
    net.initialize()
    x, w = nd.array(X), net.w.data()
    with autograd.record(train_mode=False):
        loss = net(x).sum()
    loss.backward()
    with autograd.record():
        picked = nd.take(w, index(nd, net.bn(x).detach())).sum()
        net.bn(x)
    picked.backward()
    with autograd.record():
        loss = net(x).sum()
    loss.backward(train_mode=False)
    assert net.bn.running_mean.data()[0].asscalar() == 0


def test_two_passes_move_twice():
    net = Reader(READERS['take'])
    net.initialize()
    with autograd.record():
        loss = net(nd.array(X)).sum()
    loss.backward(retain_graph=True)
    loss.backward()
    assert numpy.allclose(net.bn.running_mean.data()[0].asscalar(), MOVED[2], atol=1e-5)


@pytest.mark.parametrize('hybridize', [False, True])
def test_grad_moves_what_lies_between(hybridize):
    net = Reader(READERS['take'])
    net.initialize()
    if hybridize:
        net.hybridize()
    for _ in range(3):
        net.bn.running_mean.set_data(nd.zeros((3,)))
        x = nd.array(X)
        x.attach_grad()
        with autograd.record():
            loss = net(x).sum()
        mx.autograd.grad(loss, [net.w.data()], retain_graph=True)
        assert net.bn.running_mean.data()[0].asscalar() == 0
        mx.autograd.grad(loss, [net.w.data(), net.bn.gamma.data()], retain_graph=True)
        assert numpy.allclose(net.bn.running_mean.data()[0].asscalar(), MOVED[1], atol=1e-5)
        mx.autograd.grad(loss, [net.w.data(), x])
        assert numpy.allclose(net.bn.running_mean.data()[0].asscalar(), MOVED[2], atol=1e-5)


def test_executors_move_behind_indices():
    symbol = mx.sym
    bn = symbol.BatchNorm(symbol.var('x'), fix_gamma=False, name='bn')
    out = symbol.take(symbol.var('w'), index(symbol, bn))
    executor = out.simple_bind(mx.cpu(), x=(4, 3), w=(4, 3))
    executor.arg_dict['x'][:] = X
    for count in range(4):
        executor.forward(is_train=True)
        executor.backward(nd.ones((4, 3, 3)))
        assert numpy.allclose(executor.aux_dict['bn_moving_mean'][0].asscalar(), MOVED[count + 1], atol=1e-5)
