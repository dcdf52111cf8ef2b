"""Metrics of classification."""
from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy
import torch

from ._base import SMALL, EvalMetric, Measured, alias, check_label_shapes, misfit, pair, register

if TYPE_CHECKING:
    from .._typing import Arrays


def _classes(pred, axis):
    """The index of the largest value along an axis."""
    if not -pred.dim() <= axis < pred.dim():
        raise ValueError(f'predictions of shape {tuple(pred.shape)} have no axis {axis} of classes; '
                         'update takes the labels first, then the predictions')
    return pred.to(torch.uint8).argmax(axis) if pred.dtype is torch.bool else pred.argmax(axis)


def _whole(tensor):
    """As integers; labels mostly come as floats."""
    return tensor.long() if tensor.is_floating_point() or tensor.dtype is torch.bool else tensor


def _precise(tensor):
    """At least float32: in halves, eps is nothing and a sum soon infinite."""
    return tensor if tensor.dtype in (torch.float32, torch.float64) else tensor.float()


def _same_count(label, pred, given):
    """Raises ValueError unless each prediction, of which there is a class, has a label."""
    if label.numel() != pred.numel():
        raise ValueError(misfit(label, given, f': {label.numel()} labels for {pred.numel()} predicted classes'))


@register
@alias('acc')
class Accuracy(Measured):
    """The share of predictions that are right.

    A prediction is the index of a class, or scores of all classes along `axis`.

    >>> metric = mx.metric.Accuracy()
    >>> metric.update([mx.nd.array([0, 1, 1])], [mx.nd.array([[0.3, 0.7], [0, 1.], [0.4, 0.6]])])
    >>> metric.get()
    ('accuracy', 0.6666666666666666)
    """

    def __init__(self, axis: int = 1, name: str = 'accuracy', output_names: Sequence[str] | None = None,
                 label_names: Sequence[str] | None = None) -> None:
        super().__init__(name, axis=axis, output_names=output_names, label_names=label_names, has_global_stats=True)
        self.axis = axis

    def _measure(self, label, pred):
        given = pred
        pred = _classes(pred, self.axis) if pred.shape != label.shape else _whole(pred)
        _same_count(label, pred, given)
        label = _whole(label)
        if given.shape != pred.shape:
            self._check_labels(label, given.shape[self.axis])
        right = pred == label if pred.shape == label.shape else pred.reshape(-1) == label.reshape(-1)
        return (right.sum(),), (pred.numel(),)

    def _joins(self, label, pred):
        apart = pred.shape == label.shape or self.axis % pred.dim() > 0
        return apart and 0 < pred.numel() <= SMALL and label.dim() > 0


@register
@alias('top_k_accuracy', 'top_k_acc')
class TopKAccuracy(Measured):
    """The share of samples whose label is among the `top_k` highest scores."""

    def __init__(self, top_k: int = 1, name: str = 'top_k_accuracy', output_names: Sequence[str] | None = None,
                 label_names: Sequence[str] | None = None) -> None:
        super().__init__(name, top_k=top_k, output_names=output_names, label_names=label_names, has_global_stats=True)
        if top_k <= 1:
            raise AssertionError(f'top_k is {top_k}; use Accuracy for fewer than 2')
        self.top_k = top_k
        self.name += f'_{top_k}'

    def get_config(self) -> dict[str, Any]:
        """A dict from which `create` makes a metric like this one."""
        return {**super().get_config(), 'name': self.name.removesuffix(f'_{self.top_k}')}

    def _measure(self, label, pred):
        if pred.dim() != 2:
            raise AssertionError(f'predictions must have the shape (samples, classes), not {tuple(pred.shape)}')
        samples, classes = pred.shape
        if label.numel() != samples:
            raise ValueError(misfit(label, pred, f': {label.numel()} labels for {samples} predictions'))
        if self.top_k > classes:
            raise ValueError(f'{type(self).__name__}: top_k={self.top_k}, but predictions of shape {tuple(pred.shape)} '
                             f'have {classes} classes')
        self._check_labels(label, classes)
        best = _precise(pred).topk(self.top_k, sorted=False).indices
        return ((best == _whole(label).reshape(-1, 1)).sum(),), (samples,)

    def _joins(self, label, pred):
        return 0 < pred.numel() <= SMALL and label.dim() > 0


