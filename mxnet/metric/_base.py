"""The base of all metrics: sums that may still be on a device, names, configuration, and making a metric by name."""
from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy
import torch

from .. import registry
from .._array import NDArrayBase
from .._dispatch import entering, interceptors
from .._kinds import explain_methods as _explain_methods
from .._names import explain_arguments, kind_of, set_by_init
from .._ops.core import checks
from .._state import state
from .._torch.lists import foreach_copy_
from ..ndarray import _interop

if TYPE_CHECKING:
    from .._typing import Arrays, Metric
    from ..ndarray import NDArray

# Elements that may wait on a device; a number on a GPU occupies a block of SMALLEST.
LIMIT = 1 << 20
SMALLEST = 128
# Batches that are measured together, if their predictions are not larger than this.
BUFFERED = 32
SMALL = 1 << 14


def check_label_shapes(labels: Any, preds: Any, wrap: bool = False, shape: bool = False) -> Any:
    """Raises ValueError unless there are as many labels as predictions.

    With `shape` the shapes of two arrays are compared, else the lengths.  Returns both; with `wrap`, a single array
    becomes a list of one.
    """
    if labels is None or preds is None:
        raise ValueError(f'a metric compares labels with predictions; the '
                         f'{"labels" if labels is None else "predictions"} are '
                         'None')
    for what, given in (('labels', labels), ('predictions', preds)):
        if not hasattr(given, 'shape' if shape else '__len__') or isinstance(given, str):
            raise TypeError(f'a metric compares arrays or lists of arrays; the {what} are {kind_of(given)}')
    one, other = (labels.shape, preds.shape) if shape else (len(labels), len(preds))
    if one != other:
        if shape or hasattr(labels, 'shape') and hasattr(preds, 'shape'):
            raise ValueError(misfit(labels, preds))
        raise ValueError(f'labels and predictions do not fit together: there are {one} labels and {other} predictions')
    if wrap:
        labels = [labels] if isinstance(labels, NDArrayBase) else labels
        preds = [preds] if isinstance(preds, NDArrayBase) else preds
    return labels, preds


def misfit(labels, preds, why=''):
    """The words for a label whose shape does not fit a prediction."""
    return f'labels of shape {tuple(labels.shape)} do not fit predictions of shape {tuple(preds.shape)}{why}'


def tensor_of(array):
    """The tensor of an NDArray, a NumPy array, a list or a tensor, without history."""
    if isinstance(array, NDArrayBase):
        tensor = array.materialize()
        return tensor.detach() if tensor.requires_grad else tensor
    if isinstance(array, torch.Tensor):
        return array.detach()
    # sparse arrays have asnumpy, too
    return _interop.tensor_of(array.asnumpy() if hasattr(array, 'asnumpy') else numpy.asarray(array))


def pair(label, pred):
    """The tensors of a label and a prediction, both where the prediction is."""
    label, pred = tensor_of(label), tensor_of(pred)
    if label.device != pred.device:
        # From pageable memory CUDA takes a copy before the call returns.  From pinned memory it does not, and the
        # next batch may be written there.
        safe = label.device.type == 'cpu' and not label.is_pinned()
        label = label.to(pred.device, non_blocking=safe)
    return label, pred


def _at_hand(tensors):
    """Whether reading them means no waiting."""
    return all(tensor.device.type == 'cpu' for tensor in tensors)


def _fetch(entries):
    """The values of [(tensors, ...), ...]: numbers of tensors without axes, NumPy arrays of others.

    One copy per device and dtype, however many tensors there are.
    """
    groups: dict[Any, list[Any]] = {}
    for row, (tensors, _) in enumerate(entries):
        for column, tensor in enumerate(tensors):
            groups.setdefault((tensor.device, tensor.dtype), []).append((row, column, tensor))
    values = [[None] * len(tensors) for tensors, _ in entries]
    for members in groups.values():
        flat = torch.cat([tensor.reshape(-1) for _, _, tensor in members]).cpu().numpy()
        start = 0
        for row, column, tensor in members:
            end = start + tensor.numel()
            piece = flat[start:end]
            values[row][column] = piece.reshape(tuple(tensor.shape)) if tensor.dim() else piece[0].item()
            start = end
    if checks.records:                  # a GPU has noted an error
        checks.look()
    return values


