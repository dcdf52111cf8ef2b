"""Bound updates: an optimizer's update of the same arrays as the last time.

A loop updates the same weights by the same gradients with the same numbers.  `BoundUpdate` has what was found out about
one such call, and a guard that tells whether the next one is like it.  `descent_of` binds gradient descent to the
tensors and numbers that it is done with.
"""
from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import TYPE_CHECKING, Any

import torch
from torch.autograd.graph import increment_version

from .._array import before_write, readers, run_readers
from .._autograd import LARGE
from .._graph.cuda.capture import WARM, Captured, wanted
from .._graph.ir.log import log, reason
from .._guard import Guard, invalidations
from .._state import state as switches
from .._torch.lists import foreach_add_, foreach_copy_, foreach_mul, fused_sgd_
from .._wording import is_out_of_memory, plain
from ..base import MXNetError
from ._base import _LOW_PRECISION, Optimizer
from ._builtin import BuiltIn
from ._lists import pieces, scaled

if TYPE_CHECKING:
    from ..ndarray.ndarray import NDArray

_LEAST_RATE = 1e-9
NEVER = 1 << 62


# ---------------------------------------------------------------------- gradient descent
def descend(weights, grads, moms, lr, wd, momentum, rescale_grad, clip_gradient):
    """`sgd_mom_update` (`sgd_update` where `moms` is empty) of each weight."""
    descent_of(weights, moms, lr, wd, momentum, rescale_grad, clip_gradient)(grads)


def descent_of(weights, moms, lr, wd, momentum, rescale_grad, clip_gradient):
    """A function of gradients that does `descend`, any number of times.

    torch's buffer is `momentum * buffer + (1 - dampening) * (grad + wd * weight)`, its weight `weight - lr * buffer`.
    With dampening 1 + lr and lr -1, both are ours; a factor of the gradient moves into the learning rate and out of the
    decay.
    """
    clips = clip_gradient >= 0 or not rescale_grad
    factor, rescale = rescale_grad, 1.0 if clips else rescale_grad
    rate, wd = lr * rescale, wd / rescale
    tiny = rate if moms and 0 < abs(rate) < _LEAST_RATE else None
    if tiny is not None:
        rate, wd = 1.0, wd * tiny       # 1 - (1 + rate) would be mostly rounding
    written = [*weights, *moms]
    numbers = {'weight_decay': wd, 'momentum': momentum if moms else 0.0, 'lr': -1.0 if moms else rate,
               'dampening': 1.0 + rate if moms else 0.0, 'nesterov': False, 'maximize': False, 'is_first_step': False}

    def step(grads):
        if clips:
            grads = scaled(grads, factor, clip_gradient)
        if tiny is not None:
            grads = foreach_mul(grads, tiny)
        columns = weights, grads, moms
        if weights[0].is_cuda and torch.cuda.is_current_stream_capturing():
            columns = pieces(*columns)          # which cost nothing once they are recorded
        if not moms and not wd:
            # the same sums as the fused kernel's, which takes twice as long for small weights
            foreach_add_(*columns[:2], alpha=-rate)
        else:
            fused_sgd_(*columns, **numbers)
            increment_version(written)

    return step


# ---------------------------------------------------------------------- updates
def _counted(optimizer, device, index):
    """Counts an update of weights on a device, as `_set_current_context` and `_update_count` do.

    -> num_update before, and all that its numbers follow from while nothing is invalidated (`_guard.py`); None for that
    where there is more to it
    """
    counts = optimizer._index_update_count = optimizer._all_index_update_counts.setdefault(device, {})
    begin, before = optimizer.begin_num_update, optimizer.num_update
    most = before
    for i in index:
        counts[i] = count = counts.get(i, begin) + 1
        if count > most:
            most = count
    optimizer.num_update = most
    parameters, steady, own = optimizer.param_dict, optimizer._steady, type(optimizer)
    if not steady or own._get_lrs is not Optimizer._get_lrs or own._get_wds is not Optimizer._get_wds \
            or own._get_lr is not Optimizer._get_lr or own._get_wd is not Optimizer._get_wd:
        return before, None     # a derived class says what the rates are
    if not parameters and (optimizer.lr_mult or optimizer.wd_mult and optimizer.wd):
        return before, None     # dicts that programs may write into
    if optimizer.lr_scheduler is not None and most != before and counts[index[0]] != most:
        return before, None     # weights may have different rates
    rate = optimizer.lr if optimizer.lr_scheduler is None and own.learning_rate is Optimizer.learning_rate \
        else optimizer.learning_rate
    return before, (rate, optimizer.wd, steady, parameters)


