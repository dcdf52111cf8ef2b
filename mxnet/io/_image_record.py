"""`ImageRecordIter` and its relatives: batches of the pictures in record files, decoded by several threads."""
import inspect
import itertools
import logging
import os
import random
import struct
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import numpy
import torch

from .._array import wrap
from .._files import paths
from .._ops.attributes import NonNegative, Shape
from ..base import MXNetError
from ..context import cpu
from ..ndarray import NDArray
from ..ndarray import load as load_arrays
from ..ndarray import save as save_arrays
from ._image_augment import Augmenter, opencv
from ._native import Loader, native
from ._records import Corrupt, Records

__all__ = ['ImageRecordInt8Iter', 'ImageRecordIter', 'ImageRecordIter_v1', 'ImageRecordUInt8Iter',
           'ImageRecordUInt8Iter_v1']

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
        self._dtype, self._seed, self._on_corrupt = dtype, seed, on_corrupt
        self._threads = max(1, min(threads, os.cpu_count() or 1))
        self._pool, self._pool_pid = None, None
        self._corrupt_lock = threading.Lock()

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

    def arrays(self, piece):
        return wrap(piece.data, cpu(), NDArray), wrap(piece.label, cpu(), NDArray), piece.index

    def _decode(self, group, epoch, first):
        count = len(group)
        data = torch.empty((count, *self._shape), dtype=self._dtype)
        label = torch.empty((count, *self._label_shape))
        views, labels, ids = data.numpy(), label.numpy(), numpy.zeros(count, numpy.uint64)
        good = numpy.ones(count, bool)
        numbers = iter(range(count))            # each thread takes the next number: `next` is atomic

        def work(_):
            for i in numbers:
                draw = random.Random(f'{self._seed} {epoch} {first + i}') if self.draws else None
                try:
                    ids[i] = self._one(group[i], views[i], labels[i], draw)
                except _Unusable as error:
                    self._found_corrupt(_corrupt(group[i], str(error)))
                    good[i] = False

        if self._threads == 1 or count == 1:
            work(0)
        else:
            list(self._workers().map(work, range(self._threads)))       # list raises what a thread has raised
        if good.all():
            return Pictures(data, label, ids)
        chosen = torch.from_numpy(good.nonzero()[0])
        return Pictures(data[chosen], label[chosen], ids[good])

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

    # ------------------------------------------------------------------ what cannot be used
    def _found_corrupt(self, corrupt):
        text = f'{self.name}: record {corrupt.key} at byte {corrupt.offset} of {corrupt.uri}: {corrupt.problem}'
        if self._on_corrupt == 'raise':
            raise MXNetError(f"{text}; on_corrupt='skip' leaves such records out")
        with self._corrupt_lock:
            if corrupt not in self.corrupt:         # once, not in each pass
                self.corrupt.append(corrupt)
                logging.warning('%s; left out, %d so far', text, len(self.corrupt))


def _decoded(blob, channels):
    import cv2
    try:
        picture = None if blob is None else cv2.imdecode(blob, {1: 0, 3: 1, 4: -1}[channels])
    except cv2.error as error:
        raise _Unusable(f'OpenCV cannot decode the picture: {error.err}') from None
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
    for number, line in enumerate(paths.read_bytes(path).decode().splitlines(), 1):
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
            wanted = 'labels' if width < 0 else f'{width} labels'
            raise MXNetError(f'{name}: {path}, line {number} should be an id, {wanted} and a path: {error}') from None
    return found