def _settled(name, what):
    """An attribute that is up to date whenever it is read, and that later news cannot change once it is written."""
    def read(self):
        self._settle()
        try:
            value = self.__dict__[name]
        except KeyError:
            raise AttributeError(f'{type(self).__name__} has no {name} yet: reset() sets it') from None
        # a plain float plus a numpy.float32 would be a float32, and a program's sum lose what it adds
        return numpy.float64(value) if type(value) is float else value

    def write(self, value):
        self._settle()
        self.__dict__[name] = value

    return property(read, write, doc=what)


class EvalMetric:
    """The base class of metrics.

    A metric of one's own adds to `sum_metric` and `num_inst` (and to `global_sum_metric` and `global_num_inst`, if it
    passes has_global_stats=True) in `update`; their quotient is the result:

    >>> class Wrong(mx.metric.EvalMetric):
    ...     def update(self, labels, preds):
    ...         for label, pred in zip(labels, preds):
    ...             self.sum_metric += (label != pred).sum().asscalar()
    ...             self.num_inst += label.size
    >>> wrong = Wrong('wrong')
    >>> wrong.update([mx.nd.array([1, 2])], [mx.nd.array([1, 3])])
    >>> wrong.get()
    ('wrong', 0.5)

    `output_names` and `label_names` choose what `update_dict` looks at; without them it is everything.

    An integer in the place of `output_names`, which was `num` until MXNet 0.11, makes a metric of that many values:
    `sum_metric` and `num_inst` are lists, and `get` gives lists of names and values.
    """

    label_names: Any
    output_names: Any
    name: Any
    num: Any = None             # of programs for MXNet 0.x
    _values: int | None = None  # how many values there are; None: one, which is not in a list

    sum_metric: Any = _settled('sum_metric', 'The sum since the last reset or reset_local.')
    num_inst: Any = _settled('num_inst', 'How much was counted since the last reset or reset_local.')
    global_sum_metric: Any = _settled('global_sum_metric', 'The sum since the last reset.')
    global_num_inst: Any = _settled('global_num_inst', 'How much was counted since the last reset.')

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        explain_arguments(cls)

    def __init__(self, name: str, output_names: Sequence[str] | int | None = None,
                 label_names: Sequence[str] | None = None,
                 **kwargs: Any) -> None:
        self.name = str(name)
        if isinstance(output_names, int):
            self.num = self._values = output_names
            output_names = None
        self.output_names = output_names
        self.label_names = label_names
        self._has_global_stats = kwargs.pop('has_global_stats', False)
        self._kwargs = kwargs
        self.reset()

    # ------------------------------------------------------------------ what waits on a device
    name = output_names = label_names = _kwargs = set_by_init()
    _pending: list = []         # a subclass may forget to call __init__; never written into
    _waiting = 0

    def _defer(self, tensors, *known):
        """Calls `_absorb(*values of tensors, *known)`: now if they are on the CPU, else when someone wants to know."""
        if _at_hand(tensors):
            self._absorb(*(t.numpy() if t.dim() else t.item() for t in tensors), *known)
            return
        if not self._pending:
            self._pending = []
        self._pending.append((tensors, known))
        self._waiting += sum(max(t.numel(), SMALLEST) for t in tensors)
        if self._waiting >= LIMIT:
            self._settle()

    def _settle(self):
        if self._pending:
            entries = self._pending
            self._forget()
            for values, (_, known) in zip(_fetch(entries), entries, strict=True):
                self._absorb(*values, *known)

    def _forget(self):
        self._pending, self._waiting = [], 0

    def _absorb(self, *values):
        """Takes in what `_defer` was given: here (total, count)."""
        total, count = values
        own = self.__dict__         # the properties would look for news again
        own['sum_metric'] += total
        own['global_sum_metric'] += total
        own['num_inst'] += count
        own['global_num_inst'] += count

    def __getstate__(self) -> Any:
        self._settle()
        return self.__dict__.copy()

    # ------------------------------------------------------------------ the interface
    def __str__(self) -> str:
        return f'EvalMetric: {dict(self.get_name_value())}'

    def get_config(self) -> dict[str, Any]:
        """A dict from which `create` makes a metric like this one."""
        return {**self._kwargs, 'metric': type(self).__name__, 'name': self.name,
                'output_names': self.output_names if self._values is None else self._values,
                'label_names': self.label_names}

    def update_dict(self, label: Mapping[str, NDArray], pred: Mapping[str, NDArray]) -> None:
        """As `update`, with arrays by name; `output_names` and `label_names` choose among them."""
        if interceptors and (scope := entering('EvalMetric.update_dict')) is not None:
            with scope:
                return EvalMetric.update_dict(self, label, pred)
        preds = list(pred.values()) if self.output_names is None else [pred[name] for name in self.output_names]
        labels = list(label.values()) if self.label_names is None else [label[name] for name in self.label_names]
        self.update(labels, preds)

    def update(self, labels: Arrays, preds: Arrays) -> None:
        """Takes a batch into account: a list of arrays of labels, and one of predictions."""
        raise NotImplementedError(f'{type(self).__name__} does not define update')

    def reset(self) -> None:
        """Resets the metric."""
        self._forget()
        self.num_inst = 0 if self._values is None else [0] * self._values
        self.sum_metric = 0.0 if self._values is None else [0.0] * self._values
        self.global_num_inst = 0
        self.global_sum_metric = 0.0

    def reset_local(self) -> None:
        """Resets what `get` gives, not `get_global`."""
        if self._values is None and isinstance(self.num_inst, list):
            # a metric with lists of its own, written before MXNet 1.4: `Speedometer` called its `reset`
            self.reset()
            return
        self.num_inst = 0 if self._values is None else [0] * self._values
        self.sum_metric = 0.0 if self._values is None else [0.0] * self._values

    def get(self) -> tuple[Any, Any]:
        """(name, value) since the last `reset` or `reset_local`; nan if there was nothing."""
        if self._values is not None:
            return ([f'{self.name}_{i}' for i in range(self._values)],
                    [_ratio(total, count) for total, count in zip(self.sum_metric, self.num_inst)])
        return self.name, _ratio(self.sum_metric, self.num_inst)

    def get_global(self) -> tuple[Any, Any]:
        """(name, value) since the last `reset`."""
        if not self._has_global_stats:
            return self.get()
        return self.name, _ratio(self.global_sum_metric, self.global_num_inst)

    def get_name_value(self) -> list[tuple[str, float]]:
        """`get` as a list of pairs, also for a metric with several values."""
        return _pairs(*self.get())

    def get_global_name_value(self) -> list[tuple[str, float]]:
        """`get_global` as a list of pairs."""
        return _pairs(*self.get_global())


