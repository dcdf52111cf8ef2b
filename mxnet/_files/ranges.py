"""Bytes of remote files at any place: requests for ranges, several at once, ahead of the reader, and a cache on disk.

A file is read in blocks.  What is needed is fetched by threads, neighbouring blocks by one request.  Two things are
fetched before they are asked for: what `expect` names, and what follows where a reader goes through the file in order.
Blocks stay in memory up to `MEMORY` bytes a file.

MXNET_REMOTE_CACHE_DIR names a folder for blocks that were read, which the processes of a machine share and later
programs find again; MXNET_REMOTE_CACHE_MB (10,240) limits its size, and what was not used for longest is removed.  A
block belongs to the size and the version that the store reports, so a file that was replaced is read anew.
"""
from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import re
import secrets
import stat
import threading
import zlib
from collections import OrderedDict, deque
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor

from ..base import MXNetError
from . import paths

__all__ = ['Ranges']

BLOCK = 64 << 10            # records of pictures are about as long
LARGE_BLOCK = 1 << 20       # with a cache on disk; also the longest request
MEMORY = 64 << 20           # bytes of a file that are kept in memory
AHEAD = 8 << 20             # bytes that are fetched ahead of a reader in order
REQUESTS = 16               # requests at the same time, of all files
LATER = 1 << 16             # announced ranges that wait for room
SWEEP = 64 << 20            # bytes written to the cache between two looks at its size
VERSIONS = ('ETag', 'etag', 'md5Hash', 'content_md5', 'LastModified', 'last_modified', 'mtime', 'updated', 'created')
# folders and files of the cache: a version of a file; a block, or one that is being written
_FOLDER, _BLOCK = re.compile('[0-9a-f]{32}'), re.compile(r'[0-9]+(\.[0-9a-f]{8})?')

log = logging.getLogger('mxnet.files')
_pool: tuple[int, ThreadPoolExecutor] | None = None
_pool_lock = threading.Lock()


def _threads():
    """The threads that fetch; a forked process starts its own."""
    global _pool
    with _pool_lock:
        if _pool is None or _pool[0] != os.getpid():
            _pool = os.getpid(), ThreadPoolExecutor(REQUESTS, 'mxnet-ranges')
        return _pool[1]


