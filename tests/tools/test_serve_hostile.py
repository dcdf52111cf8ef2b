"""`remx serve` and requests that are wrong, slow or meant to harm."""
import asyncio
import contextlib
import io
import json
import os
import signal
import socket
import threading
import time
from urllib.parse import quote

import numpy as np
import pytest
from serve_tools import asked, call, client, network, server

pytest.importorskip('starlette')
pytest.importorskip('uvicorn')

X = np.random.RandomState(1).uniform(0, 1, (2, 16)).astype('float32')
TYPES = {'BOOL': 'bool', 'UINT8': 'u1', 'UINT16': 'u2', 'UINT32': 'u4', 'UINT64': 'u8', 'INT8': 'i1', 'INT16': 'i2',
         'INT32': 'i4', 'INT64': 'i8', 'FP16': 'f2', 'FP32': 'f4', 'FP64': 'f8'}


def npy(array, **options):
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def npy_of(header):
    """An .npy file with a header of our own."""
    text = header.encode().ljust(117) + b'\n'
    return b'\x93NUMPY\x01\x00' + len(text).to_bytes(2, 'little') + text + bytes(64)


@pytest.fixture(scope='module')
def running(tmp_path_factory):
    """(inference, management, what the network computes, its folder) of a server on loopback without a token."""
    folder = tmp_path_factory.mktemp('hostile')
    compute = network(str(folder / 'net'))
    network(str(folder / '网络'), seed=3)
    with server('net', '网络', '--shape', 'data=1,16', '--max-body', 100000, '--timeout', 2, cwd=folder,
                env={'REMX_SERVE_TOKEN': ''}) as (inference, management, _):
        yield inference, management, compute, folder


@pytest.fixture(autouse=True)
def it_lives(running):
    """The server works after each test, and has seen no failure of its own."""
    yield
    assert call(f'{running[0]}/predictions/net', npy(X))[0] == 200
    assert '"event": "failure"' not in (running[3] / 'log').read_text(encoding='utf-8')


@pytest.mark.parametrize('body, message', [
    (b'[' * 50000, 'nested too deeply'), (b'[' * 900 + b'1' + b']' * 900, 'is not an array of numbers'),
    (b'null', 'has the shape ()'), (b'', 'neither JSON'), (b'"abc"', 'is not an array of numbers'),
    (b'{}', 'data is missing'), (b'[]', 'batches of 0'), (b'[[1, 2], [3]]', 'equal lengths'),
    (json.dumps([10 ** 400] * 16).encode(), 'is not an array of numbers'), (b'[' + b'9' * 5000 + b']', 'neither JSON'),
    (json.dumps([{}] * 16).encode(), 'is not an array of numbers'), (b'\xff\xfe[1', 'neither JSON'),
    (json.dumps([0.0] * 17).encode(), 'has the shape (17,), but the network takes (N, 16)')])
def test_json_that_is_no_input(running, body, message):
    status, _, answer = call(f'{running[0]}/predictions/net', body, Content_Type='application/json')
    assert status == 400 and message in json.loads(answer)['message'], answer


@pytest.mark.parametrize('body, message', [
    (npy(X)[:-3], '125 follow its header'), (b'PK\x03\x04' + bytes(20), 'is not an .npy array'),
    (npy(np.array([{}], object), allow_pickle=True), 'it holds objects'),
    (npy(np.zeros(3, [('a', 'f4')])), 'not numbers'), (npy(np.zeros((1, 16), 'complex64')), 'not numbers'),
    (npy_of("{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 16)}"), 'its shape is (-1, 16)'),
    (npy_of("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 16)}"), 'bytes, but'),
    (npy_of("{'descr': '<f4', 'fortran_order': False, 'shape': " + '(' * 50), 'is not an .npy array'),
    (npy_of("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 4611686018427387904)}"), 'is not an .npy array'),
    (b'\x93NUMPY\x09\x00' + bytes(40), 'its version is 9.0'), (b'\x93NUMPY', 'is not an .npy array')])
def test_arrays_that_are_none(running, body, message):
    status, _, answer = call(f'{running[0]}/predictions/net', body, Content_Type='application/x-npy')
    assert status == 400 and message in json.loads(answer)['message'], answer


def test_arrays_of_other_layouts(running):
    for array in (np.asfortranarray(X), X.astype('>f8'), (X * 100).astype('uint8')):
        found = asked(f'{running[0]}/predictions/net', npy(array))
        np.testing.assert_allclose(found, running[2](array.astype('float32')), rtol=1e-4)


