"""OpenCV, where it is installed: what upstream computes images with.

`resized` and `mirrored` are operators of torch's library, so that a plan has them, too.
"""
import functools
from typing import Any

import numpy
import torch

from ...base import MXNetError
from ..core.library import define

_TYPES = (torch.uint8, torch.float32)
_LONGEST = 1 << 15          # sides that all of its methods take


@functools.cache
def find():
    """The module `cv2`; None if it is not installed."""
    try:
        import cv2
    except ImportError:
        return None
    return cv2


def takes(data):
    """Whether OpenCV takes these images; else torch has to compute: on a GPU, for gradients."""
    return data.device.type == 'cpu' and not data.requires_grad and data.dtype in _TYPES and data.numel() > 0 \
        and data.shape[-1] <= 4 and max(data.shape[-3:]) < _LONGEST and find() is not None


def _resized(data, height, width, interp):
    if data.dim() == 4:
        return torch.stack([_resized(image, height, width, interp) for image in data])
    found = scaled(data.contiguous().numpy(), (width, height), interp)
    return torch.from_numpy(found.reshape(height, width, data.shape[-1]))


def _mirrored(data):
    pixels = data.contiguous().numpy()
    return torch.from_numpy(find().flip(pixels, 1).reshape(pixels.shape))


resized = define('resized(Tensor data, int height, int width, int interp) -> Tensor', _resized,
                 lambda data, height, width, interp:
                 data.new_empty((*data.shape[:-3], height, width, data.shape[-1])))
mirrored = define('mirrored(Tensor image) -> Tensor', _mirrored, lambda image: image.new_empty(image.shape))


def scaled(pixels, size, interp):
    """An image scaled to `size`, (width, height), by method `interp`, 0 to 4; one channel may lose its axis."""
    cv2 = find()
    ipp: Any = getattr(cv2, 'ipp', None)
    # Intel's library is quicker, but places pixels of floats otherwise than upstream; this switch is the thread's own
    switched = pixels.dtype != numpy.uint8 and ipp is not None and ipp.useIPP()
    if switched:
        ipp.setUseIPP(False)
    try:
        return cv2.resize(pixels, size, interpolation=interp)
    except cv2.error:
        raise MXNetError(f'OpenCV cannot scale a picture of {pixels.shape[1]} x {pixels.shape[0]} pixels to '
                         f'{size[0]} x {size[1]}') from None
    finally:
        if switched:
            ipp.setUseIPP(True)
