"""CSVIter, LibSVMIter and MNISTIter."""
import gzip
import struct
import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies

import mxnet as mx
from mxnet.base import MXNetError
from mxnet.io import _csv, _text


def batches(iterator):
    return [(b.data[0].asnumpy().tolist(), b.pad) for b in iterator]


def everything(iterator):
    """All data of a pass, without what fills up the last batch."""
    return np.concatenate([b.data[0].asnumpy()[:len(b.data[0].asnumpy()) - b.pad] for b in iterator])


@pytest.fixture
def numbers(tmp_path):
    path = tmp_path / 'a.csv'
    path.write_text('1,2\n3,4\n5,6\n7,8\n')
    return str(path)


# ---------------------------------------------------------------------- CSV
def test_rounds(numbers):
    """The last batch takes lines from the beginning, and the next pass goes on behind them."""
    iterator = mx.io.CSVIter(data_csv=numbers, data_shape=(2,), batch_size=3)
    assert isinstance(iterator, mx.io.MXDataIter) and iterator.batch_size == 3
    assert iterator.provide_data == [('data', (3, 2))] and iterator.provide_label == [('softmax_label', (3,))]
    assert batches(iterator) == [([[1, 2], [3, 4], [5, 6]], 0), ([[7, 8], [1, 2], [3, 4]], 2)]
    iterator.reset()
    assert batches(iterator) == [([[5, 6], [7, 8], [1, 2]], 1)]
    iterator.reset()
    batch = iterator.next()
    assert batch.data[0].asnumpy().tolist() == [[3, 4], [5, 6], [7, 8]]
    assert batch.label[0].asnumpy().tolist() == [0, 0, 0] and batch.index.tolist() == [1, 2, 3]
    iterator.reset()        # in the middle of a pass: from the first line again
    assert batches(iterator)[0][0] == [[1, 2], [3, 4], [5, 6]]


def test_reset_in_the_middle(numbers):
    iterator = mx.io.CSVIter(data_csv=numbers, data_shape=(2,), batch_size=1)
    for _ in range(3):
        assert iterator.next().data[0].asnumpy().tolist() == [[1, 2]]
        iterator.reset()


def test_without_rounds(numbers):
    iterator = mx.io.CSVIter(data_csv=numbers, data_shape=(2,), batch_size=3, round_batch=False)
    for _ in range(2):
        first, last = batches(iterator)
        assert first == ([[1, 2], [3, 4], [5, 6]], 0)
        assert last == ([[7, 8], [3, 4], [5, 6]], 2)        # the rest is what it was, as upstream leaves it
        iterator.reset()
    large = mx.io.CSVIter(data_csv=numbers, data_shape=(2,), batch_size=7, round_batch=False)
    assert everything(large).tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]


def test_batches_larger_than_the_file(numbers):
    iterator = mx.io.CSVIter(data_csv=numbers, data_shape=(2,), batch_size=10)
    for _ in range(2):
        [(data, pad)] = batches(iterator)
        assert data == ([[1, 2], [3, 4], [5, 6], [7, 8]] * 3)[:10] and pad == 6
        iterator.reset()


def test_shapes_labels_and_types(numbers, tmp_path):
    labels = tmp_path / 'l.csv'
    labels.write_text('1,2,3\n4,5,6\n7,8,9\n10,11,12\n')
    iterator = mx.io.CSVIter(data_csv=numbers, data_shape='(2, 1)', label_csv=str(labels), label_shape=(3,),
                             batch_size='2', dtype='int64', data_name='x', label_name='y')
    assert iterator.provide_data == [('x', (2, 2, 1))] and iterator.provide_label == [('y', (2, 3))]
    assert iterator.provide_data[0].dtype == np.int64
    batch = iterator.next()
    assert batch.data[0].asnumpy().tolist() == [[[1], [2]], [[3], [4]]] and batch.data[0].dtype == np.int64
    assert batch.label[0].asnumpy().tolist() == [[1, 2, 3], [4, 5, 6]] and batch.label[0].dtype == np.int64


def test_step_by_step(numbers):
    iterator = mx.io.CSVIter(data_csv=numbers, data_shape=(2,), batch_size=3)
    found = []
    while iterator.iter_next():
        found.append((iterator.getdata().asnumpy().tolist(), iterator.getpad()))
        assert iterator.getlabel().shape == (3,) and len(iterator.getindex()) == 3
    assert found == [([[1, 2], [3, 4], [5, 6]], 0), ([[7, 8], [1, 2], [3, 4]], 2)]


