"""`remx im2rec`, `rec2idx` and `inspect`, run as a user runs them."""
import hashlib
import json
import os
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from conftest import ROOT

from mxnet import recordio
from mxnet.cli import im2rec, main

cv2 = pytest.importorskip('cv2')


@pytest.fixture
def photos(tmp_path):
    """Two folders with three pictures each, of 40 x 30 pixels, and one above them."""
    folder = tmp_path / 'photos'
    draw = np.random.RandomState(0)
    for name in ('above.png', 'cat/1.jpg', 'cat/2.jpg', 'cat/3.JPG', 'dog/1.jpeg', 'dog/2.png', 'dog/3.jpg',
                 'dog/notes.txt'):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith('.txt'):
            path.write_text('no picture')
            continue
        coarse = draw.randint(0, 255, (3, 4, 3), dtype=np.uint8)
        data = cv2.imencode(path.suffix, cv2.resize(coarse, (40, 30)))[1]
        path.write_bytes(data.tobytes())
    return folder


@pytest.fixture
def remx(tmp_path, monkeypatch, capsys):
    """Runs a command in the folder of the photos -> (exit status, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        status = main([str(argument) for argument in arguments])
        return status, *capsys.readouterr()
    return run


def records(path):
    """[(key, header, bytes)] of a .rec with its .idx."""
    with recordio.MXIndexedRecordIO(f'{path}.idx', f'{path}.rec', 'r') as reader:
        return [(key, *recordio.unpack(reader.read_idx(key))) for key in reader.keys]


# ---------------------------------------------------------------------- lists
def test_lists(photos, remx, tmp_path):
    """The order is that of upstream's tool for the same names: recorded from MXNet 1.9.1."""
    status, out, _ = remx('im2rec', '--list', '--recursive', 'all', 'photos')
    assert status == 0 and out.splitlines()[:3] == ['. 0', 'cat 1', 'dog 2']
    assert (tmp_path / 'all.lst').read_text() == (
        '0\t0.000000\tabove.png\n4\t2.000000\tdog/1.jpeg\n2\t1.000000\tcat/2.jpg\n6\t2.000000\tdog/3.jpg\n'
        '5\t2.000000\tdog/2.png\n3\t1.000000\tcat/3.JPG\n1\t1.000000\tcat/1.jpg\n')
    remx('im2rec', '--list', 'flat', 'photos')
    assert (tmp_path / 'flat.lst').read_text() == '0\t0.000000\tabove.png\n'
    remx('im2rec', '--list', '--recursive', '--no-shuffle', '--exts', 'JPEG', '.png', '--', 'some', 'photos')
    assert [line.split('\t')[2] for line in (tmp_path / 'some.lst').read_text().splitlines()] == [
        'above.png', 'dog/1.jpeg', 'dog/2.png']


@pytest.mark.parametrize('options, lengths', [
    (['--train-ratio', '0.5'], {'a_train': 3, 'a_val': 4}),
    (['--train-ratio', '0.5', '--test-ratio', '0.5'], {'a_train': 3, 'a_test': 3}),
    (['--train-ratio', '0.5', '--test-ratio', '0.2'], {'a_train': 3, 'a_test': 1, 'a_val': 3}),
    (['--chunks', '3'], {'a_0': 3, 'a_1': 3, 'a_2': 1}),
    (['--chunks', '2', '--train-ratio', '0.75'], {'a_0_train': 3, 'a_0_val': 1, 'a_1_train': 3, 'a_1_val': 0}),
])
def test_splits(photos, remx, tmp_path, options, lengths):
    assert remx('im2rec', '--list', '--recursive', *options, 'a', 'photos')[0] == 0
    assert {p.stem: len(p.read_text().splitlines()) for p in tmp_path.glob('*.lst')} == lengths


def test_links_that_lead_back_end(photos, remx, tmp_path):
    (photos / 'cat' / 'up').symlink_to('..')
    (photos / 'more').symlink_to('dog')
    remx('im2rec', '--list', '--recursive', '--no-shuffle', 'a', 'photos')
    names = [line.split('\t')[2] for line in (tmp_path / 'a.lst').read_text().splitlines()]
    assert len(names) == 10 and 'more/2.png' in names


