"""`remx launch`: variables, output, failures, restarts; and what workers say about a lost one."""
import importlib.util
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from conftest import ROOT

from mxnet._dist import launcher
from mxnet._dist.places import Place, place, timeout
from mxnet.base import MXNetError
from mxnet.cli import main

FAMILIES = ('RANK', 'WORLD_SIZE', 'LOCAL_', 'MASTER_', 'DMLC_', 'SLURM_', 'TORCHELASTIC_')


@pytest.fixture(autouse=True)
def no_job(monkeypatch):
    for name in list(os.environ):
        if name.startswith(FAMILIES):
            monkeypatch.delenv(name)


def run(*arguments, timeout=60, **environment):
    environment = {**os.environ, 'PYTHONPATH': str(ROOT), 'OMP_NUM_THREADS': '1', **environment}
    start = time.monotonic()
    done = subprocess.run([sys.executable, '-m', 'mxnet.cli', 'launch', *arguments], env=environment,
                          capture_output=True, text=True, timeout=timeout)
    done.seconds = time.monotonic() - start
    return done


# ------------------------------------------------------------------ who a process is

@pytest.mark.parametrize('variables, expected', [
    ({}, Place()),
    ({'RANK': '1', 'WORLD_SIZE': '4', 'LOCAL_RANK': '1', 'LOCAL_WORLD_SIZE': '2', 'MASTER_ADDR': 'h',
      'MASTER_PORT': '7'}, Place(1, 4, 1, 2, 'h', 7)),
    ({'RANK': '0', 'WORLD_SIZE': '1'}, Place()),
    ({'RANK': '0', 'WORLD_SIZE': '2', 'MASTER_ADDR': 'h', 'MASTER_PORT': '7', 'TORCHELASTIC_USE_AGENT_STORE': 'True',
      'TORCHELASTIC_RESTART_COUNT': '2'}, Place(0, 2, 0, 1, 'h', 7, True, 2)),
    ({'DMLC_NUM_WORKER': '2', 'DMLC_NUM_SERVER': '3', 'DMLC_PS_ROOT_URI': 'h', 'DMLC_PS_ROOT_PORT': '7',
      'DMLC_WORKER_ID': '1'}, Place(1, 2, 0, 1, 'h', 7)),
    ({'DMLC_NUM_WORKER': '2', 'DMLC_PS_ROOT_URI': 'h', 'DMLC_PS_ROOT_PORT': '7', 'DMLC_TASK_ID': '1'},
     Place(1, 2, 0, 1, 'h', 7)),
    ({'DMLC_NUM_WORKER': '2', 'DMLC_PS_ROOT_URI': 'h', 'DMLC_PS_ROOT_PORT': '7'}, Place(None, 2, 0, 1, 'h', 7)),
    ({'DMLC_NUM_WORKER': '1'}, Place()),
    ({'SLURM_NTASKS': '3', 'SLURM_PROCID': '2', 'SLURM_LOCALID': '1', 'MASTER_ADDR': 'h', 'MASTER_PORT': '7'},
     Place(2, 3, 1, 1, 'h', 7)),
    ({'SLURM_NTASKS': '1', 'SLURM_PROCID': '0'}, Place()),
])
def test_places(monkeypatch, variables, expected):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert place() == expected


@pytest.mark.parametrize('variables, message', [
    ({'RANK': '0', 'WORLD_SIZE': '2'}, 'MASTER_ADDR and MASTER_PORT do not say where they meet'),
    ({'RANK': '0', 'WORLD_SIZE': 'two'}, "WORLD_SIZE must be a number, not 'two'"),
    ({'RANK': '2', 'WORLD_SIZE': '2', 'MASTER_ADDR': 'h', 'MASTER_PORT': '7'}, 'worker 2 of 2 is impossible'),
    ({'DMLC_NUM_WORKER': '2', 'DMLC_PS_ROOT_URI': 'h'}, 'DMLC_PS_ROOT_PORT'),
])
def test_impossible_places(monkeypatch, variables, message):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(MXNetError, match=message):
        place()


def test_timeout(monkeypatch):
    assert timeout() == 300
    monkeypatch.setenv('MXNET_KVSTORE_TIMEOUT', '2.5')
    assert timeout() == 2.5
    for wrong in ('0', '-1', 'soon', 'nan'):
        monkeypatch.setenv('MXNET_KVSTORE_TIMEOUT', wrong)
        with pytest.raises(MXNetError, match='MXNET_KVSTORE_TIMEOUT'):
            timeout()


