"""Records of remote files: read by ranges, ahead of the reader, and kept on disk.  The store is moto's S3 server."""
import collections
import os
import random
import sys
import threading
import time

import numpy as np
import pytest
from conftest import ROOT

import mxnet as mx
from mxnet import recordio
from mxnet._files import ranges
from mxnet.base import MXNetError
from mxnet.gluon import data

sys.path.insert(0, str(ROOT / 'tests' / 'helpers'))
from slow_link import SlowLink

pytestmark = pytest.mark.filterwarnings('ignore::DeprecationWarning')
COUNT, SIZE = 400, 20_000


def content(i):
    return random.Random(i).randbytes(SIZE + 7 * i)


@pytest.fixture(scope='module')
def records(bucket):
    """8 MB of records at an S3 server."""
    with recordio.MXIndexedRecordIO(f'{bucket}/many.idx', f'{bucket}/many.rec', 'w') as writer:
        for i in range(COUNT):
            writer.write_idx(i, recordio.pack((0, i, i, 0), content(i)))
    return f'{bucket}/many'


@pytest.fixture
def requests(monkeypatch):
    """(begin, end) of each request for a range of a file."""
    made, fetch = [], ranges.Ranges._fetch

    def noted(self, first, last):
        made.append((first * self._step, min(last * self._step, self._size)))
        return fetch(self, first, last)
    monkeypatch.setattr(ranges.Ranges, '_fetch', noted)
    return made


def opened(records):
    return recordio.MXIndexedRecordIO(f'{records}.idx', f'{records}.rec', 'r')


def test_one_record_is_one_small_request(records, requests):
    reader = opened(records)
    assert recordio.unpack(reader.read_idx(200))[1] == content(200)
    assert sum(end - begin for begin, end in requests) <= 2 * ranges.BLOCK
    begin, end = reader.idx[200], reader.idx[201]
    assert requests[0][0] <= begin < end <= requests[-1][1] and len(requests) <= 2


def test_a_reader_in_order_is_ahead_of_the_file(records, requests):
    found = [recordio.unpack(record)[1] for record in recordio.MXRecordIO(f'{records}.rec', 'r')]
    assert found == [content(i) for i in range(COUNT)]
    size = recordio.MXRecordIO(f'{records}.rec', 'r').size()
    assert sorted(requests)[0][0] == 0 and max(end for _, end in requests) == size
    assert sum(end - begin for begin, end in requests) == size, 'every byte once'
    assert len(requests) < 1.5 * size / ranges.LARGE_BLOCK


