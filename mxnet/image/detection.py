"""Images with boxes around the things in them: augmenters that keep both together, and `ImageDetIter`.

An augmenter for detection takes and returns (image, label).  A label is a numpy.ndarray with a row for each object:
class, left, top, right, bottom (parts of the image's width and height), and whatever else it has.
"""
from __future__ import annotations

import contextlib
import json
import logging
import math
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy
import torch

from .. import _random_state as chance
from .. import ndarray as nd
from .._kinds import explain_kinds as _explain_kinds
from .._names import kind_of
from .._names import suggest_names as _suggest_names
from ..base import MXNetError
from ..io import DataDesc
from ..ndarray._interop import tensor_of
from ._augmenters import (
    IMAGENET_MEAN,
    IMAGENET_STD,
    Augmenter,
    CastAug,
    ForceResizeAug,
    ResizeAug,
    colour_augmenters,
    colour_statistics,
    computed,
    plain,
)
from ._iterators import ImageIter
from .image import copyMakeBorder, fixed_crop, opencv

if TYPE_CHECKING:
    from .._typing import Path
    from ..ndarray import NDArray

__all__ = ['DetAugmenter', 'DetBorrowAug', 'DetRandomSelectAug', 'DetHorizontalFlipAug', 'DetRandomCropAug',
           'DetRandomPadAug', 'CreateMultiRandCropAugmenter', 'CreateDetAugmenter', 'ImageDetIter']


class DetAugmenter:
    """The base of augmenters for detection: called with an image and a label, one returns both."""

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = plain(kwargs)

    def dumps(self) -> Any:
        """What it is and its parameters, as JSON; a list of such texts for those that consist of others."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __call__(self, src: NDArray, label: Any) -> Any:
        raise NotImplementedError(f'{type(self).__name__} must define __call__(self, src, label)')


class DetBorrowAug(DetAugmenter):
    """An ordinary augmenter that leaves boxes where they are: of colours, or of the size of the whole image."""

    def __init__(self, augmenter: Augmenter) -> None:
        if not isinstance(augmenter, Augmenter):
            raise TypeError(f'DetBorrowAug takes an mx.image.Augmenter, not {kind_of(augmenter)}')
        super().__init__(augmenter=augmenter.dumps())
        self.augmenter = augmenter

    def dumps(self) -> Any:
        return [type(self).__name__.lower(), self.augmenter.dumps()]

    def __call__(self, src: NDArray, label: Any) -> Any:
        return self.augmenter(src), label


class DetRandomSelectAug(DetAugmenter):
    """One of several augmenters at random; none of them with probability `skip_prob`."""

    def __init__(self, aug_list: Any, skip_prob: float = 0) -> None:
        super().__init__(skip_prob=skip_prob)
        self.aug_list: Any = list(aug_list) if isinstance(aug_list, (list, tuple)) else [aug_list]
        for aug in self.aug_list:
            if not isinstance(aug, DetAugmenter):
                raise ValueError(f'DetRandomSelectAug takes augmenters for detection, not {kind_of(aug)}')
        self.skip_prob = skip_prob if self.aug_list else 1

    def dumps(self) -> Any:
        return [type(self).__name__.lower(), [aug.dumps() for aug in self.aug_list]]

    def __call__(self, src: NDArray, label: Any) -> Any:
        if chance.like_python().random() < self.skip_prob:
            return src, label
        chance.like_python().shuffle(self.aug_list)
        return self.aug_list[0](src, label)


class DetHorizontalFlipAug(DetAugmenter):
    """Left and right exchanged, with probability `p`."""

    def __init__(self, p: float) -> None:
        super().__init__(p=p)
        self.p = p

    def __call__(self, src: NDArray, label: Any) -> Any:
        if chance.like_python().random() < self.p:
            src, label = computed(src, lambda pixels: pixels.flip(1)), label.copy()
            label[:, [1, 3]] = 1.0 - label[:, [3, 1]]
        return src, label


def _range(value):
    """A pair from a pair or from one number."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value, value)


