"""The estimator and its handlers."""
import logging
import os
import re

import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon
from mxnet.gluon.contrib import estimator as est
from mxnet.gluon.contrib.estimator.utils import _check_metrics


def samples(count=32, width=6):
    rng = np.random.RandomState(1)
    data = rng.randn(count, width).astype('float32')
    return gluon.data.ArrayDataset(mx.nd.array(data), mx.nd.array(data.sum(axis=1) > 0, dtype='float32'))


def loader(count=32, batch_size=8, **arguments):
    return gluon.data.DataLoader(samples(count), batch_size=batch_size, **arguments)


def network(ctx=None, hybrid=False):
    mx.random.seed(3)
    net = gluon.nn.HybridSequential(prefix='net_')
    with net.name_scope():
        net.add(gluon.nn.Dense(8, activation='relu', in_units=6), gluon.nn.Dense(2, in_units=8))
    if hybrid:
        net.hybridize()
    net.initialize(mx.init.Xavier(), ctx=ctx or mx.cpu())
    return net


def make(net=None, ctx=None, rate=0.05, optimizer='sgd', quiet=True, **arguments):
    net = net or network(ctx)
    trainer = gluon.Trainer(net.collect_params(), optimizer, {'learning_rate': rate})
    made = est.Estimator(net, gluon.loss.SoftmaxCrossEntropyLoss(), trainer=trainer, **arguments)
    if quiet:
        made.logger.handlers.clear()
    return made


def weights(net):
    return [p.data(p.list_ctx()[0]).asnumpy() for p in net.collect_params().values()]


def same(first, second, **tolerance):
    for a, b in zip(first, second, strict=True):
        np.testing.assert_allclose(a, b, **{'rtol': 1e-5, 'atol': 1e-6, **tolerance})


def logged(estimator):
    """A list to which the messages of an estimator go."""
    messages = []
    handler = logging.Handler()
    handler.emit = lambda record: messages.append((record.levelname, record.getMessage()))
    estimator.logger.addHandler(handler)
    return messages


def test_fit_is_the_loop_one_would_write():
    estimator = make()
    estimator.fit(loader(), epochs=3)
    net, loss = network(), gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.05})
    for _ in range(3):
        for data, label in loader():
            with mx.autograd.record():
                value = loss(net(data), label)
            value.backward()
            trainer.step(len(data))
    same(weights(estimator.net), weights(net))


@pytest.mark.parametrize('count', [32, 30, 29])
def test_two_contexts_train_as_one_does_also_with_an_odd_last_batch(count):
    one, two = make(), make(ctx=[mx.cpu(0), mx.cpu(1)])
    assert two.context == [mx.cpu(0), mx.cpu(1)]            # those of the network
    for estimator in (one, two):
        estimator.fit(loader(count), epochs=2)
    same(weights(one.net), weights(two.net))
    for first, second in zip(one.train_metrics, two.train_metrics):
        assert first.get()[1] == pytest.approx(second.get()[1], rel=1e-5)


def test_batches_instead_of_epochs():
    estimator, seen = make(), []

    class Count(est.BatchEnd, est.EpochEnd):
        def batch_end(self, estimator, *args, **kwargs):
            seen.append('batch')

        def epoch_end(self, estimator, *args, **kwargs):
            seen.append('epoch')

    estimator.fit(loader(), batches=6, event_handlers=Count())
    assert seen == ['batch'] * 4 + ['epoch'] + ['batch'] * 2 + ['epoch']


@pytest.mark.parametrize('arguments', [{}, {'epochs': 1, 'batches': 1}])
def test_fit_needs_one_count(arguments):
    with pytest.raises(ValueError, match='either epochs or batches'):
        make().fit(loader(), **arguments)


def test_events_come_in_order_and_with_what_happened():
    seen = []

    class Every(est.TrainBegin, est.EpochBegin, est.BatchBegin, est.BatchEnd, est.EpochEnd, est.TrainEnd):
        def __init__(self, name, priority):
            self.name, self.priority = name, priority

    def note(event):
        def method(self, estimator, *args, **kwargs):
            seen.append((self.name, event, sorted(kwargs)))
        return method

    for event in ('train_begin', 'epoch_begin', 'batch_begin', 'batch_end', 'epoch_end', 'train_end'):
        setattr(Every, event, note(event))
    given = [Every('late', 5), Every('early', -5)]
    make().fit(loader(16), epochs=1, event_handlers=given)
    assert len(given) == 2                      # the list of the caller is not added to
    assert [name for name, _, _ in seen] == ['early', 'late'] * 8
    assert [(event, keys) for name, event, keys in seen if name == 'early'] == [
        ('train_begin', []), ('epoch_begin', []),
        ('batch_begin', ['batch']), ('batch_end', ['batch', 'label', 'loss', 'pred']),
        ('batch_begin', ['batch']), ('batch_end', ['batch', 'label', 'loss', 'pred']),
        ('epoch_end', []), ('train_end', [])]


