"""Strangers at every port of a running job, with real processes and sockets: the job ends well, nothing of theirs is
executed, nothing secret is told."""
import contextlib
import importlib.util
import os
import re
import shutil
import socket
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import ROOT
from dist_strangers import (
    Evil,
    Strangers,
    command_lines,
    ports,
    ray_strangers,
    secret_of,
    unix_sockets,
    waited,
)

from mxnet._dist import launcher, listener, meeting, places, secret
from mxnet._dist.guard import descendants
from mxnet.base import MXNetError

pytestmark = pytest.mark.skipif(not os.path.isdir('/proc/self/fd'), reason='looks at /proc')
needs_ray = pytest.mark.skipif(importlib.util.find_spec('ray') is None, reason='ray is not installed')
KEY = b'a key that only this test knows'

SYNC = '''
import os, sys, time
import mxnet as mx
kv = mx.kv.create('dist_sync')
kv.init(['w', 'stop'], [mx.nd.zeros((1000,)), mx.nd.zeros((1,))])
out, stop, count = mx.nd.zeros((1000,)), mx.nd.zeros((1,)), 0
while not stop.asscalar():
    kv.pushpull('w', mx.nd.ones((1000,)) * (kv.rank + 1), out=out)
    assert (out.asnumpy() == 3).all(), out
    kv.pushpull('stop', mx.nd.array([os.path.exists(sys.argv[1])]), out=stop)
    count += 1
    if count == 2:
        open(f'{sys.argv[1]}.up{kv.rank}', 'w').close()
    time.sleep(0.01)
print('well')
'''

ASYNC = '''
import os, sys, time
if 'early' in sys.argv:
    import ray
import mxnet as mx
kv = mx.kv.create('dist_async')
kv.init('w', mx.nd.zeros((1000,)))
kv.set_optimizer(mx.optimizer.create('test'))
count = 0
while not os.path.exists(sys.argv[1]):
    kv.push('w', mx.nd.ones((1000,)))
    count += 1
    if count == 2:
        open(f'{sys.argv[1]}.up{kv.rank}', 'w').close()
    time.sleep(0.01)
total = mx.nd.array([count])
mx.kv.create('horovod').pushpull('n', total)
kv.barrier()
out = mx.nd.zeros((1000,))
kv.pull('w', out=out)
assert (out.asnumpy() == total.asscalar()).all(), (out, total)
print('well')
'''


@pytest.fixture(autouse=True)
def no_job(monkeypatch):
    for name in list(os.environ):
        if name.startswith(('RANK', 'WORLD_SIZE', 'LOCAL_', 'MASTER_', 'DMLC_', 'SLURM_', 'TORCHELASTIC_', 'RAY_',
                            'MXNET_KVSTORE_', 'REMX_')):
            monkeypatch.delenv(name)


def variables(**more):
    return {**os.environ, 'PYTHONPATH': str(ROOT), 'OMP_NUM_THREADS': '1', 'MXNET_KVSTORE_TIMEOUT': '60',
            'MXNET_KVSTORE_OBJECT_STORE_MB': '100', **more}


