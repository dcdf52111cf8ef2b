"""`.params`: what MXNet wrote is read to the same values, and written again to the same bytes."""
import io
import json
import os
import struct
import subprocess

import numpy as np
import pytest
import torch
from conftest import ROOT
from files_legacy import listed, old_files, v2

import mxnet as mx
from mxnet._files import paths, pickles
from mxnet._files.params import ELEMENT_TYPES, Record, decode, decode_record, encode, encode_record
from mxnet.base import MXNetError

DATA = ROOT / 'tests' / 'data' / 'params'
OURS = ('dense.params', 'sparse.params', 'list.params', 'empty.params', 'np.params')
GOLDEN = ('list.params', 'dict.params', 'types.params', 'sparse.params', 'np.params', 'np_list.params')
MORE_GOLDEN = ('gluon.params', 'gluon_full_names.params', 'module-0000.params', 'rnn.params', 'export-0000.params',
               'export_np-0000.params')


def dense(record):
    """The values of a record as a NumPy array; sparse ones by the definition of their format."""
    values = record.data.float() if record.data.dtype == torch.bfloat16 else record.data
    values = values.numpy()
    if record.stype == 'default':
        return values
    full = np.zeros(record.shape, values.dtype)
    if record.stype == 'row_sparse':
        full[record.aux[0].numpy()] = values
    else:
        indptr, indices = (index.tolist() for index in record.aux)
        for row in range(record.shape[0]):
            for k in range(indptr[row], indptr[row + 1]):
                full[row, indices[k]] = values[k]
    return full


def check(path, expected, names=None):
    """Loads from a file and from memory, compares, writes again."""
    original = path.read_bytes()
    with paths.open_read(path) as file:
        records, found = decode(file, str(path))
    again, _ = decode(memoryview(original), str(path))
    assert len(records) == len(again) == len(expected)
    for record, other, want in zip(records, again, expected, strict=True):
        assert record.shape == want.shape and record.data.numpy().dtype == want.dtype
        np.testing.assert_array_equal(dense(record), want)
        np.testing.assert_array_equal(dense(other), want)
        for tensor in (record.data, *record.aux):
            assert tensor.data_ptr() % 64 == 0 and tensor.is_contiguous()
            tensor.add_(1) if tensor.dtype != torch.bool else tensor.logical_not_()  # writable and its own
    if names is not None:
        assert found == names
    np_shape = any(record.np_shape for record in again)
    assert b''.join(encode(again, found, np_shape=np_shape)) == original
    return again, found


@pytest.mark.parametrize('name', OURS)
def test_committed_files(name):
    with np.load(DATA / 'expected.npz') as values:
        expected = [values[f'{name}/{i}'] for i in range(sum(key.startswith(name + '/') for key in values.files))]
    records, _ = check(DATA / name, expected)
    assert all(record.np_shape == (name == 'np.params') for record in records)
    assert len(expected) == {'dense.params': 44, 'sparse.params': 6, 'list.params': 2, 'empty.params': 0,
                             'np.params': 12}[name]


def test_names_and_devices_are_kept():
    records, names = decode((DATA / 'dense.params').read_bytes(), 'dense')
    assert names[-4:] == ['cpu 1', 'cpu shared', '名字 é', '']
    assert [record.context for record in records[-4:]] == [(1, 1), (5, 0), (1, 0), (1, 0)]


@pytest.mark.parametrize('name', GOLDEN)
def test_golden_values(shared, name):
    folder = shared / 'golden' / 'files'
    with np.load(folder / 'expected.npz') as values:
        wanted = {key[len(name) + 1:]: values[key] for key in values.files if key.startswith(name + '/')}
    _, names = decode((folder / name).read_bytes(), name)
    keys = names or [str(i) for i in range(len(wanted))]
    assert set(keys) == set(wanted)
    check(folder / name, [wanted[key] for key in keys])