def _areas(boxes):
    return numpy.maximum(0, boxes[:, 2] - boxes[:, 0]) * numpy.maximum(0, boxes[:, 3] - boxes[:, 1])


def _disabled(what, area_range, least_area, ratio_range):
    """Warns, and says so, if the ranges leave nothing to choose."""
    if area_range[1] <= least_area or area_range[0] > area_range[1]:
        warnings.warn(f'{what} does nothing: area_range={area_range} is not a valid range', stacklevel=3)
        return True
    if ratio_range[0] <= 0 or ratio_range[0] > ratio_range[1]:
        warnings.warn(f'{what} does nothing: aspect_ratio_range={ratio_range} is not a valid range', stacklevel=3)
        return True
    return False


class DetRandomCropAug(DetAugmenter):
    """A random part of the image that has enough of its objects.

    min_object_covered: of each object that the part has at all, it must have more than this
    aspect_ratio_range, area_range: width over height, and area as a part of the image's, smallest and largest
    min_eject_coverage: objects of which not more than this is left are dropped
    max_attempts: after so many the image stays as it is
    """

    def __init__(self, min_object_covered: float = 0.1, aspect_ratio_range: Any = (0.75, 1.33),
                 area_range: tuple[float, float] = (0.05, 1.0), min_eject_coverage: float = 0.3,
                 max_attempts: int = 50) -> None:
        aspect_ratio_range, area_range = _range(aspect_ratio_range), _range(area_range)
        super().__init__(min_object_covered=min_object_covered, aspect_ratio_range=aspect_ratio_range,
                         area_range=area_range, min_eject_coverage=min_eject_coverage, max_attempts=max_attempts)
        self.min_object_covered: float
        self.min_eject_coverage: float
        self.min_object_covered, self.min_eject_coverage = min_object_covered, min_eject_coverage
        self.aspect_ratio_range: Any
        self.area_range: Any
        self.max_attempts: int
        self.aspect_ratio_range, self.area_range, self.max_attempts = aspect_ratio_range, area_range, max_attempts
        self.enabled: bool = not _disabled('DetRandomCropAug', area_range, 0, aspect_ratio_range)

    def __call__(self, src: NDArray, label: Any) -> Any:
        found = self._proposal(label, *src.shape[:2]) if self.enabled else None
        if found is None:
            return src, label
        (x, y, width, height), label = found
        return fixed_crop(src, x, y, width, height), label

    def _proposal(self, label, height, width):
        """((x, y, width, height), new label) of a part that will do, or None."""
        smallest, largest = (share * height * width for share in self.area_range)
        for _ in range(self.max_attempts):
            ratio = chance.like_python().uniform(*self.aspect_ratio_range)
            h, most = round(math.sqrt(smallest / ratio)), round(math.sqrt(largest / ratio))
            if round(most * ratio) > width:
                most = int((width + 0.4999999) / ratio)
            most = min(most, height)
            h = chance.like_python().randint(h, most) if h < most else most
            w = round(h * ratio)
            if w * h < smallest:        # rounding
                h += 1
                w = round(h * ratio)
            if w * h > largest:
                h -= 1
                w = round(h * ratio)
            if not (smallest <= w * h <= largest and w <= width and 0 <= h <= height):
                continue
            y, x = chance.like_python().randint(0, height - h), chance.like_python().randint(0, width - w)
            box = numpy.array([x / width, y / height, (x + w) / width, (y + h) / height], label.dtype)
            if self._will_do(label, box, w * h, height * width):
                cut = self._cut(label, x / width, y / height, w / width, h / height)
                if cut is not None:
                    return (x, y, w, h), cut
        return None

    def _will_do(self, label, box, pixels, all_pixels):
        areas = _areas(label[:, 1:5])
        objects = areas * all_pixels > 2        # pixels
        if pixels < 2 or not objects.any():
            return False
        boxes = label[objects, 1:5]
        common = numpy.column_stack([numpy.maximum(boxes[:, :2], box[:2]), numpy.minimum(boxes[:, 2:], box[2:])])
        shares = _areas(common) / areas[objects]
        shares = shares[shares > 0]
        return shares.size > 0 and shares.min() > self.min_object_covered

    def _cut(self, label, x, y, width, height):
        """The label of a part of the image; None if no object is left."""
        out = label.copy()
        out[:, 1:5] = ((out[:, 1:5] - [x, y, x, y]) / [width, height, width, height]).clip(0, 1)
        with numpy.errstate(divide='ignore', invalid='ignore'):
            left = _areas(out[:, 1:5]) * width * height / _areas(label[:, 1:5])
        out = out[(out[:, 3] > out[:, 1]) & (out[:, 4] > out[:, 2]) & (left > self.min_eject_coverage)]
        return out if len(out) else None