class Run:
    """A job of two workers that runs until `end`."""

    def __init__(self, folder, program, *arguments, **more):
        self.folder, self.stop, self.marker = folder, folder / 'stop', folder / 'executed'
        (folder / 'job.py').write_text(program)
        self.command = [sys.executable, str(folder / 'job.py'), str(self.stop), *arguments]
        self.variables, self.processes, self.strangers = variables(**more), [], []

    def begin(self, command, **more):
        self.processes.append(subprocess.Popen(command, env={**self.variables, **more}, stdout=subprocess.PIPE,
                                               stderr=subprocess.STDOUT, text=True))
        return self.processes[-1]

    def launched(self):
        return self.begin([sys.executable, '-m', 'mxnet.cli', 'launch', '-n', '2', '-s', '1', *self.command])

    def by_hand(self, **more):
        port = str(launcher.free_port())
        return [self.begin(self.command, DMLC_ROLE='worker', DMLC_NUM_WORKER='2', DMLC_NUM_SERVER='1',
                           DMLC_PS_ROOT_URI='127.0.0.1', DMLC_PS_ROOT_PORT=port, DMLC_WORKER_ID=str(rank), **more)
                for rank in range(2)]

    def up(self, seconds=90):
        """Waits until the workers compute."""
        def ready():
            if any(process.poll() is not None for process in self.processes):
                pytest.fail(''.join(process.communicate()[0] for process in self.processes))
            return all((self.folder / f'stop.up{rank}').exists() for rank in range(2))
        waited(ready, seconds)

    def ports(self):
        return {place for process in self.processes for place in ports(process.pid)}

    def end(self):
        """Ends it well, and returns what was printed."""
        self.stop.touch()
        said = [process.communicate(timeout=60)[0] for process in self.processes]
        assert [process.returncode for process in self.processes] == [0] * len(said), '\n'.join(said)
        assert ''.join(said).count('well') == 2, said
        assert not self.marker.exists(), 'what a stranger sent was executed'
        return said

    def attack(self, keys):
        """Strangers at all ports at once; `keys` is what they must not be told."""
        everyone = [Strangers(*place, self.marker) for place in self.ports()]
        self.strangers += everyone                      # who linger until the end
        problems = []

        def go(one):
            try:
                one.all()
            except BaseException as error:
                problems.append(error)

        threads = [threading.Thread(target=go, args=(one,)) for one in everyone]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not problems, problems
        for one in everyone:
            for key in keys:
                assert key not in one.received

    def kill(self):
        for stranger in self.strangers:
            stranger.close()
        for process in self.processes:
            if process.poll() is None:
                process.kill()
                process.communicate()


@pytest.fixture
def run(tmp_path, request):
    def make(program, *arguments, **more):
        made = Run(tmp_path, program, *arguments, **more)
        request.addfinalizer(made.kill)
        return made
    return make


def loopback(place):
    return place[0] in ('127.0.0.1', '::1', '::ffff:127.0.0.1')


# ---------------------------------------------------------------------- whole jobs

def test_a_local_job_has_no_port(run):
    """Its workers meet in sockets that only this user reaches; the secret is in no command line."""
    job = run(SYNC)
    process = job.launched()
    job.up()
    assert not job.ports()
    sockets = {path for path in unix_sockets(process.pid) if 'remx-' in path}
    assert len(sockets) == 1, sockets           # the ring's are closed by now
    for path in sockets:
        found = os.stat(os.path.dirname(path))
        assert stat.S_IMODE(found.st_mode) == 0o700 and found.st_uid == os.getuid()
        assert not re.search(rf'\b{process.pid}\b', path)
    keys = {secret_of(number) for number in descendants(process.pid)} - {None}
    assert len(keys) == 1
    key = keys.pop()
    assert len(key) == 64 and not any(key in line for line in command_lines())
    folder = os.path.dirname(sockets.pop())
    job.end()
    assert not os.path.exists(folder)


@pytest.mark.parametrize('backend', ['ring', pytest.param('gloo', marks=pytest.mark.slow)])
def test_strangers_at_a_job_by_hand(run, backend):
    """The port at which workers meet is open, on the interface of the job, before they meet and afterwards."""
    job = run(SYNC, MXNET_KVSTORE_SECRET=KEY.decode(), MXNET_KVSTORE_BACKEND=backend)
    port = str(launcher.free_port())
    common = {'DMLC_NUM_WORKER': '2', 'DMLC_PS_ROOT_URI': '127.0.0.1', 'DMLC_PS_ROOT_PORT': port}
    job.begin(job.command, **common, DMLC_WORKER_ID='0')
    assert waited(job.ports) == {('127.0.0.1', int(port))}
    job.attack([KEY])
    job.begin(job.command, **common, DMLC_WORKER_ID='1')
    job.up()
    assert all(loopback(place) for place in job.ports())
    assert len(job.ports()) == 1        # Gloo listens only until all are connected
    job.attack([KEY])
    job.end()