class _Counts:
    """Right and wrong answers of two classes."""

    def __init__(self, right_yes=0, wrong_yes=0, wrong_no=0, right_no=0):
        self.right_yes, self.wrong_yes, self.wrong_no, self.right_no = right_yes, wrong_yes, wrong_no, right_no

    def __add__(self, other):
        return _Counts(self.right_yes + other.right_yes, self.wrong_yes + other.wrong_yes,
                       self.wrong_no + other.wrong_no, self.right_no + other.right_no)

    @property
    def total(self):
        return self.right_yes + self.wrong_yes + self.wrong_no + self.right_no

    def f1(self):
        """The harmonic mean of precision and recall; 0 where either has nothing to be measured on."""
        if not self.right_yes:
            return 0.0
        precision = self.right_yes / (self.right_yes + self.wrong_yes)
        recall = self.right_yes / (self.right_yes + self.wrong_no)
        return 2 * precision * recall / (precision + recall)

    def mcc(self):
        """Matthews' correlation coefficient; empty rows and columns of the table count as 1."""
        if not self.total:
            return 0.0
        sums = (self.right_yes + self.wrong_yes, self.right_yes + self.wrong_no,
                self.right_no + self.wrong_yes, self.right_no + self.wrong_no)
        norm = math.prod(float(n) for n in sums if n)
        return (self.right_yes * self.right_no - self.wrong_yes * self.wrong_no) / math.sqrt(norm)


class _TwoClasses(EvalMetric):
    """A score of a two by two table, per update ('macro') or of all updates together ('micro')."""

    _score: staticmethod
    _batch: _Counts
    _local: _Counts
    _global: _Counts

    def __init__(self, name: str, output_names: Sequence[str] | None, label_names: Sequence[str] | None,
                 average: str | None) -> None:
        if average not in ('macro', 'micro', None):
            warnings.warn(f"{type(self).__name__}: average must be 'macro' or 'micro', not {average!r}; it counts as "
                          f"'micro', as in MXNet 1.9.1", stacklevel=4)
        self.average = average
        super().__init__(name, output_names=output_names, label_names=label_names, average=average,
                         has_global_stats=True)

    def update(self, labels: Arrays, preds: Arrays) -> None:
        """Takes a batch into account: a list of arrays of labels, and one of scores of two classes."""
        labels, preds = check_label_shapes(labels, preds, True)
        for number, (label, pred) in enumerate(zip(labels, preds), 1):
            label, pred = pair(label, pred)
            predicted, label = _classes(pred, 1), _whole(label).reshape(-1)
            if predicted.dim() != 1:
                raise ValueError(f'{self.name}: predictions must have the shape (samples, classes), '
                                 f'not {tuple(pred.shape)}')
            _same_count(label, predicted, pred)
            predicted, actual = predicted == 1, label == 1
            # a third class is one between the smallest and the largest: no sorting, no waiting
            other = ((label != label.min()) & (label != label.max())).any() if label.numel() else label.sum()
            self._defer(((predicted & actual).sum(), predicted.sum(), actual.sum(), other), label.numel(),
                        number == len(labels))

    def _absorb(self, *values):
        both, predicted, actual, other, count, last = values
        if other:
            raise ValueError(f'{self.name} is for two classes; the labels have more')
        self._batch += _Counts(both, predicted - both, actual - both, count - predicted - actual + both)
        if not last:
            return
        batch, self._batch = self._batch, _Counts()
        if self.average == 'macro':
            super()._absorb(self._score(batch), 1)
            return
        self._local += batch
        self._global += batch
        self.num_inst, self.global_num_inst = self._local.total, self._global.total
        self.sum_metric = self._score(self._local) * self._local.total
        self.global_sum_metric = self._score(self._global) * self._global.total

    def reset(self) -> None:
        """Resets the metric."""
        super().reset()
        self._batch, self._local, self._global = _Counts(), _Counts(), _Counts()

    def reset_local(self) -> None:
        """Resets what `get` gives, not `get_global`."""
        super().reset_local()
        self._local = _Counts()


@register
class F1(_TwoClasses):
    """The F1 score of two classes: 2 * precision * recall / (precision + recall), class 1 being the positive one.

    `average='macro'` takes the mean over updates, 'micro' one score of all samples.

    >>> metric = mx.metric.F1()
    >>> metric.update([mx.nd.array([0., 1., 1.])], [mx.nd.array([[0.3, 0.7], [0., 1.], [0.4, 0.6]])])
    >>> metric.get()
    ('f1', 0.8)
    """

    _score = staticmethod(_Counts.f1)

    def __init__(self, name: str = 'f1', output_names: Sequence[str] | None = None,
                 label_names: Sequence[str] | None = None, average: str | None = 'macro') -> None:
        super().__init__(name, output_names, label_names, average)


