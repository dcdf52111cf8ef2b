"""Jobs on a Ray cluster whose nodes are hosts of their own (namespaces: tests/helpers/hosts.py)."""
import os
import re
import signal
import subprocess
import sys

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / 'tests' / 'helpers'))
import hosts as namespaces

pytest.importorskip('ray')
pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(namespaces.why_not()), reason=namespaces.why_not() or '-')]
TOKEN = 'ab' * 32
ENVIRONMENT = {**os.environ, 'PYTHONPATH': str(ROOT), 'OMP_NUM_THREADS': '1', 'MXNET_KVSTORE_TIMEOUT': '60',
               'MXNET_KVSTORE_OBJECT_STORE_MB': '100', 'RAY_USAGE_STATS_ENABLED': '0', 'RAY_TMPDIR': '/run/ray',
               'RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO': '0', 'RAY_AUTH_MODE': 'token', 'RAY_AUTH_TOKEN': TOKEN}

JOB = '''
import socket, sys, mxnet as mx
kv = mx.kv.create(sys.argv[1])
kv.init('w', mx.nd.zeros((300000,)))
out = mx.nd.zeros((300000,))
if 'async' in sys.argv[1]:
    kv.set_optimizer(mx.optimizer.SGD(learning_rate=1))
    kv.push('w', mx.nd.ones((300000,)) * (kv.rank + 1))
    kv.barrier()
    kv.pull('w', out=out)
    where = '-'
else:
    kv.pushpull('w', mx.nd.ones((300000,)) * (kv.rank + 1), out=out)
    where = kv._world.side_by_side
print(kv.rank, kv.num_workers, set(out.asnumpy().tolist()), socket.gethostname(), where, flush=True)
kv.barrier()
'''


@pytest.fixture(scope='module')
def cluster():
    """Two hosts with one CPU each; their Ray has files of its own, and a token."""
    with namespaces.Hosts(2) as hosts:
        for i, host in enumerate(hosts):
            how = ['--head', '--port', '6379', '--temp-dir', '/run/ray', '--include-dashboard', 'false'] if not i else \
                ['--address', f'{hosts[0].address}:6379']
            done = host.run([sys.executable, '-m', 'ray.scripts.scripts', 'start', '--node-ip-address', host.address,
                             '--num-cpus', '1', '--num-gpus', '0', '--object-store-memory', '100000000',
                             '--disable-usage-stats', *how], env=ENVIRONMENT, timeout=150)
            assert 'Ray runtime started' in done.stdout, done.stdout + done.stderr
        yield hosts


def launch(cluster, folder, *arguments, job=JOB):
    (folder / 'job.py').write_text(job)
    return cluster[0].run([sys.executable, '-m', 'mxnet.cli', 'launch', '-n', '2', '--launcher', 'ray',
                           *arguments[:-1], sys.executable, str(folder / 'job.py'), arguments[-1]],
                          env={**ENVIRONMENT, 'RAY_ADDRESS': f'{cluster[0].address}:6379'}, timeout=240, cwd=folder)


def test_dist_sync_on_the_hosts_of_a_cluster(cluster, tmp_path):
    sent = [host.counters()[0] for host in cluster]
    done = launch(cluster, tmp_path, 'dist_sync')
    assert done.returncode == 0, done.stdout + done.stderr
    said = sorted(re.findall(r'^\[(\d)\] \1 2 \{3.0\} (host\d) False$', done.stdout, re.MULTILINE))
    assert [rank for rank, _ in said] == ['0', '1'] and {name for _, name in said} == {'host0', 'host1'}, done.stdout
    assert all(host.counters()[0] - before > 1_200_000 for host, before in zip(cluster, sent, strict=True))


def test_dist_async_on_the_hosts_of_a_cluster(cluster, tmp_path):
    sent = [host.counters()[0] for host in cluster]
    done = launch(cluster, tmp_path, '-s', '2', 'dist_async')
    assert done.returncode == 0, done.stdout + done.stderr
    said = re.findall(r'^\[(\d)\] \1 2 \{-3.0\} (host\d)', done.stdout, re.MULTILINE)
    assert sorted(rank for rank, _ in said) == ['0', '1'] and {name for _, name in said} == {'host0', 'host1'}
    # one worker has its server at the other end of the link
    assert max(host.counters()[0] - before for host, before in zip(cluster, sent, strict=True)) > 1_000_000


def test_a_worker_that_fails_on_another_host(cluster, tmp_path):
    done = launch(cluster, tmp_path, 'dist_sync', job=JOB + f'''
import os, time
if socket.gethostname() == 'host1':
    os.kill(os.getpid(), {int(signal.SIGKILL)})
kv.barrier()
''')
    assert done.returncode == 128 + signal.SIGKILL, done.stdout + done.stderr
    assert re.search(r'worker \d failed first: it was ended by SIGKILL', done.stdout), done.stdout
    assert not [command for host in cluster for command in host.processes().values() if 'job.py' in command]


def test_without_the_token_nobody_joins(cluster, tmp_path):
    done = subprocess.run([*cluster[1].enter, sys.executable, '-c', f'''
import ray
ray.init(address='{cluster[0].address}:6379', logging_level='ERROR', log_to_driver=False)
print('joined')'''], env={**ENVIRONMENT, 'RAY_AUTH_TOKEN': 'cd' * 32}, capture_output=True, text=True, timeout=120)
    assert 'joined' not in done.stdout and done.returncode