class DetRandomPadAug(DetAugmenter):
    """The image at a random place in a larger one.

    aspect_ratio_range, area_range: width over height of the larger one, and its area as a multiple of the image's
    max_attempts: after so many the image stays as it is
    pad_val: colour of the rest, one number or three
    """

    def __init__(self, aspect_ratio_range: Any = (0.75, 1.33), area_range: tuple[float, float] = (1.0, 3.0),
                 max_attempts: int = 50, pad_val: Sequence[Any] = (128, 128, 128)) -> None:
        pad_val = tuple(pad_val) if isinstance(pad_val, (list, tuple)) else (pad_val,) * 3
        aspect_ratio_range, area_range = _range(aspect_ratio_range), _range(area_range)
        super().__init__(aspect_ratio_range=aspect_ratio_range, area_range=area_range, max_attempts=max_attempts,
                         pad_val=pad_val)
        self.pad_val: Any
        self.max_attempts: int
        self.pad_val, self.max_attempts = pad_val, max_attempts
        self.aspect_ratio_range: Any
        self.area_range: Any
        self.aspect_ratio_range, self.area_range = aspect_ratio_range, area_range
        self.enabled: bool = not _disabled('DetRandomPadAug', area_range, 1.0, aspect_ratio_range)

    def __call__(self, src: NDArray, label: Any) -> Any:
        height, width = src.shape[:2]
        found = self._proposal(height, width) if self.enabled else None
        if found is None:
            return src, label
        x, y, w, h = found
        label = label.copy()
        label[:, 1:5] = (label[:, 1:5] * [width, height, width, height] + [x, y, x, y]) / [w, h, w, h]
        return copyMakeBorder(src, y, h - y - height, x, w - x - width, 0, values=self.pad_val), label

    def _proposal(self, height, width):
        """(x, y, width, height): where the image stands, and how large the new one is; or None."""
        smallest, largest = (share * height * width for share in self.area_range)
        for _ in range(self.max_attempts):
            ratio = chance.like_python().uniform(*self.aspect_ratio_range)
            h, most = round(math.sqrt(smallest / ratio)), round(math.sqrt(largest / ratio))
            if round(h * ratio) < width:
                h = int((width + 0.499999) / ratio)
            h = max(h, height)
            h = chance.like_python().randint(h, most) if h < most else most
            w = round(h * ratio)
            if h - height >= 2 and w - width >= 2:      # less is not worth it
                y, x = chance.like_python().randint(0, h - height), chance.like_python().randint(0, w - width)
                return x, y, w, h
        return None


# ---------------------------------------------------------------------- lists
def CreateMultiRandCropAugmenter(min_object_covered: Any = 0.1, aspect_ratio_range: Any = (0.75, 1.33),
                                 area_range: Any = (0.05, 1.0), min_eject_coverage: Any = 0.3, max_attempts: Any = 50,
                                 skip_prob: Any = 0) -> DetRandomSelectAug:
    """One of several DetRandomCropAug at random.  A parameter is a list of values, one for each, or one for all."""
    given = [p if isinstance(p, list) else [p] for p in (min_object_covered, aspect_ratio_range, area_range,
                                                         min_eject_coverage, max_attempts)]
    count = max(map(len, given))
    if any(len(p) not in (1, count) for p in given):
        raise ValueError(f'CreateMultiRandCropAugmenter: lists have {[len(p) for p in given]} values; all must '
                         'have the same number')
    crops = [DetRandomCropAug(*values) for values in zip(*[p if len(p) == count else p * count for p in given])]
    return DetRandomSelectAug(crops, skip_prob=skip_prob)


