"""safetensors files: names, values, views; and what a damaged one says."""
import builtins
import os

import pytest
import torch

from mxnet._files import safetensors
from mxnet.base import MXNetError

library = pytest.importorskip('safetensors.torch')

DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.uint8, torch.int8, torch.int16,
          torch.int32, torch.int64, torch.bool)


def test_both_ways(tmp_path):
    tensors = {f'arg:{dtype} é': torch.arange(6).reshape(2, 3).to(dtype) for dtype in DTYPES}
    tensors |= {'scalar': torch.tensor(2.5), 'empty': torch.zeros(0, 3), '': torch.ones(1)}
    path = tmp_path / 'x.safetensors'
    safetensors.save(path, tensors)
    for got in (safetensors.load(path), safetensors.load(f'file://{path}'), library.load_file(path)):
        assert set(got) == set(tensors)
        for name, tensor in tensors.items():
            assert got[name].dtype == tensor.dtype and torch.equal(got[name], tensor), name
    library.save_file({'theirs': torch.ones(2)}, path)
    assert safetensors.load(path)['theirs'].tolist() == [1, 1]
    assert os.listdir(tmp_path) == ['x.safetensors']


def test_views_and_shared_memory(tmp_path):
    """MXNet's slices and tied parameters share memory; the library alone would refuse them."""
    base = torch.arange(12.).reshape(3, 4)
    tensors = {'base': base, 'same': base, 'row': base[1], 'turned': base.t(), 'wanted': base.clone().requires_grad_()}
    safetensors.save(tmp_path / 'x', tensors)
    got = safetensors.load(tmp_path / 'x')
    for name, tensor in tensors.items():
        assert torch.equal(got[name], tensor)


def test_loaded_tensors_have_their_own_memory(tmp_path):
    path = tmp_path / 'x'
    safetensors.save(path, {'a': torch.ones(1000)})
    tensor = safetensors.load(path)['a']
    with open(path, 'r+b') as file:
        file.seek(-4000, os.SEEK_END)
        file.write(bytes(4000))
    assert tensor.eq(1).all() and tensor.data_ptr() % 64 == 0
    tensor[0] = 5
    assert safetensors.load(path)['a'][0] == 0


def test_metadata_is_written(tmp_path):
    safetensors.save(tmp_path / 'x', {'a': torch.ones(1)}, {'format': 'mx'})
    with library.safe_open(tmp_path / 'x', 'pt') as file:
        assert file.metadata() == {'format': 'mx'}


def test_errors(tmp_path):
    path = tmp_path / 'x'
    with pytest.raises(MXNetError, match='x: cannot read: No such file'):
        safetensors.load(path)
    path.write_bytes(b'not this')
    with pytest.raises(MXNetError, match='x: not a whole safetensors file'):
        safetensors.load(path)
    with pytest.raises(MXNetError, match='x: cannot write safetensors'):
        safetensors.save(path, {'a': torch.ones(1)}, {'number': 3})
    with pytest.raises(TypeError, match='expected names and tensors, got int: Tensor'):
        safetensors.save(path, {3: torch.ones(1)})
    assert path.read_bytes() == b'not this' and os.listdir(tmp_path) == ['x']


def test_missing_package_is_named(tmp_path, monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name.partition('.')[0] == 'safetensors':
            raise ImportError('no safetensors')
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, '__import__', without)
    with pytest.raises(MXNetError, match='pip install safetensors'):
        safetensors.load(tmp_path / 'x')
