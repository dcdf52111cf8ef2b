"""kill -9 of the launcher, of a worker and of a guard: nothing of the job is left, neither processes nor files."""
import glob
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pytest
from conftest import ROOT

from mxnet._dist import guarded, launcher
from mxnet._dist.guard import descendants

pytestmark = pytest.mark.skipif(not os.path.isdir('/proc/self/fd'), reason='looks at /proc')
HAS_RAY = importlib.util.find_spec('ray') is not None

# with processes that would outlive it: one in a session of its own, one that ignores signals, one whose parent is gone
JOB = '''
import os, signal, subprocess, sys, time
import mxnet as mx
kv = mx.kv.create(sys.argv[1])
kv.init('w', mx.nd.zeros((2,)))
kv.push('w', mx.nd.ones((2,)))
kv.barrier()
subprocess.Popen(['sleep', '1000'], start_new_session=True)
subprocess.Popen(['sh', '-c', 'trap "" TERM INT HUP; sleep 1000; sleep 1000'])
subprocess.Popen(['sh', '-c', 'setsid sleep 1000 & exit'], env={'PATH': os.environ['PATH']}).wait()
print('up', os.getpid(), flush=True)
time.sleep(1000)
'''


def running(numbers):
    found = []
    for number in numbers:
        try:
            with open(f'/proc/{number}/stat', 'rb') as file:
                state = file.read().rpartition(b')')[2].split()[0]
            if state != b'Z':
                with open(f'/proc/{number}/cmdline', 'rb') as file:
                    found.append((number, file.read().replace(b'\0', b' ').decode()))
        except OSError:
            continue
    return found


def parent(number):
    with open(f'/proc/{number}/stat', 'rb') as file:
        return int(file.read().rpartition(b')')[2].split()[1])


def killed(tmp_path, kind, who, within):
    """Starts a job, kills one of it, and looks at what is left after some seconds."""
    (tmp_path / 'job.py').write_text(JOB)
    environment = {**os.environ, 'PYTHONPATH': str(ROOT), 'OMP_NUM_THREADS': '1', 'MXNET_KVSTORE_TIMEOUT': '60',
                   'MXNET_KVSTORE_OBJECT_STORE_MB': '100'}
    job = subprocess.Popen([sys.executable, '-m', 'mxnet.cli', 'launch', '-n', '2', '-s', '1', sys.executable,
                            str(tmp_path / 'job.py'), kind], env=environment, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True)
    with job:
        workers = {}
        while len(workers) < 2:
            line = job.stdout.readline()
            assert line, 'the job ended'
            if ' up ' in line:
                workers[int(line[1])] = int(line.split()[2])
        family = descendants(job.pid)
        assert len(family) >= (10 if kind == 'dist_sync' else 20)
        folders = {os.path.dirname(path) for number in family for path in _meetings(number)}
        assert len(folders) == 1
        inner = parent(workers[0])
        outer = parent(inner)
        assert parent(outer) == job.pid
        victims = {'launcher': [job.pid], 'worker 0': [workers[0]], 'worker 1': [workers[1]], 'guard': [inner],
                   'outer guard': [outer], 'launcher and guard': [job.pid, inner],
                   'launcher and outer guard': [job.pid, outer], 'guard and worker 0': [inner, workers[0]],
                   'stopped guard': [job.pid], 'stopped outer guard': [job.pid]}[who]
        if who.startswith('stopped'):
            os.kill(outer if 'outer' in who else inner, signal.SIGSTOP)
        for victim in victims:
            os.kill(victim, signal.SIGKILL)
        start = time.monotonic()
        while running(family) and time.monotonic() - start < within:
            time.sleep(0.02)
        left = running(family)
        for number, _ in left:
            os.kill(number, signal.SIGKILL)
        assert not left, f'{who} of {kind}, after {within} seconds: {left}'
        if job.pid in victims:
            job.wait()
        else:
            said = job.communicate(timeout=30)[0]
            assert f'worker {who[-1] if who[-1] in "01" else 0} failed first: it was ended by SIGKILL' in said
            assert job.returncode == 137
        folder = folders.pop()
        end = time.monotonic() + 2                  # the guards remove it after the processes
        while os.path.exists(folder) and time.monotonic() < end:
            time.sleep(0.02)
        assert not os.path.exists(folder) and not glob.glob(f'/dev/shm/{os.path.basename(folder)}*')
        return time.monotonic() - start


def _meetings(number):
    try:
        with open(f'/proc/{number}/environ', 'rb') as file:
            entries = file.read().split(b'\0')
    except OSError:
        return []
    return [entry.rpartition(b'=')[2].decode() for entry in entries if entry.startswith(b'REMX_MEETING=')]


def test_nothing_outlives_its_launcher(tmp_path):
    killed(tmp_path, 'dist_sync', 'launcher', 5)


def test_a_killed_guard_leaves_nothing(tmp_path):
    killed(tmp_path, 'dist_sync', 'guard', 12)


