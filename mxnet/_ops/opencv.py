"""OpenCV, where it is installed: what upstream computes images with."""
import functools

import numpy
import torch

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


def pixels_of(data):
    """Images as NumPy has them, for OpenCV; None where torch has to compute: on a GPU, for gradients, in a trace."""
    if type(data) is not torch.Tensor or data.device.type != 'cpu' or data.requires_grad or data.dtype not in _TYPES \
            or not data.numel() or data.shape[-1] > 4 or max(data.shape[-3:]) >= _LONGEST or find() is None:
        return None
    return data.contiguous().numpy()


def scaled(pixels, size, interp):
    """An image scaled to `size`, (width, height), by method `interp`, 0 to 4; one channel may lose its axis."""
    cv2 = find()
    ipp = getattr(cv2, 'ipp', None)
    if pixels.dtype == numpy.uint8 or ipp is None or not ipp.useIPP():
        return cv2.resize(pixels, size, interpolation=interp)
    # Intel's library is quicker, but places pixels of floats otherwise than upstream; this switch is the thread's own
    ipp.setUseIPP(False)
    try:
        return cv2.resize(pixels, size, interpolation=interp)
    finally:
        ipp.setUseIPP(True)


def mirrored(pixels):
    """An image with its columns in reverse order."""
    return find().flip(pixels, 1).reshape(pixels.shape)
