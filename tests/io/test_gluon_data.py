"""Data sets, samplers and functions that make batches; rows that are computed together."""
import pickle
import random

import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon
from mxnet.gluon import contrib, data
from mxnet.gluon.data import _rows, _seeds, batchify
from mxnet.gluon.data.vision import transforms


@pytest.fixture(autouse=True)
def fresh_seeds(monkeypatch):
    """Every test begins as a program does that has seeded nothing, and leaves the generators as they were."""
    state, python = np.random.get_state(), random.getstate()
    monkeypatch.setattr('mxnet._random_state._seeded', False)
    monkeypatch.setattr(_seeds, 'numpy_is_seeded', lambda: False)
    yield
    np.random.set_state(state)
    random.setstate(python)


def lists(loader):
    return [[part.asnumpy().tolist() for part in batch] if isinstance(batch, list) else batch.asnumpy().tolist()
            for batch in loader]


# ---------------------------------------------------------------------- data sets
def test_array_dataset():
    x, y = np.arange(12.0).reshape(6, 2), mx.nd.arange(6)
    both = data.ArrayDataset(x, y, list('abcdef'))
    assert len(both) == 6 and both[2][1] == 2 and both[2][2] == 'c'
    assert isinstance(both[2][1], np.float32)               # one number a sample is NumPy's
    assert data.ArrayDataset(x)[1].tolist() == [2, 3]
    with pytest.raises(AssertionError, match='number 1 has 5'):
        data.ArrayDataset(x, y[:5])
    with pytest.raises(AssertionError, match='at least one'):
        data.ArrayDataset()


