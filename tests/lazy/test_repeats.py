"""Calls like the ones before (_lazy/bound_calls.py): what changes between two calls is noticed."""
import copy

import numpy
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd


def network():
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(4, activation='relu', in_units=3), gluon.nn.Dense(2, in_units=4))
    net.initialize(mx.init.Xavier())
    net.hybridize(static_alloc=True, static_shape=True)
    return net


X, Y = nd.array([[1, 2, 3], [-1, 0, 1]]), nd.array([1, 0])


def train(net, x=X, y=Y, rounds=4):
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    for _ in range(rounds):
        with autograd.record():
            value = loss(net(x), y)
        value.backward()
    return value.asnumpy()


def predict(net, x=X, rounds=4):
    for _ in range(rounds):
        out = net(x)
    return out.asnumpy()


def plain(net, x=X):
    """What the network gives, computed without it."""
    first, second = ((layer.weight.data().asnumpy(), layer.bias.data().asnumpy()) for layer in net)
    hidden = numpy.maximum(x.asnumpy() @ first[0].T + first[1], 0)
    return hidden @ second[0].T + second[1]


def warm(net):
    train(net)
    predict(net)
    assert net._bound_call is not None and net._bound_prediction is not None
    return net


def set_data(net):
    net[0].weight.set_data(net[0].weight.data() * 2)


def write(net):
    net[1].bias.data()[:] = 3


def initialize(net):
    net.initialize(mx.init.Normal(), force_reinit=True)


def read_from_file(net, tmp_path):
    other = network()
    other(X)
    other.save_parameters(str(tmp_path / 'net.params'))
    net.load_parameters(str(tmp_path / 'net.params'))


@pytest.mark.parametrize('change', [set_data, write, initialize, read_from_file])
def test_parameters_that_change(change, tmp_path):
    net = warm(network())
    for _ in range(2):
        change(net, tmp_path) if change is read_from_file else change(net)
        numpy.testing.assert_allclose(predict(net, rounds=1), plain(net), rtol=1e-5, atol=1e-6)
        with autograd.record():
            out = net(X)
        out.backward()
        numpy.testing.assert_allclose(out.asnumpy(), plain(net), rtol=1e-5, atol=1e-6)
        numpy.testing.assert_array_equal(net[1].bias.grad().asnumpy(), [2, 2])


def test_inputs_of_other_kinds():
    net = warm(network())
    for x in (nd.ones((5, 3)), X, nd.ones((1, 3)), X):
        numpy.testing.assert_allclose(predict(net, x, rounds=1), plain(net, x), rtol=1e-5, atol=1e-6)
        with autograd.record():
            out = net(x)
        out.backward()
        numpy.testing.assert_array_equal(net[1].bias.grad().asnumpy(), [len(x), len(x)])
    with pytest.raises((mx.MXNetError, ValueError)):
        net(nd.ones((2, 7))).asnumpy()


def test_an_input_with_a_gradient():
    net = warm(network())
    x = X.copy()
    x.attach_grad()
    with autograd.record():
        out = net(x)
    out.backward()
    weights = [layer.weight.data().asnumpy() for layer in net]
    alive = (X.asnumpy() @ weights[0].T + net[0].bias.data().asnumpy()) > 0
    numpy.testing.assert_allclose(x.grad.asnumpy(), (alive * weights[1].sum(0)) @ weights[0], rtol=1e-5, atol=1e-6)


def test_hooks_are_called():
    net, seen = warm(network()), []
    net.register_forward_hook(lambda block, inputs, output: seen.append('after'))
    handle = net.register_forward_pre_hook(lambda block, inputs: seen.append('before'))
    predict(net, rounds=2)
    train(net, rounds=1)
    assert seen == ['before', 'after'] * 3
    handle.detach()
    predict(net, rounds=1)
    assert seen[6:] == ['after']


def test_hybridize_again_and_no_more():
    net = warm(network())
    net.hybridize(False)
    assert net._bound_call is None and net._bound_prediction is None
    numpy.testing.assert_allclose(predict(net), plain(net), rtol=1e-5, atol=1e-6)
    net.hybridize()
    train(net)
    numpy.testing.assert_allclose(predict(net), plain(net), rtol=1e-5, atol=1e-6)


