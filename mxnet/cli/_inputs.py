"""Pictures, arrays and tables as inputs of a network: for `remx predict` and `remx serve`."""
import math
import os

import numpy as np

from .._wording import plain
from ..base import MXNetError
from . import _npy

PICTURES = ('.jpg', '.jpeg', '.png', '.bmp', '.gif', '.webp', '.ppm', '.pgm')


class Preprocessing:
    """How a picture becomes an array of (channels, height, width)."""

    def __init__(self, shape, *, scale=None, unit=False, mean=None, std=None, bgr=False, invert=False):
        self.shape = tuple(shape)
        self.scale = (1 / 255 if unit else 1.0) if scale is None else scale
        self.mean, self.std = _numbers('mean', mean), _numbers('std', std)
        if self.std is not None and not self.std.all():
            raise MXNetError('--std: values are divided by it, so it must not be 0')
        self.bgr, self.invert = bgr, invert
        channels = self.shape[0] if len(self.shape) == 3 else 1
        for name, value in (('mean', self.mean), ('std', self.std)):
            if value is not None and value.size not in (1, channels):
                raise MXNetError(f'--{name}: {value.size} numbers are given, but the input has {channels} channels')

    @classmethod
    def of(cls, shape, options):
        """From the options of a command."""
        return cls(shape, scale=options.scale, unit=options.unit, mean=options.mean, std=options.std, bgr=options.bgr,
                   invert=options.invert)

    @property
    def takes_pictures(self):
        """Whether the input is one that a picture can be: (channels, height, width), or pixels in a row."""
        shape = self.shape
        return len(shape) == 3 and shape[0] in (1, 3) or len(shape) == 2 or len(shape) == 1 \
            and int(shape[0] ** 0.5) ** 2 == shape[0]

    def picture(self, data, name='the body'):
        """The input for the bytes of a picture."""
        if not self.takes_pictures:
            raise MXNetError(f'{name}: the network takes arrays of shape {self.shape}, which no picture has')
        if len(self.shape) == 1:
            side = int(self.shape[0] ** 0.5)
            channels, height, width = 1, side, side
        else:
            channels, height, width = self.shape if len(self.shape) == 3 else (1, *self.shape)
        array = _decoded(data, name, channels)
        array = _fitted(array, height, width)
        if self.bgr and channels == 3:
            array = array[:, :, ::-1]
        array = array.astype('float32')
        if self.invert:
            array = 255 - array
        array = array.transpose(2, 0, 1) * np.float32(self.scale)
        if self.mean is not None:
            array = array - self.mean.reshape(-1, 1, 1)
        if self.std is not None:
            array = array / self.std.reshape(-1, 1, 1)
        return np.ascontiguousarray(array.reshape(self.shape), dtype='float32')


def _numbers(name, text):
    if text is None:
        return None
    try:
        values = [float(n) for n in text.split(',')] if isinstance(text, str) else list(np.atleast_1d(text))
    except ValueError:
        raise MXNetError(f'--{name} {text}: it takes numbers, such as 123.68,116.779,103.939') from None
    return np.array(values, 'float32')


def _decoded(data, name, channels):
    """(height, width, channels) of the bytes of a picture."""
    from ..image import imdecode
    try:
        array = imdecode(bytes(data), flag=1 if channels == 3 else 0, to_rgb=True).asnumpy()
    except (MXNetError, ValueError, TypeError) as error:
        raise MXNetError(f'{name} is not an image: {error}') from None
    return array if array.ndim == 3 else array[:, :, None]


def _fitted(array, height, width):
    """The middle of a picture, scaled so that its shorter side fits."""
    from .. import image, ndarray
    h, w = array.shape[:2]
    if (h, w) == (height, width):
        return array
    factor = max(height / h, width / w)
    size = max(width, round(w * factor)), max(height, round(h * factor))
    resized = image.imresize(ndarray.array(array, dtype='uint8'), *size, interp=1).asnumpy()
    resized = resized if resized.ndim == 3 else resized[:, :, None]
    top, left = (size[1] - height) // 2, (size[0] - width) // 2
    return resized[top:top + height, left:left + width]


# ---------------------------------------------------------------------- files
def read_file(path, preprocessing, dtype='float32'):
    """[(label, array)]: one input for a picture, one for each row of an array or a table."""
    ending = os.path.splitext(path)[1].lower()
    if not os.path.exists(path):
        raise MXNetError(f'there is no file {path}')
    name = os.path.basename(path)
    if ending == '.npy':
        with open(path, 'rb') as file:
            array = _npy.load(file.read(), path)
    elif ending == '.csv':
        array = _read_csv(path)
    elif ending in PICTURES:
        with open(path, 'rb') as file:
            return [(name, preprocessing.picture(file.read(), path))]
    else:
        raise MXNetError(f'{path}: it takes images ({", ".join(PICTURES)}), .npy and .csv files')
    rows = fit_rows(array, preprocessing.shape, path)
    return [(f'{name}[{i}]', row.astype(dtype)) for i, row in enumerate(rows)]


def _read_csv(path):
    """The rows of a table; a first line without a single number is the names of its columns."""
    import csv
    try:
        with open(path, encoding='utf-8-sig', newline='') as file:       # spreadsheets write a byte order mark
            lines = [line for line in file if line.strip() and not line.lstrip().startswith('#')]
        rows = [[cell.strip() for cell in row] for row in csv.reader(lines)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise MXNetError(f'{path} is not a table of numbers: {plain(error)}') from None
    if rows and not any(_is_number(cell) for cell in rows[0]):
        rows = rows[1:]
    if not rows:
        raise MXNetError(f'{path} has no rows of numbers')
    for number, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            raise MXNetError(f'{path} is not a table of numbers: row {number} has {len(row)} columns, the first '
                             f'{len(rows[0])}')
        wrong = next((place for place, cell in enumerate(row, 1) if not _is_number(cell)), None)
        if wrong is not None:
            raise MXNetError(f'{path} is not a table of numbers: row {number}, column {wrong} is {row[wrong - 1]!r}')
    return np.array(rows, 'float64').astype('float32')


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return '_' not in text              # Python's own spelling, which no table has


def fit_rows(array, shape, name):
    """An array as rows of the given shape: it has them, is one, or has as many numbers."""
    array = np.asarray(array)
    if array.dtype.kind not in 'fiub':
        raise MXNetError(f'{name} holds {array.dtype}, not numbers')
    if array.shape[1:] == tuple(shape) and array.ndim == len(shape) + 1:
        return array
    if array.shape == tuple(shape):
        return array[None]
    if array.shape == tuple(n for n in shape if n != 1) and array.ndim > 1:
        return array.reshape(1, *shape)         # one picture without the axis of its only channel
    count = int(np.prod(shape)) if shape else 1
    if array.ndim == 2 and array.shape[1] == count:
        return array.reshape(-1, *shape)
    raise MXNetError(f'{name} has the shape {array.shape}, but the network takes {("N", *shape)}'.replace("'N'", 'N'))


# ---------------------------------------------------------------------- results
def top_classes(row, names, count):
    """[(number, name, value)] of the largest values of one output."""
    flat = np.asarray(row, dtype='float32').reshape(-1)
    order = np.argsort(-flat, kind='stable')[:count]
    return [(int(i), names[i] if names and i < len(names) else str(int(i)), float(flat[i])) for i in order]


def finite(value):
    """The value with null for what JSON has no number for: infinity and not-a-number."""
    if isinstance(value, dict):
        return {key: finite(part) for key, part in value.items()}
    if isinstance(value, list):
        return [finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
