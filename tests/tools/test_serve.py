"""`remx serve`: protocols, limits, faults, reloads, the page."""
import asyncio
import io
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import time
import zipfile

import numpy as np
import pytest
from conftest import ROOT
from serve_tools import asked, call, client, network, server

from mxnet.cli import main

pytest.importorskip('starlette')
pytest.importorskip('uvicorn')

TOKEN = 'a token of the tests'
AUTH = {'Authorization': f'Bearer {TOKEN}'}
X = np.random.RandomState(1).uniform(0, 1, (2, 1, 4, 4)).astype('float32')


@pytest.fixture(scope='module')
def running(tmp_path_factory):
    """(inference, management, what the network computes) of a server with a token."""
    folder = tmp_path_factory.mktemp('serve')
    compute = network(str(folder / 'net'))
    (folder / 'synset.txt').write_text('cat\ndog\nbird\n')
    with server('net', 'plain=net', '--shape', 'data=1,1,4,4', '--max-body', 100000, '--unit', cwd=folder,
                env={'REMX_SERVE_TOKEN': TOKEN}) as (inference, management, process):
        yield inference, management, compute


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


# ---------------------------------------------------------------------- the old model server
def test_predictions_of_every_kind(running):
    address, _, compute = running
    want = compute(X)
    url = f'{address}/predictions/net'
    best = ['cat', 'dog', 'bird'][want[0].argmax()]
    for body, kind in ((json.dumps({'data': X.tolist()}), 'application/json'),
                       (json.dumps(X.tolist()), 'application/json'),
                       (json.dumps({'instances': X.tolist()}), 'application/json'), (npy(X), 'application/x-npy'),
                       (npy(X), ''), (X.tobytes(), 'application/octet-stream')):
        found = asked(url, body if isinstance(body, bytes) else body.encode(), Content_Type=kind, **AUTH)
        assert found[0][0]['class'] == best and abs(found[0][0]['probability'] - want[0].max()) < 1e-5, (kind, found)
    status, headers, body = call(url, npy(X), Accept='application/x-npy', **AUTH)
    np.testing.assert_allclose(np.load(io.BytesIO(body)), want, rtol=1e-5)
    assert asked(f'{address}/net/predict', npy(X[:1]), **AUTH)[0]['class'] == best
    assert asked(f'{address}/predictions/net/1', npy(X[:1]), **AUTH)[0]['class'] == best


def test_pictures(running):
    cv2 = pytest.importorskip('cv2')
    address, _, compute = running
    image = np.arange(16, dtype='uint8').reshape(4, 4) * 16
    data = cv2.imencode('.png', image)[1].tobytes()
    want = compute((image / 255).astype('float32')[None, None])
    found = asked(f'{address}/predictions/net', data, Content_Type='image/png', **AUTH)
    assert found[0]['class'] == ['cat', 'dog', 'bird'][want.argmax()]
    form = b'--b\r\nContent-Disposition: form-data; name="data"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n' \
        + data + b'\r\n--b--\r\n'
    assert asked(f'{address}/predictions/net', form, Content_Type='multipart/form-data; boundary=b', **AUTH) == found
    status, _, body = call(f'{address}/predictions/net', b'no picture', Content_Type='image/png', **AUTH)
    assert status == 400 and b'not an image' in body


@pytest.mark.parametrize('body, kind, message', [
    (b'junk', '', 'neither JSON'), (b'[1, 2]', 'application/json', 'the network takes (N, 1, 4, 4)'),
    (b'{"data": [[1, 2], [3]]}', 'application/json', 'not an array of numbers'),
    (b'\x93NUMPYjunk', '', 'not an .npy array'),
    (b'abc', 'application/octet-stream', 'multiple of 64 bytes'), (b'', 'application/json', 'neither JSON'),
    (json.dumps({'other': [1]}).encode(), 'application/json', 'the input data is missing; the request has other')])