def test_plain_events_do_nothing():
    class All(est.TrainBegin, est.EpochBegin, est.BatchBegin, est.BatchEnd, est.EpochEnd, est.TrainEnd):
        pass
    estimator = make()
    estimator.fit(loader(8), epochs=1, event_handlers=All())
    bare = make()
    bare.fit(loader(8), epochs=1)
    same(weights(estimator.net), weights(bare.net), rtol=0, atol=0)


def test_a_handler_ends_an_epoch_or_training():
    class Brief(est.EpochBegin, est.BatchEnd):
        """Two batches of each epoch."""
        total = 0

        def epoch_begin(self, estimator, *args, **kwargs):
            self.count = 0

        def batch_end(self, estimator, *args, **kwargs):
            self.count += 1
            self.total += 1
            return self.count == 2

    class Enough(est.EpochEnd):
        count = 0

        def epoch_end(self, estimator, *args, **kwargs):
            self.count += 1
            return self.count == 3

    brief, enough = Brief(), Enough()
    make().fit(loader(), epochs=10, event_handlers=[brief, enough])
    assert (brief.total, enough.count) == (6, 3)


def test_a_stopping_handler_can_serve_again():
    handler, estimator = est.StoppingHandler(), make()
    for _ in range(2):
        estimator.fit(loader(), epochs=2, event_handlers=[handler])
        assert (handler.current_epoch, handler.current_batch) == (2, 8)


def test_evaluate_and_the_networks_and_losses_for_it():
    net = network()
    estimator = make(net, val_loss=gluon.loss.SoftmaxCrossEntropyLoss(weight=2.0), val_net=net,
                     val_metrics=[mx.metric.Accuracy(), mx.metric.Loss('cost')])
    estimator.evaluate(loader())
    losses = [gluon.loss.SoftmaxCrossEntropyLoss()(net(x), y).asnumpy() for x, y in loader()]
    mean = 2 * np.concatenate(losses).mean()
    assert estimator.val_metrics[1].get() == ('validation cost', pytest.approx(mean, rel=1e-5))
    right = np.concatenate([net(x).asnumpy().argmax(1) == y.asnumpy() for x, y in loader()])
    assert estimator.val_metrics[0].get() == ('validation accuracy', pytest.approx(right.mean()))


def test_evaluation_neither_trains_nor_uses_dropout():
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dropout(0.5), gluon.nn.BatchNorm(in_channels=6), gluon.nn.Dense(2, in_units=6))
    net.initialize()
    before = weights(net)
    estimator = make(net)
    values = []
    for _ in range(2):
        estimator.evaluate(loader())
        values.append([metric.get() for metric in estimator.val_metrics])
    assert values[0] == values[1]
    same(weights(net), before, rtol=0, atol=0)


@pytest.mark.parametrize('periods, times', [({}, 2), ({'epoch_period': 2}, 1),
                                            ({'epoch_period': None, 'batch_period': 3}, 2)])
def test_validation_periods(periods, times):
    calls = []
    handler = est.ValidationHandler('the data', lambda **keywords: calls.append(keywords), event_handlers='these',
                                    **periods)
    make().fit(loader(), epochs=2, event_handlers=handler)
    assert calls == [{'val_data': 'the data', 'batch_axis': 0, 'event_handlers': 'these'}] * times


