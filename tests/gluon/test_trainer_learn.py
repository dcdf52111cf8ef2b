"""`Trainer._backward_and_step`, the step of our own loops: the results of `backward` and `step`, as one plan."""
import itertools

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet._graph.cuda import runner as _runner
from mxnet._lazy.step import BoundStep
from mxnet.base import MXNetError
from mxnet.gluon.contrib import estimator as est

DEVICES = pytest.mark.parametrize('ctx', [mx.cpu(), pytest.param(mx.gpu(), marks=pytest.mark.gpu)], ids=str)
STEPS = 16              # with RUNS_BEFORE_JOINING as below, enough for an update to join a graph, and to leave it


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(_runner, 'RUNS_BEFORE_JOINING', 3)


@pytest.fixture
def followed(monkeypatch):
    """A list with, for each run of a plan, whether an update was part of it."""
    found, run = [], BoundStep.run

    def watched(self, step, tensors, refs, ctx, then=None):
        found.append(then is not None)
        return run(self, step, tensors, refs, ctx, then)

    monkeypatch.setattr(BoundStep, 'run', watched)
    return found


def network(ctx, hybridize=True, dtype='float32'):
    mx.random.seed(4)
    np.random.seed(4)
    net = gluon.nn.HybridSequential(prefix='net_')
    with net.name_scope():
        net.add(gluon.nn.Dense(16, in_units=6), gluon.nn.BatchNorm(in_channels=16), gluon.nn.Activation('relu'),
                gluon.nn.Dropout(0.2), gluon.nn.Dense(4, in_units=16))
    net.initialize(mx.init.Xavier(), ctx=ctx)
    net.cast(dtype)
    if hybridize:
        net.hybridize(static_alloc=True, static_shape=True)
    return net


def batches(ctx, count=STEPS, size=8, dtype='float32'):
    random = np.random.RandomState(3)
    return [(nd.array(random.rand(size, 6), ctx=ctx, dtype=dtype), nd.array(random.randint(0, 4, size), ctx=ctx))
            for _ in range(count)]


LOSS = gluon.loss.SoftmaxCrossEntropyLoss()


def recorded(net, batch):
    with autograd.record():
        return LOSS(net(batch[0]), batch[1])


def together(net, trainer, batch):
    loss = recorded(net, batch)
    trainer._backward_and_step([loss], len(batch[1]))
    return loss


def counted(net, trainer, batch):
    loss = recorded(net, batch)
    trainer._backward_and_step([loss])
    return loss


def apart(net, trainer, batch):
    loss = recorded(net, batch)
    loss.backward()
    trainer.step(len(batch[1]))
    return loss


def _flat(state):
    if state is None:
        return []
    return [a for part in state for a in _flat(part)] if isinstance(state, (list, tuple)) else [state]


def seen(net, trainer, loss):
    """All that a program can see of a step."""
    params = net.collect_params().values()
    arrays = [loss, *[p.data() for p in params], *[p.grad() for p in params if p.grad_req != 'null'],
              *_flat([state for _, state in sorted(trainer._updaters[0].states.items())])]
    fresh = [p.data()._fresh_grad for p in params if p.grad_req != 'null']
    chance = mx.random.generator(loss.context).get_state().tolist()[-16:]
    return [(trainer._optimizer.num_update, fresh, chance), *[a.asnumpy() for a in arrays]]


def same(ctx, between=lambda net, trainer, number: None, optimizer='sgd', options=lambda: {'learning_rate': 0.1},
         how=together, count=STEPS, dtype='float32', prepare=lambda net: None):
    """Trains two networks, one by `_backward_and_step`, and compares what can be seen of them after each step."""
    found = []
    for step in (apart, how):
        net, steps = network(ctx, dtype=dtype), []
        prepare(net)
        trainer = gluon.Trainer(net.collect_params(), optimizer, options())
        for number, batch in enumerate(batches(ctx, count, dtype=dtype)):
            between(net, trainer, number)
            steps.append(seen(net, trainer, step(net, trainer, batch)))
        found.append(steps)
    for number, (one, other) in enumerate(zip(*found, strict=True)):
        assert one[0] == other[0], f'step {number}'
        for a, b in zip(one[1:], other[1:], strict=True):
            np.testing.assert_array_equal(a, b, f'step {number}')
    return net, trainer


