"""The examples of the reference, run by MXNet 1.9.1 itself: what they show is what it prints.

Needs an interpreter that has it: MXNET191_PYTHON=/path/to/python.
"""
import doctest
import json
import math
import os
import re
import subprocess

import pytest

from mxnet._frontend.examples import FOLDER, examples

PYTHON = os.environ.get('MXNET191_PYTHON')
pytestmark = [pytest.mark.slow,
              pytest.mark.skipif(not PYTHON, reason='MXNET191_PYTHON names no Python with MXNet 1.9.1')]

# why MXNet 1.9.1 prints something else
OTHERWISE = {
    'BatchNorm_v1': 'its states cannot be given to it outside of a graph',
    'IdentityAttachKLSparseReg': 'its state cannot be given to it outside of a graph',
    '_contrib_BatchNormWithReLU': 'made for MKL-DNN only', '_contrib_count_sketch': 'made for GPUs only',
    '_contrib_fft': 'made for GPUs only', '_contrib_ifft': 'made for GPUs only',
    '_contrib_group_adagrad_update': 'not there on the CPU', '_contrib_quantize_asym': 'ends the process',
    '_contrib_quantized_elemwise_mul': 'finds no shapes', 'nd.imdecode': 'finds no shapes',
    'nd.from_torch': 'not there', 'nd.to_torch': 'not there', 'nd.sparse.from_scipy': 'not there',
    'nd.sparse.from_torch': 'not there', 'np.linspace': 'returns a wrong step without an endpoint',
    'np.pad': 'wants a pad_width of two axes', 'np.deg2rad': 'its operator is missing',
    'np.rad2deg': 'its operator is missing', 'np.random.chisquare': 'draws a quarter of what it should',
}
# functions that NumPy no longer has, and which it takes from there
GONE = ('np.mirr', 'np.npv', 'np.pv', 'np.ppmt', 'np.rate')

# runs every session in a process of its own, since a few end it
RUNNER = r"""
import contextlib, doctest, io, json, os, sys, tempfile
import mxnet as mx
from mxnet import autograd, nd, np, npx

found = {}
for name, session in json.load(sys.stdin).items():
    receive, send = os.pipe()
    child = os.fork()
    if child:
        os.close(send)
        with os.fdopen(receive, encoding='utf-8') as answer:
            text = answer.read()
        os.waitpid(child, 0)
        found[name] = json.loads(text) if text else ['the process ended']
        continue
    if name.startswith('np'):
        npx.set_np()
    os.chdir(tempfile.mkdtemp())
    names = {'mx': mx, 'nd': nd, 'np': np, 'npx': npx, 'sym': mx.sym, 'autograd': autograd}
    printed = []
    for example in doctest.DocTestParser().get_examples(session):
        out = io.StringIO()
        try:
            with contextlib.redirect_stdout(out):
                exec(compile(example.source, '<example>', 'single'), names)
        except Exception as error:
            printed.append(type(error).__name__ + ': ' + str(error)[:300])
            break
        printed.append(out.getvalue())
    os.write(send, json.dumps(printed).encode())
    os._exit(0)
print('RESULT' + json.dumps(found))
"""


@pytest.fixture(scope='module')
def upstream(tmp_path_factory):
    surroundings = {**os.environ, 'OMP_NUM_THREADS': '1'}
    surroundings.pop('PYTHONPATH', None)            # which may name this package
    done = subprocess.run([PYTHON, '-c', RUNNER], input=json.dumps(examples()), capture_output=True, text=True,
                          env=surroundings, cwd=tmp_path_factory.mktemp('upstream'))
    assert 'RESULT' in done.stdout, done.stderr[-3000:]
    return json.loads(done.stdout.rpartition('RESULT')[2])


def pieces(text):
    """Words, and numbers as numbers."""
    number = r'[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|\binf\b|\bnan\b)'
    found = re.findall(number + r'|[^\W\d]\w*|[^\w\s]', text.replace('<BLANKLINE>', ''))
    return [float(p) if re.match(r'[-+]?(\d|inf|nan)', p) else p for p in found if p != ',']


def alike(a, b):
    return len(a) == len(b) and all(
        x == y or isinstance(x, float) and isinstance(y, float) and math.isclose(x, y, rel_tol=1e-5, abs_tol=1e-6)
        or x != x and y != y for x, y in zip(a, b, strict=True))


def test_files_are_those_of_the_package():
    assert {path.suffix for path in FOLDER.iterdir() if path.is_file()} <= {'.txt', '.py'}


@pytest.mark.parametrize('name', examples())
def test_same_output(upstream, name):
    shown = ''.join(example.want for example in doctest.DocTestParser().get_examples(examples()[name]))
    printed = upstream[name]
    missing = re.match(r"AttributeError: module 'mxnet\.\w+(\.\w+)*' has no attribute", printed[-1])
    if missing and name not in OTHERWISE:
        pytest.skip(printed[-1])
    same = alike(pieces(shown), pieces(''.join(printed)))
    if name in OTHERWISE or name in GONE:
        assert not same, f'{name} is the same now: take it off the list'
    else:
        assert same, f'MXNet 1.9.1: {"".join(printed)}'
