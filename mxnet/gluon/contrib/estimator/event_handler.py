"""Handlers of what happens in an estimator's loops.

A handler is a class with one or more of the six events as bases, and their methods.  Handlers with a lower `priority`
(0 where there is none) are asked first: weights are updated, then metrics, and the log comes last.
"""
from __future__ import annotations

import os
import re
import time
import types
import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...._files import paths
from ...._kinds import explain_kinds as _explain_kinds
from ....callback import ProgressBar
from ....metric import CompositeEvalMetric, EvalMetric
from ....metric import Loss as LossMetric
from .utils import _check_metrics

if TYPE_CHECKING:
    from ...._typing import Path
    from ....gluon.contrib.estimator import Estimator

__all__ = ['BatchBegin', 'BatchEnd', 'CheckpointHandler', 'EarlyStoppingHandler', 'EpochBegin', 'EpochEnd',
           'GradientUpdateHandler', 'LoggingHandler', 'MetricHandler', 'StoppingHandler', 'TrainBegin', 'TrainEnd',
           'ValidationHandler']


class EventHandler:
    """The base of all events."""


class TrainBegin(EventHandler):
    """Is told when training begins."""

    def train_begin(self, estimator: Estimator, *args: Any, **kwargs: Any) -> Any:
        """Before the first epoch."""


class TrainEnd(EventHandler):
    """Is told when training ends."""

    def train_end(self, estimator: Estimator, *args: Any, **kwargs: Any) -> Any:
        """After the last epoch."""


class EpochBegin(EventHandler):
    """Is told when an epoch begins."""

    def epoch_begin(self, estimator: Estimator, *args: Any, **kwargs: Any) -> Any:
        """Before the first batch of an epoch."""


class EpochEnd(EventHandler):
    """Is told when an epoch ends."""

    def epoch_end(self, estimator: Estimator, *args: Any, **kwargs: Any) -> Any:
        """After the last batch of an epoch; True ends training."""
        return False


class BatchBegin(EventHandler):
    """Is told when a batch begins."""

    def batch_begin(self, estimator: Estimator, *args: Any, **kwargs: Any) -> Any:
        """Before a batch, which is the keyword `batch`."""


class BatchEnd(EventHandler):
    """Is told when a batch ends."""

    def batch_end(self, estimator: Estimator, *args: Any, **kwargs: Any) -> Any:
        """After a batch, with keywords `batch`, `pred`, `label`, `loss`; True ends the epoch."""
        return False


def _check_event_handlers(handlers):
    """A new list of handlers: the caller's stays as it is."""
    handlers = [handlers] if isinstance(handlers, EventHandler) else list(handlers or ())
    for handler in handlers:
        if not isinstance(handler, EventHandler):
            raise ValueError(f'event_handlers must be a handler (TrainBegin, BatchEnd, ...) or a list of them; there '
                             f'is {handler!r}')
    return handlers


class StoppingHandler(TrainBegin, BatchEnd, EpochEnd):
    """Ends training after a number of epochs or batches: those of the estimator, once training has begun."""

    max_epoch: Any
    max_batch: Any
    current_batch: int
    current_epoch: int
    stop_training: bool

    def __init__(self, max_epoch: int | None = None, max_batch: int | None = None) -> None:
        self.max_epoch = max_epoch
        self.max_batch = max_batch
        self.current_batch = self.current_epoch = 0
        self.stop_training = False

    def train_begin(self, estimator: Estimator, *args: Any, **kwargs: Any) -> Any:
        self.max_epoch = estimator.max_epoch
        self.max_batch = estimator.max_batch
        self.current_batch = self.current_epoch = 0
        self.stop_training = False

    def batch_end(self, estimator: Estimator, *args: Any, **kwargs: Any) -> Any:
        self.current_batch += 1
        self.stop_training |= self.current_batch == self.max_batch
        return self.stop_training

    def epoch_end(self, estimator: Estimator, *args: Any, **kwargs: Any) -> Any:
        self.current_epoch += 1
        self.stop_training |= self.current_epoch == self.max_epoch
        return self.stop_training


class MetricHandler(EpochBegin, BatchEnd):
    """Updates metrics after each batch, and resets them with each epoch; `mx.metric.Loss` gets the losses."""

    def __init__(self, metrics: Any, priority: float = -1000) -> None:
        self.metrics: Any = _check_metrics(metrics)
        self.priority = priority

    def epoch_begin(self, estimator: Estimator, *args: Any, **kwargs: Any) -> Any:
        for metric in self.metrics:
            metric.reset()

    def batch_end(self, estimator: Estimator, *args: Any, **kwargs: Any) -> Any:
        for metric in self.metrics:
            if isinstance(metric, LossMetric):
                metric.update(0, kwargs['loss'])
            else:
                metric.update(kwargs['label'], kwargs['pred'])


