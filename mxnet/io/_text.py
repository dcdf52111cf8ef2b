"""Files of lines: which of them there are, which part of them is ours, and blocks of whole lines."""
import os

from .._files import paths
from ..base import MXNetError

_BLOCK = 4 << 20


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
            position += len(block)
            yield path, number, block
            if number is not None:
                number += block.count(b'\n')


def place(path, number, index):
    """Names a line in an error."""
    return f'{path}, line {number + index}' if number is not None else path
