"""Command lines of upstream's tools/launch.py, and its DMLC_ variables, on hosts that are namespaces."""
import os
import subprocess
import sys

import pytest
from conftest import ROOT

from mxnet._dist import launcher

sys.path.insert(0, str(ROOT / 'tests' / 'helpers'))
import hosts as namespaces

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(namespaces.why_not()), reason=namespaces.why_not() or '-')]
JOB = '''
import os, socket, mxnet as mx
kv = mx.kv.create('dist_sync')
kv.init('w', mx.nd.zeros((2,)))
out = mx.nd.zeros((2,))
kv.pushpull('w', mx.nd.ones((2,)) * (kv.rank + 1), out=out)
print(f'sum {out.asnumpy()[0]:g} of {kv.num_workers} on {socket.gethostname()} {os.environ.get("COLOUR")}', flush=True)
'''
ENVIRONMENT = {**os.environ, 'PYTHONPATH': str(ROOT), 'OMP_NUM_THREADS': '1', 'MXNET_KVSTORE_TIMEOUT': '30',
               'MXNET_KVSTORE_SECRET': 'a text that only this test knows'}


@pytest.mark.parametrize('words', [
    ['-n', '2', '-s', '2', '--launcher', 'ssh', '-H'],
    ['--num-workers', '2', '--num-servers', '2', '--launcher', 'ssh', '--env', 'COLOUR:red', '--hostfile'],
    ['-n', '2', '-s', '1', '--env-worker', 'COLOUR:red', '--env-server', 'COLOUR:blue', '--p3', '--launcher', 'ssh',
     '-H'],
])
def test_command_lines_of_the_old_launcher(tmp_path, words):
    """As they were, but for `ssh`, which a command that enters the hosts stands for."""
    (tmp_path / 'job.py').write_text(JOB)
    with namespaces.Hosts(2) as hosts:
        (tmp_path / 'hosts').write_text(''.join(f'{host.pid}\n' for host in hosts))
        done = subprocess.run([sys.executable, '-m', 'mxnet.cli', 'launch', *words, str(tmp_path / 'hosts'), '--rsh',
                               'nsenter --all --target', '--address', hosts[0].address, '--env', 'OMP_NUM_THREADS:1',
                               '--env', f'PYTHONPATH:{ROOT}', sys.executable, str(tmp_path / 'job.py')],
                              env=ENVIRONMENT, cwd='/', capture_output=True, text=True, timeout=120)
        colour = 'red' if 'COLOUR:red' in words else None
        assert sorted(done.stdout.splitlines()) == [f'[{i}] sum 3 of 2 on host{i} {colour}' for i in range(2)], done
        assert not hosts.settled()


@pytest.mark.parametrize('scheduler', [True, False])
def test_processes_with_dmlc_variables(tmp_path, scheduler):
    """Started by hand, each on a host: a scheduler, a server and two workers without numbers; or numbered workers."""
    (tmp_path / 'job.py').write_text(JOB)
    with namespaces.Hosts(3) as hosts:
        common = {**ENVIRONMENT, 'DMLC_PS_ROOT_URI': hosts[0].address, 'DMLC_NUM_WORKER': '2', 'DMLC_NUM_SERVER': '1',
                  'DMLC_PS_ROOT_PORT': str(launcher.free_port())}
        roles = [('scheduler', 0), ('server', 0), ('worker', 1), ('worker', 2)] if scheduler else \
            [('worker', 0), ('worker', 1)]
        processes = []
        for number, (role, host) in enumerate(roles):
            own = {'DMLC_ROLE': role, **({} if scheduler else {'DMLC_WORKER_ID': str(number)})}
            processes.append(hosts[host].popen([sys.executable, str(tmp_path / 'job.py')], env={**common, **own},
                                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
        said = [process.communicate(timeout=90)[0] for process in processes]
        assert [process.returncode for process in processes] == [0] * len(processes), said
        workers = [said[i] for i, (role, _) in enumerate(roles) if role == 'worker']
        places = [host for role, host in roles if role == 'worker']
        assert workers == [f'sum 3 of 2 on host{host} None\n' for host in places], said
        assert all(text == '' for text, (role, _) in zip(said, roles, strict=True) if role != 'worker'), said
