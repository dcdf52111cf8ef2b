"""Parts of `remx serve` in this process: messages to workers, archives."""
import asyncio
import json
import os
import socket
import struct
import tempfile
import threading
import zipfile

import numpy as np
import pytest

from mxnet._serve import archives, endpoint, link, tracing
from mxnet.base import MXNetError


# ---------------------------------------------------------------------- messages
def test_messages_arrive_in_any_pieces():
    requests = [('plain', {'accept': 'text/ü'}, b'\x00\xff' * 50), ('v2', {}, b''), ('plain', {}, b'x')]
    answers = [(200, 'application/json', b'[1]', {'A': 'b'}), (400, 'text/plain', b'', {})]
    data = link.pack_requests(requests) + link.pack_answers(answers, [2], 0.5) + link.pack({'ready': None})
    for step in (1, 7, len(data)):
        unpacker, found = link.Unpacker(), []
        for start in range(0, len(data), step):
            unpacker.feed(data[start:start + step])
            while (message := unpacker.message()) is not None:
                found.append(message)
        assert link.requests_of(found[0]) == requests
        assert link.answers_of(found[1]) == (answers, [2], 0.5)
        assert found[2] == ({'ready': None}, []) and len(found) == 3


def test_messages_of_a_socket_that_closes():
    ours, theirs = socket.socketpair()
    with ours:
        big = os.urandom(1 << 21)
        thread = threading.Thread(target=lambda: (theirs.sendall(link.pack([1], [big]) + link.pack([2])[:-1]),
                                                  theirs.close()))
        thread.start()
        unpacker = link.Unpacker()
        assert link.receive(ours, unpacker) == ([1], [big])
        assert link.receive(ours, unpacker) is None
        thread.join()


@pytest.mark.parametrize('data', [
    b'\x80\x05' + bytes(30),                                                            # a pickle
    link.HEAD.pack(b'rmx1', 2, 1, 5) + struct.pack('<Q', 4) + b'{}' + bytes(5),         # lengths that contradict
    link.HEAD.pack(b'rmx1', 2, 0, 0) + b'{]', link.HEAD.pack(b'rmx1', 1, 0, 0) + b'\xff'])
def test_what_is_no_message_is_refused(data):
    unpacker = link.Unpacker()
    unpacker.feed(data)
    with pytest.raises(link.Broken):
        unpacker.message()


def test_messages_hold_plain_values_only():
    with pytest.raises(TypeError):
        link.pack({'x': object()})


# ---------------------------------------------------------------------- archives
MANIFEST = {'model': {'modelName': 'old', 'handler': 'service:handle'}}


def archive(path, manifest=MANIFEST, **files):
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED) as file:
        file.writestr('MAR-INF/MANIFEST.json', manifest if isinstance(manifest, str) else json.dumps(manifest))
        for name, data in files.items():
            file.writestr(name.replace('__', '-'), data)
    return str(path)


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    folder = tmp_path / 'temporary'
    folder.mkdir()
    monkeypatch.setattr(tempfile, 'tempdir', str(folder))
    return folder


def test_an_archive_is_unpacked(tmp_path, temporary):
    path = archive(tmp_path / 'a.mar', **{'net__symbol.json': '{}'})
    found = archives.unpack(path, trust=False)
    assert found['name'] == 'old' and 'handler' not in found and os.path.exists(found['source'] + '-symbol.json')
    assert archives.unpack(path, trust=True)['handler'] == 'service:handle'


@pytest.mark.parametrize('names, message', [
    (['net-symbol.json'], "is not a model archive: there is no MAR-INF/MANIFEST.json in it"),
    (['MAR-INF/MANIFEST.json', 'a' * 5000], "a.mar: 'aaa.*' cannot be unpacked: File name too long"),
    (['MAR-INF/MANIFEST.json', 'x', 'x/y'], "a.mar: 'x/y' cannot be unpacked: Not a directory"),
    (['MAR-INF/MANIFEST.json', *(f'f{n}' for n in range(10_000))], 'a.mar: there are 10,001 files in it')])