def test_bad_input_is_named(running, body, kind, message):
    address = running[0]
    status, _, answer = call(f'{address}/predictions/net', body, Content_Type=kind, **AUTH)
    assert status == 400 and message in json.loads(answer)['message'], answer


def test_tokens_limits_and_names(running):
    address, management, _ = running
    assert call(f'{address}/predictions/net', npy(X))[0] == 401
    assert call(f'{address}/predictions/net', npy(X), Authorization='Bearer wrong')[0] == 401
    assert call(f'{management}/models')[0] == 401
    assert call(f'{address}/ping')[0] == 200
    assert call(f'{address}/predictions/nothing', npy(X), **AUTH)[0] == 404
    assert call(f'{address}/predictions/net/7', npy(X), **AUTH)[0] == 404
    status, _, body = call(f'{address}/predictions/net', b'0' * 100001, **AUTH)
    assert status == 413 and b'100000 are accepted' in body


def test_descriptions_and_metrics(running):
    address, management, _ = running
    asked(f'{address}/predictions/net', npy(X), **AUTH)
    assert '/predictions/{model}' in asked(f'{address}/api-description', **AUTH)['paths']
    assert [m['modelName'] for m in asked(f'{management}/models', **AUTH)['models']] == ['net', 'plain']
    text = call(f'{address}/metrics', **AUTH)[2].decode()
    assert 'remx_requests_total{model="net",status="200"}' in text and 'remx_workers{model="plain"} 1' in text


# ---------------------------------------------------------------------- Open Inference Protocol
def test_open_inference_protocol(running):
    address, _, compute = running
    assert asked(f'{address}/v2', **AUTH)['name'] == 'remx'
    assert call(f'{address}/v2/health/ready')[0] == call(f'{address}/v2/models/net/ready', **AUTH)[0] == 200
    model = asked(f'{address}/v2/models/net', **AUTH)
    assert model['inputs'] == [{'name': 'data', 'datatype': 'FP32', 'shape': [-1, 1, 4, 4]}]
    assert model['outputs'] == [{'name': 'softmax_output', 'datatype': 'FP32', 'shape': [-1, 3]}]
    request = {'id': '7', 'inputs': [{'name': 'data', 'shape': [2, 1, 4, 4], 'datatype': 'FP32',
                                      'data': X.ravel().tolist()}]}
    found = asked(f'{address}/v2/models/net/infer', json.dumps(request).encode(), **AUTH)
    assert found['id'] == '7' and found['outputs'][0]['shape'] == [2, 3]
    np.testing.assert_allclose(np.array(found['outputs'][0]['data']).reshape(2, 3), compute(X), rtol=1e-5)
    request = {'inputs': [{'name': 'data', 'shape': [2, 1, 4, 4], 'datatype': 'FP32',
                           'parameters': {'binary_data_size': X.nbytes}}], 'parameters': {'binary_data_output': True}}
    head = json.dumps(request).encode()
    status, headers, body = call(f'{address}/v2/models/net/infer', head + X.tobytes(),
                                 Inference_Header_Content_Length=str(len(head)), **AUTH)
    length = int({k.lower(): v for k, v in headers.items()}['inference-header-content-length'])
    assert json.loads(body[:length])['outputs'][0]['parameters'] == {'binary_data_size': 24}
    np.testing.assert_allclose(np.frombuffer(body[length:], 'float32').reshape(2, 3), compute(X), rtol=1e-5)
    for change in ({'shape': [3, 1, 4, 4]}, {'datatype': 'FP12'}, {'name': 'other'}, {'data': ['x'] * 32}):
        wrong = {'inputs': [{'name': 'data', 'shape': [2, 1, 4, 4], 'datatype': 'FP32', 'data': X.ravel().tolist(),
                             **change}]}
        assert call(f'{address}/v2/models/net/infer', json.dumps(wrong).encode(), **AUTH)[0] == 400


