"""`ImageDetRecordIter`: pictures with boxes around the things in them.

Labels of a picture are a row of numbers: length of the head, length of an object, the rest of the head, then for each
object its class, left, top, right and bottom (from 0 to 1), and whatever else it has.
"""
import math
import struct
from typing import Literal

import numpy
import torch

from .._ops.core.attributes import Floats, NonNegative, Shape
from ..base import MXNetError
from ._image_augment import METHODS, interpolation, linear_table, mapped, resized, shifted_hls, short_edge
from ._native import log, native
from ._pictures import PictureLoader, check_augmenter, fill, read_list
from ._records import Records

__all__ = ['ImageDetRecordIter']


class Objects:
    """The labels of a picture, with the boxes as columns."""

    def __init__(self, name, labels):
        if len(labels) < 7:
            raise MXNetError(f'{name}: a label has at least 2 numbers of a head and 5 of an object, not {len(labels)}')
        head, width = (int(n) if math.isfinite(n) else 0 for n in labels[:2])
        if head < 2 or width < 5 or len(labels) < head or (len(labels) - head) % width:
            raise MXNetError(f'{name}: a label of {len(labels)} numbers cannot have a head of {labels[0]:.15g} and '
                             f'objects of {labels[1]:.15g}')
        self.head = labels[:head]
        rows = numpy.array(labels[head:], numpy.float32).reshape(-1, width)
        self.rows = rows[(rows[:, 3] > rows[:, 1]) & (rows[:, 4] > rows[:, 2])]     # a box without area is none

    def labels(self):
        return numpy.concatenate([self.head, self.rows.ravel()])

    def mirror(self):
        self.rows[:, [1, 3]] = 1 - self.rows[:, [3, 1]]

    def project(self, box, rows=None):
        """Coordinates in a picture that is a box of the old one."""
        x, y, width, height = box
        rows = (self.rows if rows is None else rows).copy()
        rows[:, 1:5] = (rows[:, 1:5] - [x, y, x, y]) / [width, height, width, height]
        rows[:, 1:3] = rows[:, 1:3].clip(min=0)
        rows[:, 3:5] = rows[:, 3:5].clip(max=1)
        self.rows = rows

    def crop(self, box, limits, emit, threshold):
        """Whether the picture may be cut to a box; if so, its objects are those of the new picture.

        limits: (low, high) for the overlap of the box with an object, by their union, by the box and by the object;
            one object must be within all of them
        emit: which objects stay: those whose 'center' is in the box, or of which more than a threshold is ('overlap')
        """
        if not len(self.rows):
            return True
        x, y, width, height = box
        left, top, right, bottom = self.rows[:, 1:5].T
        common = ((numpy.minimum(right, x + width) - numpy.maximum(left, x)).clip(min=0)
                  * (numpy.minimum(bottom, y + height) - numpy.maximum(top, y)).clip(min=0))
        areas = (right - left) * (bottom - top)
        shares = common / (width * height + areas - common), common / (width * height), common / areas
        good = numpy.ones(len(areas), bool)
        for share, (low, high) in zip(shares, limits):
            if low > 0 or high < 1:
                good &= (share >= low) & (share <= high)
        if emit == 'center':
            middle, centre = (left + right) / 2, (top + bottom) / 2
            stay = (middle >= x) & (middle < x + width) & (centre >= y) & (centre < y + height)
        else:
            stay = shares[2] > threshold
        if not good.any() or not stay.any():
            return False
        self.project(box, self.rows[stay])
        return True


