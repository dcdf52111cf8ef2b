"""Data sets on their way to worker processes: what is on a GPU is replaced, everything else is the same object."""
import threading

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import gluon, nd
from mxnet.gluon.data import _devices
from mxnet.gluon.data._fetch import Fetcher
from mxnet.gluon.data.dataloader import default_batchify_fn


@pytest.fixture
def with_a_gpu(monkeypatch):
    """Arrays of cpu(1) stand for arrays of a GPU."""
    def is_on_gpu(value):
        if isinstance(value, mx.Context):
            return value == mx.cpu(1)
        return isinstance(value, mx.nd.NDArray) and value.context == mx.cpu(1)
    monkeypatch.setattr(torch.cuda, 'is_initialized', lambda: True)
    monkeypatch.setattr(_devices, '_is_on_gpu', is_on_gpu)


class Rows(gluon.data.Dataset):
    def __init__(self, *parts):
        self.parts = parts

    def __len__(self):
        return 4

    def __getitem__(self, i):
        return [p[i] for p in self.parts]


def test_what_is_on_a_gpu_is_copied_and_the_rest_is_shared(with_a_gpu):
    there, here, plain = nd.ones((4, 2), ctx=mx.cpu(1)), nd.zeros((4, 2)), np.ones((4, 2))
    function = lambda x: x          # noqa: E731
    dataset = Rows(there, here, plain, [function, mx.cpu(1)])
    found = _devices.on_cpu(Fetcher(dataset, default_batchify_fn))
    read = found._read.args[0]
    assert read is not dataset and dataset.parts[0] is there
    assert read.parts[0].context == mx.cpu(0) and (read.parts[0].asnumpy() == 1).all()
    assert read.parts[1] is here and read.parts[2] is plain and read.parts[3] == [function, mx.cpu(0)]


def test_a_data_set_without_any_is_not_copied(with_a_gpu):
    dataset = Rows(nd.ones((4, 2)), [np.ones(3)] * 4)
    assert _devices.on_cpu(dataset) is dataset


def test_what_cannot_be_copied_stays(with_a_gpu):
    dataset = Rows(nd.ones((4, 2), ctx=mx.cpu(1)), [threading.Lock()])
    assert _devices.on_cpu(dataset) is dataset


def test_nothing_is_looked_at_before_a_gpu_is_used():
    dataset = Rows(nd.ones((4, 2), ctx=mx.cpu(1)))
    assert torch.cuda.is_initialized() or _devices.on_cpu(dataset) is dataset
