"""`remx serve --backend ray` on a real cluster: the same answers, replicas, autoscaling, a killed replica."""
import json
import os
import pathlib
import re
import secrets
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from serve_tools import ROOT, asked, call, network

from mxnet.cli import main

TOKEN = 'a token of the tests'
# Ray's own: it would take the one of the user's home folder for a new cluster
RAY = {'RAY_AUTH_MODE': 'token', 'RAY_AUTH_TOKEN': secrets.token_hex(32), 'RAY_USAGE_STATS_ENABLED': '0'}
AUTH = {'Authorization': f'Bearer {TOKEN}'}
X = np.random.RandomState(1).uniform(0, 1, (2, 16)).astype('float32')

# connected to the cluster of the server: replicas and the processes of them
LOOK = '''
import json, sys, warnings
warnings.simplefilter('ignore')
import ray
from ray import serve
ray.init(address=sys.argv[1], namespace='serve', log_to_driver=False, logging_level='ERROR')
found = serve.status().applications['remx'].deployments
print('FOUND', json.dumps({name: d.replica_states.get('RUNNING', 0) for name, d in found.items()}))
ray.shutdown()
'''


@pytest.fixture
def cluster(tmp_path):
    """The address of a Ray cluster with four CPUs."""
    pytest.importorskip('ray.serve')
    program = ('import ray, sys, signal\n'
               'found = ray.init(address="local", num_cpus=4, include_dashboard=False, log_to_driver=False)\n'
               'print("AT", found.address_info["gcs_address"], flush=True)\n'
               'signal.pause()\n')
    with open(tmp_path / 'cluster.log', 'w') as log:
        process = subprocess.Popen([sys.executable, '-W', 'ignore', '-c', program], stdout=subprocess.PIPE, stderr=log,
                                   text=True, start_new_session=True, env={**os.environ, 'PYTHONPATH': ROOT, **RAY})
    try:
        for line in process.stdout:
            if line.startswith('AT '):
                yield line.split()[1]
                break
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(60)
        process.stdout.close()


def look(address):
    done = subprocess.run([sys.executable, '-W', 'ignore', '-c', LOOK, address], capture_output=True, text=True,
                          env={**os.environ, 'PYTHONPATH': ROOT, **RAY})
    return json.loads(re.search('FOUND (.*)', done.stdout)[1])


def replicas():
    """The processes of replicas of the model."""
    found = []
    for entry in pathlib.Path('/proc').iterdir():
        if entry.name.isdigit():
            try:
                if b'ServeReplica:remx:net' in (entry / 'cmdline').read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_cluster_answers_and_scales(cluster, tmp_path):
    compute = network(str(tmp_path / 'net'))
    arguments = ['serve', 'net', '--backend', 'ray', '--shape', 'data=1,16', '--max-workers', '2', '--max-batch', '2',
                 '--port', '0', '--max-body', '100000', '--log', 'error']
    with open(tmp_path / 'log', 'w') as log:
        process = subprocess.Popen([sys.executable, '-m', 'mxnet.cli', *arguments], cwd=tmp_path, text=True,
                                   stdout=subprocess.PIPE, stderr=log,
                                   env={**os.environ, 'PYTHONPATH': ROOT, 'RAY_ADDRESS': cluster,
                                        'REMX_SERVE_TOKEN': TOKEN, **RAY})
    try:
        line = process.stdout.readline()
        assert 'with Ray Serve' in line, line + (tmp_path / 'log').read_text()
        address = re.search(r'http://\S+:\d+', line)[0]
        url, body = f'{address}/predictions/net', json.dumps(X.tolist()).encode()
        # the same interface as without Ray
        np.testing.assert_allclose(asked(url, body, **AUTH), compute(X), rtol=1e-5)
        request = {'inputs': [{'name': 'data', 'shape': [2, 16], 'datatype': 'FP32', 'data': X.ravel().tolist()}]}
        found = asked(f'{address}/v2/models/net/infer', json.dumps(request).encode(), **AUTH)['outputs'][0]
        np.testing.assert_allclose(found['data'], compute(X).ravel(), rtol=1e-5)
        assert asked(f'{address}/v2/models/net', **AUTH)['inputs'][0]['shape'] == [-1, 16]
        assert call(url, body)[0] == 401 and call(f'{address}/predictions/other', body, **AUTH)[0] == 404
        assert call(url, b'no array', **AUTH)[0] == 400 and call(url, bytes(200000), **AUTH)[0] == 413
        assert call(f'{address}/ping')[0] == 200 and b'remx_requests_total' in call(f'{address}/metrics', **AUTH)[2]
        # a replica that is killed is replaced; requests are answered, or refused with 503
        first = replicas()
        assert len(first) == 1
        os.kill(first[0], signal.SIGKILL)
        statuses = []
        until = time.monotonic() + 120
        while time.monotonic() < until and statuses[-3:] != [200] * 3:
            statuses.append(call(url, body, **AUTH)[0])
            time.sleep(0.2)
        assert statuses[-3:] == [200] * 3 and set(statuses) <= {200, 503}, statuses
        # more clients than one replica is meant for: a second one
        assert look(cluster)['net'] == 1
        program = ('import sys, threading, urllib.request\n'
                   f'request = lambda: urllib.request.Request({url!r}, data={body!r}, headers={AUTH!r})\n'
                   'def ask():\n    while True:\n        urllib.request.urlopen(request(), timeout=60).read()\n'
                   'for _ in range(16):\n    threading.Thread(target=ask, daemon=True).start()\n'
                   'sys.stdin.read()\n')
        load = subprocess.Popen([sys.executable, '-c', program], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            until = time.monotonic() + 240
            while len(replicas()) < 2 and time.monotonic() < until:
                time.sleep(1)
            assert len(replicas()) == 2
        finally:
            load.kill()
            load.wait()
            load.stdin.close()
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0
        assert not replicas()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.parametrize('arguments, message', [
    (['net', '--backend', 'ray', '--reload'], '--reload: with --backend ray, deploy again'),
    (['net', '--backend', 'ray', '--management-port', '8081'], '--management-port: it is not available with'),
    (['net', '--backend', 'ray', '--workers', '2', '--max-workers', '1'], '--max-workers 1: it takes numbers from'),
    (['net', '--max-workers', '3'], '--max-workers is for --backend ray'),
    (['missing', '--backend', 'ray'], 'there is no')])
def test_mistakes(tmp_path, capfd, monkeypatch, arguments, message):
    pytest.importorskip('ray.serve')
    monkeypatch.chdir(tmp_path)
    network('net')
    assert main(['serve', *arguments, '--port', '0', '--shape', 'data=1,16']) == 1
    assert message in capfd.readouterr().err


def test_it_says_what_is_missing(tmp_path):
    program = ('import sys; sys.modules["ray"] = None\nfrom mxnet.cli import main\n'
               'sys.exit(main(["serve", "net", "--backend", "ray"]))')
    done = subprocess.run([sys.executable, '-c', program], cwd=tmp_path, capture_output=True, text=True,
                          env={**os.environ, 'PYTHONPATH': ROOT})
    assert done.returncode == 1 and "pip install 'remx[ray-serve]'" in done.stderr
