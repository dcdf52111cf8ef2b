"""Metrics of numbers: errors, correlation, and losses that only need to be averaged."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy
import torch

from .._array import NDArrayBase
from .._names import not_an_array
from ._base import EvalMetric, Measured, alias, check_label_shapes, pair, register, tensor_of

if TYPE_CHECKING:
    from .._typing import Arrays

# what NumPy, and so upstream, computes in float64 beside a float32
_WIDE = {torch.int32, torch.int64, torch.float64, torch.uint32, torch.uint64}


def _difference(label, pred):
    """label - prediction, vectors taken as columns, precise enough for a sum."""
    wide = label.dtype in _WIDE or pred.dtype in _WIDE or not (label.is_floating_point() or pred.is_floating_point())
    dtype = torch.float64 if wide and pred.device.type != 'mps' else torch.float32
    columns = [t.to(dtype).unsqueeze(1) if t.dim() == 1 else t.to(dtype) for t in (label, pred)]
    try:
        return columns[0] - columns[1]
    except RuntimeError:
        raise ValueError(f'labels of shape {tuple(label.shape)} do not fit predictions of shape '
                         f'{tuple(pred.shape)}') from None


class _Error(Measured):
    """A number for each pair of arrays, averaged over the pairs."""

    def __init__(self, name: str, output_names: Sequence[str] | None, label_names: Sequence[str] | None) -> None:
        super().__init__(name, output_names=output_names, label_names=label_names, has_global_stats=True)

    @staticmethod
    def _error(difference):
        """The number of a pair of arrays, from their difference."""
        raise NotImplementedError

    def _measure(self, label, pred):
        return (self._error(_difference(label, pred)),), (1,)


@register
class MAE(_Error):
    """The mean absolute error of each batch, averaged over batches."""

    def __init__(self, name: str = 'mae', output_names: Sequence[str] | None = None,
                 label_names: Sequence[str] | None = None) -> None:
        super().__init__(name, output_names, label_names)

    @staticmethod
    def _error(difference):
        return difference.abs().mean()


@register
class MSE(_Error):
    """The mean squared error of each batch, averaged over batches.

    >>> metric = mx.metric.MSE()
    >>> metric.update([mx.nd.array([2.5, 0, 2, 8])], [mx.nd.array([3, -0.5, 2, 7])])
    >>> metric.get()
    ('mse', 0.375)
    """

    def __init__(self, name: str = 'mse', output_names: Sequence[str] | None = None,
                 label_names: Sequence[str] | None = None) -> None:
        super().__init__(name, output_names, label_names)

    @staticmethod
    def _error(difference):
        return difference.square().mean()


@register
class RMSE(_Error):
    """The root of the mean squared error of each batch, averaged over batches."""

    def __init__(self, name: str = 'rmse', output_names: Sequence[str] | None = None,
                 label_names: Sequence[str] | None = None) -> None:
        super().__init__(name, output_names, label_names)

    @staticmethod
    def _error(difference):
        return difference.square().mean().sqrt()


@register
@alias('pearsonr')
class PearsonCorrelation(EvalMetric):
    """Pearson's correlation of labels and predictions: of each batch, averaged ('macro'), or of all ('micro')."""

    def __init__(self, name: str = 'pearsonr', output_names: Sequence[str] | None = None,
                 label_names: Sequence[str] | None = None, average: str | None = 'macro') -> None:
        self.average = average
        super().__init__(name, output_names=output_names, label_names=label_names, average=average,
                         has_global_stats=True)

    def reset_micro(self) -> None:
        """Forgets the running means and squares of 'micro'."""
        self._label_nums = self._pred_nums = 0
        self._mean_l = self._mean_p = 0.0
        self._sse_l = self._sse_p = self._conv = 0.0

    def reset(self) -> None:
        """Resets the metric."""
        super().reset()
        self.reset_micro()
        self._before = (0, 0.0, 0.0, 0.0, 0.0, 0.0)

    def reset_local(self) -> None:
        """Resets what `get` gives, not `get_global`."""
        super().reset_local()
        self._before = self._merged()
        self.reset_micro()

    def update_variance(self, new_values: Any, *aggregate: Any) -> Any:
        """(count, mean, sum of squared deviations) after some more values."""
        count, mean, squares = aggregate
        count += len(new_values)
        delta = new_values - mean
        mean = mean + numpy.sum(delta) / count
        return count, mean, squares + numpy.sum(delta * (new_values - mean))

    def update_cov(self, label: Any, pred: Any) -> Any:
        """Adds to the sum of products of deviations; to be called between the updates of both variances."""
        self._conv = self._conv + numpy.sum((label - self._mean_l) * (pred - self._mean_p))

    def update(self, labels: Arrays, preds: Arrays) -> None:
        """Takes a batch into account: a list of arrays of labels, and one of predictions of the same shapes."""
        labels, preds = check_label_shapes(labels, preds, True)
        for label, pred in zip(labels, preds):
            check_label_shapes(label, pred, False, True)
            # copies: the program may write into its arrays before the correlation is computed
            flat = [t.reshape(-1).to(torch.float64 if t.dtype in _WIDE and t.device.type != 'mps' else torch.float32,
                                     copy=True) for t in pair(label, pred)]
            self._defer(flat)

    def _absorb(self, *values):
        label, pred = values
        label, pred = label.astype(numpy.float64), pred.astype(numpy.float64)
        if self.average == 'macro':
            with numpy.errstate(divide='ignore', invalid='ignore'):     # no spread: nan
                super()._absorb(float(numpy.corrcoef(pred, label)[0, 1]), 1)
            return
        self.num_inst += 1
        self.global_num_inst += 1
        self._label_nums, self._mean_l, self._sse_l = \
            self.update_variance(label, self._label_nums, self._mean_l, self._sse_l)
        self.update_cov(label, pred)
        self._pred_nums, self._mean_p, self._sse_p = \
            self.update_variance(pred, self._pred_nums, self._mean_p, self._sse_p)

    def _merged(self):
        """(count, both means, both sums of squares, sum of products) since `reset`: what was before and what is now."""
        now = (self._label_nums, self._mean_l, self._mean_p, self._sse_l, self._sse_p, self._conv)
        n, m = self._before[0], now[0]
        if not n or not m:
            return now if m else self._before
        label, pred = now[1] - self._before[1], now[2] - self._before[2]
        weight = n * m / (n + m)
        return (n + m, self._before[1] + label * m / (n + m), self._before[2] + pred * m / (n + m),
                self._before[3] + now[3] + label ** 2 * weight, self._before[4] + now[4] + pred ** 2 * weight,
                self._before[5] + now[5] + label * pred * weight)

    def get(self) -> tuple[Any, Any]:
        """(name, value) since the last `reset` or `reset_local`; nan if there was nothing."""
        if self.average == 'macro' or self.num_inst == 0:
            return super().get()
        return self.name, _correlation(self._sse_l, self._sse_p, self._conv)

    def get_global(self) -> tuple[Any, Any]:
        """(name, value) since the last `reset`."""
        if self.average == 'macro' or self.global_num_inst == 0:
            return super().get_global()
        return self.name, _correlation(*self._merged()[3:])


