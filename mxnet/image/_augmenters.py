"""Augmenters: objects that change an image a little, most of them at random, and the list that `CreateAugmenter` makes.

They take and return arrays of shape (height, width, channels) in RGB.  Chance comes from Python's `random` (and, for
LightingAug, from `numpy.random`), as in upstream: the same seeds give the same images.
"""
from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy
import torch

from .. import _random_state as chance
from .. import ndarray as nd
from .._array import wrap
from .._kinds import explain_kinds as _explain_kinds
from .._names import explain_keywords
from ..ndarray._interop import tensor_of
from .image import center_crop, color_normalize, imresize, interpolation, random_crop, random_size_crop, resize_short

if TYPE_CHECKING:
    from .._typing import DType
    from ..ndarray import NDArray

__all__ = ['Augmenter', 'SequentialAug', 'ResizeAug', 'ForceResizeAug', 'RandomCropAug', 'RandomSizedCropAug',
           'CenterCropAug', 'RandomOrderAug', 'BrightnessJitterAug', 'ContrastJitterAug', 'SaturationJitterAug',
           'HueJitterAug', 'ColorJitterAug', 'LightingAug', 'ColorNormalizeAug', 'RandomGrayAug', 'HorizontalFlipAug',
           'CastAug', 'CreateAugmenter']

IMAGENET_MEAN, IMAGENET_STD = (123.68, 116.28, 103.53), (58.395, 57.12, 57.375)
IMAGENET_EIGENVALUES = (55.46, 4.794, 1.148)
IMAGENET_EIGENVECTORS = ((-0.5675, 0.7192, 0.4009), (-0.5808, -0.0045, -0.8140), (-0.5836, -0.6948, 0.4203))


def plain(kwargs: Any) -> Any:
    """Parameters as JSON can write them."""
    return {k: v.asnumpy().tolist() if isinstance(v, nd.NDArray) else v.tolist() if isinstance(v, numpy.ndarray) else v
            for k, v in kwargs.items()}


