"""Bytes of array files as the versions before 1.9.1 wrote them, for tests."""
import struct

import numpy as np

FLAGS = {'float32': 0, 'float64': 1, 'float16': 2, 'uint8': 3, 'int32': 4}  # all that these versions had


def v0(array, device=(1, 0)):
    """Until 0.10: no version, dimensions of 32 bits."""
    shape = struct.pack(f'<I{array.ndim}I', array.ndim, *array.shape)
    return shape + struct.pack('<iii', *device, FLAGS[str(array.dtype)]) + array.tobytes()


def v1(array, device=(1, 0)):
    """0.11: a version, dimensions of 64 bits."""
    shape = struct.pack(f'<II{array.ndim}q', 0xF993FAC8, array.ndim, *array.shape)
    return shape + struct.pack('<iii', *device, FLAGS[str(array.dtype)]) + array.tobytes()


def v2(array, flag, device=(1, 0)):
    """From 0.12: a storage type.  Here for types that the installed NumPy may not have."""
    shape = struct.pack(f'<Iii{array.ndim}q', 0xF993FAC9, 0, array.ndim, *array.shape)
    return shape + struct.pack('<iii', *device, flag) + array.tobytes()


def listed(records, names=()):
    """The list around records."""
    parts = [struct.pack('<QQQ', 0x112, 0, len(records)), *records, struct.pack('<Q', len(names))]
    for name in names:
        parts += [struct.pack('<Q', len(name.encode())), name.encode()]
    return b''.join(parts)


def old_files():
    """{file name: (bytes, arrays, names)}"""
    random = np.random.RandomState(3)
    arrays = [(random.rand(*shape) * 100).astype(dtype)
              for dtype in FLAGS for shape in ((1,), (4,), (2, 3), (1, 2, 3, 2, 2))]
    names = [f'arg:{i}' for i in range(len(arrays))]
    files = {}
    for version in (v0, v1):
        for device in ((1, 0), (2, 3)):  # written on a CPU and on a GPU
            records = [version(array, device) for array in arrays]
            files[f'{version.__name__}-{device[0]}-list.params'] = (listed(records), arrays, [])
            files[f'{version.__name__}-{device[0]}-dict.params'] = (listed(records, names), arrays, names)
    bits = (np.array([1.0, -2.5, 3e38], 'float32').view('uint32') >> 16).astype('uint16')
    files['bfloat16.params'] = (listed([v2(bits, 12)]), [(bits.astype('uint32') << 16).view('float32')], [])
    zero = np.zeros((0, 3), 'float32')
    files['zero-size.params'] = (listed([v0(zero), v1(zero), v2(zero, 0)]), [zero, zero, zero], [])
    return files
