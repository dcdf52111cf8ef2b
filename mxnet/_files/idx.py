"""IDX, the format of MNIST: `00 00 08`, the number of axes, their lengths, then bytes."""
import math
import struct

import numpy


class Malformed(Exception):
    """The bytes are no IDX file of bytes; the text says why."""


def parse(data: bytes, axes: int | None = None, exact: bool = True) -> numpy.ndarray:
    """The array in the bytes of a file.

    axes: how many axes it must have; None: one to three
    exact: whether bytes after the array are an error
    """
    count = data[3] if len(data) > 3 and data[:3] == b'\0\0\x08' else 0
    if count != axes if axes is not None else not 1 <= count <= 3:
        expected = f'with {axes} axes: it begins with {data[:4].hex()}, not 000008{axes:02x}' if axes else \
            f'of 1 to 3 axes: it begins with {data[:4].hex()}'
        raise Malformed(f'is not a file of bytes {expected}')
    head = 4 + 4 * count
    if len(data) < head:
        raise Malformed(f'is truncated: its header has {head} bytes, the file {len(data)}')
    shape = struct.unpack(f'>{count}I', data[4:head])
    size, found = math.prod(shape), len(data) - head
    if found < size:
        raise Malformed(f'is truncated: {shape} needs {size} bytes, there are {found}')
    if exact and found > size:
        raise Malformed(f'has {found - size} bytes after the {size} that its header {shape} declares')
    if not size and math.prod([length or 1 for length in shape]) > 1 << 40:     # no array has such a shape
        raise Malformed(f'declares the shape {shape}, which is empty and too long')
    return numpy.frombuffer(data, numpy.uint8, size, head).reshape(shape)
