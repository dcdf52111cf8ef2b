"""Transforms of images, as blocks: `dataset.transform_first(Compose([Resize(256), CenterCrop(224), ToTensor()]))`.

Images are (height, width, channels); after `ToTensor` they are (channels, height, width) of float32.
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .... import _random_state as chance
from .... import image
from ...._names import kind_of
from ...._names import suggest_names as _suggest_names
from ....util import is_np_array
from ...block import Block, HybridBlock
from ...nn import Sequential
from .._rows import Row

if TYPE_CHECKING:
    from ...._typing import DType, Shape

__all__ = ['Cast', 'CenterCrop', 'Compose', 'CropResize', 'Normalize', 'RandomApply', 'RandomBrightness',
           'RandomColorJitter', 'RandomContrast', 'RandomFlipLeftRight', 'RandomFlipTopBottom', 'RandomHue',
           'RandomLighting', 'RandomResizedCrop', 'RandomRotation', 'RandomSaturation', 'Resize', 'Rotate', 'ToTensor']


def _size(size):
    return (size, size) if isinstance(size, (int, float, numpy.number)) else tuple(size)


class Compose(Sequential):
    """Transforms one after the other.

    >>> transform = Compose([Resize(8), ToTensor()])
    >>> transform(mx.nd.zeros((20, 10, 3), dtype='uint8')).shape
    (3, 8, 8)
    """

    def __init__(self, transforms: Sequence[Any]) -> None:
        super().__init__()
        if not isinstance(transforms, Iterable):
            raise TypeError(f'Compose: transforms must be a list of transforms, not {kind_of(transforms)}')
        self.add(*transforms)


class _Each(HybridBlock):
    """A transform without chance that takes a batch of images as well, and gives the same.

    So that `DataLoader` can do it once for a batch; see `_rows`.
    """

    _dimensions: int | None = 3         # of one image

    def __call__(self, *args: Any) -> Any:
        x = args[0]
        if type(x) is Row and x.open_to(self._dimensions) and not (self._forward_hooks or self._forward_pre_hooks):
            return x.later(self)
        return super().__call__(*args)


def _operators(F):
    """Where image operators are in `F`."""
    return F.npx.image if is_np_array() else F.image


class Cast(_Each):
    """Converts to a dtype."""

    _dimensions = None

    def __init__(self, dtype: DType = 'float32') -> None:
        super().__init__()
        self._dtype = dtype

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return (F.npx if is_np_array() else F).cast(x, self._dtype)


class ToTensor(_Each):
    """From (height, width, channels) and 0 ... 255 to float32 (channels, height, width) and 0 ... 1; batches, too.

    >>> ToTensor()(mx.nd.full((4, 2, 3), 255, dtype='uint8')).shape
    (3, 4, 2)
    """

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return _operators(F).to_tensor(x)


class Normalize(_Each):
    """`(x - mean) / std` for each channel of (channels, height, width), alone or in a batch."""

    def __init__(self, mean: float | Sequence[float] = 0.0, std: float | Sequence[float] = 1.0) -> None:
        super().__init__()
        self._mean, self._std = mean, std

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return _operators(F).normalize(x, self._mean, self._std)


class Resize(_Each):
    """Scales to `size`: (width, height), or one number for both; with `keep_ratio`, a number is the shorter side.

    `interpolation` is OpenCV's number: 0 nearest, 1 bilinear, 2 bicubic, 3 by area, 4 Lanczos.
    """

    def __init__(self, size: Shape, keep_ratio: bool = False, interpolation: int = 1) -> None:
        super().__init__()
        self._size, self._keep, self._interpolation = size, keep_ratio, interpolation

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return _operators(F).resize(x, self._size, self._keep, self._interpolation)


class CropResize(_Each):
    """Cuts out `width` x `height` pixels at column `x`, row `y`, and scales them to `size` if that is given."""

    def __init__(self, x: int, y: int, width: int, height: int, size: Shape | None = None,
                 interpolation: int | None = None) -> None:
        super().__init__()
        self._place = x, y, width, height
        self._size, self._interpolation = size, interpolation

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        part = _operators(F).crop(x, *self._place)
        if not self._size:
            return part
        return _operators(F).resize(part, self._size, False, 1 if self._interpolation is None else self._interpolation)


class CenterCrop(Block):
    """Cuts `size`, (width, height), out of the middle; images that are too small are scaled up."""

    def __init__(self, size: Shape, interpolation: int = 1) -> None:
        super().__init__()
        self._args = _size(size), interpolation

    def forward(self, x: Any) -> Any:
        return image.center_crop(x, *self._args)[0]


class RandomResizedCrop(Block):
    """Cuts out a part of random size and shape, and scales it to `size`, (width, height).

    `scale` are the smallest and the largest part of the area, `ratio` those of width by height.
    """

    def __init__(self, size: Shape, scale: tuple[float, float] = (0.08, 1.0),
                 ratio: tuple[float, float] = (3.0 / 4.0, 4.0 / 3.0), interpolation: int = 1) -> None:
        super().__init__()
        self._args = _size(size), scale, ratio, interpolation

    def forward(self, x: Any) -> Any:
        return image.random_size_crop(x, *self._args)[0]


# ---------------------------------------------------------------------- rotation, of (channels, height, width)
def _check_float(x, block):
    if numpy.dtype(x.dtype) != numpy.float32:
        raise TypeError(f'{type(block).__name__} takes float32 images, as ToTensor makes them, not '
                        f'{numpy.dtype(x.dtype).name}')


class Rotate(Block):
    """Rotates by an angle in degrees, with black corners; `zoom_in` leaves no corners, `zoom_out` cuts nothing off."""

    def __init__(self, rotation_degrees: float, zoom_in: bool = False, zoom_out: bool = False) -> None:
        super().__init__()
        self._args = rotation_degrees, zoom_in, zoom_out

    def forward(self, x: Any) -> Any:
        _check_float(x, self)
        return image.imrotate(x, *self._args)


class RandomRotation(Block):
    """Rotates by a random angle between two `angle_limits`, with probability `rotate_with_proba`."""

    def __init__(self, angle_limits: Sequence[float], zoom_in: bool = False, zoom_out: bool = False,
                 rotate_with_proba: float = 1.0) -> None:
        super().__init__()
        low, high = angle_limits
        if low >= high:
            raise ValueError(f'angle_limits of RandomRotation must be (lower, higher), not {tuple(angle_limits)}')
        if not 0 <= rotate_with_proba <= 1:
            raise ValueError(f'rotate_with_proba of RandomRotation must be from 0 to 1, not {rotate_with_proba}')
        self._args = angle_limits, zoom_in, zoom_out
        self._rotate_with_proba = rotate_with_proba

    def forward(self, x: Any) -> Any:
        if chance.like_numpy().random() > self._rotate_with_proba:
            return x
        _check_float(x, self)
        return image.random_rotate(x, *self._args)


# ---------------------------------------------------------------------- chance
class RandomFlipLeftRight(HybridBlock):
    """Mirrors every second image, at random."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return _operators(F).random_flip_left_right(x)