def test_names_in_archives(tmp_path, temporary, names, message):
    path = tmp_path / 'a.mar'
    with zipfile.ZipFile(path, 'w') as file:
        for name in names:
            file.writestr(name, '{}')
    with pytest.raises(MXNetError, match=message):
        archives.unpack(str(path), trust=False)
    assert not os.listdir(temporary)


@pytest.mark.parametrize('manifest, message', [
    ('{', 'is not a model archive'), ('[]', 'is not a model archive'), ('{"model": {}}', 'is not a model archive'),
    ('{"model": {"modelName": 3}}', 'is not a model archive'), ('[' * 100000, 'is not a model archive'),
    ({'model': {'modelName': 'a', 'handler': ['x']}}, 'is not a model archive'), (MANIFEST, 'has no -symbol.json')])
def test_archives_that_are_none_leave_nothing(tmp_path, temporary, manifest, message):
    with pytest.raises(MXNetError, match=message):
        archives.unpack(archive(tmp_path / 'a.mar', manifest), trust=False)
    assert not list(temporary.iterdir())


def test_what_an_archive_unpacks_to_follows_from_its_size(tmp_path, temporary, monkeypatch):
    path = archive(tmp_path / 'bomb.mar', zeros=bytes(30_000_000), **{'net__symbol.json': '{}'})
    assert os.path.getsize(path) < 100_000
    monkeypatch.setenv('MXNET_FILE_LIMIT_MB', '20')
    with pytest.raises(MXNetError, match=r'bomb.mar: what it unpacks to takes 30,000,\d+ bytes.*MXNET_FILE_LIMIT_MB'):
        archives.unpack(path, trust=False)
    assert not list(temporary.iterdir())
    monkeypatch.setenv('MXNET_FILE_LIMIT_MB', '40')
    archives.unpack(path, trust=False)


# ---------------------------------------------------------------------- requests
class _Front:
    """What an endpoint needs of a front."""

    log = None

    def __init__(self, tracing, status=200):
        self.tracing, self.status = tracing, status

    async def answer(self, handler, request, token):
        request.details.update(model='net', batch=4)
        return self.status, 'text/plain', await request.body(10), {'A': 'b'}


def ask(front, body=b'', headers=()):
    """The messages that an endpoint sends."""
    sent: list = []

    async def receive():
        return {'type': 'http.request', 'body': body}

    async def send(message):
        sent.append(message)
    scope = {'method': 'POST', 'path': '/predictions/net', 'headers': list(headers), 'query_string': b''}
    asyncio.run(endpoint.Endpoint(front, None, None)(scope, receive, send))
    return sent


def test_spans_belong_to_the_trace_of_the_client():
    export = pytest.importorskip('opentelemetry.sdk.trace.export.in_memory_span_exporter')
    from opentelemetry import propagate, trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    provider, exporter = TracerProvider(shutdown_on_exit=False), export.InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    found = tracing.Tracing(trace, propagate)
    found._tracer = provider.get_tracer('remx.serve')           # the global provider stays as it is
    parent = b'00-0123456789abcdef0123456789abcdef-0123456789abcdef-01'
    assert ask(_Front(found), b'x', [(b'traceparent', parent)])[0]['status'] == 200
    ask(_Front(found, 503))
    one, other = exporter.get_finished_spans()
    assert one.name == 'POST /predictions/net' and one.kind is trace.SpanKind.SERVER
    assert f'{one.context.trace_id:032x}' == '0123456789abcdef' * 2 and one.parent.is_remote
    assert dict(one.attributes) == {'http.request.method': 'POST', 'url.path': '/predictions/net', 'remx.batch': 4,
                                    'http.response.status_code': 200, 'remx.model': 'net'}
    assert one.status.is_unset and other.parent is None and not other.status.is_ok and not other.status.is_unset


