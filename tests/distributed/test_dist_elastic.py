"""Jobs whose set of workers changes, by torch's agent on each of several hosts (namespaces: tests/helpers/hosts.py)."""
import os
import subprocess
import sys
import time

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / 'tests' / 'helpers'))
import hosts as namespaces

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(namespaces.why_not()), reason=namespaces.why_not() or '-')]
PROGRAM = str(ROOT / 'tests' / 'helpers' / 'elastic_worker.py')
ENVIRONMENT = {**os.environ, 'PYTHONPATH': str(ROOT), 'OMP_NUM_THREADS': '1', 'MXNET_KVSTORE_TIMEOUT': '20',
               'MXNET_KVSTORE_SECRET': 'a text that only this test knows'}


class Agents:
    """torchrun's agent on each host, and what its worker has said."""

    def __init__(self, hosts, folder, **environment):
        self._hosts, self._folder = hosts, folder
        self._environment = {**ENVIRONMENT, **environment}
        self.all = []

    def start(self, host, *arguments):
        command = [sys.executable, '-m', 'torch.distributed.run', '--nnodes', '1:3', '--nproc-per-node', '1',
                   '--rdzv-backend', 'c10d', '--rdzv-endpoint', f'{self._hosts[0].address}:29400', '--rdzv-id', 'job',
                   '--local-addr', host.address, '--max-restarts', '5', '--monitor-interval', '0.3', '--rdzv-conf',
                   'last_call_timeout=2,keep_alive_interval=1,keep_alive_max_attempt=3', PROGRAM, *arguments]
        with open(self._folder / f'{host.name}.log', 'w') as file:
            self.all.append(host.popen(command, env=self._environment, stdout=file, stderr=subprocess.STDOUT))

    def said(self, host):
        return (self._folder / f'{host.name}.log').read_text()

    def wait(self, host, text, seconds=60):
        end = time.monotonic() + seconds
        while text not in self.said(host):
            assert time.monotonic() < end, f'{host.name} has not said {text!r}:\n{self.said(host)[-3000:]}'
            time.sleep(0.1)


def alone(begun, workers, steps, folder):
    """What a job that was started with so many workers makes of a checkpoint."""
    folder.mkdir()
    (folder / 'newest').symlink_to(begun)
    done = subprocess.run([sys.executable, '-m', 'mxnet.cli', 'launch', '-n', str(workers), sys.executable, PROGRAM,
                           str(folder), str(steps)], env={**ENVIRONMENT, 'MXNET_KVSTORE_BACKEND': 'ring'},
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return (folder / 'end.params').read_bytes()


def test_a_lost_host_a_host_that_joins_and_the_same_numbers(tmp_path):
    job = tmp_path / 'job'
    job.mkdir()
    with namespaces.Hosts(3) as hosts:
        # an agent that shares its store tells a host that joins later nothing: torch's own, hence the variable
        agents = Agents(hosts, tmp_path, TORCH_DISABLE_SHARE_RDZV_TCP_STORE='1')
        for host in hosts:
            agents.start(host, str(job), '90', '0.15')
        agents.wait(hosts[0], 'step 10 of 0 of 3')
        hosts[2].close()                            # gone for good
        agents.all[2].wait(30)
        agents.wait(hosts[0], 'begin 0 of 2')
        agents.wait(hosts[1], 'begin 1 of 2')
        assert 'worker 2 is gone' in agents.said(hosts[0]) + agents.said(hosts[1])
        agents.wait(hosts[0], 'of 0 of 2\nstep')
        agents.start(hosts.add(), str(job), '90', '0.15')
        agents.wait(hosts[0], 'end 0 of 3', 120)
        agents.wait(hosts[3], 'end 2 of 3')
        assert [agents.all[i].wait(30) for i in (0, 1, 3)] == [0, 0, 0]
    # each run ends as one that was started with its workers from its checkpoint
    steps = [int(line.split()[-1]) for line in agents.said(hosts[0]).splitlines() if line.startswith('begin 0')]
    assert len(steps) == 3 and 0 == steps[0] < 10 <= steps[1] < steps[2] < 90, steps
    # a worker may have died behind the checkpoint of the step that the next run begins with
    assert alone(job / 'begun-0', 2, steps[2], tmp_path / 'two') == (job / 'begun-1' / 'net.params').read_bytes()
    assert alone(job / 'begun-1', 3, 90, tmp_path / 'three') == (job / 'end.params').read_bytes()


def test_agents_that_share_their_store_and_count_differently(tmp_path):
    """A worker that fails on one host is counted there only, and the store has what earlier workers said."""
    job = tmp_path / 'job'
    job.mkdir()
    with namespaces.Hosts(2) as hosts:
        agents = Agents(hosts, tmp_path)
        for host in hosts:
            agents.start(host, str(job), '40', '0.15')
        for count, step in enumerate((5, 15)):
            agents.wait(hosts[count], f'step {step} of')
            (number,) = [number for number, command in hosts[count].processes().items()
                         if 'elastic_worker' in command and 'torch.distributed.run' not in command]
            hosts[count].call('kill', '-KILL', str(number))
        agents.wait(hosts[0], 'end 0 of 2', 90)
        assert [agent.wait(30) for agent in agents.all] == [0, 0]
    assert agents.said(hosts[1]).count('begin') >= 3
