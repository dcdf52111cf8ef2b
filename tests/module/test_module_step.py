"""A step of the loops that are ours: forward, backward and the update as one, with the results of each by itself."""
import itertools
import logging

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd, sym
from mxnet._graph.cuda import runner as _runner
from mxnet.io import DataBatch, NDArrayIter

QUIET = logging.Logger('quiet', logging.ERROR)
DEVICES = pytest.mark.parametrize('ctx', [mx.cpu(), pytest.param(mx.gpu(), marks=pytest.mark.gpu)], ids=str)
STEPS = 14              # with RUNS_BEFORE_JOINING as below, enough for an update to join a graph, and to leave it


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(_runner, 'RUNS_BEFORE_JOINING', 3)


def network(**kwargs):
    x = sym.FullyConnected(sym.var('data'), num_hidden=16, name='fc1')
    x = sym.Activation(sym.BatchNorm(x, fix_gamma=False, name='bn'), act_type='relu')
    return sym.SoftmaxOutput(sym.FullyConnected(x, num_hidden=4, name='fc2', **kwargs), name='softmax')


def batches(ctx, count=STEPS, size=8):
    random = np.random.RandomState(3)
    return [DataBatch([nd.array(random.rand(size, 6), ctx=ctx)], [nd.array(random.randint(0, 4, size), ctx=ctx)])
            for _ in range(count)]


def ready(ctx, symbol=None, optimizer='sgd', options=(), kvstore='local', grad_req='write', **kwargs):
    module = mx.mod.Module(network() if symbol is None else symbol, context=ctx, logger=QUIET, **kwargs)
    module.bind([('data', (8, 6))], [('softmax_label', (8,))], grad_req=grad_req)
    mx.random.seed(4)
    np.random.seed(4)
    module.init_params(mx.init.Xavier())
    module.init_optimizer(kvstore, optimizer, dict(options))
    return module


def apart(module, batch):
    module.forward_backward(batch)
    module.update()


def together(module, batch):
    module._step(batch)


def seen(module):
    """All that a program can see of a module after a step."""
    group = module._exec_group
    arrays = [*module.get_outputs(), *[a for block in group.grad_arrays for a in block if a is not None],
              *[a for block in (*group.param_arrays, *group.aux_arrays) for a in block]]
    states = module._updater.states if module._updater is not None else {}
    arrays += [a for _, state in sorted(states.items()) for a in _flat(state)]
    return [module._optimizer.num_update, *[a.asnumpy() for a in arrays]]


def _flat(state):
    if state is None:
        return []
    return [a for part in state for a in _flat(part)] if isinstance(state, (list, tuple)) else [state]


def same(ctx, between=lambda module, number: None, count=STEPS, **kwargs):
    """Trains two modules, one by `_step`, and compares what can be seen of them after each step."""
    found = []
    for how in (apart, together):
        module, steps = ready(ctx, **{k: v() if callable(v) else v for k, v in kwargs.items()}), []
        for number, batch in enumerate(batches(ctx if isinstance(ctx, mx.Context) else mx.cpu(), count)):
            between(module, number)
            how(module, batch)
            steps.append(seen(module))
        found.append(steps)
    for one, other in zip(*found, strict=True):
        assert one[0] == other[0]
        for a, b in zip(one[1:], other[1:], strict=True):
            np.testing.assert_array_equal(a, b)
    return module


def options(**kwargs):
    return {'learning_rate': 0.1, 'rescale_grad': 1 / 8, **kwargs}


@DEVICES
@pytest.mark.parametrize('optimizer, more', [
    ('sgd', {}), ('sgd', {'momentum': 0.9, 'wd': 1e-3}), ('sgd', {'momentum': 0.9, 'clip_gradient': 0.01}),
    ('nag', {'momentum': 0.9}), ('adam', {'learning_rate': 0.01}), ('signum', {'momentum': 0.9}), ('adagrad', {})],
    ids=['sgd', 'decay', 'clipped', 'nag', 'adam', 'signum', 'adagrad'])
def test_same_results(ctx, optimizer, more):
    same(ctx, optimizer=optimizer, options=options(**more))


@DEVICES
@pytest.mark.parametrize('scheduler', [
    lambda: mx.lr_scheduler.FactorScheduler(step=6, factor=0.5, base_lr=0.1),
    lambda: mx.lr_scheduler.PolyScheduler(max_update=20, base_lr=0.1)], ids=['now and then', 'each time'])
