"""Data sets of images in their files, and transforms of images."""
import gzip
import hashlib
import http.server
import io
import os
import socket
import tarfile
import threading

import numpy as np
import pytest

import mxnet as mx
from mxnet.gluon import data
from mxnet.gluon.data import vision
from mxnet.gluon.data.vision import datasets, transforms
from mxnet.gluon.utils import download

cv2 = pytest.importorskip('cv2')


def idx(values):
    values = np.asarray(values, 'uint8')
    return b'\0\0\x08' + bytes([values.ndim]) + np.array(values.shape, '>u4').tobytes() + values.tobytes()


@pytest.fixture
def mnist(tmp_path):
    images, labels = np.arange(3 * 28 * 28).reshape(3, 28, 28) % 256, [7, 0, 9]
    (tmp_path / 'train-images-idx3-ubyte.gz').write_bytes(gzip.compress(idx(images)))
    (tmp_path / 'train-labels-idx1-ubyte').write_bytes(idx(labels))         # not packed
    return tmp_path


@pytest.fixture
def offline(monkeypatch):
    def refuse(url, **kwargs):
        raise mx.MXNetError(f'{url} is out of reach')
    monkeypatch.setattr(datasets, 'download', refuse)


# ---------------------------------------------------------------------- files that were published
def test_mnist_reads_what_is_there(mnist):
    found = vision.MNIST(root=str(mnist))
    assert len(found) == 3
    image, label = found[2]
    assert image.shape == (28, 28, 1) and image.dtype == np.uint8 and label == 9 and label.dtype == np.int32
    halved = vision.MNIST(str(mnist), transform=lambda image, label: (image.astype('float32') / 2, label + 1))
    assert halved[0][1] == 8 and halved[0][0][0, 5].asscalar() == 2.5


def test_files_that_are_missing_are_named(mnist, offline):
    with pytest.raises(mx.MXNetError, match=rf'MNIST needs t10k-images-idx3-ubyte\.gz, which is not in {mnist}.*root='):
        vision.MNIST(str(mnist), train=False)
    with pytest.raises(mx.MXNetError, match=r'CIFAR100 needs cifar-100-binary\.tar\.gz.*gluon/dataset/cifar100/cifar'):
        vision.CIFAR100(str(mnist))


def test_the_folder_is_mxnet_home(mnist, tmp_path, monkeypatch, offline):
    monkeypatch.setenv('MXNET_HOME', str(tmp_path / 'home'))
    with pytest.raises(mx.MXNetError, match='home.datasets.fashion-mnist'):
        vision.FashionMNIST()


@pytest.mark.parametrize('content, why', [
    (b'not an image', 'is not a file of bytes'),
    (idx(np.zeros((2, 28, 28)))[:-1], r'truncated: \(2, 28, 28\) needs 1568 bytes, there are 1567'),
    (idx(np.zeros((2, 28, 28))), 'do not belong together'),
])
def test_damaged_files(mnist, content, why):
    (mnist / 'train-images-idx3-ubyte').write_bytes(content)
    with pytest.raises(mx.MXNetError, match=why):
        vision.MNIST(str(mnist))


def test_damaged_packed_files(mnist):
    path = mnist / 'train-images-idx3-ubyte.gz'
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(mx.MXNetError, match='Remove it to have it downloaded again'):
        vision.MNIST(str(mnist))


def cifar_rows(count, labels):
    rows = np.random.default_rng(0).integers(0, 256, (count, labels + 3072)).astype('uint8')
    rows[:, :labels] = np.arange(count * labels).reshape(count, labels)
    return rows


def test_cifar(tmp_path, offline):
    rows = cifar_rows(2, 1)
    for i in range(1, 6):
        (tmp_path / f'data_batch_{i}.bin').write_bytes(rows.tobytes())
    found = vision.CIFAR10(str(tmp_path))
    assert len(found) == 10
    image, label = found[3]
    assert image.shape == (32, 32, 3) and label == 1
    assert (image.asnumpy() == rows[1, 1:].reshape(3, 32, 32).transpose(1, 2, 0)).all()
    (tmp_path / 'data_batch_3.bin').write_bytes(b'short')
    with pytest.raises(mx.MXNetError, match='5 bytes are not images of 3073'):
        vision.CIFAR10(str(tmp_path))