class ValidationHandler(TrainBegin, BatchEnd, EpochEnd):
    """Evaluates every `epoch_period` epochs and every `batch_period` batches; None is never.

    `eval_fn(val_data=, batch_axis=, event_handlers=)` does the work, `estimator.evaluate` for instance.
    """

    current_batch: int
    current_epoch: int

    def __init__(self, val_data: Iterable[Any] | None, eval_fn: Callable[..., Any], epoch_period: int = 1,
                 batch_period: int | None = None, priority: float = -1000, event_handlers: Any = None) -> None:
        self.val_data = val_data
        self.eval_fn = eval_fn
        self.epoch_period = epoch_period
        self.batch_period = batch_period
        self.current_batch = self.current_epoch = 0
        self.priority = priority
        self.event_handlers = event_handlers

    def train_begin(self, estimator: Estimator, *args: Any, **kwargs: Any) -> Any:
        self.current_batch = self.current_epoch = 0

    def batch_end(self, estimator: Estimator, *args: Any, **kwargs: Any) -> Any:
        self.current_batch += 1
        self._evaluate(estimator, self.current_batch, self.batch_period)

    def epoch_end(self, estimator: Estimator, *args: Any, **kwargs: Any) -> Any:
        self.current_epoch += 1
        self._evaluate(estimator, self.current_epoch, self.epoch_period)

    def _evaluate(self, estimator, count, period):
        if period and count % period == 0:
            self.eval_fn(val_data=self.val_data, batch_axis=estimator.batch_axis, event_handlers=self.event_handlers)


class LoggingHandler(TrainBegin, TrainEnd, EpochBegin, EpochEnd, BatchBegin, BatchEnd):
    """Logs the course of training and the values of `metrics`: each epoch, or every `log_interval` batches, too.

    With `progress_bar=True` there is a bar of each epoch on stderr (tqdm's where it is installed), with the metrics.
    """

    batch_index: int
    current_epoch: int
    processed_samples: int

    def __init__(self, log_interval: int | str = 'epoch', metrics: Any = None, priority: float = np.inf,
                 progress_bar: bool = False) -> None:
        if log_interval != 'epoch' and not (isinstance(log_interval, int) and log_interval > 0):
            raise ValueError(f"log_interval must be 'epoch' or a positive number of batches, not {log_interval!r}")
        self.metrics: Any = _check_metrics(metrics)
        self.batch_index = self.current_epoch = self.processed_samples = 0
        self.priority = priority
        self.log_interval = log_interval
        self.log_interval_time = 0.0
        self.progress_bar = progress_bar
        self.train_start: Any
        self.epoch_start: Any
        self.batch_start: Any
        self.train_start = self.epoch_start = self.batch_start = 0
        self._bar: Any = None

    def _pairs(self):
        return [pair for metric in self.metrics for pair in metric.get_name_value()]

    def _values(self):
        return ', '.join(f'{name}: {value:.4f}' for name, value in self._pairs())

    def train_begin(self, estimator: Estimator, *args: Any, **kwargs: Any) -> Any:
        self.train_start = time.time()
        self.batch_index = self.current_epoch = self.processed_samples = 0
        self.log_interval_time = 0.0
        trainer = estimator.trainer
        estimator.logger.info('Training begin: using optimizer %s with current learning rate %.4f ',
                              type(trainer.optimizer).__name__, trainer.learning_rate)
        if estimator.max_epoch:
            estimator.logger.info('Train for %d epochs.', estimator.max_epoch)
        else:
            estimator.logger.info('Train for %d batches.', estimator.max_batch)

    def train_end(self, estimator: Estimator, *args: Any, **kwargs: Any) -> Any:
        text = f'Train finished using total {int(time.time() - self.train_start)}s with {self.current_epoch} epochs. '
        estimator.logger.info('%s', (text + self._values()).rstrip())

    def epoch_begin(self, estimator: Estimator, *args: Any, **kwargs: Any) -> Any:
        self.epoch_start = time.time()
        # the estimator names its metrics so; the same handler serves training and evaluation
        if any('training' in metric.name for metric in self.metrics):
            estimator.logger.info('[Epoch %d] Begin, current learning rate: %.4f', self.current_epoch,
                                  estimator.trainer.learning_rate)
        else:
            estimator.logger.info('Validation Begin')
        total = estimator.batches_in_epoch
        self._bar = ProgressBar(total) if self.progress_bar and total else None

    def batch_begin(self, estimator: Estimator, *args: Any, **kwargs: Any) -> Any:
        self.batch_start = time.time()

    def batch_end(self, estimator: Estimator, *args: Any, **kwargs: Any) -> Any:
        if self._bar is not None:
            self._bar(types.SimpleNamespace(epoch=self.current_epoch, nbatch=self.batch_index,
                                            eval_metric=types.SimpleNamespace(get_name_value=self._pairs)))
        if self.log_interval != 'epoch':
            self._log_batch(estimator, kwargs['batch'], int(self.log_interval))
        self.batch_index += 1

    def _log_batch(self, estimator, batch, interval):
        self.processed_samples += batch[0].shape[estimator.batch_axis]
        self.log_interval_time += time.time() - self.batch_start
        if self.batch_index % interval == 0:
            text = (f'[Epoch {self.current_epoch}][Batch {self.batch_index}][Samples {self.processed_samples}] '
                    f'time/interval: {self.log_interval_time:.3f}s ')
            estimator.logger.info('%s', (text + self._values()).rstrip())
            self.log_interval_time = 0.0

    def epoch_end(self, estimator: Estimator, *args: Any, **kwargs: Any) -> Any:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
        text = f'[Epoch {self.current_epoch}] Finished in {time.time() - self.epoch_start:.3f}s, '
        estimator.logger.info('%s', (text + self._values()).rstrip(', '))
        self.current_epoch += 1
        self.batch_index = 0