def test_rates_that_change(ctx, scheduler):
    same(ctx, options=lambda: options(lr_scheduler=scheduler(), momentum=0.9))


@DEVICES
def test_rates_that_are_set(ctx):
    def between(module, number):
        if number in (5, 10):
            module._optimizer.set_learning_rate(0.1 / number)
        if number == 8:
            module._optimizer.wd_mult = {'fc1_weight': 2.0}
        if number == 11:
            module._optimizer.rescale_grad = 1 / 4

    same(ctx, between, options=options(wd=1e-3))


@DEVICES
def test_states_that_are_saved_and_loaded(ctx, tmp_path):
    kept = {}

    def between(module, number):
        name = str(tmp_path / 'states')
        if number == 6:
            module.save_optimizer_states(name)
            kept['params'] = [{k: v.copy() for k, v in part.items()} for part in module.get_params()]
        if number == 10:
            module.load_optimizer_states(name)
            module.set_params(*kept['params'])

    same(ctx, between, options=options(momentum=0.9))


@DEVICES
def test_an_update_by_hand_in_between(ctx):
    def between(module, number):
        if number in (4, 9):
            module.update()
        if number in (5, 10):
            module.forward_backward(batches(ctx)[0])

    same(ctx, between, options=options(momentum=0.9))


@DEVICES
def test_arrays_that_are_written_or_exchanged(ctx):
    def between(module, number):
        weight = module._exec_group.param_arrays[0][0]
        if number == 6:
            weight *= 0.5
        if number == 9:
            module.set_params({'fc2_bias': nd.array([1, 2, 3, 4])}, {}, allow_missing=True)
        if number == 11:
            weight._rebind(weight.materialize().clone())
        if number == 12:
            state = module._updater.states[0]
            state._rebind(state.materialize().clone())

    same(ctx, between, options=options(momentum=0.9))


@DEVICES
@pytest.mark.parametrize('kwargs', [
    {'fixed_param_names': ['fc1_weight', 'bn_gamma']}, {'grad_req': 'add'},
    {'grad_req': {'fc1_weight': 'add', 'fc2_bias': 'null'}}, {'kvstore': None},
    {'kvstore': lambda: mx.kv.create('local')}], ids=['fixed', 'add', 'mixed', 'no store', 'store'])
def test_kinds_of_modules(ctx, kwargs):
    same(ctx, options=options(momentum=0.9), **kwargs)


@pytest.mark.parametrize('ctx', [[mx.cpu(0), mx.cpu(1)],
                                 pytest.param([mx.gpu(0), mx.cpu(0)], marks=pytest.mark.gpu)], ids=str)
def test_several_contexts(ctx):
    same(ctx, options=options(momentum=0.9))


@DEVICES
def test_weights_of_low_precision(ctx):
    def symbol():
        x = sym.Cast(sym.var('data'), dtype='float16')
        x = sym.FullyConnected(x, num_hidden=4, name='fc')
        return sym.SoftmaxOutput(sym.Cast(x, dtype='float32'), name='softmax')

    same(ctx, symbol=symbol, options=options(momentum=0.9, multi_precision=True))


@DEVICES
def test_an_output_that_is_a_parameter_is_that_of_the_step(ctx):
    def symbol():
        bias = sym.var('fc_bias')
        x = sym.FullyConnected(sym.var('data'), bias=bias, num_hidden=4, name='fc')
        return sym.Group([sym.SoftmaxOutput(x, name='softmax'), bias, sym.reshape(bias, shape=(2, 2))])

    module = same(ctx, symbol=symbol, options=options())
    before = module._exec_group.param_arrays[-1][0].asnumpy()
    module._step(batches(ctx)[0])
    assert not _runner_of(module).fresh
    for output in module.get_outputs()[1:]:
        np.testing.assert_array_equal(output.asnumpy().ravel(), before)
    assert (module._exec_group.param_arrays[-1][0].asnumpy() != before).any()


@DEVICES
def test_batches_of_another_size(ctx):
    module, other = ready(ctx, options=options(momentum=0.9)), ready(ctx, options=options(momentum=0.9))
    for number in range(10):
        for batch in batches(ctx, 1, 5 if number % 4 == 3 else 8):
            together(module, batch)
            apart(other, batch)
    for a, b in zip(seen(module), seen(other), strict=True):
        np.testing.assert_array_equal(a, b)


