"""The loss of a student and its teacher against the formula in NumPy."""
import numpy as np
import pytest

import mxnet as mx
from mxnet import nd
from mxnet.contrib.distill import DistillationLoss

DRAW = np.random.RandomState(0)
STUDENT, TEACHER = (DRAW.normal(size=(4, 5)).astype('float32') for _ in range(2))
LABEL = np.array([0, 4, 2, 1], 'float32')


def log_softmax(x):
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def formula(t, alpha, label=True):
    p, q = log_softmax(TEACHER / t), log_softmax(STUDENT / t)
    soft = (np.exp(p) * (p - q)).sum(-1) * t * t
    if not label:
        return soft
    return alpha * soft - (1 - alpha) * log_softmax(STUDENT)[range(4), LABEL.astype(int)]


@pytest.mark.parametrize('t, alpha', [(1, 0.5), (4, 0.9), (4, 1), (2, 0)])
@pytest.mark.parametrize('hybrid', [False, True])
def test_formula(t, alpha, hybrid):
    loss_of = DistillationLoss(t, alpha)
    if hybrid:
        loss_of.hybridize()
    args = nd.array(STUDENT), nd.array(TEACHER), nd.array(LABEL)
    if alpha == 1:
        args = args[:2]
    for _ in range(3):
        assert np.allclose(loss_of(*args).asnumpy(), formula(t, alpha), atol=1e-5)
    if not hybrid:
        assert np.allclose(loss_of(*args[:2]).asnumpy(), formula(t, alpha, label=False), atol=1e-5)


def test_kinds_of_labels_and_weights():
    args = nd.array(STUDENT), nd.array(TEACHER)
    dense = nd.one_hot(nd.array(LABEL), 5)
    assert np.allclose(DistillationLoss(4, 0.5, sparse_label=False)(*args, dense).asnumpy(), formula(4, 0.5), atol=1e-5)
    weights = nd.array([0, 1, 2, 3])
    found = DistillationLoss(4, 0.5, weight=2)(*args, nd.array(LABEL), weights).asnumpy()
    assert np.allclose(found, 2 * np.arange(4) * formula(4, 0.5), atol=1e-5)


def test_only_the_student_learns():
    student, teacher = nd.array(STUDENT), nd.array(TEACHER)
    student.attach_grad()
    teacher.attach_grad()
    with mx.autograd.record():
        DistillationLoss(4, 1)(student, teacher).backward()
    p, q = (np.exp(log_softmax(x / 4)) for x in (TEACHER, STUDENT))
    assert np.allclose(student.grad.asnumpy(), 4 * (q - p), atol=1e-5)
    assert (teacher.grad.asnumpy() == 0).all()
    same = DistillationLoss(4, 1)(student, student)
    assert np.allclose(same.asnumpy(), 0, atol=1e-6)


def test_np_arrays():
    with mx.util.np_array(True):
        args = [mx.np.array(a) for a in (STUDENT, TEACHER, LABEL)]
        found = DistillationLoss(4, 0.5)(*args)
        assert type(found).__module__.startswith('mxnet.numpy')
        assert np.allclose(found.asnumpy(), formula(4, 0.5), atol=1e-5)


@pytest.mark.parametrize('options', [{'temperature': 0}, {'alpha': 1.5}])
def test_mistakes(options):
    with pytest.raises(ValueError, match='above 0|from 0 to 1'):
        DistillationLoss(**options)
