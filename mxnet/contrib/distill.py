"""Distillation: a small network learns from the predictions of a large one.

>>> loss_of = mx.contrib.distill.DistillationLoss(temperature=4)
>>> student, teacher = mx.nd.array([[1, 2, 3]]), mx.nd.array([[0, 2, 4]])
>>> loss_of(student, teacher, mx.nd.array([2])).shape
(1,)
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from .._names import suggest_names as _suggest_names
from ..gluon._operators import operator
from ..gluon.loss import Loss

if TYPE_CHECKING:
    from .._typing import BlockOptions

__all__ = ['DistillationLoss']


class DistillationLoss(Loss):
    """How far the predictions of a student are from those of its teacher, and from the labels (Hinton et al., 2015).

    Both are scores before the softmax.  With `p = softmax(teacher / T)` and `q = softmax(student / T)` the loss is

        alpha * T**2 * sum(p * log(p / q)) + (1 - alpha) * cross entropy of the student and the label

    temperature: T; larger ones show more of what the teacher thinks of wrong classes
    alpha: the teacher's share; with 1, or without a label, it alone decides
    sparse_label: labels are numbers of classes, else probabilities

    Inputs: student, teacher, label (or nothing), sample_weight (or nothing).  No gradient goes to the teacher.
    """

    def __init__(self, temperature: float = 4.0, alpha: float = 0.9, axis: int = -1, sparse_label: bool = True,
                 weight: float | None = None, batch_axis: int = 0, **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        if not temperature > 0:
            raise ValueError(f'temperature must be above 0, not {temperature}')
        if not 0 <= alpha <= 1:
            raise ValueError(f'alpha is a share from 0 to 1, not {alpha}')
        self._temperature, self._alpha = float(temperature), float(alpha)
        self._axis, self._sparse_label = axis, sparse_label

    def hybrid_forward(self, F: Any, student: Any, teacher: Any, label: Any = None, sample_weight: Any = None) -> Any:
        block, log_softmax, pick = (operator(F, n) for n in ('BlockGrad', 'log_softmax', 'pick'))
        axis, t = self._axis, self._temperature
        wanted = log_softmax(block(teacher) / t, axis=axis)
        loss = (operator(F, 'exp')(wanted) * (wanted - log_softmax(student / t, axis=axis))).sum(axis=axis) * (t * t)
        if label is not None and self._alpha < 1:
            scores = log_softmax(student, axis=axis)
            hard = -pick(scores, label, axis=axis) if self._sparse_label else -(scores * label).sum(axis=axis)
            loss = loss * self._alpha + hard * (1 - self._alpha)
        return self._mean(F, loss, sample_weight)

    def __repr__(self) -> str:
        return f'{type(self).__name__}(temperature={self._temperature:g}, alpha={self._alpha:g})'


_suggest_names(globals())