def test_parts_of_data_sets():
    numbers = data.SimpleDataset(list(range(10)))
    assert list(numbers.filter(lambda x: x % 3 == 0)) == [0, 3, 6, 9]
    assert [list(numbers.shard(3, i)) for i in range(3)] == [[0, 1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert list(numbers.take(2)) == [0, 1] and len(numbers.take(None)) == len(numbers.take(99)) == 10
    assert list(numbers.sample(data.SequentialSampler(2, 5))) == [5, 6]
    assert list(numbers.take(4).filter(lambda x: x % 2).transform(lambda x: -x)) == [-1, -3]
    for index in (-1, 3):
        with pytest.raises(AssertionError, match='no shard'):
            numbers.shard(3, index)
    with pytest.raises(TypeError, match='Sampler'):
        numbers.sample([1, 2])


def test_transforms_are_lazy_or_not():
    calls = []

    def double(x):
        calls.append(x)
        return 2 * x

    lazy = data.SimpleDataset([1, 2]).transform(double)
    assert calls == [] and lazy[1] == 4 and lazy[1] == 4 and calls == [2, 2]
    done = data.SimpleDataset([1, 2]).transform(double, lazy=False)
    assert calls == [2, 2, 1, 2] and list(done) == [2, 4] and len(calls) == 4
    pairs = data.ArrayDataset([1, 2], [3, 4])
    assert pairs.transform(lambda a, b: a + b)[1] == 6
    assert pairs.transform_first(double)[1] == (4, 4)
    assert data.SimpleDataset([1]).transform_first(double)[0] == 2


def test_abstract_classes_say_what_is_missing():
    with pytest.raises(NotImplementedError, match='Dataset has no __getitem__'):
        data.Dataset()[0]
    with pytest.raises(NotImplementedError, match='Sampler has no __len__'):
        len(data.Sampler())


def test_record_files(tmp_path):
    writer = mx.recordio.MXIndexedRecordIO(str(tmp_path / 'a.idx'), str(tmp_path / 'a.rec'), 'w')
    for i in range(5):
        writer.write_idx(10 * i, b'record %d' % i)
    writer.close()
    records = data.RecordFileDataset(str(tmp_path / 'a.rec'))
    assert len(records) == 5 and records[3] == b'record 3'
    again = pickle.loads(pickle.dumps(records))
    assert again[4] == b'record 4'


# ---------------------------------------------------------------------- samplers
def test_samplers():
    assert list(data.SequentialSampler(3, 2)) == [2, 3, 4] and len(data.SequentialSampler(3)) == 3
    assert sorted(data.RandomSampler(20)) == list(range(20)) and len(data.RandomSampler(20)) == 20
    assert list(data.FilterSampler(lambda x: x > 1, [1, 2, 3])) == [1, 2]
    assert list(contrib.data.IntervalSampler(7, 3)) == [0, 3, 6, 1, 4, 2, 5]
    assert len(contrib.data.IntervalSampler(7, 3, rollover=False)) == 3
    with pytest.raises(AssertionError, match='interval'):
        contrib.data.IntervalSampler(2, 3)


@pytest.mark.parametrize('last, rounds, lengths', [
    ('keep', [[[0, 1, 2], [3, 4, 5], [6]]] * 2, [3, 3]),
    ('discard', [[[0, 1, 2], [3, 4, 5]]] * 2, [2, 2]),
    ('rollover', [[[0, 1, 2], [3, 4, 5]], [[6, 0, 1], [2, 3, 4]], [[5, 6, 0], [1, 2, 3], [4, 5, 6]]], [2, 2, 3]),
])
def test_batches_of_indices(last, rounds, lengths):
    """As lists, and in the quick form that the loader uses."""
    slow, quick = (data.BatchSampler(data.SequentialSampler(7), 3, last) for _ in range(2))
    for expected, length in zip(rounds, lengths, strict=True):
        assert len(slow) == len(quick) == length
        assert list(slow) == expected
        assert [b.tolist() for b in data.sampler.index_batches(quick)] == expected
    with pytest.raises(ValueError, match='rollover'):
        list(data.BatchSampler(data.SequentialSampler(7), 3, 'forget'))


def test_seeds_of_the_order(monkeypatch):
    def order():
        return list(data.RandomSampler(50))

    assert order() != order()
    mx.random.seed(3)
    first = order(), order()
    mx.random.seed(3)
    assert (order(), order()) == first and first[0] != first[1]
    monkeypatch.setattr(_seeds, 'numpy_is_seeded', lambda: True)        # who seeds NumPy gets NumPy's order
    np.random.seed(3)
    seeded = order()
    np.random.seed(3)
    expected = np.arange(50)
    np.random.shuffle(expected)
    assert seeded == expected.tolist()


def test_numpy_tells_whether_it_was_seeded(run_python):
    code = ('import numpy as np; from mxnet.gluon.data._seeds import numpy_is_seeded as seeded; np.random.rand();'
            'print(seeded()); np.random.seed(1); np.random.rand(); print(seeded())')
    assert run_python('-c', code).stdout.split() == ['False', 'True']


# ---------------------------------------------------------------------- batches
def test_default_batches():
    assert lists([batchify.default_batchify_fn([(1, [2, 3]), (4, [5, 6])])]) == [[[1, 4], [[2, 3], [5, 6]]]]
    batch = batchify.default_batchify_fn([mx.nd.ones((2, 3)), mx.nd.zeros((2, 3))])
    assert batch.shape == (2, 2, 3) and batch.dtype == np.float32
    assert batchify.default_batchify_fn([np.float16(1), np.float16(2)]).dtype == np.float16
    with pytest.raises(ValueError, match=r'\(2,\) and \(3,\).*Pad'):
        batchify.default_batchify_fn([mx.nd.ones((2,)), mx.nd.ones((3,))])
    with pytest.raises(TypeError, match='str.*AsList'):
        batchify.default_batchify_fn(['a', 'b'])
    with pytest.raises(TypeError, match='different shapes.*Pad'):
        batchify.default_batchify_fn([[1, 2], [3]])


def test_other_ways_to_make_batches():
    assert batchify.Stack()([[1, 2], [3, 4]]).asnumpy().tolist() == [[1, 2], [3, 4]]
    padded, lengths = batchify.Pad(val=-1, ret_length=True)([mx.nd.ones((2, 1)), mx.nd.zeros((1, 3))])
    assert padded.asnumpy().tolist() == [[[1, -1, -1], [1, -1, -1]], [[0, 0, 0], [-1, -1, -1]]]
    assert lengths.asnumpy().tolist() == [2, 1]
    assert batchify.Pad(round_to=4, dtype='float64')([[1], [2, 3]]).shape == (2, 4)
    assert [a.shape for a in batchify.Append()([[1, 2], [3]])] == [(1, 2), (1, 1)]
    assert [a.shape for a in batchify.Append(expand=False)([[1, 2], [3]])] == [(2,), (1,)]
    assert batchify.AsList()(('a', 'b')) == ['a', 'b']
    words, labels = batchify.Group([batchify.Pad(), batchify.Stack()])([([1, 2], 0), ([3], 1)])
    assert words.shape == (2, 2) and labels.shape == (2,)
    with pytest.raises(ValueError, match='2 functions.*3 parts'):
        batchify.Group(batchify.Pad(), batchify.Stack())([(1, 2, 3)])
    with pytest.raises(TypeError, match='functions'):
        batchify.Group(1, 2)
    with pytest.raises(ValueError, match='axes'):
        batchify.Pad()([[1], [[2]]])


# ---------------------------------------------------------------------- rows
PICTURES = mx.nd.array(np.random.default_rng(0).integers(0, 255, (50, 4, 3, 1)), dtype='uint8')
LABELS = np.arange(50, dtype='int32')


def loader_of(fn, **options):
    return data.DataLoader(data.ArrayDataset(PICTURES, LABELS).transform(fn), 8, **options)


@pytest.mark.parametrize('fn', [
    lambda x, y: (x.astype('float32') / 255, y),
    lambda x, y: ((1 - x.astype(np.float32) * 2 + 0.5) - 3, y.astype('float32')),
    lambda x, y: (x, -y),
    lambda x, y: (x * 2, y),                                                # bytes stay bytes
    lambda x, y: (x.reshape((-1,)).astype('float64') / (1 + int(y)), y),    # another number for each sample
    lambda x, y: (x / 2 if y % 2 else x * 2, y),
    lambda x, y: (mx.nd.transpose(x.astype('float32'), (2, 0, 1)) / 255, y),
    lambda x, y: x.astype('float16'),
    lambda x, y: (x.asnumpy().max(), x[1:], x.T),
    transforms.Compose([transforms.Cast('float32')]),
], ids=range(10))
def test_rows_give_what_samples_give(fn):
    """Whatever a transform does, its batches are those of the samples that indexing gives."""
    if isinstance(fn, transforms.Compose):
        whole = data.DataLoader(data.ArrayDataset(PICTURES, LABELS).transform_first(fn), 8, shuffle=True)
    else:
        whole = loader_of(fn, shuffle=True)
    plain = data.DataLoader(whole._dataset, 8, shuffle=True, batchify_fn=lambda s: batchify.default_batchify_fn(s))
    found = []
    for loader in (whole, plain):
        mx.random.seed(1)
        found.append([batch if isinstance(batch, list) else [batch] for batch in loader])
    for ours, expected in zip(*found, strict=True):
        for a, b in zip(ours, expected, strict=True):
            assert a.dtype == b.dtype and a.context == b.context and type(a) is type(b)
            np.testing.assert_array_equal(a.asnumpy(), b.asnumpy())


def test_rows_are_computed_together(monkeypatch):
    sizes = []
    monkeypatch.setattr(mx.nd.NDArray, 'astype', lambda self, dtype, copy=True, real=mx.nd.NDArray.astype:
                        (sizes.append(self.shape), real(self, dtype, copy))[1])
    for batch, _ in loader_of(lambda x, y: (x.astype('float32') / 255, y)):
        assert batch.shape[1:] == (4, 3, 1)
    assert [s[0] for s in sizes] == [8] * 6 + [2]


def test_a_row_is_an_array():
    row = _rows.row(PICTURES.materialize(), 3, PICTURES.context)
    later = row.astype('float32') * 2
    assert isinstance(later, mx.nd.NDArray) and later.shape == (4, 3, 1) and later.dtype == np.float32
    np.testing.assert_array_equal(later.asnumpy(), PICTURES[3].asnumpy().astype('float32') * 2)
    assert repr(row) == repr(PICTURES[3])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(later)).asnumpy(), later.asnumpy())
    assert type(pickle.loads(pickle.dumps(later))) is mx.nd.NDArray
    with mx.autograd.record():
        assert not _rows.row(PICTURES.materialize(), 3, PICTURES.context).open_to()
        doubled = _rows.row(PICTURES.materialize(), 3, PICTURES.context) * 2
    np.testing.assert_array_equal(doubled.asnumpy(), (PICTURES[3] * 2).asnumpy())
    weight = _rows.row(PICTURES.materialize(), 3, PICTURES.context).astype('float32')
    weight.attach_grad()
    with mx.autograd.record():
        loss = (weight * weight).sum()
    loss.backward()
    np.testing.assert_array_equal(weight.grad.asnumpy(), 2 * weight.asnumpy())