def test_modes():
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dropout(0.5))
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    x = nd.ones((100,))
    for _ in range(4):
        net(x)
    assert (net(x).asnumpy() == 1).all()
    with autograd.train_mode():
        assert (net(x).asnumpy() == 0).any()
    assert (net(x).asnumpy() == 1).all()


def test_a_call_that_waits_for_another_network():
    """The second call goes on with what waits; the first one's parameters are then read by both."""
    net = warm(network())
    other = gluon.nn.Dense(3, in_units=2)
    other.initialize()
    other.hybridize()
    for _ in range(5):
        with autograd.record():
            out = other(net(X))
        out.backward()
        numpy.testing.assert_array_equal(other.bias.grad().asnumpy(), [2, 2, 2])
    expected = plain(net) @ other.weight.data().asnumpy().T + other.bias.data().asnumpy()
    numpy.testing.assert_allclose(out.asnumpy(), expected, rtol=1e-5, atol=1e-6)


def test_a_forward_that_does_more_than_its_graph():
    class Net(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.dense, self.calls = gluon.nn.Dense(2, in_units=3), 0

        def __call__(self, *args):
            self.calls += 1
            return super().__call__(*args)

        def forward(self, x):
            return self.dense(x) + 1

    net = Net()
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    for _ in range(5):
        with autograd.record():
            out = net(X)
        out.backward()
    numpy.testing.assert_array_equal(net.dense.bias.grad().asnumpy(), [2, 2])
    weight = net.dense.weight.data().asnumpy()
    for _ in range(4):
        numpy.testing.assert_allclose(net(X).asnumpy(), X.asnumpy() @ weight.T + 1, rtol=1e-5, atol=1e-6)
    assert net.calls == 9


def test_copies_have_arrays_of_their_own():
    net = warm(network())
    other = copy.deepcopy(net)
    numpy.testing.assert_allclose(predict(other), plain(net), rtol=1e-5, atol=1e-6)
    set_data(other)
    train(other)
    numpy.testing.assert_allclose(predict(other), plain(other), rtol=1e-5, atol=1e-6)
    numpy.testing.assert_allclose(predict(net), plain(net), rtol=1e-5, atol=1e-6)
    assert numpy.abs(plain(net) - plain(other)).max() > 1e-3


# ---------------------------------------------------------------------- loops whose steps follow the one before
def side_by_side(before=None, between=None, rounds=8, optimizer='sgd', **params):
    """Compares the parameters of a network trained plainly, with nothing remembered, and hybridized.

    Things may happen before a step, and between backward and the update.  -> how many steps followed a route to its end
    """
    found, ends = [], 0
    for hybridized in (False, True):
        mx.random.seed(3)
        net = network()
        net.hybridize(hybridized, static_alloc=True, static_shape=True)
        loss = gluon.loss.SoftmaxCrossEntropyLoss()
        trainer = gluon.Trainer(net.collect_params(), optimizer, {'learning_rate': 0.1, **params})
        for number in range(rounds):
            if before is not None and number == 5:
                before(net, trainer)
            with autograd.record():
                value = loss(net(X + number), Y)
            if hybridized and value._pending is not None:
                step = value._pending.work
                ends += step.template is not None and len(step.outputs) == len(step.template.structure)
            value.backward()
            if between is not None:
                between(net)
            trainer.step(2)
            if not hybridized:                  # its updates are found out anew each time, too
                trainer._again = trainer._updaters[0]._bound = None
        found.append([p.data().asnumpy() for p in net.collect_params().values()])
    for plainly, planned in zip(*found, strict=True):
        numpy.testing.assert_array_equal(plainly, planned)
    return ends


def test_a_loop_follows_its_route():
    assert side_by_side() >= 5


@pytest.mark.parametrize('change', [
    lambda net, trainer: setattr(net[0].weight, 'lr_mult', 0.5),
    lambda net, trainer: setattr(net[0].bias, 'wd_mult', 3.0),
    lambda net, trainer: trainer.set_learning_rate(0.02),
    lambda net, trainer: setattr(trainer.optimizer, 'wd', 0.3),
    lambda net, trainer: setattr(trainer.optimizer, 'momentum', 0.5),
    lambda net, trainer: setattr(net[1].weight, 'grad_req', 'add'),
    lambda net, trainer: net[0].weight.data().attach_grad(),
    lambda net, trainer: net[1].weight.set_data(net[1].weight.data() * 2),
    lambda net, trainer: net[0].weight.zero_grad(),
    lambda net, trainer: trainer._updaters[0].set_states(trainer._updaters[0].get_states(False)),
    lambda net, trainer: net(X).asnumpy(),
], ids=['lr_mult', 'wd_mult', 'rate', 'wd', 'momentum', 'grad_req', 'attach_grad', 'set_data', 'zero_grad', 'states',
        'predict'])
def test_what_changes_between_steps_counts(change):
    side_by_side(change, momentum=0.9, wd=0.01)


def test_a_recorded_call_that_waits_sees_the_parameters_of_its_time():
    """The update, which repeats the one before, has to compute first what waits to read the parameters."""
    seen = []

    def between(net):
        with autograd.record():
            seen.append(net(X * 2))

    side_by_side(between=between)
    half = len(seen) // 2
    for plainly, planned in zip(seen[:half], seen[half:], strict=True):
        numpy.testing.assert_array_equal(plainly.asnumpy(), planned.asnumpy())


def test_networks_that_share_parameters_take_turns():
    mx.random.seed(4)
    one = network()
    two = gluon.nn.HybridSequential()
    two.add(one[0], gluon.nn.Dense(2, in_units=4))
    two[1].initialize(mx.init.Xavier())
    two.hybridize(static_alloc=True, static_shape=True)
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer({**one.collect_params(), **two.collect_params()}, 'sgd', {'learning_rate': 0.1})
    for number in range(10):
        with autograd.record():
            both = [loss(net(X + number), Y) for net in (one, two)]
        expected = [plain(net, X + number) for net in (one, two)]
        autograd.backward(both)
        for value, scores in zip(both, expected, strict=True):
            scores = scores - scores.max(1, keepdims=True)
            chance = numpy.exp(scores) / numpy.exp(scores).sum(1, keepdims=True)
            numpy.testing.assert_allclose(value.asnumpy(), -numpy.log(chance[[0, 1], [1, 0]]), rtol=1e-5)
        trainer.step(2)


def test_factors_of_a_module_may_be_written_into():
    """Its optimizer has them in dicts, which nobody watches."""
    data = mx.sym.var('data')
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(data, num_hidden=2, name='fc'), name='softmax')
    mod = mx.mod.Module(net)
    batch = mx.io.DataBatch([X], [Y])
    mod.bind([('data', X.shape)], [('softmax_label', Y.shape)])
    mod.init_params(mx.init.One())
    mod.init_optimizer(optimizer='sgd', optimizer_params={'learning_rate': 0.1, 'wd': 0.1})
    before = None
    for number in range(8):
        mod.forward_backward(batch)
        if number == 6:
            mod._optimizer.lr_mult['fc_bias'] = 0.0
            before = mod.get_params()[0]['fc_bias'].asnumpy()
        mod.update()
    numpy.testing.assert_array_equal(mod.get_params()[0]['fc_bias'].asnumpy(), before)


def test_gradients_that_were_attached_before_a_mistake_are_written():
    net, loss = network(), gluon.loss.SoftmaxCrossEntropyLoss()
    weight, bias = net[0].weight.data(), net[0].bias.data()
    for number in range(6):
        if number == 5:
            with pytest.raises(mx.MXNetError, match='variable 1'):
                autograd.mark_variables([weight, bias], [nd.zeros(weight.shape), nd.zeros((9,))])
            assert not weight.grad.asnumpy().any()
        with autograd.record():
            value = loss(net(X), Y)
        value.backward()
    assert weight.grad.asnumpy().any()