class Augmenter:
    """The base of all augmenters: called with an image, one returns an image.

    >>> mx.image.ResizeAug(64).dumps()
    '["resizeaug", {"size": 64, "interp": 2}]'
    """

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = plain(kwargs)

    def dumps(self) -> Any:
        """What it is and its parameters, as JSON; a list of such texts for those that consist of others."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __call__(self, src: NDArray) -> Any:
        raise NotImplementedError(f'{type(self).__name__} must define __call__(self, src)')


class SequentialAug(Augmenter):
    """Several augmenters, one after the other."""

    def __init__(self, ts: Sequence[Augmenter]) -> None:
        super().__init__()
        self.ts = ts

    def dumps(self) -> Any:
        return [type(self).__name__.lower(), [aug.dumps() for aug in self.ts]]

    def __call__(self, src: NDArray) -> Any:
        for aug in self.ts:
            src = aug(src)
        return src


class RandomOrderAug(SequentialAug):
    """Several augmenters in random order."""

    def __call__(self, src: NDArray) -> Any:
        chance.like_python().shuffle(self.ts)
        return super().__call__(src)


# ---------------------------------------------------------------------- size and place
class ResizeAug(Augmenter):
    """Scales such that the shorter side becomes `size`."""

    def __init__(self, size: Any, interp: int = 2) -> None:
        super().__init__(size=size, interp=interp)
        self.size: Any
        self.interp: int
        self.size, self.interp = size, interp

    def __call__(self, src: NDArray) -> Any:
        return resize_short(src, self.size, self.interp)


class ForceResizeAug(Augmenter):
    """Scales to `size` (width, height), whatever the proportions."""

    def __init__(self, size: Any, interp: int = 2) -> None:
        super().__init__(size=size, interp=interp)
        self.size: Any
        self.interp: int
        self.size, self.interp = size, interp

    def __call__(self, src: NDArray) -> Any:
        width, height = self.size
        return imresize(src, width, height, interp=interpolation(self.interp, (*src.shape[:2], height, width)))


class RandomCropAug(Augmenter):
    """A part of `size` (width, height) at a random place."""

    def __init__(self, size: Any, interp: int = 2) -> None:
        super().__init__(size=size, interp=interp)
        self.size: Any
        self.interp: int
        self.size, self.interp = size, interp

    def __call__(self, src: NDArray) -> Any:
        return random_crop(src, self.size, self.interp)[0]


class RandomSizedCropAug(Augmenter):
    """A part of random area, ratio and place, scaled to `size` (width, height); see random_size_crop."""

    def __init__(self, size: Any, area: float | tuple[float, float], ratio: tuple[float, float], interp: int = 2,
                 **kwargs: Any) -> None:
        if 'min_area' in kwargs:
            warnings.warn('RandomSizedCropAug: min_area is an old name of area', DeprecationWarning, stacklevel=2)
            area = kwargs.pop('min_area')
        if kwargs:
            raise TypeError(f'RandomSizedCropAug got an unexpected argument {next(iter(kwargs))!r}')
        super().__init__(size=size, area=area, ratio=ratio, interp=interp)
        self.size: Any
        self.area: Any
        self.ratio: Any
        self.interp: int
        self.size, self.area, self.ratio, self.interp = size, area, ratio, interp

    def __call__(self, src: NDArray) -> Any:
        return random_size_crop(src, self.size, self.area, self.ratio, self.interp)[0]


class CenterCropAug(Augmenter):
    """The middle of `size` (width, height)."""

    def __init__(self, size: Any, interp: int = 2) -> None:
        super().__init__(size=size, interp=interp)
        self.size: Any
        self.interp: int
        self.size, self.interp = size, interp

    def __call__(self, src: NDArray) -> Any:
        return center_crop(src, self.size, self.interp)[0]


class HorizontalFlipAug(Augmenter):
    """Left and right exchanged, with probability `p`."""

    def __init__(self, p: float) -> None:
        super().__init__(p=p)
        self.p = p

    def __call__(self, src: NDArray) -> Any:
        return computed(src, lambda pixels: pixels.flip(1)) if chance.like_python().random() < self.p else src


# ---------------------------------------------------------------------- colour, on floating point images
LUMA = (0.299, 0.587, 0.114)


def computed(src: NDArray, function: Callable[..., Any], *constants: Any) -> NDArray:
    """An image of the same kind: a function of its tensor, and of numbers in tensors of its dtype."""
    pixels = src.materialize().detach()
    constants = tuple(tensor_of(numpy.asarray(c)).to(pixels) for c in constants)
    return wrap(function(pixels, *constants).contiguous(), src.context, type(src))


class BrightnessJitterAug(Augmenter):
    """Multiplied by 1 + x, with x at random from -brightness to brightness."""

    def __init__(self, brightness: float) -> None:
        super().__init__(brightness=brightness)
        self.brightness = brightness

    def __call__(self, src: NDArray) -> Any:
        return src * (1.0 + chance.like_python().uniform(-self.brightness, self.brightness))


class ContrastJitterAug(Augmenter):
    """Drawn to or from the mean grey by a random part, at most `contrast`."""

    def __init__(self, contrast: float) -> None:
        super().__init__(contrast=contrast)
        self.contrast = contrast

    def __call__(self, src: NDArray) -> Any:
        alpha = 1.0 + chance.like_python().uniform(-self.contrast, self.contrast)
        part = 3.0 * (1.0 - alpha) / src.size
        return computed(src, lambda pixels, luma: pixels * alpha + (pixels * luma).sum() * part, LUMA)


class SaturationJitterAug(Augmenter):
    """Drawn to or from its own grey by a random part, at most `saturation`."""

    def __init__(self, saturation: float) -> None:
        super().__init__(saturation=saturation)
        self.saturation = saturation

    def __call__(self, src: NDArray) -> Any:
        alpha = 1.0 + chance.like_python().uniform(-self.saturation, self.saturation)
        return computed(src, lambda pixels, luma: torch.lerp((pixels @ luma)[..., None], pixels, alpha), LUMA)


class HueJitterAug(Augmenter):
    """Hues turned by a random part of half a circle, at most `hue`, in the plane of I and Q of the colours YIQ."""

    def __init__(self, hue: float) -> None:
        super().__init__(hue=hue)
        self.hue = hue
        self.tyiq: Any = numpy.array([LUMA, (0.596, -0.274, -0.321), (0.211, -0.523, 0.311)])
        self.ityiq: Any = numpy.array([(1.0, 0.956, 0.621), (1.0, -0.272, -0.647), (1.0, -1.107, 1.705)])

    def __call__(self, src: NDArray) -> Any:
        angle = chance.like_python().uniform(-self.hue, self.hue) * numpy.pi
        cosine, sine = numpy.cos(angle), numpy.sin(angle)
        turn = numpy.array([[1, 0, 0], [0, cosine, -sine], [0, sine, cosine]])
        return computed(src, torch.matmul, (self.ityiq @ turn @ self.tyiq).T)


class ColorJitterAug(RandomOrderAug):
    """Brightness, contrast and saturation in random order; those that are 0 are left out."""

    def __init__(self, brightness: float, contrast: float, saturation: float) -> None:
        super().__init__([kind(by) for kind, by in ((BrightnessJitterAug, brightness), (ContrastJitterAug, contrast),
                                                    (SaturationJitterAug, saturation)) if by > 0])


class LightingAug(Augmenter):
    """Adds one colour: a random mixture of the main components (`eigval`, `eigvec`) of a data set's colours."""

    def __init__(self, alphastd: float, eigval: Any, eigvec: Any) -> None:
        super().__init__(alphastd=alphastd, eigval=eigval, eigvec=eigvec)
        self.alphastd: float
        self.eigval: Any
        self.eigvec: Any
        self.alphastd, self.eigval, self.eigvec = alphastd, numpy.asarray(eigval), numpy.asarray(eigvec)

    def __call__(self, src: NDArray) -> Any:
        alpha = chance.like_numpy().normal(0, self.alphastd, size=(3,))
        return computed(src, torch.add, numpy.dot(self.eigvec * alpha, self.eigval))


