"""Metrics from functions on NumPy arrays."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .._names import kind_of
from ._base import EvalMetric, check_label_shapes, register

if TYPE_CHECKING:
    from .._typing import Arrays


@register
class CustomMetric(EvalMetric):
    """A metric from a function of (label, prediction), both NumPy arrays.

    The function returns a number for the batch, or a pair (sum, count).  `allow_extra_outputs` lets a network have
    more outputs than there are labels.

    >>> metric = mx.metric.CustomMetric(lambda label, pred: (label + pred).mean(), name='mean')
    >>> metric.update([mx.nd.array([1, 2])], [mx.nd.array([3, 4])])
    >>> metric.get()
    ('mean', 5.0)
    """

    def __init__(self, feval: Callable[..., Any], name: str | None = None, allow_extra_outputs: bool = False,
                 output_names: Sequence[str] | None = None, label_names: Sequence[str] | None = None) -> None:
        if not callable(feval):
            raise TypeError(f'CustomMetric: feval must be a function of (label, prediction), not {kind_of(feval)}')
        if name is None:
            name = getattr(feval, '__name__', type(feval).__name__)
            if '<' in name:
                name = f'custom({name})'
        super().__init__(name, feval=feval, allow_extra_outputs=allow_extra_outputs, output_names=output_names,
                         label_names=label_names, has_global_stats=True)
        self._feval = feval
        self._allow_extra_outputs = allow_extra_outputs

    def update(self, labels: Arrays, preds: Arrays) -> None:
        """Calls the function for each pair of a label and a prediction."""
        if not self._allow_extra_outputs:
            labels, preds = check_label_shapes(labels, preds, True)
        for label, pred in zip(labels, preds):
            try:
                result = self._feval(label.asnumpy(), pred.asnumpy())
            except TypeError as error:
                if 'positional argument' in str(error):
                    error.add_note('CustomMetric calls the function with two NumPy arrays: (label, prediction)')
                raise
            total, count = result if isinstance(result, tuple) else (result, 1)
            self.sum_metric += total
            self.global_sum_metric += total
            self.num_inst += count
            self.global_num_inst += count

    def get_config(self) -> dict[str, Any]:
        """Not possible: a function cannot be written down."""
        raise NotImplementedError('a CustomMetric holds a function, which a configuration cannot')


def np(numpy_feval: Callable[..., Any], name: str | None = None, allow_extra_outputs: bool = False) -> CustomMetric:
    """A metric from a function on NumPy arrays; also a decorator.

    >>> @mx.metric.np
    ... def mean_error(label, pred):
    ...     return abs(label - pred).mean()
    >>> mean_error.name
    'mean_error'
    """
    def feval(label, pred):
        return numpy_feval(label, pred)

    if not callable(numpy_feval):
        raise TypeError(f'metric.np takes a function of (label, prediction), not {kind_of(numpy_feval)}')
    feval.__name__ = getattr(numpy_feval, '__name__', type(numpy_feval).__name__)
    return CustomMetric(feval, name, allow_extra_outputs)