def test_debug_skip_load(numbers):
    iterator = mx.io.CSVIter(data_csv=numbers, data_shape=(2,), batch_size=1)
    iterator.debug_skip_load()
    assert [iterator.next().data[0].asnumpy().tolist() for _ in range(9)] == [[[1, 2]]] * 9


@pytest.mark.parametrize('text', [
    '1,2\r\n3,4\r\n', '\n1,2\n\n\n3,4', ' 1 , 2 \n 3,4', '1.0,2.\n+3,4e0\n', '1e0,0.2E1\n30e-1,4\n', '1,2\n3,4',
    '1.000000000000000000000,2\n3,4', '0001,2\n3,4\n',
])
def test_ways_to_write_numbers(text, tmp_path):
    path = tmp_path / 'a.csv'
    path.write_bytes(text.encode())
    assert everything(mx.io.CSVIter(data_csv=str(path), data_shape=(2,), batch_size=1)).tolist() == [[1, 2], [3, 4]]


def test_values_are_exact(tmp_path):
    values = np.random.RandomState(0).standard_normal((50, 7)).astype('float32')
    path = tmp_path / 'a.csv'
    for style in ('%.9g', '%.12f', '%.18e', '%r'):
        text = '\n'.join(','.join(repr(float(v)) if style == '%r' else style % v for v in row) for row in values)
        path.write_text(text)
        found = everything(mx.io.CSVIter(data_csv=str(path), data_shape=(7,), batch_size=50))
        assert np.allclose(found, values, rtol=1e-7, atol=1e-11)
    path.write_text('nan,inf,-inf\n')
    found = everything(mx.io.CSVIter(data_csv=str(path), data_shape=(3,), batch_size=1))
    assert np.isnan(found[0, 0]) and found[0, 1:].tolist() == [np.inf, -np.inf]


NUMBERS = strategies.one_of(
    strategies.integers(-10**20, 10**20).map(str),
    strategies.floats(-1e6, 1e6).map(lambda value: f'{value:.6g}'),
    strategies.floats(-1e30, 1e30).map(repr),
    strategies.text('0123456789.+-eE', min_size=1, max_size=6))
SEPARATORS = strategies.sampled_from([',', ',', ',', ', ', ' ,', ' , ', ',,', ' ', ''])


@settings(max_examples=300, deadline=None)
@given(strategies.lists(strategies.lists(strategies.tuples(NUMBERS, SEPARATORS), min_size=1, max_size=4), min_size=1,
                        max_size=40))
@example([[('1-2', ','), ('.', '')]])               # two mistakes that make the right number of numbers
@example([[('3', ' '), ('4', '')], [('5', '')]])
@example([[('3', ',,'), ('4', ' '), ('5', '')]])
def test_blocks_are_read_as_single_lines_are(lines):
    """What is parsed at once is what Python's own float finds in each field, or it is not parsed at once."""
    loader = _csv._CSV.__new__(_csv._CSV)
    loader._dtype = np.dtype('float64')
    block = '\n'.join(''.join(number + separator for number, separator in line) for line in lines).encode()
    for width in {line.count(b',') + 1 for line in block.split(b'\n')}:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')         # numpy.fromstring says it, and we go the other way
            quick = loader._parse(block, width)
        try:
            slow = loader._parse_slowly('a.csv', 1, block, width, '')
        except MXNetError:
            assert quick is None
        else:
            assert quick is None or np.allclose(quick, slow, rtol=1e-15, atol=0)


def test_files_larger_than_a_block(tmp_path, monkeypatch):
    """Blocks end at the end of a line, wherever that is; and what does not fit in memory is read again."""
    monkeypatch.setattr(_text, '_BLOCK', 37)
    values = np.arange(600).reshape(-1, 3)
    path = tmp_path / 'a.csv'
    path.write_text('\n'.join(','.join(map(str, row)) for row in values) + '\n')
    for kept in (_text._KEPT, 100):
        monkeypatch.setattr(_text, '_KEPT', kept)
        iterator = mx.io.CSVIter(data_csv=str(path), data_shape=(3,), label_csv=str(path), label_shape=(3,),
                                 batch_size=50)
        for _ in range(2):
            found = list(iterator)
            assert (np.concatenate([b.data[0].asnumpy() for b in found]) == values).all()
            assert (np.concatenate([b.label[0].asnumpy() for b in found]) == values).all()
            iterator.reset()
        assert (iterator.handle._kept is None) == (kept == 100)


