"""Searches in several processes, on databases and on Ray; killed, stopped and gone on with."""
import contextlib
import glob
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

import pytest
from conftest import ROOT

import mxnet as mx
from mxnet.contrib import tune

optuna = pytest.importorskip('optuna')
pytestmark = pytest.mark.slow

OBJECTIVE = '''import os, time
import mxnet as mx
def objective(trial):
    x = trial.suggest_float('x', -9, 9)
    with open(os.path.join(mx.contrib.tune.folder(trial), 'x.txt'), 'w') as file:
        file.write(f'{trial.number} {os.getpid()} {x}')
    for step in range(8):
        time.sleep(0.05)
        mx.contrib.tune.report(trial, (x - 2) ** 2, step)
    return (x - 2) ** 2
def endless(trial):
    trial.suggest_float('x', 0, 1)
    time.sleep(600)
def dies(trial):
    os._exit(7)
def wrong(trial):
    raise KeyError('of the objective')
if __name__ == '__main__':
    print(mx.contrib.tune.run(objective, 6, jobs=2, out='out', report=False).best_value)
'''


@pytest.fixture
def place(tmp_path):
    (tmp_path / 'program.py').write_text(OBJECTIVE)
    return tmp_path


def command(*words):
    return [sys.executable, '-m', 'mxnet.cli', 'tune', *words, '--out', 'out', '--no-report']


def environment(**more):
    return {**os.environ, 'PYTHONPATH': str(ROOT), 'OMP_NUM_THREADS': '1', 'PYTHONUNBUFFERED': '1', **more}


def execute(place, *words, **more):
    return subprocess.run(command(*words), cwd=place, env=environment(**more), capture_output=True, text=True,
                          timeout=280)


@contextlib.contextmanager
def running(place, *words):
    process = subprocess.Popen(command(*words), cwd=place, env=environment(), text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for(check, seconds=120):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = check()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError('it did not happen')


def study_of(place, name='out/study.journal'):
    path = os.path.join(place, name)
    return tune.load(path).trials if os.path.exists(path) and os.path.getsize(path) else []


def running_pids(place):
    """{trial: process} of the trials that run, from the files that they have written."""
    found = {}
    for path in glob.glob(f'{place}/out/trials/*/x.txt'):
        with contextlib.suppress(OSError, ValueError), open(path) as file:
            number, pid, _ = file.read().split()
            found[int(number)] = int(pid)
    runs = {t.number for t in study_of(place) if t.state.name == 'RUNNING'}
    return {n: pid for n, pid in found.items() if n in runs}


def only_best_is_left(place):
    found = tune.best(str(place / 'out'))
    assert os.listdir(place / 'out' / 'trials') == [f'{found["trial"]:05d}']
    with open(os.path.join(found['folder'], 'x.txt')) as file:
        assert float(file.read().split()[2]) == pytest.approx(found['params']['x'])


def test_two_processes_do_as_many_trials_as_wanted(place):
    done = execute(place, 'program.py', '--jobs', '2', '--trials', '13', '--seed', '1', '--pruner', 'none')
    assert done.returncode == 0, done.stderr
    trials = study_of(place)
    assert [t.state.name for t in trials] == ['COMPLETE'] * 13
    assert len({t.params['x'] for t in trials}) == 13
    only_best_is_left(place)
    assert not os.listdir(place / 'out' / 'study.journal.workers') or all(
        n.startswith('.') for n in os.listdir(place / 'out' / 'study.journal.workers'))
    overlap = sum(b.datetime_start < a.datetime_complete for a, b in zip(trials, trials[1:]))
    assert overlap >= 5                             # they ran side by side


@pytest.mark.parametrize('storage', ['s.journal', 's.db'])
def test_a_killed_process_loses_its_own_trial_only(place, storage):
    words = ['program.py', '--jobs', '2', '--trials', '12', '--pruner', 'none', '--storage', storage]

    def victims():
        trials = study_of(place, storage)
        if sum(t.state.name == 'COMPLETE' for t in trials) < 3:
            return None
        runs = {t.number for t in trials if t.state.name == 'RUNNING'}
        found = {}
        for path in glob.glob(f'{place}/out/trials/*/x.txt'):
            with contextlib.suppress(OSError, ValueError), open(path) as file:
                number, pid, _ = file.read().split()
                found[int(number)] = int(pid)
        return {n: p for n, p in found.items() if n in runs}
    with running(place, *words) as process:
        number, pid = sorted(wait_for(victims).items())[0]
        os.kill(pid, signal.SIGKILL)
        out, error = process.communicate(timeout=200)
    assert process.returncode == 0, (out, error)
    assert 'was killed by signal 9; its trial is lost, the others go on' in error
    trials = study_of(place, storage)
    failed = [t.number for t in trials if t.state.name == 'FAIL']
    assert failed == [number] or not failed and len(trials) == 12       # it had just finished
    assert sum(t.state.name == 'COMPLETE' for t in trials) == 12
    only_best_is_left(place)


@pytest.mark.parametrize('jobs', [1, 2])
def test_a_search_that_was_killed_goes_on(place, jobs):
    words = ['program.py', '--jobs', str(jobs), '--trials', '8', '--pruner', 'none', '--seed', '1']
    with running(place, *words) as process:
        wait_for(lambda: sum(t.state.name == 'COMPLETE' for t in study_of(place)) >= 3 and running_pids(place))
        pids = set(running_pids(place).values())
        process.kill()
        process.wait()
    before = {t.number: (t.value, t.params) for t in study_of(place) if t.state.name == 'COMPLETE'}
    assert len(before) >= 3
    # workers end with their parent
    wait_for(lambda: not any(os.path.exists(f'/proc/{pid}') for pid in pids - {process.pid}), 30)
    done = execute(place, *words)
    assert done.returncode == 0, done.stderr
    after = study_of(place)
    assert {t.number: (t.value, t.params) for t in after if t.number in before} == before       # nothing is lost
    assert sum(t.state.name == 'COMPLETE' for t in after) == 8
    assert all(t.state.is_finished() for t in after)
    assert sum(t.state.name == 'FAIL' for t in after) <= jobs
    only_best_is_left(place)


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize('jobs', [1, 2])
def test_ctrl_c_shows_the_best_so_far(place, jobs, number):
    with running(place, 'program.py', '--jobs', str(jobs), '--trials', '500', '--pruner', 'none') as process:
        wait_for(lambda: sum(t.state.name == 'COMPLETE' for t in study_of(place)) >= 2 and running_pids(place))
        process.send_signal(number)
        out, error = process.communicate(timeout=60)
    assert process.returncode == 130, (out, error)
    assert 'best: trial' in out and 'stopped; the same command goes on' in error and 'Traceback' not in error
    trials = study_of(place)
    assert all(t.state.is_finished() for t in trials)
    only_best_is_left(place)


def test_an_objective_that_does_not_end_is_stopped(place):
    with running(place, 'program.py:endless', '--jobs', '2', '--trials', '5') as process:
        wait_for(lambda: sum(bool(t.params) for t in study_of(place)) == 2)
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=60)
    assert process.returncode == 130 and 'no trial has finished' in out
    assert [t.state.name for t in study_of(place)] == ['FAIL', 'FAIL']


