"""Records: the bytes of the file, in both directions, and what happens when they are damaged."""
import hashlib
import multiprocessing
import os
import pickle
import struct
import sys
import threading
from array import array as numbers_array

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mxnet import recordio
from mxnet.base import MXNetError
from mxnet.recordio import DamagedRecord, IRHeader, MXIndexedRecordIO, MXRecordIO

MAGIC = bytes.fromhex('0a23d7ce')


def write(path, records):
    with MXRecordIO(path, 'w') as writer:
        for record in records:
            writer.write(record)
    return path


def read(path):
    with MXRecordIO(path, 'r') as reader:
        return list(reader)


def salvage(reader):
    """-> (records, damages) of a file that may be damaged."""
    records, damages = [], []
    while True:
        try:
            record = reader.read()
        except DamagedRecord as damage:
            damages.append(damage)
            assert len(damages) < 10_000, 'the reader does not go on'
            continue
        if record is None:
            return records, damages
        records.append(record)


# ---------------------------------------------------------------------- bytes
@pytest.mark.parametrize('record, parts', [
    (b'', [(0, b'')]),
    (b'abc', [(0, b'abc\0')]),
    (b'abcd', [(0, b'abcd')]),
    (MAGIC, [(1, b''), (3, b'')]),
    (MAGIC + MAGIC + b'x', [(1, b''), (2, b''), (3, b'x\0\0\0')]),
    (b'abcd' + MAGIC + b'ef', [(1, b'abcd'), (3, b'ef\0\0')]),
    (b'x' + MAGIC + b'yz', [(0, b'x' + MAGIC + b'yz\0')]),          # not aligned: not cut
    (b'x' + MAGIC + b'yzu' + MAGIC, [(1, b'x' + MAGIC + b'yzu'), (3, b'')]),
])
def test_the_bytes_of_a_record(record, parts, tmp_path):
    path = write(tmp_path / 'a.rec', [record])
    lengths = [len(data.rstrip(b'\0')) if kind in (0, 3) else len(data) for kind, data in parts]
    assert path.read_bytes() == b''.join(MAGIC + struct.pack('<I', kind << 29 | length) + data
                                         for (kind, data), length in zip(parts, lengths, strict=True))
    assert read(path) == [record]


pieces = st.lists(st.one_of(st.just(MAGIC), st.just(b'\0'), st.binary(max_size=9)), max_size=8).map(b''.join)


@settings(max_examples=150, deadline=None)
@given(st.lists(pieces, max_size=6))
@example([b'a' * 300_000, b'', b'b' * 1_100_000, b'c', b'd' * (1 << 20)])
def test_what_is_written_is_read(records):
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        path = write(os.path.join(folder, 'a.rec'), records)
        assert os.path.getsize(path) % 4 == 0
        assert read(path) == records


def test_upstream_wrote_the_same(shared, tmp_path):
    """A file of MXNet 1.9.1 and one of ours, from the same records, have the same bytes."""
    for name in ('plain', 'images', 'multilabel', 'det'):
        theirs = shared / 'golden' / 'files' / f'{name}.rec'
        assert write(tmp_path / 'ours.rec', read(theirs)).read_bytes() == theirs.read_bytes()


def test_a_file_of_upstream(tmp_path):
    """400 records, full of magic numbers, that MXNet 1.9.1 wrote from the same generator."""
    import random
    draw = random.Random(5)
    with MXIndexedRecordIO(tmp_path / 'a.idx', tmp_path / 'a.rec', 'w') as writer:
        for i in range(400):
            record = b''.join(draw.choice([MAGIC, MAGIC, b'x', b'\0' * 3,
                                           bytes(draw.randrange(256) for _ in range(draw.randrange(9)))])
                              for _ in range(draw.randrange(12)))
            if i % 3 == 0:
                header = IRHeader(draw.randrange(9), draw.choice([1, 2.5, [1, 2, 3]]), i, draw.randrange(5))
                record = recordio.pack(header, record)
            writer.write_idx(i, record)
    assert hashlib.sha1((tmp_path / 'a.rec').read_bytes()).hexdigest() == '0597218c79f53c9c272a7b1242194ebe8a4f83da'
    assert hashlib.sha1((tmp_path / 'a.idx').read_bytes()).hexdigest() == '3774e4b4d0d6ed544da5301af5abbb1691612a81'


def test_kinds_of_buffers(tmp_path):
    buffers = [bytearray(b'abc'), memoryview(b'xabcx')[1:4], np.frombuffer(b'abc', np.uint8),
               numbers_array('b', b'abc')]
    assert read(write(tmp_path / 'a.rec', buffers)) == [b'abc'] * 4
    with MXRecordIO(tmp_path / 'b.rec', 'w') as writer:
        with pytest.raises(TypeError, match='takes bytes, not str'):
            writer.write('abc')
        with pytest.raises(MXNetError, match=r'less than 2\*\*29 bytes, not 536870912'):
            writer.write(bytearray(1 << 29))