def test_writing_into_a_batch_changes_nothing_else(numbers):
    iterator = mx.io.CSVIter(data_csv=numbers, data_shape=(2,), batch_size=4)
    for _ in range(3):
        batch = iterator.next()
        assert batch.data[0].asnumpy().tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]
        batch.data[0][:] = 0
        iterator.reset()


def test_several_files(tmp_path):
    for i in range(3):
        (tmp_path / f'{i}.csv').write_text(f'{i},{i}\n')
    for paths in (str(tmp_path), ';'.join(str(tmp_path / f'{i}.csv') for i in range(3))):
        iterator = mx.io.CSVIter(data_csv=paths, data_shape=(2,), batch_size=1)
        assert everything(iterator).tolist() == [[0, 0], [1, 1], [2, 2]]


@pytest.mark.parametrize('text, problem', [
    ('1,2\n3\n', 'line 2: there are 1 values, but data_shape=\\(2,\\) has 2'),
    ('1,2,3\n4\n', 'line 1: there are 3 values'),
    ('1,2\n\nx,3\n', "line 3: 'x' is not a number"),
    ('1,2\n,3\n', "line 2: '' is not a number"),
    ('1,2\n1.2.3,4\n', "line 2: '1.2.3' is not a number"),
    ('1,2\n--1,4\n', "line 2: '--1' is not a number"),
    ('', 'there is no data in'),
])
@pytest.mark.filterwarnings('ignore:string or file could not be read:DeprecationWarning')
def test_bad_lines(text, problem, tmp_path):
    path = tmp_path / 'a.csv'
    path.write_text(text)
    with pytest.raises(MXNetError, match=problem):
        list(mx.io.CSVIter(data_csv=str(path), data_shape=(2,), batch_size=1))


def test_mistakes(numbers, tmp_path):
    with pytest.raises(TypeError, match='CSVIter takes keyword arguments only'):
        mx.io.CSVIter(numbers)
    with pytest.raises(MXNetError, match='CSVIter needs data_shape, batch_size'):
        mx.io.CSVIter(data_csv=numbers)
    with pytest.raises(MXNetError, match="batch_size='x' is not accepted; it takes an int >= 0"):
        mx.io.CSVIter(data_csv=numbers, data_shape=(2,), batch_size='x')
    with pytest.raises(MXNetError, match='batch_size must be positive'):
        mx.io.CSVIter(data_csv=numbers, data_shape=(2,), batch_size=0)
    with pytest.raises(MXNetError, match="dtype='int8' is not accepted; it takes one of 'float32', 'int32'"):
        mx.io.CSVIter(data_csv=numbers, data_shape=(2,), batch_size=1, dtype='int8')
    with pytest.raises(MXNetError, match='none.csv: cannot read: No such file'):
        mx.io.CSVIter(data_csv=str(tmp_path / 'none.csv'), data_shape=(2,), batch_size=1)
    ignored = r"CSVIter has no argument 'batchsize' \(did you mean batch_size\?\); it is ignored"
    with pytest.warns(UserWarning, match=ignored):
        mx.io.CSVIter(data_csv=numbers, data_shape=(2,), batch_size=1, batchsize=3)
    short = tmp_path / 'l.csv'
    short.write_text('1\n')
    with pytest.raises(MXNetError, match='has 1 labels, fewer than the lines of'):
        list(mx.io.CSVIter(data_csv=numbers, label_csv=str(short), data_shape=(2,), batch_size=1))


# ---------------------------------------------------------------------- LibSVM
LINES = '1.0 0:0.5 2:1.2\n-2.0\n-3.0 0:0.6 1:2.4 2:1.2\n4 2:-1.2\n'
DENSE = np.array([[0.5, 0, 1.2], [0, 0, 0], [0.6, 2.4, 1.2], [0, 0, -1.2]], 'float32')


@pytest.fixture
def sparse(tmp_path):
    path = tmp_path / 'data.t'
    path.write_text(LINES)
    return str(path)