@pytest.mark.parametrize('name', MORE_GOLDEN)
def test_golden_bytes(shared, name):
    path = shared / 'golden' / 'files' / name
    records, names = decode(path.read_bytes(), name)
    assert b''.join(encode(records, names, np_shape=records[0].np_shape)) == path.read_bytes()
    notes = json.loads((path.parent / 'notes.json').read_text()).get(name)
    if isinstance(notes, list):
        assert sorted(names) == sorted(notes)


@pytest.mark.parametrize('name', old_files())
def test_older_versions(name):
    data, arrays, names = old_files()[name]
    records, found = decode(data, name)
    assert found == names
    for record, array in zip(records, arrays, strict=True):
        assert record.shape == array.shape and not record.np_shape
        np.testing.assert_array_equal(dense(record), array)
        if name[0] == 'v':
            assert record.context == ((2, 3) if '-2-' in name else (1, 0))
    # Written again, they are files of today with the same content.
    again, _ = decode(b''.join(encode(records, names)), name)
    for record, other in zip(records, again, strict=True):
        assert torch.equal(record.data, other.data) and record.context == other.context


@pytest.mark.parametrize('data', [struct.pack('<I', 0), struct.pack('<II', 0xF993FAC8, 0),
                                  struct.pack('<Iii', 0xF993FAC9, 0, 0)], ids=['v0', 'v1', 'v2'])
def test_array_without_data(data):
    records, names = decode(listed([data, v2(np.ones(2, 'float32'), 0)], ['none', 'some']), 'x')
    assert [record.shape for record in records] == [None, (2,)] and names == ['none', 'some']
    assert encode_record(records[0]) == struct.pack('<Iii', 0xF993FAC9, 0, 0)
    with pytest.raises(MXNetError, match='without data'):
        encode_record(records[0], np_shape=True)


@pytest.mark.parametrize('flag', ELEMENT_TYPES)
@pytest.mark.parametrize('np_shape', [False, True])
def test_every_element_type_goes_both_ways(flag, np_shape):
    dtype = ELEMENT_TYPES[flag]
    values = torch.arange(6, dtype=torch.int64).to(dtype).reshape(2, 3)
    for tensor in (values, values.t(), values[:, 1:], values[:0], values[0, 0]):
        record = Record('default', tuple(tensor.shape), tensor)
        if not np_shape and tensor.shape == ():
            with pytest.raises(MXNetError, match=r'shape \(\) needs NumPy shape semantics'):
                encode_record(record)
            continue
        back = decode_record(encode_record(record, np_shape=np_shape), 'x')
        assert back.data.dtype == dtype and back.shape == tuple(tensor.shape) and back.np_shape == np_shape
        assert back.data.tolist() == tensor.tolist()


def test_bool_bytes_are_made_true_or_false():
    record = decode_record(v2(np.array([0, 1, 2, 255], 'uint8'), 7), 'x')
    assert record.data.view(torch.uint8).tolist() == [0, 1, 1, 1]


def test_dense_arrays_are_saved_without_a_copy():
    tensor = torch.arange(1000.)
    chunks = list(encode([Record('default', (1000,), tensor)], ['x']))
    view = next(chunk for chunk in chunks if len(chunk) == 4000)
    tensor[0] = 5
    assert struct.unpack('<f', view[:4]) == (5,)


def test_gradients_do_not_hinder():
    tensor = torch.ones(3, requires_grad=True)
    assert decode_record(encode_record(Record('default', (3,), tensor)), 'x').data.tolist() == [1, 1, 1]


def test_bytes_after_the_list_are_ignored_and_the_file_may_start_anywhere():
    data = listed([v2(np.ones(2, 'float32'), 0)])
    file = io.BytesIO(b'before' + data + b'after')
    file.seek(6)
    assert decode(file, 'x')[0][0].data.tolist() == [1, 1]


