"""Requests a second and latencies of `remx serve`: `python -m bench.serve`, or `make bench-serve`.

Beside it the same network as a torch module behind the same kind of server (Starlette and uvicorn, no batches), and
LitServe with torch where it is installed.  The processor time of a request (of all processes of a server) says most
where the machine does other things, too.  Contestants take turns, so that what else the machine does falls on all of
them.  `--reliability N` sends N requests during 20 reloads and a `kill -9` of a worker instead.
"""
import argparse
import asyncio
import base64
import contextlib
import io
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, 'tests', 'helpers'), ROOT]

import serve_tools  # noqa: E402

SHAPES = {'mlp': (1, 784), 'mobilenet': (1, 3, 224, 224), 'resnet50': (1, 3, 224, 224)}

PLAIN = '''
import io, sys
sys.path.insert(0, sys.argv[1])
import numpy, torch, uvicorn
from net import load
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
network = load()
async def predict(request):
    x = torch.from_numpy(numpy.load(io.BytesIO(await request.body())))
    with torch.no_grad():
        y = network(x)
    file = io.BytesIO()
    numpy.save(file, y.numpy())
    return Response(file.getvalue())
uvicorn.run(Starlette(routes=[Route('/predictions/net', predict, methods=['POST'])]), port=int(sys.argv[2]),
            log_level='critical', access_log=False)
'''

# LitServe reads JSON: the same .npy bytes in base64
LITSERVE = '''
import base64, io, sys
sys.path.insert(0, sys.argv[1])
import litserve, numpy, torch
class Api(litserve.LitAPI):
    def setup(self, device):
        from net import load
        self.network = load()
    def decode_request(self, request):
        return torch.from_numpy(numpy.load(io.BytesIO(base64.b64decode(request['data']))))
    def batch(self, inputs):
        return torch.cat(inputs)
    def predict(self, x):
        with torch.no_grad():
            return self.network(x)
    def unbatch(self, output):
        return list(output)
    def encode_response(self, output):
        return {'output': output.tolist()}
if __name__ == '__main__':
    api = Api(max_batch_size=32, batch_timeout=0.002, api_path='/predictions/net')
    litserve.LitServer(api, accelerator='cpu', workers_per_device=1).run(port=int(sys.argv[2]), log_level='critical',
                                                                        generate_client_file=False)
'''


def make(name, folder):
    """Writes the checkpoint and the torch source of a network."""
    import mxnet as mx
    from mxnet import nd
    from mxnet.cli import main
    from mxnet.gluon import nn
    from mxnet.gluon.model_zoo import vision
    if name == 'mlp':
        net = nn.HybridSequential()
        net.add(nn.Dense(256, activation='relu'), nn.Dense(128, activation='relu'), nn.Dense(10))
    else:
        net = vision.get_model({'mobilenet': 'mobilenet1.0', 'resnet50': 'resnet50_v1'}[name])
    net.initialize(mx.init.Xavier())
    net.hybridize()
    net(nd.zeros(SHAPES[name]))
    net.export(os.path.join(folder, 'net'))
    shape = f'data={",".join(map(str, SHAPES[name]))}'
    assert main(['convert', os.path.join(folder, 'net'), '--to', 'torch', '--shape', shape, '--out',
                 os.path.join(folder, 'net'), '--tolerance', '1e-4']) == 0
    return shape


