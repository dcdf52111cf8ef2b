"""Deferred execution gives what plain execution gives: one test for each class of wrong results that was found.

The numbers are those of MXNet 1.9.1.  Each program runs with plain blocks, hybridized ones, and hybridized ones with
static flags; several iterations, since the first ones are not deferred.  tests/fuzz_programs hunts for more.
"""
import copy
import pickle

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn

MODES = {'plain': None, 'hybrid': {}, 'static': {'static_alloc': True, 'static_shape': True}}


@pytest.fixture(params=MODES)
def run(request):
    """Initializes a block with ones, and hybridizes it."""
    def prepare(net):
        net.initialize(mx.init.One())
        if MODES[request.param] is not None:
            net.hybridize(**MODES[request.param])
        return net
    return prepare


def chain(*layers):
    net = nn.HybridSequential()
    net.add(*layers)
    return net


# ---------------------------------------------------------------------- what learns
@pytest.mark.parametrize('optimizer', ['sgd', 'adam', 'nag'])
def test_layers_that_are_thawed_learn_again(run, optimizer):
    """The bound update depended on which parameters learn, and did not compare that."""
    net = run(chain(nn.Dense(2, in_units=2), nn.Dense(1, in_units=2)))
    trainer = gluon.Trainer(net.collect_params(), optimizer, {'learning_rate': 0.01})
    x, first = nd.array([[1, 2], [3, 4]]), []
    for req in ('write', 'write', 'null', 'null', 'write', 'write', 'add', 'null', 'write'):
        net[0].collect_params().setattr('grad_req', req)
        with autograd.record():
            loss = (net(x) ** 2).mean()
        loss.backward()
        trainer.step(1)
        first.append(net[0].weight.data().asnumpy().copy())
    for req, before, after in zip(('write', 'null', 'null', 'write', 'write', 'add', 'null', 'write'), first[:-1],
                                  first[1:], strict=True):
        assert (before == after).all() == (req == 'null'), req


def test_the_example_of_fine_tuning(run):
    net = run(chain(nn.Dense(2, in_units=2), nn.Dense(1, in_units=2)))
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.01})
    for req in ('null', 'null', 'write', 'write'):
        net[0].collect_params().setattr('grad_req', req)
        with autograd.record():
            loss = (net(nd.array([[1, 2], [3, 4]])) ** 2).mean()
        loss.backward()
        trainer.step(1)
    np.testing.assert_allclose(net[0].weight.data().asnumpy(), [[0.9993, 0.9991]] * 2, atol=5e-5)


@pytest.mark.parametrize('req', ['write', 'add'])
def test_gradients_of_inputs_stay(run, req):
    """A bound step had the gradient variable of an input among its targets, and was taken for one without."""
    net, loss, y = run(nn.Dense(1, in_units=2)), gluon.loss.L2Loss(), nd.zeros((1, 1))
    for _ in range(6):
        z = nd.array([[1, 2]])
        z.attach_grad(req)
        with autograd.record():
            value = loss(net(z), y)
        value.backward()
        with autograd.record():
            value = loss(net(nd.array([[10, 20]])), y)
        value.backward()
        assert z.grad.asnumpy().tolist() == [[3, 3]]
    kept = nd.array([[1, 2]])
    kept.attach_grad()
    for number in range(6):                 # one array with a gradient, step after step, and others in between
        x = kept if number % 3 else nd.array([[10, 20]])
        with autograd.record():
            value = loss(net(x), y)
        value.backward()
        if number:
            assert kept.grad.asnumpy().tolist() == [[3, 3]]


# ---------------------------------------------------------------------- which call it is
def test_predictions_and_train_mode_in_any_order(run):
    """A prediction was bound to the plan of another call: that before it, whatever its mode."""
    net = run(chain(nn.Dense(100, in_units=3), nn.Dropout(0.6)))
    x = nd.ones((1, 3))
    for number in range(16):
        with autograd.train_mode() if number % 5 > 2 else autograd.predict_mode():
            zeros = (net(x).asnumpy() == 0).sum()
        assert 30 < zeros < 90 if number % 5 > 2 else zeros == 0