class Augmenter:
    """Resizes, colours, mirrors, pads and crops pictures with their objects, as far as parameters ask for it."""

    # the parameters of `ImageDetRecordIter`; those of crops have one value for each sampler
    resize: int
    rand_crop_prob: float
    num_crop_sampler: int
    crop_emit_mode: str
    emit_overlap_thresh: float
    max_crop_trials: tuple[int, ...]
    rand_pad_prob: float
    max_pad_scale: float
    max_random_hue: int
    random_hue_prob: float
    max_random_saturation: int
    random_saturation_prob: float
    max_random_illumination: int
    random_illumination_prob: float
    max_random_contrast: float
    random_contrast_prob: float
    rand_mirror_prob: float
    fill_value: int
    inter_method: int
    resize_mode: str

    def __init__(self, name, data_shape, options):
        self.__dict__.update(options)
        self._name, (self._height, self._width) = name, data_shape[1:]
        if self.inter_method not in METHODS:
            raise MXNetError(f'{name}: inter_method is one of {METHODS}, not {self.inter_method}')
        count = self.num_crop_sampler
        for key in [key for key in options if key.startswith(('min_crop_', 'max_crop_'))]:
            values = options[key] * count if len(options[key]) == 1 else options[key]
            if count > 0 and len(values) != count:
                raise MXNetError(f'{name}: {key} has {len(values)} values for num_crop_sampler={count}')
            setattr(self, key, values)
        self._samplers = [self._sampler(i) for i in range(max(count, 0))]
        self._colours = max(self.random_hue_prob, self.random_saturation_prob, self.random_illumination_prob,
                            self.random_contrast_prob) > 0
        self.draws = (self._colours or self.rand_mirror_prob > 0 or self.rand_pad_prob > 0 or self.rand_crop_prob > 0
                      or self.inter_method == 10)

    def _sampler(self, i):
        """(scales, aspect ratios, limits of overlaps, number of trials) of a way to crop."""
        ranges = [(getattr(self, f'min_crop_{what}')[i], getattr(self, f'max_crop_{what}')[i])
                  for what in ('scales', 'aspect_ratios', 'overlaps', 'sample_coverages', 'object_coverages')]
        if any(low > high for low, high in ranges) or not 0 <= ranges[0][0] < ranges[0][1] <= 1 or ranges[1][0] < 0:
            raise MXNetError(f'{self._name}: a crop sampler needs 0 <= min_crop_scales < max_crop_scales <= 1, aspect '
                             f'ratios that are not negative, and no minimum above its maximum; number {i} has {ranges}')
        return ranges[0], ranges[1], ranges[2:], self.max_crop_trials[i]

    def __call__(self, picture, objects, draw):
        """The picture in its new size, at most that of data_shape; the objects follow it."""
        import cv2
        if self.resize != -1:
            picture = short_edge(picture, self.resize, self.inter_method, draw)
        if self._colours:
            picture = self._coloured(picture, draw)
        if self.rand_mirror_prob > 0 and draw.random() < self.rand_mirror_prob:
            objects.mirror()
            picture = cv2.flip(picture, 1)
        if self.rand_pad_prob > 0 and self.max_pad_scale > 1 and draw.random() < self.rand_pad_prob:
            picture = self._padded(picture, objects, draw)
        if self.rand_crop_prob > 0 and self._samplers and draw.random() < self.rand_crop_prob:
            picture = self._cropped(picture, objects, draw)
        return self._fitted(picture, draw)

    def _coloured(self, picture, draw):
        def amount(most, probability):
            by = draw.uniform(-1, 1) * most
            return by if draw.random() < probability else 0
        hue = int(amount(self.max_random_hue, self.random_hue_prob))
        saturation = int(amount(self.max_random_saturation, self.random_saturation_prob))
        lightness = int(amount(self.max_random_illumination, self.random_illumination_prob))
        contrast = amount(self.max_random_contrast, self.random_contrast_prob)
        if hue or saturation or lightness:
            picture = shifted_hls(picture, hue, lightness, saturation)
        return mapped(picture, linear_table(contrast + 1)) if abs(contrast) > 1e-3 else picture

    def _padded(self, picture, objects, draw):
        import cv2
        scale = draw.uniform(1, self.max_pad_scale)
        if scale < 1.05:        # too little to bother
            return picture
        x, y = -draw.uniform(0, scale - 1), -draw.uniform(0, scale - 1)
        objects.project((x, y, scale, scale))
        rows, columns = picture.shape[:2]
        return cv2.copyMakeBorder(picture, int(-y * rows), int((scale + y - 1) * rows), int(-x * columns),
                                  int((scale + x - 1) * columns), cv2.BORDER_CONSTANT, value=(self.fill_value,) * 3)

    def _cropped(self, picture, objects, draw):
        """The picture cut by the first of the samplers, in random order, that finds a box; else as it was."""
        rows, columns = picture.shape[:2]
        for scales, ratios, limits, trials in draw.sample(self._samplers, len(self._samplers)):
            for _ in range(trials):
                box = x, y, width, height = _random_box(scales, ratios, columns / rows, draw)
                pixels = [int(y * rows), int(x * columns), int(height * rows), int(width * columns)]
                if min(pixels[2:]) and objects.crop(box, limits, self.crop_emit_mode, self.emit_overlap_thresh):
                    return picture[pixels[0]:pixels[0] + pixels[2], pixels[1]:pixels[1] + pixels[3]]
        return picture

    def _fitted(self, picture, draw):
        rows, columns = picture.shape[:2]
        if self.resize_mode == 'force':
            return resized(picture, self._width, self._height, self.inter_method, draw)
        single = numpy.float32
        ratio = min(single(self._height) / single(rows), single(self._width) / single(columns))
        if self.resize_mode == 'shrink' and ratio >= 1:
            return picture
        width, height = max(1, int(ratio * single(columns))), max(1, int(ratio * single(rows)))
        method = interpolation(self.inter_method, (columns, rows), (width, height), draw)
        return resized(picture, width, height, method, draw)


