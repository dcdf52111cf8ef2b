"""Iterators over arrays, and those that stand around others."""
import gc
import multiprocessing
import os
import pickle
import sys
import threading
import time

import numpy as np
import pytest

import mxnet as mx
from mxnet.base import MXNetError
from mxnet.io import DataBatch, DataDesc, DataIter, NDArrayIter, PrefetchingIter, ResizeIter
from mxnet.io._ahead import Ahead


def rows(iterator):
    return [batch.data[0].asnumpy().tolist() for batch in iterator]


def pads(iterator):
    return [batch.pad for batch in iterator]


def threads():
    return [t for t in threading.enumerate() if t.name.startswith('mxnet')]


def wait_until(condition, what):
    for _ in range(200):
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError(what)


# ---------------------------------------------------------------------- descriptions and batches
def test_descriptions():
    plain = DataDesc('data', (2, 3))
    name, shape = plain
    assert (name, shape, plain.dtype, plain.layout) == ('data', (2, 3), np.float32, 'NCHW')
    assert plain == ('data', (2, 3)) and plain == DataDesc('data', (2, 3), 'int32', 'TN')
    copy = pickle.loads(pickle.dumps(DataDesc('data', (2, 3), np.int32, 'TN')))
    assert (copy.name, copy.shape, copy.dtype, copy.layout) == ('data', (2, 3), np.int32, 'TN')
    assert [DataDesc.get_batch_axis(layout) for layout in ('NCHW', 'TNC', 'TC', None)] == [0, 1, -1, 0]
    listed = DataDesc.get_list([('a', (1,)), ('b', (2,))], [('b', 'int8'), ('a', 'int32')])
    assert [d.dtype for d in listed] == ['int32', 'int8']
    assert DataDesc.get_list([('a', (1,))], None)[0].dtype == np.float32


def test_batches():
    batch = DataBatch([mx.nd.ones((2, 3))], [mx.nd.ones((2,))], pad=1)
    assert str(batch) == 'DataBatch: data shapes: [(2, 3)] label shapes: [(2,)]'
    assert str(DataBatch([mx.nd.ones((2, 3))])) == 'DataBatch: data shapes: [(2, 3)] label shapes: None'
    with pytest.raises(TypeError, match='data must be a list of arrays, not an NDArray'):
        DataBatch(mx.nd.ones((1,)))


# ---------------------------------------------------------------------- NDArrayIter
@pytest.mark.parametrize('count, size, last, passes', [
    (5, 2, 'pad', [[[0, 1], [2, 3], [4, 0]]] * 2),
    (4, 2, 'pad', [[[0, 1], [2, 3]]] * 2),
    (3, 7, 'pad', [[[0, 1, 2, 0, 1, 2, 0]]] * 2),
    (5, 2, 'discard', [[[0, 1], [2, 3]]] * 2),
    (3, 7, 'discard', [[]] * 2),
    (5, 2, 'roll_over', [[[0, 1], [2, 3]], [[4, 0], [1, 2], [3, 4]], [[0, 1], [2, 3]]]),
    (7, 3, 'roll_over', [[[0, 1, 2], [3, 4, 5]], [[6, 0, 1], [2, 3, 4]], [[5, 6, 0], [1, 2, 3], [4, 5, 6]]]),
    (3, 7, 'roll_over', [[], [], [[0, 1, 2, 0, 1, 2, 0]], []]),
])
def test_last_batches(count, size, last, passes):
    iterator = NDArrayIter(np.arange(count), batch_size=size, last_batch_handle=last)
    for expected in passes:
        assert rows(iterator) == expected
        with pytest.raises(StopIteration):
            iterator.next()
        iterator.reset()


def test_pads():
    assert pads(NDArrayIter(np.arange(5), batch_size=2)) == [0, 0, 1]
    assert pads(NDArrayIter(np.arange(3), batch_size=7)) == [4]
    rolling = NDArrayIter(np.arange(5), batch_size=3, last_batch_handle='roll_over')
    assert pads(rolling) == [0]
    rolling.reset()
    assert pads(rolling) == [2, 0]      # so many of the first batch come from before, as upstream counts


def test_hard_reset_forgets_leftovers():
    iterator = NDArrayIter(np.arange(5), batch_size=2, last_batch_handle='roll_over')
    list(iterator)
    iterator.hard_reset()
    assert rows(iterator) == [[0, 1], [2, 3]]