def _ratio(total, count):
    if count == 0:
        return float('nan')
    value = total / count
    return float(value) if isinstance(value, numpy.floating) else value


def _pairs(name, value):
    names = name if isinstance(name, list) else [name]
    values = value if isinstance(value, list) else [value]
    return list(zip(names, values))


class Measured(EvalMetric):
    """A metric that is a sum over pairs of a label and a prediction.

    `_measure(label, pred)`, a pure function of two tensors, gives (tensors, known): the arguments of `_absorb`,
    first those that are still being computed, then those that follow from the shapes.
    """

    _measure: Any           # of a subclass

    _buffer: _BatchBuffer | None = None

    def update(self, labels: Arrays, preds: Arrays) -> None:
        """Takes a batch into account: a list of arrays of labels, and one of predictions."""
        labels, preds = check_label_shapes(labels, preds, True)
        for label, pred in zip(labels, preds):
            buffer = None if state.naive else self._buffer
            if buffer is not None and buffer.takes(label, pred):
                if buffer.count == BUFFERED:
                    self._flush_buffer()
                continue
            given = tensor_of(label)
            label, pred = pair(given, pred)
            tensors, known = self._measure(label, pred)     # the first of its kind at once: it may be a mistake
            self._defer(tensors, *known)
            if self._joins(label, pred) and not state.naive:
                self._flush_buffer()
                self._buffer = _BatchBuffer(given, pred)

    def _takes(self, label, pred):
        """As `update_dict` with one label and one prediction, if they are like the ones before; else False."""
        kind, buffer = type(self), self._buffer
        if buffer is None or kind.update is not Measured.update or kind.update_dict is not EvalMetric.update_dict \
                or not _OWN.isdisjoint(self.__dict__) or self.output_names is not None or self.label_names is not None \
                or not buffer.takes(label, pred):
            return False
        if buffer.count == BUFFERED:
            self._flush_buffer()
        return True

    _labels_warned = False

    def _check_labels(self, label, classes):
        """Warns once of labels beyond the last class; not of negative ones, with which programs mark padding.

        Predictions of one column are numbers, not scores of classes.
        """
        if self._labels_warned or classes < 2 or label.is_cuda or not label.numel():
            return
        highest = label.max().item()
        if highest >= classes:
            self._labels_warned = True
            warnings.warn(f'metric {self.name}: there is a label {highest:g}, but the predictions have {classes} '
                          f'classes, 0 to {classes - 1}; it counts as wrong, as in MXNet 1.9.1', UserWarning,
                          stacklevel=4)

    def _joins(self, label, pred):
        """Whether batches of this kind, joined along their first axis, measure as one by one."""
        return False

    def _flush_buffer(self):
        if self._buffer is not None and self._buffer.count:
            tensors, known = self._measure(*self._buffer.clear())
            self._defer(tensors, *known)

    def _settle(self):
        self._flush_buffer()
        super()._settle()

    def _forget(self):
        super()._forget()
        if self._buffer is not None:
            self._buffer.count = 0

    def __getstate__(self) -> Any:
        return {key: value for key, value in super().__getstate__().items() if key != '_buffer'}


