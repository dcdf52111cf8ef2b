"""`scheme://` through fsspec: memory, a disk behind it, and a real S3 endpoint on loopback."""
import builtins
import os
import pickle
import sys
import warnings

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import cli, recordio
from mxnet._files import params, paths, safetensors
from mxnet.base import MXNetError
from mxnet.gluon import data

fsspec = pytest.importorskip('fsspec')


def _ids(samples):
    return [recordio.unpack(sample)[0].id for sample in samples]


def interrupted(size):
    yield b'z' * size
    raise ZeroDivisionError


def check_store(url):
    """What every store must do."""
    for size in (0, 10, 1_000_000):
        paths.write_atomic(url, [b'a' * size, b'b'])
        assert paths.read_bytes(url) == b'a' * size + b'b'
    with paths.open_read(url) as file:
        assert file.seek(999_999) == 999_999 and file.read() == b'ab'
    records = [params.Record('default', shape, torch.ones(shape)) for shape in ((300, 1000), (1,))]
    paths.write_atomic(url, params.encode(records, ['a', 'b']))
    with paths.open_read(url) as file:
        got, names = params.decode(file, url)
    assert names == ['a', 'b'] and all(torch.equal(one.data, two.data) for one, two in zip(got, records, strict=True))
    paths.write_atomic(url, [b'old'])
    for size in (10, 8_000_000):
        with pytest.raises(ZeroDivisionError):
            paths.write_atomic(url, interrupted(size))
        assert paths.read_bytes(url) == b'old'
    with pytest.raises(MXNetError, match=f'^{url}-missing: cannot read: [Nn]o such file'):
        paths.read_bytes(url + '-missing')
    fs, name = fsspec.core.url_to_fs(url)
    assert [os.path.basename(entry) for entry in fs.ls(os.path.dirname(name), detail=False)] == [os.path.basename(name)]


def test_memory():
    check_store('memory://folder/file.params')


def test_a_disk_behind_fsspec(tmp_path):
    """The way of every store that can rename: hdfs, sftp, ..."""
    check_store(f'local://{tmp_path}/file.params')


@pytest.mark.filterwarnings('ignore::DeprecationWarning')
class TestS3:
    def test_store(self, bucket):
        check_store(f'{bucket}/net/file.params')

    def test_several_parts(self, bucket):
        piece = os.urandom(1 << 20)
        paths.write_atomic(f'{bucket}/large', [piece] * 60)
        assert paths.read_bytes(f'{bucket}/large') == piece * 60

    def test_an_interrupted_upload_leaves_nothing(self, bucket):
        url = f'{bucket}/parts'
        paths.write_atomic(url, [b'old'])
        with pytest.raises(ZeroDivisionError):
            paths.write_atomic(url, interrupted(60 << 20))  # more than one part is there by then
        fs, _ = fsspec.core.url_to_fs(url)
        assert paths.read_bytes(url) == b'old'
        assert fs.call_s3('list_multipart_uploads', Bucket='models').get('Uploads', []) == []

    def test_safetensors(self, bucket):
        pytest.importorskip('safetensors')
        safetensors.save(f'{bucket}/x.safetensors', {'a': torch.arange(3)})
        assert safetensors.load(f'{bucket}/x.safetensors')['a'].tolist() == [0, 1, 2]

    def test_records(self, bucket):
        with recordio.MXIndexedRecordIO(f'{bucket}/a.idx', f'{bucket}/a.rec', 'w') as writer:
            for i in range(200):
                writer.write_idx(i, recordio.pack((0, i, i, 0), b'%d' % i * 1000))
        reader = recordio.MXIndexedRecordIO(f'{bucket}/a.idx', f'{bucket}/a.rec', 'r')
        assert [recordio.unpack(record)[0].id for record in reader] == list(range(200))
        assert recordio.unpack(reader.read_idx(77))[1] == b'77' * 1000
        again = pickle.loads(pickle.dumps(reader))
        assert recordio.unpack(again.read_idx(78))[0].id == 78
        records = data.RecordFileDataset(f'{bucket}/a.rec')
        for workers in (0, 2):
            found = list(data.DataLoader(records, 50, batchify_fn=_ids, num_workers=workers, timeout=60))
            assert sum(found, []) == list(range(200))

    def test_iterators(self, bucket):
        pytest.importorskip('cv2')
        with recordio.MXIndexedRecordIO(f'{bucket}/b.idx', f'{bucket}/b.rec', 'w') as writer:
            for i in range(5):
                writer.write_idx(i, recordio.pack_img((0, i, i, 0), np.full((8, 8, 3), i, np.uint8)))
        pictures = mx.io.ImageRecordIter(path_imgrec=f'{bucket}/b.rec', path_imgidx=f'{bucket}/b.idx', batch_size=5,
                                         data_shape=(3, 8, 8), shuffle=True)
        assert sorted(next(pictures).label[0].asnumpy()) == [0, 1, 2, 3, 4]
        paths.write_atomic(f'{bucket}/a.csv', [b'1,2\n3,4\n'])
        rows = mx.io.CSVIter(data_csv=f'{bucket}/a.csv', data_shape=(2,), batch_size=2)
        assert next(rows).data[0].asnumpy().tolist() == [[1, 2], [3, 4]]

    def test_commands(self, bucket, tmp_path, capsys):
        with recordio.MXRecordIO(f'{bucket}/c.rec', 'w') as writer:
            writer.write(b'record')
        assert cli.main(['rec2idx', f'{bucket}/c.rec']) == 0 and paths.read_bytes(f'{bucket}/c.idx') == b'0\t0\n'
        assert cli.main(['inspect', f'{bucket}/c.rec']) == 0 and "bytes b'record'" in capsys.readouterr().out

    def test_no_bucket(self, bucket):
        with pytest.raises(MXNetError, match=r'^s3://nobody/x: cannot read: '):
            paths.read_bytes('s3://nobody/x')
        with pytest.raises(MXNetError, match=r'^s3://nobody/x: cannot write: .*bucket does not exist'):
            paths.write_atomic('s3://nobody/x', [b'1'])


@pytest.mark.parametrize('url, missing, line', [
    ('s3://b/x', 'fsspec', 'pip install fsspec s3fs'), ('gs://b/x', 'fsspec', 'pip install fsspec gcsfs'),
    ('hdfs://b/x', 'fsspec', 'pip install fsspec pyarrow'), ('memory://x', 'fsspec', 'pip install fsspec'),
    ('s3://b/x', 's3fs', 'pip install fsspec s3fs'),
])
def test_missing_packages_are_named(monkeypatch, url, missing, line):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name.partition('.')[0] == missing:
            raise ImportError(f'no {missing}')
        return real(name, *rest, **more)

    if missing == 's3fs':  # fsspec keeps the classes that it has found
        monkeypatch.setattr(sys.modules['fsspec.registry'], 'registry', {})
        monkeypatch.setitem(sys.modules, 's3fs', None)
    monkeypatch.setattr(builtins, '__import__', without)
    for action in (lambda: paths.read_bytes(url), lambda: paths.write_atomic(url, [b''])):
        with pytest.raises(MXNetError, match=f'^{url}: .*{line}'):
            action()


def test_unknown_scheme():
    with warnings.catch_warnings(), pytest.raises(MXNetError, match=r'^foo://x: cannot reach foo://: .*foo'):
        paths.read_bytes('foo://x')