# ------------------------------------------------------------------ the launcher

def test_variables_and_output():
    names = 'RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE DMLC_ROLE DMLC_WORKER_ID DMLC_NUM_WORKER DMLC_NUM_SERVER ' \
            'COLOUR SHAPE'
    shown = f'import os; print(*(os.environ[n] for n in "{names}".split())); ' \
            'assert os.environ["MASTER_PORT"] == os.environ["DMLC_PS_ROOT_PORT"]; assert os.environ["DMLC_PS_ROOT_URI"]'
    done = run('-n', '3', '-s', '2', '--env', 'COLOUR:red', '--env-worker', 'SHAPE=a:b', '--env', 'PATH',
               sys.executable, '-c', shown)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(done.stdout.splitlines()) == [f'[{r}] {r} 3 {r} 3 worker {r} 3 2 red a:b' for r in range(3)]


def test_a_failing_worker_stops_the_job():
    program = 'import os, sys, time\nif os.environ["RANK"] == "1":\n    raise ValueError("my mistake")\ntime.sleep(100)'
    job = launcher.Job([sys.executable, '-c', program], 3, grace=0.2, output=open(os.devnull, 'w', encoding='utf-8'))
    said = []
    job._say = said.append
    start = time.monotonic()
    job.start()
    assert job.wait() == (1, 1)
    assert time.monotonic() - start < 10 and all(process.poll() is not None for process in job.processes)
    job.output.close()
    summary = said.index('worker 1 failed first: it ended with status 1. Its last lines:')
    assert said[-1] == '    ValueError: my mistake' and len(said) > summary + 2


def test_workers_share_the_cores(monkeypatch):
    monkeypatch.setattr(launcher, 'cores', lambda: [2, 3, 6, 7])
    monkeypatch.delenv('OMP_PROC_BIND', raising=False)
    assert [launcher.threads(i, 2) for i in range(2)] == [{'OMP_NUM_THREADS': '2'}] * 2
    assert launcher.threads(5, 8) == {'OMP_NUM_THREADS': '1'}
    monkeypatch.setenv('OMP_PROC_BIND', 'true')
    assert launcher.threads(0, 1) == {'OMP_NUM_THREADS': '4'}
    assert [launcher.threads(i, 2)['OMP_PLACES'] for i in range(2)] == ['{2},{3}', '{6},{7}']
    assert [launcher.threads(i, 8)['OMP_PLACES'] for i in (0, 3, 4, 7)] == ['{2}', '{7}', '{2}', '{7}']


def test_restarts():
    program = 'import os, sys; n = int(os.environ["TORCHELASTIC_RESTART_COUNT"]); print("try", n); sys.exit(n < 2)'
    done = run('-n', '2', '--elastic', sys.executable, '-c', program)
    assert done.returncode == 0
    assert '[1] try 2' in done.stdout and 'starting all 2 workers again (2 of 3)' in done.stdout
    done = run('-n', '1', '--elastic', '--max-restarts', '1', sys.executable, '-c', program)
    assert done.returncode == 1


def test_it_can_be_interrupted():
    environment = {**os.environ, 'PYTHONPATH': str(ROOT)}
    program = 'import os, time; print(os.getpid(), flush=True); time.sleep(100)'
    with subprocess.Popen([sys.executable, '-m', 'mxnet.cli', 'launch', '-n', '2', sys.executable, '-c', program],
                          env=environment, stdout=subprocess.PIPE, text=True) as process:
        workers = [int(process.stdout.readline().split()[1]) for _ in range(2)]
        process.terminate()
        assert process.wait(20) == 128 + 15
    for worker in workers:
        with pytest.raises(ProcessLookupError):
            os.kill(worker, 0)


def test_an_interrupt_while_workers_start_leaves_none_behind(monkeypatch, tmp_path):
    real, started = launcher.begin_here, []

    def begin(*arguments):
        started.append(real(*arguments))
        if len(started) == 2:
            signal.raise_signal(signal.SIGTERM)         # it runs, and nobody has written it down yet
        return started[-1]

    monkeypatch.setattr(launcher, 'begin_here', begin)
    with open(tmp_path / 'out', 'w') as output:
        assert launcher.launch(['sleep', '100'], 3, output=output) == 128 + 15
    # a process that has not handled SIGTERM in time is killed
    assert {process.wait(5) for process in started} <= {-15, -9}
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


