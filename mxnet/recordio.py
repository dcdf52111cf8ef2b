"""Records in files: `.rec`, and the `.idx` beside it.

Needs neither torch nor OpenCV, and NumPy only for records with several labels or with pictures.

A file is a sequence of parts, numbers are little-endian:

    uint32 0xced7230a, uint32 kind << 29 | length, `length` bytes, zeros up to a multiple of 4

A record is one part of kind 0.  Where the magic number itself stands in its bytes, 4-aligned, it is cut: the number is
left out, and the pieces are parts of kind 1, 2, ..., 2, 3.  So a reader that got lost finds the next record by it.
"""
from __future__ import annotations

import numbers
import os
import struct
import threading
import weakref
from collections import namedtuple
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from ._files import limits, paths
from ._kinds import explain_kinds as _explain_kinds
from ._kinds import explain_methods as _explain_methods
from ._names import kind_of
from ._names import suggest_names as _suggest_names
from ._wording import plain
from .base import FileError, MXNetError

if TYPE_CHECKING:
    from ._typing import Path

__all__ = ['DamagedRecord', 'IRHeader', 'MXIndexedRecordIO', 'MXRecordIO', 'pack', 'pack_img', 'unpack', 'unpack_img']

_MAGIC = struct.pack('<I', 0xced7230a)
_PART = struct.Struct('<4sI')
_LENGTH = (1 << 29) - 1
_WHOLE, _FIRST, _MIDDLE, _LAST = range(4)
_BLOCK = 1 << 20


class DamagedRecord(MXNetError):
    """A record that cannot be read.

    uri, offset: the file, and where the record begins in it
    resume: where the next good record begins, or the end of the file; the reader has already gone there, so to skip
        the damage is to read again
    """

    def __init__(self, uri: Path, offset: int, problem: str, resume: int) -> None:
        super().__init__(f'{uri}: the record at byte {offset} is damaged: {problem}; '
                         f'reading goes on at byte {resume}')
        self.uri: Any
        self.offset: int
        self.problem: str
        self.resume: int
        self.uri, self.offset, self.problem, self.resume = uri, offset, problem, resume

    def __reduce__(self) -> Any:
        return type(self), (self.uri, self.offset, self.problem, self.resume)


# ---------------------------------------------------------------------- bytes of files
class _Source:
    """Bytes of a local file at any place; threads and forked processes may share one."""

    def __init__(self, uri):
        self._file = paths.open_read(uri)
        # a finalizer holds the file: a garbage collector could otherwise take it before it is closed
        self._closing = weakref.finalize(self, self._file.close)
        self._lock = threading.Lock()
        try:
            self._descriptor = self._file.fileno() if hasattr(os, 'preadv') else None
        except (OSError, AttributeError):
            self._descriptor = None                     # a pipe was read into memory
        self.survives_fork = self._descriptor is not None
        self.pid = os.getpid()

    def size(self):
        if self._descriptor is not None:
            return os.fstat(self._descriptor).st_size
        with self._lock:
            return self._file.seek(0, os.SEEK_END)

    def read_into(self, target, position):
        """Fills a memoryview from a position; how many bytes there were."""
        done = 0
        if position + len(target) >= 1 << 63:           # the system refuses to read there
            return 0
        while done < len(target):           # one read gives at most 2 GiB, and what there is on a network
            if self._descriptor is not None:
                got = os.preadv(self._descriptor, [target[done:]], position + done)
            else:
                with self._lock:
                    self._file.seek(position + done)
                    got = self._file.readinto(target[done:])    # type: ignore[attr-defined]  # binary files have it
            if not got:
                break
            done += got
        return done

    def read(self, position, size):
        data = bytearray(size)
        return data[:self.read_into(memoryview(data), position)]

    def close(self):
        self._closing()


def _source_of(uri):
    if paths.is_local(uri):
        return _Source(uri)
    from ._files.ranges import Ranges
    return Ranges(os.fspath(uri))


class _Damage(Exception):
    pass