def test_step_by_step():
    """`while iter_next()` gives the batches of `for`."""
    for last in ('pad', 'discard', 'roll_over'):
        iterator = NDArrayIter(np.arange(5), np.arange(5) * 2, batch_size=2, last_batch_handle=last)
        found = []
        while iterator.iter_next():
            found.append(iterator.getdata()[0].asnumpy().tolist())
            assert iterator.getlabel()[0].asnumpy().tolist() == [2 * x for x in found[-1]]
            assert iterator.getindex() is None
        iterator.hard_reset()
        assert found == rows(iterator)
    with pytest.raises(MXNetError, match='no batch here; call reset'):
        iterator.getdata()


def test_names_and_shapes():
    data = {'b': np.zeros((4, 3), np.int64), 'a': mx.nd.zeros((4,), dtype='int32')}
    iterator = NDArrayIter(data, [np.zeros(4), np.zeros((4, 2))], batch_size=2)
    assert iterator.provide_data == [('a', (2,)), ('b', (2, 3))]
    assert [d.dtype for d in iterator.provide_data] == [np.int32, np.float32]
    assert iterator.provide_label == [('_0_softmax_label', (2,)), ('_1_softmax_label', (2, 2))]
    assert iterator.num_source == len(iterator.data_list) == 4
    batch = iterator.next()
    assert [a.shape for a in batch.data] == [(2,), (2, 3)] and batch.data[0].dtype == np.int32
    assert list(data) == ['b', 'a'] and isinstance(data['b'], np.ndarray), 'what was given is left alone'
    assert NDArrayIter(np.zeros(3), data_name='x').provide_data == [('x', (1,))]
    assert NDArrayIter(np.zeros(3)).provide_label == []


def test_batches_are_copies():
    source = mx.nd.arange(4)
    iterator = NDArrayIter(source, batch_size=2)
    iterator.next().data[0][:] = 9
    assert source.asnumpy().tolist() == [0, 1, 2, 3]


def test_layout():
    """Examples are along the axis called N; labels without that axis have them along the first."""
    data = np.arange(2 * 5 * 3).reshape(2, 5, 3)
    iterator = NDArrayIter(data, np.arange(5), batch_size=2, layout='TNC')
    assert iterator.provide_data == [('data', (2, 2, 3))] and iterator.provide_data[0].layout == 'TNC'
    assert iterator.provide_label == [('softmax_label', (2,))]
    batches = list(iterator)
    assert len(batches) == 3
    assert (batches[2].data[0].asnumpy() == data[:, [4, 0]]).all()
    assert batches[2].label[0].asnumpy().tolist() == [4, 0]


@pytest.mark.parametrize('last', ['pad', 'discard', 'roll_over'])
def test_shuffled_orders_are_upstreams(last):
    """What MXNet 1.9.1 gives after numpy.random.seed(3)."""
    np.random.seed(3)
    iterator = NDArrayIter(np.arange(7), np.arange(7) * 10, 3, shuffle=True, last_batch_handle=last)
    expected = {
        'pad': [[[4, 6, 5], [3, 1, 0], [2, 4, 6]], [[5, 6, 2], [0, 3, 4], [1, 5, 6]],
                [[3, 6, 4], [0, 2, 5], [1, 3, 6]]],
        'discard': [[[4, 6, 5], [3, 1, 0]], [[5, 6, 2], [0, 3, 4]], [[3, 6, 4], [0, 2, 5]]],
        'roll_over': [[[4, 6, 5], [3, 1, 0]], [[2, 5, 6], [2, 0, 3]], [[4, 1, 3], [6, 4, 0], [2, 5, 1]]],
    }[last]
    for one in expected:
        batches = list(iterator)
        assert [b.data[0].asnumpy().tolist() for b in batches] == one
        assert all((b.label[0].asnumpy() == 10 * b.data[0].asnumpy()).all() for b in batches)
        iterator.reset()


def test_idx_is_the_order():
    iterator = NDArrayIter(np.arange(20), shuffle=True)
    for _ in range(3):
        assert [x for [x] in rows(iterator)] == iterator.idx.tolist()
        assert sorted(iterator.idx) == list(range(20))
        iterator.reset()


