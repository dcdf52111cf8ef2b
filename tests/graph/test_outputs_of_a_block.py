"""A hybridized block of several outputs goes back as one operator, as in MXNet 1.9.1, with and without a plan."""
import numpy as np
import pytest

from mxnet import autograd, gluon, nd
from mxnet.base import MXNetError

FLAGS = {'hybridized': {}, 'static': {'static_alloc': True, 'static_shape': True}}
X, Y = [[.1, .2, -.3], [.5, -.4, .9]], [[1, 2, .5], [0, 1, 2]]


def labels(F, y):
    return F.reshape(F.slice_axis(y, axis=1, begin=0, end=1), (-1,))


LOSSES = {
    'SoftmaxOutput': lambda F, a, y: F.SoftmaxOutput(a, labels(F, y)),
    'LinearRegressionOutput': lambda F, a, y: F.LinearRegressionOutput(a, y),
    'LogisticRegressionOutput': lambda F, a, y: F.LogisticRegressionOutput(a, y),
    'MAERegressionOutput': lambda F, a, y: F.MAERegressionOutput(a, y),
    'SVMOutput': lambda F, a, y: F.SVMOutput(a, labels(F, y)),
    'MakeLoss': lambda F, a, y: F.MakeLoss((a - y) ** 2),
    'tanh': lambda F, a, y: F.tanh(a * y)}


class Two(gluon.HybridBlock):
    """Two functions of twice and of three times the input, each after a BatchNorm where asked."""

    def __init__(self, one, two, norm=False):
        super().__init__()
        self._functions = one, two
        with self.name_scope():
            self.norms = [gluon.nn.BatchNorm(in_channels=3) for _ in range(2)] if norm else None
            for i, layer in enumerate(self.norms or []):
                self.register_child(layer, str(i))

    def hybrid_forward(self, F, x, y):
        one, two = self._functions
        a, b = x * 2, x * 3
        if self.norms:
            a, b = self.norms[0](a), self.norms[1](b)
        return one(F, a, y), two(F, b, y)


def gradient_of(name, scale):
    """What a layer sends back to x when nothing but its own head gradient of zeros (or none) comes."""
    x = nd.array(X)
    x.attach_grad()
    with autograd.record():
        out = LOSSES[name](nd, x * scale, nd.array(Y))
    out.backward(nd.zeros_like(out))
    return x.grad.asnumpy()


def call(net, x, head, between=False):
    x.attach_grad()
    with autograd.record():
        outputs = net(x + 0 if between else x, nd.array(Y))
        total = outputs[0] + outputs[1] if head == 'sum' else None
    if head == 'grad':
        return autograd.grad([outputs[0]], [x])[0].asnumpy()
    autograd.backward([total] if head == 'sum' else [outputs[0]])
    return x.grad.asnumpy()


@pytest.mark.parametrize('between', [False, True])
@pytest.mark.parametrize('head', ['one', 'grad'])
@pytest.mark.parametrize('flags', FLAGS)
@pytest.mark.parametrize('one, two', [(one, two) for one in ('tanh', 'LinearRegressionOutput') for two in LOSSES
                                      if one != two])