def test_a_client_that_hangs_up_is_forgotten(running):
    import socket
    address, _, _ = running
    host, port = address.removeprefix('http://').split(':')
    for body in (b'POST /predictions/net HTTP/1.1\r\nContent-Length: 1000\r\nHost: x\r\n', b'\x00\x01\x02'):
        with socket.create_connection((host, int(port))) as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
            sock.sendall(body)
    assert call(f'{address}/predictions/net', npy(X), **AUTH)[0] == 200


@pytest.mark.slow
def test_spans_of_opentelemetry(tmp_path):
    pytest.importorskip('opentelemetry.sdk')
    network(str(tmp_path / 'net'))
    with server('net', '--shape', 'data=1,16', cwd=tmp_path, env={'OTEL_TRACES_EXPORTER': 'console'}) as found:
        address, _, process = found
        parent = '00-0123456789abcdef0123456789abcdef-0123456789abcdef-01'
        assert call(f'{address}/predictions/net', npy(X.reshape(2, 16)), traceparent=parent)[0] == 200
        process.terminate()
        printed = process.stdout.read()
    assert '"trace_id": "0x' + '0123456789abcdef' * 2 in printed and '"remx.model": "net"' in printed
    assert '"service.name": "remx-serve"' in printed


# ---------------------------------------------------------------------- management
def test_register_scale_unregister(running, tmp_path):
    address, management, _ = running
    compute = network(str(tmp_path / 'other'), seed=5)
    status, _, body = call(f'{management}/models?url={tmp_path}/other&model_name=two&shape=data=1,16', b'', **AUTH)
    assert status == 200, body
    found = asked(f'{address}/predictions/two', npy(X.reshape(2, 16)), **AUTH)
    np.testing.assert_allclose(found, compute(X), rtol=1e-4)
    assert call(f'{management}/models/two?min_worker=2', method='PUT', **AUTH)[0] == 200
    for _ in range(200):
        if len(asked(f'{management}/models/two', **AUTH)[0]['workers']) == 2:
            break
        time.sleep(0.3)
    assert len(asked(f'{management}/models/two', **AUTH)[0]['workers']) == 2
    assert call(f'{management}/models/two', method='DELETE', **AUTH)[0] == 200
    assert call(f'{address}/predictions/two', npy(X.reshape(2, 16)), **AUTH)[0] == 404
    assert call(f'{management}/models?url={tmp_path}/missing', b'', **AUTH)[0] == 400
    shutil.copy(tmp_path / 'other-symbol.json', tmp_path / 'cut-symbol.json')
    (tmp_path / 'cut-0000.params').write_bytes((tmp_path / 'other-0000.params').read_bytes()[:40])
    status, _, body = call(f'{management}/models?url={tmp_path}/cut&shape=data=1,16', b'', **AUTH)
    assert status == 400 and b'cut-0000.params' in body


# ---------------------------------------------------------------------- faults
def test_pages_of_other_sites_are_refused(tmp_path):
    """A page in a browser of this machine must not reach a server on loopback that has no token."""
    network(tmp_path / 'net')
    with server('net', '--shape', 'data=1,16', cwd=tmp_path, env={'REMX_SERVE_TOKEN': ''}) as found:
        for address in found[:2]:
            models = f'{address}/v2/models' if address == found[0] else f'{address}/models'
            assert call(models)[0] == 200
            assert call(models, Origin=address)[0] == 200
            for headers in ({'Origin': 'https://elsewhere.example'}, {'Origin': 'null'},
                            {'Host': 'elsewhere.example'}, {'Host': 'elsewhere.example:8080'}):
                status, _, body = call(models, **headers)
                assert status == 403 and b'other sites' in body, headers
        status, _, _ = call(f'{found[1]}/models/net', method='DELETE', Origin='https://elsewhere.example')
        assert status == 403 and call(f'{found[0]}/v2/models/net')[0] == 200


