"""Real processes and a real Ray cluster: two workers and two servers run the checks of async_worker.py."""
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

from mxnet._dist.journal import Journal

WORKER = ROOT / 'tests' / 'helpers' / 'async_worker.py'
NAMES = re.findall(r'^def (check_\w+)', WORKER.read_text(encoding='utf-8'), re.MULTILINE)
KILLS = [name for name in NAMES if 'killed' in name]
CHECKS = [name for name in NAMES if name not in KILLS]
WORKERS = 2

needs_ray = pytest.mark.skipif(importlib.util.find_spec('ray') is None, reason='ray is not installed')


def job(*command, workers=WORKERS, servers=2, timeout=200, **environment):
    environment = {**os.environ, 'PYTHONPATH': str(ROOT), 'OMP_NUM_THREADS': '1', 'MXNET_KVSTORE_TIMEOUT': '60',
                   'MXNET_KVSTORE_OBJECT_STORE_MB': '200', **environment}
    environment.pop('RAY_ADDRESS', None)
    return subprocess.run([sys.executable, '-m', 'mxnet.cli', 'launch', '-n', str(workers), '-s', str(servers),
                           sys.executable, *command], env=environment, capture_output=True, text=True, timeout=timeout)


def checked(folder, names):
    """[{check: traceback or None}] of each worker."""
    done = job(str(WORKER), str(folder), *names)
    files = [folder / f'{rank}.json' for rank in range(WORKERS)]
    found = [json.loads(file.read_text()) if file.exists() else {} for file in files]
    if done.returncode and not any(problem for result in found for problem in result.values()):
        pytest.fail(done.stdout + done.stderr)
    return found


def passed(results, check):
    """The first check that fails on a worker ends the job."""
    problems = [f'worker {rank}:\n{result[check]}' for rank, result in enumerate(results) if result.get(check)]
    assert not problems, '\n'.join(problems)
    broken = {name for result in results for name, problem in result.items() if problem}
    for rank, result in enumerate(results):
        assert check in result, f'worker {rank} did not end it, since the job ended: {", ".join(broken)} failed'


@pytest.fixture(scope='module')
def results(tmp_path_factory):
    return checked(tmp_path_factory.mktemp('async'), CHECKS)


@pytest.fixture(scope='module')
def results_of_kills(tmp_path_factory):
    return checked(tmp_path_factory.mktemp('kills'), KILLS)


@needs_ray
@pytest.mark.parametrize('check', CHECKS)
def test_two_workers_and_two_servers(results, check):
    passed(results, check)


@needs_ray
@pytest.mark.slow
@pytest.mark.parametrize('check', KILLS)
def test_servers_that_are_killed(results_of_kills, check):
    passed(results_of_kills, check)


def running(folder):
    """Processes that have a folder in their command line."""
    found = []
    for name in os.listdir('/proc'):
        if name.isdigit():
            try:
                with open(f'/proc/{name}/cmdline', 'rb') as file:
                    if str(folder).encode() in file.read():
                        found.append(int(name))
            except OSError:
                continue
    return found


LEFTOVERS = '''
import os, sys, tempfile
import mxnet as mx
kv = mx.kv.create('dist_async')
kv.init('w', mx.nd.zeros((2,)))
kv.push('w', mx.nd.ones((2,)))
kv.barrier()
if kv.rank == 0 and sys.argv[1] == 'kill':
    os.kill(os.getpid(), 9)
if kv.rank == 0 and sys.argv[1] == 'raise':
    raise ValueError('my mistake')
kv.barrier()
'''


@needs_ray
@pytest.mark.slow
@pytest.mark.skipif(not os.path.isdir('/proc'), reason='looks at /proc')
@pytest.mark.parametrize('how, status', [('end', 0), ('raise', 1), ('kill', 137)])
def test_nothing_is_left(tmp_path, how, status, request):
    """However the job ends, neither the processes of the Ray cluster nor its files stay."""
    (tmp_path / 'job.py').write_text(LEFTOVERS)
    own = Path(tempfile.mkdtemp(prefix='t', dir='/tmp'))     # names of sockets must be short
    request.addfinalizer(lambda: shutil.rmtree(own))
    done = job(str(tmp_path / 'job.py'), how, TMPDIR=str(own))
    assert done.returncode == status, done.stdout + done.stderr
    if status:
        assert 'worker 0 failed first' in done.stdout
    assert not running(own) and not list(own.iterdir())