def test_without_an_exporter_there_are_no_spans(monkeypatch):
    pytest.importorskip('opentelemetry.sdk')
    monkeypatch.delenv('OTEL_TRACES_EXPORTER', raising=False)
    assert tracing.Tracing.installed() is None
    monkeypatch.setenv('OTEL_TRACES_EXPORTER', 'elsewhere')
    with pytest.raises(MXNetError, match='OTEL_TRACES_EXPORTER=elsewhere: there is no such exporter'):
        tracing.Tracing.installed()


# ---------------------------------------------------------------------- batches
@pytest.mark.parametrize('most, seconds, limit', [
    (32, lambda rows: 0.001 * rows, 32),                        # light: each batch is done soon
    (32, lambda rows: 0.04 * rows, 1),                          # heavy: rows take as long together as one by one
    (32, lambda rows: 0.02 * rows, 2),
    (32, lambda rows: 0.1, 32),                                 # rows are free in a batch
    (32, lambda rows: 0.04 * rows ** 0.8, 32),                  # each doubling saves 13 % of a row's time
    (32, lambda rows: 0.04 * max(rows, 4), 4),                  # up to four rows are computed in the time of four
    (24, lambda rows: 0.001 * rows, 24),
    (1, lambda rows: 9.0, 1),
])
def test_batches_of_a_heavy_network_are_small(most, seconds, limit):
    from mxnet._serve.runner import batch_limit
    asked = []
    assert batch_limit(most, lambda rows: asked.append(rows) or seconds(rows)) == limit
    assert asked == [2 ** n for n in range(len(asked))] and asked[-1] <= most


def test_a_worker_makes_its_plans_before_requests_arrive(tmp_path):
    from serve_tools import network

    from mxnet._serve.runner import Runner
    network(str(tmp_path / 'net'))
    runner = Runner({'source': str(tmp_path / 'net'), 'name': 'net', 'version': 1, 'shapes': ['data=1,16'],
                     'threads': 1, 'max_batch': 6})
    assert 1 <= runner.largest <= 6
    assert len(runner.compute([runner.network.example({'data': (5, 16)})['data']])[0]) == 5


@pytest.mark.parametrize('replaced', [False, True])
def test_front_and_workers_answer_from_the_same_files(tmp_path, replaced):
    from serve_tools import network

    from mxnet._serve.pool import Pool
    network(str(tmp_path / 'net'))
    config = {'source': str(tmp_path / 'net'), 'name': 'net', 'version': 1, 'shapes': ['data=1,16'], 'threads': 1}
    events: list = []

    async def run():
        pool = Pool(config, workers=1, isolate=False, log=lambda **entry: events.append(entry['event']))
        await pool.start()
        if replaced:                    # before the front's own copy is loaded
            network(str(tmp_path / 'net'), seed=9)
        item = ('plain', {}, json.dumps([[1] * 16]).encode())
        try:
            before = (await pool.submit(item, 60))[2]
            for _ in range(1000):
                if pool._loading is not None and pool._loading.done():
                    break
                await asyncio.sleep(0.05)
            assert (pool.local is None) is replaced
            assert (await pool.submit(item, 60))[2] == before
        finally:
            await pool.stop()
    asyncio.run(run())
    assert ('not local' in events) is replaced