def test_batch_norm_in_any_mode(run):
    net = run(nn.BatchNorm(in_channels=2))
    x = nd.array([[1, 2], [3, 8]])
    for number in range(16):
        with autograd.train_mode() if number % 5 > 2 else autograd.predict_mode():
            out = net(x).asnumpy()
        np.testing.assert_allclose(out, [[-1, -1], [1, 1]] if number % 5 > 2 else x.asnumpy(), atol=2e-3)


@pytest.mark.parametrize('shapes', [[(2, 6, 3)] * 3 + [(3, 4, 3)] * 3 + [(2, 6, 3), (1, 3), (1, 3), (2, 6, 3)],
                                    [(8, 3), (8, 3), (8, 3), (1, 3), (1, 3), (8, 3), (1, 3), (2, 3)]])
def test_shapes_that_change(run, shapes):
    net = run(nn.Dense(2, in_units=3, flatten=False))
    for shape in shapes:
        assert net(nd.ones(shape)).asnumpy().tolist() == np.full((*shape[:-1], 2), 3).tolist()


def test_batches_of_pictures_that_change(run):
    net = run(chain(nn.Conv2D(4, 3, in_channels=1), nn.Flatten(), nn.Dense(2)))
    for batch in (8, 8, 8, 1, 1, 3, 8, 1, 8):
        assert net(nd.ones((batch, 1, 8, 8))).asnumpy().tolist() == [[1296, 1296]] * batch


# ---------------------------------------------------------------------- losses that are not hybridized
@pytest.mark.parametrize('loss, name, values, expected', [
    (gluon.loss.L2Loss, '_weight', (1, 1, 1, 1, 0.1, 0.01), (4.5, 4.5, 4.5, 4.5, 0.45, 0.045)),
    (gluon.loss.HuberLoss, '_rho', (1, 1, 1, 1, 2, 4), (2.5, 2.5, 2.5, 2.5, 2, 1.125)),
    (gluon.loss.HingeLoss, '_margin', (1, 1, 1, 1, 5, 1), (1, 1, 1, 1, 5, 1)),
    (gluon.loss.L1Loss, '_batch_axis', (0, 0, 0, 0, 1, 0), (3, 3, 3, 3, 3, 3))])
def test_attributes_of_a_loss(run, loss, name, values, expected):
    """Its graph was made once, with the attributes of that time."""
    net, loss = run(nn.Dense(1, in_units=2)), loss()
    found = []
    for value in values:
        setattr(loss, name, value)
        with autograd.record():
            out = loss(net(nd.array([[1, 2]])), nd.zeros((1, 1)))
        out.backward()
        found.append(out.asscalar())
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_optional_arguments_of_a_loss(run):
    net, loss = run(nn.Dense(1, in_units=2)), gluon.loss.L2Loss()
    for weight in (None, None, 2, 2, None, 3, None, None, None, 4, 4, 4):
        with autograd.record():
            value = loss(net(nd.array([[1, 2]])), nd.zeros((1, 1)), *([] if weight is None else [nd.array([[weight]])]))
        value.backward()
        assert value.asscalar() == 4.5 * (weight or 1)


def test_a_wrong_argument_of_a_loss_is_found_at_the_call(run):
    net, loss = run(nn.Dense(1, in_units=2)), gluon.loss.L2Loss()
    for number in range(12):
        with autograd.record():
            out = net(nd.ones((4, 2)))
            if number % 3 == 2:
                with pytest.raises(mx.MXNetError, match=r'\(4, 1\)'):
                    loss(out, nd.zeros((4, 1)), nd.ones((3, 1)))
            value = loss(out, nd.zeros((4, 1)), nd.ones((4, 1)))
        value.backward()


def test_a_wrong_input_or_parameter_is_found_at_the_call(run):
    """Kinds of calls did not hold those of parameters, and of inputs that have a gradient."""
    net = run(nn.Dense(1, in_units=2))
    for number in range(9):
        z = nd.ones((3, 3 if number % 3 == 2 else 2))
        z.attach_grad()
        with autograd.record():
            if number % 3 == 2:
                with pytest.raises(mx.MXNetError):
                    net(z)
                continue
            o = net(z)
        o.backward()
        assert z.grad.asnumpy().tolist() == [[1, 1]] * 3
    net.weight.cast('float64')
    for _ in range(3):
        with autograd.record(), pytest.raises(mx.MXNetError, match='dtype'):
            net(nd.ones((3, 2)))