@pytest.mark.parametrize('arguments, problem', [
    (['--list', 'a', 'nowhere'], 'nowhere: no such folder'),
    (['--list', '--chunks', '0', 'a', 'photos'], '--chunks'),
    (['--list', '--train-ratio', '0.8', '--test-ratio', '0.3', 'a', 'photos'], 'together at most 1'),
    (['--list', '--exts', '.gif', '--', 'a', 'photos'], 'has no images .gif; --recursive'),
    (['a', 'photos'], 'a*.lst; remx im2rec --list makes one'),
    (['nowhere/a', 'photos'], 'nowhere: no such folder'),
])
def test_mistakes(photos, remx, arguments, problem):
    status, _, err = remx('im2rec', *arguments)
    assert status == 1 and problem in err and err.startswith('remx im2rec: ')


# ---------------------------------------------------------------------- records
@pytest.mark.parametrize('processes', [1, pytest.param(2, marks=pytest.mark.slow)])
def test_bytes_of_files(photos, remx, tmp_path, processes):
    """With --pass-through a record is header and file, in the order of the list with any number of processes."""
    remx('im2rec', '--list', '--recursive', 'a', 'photos')
    assert remx('im2rec', '--pass-through', '--num-thread', processes, 'a', 'photos')[0] == 0
    lines = [line.split('\t') for line in (tmp_path / 'a.lst').read_text().splitlines()]
    expected = [(int(n), (0, float(label), int(n), 0), (photos / name).read_bytes()) for n, label, name in lines]
    assert records(tmp_path / 'a') == expected


def test_the_same_bytes_as_upstream(photos, remx, tmp_path):
    """The sum is that of the file which tools/im2rec.py of MXNet 1.9.1 wrote of these pictures."""
    for number in range(4):
        (photos / f'{number}.jpg').write_bytes(b'\xff\xd8picture' * (number + 1) + recordio._MAGIC * number)
    (tmp_path / 'b.lst').write_text('3\t1\t3\t3.jpg\n0\t2.5\t0.5\t0.jpg\n2\t0\t1\t2.jpg\n1\t7\t8\t1.jpg\n')
    assert remx('im2rec', '--pass-through', '--pack-label', 'b', 'photos')[0] == 0
    assert hashlib.sha1((tmp_path / 'b.rec').read_bytes()).hexdigest() == '895854f629326a5b739ef2daf9701397bba57321'
    assert (tmp_path / 'b.idx').read_text() == '3\t0\n0\t100\n2\t152\n1\t228\n'


def test_pictures(photos, remx, tmp_path):
    remx('im2rec', '--list', '--recursive', 'a', 'photos')
    remx('im2rec', '--resize', 24, 'a', 'photos')
    for _, _, data in records(tmp_path / 'a'):
        assert data[:3] == b'\xff\xd8\xff' and cv2.imdecode(np.frombuffer(data, np.uint8), -1).shape == (24, 32, 3)
    remx('im2rec', '--center-crop', '--color', 0, '--encoding', '.png', 'a', 'photos')
    for key, _, data in records(tmp_path / 'a'):
        found = cv2.imdecode(np.frombuffer(data, np.uint8), -1)
        assert data[1:4] == b'PNG' and found.shape == (30, 30)
        if key == 0:
            np.testing.assert_array_equal(found, cv2.imread(str(photos / 'above.png'), 0)[:, 5:35])
    sizes = []
    for quality in (20, 95):
        remx('im2rec', '--quality', quality, 'a', 'photos')
        sizes.append((tmp_path / 'a.rec').stat().st_size)
    assert sizes[0] < 0.8 * sizes[1]


def test_several_labels(photos, remx, tmp_path):
    (tmp_path / 'a.lst').write_text('4\t1\t2.5\t-3\tcat/1.jpg\n9\t7\tdog/3.jpg\n')
    remx('im2rec', '--pack-label', 'a', 'photos')
    (key, first, _), (_, second, _) = records(tmp_path / 'a')
    assert key == first.id == 4 and first.flag == 3 and first.label.tolist() == [1, 2.5, -3]
    assert (second.flag, second.label, second.id) == (0, 7, 9)
    remx('im2rec', 'a', 'photos')
    assert records(tmp_path / 'a')[0][1][:3] == (0, 1, 4)


