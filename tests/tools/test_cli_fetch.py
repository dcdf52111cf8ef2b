"""`remx fetch`, against a real HTTP server on this machine."""
import functools
import gzip
import hashlib
import http.server
import os
import struct
import threading

import pytest

import mxnet as mx
from mxnet._files import published
from mxnet.cli import fetch, main


class Server(http.server.BaseHTTPRequestHandler):
    """Serves `files`, ranges of them as well; breaks off after `limit` bytes if that is set."""

    def __init__(self, state, *args):
        self.state = state
        super().__init__(*args)

    def do_GET(self):
        self.state['asked'].append((self.path, self.headers.get('Range')))
        content = self.state['files'].get(self.path)
        if content is None:
            self.send_error(404)
            return
        if (answer := self.state.get('answer')) is not None:
            if answer == 'nonsense':
                self.wfile.write(b'who is there?\r\n')
            else:
                self.send_response(200 if answer == 'length' else answer)
                self.send_header('Content-Length', 'some')
                self.end_headers()
            return
        begin = int(self.headers['Range'].removeprefix('bytes=').rstrip('-')) if 'Range' in self.headers else 0
        if begin >= len(content) and begin:
            self.send_error(416)
            return
        self.send_response(206 if begin else 200)
        self.send_header('Content-Length', str(len(content) - begin))
        self.end_headers()
        begun, ended = self.state.pop('halfway', (None, None))
        if begun is not None:
            self.wfile.write(content[:len(content) // 2])
            begun.set()
            ended.wait(30)
            begin = len(content) // 2
        limit = self.state.pop('limit', None)
        self.wfile.write(content[begin:][:limit])

    def log_message(self, *args):
        pass


@pytest.fixture
def server(tmp_path, monkeypatch):
    state = {'files': {}, 'asked': []}
    running = http.server.ThreadingHTTPServer(('127.0.0.1', 0), functools.partial(Server, state))
    thread = threading.Thread(target=running.serve_forever, daemon=True)
    thread.start()
    state['url'] = f'http://127.0.0.1:{running.server_address[1]}'
    monkeypatch.setenv('MXNET_HOME', str(tmp_path / 'home'))
    for name in ('http_proxy', 'HTTP_PROXY'):
        monkeypatch.delenv(name, raising=False)
    pictures, labels = os.urandom(20 * 784), bytes(i % 10 for i in range(20))
    contents = {}
    for part in ('train', 't10k'):
        contents[f'{part}-images-idx3-ubyte.gz'] = gzip.compress(struct.pack('>4I', 2051, 20, 28, 28) + pictures)
        contents[f'{part}-labels-idx1-ubyte.gz'] = gzip.compress(struct.pack('>2I', 2049, 20) + labels)
    sums = {name: hashlib.sha1(content).hexdigest() for name, content in contents.items()}
    monkeypatch.setitem(published.DATASETS, 'mnist', (sums, ('http://127.0.0.1:9/gone/', state['url'] + '/second/')))
    monkeypatch.setattr(fetch, 'REPOSITORY', 'http://127.0.0.1:9/')
    state['contents'] = contents
    state['files'] = {f'/second/{name}': content for name, content in contents.items()}
    yield state
    running.shutdown()
    running.server_close()
    thread.join()


def test_a_data_set_comes_from_the_second_server(server, tmp_path, capsys, monkeypatch):
    assert main(['fetch', 'mnist', '--unpack']) == 0
    folder = tmp_path / 'home' / 'datasets' / 'mnist'
    assert sorted(os.listdir(folder)) == sorted([*server['contents'], *(n[:-3] for n in server['contents'])])
    assert len(capsys.readouterr().out.split()) == 8
    assert len(mx.gluon.data.vision.MNIST(train=False)) == 20
    images = mx.io.MNISTIter(image=str(folder / 'train-images-idx3-ubyte'), batch_size=5, silent=True,
                             label=str(folder / 'train-labels-idx1-ubyte'))
    assert next(images).data[0].shape == (5, 1, 28, 28)
    monkeypatch.chdir(tmp_path)
    assert mx.test_utils.get_mnist()['train_data'].shape == (20, 1, 28, 28)
    asked = len(server['asked'])
    assert main(['fetch', 'mnist']) == 0 and len(server['asked']) == asked        # all is there


def test_a_download_that_broke_off_is_gone_on_with(server, tmp_path, capsys):
    server['limit'] = 1000
    assert main(['fetch', 'mnist', '--to', str(tmp_path / 'here')]) == 1
    assert 'lost after 1000 of' in capsys.readouterr().err
    part = tmp_path / 'here' / 'train-images-idx3-ubyte.gz.part'
    assert part.stat().st_size == 1000
    assert main(['fetch', 'mnist', '--to', str(tmp_path / 'here')]) == 0
    assert ('/second/train-images-idx3-ubyte.gz', 'bytes=1000-') in server['asked'] and not part.exists()
    for name, content in server['contents'].items():
        assert (tmp_path / 'here' / name).read_bytes() == content


def test_sums_and_mirrors(server, tmp_path, capsys):
    server['files']['/mine/mnist/train-labels-idx1-ubyte.gz'] = b'something else'
    assert main(['fetch', 'mnist', '--to', str(tmp_path), '--mirror', server['url'] + '/mine']) == 0
    name = 'train-labels-idx1-ubyte.gz'
    assert (tmp_path / name).read_bytes() == server['contents'][name]           # the wrong one was not taken
    (tmp_path / name).write_bytes(b'damaged')
    assert main(['fetch', 'mnist', '--to', str(tmp_path)]) == 0
    assert (tmp_path / name).read_bytes() == server['contents'][name]
    server['files'].clear()
    (tmp_path / name).unlink()
    assert main(['fetch', 'mnist', '--to', str(tmp_path)]) == 1
    assert f'{name} could not be fetched' in capsys.readouterr().err


def test_errors_name_the_command(server, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv('MXNET_GLUON_REPO', 'http://127.0.0.1:9/')
    with pytest.raises(mx.MXNetError, match='remx fetch mnist'):
        mx.gluon.data.vision.MNIST()
    with pytest.raises(mx.MXNetError, match='remx fetch cifar10 --to'):
        mx.gluon.data.vision.CIFAR10(root=str(tmp_path / 'cifar'))
    with pytest.raises(mx.MXNetError, match='remx fetch mnist --to'):
        mx.io.MNISTIter(image=str(tmp_path / 'nothing'), batch_size=2)
    assert main(['fetch', 'imagenet']) == 2 and 'there are mnist' in capsys.readouterr().err
    assert main(['fetch', '--list']) == 0 and 'cifar-10-binary.tar.gz' in capsys.readouterr().out


def test_a_part_that_does_not_fit_is_downloaded_anew(server, tmp_path, capsys):
    name = 'train-images-idx3-ubyte.gz'
    for part in (b'of another file', bytes(len(server['contents'][name]) + 10)):
        (tmp_path / f'{name}.part').write_bytes(part)
        assert main(['fetch', 'mnist', '--to', str(tmp_path)]) == 0
        assert (tmp_path / name).read_bytes() == server['contents'][name]
        (tmp_path / name).unlink()
    (tmp_path / f'{name}.part').write_bytes(server['contents'][name])       # killed before it got its name
    asked = len(server['asked'])
    assert main(['fetch', 'mnist', '--to', str(tmp_path)]) == 0 and len(server['asked']) == asked
    assert not list(tmp_path.glob('*.part'))


def test_two_at_once_do_not_write_into_one_file(server, tmp_path):
    name = 'train-images-idx3-ubyte.gz'
    begun, ended = threading.Event(), threading.Event()
    server['halfway'] = (begun, ended)
    first = threading.Thread(target=fetch.obtain, args=('mnist', str(tmp_path)))
    first.start()
    assert begun.wait(30)
    fetch.obtain('mnist', str(tmp_path))
    assert (tmp_path / name).read_bytes() == server['contents'][name]
    ended.set()
    first.join(30)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == server['contents']


@pytest.mark.parametrize('status, word', [(503, 'HTTP status 503'), ('nonsense', 'not HTTP'), ('length', 'not HTTP')])
def test_servers_that_answer_badly(server, tmp_path, capsys, status, word):
    server['answer'] = status
    assert main(['fetch', 'mnist', '--to', str(tmp_path)]) == 1
    told = capsys.readouterr().err
    assert told.startswith(f'remx fetch: train-images-idx3-ubyte.gz could not be fetched to {tmp_path}:\n  http://')
    assert f'{server["url"]}/second/train-images-idx3-ubyte.gz: ' in told and word in told and '--mirror' in told
    assert not list(tmp_path.iterdir())


def test_addresses_of_mirrors(server, tmp_path, capsys):
    (tmp_path / 'stick').mkdir()
    for name, content in server['contents'].items():
        (tmp_path / 'stick' / name).write_bytes(content)
    server['files'].clear()
    assert main(['fetch', 'mnist', '--to', str(tmp_path), '--mirror', (tmp_path / 'stick').as_uri()]) == 0
    capsys.readouterr()
    for address in ('localhost:8000', 'nonsense', 'ftp://localhost/'):
        assert main(['fetch', 'mnist', '--to', str(tmp_path), '--mirror', address]) == 2
        assert f'--mirror {address} is no address' in capsys.readouterr().err


def test_an_interrupted_command_ends_without_a_traceback(server, tmp_path, capsys, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr('urllib.request.OpenerDirector.open', interrupted)
    assert main(['fetch', 'mnist', '--to', str(tmp_path)]) == 130
    assert 'interrupted' in capsys.readouterr().err
