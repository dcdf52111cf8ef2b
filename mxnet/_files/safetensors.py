"""safetensors files in and out: the format that the rest of the field reads."""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from mxnet._files import jsons, paths
from mxnet.base import MXNetError

__all__ = ["Entry", "load", "save", "survey"]


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
    except (library.SafetensorError, ValueError, TypeError, KeyError, OSError, RuntimeError, OverflowError) as error:
        if isinstance(error, MXNetError):
            raise
        raise MXNetError(f"{os.fspath(path)}: not a whole safetensors file: {error}") from error


@dataclass
class Entry:
    """What the header says of an array: where it stands among the values, in bytes."""

    name: str
    dtype: str
    shape: list[int]
    begin: int
    end: int


def survey(path: str | os.PathLike) -> tuple[list[Entry], list[str]]:
    """(what the header says of each array, what is wrong with it), without reading values or the library."""
    where = os.fspath(path)
    with paths.open_read(path) as file, paths.reported(where, "read"):
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        head = file.read(8)
        length = struct.unpack("<Q", head)[0] if len(head) == 8 else size
        if length > size - 8:
            return [], [f"byte 0: the header should have {length} bytes, but the file has {size}"]
        text = file.read(length)
    try:
        entries = jsons.load(text, "the header, from byte 8 on", "the header of a safetensors file")
    except MXNetError as error:
        return [], [str(error)]
    if not isinstance(entries, dict):
        return [], [f"byte 8: expected a dictionary of arrays, found {jsons.shown(entries)}"]
    entries.pop("__metadata__", None)
    found, problems = [], []
    for name, entry in entries.items():
        entry = entry if isinstance(entry, dict) else {}
        shape: Any = entry.get("shape")
        dtype: Any = entry.get("dtype")
        place: Any = entry.get("data_offsets")
        if not (_naturals(shape) and isinstance(dtype, str) and _naturals(place) and len(place) == 2):
            problems.append(f"{name}: expected a dtype, a shape and two offsets, found {jsons.shown(dtype)}, "
                            f"{jsons.shown(shape)}, {jsons.shown(place)}")
            continue
        found.append(Entry(name, dtype, shape, *place))
        if place[1] < place[0]:
            problems.append(f"{name}: its values end before they begin")
        elif place[1] > size - 8 - length:
            problems.append(f"{name}: its values end at byte {8 + length + place[1]}, but the file has {size}")
        elif dtype in _SIZES and math.prod(shape) * _SIZES[dtype] != place[1] - place[0]:
            problems.append(f"{name}: {dtype} of shape {shape} takes {math.prod(shape) * _SIZES[dtype]} bytes, but "
                            f"there are {place[1] - place[0]}")
    return found, problems


_SIZES = {"BOOL": 1, "U8": 1, "I8": 1, "I16": 2, "U16": 2, "F16": 2, "BF16": 2, "I32": 4, "U32": 4, "F32": 4, "I64": 8,
          "U64": 8, "F64": 8}


def _naturals(value: Any) -> bool:
    return isinstance(value, list) and len(value) <= 64 and all(type(n) is int and 0 <= n < 1 << 63 for n in value)


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
