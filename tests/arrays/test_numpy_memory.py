"""NumPy arrays whose strides torch refuses, at every place where a NumPy array enters."""
import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon, nd


def arrays():
    structured = np.zeros((1,), dtype=[('a', 'u1'), ('b', 'f4')])
    structured['b'] = 3
    nested = np.zeros((3, 1), dtype=[('a', 'u1'), ('b', 'f4', (1, 2))])
    fixed = np.ones((1, 3), 'float32')
    fixed.flags.writeable = False
    return {
        'flipped batch of one': np.arange(3, dtype='float32').reshape(1, 3)[::-1],
        'flipped vector of one': np.ones(1, 'float32')[::-1],
        'flipped grey channel': np.arange(20, dtype='uint8').reshape(4, 5, 1)[:, :, ::-1],
        'flipped float64': np.ones((1, 2))[::-1],
        'flipped float16': np.ones((1, 2), 'float16')[::-1],
        'flipped bool': np.ones((1, 2), bool)[::-1],
        'flipped int64': np.ones((1, 2), 'int64')[::-1],
        'field of a structured array': structured['b'],
        'row of a nested field': nested['b'][:1],
        'repeated': np.broadcast_to(np.float32(3), (2, 3)),
        'read-only and flipped': fixed[::-1],
        'big-endian': np.arange(3, dtype='>f4'),
        'big-endian and flipped': np.arange(1, dtype='>f4')[::-1],
        'every second, backwards': np.arange(8, dtype='float32')[::-2],
        'column-major': np.arange(12, dtype='float32').reshape(3, 4).T,
        'unaligned': np.frombuffer(b'\0' * 13, 'u1')[1:].view('f4'),
    }


ARRAYS = arrays()


def written(array):
    target = nd.zeros(array.shape)
    target[:] = array
    return target


def written_np(array):
    target = mx.np.zeros(array.shape)
    target[...] = array
    return target


DOORS = {
    'nd.array': nd.array,
    'nd.array of its dtype': lambda a: nd.array(a, dtype=a.dtype.newbyteorder('=')),
    'np.array': mx.np.array,
    'from_numpy': lambda a: nd.from_numpy(a, zero_copy=False),
    'nd setitem': written,
    'np setitem': written_np,
    'np arithmetic': lambda a: mx.np.zeros(a.shape) + a,
    'sparse': lambda a: nd.sparse.row_sparse_array(a).tostype('default') if a.ndim > 1 else nd.array(a),
    'NDArrayIter': lambda a: next(iter(mx.io.NDArrayIter(a, batch_size=len(a)))).data[0],
    'NDArrayIter, shuffled': lambda a: next(iter(mx.io.NDArrayIter({'x': a[:1]}, shuffle=True, batch_size=1))).data[0],
    'DataLoader': lambda a: next(iter(gluon.data.DataLoader(gluon.data.ArrayDataset(a), batch_size=len(a)))),
    'DataLoader of samples': lambda a: next(iter(gluon.data.DataLoader([(a, 1)], batch_size=1)))[0][0],
    'batchify.Stack': lambda a: gluon.data.batchify.Stack()([a])[0],
    'Constant': lambda a: gluon.Constant('c', a).value,
}


@pytest.mark.parametrize('door', DOORS)
def test_values_enter_whatever_the_strides(door):
    for name, array in ARRAYS.items():
        expected = array[:1] if door == 'NDArrayIter, shuffled' else array
        found = DOORS[door](array).asnumpy()
        np.testing.assert_array_equal(found, expected, err_msg=f'{door}: {name}')


def test_shared_memory_stays_shared():
    base = np.arange(3, dtype='float32').reshape(1, 3)
    shared = nd.from_numpy(base[::-1])
    shared[0, 1] = 7
    assert base.tolist() == [[0, 7, 2]]
    with pytest.raises(ValueError, match='byte order'):
        nd.from_numpy(np.arange(3, dtype='>f4'))


def test_indices_with_such_strides():
    one = np.array([2])[::-1]
    assert nd.arange(5)[one].asnumpy().tolist() == [2]
    assert mx.np.arange(5)[one].tolist() == [2]
    x = nd.zeros((4,))
    x[one] = np.array([5.0])[::-1]
    assert x.asnumpy().tolist() == [0, 0, 5, 0]
    assert mx.np.arange(2)[np.array([True, False])[::-1]].tolist() == [1]


def test_metrics_and_augmenters_take_them():
    metric = mx.metric.Accuracy()
    metric.update([np.ones((1,))[::-1]], [np.array([[0.1, 0.9]])[::-1]])
    assert metric.get()[1] == 1
    mean = np.array([1.0])[::-1]
    image = mx.image.ColorNormalizeAug(mean, mean)(nd.ones((2, 2, 1)) * 3)
    assert image.asnumpy().ravel().tolist() == [2] * 4


def test_dlpack_of_a_flipped_array_does_not_end_the_process(run_python):
    done = run_python('-c', '''
import numpy as np, mxnet as mx
print(mx.nd.from_dlpack(np.arange(3, dtype='float32').reshape(1, 3)[::-1]).asnumpy().tolist())
try:
    mx.nd.from_dlpack(np.arange(8, dtype='float32')[::-2])
except mx.MXNetError as error:
    print('copy' in str(error))
''')
    assert done.stdout.split('\n')[:2] == ['[[0.0, 1.0, 2.0]]', 'True']
