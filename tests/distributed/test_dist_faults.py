"""Faults between hosts that are namespaces of this machine: who suffers from them says which worker is the reason,
soon after MXNET_KVSTORE_TIMEOUT at the latest, and what heals before that is not noticed."""
import os
import re
import subprocess
import sys
import threading
import time

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / 'tests' / 'helpers'))
import hosts as namespaces

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(namespaces.why_not()), reason=namespaces.why_not() or '-')]

TIMEOUT = 6
# beyond the timeout: two looks at everyone's signs of life, and a busy machine
NOTICED = TIMEOUT + 5
# worker 0 decides when all end, by the sums
JOB = '''
import sys, time, mxnet as mx
kv = mx.kv.create('dist_sync')
kv.init('w', mx.nd.zeros((100000,)))
start, count, out = time.monotonic(), 0, mx.nd.zeros((100000,))
try:
    while not out[0].asscalar():
        over = kv.rank == 0 and time.monotonic() - start > float(sys.argv[1])
        kv.pushpull('w', mx.nd.full((100000,), over), out=out)
        count += 1
        if count == 3:
            print('ready', flush=True)
        time.sleep(0.02)
    print('ended well after', count, flush=True)
except mx.MXNetError as error:
    print('noticed:', error, flush=True)
    time.sleep(60)                      # the others find out by themselves
'''


class Job:
    """Three workers on three hosts, whose lines are read as they come."""

    def __init__(self, hosts, folder, seconds):
        (folder / 'job.py').write_text(JOB)
        (folder / 'hosts').write_text(''.join(f'{host.pid}\n' for host in hosts))
        settings = ['OMP_NUM_THREADS:1', f'PYTHONPATH:{ROOT}', f'MXNET_KVSTORE_TIMEOUT:{TIMEOUT}']
        self._process = subprocess.Popen(
            [sys.executable, '-m', 'mxnet.cli', 'launch', '-n', '3', '-H', str(folder / 'hosts'), '--rsh',
             'nsenter --all --target', '--address', hosts[0].address,
             *(word for setting in settings for word in ('--env', setting)),
             sys.executable, str(folder / 'job.py'), str(seconds)],
            env={**os.environ, 'PYTHONPATH': str(ROOT)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.lines = []                 # (time, text)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self):
        for line in self._process.stdout:
            self.lines.append((time.monotonic(), line.rstrip()))

    def said(self, words, count, seconds):
        """{worker: (time, line)} once `count` workers have said something; what there is after some seconds."""
        end = time.monotonic() + seconds
        while True:
            matches = [(when, re.match(rf'\[(\d)\] ({words}.*)', line)) for when, line in list(self.lines)]
            found = {int(match[1]): (when, match[2]) for when, match in matches if match}
            if len(found) >= count or time.monotonic() > end:
                return found
            time.sleep(0.05)

    def close(self):
        self._process.kill()
        self._process.wait()
        self._reader.join(10)
        self._process.stdout.close()


@pytest.fixture
def start(tmp_path):
    """Starts a job on three hosts; returns both once all workers work."""
    opened = []

    def begin(seconds=100.0, **link):
        hosts = namespaces.Hosts(3, **link)
        opened.append(hosts)
        job = Job(hosts, tmp_path, seconds)
        opened.append(job)
        assert len(job.said('ready', 3, 60)) == 3, job.lines
        return hosts, job

    yield begin
    for one in reversed(opened):
        one.close()


def check_noticed(job, since, wanted):
    """`wanted`: {worker: pattern} of what workers say."""
    found = job.said('noticed:', len(wanted), NOTICED + 5)
    assert found.keys() >= wanted.keys(), job.lines
    for rank, pattern in wanted.items():
        when, line = found[rank]
        assert re.search(pattern, line), line
        assert when - since < NOTICED, (when - since, line)


GONE_0 = 'worker 0, where the workers meet, is gone'


@pytest.mark.parametrize('cut, wanted', [
    (2, {0: 'workers? (1, )?2 (is|are) gone', 1: 'worker 2 is gone', 2: GONE_0}),
    (0, {0: 'workers? (1|2|1, 2) (is|are) gone', 1: GONE_0, 2: GONE_0})])
def test_a_cable_is_pulled(start, cut, wanted):
    hosts, job = start()
    since = time.monotonic()
    hosts[cut].link(up=False)
    check_noticed(job, since, wanted)


def test_a_host_is_gone_for_good(start):
    hosts, job = start()
    since = time.monotonic()
    hosts[1].close()
    check_noticed(job, since, {0: 'worker 1 is gone', 2: 'worker 1 is gone'})


def test_a_host_that_stands_still(start):
    hosts, job = start()
    since = time.monotonic()
    for number, command in hosts[1].processes().items():
        if 'job.py' in command:
            hosts[1].call('kill', '-STOP', str(number))
    check_noticed(job, since, {0: 'worker 1 is gone', 2: 'worker 1 is gone'})


@pytest.mark.parametrize('fault', ['partition that heals', 'slow host', 'lost packets'])
def test_training_goes_on(start, fault):
    hosts, job = start(seconds=8)
    if fault == 'partition that heals':
        hosts[1].link(up=False)
        time.sleep(TIMEOUT / 2)
        hosts[1].link(up=True)
    elif fault == 'slow host':
        hosts[1].shape(rate='20mbit')
    else:
        for host in hosts:
            host.shape(loss=0.05)
    found = job.said('ended well', 3, 60)
    assert len(found) == 3 and len({line for _, line in found.values()}) == 1, job.lines
    assert not job.said('noticed', 1, 0)