@pytest.mark.slow
@pytest.mark.parametrize('kind', ['hold', 'say'])
@pytest.mark.parametrize('backend', ['ring', 'gloo'])
def test_a_flood_while_workers_meet(run, backend, kind):
    """Connections from the address of the workers themselves, to each port, from the start until they compute."""
    job = run(SYNC, MXNET_KVSTORE_BACKEND=backend)
    workers = job.by_hand(MXNET_KVSTORE_SECRET=KEY.decode())
    numbers = ', '.join(str(worker.pid) for worker in workers)
    code = f'import dist_strangers; dist_strangers.keep_flooding({kind!r}, {numbers})'
    flooding = [subprocess.Popen([sys.executable, '-c', code],
                                 env=variables(PYTHONPATH=f'{ROOT}{os.pathsep}{ROOT}/tests/helpers')) for _ in range(3)]
    try:
        job.up()
        assert all(loopback(place) for place in job.ports())
    finally:
        for process in flooding:
            process.kill()
            process.wait()
    job.end()


@needs_ray
@pytest.mark.slow
@pytest.mark.parametrize('how', ['launched', 'by hand'])
def test_strangers_at_servers(run, how):
    """All ports of Ray as well; and who knows no token runs no task."""
    job = run(ASYNC)
    if how == 'launched':
        process = job.launched()
    else:
        process = job.by_hand(MXNET_KVSTORE_SECRET=KEY.decode())[0]
    job.up()
    assert len(job.ports()) >= 5 and all(loopback(place) for place in job.ports()), job.ports()
    key = waited(lambda: next(iter({secret_of(n) for n in [process.pid, *descendants(process.pid)]} - {None}), None))
    token = secret.derive(key, 'Ray').hex().encode()
    assert not any(key in line or token in line for line in command_lines())
    job.attack([key, token])
    store = next(place for place, number in ports(process.pid).items()
                 if b'gcs_server' in Path(f'/proc/{number}/cmdline').read_bytes())
    ray_strangers(f'127.0.0.1:{store[1]}', job.marker)
    job.end()


def test_a_missing_secret_is_said_loudly(caplog):
    from mxnet._dist import joining
    store = joining.host(('127.0.0.1', launcher.free_port()), b'')
    said = f'MXNET_KVSTORE_SECRET is not set: anyone who can reach 127.0.0.1:{store.port} can join this job'
    assert said in caplog.text
    caplog.clear()
    joining.host(('127.0.0.1', launcher.free_port()), KEY).stop()
    assert not caplog.text
    store.stop()


def test_words_in_the_store_of_torchrun_that_no_worker_writes(caplog):
    """Its store has no secret: what a stranger writes there gets no answer, and does not end those of others."""
    import datetime
    import json

    from torch.distributed import TCPStore

    from mxnet._dist import joining
    seconds = datetime.timedelta(seconds=20)
    agent = TCPStore('127.0.0.1', 0, is_master=True, timeout=seconds)
    own = TCPStore('127.0.0.1', agent.port, is_master=False, timeout=seconds)
    answers = joining._Answers(own, 3, KEY, '/tmp/meet')
    try:
        for strange in (b'\xff\xfe', b'', b'x' * 100, '../../1', 'é' * 32):
            agent.set('remx/ask/1', strange)
            time.sleep(0.1)
        for rank in (2, 1):
            word = f'{rank}' * 32
            agent.set(f'remx/ask/{rank}', word)
            agent.wait([f'remx/answer/{word}'], seconds)
            address, mark = json.loads(agent.get(f'remx/answer/{word}'))
            assert address == '/tmp/meet' and mark == joining._mark(KEY, address, word)
    finally:
        answers.stop()
    assert sum('no worker writes this' in message for message in caplog.messages) == 1


@pytest.mark.slow
def test_a_missing_secret_is_said_once(run):
    job = run(SYNC)
    job.by_hand()
    job.up()
    said = ''.join(job.end())
    assert said.count('MXNET_KVSTORE_SECRET is not set: anyone who can reach 127.0.0.1:') == 1


def test_a_secret_is_long(monkeypatch):
    monkeypatch.setenv('MXNET_KVSTORE_SECRET', 'short')
    with pytest.raises(MXNetError, match='MXNET_KVSTORE_SECRET has 5 characters; it needs at least 16'):
        secret.secret()