# ---------------------------------------------------------------------- files
def test_reset_and_tell(tmp_path):
    path = tmp_path / 'a.rec'
    writer = MXRecordIO(path, 'w')
    writer.write(b'lost')
    writer.reset()
    places = []
    for record in (b'one', b'', MAGIC + b'two'):
        places.append(writer.tell())
        writer.write(record)
        assert os.path.getsize(path) == writer.tell(), 'what was written is in the file'
    writer.close()
    reader = MXRecordIO(path, 'r')
    for _ in range(2):
        assert reader.read() == b'one' and reader.tell() == places[1]
        reader.reset()
    assert list(reader) == [b'one', b'', MAGIC + b'two'] and reader.read() is None


def test_a_file_that_grows(tmp_path):
    """A reader that came to the end sees what is written later."""
    writer, reader = MXRecordIO(tmp_path / 'a.rec', 'w'), MXRecordIO(tmp_path / 'a.rec', 'r')
    assert reader.read() is None
    for i in range(3):
        writer.write(b'%d' % i)
        assert reader.read() == b'%d' % i and reader.read() is None


def test_mistakes(tmp_path):
    path = write(tmp_path / 'a.rec', [b'a'])
    with pytest.raises(ValueError, match="flag must be 'r' or 'w', not 'a'"):
        MXRecordIO(path, 'a')
    with pytest.raises(MXNetError, match='cannot read: No such file'):
        MXRecordIO(tmp_path / 'none.rec', 'r')
    with pytest.raises(MXNetError, match='cannot write: No such file'):
        MXRecordIO(tmp_path / 'no folder' / 'a.rec', 'w')
    with pytest.raises(MXNetError, match='a.rec: line . should be a key, a tab and a position'):
        MXIndexedRecordIO(path, path, 'r')
    reader = MXRecordIO(path, 'r')
    with pytest.raises(MXNetError, match="opened with flag 'r'; this needs 'w'"):
        reader.write(b'')
    reader.close()
    reader.close()
    with pytest.raises(MXNetError, match='the file is closed'):
        reader.read()
    reader.open()
    assert reader.read() == b'a'


@pytest.mark.skipif(not os.path.exists('/dev/full'), reason='no /dev/full here')
def test_a_full_disk():
    writer = MXRecordIO('/dev/full', 'w')
    with pytest.raises(MXNetError, match='/dev/full: cannot write: No space left'):
        writer.write(b'abc')


# ---------------------------------------------------------------------- keys
@pytest.fixture
def indexed(tmp_path):
    with MXIndexedRecordIO(tmp_path / 'a.idx', tmp_path / 'a.rec', 'w') as writer:
        for i in (5, 3, 8):
            writer.write_idx(i, b'record %d' % i)
    return str(tmp_path / 'a.idx'), str(tmp_path / 'a.rec')


def test_keys(indexed):
    with open(indexed[0]) as file:
        assert file.read() == '5\t0\n3\t16\n8\t32\n'
    reader = MXIndexedRecordIO(*indexed, 'r')
    assert reader.keys == [5, 3, 8] and reader.idx == {5: 0, 3: 16, 8: 32}
    assert reader.read_idx(8) == b'record 8' and reader.read() is None
    reader.seek(3)
    assert reader.read() == b'record 3' and reader.read() == b'record 8'
    reader.reset()
    assert reader.read() == b'record 5' and reader.keys == [5, 3, 8]
    with pytest.raises(KeyError):
        reader.read_idx(4)


def test_keys_of_other_types(tmp_path):
    paths = tmp_path / 'a.idx', tmp_path / 'a.rec'
    with MXIndexedRecordIO(*paths, 'w', key_type=str) as writer:
        writer.write_idx('a cat', b'1')
    assert MXIndexedRecordIO(*paths, 'r', key_type=str).read_idx('a cat') == b'1'
    with pytest.raises(MXNetError, match=r"a.idx: line 1 should be a key, a tab and a position, but is 'a cat\\t0'"):
        MXIndexedRecordIO(*paths, 'r')


def test_an_index_of_another_file(indexed):
    with open(indexed[0], 'a') as file:
        file.write('1\t4\n2\t4000\n')
    reader = MXIndexedRecordIO(*indexed, 'r')
    with pytest.raises(DamagedRecord, match='record at byte 4 is damaged: at byte 4 should be 0a23d7ce') as caught:
        reader.read_idx(1)
    assert caught.value.offset == 4 and caught.value.resume == 16 and reader.read() == b'record 3'
    with pytest.raises(DamagedRecord, match='at byte 4000 is damaged: the file has only 48 bytes'):
        reader.read_idx(2)


