"""Arrays from and to NumPy, torch and DLPack, and copies between devices."""
from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import numpy
import torch
import torch.utils.dlpack

from .._array import NDArrayBase, send, wrap, writable
from .._dispatch import entering, interceptors
from .._hooks import hooks
from .._names import kind_of
from .._ops.core import checks
from .._ops.core.dtypes import BFLOAT16, torch_dtype
from ..base import MXNetError, NDArrayHandle
from ..context import Context, cpu, cpu_pinned, gpu

if TYPE_CHECKING:
    from ..ndarray import NDArray


def context_of(tensor: torch.Tensor) -> Context:
    """The context that a torch tensor's memory belongs to."""
    if tensor.device.type in ('cuda', 'mps'):
        return gpu(tensor.device.index or 0)
    if tensor.device.type != 'cpu':
        raise MXNetError(f'there is no context for a tensor on {tensor.device}')
    return cpu_pinned() if torch.cuda.is_available() and tensor.is_pinned() else cpu()


def context_on(device: Any) -> Context:
    """The plain context of a torch device."""
    return gpu(device.index or 0) if device.type in ('cuda', 'mps') else cpu()


def compact(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor, or an error where its memory is not in row-major order."""
    if not tensor.is_contiguous():
        raise MXNetError(f'a tensor of shape {tuple(tensor.shape)} and strides {tensor.stride()} cannot be shared, '
                         'since arrays are row-major; make it so with .contiguous()')
    return tensor


def allocate(tensor: torch.Tensor, ctx: Context) -> torch.Tensor:
    """A tensor's values in new memory of a context; the tensor itself where it may be kept."""
    device = ctx.torch_device
    if device.type == 'cuda':
        return send(tensor, device) if tensor.device.type == 'cpu' else tensor.to(device)
    if device.type == 'mps':
        return tensor.to(device)
    if ctx.device_typeid == 3 and torch.cuda.is_available():
        return tensor.pin_memory()
    if ctx.device_typeid == 5:
        return tensor.share_memory_()
    return tensor


def move(tensor: torch.Tensor, ctx: Context) -> torch.Tensor:
    """A copy of a tensor on a context.  To a GPU the copy does not wait."""
    device = ctx.torch_device
    if device != tensor.device:
        if tensor.device.type == 'cpu' and device.type == 'cuda':
            return send(tensor, device)
        if ctx.device_typeid == 3 and tensor.is_cuda and not tensor.requires_grad:
            return torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True).copy_(tensor)
        moved = tensor.to(device)
        if device.type == 'cpu' and checks.records:
            checks.look()
        return moved
    if ctx.device_typeid == 3 and torch.cuda.is_available() and not tensor.is_pinned():
        return tensor.pin_memory()          # which is a copy
    return allocate(tensor.clone(), ctx)


def constant(value: Any, like: torch.Tensor) -> torch.Tensor | float:
    """What a program assigns (NumPy arrays, lists, NumPy numbers) as a tensor of another's dtype and device."""
    if isinstance(value, torch.Tensor):
        return fitted(value.detach(), like)
    if isinstance(value, numpy.generic):
        return value.item()
    try:
        values = numbers_of(value)
    except (TypeError, ValueError):
        raise TypeError(f'cannot store a {type(value).__name__} in an array; '
                        'numbers, arrays and nested lists of numbers can be') from None
    return fitted(tensor_of(values), like)