@pytest.mark.parametrize('arguments, message', [
    (['-n', '2'], 'there is no program'),
    (['-n', '0', 'true'], '-n must be at least 1'),
    (['-n', '2', '--launcher', 'ssh', 'true'], '-H goes with --launcher ssh'),
    (['-n', '2', '--max-restarts', '1', 'true'], 'goes with --elastic'),
    (['-n', '2', '--sync-dst-dir', 'x', 'true'], '--sync-dst-dir goes with'),
    (['-n', '2', '--rsh', 'ssh', 'true'], '--rsh needs a command, and a file of hosts'),
    (['-n', '2', '-H', 'x', '--rsh', 'in {host} --', '--sync-dst-dir', 'x', 'true'], 'at the end of --rsh'),
    (['-n', '2', '-H', '/no/such/file', 'true'], '/no/such/file'),
    (['-n', '2', '--env', 'NO_SUCH_VARIABLE', 'true'], 'this variable is not set here'),
    (['-n', '2', '--launcher', 'slurm', 'true'], 'not a Slurm allocation'),
    (['-n', '2', '--launcher', 'slurm', '--elastic', 'true'], 'does not go with slurm'),
    (['-n', '2', '--', '/no/such/program'], '/no/such/program'),
    (['-n', '2', '--launcher', 'mpi', 'true'], 'use ssh, ray or slurm'),
])
def test_wrong_options(arguments, message, capsys):
    assert main(['launch', *arguments]) == 2
    assert message in capsys.readouterr().err


def test_hosts(tmp_path):
    file = tmp_path / 'hosts'
    file.write_text('# ours\na:2\n\nb slots=1  # small\nc\n')
    assert launcher.hosts_of(file) == [('a', 2), ('b', 1), ('c', None)]
    assert launcher.places_of(4, [('a', 3), ('b', 3)]) == [('a', 0, 3), ('a', 1, 3), ('a', 2, 3), ('b', 0, 1)]
    assert launcher.places_of(3, [('a', None), ('b', None)]) == [('a', 0, 2), ('a', 1, 2), ('b', 0, 1)]
    with pytest.raises(MXNetError, match='room for 2 workers, not for 3'):
        launcher.places_of(3, [('a', 2)])
    file.write_text('me@a.example-1.org\n10.0.0.1:2\n')
    assert launcher.hosts_of(file) == [('me@a.example-1.org', None), ('10.0.0.1', 2)]
    for text, message in ((b'', 'names no host'), (b'a:many', 'is not a host'), (b'\xff\n', 'byte 0 is not UTF-8'),
                          (b'a\n-oProxyCommand=touch${IFS}x\n', r"hosts, line 2: '-oProxyCommand"),
                          (b'a;touch x\n', 'line 1'), (b'a\0b\n', 'line 1'), (b'me@-F/tmp/x\n', 'line 1'),
                          (b'-l@a\n', 'line 1'), (b'a slots=99999999999999999999\n', 'line 1')):
        file.write_bytes(text)
        with pytest.raises(MXNetError, match=message):
            launcher.hosts_of(file)
    with pytest.raises(MXNetError, match='nothere: cannot read'):
        launcher.hosts_of('nothere')


def fake(folder, name, script):
    path = folder / name
    path.write_text(f'#!/bin/sh\n{script}\n')
    path.chmod(0o755)
    return f'{folder}{os.pathsep}{os.environ["PATH"]}'


def test_ssh(tmp_path):
    """ssh and rsync are stand-ins: they show how they are called, and run the command here."""
    fake(tmp_path, 'rsync', 'echo "rsync $4"')
    path = fake(tmp_path, 'ssh', 'echo "to $3"; shift 3; exec sh -c "$*"')
    (tmp_path / 'hosts').write_text('first\nsecond\n')
    done = run('-n', '2', '-H', str(tmp_path / 'hosts'), '--sync-dst-dir', str(tmp_path), 'sh', '-c',
               'echo $RANK of $WORLD_SIZE at $MASTER_ADDR in $PWD with $OMP_NUM_THREADS', PATH=path,
               OMP_NUM_THREADS='')
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines[:2] == [f'rsync first:{tmp_path}', f'rsync second:{tmp_path}']
    for rank, host in enumerate(('first', 'second')):
        assert f'[{rank}] to {host}' in lines
        assert f'[{rank}] {rank} of 2 at first in {tmp_path} with {len(launcher.cores())}' in lines