# ---------------------------------------------------------------------- the same results
@DEVICES
@pytest.mark.parametrize('optimizer, options', [
    ('sgd', {}), ('sgd', {'momentum': 0.9, 'wd': 1e-3}), ('sgd', {'momentum': 0.9, 'clip_gradient': 0.01}),
    ('nag', {'momentum': 0.9}), ('adam', {'learning_rate': 0.01}), ('lamb', {}), ('adagrad', {})],
    ids=['sgd', 'decay', 'clipped', 'nag', 'adam', 'lamb', 'adagrad'])
@pytest.mark.parametrize('how', [together, counted])
def test_same_results(ctx, optimizer, options, how, followed):
    same(ctx, optimizer=optimizer, options=lambda: {'learning_rate': 0.1, **options}, how=how)
    assert followed.count(True) >= STEPS - 4


@DEVICES
@pytest.mark.parametrize('scheduler', [
    lambda: mx.lr_scheduler.FactorScheduler(step=6, factor=0.5, base_lr=0.1),
    lambda: mx.lr_scheduler.PolyScheduler(max_update=20, base_lr=0.1)], ids=['now and then', 'each time'])
def test_rates_that_change(ctx, scheduler):
    same(ctx, options=lambda: {'lr_scheduler': scheduler(), 'momentum': 0.9})


@DEVICES
def test_rates_that_are_set(ctx):
    def between(net, trainer, number):
        if number in (5, 10):
            trainer.set_learning_rate(0.1 / number)
        if number == 8:
            net[0].weight.lr_mult = 0.5
        if number == 12:
            trainer._optimizer.wd = 0.01

    same(ctx, between, options=lambda: {'learning_rate': 0.1, 'momentum': 0.9})


@DEVICES
def test_states_that_are_saved_and_loaded(ctx, tmp_path):
    def between(net, trainer, number):
        if number == 6:
            trainer.save_states(str(tmp_path / 'states'))
            net.save_parameters(str(tmp_path / 'net.params'))
        if number == 11:
            trainer.load_states(str(tmp_path / 'states'))
            net.load_parameters(str(tmp_path / 'net.params'), ctx=ctx)

    same(ctx, between, optimizer='adam')


@DEVICES
def test_steps_of_each_kind_in_turn(ctx):
    def between(net, trainer, number):
        if number in (5, 6, 11):
            apart(net, trainer, batches(ctx, 1)[0])
        if number == 9:
            recorded(net, batches(ctx, 1)[0]).backward()

    same(ctx, between, options=lambda: {'learning_rate': 0.1, 'momentum': 0.9})


@DEVICES
def test_arrays_that_are_written_or_exchanged(ctx):
    def between(net, trainer, number):
        if number == 6:
            net[0].weight.set_data(net[0].weight.data() * 0.5)
        if number == 9:
            trainer._updaters[0].states[0][:] = 0
        if number == 11:
            net[4].weight.grad_req = 'add'
        if number == 13:
            weight = net[0].weight.data()
            weight._rebind(weight.materialize().clone())

    same(ctx, between, options=lambda: {'learning_rate': 0.1, 'momentum': 0.9})


@DEVICES
def test_parameters_that_do_not_learn(ctx):
    def prepare(net):
        net[0].weight.grad_req = 'null'
        net[4].bias.grad_req = 'add'

    same(ctx, prepare=prepare)


@DEVICES
def test_weights_of_low_precision(ctx):
    same(ctx, options=lambda: {'learning_rate': 0.1, 'momentum': 0.9, 'multi_precision': True}, dtype='float16')


@DEVICES
def test_batches_of_another_size(ctx):
    found = []
    for how in (apart, counted):
        net = network(ctx)
        trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1})
        for number in range(12):
            how(net, trainer, batches(ctx, 1, 5 if number % 4 == 3 else 8)[0])
        found.append([p.data().asnumpy() for p in net.collect_params().values()])
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)