@pytest.mark.parametrize('folder', ['', 'cifar-100-binary/'])
def test_cifar_in_its_archive(tmp_path, folder, offline):
    content = cifar_rows(3, 2).tobytes()
    with tarfile.open(tmp_path / 'cifar-100-binary.tar.gz', 'w:gz') as tar:
        member = tarfile.TarInfo(folder + 'test.bin')
        member.size = len(content)
        tar.addfile(member, io.BytesIO(content))
    for fine, expected in ((False, [0, 2, 4]), (True, [1, 3, 5])):
        assert [label for _, label in vision.CIFAR100(str(tmp_path), fine_label=fine, train=False)] == expected
    with pytest.raises(mx.MXNetError, match='train.bin'):
        vision.CIFAR100(str(tmp_path))


# ---------------------------------------------------------------------- images of one's own
@pytest.fixture
def pictures(tmp_path):
    for i, name in enumerate(('cat/a.png', 'cat/b.JPG', 'dog/c.png')):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        cv2.imwrite(str(path), np.full((4, 6, 3), (10 * i, 0, 200), 'uint8'))      # blue, green, red
    return tmp_path


def test_image_folders(pictures):
    (pictures / 'readme.txt').write_text('')
    (pictures / 'dog' / 'notes.txt').write_text('')
    with pytest.warns(UserWarning, match='left out') as said:
        found = vision.ImageFolderDataset(str(pictures))
    assert len(said) == 2
    assert found.synsets == ['cat', 'dog'] and [label for _, label in found.items] == [0, 0, 1]
    image, label = found[2]
    assert image.shape == (4, 6, 3) and image[0, 0].asnumpy().tolist() == [200, 0, 20] and label == 1
    with pytest.warns(UserWarning):
        gray = vision.ImageFolderDataset(str(pictures), flag=0, transform=lambda x, y: (x, -y))
    assert gray[2][0].shape == (4, 6, 1) and gray[2][1] == -1


def test_image_lists(pictures):
    found = vision.ImageListDataset(str(pictures), [(3, 'cat/a.png'), ([1, 2], 'dog/c.png'), (4, 5, 'cat/a.png')])
    assert len(found) == 3 and found[0][1] == 3 and found[1][1].tolist() == [1, 2] and found[2][1].tolist() == [4, 5]
    (pictures / 'all.lst').write_text('0\t1.0\tcat/a.png\n\n1\t2\t3\tdog/c.png\n')
    listed = vision.ImageListDataset(str(pictures), 'all.lst', transform=lambda x, y: (x.shape, y))
    assert listed[0] == ((4, 6, 3), 1.0) and listed[1][1].tolist() == [2, 3]
    (pictures / 'bad.lst').write_text('0\tcat/a.png\n')
    for wrong, message in (('all.txt', 'lst file'), (None, 'not None'), ([('cat/a.png',)], 'entry 0'),
                           ('bad.lst', 'bad.lst, line 1')):
        with pytest.raises(ValueError, match=message):
            vision.ImageListDataset(str(pictures), wrong)


def test_image_records(pictures, tmp_path):
    writer = mx.recordio.MXIndexedRecordIO(str(tmp_path / 'a.idx'), str(tmp_path / 'a.rec'), 'w')
    for i in range(6):
        header = mx.recordio.IRHeader(0, float(i), i, 0)
        writer.write_idx(i, mx.recordio.pack(header, (pictures / 'dog' / 'c.png').read_bytes()))
    writer.close()
    found = vision.ImageRecordDataset(str(tmp_path / 'a.rec'))
    for workers in (0, 2):
        loader = data.DataLoader(found.transform_first(transforms.ToTensor()), 4, num_workers=workers)
        assert [(x.shape, y.asnumpy().tolist()) for x, y in loader] == [((4, 3, 4, 6), [0, 1, 2, 3]),
                                                                      ((2, 3, 4, 6), [4, 5])]
    gray = vision.ImageRecordDataset(str(tmp_path / 'a.rec'), 0, lambda x, y: (x, y + 1))
    assert gray[0][0].shape == (4, 6, 1) and gray[0][1] == 1