def test_batch_axis():
    class Columns(gluon.data.Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, index):
            return mx.nd.ones((16, 6)), mx.nd.zeros((16,))

    def columns(batch):
        return (mx.nd.stack(*[data for data, _ in batch], axis=1).reshape((6, -1)),
                mx.nd.concat(*[label for _, label in batch], dim=0).reshape((1, -1)))

    class Turned(gluon.nn.HybridSequential):
        def forward(self, x):
            return super().forward(x.T)

    net = Turned()
    net.add(gluon.nn.Dense(2))
    net.initialize(ctx=[mx.cpu(0), mx.cpu(1)])

    class Processor(est.BatchProcessor):
        def _get_data_and_label(self, batch, ctx, batch_axis=0):
            data, label = super()._get_data_and_label(batch, ctx, batch_axis)
            return data, [part.reshape((-1,)) for part in label]

    estimator = make(net, batch_processor=Processor())
    messages = logged(estimator)
    data = gluon.data.DataLoader(Columns(), batch_size=2, batchify_fn=columns)
    estimator.fit(data, epochs=1, batch_axis=1,
                  event_handlers=est.LoggingHandler(log_interval=1, metrics=estimator.train_metrics))
    assert [re.search(r'Samples (\d+)', text)[1] for _, text in messages if 'Samples' in text] == ['32', '64']


def test_methods_of_the_estimator_and_of_a_processor_can_be_overridden():
    class Half(est.BatchProcessor):
        def fit_batch(self, estimator, train_batch, batch_axis=0):
            data, label = train_batch
            return super().fit_batch(estimator, (data[:4], label[:4]), batch_axis)

    sizes = []

    class Noted(est.Estimator):
        def fit_batch(self, train_batch, batch_axis=0):
            result = super().fit_batch(train_batch, batch_axis)
            sizes.append(len(result[3][0]))
            return result

        def evaluate_batch(self, val_batch, batch_axis=0):
            result = super().evaluate_batch(val_batch, batch_axis)
            sizes.append(len(result[3][0]))
            return result

    net = network()
    estimator = Noted(net, gluon.loss.SoftmaxCrossEntropyLoss(), batch_processor=Half(),
                      trainer=gluon.Trainer(net.collect_params(), 'sgd'))
    estimator.logger.handlers.clear()
    estimator.fit(loader(8), loader(8), epochs=1)
    assert sizes == [4, 8]


def test_a_loss_that_is_no_list():
    handler, net = est.GradientUpdateHandler(), network()
    steps = []
    estimator = make(net)
    estimator.trainer.step = steps.append
    handler.batch_end(estimator, loss=mx.nd.zeros((7,)))
    handler.batch_end(estimator, loss=[mx.nd.zeros((7,)), mx.nd.zeros((3,))])
    assert steps == [7, 10]


# Arguments of the estimator

def test_default_metrics_and_names():
    estimator = make()
    assert [m.name for m in estimator.train_metrics] == ['training accuracy', 'training softmaxcrossentropyloss']
    assert [m.name for m in estimator.val_metrics] == ['validation accuracy', 'validation softmaxcrossentropyloss']
    shared = mx.metric.CompositeEvalMetric([mx.metric.Accuracy(), mx.metric.TopKAccuracy(2)])
    for _ in range(2):                          # a metric of two estimators has one prefix
        estimator = make(train_metrics=shared)
        assert [m.name for m in estimator.train_metrics] == ['training accuracy', 'training top_k_accuracy_2']
    net = network()
    regression = est.Estimator(net, gluon.loss.L2Loss(), trainer=gluon.Trainer(net.collect_params(), 'sgd'))
    assert [m.name for m in regression.train_metrics] == ['training l2loss']


def test_composite_metrics_are_taken_apart():
    parts = [mx.metric.Accuracy(), mx.metric.MSE(), mx.metric.MAE()]
    nested = mx.metric.CompositeEvalMetric([mx.metric.CompositeEvalMetric(parts[:2]), parts[2]])
    assert _check_metrics(nested) == parts
    assert _check_metrics([nested]) == parts
    assert _check_metrics(None) == []


def test_a_network_without_values_is_initialized():
    net = gluon.nn.Dense(2)
    with pytest.warns(UserWarning, match='No trainer specified'):
        estimator = est.Estimator(net, gluon.loss.L2Loss(), initializer=mx.init.One(), context=mx.cpu(1))
    assert estimator.context == [mx.cpu(1)]
    net(mx.nd.ones((1, 3), ctx=mx.cpu(1)))
    assert net.weight.data().asnumpy().tolist() == np.ones((2, 3)).tolist()
    assert type(estimator.trainer.optimizer).__name__ == 'SGD' and estimator.trainer.learning_rate == 0.001
    # part of a network that has values keeps them
    whole = gluon.nn.HybridSequential()
    whole.add(net, gluon.nn.Dense(4))
    with pytest.warns(UserWarning):
        est.Estimator(whole, gluon.loss.L2Loss(), context=mx.cpu(1))
    whole(mx.nd.ones((1, 3), ctx=mx.cpu(1)))
    assert net.weight.data().asnumpy().tolist() == np.ones((2, 3)).tolist()
    with pytest.warns(UserWarning, match='Network already fully initialized'):
        make(net, initializer=mx.init.Zero())


