"""Upstream's binary list of arrays: what `.params` files hold and what a pickled NDArray carries.

All numbers are little-endian.

    file    uint64 0x112, uint64 0, uint64 count, `count` records, uint64 count of names (0 or count), names
    name    uint64 length, UTF-8 bytes
    shape   int32 ndim, int64 each dimension
    record  uint32 version
            V2, V3: int32 storage type (0 dense, 1 row_sparse, 2 csr); sparse only: shape of the stored values
            shape (V0 has no version: its first word is ndim, and its dimensions are uint32)
            - the record ends here when it has no data: ndim 0, except in V3, where that is a scalar -
            int32 device type, int32 device id, int32 element type
            sparse only: int32 element type and shape of each index array
            values, then the index arrays

1.9.1 writes V2, or V3 while NumPy shapes are on.  V0 (until 0.10) and V1 (0.11) are only read.
"""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, NoReturn

import torch

from mxnet._files import limits
from mxnet.base import MXNetError

__all__ = ["Record", "decode", "decode_record", "encode", "encode_record", "survey"]

LIST_MAGIC = 0x112
V1, V2, V3 = 0xF993FAC8, 0xF993FAC9, 0xF993FACA
MAX_NDIM = 32
SMALLEST_RECORD = 4  # V0 without data
RECORD_MEMORY = 600  # bytes of an array besides its values

STORAGE_TYPES = {0: "default", 1: "row_sparse", 2: "csr"}
INDEX_ARRAYS = {"default": (), "row_sparse": ("indices",), "csr": ("indptr", "indices")}
DEVICE_TYPES = {1: "cpu", 2: "gpu", 3: "cpu_pinned", 5: "cpu_shared"}

# 1.9.1 knows 0 to 7 and 12; its successor 2.0 filled the gap with 8 to 11.
ELEMENT_TYPES = {
    0: torch.float32,
    1: torch.float64,
    2: torch.float16,
    3: torch.uint8,
    4: torch.int32,
    5: torch.int8,
    6: torch.int64,
    7: torch.bool,
    8: torch.int16,
    9: torch.uint16,
    10: torch.uint32,
    11: torch.uint64,
    12: torch.bfloat16,
}
_STORAGE_FLAGS = {name: flag for flag, name in STORAGE_TYPES.items()}
_TYPE_FLAGS = {dtype: flag for flag, dtype in ELEMENT_TYPES.items()}
_INDEX_DTYPES = (torch.int64, torch.int32)


@dataclass(slots=True)
class Record:
    """One array as a file holds it.

    shape: of the whole array; None for an array that has no data (its `data` is then empty and means nothing)
    data: all values if `stype` is 'default', else the stored ones
    aux: index arrays in the order of the file: row_sparse (indices,), csr (indptr, indices)
    context: (device type, device id) as upstream numbers them: 1 cpu, 2 gpu, 3 cpu_pinned, 5 cpu_shared
    np_shape: found in a record of NumPy shape semantics (V3); upstream refuses to mix them with others
    """

    stype: str
    shape: tuple[int, ...] | None
    data: torch.Tensor
    aux: tuple[torch.Tensor, ...] = ()
    context: tuple[int, int] = (1, 0)
    np_shape: bool = False


# ---- reading -------------------------------------------------------------------------------------------------------


def decode(source: bytes | bytearray | memoryview | BinaryIO, where: str) -> tuple[list[Record], list[str]]:
    """Reads a list of arrays; `source` is a buffer or a seekable file, `where` names it in errors.

    Every tensor has its own, aligned, writable memory.  From a file, values are read straight into it, so loading
    needs no more memory than the arrays.  Bytes after the list are ignored, as upstream does.
    """
    reader = _Reader(source, where)
    records = []
    count = reader.count()
    for i in range(count):
        reader.array = i
        records.append(reader.record())
    return records, reader.names(count)


def survey(
    source: bytes | bytearray | memoryview | BinaryIO, where: str, look: Callable[[int, Record], None]
) -> tuple[list[str], str | None]:
    """Calls `look(position, record)` for the arrays of a list, one in memory at a time, up to the first damage.

    -> (the names, what is wrong or None)
    """
    reader = _Reader(source, where)
    try:
        count = reader.count()
        for i in range(count):
            reader.array = i
            position = reader.position
            look(position, reader.record())
        return reader.names(count), None
    except MXNetError as error:
        return [], str(error)


def decode_record(source: bytes | bytearray | memoryview | BinaryIO, where: str) -> Record:
    """Reads one array without the list around it: the `handle` of a pickled NDArray."""
    return _Reader(source, where).record()