# ---------------------------------------------------------------------- readers and writers
class MXRecordIO:
    """Reads ('r') or writes ('w') records one after the other.

    uri: a file, or a URL that fsspec knows: s3://, gs://, hdfs://, ...

    A reader may be shared by threads that use `read_idx`, copied to other processes by fork, where each has its own
    position, or by pickle, where the copy begins at the first record.  A writer belongs to its process.

    >>> writer = mx.recordio.MXRecordIO('memory://numbers.rec', 'w')
    >>> for i in range(3):
    ...     writer.write(b'record %d' % i)
    >>> writer.close()
    >>> reader = mx.recordio.MXRecordIO('memory://numbers.rec', 'r')
    >>> reader.read(), reader.read(), reader.read(), reader.read()
    (b'record 0', b'record 1', b'record 2', None)
    """

    is_open: bool

    def __init__(self, uri: Path, flag: str) -> None:
        self.uri: str = os.fspath(uri)
        self.flag = flag
        self.pid: Any = None
        self.is_open = False
        self.open()

    def open(self) -> None:
        """Opens the file.  A file that is opened to be written to begins empty."""
        if self.flag not in ('r', 'w'):
            raise ValueError(f"flag must be 'r' or 'w', not {self.flag!r}")
        self.writable: bool = self.flag == 'w'
        if self.writable:
            self._file = paths.open_write(self.uri)
        else:
            self._source = _source_of(self.uri)
        self._position = 0
        self._wasted = 0                        # bytes of damaged records that were read
        self._block: Any
        self._block, self._block_at, self._block_size = None, 0, 0
        self.pid = os.getpid()
        self.is_open = True

    def close(self) -> None:
        """Closes the file."""
        if not self.is_open:
            return
        self.is_open = False
        if not self.writable:
            self._source.close()
        elif self.pid == os.getpid():
            with paths.reported(self.uri, 'write'):
                self._file.close()              # only now does a remote file appear
        elif not paths.is_local(self.uri):
            self._file.closed = True  # type: ignore[misc]  # a child must not finish the upload of its parent
        self.pid = None

    def reset(self) -> None:
        """Back to the first record; a writer begins an empty file again."""
        self.close()
        self.open()

    def __del__(self) -> None:
        if getattr(self, 'is_open', False):
            self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __getstate__(self) -> Any:
        if self.is_open and self.writable:
            raise MXNetError(f'{self.uri}: an open writer cannot be copied to another process; close it first')
        return {k: v for k, v in self.__dict__.items() if k not in ('_file', '_source', '_block')}

    def __setstate__(self, state: Any) -> None:
        self.__dict__.update(state)
        if self.is_open:
            self.is_open = False
            self.open()

    def _check_open(self, writable):
        if not self.is_open:
            raise MXNetError(f'{self.uri}: the file is closed; open() or reset() opens it')
        if self.writable != writable:
            wanted, have = ('w', 'r') if writable else ('r', 'w')
            raise FileError(f'{self.uri}: opened with flag {have!r}; this needs {wanted!r}')
        if self.pid != os.getpid():
            if writable:
                raise RuntimeError(f'{self.uri}: a file that one process writes cannot be written by its children')
            self.pid = os.getpid()
            if not self._source.survives_fork:
                position = self._position
                MXRecordIO.open(self)           # not the index, which is in memory
                self._position = position

    def tell(self) -> int:
        """Where in the file the next record is written, or read from."""
        if not self.is_open:
            raise MXNetError(f'{self.uri}: the file is closed; open() or reset() opens it')
        return self._position

    def size(self) -> int:
        """Bytes of the file that is read."""
        self._check_open(writable=False)
        with paths.reported(self.uri, 'read'):
            return self._source.size()

    # ------------------------------------------------------------------ writing
    def write(self, buf: bytes) -> None:
        """Adds a record of bytes."""
        self._check_open(writable=True)
        if isinstance(buf, str):
            raise TypeError('MXRecordIO.write takes bytes, not str; encode the text first')
        if not isinstance(buf, (bytes, bytearray)):
            try:
                buf = bytes(memoryview(buf).cast('B'))
            except TypeError:
                raise TypeError(f'{type(self).__name__}.write takes bytes, not {kind_of(buf)}') from None
        parts = list(_parts(buf, self.uri))
        with paths.reported(self.uri, 'write'):
            data = b''.join(parts)
            view = memoryview(data)
            while view:                 # nothing is kept back: what was written is in the file, whatever happens next
                view = view[self._file.write(view) or 0:]
        self._position += len(data)

    # ------------------------------------------------------------------ reading
    def expect_at(self, extents: Iterable[tuple[int, int]]) -> None:
        """Begins to fetch (begin, end) ranges of a remote file that will be read soon; a local file needs nothing."""
        self._check_open(writable=False)
        if not paths.is_local(self.uri):
            self._source.expect(extents)

    def read(self) -> Any:
        """The next record as bytes; None after the last.

        Raises DamagedRecord where the file is not what it should be, and goes on behind the damage when called again.
        """
        self._check_open(writable=False)
        start = self._position - self._block_at
        if start < 0 or start + 8 > self._block_size:
            self._load()
            start = 0
        if self._block_size >= 8:
            magic, word = _PART.unpack_from(self._block, start)
            length = word & _LENGTH
            end = start + 8 + length
            if magic == _MAGIC and word >> 29 == _WHOLE:
                size = 8 + (length + 3 & ~3)
                if start + size + 4 > self._block_size and start and length < _BLOCK // 4:
                    self._load()
                    start, end = 0, 8 + length
                # else its length may be wrong; behind what was read is what another block has left there
                if start + size + 4 <= self._block_size and self._block[start + size:start + size + 4] == _MAGIC:
                    self._position += size
                    return bytes(self._block[start + 8:end])
        return self.read_at(self._position)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.read, None)

    def _load(self):
        if self._block is None:
            self._block = memoryview(bytearray(_BLOCK))
        with paths.reported(self.uri, 'read'):
            self._block_size = self._source.read_into(self._block, self._position)
        self._block_at = self._position

    def read_at(self, begin: int) -> Any:
        """The record at a position, which `tell` gave; the next one that `read` gives is the one behind it."""
        self._check_open(writable=False)
        with paths.reported(self.uri, 'read'):
            try:
                data, self._position = self._parse(begin)
            except _Damage as damage:
                # records that each claim the rest of the file would be read over and over again
                limits.check(self._wasted, self._source.size(), f'{self.uri}: byte {begin}', 'reading damaged records')
                self._position = self.find(begin + 1)
                raise DamagedRecord(self.uri, begin, str(damage), self._position) from None
        return data

    def _parse(self, begin):
        pieces: list[Any] = []
        source, position, before = self._source, begin, self._wasted
        while True:
            head = source.read(position, 8)
            if not head and not pieces:
                if position > source.size():
                    raise _Damage(f'the file has only {source.size()} bytes')
                return None, position
            if len(head) < 8:
                raise _Damage(f'the file ends at byte {position + len(head)}, in the middle of it')
            magic, word = _PART.unpack(head)
            kind, length = word >> 29, word & _LENGTH
            if magic != _MAGIC:
                raise _Damage(f'at byte {position} should be {_MAGIC.hex()}, but there is {magic.hex()}')
            if kind not in ((_MIDDLE, _LAST) if pieces else (_WHOLE, _FIRST)):
                raise _Damage(f'at byte {position} is a part of kind {kind}, which cannot '
                              f'{"follow here" if pieces else "begin a record"}')
            left = source.size() - position - 8
            if length > left:
                raise _Damage(f'it says that {length} bytes follow byte {position + 8}, but there are {left}')
            padded = length + 3 & ~3
            data = source.read(position + 8, padded + 4)
            self._wasted += len(data)
            if len(data) < length:
                raise _Damage('the file became shorter while it was read')
            if len(data) > padded and data[padded:] != _MAGIC and _swallows(data, length):
                raise _Damage(f'it says that {length} bytes follow byte {position + 8}, '
                              'but another record begins there')
            pieces.append(bytes(memoryview(data)[:length]))
            position += 8 + min(padded, left)       # a file may end without its last zeros
            if kind in (_WHOLE, _LAST):
                self._wasted = before
                return pieces[0] if len(pieces) == 1 else _MAGIC.join(pieces), position

    def peek(self, begin: int, size: int) -> Any:
        """-> (first `size` bytes of the record at a position, position of the one behind it), reading nothing else.

        A damaged record has no bytes.
        """
        self._check_open(writable=False)
        with paths.reported(self.uri, 'read'):
            position, first = begin, None
            while True:
                data = self._source.read(position, 8 + (size if first is None else 0))
                magic, word = _PART.unpack_from(data) if len(data) >= 8 else (b'', 0)
                kind, length = word >> 29, word & _LENGTH
                if magic != _MAGIC or kind not in ((_WHOLE, _FIRST) if first is None else (_MIDDLE, _LAST)):
                    return b'', self.find(begin + 1)
                if first is None:
                    first = bytes(data[8:8 + min(size, length)])
                position += 8 + (length + 3 & ~3)
                if kind in (_WHOLE, _LAST):
                    return first, position

    def find(self, position: int) -> int:
        """The first position from this one on where a record begins; the end of the file if there is none."""
        self._check_open(writable=False)
        size = self._source.size()
        while position < size:
            block = self._source.read(position, _BLOCK)
            found = block.find(_MAGIC)
            while found >= 0:
                if self._begins(position + found, size):
                    return position + found
                found = block.find(_MAGIC, found + 1)
            if position + len(block) >= size or not block:
                break
            position += len(block) - 3
        return size

    def begins_at(self, position: Any) -> bool:
        """Whether a record begins at a position, as far as its first and last bytes tell."""
        self._check_open(writable=False)
        with paths.reported(self.uri, 'read'):
            return self._begins(position, self._source.size())

    def _begins(self, position, size):
        head = self._source.read(position, 8)
        if len(head) < 8:
            return False
        word = _PART.unpack(head)[1]
        end = position + 8 + ((word & _LENGTH) + 3 & ~3)
        return word >> 29 in (_WHOLE, _FIRST) and (end == size or self._source.read(end, 4) == _MAGIC)