def _random_box(scales, ratios, aspect, draw):
    """(x, y, width, height) as parts of the picture, whose width is `aspect` times its height."""
    scale = draw.uniform(*scales) + 1e-12
    low, high = max(ratios[0] / aspect, scale * scale), min(ratios[1] / aspect, 1 / (scale * scale))
    ratio = math.sqrt(draw.uniform(low, high))
    width, height = min(1.0, scale * ratio), min(1.0, scale / ratio)
    return draw.uniform(0, 1 - width), draw.uniform(0, 1 - height), width, height


class _Detections(PictureLoader):
    def __init__(self, name, records, data_shape, label_width, label_pad_width, label_pad_value, path_imglist, augment,
                 normalize, **kwargs):
        self._list = read_list(name, path_imglist, label_width) if path_imglist else None
        self._width, self._pad_value = label_width, label_pad_value
        if label_pad_width < 1:
            label_pad_width = self._widest(name, records)
        super().__init__(name, records=records, data_shape=data_shape, label_shape=(label_pad_width + 4,),
                         dtype=torch.float32, **kwargs)
        self._augment = Augmenter(name, data_shape, augment)
        self.draws = self._augment.draws
        self._tables = self._mean = None
        self._tables, self._mean = self._normalization(**normalize)

    def _widest(self, name, records):
        """The length of the longest label of all pictures."""
        if self._list is not None:
            return max(map(len, self._list.values()))
        counts = ((struct.unpack('<I', head)[0], size) for head, size in records.heads(4) if len(head) == 4)
        # a record that says it has more labels than bytes is damaged, which its reader will find
        return max((count for count, size in counts if 4 * count <= size), default=0)

    def _normalization(self, mean_img, scale, **given):
        means, stds = (numpy.array([given[f'{what}_{c}'] for c in 'rgba'], numpy.float32) for what in ('mean', 'std'))
        stds = numpy.where(stds > 0, stds, numpy.float32(1))
        image = None
        if not (means > 0).any():       # else the means are subtracted, and the mean image is not
            means[:] = 0
            image = self.mean_image(mean_img) if mean_img else None
        values = numpy.arange(256, dtype=numpy.float32)
        tables = (values - means[:, None]) / stds[:, None] * numpy.float32(scale)
        return tables[:, None], None if image is None else image / stds[:len(image), None, None] * numpy.float32(scale)

    def labels_of(self, number, header, labels):
        if self._list is not None:
            labels = self._list.get(number)
            if labels is None:
                raise MXNetError(f'{self.name}: path_imglist has no line for id {number}')
        if labels is None:
            raise MXNetError(f'{self.name}: the record has one label, which cannot be a list of objects')
        if self._width > 0 and len(labels) != self._width:
            raise MXNetError(f'{self.name}: label_width={self._width}, but the record has {len(labels)} labels')
        room = self._label_shape[0] - 4
        if len(labels) > room:
            raise MXNetError(f'{self.name}: label_pad_width={room}, but the record has {len(labels)} labels')
        return labels

    def place(self, picture, labels, data, label, draw):
        import cv2
        objects = Objects(self.name, labels)
        picture = self._augment(picture, objects, draw)
        rows, columns = picture.shape[:2]
        if (rows, columns) != self._shape[1:]:          # it stands in the corner, with zeros around it
            picture = cv2.copyMakeBorder(picture, 0, self._shape[1] - rows, 0, self._shape[2] - columns,
                                         cv2.BORDER_CONSTANT)
        fill(picture, data, self._tables)
        if self._mean is not None:
            data -= self._mean
        labels = objects.labels()
        label[:4] = len(data), rows, columns, len(labels)
        label[4:4 + len(labels)] = labels
        label[4 + len(labels):] = self._pad_value


_NORMALIZE = ('mean_img', 'mean_r', 'mean_g', 'mean_b', 'mean_a', 'std_r', 'std_g', 'std_b', 'std_a', 'scale')
_AUGMENT = ('resize', 'rand_crop_prob', 'min_crop_scales', 'max_crop_scales', 'min_crop_aspect_ratios',
            'max_crop_aspect_ratios', 'min_crop_overlaps', 'max_crop_overlaps', 'min_crop_sample_coverages',
            'max_crop_sample_coverages', 'min_crop_object_coverages', 'max_crop_object_coverages', 'num_crop_sampler',
            'crop_emit_mode', 'emit_overlap_thresh', 'max_crop_trials', 'rand_pad_prob', 'max_pad_scale',
            'max_random_hue', 'random_hue_prob', 'max_random_saturation', 'random_saturation_prob',
            'max_random_illumination', 'random_illumination_prob', 'max_random_contrast', 'random_contrast_prob',
            'rand_mirror_prob', 'fill_value', 'inter_method', 'resize_mode')