@DEVICES
def test_fit_is_such_steps(ctx):
    random = np.random.RandomState(0)
    data = NDArrayIter(random.rand(40, 6), random.randint(0, 4, 40), batch_size=8)
    found = []
    for fits in (True, False):
        module = ready(ctx, options=options(momentum=0.9))
        metric = mx.metric.create(['acc', 'ce'])
        if fits:
            with pytest.warns(UserWarning, match='filled already'):
                module.fit(data, eval_metric=metric, num_epoch=3)
        else:
            for _ in range(3):
                data.reset()
                metric.reset()
                for batch in data:
                    apart(module, batch)
                    module.update_metric(metric, batch.label)
        data.reset()
        found.append((metric.get(), [v.asnumpy() for part in module.get_params() for v in part.values()]))
    assert found[0][0] == found[1][0]
    for a, b in zip(found[0][1], found[1][1], strict=True):
        np.testing.assert_array_equal(a, b)


# ---------------------------------------------------------------------- whoever has their own of a part
def _counting(calls, name):
    method = getattr(mx.mod.Module, name)

    def call(self, *args, **kwargs):
        calls.append(name)
        return method(self, *args, **kwargs)
    return call


@pytest.mark.parametrize('where, name', [
    *itertools.product(['class', 'object'], ['forward', 'backward', 'forward_backward', 'update']),
    ('all', 'forward_backward'), ('all', 'update')])
def test_parts_of_ones_own_are_called(where, name, monkeypatch):
    calls, module = [], ready(mx.cpu(), options=options())
    for batch in batches(mx.cpu(), 3):
        module._step(batch)
    if where == 'class':
        module.__class__ = type('Own', (mx.mod.Module,), {name: _counting(calls, name)})
    elif where == 'object':
        setattr(module, name, _counting(calls, name).__get__(module))
    else:
        monkeypatch.setattr(mx.mod.Module, name, _counting(calls, name))
    for batch in batches(mx.cpu(), 3):
        module._step(batch)
    assert calls == [name] * 3


def test_an_updater_of_ones_own_is_called():
    calls, module = [], ready(mx.cpu(), options=options())
    for batch in batches(mx.cpu(), 3):
        module._step(batch)

    class Own(mx.optimizer.Updater):
        def __call__(self, index, grad, weight):
            calls.append(len(index))
            super().__call__(index, grad, weight)

    module._updater = Own(module._optimizer)
    for batch in batches(mx.cpu(), 3):
        module._step(batch)
    assert calls == [6] * 3


def test_a_monitor_sees_every_step():
    module, names = ready(mx.cpu(), options=options()), []
    for batch in batches(mx.cpu(), 3):
        module._step(batch)
    module._exec_group.execs[0].set_monitor_callback(lambda name, array: names.append(name))
    for batch in batches(mx.cpu(), 3):
        module._step(batch)
    assert names.count('fc2_output') == 3
    module.forward_backward(batches(mx.cpu(), 1)[0])


# ---------------------------------------------------------------------- CUDA graphs
def _runner_of(module):
    return module._exec_group.execs[0]._bound_training.runner


@pytest.mark.gpu
def test_the_update_becomes_part_of_the_graph():
    ctx = mx.gpu()
    module = ready(ctx, options=options(momentum=0.9))
    for batch in batches(ctx):
        module._step(batch)
    update = module._updater._bound
    assert _runner_of(module)._joined is update.steady is not None and update.graph is None
    # whoever looks whether an array has been written finds it so
    arrays = [block[0] for block in (*module._exec_group.param_arrays, *module._exec_group.grad_arrays)]
    arrays += [*_flat(list(module._updater.states.values())), *[block[0] for block in module._exec_group.aux_arrays]]
    before = [a.materialize()._version for a in arrays]
    module._step(batches(ctx)[0])
    assert all(a.materialize()._version > v for a, v in zip(arrays, before, strict=True))


