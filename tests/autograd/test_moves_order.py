"""A BatchNorm that is called several times, behind all kinds of inputs: MXNet 1.9.1's order of its moving averages."""
import itertools

import numpy
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn

X = numpy.random.RandomState(0).randn(4, 3).astype('float32') * 3 + 1


def filled(F, w):
    return F.broadcast_mul(F.ones((4, 3)), w.sum())


# terms of a loss, of an output b of the BatchNorm and a parameter w
TERMS = {
    'value': lambda F, b, w: F.broadcast_mul(b, F.slice_axis(w, axis=0, begin=0, end=1).sum()).sum(),
    'index': lambda F, b, w: F.take(w, F.clip(F.floor(F.abs(b)), 0, 3)).sum(),
    'argmax': lambda F, b, w: F.take(w, F.argmax(b, axis=1)).sum(),
    'condition': lambda F, b, w: F.where(b > 0, filled(F, w), F.ones((4, 3))).sum(),
    'condition and value': lambda F, b, w: F.where(b > 0, b * 2, filled(F, w)).sum(),
    'one_hot': lambda F, b, w: F.dot(F.one_hot(F.argmax(b, axis=1), 4), w).sum(),
    'shape': lambda F, b, w: F.broadcast_mul(F.zeros_like(b), w.sum()).sum(),
}


def loss_of(F, call, names, backwards, x, w):
    terms = [TERMS[name](F, b, w) for name, b in zip(names, [call(x * (i + 1) + i) for i in range(len(names))])]
    total, *others = terms[::-1] if backwards else terms
    for term in others:
        total = total + term
    return total


class Net(gluon.HybridBlock):
    def __init__(self, names, backwards):
        super().__init__()
        self.names, self.backwards = names, backwards
        with self.name_scope():
            self.bn = nn.BatchNorm(in_channels=3)
            self.w = self.params.get('w', shape=(4, 3), init='ones')

    def hybrid_forward(self, F, x, w):
        return loss_of(F, self.bn, self.names, self.backwards, x, w)


def by_gluon(names, backwards, prepare):
    net = Net(names, backwards)
    net.initialize()
    prepare(net)
    means = []
    for _ in range(3):
        with autograd.record():
            loss = net(nd.array(X))
        loss.backward()
        means.append(net.bn.running_mean.data()[0].asscalar())
    return means


def by_executor(names, backwards):
    x, w, gamma, beta, mean, variance = [mx.sym.var(n) for n in ('x', 'w', 'gamma', 'beta', 'mean', 'variance')]
    loss = loss_of(mx.sym, lambda a: mx.sym.BatchNorm(a, gamma, beta, mean, variance, fix_gamma=False), names,
                   backwards, x, w)
    executor = loss.simple_bind(mx.cpu(), x=(4, 3), w=(4, 3))
    executor.arg_dict['x'][:], executor.arg_dict['w'][:], executor.arg_dict['gamma'][:] = X, 1, 1
    means = []
    for _ in range(3):
        executor.forward(is_train=True)
        executor.backward(nd.ones(executor.outputs[0].shape))
        means.append(executor.aux_dict['mean'][0].asscalar())
    return means


MODES = {'plain': lambda *case: by_gluon(*case, lambda net: None),
         'hybridized': lambda *case: by_gluon(*case, lambda net: net.hybridize()),
         'static': lambda *case: by_gluon(*case, lambda net: net.hybridize(static_alloc=True, static_shape=True)),
         'the BatchNorm hybridized': lambda *case: by_gluon(*case, lambda net: net.bn.hybridize()),
         'executor': by_executor}
SEVERAL = [('value', 'index', 'argmax'), ('index', 'value', 'argmax'), ('one_hot', 'index', 'value'),
           ('index',) * 3, ('value', 'condition', 'value'), ('condition and value', 'value', 'index')]


@pytest.mark.parametrize('mode', MODES)
@pytest.mark.parametrize('backwards', [False, True])
def test_the_last_term_comes_first(mode, backwards):
    wrong = []
    for names in [*itertools.product(TERMS, repeat=2), *SEVERAL]:
        order = range(len(names)) if backwards else reversed(range(len(names)))
        batches = [(X * (i + 1) + i).mean(0)[0] for i in order]
        mean, expected = 0, []
        for _ in range(3):
            for batch in batches:
                mean = mean * 0.9 + batch * 0.1
            expected.append(mean)
        found = MODES[mode](names, backwards)
        if not numpy.allclose(found, expected, atol=1e-4):
            wrong.append((names, found, expected))
    assert not wrong


# from eight terms on, each waits for the one before it: the figures are those of MXNet 1.9.1
LONG = {
    (('value',) * 9, False): [15.285, 21.207, 23.502], (('value',) * 9, True): [20.393, 28.293, 31.354],
    (('value', 'index') * 5, False): [17.581, 23.711, 25.848],
    (('value', 'index') * 5, True): [24.278, 32.743, 35.694]}


@pytest.mark.parametrize('mode', MODES)
def test_many_terms(mode):
    for (names, backwards), expected in LONG.items():
        assert numpy.allclose(MODES[mode](names, backwards), expected, atol=1e-3), (names, backwards)