def test_pictures_and_forms_that_are_none(running):
    url = f'{running[0]}/predictions/net'
    assert b'damaged' in call(url, b'\x89PNG\r\n\x1a\n' + b'x' * 30)[2]
    for body, kind in ((b'no', 'image/jpeg'), (b'xx', 'multipart/form-data; boundary=abc'),
                       (b'xx', 'multipart/form-data'), (b'123', 'application/octet-stream')):
        assert call(url, body, Content_Type=kind)[0] == 400, kind


def test_numbers_that_are_not_finite_are_null(running):
    for word in ('NaN', '-Infinity', '1e999'):
        body = f'[{", ".join([word] * 16)}]'.encode()
        answer = call(f'{running[0]}/predictions/net', body, Content_Type='application/json')[2]
        assert json.loads(answer, parse_constant=pytest.fail) == [[None] * 3]
        request = b'{"inputs": [{"name": "data", "shape": [16], "datatype": "FP32", "data": %s}]}' % body
        answer = call(f'{running[0]}/v2/models/net/infer', request)[2]
        assert json.loads(answer, parse_constant=pytest.fail)['outputs'][0]['data'] == [None] * 3


def request_of(**change):
    return {'name': 'data', 'shape': [2, 16], 'datatype': 'FP32', 'data': X.ravel().tolist(), **change}


@pytest.mark.parametrize('request_body, message', [
    ([], 'not an inference request'), ({'inputs': ['a']}, 'not an inference request'),
    ({'inputs': None}, 'not an inference'),
    ({'inputs': [request_of(parameters=[1])]}, 'not an inference request'),
    ({'inputs': [request_of(name=['x'])]}, 'not an inference request'),
    ({'inputs': [request_of()], 'outputs': ['x']}, 'not an inference request'),
    ({'inputs': [request_of()], 'parameters': 'x'}, 'not an inference request'),
    ({'inputs': [request_of()], 'outputs': [{'name': 'other'}]}, 'there is no output other'),
    ({'inputs': [request_of(parameters={'binary_data_size': -4})]}, 'no number of bytes that follow'),
    ({'inputs': [request_of(parameters={'binary_data_size': 4})]}, 'no number of bytes that follow'),
    ({'inputs': [request_of(), request_of()]}, 'the input data is given twice'),
    ({'inputs': [request_of(datatype=['x'])]}, 'datatype'), ({'inputs': [request_of(datatype='BYTES')]}, 'datatype'),
    ({'inputs': [request_of(datatype='INT8', data=[300] * 32)]}, 'do not have the shape'),
    ({'inputs': [request_of(shape=[1 << 62, 16])]}, 'do not have the shape')])
def test_what_is_no_inference_request(running, request_body, message):
    status, _, answer = call(f'{running[0]}/v2/models/net/infer', json.dumps(request_body).encode())
    assert status == 400 and message in json.loads(answer)['error'], answer


def test_bytes_that_belong_to_no_input(running):
    entry = {'name': 'data', 'shape': [2, 16], 'datatype': 'FP32', 'parameters': {'binary_data_size': X.nbytes}}
    head = json.dumps({'inputs': [entry]}).encode()
    for rest, expected in ((b'', 200), (b'x', 400), (bytes(64), 400)):
        status, _, answer = call(f'{running[0]}/v2/models/net/infer', head + X.tobytes() + rest,
                                 Inference_Header_Content_Length=str(len(head)))
        assert status == expected and (status == 200 or f'{len(rest)} bytes follow' in json.loads(answer)['error'])


def test_compressed_bodies_are_refused(running):
    for path in ('/predictions/net', '/v2/models/net/infer'):
        status, _, answer = call(running[0] + path, npy(X), Content_Encoding='gzip')
        assert status == 415 and 'encoded with gzip' in json.loads(answer)['error']
    assert call(f'{running[0]}/predictions/net', npy(X), Content_Encoding='identity')[0] == 200


@pytest.mark.parametrize('name', TYPES)
def test_every_datatype_as_json_and_as_bytes(running, name):
    x = (np.arange(32) % 2).astype(TYPES[name]).reshape(2, 16)
    url = f'{running[0]}/v2/models/net/infer'
    one = asked(url, json.dumps({'inputs': [request_of(datatype=name, data=x.ravel().tolist())]}).encode())
    entry = {'name': 'data', 'shape': [2, 16], 'datatype': name, 'parameters': {'binary_data_size': x.nbytes}}
    head = json.dumps({'inputs': [entry]}).encode()
    other = asked(url, head + x.tobytes(), Inference_Header_Content_Length=str(len(head)))
    want = running[2](x.astype('float32')).ravel()
    for found in (one, other):
        np.testing.assert_allclose(found['outputs'][0]['data'], want, rtol=1e-5)


