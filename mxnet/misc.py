"""Learning rates by iteration, as the first programs had them; `mx.lr_scheduler` has what came after."""
from __future__ import annotations

import logging
from typing import Any

from ._names import suggest_names as _suggest_names

__all__ = ['FactorScheduler', 'LearningRateScheduler']


class LearningRateScheduler:
    """A function of the number of updates; `base_lr` is the rate that it starts from."""

    def __init__(self) -> None:
        self.base_lr: float = 0.01

    def __call__(self, iteration: Any) -> Any:
        raise NotImplementedError(f'{type(self).__name__} does not define the rate')


class FactorScheduler(LearningRateScheduler):
    """The rate is multiplied by `factor` after every `step` updates."""

    def __init__(self, step: int, factor: float = 0.1) -> None:
        super().__init__()
        if step < 1:
            raise ValueError(f'step must be at least 1, not {step}')
        if factor >= 1.0:
            raise ValueError(f'factor must be less than 1, so that rates become smaller, not {factor}')
        self.step: int
        self.factor: float
        self.step, self.factor = step, factor
        self._shown: Any = None

    def __call__(self, iteration: int) -> float:
        rate = self.base_lr * self.factor ** (iteration // self.step)
        if rate != self._shown:
            self._shown = rate
            logging.info('Iteration %d: learning rate is %.5f now', iteration, rate)
        return rate


_suggest_names(globals())