def test_hooks_and_copies_of_a_loss():
    net, loss, seen = nn.Dense(1, in_units=2), gluon.loss.L2Loss(), []
    net.initialize(mx.init.One())
    net.hybridize()
    for number in range(12):
        if number == 4:
            handle = loss.register_forward_hook(lambda block, inputs, output: seen.append(output.shape))
        if number == 8:
            handle.detach()
        if number == 10:
            loss = pickle.loads(pickle.dumps(copy.copy(loss)))
            loss._weight = 3
        with autograd.record():
            value = loss(net(nd.array([[1, 2]])), nd.zeros((1, 1)))
        value.backward()
        assert value.asscalar() == (13.5 if number >= 10 else 4.5)
    assert seen == [(1,)] * 4


# ---------------------------------------------------------------------- memory that is shared
@pytest.mark.parametrize('view, changed', [
    (lambda o: o[0:1], [[7, 7], [7, 7]]), (lambda o: o[1], [[3, 3], [7, 7]]), (lambda o: o[-1:], [[3, 3], [7, 7]]),
    (lambda o: o.reshape((4,))[1:3], [[3, 7], [7, 7]]), (lambda o: o.reshape((-1, 1)), [[7, 7], [7, 7]]),
    (lambda o: o[:, 0:1], [[3, 3], [7, 7]]), (lambda o: o[0][1:], [[3, 7], [7, 7]]),
    (lambda o: o * 1, [[3, 3], [7, 7]])])
def test_views_of_outputs(run, view, changed):
    net, expected = run(nn.Dense(2, in_units=2, use_bias=False)), np.array(changed)
    copied = view(nd.array([[3, 3], [7, 7]])).size and changed == [[3, 3], [7, 7]]
    for _ in range(7):
        with autograd.record():
            o = net(nd.array([[1, 2], [3, 4]]))
            v = view(o)
            loss = (o * o).sum() + v.sum()
        loss.backward()
        before = o.asnumpy()
        assert before.tolist() == [[3, 3], [7, 7]]
        v[:] = 7
        after = o.asnumpy()
        assert (after != before).any() or copied, 'the view shares memory'
        plain = nd.array([[3, 3], [7, 7]])
        w = view(plain)
        w[:] = 7
        assert after.tolist() == plain.asnumpy().tolist()
        assert not copied or (after == expected).all()


