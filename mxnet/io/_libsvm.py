"""`LibSVMIter`: batches of the lines of LibSVM files, as CSR arrays."""
import itertools
from typing import Literal

import numpy
import torch

from .._ops.core.attributes import NonNegative, Shape
from ..base import MXNetError
from ..context import cpu
from ..ndarray import array
from ..ndarray.sparse import CSRNDArray
from ._csv import Rows
from ._native import native
from ._text import TextLoader, blocks_of_lines, check_part, files_of, numbers_of, part_of, place, size_of

__all__ = ['LibSVMIter']


class Sparse:
    """Rows of a sparse matrix."""

    def __init__(self, values, columns, starts):
        self.values, self.columns, self.starts = values, columns, starts

    def __len__(self):
        return len(self.starts) - 1

    @property
    def nbytes(self):
        return self.values.nbytes + self.columns.nbytes + self.starts.nbytes

    def __getitem__(self, key):
        begin, end, _ = key.indices(len(self))
        first, last = self.starts[begin], self.starts[end]
        return Sparse(self.values[first:last], self.columns[first:last], self.starts[begin:end + 1] - first)

    @staticmethod
    def join(parts):
        ends = numpy.cumsum([part.starts[-1] for part in parts])
        starts = [part.starts[1:] + before for part, before in zip(parts, [0, *ends])]
        return Sparse(numpy.concatenate([part.values for part in parts]),
                      numpy.concatenate([part.columns for part in parts]), numpy.concatenate([[0], *starts]))

    def array(self, width):
        parts = [torch.tensor(part) for part in (self.values, self.starts, self.columns)]
        return CSRNDArray._make(parts, (len(self), width), cpu())


class Examples(Rows):
    """Numbered examples whose arrays may be sparse."""

    def __getitem__(self, key):
        return Examples([a[key] for a in self.arrays], self.index[key])

    @staticmethod
    def join(parts):
        columns = zip(*[part.arrays for part in parts])
        return Examples([a[0].join(a) if isinstance(a[0], Sparse) else numpy.concatenate(a) for a in columns],
                        numpy.concatenate([part.index for part in parts]))


class _LibSVM(TextLoader):
    def __init__(self, data_libsvm, data_shape, label_libsvm, label_shape, part, **kwargs):
        super().__init__('LibSVMIter', data_libsvm, **kwargs)
        self._data, self._width = files_of(data_libsvm, self.name), data_shape[0]
        self._label, self._label_width = label_libsvm and files_of(label_libsvm, self.name), label_shape[0]
        self._part = part

    def read(self):
        position, waiting = 0, None
        labels = self._blocks(self._label, self._label_width) if self._label else None
        for data, own in self._blocks(self._data, self._width):
            while len(data):
                count, label = len(data), own
                if labels is not None:
                    waiting = waiting or next(labels, (None,))[0]
                    if waiting is None:
                        raise MXNetError(f'LibSVMIter: {";".join(self._label)} has {position} lines, fewer than '
                                         f'{";".join(self._data)}')
                    count = min(count, len(waiting))
                    label, waiting = waiting[:count], waiting[count:]
                yield Examples([data[:count], label], numpy.arange(position, position + count))
                position += count
                data = data[count:]

    def _blocks(self, files, width):
        """Yields (Sparse, first numbers of the lines)."""
        begin, end = part_of(sum(map(size_of, files)), *self._part)
        for path, number, block in blocks_of_lines(files, begin, end):
            found = _parse(block)
            if found is None:
                found = _parse_slowly(path, number, block)
            wrong = (found[0].columns < 0) | (found[0].columns >= width)
            if wrong.any():
                row = int(numpy.searchsorted(found[0].starts, wrong.argmax(), 'right')) - 1
                lines = [i for i, line in enumerate(block.splitlines()) if line.split(b'#')[0].strip()]
                raise MXNetError(f'LibSVMIter: {place(path, number, lines[row])}: column '
                                 f'{found[0].columns[wrong.argmax()]} is not in a row of {width}; columns count from 0')
            yield found

    def arrays(self, piece):
        data, label = piece.arrays
        label = label.array(self._label_width) if self._label else array(label)
        return data.array(self._width), label, piece.index