def test_several_contexts():
    ctx = [mx.cpu(0), mx.cpu(1)]
    found = []
    for learns in (False, True):
        net = network(ctx)
        trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1, 'momentum': 0.9})
        for x, y in batches(mx.cpu(), 6):
            with autograd.record():
                losses = [LOSS(net(a), b) for a, b in zip(gluon.utils.split_and_load(x, ctx),
                                                          gluon.utils.split_and_load(y, ctx), strict=True)]
            if learns:
                trainer._backward_and_step(losses)
            else:
                autograd.backward(losses)
                trainer.step(8)
        found.append([p.data(ctx[1]).asnumpy() for p in net.collect_params().values()])
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_trainer_of_some_parameters(followed):
    """The others have gradients, too, which nobody uses; their own trainer finds them new."""
    net = network(mx.cpu())
    some, others = net[4].collect_params(), [net[0].weight, net[0].bias]
    one, other = (gluon.Trainer(params, 'sgd', {'learning_rate': 0.1}) for params in (some, others))
    for batch in batches(mx.cpu(), 6):
        before = [p.data().asnumpy() for p in (*some.values(), *others)]
        together(net, one, batch)
        other.step(8)
        assert all((p.data().asnumpy() != b).any() for p, b in zip((*some.values(), *others), before, strict=True))
    assert followed.count(True) >= 3


def test_a_parameter_without_a_new_gradient_is_an_error():
    net, unused = network(mx.cpu()), gluon.nn.Dense(2, in_units=3)
    unused.initialize()
    params = [*net.collect_params().values(), *unused.collect_params().values()]
    trainer = gluon.Trainer(params, 'sgd', {'learning_rate': 0.1})
    for batch in batches(mx.cpu(), 4):
        with pytest.raises(UserWarning, match='has not been written by backward'):
            together(net, trainer, batch)
    for batch in batches(mx.cpu(), 4):
        recorded(unused, (nd.ones((2, 3)), nd.zeros(2))).backward()
        together(net, trainer, batch)
        assert not unused.weight.data()._fresh_grad
    with pytest.raises(UserWarning, match='has not been written by backward'):
        together(net, trainer, batch)


# ---------------------------------------------------------------------- mistakes and interruptions
def stopping(monkeypatch, error, at):
    """The run `at` of a plan ends with an error, once the update has been decided on."""
    run, runs = _runner.Runner.run, []

    def broken(self, tensors, buffers, then=None):
        runs.append(then)
        if len(runs) == at:
            assert then is not None
            raise error
        return run(self, tensors, buffers, then)

    monkeypatch.setattr(_runner.Runner, 'run', broken)


def test_a_plan_that_fails_is_computed_the_long_way(monkeypatch):
    """And the update, which has been counted by then, is done once."""
    net, trainer = same(mx.cpu(), optimizer='adam', count=6)
    other, second = same(mx.cpu(), optimizer='adam', count=6)
    batch = batches(mx.cpu(), 1)[0]
    mx.random.seed(1)
    expected = seen(net, trainer, apart(net, trainer, batch))
    error = MXNetError('no memory')
    error.of_plan = 'memory'            # as functions of plans raise it
    stopping(monkeypatch, error, 1)
    mx.random.seed(1)
    found = seen(other, second, together(other, second, batch))
    assert found[0] == expected[0]
    for a, b in zip(expected[1:], found[1:], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)


def test_ctrl_c_leaves_arrays_that_can_be_looked_at(monkeypatch):
    net, trainer = same(mx.cpu(), count=6)
    stopping(monkeypatch, KeyboardInterrupt(), 1)
    loss = recorded(net, batches(mx.cpu(), 1)[0])
    with pytest.raises(KeyboardInterrupt):
        trainer._backward_and_step([loss], 8)
    assert np.isfinite(loss.asnumpy()).all() and np.isfinite(net[0].weight.data().asnumpy()).all()
    together(net, trainer, batches(mx.cpu(), 1)[0])


# ---------------------------------------------------------------------- whoever has their own of a part
@pytest.mark.parametrize('where, name', [*itertools.product(['class', 'object', 'all'],
                                                            ['step', '_update', '_allreduce_grads'])])
@pytest.mark.parametrize('how', [together, apart])
def test_parts_of_ones_own_are_called(where, name, how, monkeypatch):
    calls, net = [], network(mx.cpu())
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1})
    for batch in batches(mx.cpu(), 4):
        how(net, trainer, batch)
    method = getattr(gluon.Trainer, name)

    def own(self, *args, **kwargs):
        calls.append(name)
        return method(self, *args, **kwargs)

    if where == 'class':
        trainer.__class__ = type('Own', (gluon.Trainer,), {name: own})
    elif where == 'object':
        setattr(trainer, name, own.__get__(trainer))
    else:
        monkeypatch.setattr(gluon.Trainer, name, own)
    for batch in batches(mx.cpu(), 3):
        how(net, trainer, batch)
    assert calls == [name] * 3