def _swallows(data, length):
    """Whether the magic number stands where only the beginning of a record has it."""
    found = data.find(_MAGIC, 0, length)
    while found >= 0 and found % 4:
        found = data.find(_MAGIC, found + 1, length)
    return found >= 0


def _parts(buf, uri):
    """The pieces of the file that make one record."""
    if len(buf) > _LENGTH:
        raise MXNetError(f'{uri}: a record has less than 2**29 bytes, not {len(buf)}')
    begin, found = 0, buf.find(_MAGIC)
    while found >= 0:
        if found % 4:
            found = buf.find(_MAGIC, found + 1)
            continue
        yield _PART.pack(_MAGIC, (_MIDDLE if begin else _FIRST) << 29 | found - begin)
        yield buf[begin:found]
        begin = found + 4
        found = buf.find(_MAGIC, begin)
    length = len(buf) - begin
    yield _PART.pack(_MAGIC, (_LAST if begin else _WHOLE) << 29 | length)
    yield buf[begin:] if begin else buf
    yield bytes(-length % 4)


class NoRecord(MXNetError, KeyError):
    """There is no record with a key.  Also a KeyError, which MXNet 1.9.1 raises."""


    __str__ = MXNetError.__str__


class MXIndexedRecordIO(MXRecordIO):
    """Records that are found by their keys, which stand with their positions in a text file.

    keys: the keys in the order of the file; idx: dict of keys and positions

    >>> writer = mx.recordio.MXIndexedRecordIO('memory://n.idx', 'memory://n.rec', 'w')
    >>> for i in range(3):
    ...     writer.write_idx(i, b'record %d' % i)
    >>> writer.close()
    >>> reader = mx.recordio.MXIndexedRecordIO('memory://n.idx', 'memory://n.rec', 'r')
    >>> reader.keys, reader.read_idx(2)
    ([0, 1, 2], b'record 2')
    """

    def __init__(self, idx_path: Path, uri: Path, flag: str, key_type: Any = int) -> None:
        self.idx_path: str = os.fspath(idx_path)
        self.idx: dict = {}
        self.keys: list = []
        self.key_type = key_type
        self.fidx: Any = None
        self._ends: dict[int, int] | None = None
        super().__init__(uri, flag)

    def open(self) -> None:
        """Opens both files."""
        super().open()
        self.idx, self.keys, self._ends = {}, [], None
        if self.writable:
            self.fidx = paths.open_write(self.idx_path)
            return
        data = paths.read_bytes(self.idx_path)
        limits.check(200 * data.count(b'\n'), len(data), self.idx_path, f'an index of {data.count(10)} lines')
        lines = data.decode(errors='replace').splitlines()
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                key, position = line.split('\t')[:2]
                key = self.key_type(key.strip())
                self.idx[key] = int(position)
                if not 0 <= self.idx[key] < 1 << 63:
                    raise ValueError('the position is in no file')
            except (ValueError, OverflowError) as error:
                raise MXNetError(f'{self.idx_path}: line {number} should be a key, a tab and a position, but is '
                                 f'{line[:80]!r}: {plain(error)}') from error
            self.keys.append(key)

    def close(self) -> None:
        """Closes both files."""
        if not self.is_open:
            return
        mine = self.pid == os.getpid()
        super().close()
        if self.fidx is not None and mine:
            with paths.reported(self.idx_path, 'write'):
                self.fidx.close()

    def __getstate__(self) -> Any:
        return {**super().__getstate__(), 'fidx': None}

    def seek(self, idx: Any) -> None:
        """Goes to the record with a key; `read` gives it."""
        self._check_open(writable=False)
        self._position = self._place(idx)

    def read_idx(self, idx: Any) -> Any:
        """The record with a key."""
        return self.read_at(self._place(idx))

    def expect(self, keys: Iterable[Any]) -> None:
        """Begins to fetch the records with some keys that will be read soon; a local file needs nothing.

        Unknown keys are left to `read_idx`.
        """
        if paths.is_local(self.uri):
            return
        known = [self.idx[key] for key in keys if key in self.idx]
        ends = self.ends()
        self.expect_at([(position, ends[position]) for position in known])

    def ends(self) -> dict[int, int]:
        """The position of each record in the index, and that of the next one there, or the end of the file."""
        if self._ends is None:
            order = sorted(set(self.idx.values()))
            self._ends = dict(zip(order, [*order[1:], self.size()]))
        return self._ends

    def _place(self, key):
        """Where the record with a key begins."""
        try:
            return self.idx[key]
        except (KeyError, TypeError):
            known = [repr(k) for k in self.keys[:3]] + ['...', repr(self.keys[-1])][:2 * (len(self.keys) > 3)]
            raise NoRecord(f'{self.idx_path} has no record with the key {key!r}; it has {len(self.keys)}: '
                           f'{", ".join(known)}') from None

    def write_idx(self, idx: Any, buf: bytes) -> None:
        """Adds a record with a key."""
        key = self.key_type(idx)
        position = self.tell()
        self.write(buf)
        with paths.reported(self.idx_path, 'write'):
            self.fidx.write(f'{key}\t{position}\n'.encode())
        self.idx[key] = position
        self.keys.append(key)