def test_the_gradient_of_one_output_has_that_of_the_loss_layers_of_the_other(one, two, flags, head, between):
    """Where the program asks for one output alone, a loss layer behind the other counts, in every call."""
    x = nd.array(X)
    x.attach_grad()
    with autograd.record():
        first = LOSSES[one](nd, x * 2, nd.array(Y))
    first.backward()
    expected = x.grad.asnumpy() + gradient_of(two, 3)
    net = Two(LOSSES[one], LOSSES[two])
    net.hybridize(**FLAGS[flags])
    for _ in range(5):
        np.testing.assert_allclose(call(net, nd.array(X), head, between), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize('flags', FLAGS)
@pytest.mark.parametrize('head, moved', [('one', 2), ('sum', 2), ('grad', 2)])
def test_averages_of_every_output_move(flags, head, moved):
    net = Two(LOSSES['tanh'], LOSSES['tanh'], norm=True)
    net.initialize()
    net.hybridize(**FLAGS[flags])
    averages = [np.zeros(3), np.zeros(3)]
    for i in range(5):
        data = np.asarray(X, 'float32') * (i + 1)
        call(net, nd.array(data), head)
        averages = [a * .9 + data.mean(0) * scale * .1 for a, scale in zip(averages, (2, 3), strict=True)]
        for layer, expected in zip(net.norms, averages, strict=True):
            np.testing.assert_allclose(layer.running_mean.data().asnumpy(), expected, rtol=1e-4, atol=1e-6)


def test_averages_of_a_plain_block_move_for_the_output_that_goes_back():
    net = Two(LOSSES['tanh'], LOSSES['tanh'], norm=True)
    net.initialize()
    call(net, nd.array(X), 'one')
    assert net.norms[0].running_mean.data().asnumpy().any()
    assert not net.norms[1].running_mean.data().asnumpy().any()


@pytest.mark.filterwarnings('ignore:input data1:UserWarning')
@pytest.mark.parametrize('between', [False, True])
@pytest.mark.parametrize('flags', [None, *FLAGS])
@pytest.mark.parametrize('which', [0, 1])
def test_equal_outputs_have_gradients_of_their_own(which, flags, between):
    """Each of two outputs that a plan computes once has its own gradient, in every call."""
    net = Two(lambda F, a, y: F.sqrt(a * 3), lambda F, a, y: F.sqrt(a * 2))
    if flags is not None:
        net.hybridize(**FLAGS[flags])
    expected = np.sqrt(6) / 2 / np.array([[1, 2, 3]])
    for i in range(5):
        x = nd.array([[1., 4, 9]])
        x.attach_grad()
        with autograd.record():
            outputs = net(x + 0 if between else x, nd.zeros((1, 3)))
        if i % 2:
            outputs[which].backward()
            np.testing.assert_allclose(x.grad.asnumpy(), expected, rtol=1e-5)
        else:
            autograd.backward(list(outputs), [nd.ones((1, 3)) * (1 + which), nd.ones((1, 3))])
            np.testing.assert_allclose(x.grad.asnumpy(), expected * (2 + which), rtol=1e-5)


class Five(gluon.HybridBlock):
    """A loss, a result, and three outputs that have no gradient."""

    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.weight = self.params.get('weight', shape=(3,), init='ones')

    def hybrid_forward(self, F, x, weight):
        return F.MakeLoss(weight * 2, grad_scale=3), weight * 5, F.argmax(x, axis=0), F.BlockGrad(weight), \
            F.random.uniform(0, 1, shape=(2,))


@pytest.mark.parametrize('mode', FLAGS)
@pytest.mark.parametrize(('heads', 'gradient'), [([2], 6), ([3], 6), ([4], 6), ([1, 2], 11), ([2, 1], 11), ([0, 3], 6),
                                                 ([3, 2, 1], 11)])
def test_heads_without_a_gradient(heads, gradient, mode):
    """The block goes back from them with zeros (numbers of 1.9.1), in the first call as in later ones."""
    net = Five()
    net.initialize()
    net.hybridize(**FLAGS[mode])
    for _ in range(4):
        with autograd.record():
            outputs = net(nd.array([1, 2, 3]))
        autograd.backward([outputs[i] for i in heads])
        assert net.weight.grad().asnumpy().tolist() == [gradient] * 3


def test_outputs_that_are_kept_keep_no_graph():
    """An output that has no gradient goes back through the graph of the others, which is freed with them."""
    net = Five()
    net.initialize()
    net.hybridize()
    kept = []
    for _ in range(3):
        with autograd.record():
            outputs = net(nd.array([1, 2, 3]))
        outputs[1].backward()
        kept.append(outputs[2])
        del outputs
    with pytest.raises(MXNetError, match='a second time'):
        kept[0].backward()
    assert all(k.materialize().grad_fn is None for k in kept)


def small(F, x, w):
    return F.exp(x), F.exp(w)


def larger(F, x, w):
    return F.exp(x) * 2, F.exp(w)


def losses(F, x, w):
    return F.MakeLoss(x), F.MakeLoss(w)


# (function, flags, gradient of w where nothing but the first output goes back; None: it stays as it was), of 1.9.1
INLINED = [(small, {}, None), (small, {'inline_limit': 0}, 0), (small, {'static_alloc': True}, 0),
           (larger, {}, 0), (larger, {'inline_limit': 3}, None), (larger, {'static_alloc': True, 'inline_limit': 3}, 0),
           (losses, {}, None), (losses, {'inline_limit': 1}, 1), (losses, FLAGS['static'], 1)]


@pytest.mark.parametrize(('function', 'flags', 'right'), INLINED)
def test_small_graphs_are_recorded_operator_by_operator(function, flags, right):
    class Net(gluon.HybridBlock):
        def hybrid_forward(self, F, x, w):
            return function(F, x, w)

    net = Net()
    net.hybridize(**flags)
    x, w = nd.ones((2, 3)), nd.ones((2, 3))
    x.attach_grad()
    w.attach_grad()
    for _ in range(4):
        w.grad[:] = 7
        with autograd.record():
            outputs = net(x, w)
        outputs[0].backward()
        assert (w.grad.asnumpy() == (7 if right is None else right)).all()
