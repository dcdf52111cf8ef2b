"""Callbacks: what they log, when they save, and the bar they draw."""
import logging
import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import mxnet as mx


def batch(nbatch, epoch=0, metric=None):
    return SimpleNamespace(epoch=epoch, nbatch=nbatch, eval_metric=metric, locals=None)


@pytest.fixture
def metric():
    found = mx.metric.create(['acc', 'mse'])
    found.metrics[0].update([mx.nd.array([0, 1])], [mx.nd.array([[1, 0], [1, 0]])])
    found.metrics[1].update([mx.nd.array([1])], [mx.nd.array([3])])
    return found


@pytest.fixture
def log(caplog):
    caplog.set_level(logging.INFO)
    return caplog


@pytest.fixture
def clock(monkeypatch):
    """A clock that tests move."""
    now = SimpleNamespace(time=1000.0)
    monkeypatch.setattr(mx.callback.time, 'time', lambda: now.time)
    return now


# --- speed ---

def test_speedometer(log, clock, metric):
    speedometer = mx.callback.Speedometer(batch_size=32, frequent=10)
    for n in range(1, 25):
        speedometer(batch(n, 3, metric))
        clock.time += 0.5
    # the first interval begins with the first call
    assert log.messages[0] == 'Epoch[3] Batch [0-10]\tSpeed: 71.11 samples/sec\taccuracy=0.500000\tmse=4.000000'
    assert log.messages[1] == 'Epoch[3] Batch [10-20]\tSpeed: 64.00 samples/sec\taccuracy=nan\tmse=nan'
    assert len(log.messages) == 2
    assert metric.get_global()[1] == [0.5, 4]


def test_speedometer_without_reset(log, clock, metric):
    speedometer = mx.callback.Speedometer(32, 10, auto_reset=False)
    for n in range(21):
        speedometer(batch(n, 0, metric))
        clock.time += 0.5
    assert log.messages == [f'Epoch[0] Batch [0-{n}]\tSpeed: 64.00 samples/sec\taccuracy=0.500000\tmse=4.000000'
                            for n in (10, 20)]


def test_speedometer_without_metric(log, clock):
    speedometer = mx.callback.Speedometer(32, 10)
    for n in range(11):
        speedometer(batch(n, 1))
    assert log.messages == ['Iter[1] Batch [10]\tSpeed: inf samples/sec']


def test_speedometer_begins_anew_with_an_epoch(log, clock):
    speedometer = mx.callback.Speedometer(10, 5)
    for epoch in range(2):
        for n in range(7):
            speedometer(batch(n, epoch))
            clock.time += 1
        clock.time += 100          # a validation in between does not count
    assert log.messages == [f'Iter[{epoch}] Batch [5]\tSpeed: 10.00 samples/sec' for epoch in range(2)]


# --- metrics ---

def test_log_train_metric(log, metric):
    callback = mx.callback.log_train_metric(2, auto_reset=True)
    for n in range(3):
        callback(batch(n, 7, metric))
    assert log.messages == ['Iter[7] Batch[0] Train-accuracy=0.500000', 'Iter[7] Batch[0] Train-mse=4.000000',
                            'Iter[7] Batch[2] Train-accuracy=nan', 'Iter[7] Batch[2] Train-mse=nan']
    mx.callback.log_train_metric(1)(batch(0))
    assert len(log.messages) == 4


def test_log_validation_metrics(log, metric):
    callback = mx.callback.LogValidationMetricsCallback()
    callback(batch(0, 2, metric))
    callback(batch(0, 2))
    assert log.messages == ['Epoch[2] Validation-accuracy=0.500000', 'Epoch[2] Validation-mse=4.000000']


# --- checkpoints ---

@pytest.mark.parametrize('period, wanted', [(1, [1, 2, 3, 4]), (2, [2, 4]), (0, [1, 2, 3, 4])])
def test_module_checkpoint(period, wanted):
    calls = []
    module = SimpleNamespace(save_checkpoint=lambda prefix, epoch, save_optimizer_states: calls.append(
        (prefix, epoch, save_optimizer_states)))
    callback = mx.callback.module_checkpoint(module, 'model', period, save_optimizer_states=True)
    for epoch in range(4):
        callback(epoch, None, {}, {})
    assert calls == [('model', epoch, True) for epoch in wanted]


def test_do_checkpoint(tmp_path):
    net = mx.sym.BatchNorm(mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=2, name='fc'), name='bn')
    callback = mx.callback.do_checkpoint(str(tmp_path / 'model'), 2)
    for epoch in range(4):
        callback(epoch, net, {'fc_weight': mx.nd.full((2, 3), epoch)}, {'bn_moving_mean': mx.nd.ones((2,))})
    assert sorted(p.name for p in tmp_path.iterdir()) == ['model-0002.params', 'model-0004.params', 'model-symbol.json']
    assert mx.sym.load(str(tmp_path / 'model-symbol.json')).tojson() == net.tojson()
    params = mx.nd.load(str(tmp_path / 'model-0004.params'))
    assert sorted(params) == ['arg:fc_weight', 'aux:bn_moving_mean']
    assert (params['arg:fc_weight'].asnumpy() == 3).all()


# --- the bar ---

@pytest.fixture(params=['tqdm', 'plain'])
def bar(request, monkeypatch):
    if request.param == 'tqdm':
        pytest.importorskip('tqdm')
    else:
        monkeypatch.setitem(sys.modules, 'tqdm', None)
        monkeypatch.setitem(sys.modules, 'tqdm.auto', None)
    return request.param


def lines(capsys):
    """What is left on the screen: of each line, what the last carriage return left there."""
    return [line.split('\r')[-1] for line in capsys.readouterr().err.split('\n') if line]


@pytest.mark.parametrize('first', [0, 1])       # Module counts from 0, FeedForward from 1
def test_progress_bar(bar, first, capsys, metric):
    progress = mx.callback.ProgressBar(total=4, length=70)
    for epoch in range(2):
        for n in range(first, first + 4):
            progress(batch(n, epoch, metric))
    shown = lines(capsys)
    assert len(shown) == 2
    for epoch, line in enumerate(shown):
        assert line.startswith(f'Epoch {epoch}: 100%')
        assert '4/4' in line and 'accuracy=0.5 mse=4' in line and len(line.rstrip()) <= 70


def test_progress_bar_half_way(bar, capsys):
    progress = mx.callback.ProgressBar(total=8)
    for n in range(4):
        progress(batch(n))
    for n in range(8):              # the epoch ended early
        progress(batch(n, 1))
    shown = lines(capsys)
    assert re.match(r'Epoch 0:  50%.* 4/8 ', shown[0]) and re.match(r'Epoch 1: 100%.* 8/8 ', shown[1])


def test_progress_bar_longer_than_said(bar, capsys):
    progress = mx.callback.ProgressBar(total=2)
    for n in range(5):
        progress(batch(n))
    shown = lines(capsys)
    assert len(shown) == 1 and '2/2' in shown[0]


def test_progress_bar_asks_the_metric_seldom(bar, capsys):
    asked = []
    metric = mx.metric.np(lambda label, pred: 1.0, name='one')
    get = metric.get
    metric.get = lambda: asked.append(1) or get()
    metric.update([mx.nd.array([1])], [mx.nd.array([1])])
    progress = mx.callback.ProgressBar(total=50)
    for n in range(50):
        progress(batch(n, 0, metric))
    assert len(asked) == 2           # at the beginning and at the end: 50 batches take no half second
    assert np.isfinite(get()[1])
