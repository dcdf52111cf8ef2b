"""`remx train`: learns, draws its own digits, stops and goes on exactly."""
import json
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT

import mxnet as mx
from mxnet._lazy.step import BoundStep
from mxnet.cli import _digits, main


@pytest.fixture(scope='module')
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp('digits')
    counts = dict(_digits.COUNTS)
    _digits.COUNTS.update(train=600, test=100)
    try:
        return str(_digits.write(str(folder)))
    finally:
        _digits.COUNTS.update(counts)


def command(data, out, *more):
    return [sys.executable, '-m', 'mxnet.cli', 'train', '--data', data, '--out', str(out), '--quiet', '--lr', '0.1',
            *more]


def environment():
    return {**os.environ, 'PYTHONPATH': str(ROOT), 'OMP_NUM_THREADS': '1'}


def test_digits_are_the_same_everywhere_and_differ(data):
    images, labels = _digits.read(data, 'train')
    assert images.shape == (600, 28, 28) and images.dtype == np.uint8 and set(labels) == set(range(10))
    assert images.max() > 200 and 20 < images.mean() < 60
    again = _digits.draw(3, np.random.default_rng(5))
    np.testing.assert_array_equal(again, _digits.draw(3, np.random.default_rng(5)))
    assert (again != _digits.draw(3, np.random.default_rng(6))).any()