def test_default_contexts(monkeypatch):
    module = est.estimator
    assert make(gluon.nn.HybridSequential()).context == [mx.gpu(0) if mx.context.num_gpus() else mx.cpu()]
    bare = make()
    bare.net = gluon.nn.Dense(2)
    monkeypatch.setattr(module, 'num_gpus', lambda: 0)
    assert bare._check_context(None) == [mx.cpu()]
    monkeypatch.setattr(module, 'num_gpus', lambda: 1)
    assert bare._check_context(None) == [mx.gpu(0)]
    monkeypatch.setattr(module, 'num_gpus', lambda: 2)
    with pytest.warns(UserWarning, match='several GPUs'):
        assert bare._check_context(None) == [mx.gpu(0)]
    assert bare._check_context((mx.gpu(1), mx.cpu())) == [mx.gpu(1), mx.cpu()]


@pytest.mark.parametrize('arguments, error, text', [
    ({'loss': 'l2'}, ValueError, "loss of an Estimator must be a gluon.loss.Loss, not 'l2'"),
    ({'val_loss': 1}, ValueError, 'val_loss of an Estimator'),
    ({'train_metrics': 'acc'}, ValueError, 'metrics must be'),
    ({'val_metrics': [mx.metric.MSE(), 3]}, ValueError, 'there is 3'),
    ({'trainer': 'sgd'}, ValueError, "gluon.Trainer, not 'sgd'"),
    ({'context': 'cpu'}, ValueError, 'must be a Context'),
    ({'context': [mx.cpu(), 'gpu']}, ValueError, 'must be a Context'),
    ({'context': [mx.gpu(100)]}, AssertionError, r'gpu\(100\) is not here'),
    ({'batch_processor': object()}, ValueError, 'object has no fit_batch'),
])
def test_wrong_arguments(arguments, error, text):
    net = network()
    with pytest.raises(error, match=text):
        est.Estimator(net, **{'loss': gluon.loss.L2Loss(), 'trainer': gluon.Trainer(net.collect_params(), 'sgd'),
                              **arguments})


def test_data_must_be_loaders():
    estimator, data = make(), mx.io.NDArrayIter(mx.nd.ones((4, 2)), mx.nd.ones((4,)))
    for call in (lambda: estimator.fit(data, epochs=1), lambda: estimator.evaluate(data)):
        with pytest.raises(ValueError, match='must be a gluon.data.DataLoader, not an NDArrayIter'):
            call()
    before = weights(estimator.net)
    with pytest.raises(ValueError, match='val_data of an Estimator'):
        estimator.fit(loader(), data, epochs=1)
    same(weights(estimator.net), before, rtol=0, atol=0)        # told before an epoch is spent


def test_handlers_must_be_handlers_and_share_the_metrics():
    estimator, other = make(), mx.metric.Accuracy(name='other')
    with pytest.raises(ValueError, match="there is 'x'"):
        estimator.fit(loader(), epochs=1, event_handlers=['x'])
    with pytest.raises(ValueError, match='metrics of LoggingHandler'):
        estimator.fit(loader(), epochs=1, event_handlers=est.LoggingHandler(metrics=other))
    with pytest.raises(ValueError, match='metrics of MetricHandler'):
        estimator.evaluate(loader(), event_handlers=[est.MetricHandler(estimator.train_metrics)])
    # nothing of ours is added here, so that there is nothing to share
    estimator.evaluate(loader(), event_handlers=[est.MetricHandler(other), est.LoggingHandler(metrics=other)])
    assert not np.isnan(other.get()[1])


# The log