def test_writing_into_a_sample_writes_into_the_data():
    values = mx.nd.zeros((4, 2))

    def mark(x):
        x[:] = 1
        return x

    assert lists(data.DataLoader(data.SimpleDataset(values).transform(mark), 4)) == [[[1, 1]] * 4]
    assert values.asnumpy().all()


def test_batches_do_not_share_the_data():
    values = mx.nd.zeros((4, 2))
    for order in (None, data.SequentialSampler(4), data.FilterSampler(lambda x: True, values)):
        for batch in data.DataLoader(values, 2, sampler=order):
            batch[:] = 1
    assert not values.asnumpy().any()
    numbers = np.zeros((4, 2))
    for batch in data.DataLoader(numbers, 4):
        batch[:] = 1
    assert not numbers.any()


@pytest.mark.parametrize('dataset, expected', [
    (np.arange(4.0), [[0, 1], [2, 3]]),
    (mx.nd.arange(4), [[[0], [1]], [[2], [3]]]),
    ([([1, 2], 0), ([3, 4], 1)], [[[[1, 2], [3, 4]], [0, 1]]]),
    (np.array(['a', 'b']) == 'a', [[True, False]]),
    (data.SimpleDataset(np.eye(2)), [[[1, 0], [0, 1]]]),
    (data.ArrayDataset(np.arange(4), np.arange(4)).shard(2, 1), [[[2, 3], [2, 3]]]),
    (data.ArrayDataset(np.arange(4), mx.nd.ones((4, 1))).take(3).filter(lambda s: s[0] != 1),
     [[[0, 2], [[1], [1]]]]),
], ids=range(7))
def test_anything_with_an_index_is_a_data_set(dataset, expected):
    assert lists(data.DataLoader(dataset, 2)) == expected


