"""The storage under every array, and how its tensor is read and written.

Two rules keep torch's grad mode out of it.  Outside `autograd.record()` an operator reads tensors without history, or
drops the history of what it computed; inside, it reads an attached variable's `leaf`, an alias of the same memory that
requires a gradient and that nothing else sees.
"""
from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from weakref import ref

import torch

from ._ops.core.dtypes import NAME
from ._paused_writes import before_paused_write
from ._state import state
from ._torch.memory import storage_id
from .base import MXNetError
from .context import Context

Array = TypeVar('Array', bound='NDArrayBase')
_new: Any = object.__new__
_new_tuple = tuple.__new__

INPLACE = ('{what} writes into an array that autograd has recorded or that has a gradient attached, while recording. '
           'Compute a new array instead (y = y + 1), or write outside of `with autograd.record():` '
           'or inside `with autograd.pause():`.')


class Meta(NamedTuple):
    """What is known of an array without its values."""

    shape: torch.Size
    dtype: torch.dtype
    context: Context

    @property
    def device(self) -> torch.device:
        return self.context.torch_device


class NDArrayBase:
    """The storage of every dense array: a tensor, the context it is said to be on, and its gradient variable.

    `meta()` and `materialize()` are how code reads an array, `_rebind()` gives it another tensor.  Only a few modules
    of the engine read the slots themselves (tests/repo/test_repo_storage.py has the list).

    `_storage` is the tensor, which may carry torch's history if it was made while recording.  It is None for a pending
    array (see _lazy/): `_pending` says what computes it.  `_variable` (see autograd.py) is what `attach_grad` made, or
    None.
    """

    __slots__ = ('_storage', '_ctx', '_variable', '_pending', '__weakref__')
    _storage: Any
    _ctx: Any
    _variable: Any
    _pending: Any
    _dense: Any                   # the class of dense arrays with the same interface: `nd.NDArray` or `np.ndarray`
    _sparse: bool = False         # whether `materialize` gives a dense copy, so that what is written into it is lost

    if TYPE_CHECKING:           # what modules below `ndarray` use of the class there
        @property
        def shape(self) -> tuple[int, ...]: ...
        @property
        def ndim(self) -> int: ...
        @property
        def dtype(self) -> Any: ...
        @property
        def stype(self) -> str: ...
        def as_in_context(self, *args: Any, **kwargs: Any) -> Any: ...
        def as_in_ctx(self, *args: Any, **kwargs: Any) -> Any: ...
        def asnumpy(self, *args: Any, **kwargs: Any) -> Any: ...
        def asscalar(self, *args: Any, **kwargs: Any) -> Any: ...
        def astype(self, *args: Any, **kwargs: Any) -> Any: ...
        def detach(self, *args: Any, **kwargs: Any) -> Any: ...
        def item(self, *args: Any, **kwargs: Any) -> Any: ...
        def __lt__(self, other: Any) -> Any: ...
        def __gt__(self, other: Any) -> Any: ...

    def meta(self) -> Meta:
        """Shape, dtype (torch's) and context of the array.  It never computes anything.

        >>> mx.nd.ones((2, 3)).meta().shape
        torch.Size([2, 3])
        """
        tensor = self._storage
        if tensor is None:
            pending = self._pending
            tensor = None if pending is None else pending.work.meta_of(pending)
            if tensor is None:              # another thread has computed it in the meantime; or says why it could not
                tensor = self.materialize()
        return _new_tuple(Meta, (tensor.shape, tensor.dtype, self._ctx))       # `Meta(...)` takes three times as long

    def materialize(self, borrow: bool = False) -> torch.Tensor:
        """The tensor of the array, computed if it is pending.  Programs must not write into it.

        borrow: the tensor is read before anything else runs, so that one in the memory of a CUDA graph need not be
            copied

        >>> mx.nd.ones((2,)).materialize()
        tensor([1., 1.])
        """
        tensor = self._storage
        if tensor is None:
            pending = self._pending
            if pending is not None:
                if borrow:
                    return pending.work.borrow(self)
                pending.work.run()
            tensor = self._storage
        return tensor

    def _rebind(self, tensor: torch.Tensor) -> None:
        """Gives the array another tensor.  Its memory is not written: `_array.write` and `overwrite` do that."""
        # in this order: another thread may read the array at any time
        self._storage = tensor
        self._pending = None


def wrap(tensor: torch.Tensor | None, ctx: Any, cls: type[Array]) -> Array:
    array = _new(cls)
    array._storage = tensor
    array._ctx = ctx
    array._variable = None
    array._pending = None
    return array


def owned(result: torch.Tensor, tensors: Iterable[Any]) -> torch.Tensor:
    """The result in memory of its own and in row-major order, as every array of ours is.

    torch answers a transpose or a slice with a view of its input, and identities with the input itself; upstream's
    operators never do, and programs write into what they got.
    """
    base = result._base
    if base is None:
        for t in tensors:
            if t is result:
                return result.clone()
    else:
        for t in tensors:
            if t is not None and (t is base or t._base is base):
                return result.clone(memory_format=torch.contiguous_format)
    return result if result.is_contiguous() else result.contiguous()


def owned_apart(results: Sequence[torch.Tensor], tensors: Sequence[Any],
                but: Container[int] = ()) -> list[torch.Tensor]:
    """`owned`, for results that share no memory with each other either: one may be another, or a view of it.

    but: numbers of results that stay as they are
    """
    if len(results) == 1:
        return [owned(results[0], tensors)]
    found: list[torch.Tensor] = []
    taken: set[int] = set()
    for number, result in enumerate(results):
        if number not in but:
            result = owned(result, tensors)
            memory = storage_id(result.untyped_storage())
            if memory in taken:
                result = result.clone(memory_format=torch.contiguous_format)
            else:
                taken.add(memory)
        found.append(result)
    return found


