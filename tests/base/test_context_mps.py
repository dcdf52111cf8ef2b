"""`mx.gpu()` on a Mac with Apple silicon.

CI has no such machine: torch is told to report one, and what follows without touching the device is tested.
"""
import pytest
import torch

import mxnet as mx
from mxnet.ndarray import _interop


@pytest.fixture
def mac(monkeypatch):
    monkeypatch.setattr(torch.cuda, 'device_count', lambda: 0)
    monkeypatch.setattr(torch.backends.mps, 'is_available', lambda: True)
    monkeypatch.setattr(torch.mps, 'recommended_max_memory', lambda: 1000)
    monkeypatch.setattr(torch.mps, 'driver_allocated_memory', lambda: 300)
    monkeypatch.delenv('MXNET_VIRTUAL_GPUS', raising=False)
    mx.gpu(0)._torch = mx.gpu(1)._torch = None
    yield
    mx.gpu(0)._torch = mx.gpu(1)._torch = None


def test_devices(mac):
    assert mx.context.num_gpus() == 1
    assert mx.gpu(0).torch_device == torch.device('mps', 0)
    assert mx.context.gpu_memory_info(0) == (700, 1000)
    with pytest.raises(mx.MXNetError, match=r'gpu\(1\) is not available: this machine has 1 GPU that torch'):
        mx.gpu(1).torch_device  # noqa: B018


def test_contexts_of_tensors(mac):
    assert _interop.context_on(torch.device('mps', 0)) == mx.gpu(0)


def test_virtual_gpus_come_first(mac, monkeypatch):
    monkeypatch.setenv('MXNET_VIRTUAL_GPUS', '2')
    assert mx.context.num_gpus() == 2 and mx.gpu(1).torch_device == torch.device('mps', 0)


def test_cuda_comes_first(mac, monkeypatch):
    monkeypatch.setattr(torch.cuda, 'device_count', lambda: 2)
    assert mx.context.num_gpus() == 2 and mx.gpu(1).torch_device == torch.device('cuda', 1)
