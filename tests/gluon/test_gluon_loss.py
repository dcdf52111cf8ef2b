"""Losses: arrays and graphs, np mode, weights, edge cases.  Their values are in the golden data, too."""
import json
import math

import numpy as np
import pytest
from conftest import ROOT

import mxnet as mx
from mxnet import autograd, gluon, nd, npx
from mxnet.gluon import loss

UPSTREAM = json.loads((ROOT / 'tests' / 'data' / 'gluon' / 'described.json').read_text())['losses']
RANDOM = np.random.RandomState(0)
PRED, LABEL = RANDOM.uniform(0.1, 0.9, (4, 3)), RANDOM.uniform(0.1, 0.9, (4, 3))
SIGNS = np.sign(RANDOM.uniform(-1, 1, (4, 3)))
CLASSES = np.array([0.0, 2, 1, 1])


def log_softmax(x, axis=-1):
    return x - np.log(np.exp(x).sum(axis, keepdims=True))


def cosine(a, b):
    lengths = np.linalg.norm(a, axis=-1, keepdims=True) * np.linalg.norm(b, axis=-1, keepdims=True)
    return (a * b).sum(-1, keepdims=True) / lengths


def sdml(a, b):
    distance = ((a[:, None] - b[None]) ** 2).sum(2)
    labels = np.eye(4) * 0.7 + (1 - np.eye(4)) * 0.3 / 3
    return (labels * (np.log(labels) - log_softmax(-distance))).sum(1)


# (loss, its inputs, what it should be)
CASES = {
    'L2': (loss.L2Loss, {}, (PRED, LABEL), ((PRED - LABEL) ** 2).mean(1) / 2),
    'L1': (loss.L1Loss, {'weight': 3}, (PRED, LABEL), 3 * abs(PRED - LABEL).mean(1)),
    'L2 of columns': (loss.L2Loss, {}, (PRED[:, :1], LABEL[:, 0]), (PRED[:, 0] - LABEL[:, 0]) ** 2 / 2),
    'L1 along the last axis': (loss.L1Loss, {'batch_axis': 1}, (PRED, LABEL), abs(PRED - LABEL).mean(0)),
    'sigmoid': (loss.SigmoidBCELoss, {}, (PRED, LABEL), (np.log1p(np.exp(PRED)) - PRED * LABEL).mean(1)),
    'sigmoid, positive weights': (loss.SigmoidBCELoss, {}, (PRED, LABEL, None, np.array([1.0, 2, 3])), -(
        LABEL * [1, 2, 3] * -np.log1p(np.exp(-PRED)) + (1 - LABEL) * -np.log1p(np.exp(PRED))).mean(1)),
    'probabilities': (loss.SigmoidBCELoss, {'from_sigmoid': True}, (PRED, LABEL),
                      -(LABEL * np.log(PRED) + (1 - LABEL) * np.log(1 - PRED)).mean(1)),
    'probabilities, positive weights': (loss.SigmoidBCELoss, {'from_sigmoid': True}, (
        PRED, LABEL, None, np.array([1.0, 2, 3])), -(
            LABEL * [1, 2, 3] * np.log(PRED) + (1 - LABEL) * np.log(1 - PRED)).mean(1)),
    'softmax': (loss.SoftmaxCELoss, {}, (PRED, CLASSES), -log_softmax(PRED)[range(4), CLASSES.astype(int)]),
    'softmax, weighted': (loss.SoftmaxCELoss, {}, (PRED, CLASSES, np.array([[1.0], [0], [2], [3]])),
                          -log_softmax(PRED)[range(4), CLASSES.astype(int)] * [1, 0, 2, 3]),
    'softmax of distributions': (loss.SoftmaxCELoss, {'sparse_label': False}, (PRED, LABEL),
                                 -(LABEL * log_softmax(PRED)).sum(1)),
    'log-probabilities': (loss.SoftmaxCELoss, {'from_logits': True}, (PRED, CLASSES),
                          -PRED[range(4), CLASSES.astype(int)]),
    'KL': (loss.KLDivLoss, {}, (PRED, LABEL), (LABEL * (np.log(LABEL) - PRED)).sum(1)),
    'KL of scores': (loss.KLDivLoss, {'from_logits': False}, (PRED, LABEL),
                     (LABEL * (np.log(LABEL) - log_softmax(PRED))).sum(1)),
    'Huber': (loss.HuberLoss, {'rho': 0.2}, (PRED, LABEL), np.where(
        abs(PRED - LABEL) > 0.2, abs(PRED - LABEL) - 0.1, (PRED - LABEL) ** 2 / 0.4).mean(1)),
    'hinge': (loss.HingeLoss, {}, (PRED, SIGNS), np.maximum(0, 1 - PRED * SIGNS).mean(1)),
    'squared hinge': (loss.SquaredHingeLoss, {'margin': 2}, (PRED, SIGNS),
                      (np.maximum(0, 2 - PRED * SIGNS) ** 2).mean(1)),
    'logistic': (loss.LogisticLoss, {}, (PRED, SIGNS), np.log1p(np.exp(-PRED * SIGNS)).mean(1)),
    'logistic, binary': (loss.LogisticLoss, {'label_format': 'binary'}, (PRED, (SIGNS + 1) / 2),
                         np.log1p(np.exp(-PRED * SIGNS)).mean(1)),
    'triplet': (loss.TripletLoss, {}, (PRED, LABEL, SIGNS), np.maximum(
        0, ((PRED - LABEL) ** 2 - (PRED - SIGNS) ** 2).sum(1) + 1)),
    'Poisson': (loss.PoissonNLLLoss, {}, (PRED, LABEL * 5), (np.exp(PRED) - PRED * LABEL * 5).mean()),
    'Poisson of rates': (loss.PoissonNLLLoss, {'from_logits': False}, (PRED, LABEL * 5),
                         (PRED - LABEL * 5 * np.log(PRED)).mean()),
    'cosine': (loss.CosineEmbeddingLoss, {}, (PRED, LABEL, np.array([1.0, -1, 1, -1])), np.where(
        np.array([[1], [-1], [1], [-1]]) == 1, 1 - cosine(PRED, LABEL), np.maximum(0, cosine(PRED, LABEL)))),
    'SDML': (loss.SDMLLoss, {}, (PRED, LABEL), sdml(PRED, LABEL)),
}


