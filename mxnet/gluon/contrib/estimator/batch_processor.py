"""What an estimator does with one batch."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .... import autograd
from ...utils import split_and_load

if TYPE_CHECKING:
    from ....gluon.contrib.estimator import Estimator

__all__ = ['BatchProcessor']


class BatchProcessor:
    """Forward and backward of one batch; override the two methods for networks or losses with other arguments.

    Both return (data, label, pred, loss), each a list with an array per context.
    """

    def __init__(self) -> None:
        pass

    def _get_data_and_label(self, batch, ctx, batch_axis=0):
        data, label = batch[0], batch[1]
        # the last batch of an epoch may not divide evenly: contexts then get parts that differ in size
        return (split_and_load(data, ctx, batch_axis, even_split=False),
                split_and_load(label, ctx, batch_axis, even_split=False))

    def evaluate_batch(self, estimator: Estimator, val_batch: Any, batch_axis: int = 0) -> Any:
        """Predictions and losses of a batch, by the network and the loss for validation."""
        data, label = self._get_data_and_label(val_batch, estimator.context, batch_axis)
        pred = [estimator.val_net(x) for x in data]
        loss = [estimator.val_loss(y_hat, y) for y_hat, y in zip(pred, label)]
        return data, label, pred, loss

    def fit_batch(self, estimator: Estimator, train_batch: Any, batch_axis: int = 0) -> Any:
        """Predictions, losses and gradients of a batch; the weights are changed by a GradientUpdateHandler."""
        data, label, pred, loss = self._record(estimator, train_batch, batch_axis)
        for part in loss:
            part.backward()
        return data, label, pred, loss

    def _record(self, estimator, train_batch, batch_axis):
        data, label = self._get_data_and_label(train_batch, estimator.context, batch_axis)
        with autograd.record():
            pred = [estimator.net(x) for x in data]
            loss = [estimator.loss(y_hat, y) for y_hat, y in zip(pred, label)]
        return data, label, pred, loss