def test_a_secret_does_not_travel_by_command_lines_of_ssh(tmp_path):
    """ssh is a stand-in that notes how it is called."""
    (tmp_path / 'ssh').write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/called\nshift 3; exec sh -c "$*"\n')
    (tmp_path / 'ssh').chmod(0o755)
    (tmp_path / 'hosts').write_text('first\nsecond\n')
    code = 'import os; print(os.environ["MXNET_KVSTORE_SECRET"], os.environ["COLOUR"])'
    done = subprocess.run([sys.executable, '-m', 'mxnet.cli', 'launch', '-n', '2', '-H', str(tmp_path / 'hosts'),
                           '--env', "COLOUR:it's $red\nand `more`", sys.executable, '-c', code], capture_output=True,
                          text=True, timeout=60, env=variables(PATH=f'{tmp_path}:{os.environ["PATH"]}'))
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.findall(r"^\[\d\] ([0-9a-f]{64}) it's \$red$", done.stdout, re.MULTILINE)
    assert len(found) == 2 and found[0] == found[1], done.stdout
    assert done.stdout.count('and `more`') == 2
    called = (tmp_path / 'called').read_text()
    assert called.count('BatchMode') == 2 and found[0] not in called


# ---------------------------------------------------------------------- folders

def test_folders_of_others_are_not_used(tmp_path, monkeypatch):
    own = places.new_folder(inside=str(tmp_path))
    assert places.private(own) == own and stat.S_IMODE(os.stat(own).st_mode) == 0o700
    (tmp_path / 'link').symlink_to(own)
    (tmp_path / 'file').write_text('')
    (tmp_path / 'open').mkdir(mode=0o755)
    wrong = ['link', 'file', 'open']
    if os.geteuid() == 0:
        (tmp_path / 'others').mkdir(mode=0o700)
        os.chown(tmp_path / 'others', 12345, 12345)
        wrong.append('others')
    for name in wrong:
        with pytest.raises(MXNetError, match='belongs to this user alone'):
            places.private(str(tmp_path / name))
    from mxnet._dist.cluster import scratch
    monkeypatch.setenv('REMX_SCRATCH', str(tmp_path / 'open'))
    with pytest.raises(MXNetError, match='belongs to this user alone'):
        scratch()
    from mxnet._dist.journal import Journal
    with pytest.raises(MXNetError, match='belongs to this user alone'):
        Journal(str(tmp_path / 'open'))


def test_a_launcher_has_a_new_folder_each_time():
    jobs = [launcher.Job(['true'], 1) for _ in range(2)]
    try:
        names = {os.path.basename(job.scratch) for job in jobs}
        assert len(names) == 2 and not any(str(os.getpid()) in name for name in names)
    finally:
        for job in jobs:
            job.stop()
    assert not any(os.path.exists(job.scratch) for job in jobs)


# ---------------------------------------------------------------------- the store by itself

MEMBERS = []


@pytest.fixture
def store():
    sockets = listener.bind(('127.0.0.1', 0))
    found = meeting.Meeting(sockets, KEY)
    yield found
    found.stop()
    while MEMBERS:
        MEMBERS.pop().close()


def member(store, key=KEY, seconds=5):
    MEMBERS.append(meeting.Member(('127.0.0.1', store.port), key, seconds))
    return MEMBERS[-1]


def test_the_store(store):
    one, other = member(store), member(store)
    one.set('a', b'1')
    assert other.get('a') == b'1' and other.get('b') is None and other.check(['a']) and not other.check(['a', 'b'])
    assert [one.add('n', 2), other.add('n', 3), one.get('n')] == [2, 5, b'5']
    assert other.compare_set('a', b'1', b'2') == b'2' and other.compare_set('a', b'1', b'3') == b'2'
    assert one.compare_set('c', b'', b'x') == b'x' and one.delete('c') and not one.delete('c') and one.count() == 2
    assert one.many(('set', 'd', b'4'), ('get', 'd')) == [None, b'4']
    start = time.monotonic()
    assert not one.wait(['z'], 0.2) and time.monotonic() - start >= 0.2
    threading.Timer(0.2, lambda: one.set('y', b'')).start()
    assert other.wait(['a', 'y'], 5)
    large = os.urandom(2**20)
    one.set('large', large)
    assert other.get('large') == large
    for wrong in (('set', 1, b''), ('set', 'a', 1), ('nothing',), (), ('add', 'a')):
        broken = member(store)
        with pytest.raises(secret.Refused):
            broken._ask(*wrong)
        broken.close()
    assert one.get('d') == b'4'                 # who makes a mistake is alone with it