def test_the_log(capsys):
    estimator = make(quiet=False, rate=0.5)
    estimator.fit(loader(), loader(), epochs=1)
    values = r'{0} accuracy: \d\.\d{{4}}, {0} softmaxcrossentropyloss: \d\.\d{{4}}'
    expected = [r'Training begin: using optimizer SGD with current learning rate 0\.5000 ', r'Train for 1 epochs\.',
                r'\[Epoch 0\] Begin, current learning rate: 0\.5000', 'Validation Begin',
                r'\[Epoch 0\] Finished in \d+\.\d{3}s, ' + values.format('validation'),
                r'\[Epoch 0\] Finished in \d+\.\d{3}s, ' + values.format('training'),
                r'Train finished using total \d+s with 1 epochs\. ' + values.format('training')]
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert len(lines) == len(expected) and printed.err == ''
    for line, pattern in zip(lines, expected):
        assert re.fullmatch(pattern, line)


def test_the_log_of_batches():
    estimator = make()
    messages = logged(estimator)
    handler = est.LoggingHandler(log_interval=2, metrics=estimator.train_metrics[:1])
    estimator.fit(loader(), batches=5, event_handlers=handler)
    lines = [text for _, text in messages]
    assert lines[1] == 'Train for 5 batches.'
    values = r'interval: \d+\.\d{3}s training accuracy: \d\.\d{4}$'
    times = [re.sub(values, '', text) for text in lines if 'Samples' in text]
    assert times == ['[Epoch 0][Batch 0][Samples 8] time/', '[Epoch 0][Batch 2][Samples 24] time/',
                     '[Epoch 1][Batch 0][Samples 40] time/']
    for wrong in ('batch', 0, 1.5):
        with pytest.raises(ValueError, match='log_interval'):
            est.LoggingHandler(log_interval=wrong)


@pytest.mark.parametrize('installed', [True, False])
def test_a_progress_bar(installed, capsys, monkeypatch):
    if installed:
        pytest.importorskip('tqdm')
    else:
        monkeypatch.setitem(__import__('sys').modules, 'tqdm.auto', None)
    estimator = make()
    bar = est.LoggingHandler(metrics=estimator.train_metrics, progress_bar=True)
    estimator.fit(loader(), batches=6, event_handlers=bar)
    shown = capsys.readouterr().err
    assert 'Epoch 0' in shown and 'Epoch 1' in shown
    assert '4/4' in shown and '2/4' in shown                # an epoch that ends early shows how far it came
    assert 'training accuracy=' in shown


def test_a_loader_without_a_length_has_no_bar(capsys):
    class Pairs:
        def __iter__(self):
            return iter([[0, 1], [2, 3]])
    estimator = make()
    bar = est.LoggingHandler(metrics=estimator.train_metrics, progress_bar=True)
    estimator.fit(gluon.data.DataLoader(samples(), batch_sampler=Pairs()), epochs=1, event_handlers=bar)
    assert estimator.batches_in_epoch is None and capsys.readouterr().err == ''


# Checkpoints

def files(folder):
    return sorted(os.listdir(folder))


def test_checkpoints_of_epochs(tmp_path):
    estimator = make()
    messages = logged(estimator)
    folder = tmp_path / 'new' / 'folder'
    handler = est.CheckpointHandler(str(folder), max_checkpoints=2, verbose=1)
    estimator.fit(loader(), epochs=3, event_handlers=handler)
    assert files(folder) == ['model-epoch1batch8.params', 'model-epoch1batch8.states', 'model-epoch2batch12.params',
                             'model-epoch2batch12.states']
    assert sum('saving model at' in text for _, text in messages) == 3
    assert any('architecture is not saved' in text for _, text in messages)
    net = network()
    net.load_parameters(str(folder / 'model-epoch2batch12.params'))
    same(weights(net), weights(estimator.net), rtol=0, atol=0)


def test_only_the_checkpoint_itself_is_removed(tmp_path):
    (tmp_path / 'model-epoch0batch4.params.mine').write_text('x')
    make().fit(loader(), epochs=2, event_handlers=est.CheckpointHandler(str(tmp_path), max_checkpoints=1))
    assert files(tmp_path) == ['model-epoch0batch4.params.mine', 'model-epoch1batch8.params',
                               'model-epoch1batch8.states']
    handler = est.CheckpointHandler(str(tmp_path), max_checkpoints=0)
    handler.saved_checkpoints = ['gone']        # someone else removed it
    make().fit(loader(), epochs=1, event_handlers=handler)
    assert handler.saved_checkpoints == []