# A part of the name of a metric that is better when it is greater.
_GREATER = ('acc', 'f1', 'mcc', 'pcc', 'pearson')


def _comparison(name, monitor, mode):
    """np.less or np.greater: what makes a value of the metric better than another."""
    if mode not in ('auto', 'min', 'max'):
        warnings.warn(f"{name}: there is no mode {mode!r}, only 'auto', 'min' and 'max'; 'auto' is used",
                      RuntimeWarning, stacklevel=3)
        mode = 'auto'
    if mode == 'auto':
        metric = monitor.get()[0]
        mode = 'max' if any(part in metric.lower() for part in _GREATER) else 'min'
        warnings.warn(f'{name}: {"greater" if mode == "max" else "smaller"} values of {metric} are taken for better. '
                      f"Say so with mode={mode!r}, or the opposite with mode={'min' if mode == 'max' else 'max'!r}",
                      stacklevel=3)
    return np.greater if mode == 'max' else np.less


def _worst(comparison):
    return np.inf if comparison is np.less else -np.inf


class CheckpointHandler(TrainBegin, BatchEnd, EpochEnd):
    """Saves parameters and the trainer's states in `model_dir`, every `epoch_period` epochs or `batch_period` batches.

    The files are `PREFIX-epochNbatchM.params` and `.states`, of which the last `max_checkpoints` are kept; with
    `save_best` those with the best value of `monitor` are `PREFIX-best.*`.  A hybridized network is saved once, as
    `PREFIX-symbol.json`.  With `resume_from_checkpoint` training goes on from the last files in the folder, for as many
    epochs or batches as are left.
    """

    current_batch: int
    current_epoch: int

    def __init__(self, model_dir: Path, model_prefix: str = 'model', monitor: EvalMetric | None = None,
                 verbose: int = 0, save_best: bool = False, mode: str = 'auto', epoch_period: int = 1,
                 batch_period: int | None = None, max_checkpoints: int = 5,
                 resume_from_checkpoint: bool = False) -> None:
        if save_best and not isinstance(monitor, EvalMetric):
            raise ValueError('CheckpointHandler: save_best needs a metric as monitor, one of estimator.train_metrics '
                             f'or estimator.val_metrics, not {monitor!r}')
        os.makedirs(model_dir, exist_ok=True)
        self.model_dir = model_dir
        self.model_prefix = model_prefix
        self.monitor = monitor
        self.verbose = verbose
        self.save_best = save_best
        self.epoch_period = epoch_period
        self.batch_period = batch_period
        self.max_checkpoints = max_checkpoints
        self.resume_from_checkpoint = resume_from_checkpoint
        self.current_batch = self.current_epoch = 0
        self.trained_epoch = self.trained_batch = -1
        self.saved_checkpoints: list[Any] = []
        if save_best:
            self.monitor_op: Any = _comparison('CheckpointHandler', monitor, mode)
            self.best = _worst(self.monitor_op)

    def train_begin(self, estimator: Estimator, *args: Any, **kwargs: Any) -> Any:
        self.current_epoch = self.current_batch = 0
        self.trained_epoch = self.trained_batch = -1
        if self.save_best:
            self.best = _worst(self.monitor_op)
        if self.resume_from_checkpoint:
            by_epochs = bool(estimator.max_epoch)
            if bool(self.epoch_period) != by_epochs or bool(self.batch_period) == by_epochs:
                unit, period = ('epochs', 'epoch_period') if by_epochs else ('batches', 'batch_period')
                raise AssertionError(
                    f'CheckpointHandler: training by {unit} is resumed from checkpoints made by the same count: set '
                    f'{period}, and the other period to None. '
                    f'Given were epoch_period={self.epoch_period} and batch_period={self.batch_period}')
            self._resume(estimator)

    def batch_end(self, estimator: Estimator, *args: Any, **kwargs: Any) -> Any:
        # a network has a graph once it has run
        if self.current_batch == 0:
            self._save_symbol(estimator)
        if self.batch_period and (self.current_batch + 1) % self.batch_period == 0:
            self._save_checkpoint(estimator, self.current_batch + self.trained_batch + 1)
        self.current_batch += 1

    def epoch_end(self, estimator: Estimator, *args: Any, **kwargs: Any) -> Any:
        if self.epoch_period and (self.current_epoch + 1) % self.epoch_period == 0:
            # after an epoch the batches are counted, and before that the last one is named: as upstream's files are
            self._save_checkpoint(estimator, self.current_batch + max(self.trained_batch, 0))
        self.current_epoch += 1

    def _path(self, name):
        return os.path.join(self.model_dir, name)

    def _save_symbol(self, estimator):
        path = self._path(f'{self.model_prefix}-symbol.json')
        graph = getattr(estimator.net, '_cached_graph', None)
        if graph:
            graph[1].save(path)
        else:
            estimator.logger.info('Model architecture is not saved as %s: that needs a HybridBlock on which '
                                  'hybridize() was called', path)

    def _save_checkpoint(self, estimator, batch):
        prefix = f'{self.model_prefix}-epoch{self.current_epoch + self.trained_epoch + 1}batch{batch}'
        self._save(estimator, prefix)
        # the same name again means that the same point was reached by another run
        self.saved_checkpoints = [name for name in self.saved_checkpoints if name != prefix] + [prefix]
        while len(self.saved_checkpoints) > self.max_checkpoints:
            self._remove(self.saved_checkpoints.pop(0))
        if self.verbose > 0:
            estimator.logger.info('[Epoch %d] CheckpointHandler: trained total %d batches, saving model at %s with '
                                  'prefix: %s', self.current_epoch, self.current_batch + 1, self.model_dir, prefix)
        if self.save_best:
            self._save_best(estimator)

    def _save_best(self, estimator):
        name, value = self.monitor.get()        # type: ignore[union-attr]  # save_best needs a monitor: see __init__
        if np.isnan(value):
            warnings.warn(f'CheckpointHandler: {name} has no value, so it is unknown whether this model is the best; '
                          'monitor must be one of estimator.train_metrics or estimator.val_metrics', RuntimeWarning,
                          stacklevel=2)
            return
        better = self.monitor_op(value, self.best)
        if self.verbose > 0 and better:
            estimator.logger.info('[Epoch %d] CheckpointHandler: %s improved from %0.5f to %0.5f, updating best model '
                                  'at %s with prefix: %s-best', self.current_epoch, name, self.best, value,
                                  self.model_dir, self.model_prefix)
        elif self.verbose > 0:
            estimator.logger.info('[Epoch %d] CheckpointHandler: %s did not improve from %0.5f, skipping updating best '
                                  'model', self.current_epoch, name, self.best)
        if better:
            self.best = value
            self._save(estimator, f'{self.model_prefix}-best')

    def _save(self, estimator, prefix):
        # parameters last: where the store is remote, the states are there if the parameters are
        with paths.together(self._path(prefix)):
            estimator.trainer.save_states(self._path(prefix + '.states'))
            estimator.net.save_parameters(self._path(prefix + '.params'))

    def _remove(self, prefix):
        for ending in ('.params', '.states'):
            if os.path.exists(self._path(prefix + ending)):
                os.remove(self._path(prefix + ending))

    def _found(self):
        """(epoch, batch) of the checkpoints in the folder, the oldest first."""
        found = []
        start = f'{self.model_prefix}-epoch'
        for name in os.listdir(self.model_dir):
            if name.startswith(start) and name.endswith('.params'):
                numbers = re.fullmatch(r'(\d+)batch(\d+)\.params', name[len(start):])
                if numbers is None:
                    raise ValueError(f'CheckpointHandler: {self._path(name)} is not named as checkpoints are, '
                                     f'{start}NbatchM.params, so the epoch to resume from is unknown')
                found.append((int(numbers[1]), int(numbers[2])))
        return sorted(found)

    def _resume(self, estimator):
        by_epochs = bool(estimator.max_epoch)
        wanted, unit = (estimator.max_epoch, 'epochs') if by_epochs else (estimator.max_batch, 'batches')
        found = self._found()
        self.saved_checkpoints = [f'{self.model_prefix}-epoch{epoch}batch{batch}' for epoch, batch in found]
        if not found:
            estimator.logger.info('CheckpointHandler: No checkpoint found, training from scratch for %d %s', wanted,
                                  unit)
            return
        epoch, batch = found[-1]
        left = wanted - 1 - (epoch if by_epochs else batch)
        if left <= 0:
            raise ValueError(f'CheckpointHandler: the last checkpoint in {self.model_dir} is that of epoch {epoch}, '
                             f'batch {batch}, so that of {wanted} {unit} none is left. Ask fit for more, or start '
                             'again with resume_from_checkpoint=False')
        estimator.net.load_parameters(self._path(self.saved_checkpoints[-1] + '.params'), ctx=estimator.context)
        estimator.trainer.load_states(self._path(self.saved_checkpoints[-1] + '.states'))
        self.trained_epoch, self.trained_batch = epoch, batch
        if by_epochs:
            estimator.max_epoch = left
        else:
            estimator.max_batch = left
        estimator.logger.warning('CheckpointHandler: Checkpoint resumed from epoch %d batch %d, continue to train for '
                                 '%d %s ', epoch, batch, left, unit)


