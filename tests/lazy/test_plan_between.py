"""What programs do between forward, backward and the update does the same, hybridized or not: every action alone, at
every place, and for the likely ones in several worlds."""
import numpy as np
import pytest
from plan_worlds import ACTIONS, Program, Round, Words, difference

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet._lazy import step as _steps

pytestmark = pytest.mark.filterwarnings('ignore::UserWarning')


def rounds(place, *names):
    """Steps with an action in some and without in others, so that both ways are gone after each other."""
    quiet, busy = Round(), Round(**{place: names})
    return quiet, quiet, quiet, busy, busy, quiet


@pytest.mark.parametrize('place', ['before', 'between', 'after'])
@pytest.mark.parametrize('name', ACTIONS)
def test_actions(name, place):
    assert difference(Program(rounds=rounds(place, name), net='norm', data='view', optimizer='momentum')) is None
    if place == 'between':
        assert difference(Program(rounds=rounds(place, name), seed=1)) is None


# ---------------------------------------------------------------------- what these programs have found
def blocks():
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(4, activation='relu', in_units=3), gluon.nn.Dense(3, in_units=4))
    net.initialize(mx.init.Xavier())
    net.hybridize()
    return net, gluon.loss.SoftmaxCrossEntropyLoss()


def test_a_mistake_leaves_what_was_computed_before_it():
    """Calls with a mistake wait for nothing, and one that turns out to have one takes no other with it."""
    net, loss_of = blocks()
    for _ in range(4):
        with autograd.record():
            loss = loss_of(net(nd.ones((2, 3))), nd.zeros((2,)))
            with pytest.raises(mx.MXNetError):
                net(nd.ones((2, 4)))
        loss.backward()
        assert net[0].weight.grad().asnumpy().any()
        assert (loss.asnumpy() > 0).all()


def test_a_loss_may_be_written_into_before_backward():
    """A plan gives it as a view of its own memory, which torch lets nobody write into."""
    net, loss_of = blocks()
    for _ in range(4):
        with autograd.record():
            loss = loss_of(net(nd.ones((2, 3))), nd.zeros((2,)))
        loss[:] = 5
        loss.backward()
        assert (loss.asnumpy() == 5).all()


def test_parameters_can_be_read_after_data_were_overwritten():
    net, loss_of = blocks()
    for _ in range(4):
        base = nd.ones((4, 3))
        with autograd.record():
            loss = loss_of(net(base[0:2]), nd.zeros((2,)))
        base[:] = 0
        with pytest.raises(mx.MXNetError, match='in place'):
            loss.backward()
        assert net[0].weight.data().shape == (4, 3) and net[0].weight.data().asnumpy().any()


def test_a_mistake_in_a_recurrent_network():
    """Shapes that no rule knows are an error of ours, each time."""
    net = Words()
    net.initialize()
    net.hybridize()
    for _ in range(2):
        net(nd.ones((4, 2)))
        with pytest.raises(mx.MXNetError, match='cannot take these shapes: data='):
            net(nd.ones((4, 2, 2)))


def test_the_first_prediction_of_an_lstm_has_the_bits_of_all_others():
    """oneDNN has two kernels, of which torch chose one by its grad mode."""
    net = gluon.rnn.LSTM(16, input_size=8)
    net.initialize(mx.init.Xavier(magnitude=3))
    x = nd.random.normal(shape=(5, 3, 8))
    expected = net(x).asnumpy()
    net.hybridize()
    for _ in range(3):
        assert (net(x).asnumpy() == expected).all()


class Dropped(gluon.HybridBlock):
    """What is computed first is used last."""

    def hybrid_forward(self, F, x):
        one = F.Dropout(x, p=0.5)
        other = F.Dropout(x, p=0.5) * 2
        return other + one


