"""Output layers: what they compute going forward is a prediction, what they send back is the gradient of a loss.

The gradients, which ignore the incoming one, are in core/gradients.py.
"""
from functools import partial
from typing import Any, Literal

import torch

from ...base import MXNetError
from ..core import gradients, shapes
from ..core.gradients import with_gradient
from ..core.table import operator

_LABELLED: dict[str, Any] = {'same_dtype': ('data', 'label'), 'special_gradient': True}


def _copy(data, *label):
    return data.clone()


@operator(aliases=('Softmax',), shapes=shapes.softmax_output, **_LABELLED)
def SoftmaxOutput(data, label, *, grad_scale: float = 1.0, ignore_label: float = -1.0, multi_output: bool = False,
                  use_ignore: bool = False, preserve_shape: bool = False,
                  normalization: Literal['batch', 'null', 'valid'] = 'null', out_grad: bool = False,
                  smooth_alpha: float = 0.0):
    """Softmax; its gradient is that of the cross-entropy with `label`: probability minus label.

    The softmax goes over all axes but the first, over axis 1 with `multi_output`, over the last with `preserve_shape`.
    `label` holds class numbers, or probabilities if it has the shape of `data`.  `use_ignore` sends nothing back where
    the label is `ignore_label`; `normalization` divides by the number of labels ('batch') or of those not ignored
    ('valid'); with `multi_output`, also by the number of places.  `smooth_alpha` is shared among the other classes.
    `out_grad` multiplies by the output, as upstream does.
    """
    _check_label('SoftmaxOutput', data, label, multi_output)
    rule = partial(gradients.softmax_output, grad_scale=grad_scale, ignore_label=ignore_label,
                   multi_output=multi_output, use_ignore=use_ignore, preserve_shape=preserve_shape,
                   normalization=normalization, out_grad=out_grad, smooth_alpha=smooth_alpha)

    def forward(data, label):
        if multi_output:
            return torch.softmax(data, 1)
        if preserve_shape or data.dim() == 2:
            return torch.softmax(data, -1)
        return torch.softmax(data.flatten(1), -1).view(data.shape)

    return with_gradient(forward, rule, data, label)


def _check_label(name, data, label, multi_output=False):
    shape, given = tuple(data.shape), tuple(label.shape)
    if given == shape[:-1] and not multi_output or given == shape and name == 'SoftmaxOutput':
        return
    accepted = [shape[:-1], shape] if name == 'SoftmaxOutput' else [shape[:-1]]
    if multi_output:
        accepted = [(shape[0], data[0, 0].numel()), (shape[0], *shape[2:]), (shape[0], 1, *shape[2:]), shape]
        if given in accepted:
            return
    raise MXNetError(f'operator {name}: label has shape {given}, data has {shape}; label may have '
                     + ' or '.join(str(s) for s in dict.fromkeys(accepted)))


def _check_regression_label(name, data, label):
    if label.shape != data.shape and (label.numel() != data.numel() or label.shape[:1] != data.shape[:1]):
        raise MXNetError(f'operator {name}: label has shape {tuple(label.shape)}; it must have as many values and as '
                         f'many rows as data with shape {tuple(data.shape)}')


@operator(aliases=('_sparse_LinearRegressionOutput',), shapes=shapes.regression_output, **_LABELLED)
def LinearRegressionOutput(data, label, *, grad_scale: float = 1.0):
    """`data`; its gradient is that of half the squared error: (data - label) * grad_scale / values per sample."""
    _check_regression_label('LinearRegressionOutput', data, label)
    return with_gradient(_copy, partial(gradients.regression_output, grad_scale=grad_scale), data, label)


@operator(aliases=('_sparse_LogisticRegressionOutput',), shapes=shapes.regression_output, **_LABELLED)
def LogisticRegressionOutput(data, label, *, grad_scale: float = 1.0):
    """Sigmoid; its gradient is that of the cross-entropy: (output - label) * grad_scale / values per sample."""
    _check_regression_label('LogisticRegressionOutput', data, label)
    return with_gradient(lambda data, label: torch.sigmoid(data),
                         partial(gradients.regression_output, grad_scale=grad_scale), data, label)


@operator(aliases=('_sparse_MAERegressionOutput',), shapes=shapes.regression_output, **_LABELLED)
def MAERegressionOutput(data, label, *, grad_scale: float = 1.0):
    """`data`; its gradient is that of the absolute error: sign(data - label) * grad_scale / values per sample."""
    _check_regression_label('MAERegressionOutput', data, label)
    return with_gradient(_copy, partial(gradients.regression_output, grad_scale=grad_scale, absolute=True), data, label)


@operator(shapes=shapes.svm_output, **_LABELLED)
def SVMOutput(data, label, *, margin: float = 1.0, regularization_coefficient: float = 1.0, use_linear: bool = False):
    """`data`; its gradient is that of the squared (with `use_linear`: plain) hinge loss of each class against the rest.

    `label` holds class numbers along the last axis of `data`.
    """
    _check_label('SVMOutput', data, label)
    rule = partial(gradients.svm_output, margin=margin, regularization_coefficient=regularization_coefficient,
                   use_linear=use_linear)
    return with_gradient(_copy, rule, data, label)


@operator(special_gradient=True)
def MakeLoss(data, *, grad_scale: float = 1.0, valid_thresh: float = 0.0,
             normalization: Literal['batch', 'null', 'valid'] = 'null'):
    """`data`, made a loss: what goes back is the constant `grad_scale`, whatever comes in.

    `normalization` divides it by the number of rows, which lie along the last axis ('batch'), or by the number of
    values above `valid_thresh` ('valid').
    """
    rule = partial(gradients.make_loss, grad_scale=grad_scale, valid_thresh=valid_thresh, normalization=normalization)
    return with_gradient(_copy, rule, data)