def _parse(block):
    """All numbers at once; None if there is more in the lines than a label and columns with values."""
    found = numbers_of(block, b': \t\r\n')
    if found is None:
        return None
    counts = found.lines()
    if (counts % 2 == 0).any():
        return None
    starts = numpy.concatenate([[0], counts.cumsum()])
    labels = starts[:-1]
    # in a line: a label, then each column followed by a colon, and a value right behind that
    is_column = found.after() == 0x3a
    rank = numpy.arange(len(found.values)) - numpy.repeat(labels, counts)
    colons = numpy.count_nonzero(found.text == 0x3a)
    if (is_column != (rank % 2 == 1)).any() or colons != numpy.count_nonzero(is_column) \
            or (found.begins[1:][is_column[:-1]] != found.ends[:-1][is_column[:-1]] + 1).any():
        return None
    if (abs(found.values[is_column]) >= 2.0 ** 62).any():
        return None
    columns = found.values[is_column].astype(numpy.int64)
    if (columns != found.values[is_column]).any():
        return None
    is_value = (rank % 2 == 0) & (rank > 0)
    return (Sparse(found.values[is_value].astype(numpy.float32), columns, (starts - numpy.arange(len(starts))) // 2),
            found.values[labels].astype(numpy.float32))


def _parse_slowly(path, number, block):
    values, columns, lengths, labels = [], [], [], []
    for index, line in enumerate(block.splitlines()):
        fields = line.split(b'#')[0].decode(errors='replace').split()
        if not fields:
            continue
        try:
            labels.append(float(fields[0].split(':')[0]))       # a weight may follow, which nobody has a use for
            pairs = [field for field in fields[1:] if not field.startswith('qid:')]
            for pair in pairs:
                column, colon, value = pair.partition(':')
                columns.append(int(column))
                if not -2 ** 63 <= columns[-1] < 2 ** 63:
                    raise ValueError
                values.append(float(value) if colon else 1.0)
        except ValueError:
            raise MXNetError(f'LibSVMIter: {place(path, number, index)}: expected a label and columns with values, '
                             f'such as "1 0:0.5 2:1.2", found {line.decode(errors="replace")[:80]!r}') from None
        lengths.append(len(pairs))
    starts = numpy.array([0, *itertools.accumulate(lengths)], numpy.int64)
    return (Sparse(numpy.array(values, numpy.float32), numpy.array(columns, numpy.int64), starts),
            numpy.array(labels, numpy.float32))


@native
def LibSVMIter(*, data_libsvm: str, data_shape: Shape, label_libsvm: str = 'NULL', label_shape: Shape = (1,),
               num_parts: int = 1, part_index: int = 0, batch_size: NonNegative, round_batch: bool = True,
               prefetch_buffer: NonNegative = 4, ctx: Literal['cpu', 'gpu'] = 'gpu',
               dtype: Literal['float32', None] = None):
    """Batches of the lines of a LibSVM file: data is a CSRNDArray.

    A line is a label, then columns with their values: `1 0:0.5 2:1.2`.  Columns count from 0 and increase.

    data_libsvm, label_libsvm: a file, several with ; between them, or a folder; with label_libsvm the labels are CSR
        arrays, too
    data_shape, label_shape: (number of columns,)
    num_parts, part_index: reads one of so many parts of the file
    round_batch: only True, the last batch is filled up with lines from the beginning, which the next pass leaves out
    prefetch_buffer: how many batches are read ahead
    ctx: makes no difference here
    """
    if len(data_shape) != 1:
        raise MXNetError(f'LibSVMIter: data_shape has one length, (columns,), but is {data_shape}')
    if (label_libsvm == 'NULL') != (label_shape == (1,)):
        raise MXNetError(f'LibSVMIter: label_shape={label_shape} should be (1,) without label_libsvm, longer with it')
    if not round_batch:
        raise MXNetError('LibSVMIter: round_batch=False is not supported for sparse data')
    check_part('LibSVMIter', part_index, num_parts)
    return _LibSVM(data_libsvm, data_shape, None if label_libsvm == 'NULL' else label_libsvm, label_shape,
                   (part_index, num_parts), batch_size=batch_size, prefetch=prefetch_buffer)
