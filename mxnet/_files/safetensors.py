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
            data = paths.read_bytes(path)
            _refuse(path, _survey(data[:8], data[8:], len(data))[1])
            return library.torch.load(data)
        _refuse(path, survey(path)[1])
        with library.safe_open(paths.local_name(path), framework="pt") as file:
            # The library maps the file; whoever writes to it later must not change our arrays.
            return {name: file.get_tensor(name).clone() for name in file.keys()}
    except (library.SafetensorError, ValueError, TypeError, KeyError, OSError, RuntimeError, OverflowError) as error:
        if isinstance(error, MXNetError):
            raise
        raise MXNetError(f"{os.fspath(path)}: not a whole safetensors file: {error}") from error


def _refuse(path: str | os.PathLike, problems: list[str]) -> None:
    if problems:
        more = f" (and {len(problems) - 1} more problems)" if len(problems) > 1 else ""
        raise MXNetError(f"{os.fspath(path)}: not a whole safetensors file: {problems[0]}{more}")


@dataclass
class Entry:
    """What the header says of an array: where it stands among the values, in bytes."""

    name: str
    dtype: str
    shape: list[int]
    begin: int
    end: int


def survey(path: str | os.PathLike) -> tuple[list[Entry], list[str]]:
    """(what the header says of each array, what is wrong with it), without reading values or the library.

    `load` refuses a file with problems.
    """
    where = os.fspath(path)
    with paths.open_read(path) as file, paths.reported(where, "read"):
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        head = file.read(8)
        length = struct.unpack("<Q", head)[0] if len(head) == 8 else 0
        return _survey(head, file.read(length) if length <= size - 8 else b"", size)


def _survey(head: bytes, text: bytes, size: int) -> tuple[list[Entry], list[str]]:
    """`survey` of a file of so many bytes, by its first eight and those that follow."""
    length = struct.unpack("<Q", head)[0] if len(head) == 8 else size
    if length > size - 8:
        return [], [f"byte 0: the header should have {length} bytes, but the file has {size}"]
    try:
        entries = jsons.load(text[:length], "the header, from byte 8 on", "the header of a safetensors file")
    except MXNetError as error:
        return [], [str(error)]
    if not isinstance(entries, dict):
        return [], [f"byte 8: expected a dictionary of arrays, found {jsons.shown(entries)}"]
    found, problems = [], _problems_of_notes(entries.pop("__metadata__", None))
    for name, entry in entries.items():
        entry = entry if isinstance(entry, dict) else {}
        shape: Any = entry.get("shape")
        dtype: Any = entry.get("dtype")
        place: Any = entry.get("data_offsets")
        if not (_naturals(shape) and isinstance(dtype, str) and _naturals(place) and len(place) == 2):
            problems.append(f"{name}: expected a dtype, a shape and two offsets, found {jsons.shown(dtype)}, "
                            f"{jsons.shown(shape)}, {jsons.shown(place)}")
        elif len(shape) > _MOST_AXES:
            problems.append(f"{name}: its shape has {len(shape)} axes; {_MOST_AXES} is the most that an array has")
        else:
            found.append(Entry(name, dtype, shape, *place))
            problems += _problems_of_place(found[-1], 8 + length, size)
    if not problems:
        problems = _problems_of_order(found, 8 + length, size)
    return found, problems


def _problems_of_notes(notes: Any) -> list[str]:
    if notes is None:
        return []
    if not isinstance(notes, dict):
        return [f"__metadata__: expected a dictionary of texts, found {jsons.shown(notes)}"]
    return [f"__metadata__: the value of {key!r} must be a text, not {jsons.shown(value)}"
            for key, value in notes.items() if not isinstance(value, str)]


def _problems_of_place(entry: Entry, start: int, size: int) -> list[str]:
    """What is wrong with one array; values begin at byte `start` of the file."""
    if entry.end < entry.begin:
        return [f"{entry.name}: its values end before they begin"]
    if entry.end > size - start:
        return [f"{entry.name}: its values end at byte {start + entry.end}, but the file has {size}"]
    if entry.dtype not in _BITS:
        return [f"{entry.name}: there is no dtype {jsons.shown(entry.dtype)}"]
    if math.prod(max(n, 1) for n in entry.shape) * _BITS[entry.dtype] >= 1 << 63:
        return [f"{entry.name}: {entry.dtype} of shape {entry.shape} is larger than any memory"]
    if entry.dtype == "F4" and (not entry.shape or entry.shape[-1] % 2):
        return [f"{entry.name}: the last axis of an array of F4 has an even length; its shape is {entry.shape}"]
    bits = math.prod(entry.shape) * _BITS[entry.dtype]
    if bits != 8 * (entry.end - entry.begin):
        return [f"{entry.name}: {entry.dtype} of shape {entry.shape} takes {bits // 8 if bits % 8 == 0 else bits / 8} "
                f"bytes, but there are {entry.end - entry.begin}"]
    return []


def _problems_of_order(entries: list[Entry], start: int, size: int) -> list[str]:
    """Values must follow one another, from the header to the end of the file."""
    last, end = "the header", 0
    for entry in sorted(entries, key=lambda e: (e.begin, e.end)):
        if entry.begin != end:
            return [f"{entry.name}: its values begin at byte {start + entry.begin}, "
                    + ("inside of" if entry.begin < end else "not at the end of")
                    + f" {last}, which ends at byte {start + end}"]
        last, end = f"those of {entry.name}", entry.end
    if start + end != size:
        return [f"the values end at byte {start + end}, but the file has {size}"]
    return []


_MOST_AXES = 32
_BITS = {"F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8, "F8_E5M2FNUZ": 8,
         "F8_E4M3FNUZ": 8, "BOOL": 8, "U8": 8, "I8": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32,
         "U32": 32, "F32": 32, "C64": 64, "I64": 64, "U64": 64, "F64": 64}


def _naturals(value: Any) -> bool:
    return isinstance(value, list) and all(type(n) is int and 0 <= n < 1 << 63 for n in value)


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