@pytest.mark.parametrize('record, words', [
    (Record('default', (3,), torch.ones(2)), r'expected values of shape \(3,\), got \(2,\)'),
    (Record('default', (2,), torch.ones(2, dtype=torch.complex64)), 'no complex64; it has float32'),
    (Record('default', (1,) * 33, torch.ones((1,) * 33)), 'at most 32 dimensions'),
    (Record('coo', (2,), torch.ones(2)), "got 'coo'"),
    (Record('csr', (2, 2), torch.ones(1), (torch.zeros(3, dtype=torch.int64),)), 'expected index arrays'),
    (Record('row_sparse', (4, 2), torch.ones(1, 2), (torch.zeros(2, dtype=torch.int64),)), r'shape \(2, 2\)'),
    (Record('row_sparse', (4, 2), torch.ones(1, 2), (torch.zeros(1),)), 'int64 or int32, got .*float32'),
])
def test_bad_records_are_refused_before_the_first_byte(record, words):
    with pytest.raises(MXNetError, match=words):
        encode([record])


def test_bad_names_are_refused():
    record = Record('default', (1,), torch.ones(1))
    for names, words in ((['a', 'b'], '2'), (['a\0b'], 'NUL'), ([3], 'text'), (['\ud800'], 'text')):
        with pytest.raises(MXNetError, match=words):
            encode([record], names)
    with pytest.raises(MXNetError, match='dense array under NumPy shape semantics'):
        encode([Record('csr', (1, 1), torch.ones(1), (torch.tensor([0, 1]), torch.tensor([0])))], np_shape=True)


class StandIn:
    """An NDArray for pickles."""

    def __init__(self, handle=None):
        assert handle is None

    def __setstate__(self, state):
        self.handle = state['handle']
        self.record = decode_record(self.handle, 'handle')


ARRAY_CLASSES = {('mxnet.ndarray.ndarray', 'NDArray'): StandIn, ('mxnet.ndarray.sparse', 'CSRNDArray'): StandIn,
                 ('mxnet.ndarray.sparse', 'RowSparseNDArray'): StandIn}


def test_pickled_arrays_hold_single_records():
    arrays = pickles.load((DATA / 'arrays.pickle').read_bytes(), ARRAY_CLASSES, 'arrays.pickle')
    with np.load(DATA / 'expected.npz') as values:
        for i, array in enumerate(arrays):
            np.testing.assert_array_equal(dense(array.record), values[f'arrays.pickle/{i}'])
            assert type(array.handle) is bytearray and encode_record(array.record) == array.handle
    assert [array.record.stype for array in arrays] == ['default', 'csr', 'row_sparse']


@pytest.mark.slow
def test_more_than_2_to_the_31_elements(tmp_path):
    """2 GiB, read from a file that is mostly a hole; written to nowhere."""
    count = 2**31 + 8
    head = struct.pack('<QQQ', 0x112, 0, 1) + struct.pack('<Iiiqiii', 0xF993FAC9, 0, 1, count, 1, 0, 3)
    path = tmp_path / 'large.params'
    with open(path, 'wb') as file:
        file.write(head)
        file.seek(len(head) + count - 1)
        file.write(b'\7' + struct.pack('<Q', 0))
    with paths.open_read(path) as file:
        records, _ = decode(file, 'large')
    assert records[0].shape == (count,) and records[0].data[-1] == 7 and records[0].data[-2] == 0
    assert sum(len(chunk) for chunk in encode(records)) == os.path.getsize(path)


# ---- the real MXNet 1.9.1, where there is one ----------------------------------------------------------------------

