"""Data sets in worker processes: arrays that they hold on a GPU are copied to the CPU before the workers start.

A process that was forked cannot use CUDA, and one that was spawned would take memory of the GPU for itself.  What a
worker makes is on the CPU in any case.
"""
import functools
import io
import pickle
import types
from typing import Any

import numpy
import torch

from ..._array import NDArrayBase
from ...context import Context, cpu

_LOOKED_AT = 4              # items of a list; those of a data set are alike
_DEEPEST = 6
# what is handed over as it is; functions are not looked into
_SHARED = (NDArrayBase, torch.Tensor, numpy.ndarray, numpy.generic, type, types.ModuleType, types.FunctionType,
           types.BuiltinFunctionType)


def on_cpu(value: Any) -> Any:
    """An object without the GPU arrays and contexts that it holds, or the object itself if it holds none.

    What cannot be copied, such as an open file, stays; then a worker raises the error.
    """
    if not torch.cuda.is_initialized() or not _holds(value, _DEEPEST):
        return value
    memory, pickler = io.BytesIO(), None
    try:
        pickler = _Pickler(memory)
        pickler.dump(value)
        return _Unpickler(io.BytesIO(memory.getvalue()), pickler.kept).load()
    except (pickle.PicklingError, TypeError, AttributeError):
        return value


def _is_on_gpu(value):
    if isinstance(value, Context):
        return value.device_typeid == 2 and value.torch_device.type == 'cuda'
    if isinstance(value, NDArrayBase):
        return _is_on_gpu(value._ctx)
    return isinstance(value, torch.Tensor) and value.is_cuda


def _holds(value, depth):
    """Whether there is something of a GPU in an object, its attributes or the first items of its lists."""
    if _is_on_gpu(value):
        return True
    if not depth or isinstance(value, (str, bytes, int, float, *_SHARED)):
        return False
    inside = list(vars(value).values()) if hasattr(value, '__dict__') else []
    if isinstance(value, functools.partial):
        inside += [value.func, *value.args]
    elif isinstance(value, types.MethodType):
        inside.append(value.__self__)
    elif isinstance(value, dict):
        inside += list(value.values())[:_LOOKED_AT]
    elif isinstance(value, (list, tuple)):
        inside += value[:_LOOKED_AT]
    return any(_holds(v, depth - 1) for v in inside)


class _Pickler(pickle.Pickler):
    """Keeps everything large as it is, but for what is on a GPU."""

    def __init__(self, file):
        super().__init__(file)
        self.kept: list[Any] = []

    def persistent_id(self, obj):
        if _is_on_gpu(obj):
            obj = cpu() if isinstance(obj, Context) else obj.cpu() if isinstance(obj, torch.Tensor) else \
                obj.as_in_context(cpu())
        elif not isinstance(obj, _SHARED):
            return None
        self.kept.append(obj)
        return len(self.kept) - 1


class _Unpickler(pickle.Unpickler):
    def __init__(self, file, kept):
        super().__init__(file)
        self._kept = kept

    def persistent_load(self, pid):
        return self._kept[pid]