def test_names_in_any_script(running):
    name = quote('网络')
    assert asked(f'{running[0]}/v2/models/{name}')['name'] == '网络'
    assert call(f'{running[0]}/predictions/{name}', npy(X))[0] == 200
    assert call(f'{running[1]}/models/{name}?min_worker=1', method='PUT')[0] == 200


@pytest.mark.parametrize('headers', [{'Origin': 'http://['}, {'Host': '['}, {'Host': ''}])
def test_addresses_that_are_none(running, headers):
    assert call(f'{running[0]}/predictions/net', npy(X), **headers)[0] == 403


@pytest.mark.parametrize('path, message', [
    ('/models/net?min_worker=%C2%B2', 'from 1 to 256'), ('/models/net?min_worker=0', 'from 1 to 256'),
    ('/models/net?min_worker=999999', 'from 1 to 256'), ('/models/net?min_worker=' + '9' * 5000, 'from 1 to 256'),
    ('/models/net', 'needs min_worker')])
def test_numbers_of_workers(running, path, message):
    status, _, answer = call(running[1] + path, method='PUT')
    assert status == 400 and message in json.loads(answer)['message']


@pytest.mark.parametrize('query', ['url=../../etc/passwd', 'url=net&model_name=..%2Fx', 'url=http://x/y', 'url=',
                                   'url=net&model_name=z&shape=data=1,17', 'url=net&shape=x', 'url=%00'])
def test_models_that_cannot_be_loaded(running, query):
    assert call(f'{running[1]}/models?{query}', b'')[0] == 400
    assert {m['modelName'] for m in asked(f'{running[1]}/models')['models']} == {'net', '网络'}


# ---------------------------------------------------------------------- connections
def connect(address):
    host, port = address.removeprefix('http://').split(':')
    sock = socket.create_connection((host, int(port)))
    sock.settimeout(20)
    return sock


def head(length, more=b''):
    return b'POST /predictions/net HTTP/1.1\r\nHost: 127.0.0.1\r\n' + more + b'Content-Length: %d\r\n\r\n' % length


def everything(sock):
    data = b''
    with sock:
        while part := sock.recv(1 << 16):
            data += part
    return data


