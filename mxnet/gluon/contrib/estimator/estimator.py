"""The estimator: a training loop that asks handlers at its beginning and end, and at those of epochs and batches."""
from __future__ import annotations

import copy
import logging
import sys
import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ...._names import kind_of
from ...._names import suggest_names as _suggest_names
from ....context import Context, cpu, gpu, num_gpus
from ....metric import Loss as LossMetric
from ...data import DataLoader
from ...loss import Loss
from ...trainer import Trainer
from .batch_processor import BatchProcessor
from .event_handler import (
    BatchBegin,
    BatchEnd,
    EpochBegin,
    EpochEnd,
    EventHandler,
    GradientUpdateHandler,
    LoggingHandler,
    MetricHandler,
    StoppingHandler,
    TrainBegin,
    TrainEnd,
    ValidationHandler,
    _check_event_handlers,
)
from .utils import _check_handler_metric_ref, _check_metrics, _suggest_metric_for_loss

if TYPE_CHECKING:
    from ...._typing import Contexts, Init, Path
    from ....gluon.block import Block
    from ....metric import EvalMetric

__all__ = ['Estimator']

EVENTS = (TrainBegin, EpochBegin, BatchBegin, BatchEnd, EpochEnd, TrainEnd)


class Estimator:
    """Trains a network with a loss, and evaluates it.

    Without `train_metrics` there are the loss and, for SoftmaxCrossEntropyLoss, the accuracy; without `val_metrics`
    copies of those for training.  Their names get 'training ' and 'validation ' in front.  Without a `trainer` it is
    SGD with learning rate 0.001.  The `context`, one or several, is that of the network if it is initialized, else the
    first GPU or the CPU.  `val_net` and `val_loss` are the network and the loss for evaluation, where they differ.

    >>> samples = mx.gluon.data.ArrayDataset(mx.nd.ones((8, 3)), mx.nd.zeros((8,)))
    >>> loader = mx.gluon.data.DataLoader(samples, batch_size=4)
    >>> net = mx.gluon.nn.Dense(2)
    >>> net.initialize()
    >>> trainer = mx.gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1})
    >>> estimator = Estimator(net, mx.gluon.loss.SoftmaxCrossEntropyLoss(), trainer=trainer)
    >>> estimator.logger.setLevel('ERROR')
    >>> estimator.fit(loader, epochs=5)
    >>> estimator.train_metrics[0].get()
    ('training accuracy', 1.0)
    """

    batch_axis: int
    batches_in_epoch: Any

    #: What the estimator and its handlers log to: standard output, from level INFO on.  Add handlers for more.
    logger: logging.Logger = None               # type: ignore[assignment]  # made by __init__

    def __init__(self, net: Block, loss: Loss, train_metrics: EvalMetric | Sequence[EvalMetric] | None = None,
                 val_metrics: EvalMetric | Sequence[EvalMetric] | None = None, initializer: Init | None = None,
                 trainer: Trainer | None = None, context: Contexts | None = None, val_net: Block | None = None,
                 val_loss: Loss | None = None, batch_processor: BatchProcessor | None = None) -> None:
        if not hasattr(net, 'collect_params'):
            raise TypeError(f'Estimator: net must be a Block, not {kind_of(net)}')
        self.net = net
        self.loss: Loss = self._check_loss('loss', loss)
        self.val_net: Block = net if val_net is None else val_net
        self.val_loss: Loss = self.loss if val_loss is None else self._check_loss('val_loss', val_loss)
        self._train_metrics = self._named('training', _check_metrics(train_metrics) or self._default_metrics())
        self._val_metrics = self._named('validation', _check_metrics(val_metrics) or
                                        [copy.deepcopy(metric) for metric in self._train_metrics])
        self.logger = logging.Logger('Estimator', level=logging.INFO)
        self.logger.addHandler(logging.StreamHandler(sys.stdout))
        self.context: Any = self._check_context(context)
        self._initialize(initializer)
        self.trainer: Trainer = self._check_trainer(trainer)
        self.batch_processor: Any = self._check_batch_processor(batch_processor)
        self.max_epoch: Any
        self.max_batch: Any
        self.max_epoch = self.max_batch = None
        self.batch_axis = 0
        #: Batches of the epoch that goes on, None if that is not known; the progress bar reads it.
        self.batches_in_epoch = None

    # Arguments

    @staticmethod
    def _check_loss(name, loss):
        if not isinstance(loss, Loss):
            raise ValueError(f'{name} of an Estimator must be a gluon.loss.Loss, not {loss!r}')
        return loss

    def _default_metrics(self):
        suggested = _suggest_metric_for_loss(self.loss)
        return [*([suggested] if suggested else []), LossMetric(self.loss.name.rstrip('0123456789'))]

    @staticmethod
    def _named(kind, metrics):
        """Puts the kind in front of the names, in place of another kind; a metric may serve several estimators."""
        for metric in metrics:
            metric.name = f'{kind} {metric.name.removeprefix("training ").removeprefix("validation ")}'
        return metrics

    def _check_context(self, context):
        if context:
            contexts = [context] if isinstance(context, Context) else context
            if not isinstance(contexts, (list, tuple)) or not all(isinstance(c, Context) for c in contexts):
                raise ValueError(f'context of an Estimator must be a Context or a list of them, such as mx.cpu() or '
                                 f'[mx.gpu(0), mx.gpu(1)], not {context!r}')
            absent = [c for c in contexts if c.device_type == 'gpu' and c.device_id >= num_gpus()]
            if absent:
                raise AssertionError(f'context of an Estimator: {absent[0]} is not here; there are mx.cpu() and '
                                     f'{num_gpus()} GPUs')
            return list(contexts)
        if self._is_initialized():
            for parameter in self.net.collect_params().values():
                return parameter.list_ctx()
        if num_gpus() > 1:
            warnings.warn('there are several GPUs, and gpu(0) is used; give the Estimator a list, e.g. '
                          'context=[mx.gpu(0), mx.gpu(1)], to use more', stacklevel=3)
        return [gpu(0) if num_gpus() else cpu()]

    def _is_initialized(self):
        try:
            for parameter in self.net.collect_params().values():
                parameter.list_ctx()
        except RuntimeError:
            return False
        return True

    def _initialize(self, initializer):
        if not self._is_initialized():
            # parameters that have values keep them
            self.net.initialize(**({'init': initializer} if initializer else {}), ctx=self.context)
        elif initializer:
            warnings.warn('Network already fully initialized: the initializer of the Estimator is not used. '
                          'net.initialize(init=..., force_reinit=True) initializes it again', stacklevel=3)

    def _check_trainer(self, trainer):
        if trainer is None:
            warnings.warn('No trainer specified: SGD with learning rate 0.001 is used', stacklevel=3)
            return Trainer(self.net.collect_params(), 'sgd', {'learning_rate': 0.001})
        if not isinstance(trainer, Trainer):
            raise ValueError(f'trainer of an Estimator must be a gluon.Trainer, not {trainer!r}')
        return trainer

    @staticmethod
    def _check_batch_processor(processor):
        if processor is None:
            return BatchProcessor()
        for name in ('fit_batch', 'evaluate_batch'):
            if not callable(getattr(processor, name, None)):
                raise ValueError(f'batch_processor of an Estimator must have the methods fit_batch and evaluate_batch; '
                                 f'{type(processor).__name__} has no {name}')
        return processor

    @staticmethod
    def _check_data(name, data):
        if not isinstance(data, DataLoader):
            raise ValueError(f'{name} of an Estimator must be a gluon.data.DataLoader, not {kind_of(data)}. '
                             'Arrays become one with DataLoader(ArrayDataset(data, label), batch_size=...)')

    @property
    def train_metrics(self) -> list[EvalMetric]:
        """The metrics of training, a list."""
        return self._train_metrics

    @property
    def val_metrics(self) -> list[EvalMetric]:
        """The metrics of evaluation, a list."""
        return self._val_metrics

    # Loops

    def fit_batch(self, train_batch: Any, batch_axis: int = 0) -> Any:
        """(data, label, pred, loss) of a batch, with gradients computed: the batch processor's work."""
        return self.batch_processor.fit_batch(self, train_batch, batch_axis)

    def evaluate_batch(self, val_batch: Any, batch_axis: int = 0) -> Any:
        """(data, label, pred, loss) of a batch: the batch processor's work."""
        return self.batch_processor.evaluate_batch(self, val_batch, batch_axis)

    def evaluate(self, val_data: Iterable[Any], batch_axis: int = 0, event_handlers: Any = None) -> None:
        """Computes the metrics for validation on a DataLoader.

        A MetricHandler and a LoggingHandler are added to `event_handlers` if there is none of their kind.
        """
        self._check_data('val_data', val_data)
        for metric in self.val_metrics:
            metric.reset()
        handlers = self._prepare_default_validation_handlers(event_handlers)
        _, epoch_begin, batch_begin, batch_end, epoch_end, _ = self._categorize_handlers(handlers)
        training, self.batches_in_epoch = self.batches_in_epoch, _length(val_data)
        for handler in epoch_begin:
            handler.epoch_begin(self)
        for batch in val_data:
            for handler in batch_begin:
                handler.batch_begin(self, batch=batch)
            _, label, pred, loss = self.evaluate_batch(batch, batch_axis)
            for handler in batch_end:
                handler.batch_end(self, batch=batch, pred=pred, label=label, loss=loss)
        for handler in epoch_end:
            handler.epoch_end(self)
        self.batches_in_epoch = training

    def fit(self, train_data: Iterable[Any], val_data: Iterable[Any] | None = None, epochs: int | None = None,
            event_handlers: Any = None, batches: int | None = None, batch_axis: int = 0,
            log_dir: Path | None = None) -> None:
        """Trains on a DataLoader for a number of epochs, or of batches.

        To `event_handlers` are added what stops at the end, and a GradientUpdateHandler, a MetricHandler, a
        LoggingHandler and, with `val_data`, a ValidationHandler, if there is none of their kind.  A handler that
        returns True at the end of a batch ends the epoch, one that does at the end of an epoch ends training.

        With `log_dir`, metrics and the network are written there for TensorBoard (`contrib.tensorboard`).
        """
        self._check_data('train_data', train_data)
        if bool(epochs) == bool(batches):
            raise ValueError(f'fit needs either epochs or batches; given were epochs={epochs} and batches={batches}')
        self.max_epoch, self.max_batch, self.batch_axis = epochs, batches, batch_axis
        handlers = self._prepare_default_handlers(val_data, event_handlers)
        if log_dir is not None:
            from ....contrib.tensorboard import TensorBoardHandler
            handlers.append(TensorBoardHandler(log_dir))
        train_begin, epoch_begin, batch_begin, batch_end, epoch_end, train_end = self._categorize_handlers(handlers)
        for handler in train_begin:
            handler.train_begin(self)
        fit_batch = self.fit_batch
        if batch_end and self._learns_at_once(batch_end[0]):
            fit_batch, batch_end = self._backward_and_step, batch_end[1:]      # type: ignore[assignment]
        stop = False
        while not stop:
            self.batches_in_epoch = _length(train_data)
            for handler in epoch_begin:
                handler.epoch_begin(self)
            for batch in self.trainer._together(train_data):
                for handler in batch_begin:
                    handler.batch_begin(self, batch=batch)
                _, label, pred, loss = fit_batch(batch, batch_axis)
                # each handler is asked, also after one has said stop
                answers = [handler.batch_end(self, batch=batch, pred=pred, label=label, loss=loss)
                           for handler in batch_end]
                if any(answers):
                    break
            answers = [handler.epoch_end(self) for handler in epoch_end]
            stop = any(answers)
        for handler in train_end:
            handler.train_end(self)

    def _learns_at_once(self, first):
        """Whether nothing reads the gradients of a batch before the update, by the first handler of its end."""
        return type(first) is GradientUpdateHandler and 'batch_end' not in vars(first) \
            and _is_own(self, Estimator) and _is_own(self.batch_processor, BatchProcessor)

    def _backward_and_step(self, batch, batch_axis):
        """`fit_batch`, and what a GradientUpdateHandler does after it."""
        found = self.batch_processor._record(self, batch, batch_axis)
        self.trainer._backward_and_step(found[-1])
        return found

    # Handlers

    def _prepare_default_handlers(self, val_data, event_handlers):
        given = _check_event_handlers(event_handlers)
        added: list[EventHandler] = [StoppingHandler(self.max_epoch, self.max_batch)]
        if not _has(given, GradientUpdateHandler):
            added.append(GradientUpdateHandler())
        if not _has(given, MetricHandler):
            added.append(MetricHandler(metrics=self.train_metrics))
        if val_data is not None and not _has(given, ValidationHandler):
            # now rather than at the end of the first epoch
            self._check_data('val_data', val_data)
            added.append(ValidationHandler(val_data=val_data, eval_fn=self.evaluate))
        if not _has(given, LoggingHandler):
            added.append(LoggingHandler(metrics=self.train_metrics))
        return self._ordered(given, added, [*self.train_metrics, *self.val_metrics])

    def _prepare_default_validation_handlers(self, event_handlers):
        given = _check_event_handlers(event_handlers)
        added: list[EventHandler] = []
        if not _has(given, MetricHandler):
            added.append(MetricHandler(metrics=self.val_metrics))
        if not _has(given, LoggingHandler):
            added.append(LoggingHandler(metrics=self.val_metrics))
        return self._ordered(given, added, self.val_metrics)

    @staticmethod
    def _ordered(given, added, metrics):
        """All handlers, the lowest priority first.  Where own ones are mixed with ours they must share the metrics."""
        if added:
            for handler in given:
                _check_handler_metric_ref(handler, metrics)
        return sorted([*given, *added], key=lambda handler: getattr(handler, 'priority', 0))

    @staticmethod
    def _categorize_handlers(event_handlers):
        """The handlers of each event, in the order of EVENTS."""
        return tuple([handler for handler in event_handlers if isinstance(handler, event)] for event in EVENTS)


def _is_own(thing, cls):
    """Whether `fit_batch` of a thing is that of a class."""
    return getattr(type(thing), 'fit_batch', None) is cls.fit_batch and 'fit_batch' not in vars(thing)


def _has(handlers, kind):
    return any(isinstance(handler, kind) for handler in handlers)


def _length(loader):
    try:
        return len(loader)
    except TypeError:       # a batch sampler of one's own may have no length
        return None


_suggest_names(globals())