def test_the_graph_of_a_hybridized_network_is_saved(tmp_path):
    estimator = make(network(hybrid=True))
    estimator.fit(loader(), batches=4, event_handlers=est.CheckpointHandler(str(tmp_path), 'm', epoch_period=None,
                                                                            batch_period=2))
    assert files(tmp_path) == ['m-epoch0batch1.params', 'm-epoch0batch1.states', 'm-epoch0batch3.params',
                               'm-epoch0batch3.states', 'm-symbol.json']
    assert mx.sym.load(str(tmp_path / 'm-symbol.json')).list_arguments()[0] == 'data'


@pytest.mark.parametrize('by', ['epochs', 'batches'])
def test_a_resumed_run_ends_as_one_that_went_through(tmp_path, by):
    periods = {} if by == 'epochs' else {'epoch_period': None, 'batch_period': 4}
    counts = (2, 5) if by == 'epochs' else (8, 20)

    def run(count, resume, folder=tmp_path):
        estimator = make(optimizer='adam')
        messages = logged(estimator)
        handler = est.CheckpointHandler(str(folder), resume_from_checkpoint=resume, max_checkpoints=2, **periods)
        estimator.fit(loader(), **{by: count}, event_handlers=handler)
        return estimator, [text for level, text in messages if 'CheckpointHandler' in text]

    through, _ = run(counts[1], False, tmp_path / 'other')
    _, told = run(counts[0], True)
    assert told == [f'CheckpointHandler: No checkpoint found, training from scratch for {counts[0]} {by}']
    first = files(tmp_path)
    resumed, told = run(counts[1], True)
    batch = 8 if by == 'epochs' else 7
    assert told == [f'CheckpointHandler: Checkpoint resumed from epoch 1 batch {batch}, continue to train for '
                    f'{counts[1] - counts[0]} {by} ']
    same(weights(through.net), weights(resumed.net))
    assert [name for name in first if name.startswith('model')] == [
        f'model-epoch{epoch}batch{number}.{end}' for epoch, number in ((0, batch - 4), (1, batch))
        for end in ('params', 'states')]
    # names go on where they were, and checkpoints of the first run count among those kept
    assert files(tmp_path) == [*files(tmp_path / 'other'), 'other']
    with pytest.raises(ValueError, match='none is left'):
        run(counts[1], True)


def test_the_last_checkpoint_is_the_one_with_the_greatest_numbers(tmp_path):
    for name in ('model-epoch9batch36', 'model-epoch10batch40', 'model-epoch1batch400'):
        (tmp_path / f'{name}.params').touch()
    assert est.CheckpointHandler(str(tmp_path))._found() == [(1, 400), (9, 36), (10, 40)]
    (tmp_path / 'model-epochtwo.params').touch()
    with pytest.raises(ValueError, match='model-epochtwo.params is not named as checkpoints are'):
        make().fit(loader(), epochs=20,
                   event_handlers=est.CheckpointHandler(str(tmp_path), resume_from_checkpoint=True))


@pytest.mark.parametrize('count, periods', [('epochs', {'epoch_period': None, 'batch_period': 2}),
                                            ('epochs', {'batch_period': 2}), ('batches', {'batch_period': 2}),
                                            ('batches', {})])
def test_resuming_needs_the_same_kind_of_period(tmp_path, count, periods):
    handler = est.CheckpointHandler(str(tmp_path), resume_from_checkpoint=True, **periods)
    with pytest.raises(AssertionError, match='the same count: set ' + ('epoch_' if count == 'epochs' else 'batch_')):
        make().fit(loader(), **{count: 4}, event_handlers=handler)


class Scripted(mx.metric.EvalMetric):
    """A metric whose value changes as told whenever an epoch begins."""

    def __init__(self, values, name='scripted'):
        self.values, self.turn = values, -1
        super().__init__(name)

    def reset(self):
        pass

    def update(self, labels, preds):
        pass

    def get(self):
        return self.name, self.values[min(max(self.turn, 0), len(self.values) - 1)]


class Turn(est.EpochBegin):
    def __init__(self, script):
        self.script = script

    def epoch_begin(self, estimator, *args, **kwargs):
        self.script.turn += 1