# ---------------------------------------------------------------------- rows of outputs
def rows_network(kind, prefix):
    """A checkpoint whose outputs have other rows than its inputs -> (the shape of its input, outputs of an array)"""
    import mxnet as mx
    data = mx.sym.var('data')
    if kind == 'several rows':              # an unrolled network: one row for each step
        out = mx.sym.Reshape(mx.sym.FullyConnected(data, num_hidden=12, name='fc'), shape=(-1, 4))
    elif kind == 'several outputs':
        fc = mx.sym.FullyConnected(data, num_hidden=12, name='fc')
        out = mx.sym.Group([mx.sym.Reshape(fc, shape=(-1, 6)), fc])
    elif kind == 'compared':                # each row is compared with the mean of the batch
        fc = mx.sym.FullyConnected(data, num_hidden=12, name='fc')
        out = mx.sym.broadcast_sub(fc, mx.sym.mean(fc, axis=0, keepdims=True)) + fc
    elif kind == 'one number':
        out = mx.sym.sum(mx.sym.FullyConnected(data, num_hidden=12, name='fc'))
    else:                                   # the first axis is time
        fc = mx.sym.FullyConnected(data, num_hidden=12, name='fc', flatten=False)
        out = mx.sym.contrib.foreach(lambda x, s: (x + s[0], [x + s[0]]), fc,
                                     [mx.sym.zeros_like(mx.sym.slice_axis(fc, axis=0, begin=0, end=1).reshape((1, 12)))]
                                     )[0]
    out.save(f'{prefix}-symbol.json')
    shape = (3, 1, 5) if kind == 'time' else (1, 5)
    random = np.random.RandomState(0)
    mx.nd.save(f'{prefix}-0000.params', {'arg:fc_weight': mx.nd.array(random.uniform(-1, 1, (12, 5))),
                                         'arg:fc_bias': mx.nd.array(random.uniform(-1, 1, 12))})
    net = mx.gluon.SymbolBlock.imports(f'{prefix}-symbol.json', ['data'], f'{prefix}-0000.params')

    def compute(x):
        found = net(mx.nd.array(x))
        return [f.asnumpy() for f in (found if isinstance(found, list) else [found])]
    return shape, compute


KINDS = ['several rows', 'several outputs', 'compared', 'one number', 'time']


@pytest.mark.parametrize('kind', KINDS)
def test_each_request_gets_all_its_rows_and_no_others(tmp_path, kind):
    """Requests that are computed together get what each would get alone."""
    from mxnet._serve.runner import Runner
    shape, compute = rows_network(kind, str(tmp_path / 'net'))
    runner = Runner({'name': 'net', 'source': str(tmp_path / 'net'), 'shapes': ['data=' + ','.join(map(str, shape))]})
    assert (runner.rows is None) == (kind not in ('several rows', 'several outputs'))
    inputs = [np.random.RandomState(i).uniform(-1, 1, shape).astype('float32') for i in range(3)]
    inputs += [np.concatenate((inputs[0], inputs[1]))]
    bodies = [json.dumps({'inputs': [{'name': 'data', 'datatype': 'FP32', 'shape': list(x.shape),
                                      'data': x.ravel().tolist()}]}).encode() for x in inputs]
    answers, _, _ = runner.answer([('v2', {'name': 'net'}, body) for body in bodies])
    for x, (status, _, body, _) in zip(inputs, answers, strict=True):
        assert status == 200, body
        outputs = json.loads(body)['outputs']
        for found, wanted in zip(outputs, compute(x), strict=True):
            assert found['shape'] == list(wanted.shape)
            np.testing.assert_allclose(np.reshape(found['data'], wanted.shape), wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize('kind', KINDS)
def test_predict_gives_each_input_its_rows(tmp_path, monkeypatch, capsys, kind):
    from mxnet.cli import main
    monkeypatch.chdir(tmp_path)
    shape, compute = rows_network(kind, 'net')
    x = np.random.RandomState(3).uniform(-1, 1, (4, *shape[1:])).astype('float32')
    np.save('x.npy', x)
    code = main(['predict', 'net', 'x.npy', '--shape', 'data=' + ','.join(map(str, shape)), '--raw', '--out', 'y.npy'])
    if kind == 'time':
        assert code == 1 and 'does not compute the 3 rows of its input apart' in capsys.readouterr().err
        return
    found = np.load('y.npy')
    assert len(found) == 4
    for row, wanted in zip(found, [compute(one[None])[0] for one in x], strict=True):
        np.testing.assert_allclose(row.ravel(), wanted.ravel(), rtol=1e-4, atol=1e-5)
