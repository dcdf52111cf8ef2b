"""A short run of the fuzzers: what was found once, a few hundred new cases, and odd attributes of some operators."""

import json
import subprocess
import sys

import pytest
from conftest import ROOT

pytestmark = pytest.mark.skipif(not sys.platform.startswith('linux'), reason='limits memory the way Linux does')
SCRIPTS = ROOT / 'tests' / 'scripts'


def test_damaged_files(tmp_path):
    for module in ('cv2', 'onnx', 'safetensors'):
        pytest.importorskip(module)
    done = subprocess.run(
        [sys.executable, str(SCRIPTS / 'fuzz_files.py'), '--together', '--count', '40', '--seed', '7'],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'no defects' in done.stdout


def test_the_fuzzer_finds_defects(tmp_path):
    """What it is for: a reader that dies, hangs, takes memory or speaks in riddles is told apart."""
    code = '''
import os, signal, sys, time
import fuzz_files
class Child(fuzz_files.Child):
    pass
work = Child('csv', sys.argv[1])
def memory(path): bytearray(1 << 30)
def hang(path):
    while True: pass
def riddle(path): {}['x']
def nameless(path): raise fuzz_files_error('wrong')
def good(path): raise fuzz_files_error(f'{path}: line 3: wrong')
from mxnet.base import MXNetError as fuzz_files_error
fuzz_files.SECONDS = 1
work.run(b'1,2', 'x', (memory, hang, riddle, nameless, good))
work.ended(1)
'''
    done = subprocess.run(
        [sys.executable, '-c', code, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
        env={'PYTHONPATH': f'{ROOT}:{SCRIPTS}', 'FUZZ_KEEP': str(tmp_path / 'kept'), 'PATH': ''},
    )
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(r['reader'], r['kind']) for r in records[:-1]] == [
        ('memory', 'memory'),
        ('hang', 'hang'),
        ('riddle', 'unclear'),
        ('nameless', 'unclear'),
    ], done.stderr
    assert records[-1]['refused'] == 1
    assert len(list((tmp_path / 'kept').iterdir())) == 3  # one for each kind


def test_several_processes_without_an_installed_package(tmp_path):
    """A machine may have what the package needs, but not the package; all processes have one table."""
    code = """
import json, os, subprocess, sys
sys.path[:] = [place for place in sys.path if not os.path.isdir(os.path.join(place, 'mxnet'))]
sys.meta_path[:] = [finder for finder in sys.meta_path if 'editable' not in repr(finder).lower()]
sys.path.insert(0, sys.argv[1])
import fuzz_campaign
import mxnet._dist.guard as guard
assert guard.__file__.startswith(str(fuzz_campaign.ROOT))
assert fuzz_campaign.computed(os.getpid()) > 0

class Campaign(fuzz_campaign.Campaign):
    def process(self, name, arguments, folder):         # stands in for a reader that dies in case 3 of each batch
        start, end = map(int, arguments[arguments.index('--child') + 1].split(':'))
        if start % 100 == 0:
            self.defect(name, {'case': str(start + 3), 'reader': '?', 'kind': 'crash', 'text': f'exit status -{start}'})
            return str(start + 3)
        self._told({'format': name, 'done': end - start, 'milliseconds': 1})

campaign = Campaign(sys.argv[2])
campaign.batches(['csv', 'list'], {'csv': 3, 'list': 1}, 0, 400, 100, 2)
campaign.report(0)
"""
    done = subprocess.run(
        [sys.executable, '-c', code, str(SCRIPTS), str(tmp_path / 'out')], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    rows = {line.split()[0]: line.split() for line in done.stdout.splitlines() if line}
    assert rows['csv'][1] == '300' and rows['list'][1] == '100' and rows['all'][5] == '4'
    assert '3 x csv, ?, crash: exit status -*' in done.stdout
    records = [json.loads(line) for line in (tmp_path / 'out' / 'defects.jsonl').read_text().splitlines()]
    assert len(records) == 4 and 'all' in (tmp_path / 'out' / 'report.txt').read_text()


NAMES = (
    'Convolution',
    'SliceChannel',
    '_npi_arange',
    'broadcast_axis',
    'RNN',
    '_contrib_MultiBoxPrior',
    'topk',
    'Pad',
    'multi_sgd_update',
    '_image_resize',
    'Embedding',
    'random_uniform',
)


def test_odd_attributes():
    command = [sys.executable, str(SCRIPTS / 'fuzz_operators.py')]
    for name in NAMES:
        command += ['--operator', name]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=300,
        env={'PYTHONPATH': str(ROOT), 'OMP_NUM_THREADS': '1', 'MALLOC_ARENA_MAX': '1', 'PATH': ''},
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


@pytest.mark.slow
def test_odd_attributes_of_all_operators():
    done = subprocess.run(
        [sys.executable, str(SCRIPTS / 'fuzz_operators.py')],
        capture_output=True,
        text=True,
        env={'PYTHONPATH': str(ROOT), 'OMP_NUM_THREADS': '1', 'MALLOC_ARENA_MAX': '1', 'PATH': ''},
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
