"""`MNISTIter`: batches of the pictures of MNIST and of what has its format."""
import gzip
import io
import os
import zlib
from typing import Literal

import numpy

from .._files import idx, limits, paths, published
from .._ops.core.attributes import NonNegative
from ..base import MXNetError
from ..ndarray import array
from ._csv import Rows
from ._native import Loader, log, native
from ._text import check_part

__all__ = ['MNISTIter']


def read_idx(path, axes):
    """The bytes in a file of Yann LeCun's format, gzipped or not, with so many axes."""
    try:
        data = paths.read_bytes(path)
    except MXNetError as error:
        if 'No such file' not in str(error):
            raise
        where = os.path.dirname(path) or '.'
        raise type(error)(f'{error}. {published.hint("mnist", where)} (--unpack writes files without .gz)') from error
    if data[:2] == b'\x1f\x8b':
        try:
            with gzip.open(io.BytesIO(data)) as packed:
                data = limits.unpacked(packed, len(data), f'MNISTIter: {path}', 'what is packed in it')
        except (EOFError, OSError, zlib.error) as error:
            raise MXNetError(f'MNISTIter: {path} is damaged: {error}') from error
    try:
        return idx.parse(data, axes, exact=False)
    except idx.Malformed as error:
        raise MXNetError(f'MNISTIter: {path} {error}') from None


class _MNIST(Loader):
    def __init__(self, image, label, flat, shuffle, seed, part, **kwargs):
        super().__init__('MNISTIter', image, **kwargs)
        images, labels = read_idx(image, 3), read_idx(label, 1)
        if len(images) != len(labels):
            raise MXNetError(f'MNISTIter: {image} has {len(images)} pictures, but {label} has {len(labels)} labels')
        part_index, num_parts = part
        begin, end = (int(len(images) / num_parts * i) for i in (part_index, part_index + 1))
        order = numpy.arange(begin, end)
        if shuffle:
            numpy.random.RandomState(seed).shuffle(order)
        self._flat = flat
        self._rows = Rows([images[order], labels[order]], order - begin)

    def pieces(self, epoch, skip):
        # pictures that do not fill a batch are left out
        whole = len(self._rows) // self.batch_size * self.batch_size
        for begin in range(skip, whole, self.batch_size):
            yield self._rows[begin:begin + self.batch_size]

    def arrays(self, piece):
        images, labels = piece.arrays
        pixels = images.reshape(len(piece), -1) if self._flat else images[:, None]
        return array(pixels * numpy.float32(1 / 256)), array(labels), piece.index


@native
def MNISTIter(*, image: str = './train-images-idx3-ubyte', label: str = './train-labels-idx1-ubyte',
              batch_size: NonNegative = 128, shuffle: bool = True, flat: bool = False, seed: int = 0,
              silent: bool = False, num_parts: int = 1, part_index: int = 0, prefetch_buffer: NonNegative = 4,
              ctx: Literal['cpu', 'gpu'] = 'gpu', dtype: Literal['float32', None] = None):
    """Batches of the pictures of MNIST, as numbers from 0 to less than 1.

    image, label: the files, as they are or gzipped
    shuffle, seed: one order for all passes, which depends on the seed
    flat: pictures are vectors, not arrays of one channel
    silent: do not log what was loaded
    num_parts, part_index: reads one of so many parts
    prefetch_buffer: how many batches are made ahead
    ctx: makes no difference here

    Pictures that are left when the last batch is not full are left out.
    """
    check_part('MNISTIter', part_index, num_parts)
    loader = _MNIST(image, label, flat, shuffle, seed, (part_index, num_parts), batch_size=batch_size,
                    prefetch=prefetch_buffer)
    if not silent:
        log.info('MNISTIter: %d pictures from %s, shuffle=%s', len(loader._rows), image, shuffle)
    return loader
