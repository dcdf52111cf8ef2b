"""Pictures of files as NumPy arrays, by OpenCV: what `mx.image.imdecode` and the older `mx.nd.imdecode` share."""
from typing import Any

from .._files import pictures
from .._names import kind_of
from ..base import MXNetError


def opencv() -> Any:
    """The module `cv2`, or an error that says how to get it."""
    try:
        import cv2
    except ImportError as error:
        raise ImportError('mx.image decodes and resizes with OpenCV, which is not installed; '
                          'get it with: pip install opencv-python-headless') from error
    return cv2


def decoded(data: Any, flag: int, to_rgb: bool, what: str) -> Any:
    """The picture in an array of bytes, of shape (height, width) or (height, width, channels)."""
    cv2 = opencv()
    if not data.size:
        raise MXNetError(f'{what}: there are no bytes to decode')
    # cameras' orientation marks are not followed, as ever
    image = pictures.decode(data, flag | cv2.IMREAD_IGNORE_ORIENTATION if flag >= 0 else flag, what)
    if image is None:
        raise MXNetError(f'{what}: {data.size} bytes are not an image that OpenCV can decode')
    if to_rgb and image.ndim == 3:
        cv2.cvtColor(image, cv2.COLOR_BGR2RGB if image.shape[2] == 3 else cv2.COLOR_BGRA2RGBA, dst=image)
    return image


def bytes_of(buf: Any) -> Any:
    """The bytes of an image file, given as bytes, bytearray, NumPy array or NDArray of uint8, as a NumPy array."""
    import numpy

    from .._array import NDArrayBase
    if isinstance(buf, NDArrayBase):
        buf = buf.materialize().detach().cpu().contiguous().numpy()
        if buf.dtype != numpy.uint8:
            raise MXNetError(f'imdecode: buf has dtype {buf.dtype}; encoded images are uint8')
    elif not isinstance(buf, (bytes, bytearray, memoryview, numpy.ndarray)):
        raise ValueError(f'imdecode: buf must be bytes, bytearray, numpy.ndarray or NDArray, not {kind_of(buf)}')
    return numpy.frombuffer(buf, numpy.uint8)
