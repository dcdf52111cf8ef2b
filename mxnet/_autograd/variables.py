"""Gradient variables: what `attach_grad` makes of an array, and how a gradient gets into its buffer."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from sys import getrefcount
from typing import TYPE_CHECKING, Any

import torch

from .._array import NDArrayBase, before_write, overwrite, readers, wrap
from .._guard import invalidations
from .._names import not_an_array
from .._ops.core.integer_gradients import DifferentiableInteger
from .._state import state
from .._torch.memory import ALONE, users_of
from ..base import MXNetError

if TYPE_CHECKING:
    from ..ndarray import NDArray


class Variable:
    """What `attach_grad` makes of an array."""

    leaf: Any

    __slots__ = ('leaf', 'buffer', 'req', 'fresh')

    def __init__(self, tensor: torch.Tensor, buffer: Any, req: str) -> None:
        if req not in ('write', 'add', 'null'):
            raise MXNetError(f"grad_req must be 'write', 'add' or 'null', not {req!r}")
        self.buffer: Any
        self.buffer, self.req = buffer, req
        self.fresh: Any = [False]          # has backward written the buffer since this was set to False
        leaf = self.leaf = tensor.detach()
        if req != 'null' and not tensor.dtype.is_floating_point:
            leaf = self.leaf = DifferentiableInteger.leaf(tensor)
            leaf._shadow.register_post_accumulate_grad_hook(_rounding_hook(buffer, req, self.fresh))
        elif req != 'null':
            leaf.requires_grad_()
            leaf.register_post_accumulate_grad_hook(_gradient_hook(buffer, req, self.fresh))
            if buffer._sparse:
                leaf._wants_rows = True  # type: ignore[attr-defined]  # operators that know only some rows of its gradient may send just these


def _gradient_hook(buffer: Any, req: str, fresh: list[bool]) -> Callable[[torch.Tensor], None]:
    """A hook that moves a gradient that torch has summed up into the buffer that the program sees.

    It holds no reference to the leaf that calls it: a cycle would keep large arrays until the garbage collector runs.
    """
    def hook(leaf: torch.Tensor) -> None:
        gradient, leaf.grad = leaf.grad, None
        if vars(leaf).pop('_unreached', False) and gradient is None:
            return                      # torch's graph leads here, the computation does not
        if gradient is None:            # reached only through operators without a gradient
            gradient = leaf.new_zeros(())
        commits = state.commits
        if commits is not None:         # as `_commit`
            commits.append((_store, buffer, req, fresh, gradient))
        else:
            _store(buffer, req, fresh, gradient)
    return hook


def _rounding_hook(buffer: Any, req: str, fresh: list[bool]) -> Callable[[torch.Tensor], None]:
    """The same for the shadow of integers: the gradient loses its fraction."""
    def hook(shadow: torch.Tensor) -> None:
        gradient, shadow.grad = shadow.grad, None
        if gradient is None:
            gradient = shadow.new_zeros(())
        _commit(_store, buffer, req, fresh, gradient.detach().to(buffer.meta().dtype))
    return hook


def _commit(write: Callable[..., None], *args: Any) -> None:
    """Calls `write` at the end of the backward pass of this thread, if that pass succeeds; outside of one, now."""
    commits = state.commits
    if commits is None:
        write(*args)
    else:
        commits.append((write, *args))


def written_later(buffer: Any, then: Callable[..., None], *args: Any) -> torch.Tensor | None:
    """For a hook that runs behind that of a variable: the gradient that was computed for its buffer, if it is written
    when the pass has succeeded; then `then` is called behind it.  None if it has been written.
    """
    commits = state.commits
    if not commits or commits[-1][0] is not _store or commits[-1][1] is not buffer:
        return None
    gradient = commits[-1][-1].detach()
    commits.append((then, *args))
    return gradient.to_dense() if gradient.layout is not torch.strided else gradient


def _store(buffer: Any, req: str, fresh: list[bool], gradient: torch.Tensor) -> None:
    """Writes a gradient into the buffer that the program sees."""
    fresh[0] = True
    if buffer._sparse:
        buffer._take_gradient(gradient.detach(), req)
        return
    if readers:
        before_write(buffer.materialize())
    if gradient.numel() >= LARGE and req == 'write' and gradient.layout is torch.strided and adopted(buffer, gradient):
        return
    target = buffer._storage
    if target is None:
        target = buffer.materialize()
    if gradient.layout is not torch.strided:            # only some rows, see ndarray/_sparse_links.py
        overwrite(buffer, gradient.to_dense() if req == 'write' else target + gradient)
    elif gradient.dim() < target.dim():         # a zero
        overwrite(buffer, gradient if req == 'write' else target + gradient)
    elif req == 'write':
        target.copy_(gradient.detach() if gradient.requires_grad else gradient)
    else:
        target.add_(gradient.detach() if gradient.requires_grad else gradient)


LARGE = 1 << 15          # elements from which on it pays to find out whether a gradient must be copied


def adopted(buffer: Any, gradient: torch.Tensor) -> bool:
    """Makes a gradient's memory the buffer's, if nothing else refers to either of them; else False: it must be copied.

    The memory of a GPU's buffer stays, for graphs of kernels know its address.
    """
    if gradient.requires_grad or gradient.device.type != 'cpu' or gradient.dtype is not buffer.meta().dtype or \
            gradient.shape != buffer.meta().shape or not gradient.is_contiguous():
        return False
    if not is_sole(buffer) or users_of(gradient) > ALONE:
        return False
    buffer._rebind(gradient)
    return True


def is_sole(array: NDArray) -> bool:
    """Whether nothing but an array refers to its tensor, or to the memory of that."""
    return _references(array) <= _SOLE and users_of(array.materialize()) <= ALONE


def _references(array: Any) -> int:
    """How many references there are to an array's tensor, this question's among them."""
    tensor = array.materialize()
    return getrefcount(tensor)


_SOLE = _references(wrap(torch.empty(0), None, NDArrayBase))


def mark_variables(variables: NDArray | Sequence[NDArray], gradients: NDArray | Sequence[NDArray],
                   grad_reqs: str | Sequence[str] = 'write') -> None:
    """Attaches gradient buffers to arrays; `attach_grad` does this for one."""
    arrays: Any = [variables] if isinstance(variables, NDArrayBase) else variables
    buffers: Any = [gradients] if isinstance(variables, NDArrayBase) else gradients
    if isinstance(grad_reqs, str):
        grad_reqs = [grad_reqs] * len(arrays)
    if not len(arrays) == len(buffers) == len(grad_reqs):
        raise MXNetError(f'{len(arrays)} variables, {len(buffers)} gradients and {len(grad_reqs)} grad_reqs given')
    for i, (array, buffer, req) in enumerate(zip(arrays, buffers, grad_reqs, strict=True)):
        if array.shape != buffer.shape:
            raise MXNetError(f'variable {i} has shape {array.shape}, but its gradient {buffer.shape}')
        if array._sparse:
            array._attach(buffer, req)
            continue
        tensor = array.materialize()
        if tensor.requires_grad:
            tensor = tensor.detach()
            array._rebind(tensor)
        array._variable = Variable(tensor, buffer, req)
        invalidations.count += 1              # here, since the next one may be a mistake


def _history(array: Any, what: str) -> Any:
    """The tensor through which an array is known to torch's engine."""
    if not isinstance(array, NDArrayBase):
        raise TypeError(not_an_array(what, array))
    tensor = array.materialize() if array._variable is None else array._variable.leaf
    return tensor._shadow if type(tensor) is DifferentiableInteger else tensor
