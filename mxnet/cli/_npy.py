"""Arrays in the bytes of .npy files, read and written without a file.

The headers of requests are mostly equal.  numpy takes longer to read one than a small network to compute, so what
they say is kept.
"""
import functools
import io
import math

import numpy as np

from ..base import MXNetError

MAGIC = b'\x93NUMPY'


class _Refused(ValueError):
    pass


def load(data, name):
    """The array in the bytes of an .npy file; objects in it are refused.  It may share the memory of the bytes."""
    if data[:6] != MAGIC or len(data) < 12:
        raise MXNetError(f'{name} is not an .npy array')
    short = data[6] == 1
    start = 10 + int.from_bytes(data[8:10], 'little') if short else 12 + int.from_bytes(data[8:12], 'little')
    try:
        dtype, shape, fortran = _header(bytes(data[:start]))
    except _Refused as error:
        raise MXNetError(f'{name} is not an .npy array: {error}') from None
    except Exception:           # numpy lets those of Python's own parser out
        raise MXNetError(f'{name} is not an .npy array: its header of {start} bytes is not the description of one') \
            from None
    count = math.prod(shape)
    if start + count * dtype.itemsize > len(data):
        raise MXNetError(f'{name} is not an .npy array: {shape} of {dtype} takes {count * dtype.itemsize} bytes, but '
                         f'{len(data) - start} follow its header')
    try:
        return np.frombuffer(data, dtype, count, start).reshape(shape, order='F' if fortran else 'C')
    except ValueError:          # no element, but a length that no array can have
        raise MXNetError(f'{name} is not an .npy array: no array has the shape {shape}') from None


@functools.lru_cache(256)
def _header(data):
    """(dtype, shape, whether columns are contiguous)"""
    file = io.BytesIO(data)
    version = np.lib.format.read_magic(file)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(version)
    if read is None:
        raise _Refused(f'its version is {version[0]}.{version[1]}')
    shape, fortran, dtype = read(file)
    if dtype.hasobject:
        raise _Refused('it holds objects')
    if not all(type(n) is int and n >= 0 for n in shape):
        raise _Refused(f'its shape is {shape}')
    return dtype, shape, fortran


def dump(array):
    """The bytes of an .npy file."""
    array = np.asarray(array, order='C')
    return _header_of(array.dtype, array.shape) + array.tobytes()


@functools.lru_cache(256)
def _header_of(dtype, shape):
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {'descr': np.lib.format.dtype_to_descr(dtype), 'fortran_order': False,
                                                'shape': shape})
    return file.getvalue()
