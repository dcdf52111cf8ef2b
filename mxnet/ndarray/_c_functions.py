"""Functions of upstream's C library that programs call by hand through `mx.base._LIB`.

Each takes what a ctypes call takes (handles of arrays, pointers made by `ctypes.byref`, ctypes numbers) and returns 0,
or -1 after a mistake, whose text `MXGetLastError` then gives: `base.check_call` raises it.
"""
import ctypes
import functools
import threading

import numpy

from .. import _random_state as generators
from .. import engine, libinfo
from .._ops.core.dtypes import NUMPY
from .._ops.core.table import NAMES
from ..base import C_FUNCTIONS as FUNCTIONS
from ..base import MXNetError
from ..context import num_gpus
from . import _interop

_last = threading.local()       # the text of the last mistake, and memory that the last answers point to
_DTYPES = {numpy.dtype(value): number for number, value in enumerate(
    (numpy.float32, numpy.float64, numpy.float16, numpy.uint8, numpy.int32, numpy.int8, numpy.int64, numpy.bool_))}
_DTYPES[NUMPY['bfloat16']] = 12
_DEVICES = {'cpu': 1, 'gpu': 2, 'cpu_pinned': 3, 'cpu_shared': 5}


def _function(call):
    @functools.wraps(call)
    def checked(*args):
        try:
            call(*args)
        except (MXNetError, TypeError, ValueError, AttributeError, ctypes.ArgumentError) as error:
            _last.error = f'{call.__name__}: {error}'
            return -1
        return 0
    FUNCTIONS[call.__name__] = checked
    return call


def last_error():
    """The text of the last mistake on this thread."""
    return getattr(_last, 'error', '')


def _get_last_error():
    return last_error().encode()


FUNCTIONS['MXGetLastError'] = _get_last_error


def _number(value):
    return int(getattr(value, 'value', value))


def _array(handle):
    if not isinstance(handle, ctypes.c_void_p):
        handle = getattr(handle, 'handle', None) or ctypes.c_void_p(_number(handle))
    return _interop.array_of(handle)


def _target(pointer):
    """What a pointer argument points to: `ctypes.byref(x)` and `ctypes.pointer(x)` are taken."""
    return pointer._obj if hasattr(pointer, '_obj') else pointer.contents


def _address(pointer):
    return ctypes.cast(pointer, ctypes.c_void_p).value


def _answer(pointer, values, kind):
    """Makes a pointer of the caller point to an array of C numbers, kept until the next answer of its kind."""
    memory = (kind * max(len(values), 1))(*values)
    kept = _last.__dict__.setdefault('kept', {})
    kept[kind] = memory
    ctypes.cast(ctypes.addressof(_target(pointer)), ctypes.POINTER(ctypes.c_void_p))[0] = ctypes.addressof(memory)


def _copied_bytes(handle, size):
    array = _array(handle)
    if _number(size) != array.size:
        raise ValueError(f'the array has {array.size} elements (shape {array.shape}), but the size given is '
                         f'{_number(size)}')
    return array


@_function
def MXNDArraySyncCopyToCPU(handle, data, size):
    """Copies all elements of an array to memory of the program."""
    values = numpy.ascontiguousarray(_copied_bytes(handle, size).asnumpy())
    ctypes.memmove(_address(data), values.ctypes.data, values.nbytes)


@_function
def MXNDArraySyncCopyFromCPU(handle, data, size):
    """Copies all elements of an array from memory of the program."""
    array = _copied_bytes(handle, size)
    values = numpy.empty(array.shape, array.dtype)
    ctypes.memmove(values.ctypes.data, _address(data), values.nbytes)
    array[:] = values


def _shape(handle, ndim, pointer, kind):
    shape = _array(handle).shape
    _target(ndim).value = len(shape)
    _answer(pointer, shape, kind)


@_function
def MXNDArrayGetShape(handle, ndim, shape):
    """Shape of an array, as unsigned ints."""
    _shape(handle, ndim, shape, ctypes.c_uint)


@_function
def MXNDArrayGetShapeEx(handle, ndim, shape):
    """Shape of an array, as ints."""
    _shape(handle, ndim, shape, ctypes.c_int)


@_function
def MXNDArrayGetShapeEx64(handle, ndim, shape):
    """Shape of an array, as 64-bit ints."""
    _shape(handle, ndim, shape, ctypes.c_int64)


@_function
def MXNDArrayGetDType(handle, dtype):
    """The number of an array's dtype."""
    _target(dtype).value = _DTYPES[numpy.dtype(_array(handle).dtype)]


@_function
def MXNDArrayGetContext(handle, device_type, device_id):
    """The numbers of an array's kind of device and of the device."""
    context = _array(handle).context
    _target(device_type).value, _target(device_id).value = _DEVICES[context.device_type], context.device_id


@_function
def MXNDArrayGetStorageType(handle, storage_type):
    """0: dense, 1: row_sparse, 2: csr."""
    _target(storage_type).value = {'default': 0, 'row_sparse': 1, 'csr': 2}[_array(handle).stype]


@_function
def MXNDArrayGetData(handle, pointer):
    """The address of a dense array's memory."""
    array = _array(handle)
    if array.stype != 'default':
        raise ValueError(f'an array of storage type {array.stype} has no single memory block')
    _target(pointer).value = array.to_torch().data_ptr()


@_function
def MXNDArrayWaitToRead(handle):
    """Waits until an array is computed."""
    _array(handle).wait_to_read()


@_function
def MXNDArrayWaitToWrite(handle):
    """Waits until an array may be written to."""
    _array(handle).wait_to_read()


@_function
def MXNDArrayWaitAll():
    """Waits until all arrays are computed."""
    _interop.waitall()


@_function
def MXNDArrayFree(handle):
    """Does nothing: Python objects own the arrays."""


@_function
def MXNDArraySyncCheckFormat(handle, full_check):
    """Checks the indices of a sparse array."""
    array = _array(handle)
    if array.stype != 'default':
        array.check_format(bool(_number(full_check)))


@_function
def MXGetVersion(version):
    """The version as one number, 10902 for 1.9.2."""
    major, minor, patch = (int(part) for part in libinfo.__version__.split('.')[:3])
    _target(version).value = major * 10000 + minor * 100 + patch


@_function
def MXGetGPUCount(count):
    """How many GPUs there are."""
    _target(count).value = num_gpus()


@_function
def MXRandomSeed(seed):
    """`mx.random.seed`."""
    generators.seed(_number(seed))


@_function
def MXEngineSetBulkSize(size, previous):
    """`mx.engine.set_bulk_size`."""
    _target(previous).value = engine.set_bulk_size(_number(size))


@_function
def MXListAllOpNames(count, names):
    """Names of all operators."""
    texts = [ctypes.create_string_buffer(name.encode()) for name in sorted(NAMES)]
    _last.names = texts
    _target(count).value = len(texts)
    _answer(names, [ctypes.addressof(text) for text in texts], ctypes.c_void_p)


@_function
def MXNotifyShutdown():
    """Does nothing: there are no threads of a C library to stop."""
