"""Pictures out of records, decoded by several threads and put where they belong in a batch."""
import itertools
import os
import random
import struct
from concurrent.futures import ThreadPoolExecutor

import numpy
import torch

from .._array import wrap
from .._files import paths
from .._files.pictures import decode
from .._wording import plain
from ..base import MXNetError
from ..context import cpu
from ..ndarray import NDArray
from ..ndarray import load as load_arrays
from ..ndarray import save as save_arrays
from ._buffers import Buffers
from ._image_augment import opencv
from ._native import Loader, log
from ._records import Corrupt

_HEADER = struct.Struct('<IfQQ')
_GROUP = 32             # pictures that are decoded together, at least: small batches would keep no thread busy


class Pictures:
    """Decoded examples."""

    def __init__(self, data, label, index):
        self.data, self.label, self.index = data, label, index

    def __len__(self):
        return len(self.index)

    def __getitem__(self, key):
        return Pictures(self.data[key], self.label[key], self.index[key])

    @staticmethod
    def join(parts):
        return Pictures(torch.cat([part.data for part in parts]), torch.cat([part.label for part in parts]),
                        numpy.concatenate([part.index for part in parts]))


class _Unusable(Exception):
    """A picture that cannot be decoded."""


class PictureLoader(Loader):
    """Reads records, and has them decoded and put in place by a pool of threads.

    A subclass says what becomes of one picture.  Random numbers are drawn from a generator for each picture, made from
    the seed, the pass and the picture's number in it: how many threads there are makes no difference.
    """

    def __init__(self, name, records, data_shape, label_shape, dtype, threads, seed, on_corrupt, **kwargs):
        super().__init__(name, **kwargs)
        if len(data_shape) != 3 or data_shape[0] not in (1, 3, 4) or min(data_shape) < 1:
            raise MXNetError(f'{name}: data_shape is (channels, height, width) with 1, 3 or 4 channels, not '
                             f'{data_shape}')
        opencv(name)
        self._records, self._shape, self._label_shape = records, data_shape, label_shape
        self.even, self.parts, self._spare = bool(records.even), records.parts, None
        if self.even:
            self.round_batch = False            # what fills up the last batch is not taken from the next pass
        self._dtype, self._seed, self._on_corrupt = dtype, seed, on_corrupt
        self._threads = max(1, min(threads, os.cpu_count() or 1))
        self._pool, self._pool_pid = None, None
        self._buffers = Buffers()

    # ------------------------------------------------------------------ for subclasses
    draws = False           # whether `place` needs a generator

    def labels_of(self, number, header, labels):
        """The labels of the record with an id, from what it has: one label in its header, or several behind it."""
        raise NotImplementedError

    def place(self, picture, labels, data, label, draw):
        """Puts a picture and its labels into arrays of one example."""
        raise NotImplementedError

    # ------------------------------------------------------------------ passes
    def pieces(self, epoch, skip):
        size = self.batch_size * -(-_GROUP // self.batch_size)
        stream = self._records.stream(epoch, skip, self._found_corrupt)
        for first in itertools.count(skip, size):
            group = list(itertools.islice(stream, size))
            if not group:
                return
            pictures = self._decode(group, epoch, first)
            if len(pictures):
                yield pictures

    def close(self):
        super().close()
        if self._pool is not None and self._pool_pid == os.getpid():
            self._pool.shutdown(wait=False)

    def arrays(self, piece):
        return wrap(piece.data, cpu(), NDArray), wrap(piece.label, cpu(), NDArray), piece.index

    def _decode(self, group, epoch, first):
        count = len(group)
        data = self._buffers.empty((count, *self._shape), self._dtype)
        label = torch.empty((count, *self._label_shape))
        views, labels, ids = data.numpy(), label.numpy(), numpy.zeros(count, numpy.uint64)
        good = numpy.ones(count, bool)
        errors: dict[int, Exception] = {}
        numbers = iter(range(count))            # each thread takes the next number: `next` is atomic

        def work(_):
            for i in numbers:
                raw = group[i]
                if raw.data is None:            # it was reported when it was read
                    good[i] = False
                    continue
                number = first + i if raw.number is None else raw.number
                draw = random.Random(f'{self._seed} {epoch} {number}') if self.draws else None
                try:
                    ids[i] = self._one(raw, views[i], labels[i], draw)
                except _Unusable as error:
                    good[i] = False
                    errors[i] = error
                except Exception as error:
                    errors[i] = error

        if self._threads == 1 or count == 1:
            work(0)
        else:
            list(self._workers().map(work, range(self._threads)))       # waits for all of them
        for i in sorted(errors):                # in order, not in the order that threads found them
            if good[i]:
                raise errors[i]
            self._found_corrupt(_corrupt(group[i], str(errors[i])))
        if good.all():
            return Pictures(data, label, ids)
        if self.even:
            return self._with_stand_ins(Pictures(data, label, ids), good)
        chosen = torch.from_numpy(good.nonzero()[0])
        return Pictures(data[chosen], label[chosen], ids[good])

    def _with_stand_ins(self, pictures, good):
        """The same number of pictures, as all parts need: the next one that can be used stands for each that cannot."""
        if good.any():
            self._spare = pictures[good.argmax():][:1]
        elif self._spare is None:
            raise MXNetError(f'{self.name}: none of {len(good)} records of {self.where} one after the other can be '
                             'used, and even_parts needs one in the place of each that is left out')
        joined = pictures.join([pictures, self._spare])
        numbers = numpy.arange(len(good))
        following = numpy.where(good, numbers, len(good))
        chosen = numpy.minimum.accumulate(following[::-1])[::-1].copy()
        return Pictures(joined.data[torch.from_numpy(chosen)], joined.label[torch.from_numpy(chosen)],
                        joined.index[chosen])

    def _workers(self):
        if self._pool_pid != os.getpid():           # threads do not survive a fork
            self._pool, self._pool_pid = ThreadPoolExecutor(self._threads, f'mxnet-{self.name}'), os.getpid()
        return self._pool

    def _one(self, raw, data, label, draw):
        number, header, labels, begin = _labels(raw.data)
        blob = numpy.frombuffer(raw.data, numpy.uint8, offset=begin) if len(raw.data) > begin else None
        channels = self._shape[0]
        picture = _decoded(blob, channels)
        if channels == 4 and (picture.ndim != 3 or picture.shape[2] != 4):
            raise MXNetError(f'{self.name}: {_named(raw)}: data_shape={self._shape} needs pictures with 4 channels, '
                             f'but this one has {picture.shape[2] if picture.ndim == 3 else 1}')
        try:
            self.place(picture, self.labels_of(number, header, labels), data, label, draw)
        except MXNetError as error:
            raise MXNetError(f'{error} ({_named(raw)})') from error
        return number

    # ------------------------------------------------------------------ means
    def mean_image(self, path):
        """The array in a file; if there is no such file, the mean of all pictures is made and written to it."""
        try:
            arrays = load_arrays(path)
        except MXNetError as error:
            if not isinstance(error.__cause__, FileNotFoundError):
                raise
            return self._make_mean_image(path)
        arrays = list(arrays.values()) if isinstance(arrays, dict) else arrays
        if len(arrays) != 1 or arrays[0].shape != tuple(self._shape):
            raise MXNetError(f'{self.name}: {path} should have one array of shape {self._shape}, but it has '
                             f'{", ".join(str(a.shape) for a in arrays) or "none"}')
        return arrays[0].asnumpy().astype(numpy.float32)

    def _make_mean_image(self, path):
        log.info('%s: there is no %s: to make it takes a pass over all pictures', self.name, path)
        dtype, self._dtype = self._dtype, torch.uint8
        total, count = torch.zeros(self._shape, dtype=torch.float64), 0
        for pictures in self.pieces(0, 0):
            total += pictures.data.to(torch.float32).sum(0)
            count += len(pictures)
        if not count:
            raise MXNetError(f'{self.name}: there are no pictures to make {path} of')
        self._dtype = dtype
        mean = (total / count).to(torch.float32)
        save_arrays(path, {'mean_img': wrap(mean, cpu(), NDArray)})
        return mean.numpy()

    # ------------------------------------------------------------------ what cannot be used
    def _found_corrupt(self, corrupt):
        text = f'{self.name}: record {corrupt.key} at byte {corrupt.offset} of {corrupt.uri}: {corrupt.problem}'
        if self._on_corrupt == 'raise':
            raise MXNetError(f"{text}; on_corrupt='skip' leaves such records out")
        if corrupt not in self.corrupt:         # once, not in each pass
            self.corrupt.append(corrupt)
            log.warning('%s; left out, %d so far', text, len(self.corrupt))


def _decoded(blob, channels):
    try:
        picture = None if blob is None else decode(blob, {1: 0, 3: 1, 4: -1}[channels], 'its picture')
    except MXNetError as error:
        raise _Unusable(str(error)) from None
    if picture is None:
        raise _Unusable('OpenCV cannot decode the picture')
    return picture


def _labels(data):
    """-> (id, label of the header, labels behind it or None, where the picture begins) of a record."""
    if len(data) < _HEADER.size:
        raise _Unusable(f'it has {len(data)} bytes, fewer than its header')
    flag, label, number, _ = _HEADER.unpack_from(data)
    begin = _HEADER.size
    if not flag:
        return number, label, None, begin
    if len(data) < begin + 4 * flag:
        raise _Unusable(f'its header says that {flag} labels follow, but it has {len(data)} bytes')
    return number, label, numpy.frombuffer(data, '<f4', flag, begin), begin + 4 * flag


def _corrupt(raw, problem):
    key = raw.key
    if key is None and len(raw.data) >= _HEADER.size:
        key = _HEADER.unpack_from(raw.data)[2]
    return Corrupt(key, raw.uri, raw.offset, problem)


def _named(raw):
    corrupt = _corrupt(raw, '')
    return f'record {corrupt.key} at byte {corrupt.offset} of {corrupt.uri}'


def read_list(name, path, width):
    """Dict of ids and arrays of labels in an image list: id, labels, path; with `width` labels, or any number if -1."""
    found = {}
    for number, line in enumerate(paths.read_bytes(path).decode(errors='replace').splitlines(), 1):
        fields = line.split('\t') if '\t' in line else line.split()
        if not line.strip():
            continue
        try:
            wanted = fields[1:-1] if width < 0 else fields[1:1 + width]
            labels = numpy.array([float(field) for field in wanted], numpy.float32)
            if not len(labels) or len(labels) < width:
                raise ValueError(f'it has {len(labels)} labels')
            found[int(fields[0])] = labels
        except ValueError as error:
            labelled = 'labels' if width < 0 else f'{width} labels'
            raise MXNetError(f'{name}: {path}, line {number} should be an id, {labelled} and a path: '
                             f'{plain(error)}') from None
    return found


def fill(picture, data, tables):
    """Puts a picture into an array of (channels, height, width); `tables` have the number of each byte, if any."""
    import cv2
    for channel, plane in enumerate(planes(picture)):
        if tables is None:
            data[channel] = plane
        else:
            cv2.LUT(plane, tables[channel], dst=data[channel])


def planes(picture):
    """The channels in the order RGB or RGBA."""
    if picture.ndim == 2:
        return [picture]
    import cv2
    planes = cv2.split(picture)
    return [planes[2], planes[1], planes[0], *planes[3:]]


def check_augmenter(name, given, known):
    if given != known:
        raise MXNetError(f'{name}: aug_seq={given!r} is not known; there is {known!r}')