def test_sparse_rows(sparse):
    iterator = mx.io.LibSVMIter(data_libsvm=sparse, data_shape=(3,), batch_size=3)
    assert iterator.provide_data == [('data', (3, 3))] and iterator.provide_label == [('softmax_label', (3,))]
    first, second = list(iterator)
    assert first.data[0].stype == 'csr' and (first.data[0].asnumpy() == DENSE[:3]).all()
    assert first.label[0].asnumpy().tolist() == [1, -2, -3] and first.pad == 0
    assert (second.data[0].asnumpy() == DENSE[[3, 0, 1]]).all() and second.pad == 2
    assert second.label[0].asnumpy().tolist() == [4, 1, -2] and second.index.tolist() == [3, 0, 1]
    for batch in (first, second):
        batch.data[0].check_format(full_check=True)
    iterator.reset()
    assert (next(iterator).data[0].asnumpy() == DENSE[[2, 3, 0]]).all()


def test_sparse_labels(sparse, tmp_path):
    labels = tmp_path / 'label.t'
    labels.write_text('1.0\n-2.0 0:0.125\n-3.0 2:1.2\n4 1:1.0 2:-1.2\n')
    iterator = mx.io.LibSVMIter(data_libsvm=sparse, data_shape=(3,), label_libsvm=str(labels), label_shape=(4,),
                                batch_size=2)
    found = [batch.label[0] for batch in iterator]
    assert all(label.stype == 'csr' and label.shape == (2, 4) for label in found)
    assert np.allclose(np.concatenate([label.asnumpy() for label in found]),
                       [[0, 0, 0, 0], [0.125, 0, 0, 0], [0, 0, 1.2, 0], [0, 1, -1.2, 0]])


@pytest.mark.parametrize('text', [
    LINES, LINES.replace('\n', '\r\n'), LINES.replace(' ', '  '), LINES + '\n\n', LINES.replace(' ', '\t'),
    '# a comment\n' + LINES, LINES.replace('1.2\n', '1.2 # why\n'), LINES.replace('1.0 ', '1.0 qid:7 '),
    LINES.replace('1.0 ', '1.0:0.5 '), LINES.replace('-1.2', '-1.2e0'), LINES.rstrip('\n'),
])
def test_ways_to_write_rows(text, tmp_path):
    path = tmp_path / 'data.t'
    path.write_bytes(text.encode())
    [batch] = mx.io.LibSVMIter(data_libsvm=str(path), data_shape=(3,), batch_size=4)
    assert (batch.data[0].asnumpy() == DENSE).all() and batch.label[0].asnumpy().tolist() == [1, -2, -3, 4]


@pytest.mark.parametrize('text, problem', [
    ('1 0:1\n2 -1:5\n', 'line 2: column -1 is not in a row of 3; columns count from 0'),
    ('# x\n1 3:1\n', 'line 2: column 3 is not in a row of 3'),
    ('1 0:1\n2 x:5\n', "line 2: expected a label and columns with values, .* found '2 x:5'"),
    ('1 0:1\n2 0.5:5\n', 'line 2: expected'),
    ('1 0:1\n2 1:\n', 'line 2: expected'),
])
def test_bad_rows(text, problem, tmp_path):
    path = tmp_path / 'data.t'
    path.write_text(text)
    with pytest.raises(MXNetError, match=problem):
        list(mx.io.LibSVMIter(data_libsvm=str(path), data_shape=(3,), batch_size=1))


def test_parts_fit_together(tmp_path, monkeypatch):
    """Every line is in one part, however the file is cut."""
    monkeypatch.setattr(_text, '_BLOCK', 50)
    for i in range(2):
        lines = [f'{j} {j % 7}:{j}' + ' 8:1' * (j % 3) for j in range(i * 40, i * 40 + 40)]
        (tmp_path / f'{i}.t').write_text('\n'.join(lines) + '\n')
    for parts in (1, 2, 3, 7, 25):
        labels = []
        for part in range(parts):
            iterator = mx.io.LibSVMIter(data_libsvm=str(tmp_path), data_shape=(9,), batch_size=1, num_parts=parts,
                                        part_index=part)
            labels += [batch.label[0].asscalar() for batch in iterator]
        assert labels == list(range(80)), parts


def test_sparse_mistakes(sparse):
    def make(**given):
        return mx.io.LibSVMIter(**{'data_libsvm': sparse, 'data_shape': (3,), 'batch_size': 1, **given})
    with pytest.raises(MXNetError, match='data_shape has one length'):
        make(data_shape=(3, 1))
    with pytest.raises(MXNetError, match=r'label_shape=\(2,\) should be \(1,\) without label_libsvm'):
        make(label_shape=(2,))
    with pytest.raises(MXNetError, match='round_batch=False is not supported'):
        make(round_batch=False)
    with pytest.raises(MXNetError, match='part_index must be between 0 and num_parts - 1, but it is 2'):
        make(num_parts=2, part_index=2)


