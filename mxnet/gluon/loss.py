"""Losses: how wrong predictions are, one number for every sample.

All take an optional `weight`, a number that the loss is multiplied by, and (where it makes sense) `sample_weight`, an
array of weights that broadcasts with the loss.  `batch_axis` is the axis of the samples.  They work on arrays and on
symbols, in np mode and outside.
"""
from __future__ import annotations

import copy
import math
import warnings
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Unpack

from .._lazy.defer import NotInferred
from .._names import kind_of
from .._names import suggest_names as _suggest_names
from .._state import state
from ..base import MXNetError, numeric_types
from ..ndarray import NDArray
from ..symbol import Symbol
from ..util import is_np_array
from ._operators import contrib, operator
from ._structure import takes_symbols
from .block import HybridBlock

if TYPE_CHECKING:
    from .._typing import Arrays, BlockOptions, Value

__all__ = ['CTCLoss', 'CosineEmbeddingLoss', 'HingeLoss', 'HuberLoss', 'KLDivLoss', 'L1Loss', 'L2Loss', 'LogisticLoss',
           'Loss', 'PoissonNLLLoss', 'SDMLLoss', 'SigmoidBCELoss', 'SigmoidBinaryCrossEntropyLoss', 'SoftmaxCELoss',
           'SoftmaxCrossEntropyLoss', 'SquaredHingeLoss', 'TripletLoss']

TINY = 1e-12                  # keeps logarithms and quotients finite


def _apply_weighting(F, loss, weight=None, sample_weight=None):
    if sample_weight is not None:
        loss = operator(F, 'broadcast_mul')(loss, sample_weight)
    if weight is not None:
        if not isinstance(weight, numeric_types):
            raise AssertionError(f'weight of a loss must be a number, not {kind_of(weight)}; sample_weight may '
                                 'be an array')
        loss = loss * weight
    return loss


def _reshape_like(F, x, y):
    """`x` in the shape of `y`: labels often come as (N,) for predictions of (N, 1)."""
    if isinstance(x, NDArray) and isinstance(y, NDArray):
        return x if x.shape == y.shape else x.reshape(y.shape)
    return operator(F, 'reshape_like')(x, y)


def _broadcast(one, other):
    """Whether arrays of these shapes broadcast."""
    return all(a == b or 1 in (a, b) for a, b in zip(reversed(one), reversed(other), strict=False))


def _softplus(F, x):
    return operator(F, 'Activation')(x, act_type='softrelu')


class MisfitLabel(MXNetError, ValueError):
    """A label whose shape does not fit the prediction."""

    signed = True               # it names the loss, see `Block._sign`


