"""Reading, resizing, cropping, padding and rotating single images: the functions of `mx.image`.

Images are uint8 or floating point arrays of shape (height, width, channels) with colours in the order red, green, blue.
OpenCV decodes and resizes; it is imported when first needed.
"""
from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy
import torch
from torch.nn import functional as F

from .. import _random_state as chance
from .._array import readable, wrap, write
from .._files import downloads, paths
from .._kinds import explain_kinds as _explain_kinds
from .._names import kind_of
from .._names import suggest_names as _suggest_names
from .._ops.vision.opencv import scaled
from ..base import MXNetError
from ..context import cpu
from ..ndarray._interop import tensor_of
from ..ndarray._pictures import bytes_of, decoded, opencv
from ..ndarray.ndarray import NDArray
from ..util import is_np_array

if TYPE_CHECKING:
    from .._typing import Path

__all__ = ['imread', 'imdecode', 'imresize', 'scale_down', 'copyMakeBorder', 'resize_short', 'fixed_crop',
           'random_crop', 'center_crop', 'color_normalize', 'random_size_crop', 'imrotate', 'random_rotate']

_CV_TYPES = (torch.uint8, torch.int16, torch.uint16, torch.float32, torch.float64)


def _array_type():
    if is_np_array():
        from ..numpy import ndarray
        return ndarray
    return NDArray


def _deliver(pixels, cls, out, what):
    """A NumPy image as an array; written into `out` where that is given."""
    tensor = tensor_of(pixels if pixels.ndim == 3 else pixels[..., None])
    if out is None:
        return wrap(tensor, cpu(), cls)
    if tuple(out.shape) != tuple(tensor.shape):
        raise MXNetError(f'{what}: out has shape {tuple(out.shape)}, but the image has {tuple(tensor.shape)}')
    write(out, tensor, f'out= of {what}')
    return out


def _size(src, what):
    """-> (height, width) of an image; what is none is refused."""
    if not isinstance(src, NDArray):
        raise TypeError(f'{what}: src must be an NDArray, not {kind_of(src)}; mx.nd.array converts it')
    if src.ndim != 3:
        raise MXNetError(f'{what}: src has shape {src.shape}; an image has (height, width, channels)')
    return src.shape[:2]


def _pixels(src, what):
    """The NumPy image of an array, without a copy where it is contiguous on the CPU."""
    _size(src, what)
    tensor = src.materialize().detach()
    if tensor.dtype not in _CV_TYPES:
        raise MXNetError(f'{what}: src has dtype {str(tensor.dtype).removeprefix("torch.")}; OpenCV takes uint8, '
                         'int16, uint16, float32 and float64: convert it with astype')
    return tensor.cpu().contiguous().numpy()


# ---------------------------------------------------------------------- files
def imread(filename: Path, flag: int = 1, to_rgb: bool = True, out: NDArray | None = None) -> NDArray:
    """Reads an image file.

    `flag` is 1 for three channels of colour, 0 for one of gray; `to_rgb=False` leaves OpenCV's order, blue first.
    """
    if not isinstance(filename, (str, bytes)) and not hasattr(filename, '__fspath__'):
        raise TypeError(f'imread: filename must be a str, not {kind_of(filename)}')
    try:
        with _opened(filename) as file:
            data = file.read()
    except (OSError, ValueError) as error:      # ValueError: of a name that no file can have
        reason = getattr(error, 'strerror', None) or error
        raise MXNetError(f'imread: cannot read {filename!r}: {reason}') from error
    return _decode(numpy.frombuffer(data, numpy.uint8), flag, to_rgb, out, f'imread of {filename!r}')


def _opened(filename):
    try:
        return paths.open_local(filename)
    except FileNotFoundError:
        other = downloads.instead_of(os.fsdecode(filename))
        if other is None:
            raise
        return paths.open_local(other)