EARLY = '''
import mxnet as mx

def train():
    kv = mx.kv.create('dist_async')
    kv.init('w', mx.nd.zeros((2,)))
    kv.set_optimizer(mx.optimizer.create('test'))
    out = mx.nd.zeros((2,))
    for _ in range(2 if kv.rank == 0 else 8):
        kv.pushpull('w', mx.nd.ones((2,)), out=out)
    print('worker', kv.rank, 'pulled', out.asnumpy()[0])

train()
'''


@needs_ray
def test_nobody_waits_for_a_worker_who_has_ended(tmp_path):
    """Its store is gone before the program is."""
    (tmp_path / 'job.py').write_text(EARLY)
    done = job(str(tmp_path / 'job.py'), MXNET_KVSTORE_MAX_STALENESS='1', MXNET_KVSTORE_TIMEOUT='10')
    assert done.returncode == 0 and 'worker 1 pulled 10.0' in done.stdout, done.stdout + done.stderr


# the line is written at once, for torchrun does not keep those of several workers apart
TRAINER = '''
import mxnet as mx
kv = mx.kv.create('dist_async')
kv.init('w', mx.nd.zeros((2,)))
kv.set_optimizer(mx.optimizer.create('test'))
kv.push('w', mx.nd.ones((2,)))
kv.barrier()
out = mx.nd.zeros((2,))
kv.pull('w', out)
print(f'sum {out.asnumpy()[0]} of {kv.num_workers} with {kv.num_servers}\\n', end='')
'''