def test_several_lists(photos, remx, tmp_path):
    remx('im2rec', '--list', '--recursive', '--train-ratio', 0.5, 'sets_a', 'photos')
    assert remx('im2rec', '--pass-through', 'sets', 'photos')[0] == 0
    assert {p.name for p in tmp_path.glob('*.rec')} == {'sets_a_train.rec', 'sets_a_val.rec'}
    (tmp_path / 'sets_a_train.rec').unlink()
    assert remx('im2rec', '--pass-through', tmp_path, 'photos')[0] == 0         # a folder: all lists in it
    assert (tmp_path / 'sets_a_train.rec').exists()


@pytest.mark.parametrize('processes', [1, pytest.param(2, marks=pytest.mark.slow)])
def test_what_cannot_be_read_is_named(photos, remx, tmp_path, processes):
    remx('im2rec', '--list', '--recursive', '--no-shuffle', 'a', 'photos')
    (photos / 'cat' / '1.jpg').write_text('rubbish')
    (photos / 'cat' / '2.jpg').unlink()
    (photos / 'cat' / '3.JPG').write_bytes(b'')
    with open(tmp_path / 'a.lst', 'a') as file:
        file.write('nonsense\n\n8\tone\tdog/1.jpeg\n')
    status, out, err = remx('im2rec', '--num-thread', processes, 'a', 'photos')
    assert status == 0 and '4 records' in out and '3 left out' in out
    assert 'cat/1.jpg is left out: OpenCV cannot decode it' in err
    assert 'cat/2.jpg is left out: No such file' in err and 'cat/3.JPG is left out: it is empty' in err
    assert 'line 8 is left out' in err and 'line 10 is left out' in err
    assert [key for key, *_ in records(tmp_path / 'a')] == [0, 4, 5, 6]


def test_the_wrong_folder(photos, remx, tmp_path):
    """Old records stay when not one picture was found."""
    remx('im2rec', '--list', '--recursive', 'a', 'photos')
    remx('im2rec', '--pass-through', 'a', 'photos')
    before = (tmp_path / 'a.rec').read_bytes()
    status, _, err = remx('im2rec', '--pass-through', 'a', tmp_path)
    assert status == 1 and 'none of its 7 images' in err
    assert (tmp_path / 'a.rec').read_bytes() == before and not list(tmp_path.glob('.mxnet-*'))


class _Fatal(im2rec.Encoder):
    """An encoder in which one picture crashes the process, as one can with a fault of a library."""

    def __call__(self, item):
        if item[2] == 'cat/2.jpg':
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__(item)


@pytest.mark.slow
def test_a_picture_that_kills(photos, remx, tmp_path, monkeypatch):
    remx('im2rec', '--list', '--recursive', 'a', 'photos')
    monkeypatch.setattr(im2rec, 'Encoder', _Fatal)
    status, out, err = remx('im2rec', '--num-thread', 2, '--resize', 20, 'a', 'photos')
    assert status == 0 and '6 records' in out and 'cat/2.jpg is left out: the process' in err
    assert sorted(key for key, *_ in records(tmp_path / 'a')) == [0, 1, 3, 4, 5, 6]


@pytest.mark.parametrize('processes', [1, pytest.param(2, marks=pytest.mark.slow)])
def test_interrupted(photos, tmp_path, processes):
    """Ctrl-C leaves what was there before, no other file and no process."""
    (tmp_path / 'a.lst').write_text(''.join(f'{i}\t0\tabove.png\n' for i in range(200000)))
    (tmp_path / 'a.rec').write_bytes(b'old')
    program = subprocess.Popen(
        [sys.executable, '-m', 'mxnet.cli', 'im2rec', '--num-thread', str(processes), 'a', 'photos'], cwd=tmp_path,
        env={**os.environ, 'PYTHONPATH': str(ROOT)}, stderr=subprocess.PIPE, text=True, start_new_session=True)
    end = time.monotonic() + 60
    while not any(p.stat().st_size > 50000 for p in tmp_path.glob('.mxnet-*')):
        assert program.poll() is None and time.monotonic() < end
        time.sleep(0.01)
    os.killpg(program.pid, signal.SIGINT)           # as a terminal does: to workers, too
    _, err = program.communicate(timeout=60)
    assert program.returncode == 130 and 'stopped' in err and 'Traceback' not in err
    assert (tmp_path / 'a.rec').read_bytes() == b'old'
    assert sorted(p.name for p in tmp_path.iterdir()) == ['a.lst', 'a.rec', 'photos']
    with pytest.raises(ProcessLookupError):
        while time.monotonic() < end:
            os.killpg(program.pid, 0)
            time.sleep(0.05)