def test_it_learns(data, tmp_path):
    done = subprocess.run(command(data, tmp_path / 'run', '--epochs', '8'), env=environment(), capture_output=True,
                          text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    lines = re.findall(r'^Epoch (\d+)\. Loss: ([\d.]+), Train_acc ([\d.]+), Test_acc ([\d.]+)$', done.stdout, re.M)
    assert len(lines) == 8 and float(lines[-1][3]) > 0.8 and float(lines[-1][1]) < float(lines[0][1]) / 2
    assert sorted(mx.nd.load(str(tmp_path / 'run' / 'mlp.params'))) == [f'{i}.{n}' for i in range(3)
                                                                        for n in ('bias', 'weight')]
    assert len(json.loads((tmp_path / 'run' / 'history.json').read_text())) == 8
    # the line that it prints last loads what it exported
    found = re.search(r"mx\.gluon\.SymbolBlock\.imports\('(.*)', \['data'\], '(.*)'\)$", done.stdout, re.M)
    pictures, labels = _digits.read(data, 'test')
    scores = mx.gluon.SymbolBlock.imports(found[1], ['data'], found[2])(mx.nd.array(pictures.reshape(-1, 784) / 255))
    assert (scores.asnumpy().argmax(1) == labels).mean() == pytest.approx(float(lines[-1][3]))


def test_the_update_is_part_of_the_plan(data, tmp_path, monkeypatch):
    found, run = [], BoundStep.run

    def watched(self, step, tensors, refs, ctx, then=None):
        found.append(then is not None)
        return run(self, step, tensors, refs, ctx, then)

    monkeypatch.setattr(BoundStep, 'run', watched)
    assert main(['train', '--data', data, '--out', str(tmp_path), '--quiet', '--epochs', '2']) == 0
    assert found.count(True) > len(found) // 2 > 3


def parameters(folder):
    return {k: v.asnumpy() for k, v in mx.nd.load(str(folder / 'mlp.params')).items()}


def test_a_stopped_run_goes_on_exactly(data, tmp_path):
    more = ('--epochs', '40', '--momentum', '0.9')
    whole = subprocess.run(command(data, tmp_path / 'whole', *more), env=environment(), capture_output=True, text=True,
                           timeout=240)
    assert whole.returncode == 0, whole.stderr
    with subprocess.Popen(command(data, tmp_path / 'parts', *more), env=environment(), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        while not (line := running.stdout.readline()).startswith('Epoch 2.'):
            assert line, running.stderr.read()
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert running.returncode == 130 and 'stopped in epoch' in out, (out, err)
    resumed = subprocess.run(command(data, tmp_path / 'parts', *more, '--resume'), env=environment(),
                             capture_output=True, text=True, timeout=240)
    assert resumed.returncode == 0 and 'resuming at epoch' in resumed.stdout, resumed.stderr
    for key, value in parameters(tmp_path / 'whole').items():
        np.testing.assert_array_equal(value, parameters(tmp_path / 'parts')[key])
    assert [h['test'] for h in json.loads((tmp_path / 'parts' / 'history.json').read_text())] == \
        [h['test'] for h in json.loads((tmp_path / 'whole' / 'history.json').read_text())]


def test_mistakes(tmp_path):
    done = subprocess.run(command(str(tmp_path), tmp_path / 'out'), env=environment(), capture_output=True, text=True,
                          timeout=60)
    assert done.returncode != 0 and 'train-images-idx3-ubyte' in done.stderr and 'Traceback' not in done.stderr


@pytest.mark.parametrize('options, message', [
    ('--model mpl', "there is no model 'mpl'; close are mlp"),
    ('--model resnet18', "close are resnet18_v2, resnet18_v1"),
    ('--optimizer sdg', "there is no optimizer called 'sdg' .did you mean sgd.*; registered are"),
    ('--optimizer adam --momentum 0.9', "Adam has no argument 'momentum'"),
    ('--ctx tpu', "unknown device type 'tpu'"),
    ('--ctx gpu(99)', r'gpu\(99\) is not available'),
    ('--epochs 0', 'argument --epochs: must be at least 1, not 0'),
    ('--epochs two', "argument --epochs: invalid int value: 'two'"),
    ('--batch-size 0', 'argument --batch-size: must be at least 1'),
    ('--lr nan', 'argument --lr: must be at least 0, not nan'),
    ('--workers -1', 'argument --workers: must be at least 0'),
])
def test_mistakes_are_said_in_a_line(data, tmp_path, capsys, options, message):
    with pytest.raises(SystemExit) as stopped:
        main(['train', '--data', data, '--out', str(tmp_path), '--quiet', *options.split()])
    said = str(stopped.value.code) if isinstance(stopped.value.code, str) else capsys.readouterr().err
    assert re.search(message, said) and 'remx train: ' in said


def test_an_output_that_is_no_folder(data, tmp_path):
    (tmp_path / 'file').write_text('')
    with pytest.raises(SystemExit, match='remx train: .*File exists.*file'):
        main(['train', '--data', data, '--out', str(tmp_path / 'file')])


def test_resuming_needs_a_checkpoint_of_the_same_network(data, tmp_path, capsys):
    run = ['train', '--data', data, '--out', str(tmp_path), '--quiet', '--resume', '--no-tensorboard', '--epochs', '1']
    assert main(run) == 0
    assert 'has no checkpoint to resume from: training starts from the beginning' in capsys.readouterr().out
    with pytest.raises(SystemExit, match='checkpoint.params belongs to another network: it has'):
        main([*run, '--model', 'lenet'])
    mx.nd.save(str(tmp_path / 'checkpoint.params'), [mx.nd.ones(1)])
    with pytest.raises(SystemExit, match='is not a checkpoint'):
        main(run)


def test_a_training_that_diverges_is_shown_to_its_end(data, tmp_path, capsys):
    """A learning rate far too high: NaN in losses, curves and histograms, and no crash."""
    assert main(['train', '--data', data, '--out', str(tmp_path), '--quiet', '--lr', '1e30', '--epochs', '2']) == 0
    out = capsys.readouterr().out
    assert 'Loss: nan' in out and 'test accuracy' in out


def test_curves_and_logs(data, tmp_path):
    """A run leaves a picture of its curves and logs for TensorBoard, where those are installed."""
    pytest.importorskip('matplotlib')
    pytest.importorskip('tensorboard')
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    done = subprocess.run(command(data, tmp_path / 'run', '--epochs', '2'), env=environment(), capture_output=True,
                          text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / 'run' / 'curves.png').read_bytes().startswith(b'\x89PNG')
    history = json.loads((tmp_path / 'run' / 'history.json').read_text())
    logs = EventAccumulator(str(tmp_path / 'run' / 'logs')).Reload()
    assert [e.value for e in logs.Scalars('loss')] == pytest.approx([h['loss'] for h in history])
    assert logs.Tags()['graph'] and 'mlp_dense0_weight' in logs.Tags()['histograms']
    without = subprocess.run(command(data, tmp_path / 'bare', '--epochs', '1', '--no-tensorboard'), env=environment(),
                             capture_output=True, text=True, timeout=240)
    assert without.returncode == 0 and not (tmp_path / 'bare' / 'logs').exists()