# ---------------------------------------------------------------------- for classification
class _Images(PictureLoader):
    def __init__(self, name, data_shape, label_width, path_imglist, augment, normalize, dtype, **kwargs):
        super().__init__(name, data_shape=data_shape, label_shape=(label_width,), dtype=getattr(torch, dtype), **kwargs)
        self._width = label_width
        self._list = read_list(name, path_imglist, label_width) if path_imglist else None
        self._augment = Augmenter(name, data_shape, augment)
        self.__dict__.update(normalize)
        self._varies = self.max_random_contrast > 0 or self.max_random_illumination > 0
        self.draws = bool(self._augment.draws or self.rand_mirror or self._varies)
        self._mean = None
        if dtype != 'uint8' and self.mean_img:
            self._mean = self._mean_image()
        self._tables = self._make_tables(1, 0)

    def place(self, picture, labels, data, label, draw):
        label[:] = labels
        picture = self._augment(picture, draw)
        mirrored = self.mirror or (self.rand_mirror and draw.random() < 0.5)
        contrast, light = 1, 0
        if self._varies:
            contrast += draw.uniform(-self.max_random_contrast, self.max_random_contrast)
            light = draw.uniform(-self.max_random_illumination, self.max_random_illumination)
        if self._mean is not None:
            self._subtract(picture, mirrored, contrast, light, data)
            return
        import cv2
        if mirrored:
            picture = cv2.flip(picture, 1)
        tables = self._make_tables(contrast, light) if self._varies else self._tables
        for channel, plane in enumerate(_planes(picture)):
            if tables is None:
                data[channel] = plane
            else:
                cv2.LUT(plane, tables[channel], dst=data[channel])

    def labels_of(self, number, header, labels):
        if self._list is not None:
            if number not in self._list:
                raise MXNetError(f'{self.name}: path_imglist has no line for id {number}')
            return self._list[number]
        if labels is None:
            if self._width != 1:
                raise MXNetError(f'{self.name}: label_width={self._width}, but the record has one label')
            return header
        if len(labels) != self._width:
            raise MXNetError(f'{self.name}: label_width={self._width}, but the record has {len(labels)} labels')
        return labels

    # ------------------------------------------------------------------ numbers of bytes
    def _channels(self, name):
        return numpy.array([getattr(self, f'{name}_{c}') for c in 'rgba'], numpy.float32)

    def _make_tables(self, contrast, light):
        """For each channel the numbers that its bytes stand for; None if they stand for themselves."""
        values = numpy.arange(256, dtype=numpy.float32)
        if self._dtype is torch.uint8:
            return None
        if self._dtype is torch.int8:
            means = numpy.floor(self._channels('mean') + numpy.float32(0.5))
            return numpy.clip(values - means[:, None], -128, 127).astype(numpy.int8)[:, None]
        scale = numpy.float32(contrast * self.scale) / self._channels('std')
        offset = numpy.float32(light * self.scale) / self._channels('std')
        return ((values - self._channels('mean')[:, None]) * scale[:, None] + offset[:, None])[:, None]

    def _subtract(self, picture, mirrored, contrast, light, data):
        """The same with a mean for each pixel."""
        for channel, plane in enumerate(_planes(picture)):
            if self._dtype is torch.int8:
                values = numpy.clip(plane - numpy.floor(self._mean[channel] + numpy.float32(0.5)), -128, 127)
            else:
                std = self._channels('std')[channel]
                values = ((plane - self._mean[channel]) * (numpy.float32(contrast * self.scale) / std)
                          + numpy.float32(light * self.scale) / std)
            data[channel] = values[:, ::-1] if mirrored else values

    def _mean_image(self):
        try:
            arrays = load_arrays(self.mean_img)
        except MXNetError as error:
            if not isinstance(error.__cause__, FileNotFoundError):
                raise
            return self._make_mean_image()
        arrays = list(arrays.values()) if isinstance(arrays, dict) else arrays
        if len(arrays) != 1 or arrays[0].shape != tuple(self._shape):
            raise MXNetError(f'{self.name}: {self.mean_img} should have one array of shape {self._shape}, but it has '
                             f'{", ".join(str(a.shape) for a in arrays) or "none"}')
        return arrays[0].asnumpy().astype(numpy.float32)

    def _make_mean_image(self):
        """The mean of all pictures of a pass as they come out of augmentation; written, so that it is made once."""
        logging.info('%s: there is no %s: making it takes a pass over all pictures', self.name, self.mean_img)
        dtype, self._dtype = self._dtype, torch.uint8
        self._tables = self._varies = None
        total, count = torch.zeros(self._shape, dtype=torch.float64), 0
        for pictures in self.pieces(0, 0):
            total += pictures.data.to(torch.float32).sum(0)
            count += len(pictures)
        if not count:
            raise MXNetError(f'{self.name}: there are no pictures to make {self.mean_img} of')
        self._dtype, self._varies = dtype, self.max_random_contrast > 0 or self.max_random_illumination > 0
        mean = (total / count).to(torch.float32)
        save_arrays(self.mean_img, {'mean_img': wrap(mean, cpu(), NDArray)})
        return mean.numpy()