def test_neither_torch_nor_opencv(run_python, photos):
    code = ('import sys; sys.modules["cv2"] = sys.modules["torch"] = None\nfrom mxnet.cli import main\n'
            'main(["im2rec", "--list", "--recursive", "a", "photos"])\n'
            'assert main(["im2rec", "--pass-through", "a", "photos"]) == 0\n'
            'assert main(["rec2idx", "a.rec", "b.idx"]) == 0\n'
            'assert main(["inspect", "a.rec"]) == 0\n'
            'assert main(["im2rec", "a", "photos"]) == 1')
    assert 'needs OpenCV: pip install opencv-python-headless' in run_python('-c', code).stderr


def test_the_real_im2rec(photos, remx, tmp_path):
    """Lists and records byte for byte, where there is a Python with MXNet 1.9.1."""
    python = os.environ.get('MXNET191_PYTHON')
    if not python:
        pytest.skip('MXNET191_PYTHON names no Python with MXNet 1.9.1')
    # its tool imports OpenCV even where it does not need it
    code = ('import os, runpy, sys, types; sys.modules.setdefault("cv2", types.ModuleType("cv2")); import mxnet\n'
            'sys.argv[0] = os.path.join(os.path.dirname(mxnet.__file__), "tools", "im2rec.py")\n'
            'runpy.run_path(sys.argv[0], run_name="__main__")')
    for folder in ('ours', 'theirs'):
        (tmp_path / folder).mkdir()
    environment = {key: value for key, value in os.environ.items() if key != 'PYTHONPATH'}
    for arguments in (['--list', '--recursive', '--chunks', '2', '--train-ratio', '0.6', '--test-ratio', '0.2'],
                      ['--pass-through', '--pack-label']):
        subprocess.run([python, '-W', 'ignore', '-c', code, *arguments, 'theirs/a', 'photos'], cwd=tmp_path,
                       env=environment, check=True, capture_output=True)
        assert remx('im2rec', *arguments, 'ours/a', 'photos')[0] == 0
    theirs = {p.name: p.read_bytes() for p in (tmp_path / 'theirs').iterdir()}
    assert len(theirs) == 18 and theirs == {p.name: p.read_bytes() for p in (tmp_path / 'ours').iterdir()}


# ---------------------------------------------------------------------- indices
def test_rec2idx(photos, remx, tmp_path):
    remx('im2rec', '--list', '--recursive', '--no-shuffle', 'a', 'photos')
    remx('im2rec', '--pass-through', 'a', 'photos')
    index = (tmp_path / 'a.idx').read_text()
    assert remx('rec2idx', 'a.rec', 'b.idx')[1] == 'b.idx: 7 records\n'
    assert (tmp_path / 'b.idx').read_text() == index
    (tmp_path / 'a.idx').unlink()
    assert remx('rec2idx', 'a.rec')[0] == 0 and (tmp_path / 'a.idx').read_text() == index


def test_rec2idx_of_damaged_records(photos, remx, tmp_path):
    remx('im2rec', '--list', '--recursive', '--no-shuffle', 'a', 'photos')
    remx('im2rec', '--pass-through', 'a', 'photos')
    at = int((tmp_path / 'a.idx').read_text().splitlines()[2].split('\t')[1])
    with open(tmp_path / 'a.rec', 'r+b') as file:
        file.seek(at)
        file.write(b'oops')
    status, out, err = remx('rec2idx', 'a.rec', 'b.idx')
    assert status == 0 and '6 records, 1 damaged' in out and f'byte {at} is damaged' in err
    (tmp_path / 'c.rec').write_bytes(b'no records at all')
    assert remx('rec2idx', 'c.rec')[0] == 1 and not (tmp_path / 'c.idx').exists()
    assert remx('rec2idx', 'nowhere.rec')[0] == 1