def test_the_best_checkpoint(tmp_path):
    metric = Scripted([3.0, 1.0, 2.0, float('nan')])
    estimator = make(train_metrics=[metric])
    messages = logged(estimator)
    handler = est.CheckpointHandler(str(tmp_path), monitor=metric, save_best=True, mode='min', verbose=1)
    with pytest.warns(RuntimeWarning, match='has no value'):
        estimator.fit(loader(), epochs=4, event_handlers=[Turn(metric), handler])
    assert handler.best == 1.0
    assert (tmp_path / 'model-best.params').read_bytes() == (tmp_path / 'model-epoch1batch8.params').read_bytes()
    assert (tmp_path / 'model-best.states').exists()
    texts = [text for _, text in messages if 'improve' in text]
    assert [re.sub(', (updating|skipping).*', '', text) for text in texts] == [
        '[Epoch 0] CheckpointHandler: training scripted improved from inf to 3.00000',
        '[Epoch 1] CheckpointHandler: training scripted improved from 3.00000 to 1.00000',
        '[Epoch 2] CheckpointHandler: training scripted did not improve from 1.00000']


def test_saving_the_best_needs_a_metric(tmp_path):
    with pytest.raises(ValueError, match='save_best needs a metric'):
        est.CheckpointHandler(str(tmp_path / 'none'), save_best=True)
    assert not (tmp_path / 'none').exists()


# Early stopping

@pytest.mark.parametrize('values, arguments, epochs', [
    ([1, 2, 3, 4, 5, 6], {'mode': 'max'}, 6),
    ([1, 2, 2, 4, 5, 6], {'mode': 'max'}, 3),
    ([1, 2, 2, 4, 5, 6], {'mode': 'max', 'patience': 2}, 6),
    ([1, 2, 3, 4, 5, 6], {'mode': 'min', 'patience': 2}, 3),
    ([6, 5, 4, 4.5, 4.2, 1], {'mode': 'min', 'patience': 2}, 5),
    ([6, 5, 4.9, 4, 3, 2], {'mode': 'min', 'min_delta': 0.5}, 3),
    ([1, 2, 2.1, 4, 5, 6], {'mode': 'max', 'min_delta': 0.5}, 3),
    ([1, 2, 3, 4, 5, 6], {'mode': 'max', 'baseline': 10, 'patience': 3}, 3),
])
def test_early_stopping(values, arguments, epochs):
    metric = Scripted(values)
    estimator = make(train_metrics=[metric])
    messages = logged(estimator)
    handler = est.EarlyStoppingHandler(metric, **arguments)
    estimator.fit(loader(8), epochs=6, event_handlers=[Turn(metric), handler])
    assert handler.current_epoch == epochs
    told = (f'[Epoch {handler.stopped_epoch}] EarlyStoppingHandler: early stopping due to training scripted not '
            'improving')
    assert (told in [text for _, text in messages]) is handler.stop_training
    if handler.stop_training:
        assert handler.stopped_epoch == epochs - 1


def test_early_stopping_with_a_metric_without_a_value():
    metric = Scripted([float('nan')])
    handler = est.EarlyStoppingHandler(metric, mode='max')
    with pytest.warns(RuntimeWarning, match='has no value'):
        make(train_metrics=[metric]).fit(loader(8), epochs=3, event_handlers=handler)
    assert handler.current_epoch == 3 and not handler.stop_training


@pytest.mark.parametrize('monitor', ['accuracy', None, mx.metric.CompositeEvalMetric()])
def test_early_stopping_needs_a_simple_metric(monitor):
    with pytest.raises(ValueError, match='one simple metric'):
        est.EarlyStoppingHandler(monitor)


@pytest.mark.parametrize('metric, compare, words', [
    (mx.metric.Accuracy(), np.greater, "greater.*mode='max'.*mode='min'"),
    (mx.metric.F1(), np.greater, 'greater'),
    (mx.metric.PearsonCorrelation(), np.greater, 'greater'),
    (mx.metric.Loss(), np.less, "smaller.*mode='min'.*mode='max'")])
def test_which_values_are_better_is_told(metric, compare, words, tmp_path):
    with pytest.warns(UserWarning, match=words):
        assert est.EarlyStoppingHandler(metric).monitor_op is compare
    with pytest.warns(UserWarning, match=words):
        assert est.CheckpointHandler(str(tmp_path), monitor=metric, save_best=True).monitor_op is compare
    with pytest.warns(RuntimeWarning, match="no mode 'up'"), pytest.warns(UserWarning, match=words):
        assert est.EarlyStoppingHandler(metric, mode='up').monitor_op is compare