def CreateDetAugmenter(data_shape: Sequence[int], resize: int = 0, rand_crop: float = 0, rand_pad: float = 0,
                       rand_gray: float = 0, rand_mirror: float = False, mean: Any = None, std: Any = None,
                       brightness: float = 0, contrast: float = 0, saturation: float = 0, pca_noise: float = 0,
                       hue: float = 0, inter_method: int = 2, min_object_covered: float = 0.1,
                       aspect_ratio_range: tuple[float, float] = (0.75, 1.33),
                       area_range: tuple[float, float] = (0.05, 3.0), min_eject_coverage: float = 0.3,
                       max_attempts: int = 50, pad_val: Sequence[Any] = (127, 127, 127)) -> list[DetAugmenter]:
    """A list of augmenters for detection that make images of data_shape (channels, height, width).

    rand_crop, rand_pad: probabilities of cropping and of padding; see DetRandomCropAug, DetRandomPadAug and
        CreateMultiRandCropAugmenter for their parameters
    The others: as in CreateAugmenter; the image is scaled to its size at last, whatever its proportions.
    """
    found: list[Any] = [DetBorrowAug(ResizeAug(resize, inter_method))] if resize > 0 else []
    if rand_crop > 0:
        found.append(CreateMultiRandCropAugmenter(min_object_covered, aspect_ratio_range, area_range,
                                                  min_eject_coverage, max_attempts, skip_prob=1 - rand_crop))
    if rand_mirror > 0:
        found.append(DetHorizontalFlipAug(0.5))
    if rand_pad > 0:        # late, for fewer pixels are worked on before
        pad = DetRandomPadAug(aspect_ratio_range, (1.0, area_range[1]), max_attempts, pad_val)
        found.append(DetRandomSelectAug([pad], 1 - rand_pad))
    last = [ForceResizeAug((data_shape[2], data_shape[1]), inter_method), CastAug(),
            *colour_augmenters(brightness, contrast, saturation, hue, pca_noise, rand_gray, mean, std)]
    return found + [DetBorrowAug(aug) for aug in last]


