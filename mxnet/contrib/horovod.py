"""Horovod's names, for programs that had `import horovod.mxnet as hvd`: write `import mxnet.contrib.horovod as hvd`.

Workers are those of `mx.kv.create('horovod')`; start them with `remx launch` or torchrun.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch

from .._array import NDArrayBase, overwrite, wrap
from .._dist.world import world
from .._names import kind_of
from ..gluon import ParameterDict, Trainer
from ..kvstore.base import create
from ..optimizer import Optimizer

if TYPE_CHECKING:
    from ..ndarray import NDArray

__all__ = ['DistributedOptimizer', 'DistributedTrainer', 'allgather', 'allreduce', 'allreduce_', 'broadcast',
           'broadcast_', 'broadcast_parameters', 'init', 'is_initialized', 'local_rank', 'local_size', 'rank',
           'shutdown', 'size']


def init() -> None:
    """Joins the job; the other functions do so as well."""
    world()


def is_initialized() -> bool:
    """True: the job is joined when it is first asked for anything."""
    return True


def shutdown() -> None:
    """For programs that call it; workers leave their job when they end."""


def rank() -> Any:
    """The number of this worker."""
    return world().rank


def size() -> Any:
    """How many workers there are."""
    return world().size


def local_rank() -> Any:
    """The number of this worker on its machine, which is the number of the GPU to use."""
    return world().local_rank


def local_size() -> Any:
    """How many workers there are on this machine."""
    return world().local_size


def allreduce_(tensor: NDArray, average: bool = True, name: str | None = None, priority: int = 0,
               prescale_factor: float = 1.0, postscale_factor: float = 1.0) -> Any:
    """The mean (or sum) over all workers, into the array itself."""
    total = tensor.materialize().detach().clone(memory_format=torch.contiguous_format)
    if prescale_factor != 1:
        total *= prescale_factor
    world().wait(world().sum(total, f'allreduce of {name or "an array"}'))
    scale = postscale_factor / (size() if average else 1)
    if scale != 1:
        total = (total * scale).to(total.dtype)
    overwrite(tensor, total)
    return tensor


def allreduce(tensor: NDArray, average: bool = True, name: str | None = None, priority: int = 0,
              prescale_factor: float = 1.0, postscale_factor: float = 1.0) -> Any:
    """The mean (or sum) over all workers, as a new array."""
    return allreduce_(tensor.copy(), average, name, priority, prescale_factor, postscale_factor)


def broadcast_(tensor: NDArray, root_rank: int, name: str | None = None, priority: int = 0) -> Any:
    """Worker `root_rank`'s values, into the array itself."""
    value = tensor.materialize().detach().clone(memory_format=torch.contiguous_format)
    world().wait(world().copy(value, f'broadcast of {name or "an array"}', root_rank))
    overwrite(tensor, value)
    return tensor


def broadcast(tensor: NDArray, root_rank: int, name: str | None = None, priority: int = 0) -> Any:
    """Worker `root_rank`'s values, as a new array."""
    return broadcast_(tensor.copy(), root_rank, name, priority)


def allgather(tensor: NDArray, name: str | None = None, priority: int = 0) -> Any:
    """The arrays of all workers one below the other; they may differ in their first length."""
    what = f'allgather of {name or "an array"}'
    value = tensor.materialize().detach()
    lengths, work = world().gather(torch.tensor([value.shape[0]]), what)
    world().wait(work)
    padded = value.new_zeros(max(int(n) for n in lengths), *value.shape[1:])
    padded[:value.shape[0]] = value
    parts, work = world().gather(padded, what)
    world().wait(work)
    joined = torch.cat([part[:int(n)].to(value.device) for part, n in zip(parts, lengths, strict=True)])
    return wrap(joined, tensor.context, type(tensor))


def broadcast_parameters(params: Any, root_rank: int = 0, prefix: str | None = None) -> None:
    """Gives all workers the parameters of one: a ParameterDict, or {name: array} as Module has them.

    Parameters of unknown shape are broadcast once a first batch has shown it: call it again then.
    """
    if isinstance(params, ParameterDict):
        arrays = [(name, array) for name, parameter in sorted(params.items()) if parameter._data is not None
                  for array in parameter.list_data()]
    elif isinstance(params, dict) and all(isinstance(value, NDArrayBase) for value in params.values()):
        arrays = sorted(params.items())
    else:
        raise ValueError('broadcast_parameters takes a ParameterDict or a dict of NDArrays, not '
                         f'{kind_of(params)}')
    for name, array in arrays:
        broadcast_(array, root_rank, f'{prefix or ""}{name}')


class DistributedTrainer(Trainer):
    """A Trainer whose gradients are the mean over all workers.

    >>> import mxnet.contrib.horovod as hvd
    >>> net = mx.gluon.nn.Dense(1, in_units=2)
    >>> net.initialize()
    >>> hvd.broadcast_parameters(net.collect_params())
    >>> trainer = hvd.DistributedTrainer(net.collect_params(), 'sgd', {'learning_rate': 0.1})
    """

    def __init__(self, params: Any, optimizer: Optimizer | str,
                 optimizer_params: Mapping[str, Any] | Sequence[tuple[str, Any]] | None = None) -> None:
        super().__init__(params, optimizer, optimizer_params, kvstore=create('horovod'), update_on_kvstore=False)
        self._scale /= size()


class DistributedOptimizer(Optimizer):
    """An optimizer, for Module, that takes the mean of each gradient over all workers first."""

    def __init__(self, optimizer: Optimizer | str) -> None:
        object.__setattr__(self, '_optimizer', optimizer)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._optimizer, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._optimizer, name, value)

    learning_rate: Any = property(lambda self: self._optimizer.learning_rate)

    def create_state(self, index: Any, weight: NDArray) -> Any:
        """The state of a weight, as the optimizer makes it."""
        return self._optimizer.create_state(index, weight)

    def create_state_multi_precision(self, index: Any, weight: NDArray) -> Any:
        """The state of a weight, with a float32 copy where the optimizer keeps one."""
        return self._optimizer.create_state_multi_precision(index, weight)

    def update(self, index: Any, weight: NDArray, grad: NDArray, state: Any) -> None:
        """Updates a weight, or a list of them."""
        _take_means(index, grad)
        self._optimizer.update(index, weight, grad, state)

    def update_multi_precision(self, index: Any, weight: NDArray, grad: NDArray, state: Any) -> None:
        """Updates a weight, or a list of them, by its float32 copy where there is one."""
        _take_means(index, grad)
        self._optimizer.update_multi_precision(index, weight, grad, state)

    def set_learning_rate(self, lr: float) -> None:
        """Sets the learning rate."""
        self._optimizer.set_learning_rate(lr)

    def set_lr_mult(self, args_lr_mult: Mapping[str, float]) -> None:
        """Sets factors of the learning rate."""
        self._optimizer.set_lr_mult(args_lr_mult)

    def set_wd_mult(self, args_wd_mult: Mapping[str, float]) -> None:
        """Sets factors of the weight decay."""
        self._optimizer.set_wd_mult(args_wd_mult)


def _take_means(index, grad):
    for i, g in zip(index, grad, strict=True) if isinstance(grad, (list, tuple)) else [(index, grad)]:
        allreduce_(g, name=f'gradient {i}')
