"""Learning rates that change as training goes on.

A scheduler is called with the number of updates so far and returns the learning rate:

>>> schedule = mx.lr_scheduler.MultiFactorScheduler(step=[10, 20], factor=0.1, base_lr=1.0)
>>> schedule(5), schedule(15)
(1.0, 0.1)

Warm-up comes first: for `warmup_steps` updates the rate grows from `warmup_begin_lr` to `base_lr` ('linear'), or
stays at `warmup_begin_lr` ('constant').
"""
from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from typing import Any

from ._kinds import explain_kinds as _explain_kinds
from ._kinds import explain_methods as _explain_methods
from ._names import explain_arguments, kind_of, set_by_init
from ._names import suggest_names as _suggest_names

__all__ = ['CosineScheduler', 'FactorScheduler', 'LRScheduler', 'MultiFactorScheduler', 'PolyScheduler']

# what log readers look for
CHANGED = 'Update[%d]: Change learning rate to %0.5e'
LOWEST = 'Update[%d]: now learning rate arrived at %0.5e, will not change in the future'
_MANY = 1_000_000       # steps that are done one by one, each with its line in the log


class LRScheduler:
    """Base class of schedulers; one of one's own has `__call__(num_update)`.

    base_lr: the rate to start from after the warm-up.  An optimizer that is given a learning rate sets it.
    """

    warmup_mode: Any
    warmup_begin_lr: Any
    warmup_final_lr: Any
    warmup_steps: Any
    base_lr: Any

    base_lr = warmup_steps = warmup_final_lr = warmup_begin_lr = warmup_mode = set_by_init()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        explain_arguments(cls)

    def __init__(self, base_lr: float = 0.01, warmup_steps: float = 0, warmup_begin_lr: float = 0,
                 warmup_mode: str = 'linear') -> None:
        _check_count('warmup_steps', warmup_steps, 0)
        if warmup_begin_lr > base_lr:
            raise ValueError(f'warmup_begin_lr ({warmup_begin_lr}) must not be greater than base_lr ({base_lr})')
        if warmup_mode not in ('linear', 'constant'):
            raise ValueError(f"warmup_mode must be 'linear' or 'constant', not {warmup_mode!r}")
        self.base_lr = base_lr
        self.warmup_steps = warmup_steps
        self.warmup_final_lr = base_lr
        self.warmup_begin_lr = warmup_begin_lr
        self.warmup_mode = warmup_mode

    def get_warmup_lr(self, num_update: int) -> float:
        """The rate during the warm-up."""
        if num_update >= self.warmup_steps:
            raise ValueError(f'the warm-up ends after {self.warmup_steps} updates; {num_update} is later')
        if self.warmup_mode == 'constant':
            return self.warmup_begin_lr
        return self.warmup_begin_lr + (self.warmup_final_lr - self.warmup_begin_lr) * num_update / self.warmup_steps

    def __call__(self, num_update: int) -> float:
        """The learning rate after `num_update` updates: the count of the weight that was updated most often."""
        raise NotImplementedError(f'{type(self).__name__} has no __call__')


