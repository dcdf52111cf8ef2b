"""`ImageRecordIter` and its relatives: batches of the pictures in record files."""
import inspect
from typing import Literal

import numpy
import torch

from .._ops.core.attributes import NonNegative, Shape
from ..base import MXNetError
from ._image_augment import Augmenter
from ._native import log, native
from ._pictures import PictureLoader, check_augmenter, fill, planes, read_list
from ._records import Records

__all__ = ['ImageRecordInt8Iter', 'ImageRecordIter', 'ImageRecordIter_v1', 'ImageRecordUInt8Iter',
           'ImageRecordUInt8Iter_v1']


class _Images(PictureLoader):
    # parameters of `ImageRecordIter`; besides these there are mean_r to mean_a and std_r to std_a
    mirror: bool
    rand_mirror: bool
    mean_img: str
    scale: float
    max_random_contrast: float
    max_random_illumination: float

    def __init__(self, name, data_shape, label_width, path_imglist, augment, normalize, dtype, **kwargs):
        super().__init__(name, data_shape=data_shape, label_shape=(label_width,), dtype=getattr(torch, dtype), **kwargs)
        self._width = label_width
        self._list = read_list(name, path_imglist, label_width) if path_imglist else None
        self._augment = Augmenter(name, data_shape, augment)
        self.__dict__.update(normalize)
        self._varies = dtype == 'float32' and (self.max_random_contrast > 0 or self.max_random_illumination > 0)
        self.draws = bool(self._augment.draws or self.rand_mirror or self._varies)
        self._tables = self._mean = None
        self._std = self._channels('std')[:, None]
        self._centred = numpy.arange(256, dtype=numpy.float32) - self._channels('mean')[:, None]
        if dtype != 'uint8':
            self._mean = self.mean_image(self.mean_img) if self.mean_img else None
            self._tables = self._make_tables(1, 0)

    def place(self, picture, labels, data, label, draw):
        label[:] = labels
        picture = self._augment(picture, draw)
        mirrored = self.mirror or (self.rand_mirror and draw.random() < 0.5)
        contrast, light = 1.0, 0.0
        if self._varies:
            contrast += draw.uniform(-self.max_random_contrast, self.max_random_contrast)
            light = draw.uniform(-self.max_random_illumination, self.max_random_illumination)
        if self._mean is not None:
            self._subtract(picture, self._mean, mirrored, contrast, light, data)
            return
        if mirrored:
            import cv2
            picture = cv2.flip(picture, 1)
        fill(picture, data, self._make_tables(contrast, light) if self._varies else self._tables)

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
        if self._dtype is torch.uint8:          # also while a mean image is made
            return None
        if self._dtype is torch.int8:
            means = numpy.floor(self._channels('mean') + numpy.float32(0.5))
            values = numpy.arange(256, dtype=numpy.float32) - means[:, None]
            return numpy.clip(values, -128, 127).astype(numpy.int8)[:, None]
        scale, offset = self._scale_and_offset(contrast, light)
        return (self._centred * scale + offset)[:, None]

    def _scale_and_offset(self, contrast, light):
        """For each channel what its numbers, less their mean, are multiplied with, and what is added."""
        return numpy.float32(contrast * self.scale) / self._std, numpy.float32(light * self.scale) / self._std

    def _subtract(self, picture, means, mirrored, contrast, light, data):
        """The same with a mean for each pixel."""
        scale, offset = self._scale_and_offset(contrast, light)
        for channel, plane in enumerate(planes(picture)):
            target = data[channel][:, ::-1] if mirrored else data[channel]
            if self._dtype is torch.int8:
                target[:] = numpy.clip(plane - numpy.floor(means[channel] + numpy.float32(0.5)), -128, 127)
                continue
            numpy.subtract(plane, means[channel], out=target)
            target *= scale[channel]
            target += offset[channel]