# ---------------------------------------------------------------------- transforms
PICTURE = mx.nd.array(np.random.default_rng(1).integers(0, 256, (10, 8, 3)), dtype='uint8')
BATCH = mx.nd.array(np.random.default_rng(2).integers(0, 256, (5, 10, 8, 3)), dtype='uint8')


def test_values():
    np.testing.assert_allclose(transforms.ToTensor()(PICTURE).asnumpy(), PICTURE.asnumpy().transpose(2, 0, 1) / 255,
                               1e-6)
    x = transforms.ToTensor()(PICTURE)
    np.testing.assert_allclose(transforms.Normalize((0.1, 0.2, 0.3), 0.5)(x).asnumpy(),
                               (x.asnumpy() - np.array([[[0.1]], [[0.2]], [[0.3]]])) / 0.5, 1e-5, 1e-6)
    assert transforms.Cast('float16')(PICTURE).dtype == np.float16
    assert transforms.CropResize(1, 2, 3, 4)(PICTURE).asnumpy().tolist() == PICTURE[2:6, 1:4].asnumpy().tolist()
    assert transforms.CenterCrop((4, 6))(PICTURE).asnumpy().tolist() == PICTURE[2:8, 2:6].asnumpy().tolist()


@pytest.mark.parametrize('transform, shape', [
    (transforms.Resize(4), (4, 4, 3)), (transforms.Resize((5, 6)), (6, 5, 3)),
    (transforms.Resize(4, keep_ratio=True), (5, 4, 3)), (transforms.CropResize(0, 0, 4, 4, (2, 3)), (3, 2, 3)),
    (transforms.CenterCrop(20), (20, 20, 3)), (transforms.RandomResizedCrop(6), (6, 6, 3)),
    (transforms.RandomResizedCrop((4, 6), scale=(0.5, 1)), (6, 4, 3)), (transforms.RandomFlipLeftRight(), (10, 8, 3)),
    (transforms.RandomFlipTopBottom(), (10, 8, 3)), (transforms.RandomBrightness(0.5), (10, 8, 3)),
    (transforms.RandomContrast(0.5), (10, 8, 3)), (transforms.RandomSaturation(0.5), (10, 8, 3)),
    (transforms.RandomHue(0.5), (10, 8, 3)), (transforms.RandomColorJitter(0.1, 0.2, 0.3, 0.4), (10, 8, 3)),
    (transforms.RandomLighting(0.1), (10, 8, 3)),
    (transforms.Compose([transforms.Resize(4), transforms.ToTensor()]), (3, 4, 4)),
    (transforms.RandomApply([transforms.Resize(4), transforms.ToTensor()], p=1), (3, 4, 4)),
    (transforms.RandomApply(transforms.Resize(4), p=0), (10, 8, 3)),
], ids=str)
def test_shapes(transform, shape):
    assert transform(PICTURE).shape == shape


def test_rotation():
    corner = mx.nd.array([[[0, 0, 0], [0, 0, 1], [0, 0, 0]]])
    np.testing.assert_allclose(transforms.Rotate(90)(corner).asnumpy(), [[[0, 1, 0], [0, 0, 0], [0, 0, 0]]], 1e-5, 1e-6)
    assert transforms.RandomRotation((-10, 10))(corner).shape == corner.shape
    assert transforms.RandomRotation((-10, 10), rotate_with_proba=0)(corner) is corner
    with pytest.raises(TypeError, match='float32.*uint8'):
        transforms.Rotate(5)(PICTURE)
    for wrong in (((10, 5),), ((1, 2), False, False, 1.5)):
        with pytest.raises(ValueError, match='RandomRotation'):
            transforms.RandomRotation(*wrong)