@register
class MCC(_TwoClasses):
    """Matthews' correlation coefficient of two classes: 1 all right, 0 no better than chance, -1 all wrong.

    `average='macro'` takes the mean over updates, 'micro' one coefficient of all samples.  `PCC` is for more classes.
    """

    _score = staticmethod(_Counts.mcc)

    def __init__(self, name: str = 'mcc', output_names: Sequence[str] | None = None,
                 label_names: Sequence[str] | None = None, average: str | None = 'macro') -> None:
        super().__init__(name, output_names, label_names, average)


@register
class PCC(EvalMetric):
    """Matthews' correlation coefficient for any number of classes, of all samples together.

    It is the Pearson correlation of predicted and actual classes, from their table (`lcm` since the last
    `reset_local`, `gcm` since the last `reset`).
    """

    lcm: numpy.ndarray[Any, Any]
    gcm: numpy.ndarray[Any, Any]

    def __init__(self, name: str = 'pcc', output_names: Sequence[str] | None = None,
                 label_names: Sequence[str] | None = None, has_global_stats: bool = True) -> None:
        self.k = 2
        super().__init__(name, output_names=output_names, label_names=label_names, has_global_stats=has_global_stats)

    def update(self, labels: Arrays, preds: Arrays) -> None:
        """Takes a batch into account; predictions are classes, or scores of all classes."""
        labels, preds = check_label_shapes(labels, preds, True)
        for number, (label, pred) in enumerate(zip(labels, preds), 1):
            label, pred = pair(label, pred)
            given, pred = pred, _classes(pred, 1) if pred.shape != label.shape else pred
            _same_count(label, pred, given)
            # copies: the program may write into its arrays before the table is made
            flat = [t.reshape(-1).to(torch.int32, copy=True) for t in (pred, label)]
            self._defer(flat, number == len(labels))

    def _absorb(self, *values):
        pred, label, last = values
        if pred.size:
            if min(pred.min(), label.min()) < 0:
                raise ValueError(f'{self.name}: classes are counted from 0; there is a '
                                 f'{min(pred.min(), label.min())}')
            self._grow(int(max(pred.max(), label.max())) + 1)
            cells = numpy.bincount(pred.astype(numpy.int64) * self.k + label, minlength=self.k ** 2)
            self.lcm += cells.reshape(self.k, self.k)
            self.gcm += cells.reshape(self.k, self.k)
        if last:
            self.num_inst += 1
            self.global_num_inst += 1

    def _grow(self, classes):
        more = classes - self.k
        if more > 0:
            self.lcm, self.gcm = numpy.pad(self.lcm, (0, more)), numpy.pad(self.gcm, (0, more))
            self.k = classes

    @staticmethod
    def _correlation(table):
        total, rows, columns = table.sum(), table.sum(1), table.sum(0)
        spread = numpy.sum(rows * (total - rows)) * numpy.sum(columns * (total - columns))
        if spread == 0:
            return float('nan')
        return float(numpy.sum(table.diagonal() * total - rows * columns) / spread ** 0.5)

    @property
    def sum_metric(self) -> Any:
        """The value, times the number of updates."""
        return self.num_inst * self._correlation(self.lcm)

    @property
    def global_sum_metric(self) -> Any:
        """The value since the last `reset`, times the number of updates."""
        return self.global_num_inst * self._correlation(self.gcm)

    def get(self) -> tuple[Any, Any]:
        """(name, value) since the last `reset` or `reset_local`; nan if there was nothing."""
        return self.name, self._correlation(self.lcm) if self.num_inst else float('nan')

    def get_global(self) -> tuple[Any, Any]:
        """(name, value) since the last `reset`."""
        if not self._has_global_stats:
            return self.get()
        return self.name, self._correlation(self.gcm) if self.global_num_inst else float('nan')

    def reset(self) -> None:
        """Resets the metric."""
        self._forget()
        self.global_num_inst = 0
        self.gcm = numpy.zeros((self.k, self.k))
        self.reset_local()

    def reset_local(self) -> None:
        """Resets what `get` gives, not `get_global`."""
        self.num_inst = 0
        self.lcm = numpy.zeros((self.k, self.k))