class Loss(HybridBlock):
    """What all losses share.  One of your own defines `hybrid_forward`."""

    def __init__(self, weight: float | None, batch_axis: int, **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(**kwargs)
        self._weight: Any
        self._weight, self._batch_axis = weight, batch_axis

    def __repr__(self) -> str:
        return f'{type(self).__name__}(batch_axis={self._batch_axis}, w={self._weight})'

    if TYPE_CHECKING:
        def __call__(self, x: Value, /,  # type: ignore[override]
                     *args: Arrays | Symbol | float | None) -> Value: ...

    @takes_symbols
    def forward(self, x: Any, *args: Any) -> Any:
        """The loss.  After a hybridized network, a loss of this module is part of its step (_lazy/step.py)."""
        try:
            if not self._active and type(self).__module__ == __name__ and not state.naive:
                deferred = self._deferred(args, getattr(x, '_pending', None) is not None)
                if deferred is not None:
                    try:
                        out = deferred(x, *args)
                    except NotInferred:         # its operators say what is wrong, if anything is
                        return super().forward(x, *args)
                    if not self._forward_hooks and not self._forward_pre_hooks:
                        self.__dict__['_bound_call'] = deferred._bound_call
                    return out
            return super().forward(x, *args)
        except (ValueError, TypeError, AttributeError, MXNetError) as error:
            self._explain(x, args, error)
            raise

    _label_names: tuple[str, ...] = ('label',)      # what the arguments behind the prediction are called

    def _explain(self, pred, args, error):
        """Raises, after an error, what is wrong with a label."""
        if isinstance(pred, Symbol) or any(isinstance(a, Symbol) for a in args) or not self._label_names \
                or type(self).__module__ != __name__:
            return
        name = type(self).__name__
        if not args:
            raise TypeError(f'{name} compares a prediction with a label: call it with both') from error
        for what, array in zip(('prediction', *self._label_names), (pred, *args), strict=False):
            if not isinstance(array, NDArray):
                kind = 'None' if array is None else kind_of(array)
                raise TypeError(f'{name}: the {what} must be an NDArray, not {kind}; mx.nd.array converts it') \
                    from error
        for what, array in zip(self._label_names, args, strict=False):
            expected = self._expected(what, pred.shape)
            if array.shape not in expected and not (expected[0] == pred.shape and array.size == pred.size):
                shapes = ' or '.join(map(str, dict.fromkeys(expected)))
                raise MisfitLabel(f'{name}: the {what} has shape {array.shape}, but for a prediction of shape '
                                  f'{pred.shape} it must have {shapes}{self._hint(array.shape, pred.shape)}') from error
        if len(args) > len(self._label_names) and isinstance(args[len(self._label_names)], NDArray) \
                and not _broadcast(args[len(self._label_names)].shape, pred.shape):
            raise MisfitLabel(f'{name}: the sample_weight has shape {args[len(self._label_names)].shape}, which does '
                              f'not broadcast with a prediction of shape {pred.shape}: {error}') from error

    def _expected(self, what, shape):
        """Shapes that a label may have for a prediction of a shape."""
        return [shape]

    def _hint(self, label, pred):
        """What is probably wrong with a label of a shape that does not fit."""
        if label == pred and getattr(self, '_sparse_label', False):
            return '; if it holds a probability for each class (one-hot), create the loss with sparse_label=False'
        return '; the prediction is the first argument' if len(label) > len(pred) else ''

    def _deferred(self, args, wanted):
        """A hybridized copy of a loss that is not: its graph holds the attributes that the loss has now, and which of
        the optional arguments are given.

        None unless it is wanted, and the first time: the loss may never be used again, and its operators are deferred
        one by one.
        """
        copies = self.__dict__.setdefault('_copies', {})
        key = tuple([x is None for x in args])
        found = copies.setdefault(key, False)
        if found is False:
            copies[key] = None
        if not wanted:
            return None
        if found is None:
            found = copy.copy(self)
            found._forward_hooks, found._forward_pre_hooks = OrderedDict(), OrderedDict()       # this loss calls them
            found._active = found._is_copy = True
            copies[key] = found
        return found or None

    _is_copy = False

    def _build_cache(self, *args):
        super()._build_cache(*args)
        self._cached_op.deferral.only_inferred = self._is_copy

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        self._drop_copies()

    def __delattr__(self, name: str) -> None:
        super().__delattr__(name)
        self._drop_copies()

    def _drop_copies(self):
        """Copies, and calls bound to them, have the attributes of before."""
        if '_copies' in self.__dict__:
            del self.__dict__['_copies']
            self.__dict__['_bound_call'] = None

    def __getstate__(self) -> Any:
        return {key: value for key, value in super().__getstate__().items() if key != '_copies'}

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f'{type(self).__name__} has no hybrid_forward')

    def _mean(self, F, loss, sample_weight, weight=None):
        """The weighted mean for every sample."""
        loss = _apply_weighting(F, loss, self._weight if weight is None else weight, sample_weight)
        return operator(F, 'mean')(loss, axis=self._batch_axis, exclude=True)