class Given(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        return x, x * 2


class Twice(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        y = x * 2
        return y, y


class Weight(gluon.HybridBlock):
    def __init__(self):
        super().__init__()
        self.w = self.params.get('w', shape=(2,))

    def hybrid_forward(self, F, x, w):
        return w


@pytest.mark.filterwarnings('ignore:.*is not used by its computation')
def test_inputs_and_parameters_that_a_block_gives(run):
    net = run(Given())
    for number in range(8):
        x = nd.array([1., 2.])
        x.attach_grad()
        with autograd.record():
            o, double = net(x)
            loss = (o * double).sum()
        loss.backward()
        assert x.grad.asnumpy().tolist() == [4, 8]
        o[:] = 5
        assert x.asnumpy().tolist() == [5, 5]
        o, _ = net(x)
        o[:] = number
        assert x.asnumpy().tolist() == [number, number]
    net = run(Weight())
    for number in range(4):
        net(nd.zeros(1))[:] = number
        assert net.w.data().asnumpy().tolist() == [number, number]


@pytest.mark.parametrize('flags', [{}, {'static_alloc': True, 'static_shape': True}])
def test_an_output_that_is_given_twice(flags):
    net = Twice()
    net.hybridize(**flags)
    for recording in (False, True) * 4:
        x = nd.ones(2)
        x.attach_grad()
        with autograd.record() if recording else autograd.pause():
            a, b = net(x)
            product = (a * b).sum()
        if recording:
            product.backward()
            assert x.grad.asnumpy().tolist() == [8, 8]
        a[:] = 7
        assert b.asnumpy().tolist() == [2, 2]


def test_the_type_of_a_pending_array(run):
    net = run(nn.Dense(1, in_units=2))
    for _ in range(5):
        x = nd.array([[1, 2]])
        with autograd.record():
            o = net(x)
            value = o.sum()
        assert {type(a) for a in (o, x, value, net.weight.data())} == {nd.NDArray}
        assert o.__class__ is nd.NDArray and isinstance(value, nd.NDArray)
        value.backward()


# ---------------------------------------------------------------------- writes
WRITES = {'x[:] =': lambda x: x.__setitem__(slice(None), x * 0.5), '*=': lambda x: x.__imul__(0.5),
          '-=': lambda x: x.__isub__(x * 0.5), 'out=': lambda x: nd.broadcast_mul(x, nd.array([0.5]), out=x),
          'copyto': lambda x: (x * 0.5).copyto(x), 'sgd_update': lambda x: nd.sgd_update(x, x, lr=0.5, out=x)}


@pytest.mark.parametrize('write', WRITES.values(), ids=WRITES)
def test_writes_in_a_pause(write):
    """`backward` computes with the new values; in-place operators did not tell that they write."""
    w = nd.array([1., 2.])
    w.attach_grad()
    for number in range(3):
        with autograd.record():
            loss = (w * w).sum()
            with autograd.pause():
                write(w)
        loss.backward()
        np.testing.assert_allclose(w.asnumpy(), np.array([1, 2]) / 2 ** (number + 1))
        np.testing.assert_allclose(w.grad.asnumpy(), 2 * w.asnumpy())


@pytest.mark.parametrize('write', WRITES.values(), ids=WRITES)
def test_writes_in_a_pause_after_a_block(run, write):
    net = run(nn.Dense(1, in_units=2, use_bias=False))
    for number in range(6):
        with autograd.record():
            value = net(nd.array([[1, 2]])).sum()
            with autograd.pause():
                write(net.weight.data())
        assert value.asscalar() == 3 / 2 ** number
        value.backward()
        assert net.weight.grad().asnumpy().tolist() == [[1, 2]]


def test_an_index_that_is_written_before_backward(run):
    net = run(nn.Embedding(4, 2))
    for _ in range(5):
        index = nd.array([0, 1])
        with autograd.record():
            value = net(index).sum()
        index[:] = 2
        with pytest.raises(mx.MXNetError, match='written in place'):
            value.backward()


@pytest.mark.parametrize('function, shape', [
    (lambda w, i: nd.take(w, i), (2,)), (lambda w, i: nd.pick(w, i), (3,)), (lambda w, i: nd.batch_take(w, i), (3,)),
    (lambda w, i: nd.where(i, w[:, 0], w[:, 1]), (3,)), (lambda w, i: nd.gather_nd(w, i), (1, 2)),
    (lambda w, i: nd.SequenceMask(w, i, use_sequence_length=True), (4,)),
    (lambda w, i: nd.contrib.boolean_mask(w, i), (3,)), (lambda w, i: gluon.loss.SoftmaxCELoss()(w, i), (3,))])
def test_indices_that_are_written_before_backward(function, shape):
    w = nd.random.normal(shape=(3, 4))
    w.attach_grad()
    index = nd.ones(shape)
    with autograd.record():
        value = function(w, index)
    value.backward()                        # not written: fine
    with autograd.record():
        value = function(w, index)
    index[:] = 0
    with pytest.raises(mx.MXNetError, match='written in place') as error:
        value.backward()
    assert 'torch' not in str(error.value) and 'version' not in str(error.value)


def test_arguments_of_executors_are_taken_as_they_are():
    x = mx.sym.var('x')
    executor = mx.sym.FullyConnected(mx.sym.square(x * 1), num_hidden=1, name='f').simple_bind(mx.cpu(), x=(1, 2))
    for _ in range(4):
        for array in executor.arg_arrays:
            array[:] = 1
        executor.forward(is_train=True)
        executor.arg_dict['x'][:] = 5
        executor.arg_dict['f_weight'][:] = 3
        executor.backward(nd.ones((1, 1)))
        assert executor.grad_dict['x'].asnumpy().tolist() == [[6, 6]]


# ---------------------------------------------------------------------- BatchNorm's averages, on a CPU
def test_backward_moves_averages(run):
    net = run(nn.BatchNorm(in_channels=1, momentum=0.5))
    x, found = nd.array([[1], [3]]), []

    def look():
        found.append(net.running_mean.data().asscalar())

    for _ in range(3):
        with autograd.record():
            o = net(x)
        look()
        o.backward(retain_graph=True)
        look()
        o.backward()
        look()
        with autograd.record():
            o = net(x).detach()
        look()
        with autograd.train_mode():
            net(x).asnumpy()
        look()
    expected, mean = [], 0.0
    for _ in range(3):
        expected += [mean, (mean + 2) / 2, ((mean + 2) / 2 + 2) / 2]
        mean = expected[-1]
        expected += [mean, mean]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_averages_of_frozen_layers(run):
    """Where no gradient comes back to a BatchNorm, it stays as it is."""
    net = run(chain(nn.Dense(2, in_units=2), nn.BatchNorm(in_channels=2), nn.Dense(1, in_units=2)))
    x = nd.array([[1, 2], [3, 5]])
    for frozen in (False, True, False, True, True, False):
        for layer in (net[0], net[1]):
            layer.collect_params('.*(weight|bias|gamma|beta)').setattr('grad_req', 'null' if frozen else 'write')
        before = net[1].running_mean.data().asnumpy().copy()
        with autograd.record():
            o = net(x)
        o.backward()
        assert (net[1].running_mean.data().asnumpy() == before).all() == frozen


def test_one_batch_norm_called_twice(run):
    """The later call moves the averages first."""
    for _ in range(4):
        net = run(nn.BatchNorm(in_channels=1, momentum=0.5))
        x = nd.array([[1], [3]])
        for _ in range(4):
            net.running_mean.set_data(nd.zeros(1))
            with autograd.record():
                value = net(x).sum() + net(x + 10).sum()
            value.backward()
            assert net.running_mean.data().asscalar() == ((0 + 12) / 2 + 2) / 2


def test_averages_after_an_error(run):
    net = run(chain(nn.Dense(2, in_units=2), nn.BatchNorm(in_channels=2), nn.Dense(1, in_units=2)))
    x = nd.array([[1, 2], [3, 5]])
    for number in range(6):
        try:
            with autograd.record():
                o = net(x + number)
                if number % 2:
                    raise KeyError
            o.backward()
        except KeyError:
            pass
    np.testing.assert_allclose(net[1].running_mean.data().asnumpy(), [2.6505, 2.6505], rtol=1e-5)


@pytest.mark.parametrize('wanted, moves', [('weight', True), ('last', False)])
def test_averages_that_a_gradient_passes(run, wanted, moves):
    net = run(chain(nn.Dense(2, in_units=2), nn.BatchNorm(in_channels=2), nn.Dense(1, in_units=2)))
    x = nd.array([[1, 2], [3, 5]])
    for _ in range(4):
        before = net[1].running_mean.data().asnumpy().copy()
        with autograd.record():
            value = (net(x) ** 2).sum()
        autograd.grad(value, [net[0].weight.data() if wanted == 'weight' else net[2].bias.data()])
        assert (net[1].running_mean.data().asnumpy() == before).all() != moves


# ---------------------------------------------------------------------- heads
def test_heads_that_are_no_graphs():
    w = nd.array([2.])
    w.attach_grad()
    with autograd.record():
        one, other = w * w, w * 3
    one.backward()
    for heads in ([one, other], [nd.ones(1), other]):
        with pytest.raises(mx.MXNetError):
            autograd.backward(heads)


def test_a_head_that_is_given_twice(run):
    net = run(nn.Dense(1, in_units=1))
    for _ in range(5):
        with autograd.record():
            o = net(nd.array([[3]]))
        autograd.backward([o, o])
        assert net.weight.grad().asscalar() == 3


def test_gradients_of_gradients_leave_others(run):
    net = run(nn.Dense(3, in_units=2))
    for _ in range(4):
        with autograd.record():
            value = (net(nd.ones((2, 2))) ** 2).sum()
        value.backward()
        bias = net.bias.grad().asnumpy().copy()
        z = nd.ones((2, 2))
        z.attach_grad()
        with autograd.record():
            penalty = nd.square(autograd.grad(net(z), z, create_graph=True, retain_graph=True)[0]).sum()
        penalty.backward()
        assert (net.bias.grad().asnumpy() == bias).all() and bias.any()
        assert (net.weight.grad().asnumpy() == 12).all()


def test_cast_keeps_gradients():
    net = nn.Dense(1, in_units=2)
    net.initialize(mx.init.One())
    with autograd.record():
        value = net(nd.ones((1, 2)))
    value.backward()
    net.cast('float64')
    assert net.weight.grad().asnumpy().tolist() == [[1, 1]] and net.weight.grad().dtype == np.float64


def test_a_symbol_block_of_parameters_that_have_changed(run):
    net = run(chain(nn.Dense(2, in_units=2), nn.LayerNorm(in_channels=2)))
    net(nd.ones((1, 2)))
    net[0].weight.wd_mult = 0.1
    net.collect_params().setattr('grad_req', 'null')
    x = mx.sym.var('data')
    block = gluon.SymbolBlock(net(x), x, params=net.collect_params())
    assert block(nd.ones((1, 2))).shape == (1, 2)
    assert block.collect_params()[net[0].weight.name].wd_mult == 0.1


# ---------------------------------------------------------------------- the switch
def test_the_switch_turns_all_of_it_off(monkeypatch):
    monkeypatch.setattr(type(mx._state.state), 'naive', True)
    net, loss = chain(nn.Dense(8, in_units=2), nn.Dense(1, in_units=8)), gluon.loss.L2Loss()
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.01})
    for _ in range(6):
        with autograd.record():
            o = net(nd.ones((4, 2)))
            value = loss(o, nd.zeros((4, 1)))
        assert o._pending is None and value._pending is None
        value.backward()
        assert all(p.grad()._pending is None for p in net.collect_params().values())
        trainer.step(4)
        net(nd.ones((4, 2)))
    cached = net._cached_op
    assert net._bound_call is None and net._bound_prediction is None
    assert not cached.deferral.step_plans and cached.predictions.last is None
    assert not cached._plans._plans and cached.deferral.group is None