def _correlation(squares, other_squares, products):
    norm = float(numpy.sqrt(squares) * numpy.sqrt(other_squares))
    return float(products) / norm if norm else float('nan')


@register
class Loss(EvalMetric):
    """The mean of the predictions themselves, which are losses; labels are not looked at."""

    def __init__(self, name: str = 'loss', output_names: Sequence[str] | None = None,
                 label_names: Sequence[str] | None = None) -> None:
        super().__init__(name, output_names=output_names, label_names=label_names, has_global_stats=True)

    def update(self, _: Any, preds: Arrays) -> None:
        """Takes a list of arrays of losses into account."""
        if not isinstance(preds, (NDArrayBase, list, tuple)):
            raise TypeError(not_an_array(f'{type(self).__name__}.update: preds', preds))
        for pred in [preds] if isinstance(preds, NDArrayBase) else preds:
            tensor = tensor_of(pred)
            half = tensor.is_floating_point() and tensor.itemsize < 4
            self._defer((tensor.sum(dtype=torch.float32 if half else None),), tensor.numel())


@register
class Torch(Loss):
    """`Loss` under another name."""

    def __init__(self, name: str = 'torch', output_names: Sequence[str] | None = None,
                 label_names: Sequence[str] | None = None) -> None:
        super().__init__(name, output_names=output_names, label_names=label_names)


@register
class Caffe(Loss):
    """`Loss` under another name."""

    def __init__(self, name: str = 'caffe', output_names: Sequence[str] | None = None,
                 label_names: Sequence[str] | None = None) -> None:
        super().__init__(name, output_names=output_names, label_names=label_names)