def test_errors_in_workers_are_shown(place):
    done = execute(place, 'program.py:wrong', '--jobs', '2', '--trials', '5')
    assert done.returncode == 1 and "KeyError: 'of the objective'" in done.stderr and 'program.py", line' in done.stderr
    done = execute(place, 'program.py:dies', '--jobs', '2', '--trials', '5', '--study', 'dies')
    assert done.returncode == 1 and 'processes in succession ended before a trial was finished' in done.stderr


def test_run_in_a_script(place):
    done = subprocess.run([sys.executable, 'program.py'], cwd=place, env=environment(), capture_output=True, text=True,
                          timeout=200)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.splitlines()[-1]) >= 0
    (place / 'program.py').write_text(OBJECTIVE.replace("if __name__ == '__main__':", 'if True:'))
    shutil.rmtree(place / 'out')
    done = subprocess.run([sys.executable, 'program.py'], cwd=place, env=environment(), capture_output=True, text=True,
                          timeout=200)
    assert done.returncode == 1 and "put the call of tune.run below if __name__ == '__main__':" in done.stderr


# ---------------------------------------------------------------------- PostgreSQL
def free_port():
    with socket.socket() as sock:
        sock.bind(('127.0.0.1', 0))
        return sock.getsockname()[1]


@pytest.fixture(scope='module')
def postgresql(tmp_path_factory):
    """A server of our own on the loopback interface, with a password."""
    pytest.importorskip('psycopg')
    found = sorted(glob.glob('/usr/lib/postgresql/*/bin')) or [os.path.dirname(shutil.which('initdb') or '')]
    if not found[-1]:
        pytest.skip('PostgreSQL is not installed')
    folder = tmp_path_factory.mktemp('postgresql')
    as_user = []
    if os.getuid() == 0:                # the server refuses to run as root
        if subprocess.run(['id', 'postgres'], capture_output=True).returncode or not shutil.which('runuser'):
            pytest.skip('root cannot start PostgreSQL without the user postgres')
        as_user = ['runuser', '-u', 'postgres', '--']
        for path in (folder, folder.parent, folder.parent.parent):
            os.chmod(path, 0o755)
        shutil.chown(folder, 'postgres')
    (folder / 'password').write_text('geheim')
    os.chmod(folder / 'password', 0o644)
    port = free_port()
    subprocess.run([*as_user, f'{found[-1]}/initdb', '-D', folder / 'data', '-U', 'remx', '-A', 'scram-sha-256',
                    '--pwfile', folder / 'password', '--no-sync'], check=True, capture_output=True)
    with open(folder / 'log', 'wb') as log:
        server = subprocess.Popen([*as_user, f'{found[-1]}/postgres', '-D', folder / 'data', '-p', str(port), '-c',
                                   'listen_addresses=127.0.0.1', '-c', f'unix_socket_directories={folder}', '-c',
                                   'fsync=off'], stdout=log, stderr=log)
    try:
        def ready():
            with contextlib.suppress(OSError), socket.create_connection(('127.0.0.1', port), 1):
                return subprocess.run([f'{found[-1]}/pg_isready', '-h', '127.0.0.1', '-p', str(port)],
                                      capture_output=True).returncode == 0
        wait_for(ready, 60)
        yield f'postgresql://remx:geheim@127.0.0.1:{port}/postgres'
    finally:
        server.terminate()
        server.wait(30)


