"""Checks that the estimator and its handlers share."""
from typing import Any

from ....metric import Accuracy, CompositeEvalMetric, EvalMetric
from ...loss import SoftmaxCrossEntropyLoss


def _check_metrics(metrics):
    """A list of simple metrics: composite ones are taken apart."""
    if isinstance(metrics, EvalMetric):
        metrics = [metrics]
    metrics = list(metrics or ())
    wrong = [metric for metric in metrics if not isinstance(metric, EvalMetric)]
    if wrong:
        raise ValueError(f'metrics must be a metric of mx.metric or a list of them; there is {wrong[0]!r}')
    simple: list[Any] = []
    for metric in metrics:
        simple.extend(_check_metrics(metric.metrics) if isinstance(metric, CompositeEvalMetric) else [metric])
    return simple


def _check_handler_metric_ref(handler, known_metrics):
    """Refuses a handler with metrics that nothing updates."""
    for name, value in vars(handler).items():
        if 'metric' not in name:
            continue
        for metric in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(metric, EvalMetric) and not any(metric is known for known in known_metrics):
                raise ValueError(f'{name} of {type(handler).__name__} has {metric}, which is not among the metrics '
                                 'that are updated: take those of estimator.train_metrics and estimator.val_metrics')


def _suggest_metric_for_loss(loss):
    """The metric that goes with a loss, or None."""
    return Accuracy() if isinstance(loss, SoftmaxCrossEntropyLoss) else None
