"""`Updater`: keeps the states of weights and updates them; what KVStore, Module and Trainer call."""
from __future__ import annotations

import pickle
import sys
from typing import TYPE_CHECKING, Any

import numpy

from .._files import pickles
from .._internal_errors import is_internal, reworded
from .._kinds import explain_kinds as _explain_kinds
from .._names import kind_of
from .._wording import plain
from ..base import MXNetError
from ..lr_scheduler import LRScheduler
from ..ndarray.ndarray import NDArray
from . import _progress
from ._base import Optimizer, aggregation_size, is_list
from ._bound_update import BoundUpdate

if TYPE_CHECKING:
    from ..context import Context

__all__ = ['Updater', 'get_updater']

_PROTOCOL = 4       # the newest that every Python with MXNet 1.9.1 reads


class Updater:
    """Updates weights by an optimizer: `updater(index, grad, weight)`, or with lists of the three.

    >>> updater = mx.optimizer.get_updater(mx.optimizer.SGD(learning_rate=0.5))
    >>> weight = mx.nd.ones((2,))
    >>> updater(0, mx.nd.ones((2,)), weight)
    >>> weight
    <BLANKLINE>
    [0.5 0.5]
    <NDArray 2 @cpu(0)>

    The built-in optimizers update all weights of one dtype and device in one call.  MXNET_OPTIMIZER_AGGREGATION_SIZE
    sets a limit, and `updater.aggregate_updates = False` makes it one at a time.  Others get as many as their
    `aggregate_num` says, one at a time if that is 0.
    """

    optimizer: Any
    aggregate_updates: Any

    _loaded = None          # where states came from that no update has used yet
    _settings_from = None   # where the optimizer, or what it remembers, came from

    def __init__(self, optimizer: Optimizer) -> None:
        if isinstance(optimizer, (str, type)):
            raise TypeError(f'Updater: optimizer must be an Optimizer, not {kind_of(optimizer)}; '
                            "mx.optimizer.create('sgd') makes one")
        self.optimizer = optimizer
        self.states: dict[Any, Any] = {}
        self.states_synced: dict[Any, Any] = {}
        self.aggregate_updates = _most_at_once(optimizer) > 0
        self._bound = None          # the last call, if another one like it can be told by its guard
        self._before = _progress.snapshot(optimizer, _classes())
        self._extra = None          # what else the last states that were read had with them

    def __call__(self, index: Any, grad: Any, weight: Any) -> None:
        try:
            bound = self._bound
            if bound is not None and bound.run_if_valid(self, index, grad, weight):
                return
            self._bound, given = None, (index, grad, weight)
            if not is_list(index):
                index, grad, weight = [index], [grad], [weight]
            if index:
                self._update(index, grad, weight, given)
                self._loaded = None
        except (AttributeError, IndexError, KeyError, TypeError, ValueError, ArithmeticError, RuntimeError) as error:
            explained = self._explained(error, index, grad, weight)
            if explained is None:
                raise
            raise explained from error

    def _explained(self, error, index, grad, weight):
        """What to raise in place of an error of an update; None for the error itself."""
        where, optimizer = self._loaded, self.optimizer
        name, built_in = type(optimizer).__name__, type(optimizer).__module__.startswith('mxnet.')
        numbers = isinstance(error, ArithmeticError) or type(error) is RuntimeError       # torch's, of its kernels
        if where is not None:
            if isinstance(error, MXNetError):
                return MXNetError(f'{where}: {error}')
            if not numbers:
                known = {key: described(self.states[key]) for key in index[:3] if key in self.states}
                return MXNetError(f'{where}: these states are not those of a {name} for these weights: '
                                  + (', '.join(f'that of {key!r} is {text}' for key, text in known.items())
                                     or f'its settings are not what it needs ({_settings(optimizer)})'))
        elif not built_in or isinstance(error, MXNetError):
            return None
        elif self._settings_from is not None:
            where = self._settings_from
        elif not isinstance(error, OverflowError) and type(error) is not RuntimeError:
            given = {'index': index, 'grad': grad, 'weight': weight}
            if not is_internal(error):
                return None
            return reworded(type(self).__call__, f'the updater of {name}', (), given, error)
        why = 'one of its divisors is 0' if isinstance(error, ZeroDivisionError) else plain(error)
        return MXNetError(f'{where + ": " if where else ""}{name} cannot compute with {_settings(optimizer)}: {why}')

    def _update(self, index, grad, weight, given):
        optimizer = self.optimizer
        index = [i.decode() if type(i) is bytes else i for i in index]
        if not optimizer._at_once:
            # others compute with nd's operators, which have nd's semantics on nd's arrays only
            grad, weight = [g.as_nd_ndarray() for g in grad], [w.as_nd_ndarray() for w in weight]
        optimizer._set_current_context(weight[0].context.device_id)
        known, synced = self.states, self.states_synced
        for i, w in zip(index, weight, strict=True):
            if i not in known:
                known[i] = optimizer.create_state_multi_precision(i, w)
                synced[i] = True
            elif not synced[i]:
                known[i] = self.sync_state_context(known[i], w.context)
                synced[i] = True
        states = [known[i] for i in index]
        most = _most_at_once(optimizer) if self.aggregate_updates else 0
        if not most:
            if optimizer._at_once is False:
                index = _numbered(optimizer, index)
            for arguments in zip(index, weight, grad, states, strict=True):
                optimizer.update_multi_precision(*arguments)
            return
        batches = _batches(index, weight, grad, states)
        for i, w, g, s in batches:
            for start in range(0, len(i), most):
                part = slice(start, start + most)
                optimizer.update_multi_precision(i[part], w[part], g[part], s[part])
        if len(batches) == 1 and len(index) <= most and all(type(column) is tuple for column in given):
            index, grad, weight = given
            self._bound = BoundUpdate.of(optimizer, index, grad, weight, states)

    def _due(self, index, grad, weight):
        """What this call would do, if that is the same as the last time; None if it is not.

        It has been counted as done: the caller must `run` it, or have it done as part of a CUDA graph
        (`Runner.run`).
        """
        bound = self._bound
        return bound if bound is not None and bound.due(self, index, grad, weight) else None

    def sync_state_context(self, state: Any, context: Context) -> Any:
        """A state with all of its arrays on a context.  What is in it more than once still is."""
        done = {}

        def moved(part):
            if isinstance(part, NDArray):
                return part.as_in_context(context)
            if isinstance(part, (tuple, list)):
                if id(part) not in done:
                    done[id(part)] = type(part)([moved(inner) for inner in part])
                return done[id(part)]
            return part
        return moved(state)

    def set_states(self, states: bytes, where: str = 'optimizer states') -> None:
        """Takes over states, and an optimizer if there is one, from what `get_states` gave, here or in MXNet 1.9.1.

        Nothing in it is executed: it may hold plain values, arrays, and optimizers and schedulers whose classes the
        program has.  Without an optimizer in it, the one that is there goes on with the count of updates that was
        saved; a warning says where that makes a difference and there is none.  Errors name `where` it comes from.
        """
        if not isinstance(states, (bytes, bytearray, memoryview)):
            raise TypeError(f'set_states takes the bytes that get_states gave, not {kind_of(states)}')
        classes = _classes()
        states, progress = _progress.unpacked(states, classes, where)
        found = pickles.load(states, classes, where)
        optimizer = self.optimizer
        if isinstance(found, tuple) and len(found) == 2:
            found, optimizer = found
        if not isinstance(found, dict) or not isinstance(optimizer, Optimizer):
            raise MXNetError(f'{where}: expected {{index: state}}, or that and an optimizer, not '
                             f'{kind_of(found)} and {kind_of(optimizer)}')
        for key, state in found.items():
            _check_arrays(state, f'{where}: the state of {key!r}')
        if optimizer is not self.optimizer:
            try:
                at_once = _most_at_once(optimizer) > 0
            except (AttributeError, TypeError) as error:
                raise MXNetError(f'{where}: this is not a whole {type(optimizer).__name__} ({error})') from error
            self.optimizer, self.aggregate_updates, self._settings_from = optimizer, at_once, where
        elif progress is not None:
            _progress.restore(optimizer, progress, self._before)
            self._settings_from = where
        elif found:
            _progress.warn_of_no_count(optimizer)
        self.states, self.states_synced = found, dict.fromkeys(found, False)
        self._loaded = where
        self._extra = None if progress is None else progress.get('extra')

    def get_states(self, dump_optimizer: bool = False) -> bytes:
        """All states as bytes, with `dump_optimizer` the optimizer too, in the format of MXNet 1.9.1.

        Without it, the count of updates and whatever else the optimizer remembers is behind them, where MXNet 1.9.1
        does not look.
        """
        if dump_optimizer:
            return pickle.dumps((self.states, self.optimizer), _PROTOCOL)
        return _progress.packed(pickle.dumps(self.states, _PROTOCOL),
                                _progress.progress_of(self.optimizer, self._before, _classes()))


