"""Operators between the blocks of a step (_lazy/operators.py): they wait with them, and nobody can tell."""
import json
import operator

import numpy
import pytest
from test_steps import assert_same, network, waits

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet._lazy import step_plan as _step_plans


def test_a_penalty_of_weights_ends_the_deferral():
    """What is computed from parameters by operators is on the tape at once, and right."""
    def step(net, loss, x, y):
        with autograd.record():
            value = loss(net(x), y) + 0.1 * (net[0].weight.data() ** 2).sum()
        value.backward()
        return value.asnumpy()
    assert_same(step, rounds=8)


@pytest.mark.parametrize('change', [
    lambda net, value: value.mean(), lambda net, value: value / 4, lambda net, value: (2 - value * 3).sum(),
    lambda net, value: nd.sum(value + value * value), lambda net, value: nd.concat(value, value * 0.5, dim=0),
    lambda net, value: value.exp().log().expand_dims(0), lambda net, value: value.reshape((2, -1)).sum(axis=0),
    lambda net, value: value.reshape(-1, 2)[0], lambda net, value: value[1:] - value[0] * value[-1],
    lambda net, value: value[::2] + value[1::2], lambda net, value: value.astype('float64')],
    ids=['mean', 'divided', 'sum', 'squared', 'joined', 'more', 'reshaped', 'first row', 'numbers', 'every other',
         'cast'])
def test_operators_wait_with_the_blocks(change):
    waited = []

    def step(net, loss, x, y):
        with autograd.record():
            value = change(net, loss(net(x), y))
        waited.append(waits(value))
        value.backward()
        return value.asnumpy()
    assert_same(step, rounds=8)
    assert waited[3:8] == [True] * 5        # of the hybridized network's, which comes first


class OwnLoss(gluon.loss.Loss):
    def __init__(self):
        super().__init__(None, 0)

    def hybrid_forward(self, F, out, label):
        return F.mean(F.square(F.pick(out, label) - 1) + F.smooth_l1(out, scalar=2).sum(axis=1), axis=0, exclude=True)


@pytest.mark.parametrize('loss_of', [
    lambda out, y: gluon.loss.SoftmaxCrossEntropyLoss()(out, y), lambda out, y: OwnLoss()(out, y),
    lambda out, y: -nd.pick(nd.log_softmax(out), y), lambda out, y: nd.pick(out, y.astype('int32')).clip(-1, 1),
    lambda out, y: nd.where(y > 1, out[:, 0], out[:, 1] * 2), lambda out, y: nd.dot(out, out, transpose_b=True).norm(),
    lambda out, y: nd.softmax(out).log().mean() + nd.maximum(out, 0.1).sum() / 7],
    ids=['new each time', 'own', 'picked', 'by numbers', 'where', 'product', 'sum'])
def test_losses_made_of_operators_wait(loss_of):
    waited = []

    def step(net, loss, x, y):
        with autograd.record():
            value = loss_of(net(x), y)
        waited.append(waits(value))
        value.backward()
        return value.asnumpy()
    assert_same(step, rounds=8)
    assert waited[3:8] == [True] * 5


def trained(net, step, hybridize, rounds=8):
    """Whether the value that `step(net)` gives waited at last, and the parameters after some rounds of training."""
    net.initialize(mx.init.Xavier())
    if hybridize:
        net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1})
    for _ in range(rounds):
        with autograd.record():
            value = step(net)
        waited = waits(value)
        value.backward()
        trainer.step(1)
    return waited, [p.data().asnumpy() for p in net.collect_params().values()]


def assert_trained_the_same(make, step):
    found = []
    for hybridize in (False, True):
        mx.random.seed(3)
        waited, params = trained(make(), step, hybridize)
        assert waited is hybridize
        found.append(params)
    for a, b in zip(*found, strict=True):
        numpy.testing.assert_array_equal(a, b)


def test_operators_of_np_arrays_wait_too():
    loss_of = gluon.loss.L2Loss()
    with mx.util.np_shape(True), mx.util.np_array(True):
        assert_trained_the_same(network, lambda net: (
            loss_of(net(mx.np.ones((4, 5))), mx.np.zeros((4, 3))) * 2 + 1).mean() / 3)


def test_mistakes_of_operators_are_found_where_they_are_made():
    net, loss_of = network(), gluon.loss.SoftmaxCrossEntropyLoss()
    net.initialize()
    net.hybridize()
    for _ in range(6):
        with autograd.record():
            value = loss_of(net(nd.ones((4, 5))), nd.zeros(4))
            with pytest.raises(mx.MXNetError, match='broadcast_add'):
                value + nd.ones(3)
            with pytest.raises(mx.MXNetError, match='same dtype'):
                value * nd.ones(4, dtype='float64')
            value = value.mean()
        value.backward()
        assert net[0].weight.grad().asnumpy().any()


@pytest.mark.parametrize('change, plans', [
    (lambda value, turn: value * (turn % 40 + 1) / 7, 0), (lambda value, turn: value[turn % 4:], 4),
    (lambda value, turn: value * (turn % 2 + 1), 2)], ids=['new', 'slices', 'two'])