# ---------------------------------------------------------------------- contents
@pytest.fixture
def pictures(photos, remx, tmp_path):
    remx('im2rec', '--list', '--recursive', '--no-shuffle', 'a', 'photos')
    remx('im2rec', '--resize', 24, 'a', 'photos')
    return tmp_path / 'a.rec'


def shown(remx, *arguments):
    status, out, err = remx('inspect', '--json', *arguments)
    assert status in (0, 1) and not err
    return json.loads(out)


def test_inspecting_records(pictures, remx):
    found = shown(remx, 'a.rec', '--rows', 2)
    assert found['kind'] == 'records' and found['summary']['records'] == '7' and not found['problems']
    assert found['summary']['labels'] == '3 different: 0 (1 x), 1 (3 x), 2 (3 x)'
    assert 'all of them right' in found['summary']['index'] and found['more_rows'] == 5
    assert found['rows'][1]['content'] == 'JPEG 32x24' and found['rows'][1]['label'] == '1'
    status, text, _ = remx('inspect', 'a.rec', '--rows', 0)
    assert status == 0 and text.count('JPEG 32x24') == 7 and '--rows' not in text


def test_inspecting_damaged_records(pictures, remx):
    data = bytearray(pictures.read_bytes())
    second = int(pictures.with_suffix('.idx').read_text().splitlines()[1].split('\t')[1])
    data[second + 2] ^= 1
    pictures.write_bytes(data[:-10])
    found = shown(remx, 'a.rec')
    assert found['summary']['records'] == '5'
    assert found['problems'][0].startswith(f'byte {second}: ') and 'a.idx: key 1 ' in ' '.join(found['problems'])
    assert remx('inspect', 'a.rec')[0] == 1


def test_inspecting_an_index(pictures, remx):
    assert shown(remx, 'a.idx')['summary']['records'] == 'a.rec: every key has one'
    with open(pictures.with_suffix('.idx'), 'a') as file:
        file.write('6\t17\nrubbish\n')
    problems = ' '.join(shown(remx, 'a.idx')['problems'])
    assert 'no record begins at byte 17' in problems and 'more than once: 6' in problems and "'rubbish'" in problems


def test_contact_sheets(pictures, remx, tmp_path):
    with recordio.MXIndexedRecordIO(tmp_path / 'b.idx', tmp_path / 'b.rec', 'w') as writer:
        for key, colour in enumerate([(255, 0, 0), (0, 255, 0), (0, 0, 255)]):
            picture = np.full((20, 40, 3), colour, np.uint8)
            writer.write_idx(key, recordio.pack_img((0, key, key, 0), picture, img_fmt='.png', quality=1))
        writer.write_idx(3, recordio.pack((0, 1, 3, 0), b'\xff\xd8\xffno picture'))
    status, out, _ = remx('inspect', 'b.rec', '--sheet', 'sheet.png')
    assert status == 0 and 'sheet.png, 192 x 224 pixels' in out
    sheet = cv2.imread(str(tmp_path / 'sheet.png'))
    assert sheet.shape == (224, 192, 3)
    for (y, x), colour in {(48, 48): (255, 0, 0), (48, 144): (0, 255, 0), (160, 48): (0, 0, 255)}.items():
        assert tuple(sheet[y, x]) == colour and tuple(sheet[y - 40, x]) == (255, 255, 255)
    assert (sheet[112:208, 96:] == (0, 0, 200)).all(-1).sum() > 100     # a cross where there is no picture
    remx('inspect', 'b.rec', '--sheet', 'sheet.png', '--thumbnails', 1)
    assert cv2.imread(str(tmp_path / 'sheet.png')).shape == (112, 96, 3)
    assert 'is for files of records' in remx('inspect', 'b.idx', '--sheet', 'x.png')[2]


