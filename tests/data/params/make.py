"""Writes the files of this folder.  To be run by MXNet 1.9.1: `python make.py FOLDER`.

expected.npz has the values, in the files' order: <file>/<number of the array>; sparse arrays are dense there.
"""
import os
import pickle
import sys

import numpy as np

import mxnet as mx

folder = sys.argv[1]
random = np.random.RandomState(7)
expected = {}


def save(write, name, arrays):
    write(os.path.join(folder, name), arrays)
    for i, array in enumerate(arrays.values() if isinstance(arrays, dict) else arrays):
        expected[f'{name}/{i}'] = array.asnumpy()


dense = {}
for dtype in ('float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool'):
    for shape in ((1,), (3,), (2, 3), (2, 1, 3), (1, 2, 1, 2, 1, 2)):
        values = random.randint(0, 2 if dtype == 'bool' else 100, shape)
        dense[f'{dtype} {shape}'] = mx.nd.array(values, dtype=dtype)
dense['cpu 1'] = mx.nd.ones((2,), ctx=mx.cpu(1))
dense['cpu shared'] = mx.nd.ones((2,), ctx=mx.Context('cpu_shared', 0))
dense['\u540d\u5b57 \u00e9'] = mx.nd.ones((1,))
dense[''] = mx.nd.ones((1,))
save(mx.nd.save, 'dense.params', dense)

csr = ([1, 2, 3], [0, 2, 1], [0, 2, 2, 3])
sparse = {
    'rows': mx.nd.sparse.row_sparse_array((random.rand(2, 3), [1, 4]), shape=(6, 3), dtype='float32'),
    'rows of float16': mx.nd.sparse.row_sparse_array((random.rand(2, 2, 2), [0, 3]), shape=(5, 2, 2), dtype='float16'),
    'no rows': mx.nd.sparse.zeros('row_sparse', (4, 2)),
    'csr': mx.nd.sparse.csr_matrix(csr, shape=(3, 4), dtype='float32'),
    'csr of int64': mx.nd.sparse.csr_matrix(csr, shape=(3, 4), dtype='int64'),
    'empty csr': mx.nd.sparse.zeros('csr', (2, 5)),
}
save(mx.nd.save, 'sparse.params', sparse)
save(mx.nd.save, 'list.params', [mx.nd.ones((2, 2)), sparse['csr']])
save(mx.nd.save, 'empty.params', [])


def save_pickle(path, arrays):
    with open(path, 'wb') as file:
        pickle.dump(arrays, file, protocol=2)


save(save_pickle, 'arrays.pickle', [mx.nd.array([[1, 2], [3, 4]]), sparse['csr'], sparse['rows']])

mx.npx.set_np()
values = (np.array(1), np.zeros((0, 3)), np.ones((2, 2)))
save(mx.npx.save, 'np.params', {f'{dtype} {i}': mx.np.array(value, dtype=dtype)
                                for dtype in ('float32', 'int64', 'bool', 'uint8') for i, value in enumerate(values)})
np.savez_compressed(os.path.join(folder, 'expected.npz'), **expected)