# ---------------------------------------------------------------------- what is in a record of a picture
if TYPE_CHECKING:
    class HEADER(NamedTuple):
        flag: int
        label: Any
        id: int
        id2: int

    IRHeader = HEADER
else:
    IRHeader = HEADER = namedtuple('HEADER', ['flag', 'label', 'id', 'id2'])
IRHeader.__doc__ = """What stands before the bytes of a picture in a record.

flag: how many labels follow; 0 if there is one, in `label` itself.  `pack` sets it.
label: a number, or an array of float32
id, id2: low and high 64 bits of a number that names the record; id2 is 0 almost everywhere
"""

_HEADER = struct.Struct('<IfQQ')


def pack(header: Any, s: bytes) -> bytes:
    """The bytes of a record: a header and the bytes of a picture, or of anything else.

    >>> record = mx.recordio.pack(mx.recordio.IRHeader(0, 3, 17, 0), b'picture')
    >>> mx.recordio.unpack(record)
    (HEADER(flag=0, label=3.0, id=17, id2=0), b'picture')
    """
    if not isinstance(header, (tuple, list)) or len(header) != 4:
        raise TypeError(f'pack: header must be IRHeader(flag, label, id, id2), not {kind_of(header)}')
    _, label, number, number2 = header
    if isinstance(label, numbers.Number):
        return _HEADER.pack(0, label, number, number2) + s
    import numpy
    label = numpy.asarray(label, dtype='<f4')
    return _HEADER.pack(label.size, 0, number, number2) + label.tobytes() + s