# ---------------------------------------------------------------------- batches
class ImageDetIter(ImageIter):
    """Batches of images with boxes; labels have shape (batch, most objects of an image, numbers of an object).

    Rows of images with fewer objects are filled up with -1.  Arguments are those of ImageIter; other ones are given to
    CreateDetAugmenter.  Images without a good box, from the beginning or after augmentation, are left out.
    """

    label_shape: Any
    provide_label: Any
    provide_data: Any

    def __init__(self, batch_size: int, data_shape: Sequence[int], path_imgrec: Path | None = None,
                 path_imglist: Path | None = None, path_root: Path | None = None, path_imgidx: Path | None = None,
                 shuffle: bool = False, part_index: int = 0, num_parts: int = 1, aug_list: Any = None,
                 imglist: Any = None, data_name: str = 'data', label_name: str = 'label',
                 last_batch_handle: str = 'pad', on_corrupt: str = 'raise', **kwargs: Any) -> None:
        super().__init__(batch_size, data_shape, path_imgrec=path_imgrec, path_imglist=path_imglist,
                         path_root=path_root, path_imgidx=path_imgidx, shuffle=shuffle, part_index=part_index,
                         num_parts=num_parts, aug_list=[], imglist=imglist, data_name=data_name, label_name=label_name,
                         last_batch_handle=last_batch_handle, on_corrupt=on_corrupt)
        self.auglist: Any = CreateDetAugmenter(data_shape, **kwargs) if aug_list is None else aug_list
        self.label_shape = self._estimate_label_shape()
        self.provide_label = [DataDesc(label_name, (batch_size, *self.label_shape))]

    def _estimate_label_shape(self):
        """(most objects of an image, numbers of an object), from the labels of all images."""
        shapes = []
        self.reset()
        if self.imgrec is None:
            for number, key in enumerate(self.seq, 1):
                self.cur = number
                shapes.append(self._label_shape(self.imglist[key][0]))
        else:
            with contextlib.suppress(StopIteration):
                while True:
                    shapes.append(self._label_shape(self.next_sample()[0]))
        self.reset()
        if not shapes:
            place = self._list if self.imgrec is None else self.imgrec.uri
            raise MXNetError('ImageDetIter: there are no images' + (f' in {place}' if place else ''))
        return max(count for count, _ in shapes), shapes[-1][1]

    def _label_shape(self, label):
        try:
            return self._parse_label(label).shape
        except MXNetError:
            raise
        except RuntimeError as error:
            raise MXNetError(f'ImageDetIter: {self._where()}: {error}') from None

    def _parse_label(self, label):
        """The objects of a label as it is in files: length of the head, length of an object, the head, the objects."""
        raw = numpy.asarray(label.asnumpy() if isinstance(label, nd.NDArray) else label, numpy.float32).ravel()
        if raw.size < 7:
            raise RuntimeError(f'a label has at least 2 numbers of a head and 5 of an object, not {raw.size}')
        if not numpy.isfinite(raw[:2]).all():
            raise RuntimeError(f'a label cannot have a head of {raw[0]:g} and objects of {raw[1]:g}')
        head, width = int(raw[0]), int(raw[1])
        if head < 2 or width < 5 or (raw.size - head) % width:
            raise RuntimeError(f'a label of {raw.size} numbers cannot have a head of {head} and objects of {width}')
        objects = raw[head:].reshape(-1, width)
        good = objects[(objects[:, 3] > objects[:, 1]) & (objects[:, 4] > objects[:, 2])]
        if not len(good):
            raise RuntimeError('a label has no object with a box')
        return good

    def _check_valid_label(self, label):
        if label.ndim != 2 or label.shape[1] < 5:
            raise RuntimeError(f'a label has shape (objects, 5 or more), not {label.shape}')
        if not ((label[:, 0] >= 0) & (label[:, 3] > label[:, 1]) & (label[:, 4] > label[:, 2])).any():
            raise RuntimeError('no object is left')

    def _augmented(self, image, label):
        try:
            self.check_valid_image([image])
            image, label = self.augmentation_transform(image, self._parse_label(label))
            self._check_valid_label(label)
        except MXNetError:
            raise
        except RuntimeError as error:
            logging.debug('an image is left out: %s', error)
            return None
        return image, label

    def _empty_batch(self):
        return torch.zeros(self.provide_data[0].shape), torch.full(self.provide_label[0].shape, -1.0)

    def _place_label(self, place, label):
        if len(label) > len(place) or label.shape[1] != place.shape[1]:
            raise MXNetError(f'ImageDetIter: {self._where()} has a label of shape {label.shape}, but label_shape is '
                             f'{self.label_shape}')
        place.fill_(-1)
        place[:len(label)] = tensor_of(numpy.asarray(label, numpy.float32))

    def augmentation_transform(self, data: Any, label: Any) -> Any:      # type: ignore[override]
        """The image and its label after all augmenters."""
        for aug in self.auglist:
            data, label = aug(data, label)      # type: ignore[call-arg]
        return data, label

    # ------------------------------------------------------------------ shapes
    def check_label_shape(self, label_shape: Sequence[int]) -> None:
        """Raises ValueError if labels cannot have this shape."""
        if len(label_shape) != 2:
            raise ValueError(f'label_shape must be (objects, numbers of an object), not {tuple(label_shape)}')
        if label_shape[0] < self.label_shape[0] or label_shape[1] != self.label_shape[1]:
            raise ValueError(f'label_shape can only get more objects: it is {self.label_shape}, and '
                             f'{tuple(label_shape)} was asked for')

    def reshape(self, data_shape: Sequence[int] | None = None, label_shape: Sequence[int] | None = None) -> None:
        """Changes the shape of images, of labels, or of both.

        The images are what augmenters make of them: give an aug_list that fits.
        """
        if data_shape is not None:
            self.check_data_shape(data_shape)
            self.provide_data = [DataDesc(self.provide_data[0].name, (self.batch_size, *data_shape))]
            self.data_shape: tuple[int, ...] = tuple(data_shape)
        if label_shape is not None:
            self.check_label_shape(label_shape)
            self.provide_label = [DataDesc(self.provide_label[0].name, (self.batch_size, *label_shape))]
            self.label_shape = tuple(label_shape)

    def sync_label_shape(self, it: ImageDetIter, verbose: bool = False) -> ImageDetIter:
        """Gives this iterator and another one the same label_shape, the larger of both -> the other one."""
        if not isinstance(it, ImageDetIter):
            raise TypeError(f'sync_label_shape takes an ImageDetIter, not {kind_of(it)}')
        if it.label_shape[1] != self.label_shape[1]:
            raise ValueError(f'objects have {self.label_shape[1]} and {it.label_shape[1]} numbers; they must be equal')
        shape = max(self.label_shape[0], it.label_shape[0]), self.label_shape[1]
        for one in (self, it):
            if one.label_shape != shape:
                one.reshape(label_shape=shape)
                if verbose:
                    logging.info('label_shape is %s now', shape)
        return it

    # ------------------------------------------------------------------ to look at
    def draw_next(self, color: Sequence[int] | None = None, thickness: int = 2, mean: Any = None, std: Any = None,
                  clip: bool = True, waitKey: Any = None, window_name: str = 'draw_next',
                  id2labels: Any = None) -> Iterator[Any]:
        """Yields the next images after augmentation, as numpy.ndarray in BGR, with their boxes drawn.

        color: of the boxes, in RGB; random if None
        mean, std: what to undo of the normalization; True for the values of ImageNet
        clip: to numbers from 0 to 255
        waitKey: shows each image in a window for so many milliseconds, 0 until a key is pressed
        id2labels: names of the classes, to be written into the boxes
        """
        cv2 = opencv()
        mean, std = colour_statistics('mean', mean, IMAGENET_MEAN), colour_statistics('std', std, IMAGENET_STD)
        while True:
            try:
                found = self._next_example()
            except StopIteration:
                return
            if found is None:
                continue
            image, label = found[0].asnumpy().astype(numpy.float32), found[1]
            image = image * (1 if std is None else std.asnumpy()) + (0 if mean is None else mean.asnumpy())
            image = numpy.ascontiguousarray((image.clip(0, 255) if clip else image)[:, :, ::-1].astype(numpy.uint8))
            for row in label:
                if row[1] >= 0:
                    self._draw(cv2, image, row, color, thickness, id2labels or {})
            if waitKey is not None:
                cv2.imshow(window_name, image)
                cv2.waitKey(waitKey)
            yield image

    @staticmethod
    def _draw(cv2, image, row, color, thickness, names):
        height, width = image.shape[:2]
        left, top, right, bottom = (int(v) for v in row[1:5] * [width, height, width, height])
        color = tuple(color[::-1]) if color else tuple(chance.like_numpy().rand(3) * 255)
        cv2.rectangle(image, (left, top), (right, bottom), color, thickness)
        if int(row[0]) in names:
            text, font = str(names[int(row[0])]), cv2.FONT_HERSHEY_SIMPLEX
            down = cv2.getTextSize(text, font, 0.5, 2)[0][1]
            cv2.putText(image, text, (left + 5, top + down + 5), font, 0.5, (255, 255, 255), 2)


_explain_kinds(globals(), __all__)
_suggest_names(globals())