@pytest.mark.parametrize('mode', [None, {}, {'static_alloc': True, 'static_shape': True}])
@pytest.mark.parametrize('which', ['i2h', 'h2h'])
@pytest.mark.parametrize('layer', ['RNN', 'LSTM', 'GRU'])
def test_a_recurrent_layer_has_copies_of_its_weights(layer, which, mode):
    """A weight that is written in a pause does not change the gradient of a call before, as in 1.9.1."""
    def gradient(written):
        net = getattr(gluon.rnn, layer)(3, input_size=2, layout='NTC')
        net.initialize(mx.init.One())
        for i, p in enumerate(net.collect_params().values()):
            p.set_data(nd.array(np.random.RandomState(i).uniform(-1, 1, p.shape)))
        if mode is not None:
            net.hybridize(**mode)
        weight = getattr(net, f'l0_{which}_weight')
        kept = weight.data().copy()
        for _ in range(4):
            weight.set_data(kept)
            x = nd.array(np.random.RandomState(9).uniform(-1, 1, (2, 3, 2)))
            x.attach_grad()
            with autograd.record():
                out = net(x)
                if written:
                    with autograd.pause():
                        w = weight.data()
                        w *= 0.5
                loss = (out * out).sum()
            loss.backward()
            yield x.grad.asnumpy(), weight.grad().asnumpy()

    for found, expected in zip(gradient(True), gradient(False), strict=True):
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_a_picture_that_is_written_in_a_pause(run):
    """`backward` computes with the new values, also where plans keep channels last, which copies pictures."""
    net = run(nn.Conv2D(3, 1, in_channels=2))
    for _ in range(6):
        x = nd.array(np.random.RandomState(1).uniform(-1, 1, (2, 2, 6, 6)))
        with autograd.record():
            loss = net(x).sum()
            with autograd.pause():
                x[:] = x * 0.5
        expected = x.asnumpy().sum((0, 2, 3))
        loss.backward()
        np.testing.assert_allclose(net.weight.grad().asnumpy().reshape(3, 2), [expected] * 3, rtol=1e-4, atol=1e-5)


def test_a_frozen_block_behind_constants_is_not_differentiable():
    """Its inputs had a gradient in the call before."""
    first, second = nn.Dense(4, in_units=3), nn.Dense(1, in_units=4)
    for block in (first, second):
        block.initialize()
        block.hybridize()
    loss, x = gluon.loss.L2Loss(), nd.ones((5, 3))
    for _ in range(3):
        with autograd.record():
            out = loss(second(first(x)), nd.ones((5, 1)))
        out.backward()
    second.collect_params().setattr('grad_req', 'null')
    for _ in range(3):
        with autograd.record():
            through = loss(second(first(x)), nd.ones((5, 1)))
        with autograd.record():
            constant = loss(second(first(x).detach()), nd.ones((5, 1)))
        with pytest.raises(mx.MXNetError, match='not computed from an array with a gradient'):
            constant.backward()
        through.backward()