# ---------------------------------------------------------------------- processes and threads
def test_pickled_readers(indexed):
    reader = MXIndexedRecordIO(*indexed, 'r')
    reader.read()
    copy = pickle.loads(pickle.dumps(reader))
    assert copy.read() == b'record 5' and copy.read_idx(8) == b'record 8' and copy.keys == [5, 3, 8]
    assert reader.read() == b'record 3', 'the first one goes on'
    reader.close()
    closed = pickle.loads(pickle.dumps(reader))
    assert not closed.is_open


def test_an_open_writer_is_not_copied(tmp_path):
    writer = MXRecordIO(tmp_path / 'a.rec', 'w')
    writer.write(b'precious')
    with pytest.raises(MXNetError, match='an open writer cannot be copied'):
        pickle.dumps(writer)
    writer.close()
    pickle.loads(pickle.dumps(writer))
    assert read(tmp_path / 'a.rec') == [b'precious']


needs_fork = pytest.mark.skipif(not hasattr(os, 'fork') or sys.platform == 'darwin', reason='no safe fork here')


def in_child(function):
    """What a function returns in a forked child."""
    context = multiprocessing.get_context('fork')
    queue = context.SimpleQueue()
    child = context.Process(target=lambda: queue.put(function()))
    child.start()
    result = queue.get()
    child.join()
    return result


@needs_fork
@pytest.mark.filterwarnings('ignore:.*multi-threaded.*fork:DeprecationWarning')
def test_forked_readers(tmp_path):
    """Parent and child each read on from where they are."""
    records = [b'%d' % i * 1000 for i in range(1000)]
    reader = MXRecordIO(write(tmp_path / 'a.rec', records), 'r')
    assert reader.read() == records[0]
    assert in_child(lambda: list(reader)) == records[1:]
    assert list(reader) == records[1:]


@needs_fork
@pytest.mark.filterwarnings('ignore:.*multi-threaded.*fork:DeprecationWarning')
def test_forked_writers(tmp_path):
    writer = MXRecordIO(tmp_path / 'a.rec', 'w')
    writer.write(b'parent')

    def child():
        try:
            writer.write(b'child')
        except RuntimeError as error:
            return str(error)
        finally:
            writer.close()
    assert 'cannot be written by its children' in in_child(child)
    writer.write(b'parent')
    writer.close()
    assert read(tmp_path / 'a.rec') == [b'parent'] * 2


def test_threads_share_a_reader(tmp_path):
    paths = tmp_path / 'a.idx', tmp_path / 'a.rec'
    with MXIndexedRecordIO(*paths, 'w') as writer:
        for i in range(200):
            writer.write_idx(i, b'%d' % i * 500)
    reader, wrong = MXIndexedRecordIO(*paths, 'r'), []

    def work(seed):
        for i in np.random.RandomState(seed).permutation(200):
            if reader.read_idx(i) != b'%d' % i * 500:
                wrong.append(i)
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_remote_files():
    pytest.importorskip('fsspec')
    paths = 'memory://records/a.idx', 'memory://records/a.rec'
    with MXIndexedRecordIO(*paths, 'w') as writer:
        for i in range(3):
            writer.write_idx(i, MAGIC + b'%d' % i * 5)
    reader = MXIndexedRecordIO(*paths, 'r')
    assert list(reader) == [MAGIC + b'%d' % i * 5 for i in range(3)]
    assert reader.read_idx(1) == MAGIC + b'11111'


def test_light_to_import(run_python, tmp_path):
    """Neither torch nor OpenCV, nor even NumPy, until somebody needs one."""
    path = write(tmp_path / 'a.rec', [recordio.pack(IRHeader(0, 7, 1, 0), b'abc')])
    done = run_python('-c', f'''
import sys
import mxnet as mx
reader = mx.recordio.MXRecordIO({str(path)!r}, "r")
header, data = mx.recordio.unpack(reader.read())
assert header.label == 7 and data == b"abc" and mx.recordio.pack(header, data)
print([name for name in ("torch", "numpy", "cv2", "fsspec") if name in sys.modules])''')
    assert done.stdout.strip() == '[]'


# ---------------------------------------------------------------------- damage
RECORDS = [b'first' * 5, b'x' * 30 + MAGIC * 2 + b'y', b'two', MAGIC + b'third', b'last one']


def test_one_damaged_byte(tmp_path):
    """Any byte of the file set to anything: the reader ends, says where, and loses only records that the byte is in."""
    path = write(tmp_path / 'a.rec', RECORDS)
    good = path.read_bytes()
    starts, reader = [], MXRecordIO(path, 'r')
    for _ in RECORDS:
        starts.append(reader.tell())
        reader.read()
    for place in range(len(good)):
        hit = max(i for i, start in enumerate(starts) if start <= place)
        for value in (0, 0xff, good[place] ^ 1, good[place] ^ 0x20):
            path.write_bytes(good[:place] + bytes([value]) + good[place + 1:])
            records, damages = salvage(MXRecordIO(path, 'r'))
            untouched = [record for i, record in enumerate(RECORDS) if i != hit]
            assert [r for r in records if r in untouched] == untouched, f'byte {place} set to {value}'
            assert all(starts[hit] <= d.offset < d.resume <= len(good) for d in damages)