@pytest.mark.parametrize('arguments, error, text', [
    ({'data': None}, ValueError, "'data' is empty"),
    ({'data': []}, ValueError, "'data' is empty"),
    ({'data': 'x'}, TypeError, "'data' must be an NDArray, .* not the str 'x'"),
    ({'data': (np.ones(2),)}, TypeError, 'not a tuple'),
    ({'data': {'a': object()}}, TypeError, "'a' must be an NDArray, .* not an object"),
    ({'data': np.ones(3), 'label': np.ones(2)}, MXNetError, "'softmax_label' has 2 examples, but 'data' has 3"),
    ({'data': np.ones((0, 2))}, MXNetError, 'has no examples'),
    ({'data': np.ones(3), 'batch_size': 0}, ValueError, 'batch_size must be positive, not 0'),
    ({'data': np.ones(3), 'last_batch_handle': 'x'}, ValueError, "last_batch_handle must be one of .*, not 'x'"),
    ({'data': np.ones(3), 'layout': 'CHW'}, ValueError, "layout 'CHW' has no N"),
])
def test_mistakes(arguments, error, text):
    with pytest.raises(error, match=text):
        NDArrayIter(**arguments)


def test_sparse_arrays():
    dense = np.arange(21.).reshape(7, 3) * (np.arange(21).reshape(7, 3) % 2)
    csr = mx.nd.array(dense).tostype('csr')
    with pytest.raises(NotImplementedError, match="'discard' only, not 'pad'"):
        NDArrayIter(csr, batch_size=2)
    iterator = NDArrayIter(csr, dense, batch_size=2, last_batch_handle='discard')
    batches = list(iterator)
    assert len(batches) == 3 and all(b.data[0].stype == 'csr' for b in batches)
    assert (np.concatenate([b.data[0].asnumpy() for b in batches]) == dense[:6]).all()
    shuffled = NDArrayIter({'x': csr, 'y': dense}, batch_size=3, shuffle=True, last_batch_handle='discard')
    for _ in range(3):
        for batch in shuffled:
            batch.data[0].check_format(full_check=True)
            assert (batch.data[0].asnumpy() == batch.data[1].asnumpy()).all()
        assert len(set(shuffled.idx)) == 7
        shuffled.reset()
    scipy = pytest.importorskip('scipy.sparse')
    found = list(NDArrayIter({'x': scipy.csr_matrix(dense)}, batch_size=7, last_batch_handle='discard'))
    assert (found[0].data[0].asnumpy() == dense).all()


class FakeDataset:
    """What h5py.Dataset can be indexed with: a slice, or increasing numbers."""

    def __init__(self, values):
        self.values, self.shape, self.dtype = values, values.shape, values.dtype

    def __getitem__(self, key):
        key = key if isinstance(key, tuple) else (key,)
        if isinstance(key[-1], np.ndarray):
            assert (np.diff(key[-1]) > 0).all()
        return self.values[key]


def test_h5py(monkeypatch):
    """Datasets stay in their file: each batch is read when it is asked for."""
    monkeypatch.setitem(sys.modules, 'h5py', type('h5py', (), {'Dataset': FakeDataset}))
    data = np.arange(14.).reshape(7, 2)
    for shuffle in (False, True):
        for last in ('pad', 'discard', 'roll_over'):
            iterator = NDArrayIter(FakeDataset(data), {'y': data, 'z': FakeDataset(data)}, 3, shuffle, last)
            for _ in range(3):
                for batch in iterator:
                    assert (batch.data[0].asnumpy() == batch.label[0].asnumpy()).all()
                    assert (batch.data[0].asnumpy() == batch.label[1].asnumpy()).all()
                iterator.reset()
    assert iterator.provide_data[0].dtype == np.float64 and batch.data[0].dtype == np.float32


# ---------------------------------------------------------------------- around other iterators
def test_resized():
    inner = NDArrayIter(np.arange(5), batch_size=2)
    longer = ResizeIter(inner, 5)
    assert rows(longer) == [[0, 1], [2, 3], [4, 0], [0, 1], [2, 3]]
    assert longer.provide_data == inner.provide_data and longer.batch_size == 2
    longer.reset()
    assert rows(longer)[0] == [0, 1]
    shorter = ResizeIter(NDArrayIter(np.arange(6), batch_size=2), 2, reset_internal=False)
    assert rows(shorter) == [[0, 1], [2, 3]]
    shorter.reset()
    assert rows(shorter) == [[4, 5], [0, 1]]
    assert shorter.getpad() == 0 and shorter.getdata()[0].asnumpy().tolist() == [0, 1]


