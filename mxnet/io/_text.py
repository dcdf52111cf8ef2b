"""Files of lines of numbers: which there are, which part of them is ours, blocks of whole lines, and their numbers."""
import os

import numpy

from .._files import limits, paths
from ..base import MXNetError
from ._native import Loader

_BLOCK = 1 << 20
_KEPT = 256 << 20       # numbers of files up to this size are kept for the next pass


class TextLoader(Loader):
    """A loader of lines.  A subclass reads them (`read`); small files are read once."""

    _kept = None

    def read(self):
        """Yields all examples, in pieces that know how many bytes they take (`nbytes`)."""
        raise NotImplementedError

    def pieces(self, epoch, skip):
        position = 0
        for piece in self._kept or self._read_and_keep():
            position += len(piece)
            if position > skip:
                yield piece[max(0, len(piece) - (position - skip)):]

    def _read_and_keep(self):
        held, size = [], 0
        for piece in self.read():
            size += piece.nbytes
            if size <= _KEPT:
                held.append(piece)
            else:
                held.clear()
            yield piece
        if size <= _KEPT:
            self._kept = held


def files_of(uri, name):
    """The files that a path stands for: itself, several with ; between them, or all files of a folder."""
    found = []
    for path in uri.split(';'):
        if paths.is_local(path) and os.path.isdir(paths.local_name(path)):
            folder = paths.local_name(path)
            inside = sorted(os.path.join(folder, entry) for entry in os.listdir(folder))
            found += [entry for entry in inside if os.path.isfile(entry)]
        else:
            found.append(path)
    if not found:
        raise MXNetError(f'{name}: there are no files in {uri}')
    return found


def size_of(path):
    with paths.open_read(path) as file:
        return file.seek(0, os.SEEK_END)


def part_of(total, part_index, num_parts, align=1):
    """Where one of `num_parts` parts of `total` bytes begins and ends, before it is moved to whole records."""
    step = -(-total // num_parts)
    step = -(-step // align) * align
    return min(step * part_index, total), min(step * (part_index + 1), total)


def check_part(name, part_index, num_parts):
    if num_parts < 1 or not 0 <= part_index < num_parts:
        raise MXNetError(f'{name}: part_index must be between 0 and num_parts - 1, but it is {part_index} and '
                         f'num_parts is {num_parts}')


def blocks_of_lines(files, begin=0, end=None):
    """Yields (path, number of the first line or None, bytes of whole lines) of several files seen as one.

    A line belongs to the part between `begin` and `end` if it begins in it, but not at its very beginning, unless that
    is the beginning of a file: so parts fit together, and each sees what upstream's sees.
    """
    offset = 0
    for path in files:
        size = size_of(path)
        first = 0 if begin <= offset else begin - offset
        last = size if end is None or end >= offset + size else end - offset
        offset += size
        if first < size and last > 0:
            yield from _blocks(path, first, last, size)


def _blocks(path, first, last, size):
    with paths.open_read(path) as file:
        position = first
        if first:
            file.seek(first)
            position += len(file.readline())
        if last < size:
            file.seek(last)
            last += len(file.readline())
        file.seek(position)
        number = None if first else 1
        while position < last:
            block = file.read(min(_BLOCK, last - position))
            if position + len(block) < last:
                block += file.readline()        # up to the end of the line
            if not block:
                break
            # numbers and their places take some thirty times the text; a block ends with a line, however long that is
            limits.check(30 * len(block), size, f'{path}: byte {position}', 'a line')
            position += len(block)
            yield path, number, block
            if number is not None:
                number += block.count(b'\n')


def place(path, number, index):
    """Names a line in an error."""
    return f'{path}, line {number + index}' if number is not None else path


# ---------------------------------------------------------------------- numbers
_POWERS = 10.0 ** numpy.arange(20)
_DIGITS = 18            # of an int64


class Numbers:
    """All numbers in a block of text.

    values: as float64
    begins, ends: where each stands
    text: the block as an array of bytes
    """

    def __init__(self, values, begins, ends, text):
        self.values, self.begins, self.ends, self.text = values, begins, ends, text

    def after(self):
        """The character behind each number; a line's end behind the last."""
        if len(self.ends) and self.ends[-1] == len(self.text):
            return numpy.append(self.text[self.ends[:-1]], numpy.uint8(0x0a))
        return self.text[self.ends]

    def lines(self):
        """How many numbers each line has that has any."""
        breaks = numpy.flatnonzero(self.text == 0x0a)
        counts = numpy.diff(numpy.searchsorted(self.begins, breaks), prepend=0, append=len(self.begins))
        return counts[counts > 0]


def numbers_of(block, separators):
    """The numbers in a block of text; None if some of it is no number.

    Whole numbers are parsed ten times as fast as others, so decimal points are taken out and counted.
    """
    if block.translate(None, b'0123456789.+-eE' + separators):
        return None
    spaces = bytes(0x20 if byte in separators else byte for byte in range(256))
    plain = block.translate(spaces)
    text = numpy.frombuffer(plain, numpy.uint8)
    outside = numpy.concatenate([[True], text == 0x20, [True]])
    first = outside[:-2] & ~outside[1:-1]
    begins, ends = numpy.flatnonzero(first), numpy.flatnonzero(outside[2:] & ~outside[1:-1]) + 1
    # those with an exponent, or more digits than an int64 has, are read one by one, and are 0 until then
    marks = numpy.flatnonzero((text | 0x20) == 0x65)
    single = numpy.union1d(numpy.searchsorted(begins, marks, 'right') - 1,
                           numpy.flatnonzero(ends - begins > _DIGITS)).astype(numpy.int64)
    simple = len(single) < len(begins) // 16
    try:
        if not simple:
            values = numpy.fromstring(plain, numpy.float64, sep=' ')
        else:
            if len(single):
                changed = bytearray(plain)
                for i in single.tolist():
                    changed[begins[i]:ends[i]] = b'0' * int(ends[i] - begins[i])
                    if ends[i] - begins[i] > _DIGITS:
                        changed[begins[i] + 1:ends[i]] = b' ' * int(ends[i] - begins[i] - 1)
                whole, text = bytes(changed.translate(None, b'.')), numpy.frombuffer(changed, numpy.uint8)
            else:
                whole = block.translate(spaces, b'.')
            values = numpy.fromstring(whole, numpy.int64, sep=' ').astype(numpy.float64)
            if len(values) == len(begins):
                values[single] = [float(plain[begins[i]:ends[i]]) for i in single.tolist()]
    except (ValueError, DeprecationWarning):
        return None
    if len(values) != len(ends):
        return None
    if simple and (((text == 0x2b) | (text == 0x2d)) & ~first).any():
        return None             # a sign in the middle: two numbers for one
    points = numpy.flatnonzero(text == 0x2e) if simple else ()
    if len(points):
        which = numpy.cumsum(first, dtype=numpy.int32)[points] - 1
        if (which[1:] == which[:-1]).any():
            return None         # two points in one number
        values[which] /= _POWERS[ends[which] - points - 1]
    return Numbers(values, begins, ends, numpy.frombuffer(block, numpy.uint8))