@native
def ImageDetRecordIter(
        *, path_imglist: str = '', path_imgrec: str = './data/imgrec.rec', path_imgidx: str = '',
        aug_seq: str = 'det_aug_default', label_width: int = -1, data_shape: Shape,
        preprocess_threads: NonNegative = 4, verbose: bool = True, num_parts: int = 1, part_index: int = 0,
        shuffle_chunk_size: NonNegative = 0, shuffle_chunk_seed: int = 0, label_pad_width: int = 0,
        label_pad_value: float = -1, shuffle: bool = False, seed: int = 0, batch_size: NonNegative,
        round_batch: bool = True, prefetch_buffer: NonNegative = 4, ctx: Literal['cpu', 'gpu'] = 'gpu',
        dtype: Literal['float32', None] = None, resize: int = -1, rand_crop_prob: float = 0,
        min_crop_scales: Floats = (0,), max_crop_scales: Floats = (1,), min_crop_aspect_ratios: Floats = (1,),
        max_crop_aspect_ratios: Floats = (1,), min_crop_overlaps: Floats = (0,), max_crop_overlaps: Floats = (1,),
        min_crop_sample_coverages: Floats = (0,), max_crop_sample_coverages: Floats = (1,),
        min_crop_object_coverages: Floats = (0,), max_crop_object_coverages: Floats = (1,), num_crop_sampler: int = 1,
        crop_emit_mode: Literal['center', 'overlap'] = 'center', emit_overlap_thresh: float = 0.3,
        max_crop_trials: Shape = (25,), rand_pad_prob: float = 0, max_pad_scale: float = 1, max_random_hue: int = 0,
        random_hue_prob: float = 0, max_random_saturation: int = 0, random_saturation_prob: float = 0,
        max_random_illumination: int = 0, random_illumination_prob: float = 0, max_random_contrast: float = 0,
        random_contrast_prob: float = 0, rand_mirror_prob: float = 0, fill_value: int = 127, inter_method: int = 1,
        resize_mode: Literal['fit', 'force', 'shrink'] = 'force', mean_img: str = '', mean_r: float = 0,
        mean_g: float = 0, mean_b: float = 0, mean_a: float = 0, std_r: float = 0, std_g: float = 0, std_b: float = 0,
        std_a: float = 0, scale: float = 1, on_corrupt: Literal['raise', 'skip'] = 'raise', even_parts: bool = False):
    """Batches of pictures with boxes, from a .rec file.

    The label of an example has 4 + label_pad_width numbers: channels, height and width of the picture, how many
    numbers follow that mean something; these numbers (see the file format); and label_pad_value up to the end.

    Files and batches: as ImageRecordIter
    label_width: how many numbers the label of each picture has, -1 if not the same
    label_pad_width: length of the longest label; it is found if not given
    rand_crop_prob, num_crop_sampler, crop_emit_mode, emit_overlap_thresh: how often pictures are cropped, in how many
        ways, and which objects stay
    min_ and max_crop_scales, _aspect_ratios, _overlaps, _sample_coverages, _object_coverages, max_crop_trials: one
        value for each way to crop, or one for all
    rand_pad_prob, max_pad_scale, fill_value: how often and how far pictures are put into a larger one
    max_random_hue and random_hue_prob, _saturation, _illumination, _contrast; rand_mirror_prob
    resize: length of the shorter edge, first of all; resize_mode: 'force' into data_shape in the end, or in proportion,
        'fit' or only 'shrink'
    mean_r, mean_g, mean_b, mean_a or mean_img, std_r, ..., scale: (pixel - mean) / std * scale
    """
    given = locals()
    name = 'ImageDetRecordIter'
    check_augmenter(name, aug_seq, 'det_aug_default')
    records = Records(name, path_imgrec, path_imgidx, part_index, num_parts, shuffle, seed, shuffle_chunk_size,
                      shuffle_chunk_seed, batch_size if even_parts else 0)
    loader = _Detections(name, records, data_shape, label_width, label_pad_width, label_pad_value, path_imglist,
                         {key: given[key] for key in _AUGMENT}, {key: given[key] for key in _NORMALIZE},
                         threads=preprocess_threads, seed=seed, on_corrupt=on_corrupt, where=path_imgrec,
                         batch_size=batch_size, round_batch=round_batch, prefetch=prefetch_buffer)
    if verbose:
        log.info('ImageDetRecordIter: %s, labels of %d numbers', path_imgrec, loader._label_shape[0] - 4)
    return loader