@pytest.mark.slow
def test_queues_end(tmp_path):
    network(str(tmp_path / 'net'))
    options = ['--shape', 'data=1,16', '--max-queue', 2, '--timeout', 3]
    with server('net', *options, cwd=tmp_path) as (address, management, _):
        pid = asked(f'{management}/models/net')[0]['workers'][0]['pid']
        os.kill(pid, signal.SIGSTOP)
        try:
            results: list = []

            async def load():
                await asyncio.gather(*[client(address, '/predictions/net', npy(X.reshape(2, 16)), {}, 1, results, [])
                                       for _ in range(8)])
            asyncio.run(load())
            statuses = sorted(s for s, _ in results)
            assert set(statuses) == {503, 504} and statuses.count(504) <= 4, statuses
        finally:
            os.kill(pid, signal.SIGCONT)
        assert call(f'{address}/predictions/net', npy(X.reshape(2, 16)))[0] == 200


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_nothing_is_lost_by_reloads_and_killed_workers(tmp_path):
    requests = int(os.environ.get('SERVE_REQUESTS', '2000'))
    compute = network(str(tmp_path / 'net'))
    options = ['--shape', 'data=1,16', '--workers', 2, '--log', 'error']
    with server('net', *options, cwd=tmp_path) as (address, management, _):
        results: list = []
        latencies: list = []
        events = 20 if requests >= 10000 else 5

        async def disturb():
            for number in range(events):
                done = len(results)
                status = (await asyncio.to_thread(call, f'{management}/models/net/reload', b''))[0]
                assert status == 200
                if number == events // 2:
                    workers = (await asyncio.to_thread(asked, f'{management}/models/net'))[0]['workers']
                    os.kill(workers[0]['pid'], signal.SIGKILL)
                while len(results) < min(requests, done + requests // events):
                    await asyncio.sleep(0.01)

        async def load():
            await asyncio.gather(disturb(), *[client(address, '/predictions/net', npy(X.reshape(2, 16)), {},
                                                     requests // 8, results, latencies) for _ in range(8)])
        asyncio.run(load())
        assert len(results) == requests // 8 * 8
        statuses = [s for s, _ in results]
        assert set(statuses) <= {200, 503}, {s: statuses.count(s) for s in set(statuses)}
        assert statuses.count(200) >= 0.95 * len(statuses)
        print({s: statuses.count(s) for s in set(statuses)}, 'longest', max(latencies))
        want = compute(X)
        for status, body in results[::97]:
            if status == 200:
                np.testing.assert_allclose(json.loads(body), want, rtol=1e-4)
        assert max(latencies) < 60


@pytest.mark.slow
def test_files_that_change_are_loaded(tmp_path):
    before = network(str(tmp_path / 'net'))
    with server('net', '--shape', 'data=1,16', '--reload', cwd=tmp_path) as (address, _, process):
        np.testing.assert_allclose(asked(f'{address}/predictions/net', npy(X.reshape(2, 16))), before(X), rtol=1e-4)
        time.sleep(1.5)
        after = network(str(tmp_path / 'net'), seed=9)
        for _ in range(120):
            found = asked(f'{address}/predictions/net', npy(X.reshape(2, 16)))
            if np.allclose(found, after(X), rtol=1e-4):
                break
            time.sleep(0.5)
        np.testing.assert_allclose(found, after(X), rtol=1e-4)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


HANDLER = '''
import mxnet as mx


def handle(data, context):
    if data is None:
        return None
    return [{'answer': float(mx.nd.array(row['body']).sum().asscalar())} for row in data]
'''


@pytest.mark.slow
def test_archives(tmp_path):
    network(str(tmp_path / 'net'))
    with zipfile.ZipFile(tmp_path / 'model.mar', 'w') as archive:
        manifest = {'model': {'modelName': 'old', 'handler': 'service.py:handle'}}
        archive.writestr('MAR-INF/MANIFEST.json', json.dumps(manifest))
        archive.writestr('service.py', HANDLER)
        archive.writestr('signature.json', json.dumps({'inputs': [{'data_name': 'data', 'data_shape': [0, 16]}]}))
        for name in ('net-symbol.json', 'net-0000.params'):
            archive.write(tmp_path / name, name)
    with server('model.mar', cwd=tmp_path) as (address, _, _):
        assert len(asked(f'{address}/predictions/old', npy(X.reshape(2, 16)))[0]) == 3
    with server('model.mar', '--trust', cwd=tmp_path) as (address, _, _):
        assert asked(f'{address}/predictions/old', b'[1, 2, 3.5]', Content_Type='application/json') == {'answer': 6.5}


def test_several_models_have_their_own_shapes(tmp_path):
    import mxnet as mx
    network(str(tmp_path / 'net'))
    total = mx.sym.var('data') * mx.sym.var('rate')
    total.save(str(tmp_path / 'pair-symbol.json'))
    mx.nd.save(str(tmp_path / 'pair-0000.params'), {})
    shapes = ('--shape', 'net:data=1,16', '--shape', 'two:data=1,3', '--shape', 'two:rate=1,3')
    with server('net', 'two=pair', *shapes, cwd=tmp_path) as (address, _, _):
        shown = {name: asked(f'{address}/v2/models/{name}')['inputs'] for name in ('net', 'two')}
        assert [i['shape'] for i in shown['net']] == [[-1, 16]]
        assert [(i['name'], i['shape']) for i in shown['two']] == [('data', [-1, 3]), ('rate', [-1, 3])]
        body = json.dumps({'inputs': {'data': [[1, 2, 3]], 'rat': [[2, 2, 2]]}}).encode()
        status, _, text = call(f'{address}/predictions/two', body, Content_Type='application/json')
        assert status == 400 and b'the input rate is missing (did you mean rat?); the request has data, rat' in text
        assert asked(f'{address}/predictions/two', body.replace(b'"rat"', b'"rate"'),
                     Content_Type='application/json') == [[2.0, 4.0, 6.0]]


@pytest.mark.parametrize('arguments, message', [
    (['net', '--host', '0.0.0.0'], 'can be reached by others'), (['missing'], 'there is no'),
    (['net', '--workers', '0'], '--workers 0: it takes numbers from 1 on'),
    (['bad.mar'], 'bad.mar is not a model archive'),
    (['slip.mar'], 'leads out of the archive')])
def test_mistakes(tmp_path, capfd, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv('REMX_SERVE_TOKEN', raising=False)
    network('net')
    (tmp_path / 'bad.mar').write_bytes(b'no zip')
    with zipfile.ZipFile('slip.mar', 'w') as archive:
        archive.writestr('MAR-INF/MANIFEST.json', '{}')
        archive.writestr('../outside', 'x')
    assert main(['serve', *arguments, '--port', '0', '--management-port', '0', '--shape', 'data=1,16']) == 1
    assert message in capfd.readouterr().err
    assert not (tmp_path.parent / 'outside').exists()


# ---------------------------------------------------------------------- the page
@pytest.mark.slow
def test_the_page_in_a_browser(tmp_path):
    playwright = pytest.importorskip('playwright.sync_api')
    chromium = shutil.which('chromium') or shutil.which('chromium-browser')
    if chromium is None:
        pytest.skip('no chromium')
    cv2 = pytest.importorskip('cv2')
    compute = network(str(tmp_path / 'net'))
    (tmp_path / 'synset.txt').write_text('cat\ndog\nbird\n')
    image = np.arange(16, dtype='uint8').reshape(4, 4) * 16
    cv2.imwrite(str(tmp_path / 'picture.png'), image)
    with server('net', '--shape', 'data=1,1,4,4', '--unit', cwd=tmp_path) as (address, _, _), \
            playwright.sync_playwright() as browsers:
        browser = browsers.chromium.launch(executable_path=chromium, args=['--no-sandbox'])
        page = browser.new_page(locale='en-US')
        problems = []
        page.on('pageerror', lambda error: problems.append(str(error)))
        page.goto(address)
        page.wait_for_selector('#layers div:nth-child(2)')
        assert 'FullyConnected' in page.inner_text('#layers') and '51 parameters' in page.inner_text('#facts')
        page.set_input_files('#file', str(tmp_path / 'picture.png'))
        page.wait_for_selector('#classes tr')
        want = compute((image / 255).astype('float32')[None, None])[0]
        assert page.inner_text('#classes tr td').strip() == ['cat', 'dog', 'bird'][want.argmax()]
        assert 'answered in' in page.inner_text('#latency')
        page.click('#clear')
        box = page.locator('#canvas').bounding_box()
        page.mouse.move(box['x'] + 50, box['y'] + 50)
        page.mouse.down()
        page.mouse.move(box['x'] + 200, box['y'] + 200, steps=5)
        page.mouse.up()
        page.wait_for_selector('#classes tr')
        page.click('#language')
        assert page.inner_text('#clear') == '清除' and '毫秒' in page.inner_text('#latency')
        (tmp_path / 'bad.png').write_bytes(b'no picture')
        page.set_input_files('#file', str(tmp_path / 'bad.png'))
        page.locator('#error', has_text="not an image").wait_for()
        browser.close()
        assert not problems


def test_it_says_what_is_missing(tmp_path):
    program = ('import sys; sys.modules["starlette"] = None\nfrom mxnet.cli import main\n'
               'sys.exit(main(["serve", "net"]))')
    done = subprocess.run([sys.executable, '-c', program], cwd=tmp_path, capture_output=True, text=True,
                          env={**os.environ, 'PYTHONPATH': str(ROOT)})
    assert done.returncode == 1 and "pip install 'remx[serve]'" in done.stderr


@pytest.mark.slow
def test_the_commands_of_the_page(tmp_path):
    import re
    import shlex
    pages = ROOT / 'docs' / 'en'
    program = re.search(r'```python\n(.*?)```', (pages / 'convert.md').read_text(encoding='utf-8'), re.S)[1]
    lines = [line for block in re.findall(r'```sh\n(.*?)```', (pages / 'serve.md').read_text(encoding='utf-8'), re.S)
             for line in block.splitlines()]
    subprocess.run([sys.executable, '-c', program], cwd=tmp_path, check=True,
                   env={**os.environ, 'PYTHONPATH': str(ROOT)})
    first = shlex.split(lines[0])
    assert first[:2] == ['remx', 'serve']
    if shutil.which('curl') is None:
        pytest.skip('no curl')
    with server(*first[2:], cwd=tmp_path) as (address, management, _):
        for line in lines[1:]:
            line = line.replace('http://127.0.0.1:8080', address).replace('http://127.0.0.1:8081', management)
            subprocess.run([*shlex.split(line), '--fail', '--silent', '--show-error'], cwd=tmp_path, check=True)
    assert np.load(tmp_path / 'scores.npy').shape == (3, 10)
    # what the container of the page runs
    text = (pages / 'serve.md').read_text(encoding='utf-8')
    command = json.loads(re.search(r'CMD (\[.*\])', text)[1])
    probe = re.search(r'readinessProbe: .*path: (/\S+),', text)[1]
    command = [part.replace('/models/', f'{tmp_path}/') for part in command]
    with server(*command[2:], cwd=tmp_path, env={'REMX_SERVE_TOKEN': TOKEN}) as (address, _, _):
        address = address.replace('0.0.0.0', '127.0.0.1')
        assert call(address + probe)[0] == 200
        assert call(f'{address}/predictions/lenet', (tmp_path / 'digits.npy').read_bytes(), **AUTH)[0] == 200