class FactorScheduler(LRScheduler):
    """Multiplies the rate by `factor` every `step` updates, until it is `stop_factor_lr`."""

    count: int

    def __init__(self, step: int, factor: float = 1, stop_factor_lr: float = 1e-8, base_lr: float = 0.01,
                 warmup_steps: float = 0, warmup_begin_lr: float = 0, warmup_mode: str = 'linear') -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if step < 1:
            raise ValueError(f'step must be at least 1, not {step}')
        _check_factor(factor)
        self.step = step
        self.factor = factor
        self.stop_factor_lr = stop_factor_lr
        self.count = 0

    def __call__(self, num_update: int) -> float:
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        if num_update > self.count + self.step:
            if not self.step > 0:           # read from a file
                raise ValueError(f'step must be at least 1, not {self.step}')
            due = -((self.count - num_update) // self.step) - 1
            if not due <= _MANY:
                self.count += due * self.step
                self.base_lr = max(self.base_lr * float(self.factor) ** due, self.stop_factor_lr)
                logging.info(CHANGED, num_update, self.base_lr)
                return self.base_lr
        # several steps at once when training goes on from a checkpoint
        while num_update > self.count + self.step:
            self.count += self.step
            self.base_lr *= self.factor
            if self.base_lr < self.stop_factor_lr:
                self.base_lr: float = self.stop_factor_lr
                logging.info(LOWEST, num_update, self.base_lr)
            else:
                logging.info(CHANGED, num_update, self.base_lr)
        return self.base_lr


class MultiFactorScheduler(LRScheduler):
    """Multiplies the rate by `factor` after each number of updates in the list `step`."""

    cur_step_ind: int
    count: int

    def __init__(self, step: Sequence[int], factor: float = 1, base_lr: float = 0.01, warmup_steps: float = 0,
                 warmup_begin_lr: float = 0, warmup_mode: str = 'linear') -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if not isinstance(step, list) or not step:
            raise TypeError(f'step must be a list of numbers of updates, not {step!r}')
        if step[0] < 1 or any(late <= early for early, late in zip(step, step[1:])):
            raise ValueError(f'step must begin with 1 or more and increase, not {step}')
        _check_factor(factor)
        self.step = step
        self.cur_step_ind = 0
        self.factor = factor
        self.count = 0

    def __call__(self, num_update: int) -> float:
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        while self.cur_step_ind < len(self.step) and num_update > self.step[self.cur_step_ind]:
            self.count = self.step[self.cur_step_ind]
            self.cur_step_ind += 1
            self.base_lr *= self.factor
            logging.info(CHANGED, num_update, self.base_lr)
        return self.base_lr


class PolyScheduler(LRScheduler):
    """Lets the rate fall to `final_lr` at `max_update` as a power of the updates that are left.

        final_lr + (base_lr - final_lr) * (1 - num_update / max_update) ** pwr

    with both numbers counted from the end of the warm-up.
    """

    def __init__(self, max_update: int, base_lr: float = 0.01, pwr: float = 2, final_lr: float = 0,
                 warmup_steps: float = 0, warmup_begin_lr: float = 0, warmup_mode: str = 'linear') -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        _check_count('max_update', max_update, 1)
        self.power = pwr
        self.base_lr_orig: Any = self.base_lr
        self.max_update = max_update
        self.final_lr = final_lr
        self.max_steps: float = max_update - warmup_steps

    def __call__(self, num_update: int) -> float:
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        if num_update <= self.max_update:
            left = 1 - (num_update - self.warmup_steps) / self.max_steps
            self.base_lr: Any = self.final_lr + (self.base_lr_orig - self.final_lr) * left ** self.power
        return self.base_lr


class CosineScheduler(LRScheduler):
    """Lets the rate fall to `final_lr` at `max_update` along half a cosine.

        final_lr + (base_lr - final_lr) * (1 + cos(pi * num_update / max_update)) / 2

    with both numbers counted from the end of the warm-up.
    """

    def __init__(self, max_update: int, base_lr: float = 0.01, final_lr: float = 0, warmup_steps: float = 0,
                 warmup_begin_lr: float = 0, warmup_mode: str = 'linear') -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        _check_count('max_update', max_update, 1)
        self.base_lr_orig = base_lr
        self.max_update = max_update
        self.final_lr = final_lr
        self.max_steps: float = max_update - warmup_steps

    def __call__(self, num_update: int) -> float:
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        if num_update <= self.max_update:
            half_turn = math.pi * (num_update - self.warmup_steps) / self.max_steps
            self.base_lr: float = self.final_lr + (self.base_lr_orig - self.final_lr) * (1 + math.cos(half_turn)) / 2
        return self.base_lr


def _check_count(name, value, least):
    if not isinstance(value, int):
        raise TypeError(f'{name} must be an int, not {kind_of(value)}')
    if value < least:
        raise ValueError(f'{name} must be at least {least}, not {value}')


def _check_factor(factor):
    if factor > 1.0:
        raise ValueError(f'factor must be at most 1, so that the rate falls, not {factor}')


_explain_kinds(globals(), ('LRScheduler',))
for _class in (FactorScheduler, MultiFactorScheduler, PolyScheduler, CosineScheduler):
    _explain_methods(_class, '__call__')
_suggest_names(globals())