def _planes(picture):
    """The channels in the order RGB or RGBA."""
    if picture.ndim == 2:
        return [picture]
    import cv2
    planes = cv2.split(picture)
    return [planes[2], planes[1], planes[0], *planes[3:]]


# ---------------------------------------------------------------------- how they are called
_NORMALIZE = ('mirror', 'rand_mirror', 'mean_img', 'mean_r', 'mean_g', 'mean_b', 'mean_a', 'std_r', 'std_g', 'std_b',
              'std_a', 'scale', 'max_random_contrast', 'max_random_illumination')
_AUGMENT = ('resize', 'rand_crop', 'random_resized_crop', 'max_rotate_angle', 'max_aspect_ratio', 'min_aspect_ratio',
            'max_shear_ratio', 'max_crop_size', 'min_crop_size', 'max_random_scale', 'min_random_scale',
            'max_random_area', 'min_random_area', 'max_img_size', 'min_img_size', 'brightness', 'contrast',
            'saturation', 'pca_noise', 'random_h', 'random_s', 'random_l', 'rotate', 'rotate_list', 'fill_value',
            'inter_method', 'pad')


def check_augmenter(name, given, known):
    if given != known:
        raise MXNetError(f'{name}: aug_seq={given!r} is not known; there is {known!r}')


def _image_record_iter(
        *, path_imglist: str = '', path_imgrec: str, path_imgidx: str = '', aug_seq: str = 'aug_default',
        label_width: NonNegative = 1, data_shape: Shape, preprocess_threads: NonNegative = 4, verbose: bool = True,
        num_parts: int = 1, part_index: int = 0, device_id: int = 0, shuffle_chunk_size: NonNegative = 0,
        shuffle_chunk_seed: int = 0, seed_aug: int | None = None, shuffle: bool = False, seed: int = 0,
        batch_size: NonNegative, round_batch: bool = True, prefetch_buffer: NonNegative = 4,
        ctx: Literal['cpu', 'gpu'] = 'gpu', dtype: Literal['float32', 'uint8', 'int8', None] = None, resize: int = -1,
        rand_crop: bool = False, random_resized_crop: bool = False, max_rotate_angle: NonNegative = 0,
        max_aspect_ratio: float = 0, min_aspect_ratio: float | None = None, max_shear_ratio: float = 0,
        max_crop_size: int = -1, min_crop_size: int = -1, max_random_scale: float = 1, min_random_scale: float = 1,
        max_random_area: float = 1, min_random_area: float = 1, max_img_size: float = 1e10, min_img_size: float = 0,
        brightness: float = 0, contrast: float = 0, saturation: float = 0, pca_noise: float = 0, random_h: int = 0,
        random_s: int = 0, random_l: int = 0, rotate: int = -1, rotate_list: Shape = (), fill_value: int = 255,
        inter_method: int = 1, pad: NonNegative = 0, mirror: bool = False, rand_mirror: bool = False,
        mean_img: str = '', mean_r: float = 0, mean_g: float = 0, mean_b: float = 0, mean_a: float = 0, std_r: float = 1,
        std_g: float = 1, std_b: float = 1, std_a: float = 1, scale: float = 1, max_random_contrast: float = 0,
        max_random_illumination: float = 0, on_corrupt: Literal['raise', 'skip'] = 'raise'):
    given = locals()
    name = 'ImageRecordIter'
    check_augmenter(name, aug_seq, 'aug_default')
    records = Records(name, path_imgrec, path_imgidx, part_index, num_parts, shuffle, seed, shuffle_chunk_size,
                      shuffle_chunk_seed)
    loader = _Images(name, data_shape, label_width, path_imglist, {key: given[key] for key in _AUGMENT},
                     {key: given[key] for key in _NORMALIZE}, dtype or 'float32', records=records,
                     threads=preprocess_threads, seed=seed if seed_aug is None else seed_aug, on_corrupt=on_corrupt,
                     where=path_imgrec, batch_size=batch_size, round_batch=round_batch, prefetch=prefetch_buffer)
    if verbose:
        logging.info('ImageRecordIter: %s, %d threads decode', path_imgrec, loader._threads)
    return loader