def readable(array: NDArrayBase) -> torch.Tensor:
    """The tensor that an operator reads: with history while recording, else without."""
    if state.recording:
        variable = array._variable
        if variable is not None:
            return variable.leaf
    tensor = array._storage
    if tensor is None:
        tensor = array.materialize()
    if state.recording:
        return tensor
    return tensor.detach() if tensor.requires_grad else tensor


# ---------------------------------------------------------------------- to a GPU
SMALLEST_STAGED = 1 << 16       # bytes; so few are taken over by CUDA before the call returns, without waiting
LARGEST_STAGED = 1 << 25        # for more, memory is not pinned just to copy it once
copies: list = []               # events: copies from memory of pinned arrays that may be under way
readers: dict = {}              # {id: weak reference} of deferred work that reads memory as it is now: see _lazy/


def send(tensor: torch.Tensor, target: torch.Tensor | torch.device) -> torch.Tensor:
    """Copies a CPU tensor to a GPU: to a device, which gives a new tensor, or into a tensor there.  Neither side waits.

    Programs may write into their arrays at once.  What is not in pinned memory is copied there first, and torch keeps
    that until the GPU has read it; a write into a pinned array waits (`settle`).
    """
    pinned = tensor.is_pinned()
    if not pinned:
        size = tensor.numel() * tensor.element_size()
        if tensor.requires_grad or size > LARGEST_STAGED:
            return target.copy_(tensor) if isinstance(target, torch.Tensor) else tensor.to(target)
        if size > SMALLEST_STAGED:
            tensor = tensor.pin_memory()
    if isinstance(target, torch.Tensor):
        result = target.copy_(tensor, non_blocking=True)
    else:
        result = tensor.to(target, non_blocking=True)
    if pinned:
        event = torch.cuda.Event()
        event.record(torch.cuda.current_stream(result.device))
        copies[:] = [e for e in copies if not e.query()]
        copies.append(event)
    return result


def settle(array: NDArrayBase) -> None:
    """Waits until no GPU reads from an array that is about to be written."""
    if array._ctx.device_typeid == 3:           # pinned
        for event in list(copies):
            event.synchronize()
        copies.clear()


def run_readers(memories: Iterable[int]) -> None:
    """Runs deferred work that reads pieces of memory, given by where they begin."""
    for work in [made() for made in list(readers.values())]:
        if work is not None and work.reads(memories):
            work.run()


def before_write(*tensors: torch.Tensor) -> None:
    """Called before tensors are written in place: deferred work that reads their memory runs first.

    Inside a pause of a recording, their versions are noted (_paused_writes.py).
    """
    if readers:
        run_readers({t.untyped_storage().data_ptr() for t in tensors})
    if state.writes is not None:
        for tensor in tensors:
            before_paused_write(state.writes, tensor)


def writable(array: NDArrayBase, what: str = 'This') -> torch.Tensor:
    """The tensor that something writes into in place."""
    if copies:
        settle(array)
    if array._sparse:
        raise MXNetError(f"{what} writes into the memory of a {array.stype} array, which has none for zeros; "
                         "use x[:] = ..., or a dense array: tostype('default')")
    tensor = array._storage
    if tensor is None:
        tensor = array.materialize()
    if readers or state.writes is not None:
        before_write(tensor)
    if state.recording:
        if array._variable is not None or tensor.requires_grad:
            raise MXNetError(INPLACE.format(what=what))
        return tensor
    return tensor.detach() if tensor.requires_grad else tensor


def write(array: Any, value: Any, what: str) -> None:
    """Copies a tensor into an array."""
    if array._sparse:
        array._write(value, what)
    else:
        tensor = writable(array, what)
        copy(tensor, value if state.recording else value.detach())
        if tensor.requires_grad and hasattr(value, '_provenance'):
            # the same value, so the same provenance
            what, attributes, sources, number, outputs, moves = value._provenance
            tensor._provenance = what, attributes, sources, number, (  # type: ignore[attr-defined]
                *outputs, ref(tensor)), moves


def overwrite(array: Any, value: torch.Tensor) -> None:
    """Copies a tensor into an array, whatever autograd knows of it."""
    if array._sparse:
        array._overwrite(value.detach())
    else:
        if copies:
            settle(array)
        if readers or state.writes is not None:
            before_write(array.materialize())
        copy(array.materialize().detach(), value.detach())


def fill_ones(arrays: Iterable[NDArrayBase]) -> None:
    """Writes ones into arrays that an operator does not read, whatever autograd knows of them."""
    for array in arrays:
        array.materialize().data.fill_(1)         # `data`: nothing that was computed depends on them


def apart(value: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """A value that is to be stored in a tensor: a copy, if the store could overwrite it while it is read."""
    return value.clone() if value.untyped_storage().data_ptr() == target.untyped_storage().data_ptr() else value


def copy(target: torch.Tensor, value: torch.Tensor) -> None:
    """Copies a tensor into another; to a GPU without waiting for it."""
    value = apart(value, target)
    if target.is_cuda and value.device.type == 'cpu' and not value.requires_grad and not target.requires_grad:
        send(value, target)
    else:
        target.copy_(value)


def describe(array: NDArrayBase | None) -> str:
    if array is None:
        return 'None'
    shape, dtype, ctx = array.meta()
    return f'{NAME[dtype]}{tuple(shape)}@{ctx}'