class BoundUpdate:
    """An update, bound to the tuples of dense arrays that it was called with, and to a guard on their tensors.

    Weights of low precision are updated through their float32 copies (`masters`).  On a GPU, an update whose numbers
    stay the same becomes a CUDA graph.
    """

    __slots__ = ('given', 'optimizer', 'device', 'on_gpu', 'states', 'slots', 'slots_with', 'arrays', 'guard',
                 'columns', 'large', 'low', 'written', 'memory', 'numbers', 'rate_key', 'apply', 'prepare', 'runs',
                 'graph')
    given: tuple[Any, Any, Any]             # the very tuples of indices, gradients and weights
    optimizer: Any
    device: int
    on_gpu: bool
    states: list[Any]
    slots: int                              # how many arrays the optimizer has asked for
    slots_with: Any                         # the optimizer's numbers (`_steady`) that had this many
    arrays: list[NDArray]
    guard: Guard
    columns: list[Any]                      # weights, gradients and each of the states, as lists of tensors
    large: list[tuple[int, NDArray, torch.Size, torch.dtype]]
    low: Any                                # weights and gradients of low precision, as lists of tensors
    written: list[torch.Tensor]
    memory: set[int]
    numbers: tuple[Any, Any, Any] | None    # rates, decays and the optimizer's other numbers
    rate_key: Any
    apply: Any                               # does the update, given the gradients
    prepare: Callable[[], bool] | None
    runs: int
    graph: Captured | None

    @classmethod
    def of(cls, optimizer, index, grad, weight, states):
        """What to remember of a call; None if the next one has to look at its arrays again."""
        own = type(optimizer)
        if own.update is not BuiltIn.update or not optimizer._can_bind \
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
        self.slots, self.slots_with = optimizer._slots, optimizer._steady
        self.device = weight[0].context.device_id
        self.written = [t for column in (columns[0], *columns[2:], *(self.low or ())[:1]) for t in column]
        self.on_gpu = columns[0][0].is_cuda
        self.memory = {t.untyped_storage().data_ptr() for t in self.written}
        self.numbers, self.apply, self.runs, self.graph = None, None, 0, None
        self.rate_key, self.prepare, self.guard = None, None, Guard(arrays=self.arrays)
        return self

    def run_if_valid(self, updater, index, grad, weight):
        """Updates and returns True if nothing has changed but values."""
        if not self.due(updater, index, grad, weight):
            return False
        if readers or self.large or self.on_gpu or self.low is not None or switches.writes is not None:
            self.run()
        else:
            self.apply(self.columns[1])
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
        steady = optimizer._steady
        if not steady or steady != self.slots_with:     # a momentum that was 0 needs states
            if optimizer._slots != self.slots:
                return False
            self.slots_with = steady
        for _, array, shape, dtype in self.large:
            tensor = array._storage
            if tensor is None or tensor.shape != shape or tensor.dtype is not dtype:
                return False
        before, rate_key = _counted(optimizer, self.device, index)
        if rate_key is None or rate_key != self.rate_key:
            self._find_numbers(index, before, rate_key)
        if self.prepare is not None and not self.prepare():
            self.numbers = None
            self._find_numbers(index, before, rate_key)
        return True

    def _holds(self):
        """Whether the arrays have the tensors that they had; deferred work that hides one of them runs first."""
        for array in self.arrays:
            if array._pending is not None:
                array.materialize()
        if invalidations.count != self.guard.seen:
            self.rate_key = None
        return self.guard.holds()

    def _find_numbers(self, index, before, rate_key):
        optimizer = self.optimizer
        # weights that are no parameters of a Trainer have their factors from dicts
        self.rate_key = None if optimizer.param_dict and not optimizer.param_dict.keys() >= set(index) else rate_key
        (lrs, wds), steady = optimizer._rates(index, before), optimizer._steady
        numbers = lrs, wds, steady
        if not steady or numbers != self.numbers:
            weights, _, *slots = self.columns
            self.numbers, self.runs, self.graph = numbers, 0, None
            self.apply = optimizer._bind_update(index, weights, slots, lrs, wds)
            self.prepare = getattr(self.apply, 'prepare', None)
            if optimizer._by_count and self.prepare is None:
                self.numbers = self.rate_key = None        # it is another one each time

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
        return self.apply if WARM < self.runs < NEVER else None

    def joined(self):
        """The update is part of another graph now: its own is let go."""
        self.graph = None

    def step(self):
        """Updates, call by call."""
        try:
            self._step()
        except RuntimeError as error:
            if isinstance(error, MXNetError) or not is_out_of_memory(str(error)):
                raise
            raise MXNetError(f'the update of the parameters: {plain(error)}') from error

    def _step(self):
        grads = self.columns[1]
        if self.large:
            grads = grads.copy()
            for n, array, _, _ in self.large:
                grads[n] = array._storage           # `due` has found it ready
        if self.low is None:
            self.apply(grads)
        else:
            grads = grads or [torch.empty_like(w) for w in self.columns[0]]
            foreach_copy_(grads, self.low[1])
            self.apply(grads)
            foreach_copy_(self.low[0], self.columns[0])

    def _launch(self):
        """Updates as a CUDA graph as long as the numbers stay as they were."""
        self.runs += 1
        if self.graph is None and WARM < self.runs < NEVER and wanted():
            try:
                self.graph = Captured(lambda given: self.step(), self.columns[0], ())
            except RuntimeError as error:
                self.runs = NEVER
                log('no CUDA graph of an update: %s', reason(error))
        if self.graph is None:
            self.step()
        else:
            self.graph.launch(())
            increment_version(self.written)     # a graph does not tell autograd what it writes
