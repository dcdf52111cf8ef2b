"""A server of `remx serve`, a small network for it, and a client that keeps its connection."""
import asyncio
import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def network(prefix, seed=0, bias=0.0):
    """Writes a checkpoint whose outputs tell its weights apart."""
    import mxnet as mx
    from mxnet import nd
    x = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=3, name='fc')
    mx.sym.SoftmaxOutput(x, name='softmax').save(f'{prefix}-symbol.json')
    weight = np.random.RandomState(seed).uniform(-1, 1, (3, 16)).astype('float32')
    nd.save(f'{prefix}-0000.params', {'arg:fc_weight': nd.array(weight), 'arg:fc_bias': nd.array([bias, 0, 0])})
    return lambda x: _softmax(x.reshape(len(x), -1) @ weight.T + np.array([bias, 0, 0], 'float32'))


def _softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


@contextlib.contextmanager
def server(*arguments, cwd, env=None, wait=120):
    """(address, address for management, the process) of a server."""
    with open(os.path.join(cwd, 'log'), 'w') as log:
        process = subprocess.Popen([sys.executable, '-m', 'mxnet.cli', 'serve', *map(str, arguments), '--port', '0',
                                    '--management-port', '0'], cwd=cwd, stdout=subprocess.PIPE, stderr=log, text=True,
                                   env={**os.environ, 'PYTHONPATH': ROOT, **(env or {})})
    try:
        line = process.stdout.readline()
        found = re.findall(r'http://\S+:\d+', line)
        assert len(found) == 2, line + pathlib.Path(cwd, 'log').read_text()
        yield found[0], found[1], process
    finally:
        process.terminate()
        try:
            process.wait(wait)
        finally:
            if process.poll() is None:
                process.kill()
            process.stdout.close()


def call(address, body=None, method=None, **headers):
    """(status, headers, body) of a request."""
    request = urllib.request.Request(address, data=body, method=method or ('POST' if body is not None else 'GET'),
                                     headers={k.replace('_', '-'): v for k, v in headers.items()})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, dict(answer.headers), answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, dict(error.headers), error.read()


def asked(address, body=None, **headers):
    """The JSON of an answer."""
    return json.loads(call(address, body, **headers)[2])


# ---------------------------------------------------------------------- load
async def client(address, path, body, headers, count, results, latencies, until=None):
    """Sends requests one after the other on one connection; opens another when it is closed."""
    host, port = address.removeprefix('http://').split(':')
    head = f'POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(body)}\r\n'
    data = (head + ''.join(f'{k}: {v}\r\n' for k, v in headers.items()) + '\r\n').encode() + body
    reader = writer = None
    done = 0
    while done < count and (until is None or time.perf_counter() < until):
        started = time.perf_counter()
        try:
            if writer is None:
                reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(data)
            status, answer, keep = await asyncio.wait_for(_answer(reader), 90)
        except (ConnectionError, asyncio.IncompleteReadError, OSError) as error:
            status, answer, keep = type(error).__name__, b'', False
        except TimeoutError:
            status, answer, keep = 'hang', b'', False
        latencies.append(time.perf_counter() - started)
        results.append((status, answer))
        done += 1
        if not keep and writer is not None:
            writer.close()
            writer = None
    if writer is not None:
        writer.close()


async def _answer(reader):
    head = (await reader.readuntil(b'\r\n\r\n')).decode('latin-1').lower()
    length = int(re.search(r'content-length: (\d+)', head)[1])
    return int(head.split()[1]), await reader.readexactly(length), 'connection: close' not in head
