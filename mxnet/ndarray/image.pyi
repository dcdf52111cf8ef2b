# Made by `python -m mxnet._frontend.stubs`: do not edit.
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from mxnet._typing import DType
from mxnet.ndarray.ndarray import NDArray

def adjust_lighting(data: NDArray, alpha: float | Sequence[float], *, out: Any = None, name: str | None = None) -> NDArray:
    """Adds light along the three main directions that colours of ImageNet vary in, by the amounts of `alpha`."""

def crop(data: NDArray, x: int, y: int, width: int, height: int, *, out: Any = None, name: str | None = None) -> NDArray:
    """The part of an image, `width` wide and `height` high, with its left upper corner at column `x`, row `y`."""

def flip_left_right(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The image mirrored: its columns in reverse order."""

def flip_top_bottom(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The image upside down: its rows in reverse order."""

def normalize(data: NDArray, mean: float | Sequence[float] = (0.0, 0.0, 0.0, 0.0), std: float | Sequence[float] = (1.0, 1.0, 1.0, 1.0), *, out: Any = None, name: str | None = None) -> NDArray:
    """`(data - mean) / std` per channel of (channels, height, width); one value stands for all channels."""

def random_brightness(data: NDArray, min_factor: float, max_factor: float, *, out: Any = None, name: str | None = None) -> NDArray:
    """The image times a random factor between `min_factor` and `max_factor`."""

def random_color_jitter(data: NDArray, brightness: float, contrast: float, saturation: float, hue: float, *, out: Any = None, name: str | None = None) -> NDArray:
    """Random brightness, contrast, saturation and hue, in random order."""

def random_contrast(data: NDArray, min_factor: float, max_factor: float, *, out: Any = None, name: str | None = None) -> NDArray:
    """Moves all values away from the image's mean brightness by a random factor, or towards it if that is below 1."""

def random_flip_left_right(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The image or its mirror image, each as likely."""

def random_flip_top_bottom(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The image as it is or upside down, each as likely."""

def random_hue(data: NDArray, min_factor: float, max_factor: float, *, out: Any = None, name: str | None = None) -> NDArray:
    """Turns all hues around the colour circle by a random number of turns; gray stays gray."""

def random_lighting(data: NDArray, alpha_std: float = 0.05, *, out: Any = None, name: str | None = None) -> NDArray:
    """`adjust_lighting` by normally distributed amounts with deviation `alpha_std`."""

def random_saturation(data: NDArray, min_factor: float, max_factor: float, *, out: Any = None, name: str | None = None) -> NDArray:
    """Makes colours stronger by a random factor, or paler if that is below 1."""

def resize(data: NDArray, size: int | Sequence[int] = (), keep_ratio: bool = False, interp: int = 1, *, out: Any = None, name: str | None = None) -> NDArray:
    """Scales an image to `size`: (width, height), or one number for both."""

def to_tensor(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """From (height, width, channels) and 0 ... 255 to float32 (channels, height, width) and 0 ... 1."""