class EarlyStoppingHandler(TrainBegin, EpochEnd, TrainEnd):
    """Ends training when a metric has not become better by more than `min_delta` for `patience` epochs.

    `baseline` is the value that the first epochs must beat.
    """

    wait: int
    stopped_epoch: int
    current_epoch: int
    stop_training: bool
    best: Any

    def __init__(self, monitor: EvalMetric, min_delta: float = 0, patience: int = 0, mode: str = 'auto',
                 baseline: float | None = None) -> None:
        if not isinstance(monitor, EvalMetric) or isinstance(monitor, CompositeEvalMetric):
            raise ValueError('EarlyStoppingHandler: monitor must be one simple metric of estimator.train_metrics or '
                             f'estimator.val_metrics, not {monitor!r}')
        self.monitor = monitor
        self.baseline = baseline
        self.patience = patience
        self.monitor_op: Any = _comparison('EarlyStoppingHandler', monitor, mode)
        self.min_delta: float = min_delta if self.monitor_op is np.greater else -min_delta
        self.wait = self.stopped_epoch = self.current_epoch = 0
        self.stop_training = False
        self.best = _worst(self.monitor_op) if baseline is None else baseline

    def train_begin(self, estimator: Estimator, *args: Any, **kwargs: Any) -> Any:
        self.wait = self.stopped_epoch = self.current_epoch = 0
        self.stop_training = False
        self.best = _worst(self.monitor_op) if self.baseline is None else self.baseline

    def epoch_end(self, estimator: Estimator, *args: Any, **kwargs: Any) -> Any:
        name, value = self.monitor.get()
        if np.isnan(value):
            warnings.warn(f'EarlyStoppingHandler: {name} has no value; monitor must be one of estimator.train_metrics '
                          'or estimator.val_metrics', RuntimeWarning, stacklevel=2)
        elif self.monitor_op(value - self.min_delta, self.best):
            self.best = value
            self.wait = 0
        else:
            self.wait += 1
            if self.wait >= self.patience:
                self.stopped_epoch = self.current_epoch
                self.stop_training = True
        self.current_epoch += 1
        return self.stop_training

    def train_end(self, estimator: Estimator, *args: Any, **kwargs: Any) -> Any:
        if self.stop_training:
            estimator.logger.info('[Epoch %d] EarlyStoppingHandler: early stopping due to %s not improving',
                                  self.stopped_epoch, self.monitor.get()[0])


class GradientUpdateHandler(BatchEnd):
    """Updates the weights after each batch, for as many samples as there are losses."""

    def __init__(self, priority: float = -2000) -> None:
        self.priority = priority

    def batch_end(self, estimator: Estimator, *args: Any, **kwargs: Any) -> Any:
        loss = kwargs['loss']
        losses = loss if isinstance(loss, (list, tuple)) else [loss]
        estimator.trainer.step(sum(part.shape[0] for part in losses))


_explain_kinds(globals(), __all__)
