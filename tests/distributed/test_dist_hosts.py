"""Jobs between hosts that are namespaces of this machine (tests/helpers/hosts.py)."""
import contextlib
import os
import shutil
import subprocess
import sys
import time

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / 'tests' / 'helpers'))
import hosts as namespaces

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(namespaces.why_not()), reason=namespaces.why_not() or '-')]

# every listening socket must be at the host's own address; so says /proc/net/tcp, also while the ring is connected
JOB = '''
import os, socket, mxnet as mx
kv = mx.kv.create('dist_sync')
kv.init('w', mx.nd.zeros((300000,)))
out = mx.nd.zeros((300000,))
kv.pushpull('w', mx.nd.ones((300000,)) * (kv.rank + 1), out=out)
rows = mx.nd.sparse.row_sparse_array((mx.nd.ones((1, 2)) * (kv.rank + 1), [kv.rank]), shape=(4, 2))
kv.init('r', mx.nd.sparse.zeros('row_sparse', (4, 2)))
kv.push('r', rows)
got = mx.nd.sparse.zeros('row_sparse', (4, 2))
kv.row_sparse_pull('r', out=got, row_ids=mx.nd.array([0, 1, 2, 3]))
listening = [line.split()[1].split(':')[0] for line in open('/proc/net/tcp').readlines()[1:] if line.split()[3] == '0A']
addresses = sorted({socket.inet_ntoa(bytes.fromhex(text)[::-1]) for text in listening})
print(kv.rank, kv.num_workers, set(out.asnumpy().tolist()), got.asnumpy()[:, 0].tolist(), socket.gethostname(),
      kv._world.side_by_side, addresses)
kv.barrier()
'''


def launch(arguments, prefix=(), timeout=120):
    environment = {**os.environ, 'PYTHONPATH': str(ROOT), 'MXNET_KVSTORE_TIMEOUT': '30'}
    return subprocess.run([*prefix, sys.executable, '-m', 'mxnet.cli', 'launch', *arguments], env=environment, cwd='/',
                          capture_output=True, text=True, timeout=timeout)


def check(done, hosts, listening):
    assert done.returncode == 0, done.stdout + done.stderr
    rows = '[1.0, 2.0, 0.0, 0.0]'
    for rank in range(2):
        assert f'[{rank}] {rank} 2 {{3.0}} {rows} host{rank} False {listening[rank]}' in done.stdout, done.stdout
    assert all('job.py' not in command for _, command in hosts.settled())


def test_a_launcher_that_enters_the_hosts(tmp_path):
    (tmp_path / 'job.py').write_text(JOB)
    with namespaces.Hosts(2) as hosts:
        (tmp_path / 'hosts').write_text(''.join(f'{host.pid}\n' for host in hosts))
        done = launch(['-n', '2', '-H', str(tmp_path / 'hosts'), '--rsh', 'nsenter --all --target', '--address',
                       hosts[0].address, '--env', 'OMP_NUM_THREADS:1', sys.executable, str(tmp_path / 'job.py')])
        check(done, hosts, [[hosts[0].address], []])


def test_host_in_the_middle_of_the_command(tmp_path):
    (tmp_path / 'show.sh').write_text('echo $RANK ${#MXNET_KVSTORE_SECRET} $(tr "\\0" " " </proc/$PPID/cmdline)')
    with namespaces.Hosts(2) as hosts:
        (tmp_path / 'hosts').write_text(''.join(f'{host.pid}\n' for host in hosts))
        done = launch(['-n', '2', '-H', str(tmp_path / 'hosts'), '--rsh', 'nsenter --target {host} --all --',
                       'sh', str(tmp_path / 'show.sh')])
        assert done.returncode == 0, done.stdout + done.stderr
        assert sorted(done.stdout.splitlines()) == ['[0] 0 64 sh', '[1] 1 64 sh']       # no variable on a command line


@contextlib.contextmanager
def sshd(hosts, folder):
    """sshd of OpenSSH on each host; the words by which the others log in."""
    for name in ('host', 'user'):
        subprocess.run(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', str(folder / name)], check=True)
    settings = {'HostKey': folder / 'host', 'AuthorizedKeysFile': folder / 'user.pub', 'StrictModes': 'no',
                'PidFile': 'none', 'UsePAM': 'no', 'PasswordAuthentication': 'no', 'PermitRootLogin': 'yes'}
    words = [word for name, value in settings.items() for word in ('-o', f'{name}={value}')]
    for host in hosts:
        host.call('mkdir', '-p', '/run/sshd')
        host.call('/usr/sbin/sshd', '-f', '/dev/null', *words, '-o', f'ListenAddress={host.address}')
    known = ''.join(f'{host.address} {(folder / "host.pub").read_text()}' for host in hosts)
    (folder / 'known').write_text(known)
    yield f'ssh -F none -o BatchMode=yes -o IdentitiesOnly=yes -i {folder}/user -o UserKnownHostsFile={folder}/known'


@pytest.mark.skipif(not os.path.exists('/usr/sbin/sshd') or shutil.which('ssh') is None, reason='OpenSSH is needed')
def test_openssh(tmp_path):
    """The launcher runs on the first host, and reaches all of them by ssh."""
    (tmp_path / 'job.py').write_text(JOB)
    with namespaces.Hosts(2) as hosts, sshd(hosts, tmp_path) as rsh:
        (tmp_path / 'hosts').write_text(''.join(f'{host.address}\n' for host in hosts))
        arguments = ['-n', '2', '-H', str(tmp_path / 'hosts'), '--rsh', rsh, '--env', 'OMP_NUM_THREADS:1',
                     '--env', f'PYTHONPATH:{ROOT}', sys.executable, str(tmp_path / 'job.py')]
        done = launch(arguments, hosts[0].enter)
        check(done, hosts, [[hosts[0].address], [hosts[1].address]])        # sshd's own port
        wrong = launch([*arguments[:4], '--rsh', rsh.replace('known', 'nobody'), 'true'], hosts[0].enter)
        assert wrong.returncode == 255 and 'Host key verification failed' in wrong.stdout
        assert any(f'worker {rank} on {host.address} failed first: it ended with status 255' in wrong.stdout
                   for rank, host in enumerate(hosts)), wrong.stdout


@pytest.mark.skipif(not os.path.exists('/usr/sbin/sshd') or shutil.which('ssh') is None, reason='OpenSSH is needed')
def test_workers_end_with_the_launcher_over_openssh(tmp_path):
    with namespaces.Hosts(2) as hosts, sshd(hosts, tmp_path) as rsh:
        (tmp_path / 'hosts').write_text(''.join(f'{host.address}\n' for host in hosts))
        command = [sys.executable, '-m', 'mxnet.cli', 'launch', '-n', '2', '-H', str(tmp_path / 'hosts'), '--rsh', rsh,
                   'sh', '-c', 'echo started; sleep 1234']
        environment = {**os.environ, 'PYTHONPATH': str(ROOT)}
        with hosts[0].popen(command, env=environment, stdout=subprocess.PIPE, text=True) as launcher:
            assert sorted(launcher.stdout.readline() for _ in range(2)) == ['[0] started\n', '[1] started\n']
            assert all(any('sleep 1234' in text for text in host.processes().values()) for host in hosts)
            number = next(number for number, text in hosts[0].processes().items() if 'mxnet.cli launch' in text)
            hosts[0].call('kill', '-KILL', str(number))
        end = time.monotonic() + 15
        while (left := [text for host in hosts for text in host.processes().values() if 'sleep 1234' in text]) \
                and time.monotonic() < end:
            time.sleep(0.2)
        assert not left