_DOCUMENTATION = """Batches of the pictures in a .rec file, {what}, in RGB and (channels, height, width).

Files
    path_imgrec: a .rec file, several with ; between them, or a folder of them
    path_imgidx: the .idx file that belongs to it
    path_imglist: a .lst file whose labels are used instead of those in the records
    label_width: how many labels an example has
    num_parts, part_index: reads one of so many parts
Batches
    data_shape: (channels, height, width), 1, 3 or 4 channels
    batch_size: how many examples
    round_batch: fill up the last batch with examples of the next pass, which then begins behind them
    shuffle, seed: of all records with path_imgidx, else of those that stand close to each other (64 MB)
    shuffle_chunk_size, shuffle_chunk_seed: without path_imgidx, also shuffles pieces of so many MB
    preprocess_threads: how many threads decode; prefetch_buffer: how many batches they are ahead
    dtype: float32, uint8 (bytes as they are) or int8 (bytes less the mean)
    on_corrupt: 'raise' an error for a record that cannot be read or decoded, or 'skip' it; the iterator's `corrupt`
        lists what was left out, with key, file, position and reason
Augmentation, in this order
    resize: length of the shorter edge
    max_rotate_angle, rotate, rotate_list (degrees), max_shear_ratio, min_ and max_random_scale, min_ and
        max_aspect_ratio, min_ and max_img_size, fill_value: one affine transformation
    pad: pixels on each side
    random_resized_crop, with min_ and max_random_area and aspect ratios; or rand_crop, with min_ and max_crop_size;
        else the centre is cut out
    brightness, contrast, saturation, random_h, random_s, random_l, pca_noise
    mirror, rand_mirror
    inter_method: 0 nearest, 1 linear, 2 cubic, 3 area, 4 Lanczos, 9 depends on the sizes, 10 any
    seed_aug: seed of all of these; `seed` if not given
Numbers
    (pixel - mean) * contrast * scale / std + illumination * scale / std, with mean_r, mean_g, mean_b, mean_a or a
    mean_img (which is made and written if it does not exist), std_r, ..., scale, max_random_contrast, max_random_illumination

verbose logs what was found; ctx, device_id and aug_seq make no difference here.
"""


def _variant(name, what, **fixed):
    """The iterator under one of its names."""
    def make(**given):
        return _image_record_iter(**{**given, **fixed})
    make.__name__ = make.__qualname__ = name
    make.__module__ = __name__
    make.__doc__ = _DOCUMENTATION.format(what=what)
    make.__signature__ = inspect.signature(_image_record_iter)
    return native(make)


ImageRecordIter = _variant('ImageRecordIter', 'as numbers')
ImageRecordIter_v1 = _variant('ImageRecordIter_v1', 'as numbers')
ImageRecordUInt8Iter = _variant('ImageRecordUInt8Iter', 'as bytes', dtype='uint8')
ImageRecordUInt8Iter_v1 = _variant('ImageRecordUInt8Iter_v1', 'as bytes', dtype='uint8')
ImageRecordInt8Iter = _variant('ImageRecordInt8Iter', 'as signed bytes', dtype='int8')