def test_own_ways_of_reading_are_respected():
    class Doubled(data.ArrayDataset):
        def __getitem__(self, idx):
            return super().__getitem__(idx) * 2

    assert lists(data.DataLoader(Doubled(np.arange(3)), 3)) == [[0, 2, 4]]
    backwards = data.DataLoader(np.arange(3), batch_sampler=[[-1, -2], [0]])
    assert lists(backwards) == [[2, 1], [0]]
    with pytest.raises(IndexError):
        list(data.DataLoader(np.arange(3), batch_sampler=[[3]]))


def test_text(tmp_path, monkeypatch):
    (tmp_path / 'wiki.train.tokens').write_text(' a b a \n \n b c d e \n')
    words = contrib.data.text.WikiText2(root=str(tmp_path), seq_len=3)
    assert len(words) == 2 and words.frequencies['a'] == 2
    x, y = words[0]
    assert words.vocabulary.to_tokens(x.asnumpy().tolist()) == ['a', 'b', 'a']
    assert words.vocabulary.to_tokens(y.asnumpy().tolist()) == ['b', 'a', '<eos>']


def test_missing_text_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(contrib.data.text, 'download', lambda *args, **kwargs: (_ for _ in ()).throw(OSError('no net')))
    with pytest.raises(mx.MXNetError, match=r'WikiText103 needs wiki\.test\.tokens, or wikitext-103-v1\.zip.*no net'):
        contrib.data.text.WikiText103(root=str(tmp_path), segment='test')
    with pytest.raises(ValueError, match="'train', 'validation' or 'test'"):
        contrib.data.text.WikiText2(root=str(tmp_path), segment='dev')


def test_nets_take_batches(monkeypatch):
    net = gluon.nn.Dense(2)
    net.initialize()
    for x, _ in loader_of(lambda x, y: (x.astype('float32') / 255, y), pin_memory=True):
        assert x.context == mx.cpu_pinned() and net(x).shape == (x.shape[0], 2)
