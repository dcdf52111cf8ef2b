"""Training handed over to MXNet 1.9.1 and back by state files; needs MXNET191_PYTHON.

Both sides take the same steps.  Then each saves its states and optimizer, the other reads them, and both go on from
what they read: the weights must stay the same.
"""
import os
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT

CASES = {
    'sgd': {'momentum': 0.9, 'wd': 0.01}, 'sgd plain': {}, 'nag': {'momentum': 0.9}, 'signum': {}, 'ftml': {},
    # with the correction, upstream's result depends on how many weights come in one call; ours does not
    'lars': {'momentum': 0.9, 'momentum_correction': False},
    'lamb': {}, 'lbsgd': {'momentum': 0.9, 'batch_scale': 2}, 'dcasgd': {}, 'adam': {},
    'adagrad': {}, 'rmsprop': {'centered': True}, 'adadelta': {}, 'ftrl': {}, 'adamax': {}, 'nadam': {},
    'groupadagrad': {}, 'ccsgd': {}, 'test': {}, 'sgd low': {'momentum': 0.9, 'multi_precision': True},
    'adam low': {'multi_precision': True}, 'lamb low': {'multi_precision': True},
    'adam clipped': {'clip_gradient': 0.3, 'rescale_grad': 0.5},
}

# Runs on either side: `python script STAGE FOLDER`, stage 1 from the start, stage 2 from what the other side saved.
SCRIPT = '''
import sys
import numpy as np
import mxnet as mx

cases = {cases!r}
stage, me, other = sys.argv[1:]

for case, options in cases.items():
    draw = np.random.RandomState(0)
    dtype = 'float16' if case.endswith('low') else 'float32'
    start = [draw.uniform(-1, 1, size=shape).astype(dtype) for shape in ((3, 4), (5, 2))]
    grads = [[draw.uniform(-1, 1, size=w.shape).astype(dtype) for w in start] for _ in range(6)]
    schedule = mx.lr_scheduler.MultiFactorScheduler([2, 4], factor=0.5, base_lr=0.1)
    updater = mx.optimizer.get_updater(mx.optimizer.create(
        case.split()[0], learning_rate=0.1, lr_scheduler=schedule, param_idx2name={{0: 'a_weight', 1: 'b_bias'}},
        **options))
    file = case.replace(' ', '-')
    if stage == '2':
        start = [np.load(other + file + str(i) + '.npy') for i in range(2)]
        with open(other + file + '.states', 'rb') as f:
            updater.set_states(f.read())
    weights = [mx.nd.array(w, dtype=dtype) for w in start]
    for step in grads[:3] if stage == '1' else grads[3:]:
        # one by one: MXNet 1.9.1 cannot take lists for all of them
        for i in range(2):
            updater(i, mx.nd.array(step[i], dtype=dtype), weights[i])
    for i in range(2):
        np.save(me + file + str(i) + '.npy', weights[i].asnumpy())
    with open(me + file + '.states', 'wb') as f:
        f.write(updater.get_states(dump_optimizer=True))
'''


@pytest.fixture(scope='module')
def results(tmp_path_factory):
    """{(side, stage): folder}: what each side had after its own steps, and after going on from the other's."""
    python = os.environ.get('MXNET191_PYTHON')
    if not python:
        pytest.skip('MXNET191_PYTHON names no Python with MXNet 1.9.1')
    folder = tmp_path_factory.mktemp('handover')
    script = folder / 'script.py'
    script.write_text(SCRIPT.format(cases=CASES))
    root = str(ROOT)
    plain = {k: v for k, v in os.environ.items() if k != 'PYTHONPATH'}
    sides = {'ours': (sys.executable, {**plain, 'PYTHONPATH': root}), 'upstream': (python, plain)}
    places = {(side, stage): f'{folder}/{side}{stage}-' for side in sides for stage in '12'}
    for stage in '12':
        for side, other in (('ours', 'upstream'), ('upstream', 'ours')):
            interpreter, environment = sides[side]
            subprocess.run([interpreter, '-W', 'ignore', str(script), stage, places[side, stage], places[other, '1']],
                           cwd=folder, env=environment, check=True, capture_output=True, timeout=240)
    return places


@pytest.mark.parametrize('stage', ['1', '2'])
@pytest.mark.parametrize('case', CASES)
def test_handover(results, case, stage):
    tolerance = 2e-3 if case.endswith('low') else 2e-5
    for i in range(2):
        ours, theirs = (np.load(results[side, stage] + case.replace(' ', '-') + f'{i}.npy')
                        for side in ('ours', 'upstream'))
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, tolerance, tolerance)
