"""Devices: `mx.cpu()`, `mx.gpu(0)`, `with mx.gpu(1): ...`.

- A `Context` names a place; two names may share one memory (`cpu(0)` and `cpu(1)`).
- `gpu(n)` is torch's device `cuda:n` (CUDA and ROCm), or `mps` on a Mac with Apple silicon.
- With `MXNET_VIRTUAL_GPUS=4`, `gpu(0)` to `gpu(3)` share the GPUs of the machine, or CPU memory if it has none, so that
  programs for several devices can be tested on one.
"""
from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self, cast

from . import engine
from ._malloc import give_memory_back, keep_memory
from ._names import near
from ._names import suggest_names as _suggest_names
from ._state import state
from .base import MXNetError

if TYPE_CHECKING:
    import torch

__all__ = ['Context', 'cpu', 'cpu_pinned', 'cpu_shared', 'current_context', 'gpu', 'gpu_memory_info', 'num_gpus']

# set by `remx run`: the device of GPU contexts where there is no GPU, or where all are to be on the CPU
missing_gpu: Callable[[Context], Any] | None = None
without_gpus = False

_interned: dict[tuple[int, int], Context] = {}


def _number(device_id):
    try:
        found = int(device_id)
    except (TypeError, ValueError):
        raise TypeError(f'the number of a device must be an int, not {device_id!r}') from None
    if found != device_id and not isinstance(device_id, str):
        warnings.warn(f'{device_id!r} is not a device number: {found} is used, as in MXNet '
                      f'1.9.1', UserWarning, stacklevel=4)
    return found


class _ContextType(type):
    """Gives equal arguments the same object, so that comparing contexts is comparing identities."""

    devstr2type: Any

    def __call__(cls, device_type: str | Context, device_id: int = 0) -> Any:
        if isinstance(device_type, Context):
            return device_type
        if not isinstance(device_type, str) or device_type not in cls.devstr2type:
            raise MXNetError(f'unknown device type {device_type!r}{near(device_type, cls.devstr2type)}; there are '
                             f'{", ".join(cls.devstr2type)}')
        key = (cls.devstr2type[device_type], _number(device_id))
        found = _interned.get(key)
        if found is None:
            if key[1] < 0:
                warnings.warn(f'{device_type}({device_id}): the number of a device is 0 or more; MXNet 1.9.1 accepts '
                              'this number', UserWarning, stacklevel=3)
            # setdefault is atomic: two threads that meet here still end up with one object
            found = _interned.setdefault(key, super().__call__(device_type, device_id))
        return found

    @property
    def default_ctx(cls) -> Context:
        return current_context()

    @default_ctx.setter
    def default_ctx(cls, ctx: Context) -> None:
        state.context = ctx


class Context(metaclass=_ContextType):
    """A device: its type ('cpu', 'gpu', 'cpu_pinned', 'cpu_shared') and number.

    >>> with mx.Context('cpu', 1):
    ...     mx.nd.ones((2,)).context
    cpu(1)
    """

    devtype2str: dict[int, str] = {1: 'cpu', 2: 'gpu', 3: 'cpu_pinned', 5: 'cpu_shared'}
    devstr2type: dict[str, int] = {'cpu': 1, 'gpu': 2, 'cpu_pinned': 3, 'cpu_shared': 5}
    __slots__ = ('device_typeid', 'device_id', '_torch', '__weakref__')
    device_typeid: int
    device_id: int

    def __init__(self, device_type: str | Context, device_id: int = 0) -> None:
        self.device_typeid = self.devstr2type[cast(str, device_type)]
        self.device_id = int(device_id)
        self._torch: Any = None

    @property
    def device_type(self) -> str:
        return self.devtype2str[self.device_typeid]

    @property
    def torch_device(self) -> torch.device:
        """The `torch.device` that holds this context's memory."""
        if self._torch is None:
            self._torch = _find_device(self)
            if self._torch.type == 'cpu':
                keep_memory()
        return self._torch

    def __reduce__(self) -> Any:
        return Context, (self.device_type, self.device_id)

    def __setstate__(self, found: Any) -> None:
        # one that MXNet 1.9.1 has pickled
        self.device_typeid, self.device_id, self._torch = found['device_typeid'], found['device_id'], None

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __hash__(self) -> int:
        return hash((self.device_typeid, self.device_id))

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Context) and self.device_typeid == other.device_typeid
                                 and self.device_id == other.device_id)

    def __repr__(self) -> str:
        return f'{self.device_type}({self.device_id})'

    __str__ = __repr__

    def __enter__(self) -> Self:
        # the stack is the thread's, since the context object is everybody's
        state.__dict__.setdefault('outer_contexts', []).append(state.context)
        state.context = self
        return self

    def __exit__(self, *exc: Any) -> None:
        state.context = state.outer_contexts.pop()

    def empty_cache(self) -> None:
        """Gives memory that is held in reserve for arrays of this context back to the system."""
        if self.torch_device.type == 'cuda':
            import torch
            with torch.cuda.device(self.torch_device):
                torch.cuda.empty_cache()
        elif self.torch_device.type == 'mps':
            import torch
            torch.mps.empty_cache()
        else:
            give_memory_back()