def test_an_updater_of_ones_own_is_called():
    calls, net = [], network(mx.cpu())
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1})

    class Own(mx.optimizer.Updater):
        def __call__(self, index, grad, weight):
            calls.append(len(index))
            super().__call__(index, grad, weight)

    for batch in batches(mx.cpu(), 3):
        together(net, trainer, batch)
    trainer._updaters = [Own(trainer._optimizer)]
    for how in (together, apart):
        for batch in batches(mx.cpu(), 3):
            how(net, trainer, batch)
    assert calls == [6] * 6


# ---------------------------------------------------------------------- loops
class Nothing(est.BatchEnd):
    """A handler that comes between the gradients and the update."""

    def __init__(self):
        self.priority, self.sizes = -3000, []

    def batch_end(self, estimator, *args, **kwargs):
        self.sizes.append(abs(estimator.net[0].weight.grad().asnumpy()).sum())


def fitted(ctx, handlers=(), processor=None, epochs=6):
    net = network(ctx)
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1, 'momentum': 0.9})
    made = est.Estimator(net, gluon.loss.SoftmaxCrossEntropyLoss(), trainer=trainer, context=ctx,
                         train_metrics=mx.metric.Accuracy(), batch_processor=processor)
    made.logger.handlers.clear()
    x, y = (nd.concat(*part, dim=0) for part in zip(*batches(mx.cpu(), 4), strict=True))
    made.fit(gluon.data.DataLoader(gluon.data.ArrayDataset(x, y), 8), epochs=epochs, event_handlers=list(handlers))
    return [metric.get() for metric in made.train_metrics], [p.data().asnumpy() for p in net.collect_params().values()]


@DEVICES
def test_an_estimator_learns_by_such_steps(ctx, followed):
    expected = fitted(ctx, [Nothing()])
    assert followed and not any(followed)
    followed.clear()
    found = fitted(ctx)
    assert followed.count(True) >= 20
    assert found[0] == expected[0]
    for a, b in zip(found[1], expected[1], strict=True):
        np.testing.assert_array_equal(a, b)


class Own(est.BatchProcessor):
    def fit_batch(self, estimator, train_batch, batch_axis=0):
        return super().fit_batch(estimator, train_batch, batch_axis)


class OwnUpdate(est.GradientUpdateHandler):
    pass


@pytest.mark.parametrize('handlers, processor', [([], Own), ([OwnUpdate], lambda: None)], ids=['batch', 'update'])
def test_an_estimator_with_parts_of_ones_own(handlers, processor, followed):
    expected = fitted(mx.cpu())
    followed.clear()
    found = fitted(mx.cpu(), [handler() for handler in handlers], processor())
    assert followed and not any(followed)
    for a, b in zip(found[1], expected[1], strict=True):
        np.testing.assert_array_equal(a, b)


# ---------------------------------------------------------------------- CUDA graphs
def _runner_of(net):
    """Of the step that the network was last part of."""
    return net._bound_call.cached.deferral.last_step.runner


@pytest.mark.gpu
def test_the_update_becomes_part_of_the_graph():
    ctx = mx.gpu()
    net = network(ctx)
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1, 'momentum': 0.9})
    for batch in batches(ctx):
        together(net, trainer, batch)
    update = trainer._updaters[0]._bound
    assert _runner_of(net)._joined is update.steady is not None and update.graph is None
    params = net.collect_params().values()
    arrays = [*[p.data() for p in params], *[p.grad() for p in params if p.grad_req != 'null'],
              *_flat(list(trainer._updaters[0].states.values()))]
    before = [a.materialize()._version for a in arrays]
    together(net, trainer, batch)
    assert all(a.materialize()._version > v for a, v in zip(arrays, before, strict=True))
    # and leaves it again where a program goes on by itself
    for batch in batches(ctx, 3):
        apart(net, trainer, batch)
    assert _runner_of(net)._joined is None