@needs_ray
@pytest.mark.slow
def test_an_existing_cluster_is_used_and_left(tmp_path):
    (tmp_path / 'job.py').write_text(TRAINER)
    program = f'''
import os, subprocess, sys, ray
found = ray.init(address='local', num_cpus=1, object_store_memory=100 * 2**20, include_dashboard=False,
                 configure_logging=False, log_to_driver=False)
environment = {{**os.environ, 'RAY_ADDRESS': found.address_info['gcs_address']}}
for _ in range(2):
    done = subprocess.run([sys.executable, '-m', 'mxnet.cli', 'launch', '-n', '2', sys.executable,
                           {str(tmp_path / 'job.py')!r}], env=environment)
    assert done.returncode == 0
assert ray.get(ray.remote(lambda: 3).remote()) == 3
from ray.util import list_named_actors
assert not list_named_actors(all_namespaces=True), list_named_actors(all_namespaces=True)
'''
    environment = {**os.environ, 'PYTHONPATH': str(ROOT), 'OMP_NUM_THREADS': '1', 'RAY_USAGE_STATS_ENABLED': '0'}
    done = subprocess.run([sys.executable, '-c', program], env=environment, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count('sum 2.0 of 2 with 1') == 4


LOSER = '''
import os, sys, time
import mxnet as mx
kv = mx.kv.create('dist_async')
kv.init('w', mx.nd.ones((2,)))
kv.barrier()
start = time.time()
if kv.rank == int(sys.argv[1]):
    os.kill(os.getpid(), 9)
try:
    while time.time() - start < 60:
        kv.pushpull('w', mx.nd.ones((2,)))
        time.sleep(0.05)
except mx.MXNetError as error:
    print('after', time.time() - start, 'seconds:', error)
    sys.exit(3)
'''


@needs_ray
@pytest.mark.slow
@pytest.mark.parametrize('who', [0, 1])
def test_a_lost_worker_is_named(tmp_path, who):
    """By workers who do not wait for it either: they are told."""
    (tmp_path / 'job.py').write_text(LOSER)
    done = job(str(tmp_path / 'job.py'), str(who), workers=3, servers=1, MXNET_KVSTORE_TIMEOUT='6')
    assert done.returncode == 137, done.stdout + done.stderr
    for rank in {0, 1, 2} - {who}:
        said = re.search(rf'^\[{rank}\] after ([\d.]+) seconds: worker {rank} of 3: (.*)$', done.stdout, re.MULTILINE)
        assert said and f'worker {who}' in said[2] and 'is gone' in said[2], done.stdout
        assert float(said[1]) < 15


@needs_ray
@pytest.mark.slow
def test_two_machines(tmp_path):
    """ssh is a stand-in that stays here; each "machine" adds a node to the cluster of worker 0."""
    (tmp_path / 'job.py').write_text(TRAINER)
    (tmp_path / 'hosts').write_text('first\nsecond\n')
    (tmp_path / 'ssh').write_text('#!/bin/sh\nshift 3; exec sh -c "$*"\n')
    (tmp_path / 'ssh').chmod(0o755)
    environment = {**os.environ, 'PYTHONPATH': str(ROOT), 'OMP_NUM_THREADS': '1',
                   'MXNET_KVSTORE_OBJECT_STORE_MB': '100', 'PATH': f'{tmp_path}{os.pathsep}{os.environ["PATH"]}'}
    done = subprocess.run([sys.executable, '-m', 'mxnet.cli', 'launch', '-n', '3', '-H', str(tmp_path / 'hosts'),
                           '--address', '127.0.0.1', sys.executable, str(tmp_path / 'job.py')], env=environment,
                          capture_output=True, text=True, timeout=250)
    assert done.stdout.count('sum 3.0 of 3 with 2') == 3, done.stdout + done.stderr


@needs_ray
@pytest.mark.slow
def test_torchrun(tmp_path):
    (tmp_path / 'job.py').write_text(TRAINER)
    environment = {**os.environ, 'PYTHONPATH': str(ROOT), 'OMP_NUM_THREADS': '1',
                   'MXNET_KVSTORE_OBJECT_STORE_MB': '100'}
    done = subprocess.run([sys.executable, '-m', 'torch.distributed.run', '--standalone', '--nproc_per_node', '2',
                           str(tmp_path / 'job.py')], env=environment, capture_output=True, text=True, timeout=200)
    assert done.stdout.count('sum 2.0 of 2 with 1') == 2, done.stdout + done.stderr


# ---------------------------------------------------------------------- the journal

def changes(folder):
    return Journal(folder).recover()


def test_journal(tmp_path):
    journal = Journal(tmp_path / 'j')
    assert journal.recover() == (None, [])
    array = np.arange(12.0).reshape(3, 4)
    journal.write(('a', array))
    journal.write(('b', array[::2]))                        # not contiguous
    state, found = changes(tmp_path / 'j')
    assert state is None and [name for name, _ in found] == ['a', 'b']
    assert (found[0][1] == array).all() and (found[1][1] == array[::2]).all()
    journal.snapshot({'x': array})
    journal.write('c')
    state, found = changes(tmp_path / 'j')
    assert (state['x'] == array).all() and found == ['c']
    again = Journal(tmp_path / 'j')
    again.recover()
    again.write('d')                                        # goes on where the other ended
    assert changes(tmp_path / 'j')[1] == ['c', 'd']
    for number in range(3):
        again.snapshot(number)
        assert changes(tmp_path / 'j') == (number, [])      # old changes in the file are not taken for new ones
        again.write(number)
        assert changes(tmp_path / 'j') == (number, [number])
    assert sorted(os.listdir(tmp_path / 'j')) == ['changes', 'lock', 'state0', 'state1']
    again.remove()
    assert not (tmp_path / 'j').exists()


def test_half_a_change_does_not_count(tmp_path):
    journal = Journal(tmp_path)
    journal.recover()
    journal.write(('first', np.ones(100)))
    first = journal.bytes
    journal.write(('second', np.ones(100)))
    path = tmp_path / 'changes'
    whole = path.read_bytes()
    for length in (first, first + 5, first + 60, journal.bytes - 1):
        path.write_bytes(whole[:length])
        assert [name for name, _ in changes(tmp_path)[1]] == ['first'], length
    path.write_bytes(whole)
    assert [name for name, _ in changes(tmp_path)[1]] == ['first', 'second']