class _Reader:
    """Takes fields off a buffer or a file, and never asks for memory before it knows that the bytes are there."""

    def __init__(self, source: bytes | bytearray | memoryview | BinaryIO, where: str) -> None:
        self.where = where
        self.position = 0
        self.array: int | None = None  # the number of the array being read, for errors
        self._file: BinaryIO | None = None
        if isinstance(source, (bytes, bytearray, memoryview)):
            self._view = memoryview(source).cast("B")
            self.left = len(self._view)
        else:
            start = source.tell()
            self._file = source
            self.left = source.seek(0, os.SEEK_END) - start
            source.seek(start)

    def fail(self, text: str, back: int = 0) -> NoReturn:
        """Raises; `back` is how far the bytes that are wrong lie behind."""
        array = "" if self.array is None else f"array {self.array}: "
        raise MXNetError(f"{self.where}: byte {self.position - back}: {array}{text}")

    def need(self, size: int, what: str) -> None:
        if size > self.left:
            self.fail(f"truncated or corrupted: expected {size} bytes of {what}, found {self.left}")

    def fill(self, target: memoryview, what: str) -> None:
        size = len(target)
        self.need(size, what)
        if self._file is None:
            target[:] = self._view[self.position : self.position + size]
        else:
            done = 0
            while done < size:  # one read gives at most 2 GiB on Linux, and what there is on a network
                got = self._file.readinto(target[done:])  # type: ignore[attr-defined]
                if not got:
                    self.fail(f"the file became shorter while it was read: expected {size} bytes of {what}")
                done += got
        self.position += size
        self.left -= size

    def take(self, size: int, what: str) -> bytearray:
        self.need(size, what)
        data = bytearray(size)
        self.fill(memoryview(data), what)
        return data

    def unpack(self, layout: str, what: str) -> tuple[int, ...]:
        size = struct.calcsize(layout)
        if self._file is not None:
            return struct.unpack(layout, self.take(size, what))
        self.need(size, what)
        self.position += size
        self.left -= size
        return struct.unpack_from(layout, self._view, self.position - size)

    def count(self) -> int:
        """The header of a list: how many arrays follow."""
        magic, _ = self.unpack("<QQ", "the header of a list of arrays")
        if magic != LIST_MAGIC:
            self.fail(f"not an MXNet array file: expected the number 0x{LIST_MAGIC:x}, found 0x{magic:x}", back=16)
        (count,) = self.unpack("<Q", "the number of arrays")
        if count > self.left // SMALLEST_RECORD:
            self.fail(f"expected a number of arrays that fits in the {self.left} bytes left, found {count}", back=8)
        size = self.position + self.left
        limits.check(count * RECORD_MEMORY, size, f"{self.where}: byte 16", f"a list of {count} arrays")
        return count

    def names(self, count: int) -> list[str]:
        """What follows the arrays: a name for each, or none at all."""
        self.array = None
        (named,) = self.unpack("<Q", "the number of names")
        if named not in (0, count):
            self.fail(f"expected 0 or {count} names for {count} arrays, found {named}", back=8)
        return [self.name() for _ in range(named)]

    def name(self) -> str:
        (length,) = self.unpack("<Q", "the length of a name")
        data = self.take(length, "a name")
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            self.fail(f"expected a name in UTF-8, found {bytes(data[:40])!r} ({error.reason})", back=length)

    def record(self) -> Record:
        (version,) = self.unpack("<I", "the version")
        stype, storage_shape = "default", None
        if version in (V2, V3):
            (flag,) = self.unpack("<i", "the storage type")
            if flag not in STORAGE_TYPES:
                self.fail(f"expected storage type {_choices(STORAGE_TYPES)}, found {flag}", back=4)
            stype = STORAGE_TYPES[flag]
            if version == V3 and stype != "default":
                self.fail(f"expected a dense array under NumPy shape semantics, found {stype}", back=4)
            if stype != "default":
                storage_shape = self.shape("the stored values' shape")
            shape = self.shape("the shape")
        elif version == V1:
            shape = self.shape("the shape")
        elif version <= MAX_NDIM:
            shape = self.unpack(f"<{version}I", "the shape")
        else:
            known = f"0x{V2:x}, 0x{V3:x}, 0x{V1:x} or a number of dimensions up to {MAX_NDIM}"
            self.fail(f"expected version {known}, found 0x{version:x}", back=4)
        if not shape and version != V3:
            return Record("default", None, torch.empty(0))
        return self.body(stype, storage_shape, shape, version == V3)

    def body(
        self, stype: str, storage_shape: tuple[int, ...] | None, shape: tuple[int, ...], np_shape: bool
    ) -> Record:
        """What follows the shape of an array that has data."""
        device_type, device_id = self.unpack("<ii", "the device")
        if device_type not in DEVICE_TYPES:
            self.fail(f"expected device type {_choices(DEVICE_TYPES)}, found {device_type}", back=8)
        dtype = self.dtype("the element type")
        layouts = []
        for name in INDEX_ARRAYS[stype]:
            index_dtype = self.dtype(f"the element type of {name}")
            if index_dtype not in _INDEX_DTYPES:
                self.fail(f"expected {name} of int64 or int32, found {_plain(index_dtype)}", back=4)
            layouts.append((name, index_dtype, self.shape(f"the shape of {name}")))
        if storage_shape is not None:
            problem = _sparse_problem(stype, shape, storage_shape, [layout[2] for layout in layouts])
            if problem:
                self.fail(problem)
        data = self.tensor(dtype, shape if storage_shape is None else storage_shape, "values")
        aux = tuple(self.tensor(index_dtype, index_shape, name) for name, index_dtype, index_shape in layouts)
        problem = _index_problem(stype, shape, aux)
        if problem:
            self.fail(problem)
        return Record(stype, shape, data, aux, (device_type, device_id), np_shape)

    def shape(self, what: str) -> tuple[int, ...]:
        (ndim,) = self.unpack("<i", what)
        if not 0 <= ndim <= MAX_NDIM:
            self.fail(f"expected 0 to {MAX_NDIM} dimensions in {what}, found {ndim}", back=4)
        shape = self.unpack(f"<{ndim}q", what)
        if shape and min(shape) < 0:
            self.fail(f"expected dimensions of 0 or more in {what}, found {shape}", back=8 * ndim)
        return shape

    def dtype(self, what: str) -> torch.dtype:
        (flag,) = self.unpack("<i", what)
        if flag not in ELEMENT_TYPES:
            names = {key: _plain(dtype) for key, dtype in ELEMENT_TYPES.items()}
            self.fail(f"expected {what} to be {_choices(names)}, found {flag}", back=4)
        return ELEMENT_TYPES[flag]

    def tensor(self, dtype: torch.dtype, shape: tuple[int, ...], what: str) -> torch.Tensor:
        size = math.prod(shape) * dtype.itemsize
        if size > self.left:
            self.need(size, f"{what}, {_plain(dtype)} of shape {shape}")
        # A zero among the dimensions asks for no bytes; the others must still not overflow torch's strides.
        if not size and math.prod(n for n in shape if n) * dtype.itemsize >= 1 << 63:
            self.fail(f"expected {what} of fewer than 2**63 bytes, found shape {shape}")
        raw = torch.empty(size, dtype=torch.uint8)
        if size:
            self.fill(_memory(raw), what)
        if dtype is torch.bool:  # a byte other than 0 and 1 in a bool tensor is undefined behaviour
            return (raw != 0).reshape(shape)
        return raw.view(dtype).reshape(shape)