def test_what_is_expected_is_fetched_together(records, requests):
    reader = opened(records)
    keys = random.Random(1).sample(range(COUNT), 60)
    reader.expect([*keys, 'no such key'])
    for key in keys:
        assert recordio.unpack(reader.read_idx(key))[1] == content(key)
    read = [number for begin, end in requests for number in range(begin // ranges.BLOCK, -(-end // ranges.BLOCK))]
    assert len(read) == len(set(read)), 'no block twice'
    with pytest.raises(recordio.NoRecord):
        reader.read_idx('no such key')


def test_more_is_expected_than_memory_holds(records, requests, monkeypatch):
    monkeypatch.setattr(ranges, 'MEMORY', 16 * ranges.BLOCK)
    reader = opened(records)
    keys = random.Random(2).sample(range(COUNT), COUNT)
    reader.expect(keys)
    assert len(reader._source._expected) <= 8 and len(reader._source._later) > 300
    for key in keys:
        assert recordio.unpack(reader.read_idx(key))[1] == content(key)
        assert len(reader._source._blocks) <= 16
    assert not reader._source._later


def test_threads_share_a_reader(records):
    reader, wrong = opened(records), []

    def read(number):
        draw = random.Random(number)
        for _ in range(50):
            key = draw.randrange(COUNT)
            if recordio.unpack(reader.read_idx(key))[1] != content(key):
                wrong.append(key)
    threads = [threading.Thread(target=read, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_failed_request_is_an_error_with_the_file_and_made_again(records, monkeypatch):
    reader, fetch, failures = opened(records), ranges.Ranges._fetch, [1]

    def failing(self, first, last):
        if failures:
            failures.pop()
            raise ConnectionResetError('the connection was reset')
        return fetch(self, first, last)
    monkeypatch.setattr(ranges.Ranges, '_fetch', failing)
    with pytest.raises(MXNetError, match=r'^s3://models/many.rec: cannot read: the connection was reset'):
        reader.read_idx(7)
    assert recordio.unpack(reader.read_idx(7))[1] == content(7)


def test_a_server_that_sends_something_else(records, monkeypatch):
    reader = opened(records)
    monkeypatch.setattr(reader._source._fs, 'cat_file', lambda path, start, end: b'short')
    with pytest.raises(MXNetError, match=r'many.rec: cannot read: asked for bytes 0 to 65536, the server sent 5 bytes'):
        reader.read_idx(0)


# ---------------------------------------------------------------------- the cache on disk
@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv('MXNET_REMOTE_CACHE_DIR', str(tmp_path / 'cache'))
    return tmp_path / 'cache'


def blocks_in(cache):
    return {str(path.relative_to(cache)): path.stat().st_size for path in cache.rglob('*') if path.is_file()}


def read_all(records, order=range(COUNT)):
    reader = opened(records)
    assert all(recordio.unpack(reader.read_idx(i))[1] == content(i) for i in order)


async def refused(*_, **__):
    raise OSError('a request')


def test_what_was_read_is_kept(records, cache, monkeypatch, run_python):
    read_all(records, random.Random(3).sample(range(COUNT), COUNT))
    size = recordio.MXRecordIO(f'{records}.rec', 'r').size()
    kept = blocks_in(cache)
    assert sum(kept.values()) == size + 4 * len(kept) and len(kept) == -(-size // ranges.LARGE_BLOCK)
    assert cache.stat().st_mode & 0o777 == 0o700
    import s3fs
    monkeypatch.setattr(s3fs.S3FileSystem, '_cat_file', refused)
    s3fs.S3FileSystem.clear_instance_cache()
    read_all(records)                           # no request for bytes of the file
    monkeypatch.delenv('MXNET_REMOTE_CACHE_DIR')
    with pytest.raises(MXNetError, match='many.rec: cannot read: a request'):
        read_all(records, [0])
    monkeypatch.setenv('MXNET_REMOTE_CACHE_DIR', str(cache))
    s3fs.S3FileSystem.clear_instance_cache()
    done = run_python('-W', 'ignore', '-c', f'''
import s3fs, mxnet as mx
async def refused(*_, **__):
    raise OSError('a request')
s3fs.S3FileSystem._cat_file = refused
reader = mx.recordio.MXIndexedRecordIO({records + '.idx'!r}, {records + '.rec'!r}, 'r')
print(sum(len(reader.read_idx(i)) for i in range({COUNT})))''')
    assert int(done.stdout) == sum(24 + SIZE + 7 * i for i in range(COUNT))


def test_a_file_that_was_replaced_is_read_anew(bucket, cache):
    for text in (b'first', b'other'):           # of the same length
        with recordio.MXRecordIO(f'{bucket}/changing.rec', 'w') as writer:
            writer.write(text)
        import s3fs
        s3fs.S3FileSystem.clear_instance_cache()
        assert recordio.MXRecordIO(f'{bucket}/changing.rec', 'r').read() == text


@pytest.mark.parametrize('damage', ['changed', 'cut', 'empty'])
def test_damaged_blocks_are_fetched_again(records, cache, damage, requests):
    read_all(records, [0])
    (name,) = blocks_in(cache)
    text = (cache / name).read_bytes()
    (cache / name).write_bytes({'changed': text[:5000] + b'?' + text[5001:], 'cut': text[:-9], 'empty': b''}[damage])
    read_all(records, [0])
    assert (cache / name).read_bytes() == text


def test_the_cache_stays_below_its_limit(records, cache, monkeypatch):
    monkeypatch.setenv('MXNET_REMOTE_CACHE_MB', '4')
    read_all(records)
    assert 2 << 20 < sum(blocks_in(cache).values()) <= (4 << 20) + 1024
    monkeypatch.setenv('MXNET_REMOTE_CACHE_MB', 'much')
    with pytest.raises(MXNetError, match="MXNET_REMOTE_CACHE_MB must be a whole number above 0, not 'much'"):
        opened(records)


def test_other_files_in_the_folder_stay(records, cache, monkeypatch):
    """The folder may be one that the user keeps other things in."""
    monkeypatch.setenv('MXNET_REMOTE_CACHE_MB', '2')
    own = [cache / 'thesis.txt', cache / ('a' * 32) / 'notes.txt', cache / 'photos' / '1']
    for path in own:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.write_bytes(b'x' * 5000)
        os.utime(path, (1, 1))
    read_all(records)
    assert [path.stat().st_size for path in own] == [5000] * 3


def test_a_folder_that_others_may_write_to_is_refused(records, cache):
    cache.mkdir()
    cache.chmod(0o777)
    with pytest.raises(MXNetError, match='other users may write to .*cache .owner 0, mode 777., so it is not used'):
        opened(records)


def test_a_full_disk_is_said_and_reading_goes_on(records, cache, monkeypatch, caplog):
    def full(*_):
        raise OSError(28, 'No space left on device')
    reader = opened(records)
    monkeypatch.setattr(os, 'replace', full)
    assert recordio.unpack(reader.read_idx(3))[1] == content(3) and recordio.unpack(reader.read_idx(399))[1]
    assert [r.getMessage().rpartition(': ')[2] for r in caplog.records] == ['No space left on device']
    assert not blocks_in(cache)


# ---------------------------------------------------------------------- loaders
def ids(samples):
    return [recordio.unpack(sample)[0].id for sample in samples]


def checked(record):
    header, found = recordio.unpack(record)
    assert found == content(header.id)
    return header.id


@pytest.mark.parametrize('how', [{}, {'num_workers': 2}, {'num_workers': 2, 'thread_pool': True}],
                         ids=['here', 'processes', 'threads'])
def test_loaders_expect_their_batches(records, how):
    dataset = data.RecordFileDataset(f'{records}.rec').take(300).transform(checked)
    found = list(data.DataLoader(dataset, 50, shuffle=True, batchify_fn=list, timeout=60, **how))
    assert sorted(sum(found, [])) == list(range(300)) and [len(batch) for batch in found] == [50] * 6


def test_a_class_that_reads_in_its_own_way_expects_nothing(records):
    class Backwards(data.RecordFileDataset):
        def __getitem__(self, i):
            return super().__getitem__(len(self) - 1 - i)
    assert data.RecordFileDataset(f'{records}.rec')._expecter() is not None
    assert Backwards(f'{records}.rec')._expecter() is None
    assert data.SimpleDataset([1])._expecter() is None


@pytest.fixture
def far(bucket, monkeypatch):
    """The server of the bucket behind a link of 25 ms each way: 50 ms until an answer."""
    import s3fs
    host, _, port = os.environ['AWS_ENDPOINT_URL'].rpartition('/')[2].partition(':')
    with SlowLink((host, int(port)), 0.025) as link:
        monkeypatch.setenv('AWS_ENDPOINT_URL', 'http://{}:{}'.format(*link.address))
        s3fs.S3FileSystem.clear_instance_cache()
        yield link
        s3fs.S3FileSystem.clear_instance_cache()


def seconds(records, work):
    """(time, answers of a request alone) of a pass over all records in random order, with so much work for each."""
    dataset = data.RecordFileDataset(f'{records}.rec')
    loader = data.DataLoader(dataset, 20, shuffle=True, batchify_fn=ids)
    start, found = time.perf_counter(), []
    for batch in loader:
        found += batch
        time.sleep(work * len(batch))
    assert sorted(found) == list(range(COUNT))
    return time.perf_counter() - start


@pytest.mark.slow
def test_fifty_milliseconds_are_hidden(records, far, monkeypatch):
    """A step of 5 ms a record: with the link it takes little longer than without one, where one by one it is 50 ms."""
    with monkeypatch.context() as near:
        near.setenv('AWS_ENDPOINT_URL', 'http://{}:{}'.format(*far._target))
        here = seconds(records, 0.005)
    import s3fs
    s3fs.S3FileSystem.clear_instance_cache()
    there = seconds(records, 0.005)
    reader = opened(records)
    start = time.perf_counter()
    for key in range(0, COUNT, 40):             # ten, in different blocks
        reader.read_idx(key)
    alone = (time.perf_counter() - start) / 10
    print(f'{COUNT} records, 5 ms of work each: {here:.2f} s without delay, {there:.2f} s with 50 ms; one alone '
          f'{alone * 1e3:.0f} ms')
    assert alone > 0.05 and there < here + 0.1 * COUNT * alone and there < 1.5 * here


@pytest.mark.slow
def test_fifty_milliseconds_are_hidden_from_an_iterator(bucket, far):
    pytest.importorskip('cv2')
    draw = np.random.RandomState(1)
    with recordio.MXIndexedRecordIO(f'{bucket}/p.idx', f'{bucket}/p.rec', 'w') as writer:
        for i in range(200):
            picture = draw.randint(0, 255, (64, 64, 3)).astype(np.uint8)
            writer.write_idx(i, recordio.pack_img((0, i, i, 0), picture))
    times = collections.Counter()
    for shuffle in (False, True):
        start = time.perf_counter()
        pictures = mx.io.ImageRecordIter(path_imgrec=f'{bucket}/p.rec', path_imgidx=f'{bucket}/p.idx', batch_size=20,
                                         data_shape=(3, 64, 64), shuffle=shuffle, preprocess_threads=1)
        found = [label for batch in pictures for label in batch.label[0].asnumpy().tolist()]
        times[shuffle] = time.perf_counter() - start
        assert sorted(found) == list(range(200))
    print(f'200 pictures behind 50 ms: in order {times[False]:.2f} s, shuffled {times[True]:.2f} s; one by one 10 s')
    assert max(times.values()) < 2.5