def imdecode(buf: Any, flag: int = 1, to_rgb: bool = True, out: NDArray | None = None) -> NDArray:
    """Decodes the bytes of an image file (JPEG, PNG, ...), given as bytes, bytearray, NumPy array or NDArray of uint8.

    `flag` is 1 for three channels of colour, 0 for one of gray; `to_rgb=False` leaves OpenCV's order, blue first.
    """
    return _decode(bytes_of(buf), flag, to_rgb, out, 'imdecode')


def _decode(data, flag, to_rgb, out, what):
    return _deliver(decoded(data, flag, to_rgb, what), _array_type(), out, what)


# ---------------------------------------------------------------------- size
def imresize(src: NDArray, w: int, h: int, interp: int = 1, out: NDArray | None = None) -> NDArray:
    """Scales an image to width `w` and height `h`.

    `interp` is OpenCV's number: 0 nearest, 1 bilinear, 2 bicubic, 3 by area, 4 Lanczos over 8 x 8 pixels.
    """
    if w < 1 or h < 1:
        raise MXNetError(f'imresize: w={w}, h={h} is not accepted; both must be at least 1')
    return _deliver(_scaled(_pixels(src, 'imresize'), (int(w), int(h)), int(interp)), type(src), out, 'imresize')


def _scaled(pixels, size, interp):
    if not 0 <= interp <= 4:
        raise MXNetError(f'imresize: interp={interp} is not accepted; it is a number from 0 to 4')
    opencv()
    return scaled(pixels, size, interp)


def interpolation(interp: int, sizes: Sequence[Any] = ()) -> int:
    """The method 0 to 4 that `interp` stands for: 9 chooses by `sizes` (old height, width, new ones), 10 at random."""
    if interp == 9:
        if not sizes:
            return 2
        height, width, new_height, new_width = sizes
        if new_height > height and new_width > width:
            return 2
        return 3 if new_height < height and new_width < width else 1
    if interp == 10:
        return chance.like_python().randint(0, 4)
    if interp not in (0, 1, 2, 3, 4):
        raise ValueError(f'interp={interp} is not accepted; it takes 0 (nearest), 1 (bilinear), 2 (bicubic), 3 (area), '
                         '4 (Lanczos), 9 (by the sizes) or 10 (at random)')
    return interp


_get_interp_method = interpolation        # programs import upstream's name