def test_numbers_that_change_are_taken_as_they_are(change, plans, monkeypatch):
    """Only what comes again gets a plan, which takes longer to make than many steps."""
    turns, made, make_plan = [], [], _step_plans.make_plan
    monkeypatch.setattr(_step_plans, 'make_plan', lambda *args, **kwargs: made.append(1) or make_plan(*args, **kwargs))

    def step(net, loss, x, y):
        turns.append(len(turns))
        with autograd.record():
            value = change(loss(net(x), y), turns[-1])
        value.backward()
        return value.asnumpy()
    assert_same(step, rounds=40)
    assert len(made) == plans


@pytest.mark.parametrize('stop, gradient', [
    (nd.BlockGrad, 0), (lambda a: a.detach(), 7), (lambda a: a > 0, 0), (lambda a: a * 2 > 0, 0),
    (lambda a: (a * 2).detach() + 1, 7)],
    ids=['BlockGrad', 'detach', 'compared', 'doubled, compared', 'doubled, detached'])
@pytest.mark.parametrize('hybridize', [False, True])
def test_gradients_go_as_far_as_on_the_tape(stop, gradient, hybridize):
    """Parameters that nothing depends on keep the gradients that they have; those of constants are 0."""
    one, two = gluon.nn.Dense(8, in_units=5), gluon.nn.Dense(3, in_units=8)
    for net in (one, two):
        net.initialize(mx.init.One())
        if hybridize:
            net.hybridize()
    for _ in range(6):
        one.weight.grad()[:] = 7
        with autograd.record():
            value = (two(stop(one(nd.ones((2, 5))))) * 2).mean()
        value.backward()
        assert (one.weight.grad().asnumpy() == gradient).all()
        assert two.weight.grad().asnumpy().any()


def test_blocks_with_operators_between_them_are_one_step():
    class Both(gluon.Block):
        def __init__(self):
            super().__init__()
            self.one, self.two = gluon.nn.Dense(8, in_units=5), gluon.nn.Dense(3, in_units=8)

        def forward(self, x):
            return self.two((self.one(x) * 0.5).tanh())

    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    assert_trained_the_same(Both, lambda net: loss_of(net(nd.ones((4, 5))), nd.zeros(4)).mean())


def test_operators_that_wait_are_recorded_as_others():
    """`get_symbol` of what has been computed with the tape after all."""
    net, loss_of = network(), gluon.loss.SoftmaxCrossEntropyLoss()
    net.initialize()
    net.hybridize()
    for _ in range(5):
        with autograd.record():
            value = loss_of(net(nd.ones((4, 5))), nd.zeros(4)).mean() * 2
        symbol = autograd.get_symbol(value)
        names = [node['name'] for node in json.loads(symbol.tojson())['nodes']]
        assert '' not in names and len(set(names)) == len(names)
        assert symbol.list_outputs()[0].startswith('_mul_scalar')
        value.backward()


def test_long_chains_are_not_looked_through_again_and_again():
    """Each operator takes the one before it twice: a walk through all ways would never end."""
    def step(net, loss, x, y):
        with autograd.record():
            value = loss(net(x), y)
            for _ in range(40):
                value = (value + value) * 0.5
            assert value.shape == (4,)
        value.backward()
        return value.asnumpy()
    assert_same(step, rounds=6)


NUMBERS = [1, 1.0, True, numpy.float32(1), numpy.int64(1), 0, 0.0, -0.0, False, numpy.float32(-0.0), 0.0, True, -0.0]


@pytest.mark.parametrize('reverse', [False, True])
@pytest.mark.parametrize('name', ['add', 'sub', 'mul', 'truediv', 'pow', 'maximum', 'minimum'])
def test_numbers_that_are_equal_and_not_the_same_are_told_apart(name, reverse):
    """0.0 == -0.0 and 1 == 1.0 == True: each is the operand that the program wrote."""
    function = getattr(operator, name, None) or getattr(nd, name)

    def results(naive):
        net = gluon.nn.Dense(3, in_units=4)
        net.initialize(mx.init.One())
        net.hybridize(active=not naive)
        found = []
        for number in NUMBERS:
            for _ in range(3):
                with autograd.record():
                    x = net(nd.ones((2, 4))) - 3.5
                    y = function(number, x) if reverse else function(x, number)
                    loss = y.sum()
                loss.backward()
                found += [y.asnumpy(), net.weight.grad().asnumpy()]
        return found
    for deferred, expected in zip(results(False), results(True), strict=True):
        assert deferred.tobytes() == expected.tobytes()             # the signs of zeros too


def test_zeros_of_both_signs_as_an_argument_are_told_apart():
    class Scaled(gluon.Block):
        def forward(self, x, number):
            return x * number
    net = Scaled()
    net.hybridize()
    found = [(1 / net(nd.ones(1), number)).asscalar() for number in (0.0, 0.0, -0.0, 0.0, -0.0)]
    assert found == [numpy.inf, numpy.inf, -numpy.inf, numpy.inf, -numpy.inf]