class DroppedInALoop(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        def body(row, states):
            one = F.Dropout(row, p=0.5)
            other = F.Dropout(row, p=0.5) * 2
            return other + one, states
        return F.contrib.foreach(body, x, [])[0]


@pytest.mark.parametrize('block', [Dropped, DroppedInALoop])
def test_random_numbers_are_drawn_in_the_order_of_the_program(block):
    """Not in that of the graph, which begins with what is used first."""
    found = []
    for hybridize in (False, True):
        net = block()
        net.hybridize(hybridize)
        mx.random.seed(4)
        found.append([])
        for _ in range(4):
            with autograd.record():
                found[-1].append(net(nd.ones((2, 8))).asnumpy().tolist())
    assert found[0] == found[1]


def test_losses_that_are_differentiated_one_by_one():
    """Calls of one network wait together, but each loss has a backward of its own."""
    found = []
    for hybridize in (False, True):
        mx.random.seed(3)
        net, loss_of = blocks()
        net.hybridize(hybridize)
        net.collect_params().setattr('grad_req', 'add')
        for _ in range(4):
            net.collect_params().zero_grad()
            with autograd.record():
                losses = [loss_of(net(nd.full((2, 3), k)), nd.zeros((2,))) for k in range(3)]
            for loss in losses:
                loss.backward()
            found.append([p.grad().asnumpy().tolist() for p in net.collect_params().values()])
    assert found[:4] == found[4:]


@pytest.mark.parametrize('kept', [True, False])
def test_networks_that_a_loss_does_not_depend_on_have_no_new_gradients(kept):
    """Although they wait with the others, for the same data."""
    (one, loss_of), (other, _) = blocks(), blocks()
    for _ in range(4):
        other[0].weight.grad()[:] = 7
        other[0].weight.data()._fresh_grad = False
        x = nd.ones((2, 3))
        with autograd.record():
            loss, out = loss_of(one(x), nd.zeros((2,))), other(x)
        if not kept:
            out = None
        loss.backward()
        assert (other[0].weight.grad().asnumpy() == 7).all() and not other[0].weight.data()._fresh_grad
        assert one[0].weight.data()._fresh_grad
        if kept:
            out.backward()
            assert (other[1].bias.grad().asnumpy() == 2).all()


def test_parameters_of_an_output_that_no_loss_depends_on():
    """A hybridized block is one operator: all of its parameters get a gradient, be it 0, from the first step on."""
    class Two(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.one, self.two = gluon.nn.Dense(2, in_units=3), gluon.nn.Dense(2, in_units=3)

        def hybrid_forward(self, F, x):
            return F.relu(self.one(x)), F.relu(self.two(x))

    net = Two()
    net.initialize(mx.init.One())
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1})
    for look in (False, False, True, False):
        net.two.weight.grad()[:] = 7
        with autograd.record():
            out, other = net(nd.ones((2, 3)))
        if look:
            other.wait_to_read()
        out.backward()
        trainer.step(2)
        assert not net.two.weight.grad().asnumpy().any() and net.one.weight.grad().asnumpy().any()


def test_networks_that_draw_take_turns():
    """Also if the one that was called last is differentiated first."""
    found = []
    for hybridize in (False, True):
        mx.random.seed(5)
        nets = [gluon.nn.Dropout(0.5), gluon.nn.Dropout(0.5)]
        for _ in range(4):
            given = [nd.ones((8,)), nd.ones((8,))]
            for net, x in zip(nets, given, strict=True):
                net.hybridize(hybridize)
                x.attach_grad()
            with autograd.record():
                outs = [net(x) for net, x in zip(nets, given, strict=True)]
            for out in reversed(outs):
                out.backward()
            found.append([x.grad.asnumpy().tolist() for x in given])
    assert found[:4] == found[4:]


def test_gradients_of_gradients_have_the_same_random_numbers():
    found = []
    for hybridize in (False, True):
        mx.random.seed(5)
        net = gluon.nn.Dropout(0.5)
        net.hybridize(hybridize)
        for _ in range(4):
            x = nd.ones((8,))
            x.attach_grad()
            with autograd.record():
                slope = autograd.grad(net(x * x).sum(), x, create_graph=True)[0]
            slope.backward()
            found.append([slope.asnumpy().tolist(), x.grad.asnumpy().tolist()])
        found.append(nd.random.uniform(shape=(2,)).asnumpy().tolist())
    assert found[:5] == found[5:]


def test_gradients_that_are_not_row_major():
    """That of a sum has one number for all; a kernel of torch's reads its memory as if there were one for each."""
    net = gluon.nn.GroupNorm(num_groups=1)
    net.initialize()
    net.hybridize()
    for _ in range(4):
        x = nd.random.normal(shape=(2, 4, 3))
        x.attach_grad()
        with autograd.record():
            out = net(x)
            out.wait_to_read()
            total = out.sum()
        total.backward()
        assert abs(x.grad.asnumpy()).max() < 1e-5