@pytest.mark.gpu
def test_rates_that_change_do_not_record_again_and_again(monkeypatch):
    made = []

    class Counted(_runner.Captured):
        __slots__ = ()

        def __init__(self, *args, **kwargs):
            made.append(self)
            super().__init__(*args, **kwargs)

    monkeypatch.setattr(_runner, 'Captured', Counted)
    ctx = mx.gpu()
    module = ready(ctx, options=options(lr_scheduler=mx.lr_scheduler.PolyScheduler(max_update=500, base_lr=0.1)))
    data = batches(ctx)
    for number in range(120):
        module._step(data[number % len(data)])
    assert len(made) == 1
    module = ready(ctx, options=options(lr_scheduler=mx.lr_scheduler.FactorScheduler(step=8, factor=0.9, base_lr=0.1)))
    made.clear()
    for number in range(240):
        module._step(data[number % len(data)])
    assert 2 < len(made) <= 5       # joined after 3 equal steps, then after 6; it takes 12 from there on


@pytest.mark.gpu
def test_large_graphs_stay_as_they_are(monkeypatch):
    monkeypatch.setattr(_runner, 'MOST_JOINED', 0)
    module = same(mx.gpu(), options=options(momentum=0.9))
    assert _runner_of(module)._joined is None and module._updater._bound.graph is not None


@pytest.mark.gpu
def test_what_cannot_be_recorded_together_is_recorded_apart(monkeypatch):
    real = _runner.Captured
    calls = []

    def some(function, tensors, *args, **kwargs):
        calls.append(len(calls))
        if len(calls) == 2:
            raise RuntimeError('not together')
        return real(function, tensors, *args, **kwargs)

    monkeypatch.setattr(_runner, 'Captured', some)
    ctx = mx.gpu()
    module, other = ready(ctx, options=options()), ready(ctx, options=options())
    for batch in batches(ctx):
        together(module, batch)
    assert len(calls) == 3 and _runner_of(module).captured is not None and _runner_of(module)._joined is None
    for batch in batches(ctx):
        apart(other, batch)
    for a, b in zip(seen(module), seen(other), strict=True):
        np.testing.assert_array_equal(a, b)


@DEVICES
def test_a_block_that_gives_its_parameter_gives_that_of_the_step(ctx):
    class Both(mx.gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.weight = self.params.get('weight', shape=(4, 6))

        def hybrid_forward(self, F, x, weight):
            return F.FullyConnected(x, weight, no_bias=True, num_hidden=4), F.reshape(weight, (-1,))

    net, loss_of = Both(), mx.gluon.loss.L2Loss()
    net.initialize(mx.init.Xavier(), ctx=ctx)
    net.hybridize(static_alloc=True, static_shape=True)
    trainer = mx.gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1})
    x, y = nd.random.uniform(shape=(8, 6), ctx=ctx), nd.ones((8, 4), ctx=ctx)
    for _ in range(8):
        before = net.weight.data().asnumpy()
        with mx.autograd.record():
            scores, weight = net(x)
            loss = loss_of(scores, y)
        loss.backward()
        trainer.step(8)
        np.testing.assert_array_equal(weight.asnumpy(), before.ravel())
        assert (net.weight.data().asnumpy() != before).any()


def test_metrics_of_a_program_s_own_see_every_batch():
    """A metric that `fit` knows takes batches the short way; one with its own `update` does not."""
    seen = []

    class Watched(mx.metric.Accuracy):
        def update(self, labels, preds):
            seen.append(len(labels))
            super().update(labels, preds)

    patched = mx.metric.Accuracy()
    patched.update = lambda labels, preds, update=patched.update: (seen.append(len(labels)), update(labels, preds))
    named = mx.metric.Accuracy(output_names=['softmax_output'], label_names=['softmax_label'])
    values = []
    several = mx.metric.CompositeEvalMetric([mx.metric.Accuracy()])
    for metric in (mx.metric.Accuracy(), Watched(), patched, named, several):
        mx.random.seed(5)
        data = mx.nd.random.normal(shape=(40, 6))
        label = mx.nd.array([i % 3 for i in range(40)])
        net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=3), name='softmax')
        mod = mx.mod.Module(net)
        mod.fit(mx.io.NDArrayIter(data, label, 4), num_epoch=3, eval_metric=metric, initializer=mx.init.One(),
                optimizer_params={'learning_rate': 0.1})
        name, value = metric.get()
        values.append(value[0] if isinstance(value, list) else value)
    assert values == values[:1] * 5 and 0 < values[0] <= 1
    assert seen == [1] * 60
