"""What every key-value store can do, and making one by name."""
from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal, overload

from .._names import kind_of, near
from ..ndarray import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .._typing import Keys, NestedArrays, Path
    from ..kvstore._workers import WorkersKVStore
    from ..kvstore.horovod import Horovod
    from ..kvstore.kvstore import KVStore
    from ..optimizer import Optimizer

__all__ = ['KVStoreBase', 'create']

# names of the store for several devices of one process
LOCAL = ('local', 'local_update_cpu', 'local_allreduce_cpu', 'device', 'local_allreduce_device', 'nccl')
# ... and for several processes
DIST = ('dist', 'dist_sync', 'dist_device_sync', 'dist_sync_device')
# ... with servers
ASYNC = ('dist_async', 'dist_device_async', 'dist_async_device')


class KVStoreBase:
    """The interface of stores that training goes through.

    One of your own has `broadcast` and `pushpull`, and is registered by its lower-case name:

    >>> @mx.kv.KVStoreBase.register
    ... class Lonely(mx.kv.KVStoreBase):
    ...     type, rank, num_workers = 'lonely', 0, 1
    >>> mx.kv.create('lonely').rank
    0
    """

    OPTIMIZER = 'optimizer'         # a capability: does the store update weights by itself
    kv_registry: dict[str, type] = {}

    def together(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The batches; those of `dist_sync` end when the first worker has no more."""
        return iter(batches)

    def broadcast(self, key: Keys, value: NestedArrays, out: Any, priority: int = 0) -> Any:
        """Gives everyone the value that the first worker has."""
        raise NotImplementedError(f'{type(self).__name__} has no broadcast')

    def pushpull(self, key: Keys, value: NestedArrays, out: Any = None, priority: int = 0) -> Any:
        """Adds up the values of all devices and workers, into `out` or into the values themselves."""
        raise NotImplementedError(f'{type(self).__name__} has no pushpull')

    def set_optimizer(self, optimizer: Optimizer) -> Any:
        """From then on, what is pushed are gradients, and the stored weights follow them."""
        raise NotImplementedError(f'{type(self).__name__} has no set_optimizer')

    def is_capable(self, capability: str) -> bool:
        """Whether the store can do something, such as `KVStoreBase.OPTIMIZER`."""
        raise NotImplementedError(f'{type(self).__name__} has no is_capable')

    def save_optimizer_states(self, fname: Path, dump_optimizer: bool = False) -> Any:
        """Writes the states of the optimizer, with `dump_optimizer` the optimizer too, to a file."""
        raise NotImplementedError(f'{type(self).__name__} has no save_optimizer_states')

    def load_optimizer_states(self, fname: Path) -> Any:
        """Reads what `save_optimizer_states` wrote."""
        raise NotImplementedError(f'{type(self).__name__} has no load_optimizer_states')

    @property
    def type(self) -> str:
        """The name of the kind of store."""
        raise NotImplementedError(f'{type(self).__name__} has no type')

    @property
    def rank(self) -> int:
        """The number of this worker, from 0 on."""
        raise NotImplementedError(f'{type(self).__name__} has no rank')

    @property
    def num_workers(self) -> int:
        """How many workers there are."""
        raise NotImplementedError(f'{type(self).__name__} has no num_workers')

    @staticmethod
    def register(klass: Any) -> Any:
        """A class decorator: the store can be made by its lower-case name from then on."""
        if not isinstance(klass, type):
            raise AssertionError(f'only a class can be registered as a KVStore, not {klass!r}')
        name = klass.__name__.lower()
        old = KVStoreBase.kv_registry.get(name)
        if old is not None:
            warnings.warn(f'KVStore {name!r} was {old.__module__}.{old.__name__} and is now '
                          f'{klass.__module__}.{klass.__name__}', UserWarning, stacklevel=2)
        KVStoreBase.kv_registry[name] = klass
        return klass


def listed(values: Any) -> Any:
    """A single array as a list of one."""
    return [values] if isinstance(values, NDArray) else list(values)


@KVStoreBase.register
class TestStore(KVStoreBase):
    """The least that a store needs: sums and copies, nothing is kept."""

    def broadcast(self, key: Keys, value: NestedArrays, out: Any, priority: int = 0) -> None:
        """Copies the value."""
        for target in listed(out):
            target[:] = value

    def pushpull(self, key: Keys, value: NestedArrays, out: Any = None, priority: int = 0) -> None:
        """Adds up a list of arrays; a single one goes to `out` as it is."""
        values = listed(value)
        total = values[0]
        for other in values[1:]:
            total = total + other.as_in_context(total.context)
        for target in values if out is None else listed(out):
            target[:] = total

    @staticmethod
    def is_capable(capability: str) -> bool:
        """It has no optimizer."""
        if capability.lower() != KVStoreBase.OPTIMIZER:
            raise ValueError(f'a KVStore may be capable of {KVStoreBase.OPTIMIZER!r}; {capability!r} is not known')
        return False

    type = property(lambda self: 'teststore', doc='teststore')
    rank = property(lambda self: 0, doc='0: there is one worker.')
    num_workers = property(lambda self: 1, doc='1')


def is_known(name: str) -> bool:
    """Whether there is a KVStore of this name."""
    name = name.lower()
    return name in LOCAL + DIST + ASYNC or name in KVStoreBase.kv_registry or name == 'horovod'


# name -> function of the name that makes the store; the package fills it in, since stores are built on this module
MAKERS: dict[str, Any] = {}


@overload
def create(name: Literal['local', 'device', 'nccl', 'local_update_cpu', 'local_allreduce_cpu',
                         'local_allreduce_device'] = 'local') -> KVStore: ...


@overload
def create(name: Literal['dist', 'dist_sync', 'dist_device_sync', 'dist_sync_device', 'dist_async']) -> WorkersKVStore:
    ...


@overload
def create(name: Literal['horovod']) -> Horovod: ...


@overload
def create(name: str) -> Any: ...


def create(name: str = 'local') -> Any:
    """A KVStore by its name.

    'local' adds up on the CPU, 'device' and 'nccl' on the devices that push.  'dist_sync' and 'dist_device_sync' add up
    over the processes of a job that `remx launch` or torchrun started; 'dist_async' has servers, Ray actors, that apply
    what each of them pushes as it arrives.  'horovod' has broadcast and pushpull only.  Names of registered classes
    work as well.

    >>> kv = mx.kv.create('local')
    >>> kv.init('w', mx.nd.zeros((2,)))
    >>> kv.push('w', [mx.nd.ones((2,)), mx.nd.ones((2,))])
    >>> out = mx.nd.zeros((2,))
    >>> kv.pull('w', out=out)
    >>> out.asnumpy()
    array([2., 2.], dtype=float32)
    """
    if not isinstance(name, str):
        raise TypeError(f'the name of a KVStore must be a str, not {kind_of(name)}')
    name = name.lower()
    if name in KVStoreBase.kv_registry:
        return KVStoreBase.kv_registry[name]()
    if name not in MAKERS:
        known = [*LOCAL, *DIST, *ASYNC, *sorted(set(KVStoreBase.kv_registry) - {'teststore'})]
        raise ValueError(f'there is no KVStore called {name!r}{near(name, known)}; there are {", ".join(known)}')
    return MAKERS[name](name)