# ---- writing -------------------------------------------------------------------------------------------------------


def encode(
    records: Sequence[Record], names: Sequence[str] = (), *, np_shape: bool = False
) -> Iterator[bytes | memoryview]:
    """The bytes of a file, in pieces that refer to the tensors' own memory: saving copies no dense CPU array.

    All records are checked before this returns.  `np_shape` decides between V2 and V3 for the whole file, as the
    switch `npx.set_np` does upstream; what a record was read from does not matter.
    """
    if names and len(names) != len(records):
        raise MXNetError(f"encode: expected 0 or {len(records)} names for {len(records)} arrays, got {len(names)}")
    heads = [_head(record, np_shape, f"array {i}") for i, record in enumerate(records)]
    tail = bytearray(struct.pack("<Q", len(names)))
    for name in names:
        try:
            text = name.encode("utf-8")
        except (UnicodeEncodeError, AttributeError) as error:
            raise MXNetError(f"encode: expected names that are text, got {name!r}") from error
        if 0 in text:  # upstream cuts the name there, and two arrays may get the same one
            raise MXNetError(f"encode: expected names without the character NUL, got {name!r}")
        tail += struct.pack("<Q", len(text)) + text
    return _pieces(records, heads, bytes(tail))


def encode_record(record: Record, *, np_shape: bool = False) -> bytearray:
    """One array without the list around it: what upstream's pickles keep under `handle`."""
    return bytearray().join([_head(record, np_shape, "the array"), *_payload(record)])


def _pieces(records: Sequence[Record], heads: list[bytes], tail: bytes) -> Iterator[bytes | memoryview]:
    yield struct.pack("<QQQ", LIST_MAGIC, 0, len(records))
    for record, head in zip(records, heads):
        yield head
        yield from _payload(record)
    yield tail