def fitted(tensor: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """A tensor's values in another's dtype and on its device."""
    if like.is_cuda and tensor.device.type == 'cpu' and not tensor.requires_grad:
        return send(tensor.to(like.dtype), like.device)
    return tensor.to(like.device, like.dtype)


def tensor_of(values: numpy.ndarray) -> torch.Tensor:
    """A NumPy array as a tensor that shares its memory, or a copy where torch cannot."""
    if values.dtype == BFLOAT16:
        return torch.from_numpy(numpy.ascontiguousarray(values).view(numpy.uint16).view(numpy.int16).copy()
                                ).view(torch.bfloat16)
    values = values if values.dtype.isnative else values.astype(values.dtype.newbyteorder('='))
    if not values.flags.c_contiguous or not values.flags.writeable:
        # torch accepts neither negative strides nor read-only memory
        values = numpy.array(values, order='C')
    return shared(values)


def shared(values: numpy.ndarray) -> Any:
    """A C-contiguous, writable NumPy array as a tensor on the same memory.

    NumPy's contiguity flag ignores the strides of axes of length 1, and of all axes of an array without elements.
    Such a stride can be negative (`x[::-1]`) or no multiple of the item size (a field of a structured array), which
    torch refuses.
    """
    try:
        return torch.from_numpy(values)
    except ValueError:
        return torch.from_numpy(numpy.ndarray(values.shape, values.dtype, buffer=values))


def numbers_of(values: Any) -> Any:
    """Nested lists as a NumPy array of numbers; texts of numbers, as files have them, are numbers too.

    ValueError or TypeError if they are something else.
    """
    found = numpy.asarray(values)
    if found.dtype.kind in 'biuf' or found.dtype == BFLOAT16:
        return found
    if found.dtype.kind in 'US':
        try:
            return found.astype(numpy.int64)        # exactly
        except (ValueError, OverflowError):
            return found.astype(numpy.float64)
    if found.dtype.kind != 'O' or any(numpy.ndim(v) for v in found.flat):
        raise TypeError
    return found.astype(numpy.float64)


def has_none(values: Any) -> bool:
    """Whether nested lists hold None."""
    found = numpy.asarray(values)
    return found.dtype.kind == 'O' and any(v is None for v in found.flat)


def synchronize(device: Any) -> None:
    """Waits for a device; while another thread records a graph, it cannot be waited for."""
    if device.type == 'cuda':
        from .._graph.cuda.capture import recording
        with recording:
            torch.cuda.synchronize(device)
    elif device.type == 'mps':
        torch.mps.synchronize()
    if checks.records:
        checks.look()


def item(tensor: torch.Tensor) -> Any:
    """The only element as a Python number; an error that the computation has noted is raised."""
    value = tensor.item()
    if checks.records:
        checks.look()
    return value


def waitall() -> None:
    """Waits until everything that was started is computed."""
    if interceptors and (scope := entering('waitall')) is not None:
        with scope:
            return waitall()
    if torch.cuda.is_initialized():
        for i in range(torch.cuda.device_count()):
            synchronize(torch.device('cuda', i))
    elif torch.backends.mps.is_available():
        torch.mps.synchronize()
    if checks.records:
        checks.look()


# ---------------------------------------------------------------------- NumPy
def from_numpy(ndarray: Any, zero_copy: bool = True, array_cls: Any = None) -> NDArray:
    """An array on the CPU from a NumPy array.

    With `zero_copy` both share memory, and the NumPy array becomes read-only, so that it cannot change behind our
    back.
    """
    if array_cls is None:
        array_cls = hooks.NDArray
    if not isinstance(ndarray, numpy.ndarray):
        raise TypeError(f'from_numpy takes a numpy.ndarray, not {kind_of(ndarray)}')
    torch_dtype(ndarray.dtype)
    if not zero_copy:
        return wrap(tensor_of(numpy.array(ndarray, order='C')), cpu(), array_cls)
    if not ndarray.dtype.isnative:
        raise ValueError(f'from_numpy: a NumPy array of dtype {ndarray.dtype.str} has the wrong byte order '
                         'and cannot be shared; pass zero_copy=False to copy it')
    if not ndarray.flags.c_contiguous:
        raise ValueError('from_numpy: only a C-contiguous NumPy array can be shared; pass zero_copy=False to copy it')
    if not ndarray.flags.writeable:
        try:
            ndarray.flags.writeable = True      # the memory is, if it was shared before
        except ValueError:
            raise ValueError('from_numpy: a NumPy array on read-only memory cannot be shared; pass zero_copy=False to '
                             'copy it') from None
    tensor = shared(ndarray)
    ndarray.flags.writeable = False
    return wrap(tensor, cpu(), array_cls)


# ---------------------------------------------------------------------- torch
def from_torch(tensor: torch.Tensor) -> NDArray:
    """An array that shares a torch tensor's memory."""
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f'from_torch takes a torch.Tensor, not {kind_of(tensor)}')
    return wrap(compact(tensor.detach()), context_of(tensor), hooks.NDArray)


def to_torch(array: NDArray) -> torch.Tensor:
    """A torch tensor that shares an array's memory."""
    return array.to_torch()


# ---------------------------------------------------------------------- handles
_handles: weakref.WeakValueDictionary = weakref.WeakValueDictionary()


def handle_of(array: NDArray) -> Any:
    """A handle from which `array_of` finds the array again, as long as that is there."""
    _handles[id(array)] = array
    return NDArrayHandle(id(array))


def array_of(handle: Any) -> NDArray:
    """The array that a handle was made of."""
    array = _handles.get(handle.value)
    if array is None:
        raise MXNetError('this handle is not that of an array, or the array was freed')
    return array


# ---------------------------------------------------------------------- DLPack
def from_dlpack(dlpack: Any) -> NDArray:
    """An array that shares the memory of a DLPack capsule, or of an object that speaks DLPack."""
    if isinstance(dlpack, numpy.ndarray) and any(s < 0 for s in dlpack.strides):
        # torch ends the process when it is given a negative stride
        if not dlpack.flags.c_contiguous:
            raise MXNetError(f'from_dlpack: a NumPy array with strides {dlpack.strides} cannot be shared; copy it')
        dlpack = numpy.ndarray(dlpack.shape, dlpack.dtype, buffer=dlpack)
    if not hasattr(dlpack, '__dlpack__') and type(dlpack).__name__ != 'PyCapsule':
        raise AssertionError('from_dlpack takes a DLPack capsule or an object with __dlpack__, such as an array of '
                             f'another library, not {kind_of(dlpack)}')
    try:
        tensor = torch.from_dlpack(dlpack)
    except RuntimeError as error:
        if 'consumed only once' not in str(error):
            raise
        raise AssertionError('from_dlpack: the capsule is not one of DLPack, or an array was made of it before; a '
                             'capsule can be used once') from None
    return wrap(compact(tensor), context_of(tensor), hooks.NDArray)


def to_dlpack_for_read(data: Any) -> Any:
    """A DLPack capsule of an array, for a library that only reads."""
    if not isinstance(data, NDArrayBase):
        raise TypeError(f'to_dlpack_for_read takes an array, not {kind_of(data)}')
    return torch.utils.dlpack.to_dlpack(data.materialize().detach())


def to_dlpack_for_write(data: Any) -> Any:
    """A DLPack capsule of an array, for a library that also writes."""
    if not isinstance(data, NDArrayBase):
        raise TypeError(f'to_dlpack_for_write takes an array, not {kind_of(data)}')
    return torch.utils.dlpack.to_dlpack(writable(data, 'to_dlpack_for_write').detach())