# ---------------------------------------------------------------------- MNIST
@pytest.fixture
def digits(tmp_path):
    pixels = np.random.RandomState(0).randint(0, 256, (10, 5, 4)).astype('uint8')
    (tmp_path / 'images').write_bytes(struct.pack('>IIII', 2051, *pixels.shape) + pixels.tobytes())
    (tmp_path / 'labels').write_bytes(struct.pack('>II', 2049, 10) + bytes(range(10)))
    return pixels, {'image': str(tmp_path / 'images'), 'label': str(tmp_path / 'labels'), 'silent': True}


def test_digits(digits):
    pixels, files = digits
    iterator = mx.io.MNISTIter(**files, batch_size=3, shuffle=False)
    assert iterator.provide_data == [('data', (3, 1, 5, 4))] and iterator.provide_label == [('softmax_label', (3,))]
    for _ in range(2):
        found = list(iterator)
        assert len(found) == 3, 'the tenth picture fills no batch'
        assert (np.concatenate([b.data[0].asnumpy() for b in found])[:, 0] == pixels[:9] / np.float32(256)).all()
        assert np.concatenate([b.label[0].asnumpy() for b in found]).tolist() == list(range(9))
        iterator.reset()
    flat = next(mx.io.MNISTIter(**files, batch_size=3, shuffle=0, flat=1))
    assert flat.data[0].shape == (3, 20)


def test_shuffled_digits(digits):
    pixels, files = digits

    def labels(**given):
        iterator = mx.io.MNISTIter(**files, batch_size=5, **given)
        found = list(iterator)
        for batch in found:
            numbers = batch.label[0].asnumpy().astype(int)
            assert (batch.data[0].asnumpy()[:, 0] == pixels[numbers] / np.float32(256)).all()
        iterator.reset()
        assert (next(iterator).label[0].asnumpy() == found[0].label[0].asnumpy()).all(), 'one order for all passes'
        return np.concatenate([b.label[0].asnumpy() for b in found]).tolist()
    assert labels(seed=1) == labels(seed=1) != labels(seed=2)
    assert sorted(labels()) == list(range(10)) != labels()


def test_parts_of_digits(digits):
    found = [[b.label[0].asscalar() for b in mx.io.MNISTIter(**digits[1], batch_size=1, shuffle=False, num_parts=3,
                                                             part_index=i)] for i in range(3)]
    assert found == [[0, 1, 2], [3, 4, 5], [6, 7, 8, 9]]


def test_gzipped_digits(digits, tmp_path):
    for name in ('image', 'label'):
        with open(digits[1][name], 'rb') as file:
            (tmp_path / f'{name}.gz').write_bytes(gzip.compress(file.read()))
    iterator = mx.io.MNISTIter(image=str(tmp_path / 'image.gz'), label=str(tmp_path / 'label.gz'), batch_size=10,
                               shuffle=False)
    assert (next(iterator).data[0].asnumpy()[:, 0] == digits[0] / np.float32(256)).all()


def test_damaged_digits(digits, tmp_path):
    _, files = digits
    with pytest.raises(MXNetError, match='is not a file of bytes with 3 axes: it begins with 00000801'):
        mx.io.MNISTIter(**{**files, 'image': files['label']})
    with open(files['image'], 'rb') as file:
        packed = gzip.compress(file.read())
    for damaged in (packed[:-12], packed[:20] + bytes(20) + packed[40:]):
        (tmp_path / 'image.gz').write_bytes(damaged)
        with pytest.raises(MXNetError, match='image.gz is damaged'):
            mx.io.MNISTIter(**{**files, 'image': str(tmp_path / 'image.gz')})
    with open(files['image'], 'r+b') as file:
        file.truncate(100)
    with pytest.raises(MXNetError, match=r'is truncated: \(10, 5, 4\) needs 200 bytes, there are 84'):
        mx.io.MNISTIter(**files)


def test_shared_digits(shared):
    folder = shared / 'data' / 'mnist'
    if not folder.is_dir():
        pytest.skip('no MNIST here')
    images = sorted(folder.glob('t10k-images*'))[0]
    labels = sorted(folder.glob('t10k-labels*'))[0]
    iterator = mx.io.MNISTIter(image=str(images), label=str(labels), batch_size=100, silent=True)
    assert sum(len(batch.data) for batch in iterator) == 100