def resize_short(src: NDArray, size: int, interp: int = 2) -> NDArray:
    """Scales an image such that its shorter side becomes `size`."""
    h, w = _size(src, 'resize_short')
    if not hasattr(size, '__index__'):
        raise TypeError(f'resize_short: size must be an int, the length of the shorter side, not {kind_of(size)}')
    new_h, new_w = (size * h // w, size) if h > w else (size, size * w // h)
    return imresize(src, new_w, new_h, interp=interpolation(interp, (h, w, new_h, new_w)))


def scale_down(src_size: tuple[int, int], size: tuple[int, int]) -> tuple[int, int]:
    """The crop size (width, height) with its ratio kept and made small enough for an image of `src_size`.

    >>> mx.image.scale_down((640, 480), (720, 120))
    (640, 106)
    """
    try:
        w, h = size
    except (TypeError, ValueError):
        raise TypeError(f'size must be (width, height), not {size!r}') from None
    full_w, full_h = src_size
    if full_h < h:
        w, h = w * full_h / h, full_h       # type: ignore[assignment]
    if full_w < w:
        w, h = full_w, h * full_w / w       # type: ignore[assignment]
    return int(w), int(h)


def copyMakeBorder(src: NDArray, top: int, bot: int, left: int, right: int, type: int = 0, value: Any = 0.0,
                   values: Any = (), out: NDArray | None = None, name: str | None = None) -> NDArray:
    """An image with a border of so many pixels.

    `type` is OpenCV's number: 0 fills with `values` (one per channel, or the single `value`), 1 repeats the pixels at
    the edge, 2 mirrors the image with them, 3 wraps around, 4 mirrors without them.
    """
    if min(top, bot, left, right) < 0:
        raise MXNetError(f'copyMakeBorder: top={top}, bot={bot}, left={left} and right={right} must not be negative')
    if type not in range(5):
        raise MXNetError(f'copyMakeBorder: type must be a number from 0 to 4, not {type!r}')
    cv2 = opencv()
    colour = tuple(float(v) for v in values) or (float(value),) * 3
    framed = cv2.copyMakeBorder(_pixels(src, 'copyMakeBorder'), int(top), int(bot), int(left), int(right), int(type),
                                value=colour)
    return _deliver(framed, src.__class__, out, 'copyMakeBorder')


# ---------------------------------------------------------------------- crops
def fixed_crop(src: NDArray, x0: int, y0: int, w: int, h: int, size: tuple[int, int] | None = None,
               interp: int = 2) -> NDArray:
    """The part of an image with its left upper corner at column `x0`, row `y0`; scaled to `size` (width, height)."""
    rows, columns = _size(src, 'fixed_crop')
    if min(x0, y0) < 0 or min(w, h) < 1 or x0 >= columns or y0 >= rows:
        raise MXNetError(f'fixed_crop: x0={x0}, y0={y0}, w={w}, h={h} is not a part of an image of width {columns} and '
                         f'height {rows}')
    part = src[y0:y0 + h, x0:x0 + w]
    if size is not None and (w, h) != tuple(size):
        part = imresize(part, *size, interp=interpolation(interp, (h, w, size[1], size[0])))
    return part


def random_crop(src: NDArray, size: tuple[int, int], interp: int = 2) -> tuple[NDArray, tuple[int, int, int, int]]:
    """A crop of `size` (width, height) at a random place -> (crop, (x, y, width, height)).

    Where the image is smaller, the largest part with that ratio is scaled up.  The place comes from Python's `random`.
    """
    h, w = _size(src, 'random_crop')
    new_w, new_h = scale_down((w, h), size)
    x0 = chance.like_python().randint(0, w - new_w)
    y0 = chance.like_python().randint(0, h - new_h)
    return fixed_crop(src, x0, y0, new_w, new_h, size, interp), (x0, y0, new_w, new_h)


def center_crop(src: NDArray, size: tuple[int, int], interp: int = 2) -> tuple[NDArray, tuple[int, int, int, int]]:
    """The middle of an image, `size` (width, height) -> (crop, (x, y, width, height)).

    Where the image is smaller, the largest part with that ratio is scaled up.
    """
    h, w = _size(src, 'center_crop')
    new_w, new_h = scale_down((w, h), size)
    x0, y0 = (w - new_w) // 2, (h - new_h) // 2
    return fixed_crop(src, x0, y0, new_w, new_h, size, interp), (x0, y0, new_w, new_h)


def random_size_crop(src: NDArray, size: tuple[int, int], area: float | tuple[float, float], ratio: tuple[float, float],
                     interp: int = 2, **kwargs: Any) -> tuple[NDArray, tuple[int, int, int, int]]:
    """A crop of random area, ratio and place, scaled to `size` (width, height) -> (crop, (x, y, width, height)).

    `area` is the smallest part of the image's area, or the smallest and the largest; `ratio` the smallest and the
    largest width over height.  If nothing fits in ten attempts, it is the centre crop.
    """
    if 'min_area' in kwargs:
        import warnings
        warnings.warn('random_size_crop: min_area is an old name of area', DeprecationWarning, stacklevel=2)
        area = kwargs.pop('min_area')
    if kwargs:
        raise TypeError(f'random_size_crop got an unexpected argument {next(iter(kwargs))!r}')
    h, w = _size(src, 'random_size_crop')
    smallest, largest = area if isinstance(area, (tuple, list)) else (area, 1.0)
    for _ in range(10):
        target = chance.like_python().uniform(smallest, largest) * h * w
        shape = numpy.exp(chance.like_python().uniform(numpy.log(ratio[0]), numpy.log(ratio[1])))
        new_w, new_h = int(round(numpy.sqrt(target * shape))), int(round(numpy.sqrt(target / shape)))
        if new_w <= w and new_h <= h:
            x0 = chance.like_python().randint(0, w - new_w)
            y0 = chance.like_python().randint(0, h - new_h)
            return fixed_crop(src, x0, y0, new_w, new_h, size, interp), (x0, y0, new_w, new_h)
    return center_crop(src, size, interp)


def color_normalize(src: NDArray, mean: Any, std: Any = None) -> NDArray:
    """Subtracts `mean` and divides by `std`, both per channel, in place: `src` must be floating point."""
    if mean is not None:
        src -= mean
    if std is not None:
        src /= std
    return src


# ---------------------------------------------------------------------- rotation
def imrotate(src: NDArray, rotation_degrees: Any, zoom_in: bool = False, zoom_out: bool = False) -> NDArray:
    """Rotates a float32 image (channels, height, width) or a batch of them around the centre.

    A batch takes one angle or one for each image.  What lies outside is 0, unless `zoom_in` enlarges the image so much
    that nothing of it shows; `zoom_out` makes it so small that no corner is lost.
    """
    if zoom_in and zoom_out:
        raise ValueError('imrotate: zoom_in and zoom_out cannot both be True')
    images = readable(src)
    if images.dtype is not torch.float32:
        raise TypeError(f'imrotate takes float32 images, not {str(images.dtype).removeprefix("torch.")}')
    if images.dim() not in (3, 4):
        raise ValueError(f'imrotate: src has shape {tuple(images.shape)}; it must be (channels, height, width) or '
                         '(images, channels, height, width)')
    angles = rotation_degrees
    if isinstance(angles, NDArray):
        if images.dim() == 3:
            raise TypeError('imrotate: rotation_degrees must be a number for a single image')
        angles = readable(angles).to(images)
    else:
        angles = torch.full((1 if images.dim() == 3 else images.shape[0],), float(angles), device=images.device)
    batch = images if images.dim() == 4 else images[None]
    if len(batch) != len(angles):
        raise ValueError(f'imrotate: there are {len(batch)} images, but {len(angles)} angles')
    rotated = _rotate(batch, angles * (torch.pi / 180), zoom_in, zoom_out)
    return wrap(rotated if images.dim() == 4 else rotated[0], src.context, type(src))


def _rotate(batch, angles, zoom_in, zoom_out):
    h, w = batch.shape[-2:]
    half_h, half_w = max((h - 1) / 2, 0.5), max((w - 1) / 2, 0.5)
    angles = angles.reshape(-1, 1, 1)
    y = torch.arange(h, dtype=torch.float32, device=batch.device)[:, None] - (h - 1) / 2
    x = torch.arange(w, dtype=torch.float32, device=batch.device) - (w - 1) / 2
    cos, sin = angles.cos(), angles.sin()
    grid = torch.stack(((x * cos - y * sin) / half_w, (x * sin + y * cos) / half_h), -1)
    if zoom_in or zoom_out:
        # the box around the rotated corners, in units of the image
        wide = (w * cos).abs() + (h * sin).abs()
        high = (w * sin).abs() + (h * cos).abs()
        scale = torch.maximum(wide / w, high / h)
        grid = grid * (scale if zoom_out else 1 / scale)[..., None]
    return F.grid_sample(batch, grid, mode='bilinear', padding_mode='zeros', align_corners=True)


def random_rotate(src: NDArray, angle_limits: Sequence[float], zoom_in: bool = False,
                  zoom_out: bool = False) -> NDArray:
    """Rotates by random angles (degrees) between the two limits, each image of a batch by its own.

    The angles come from NumPy's global generator.
    """
    if src.ndim == 3:
        degrees = chance.like_numpy().uniform(*angle_limits)
    else:
        drawn = chance.like_numpy().uniform(*angle_limits, size=src.shape[0]).astype(numpy.float32)
        degrees = wrap(torch.from_numpy(drawn).to(src.meta().device), src.context, type(src))
    return imrotate(src, degrees, zoom_in=zoom_in, zoom_out=zoom_out)


_explain_kinds(globals(), __all__)
_suggest_names(globals())