def test_compose_leaves_its_list_alone():
    given = [transforms.Resize(4), transforms.ToTensor()]
    composed = transforms.Compose(given)
    assert len(given) == len(composed) == 2


def test_chance():
    flip = transforms.RandomFlipLeftRight()
    seen = {tuple(flip(PICTURE).asnumpy()[0, :, 0].tolist()) for _ in range(40)}
    assert seen == {tuple(PICTURE.asnumpy()[0, :, 0].tolist()), tuple(PICTURE.asnumpy()[0, ::-1, 0].tolist())}
    mx.random.seed(4)
    first = transforms.RandomColorJitter(0.5, 0.5, 0.5, 0.5)(PICTURE).asnumpy()
    mx.random.seed(4)
    assert (transforms.RandomColorJitter(0.5, 0.5, 0.5, 0.5)(PICTURE).asnumpy() == first).all()
    half = transforms.RandomApply(transforms.Cast('float32'), 0.5)
    assert 60 < sum(half(PICTURE).dtype == np.float32 for _ in range(200)) < 140


@pytest.mark.parametrize('transform', [
    transforms.ToTensor(), transforms.Cast('float64'), transforms.Resize((5, 6)), transforms.CropResize(1, 2, 3, 4, 2),
    transforms.Compose([transforms.Resize(6), transforms.ToTensor(), transforms.Normalize(0.3, (0.1, 0.2, 0.3))]),
    transforms.Compose([transforms.ToTensor(), transforms.Cast('float16')]),
    transforms.Compose([transforms.Cast('float32'), transforms.CenterCrop(4), transforms.ToTensor()]),
], ids=range(7))
def test_a_loader_gives_what_single_images_give(transform):
    """Transforms without chance are done for a batch at once; the results are those of one image after the other."""
    images = data.ArrayDataset(BATCH, np.arange(5))
    (found, labels), = data.DataLoader(images.transform_first(transform), 5)
    expected = np.stack([transform(image).asnumpy() for image in BATCH])
    assert labels.asnumpy().tolist() == [0, 1, 2, 3, 4] and found.dtype == expected.dtype
    np.testing.assert_array_equal(found.asnumpy(), expected)


def test_hooks_are_called_for_every_image():
    seen = []
    transform = transforms.ToTensor()
    transform.register_forward_hook(lambda block, inputs, output: seen.append(output.shape))
    list(data.DataLoader(data.SimpleDataset(BATCH).transform(transform), 5))
    assert seen == [(3, 10, 8)] * 5


def test_transforms_of_the_wrong_images():
    flat = data.SimpleDataset(mx.nd.zeros((4, 5, 6)))                   # two axes each: no images
    with pytest.raises(mx.MXNetError, match='image_to_tensor'):
        list(data.DataLoader(flat.transform(transforms.ToTensor()), 2))


def test_real_mnist(shared):
    loader = data.DataLoader(vision.MNIST(str(shared / 'data' / 'mnist')).transform_first(transforms.ToTensor()), 1000)
    images, labels = zip(*loader, strict=True)
    assert len(images) == 10 and images[0].shape == (1000, 1, 28, 28)
    assert 0.12 < float(mx.nd.concat(*images, dim=0).mean().asscalar()) < 0.14
    assert set(mx.nd.concat(*labels, dim=0).asnumpy().tolist()) == set(range(10))


# ---------------------------------------------------------------------- downloads
class Site(http.server.BaseHTTPRequestHandler):
    """Serves `content`; breaks off after `limit` bytes; knows ranges if `ranges`."""

    content, limit, ranges, asked = b'', None, True, []

    def do_GET(self):
        begin = 0
        self.asked.append((self.path, self.headers.get('Range')))
        if not self.path.startswith('/good/'):
            self.send_error(404)
            return
        if self.ranges and self.headers.get('Range'):
            begin = int(self.headers['Range'].removeprefix('bytes=').removesuffix('-'))
            self.send_response(206)
            self.send_header('Content-Range', f'bytes {begin}-{len(self.content) - 1}/{len(self.content)}')
        else:
            self.send_response(200)
        body = self.content[begin:]
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body[:self.limit])

    def log_message(self, *args):
        pass