@pytest.mark.parametrize('other', [b'another key, of another job', b''])
def test_secrets_that_differ(store, other):
    with pytest.raises(MXNetError, match=f'127.0.0.1:{store.port} was reached, but refused: it does not know the '
                                         'secret of this job: MXNET_KVSTORE_SECRET must be the same for all processes'):
        member(store, key=other)


def test_a_store_that_is_gone(store):
    one = member(store)
    store.stop()
    with pytest.raises(secret.Refused):
        one.get('a')
    with pytest.raises(secret.Refused):
        member(store, seconds=0.3)


def test_a_lost_worker_is_known_at_once(store):
    one, other, third = (member(store) for _ in range(3))
    for rank, (worker, note) in enumerate([(one, 'push'), (other, 'ended its program'), (third, 'failed at: push')]):
        worker.set(f'pulse0/{rank}', f'1|1|{note}')
        worker.pulse(f'pulse0/{rank}', f'verdict{rank}', rank)
        worker.close()
    watch = member(store)
    assert watch.wait(['verdict0'], 5) and watch.get('verdict0') == b'worker 0 is gone: its connection has ended'
    assert not watch.wait(['verdict1'], 0.2) and not watch.wait(['verdict2'], 0.2)


def recorded(store):
    """(what a member sent, what it was answered) while it set a key."""
    with socket.socket() as between:
        between.bind(('127.0.0.1', 0))
        between.listen(1)
        sent, answered, ends = [], [], []

        def relay():
            inner, _ = between.accept()
            outer = socket.create_connection(('127.0.0.1', store.port))
            ends.extend([inner, outer])

            def pump(source, target, notes):
                while part := source.recv(2**16):
                    notes.append(part)
                    target.sendall(part)
                target.shutdown(socket.SHUT_WR)

            back = threading.Thread(target=pump, args=(outer, inner, answered), daemon=True)
            back.start()
            pump(inner, outer, sent)
            back.join(1)

        thread = threading.Thread(target=relay, daemon=True)
        thread.start()
        one = meeting.Member(between.getsockname(), KEY, 5)
        one.set('a', b'first')
        one.close()
        thread.join(2)
        for sock in ends:
            sock.close()
        return b''.join(sent), b''.join(answered)


def test_what_was_heard_cannot_be_said_again(store):
    """Not to another connection, and not twice to the same."""
    sent, answered = recorded(store)
    watch = member(store)
    watch.set('a', b'second')
    with socket.create_connection(('127.0.0.1', store.port)) as sock:
        sock.settimeout(2)
        sock.sendall(sent)
        heard = b''
        with contextlib.suppress(OSError):
            while part := sock.recv(2**16):
                heard += part
        assert len(heard) == secret.HELLO and heard[len(secret.MAGIC):] != answered[len(secret.MAGIC):secret.HELLO]
    assert watch.get('a') == b'second'
    # twice on the same connection
    one = member(store)
    message = one._channel.sealed(['set', 'a', b'third'])
    one._channel.sock.sendall(message)
    assert one._channel.receive(5) is None
    watch.set('a', b'fourth')
    one._channel.sock.sendall(message)
    with pytest.raises(secret.Refused):
        one._channel.receive(5)
    assert watch.get('a') == b'fourth'


@pytest.mark.parametrize('place', ['key', 'value', 'length', 'tag'])
def test_what_was_changed_on_its_way_is_refused(store, place):
    one, watch = member(store), member(store)
    watch.set('k', b'right')
    message = bytearray(one._channel.sealed(['set', 'k', b'wrong']))
    at = {'key': message.index(b'"k"') + 1, 'value': message.index(b'"b"') + 6, 'length': 3, 'tag': -1}[place]
    message[at] ^= 1
    one._channel.sock.sendall(message + bytes(64))
    with pytest.raises(secret.Refused):
        one._channel.receive(5)
    assert watch.get('k') == b'right' and watch.count() == 1