# ---------------------------------------------------------------------- how they are called
_NORMALIZE = ('mirror', 'rand_mirror', 'mean_img', 'mean_r', 'mean_g', 'mean_b', 'mean_a', 'std_r', 'std_g', 'std_b',
              'std_a', 'scale', 'max_random_contrast', 'max_random_illumination')
_AUGMENT = ('resize', 'rand_crop', 'random_resized_crop', 'max_rotate_angle', 'max_aspect_ratio', 'min_aspect_ratio',
            'max_shear_ratio', 'max_crop_size', 'min_crop_size', 'max_random_scale', 'min_random_scale',
            'max_random_area', 'min_random_area', 'max_img_size', 'min_img_size', 'brightness', 'contrast',
            'saturation', 'pca_noise', 'random_h', 'random_s', 'random_l', 'rotate', 'rotate_list', 'fill_value',
            'inter_method', 'pad')


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
        mean_img: str = '', mean_r: float = 0, mean_g: float = 0, mean_b: float = 0, mean_a: float = 0,
        std_r: float = 1, std_g: float = 1, std_b: float = 1, std_a: float = 1, scale: float = 1,
        max_random_contrast: float = 0, max_random_illumination: float = 0,
        on_corrupt: Literal['raise', 'skip'] = 'raise', even_parts: bool = False):
    given = locals()
    name = 'ImageRecordIter'
    check_augmenter(name, aug_seq, 'aug_default')
    records = Records(name, path_imgrec, path_imgidx, part_index, num_parts, shuffle, seed, shuffle_chunk_size,
                      shuffle_chunk_seed, batch_size if even_parts else 0)
    loader = _Images(name, data_shape, label_width, path_imglist, {key: given[key] for key in _AUGMENT},
                     {key: given[key] for key in _NORMALIZE}, dtype or 'float32', records=records,
                     threads=preprocess_threads, seed=seed if seed_aug is None else seed_aug, on_corrupt=on_corrupt,
                     where=path_imgrec, batch_size=batch_size, round_batch=round_batch, prefetch=prefetch_buffer)
    if verbose:
        log.info('ImageRecordIter: %s, %d threads decode', path_imgrec, loader._threads)
    return loader


_DOCUMENTATION = """Batches of the pictures in a .rec file, {what}, in RGB and (channels, height, width).

Files
    path_imgrec: a .rec file, several with ; between them, or a folder of them
    path_imgidx: the .idx file that belongs to it
    path_imglist: a .lst file whose labels are used instead of those in the records
    label_width: how many labels an example has
    num_parts, part_index: reads one of so many parts
    even_parts: one order of all records is dealt out to the parts batch by batch, with path_imgidx: every part has the
        same number of batches, the last ones differ by at most one example (`pad` counts what fills them up), and
        `load_state_dict` takes a state of another number of parts; a record that is left out is replaced by another
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
    mean_img (which is made and written if it does not exist), std_r, ..., scale, max_random_contrast,
    max_random_illumination

verbose logs what was found; ctx, device_id and aug_seq make no difference here.
"""


def _variant(name, what, **fixed):
    """The iterator under one of its names."""
    def make(**given):
        return _image_record_iter(**{**given, **fixed})
    make.__name__ = make.__qualname__ = name
    make.__module__ = __name__
    make.__doc__ = _DOCUMENTATION.format(what=what)
    make.__signature__ = inspect.signature(_image_record_iter)      # type: ignore[attr-defined]  # functions may have it
    return native(make)


ImageRecordIter = _variant('ImageRecordIter', 'as numbers')
ImageRecordIter_v1 = _variant('ImageRecordIter_v1', 'as numbers')
ImageRecordUInt8Iter = _variant('ImageRecordUInt8Iter', 'as bytes', dtype='uint8')
ImageRecordUInt8Iter_v1 = _variant('ImageRecordUInt8Iter_v1', 'as bytes', dtype='uint8')
ImageRecordInt8Iter = _variant('ImageRecordInt8Iter', 'as signed bytes', dtype='int8')