def test_resizing_nothing():
    class Nothing(DataIter):
        provide_data = provide_label = []

        def next(self):
            raise StopIteration
    with pytest.raises(MXNetError, match='the inner Nothing gives no batches'):
        list(ResizeIter(Nothing(), 2))


def test_prefetched():
    inner = [NDArrayIter({'data': np.arange(5) + k}, {'label': np.arange(5)}, batch_size=2) for k in (0, 10)]
    iterator = PrefetchingIter(inner, [{'data': 'a'}, {'data': 'b'}], [{'label': 'x'}, {'label': 'y'}])
    assert iterator.provide_data == [('a', (2,)), ('b', (2,))] and iterator.batch_size == 2
    assert iterator.provide_label == [('x', (2,)), ('y', (2,))]
    for _ in range(3):
        batches = list(iterator)
        assert [b.data[0].asnumpy().tolist() for b in batches] == [[0, 1], [2, 3], [4, 0]]
        assert [b.data[1].asnumpy().tolist() for b in batches] == [[10, 11], [12, 13], [14, 10]]
        assert [b.pad for b in batches] == [0, 0, 1] and batches[0].provide_data == iterator.provide_data
        with pytest.raises(StopIteration):
            next(iterator)
        iterator.reset()
    next(iterator)
    iterator.reset()
    assert next(iterator).data[0].asnumpy().tolist() == [0, 1] and iterator.getpad() == 0


def test_different_lengths_are_found_out():
    iterator = PrefetchingIter([NDArrayIter(np.arange(4)), NDArrayIter(np.arange(5))])
    with pytest.raises(MXNetError, match='different numbers of examples'):
        list(iterator)


class Failing(DataIter):
    provide_data, provide_label = [DataDesc('data', (1,))], []

    def __init__(self):
        super().__init__(1)
        self.count = 0

    def reset(self):
        self.count = 0

    def next(self):
        self.count += 1
        if self.count == 3:
            raise KeyError('the third one')
        return DataBatch([mx.nd.ones((1,))], [], 0)


def test_errors_arrive_where_their_batch_would():
    iterator = PrefetchingIter(Failing())
    for _ in range(2):
        next(iterator)
        next(iterator)
        for _ in range(2):
            with pytest.raises(KeyError, match='the third one'):
                next(iterator)
        iterator.reset()


def test_abandoned_iterators_leave_no_threads():
    before = len(threads())
    for _ in range(1000):
        iterator = PrefetchingIter(NDArrayIter(np.arange(100)))
        for _ in iterator:
            break
    del iterator
    gc.collect()
    wait_until(lambda: len(threads()) <= before, f'{len(threads())} threads are left')


def test_np_arrays_in_threads():
    """A thread makes the kind of arrays that its owner would."""
    class Kind(DataIter):
        provide_data, provide_label = [DataDesc('data', (1,))], []

        def next(self):
            return DataBatch([mx.util.is_np_array()], [], 0)
    with mx.util.np_array(True):
        assert next(PrefetchingIter(Kind())).data == [True]
    assert next(PrefetchingIter(Kind())).data == [False]


@pytest.mark.skipif(not hasattr(os, 'fork') or sys.platform == 'darwin', reason='no safe fork here')
@pytest.mark.filterwarnings('ignore:.*multi-threaded.*fork:DeprecationWarning')
def test_forked_iterators():
    """Threads are not copied by a fork: the child starts its own."""
    iterator = PrefetchingIter(NDArrayIter(np.arange(4), batch_size=2))
    next(iterator)
    context = multiprocessing.get_context('fork')
    queue = context.SimpleQueue()

    def child():
        iterator.reset()
        queue.put(rows(iterator))
    process = context.Process(target=child)
    process.start()
    process.join(60)
    assert process.exitcode == 0 and queue.get() == [[0, 1], [2, 3]]


def test_ahead_is_not_further_than_asked():
    made = []

    def produce():
        made.append(len(made))
        return made[-1]
    ahead = Ahead(produce, depth=2)
    assert [ahead.next() for _ in range(3)] == [0, 1, 2]
    time.sleep(0.05)
    assert len(made) <= 6       # three taken, two waiting, one in hand
    ahead.stop()
    count = len(made)
    time.sleep(0.05)
    assert len(made) == count