def test_who_poses_as_the_store_is_found_out():
    """It learns nothing that it could use, and is told nothing."""
    with socket.socket() as false:
        false.bind(('127.0.0.1', 0))
        false.listen(8)
        heard = []

        def answer():
            while True:
                try:
                    sock, _ = false.accept()
                except OSError:
                    return
                with sock:
                    sock.sendall(secret.hello())
                    heard.append(sock.recv(2**16))
                    sock.sendall(os.urandom(secret.ANSWER))

        threading.Thread(target=answer, daemon=True).start()
        with pytest.raises(MXNetError, match='does not know the secret'):
            meeting.Member(false.getsockname(), KEY, 3)
        assert heard and all(len(words) == secret.PROOF and KEY not in words for words in heard)
        false.shutdown(socket.SHUT_RDWR)


def test_a_flood_does_not_keep_members_out(store):
    strangers = [Strangers('127.0.0.1', store.port, '/none') for _ in range(3)]
    for one in strangers:
        one.linger(300)
    flooding = [threading.Thread(target=one.flood, args=(2,)) for one in strangers]
    for thread in flooding:
        thread.start()
    for number in range(20):
        one = member(store, seconds=20)
        one.set('n', str(number))
        assert one.get('n') == str(number).encode()
        one.close()
    assert len(store._pending) <= listener.MOST_PENDING
    for thread in flooding:
        thread.join()
    for one in strangers:
        one.close()


def test_strangers_push_out_those_of_their_own_address(store):
    """A worker may be slow; as many as there are of one other address do not end its connection."""
    with socket.create_connection(('127.0.0.1', store.port), 5, ('127.0.0.2', 0)) as slow:
        first = slow.recv(secret.HELLO)
        own = bytes(secret.NONCE)
        others = [socket.create_connection(('127.0.0.1', store.port), 5) for _ in range(2 * listener.MOST_PENDING)]
        assert others[-1].recv(1)                   # all before it are accepted
        slow.sendall(own + secret.proof(KEY, meeting.PURPOSE, 'client', first[len(secret.MAGIC):], own))
        slow.settimeout(5)
        assert len(slow.recv(100)) == secret.ANSWER
        for other in others:
            other.close()


def test_descriptors_of_a_worker_run_out():
    """Strangers go before members have to wait; with few descriptors there may be fewer than MOST_PENDING."""
    code = f'''
import resource, socket, sys
sys.path[:0] = [{str(ROOT)!r}]
from mxnet._dist import listener, meeting
resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60))
store = meeting.Meeting(listener.bind(('127.0.0.1', 0)), {KEY!r})
print(store.port, flush=True)
sys.stdin.read()
'''
    with subprocess.Popen([sys.executable, '-c', code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          env=variables()) as process:
        port = int(process.stdout.readline())
        strangers = []
        try:
            for number in range(5):
                strangers += [socket.create_connection(('127.0.0.1', port), 5) for _ in range(60)]
                one = meeting.Member(('127.0.0.1', port), KEY, 5)
                one.set('n', str(number))
                assert one.get('n') == str(number).encode()
                one.close()
        finally:
            for sock in strangers:
                sock.close()
            process.stdin.close()
        assert process.wait(10) == 0


def test_who_says_nothing_has_to_go(monkeypatch):
    monkeypatch.setattr(listener, 'HANDSHAKE', 0.3)
    found = meeting.Meeting(listener.bind(('127.0.0.1', 0)), KEY)
    try:
        with socket.create_connection(('127.0.0.1', found.port), timeout=5) as sock:
            assert len(sock.recv(100)) == secret.HELLO
            start = time.monotonic()
            sock.send(b'x')
            assert sock.recv(100) == b'' and time.monotonic() - start < 3
    finally:
        found.stop()


def stranger(store, data, source='127.0.0.1'):
    """Says something, and waits until it is dropped."""
    with socket.create_connection(('127.0.0.1', store.port), timeout=5, source_address=(source, 0)) as sock:
        sock.sendall(data)
        if len(data) < secret.PROOF:
            sock.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionResetError):
            while sock.recv(2**16):
                pass


