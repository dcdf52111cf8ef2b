"""Loaders whose program has the GPU as its default context: worker processes make arrays on the CPU."""
import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon, nd

pytestmark = pytest.mark.gpu


class Made(gluon.data.Dataset):
    """Makes its samples where it is read."""

    def __len__(self):
        return 8

    def __getitem__(self, i):
        return nd.full((3,), i)


class Held(Made):
    """Has its samples as arrays on the GPU."""

    def __init__(self):
        self._rows = [nd.full((3,), i) for i in range(8)]

    def __getitem__(self, i):
        return self._rows[i] * 1


class Placed(Made):
    """Names the GPU itself."""

    def __init__(self):
        self._ctx = mx.gpu(0)

    def __getitem__(self, i):
        return nd.full((3,), i, ctx=self._ctx)


def arrays():
    return nd.arange(8).reshape((8, 1)).broadcast_to((8, 3))


SETS = {
    'made': Made, 'held': Held, 'placed': Placed, 'array': lambda: gluon.data.ArrayDataset(arrays()),
    'list': lambda: gluon.data.SimpleDataset([nd.full((3,), i) for i in range(8)]),
    'transformed': lambda: gluon.data.ArrayDataset(arrays()).transform(lambda x: x + 0),
    'of NumPy': lambda: gluon.data.ArrayDataset(np.repeat(np.arange(8.0), 3).reshape(8, 3)).transform(nd.array),
}


@pytest.mark.parametrize('name', SETS)
@pytest.mark.parametrize('pin_memory', [False, True])
def test_workers_make_arrays_on_the_cpu(name, pin_memory):
    with mx.gpu(0):
        dataset = SETS[name]()
        before = dataset[3]
        loader = gluon.data.DataLoader(dataset, 4, num_workers=2, pin_memory=pin_memory, timeout=60)
        for _ in range(2):
            batches = list(loader)
            assert {b.context.device_type for b in batches} == {'cpu_pinned' if pin_memory else 'cpu'}
            rows = np.concatenate([b.asnumpy() for b in batches])
            np.testing.assert_array_equal(rows, np.repeat(np.arange(8.0), 3).reshape(8, 3))
        assert before.context == dataset[3].context         # the program's data set is as it was