def test_slurm(tmp_path):
    path = fake(tmp_path, 'srun', 'echo "$@" $MASTER_ADDR ${#MXNET_KVSTORE_SECRET}')
    done = run('-n', '2', '--launcher', 'slurm', 'train', PATH=path, SLURM_LAUNCH_NODE_IPADDR='10.0.0.1')
    assert done.stdout.split() == ['--label', '--kill-on-bad-exit=1', '-n', '2', 'train', '10.0.0.1', '64']


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec('ray') is None, reason='ray is not installed')
def test_ray(tmp_path):
    """Workers on a Ray cluster, once more after a failure; dist_async has its servers there, with their variables."""
    (tmp_path / 'job.py').write_text(ON_RAY)
    done = run('-n', '2', '-s', '1', '--launcher', 'ray', '--elastic', '--env', 'COLOUR:red', '--env-server', 'SHAPE:a',
               sys.executable, str(tmp_path / 'job.py'), timeout=200, MXNET_KVSTORE_OBJECT_STORE_MB='100')
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert 'worker 1 failed first: it ended with status 3. Its last lines:' in lines
    for rank in range(2):
        assert f'[{rank}] sum 3.0, of 2 and 1, red; rank {rank}' in lines, done.stdout


ON_RAY = '''
import os, sys
import mxnet as mx
if os.environ['TORCHELASTIC_RESTART_COUNT'] == '0' and os.environ['RANK'] == '1':
    sys.exit(3)
kv = mx.kv.create('dist_async')
kv.init('w', mx.nd.zeros((2,)))

def update(key, value, stored):
    import os
    assert (os.environ['SHAPE'], os.environ['COLOUR']) == ('a', 'red')
    stored += value

kv.set_updater(update)
kv.push('w', mx.nd.ones((2,)) * (kv.rank + 1))
kv.barrier()
out = mx.nd.zeros((2,))
kv.pull('w', out)
print(f'sum {out.asnumpy()[0]}, of {kv.num_workers} and {kv.num_servers}, {os.environ["COLOUR"]}; rank {kv.rank}')
'''


# ------------------------------------------------------------------ lost workers

LOSER = '''
import os, sys, time
import mxnet as mx
kv = mx.kv.create('dist_sync')
kv.init('w', mx.nd.ones((2,)))
if kv.rank == int(sys.argv[2]):
    if sys.argv[1] == 'kill':
        os.kill(os.getpid(), 9)
    elif sys.argv[1] == 'end':
        sys.exit(0)
    elif sys.argv[1] == 'late':
        time.sleep(100)
start = time.time()
try:
    kv.pushpull('w', mx.nd.ones((2,)))
except mx.MXNetError as error:
    print('after', time.time() - start, 'seconds:', error)
    sys.exit(3)
'''


@pytest.mark.slow
@pytest.mark.parametrize('how, who, words', [
    ('kill', 1, 'worker 1 is gone'), ('kill', 0, 'worker 0, where the workers meet, is gone'),
    ('end', 1, 'worker 1 ended'),
    ('late', 1, 'worker 1 has not come to it (its last operation: init of'),
])
def test_a_lost_worker_is_named(tmp_path, how, who, words):
    (tmp_path / 'loser.py').write_text(LOSER)
    done = run('-n', '3', sys.executable, str(tmp_path / 'loser.py'), how, str(who), MXNET_KVSTORE_TIMEOUT='4')
    assert done.returncode == (137 if how == 'kill' else 3), done.stdout + done.stderr
    for rank in {0, 1, 2} - {who}:
        pattern = rf'^\[{rank}\] after ([\d.]+) seconds: worker {rank} of 3: pushpull of .*$'
        said = re.search(pattern, done.stdout, re.MULTILINE)
        assert said and words in said[0], done.stdout
        assert float(said[1]) < 12


@pytest.mark.slow
def test_a_worker_that_never_starts_is_named():
    program = 'import os, mxnet as mx\nif os.environ["RANK"] == "0":\n    mx.kv.create("dist_sync")'
    done = run('-n', '2', sys.executable, '-c', program, MXNET_KVSTORE_TIMEOUT='2')
    assert 'worker 1 did not start within 2 seconds' in done.stdout
    done = run('-n', '2', sys.executable, '-c', program.replace('"0"', '"1"'), MXNET_KVSTORE_TIMEOUT='2')
    assert re.search('worker 1 of 2 found no worker at /.*/meet within 2 seconds', done.stdout)