_OWN = frozenset(('update', 'update_dict'))         # which a program may have put into a single metric


class _BatchBuffer:
    """Copies of small batches of one kind, to be measured together: one measurement costs as much as many copies.

    Labels of a CPU stay there until then, wherever the predictions are.
    """

    __slots__ = ('label_kind', 'pred_kind', 'last', 'together', 'labels', 'preds', 'count')

    def __init__(self, label, pred):
        self.label_kind, self.pred_kind, self.last = _kind(label), _kind(pred), None
        self.together = label.is_cuda == pred.is_cuda
        # lists of views, since indexing costs as much as copying
        self.labels, self.preds = (t.new_empty((BUFFERED, *t.shape)) for t in (label, pred))
        self.labels, self.preds = (self.labels, self.labels.unbind()), (self.preds, self.preds.unbind())
        self.count = 0

    def takes(self, label, pred):
        """Copies a pair of arrays; False if they are of another kind."""
        if not isinstance(label, NDArrayBase) or not isinstance(pred, NDArrayBase) or label._sparse or pred._sparse:
            return False
        label, pred = label.materialize(borrow=True), pred.materialize(borrow=True)
        if _kind(label) != self.label_kind:
            return False
        if pred is not self.last:               # which is that of a CUDA graph otherwise
            if _kind(pred) != self.pred_kind:
                return False
            self.last = pred if pred.is_cuda else None
        count = self.count
        if self.together:
            foreach_copy_([self.labels[1][count], self.preds[1][count]], [label, pred])
        else:
            self.labels[1][count].copy_(label)
            self.preds[1][count].copy_(pred)
        self.count = count + 1
        return True

    def clear(self):
        count, self.count, self.last = self.count, 0, None
        return pair(self.labels[0][:count].flatten(0, 1), self.preds[0][:count].flatten(0, 1))