READ = '''
import sys, os, numpy as np, mxnet as mx
folder = sys.argv[1]
for np_shape in (False, True):
    if np_shape:
        mx.npx.set_np()
    for name in sorted(os.listdir(folder)):
        if name.endswith('.params') and name.startswith('np') == np_shape:
            got = mx.npx.load(os.path.join(folder, name)) if np_shape else mx.nd.load(os.path.join(folder, name))
            names = list(got) if isinstance(got, dict) else []
            arrays = list(got.values()) if isinstance(got, dict) else got
            dense = [a.astype('float32') if name == 'bfloat16.params' else a for a in arrays]
            stypes = [a.stype for a in arrays]
            np.savez(os.path.join(folder, name + '.npz'), names=np.array(names), stypes=np.array(stypes),
                     **{str(i): a.asnumpy() for i, a in enumerate(dense)})
            (mx.npx.save if np_shape else mx.nd.save)(os.path.join(folder, name + '.again'), got)
'''


@pytest.fixture(scope='module')
def real_mxnet():
    python = os.environ.get('MXNET191_PYTHON')
    if not python:
        pytest.skip('MXNET191_PYTHON names no Python with MXNet 1.9.1')
    environment = {key: value for key, value in os.environ.items() if key != 'PYTHONPATH'}

    def run(*arguments, cwd):
        done = subprocess.run([python, *map(str, arguments)], cwd=cwd, env=environment, capture_output=True, text=True,
                              timeout=120)
        assert done.returncode == 0, done.stderr
    return run


def test_real_mxnet_writes_the_committed_files(real_mxnet, tmp_path):
    real_mxnet(DATA / 'make.py', tmp_path, cwd=tmp_path)
    for name in (*OURS, 'arrays.pickle'):
        assert (tmp_path / name).read_bytes() == (DATA / name).read_bytes(), name


def test_real_mxnet_reads_our_files(real_mxnet, tmp_path):
    """Files that we write, of every version, shape and type: MXNet sees the same, and writes the same bytes."""
    ours = {name: data for name, (data, _, _) in old_files().items()}
    for name in OURS:
        records, names = decode((DATA / name).read_bytes(), name)
        ours[name] = b''.join(encode(records, names, np_shape=name == 'np.params'))
    random = torch.Generator().manual_seed(5)
    for number in range(20):
        np_shape = number % 2 == 1
        records = []
        for _ in range(int(torch.randint(0, 6, (), generator=random))):
            ndim = int(torch.randint(0 if np_shape else 1, 7, (), generator=random))
            shape = torch.randint(0 if np_shape else 1, 5, (ndim,), generator=random).tolist()
            dtype = ELEMENT_TYPES[int(torch.randint(0, 8, (), generator=random))]
            data = torch.randint(0, 2 if dtype == torch.bool else 127, shape, generator=random).to(dtype)
            records.append(Record('default', tuple(shape), data))
        ours[f'np{number}.params' if np_shape else f'x{number}.params'] = b''.join(
            encode(records, [f'n{i}' for i in range(len(records))], np_shape=np_shape))
    for name, data in ours.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / 'read.py').write_text(READ)
    real_mxnet('read.py', '.', cwd=tmp_path)
    for name, data in ours.items():
        records, names = decode(data, name)
        with np.load(tmp_path / f'{name}.npz') as seen:
            assert seen['names'].tolist() == names, name
            assert seen['stypes'].tolist() == [record.stype for record in records], name
            for i, record in enumerate(records):
                assert seen[str(i)].dtype == dense(record).dtype, name
                np.testing.assert_array_equal(seen[str(i)], dense(record), err_msg=name)
        if name[0] != 'v' and name not in ('zero-size.params', 'dense.params'):  # those come back as V2, on cpu(0)
            assert (tmp_path / f'{name}.again').read_bytes() == data, name




def test_shapes_that_mean_something_else_in_the_other_mode(tmp_path):
    file = str(tmp_path / 'x.params')
    for saved in (True, False):
        with mx.util.np_shape(saved):
            mx.nd.save(file, [mx.nd.array(np.ones((2, 0)))])
        with mx.util.np_shape(not saved), pytest.raises(mx.MXNetError, match=rf'np_shape\({saved}\)'):
            mx.nd.load(file)
        with mx.util.np_shape(saved):
            assert mx.nd.load(file)[0].shape == (2, 0)