def _head(record: Record, np_shape: bool, what: str) -> bytes:
    """Everything of a record before its values."""
    if record.stype not in _STORAGE_FLAGS:
        raise MXNetError(f"encode: {what}: expected storage type {list(_STORAGE_FLAGS)}, got {record.stype!r}")
    if np_shape and record.stype != "default":
        raise MXNetError(f"encode: {what}: expected a dense array under NumPy shape semantics, got {record.stype}")
    if np_shape and record.shape is None:
        raise MXNetError(f"encode: {what}: an array without data cannot be saved under NumPy shape semantics")
    if not np_shape and record.shape == ():
        raise MXNetError(f"encode: {what}: shape () needs NumPy shape semantics; without them it means no data")
    version = struct.pack("<Ii", V3 if np_shape else V2, _STORAGE_FLAGS[record.stype])
    if record.shape is None:
        return struct.pack("<Iii", V2, 0, 0)
    stored = tuple(record.data.shape)
    aux_shapes = [tuple(index.shape) for index in record.aux]
    problem: str | None
    if len(record.shape) > MAX_NDIM:
        problem = f"expected at most {MAX_NDIM} dimensions, got shape {record.shape}"
    elif len(aux_shapes) != len(INDEX_ARRAYS[record.stype]):
        problem = f"expected index arrays {INDEX_ARRAYS[record.stype]} for {record.stype}, got {len(aux_shapes)}"
    elif record.stype == "default":
        problem = None if stored == record.shape else f"expected values of shape {record.shape}, got {stored}"
    else:
        problem = _sparse_problem(record.stype, record.shape, stored, aux_shapes)
        if any(index.dtype not in _INDEX_DTYPES for index in record.aux):
            problem = f"expected index arrays of int64 or int32, got {[_plain(index.dtype) for index in record.aux]}"
    if problem:
        raise MXNetError(f"encode: {what}: {problem}")
    fields = [version]
    if record.stype != "default":
        fields.append(_shape_bytes(stored))
    fields += [_shape_bytes(record.shape), struct.pack("<iii", *record.context, _type_flag(record.data.dtype, what))]
    for index, shape in zip(record.aux, aux_shapes):
        fields += [struct.pack("<i", _type_flag(index.dtype, what)), _shape_bytes(shape)]
    return b"".join(fields)


def _payload(record: Record) -> Iterator[memoryview]:
    if record.shape is None:
        return
    for tensor in (record.data, *record.aux):
        if tensor.numel():
            flat = tensor.detach().cpu().contiguous().reshape(-1)
            yield _memory(flat.view(torch.uint8))


def _shape_bytes(shape: Sequence[int]) -> bytes:
    return struct.pack(f"<i{len(shape)}q", len(shape), *shape)


def _type_flag(dtype: torch.dtype, what: str) -> int:
    if dtype not in _TYPE_FLAGS:
        names = ", ".join(_plain(known) for known in _TYPE_FLAGS)
        raise MXNetError(f"encode: {what}: the format has no {_plain(dtype)}; it has {names}")
    return _TYPE_FLAGS[dtype]


# ---- both ----------------------------------------------------------------------------------------------------------


def _sparse_problem(stype: str, shape: tuple, stored: tuple, aux: list[tuple]) -> str | None:
    """What is wrong with the shapes of a sparse array's parts, or None."""
    if stype == "row_sparse":
        expected = (*aux[0], *shape[1:])
        if len(aux[0]) != 1 or stored != expected:
            return f"expected row_sparse values of shape {expected} for {aux[0]} indices, found {stored}"
    else:
        if len(shape) != 2:
            return f"expected a csr array of 2 dimensions, found shape {shape}"
        if aux[0] != (shape[0] + 1,):
            return f"expected a csr indptr of shape {(shape[0] + 1,)}, found {aux[0]}"
        if len(stored) != 1 or aux[1] != stored:
            return f"expected csr values and indices of one shape (n,), found {stored} and {aux[1]}"
    return None


def _index_problem(stype: str, shape: tuple, aux: tuple[torch.Tensor, ...]) -> str | None:
    """What would make a kernel read outside of the array, or None.  Order and duplicates are the user's affair."""
    if stype == "csr":
        indptr, indices = aux
        if int(indptr[0]) != 0 or int(indptr[-1]) != len(indices) or not bool((indptr[1:] >= indptr[:-1]).all()):
            return f"expected a csr indptr that rises from 0 to {len(indices)}"
    if stype != "default":
        limit = shape[0] if stype == "row_sparse" else shape[1]
        indices = aux[-1]
        if len(indices):
            low, high = (int(value) for value in indices.aminmax())
            if low < 0 or high >= limit:
                return f"expected {stype} indices from 0 to {limit - 1}, found {low if low < 0 else high}"
    return None


def _memory(tensor: torch.Tensor) -> memoryview:
    return memoryview(tensor.numpy())  # type: ignore[arg-type]


def _plain(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _choices(names: dict[int, str]) -> str:
    return ", ".join(f"{key} ({name})" for key, name in names.items())