@pytest.fixture
def site():
    cls = type('OneSite', (Site,), {'asked': []})
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), cls)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    cls.address = f'http://127.0.0.1:{server.server_port}'
    yield cls
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize('ranges', [True, False])
def test_broken_downloads_are_gone_on_with(site, tmp_path, capsys, ranges):
    site.content, site.limit, site.ranges = bytes(range(256)) * 20000, 3_000_000, ranges
    total = hashlib.sha1(site.content).hexdigest()
    path = tmp_path / 'file.bin'
    with pytest.raises(mx.MXNetError, match='the connection was lost after 3000000 of 5120000 bytes'):
        download(f'{site.address}/good/file.bin', str(path), sha1_hash=total, retries=0)
    assert not path.exists() and (tmp_path / 'file.bin.part').stat().st_size == 3_000_000
    if ranges:
        assert download(f'{site.address}/good/file.bin', str(path), sha1_hash=total, retries=0) == str(path)
        assert site.asked[1][1] == 'bytes=3000000-' and 'going on at byte 3000000' in capsys.readouterr().out
    else:
        site.limit = None
        download(f'{site.address}/good/file.bin', str(path), sha1_hash=total, retries=0)
    assert path.read_bytes() == site.content and os.listdir(tmp_path) == ['file.bin']


def test_pieces_that_do_not_fit_are_thrown_away(site, tmp_path):
    site.content = b'content'
    total = hashlib.sha1(site.content).hexdigest()
    (tmp_path / 'a.part').write_bytes(b'CON')
    assert download(f'{site.address}/good/a', str(tmp_path / 'a'), sha1_hash=total, retries=1)
    assert (tmp_path / 'a').read_bytes() == b'content' and [r for _, r in site.asked] == ['bytes=3-', None]
    site.limit = 3                          # without a sum there is no telling, and nothing is kept
    with pytest.raises(mx.MXNetError):
        download(f'{site.address}/good/b', str(tmp_path / 'b'), retries=0)
    assert os.listdir(tmp_path) == ['a']


@pytest.mark.parametrize('number, attempts', [(socket.EAI_NONAME, 1), (socket.EAI_AGAIN, 2)])
def test_without_a_network_there_are_not_many_attempts(tmp_path, monkeypatch, capsys, number, attempts):
    asked = []

    def nobody(host, *args, **kwargs):
        asked.append(host)
        raise socket.gaierror(number, 'no such name')

    monkeypatch.setattr(socket, 'getaddrinfo', nobody)
    for name in ('http_proxy', 'HTTP_PROXY'):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(mx.MXNetError, match='no such name'):
        download('http://host.invalid/file.bin', str(tmp_path / 'file.bin'))
    assert len(asked) == attempts and not os.listdir(tmp_path)


def test_mirrors(site, tmp_path, monkeypatch, mnist):
    labels = gzip.compress(idx([1, 2, 3]))
    site.content = labels
    (mnist / 'train-labels-idx1-ubyte').unlink()
    monkeypatch.delenv('MXNET_GLUON_REPO', raising=False)
    monkeypatch.setattr(datasets, '_get_repo_file_url', lambda *parts: f'{site.address}/gone/' + '/'.join(parts))

    class Mirrored(vision.MNIST):
        _mirrors = (f'{site.address}/worse/', f'{site.address}/good/')
        _files = {True: (vision.MNIST._files[True][0],
                         ('train-labels-idx1-ubyte.gz', hashlib.sha1(labels).hexdigest()))}

    assert [int(y) for _, y in Mirrored(str(mnist))] == [1, 2, 3]
    monkeypatch.setenv('MXNET_GLUON_REPO', f'{site.address}/gone')
    (mnist / 'train-labels-idx1-ubyte.gz').unlink()
    with pytest.raises(mx.MXNetError, match='train-labels-idx1-ubyte.gz, which is not in'):
        Mirrored(str(mnist))                # a server of one's own is the only one that is asked