def test_strangers_are_named_in_the_log(store, caplog, monkeypatch):
    monkeypatch.setattr(listener, 'MOST_NAMED', 2)
    member(store).set('a', b'1')
    assert not caplog.records                   # who knows the secret is none
    place = f'127.0.0.1:{store.port}'
    for _ in range(3):
        stranger(store, bytes(secret.PROOF))
    stranger(store, b'GET / HTTP/1.1', '127.0.0.2')
    waited(lambda: len(caplog.records) == 2, 5)
    for number in range(3, 10):
        stranger(store, b'', f'127.0.0.{number}')
    waited(lambda: len(caplog.records) == 3, 5)
    again = 'This is said once for each address'
    assert [record.getMessage() for record in caplog.records] == [
        f'A connection from 127.0.0.1 to {place} was refused: it does not know the secret of this job '
        f'(MXNET_KVSTORE_SECRET). {again}',
        f'A connection from 127.0.0.2 to {place} was refused: it ended before it had shown that it knows the secret of '
        f'this job. {again}',
        f'More than 2 strangers have connected to {place}; the others are not named']
    assert len(store._strangers) == 3 and member(store).get('a') == b'1'


def test_children_of_a_worker_do_not_hold_its_connections(store):
    """Else nobody would notice that the worker is gone while one of them runs."""
    one = member(store)
    one.set('pulse0/0', '1|1|push')
    one.pulse('pulse0/0', 'verdict', 0)
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(write)
        os.read(read, 1)                        # until the test ends
        os._exit(0)
    try:
        one.close()
        assert member(store).wait(['verdict'], 5)
    finally:
        os.close(write)
        os.close(read)
        os.waitpid(child, 0)


# ---------------------------------------------------------------------- values

def test_values():
    for value in (None, True, 0, -2**70, 1.5, float('inf'), '', 'ü\0', b'', b'\xff\0', [], [[1], {'a': b'x'}], {},
                  {'b': {'d': [None]}}):
        assert secret.unpack(secret.pack(value)) == value
    assert secret.unpack(secret.pack((1, (2,)))) == [1, [2]]


@pytest.mark.parametrize('value', [object(), Evil('/none'), {1: 2}, {'a': object()}, [{1, 2}], len, type, 1j])
def test_values_that_do_not_travel(value):
    with pytest.raises(MXNetError, match='workers exchange None, bool'):
        secret.pack(value)


@pytest.mark.parametrize('data', [b'', b'{', b'\x80\x04.', b'{"x": 1}', b'{"b": 1}', b'{"b": "#"}', b'{"d": 1}', b'{}',
                                  b'{"b": "", "d": {}}', b'[' * 100_000, b'\xff'])
def test_data_that_is_no_value(data):
    with pytest.raises(secret.Refused, match='is not valid'):
        secret.unpack(data)


def test_nothing_is_unpickled_on_the_way():
    """The room of the workers has no pickle but in the journal, which lies in a folder of this user alone."""
    for path in (ROOT / 'mxnet' / '_dist').glob('*.py'):
        if path.name != 'journal.py':
            assert not re.search(r'import pickle|pickle\.loads|_object\(', path.read_text()), path


# ---------------------------------------------------------------------- two machines

NAMES = ('remxa', 'remxb')


@pytest.fixture
def namespaces(tmp_path):
    """Two networks of this system, connected; `ssh` is a stand-in that enters them."""
    if os.geteuid() or not shutil.which('ip'):
        pytest.skip('needs root and the command ip')
    names = [f'{name}{os.getpid() % 10000}' for name in NAMES]

    def ip(*words, check=True):
        return subprocess.run(['ip', *words], check=check, capture_output=True)

    try:
        for name in names:
            if ip('netns', 'add', name, check=False).returncode:
                pytest.skip('network namespaces are not allowed here')
        # two networks between them, one of which is none of the job's
        for kind, subnet in (('remxv', '10.77.0'), ('remxo', '10.78.0')):
            ip('link', 'add', f'{kind}0', 'netns', names[0], 'type', 'veth', 'peer', 'name', f'{kind}1', 'netns',
               names[1])
            for number, name in enumerate(names):
                ip('-n', name, 'addr', 'add', f'{subnet}.{number + 1}/24', 'dev', f'{kind}{number}')
                ip('-n', name, 'link', 'set', f'{kind}{number}', 'up')
        for name in names:
            ip('-n', name, 'link', 'set', 'lo', 'up')
        (tmp_path / 'ssh').write_text(f'''#!/bin/sh
host=$3; shift 3
case $host in 10.77.0.1) name={names[0]};; *) name={names[1]};; esac
exec ip netns exec $name sh -c "$*"
''')
        (tmp_path / 'ssh').chmod(0o755)
        (tmp_path / 'hosts').write_text('10.77.0.1\n10.77.0.2\n')
        yield names
    finally:
        for name in names:
            ip('netns', 'del', name, check=False)