class LoopedDropout(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        return F.contrib.foreach(lambda row, states: (F.Dropout(row, p=0.5), states), x, [])[0]


@pytest.mark.parametrize('block', [lambda: gluon.nn.Dropout(0.5), LoopedDropout], ids=['plain', 'loop'])
def test_contexts_have_random_numbers_of_their_own(block):
    """Also those that are on the same device; and what a loop draws is drawn in order, too."""
    found = []
    for hybridize in (False, True):
        net = block()
        net.hybridize(hybridize)
        mx.random.seed(1)
        for _ in range(4):
            given, outs = [nd.ones((2, 6), ctx=mx.cpu(i)) for i in range(2)], []
            for x in given:
                x.attach_grad()
                with autograd.record():
                    outs.append(net(x))
            drawn = nd.random.uniform(shape=(2,)).asnumpy().tolist()
            for out in outs:
                out.backward()
            found.append((drawn, [x.grad.asnumpy().tolist() for x in given]))
    assert found[:4] == found[4:]


def test_networks_that_draw_wait_together():
    """For one loss they are one plan; on several contexts, which draw from generators of their own, one plan each."""
    towers = [gluon.nn.HybridSequential() for _ in range(2)]
    for tower in towers:
        tower.add(gluon.nn.Dense(4, in_units=3), gluon.nn.Dropout(0.5))
        tower.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
        tower.hybridize()
    loss_of = gluon.loss.L2Loss()
    for _ in range(4):
        losses = []
        with autograd.record():
            for ctx in (mx.cpu(0), mx.cpu(1)):
                one, other = (tower(nd.ones((2, 3), ctx=ctx)) for tower in towers)
                losses.append(loss_of(one, other))
        waiting = [loss._pending is not None for loss in losses]
        for loss in losses:
            loss.backward()
    assert waiting == [True, True]
    assert towers[0]._cached_op.deferral.last_step is not None


def test_calls_that_nobody_looks_at_do_not_pile_up(monkeypatch):
    monkeypatch.setattr(_steps, 'MOST_CALLS', 5)
    net, most = gluon.nn.Dense(3, in_units=3), 0
    net.initialize()
    net.hybridize()
    x = out = nd.ones((2, 3))
    for number in range(40):
        with autograd.record():
            out = net(x if number < 4 else out)
        if out._pending is not None:
            most = max(most, len(out._pending.work.calls))
    assert 1 < most <= 7


@pytest.mark.parametrize('alias', [lambda p: p.data().reshape((-1,)), lambda p: p.data().to_torch(),
                                   lambda p: p.data()[0:2]], ids=['reshaped', 'torch', 'sliced'])
def test_parameters_overwritten_through_another_array(alias):
    """Before anything was computed with them: arrays run the step first; other means are found out by `backward`."""
    net, loss_of = blocks()
    other = alias(net[0].weight)
    for number in range(6):
        with autograd.record():
            loss = loss_of(net(nd.ones((2, 3))), nd.zeros((2,)))
        if number < 4:
            loss.backward()
            continue
        other[:] = 1
        if isinstance(other, nd.NDArray):
            loss.backward()         # the step ran before; its gradient does not depend on this weight
        else:
            with pytest.raises(mx.MXNetError, match='in place'):
                loss.backward()
        assert (net[0].weight.data().asnumpy()[:2] == 1).all()


@pytest.mark.parametrize('req', ['null', 'write', 'add'])
def test_grad_req_that_changes_between_forward_and_backward(req):
    """What was recorded has the gradient arrays of that time, as in MXNet 1.9.1."""
    program = Program(rounds=(Round(), Round(), Round(before=('freeze' if req == 'null' else 'add_up',)),
                              Round(after=('see_held_gradients',))))
    assert difference(program) is None
    net = gluon.nn.Dense(3, in_units=5)
    net.initialize(mx.init.One())
    net.hybridize()
    held, loss_of, seen = net.weight.grad(), gluon.loss.L2Loss(), []
    for number in range(3):
        with autograd.record():
            loss = loss_of(net(nd.ones((2, 5)) * (number + 1)), nd.zeros((2, 3)))
        if number == 1:
            net.weight.grad_req = 'null'
            net.weight.grad_req = req if req != 'null' else 'write'
        loss.backward()
        seen.append((held.asnumpy().mean(), net.weight.grad().asnumpy().mean()))
    assert np.allclose(seen, [(10 / 3, 10 / 3), (40 / 3, 0), (40 / 3, 30)])
