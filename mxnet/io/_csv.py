"""`CSVIter`: batches of the lines of CSV files."""
from typing import Literal

import numpy

from .._ops.core.attributes import NonNegative, Shape
from .._wording import plain
from ..base import MXNetError
from ..ndarray import array
from ._native import native
from ._text import TextLoader, blocks_of_lines, files_of, numbers_of, place

__all__ = ['CSVIter']


class Rows:
    """Numbered examples, each with several arrays."""

    def __init__(self, arrays, index):
        self.arrays, self.index = arrays, index

    def __len__(self):
        return len(self.index)

    @property
    def nbytes(self):
        return sum(a.nbytes for a in self.arrays)

    def __getitem__(self, key):
        return Rows([a[key] for a in self.arrays], self.index[key])

    @staticmethod
    def join(parts):
        return Rows([numpy.concatenate(arrays) for arrays in zip(*[part.arrays for part in parts])],
                    numpy.concatenate([part.index for part in parts]))


class _CSV(TextLoader):
    def __init__(self, data_csv, data_shape, label_csv, label_shape, dtype, **kwargs):
        super().__init__('CSVIter', data_csv, **kwargs)
        self._data, self._data_shape = files_of(data_csv, self.name), data_shape
        self._label, self._label_shape = label_csv and files_of(label_csv, self.name), label_shape
        self._dtype = numpy.dtype(dtype)

    def read(self):
        """Blocks of lines of the data, with as many of the labels."""
        position, labels = 0, None
        if self._label:
            labels = self._numbers(self._label, self._label_shape, 'label_shape')
            waiting = next(labels, None)
        for data in self._numbers(self._data, self._data_shape, 'data_shape'):
            while len(data):
                if labels is None:
                    count = len(data)
                    label = numpy.zeros((count, 1), self._dtype)
                elif waiting is None:
                    raise MXNetError(f'CSVIter: {";".join(self._label)} has {position} labels, fewer than the lines of '
                                     f'{";".join(self._data)}')
                else:
                    count = min(len(data), len(waiting))
                    label, waiting = waiting[:count], waiting[count:] if count < len(waiting) else next(labels, None)
                yield Rows([data[:count], label], numpy.arange(position, position + count))
                position += count
                data = data[count:]

    def _numbers(self, files, shape, parameter):
        """Arrays of the numbers in consecutive lines, each line in the shape of an example."""
        width = int(numpy.prod(shape))
        for path, number, block in blocks_of_lines(files):
            values = self._parse(block, width)
            if values is None:
                values = self._parse_slowly(path, number, block, width, f'{parameter}={shape}')
            yield values.reshape(-1, *shape)

    def _parse(self, block, width):
        """All numbers at once; None if something is not as it should be, or not as simple."""
        if b'\r' in block:
            block = block.replace(b'\r\n', b'\n')
        if b' ' in block:
            block = block.replace(b', ', b',').replace(b' ,', b',')
        if self._dtype.kind != 'f':
            return self._parse_whole(block, width)
        found = numbers_of(block, b',\n')
        if found is None or not len(found.values) or len(found.values) % width or (found.lines() != width).any():
            return None
        # a comma behind each number but the last of a line, and no other commas
        rows = (found.after() == 0x2c).reshape(-1, width)
        commas = numpy.count_nonzero(found.text == 0x2c)
        if not rows[:, :-1].all() or rows[:, -1].any() or commas != rows.size - len(rows):
            return None
        return found.values.astype(self._dtype)

    def _parse_whole(self, block, width):
        lines = block.split(b'\n')
        if not lines[-1]:
            lines.pop()
        if not all(line.count(b',') == width - 1 for line in lines) or block.translate(None, b'0123456789,+-\n'):
            return None
        values = _whole_numbers(block)
        return values.astype(self._dtype) if values is not None and values.size == len(lines) * width else None

    def _parse_slowly(self, path, number, block, width, wanted):
        values = []
        convert = float if self._dtype.kind == 'f' else int
        for index, line in enumerate(block.splitlines()):
            line = line.strip()
            if not line:
                continue
            fields = line.decode(errors='replace').split(',')
            if len(fields) != width:
                raise MXNetError(f'CSVIter: {place(path, number, index)}: there are {len(fields)} values, but {wanted} '
                                 f'has {width}')
            try:
                values += [convert(field) for field in fields]
            except ValueError as error:
                raise MXNetError(f'CSVIter: {place(path, number, index)}: {plain(error)}') from None
        try:
            return numpy.array(values, self._dtype)
        except OverflowError:
            limits = numpy.iinfo(self._dtype)
            wrong = next(i for i, value in enumerate(values) if not limits.min <= value <= limits.max)
            rows = [index for index, line in enumerate(block.splitlines()) if line.strip()]
            raise MXNetError(f'CSVIter: {place(path, number, rows[wrong // width])}: {values[wrong]} is not a number '
                             f'of {self._dtype.name}') from None

    def arrays(self, piece):
        data, label = piece.arrays
        return array(data, dtype=self._dtype), array(label, dtype=self._dtype), piece.index


def _whole_numbers(block):
    try:
        return numpy.fromstring(block.replace(b'\n', b',').removesuffix(b','), numpy.int64, sep=',')
    except (ValueError, DeprecationWarning):
        return None


@native
def CSVIter(*, data_csv: str, data_shape: Shape, label_csv: str = 'NULL', label_shape: Shape = (1,),
            batch_size: NonNegative, round_batch: bool = True, prefetch_buffer: NonNegative = 4,
            ctx: Literal['cpu', 'gpu'] = 'gpu', dtype: Literal['float32', 'int32', 'int64', None] = None):
    """Batches of the lines of a CSV file, which are numbers with commas between them.

    data_csv, label_csv: a file, several with ; between them, or a folder; without label_csv all labels are 0
    data_shape, label_shape: the shape of one example; a line has as many numbers
    round_batch: fill up the last batch with lines from the beginning, which the next pass then leaves out
    prefetch_buffer: how many batches are read ahead
    dtype: float32 if not given
    ctx: makes no difference here

    The numbers stay in memory if they take less than 256 MB; larger files are read anew in each pass, a few MB at a
    time.
    """
    return _CSV(data_csv, data_shape, None if label_csv == 'NULL' else label_csv, label_shape, dtype or 'float32',
                batch_size=batch_size, round_batch=round_batch, prefetch=prefetch_buffer)