def test_slow_clients_are_not_waited_for(running):
    started = time.monotonic()
    silent, half, again = connect(running[0]), connect(running[0]), connect(running[0])
    half.sendall(head(1000) + b'[1')
    again.sendall(b'GET /ping HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
    time.sleep(0.5)
    again.sendall(b'POST /predictions/net HT')
    assert everything(silent) == b''
    answer = everything(half)
    assert answer.startswith(b'HTTP/1.1 408') and b'did not arrive within 2 s' in answer
    assert everything(again).startswith(b'HTTP/1.1 200')
    assert time.monotonic() - started < 15


@pytest.mark.parametrize('first, more', [
    (b'GET /', b'a' * 2**16), (b'GET / HTTP/1.1\r\nh: ', b'a' * 2**16), (b'GET / HTTP/1.1\r\n', b'h: x\r\n' * 10_000),
    (b'POST /ping HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n', b'h: x\r\n' * 10_000),
    (b'POST /ping HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;', b'a' * 2**16)],
    ids=['path', 'field', 'fields', 'trailer', 'extension'])
@pytest.mark.parametrize('which', [0, 1])
def test_heads_without_an_end(running, which, first, more):
    """Neither port collects what comes before a token could be asked for; the server goes on."""
    sock = connect(running[which])
    sent = 0
    with pytest.raises(OSError):
        sock.sendall(first)
        while sent < 2**24:
            sock.sendall(more)
            sent += len(more)
    sock.close()
    assert call(f'{running[0]}/ping')[0] == 200


def test_a_long_head_is_answered(running):
    for fields in (b'h: ' + b'a' * 30_000 + b'\r\n', b'h: x\r\n' * 1000):       # proxies send long fields
        sock = connect(running[0])
        sock.sendall(b'GET /ping HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n' + fields + b'\r\n')
        assert everything(sock).startswith(b'HTTP/1.1 200')
    sock = connect(running[0])
    sock.sendall(b'GET /ping HTTP/1.1\r\nh: ' + b'a' * 2**16)
    time.sleep(0.2)
    with contextlib.suppress(OSError):
        sock.sendall(b'a' * 2**10)
    answer = everything(sock)
    assert answer.startswith(b'HTTP/1.1 431') and answer.endswith(b'"the head of a request may have at most 64 KiB"}')


def test_bodies_over_the_limit(running):
    sock = connect(running[0])
    sock.sendall(b'POST /predictions/net HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n'
                 + b''.join(b'4000\r\n' + bytes(0x4000) + b'\r\n' for _ in range(8)))
    assert sock.recv(1000).startswith(b'HTTP/1.1 413')
    sock.close()
    assert call(f'{running[0]}/predictions/net', bytes(100001))[0] == 413


def test_requests_without_waiting_for_answers(running):
    body = npy(X)
    sock = connect(running[0])
    sock.sendall((head(len(body)) + body) * 4 + head(len(body), b'Connection: close\r\n') + body)
    assert everything(sock).count(b'HTTP/1.1 200') == 5
    sock = connect(running[0])
    sock.sendall(head(len(body), b'Expect: 100-continue\r\nConnection: close\r\n'))
    assert sock.recv(1000).startswith(b'HTTP/1.1 100')
    sock.sendall(body)
    assert everything(sock).startswith(b'HTTP/1.1 200')


# ---------------------------------------------------------------------- light networks in the front
def test_answers_are_the_same_here_and_in_workers(tmp_path):
    from mxnet._serve.local import Local
    network(str(tmp_path / 'net'))
    config = {'source': str(tmp_path / 'net'), 'name': 'net', 'version': 1, 'shapes': ['data=1,16'], 'threads': 1}
    local = Local(config)
    small, large = ('plain', {}, npy(X)), ('plain', {}, npy(np.tile(X, (40, 1))))
    assert local.takes(small) and not local.takes(large)
    assert not local.takes(('plain', {'content-type': 'image/png'}, b'x'))
    assert not local.takes(('plain', {}, b'\x89PNG...'))
    answers, sizes, _ = local.answer([small, ('plain', {}, b'no'), small])
    assert [a[0] for a in answers] == [200, 400, 200] and sizes == [4] and answers[0] == answers[2]


@pytest.mark.slow
def test_a_light_network_answers_while_its_worker_is_gone(tmp_path):
    compute = network(str(tmp_path / 'net'))
    with server('net', '--shape', 'data=1,16', '--timeout', 5, cwd=tmp_path) as (address, management, _), \
            server('net', '--shape', 'data=1,16', '--timeout', 5, '--isolate', cwd=tmp_path) as (other, manage, _):
        time.sleep(8)                   # it is loaded meanwhile
        for found, where in ((address, management), (other, manage)):
            pid = asked(f'{where}/models/net')[0]['workers'][0]['pid']
            os.kill(pid, signal.SIGSTOP)
            try:
                status, _, body = call(f'{found}/predictions/net', npy(X))
                assert status == (200 if found is address else 504)
                if status == 200:
                    np.testing.assert_allclose(json.loads(body), compute(X), rtol=1e-4)
            finally:
                os.kill(pid, signal.SIGCONT)


@pytest.mark.slow
@pytest.mark.parametrize('isolate', [[], ['--isolate']])
def test_a_signal_ends_it_when_all_is_answered(tmp_path, isolate):
    network(str(tmp_path / 'net'))
    with server('net', '--shape', 'data=1,16', '--log', 'error', *isolate, cwd=tmp_path) as (address, _, process):
        results: list = []
        threading.Timer(3, process.send_signal, [signal.SIGTERM]).start()

        async def load():
            await asyncio.gather(*[client(address, '/predictions/net', npy(X), {}, 10 ** 9, results, [],
                                          time.perf_counter() + 5) for _ in range(8)])
        asyncio.run(load())
        assert process.wait(60) == 0
    # after the signal connections are refused or closed between two requests; answers are whole
    assert {s for s, _ in results} <= {200, 'ConnectionRefusedError', 'IncompleteReadError', 'ConnectionResetError'}
    answers = [body for status, body in results if status == 200]
    assert len(answers) > 100 and all(len(json.loads(b)) == 2 for b in answers)


@pytest.mark.slow
def test_reloads_do_not_fill_the_memory(tmp_path):
    network(str(tmp_path / 'net'))

    def resident(pid):
        with open(f'/proc/{pid}/statm', encoding='ascii') as file:
            return int(file.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')
    with server('net', '--shape', 'data=1,16', '--log', 'error', cwd=tmp_path) as (address, management, process):
        sizes = []
        for _ in range(7):
            assert call(f'{management}/models/net/reload', b'')[0] == 200
            for _ in range(50):
                assert call(f'{address}/predictions/net', npy(X))[0] == 200
            time.sleep(1.5)
            sizes.append(resident(process.pid))
    assert sizes[-1] - sizes[2] < 40 << 20, sizes
