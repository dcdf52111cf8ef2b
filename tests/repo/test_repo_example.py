"""`make train`: the example learns, saves, and stops cleanly."""
import os
import re
import signal
import subprocess
import sys

import pytest
from conftest import ROOT

import mxnet as mx

SCRIPT = str(ROOT / 'examples' / 'mnist_mlp_ndarray.py')
EMBEDDED = str(ROOT / 'examples' / 'data' / 'mnist')


def test_it_learns_and_saves(run_python, tmp_path):
    text = run_python(SCRIPT, '--data', EMBEDDED, '--epochs', '8').stdout
    assert text.startswith('1000 training and 500 test digits')
    accuracies = [float(number) for number in re.findall(r'test accuracy ([\d.]+)', text)]
    assert len(accuracies) == 8 and accuracies[-1] > 0.8
    saved = mx.nd.load(str(tmp_path / 'mnist_mlp.params'))
    assert {name: array.shape for name, array in saved.items()} == {
        'fc1_weight': (64, 784), 'fc1_bias': (64,), 'fc2_weight': (64, 64), 'fc2_bias': (64,),
        'fc3_weight': (10, 64), 'fc3_bias': (10,)}


@pytest.mark.skipif(sys.platform == 'win32', reason='signals of POSIX')
def test_ctrl_c_keeps_what_was_learned(tmp_path):
    command = [sys.executable, SCRIPT, '--data', EMBEDDED, '--epochs', '1000000', '--out', 'kept.params']
    with subprocess.Popen(command, cwd=tmp_path, env={**os.environ, 'PYTHONPATH': str(ROOT)}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        while not running.stdout.readline().startswith('epoch  2'):
            assert running.poll() is None
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert running.returncode == 0 and not err
    assert 'stopped' in out and len(mx.nd.load(str(tmp_path / 'kept.params'))) == 6


def test_wrong_folder(run_python, tmp_path):
    done = run_python(SCRIPT, '--data', str(tmp_path), check=False)
    assert done.returncode == 1 and 'has neither train-images-idx3-ubyte nor' in done.stderr