class Ranges:
    """A remote file; threads may share one, processes may not."""

    survives_fork = False

    def __init__(self, name: str) -> None:
        self.name = name
        self._fs, self._inner = paths.remote(name)
        with paths.reported(name, 'read'):
            info = self._fs.info(self._inner)
            if info['type'] == 'directory':
                raise IsADirectoryError(21, 'Is a directory')
            if info.get('size') is None:
                raise OSError('the server does not say how long it is')
        self._size: int = info['size']
        self._cache = _cache_of(name, info)
        self._step = BLOCK if self._cache is None else LARGE_BLOCK
        # block -> (the request it is part of, its place in that); those that were used last come last
        self._blocks: OrderedDict[int, tuple[Future[bytes], int]] = OrderedDict()
        self._expected: set[int] = set()        # blocks that were announced and not read yet
        self._later: deque[tuple[int, int]] = deque(maxlen=LATER)       # announced ranges for which there was no room
        self._lock = threading.Lock()
        self._run = 0, 0                        # where a reader in order began, and where it is

    def size(self) -> int:
        return self._size

    def read(self, position: int, size: int) -> bytearray:
        """The bytes from a position on; fewer at the end of the file."""
        data = bytearray(max(0, min(size, self._size - position)))
        self.read_into(memoryview(data), position)
        return data

    def read_into(self, target: memoryview, position: int) -> int:
        """Fills a memoryview from a position; how many bytes there were."""
        end = min(position + len(target), self._size)
        if position >= end:
            return 0
        first, last = position // self._step, -(-end // self._step)
        with self._lock:
            begun = self._run[0] if self._run[0] <= position <= self._run[1] else position
            self._run = begun, end
            ahead = min(end - begun, AHEAD) if end - begun >= LARGE_BLOCK else 0
            self._request(range(first, -(-min(end + ahead, self._size) // self._step)))
            parts = [self._blocks[number] for number in range(first, last)]
            for number in range(first, last):
                self._blocks.move_to_end(number)
                self._expected.discard(number)
            self._start_expected()
            self._forget()
        for number, (request, offset) in enumerate(parts, first):
            try:
                data = request.result()
            except Exception:
                with self._lock:                # whoever reads next tries again
                    for other in [n for n, part in self._blocks.items() if part[0] is request]:
                        del self._blocks[other]
                raise
            begin, finish = max(position, number * self._step), min(end, (number + 1) * self._step)
            start = offset + begin - number * self._step
            target[begin - position:finish - position] = memoryview(data)[start:start + finish - begin]
        return end - position

    def expect(self, ranges: Iterable[tuple[int, int]]) -> None:
        """Fetches (begin, end) ranges that will be read soon, as soon as there is room for them."""
        with self._lock:
            self._later.extend(ranges)
            self._start_expected()
            self._forget()

    def close(self) -> None:
        """Lets go of what was read."""
        with self._lock:
            self._blocks.clear()
            self._expected.clear()
            self._later.clear()

    # ------------------------------------------------------------------ requests, with the lock
    def _request(self, numbers):
        """Starts fetching those of some blocks, in their order, that are not here."""
        run: list[int] = []
        for number in numbers:
            if number in self._blocks:
                continue
            if run and (number != run[-1] + 1 or len(run) * self._step >= LARGE_BLOCK):
                self._start(run)
                run = []
            run.append(number)
        if run:
            self._start(run)

    def _start_expected(self):
        wanted: set[int] = set()
        while self._later:
            begin, end = self._later[0]
            blocks = range(begin // self._step, -(-min(end, self._size) // self._step))
            waiting = len(self._expected) + len(wanted)
            if waiting and waiting + len(blocks) > MEMORY // 2 // self._step:
                break
            self._later.popleft()
            if len(blocks) * self._step <= MEMORY // 2:         # what is longer would push itself out
                wanted.update(number for number in blocks if number not in self._blocks)
        self._expected |= wanted
        self._request(sorted(wanted))

    def _start(self, run):
        request = _threads().submit(self._fetch, run[0], run[-1] + 1)
        for place, number in enumerate(run):
            self._blocks[number] = request, place * self._step

    def _forget(self):
        while len(self._blocks) * self._step > MEMORY:
            self._expected.discard(self._blocks.popitem(last=False)[0])

    # ------------------------------------------------------------------ in a thread
    def _fetch(self, first, last):
        begin, end = first * self._step, min(last * self._step, self._size)
        data = self._cache.get(first) if self._cache is not None else None
        if data is not None and len(data) == end - begin:
            return data
        data = self._fs.cat_file(self._inner, start=begin, end=end)
        if len(data) != end - begin:
            raise OSError(f'asked for bytes {begin} to {end}, the server sent {len(data)} bytes')
        if self._cache is not None:
            self._cache.put(first, data)
        return data


def _cache_of(name, info):
    """The cache of a file; None if there is none, or if nothing tells when the file has changed."""
    folder = os.environ.get('MXNET_REMOTE_CACHE_DIR')
    if not folder:
        return None
    text = os.environ.get('MXNET_REMOTE_CACHE_MB', '10240')
    if not text.isdecimal() or not int(text):
        raise MXNetError(f'MXNET_REMOTE_CACHE_MB must be a whole number above 0, not {text!r}')
    version = next((f'{key} {info[key]}' for key in VERSIONS if info.get(key) is not None), None)
    if version is None:
        log.warning('%s: the server does not say which version of the file this is, so it is not kept in %s', name,
                    folder)
        return None
    key = hashlib.sha256(f'{name}\n{info["size"]}\n{version}\n{LARGE_BLOCK}'.encode()).hexdigest()[:32]
    return _Cache(folder, int(text) << 20, key)


def _named(folder, pattern):
    """Paths in a folder whose names have a pattern; none if another process has removed the folder."""
    try:
        return [os.path.join(folder, name) for name in os.listdir(folder) if pattern.fullmatch(name)]
    except OSError:
        return []


class _Cache:
    """Blocks of one version of a file in a folder."""

    def __init__(self, folder, limit, key):
        """
        folder: MXNET_REMOTE_CACHE_DIR
        limit: bytes of all blocks there
        key: the name of the folder in it that this version of the file has
        """
        self._root, self._limit = folder, limit
        self._folder = os.path.join(folder, key)
        self._unswept = limit                   # a look at the first chance: an earlier program may have had more room
        self._broken = False
        try:
            for place in (folder, self._folder):        # `makedirs` gives its mode to the last one only
                os.makedirs(place, mode=0o700, exist_ok=True)
            for place in (folder, self._folder):
                found = os.stat(place)
                if os.name != 'nt' and (found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o022):
                    raise MXNetError(f'MXNET_REMOTE_CACHE_DIR: other users may write to {place} (owner '
                                     f'{found.st_uid}, mode {stat.S_IMODE(found.st_mode):o}), so it is not used')
        except OSError as error:
            raise MXNetError(f'MXNET_REMOTE_CACHE_DIR: cannot use {self._folder}: {error.strerror}') from error

    def get(self, number):
        """A block, or None."""
        path = os.path.join(self._folder, str(number))
        try:
            with open(path, 'rb') as file:
                data = file.read()
            os.utime(path)
        except OSError:
            return None
        return data[:-4] if len(data) > 4 and zlib.crc32(data[:-4]).to_bytes(4, 'little') == data[-4:] else None

    def put(self, number, data):
        """Keeps a block, if the disk takes it."""
        path = os.path.join(self._folder, str(number))
        temporary = f'{path}.{secrets.token_hex(4)}'
        try:
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            with open(temporary, 'xb') as file:
                file.write(data)
                file.write(zlib.crc32(data).to_bytes(4, 'little'))
            os.replace(temporary, path)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            if not self._broken:
                self._broken = True
                log.warning('%s: what is read cannot be kept: %s', self._folder, error.strerror)
            return
        self._unswept += len(data)
        if self._unswept >= min(SWEEP, self._limit // 8):
            self._unswept = 0
            self._sweep()

    def _sweep(self):
        """Removes what was not used for longest, where there is more than the limit."""
        found = []
        for folder in _named(self._root, _FOLDER):              # the folder may have other files, of the user
            for path in _named(folder, _BLOCK):
                with contextlib.suppress(OSError):              # another process removes, too
                    about = os.stat(path)
                    found.append((about.st_mtime_ns, about.st_size, path))
        total = sum(size for _, size, _ in found)
        for _, size, path in sorted(found):
            if total <= self._limit:
                break
            total -= size
            with contextlib.suppress(OSError):
                os.unlink(path)