@pytest.mark.slow
@pytest.mark.parametrize('program, backend', [(SYNC, 'ring'), (SYNC, 'gloo'), pytest.param(ASYNC, '', marks=needs_ray)],
                         ids=['ring', 'gloo', 'servers'])
def test_two_machines(run, namespaces, tmp_path, program, backend):
    """Each has its own network: what listens does at the address of the job, and not at all that a machine has."""
    shared = os.path.exists('/tmp/ray')
    job = run(program, PATH=f'{tmp_path}:{os.environ["PATH"]}', MXNET_KVSTORE_BACKEND=backend)
    process = job.begin([sys.executable, '-m', 'mxnet.cli', 'launch', '-n', '2', '-H', str(tmp_path / 'hosts'),
                         *job.command])
    job.up()
    found = job.ports()
    if program is SYNC:
        assert {host for host, _ in found} <= {'10.77.0.1', '10.77.0.2'}, found
        assert len(found) == 1
    keys = {secret_of(number) for number in descendants(process.pid)} - {None}
    assert len(keys) == 1 and not any(next(iter(keys)) in line for line in command_lines())
    # a stranger in the other network
    code = f'''
import sys
from concurrent.futures import ThreadPoolExecutor
sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / 'tests' / 'helpers')!r}]
from dist_strangers import Strangers
def attack(place):
    one = Strangers(*place, {str(job.marker)!r})
    one.all()
    assert {next(iter(keys))!r} not in one.received
places = [(own, port) for host, port in {sorted(found)!r}
          if not host.startswith('127') and not host.endswith(':127.0.0.1')
          for own in (('10.77.0.1', '10.77.0.2') if host in ('::', '0.0.0.0') else (host,))]
with ThreadPoolExecutor(8) as pool:
    list(pool.map(attack, places))
print('done')
'''
    assert os.path.exists('/tmp/ray') == shared      # Ray's own folder, which all users may enter
    stranger = subprocess.run(['ip', 'netns', 'exec', namespaces[1], sys.executable, '-c', code], capture_output=True,
                              text=True, timeout=300, env=variables())
    assert stranger.stdout == 'done\n', stranger.stdout + stranger.stderr
    job.end()


# ---------------------------------------------------------------------- Ray that was imported before

@needs_ray
@pytest.mark.slow
@pytest.mark.parametrize('how', ['launched', 'by hand'])
def test_ray_may_be_imported_first(run, how):
    job = run(ASYNC, 'early')
    job.launched() if how == 'launched' else job.by_hand(MXNET_KVSTORE_SECRET=KEY.decode())
    job.up()
    job.end()


def test_a_secret_is_not_shown(monkeypatch, capsys):
    from mxnet.cli import main
    monkeypatch.setenv('MXNET_KVSTORE_SECRET', KEY.decode())
    assert main(['doctor']) == 0
    said = capsys.readouterr().out
    assert 'MXNET_KVSTORE_SECRET' in said and KEY.decode() not in said


@pytest.mark.parametrize('launched', [False, True])
def test_the_folder_of_a_ray_cluster_is_closed_to_others(tmp_path, monkeypatch, launched):
    """Ray makes its own folder accessible to all users; one that is not must be around it."""
    pytest.importorskip('ray')
    from mxnet._dist.cluster import Host, scratch
    from mxnet._dist.places import new_folder
    around = new_folder()
    if launched:
        monkeypatch.setenv('REMX_SCRATCH', around)
    else:
        monkeypatch.delenv('REMX_SCRATCH', raising=False)
    folder = scratch()
    host = Host.cluster(folder, 1, '127.0.0.1', '0' * 64)
    try:
        assert host.address(folder).startswith('127.0.0.1:')
        outermost = around if launched else folder
        assert stat.S_IMODE(os.stat(outermost).st_mode) == 0o700
        assert any('session_' in name for _, names, _ in os.walk(folder) for name in names)
    finally:
        host.close()
        for path in (folder, around):
            shutil.rmtree(path, ignore_errors=True)