_CPU = Context('cpu', 0)


def _virtual_gpus() -> int:
    text = os.environ.get('MXNET_VIRTUAL_GPUS', '0')
    try:
        return max(0, int(text))
    except ValueError:
        raise MXNetError(f'MXNET_VIRTUAL_GPUS must be a number, not {text!r}') from None


def _find_device(ctx):
    import torch
    if ctx.device_typeid != 2:
        return torch.device('cpu')
    engine._before_first_gpu_use()
    kind, real = _gpus()
    virtual = _virtual_gpus()
    if ctx.device_id < real and not virtual:
        return torch.device(kind, ctx.device_id)
    if ctx.device_id < virtual:
        return torch.device(kind, ctx.device_id % real) if real else torch.device('cpu')
    if missing_gpu is not None and not real and not virtual:
        return missing_gpu(ctx)
    found = f'{virtual} virtual GPUs' if virtual else f'{real} GPU{"s" * (real > 1)}' if real else 'no GPU'
    raise MXNetError(f'{ctx} is not available: this machine has {found} that torch {torch.__version__} can use. '
                     'Use mx.cpu(), or set MXNET_VIRTUAL_GPUS to test a program for several devices; `remx doctor` '
                     'shows the devices.')


def _gpus():
    """-> (torch's name for the kind of GPUs, how many there are)."""
    if without_gpus:
        return 'cuda', 0
    import torch
    count = torch.cuda.device_count()
    if not count and torch.backends.mps.is_available():
        return 'mps', 1
    return 'cuda', count


def cpu(device_id: int = 0) -> Context:
    """The CPU.  All numbers name the same memory, yet are distinct contexts."""
    return Context('cpu', device_id)


def cpu_pinned(device_id: int = 0) -> Context:
    """CPU memory that a GPU can copy from without waiting."""
    return Context('cpu_pinned', device_id)


def cpu_shared(device_id: int = 0) -> Context:
    """CPU memory that several processes can map."""
    return Context('cpu_shared', device_id)


def gpu(device_id: int = 0) -> Context:
    """GPU number `device_id`."""
    return Context('gpu', device_id)


def num_gpus() -> int:
    """How many GPUs there are (or are pretended: `MXNET_VIRTUAL_GPUS`)."""
    virtual = _virtual_gpus()
    if virtual:
        return virtual
    engine._before_first_gpu_use()
    return _gpus()[1]


def gpu_memory_info(device_id: int = 0) -> tuple[int, int]:
    """(free, total) bytes of GPU `device_id`."""
    device = gpu(device_id).torch_device
    if device.type == 'cpu':
        raise MXNetError(f'gpu({device_id}) is virtual and has no memory of its own')
    import torch
    if device.type == 'mps':            # memory that the GPU shares with the CPU
        total = torch.mps.recommended_max_memory()
        return max(0, total - torch.mps.driver_allocated_memory()), total
    return torch.cuda.mem_get_info(device)


def current_context() -> Context:
    """The context that arrays are made on when none is given."""
    return state.context or _CPU


def given_context(ctx: object) -> Context:
    """What a parameter `ctx` stands for: itself, or the current context if it is None."""
    if ctx is None:
        return state.context or _CPU
    if isinstance(ctx, Context):
        return ctx
    hint = ''
    if isinstance(ctx, int):
        hint = '; a shape with several axes is one tuple: (2, 3)'
    elif isinstance(ctx, str) and ctx.rstrip('0123456789') in ('float', 'int', 'uint', 'bool', 'bfloat'):
        hint = f'; pass a dtype by its name: dtype={ctx!r}'
    elif isinstance(ctx, str) and ctx in ('cpu', 'gpu', 'cuda'):
        hint = f'; did you mean mx.{ctx.replace("cuda", "gpu")}()?'
    elif callable(ctx):
        hint = '; call it: mx.gpu()' if getattr(ctx, '__name__', '') == 'gpu' else '; call it: mx.cpu()'
    raise TypeError(f'ctx must be a Context, such as mx.cpu() or mx.gpu(0), not {ctx!r}{hint}')


_suggest_names(globals())