class L2Loss(Loss):
    """Half the squared difference: `weight / 2 * (label - pred)^2`, the mean for every sample.

    >>> mx.gluon.loss.L2Loss()(mx.nd.array([[1, 2], [3, 4]]), mx.nd.array([[1, 4], [3, 4]])).asnumpy().tolist()
    [1.0, 0.0]
    """

    def __init__(self, weight: float | None = 1.0, batch_axis: int = 0, **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        label = _reshape_like(F, label, pred)
        return self._mean(F, operator(F, 'square')(label - pred), sample_weight, self._weight / 2)


class L1Loss(Loss):
    """The absolute difference, the mean for every sample."""

    def __init__(self, weight: float | None = None, batch_axis: int = 0, **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        label = _reshape_like(F, label, pred)
        return self._mean(F, operator(F, 'abs')(label - pred), sample_weight)


class SigmoidBinaryCrossEntropyLoss(Loss):
    """Cross entropy of yes and no: labels are 1 or 0 (or in between).

    `pred` is what goes into a sigmoid, or with `from_sigmoid` what comes out of it; the first is more exact.
    `pos_weight` weighs the positive samples, one value a class.
    """

    def __init__(self, from_sigmoid: bool = False, weight: float | None = None, batch_axis: int = 0,
                 **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._from_sigmoid = from_sigmoid

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None, pos_weight: Any = None) -> Any:
        label = _reshape_like(F, label, pred)
        relu, log, multiply = (operator(F, name) for name in ('relu', 'log', 'broadcast_mul'))
        if self._from_sigmoid:
            positive = log(pred + TINY) * label
            if pos_weight is not None:
                positive = multiply(positive, pos_weight)
            loss = -(positive + log(1.0 - pred + TINY) * (1.0 - label))
        else:
            # log(1 + exp(-|x|)) never overflows
            rest = _softplus(F, -operator(F, 'abs')(pred))
            if pos_weight is None:
                loss = relu(pred) - pred * label + rest
            else:
                loss = pred - pred * label + (multiply(pos_weight - 1, label) + 1) * (rest + relu(-pred))
        return self._mean(F, loss, sample_weight)


SigmoidBCELoss = SigmoidBinaryCrossEntropyLoss


class SoftmaxCrossEntropyLoss(Loss):
    """Softmax along an axis, then cross entropy.

    Labels are class numbers (`sparse_label`) or probabilities in the shape of `pred`.  With `from_logits`, `pred` has
    log-probabilities already.

    >>> loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    >>> loss(mx.nd.array([[0, 0], [2, 0]]), mx.nd.array([1, 0])).asnumpy().astype('float64').round(4).tolist()
    [0.6931, 0.1269]
    """

    def __init__(self, axis: int = -1, sparse_label: bool = True, from_logits: bool = False,
                 weight: float | None = None, batch_axis: int = 0, **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._axis, self._sparse_label, self._from_logits = axis, sparse_label, from_logits

    def _expected(self, what, shape):
        if not self._sparse_label:
            return [shape]
        axis = self._axis % len(shape) if shape else 0
        return [shape[:axis] + shape[axis + 1:], shape[:axis] + (1,) + shape[axis + 1:]]

    if not TYPE_CHECKING:               # its types are those of Loss
        def __call__(self, *args: Any) -> Any:
            if self._unchecked and self._sparse_label and len(args) == 2:   # a sample_weight may mask such labels
                calls = self.__dict__['_calls'] = self._calls + 1
                if calls <= 32 or not calls % 8:
                    self._check_labels(*args)
            return super().__call__(*args)

    _unchecked = True           # becomes False after a warning
    _calls = 0

    def _check_labels(self, pred, label):
        """Warns of labels that are not classes: `pick` takes the nearest class for them, as in MXNet 1.9.1.

        Only labels in CPU memory that are computed already are checked: those of the first 32 calls, then of one call
        in eight, so that checks (some microseconds each) cost little in a loop of short steps.
        """
        if not isinstance(pred, NDArray) or not isinstance(label, NDArray):
            return
        if not pred.shape or label._pending is not None or label._sparse or label._ctx.device_typeid == 2 \
                or not label.size:
            return
        if not -len(pred.shape) <= self._axis < len(pred.shape):
            raise MisfitLabel(f'{type(self).__name__}: a prediction of shape {pred.shape} has no axis {self._axis} of '
                              f'classes')
        classes = pred.shape[self._axis]
        low, high = (value.item() for value in label.materialize().aminmax())
        if low < 0 or high >= classes:
            self.__dict__['_unchecked'] = False
            warnings.warn(f'{type(self).__name__}: the labels go from {low:g} to {high:g}, but the prediction of shape '
                          f'{pred.shape} has {classes} classes, 0 to {classes - 1}. A label outside counts as the '
                          'nearest class, as in MXNet 1.9.1', UserWarning, stacklevel=3)

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        if not self._from_logits:
            pred = operator(F, 'log_softmax')(pred, axis=self._axis)
        if self._sparse_label:
            loss = -operator(F, 'pick')(pred, label, axis=self._axis, keepdims=True)
        else:
            loss = -(pred * _reshape_like(F, label, pred)).sum(axis=self._axis, keepdims=True)
        return self._mean(F, loss, sample_weight)


SoftmaxCELoss = SoftmaxCrossEntropyLoss


class KLDivLoss(Loss):
    """The Kullback-Leibler divergence `label * (log(label) - pred)`, summed for every sample.

    `pred` has log-probabilities, unless `from_logits` is False: then they are made by a softmax along `axis`.
    """

    def __init__(self, from_logits: bool = True, axis: int = -1, weight: float | None = None, batch_axis: int = 0,
                 **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._from_logits, self._axis = from_logits, axis

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        if not self._from_logits:
            pred = operator(F, 'log_softmax')(pred, axis=self._axis)
        loss = _apply_weighting(F, label * (operator(F, 'log')(label + TINY) - pred), self._weight, sample_weight)
        return operator(F, 'sum')(loss, axis=self._batch_axis, exclude=True)


class CTCLoss(Loss):
    """Connectionist temporal classification: sequences of labels against longer sequences of predictions.

    `pred` is (batch, time, classes), or `layout='TNC'`; the last class is the blank.  Labels are (batch, length),
    padded with -1, or as long as `label_lengths` says; `pred_lengths` likewise.
    """

    def __init__(self, layout: str = 'NTC', label_layout: str = 'NT', weight: float | None = None,
                 **kwargs: Unpack[BlockOptions]) -> None:
        if layout not in ('NTC', 'TNC'):
            raise AssertionError(f'layout of CTCLoss must be NTC or TNC, not {layout!r}')
        if label_layout not in ('NT', 'TN'):
            raise AssertionError(f'label_layout of CTCLoss must be NT or TN, not {label_layout!r}')
        self._layout, self._label_layout = layout, label_layout
        super().__init__(weight, label_layout.find('N'), **kwargs)

    _label_names = ()           # the operator says it

    def hybrid_forward(self, F: Any, pred: Any, label: Any, pred_lengths: Any = None, label_lengths: Any = None,
                       sample_weight: Any = None) -> Any:
        if self._layout == 'NTC':
            pred = pred.swapaxes(0, 1)
        if self._batch_axis == 1:
            label = label.swapaxes(0, 1)
        loss = operator(F, 'CTCLoss')(pred, label, pred_lengths, label_lengths, blank_label='last',
                                      use_data_lengths=pred_lengths is not None,
                                      use_label_lengths=label_lengths is not None)
        return _apply_weighting(F, loss, self._weight, sample_weight)


class HuberLoss(Loss):
    """Squared for differences below `rho`, linear above, so that outliers count less."""

    def __init__(self, rho: float = 1, weight: float | None = None, batch_axis: int = 0,
                 **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._rho = rho

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        far = operator(F, 'abs')(_reshape_like(F, label, pred) - pred)
        near = 0.5 / self._rho * operator(F, 'square')(far)
        loss = operator(F, 'where')(far > self._rho, far - 0.5 * self._rho, near)
        return self._mean(F, loss, sample_weight)


class HingeLoss(Loss):
    """`max(0, margin - pred * label)` for labels -1 and 1: what support vector machines minimize."""

    def __init__(self, margin: float = 1, weight: float | None = None, batch_axis: int = 0,
                 **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        loss = operator(F, 'relu')(self._margin - pred * _reshape_like(F, label, pred))
        return self._mean(F, loss, sample_weight)


class SquaredHingeLoss(Loss):
    """The square of `HingeLoss`."""

    def __init__(self, margin: float = 1, weight: float | None = None, batch_axis: int = 0,
                 **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        hinge = operator(F, 'relu')(self._margin - pred * _reshape_like(F, label, pred))
        return self._mean(F, operator(F, 'square')(hinge), sample_weight)


class LogisticLoss(Loss):
    """`log(1 + exp(-pred * label))` for labels -1 and 1, or 0 and 1 with `label_format='binary'`."""

    def __init__(self, weight: float | None = None, batch_axis: int = 0, label_format: str = 'signed',
                 **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        if label_format not in ('signed', 'binary'):
            raise ValueError(f"label_format of LogisticLoss must be 'signed' or 'binary', not {label_format!r}")
        self._label_format = label_format

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        label = _reshape_like(F, label, pred)
        if self._label_format == 'signed':
            label = (label + 1.0) / 2.0
        loss = operator(F, 'relu')(pred) - pred * label + _softplus(F, -operator(F, 'abs')(pred))
        return self._mean(F, loss, sample_weight)


class TripletLoss(Loss):
    """How much nearer (in squared distance, by `margin`) `pred` should be to `positive` than to `negative`."""

    def __init__(self, margin: float = 1, weight: float | None = None, batch_axis: int = 0,
                 **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    _label_names = 'positive', 'negative'

    def hybrid_forward(self, F: Any, pred: Any, positive: Any, negative: Any) -> Any:
        square = operator(F, 'square')
        distance = square(_reshape_like(F, positive, pred) - pred) - square(_reshape_like(F, negative, pred) - pred)
        loss = operator(F, 'sum')(distance, axis=self._batch_axis, exclude=True)
        return _apply_weighting(F, operator(F, 'relu')(loss + self._margin), self._weight)


class PoissonNLLLoss(Loss):
    """Negative log-likelihood of counts; `pred` is the rate of a Poisson distribution or, `from_logits`, its logarithm.

    `compute_full` adds Stirling's approximation of the term that does not depend on `pred`.  The result is one number,
    the mean of all.
    """

    def __init__(self, weight: float | None = None, from_logits: bool = True, batch_axis: int = 0,
                 compute_full: bool = False, **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._from_logits, self._compute_full = from_logits, compute_full

    def hybrid_forward(self, F: Any, pred: Any, target: Any, sample_weight: Any = None, epsilon: Any = 1e-08) -> Any:
        target = _reshape_like(F, target, pred)
        log, where = operator(F, 'log'), operator(F, 'where')
        if self._from_logits:
            loss = operator(F, 'exp')(pred) - target * pred
        else:
            loss = pred - target * log(pred + epsilon)
        if self._compute_full:
            # the approximation holds above 1, and 0 log 0 must not get in
            large = target > 1
            safe = where(large, target, target * 0 + 2)
            stirling = safe * log(safe) - safe + 0.5 * log(2 * math.pi * safe)
            loss = loss + where(large, stirling, stirling * 0)
        return _apply_weighting(F, loss, self._weight, sample_weight).mean()


class CosineEmbeddingLoss(Loss):
    """For label 1 the distance `1 - cos`; for label -1 how far `cos` is above `margin`."""

    def __init__(self, weight: float | None = None, batch_axis: int = 0, margin: float = 0,
                 **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    _label_names = 'second input', 'label'

    def _expected(self, what, shape):
        return [shape] if what != 'label' else [shape[:1], (*shape[:1], 1)]

    def hybrid_forward(self, F: Any, input1: Any, input2: Any, label: Any, sample_weight: Any = None) -> Any:
        input1 = _reshape_like(F, input1, input2)
        label = label.reshape((-1, 1))
        cosine = self._cosine_similarity(F, input1, input2)
        loss = (1 - cosine) * (label == 1) + operator(F, 'relu')((label == -1) * (cosine - self._margin))
        return _apply_weighting(F, loss, self._weight, sample_weight)

    def _cosine_similarity(self, F, x, y, axis=-1):
        norm = operator(F, 'norm')
        lengths = norm(x, axis=axis).reshape((-1, 1)) * norm(y, axis=axis).reshape((-1, 1))
        return (x * y).sum(axis=axis).reshape((-1, 1)) / operator(F, 'maximum')(lengths, TINY)


class SDMLLoss(Loss):
    """Smoothed deep metric learning: `x1[i]` should be nearer to `x2[i]` than to all others of the batch.

    The others get `smoothing_parameter` of the probability together.
    """

    def __init__(self, smoothing_parameter: float = 0.3, weight: float | None = 1.0, batch_axis: int = 0,
                 **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self.kl_loss: Any = KLDivLoss(from_logits=True)
        self.smoothing_parameter = smoothing_parameter

    _label_names = ()

    def hybrid_forward(self, F: Any, x1: Any, x2: Any) -> Any:
        if isinstance(x1, NDArray) and x1.shape != x2.shape:
            raise AssertionError(f'SDMLLoss: x1 and x2 must have one shape, but they have {x1.shape} and {x2.shape}')
        difference = operator(F, 'broadcast_sub')(operator(F, 'expand_dims')(x1, axis=1),
                                                  operator(F, 'expand_dims')(x2, axis=0))
        distances = operator(F, 'square')(difference).sum(axis=2)
        log_probabilities = operator(F, 'log_softmax')(-distances, axis=1)
        return self.kl_loss(log_probabilities, self._labels(F, distances))

    def _labels(self, F, distances):
        """1 - smoothing on the diagonal, the rest spread evenly over each row."""
        number = contrib(F, 'arange_like')(distances, axis=0)
        equal = (lambda a, b: (a == b).astype('float32')) if is_np_array() else F.broadcast_equal
        same = equal(number.reshape((-1, 1)), number.reshape((1, -1)))
        others = 1 - same
        spread = operator(F, 'broadcast_div')(others, others.sum(axis=1, keepdims=True))
        return same * (1 - self.smoothing_parameter) + spread * self.smoothing_parameter


_suggest_names(globals())