# the line is written at once, for torchrun does not keep those of several workers apart
SUM = '''
import mxnet as mx
kv = mx.kv.create('dist_sync')
kv.init('w', mx.nd.zeros((2,)))
out = mx.nd.zeros((2,))
kv.pushpull('w', mx.nd.ones((2,)) * (kv.rank + 1), out=out)
print(f'sum {out.asnumpy()[0]} of {kv.num_workers}\\n', end='')
'''


@pytest.mark.slow
def test_old_job_scripts(tmp_path):
    """Scheduler, server and workers without numbers, each started with DMLC_ variables."""
    (tmp_path / 'job.py').write_text(SUM)
    common = {**os.environ, 'PYTHONPATH': str(ROOT), 'OMP_NUM_THREADS': '1', 'DMLC_PS_ROOT_URI': '127.0.0.1',
              'DMLC_PS_ROOT_PORT': str(launcher.free_port()), 'DMLC_NUM_WORKER': '2', 'DMLC_NUM_SERVER': '1',
              'MXNET_KVSTORE_TIMEOUT': '30', 'MXNET_KVSTORE_SECRET': 'a text that only this test knows'}
    processes = [subprocess.Popen([sys.executable, str(tmp_path / 'job.py')], env={**common, 'DMLC_ROLE': role},
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                 for role in ('worker', 'scheduler', 'server', 'worker')]
    said = [process.communicate(timeout=60)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, said
    assert said == ['sum 3.0 of 2\n', '', '', 'sum 3.0 of 2\n']


@pytest.mark.slow
def test_torchrun(tmp_path):
    (tmp_path / 'job.py').write_text(SUM)
    environment = {**os.environ, 'PYTHONPATH': str(ROOT), 'OMP_NUM_THREADS': '1'}
    done = subprocess.run([sys.executable, '-m', 'torch.distributed.run', '--nproc_per_node', '2', '--master_port',
                           str(launcher.free_port()), str(tmp_path / 'job.py')], env=environment, capture_output=True,
                          text=True, timeout=100)
    assert done.stdout.count('sum 3.0 of 2') == 2, done.stdout + done.stderr


@pytest.mark.slow
def test_a_group_that_the_program_made_is_used(tmp_path):
    (tmp_path / 'job.py').write_text('import torch.distributed as dist\ndist.init_process_group("gloo")\n' + SUM
                                     + 'dist.destroy_process_group()\n')
    done = run('-n', '2', sys.executable, str(tmp_path / 'job.py'))
    assert done.stdout.count('sum 3.0 of 2') == 2, done.stdout + done.stderr


@pytest.mark.slow
def test_a_grid_of_workers_and_devices_ends_as_one_process():
    example = str(ROOT / 'examples' / 'data_and_model_parallel.py')
    ends = [run('-n', str(workers), sys.executable, example, MXNET_VIRTUAL_GPUS='4').stdout for workers in (1, 2)]
    found = [re.search(r'(\d) workers by 2 devices \(gpu\(0\), gpu\(1\)\): accuracy (.*)', end) for end in ends]
    assert [match[1] for match in found] == ['1', '2'] and found[0][2] == found[1][2], ends


@pytest.mark.slow
def test_the_example_ends_the_same_however_it_is_run(tmp_path):
    """Alone, with two workers, and with two of which one dies and all start again from the checkpoint."""
    example = str(ROOT / 'examples' / 'distributed_mlp.py')
    alone = run('-n', '1', sys.executable, example, '--epochs', '4')
    two = run('-n', '2', sys.executable, example, '--epochs', '4')
    again = run('-n', '2', '--elastic', sys.executable, example, '--epochs', '4', '--folder', str(tmp_path),
                '--fail-at', '3', MXNET_KVSTORE_TIMEOUT='20')
    ends = [[line for line in done.stdout.splitlines() if line.startswith('[0]')][-2:] for done in (alone, two, again)]
    assert ends[0] == ends[1] == ends[2] and ends[0][1].startswith('[0] accuracy 0.9'), ends
    assert 'worker 1 is gone' in again.stdout and 'starting all 2 workers again (1 of 3)' in again.stdout