class ColorNormalizeAug(Augmenter):
    """(image - mean) / std, for each channel; either may be None."""

    def __init__(self, mean: Any, std: Any) -> None:
        super().__init__(mean=mean, std=std)
        self.mean: Any
        self.std: Any
        self.mean, self.std = (v if v is None or isinstance(v, nd.NDArray) else nd.array(v) for v in (mean, std))

    def __call__(self, src: NDArray) -> Any:
        mean, std = (None if v is None else v.astype(src.dtype) for v in (self.mean, self.std))
        return color_normalize(computed(src, torch.clone), mean, std)


class RandomGrayAug(Augmenter):
    """Grey in all channels, with probability `p`."""

    def __init__(self, p: float) -> None:
        super().__init__(p=p)
        self.p = p
        self.mat: Any = numpy.array([[0.21] * 3, [0.72] * 3, [0.07] * 3])

    def __call__(self, src: NDArray) -> Any:
        return computed(src, torch.matmul, self.mat) if chance.like_python().random() < self.p else src


class CastAug(Augmenter):
    """Converted to a dtype; what follows computes in floating point."""

    def __init__(self, typ: DType = 'float32') -> None:
        super().__init__(type=typ)
        self.typ = typ

    def __call__(self, src: NDArray) -> Any:
        return src.astype(self.typ)


# ---------------------------------------------------------------------- lists
def colour_statistics(name: str, value: Any, known: Any) -> NDArray | None:
    """None, the values of ImageNet for True, or an array of 1 or 3 values."""
    if value is None or value is False:
        return None
    found = nd.array(known if value is True else value)
    if found.ndim != 1 or found.shape[0] not in (1, 3):
        raise ValueError(f'{name} must be True, None or 1 or 3 numbers, but has shape {found.shape}')
    return found


def colour_augmenters(brightness: float, contrast: float, saturation: float, hue: float, pca_noise: float,
                      rand_gray: float, mean: Any, std: Any) -> Any:
    """What changes colours, in the order of upstream's lists."""
    found: list[Any] = []
    if brightness or contrast or saturation:
        found.append(ColorJitterAug(brightness, contrast, saturation))
    if hue:
        found.append(HueJitterAug(hue))
    if pca_noise > 0:
        found.append(LightingAug(pca_noise, numpy.array(IMAGENET_EIGENVALUES), numpy.array(IMAGENET_EIGENVECTORS)))
    if rand_gray > 0:
        found.append(RandomGrayAug(rand_gray))
    mean, std = colour_statistics('mean', mean, IMAGENET_MEAN), colour_statistics('std', std, IMAGENET_STD)
    if mean is not None or std is not None:
        found.append(ColorNormalizeAug(mean, std))
    return found


@explain_keywords
def CreateAugmenter(data_shape: Sequence[int], resize: int = 0, rand_crop: bool = False, rand_resize: bool = False,
                    rand_mirror: bool = False, mean: Any = None, std: Any = None, brightness: float = 0,
                    contrast: float = 0, saturation: float = 0, hue: float = 0, pca_noise: float = 0,
                    rand_gray: float = 0, inter_method: int = 2) -> list[Augmenter]:
    """A list of augmenters that make images of data_shape (channels, height, width).

    resize: length of the shorter side, before all else
    rand_crop: a part at a random place instead of the middle; with rand_resize also of random size
    rand_mirror: left and right exchanged in half of the cases
    brightness, contrast, saturation, hue: how far, at most, as a part of 1
    pca_noise, rand_gray: how strong, how probable
    mean, std: three numbers, or True for those of ImageNet
    inter_method: see imresize; 9 chooses by the sizes, 10 at random

    >>> [type(aug).__name__ for aug in mx.image.CreateAugmenter((3, 32, 32), rand_mirror=True, mean=True)]
    ['CenterCropAug', 'HorizontalFlipAug', 'CastAug', 'ColorNormalizeAug']
    """
    if not isinstance(data_shape, (tuple, list)) or len(data_shape) != 3:
        raise ValueError(f'CreateAugmenter: data_shape must be (channels, height, width), not {data_shape!r}')
    found: list[Any] = [ResizeAug(resize, inter_method)] if resize > 0 else []
    size = data_shape[2], data_shape[1]
    if rand_resize:
        if not rand_crop:
            raise ValueError('CreateAugmenter: rand_resize needs rand_crop=True')
        found.append(RandomSizedCropAug(size, 0.08, (3 / 4, 4 / 3), inter_method))
    else:
        found.append((RandomCropAug if rand_crop else CenterCropAug)(size, inter_method))
    if rand_mirror:
        found.append(HorizontalFlipAug(0.5))
    found.append(CastAug())
    return found + colour_augmenters(brightness, contrast, saturation, hue, pca_noise, rand_gray, mean, std)


_explain_kinds(globals(), __all__)