class RandomFlipTopBottom(HybridBlock):
    """Turns every second image upside down, at random."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return _operators(F).random_flip_top_bottom(x)


class _RandomFactor(HybridBlock):
    """A random factor up to `amount` above or below 1, and not below 0."""

    def __init__(self, amount: float) -> None:
        super().__init__()
        self._args = max(0, 1 - amount), 1 + amount


class RandomBrightness(_RandomFactor):
    """Makes the image brighter or darker by a random factor, up to `brightness` above or below 1."""

    def __init__(self, brightness: float) -> None:
        super().__init__(brightness)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return _operators(F).random_brightness(x, *self._args)


class RandomContrast(_RandomFactor):
    """Changes the contrast by a random factor, up to `contrast` above or below 1."""

    def __init__(self, contrast: float) -> None:
        super().__init__(contrast)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return _operators(F).random_contrast(x, *self._args)


class RandomSaturation(_RandomFactor):
    """Makes colours stronger or paler by a random factor, up to `saturation` above or below 1."""

    def __init__(self, saturation: float) -> None:
        super().__init__(saturation)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return _operators(F).random_saturation(x, *self._args)


class RandomHue(_RandomFactor):
    """Turns the hues by a random factor, up to `hue` above or below 1."""

    def __init__(self, hue: float) -> None:
        super().__init__(hue)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return _operators(F).random_hue(x, *self._args)


class RandomColorJitter(HybridBlock):
    """Random brightness, contrast, saturation and hue, in random order."""

    def __init__(self, brightness: float = 0, contrast: float = 0, saturation: float = 0, hue: float = 0) -> None:
        super().__init__()
        self._args = brightness, contrast, saturation, hue

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return _operators(F).random_color_jitter(x, *self._args)


class RandomLighting(HybridBlock):
    """Adds random light along the directions in which colours of photographs vary, with deviation `alpha`."""

    def __init__(self, alpha: float) -> None:
        super().__init__()
        self._alpha = alpha

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return _operators(F).random_lighting(x, self._alpha)


class RandomApply(Sequential):
    """Applies a transform, or a list of them, with probability `p`."""

    def __init__(self, transforms: Any, p: float = 0.5) -> None:
        super().__init__()
        self.transforms: Any = Compose(transforms) if isinstance(transforms, (list, tuple)) else transforms
        self.p = p

    def forward(self, x: Any) -> Any:
        return x if self.p < chance.like_python().random() else self.transforms(x)


_suggest_names(globals())