@register
class Perplexity(Measured):
    """exp of the mean negative logarithm of the probability that was given to what came.

    Labels equal to `ignore_label` do not count (None: all do); `axis` is the axis of classes.

    >>> metric = mx.metric.Perplexity(ignore_label=None)
    >>> metric.update([mx.nd.array([0, 1])], [mx.nd.array([[0.5, 0.5], [0.5, 0.5]])])
    >>> round(metric.get()[1], 6)
    2.0
    """

    def __init__(self, ignore_label: int | None, axis: int = -1, name: str = 'perplexity',
                 output_names: Sequence[str] | None = None, label_names: Sequence[str] | None = None) -> None:
        super().__init__(name, ignore_label=ignore_label, axis=axis, output_names=output_names,
                         label_names=label_names, has_global_stats=True)
        self.ignore_label = ignore_label
        self.axis = axis

    def _measure(self, label, pred):
        classes = pred.shape[self.axis]
        if label.numel() * classes != pred.numel():
            raise AssertionError(f'{self.name}: labels of shape {tuple(label.shape)} do not fit predictions of shape '
                                 f'{tuple(pred.shape)}')
        scores = _precise(pred).movedim(self.axis, -1).reshape(-1, classes)
        flat = label.reshape(-1)
        # a label outside of the classes is mostly the one that is ignored
        chosen = scores.gather(1, flat.long().clamp(0, classes - 1).unsqueeze(1)).squeeze(1)
        if self.ignore_label is None:
            return (-chosen.clamp(min=1e-10).log().sum(),), (0, flat.numel())
        ignored = flat == self.ignore_label
        chosen = torch.where(ignored, 1.0, chosen)
        return (-chosen.clamp(min=1e-10).log().sum(), ignored.sum()), (flat.numel(),)

    def _absorb(self, *values):
        total, ignored, count = values
        super()._absorb(total, count - ignored)

    def get(self) -> tuple[Any, Any]:
        """(name, value) since the last `reset` or `reset_local`; nan if there was nothing."""
        return self.name, math.exp(super().get()[1])

    def get_global(self) -> tuple[Any, Any]:
        """(name, value) since the last `reset`."""
        return self.name, math.exp(super().get_global()[1])


class _LogLikelihood(Measured):
    """-log(probability of the label + eps), summed over samples."""

    def __init__(self, eps: float, name: str, output_names: Sequence[str] | None,
                 label_names: Sequence[str] | None) -> None:
        super().__init__(name, eps=eps, output_names=output_names, label_names=label_names, has_global_stats=True)
        self.eps = eps

    def _measure(self, label, pred):
        if pred.dim() < 2 or label.numel() != pred.shape[0]:
            raise AssertionError(f'{self.name}: {misfit(label, pred)}')
        classes = pred.shape[1]
        if not label.numel():
            return (), (0.0, 0, 0, 0, classes)
        chosen = label.reshape(-1).long()
        # a GPU does not survive an index out of range: wrap them all, and look at the ends of the range later
        ends = chosen.aminmax()
        chosen = chosen.remainder(classes)
        if pred.dim() == 2:
            scores = _precise(pred).gather(1, chosen.unsqueeze(1))
        else:
            scores = _precise(pred)[torch.arange(len(chosen), device=pred.device), chosen]
        return ((scores + self.eps).log().sum(), ends.min, ends.max), (label.numel(), classes)

    def _absorb(self, *values):
        total, low, high, count, classes = values
        if not -classes <= low <= high < classes:
            raise IndexError(f'{self.name}: the labels go from {low} to {high}, but there are {classes} classes')
        super()._absorb(-total, count)


@register
@alias('ce')
class CrossEntropy(_LogLikelihood):
    """The mean of -log(p + eps), p being the probability that was given to the label.

    >>> metric = mx.metric.CrossEntropy()
    >>> metric.update([mx.nd.array([0, 1])], [mx.nd.array([[1, 0], [0, 1]])])
    >>> metric.get()
    ('cross-entropy', 0.0)
    """

    def __init__(self, eps: float = 1e-12, name: str = 'cross-entropy', output_names: Sequence[str] | None = None,
                 label_names: Sequence[str] | None = None) -> None:
        super().__init__(eps, name, output_names, label_names)


@register
@alias('nll_loss')
class NegativeLogLikelihood(_LogLikelihood):
    """The mean of -log(p + eps), p being the probability that was given to the label."""

    def __init__(self, eps: float = 1e-12, name: str = 'nll-loss', output_names: Sequence[str] | None = None,
                 label_names: Sequence[str] | None = None) -> None:
        super().__init__(eps, name, output_names, label_names)