def get_updater(optimizer: Optimizer) -> Updater:
    """The `Updater` of an optimizer."""
    return Updater(optimizer)


def _most_at_once(optimizer):
    """How many weights an optimizer takes in one call; 0: one, not as a list."""
    if optimizer._at_once is None:
        return optimizer.aggregate_num
    return aggregation_size() or sys.maxsize if optimizer._at_once else 0


def _numbered(optimizer, index):
    """The weights' numbers in place of their names, for an `update` that overrides a built-in one.

    The releases that called such an `update` identified weights by number with every KVStore.
    """
    numbers = {name: number for number, name in optimizer.idx2name.items()}
    return [numbers.get(i, i) for i in index]


def _batches(*columns):
    """The columns (indices, weights, ...), once for each dtype and device of the weights."""
    tensors = [w._parts()[0] if w._sparse else w.materialize() for w in columns[1]]
    batches: dict[Any, list[int]] = {}
    for position, tensor in enumerate(tensors):
        batches.setdefault((tensor.dtype, tensor.get_device()), []).append(position)
    if len(batches) == 1:
        return [columns]
    return [tuple([column[i] for i in at] for column in columns) for at in batches.values()]


def described(state):
    """What a state is, in a few words."""
    if isinstance(state, NDArray):
        return f'an array of shape {state.shape} and {numpy.dtype(state.dtype).name}'
    if isinstance(state, (tuple, list)):
        return f'{len(state)} values ({", ".join(described(s) for s in state[:3] if not isinstance(s, (tuple, list)))})'
    return 'None' if state is None else f'a {type(state).__name__}'