def test_inspecting_arrays(remx, tmp_path):
    import mxnet as mx
    weight = mx.nd.array([[1, 2], [3, float('nan')]])
    mx.nd.save(str(tmp_path / 'w.params'), {'arg:fc_weight': weight, 'aux:mean': mx.nd.ones((3,), dtype='float16')})
    found = shown(remx, 'w.params')
    assert found['summary']['numbers'] == '7' and found['summary']['dtypes'] == '1 float32, 1 float16'
    first, second = found['rows']
    assert first == {'name': 'arg:fc_weight', 'shape': [2, 2], 'dtype': 'float32', 'storage': 'default', 'bytes': 16,
                     'min': 1, 'mean': 2, 'max': 3, 'note': '1 are NaN or infinite'}
    assert second['mean'] == 1 and second['bytes'] == 6
    (tmp_path / 'w.params').write_bytes((tmp_path / 'w.params').read_bytes()[:100])
    found = shown(remx, 'w.params')
    assert len(found['rows']) == 1 and found['rows'][0]['name'] == '#0 at byte 24'
    assert found['problems'][0].startswith('w.params: byte ') and 'array 1' in found['problems'][0]


def test_inspecting_networks(remx, tmp_path):
    import mxnet as mx
    x = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=3, name='fc')
    mx.sym.Activation(x, act_type='relu', name='act').save(str(tmp_path / 'n-symbol.json'))
    found = shown(remx, 'n-symbol.json')
    assert found['summary']['operators'] == '1 FullyConnected, 1 Activation' and found['summary']['outputs'] == 'act'
    assert found['rows'][3] == {'number': 3, 'name': 'fc', 'operator': 'FullyConnected',
                                'inputs': 'data, fc_weight, fc_bias', 'attributes': 'num_hidden=3'}
    text = (tmp_path / 'n-symbol.json').read_text()
    (tmp_path / 'n-symbol.json').write_text(text.replace('data', 'dätä')[:60])
    assert shown(remx, 'n-symbol.json')['problems'][0].startswith('byte ')
    (tmp_path / 'n-symbol.json').write_text(json.dumps({'nodes': [{'op': 'x', 'name': 'a', 'inputs': [[5, 0, 0]]}]}))
    assert 'takes node 5' in shown(remx, 'n-symbol.json')['problems'][0]


def test_inspecting_states(remx, tmp_path):
    import mxnet as mx
    optimizer = mx.optimizer.Adam(learning_rate=0.25)
    updater = mx.optimizer.get_updater(optimizer)
    updater(3, mx.nd.ones((2, 4)), mx.nd.ones((2, 4)))
    data = updater.get_states(dump_optimizer=True)
    (tmp_path / 'a.states').write_bytes(data)
    found = shown(remx, 'a.states')
    assert found['rows'] == [{'key': '3', 'state': '(float32 [2, 4], float32 [2, 4])'}]
    assert found['summary']['optimizer'] == 'Adam' and 'lr=0.25' in found['summary']['settings']
    (tmp_path / 'a.states').write_bytes(data[:len(data) // 2])
    assert shown(remx, 'a.states')['problems'][0].startswith('behind byte ')
    (tmp_path / 'a.states').write_bytes(pickle.dumps(os.system))
    assert 'refused' in shown(remx, 'a.states')['problems'][0]


def test_inspecting_other_files(remx, tmp_path, shared):
    (tmp_path / 'a').write_bytes(b'\x00' * 40)
    status, _, err = remx('inspect', 'a')
    assert status == 1 and 'unrecognised file format' in err
    (tmp_path / 'a').write_bytes(b'')
    assert 'is empty' in remx('inspect', 'a')[2] and 'cannot read' in remx('inspect', 'nowhere')[2]
    for path in sorted((shared / 'golden' / 'files').iterdir()):
        if path.suffix in ('.rec', '.idx', '.params', '.states') or path.name.endswith(('-symbol.json', 'ubyte')):
            assert remx('inspect', path)[0] == 0, path.name


def test_inspecting_safetensors(remx, tmp_path):
    header = json.dumps({'w': {'dtype': 'F32', 'shape': [2], 'data_offsets': [0, 8]}}).encode()
    data = len(header).to_bytes(8, 'little') + header + bytes(8)
    (tmp_path / 'w.safetensors').write_bytes(data)
    found = shown(remx, 'w.safetensors')
    assert found['rows'] == [{'name': 'w', 'shape': [2], 'dtype': 'F32', 'bytes': 8}] and not found['problems']
    (tmp_path / 'w.safetensors').write_bytes(data[:-1])
    assert 'w: its values end at byte' in shown(remx, 'w.safetensors')['problems'][0]