@pytest.mark.slow
@pytest.mark.parametrize('who', ['launcher and guard', 'launcher and outer guard', 'guard and worker 0',
                                 'stopped guard', 'stopped outer guard'])
def test_two_at_once(tmp_path, who):
    killed(tmp_path, 'dist_sync', who, 12)


# the launcher gives the other workers six seconds to say what they were doing
@pytest.mark.slow
@pytest.mark.parametrize('turn', range(20))
@pytest.mark.parametrize('who, within', [('launcher', 5), ('worker 0', 12), ('worker 1', 12), ('guard', 12),
                                         ('outer guard', 12)])
@pytest.mark.parametrize('kind', ['dist_sync', pytest.param('dist_async', marks=pytest.mark.skipif(
    not HAS_RAY, reason='ray is not installed'))])
def test_whoever_is_killed_takes_all_along(tmp_path, kind, who, within, turn):
    killed(tmp_path, kind, who, within)


@pytest.mark.slow
@pytest.mark.skipif(not HAS_RAY, reason='ray is not installed')
def test_ray_ends_with_a_worker_that_no_launcher_started(tmp_path):
    # what the program itself starts is its own matter without a launcher
    (tmp_path / 'job.py').write_text(re.sub(r'^subprocess.Popen.*$', '', JOB, flags=re.MULTILINE))
    common = {**os.environ, 'PYTHONPATH': str(ROOT), 'OMP_NUM_THREADS': '1', 'DMLC_NUM_WORKER': '2',
              'DMLC_NUM_SERVER': '1', 'DMLC_PS_ROOT_URI': '127.0.0.1', 'DMLC_PS_ROOT_PORT': str(launcher.free_port()),
              'MXNET_KVSTORE_SECRET': 'a text that only this test knows', 'MXNET_KVSTORE_OBJECT_STORE_MB': '100'}
    workers = [subprocess.Popen([sys.executable, str(tmp_path / 'job.py'), 'dist_async'], stdout=subprocess.PIPE,
                                text=True, env={**common, 'DMLC_WORKER_ID': str(rank)}) for rank in range(2)]
    try:
        for worker in workers:
            assert worker.stdout.readline().startswith('up')
        family = descendants(workers[0].pid)
        folder = next(line.partition('--log_dir=')[2].split('/session')[0] for _, line in running(family)
                      if 'gcs_server' in line)
        assert len(family) >= 8 and os.path.isdir(folder)
        workers[0].kill()
        end = time.monotonic() + 5
        while (running(family) or os.path.exists(folder)) and time.monotonic() < end:
            time.sleep(0.02)
        assert not running(family) and not os.path.exists(folder)
        assert not glob.glob(f'/dev/shm/{os.path.basename(folder)}*')
    finally:
        for number in {number for worker in workers for number in descendants(worker.pid)}:
            os.kill(number, signal.SIGKILL)
        for worker in workers:
            worker.kill()
            worker.communicate()


# ---------------------------------------------------------------------- other machines

SSH_SERVER = '''
import json, os, socket, subprocess, sys, threading
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen()

def serve(sock):
    """As sshd does it: the command has a session of its own, and nobody ends it when the connection does."""
    file = sock.makefile('rb')
    command = json.loads(file.readline())
    process = subprocess.Popen(['sh', '-c', command], stdin=subprocess.PIPE, stdout=sock, stderr=sock,
                               start_new_session=True)

    def feed():
        while data := file.read1():
            process.stdin.write(data)
            process.stdin.flush()
        process.stdin.close()

    threading.Thread(target=feed, daemon=True).start()
    process.wait()
    sock.shutdown(socket.SHUT_RDWR)

while True:
    threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
'''

SSH = '''#!{python}
import json, os, socket, sys, threading
sock = socket.socket(socket.AF_UNIX)
sock.connect({path!r})
sock.sendall(json.dumps(' '.join(sys.argv[4:])).encode() + b'\\n')

def feed():
    while data := os.read(0, 2**16):
        sock.sendall(data)
    sock.shutdown(socket.SHUT_WR)

threading.Thread(target=feed, daemon=True).start()
while data := sock.recv(2**16):
    os.write(1, data)
'''

REMOTE = '''
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen(['sleep', '1000'])
print('up', os.getpid(), child.pid, len(os.environ['MXNET_KVSTORE_SECRET']), flush=True)
time.sleep(1000)
'''


