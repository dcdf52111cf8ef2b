# Made by `python -m mxnet._frontend.stubs`: do not edit.
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from mxnet._typing import DType
from mxnet.symbol.symbol import Symbol

def adjust_lighting(data: Symbol | None = None, alpha: float | Sequence[float] = ..., *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Adds light along the three main directions that colours of ImageNet vary in, by the amounts of `alpha`."""

def crop(data: Symbol | None = None, x: int = ..., y: int = ..., width: int = ..., height: int = ..., *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The part of an image, `width` wide and `height` high, with its left upper corner at column `x`, row `y`."""

def flip_left_right(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The image mirrored: its columns in reverse order."""

def flip_top_bottom(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The image upside down: its rows in reverse order."""

def normalize(data: Symbol | None = None, mean: float | Sequence[float] = (0.0, 0.0, 0.0, 0.0), std: float | Sequence[float] = (1.0, 1.0, 1.0, 1.0), *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`(data - mean) / std` per channel of (channels, height, width); one value stands for all channels."""

def random_brightness(data: Symbol | None = None, min_factor: float = ..., max_factor: float = ..., *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The image times a random factor between `min_factor` and `max_factor`."""

def random_color_jitter(data: Symbol | None = None, brightness: float = ..., contrast: float = ..., saturation: float = ..., hue: float = ..., *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Random brightness, contrast, saturation and hue, in random order."""

def random_contrast(data: Symbol | None = None, min_factor: float = ..., max_factor: float = ..., *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Moves all values away from the image's mean brightness by a random factor, or towards it if that is below 1."""

def random_flip_left_right(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The image or its mirror image, each as likely."""

def random_flip_top_bottom(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The image as it is or upside down, each as likely."""

def random_hue(data: Symbol | None = None, min_factor: float = ..., max_factor: float = ..., *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Turns all hues around the colour circle by a random number of turns; gray stays gray."""

def random_lighting(data: Symbol | None = None, alpha_std: float = 0.05, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`adjust_lighting` by normally distributed amounts with deviation `alpha_std`."""

def random_saturation(data: Symbol | None = None, min_factor: float = ..., max_factor: float = ..., *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Makes colours stronger by a random factor, or paler if that is below 1."""

def resize(data: Symbol | None = None, size: int | Sequence[int] = (), keep_ratio: bool = False, interp: int = 1, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Scales an image to `size`: (width, height), or one number for both."""

def to_tensor(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """From (height, width, channels) and 0 ... 255 to float32 (channels, height, width) and 0 ... 1."""