@pytest.fixture(params=[False, True], ids=['nd', 'np'])
def array(request):
    """Makes arrays, of both kinds in turn."""
    if request.param:
        npx.set_np()
    yield lambda x: None if x is None else mx.np.array(x) if request.param else nd.array(x)
    npx.reset_np()


@pytest.mark.parametrize('name', CASES)
def test_values(name, array):
    kind, arguments, inputs, expected = CASES[name]
    arrays = [array(x) for x in inputs]
    arrays[0].attach_grad()
    function = kind(**arguments)
    gradients = []
    for hybridize in (False, True, True):
        if hybridize:
            function.hybridize()
        with autograd.record():
            found = function(*arrays)
        found.backward()
        assert type(found) is type(arrays[0])
        np.testing.assert_allclose(found.asnumpy().reshape(expected.shape), expected, rtol=1e-4, atol=1e-5)
        gradients.append(arrays[0].grad.asnumpy().copy())
    for g in gradients[1:]:
        np.testing.assert_allclose(g, gradients[0], rtol=1e-4, atol=1e-6)


def test_shapes_of_results():
    assert loss.PoissonNLLLoss()(nd.ones((2, 3)), nd.ones((2, 3))).shape == (1,)
    assert loss.CosineEmbeddingLoss()(nd.ones((2, 3)), nd.ones((2, 3)), nd.ones((2,))).shape == (2, 1)
    assert loss.L2Loss()(nd.ones((2, 3, 4)), nd.ones((2, 12))).shape == (2,)


def test_counts_of_zero_have_no_logarithm():
    """Upstream's Stirling term is 0 * log(0) there."""
    found = loss.PoissonNLLLoss(compute_full=True)(nd.zeros((1, 3)), nd.array([[0, 1, 4]])).asscalar()
    stirling = 4 * math.log(4) - 4 + 0.5 * math.log(2 * math.pi * 4)
    assert found == pytest.approx(1 + stirling / 3, rel=1e-5)


def test_ctc(array):
    scores = np.zeros((2, 3, 4))
    labels = array(np.array([[1.0, 0], [2, -1]]))
    # three steps, all of 1/4: '10' has the paths 110, 100, 10_, 1_0, _10; '2' has 222, 22_, 2__, _22, __2, _2_
    expected = [-math.log(5 / 64), -math.log(6 / 64)]
    for hybridize in (False, True):
        function = loss.CTCLoss()
        if hybridize:
            function.hybridize()
        for _ in range(2):
            np.testing.assert_allclose(function(array(scores), labels).asnumpy(), expected, rtol=1e-4)
    other = loss.CTCLoss(layout='TNC', label_layout='TN')
    np.testing.assert_allclose(other(array(scores.swapaxes(0, 1)), labels.T).asnumpy(), expected, rtol=1e-4)
    lengths = loss.CTCLoss()(array(scores), labels, array(np.array([3.0, 3])), array(np.array([2.0, 1])))
    np.testing.assert_allclose(lengths.asnumpy(), expected, rtol=1e-4)


@pytest.mark.parametrize('text', UPSTREAM)
def test_names(text):
    found = eval('loss.' + text)
    assert [repr(found), found._alias()] == UPSTREAM[text]


def test_weights_are_numbers():
    with pytest.raises(AssertionError, match='must be a number'):
        loss.L1Loss(weight=nd.ones(1))(nd.ones((2, 2)), nd.ones((2, 2)))


@pytest.mark.parametrize('wrong, error', [
    (lambda: loss.LogisticLoss(label_format='either'), ValueError),
    (lambda: loss.CTCLoss(layout='CTN'), AssertionError),
    (lambda: loss.CTCLoss(label_layout='T'), AssertionError),
    (lambda: loss.SDMLLoss()(nd.ones((2, 3)), nd.ones((2, 2))), AssertionError),
    (lambda: loss.Loss(None, 0)(nd.ones((2, 3))), NotImplementedError)])
def test_wrong_arguments(wrong, error):
    with pytest.raises(error):
        wrong()


def test_a_loss_of_ones_own():
    class Cube(gluon.loss.Loss):
        def __init__(self, weight=None, batch_axis=0, **kwargs):
            super().__init__(weight, batch_axis, **kwargs)

        def hybrid_forward(self, F, pred, label):
            return F.mean((pred - label) ** 3, axis=self._batch_axis, exclude=True)

    cube = Cube()
    assert repr(cube) == 'Cube(batch_axis=0, w=None)'
    assert cube(nd.array([[1, 3]]), nd.array([[0, 1]])).asscalar() == 4.5
