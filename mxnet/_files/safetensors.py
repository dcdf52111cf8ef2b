"""safetensors files in and out: the format that the rest of the field reads."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import torch

from mxnet._files import paths
from mxnet.base import MXNetError

__all__ = ["load", "save"]


def save(
    path: str | os.PathLike, tensors: Mapping[str, torch.Tensor], metadata: Mapping[str, str] | None = None
) -> None:
    """Writes named tensors, atomically.  Tensors that share memory are written one by one."""
    library = _library(path)
    own = _separate(tensors)
    notes = None if metadata is None else dict(metadata)
    try:
        if paths.is_local(path):
            with paths.replacing(path) as temporary:
                library.torch.save_file(own, temporary, metadata=notes)
        else:
            paths.write_atomic(path, [library.torch.save(own, metadata=notes)])
    except (library.SafetensorError, ValueError, TypeError, KeyError) as error:
        raise MXNetError(f"{os.fspath(path)}: cannot write safetensors: {error}") from error


def load(path: str | os.PathLike) -> dict[str, torch.Tensor]:
    """Reads named CPU tensors, each in memory of its own."""
    library = _library(path)
    try:
        if not paths.is_local(path):
            return library.torch.load(paths.read_bytes(path))
        with paths.open_read(path):  # reports a missing or unreadable file in our words
            pass
        with library.safe_open(paths.local_name(path), framework="pt") as file:
            # The library maps the file; whoever writes to it later must not change our arrays.
            return {name: file.get_tensor(name).clone() for name in file.keys()}
    except (library.SafetensorError, ValueError, TypeError, KeyError, OSError) as error:
        raise MXNetError(f"{os.fspath(path)}: not a whole safetensors file: {error}") from error


def _library(path: str | os.PathLike) -> Any:
    try:
        import safetensors
        import safetensors.torch
    except ImportError as error:
        raise MXNetError(f"{os.fspath(path)}: safetensors files need a package: pip install safetensors") from error
    return safetensors


def _separate(tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Contiguous CPU tensors, no two on one storage: the library refuses others.  Copies only what it must."""
    seen: set[int] = set()
    result = {}
    for name, tensor in tensors.items():
        if not isinstance(name, str) or not isinstance(tensor, torch.Tensor):
            raise TypeError(f"expected names and tensors, got {type(name).__name__}: {type(tensor).__name__}")
        plain = tensor.detach().cpu().contiguous()
        storage = plain.untyped_storage()
        if storage.nbytes() != plain.numel() * plain.itemsize or storage.data_ptr() in seen:
            plain = plain.clone()
        seen.add(plain.untyped_storage().data_ptr())
        result[name] = plain
    return result
