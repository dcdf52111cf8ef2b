"""`Updater`: keeps the states of weights and updates them; what KVStore, Module and Trainer call."""
from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from operator import is_
from typing import TYPE_CHECKING, Any

import numpy
import torch
from torch.autograd.graph import increment_version

from .._array import before_write, readers, run_readers
from .._autograd import LARGE
from .._files import pickles
from .._graph.cuda.capture import WARM, Captured, wanted
from .._graph.ir.log import reason, say
from .._guard import Guard, invalidations
from .._names import kind_of
from .._state import state as switches
from .._torch.lists import foreach_copy_
from ..base import MXNetError
from ..lr_scheduler import LRScheduler
from ..ndarray.ndarray import NDArray
from . import _progress
from ._base import _LOW_PRECISION, Optimizer, aggregation_size, is_list
from ._builtin import BuiltIn

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
        bound = self._bound
        if bound is not None and bound.repeat(self, index, grad, weight):
            return
        self._bound, given = None, (index, grad, weight)
        if not is_list(index):
            index, grad, weight = [index], [grad], [weight]
        if not index:
            return
        if self._loaded is None:
            self._update(index, grad, weight, given)
            return
        where, optimizer = self._loaded, self.optimizer
        try:
            self._update(index, grad, weight, given)
        except MXNetError as error:
            raise MXNetError(f'{where}: {error}') from error
        except (AttributeError, IndexError, KeyError, TypeError, ValueError, ArithmeticError) as error:
            known = {key: described(self.states[key]) for key in index[:3] if key in self.states}
            raise MXNetError(f'{where}: these states are not those of a {type(optimizer).__name__} for these weights: '
                             + (', '.join(f'that of {key!r} is {text}' for key, text in known.items())
                                or 'its settings are not what it needs')) from error
        self._loaded = None

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

        It has been counted as done: whoever asks must `run` it, or have it done as part of a CUDA graph
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
                             f'{type(found).__name__} and {type(optimizer).__name__}')
        for key, state in found.items():
            _check_arrays(state, f'{where}: the state of {key!r}')
        if optimizer is not self.optimizer:
            try:
                at_once = _most_at_once(optimizer) > 0
            except (AttributeError, TypeError) as error:
                raise MXNetError(f'{where}: this is not a whole {type(optimizer).__name__} ({error})') from error
            self.optimizer, self.aggregate_updates = optimizer, at_once
        elif progress is not None:
            _progress.restore(optimizer, progress, self._before)
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


def _counted(optimizer, device, index):
    """Counts an update of weights on a device, as `_set_current_context` and `_update_count` do.

    -> all that its numbers follow from while nothing is invalidated (`_guard.py`); None where there is more to it
    """
    counts = optimizer._index_update_count = optimizer._all_index_update_counts.setdefault(device, {})
    begin, most = optimizer.begin_num_update, optimizer.num_update
    for i in index:
        counts[i] = count = counts.get(i, begin) + 1
        if count > most:
            most = count
    optimizer.num_update = most
    parameters, steady, own = optimizer.param_dict, optimizer._steady, type(optimizer)
    if not steady or own._get_lrs is not Optimizer._get_lrs or own._get_wds is not Optimizer._get_wds \
            or own._get_lr is not Optimizer._get_lr or own._get_wd is not Optimizer._get_wd:
        return None             # a derived class says what the rates are
    if not parameters and (optimizer.lr_mult or optimizer.wd_mult and optimizer.wd):
        return None             # dicts that programs may write into
    rate = optimizer.lr if optimizer.lr_scheduler is None and own.learning_rate is Optimizer.learning_rate \
        else optimizer.learning_rate
    return rate, optimizer.wd, steady, parameters