def _kind(tensor):
    return tensor.shape, tensor.dtype, tensor.get_device(), tensor.requires_grad


register = registry.get_register_func(EvalMetric, 'metric')
alias = registry.get_alias_func(EvalMetric, 'metric')
_create = registry.get_create_func(EvalMetric, 'metric')


def create(metric: Metric, *args: Any, **kwargs: Any) -> EvalMetric:
    """A metric from its name and arguments, a function of (label, prediction), a configuration, or a list of these.

    >>> mx.metric.create('top_k_accuracy', top_k=5).name
    'top_k_accuracy_5'
    >>> mx.metric.create(['acc', 'ce']).get()
    (['accuracy', 'cross-entropy'], [nan, nan])
    """
    if isinstance(metric, type) and issubclass(metric, EvalMetric):
        return metric(*args, **kwargs)
    if callable(metric):
        from ._custom import CustomMetric
        return CustomMetric(metric, *args, **kwargs)
    if isinstance(metric, (list, tuple)):
        return CompositeEvalMetric([create(child, *args, **kwargs) for child in metric])
    return _create(metric, *args, **kwargs)


@register
@alias('composite')
class CompositeEvalMetric(EvalMetric):
    """Several metrics at once: `get` gives a list of names and one of values."""

    def __init__(self, metrics: Sequence[Metric] | None = None, name: str = 'composite',
                 output_names: Sequence[str] | None = None, label_names: Sequence[str] | None = None) -> None:
        self.metrics = []
        super().__init__(name, output_names=output_names, label_names=label_names, has_global_stats=True)
        if metrics is not None and not isinstance(metrics, (list, tuple)):
            raise TypeError(f"{type(self).__name__}: metrics must be a list of metrics or names, such as ['acc'], not "
                            f'{kind_of(metrics)}')
        self.metrics = [create(m) for m in metrics or ()]

    def add(self, metric: Metric) -> None:
        """Adds a metric, or what `create` makes one of."""
        self.metrics.append(create(metric))

    def get_metric(self, index: int) -> EvalMetric:
        """The metric of this number."""
        try:
            return self.metrics[index]
        except IndexError:
            raise ValueError(f'there is no metric {index} among {len(self.metrics)}') from None

    def update_dict(self, labels: Mapping[str, NDArray], preds: Mapping[str, NDArray]) -> None:
        """As `update`, with arrays by name; each metric chooses among those that this one lets through."""
        if self.label_names is not None:
            labels = {name: labels[name] for name in labels if name in self.label_names}
        if self.output_names is not None:
            preds = {name: preds[name] for name in preds if name in self.output_names}
        for metric in self.metrics:
            metric.update_dict(labels, preds)

    def update(self, labels: Arrays, preds: Arrays) -> None:
        """Updates every metric."""
        for metric in self.metrics:
            metric.update(labels, preds)

    def reset(self) -> None:
        """Resets every metric."""
        for metric in self.metrics:
            metric.reset()

    def reset_local(self) -> None:
        """Resets what `get` of every metric looks at."""
        for metric in self.metrics:
            metric.reset_local()

    def get(self) -> tuple[Any, Any]:
        """(names, values) of all metrics since the last `reset` or `reset_local`."""
        return self._all('get')

    def get_global(self) -> tuple[Any, Any]:
        """(names, values) of all metrics since the last `reset`."""
        return self._all('get_global')

    def _all(self, method):
        pairs = [one for metric in self.metrics for one in _pairs(*getattr(metric, method)())]
        return [name for name, _ in pairs], [value for _, value in pairs]

    def get_config(self) -> dict[str, Any]:
        """A dict from which `create` makes a metric like this one."""
        return {**super().get_config(), 'metrics': [metric.get_config() for metric in self.metrics]}


_explain_methods(EvalMetric, 'update_dict')
_explain_methods(Measured, 'update')
_explain_methods(CompositeEvalMetric, 'add get_metric update_dict')