def unpack(s: bytes) -> tuple[Any, bytes]:
    """-> (header, bytes of the picture) of a record."""
    if len(s) < _HEADER.size:
        raise MXNetError(f'unpack: a record begins with {_HEADER.size} bytes of header, '
                         f'but this one has {len(s)} in all')
    flag, label, number, number2 = _HEADER.unpack_from(s)
    begin = _HEADER.size
    if flag:
        if flag * 4 > len(s) - begin:
            raise MXNetError(f'unpack: the header says that {flag} labels follow, but the record has {len(s)} bytes')
        import numpy
        label = numpy.frombuffer(s, '<f4', flag, begin)
        begin += flag * 4
    return IRHeader(flag, label, number, number2), s[begin:]


def _cv2(function):
    try:
        import cv2
    except ImportError as error:
        raise ImportError(f'{function} needs OpenCV: pip install opencv-python-headless') from error
    return cv2


def unpack_img(s: bytes, iscolor: int = -1) -> tuple[Any, Any]:
    """-> (header, picture) of a record: a numpy.ndarray in BGR, as OpenCV has it, or None if it cannot be decoded.

    iscolor: -1 as it is, 0 grey, 1 colour
    """
    _cv2('unpack_img')
    import numpy

    from ._files import pictures
    header, s = unpack(s)
    try:
        return header, pictures.decode(numpy.frombuffer(s, numpy.uint8), iscolor, 'unpack_img') if len(s) else None
    except pictures.Damaged:
        return header, None