def test_postgresql(place, postgresql):
    words = ['program.py', '--jobs', '2', '--trials', '8', '--pruner', 'none', '--storage', postgresql]

    def states():
        with contextlib.suppress(mx.MXNetError):
            return [t.state.name for t in tune.load(postgresql, 'program').trials]
        return []
    with running(place, *words) as process:
        wait_for(lambda: states().count('COMPLETE') >= 2 and states().count('RUNNING'))
        for path in glob.glob(f'/proc/{process.pid}/task/*/children'):
            with open(path) as file:
                for child in file.read().split():       # the password is in no command line
                    with contextlib.suppress(OSError), open(f'/proc/{child}/cmdline') as line:
                        assert 'geheim' not in line.read()
        process.kill()
        process.wait()
    wait_for(lambda: not [n for n in os.listdir(place / 'out' / 'workers') if n.isalnum()] or True, 1)
    before = states().count('COMPLETE')
    time.sleep(2)
    done = execute(place, *words)
    assert done.returncode == 0, done.stderr
    found = states()
    assert found.count('COMPLETE') == 8 and before >= 2 and 'RUNNING' not in found
    assert found.count('FAIL') <= 2
    assert 'geheim' not in done.stdout + done.stderr + (place / 'out' / 'best.json').read_text()
    only_best_is_left(place)
    with pytest.raises(mx.MXNetError, match='password') as error:
        tune.load(postgresql.replace('geheim', 'falsch'))
    assert 'falsch' not in str(error.value)


# ---------------------------------------------------------------------- Ray
def test_ray(place):
    pytest.importorskip('ray')
    done = execute(place, 'program.py', '--backend', 'ray', '--jobs', '2', '--trials', '6', '--pruner', 'none')
    assert done.returncode == 0, done.stderr
    trials = study_of(place)
    assert [t.state.name for t in trials] == ['COMPLETE'] * 6
    assert [sorted(t.intermediate_values) for t in trials] == [list(range(8))] * 6
    only_best_is_left(place)
    done = execute(place, 'program.py:wrong', '--backend', 'ray', '--trials', '2', '--study', 'wrong')
    assert done.returncode == 1 and "KeyError: 'of the objective'" in done.stderr


def test_ray_loses_only_the_trial_of_a_killed_process(place):
    pytest.importorskip('ray')
    source = OBJECTIVE.replace("    for step in", "    if trial.number == 2: os.kill(os.getpid(), 9)\n    for step in")
    (place / 'program.py').write_text(source)
    done = execute(place, 'program.py', '--backend', 'ray', '--jobs', '2', '--trials', '5', '--pruner', 'none')
    assert done.returncode == 0, done.stderr
    assert 'a task was lost' in done.stderr
    states = [t.state.name for t in study_of(place)]
    assert states[2] == 'FAIL' and states.count('COMPLETE') == 5 and len(states) == 6


def test_train_on_several_processes(tmp_path):
    words = [sys.executable, '-m', 'mxnet.cli', 'train', '--data', str(ROOT / 'examples' / 'data' / 'mnist'), '--tune',
             'lr=log:1e-2..1,hidden=int:16..64', '--epochs', '2', '--trials', '5', '--jobs', '2', '--out',
             str(tmp_path / 'o')]
    done = subprocess.run(words, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, done.stderr
    assert '5 trials done' in done.stdout or 'pruned' in done.stdout
    assert re.search(r'^test accuracy of the best trial: 0\.\d+', done.stdout, re.M)
    with open(tmp_path / 'o' / 'test.json') as file:
        assert json.load(file)['test'] > 0.2
    assert (tmp_path / 'o' / 'report.html').exists()