def _settings(optimizer):
    """The numbers of an optimizer, and what is in their place, in a few words."""
    return ', '.join(f'{name}={_shown(value)}' for name, value in vars(optimizer).items()
                     if name[0] != '_' and not isinstance(value, (bool, dict, type(None))))[:500]


def _shown(value):
    if isinstance(value, int) and abs(value) >= 1 << 64:
        return f'an int of {value.bit_length()} bits'
    return repr(value)[:60] if isinstance(value, (int, float, complex, str)) else kind_of(value)


def _check_arrays(state, where):
    """Refuses a state with an array that was named in a file, but never got its contents."""
    waiting, seen = [state], set()
    while waiting:
        part = waiting.pop()
        if isinstance(part, NDArray):
            if getattr(part, '_ctx', None) is None:
                raise MXNetError(f'{where} has an array without contents')
        elif isinstance(part, (tuple, list, dict)) and id(part) not in seen:
            seen.add(id(part))
            waiting.extend(part.values() if isinstance(part, dict) else part)


def _classes():
    """{(module, name): class} of what a state file may hold besides plain values."""
    waiting = [NDArray, Optimizer, LRScheduler]
    found = {}
    while waiting:
        cls = waiting.pop(0)
        found[cls.__module__, cls.__qualname__] = cls
        waiting.extend(cls.__subclasses__())
    return found


_explain_kinds(globals(), __all__)