@pytest.mark.parametrize('how', [signal.SIGKILL, signal.SIGTERM])
def test_workers_on_other_machines_end_with_the_launcher(tmp_path, how):
    """ssh is a stand-in whose other end is no child of the launcher: it ends them by what it is told, or not told."""
    path = f'/tmp/t{os.getpid()}{how}'
    (tmp_path / 'ssh').write_text(SSH.format(python=sys.executable, path=path))
    (tmp_path / 'ssh').chmod(0o755)
    (tmp_path / 'hosts').write_text('first\nsecond\n')
    own = tempfile.mkdtemp(prefix='t', dir='/tmp')          # names of sockets must be short
    server = subprocess.Popen([sys.executable, '-c', SSH_SERVER, path])
    try:
        while not os.path.exists(path):
            time.sleep(0.01)
        environment = {**os.environ, 'PYTHONPATH': str(ROOT), 'TMPDIR': own,
                       'PATH': f'{tmp_path}{os.pathsep}{os.environ["PATH"]}'}
        job = subprocess.Popen([sys.executable, '-m', 'mxnet.cli', 'launch', '-n', '2', '-H', str(tmp_path / 'hosts'),
                                sys.executable, '-c', REMOTE], env=environment, stdout=subprocess.PIPE, text=True)
        with job:
            lines = [job.stdout.readline().split() for _ in range(2)]
            assert [line[1] for line in lines] == ['up'] * 2 and [line[4] for line in lines] == ['64'] * 2, lines
            remote = [int(number) for line in lines for number in line[2:4]]
            assert not set(remote) & set(descendants(job.pid)) and len(running(remote)) == 4
            job.send_signal(how)
            job.wait(20)
            end = time.monotonic() + 8
            while running(remote) and time.monotonic() < end:
                time.sleep(0.02)
            assert not running(remote)
        assert not os.listdir(own)
    finally:
        server.kill()
        server.wait()
        os.unlink(path)
        shutil.rmtree(own)


# ---------------------------------------------------------------------- the guard by itself

def guard(*command, **options):
    return guarded.Guarded(list(command), stdout=subprocess.PIPE, text=True, **options)


@pytest.mark.parametrize('script, status', [('exit 0', 0), ('exit 7', 7), ('kill -TERM $$', -15), ('kill -KILL $$', -9),
                                            ('kill -SEGV $$', -11)])
def test_a_guard_ends_as_its_program(script, status):
    with guard('sh', '-c', script) as process:
        assert process.wait(10) == status


def test_a_guard_hands_signals_on():
    with guard('sh', '-c', 'trap "echo heard; exit 3" TERM; echo up; while :; do sleep 0.05; done') as process:
        assert process.stdout.readline() == 'up\n'
        process.hand_on(signal.SIGTERM)
        assert process.wait(10) == 3 and process.stdout.read() == 'heard\n'


def test_a_guard_leaves_nothing_of_its_program():
    with guard('sh', '-c', 'setsid sleep 1000 & setsid sleep 1000 & echo up') as process:
        assert process.wait(10) == 0
        assert process.stdout.read() == 'up\n'                # whose end the sleeping ones would have held up
    with guard('sh', '-c', 'setsid sleep 1000 & echo up; sleep 1000') as process:
        process.stdout.readline()
        while len(family := descendants(process.pid)) < 3:
            time.sleep(0.01)
        process.end()
        assert process.returncode == -9 and not running(family)


@pytest.mark.parametrize('which', ['inner', 'outer'])
def test_a_program_ends_with_its_guard(which):
    """And what it has left behind in another session, without any variable or open file of its own."""
    with guard('sh', '-c', 'env -i setsid sleep 1000 < /dev/null > /dev/null & echo up; exec sleep 1000') as process:
        process.stdout.readline()
        while len(family := descendants(process.pid)) < 3:
            time.sleep(0.01)
        os.kill(process.pid if which == 'outer' else family[0], signal.SIGKILL)
        assert process.wait(10) == -signal.SIGKILL
        end = time.monotonic() + 5
        while running(family) and time.monotonic() < end:
            time.sleep(0.01)
        assert not running(family)


def test_a_guard_started_by_a_thread_that_has_ended():
    """A signal at the death of the parent comes when the thread ends that started the process: it is not relied on."""
    import threading
    found = []
    thread = threading.Thread(target=lambda: found.append(guard('sh', '-c', 'echo up; sleep 0.5; echo still here')))
    thread.start()
    thread.join()
    with found[0] as process:
        assert process.wait(10) == 0 and process.stdout.read() == 'up\nstill here\n'


def test_a_guard_removes_the_folder_of_a_dead_launcher(tmp_path):
    folder = tmp_path / 'remx-abc'
    (folder / 'inner').mkdir(parents=True)
    (tmp_path / 'remx-other').mkdir()
    with guard('sh', '-c', 'echo up; sleep 1000', folder=str(folder)) as process:
        process.stdout.readline()
        process.end()
    assert not folder.exists() and (tmp_path / 'remx-other').exists()
    folder.mkdir()
    with guard('true', folder=str(folder)) as process:
        process.wait(10)
    assert folder.exists()                      # the launcher is there to do it


def test_a_program_that_is_not_there():
    with guard('/no/such/program', stderr=subprocess.STDOUT) as process:
        assert process.wait(10) == 127 and process.stdout.read() == '/no/such/program: No such file or directory\n'