def test_every_truncation(tmp_path):
    path = write(tmp_path / 'a.rec', RECORDS)
    good = path.read_bytes()
    for size in range(len(good)):
        path.write_bytes(good[:size])
        records, damages = salvage(MXRecordIO(path, 'r'))
        assert records == RECORDS[:len(records)] and len(damages) <= 1
        assert all(d.resume == size for d in damages)


def test_rubbish_between_records(tmp_path):
    path = write(tmp_path / 'a.rec', RECORDS)
    good, rubbish = path.read_bytes(), os.urandom(3_000_001)
    path.write_bytes(good + rubbish + good)
    records, damages = salvage(MXRecordIO(path, 'r'))
    assert records == RECORDS * 2
    assert [(d.offset, d.resume) for d in damages] == [(len(good), len(good) + len(rubbish))]
    where = len(good)
    assert str(damages[0]).startswith(f'{path}: the record at byte {where} is damaged: at byte {where} should be')


def test_a_file_of_something_else(tmp_path):
    path = tmp_path / 'a.rec'
    path.write_bytes(b'\x89PNG' * 1000)
    records, damages = salvage(MXRecordIO(path, 'r'))
    assert records == [] and len(damages) == 1 and damages[0].offset == 0 and damages[0].resume == 4000


def test_damage_travels_between_processes():
    damage = pickle.loads(pickle.dumps(DamagedRecord('a.rec', 3, 'why', 9)))
    assert (damage.uri, damage.offset, damage.problem, damage.resume) == ('a.rec', 3, 'why', 9)


# ---------------------------------------------------------------------- headers and pictures
@pytest.mark.parametrize('label, flag', [(3, 0), (2.5, 0), (np.float32(1.5), 0), (True, 0), ([4], 1), ([1, 2, 3], 3),
                                         (np.arange(4.), 4), (np.ones((2, 2)), 4), ((), 0)])
def test_headers(label, flag):
    packed = recordio.pack(IRHeader(9, label, 2**63, 7), b'data')
    assert len(packed) == 24 + 4 * flag + 4
    header, data = recordio.unpack(packed)
    assert (header.flag, header.id, header.id2, data) == (flag, 2**63, 7, b'data')
    if flag:
        assert header.label.dtype == np.float32 and header.label.tolist() == np.asarray(label).ravel().tolist()
    else:
        assert header.label == (0 if isinstance(label, tuple) else label)
    assert recordio.pack((0, label, 2**63, 7), b'data') == packed, 'a plain tuple is a header, too'


def test_headers_travel_and_print():
    header = IRHeader(0, 1.0, 2, 0)
    assert pickle.loads(pickle.dumps(header)) == header and repr(header) == 'HEADER(flag=0, label=1.0, id=2, id2=0)'


def test_damaged_headers():
    with pytest.raises(MXNetError, match='begins with 24 bytes of header, but this one has 3 in all'):
        recordio.unpack(b'abc')
    with pytest.raises(MXNetError, match='says that 1000 labels follow, but the record has 28 bytes'):
        recordio.unpack(struct.pack('<IfQQ', 1000, 0, 0, 0) + b'abcd')


def test_pictures():
    pytest.importorskip('cv2')
    picture = np.zeros((20, 30, 3), np.uint8)
    picture[:, 15:] = 10, 100, 200
    header, found = recordio.unpack_img(recordio.pack_img(IRHeader(0, 5, 6, 0), picture, quality=9, img_fmt='.png'))
    assert header.label == 5 and (found == picture).all()
    header, found = recordio.unpack_img(recordio.pack_img((0, [5, 6], 6, 0), picture), iscolor=0)
    assert header.label.tolist() == [5, 6] and found.shape == (20, 30)
    small, large = (len(recordio.pack_img((0, 1, 1, 0), picture, quality=q)) for q in (10, 100))
    assert small < large
    assert recordio.unpack_img(recordio.pack((0, 1, 1, 0), b'no picture'))[1] is None


def test_without_opencv(monkeypatch):
    monkeypatch.setitem(sys.modules, 'cv2', None)
    for call in (lambda: recordio.unpack_img(bytes(30)), lambda: recordio.pack_img((0, 1, 1, 0), np.zeros((2, 2)))):
        with pytest.raises(ImportError, match='needs OpenCV: pip install opencv-python-headless'):
            call()