@contextlib.contextmanager
def program(text, folder, port):
    """A server that a program starts."""
    process = subprocess.Popen([sys.executable, '-W', 'ignore', '-c', text, folder, str(port)] if text is PLAIN else
                               [sys.executable, '-W', 'ignore', _file(text, folder), folder, str(port)], cwd=folder,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(f'http://127.0.0.1:{port}/', timeout=1)
                break
            except urllib.error.HTTPError:
                break
            except OSError:
                time.sleep(0.2)
        yield f'http://127.0.0.1:{port}', process.pid
    finally:
        os.killpg(process.pid, signal.SIGKILL)          # LitServe's workers do not end with it
        process.wait(60)


def _free_port():
    with socket.socket() as sock:
        sock.bind(('127.0.0.1', 0))
        return sock.getsockname()[1]


def _file(text, folder):
    path = os.path.join(folder, 'lit_program.py')
    with open(path, 'w') as file:
        file.write(text)
    return path


def measure(who, address, pid, data, clients, seconds):
    """(requests a second, p50, p99 in ms, processor time of a request in us) of so many clients."""
    latencies: list = []
    body, headers = data, {'Accept': 'application/x-npy'}
    if who == 'LitServe':
        body = json.dumps({'data': base64.b64encode(data).decode()}).encode()
        headers = {'Content-Type': 'application/json'}
    before = _cpu(pid)
    started = time.perf_counter()
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        wrong = runner.run(_load(address, body, headers, clients, started + seconds, latencies))
    elapsed = time.perf_counter() - started
    if wrong:
        raise RuntimeError(f'{len(wrong)} of {len(latencies)} requests failed: {wrong[:3]}')
    return len(latencies) / elapsed, *np.percentile(latencies, [50, 99]) * 1000, \
        (_cpu(pid) - before) / len(latencies) * 1e6


class Client(asyncio.Protocol):
    """Sends a request when the last one is answered.  It does as little as possible: clients share the machine."""

    def __init__(self, data, until, latencies, wrong):
        self.data, self.until, self.latencies, self.wrong = data, until, latencies, wrong
        self.ended = asyncio.get_running_loop().create_future()
        self.buffer = b''

    def connection_made(self, transport):
        self.transport = transport
        self.send()

    def send(self):
        self.started = time.perf_counter()
        if self.started >= self.until:
            self.transport.close()
        else:
            self.transport.write(self.data)

    def data_received(self, data):
        self.buffer += data
        head = self.buffer.find(b'\r\n\r\n')
        if head < 0:
            return
        place = self.buffer.lower().find(b'content-length: ') + 16
        length = int(self.buffer[place:self.buffer.find(b'\r\n', place)])
        if len(self.buffer) < head + 4 + length:
            return
        if self.buffer[9:12] != b'200':
            self.wrong.append(self.buffer[:200])
        self.buffer = b''
        self.latencies.append(time.perf_counter() - self.started)
        self.send()

    def connection_lost(self, error):
        if time.perf_counter() < self.until:
            self.wrong.append(str(error or 'closed'))
        self.ended.set_result(None)


async def _load(address, body, headers, clients, until, latencies):
    host, port = address.removeprefix('http://').split(':')
    head = f'POST /predictions/net HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(body)}\r\n'
    data = (head + ''.join(f'{k}: {v}\r\n' for k, v in headers.items()) + '\r\n').encode() + body
    wrong: list = []
    made = [await asyncio.get_running_loop().create_connection(lambda: Client(data, until, latencies, wrong), host,
                                                               int(port)) for _ in range(clients)]
    await asyncio.gather(*[client.ended for _, client in made])
    return wrong


def _loop_factory():
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def _cpu(pid):
    """Seconds of processor time that a process and its descendants have used."""
    import psutil
    process = psutil.Process(pid)
    return sum(sum(p.cpu_times()[:2]) for p in (process, *process.children(recursive=True)))


def table(found):
    """A table of {(network, clients): {who: rows of `measure`}}: of the round with most requests each."""
    head = '| network | clients | server | requests/s | remx serve to it | p50 ms | p99 ms | processor us a request |\n'
    lines = []
    for (network, clients), contestants in found.items():
        best = {who: max(rows) for who, rows in contestants.items()}
        ours = best['remx serve'][0]
        for who, (rate, p50, p99, _) in best.items():
            processor = min(row[3] for row in contestants[who])
            lines.append(f'| {network} | {clients} | {who} | {rate:.1f} | {ours / rate:.2f} | {p50:.2f} | {p99:.2f} | '
                         f'{processor:.0f} |\n')
    return head + '|' + ' --- |' * 8 + '\n' + ''.join(lines)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--networks', default='mlp,mobilenet,resnet50')
    parser.add_argument('--clients', default='1,8,64')
    parser.add_argument('--seconds', type=float, default=5)
    parser.add_argument('--rounds', type=int, default=2)
    parser.add_argument('--reliability', type=int, metavar='N')
    options = parser.parse_args(arguments)
    if options.reliability:
        environment = {**os.environ, 'SERVE_REQUESTS': str(options.reliability), 'PYTHONPATH': ROOT}
        tests = os.path.join(ROOT, 'tests', 'tools', 'test_serve.py')
        return subprocess.run([sys.executable, '-m', 'pytest', '-q', '-s', tests, '-k', 'nothing_is_lost'],
                              env=environment).returncode
    started, found = time.perf_counter(), {}
    for name in options.networks.split(','):
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
            shape = make(name, folder)
            file = io.BytesIO()
            np.save(file, np.random.rand(*SHAPES[name]).astype('float32'))
            address, _, process = stack.enter_context(serve_tools.server('net', '--shape', shape, '--log', 'error',
                                                                         cwd=folder))
            contestants = {'remx serve': (address, process.pid)}
            contestants['torch, no batches'] = stack.enter_context(program(PLAIN, folder, _free_port()))
            with contextlib.suppress(ImportError):
                import litserve  # noqa: F401
                contestants['LitServe'] = stack.enter_context(program(LITSERVE, folder, _free_port()))
            for who, place in contestants.items():
                measure(who, *place, file.getvalue(), 8, 3)             # batches of the sizes that come
            for number in range(options.rounds):
                print(f'{name}: round {number + 1} of {options.rounds}, {time.perf_counter() - started:.0f} s',
                      file=sys.stderr, flush=True)
                for clients in map(int, options.clients.split(',')):
                    for who, place in contestants.items():
                        found.setdefault((name, clients), {}).setdefault(who, []).append(
                            measure(who, *place, file.getvalue(), clients, options.seconds))
    print(f'{os.cpu_count()} cores, load {os.getloadavg()[0]:.2f} at the end, {options.rounds} rounds of '
          f'{options.seconds:g} s, {time.perf_counter() - started:.0f} s in all\n\n{table(found)}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