def pack_img(header: Any, img: Any, quality: int = 95, img_fmt: str = '.jpg') -> bytes:
    """The bytes of a record with a picture, which is encoded first.

    img: a numpy.ndarray in BGR
    quality: of a JPEG, 1 to 100; compression of a PNG, 0 to 9
    """
    if not hasattr(img, 'shape'):
        raise TypeError(f'pack_img: img must be a numpy.ndarray (height, width, channels) in BGR, not {kind_of(img)}')
    cv2 = _cv2('pack_img')
    if not cv2.haveImageWriter(img_fmt):
        raise FileError(f"pack_img: OpenCV has no encoder for img_fmt={img_fmt!r}; it takes an ending such as '.jpg' "
                        "or '.png'")
    options = {'.JPG': cv2.IMWRITE_JPEG_QUALITY, '.JPEG': cv2.IMWRITE_JPEG_QUALITY, '.PNG': cv2.IMWRITE_PNG_COMPRESSION}
    option = options.get(img_fmt.upper())
    try:
        good, data = cv2.imencode(img_fmt, img, [] if option is None else [option, quality])
    except cv2.error:
        good = False
    if not good:
        raise MXNetError(f'pack_img: OpenCV cannot encode this picture as {img_fmt}')
    return pack(header, data.tobytes())


_explain_kinds(globals(), __all__)
_explain_methods(MXIndexedRecordIO, 'seek write_idx')
_suggest_names(globals())
