"""Loaders and iterators under bad conditions: no room, no files, damaged data, loops that are left a thousand times."""
import gc
import os
import re
import shutil
import subprocess
import sys
import threading
import traceback

import numpy as np
import pytest
from conftest import ROOT

import mxnet as mx
from mxnet import recordio
from mxnet.gluon import data

HOW = {'here': {}, 'threads': {'num_workers': 2, 'thread_pool': True}, 'processes': {'num_workers': 2}}
needs_proc = pytest.mark.skipif(not os.path.isdir('/proc/self/fd'), reason='there is no /proc here')


def resident():
    with open('/proc/self/statm') as file:
        return int(file.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')


def files():
    return len(os.listdir('/proc/self/fd'))


# ---------------------------------------------------------------------- no room
SMALL_SHM = '''
import sys
import numpy as np
import mxnet as mx
from mxnet.gluon import data

def fill():
    with open('/dev/shm/full', 'wb', buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            print('full', flush=True)

pictures = data.ArrayDataset(np.arange(4000.0).reshape(1000, 4).repeat(100, 1), np.arange(1000))
if sys.argv[1] == 'before':
    fill()
loader = data.DataLoader(pictures, 10, num_workers=2, thread_pool=sys.argv[2] == 'threads')
count = 0
for turn in range(2):
    try:
        for x, y in loader:
            count += 1
            if sys.argv[1] == 'middle' and count == 3:
                fill()
            assert x.asnumpy()[0, 0] == 4 * y.asnumpy()[0]
    except mx.MXNetError as error:
        print(error)
print(count)
'''


@pytest.mark.parametrize('when, how, count, message', [
    ('middle', 'processes', 200, ''), ('before', 'threads', 200, ''),
    ('before', 'processes', 0, 'cannot be started: .*No space left on device.*--shm-size')])
def test_dev_shm_is_full(tmp_path, when, how, count, message):
    """Batches do not need /dev/shm; that workers cannot be started without it is said."""
    if not shutil.which('unshare') or subprocess.run(
            ['unshare', '-rm', 'mount', '-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', '/dev/shm'],
            capture_output=True).returncode:
        pytest.skip('this system does not let us have a /dev/shm of our own')
    (tmp_path / 'program.py').write_text(SMALL_SHM)
    command = f'mount -t tmpfs -o size=64k tmpfs /dev/shm && exec "{sys.executable}" program.py {when} {how}'
    done = subprocess.run(['unshare', '-rm', 'sh', '-c', command], cwd=tmp_path, capture_output=True, text=True,
                          timeout=120, env={**os.environ, 'PYTHONPATH': str(ROOT)})
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and done.stderr == '', done.stderr
    assert lines[0] == 'full' and lines[-1] == str(count)
    if message:
        assert len(lines) == 4
        assert all(re.search(message, line) for line in lines[1:3])


@needs_proc
def test_few_open_files(run_python):
    """Where a worker cannot open a file for each batch in use, batches come through the pipe."""
    code = '''
import resource
import numpy as np
import mxnet as mx
from mxnet.gluon import data
class Rows(data.Dataset):
    def __len__(self):
        return 400
    def __getitem__(self, i):
        if i == 0:
            used = len(__import__('os').listdir('/proc/self/fd'))
            resource.setrlimit(resource.RLIMIT_NOFILE, (used + 3, used + 3))
        return np.full(300, i)
kept = list(data.DataLoader(Rows(), 10, num_workers=1))
print(len(kept), all((kept[i].asnumpy()[:, 0] == np.arange(10) + 10 * i).all() for i in range(40)))
'''
    assert run_python('-c', code).stdout == '40 True\n'


# ---------------------------------------------------------------------- damaged files
@pytest.fixture
def damaged(tmp_path):
    """Ten records, of which number 6 is broken -> (path, its position)."""
    path = tmp_path / 'a.rec'
    with recordio.MXIndexedRecordIO(tmp_path / 'a.idx', path, 'w') as writer:
        for i in range(10):
            writer.write_idx(i, bytes([i]) * 50)
        place = writer.idx[6]
    with open(path, 'r+b') as file:
        file.seek(place)
        file.write(b'oops')
    return path, place


@pytest.mark.parametrize('how', HOW.values(), ids=HOW)
def test_damaged_records_are_named(damaged, how):
    path, place = damaged
    records = data.RecordFileDataset(str(path))
    loader = data.DataLoader(records, 2, batchify_fn=list, **how)
    found = []
    with pytest.raises(recordio.DamagedRecord, match=f'{path.name}: the record at byte {place} is damaged') as caught:
        for batch in loader:
            found += batch
    assert [record[0] for record in found] == [0, 1, 2, 3, 4, 5]
    assert caught.value.offset == place and caught.value.resume > place
    assert 'sample 6 of the data set' in ''.join(traceback.format_exception(caught.value))
    good = records.sample(data.FilterSampler(lambda i: i != 6, range(10)))
    again = [record[0] for batch in data.DataLoader(good, 2, batchify_fn=list, **how) for record in batch]
    assert again == [0, 1, 2, 3, 4, 5, 7, 8, 9]


def test_damaged_pictures_are_named(tmp_path):
    pytest.importorskip('cv2')
    with recordio.MXIndexedRecordIO(tmp_path / 'a.idx', tmp_path / 'a.rec', 'w') as writer:
        for i in range(4):
            header = recordio.IRHeader(0, i, i, 0)
            good = recordio.pack_img(header, np.full((8, 8, 3), 9, np.uint8))
            writer.write_idx(i, recordio.pack(header, b'rubbish') if i == 2 else good)
    loader = data.DataLoader(data.vision.ImageRecordDataset(str(tmp_path / 'a.rec')), 1, num_workers=2)
    with pytest.raises(mx.MXNetError, match='decode') as caught:
        list(loader)
    assert 'sample 2 of the data set' in ''.join(traceback.format_exception(caught.value))


# ---------------------------------------------------------------------- many times
@pytest.mark.slow
@needs_proc
@pytest.mark.parametrize('how', [*HOW.values(), {'num_workers': 2, 'auto_reload': True}], ids=[*HOW, 'ahead'])
def test_a_thousand_loops_that_are_left(how):
    loader = data.DataLoader(np.arange(400.0).reshape(200, 2).repeat(100, 1), 4, **how)
    for turn in range(1000):
        for batch in loader:
            assert batch.asnumpy()[1, 0] == 2
            break
        if turn == 100:
            before, opened, threads = resident(), files(), threading.active_count()
    assert resident() - before < 8e6 and files() <= opened + 2 and threading.active_count() <= threads


@pytest.mark.slow
@needs_proc
def test_a_thousand_iterators_that_are_left(tmp_path):
    pytest.importorskip('cv2')
    with recordio.MXIndexedRecordIO(tmp_path / 'a.idx', tmp_path / 'a.rec', 'w') as writer:
        for i in range(40):
            writer.write_idx(i, recordio.pack_img((0, i, i, 0), np.full((8, 8, 3), i, np.uint8)))
    for turn in range(1000):
        batches = mx.io.ImageRecordIter(path_imgrec=str(tmp_path / 'a.rec'), path_imgidx=str(tmp_path / 'a.idx'),
                                        data_shape=(3, 8, 8), batch_size=4, preprocess_threads=2, shuffle=True)
        next(batches)
        if turn == 100:
            gc.collect()
            before, opened = resident(), files()
    del batches
    gc.collect()
    assert resident() - before < 15e6 and files() <= opened + 2 and threading.active_count() < 20


@pytest.mark.slow
@needs_proc
def test_memory_over_twenty_epochs():
    """Loaders that are made again in each of them, with workers."""
    pictures = mx.nd.array(np.zeros((500, 28, 28, 1)), dtype='uint8')
    train = data.ArrayDataset(pictures, np.zeros(500)).transform_first(data.vision.transforms.ToTensor())
    for epoch in range(20):
        for x, _ in data.DataLoader(train, 50, shuffle=True, num_workers=2 * (epoch % 2)):
            assert x.shape == (50, 1, 28, 28)
        gc.collect()
        if epoch == 4:
            before, opened = resident(), files()
    assert resident() - before < 5e6 and files() <= opened + 2