class BoundUpdate:
    """An update, bound to the tuples of dense arrays that it was called with, and to a guard on their tensors.

    Weights of low precision are updated through their float32 copies (`masters`).  On a GPU, an update whose numbers
    stay the same becomes a CUDA graph.
    """

    __slots__ = ('given', 'optimizer', 'device', 'on_gpu', 'states', 'arrays', 'guard', 'columns', 'large', 'low',
                 'written', 'memory', 'numbers', 'bases', 'same', 'tell', 'since', 'graph')
    given: tuple[Any, Any, Any]             # the very tuples of indices, gradients and weights
    optimizer: Any
    device: int
    on_gpu: bool
    states: list[Any]
    arrays: list[NDArray]
    guard: Guard
    columns: list[Any]                      # weights, gradients and each of the states, as lists of tensors
    large: list[tuple[int, NDArray, torch.Size, torch.dtype]]
    low: Any                                # weights and gradients of low precision, as lists of tensors
    written: list[torch.Tensor]
    memory: set[int]
    numbers: tuple[Any, Any, Any] | None    # rates, decays and the optimizer's other numbers
    bases: Any
    same: Any                               # does the update, given the gradients
    tell: Callable[[], bool] | None
    since: int
    graph: Captured | None

    @classmethod
    def of(cls, optimizer, index, grad, weight, states):
        """What to remember of a call; None if the next one has to look at its arrays again."""
        own = type(optimizer)
        if own.update is not BuiltIn.update or not optimizer._repeats \
                or own.update_multi_precision is not Optimizer.update_multi_precision \
                or own._update_count is not Optimizer._update_count \
                or own._set_current_context is not Optimizer._set_current_context:
            return None
        self = cls()
        self.low, learned, found = None, weight, states
        if optimizer.multi_precision and weight[0].dtype in _LOW_PRECISION:
            at = 1 if optimizer._master_last else 0
            learned, found = tuple(s[at] for s in states), [s[1 - at] for s in states]
        slots = optimizer._columns(index, learned, found)
        columns = optimizer._plain(learned, grad, slots, alike=learned is weight)
        if columns is None:
            return None
        # Large gradients on a CPU change their memory from step to step (autograd.adopted): none is held on to.
        large = []
        if learned is weight and not columns[0][0].is_cuda:
            large = [n for n, t in enumerate(columns[1]) if t.numel() >= LARGE]
        self.large = [(n, grad[n], columns[1][n].shape, columns[1][n].dtype) for n in large]
        for n in large:
            columns[1][n] = None
        self.arrays = [array for arrays, tensors in zip((learned, grad, *slots), columns, strict=True)
                       if arrays is not None for array, tensor in zip(arrays, tensors, strict=True)
                       if tensor is not None]
        if learned is not weight:
            thin = optimizer._plain(weight, grad, [])
            if thin is None:
                return None
            self.low = thin
            self.arrays += weight
            # gradients of their precision: on a GPU only while an update lasts, so that activations can have the memory
            columns = [columns[0], [] if columns[0][0].is_cuda else [torch.empty_like(t) for t in columns[0]],
                       *columns[2:]]
        self.given, self.optimizer, self.states, self.columns = (index, grad, weight), optimizer, states, columns
        self.device = weight[0].context.device_id
        self.written = [t for column in (columns[0], *columns[2:], *(self.low or ())[:1]) for t in column]
        self.on_gpu = columns[0][0].is_cuda
        self.memory = {t.untyped_storage().data_ptr() for t in self.written}
        self.numbers, self.same, self.since, self.graph = None, None, 0, None
        self.bases, self.tell, self.guard = None, None, Guard(arrays=self.arrays)
        return self

    def repeat(self, updater, index, grad, weight):
        """Updates and returns True if nothing has changed but values."""
        if not self.due(updater, index, grad, weight):
            return False
        if readers or self.large or self.on_gpu or self.low is not None or switches.writes is not None:
            self.run()
        else:
            self.same(self.columns[1])
        return True

    def due(self, updater, index, grad, weight):
        """Whether nothing has changed but values; if so, the update is counted and has its numbers, and is to be run.
        """
        optimizer, mine = self.optimizer, self.given
        if index is not mine[0] or grad is not mine[1] or weight is not mine[2] or updater.optimizer is not optimizer \
                or not updater.aggregate_updates or switches.recording or switches.naive \
                or not all(map(is_, map(updater.states.get, index), self.states)) \
                or (invalidations.count != self.guard.seen or readers) and not self._holds():
            return False
        for _, array, shape, dtype in self.large:
            tensor = array._storage
            if tensor is None or tensor.shape != shape or tensor.dtype is not dtype:
                return False
        bases = _counted(optimizer, self.device, index)
        if bases is None or bases != self.bases:
            self._find_numbers(index, bases)
        if self.tell is not None and not self.tell():
            self.numbers = None
            self._find_numbers(index, bases)
        return True

    def _holds(self):
        """Whether the arrays have the tensors that they had; deferred work that hides one of them runs first."""
        for array in self.arrays:
            if array._pending is not None:
                array.materialize()
        if invalidations.count != self.guard.seen:
            self.bases = None
        return self.guard.holds()

    def _find_numbers(self, index, bases):
        optimizer = self.optimizer
        # weights that are no parameters of a Trainer have their factors from dicts
        self.bases = None if optimizer.param_dict and not optimizer.param_dict.keys() >= set(index) else bases
        (lrs, wds), steady = optimizer._rates(index), optimizer._steady
        numbers = lrs, wds, steady
        if not steady or numbers != self.numbers:
            weights, _, *slots = self.columns
            self.numbers, self.since, self.graph = numbers, 0, None
            self.same = optimizer._repeated(index, weights, slots, lrs, wds)
            self.tell = getattr(self.same, 'tell', None)
            if optimizer._by_count and self.tell is None:
                self.numbers = self.bases = None        # it is another one each time

    def run(self):
        """Updates; on a GPU as a CUDA graph once that pays."""
        if readers:
            run_readers(self.memory)
        if switches.writes is not None:
            before_write(*self.written)
        if self.on_gpu and self.numbers is not None and self.numbers[2]:
            self._launch()
        else:
            self.step()

    @property
    def steady(self):
        """What stays the same as long as the numbers do, once the update has been recorded by itself; else None."""
        return self.same if WARM < self.since < NEVER else None

    def joined(self):
        """The update is part of another graph now: its own is let go."""
        self.graph = None

    def step(self):
        """Updates, call by call."""
        grads = self.columns[1]
        if self.large:
            grads = grads.copy()
            for n, array, _, _ in self.large:
                grads[n] = array._storage           # `due` has found it ready
        if self.low is None:
            self.same(grads)
        else:
            grads = grads or [torch.empty_like(w) for w in self.columns[0]]
            foreach_copy_(grads, self.low[1])
            self.same(grads)
            foreach_copy_(self.low[0], self.columns[0])

    def _launch(self):
        """Updates as a CUDA graph as long as the numbers stay as they were."""
        self.since += 1
        if self.graph is None and WARM < self.since < NEVER and wanted():
            try:
                self.graph = Captured(lambda given: self.step(), self.columns[0], ())
            except RuntimeError as error:
                self.since = NEVER
                say('no CUDA graph of an update: %s', reason(error))
        if self.graph is None:
            self.step()
        else:
            self.graph.launch(())
            increment_version(self.written)     # a graph does not tell autograd what it writes


NEVER = 1 << 62


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
