"""What loops tell a search while they train: after each epoch how good they are, and whether to go on."""
from __future__ import annotations

import math
import numbers
from typing import TYPE_CHECKING, Any

from ...base import MXNetError
from ...gluon.contrib.estimator import EpochEnd, TrainBegin
from ...ndarray import NDArray
from ._optuna import optuna

if TYPE_CHECKING:
    from ...gluon.contrib.estimator import Estimator

__all__ = ['Diverged', 'FitCallback', 'Reporter', 'TuneHandler', 'number_of', 'report']


class Diverged(MXNetError):
    """A trial whose value is NaN or infinite.  It fails, and the search goes on."""


def number_of(value: Any, what: str) -> float:
    """A finite float of what an objective returned or reported."""
    given = value
    if isinstance(value, NDArray) or hasattr(value, 'detach') or type(value).__module__ == 'numpy':
        if getattr(value, 'size', 1) != 1 and not callable(getattr(value, 'size', None)):
            raise TypeError(f'{what} an array of shape {tuple(value.shape)}; it must be one number')
        value = value.asscalar() if isinstance(value, NDArray) else value.item()
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        shown = repr(given)
        shown = shown if len(shown) <= 60 else shown[:57] + '...'
        raise TypeError(f'{what} {shown} (of type {type(given).__name__}); it must be one number'
                        + ('. Does it lack a return?' if given is None and 'returned' in what else ''))
    value = float(value)
    if not math.isfinite(value):
        raise Diverged(f'{what} {value}')
    return value


def report(trial: Any, value: Any, step: int) -> None:
    """Tells a search how good a trial is after a step (an epoch, usually); raises if it is to be given up.

        for epoch in range(10):
            ...
            mx.contrib.tune.report(trial, accuracy, epoch)
    """
    trial.report(number_of(value, f'step {step} of the trial reported'), step)
    if trial.should_prune():
        raise optuna().TrialPruned(f'given up at step {step}')


class Reporter:
    """For loops of one's own: `reporter(value)` after each epoch does what `report` does, and counts."""

    def __init__(self, trial: Any) -> None:
        self.trial = trial
        self.step = 0
        self.values: list[float] = []

    def __call__(self, value: Any) -> None:
        step, self.step = self.step, self.step + 1
        self.values.append(number_of(value, f'step {step} of the trial reported'))
        report(self.trial, value, step)


def _pick(pairs: Any, name: str | None, where: str) -> float:
    """The value of a metric by its name, or of the only one."""
    pairs = list(pairs)
    if name is None:
        if len(pairs) == 1:
            return pairs[0][1]
        raise MXNetError(f'{where} has the metrics {", ".join(n for n, _ in pairs) or "none"}: say which with metric=')
    for key, value in pairs:
        if key == name:
            return value
    raise MXNetError(f'{where} has no metric {name!r}; it has {", ".join(n for n, _ in pairs) or "none"}')


class FitCallback:
    """A callback of `Module.fit` and `FeedForward.fit`: reports the metric of each evaluation.

        module.fit(train, eval_data=held_out, num_epoch=10, eval_end_callback=FitCallback(trial))

    metric: the name of one of several metrics
    `value` is the last one, for the objective to return.
    """

    def __init__(self, trial: Any, metric: str | None = None) -> None:
        self.trial, self.metric = trial, metric
        self.value: float | None = None

    def __call__(self, param: Any) -> None:
        if not hasattr(param, 'eval_metric'):
            raise MXNetError('FitCallback belongs into eval_end_callback= of fit, with eval_data=')
        if param.eval_metric is None:
            raise MXNetError('FitCallback: this fit has no metric')
        self.value = _pick(param.eval_metric.get_name_value(), self.metric, 'the evaluation')
        report(self.trial, self.value, param.epoch)


class TuneHandler(TrainBegin, EpochEnd):
    """A handler of `Estimator.fit`: reports a metric after each epoch.

        handler = TuneHandler(trial, 'validation accuracy')
        estimator.fit(train, val_data=held_out, epochs=10, event_handlers=[handler])
        return handler.value

    metric: the name of a metric of the estimator, or the metric itself; without one, the first of `val_metrics`
    """

    def __init__(self, trial: Any, metric: Any = None, priority: float = 1000) -> None:
        self.trial, self.metric = trial, metric
        self.priority = priority                # after the evaluation
        self.epoch = 0
        self.value: float | None = None

    def train_begin(self, estimator: Estimator, *args: Any, **kwargs: Any) -> None:
        self.epoch = 0

    def epoch_end(self, estimator: Estimator, *args: Any, **kwargs: Any) -> None:
        if self.metric is not None and not isinstance(self.metric, str):
            value = _pick(self.metric.get_name_value(), None, 'the metric')
        elif self.metric is None and estimator.val_metrics:
            value = estimator.val_metrics[0].get_name_value()[0][1]
        else:
            pairs = [p for m in [*estimator.val_metrics, *estimator.train_metrics] for p in m.get_name_value()]
            value = _pick(pairs, self.metric, 'the estimator')
        step, self.epoch = self.epoch, self.epoch + 1
        self.value = value
        report(self.trial, value, step)
