"""Output layers (prediction forward, gradient of a loss backward) and CTC."""
import itertools

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet._ops.core.table import NAMES
from mxnet.base import MXNetError

torch.manual_seed(0)


def run(name, data, *others, head=None, **attributes):
    """-> result, gradient of data, as NumPy arrays."""
    data = mx.nd.array(data)
    data.attach_grad()
    with mx.autograd.record():
        y = getattr(mx.nd, name)(data, *[mx.nd.array(x) for x in others], **attributes)
    y.backward(None if head is None else mx.nd.array(head))
    return y.asnumpy(), data.grad.asnumpy()


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


X = np.random.RandomState(0).randn(4, 3).astype('float32')
LABEL = np.array([0, 2, 1, 2], 'float32')
ONE_HOT = np.eye(3)[LABEL.astype(int)]


# ---------------------------------------------------------------------- softmax
@pytest.mark.parametrize('head', [None, X])
def test_softmax_output_sends_back_probability_minus_label_whatever_comes_in(head):
    y, gradient = run('SoftmaxOutput', X, LABEL, head=head)
    np.testing.assert_allclose(y, softmax(X, 1), rtol=1e-5)
    np.testing.assert_allclose(gradient, softmax(X, 1) - ONE_HOT, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(('attributes', 'factor'), [
    ({'grad_scale': 3}, 3), ({'normalization': 'batch'}, 1 / 4), ({'normalization': 'valid'}, 1 / 4),
    ({'normalization': 'valid', 'ignore_label': 2}, 1 / 2), ({'normalization': 'batch', 'grad_scale': 2}, 1 / 2)])
def test_softmax_output_scales(attributes, factor):
    _, gradient = run('SoftmaxOutput', X, LABEL, **attributes)
    np.testing.assert_allclose(gradient, (softmax(X, 1) - ONE_HOT) * factor, rtol=1e-4, atol=1e-6)


def test_softmax_output_ignores():
    _, gradient = run('SoftmaxOutput', X, LABEL, use_ignore=True, ignore_label=2)
    np.testing.assert_allclose(gradient, (softmax(X, 1) - ONE_HOT) * [[1], [0], [1], [0]], rtol=1e-4, atol=1e-6)


def test_softmax_output_smooths_labels():
    _, gradient = run('SoftmaxOutput', X, LABEL, smooth_alpha=0.2)
    np.testing.assert_allclose(gradient, softmax(X, 1) - np.where(ONE_HOT == 1, 0.8, 0.1), rtol=1e-4, atol=1e-6)


def test_softmax_output_takes_probabilities_as_labels():
    _, gradient = run('SoftmaxOutput', X, ONE_HOT * 0.5, grad_scale=2, normalization='batch')
    np.testing.assert_allclose(gradient, (softmax(X, 1) - ONE_HOT * 0.5) * 2, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize('shape', [(2, 4), (2, 2, 2), (2, 1, 2, 2)])
def test_softmax_output_over_axis_1(shape):
    x = np.random.RandomState(1).randn(2, 3, 2, 2).astype('float32')
    label = np.array([0, 1, 2, 2, 1, 0, 0, 1], 'float32')
    one_hot = np.moveaxis(np.eye(3)[label.astype(int).reshape(2, 2, 2)], -1, 1)
    y, gradient = run('SoftmaxOutput', x, label.reshape(shape), multi_output=True)
    np.testing.assert_allclose(y, softmax(x, 1), rtol=1e-5)
    np.testing.assert_allclose(gradient, (softmax(x, 1) - one_hot) / 4, rtol=1e-4, atol=1e-6)    # 4 places


def test_softmax_output_over_the_last_axis_or_over_all():
    x = np.random.RandomState(1).randn(2, 3, 4).astype('float32')
    label = np.array([[0, 1, 2], [3, 0, 1]], 'float32')
    y, gradient = run('SoftmaxOutput', x, label, preserve_shape=True)
    np.testing.assert_allclose(gradient, softmax(x, 2) - np.eye(4)[label.astype(int)], rtol=1e-4, atol=1e-6)
    y, _ = run('SoftmaxOutput', x, label)
    np.testing.assert_allclose(y, softmax(x.reshape(2, -1), 1).reshape(x.shape), rtol=1e-5)


def test_a_label_that_is_no_class_subtracts_nothing():
    y, gradient = run('SoftmaxOutput', X, np.array([-5, 3, 0, 1]))
    np.testing.assert_array_equal(gradient[:2], y[:2])


# ---------------------------------------------------------------------- regression, margins, losses
@pytest.mark.parametrize(('name', 'forward', 'backward'), [
    ('LinearRegressionOutput', lambda x: x, lambda y, l: y - l),
    ('LogisticRegressionOutput', lambda x: 1 / (1 + np.exp(-x)), lambda y, l: y - l),
    ('MAERegressionOutput', lambda x: x, lambda y, l: np.sign(y - l))])
def test_regression_outputs(name, forward, backward):
    label = np.random.RandomState(2).randn(4, 3).astype('float32')
    y, gradient = run(name, X, label, head=X, grad_scale=0.6)
    np.testing.assert_allclose(y, forward(X), rtol=1e-5)
    np.testing.assert_allclose(gradient, backward(y, label) * 0.6 / 3, rtol=1e-4, atol=1e-6)
    column = run(name, X[:, :1], label[:, 0])                     # (n, 1) with labels (n,)
    np.testing.assert_allclose(column[1], backward(forward(X[:, :1]), label[:, :1]), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize('linear', [False, True])
def test_svm_output_is_the_gradient_of_the_hinge_loss(linear):
    data = torch.tensor(X, dtype=torch.float64, requires_grad=True)
    side = torch.tensor(2 * ONE_HOT - 1)
    hinge = (0.7 - side * data).clamp(min=0)
    (0.3 * (hinge if linear else hinge ** 2)).sum().backward()
    y, gradient = run('SVMOutput', X, LABEL, margin=0.7, regularization_coefficient=0.3, use_linear=linear)
    np.testing.assert_array_equal(y, X)
    np.testing.assert_allclose(gradient, data.grad.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(('attributes', 'wanted'), [
    ({'grad_scale': 2}, 2), ({'normalization': 'batch'}, 1 / 4),
    ({'normalization': 'valid', 'valid_thresh': 0.5}, 1 / (X > 0.5).sum()),
    ({'normalization': 'valid', 'valid_thresh': 100}, 1)])
def test_make_loss_sends_back_a_constant(attributes, wanted):
    y, gradient = run('MakeLoss', X, head=X, **attributes)
    np.testing.assert_array_equal(y, X)
    np.testing.assert_allclose(gradient, np.full_like(X, wanted), rtol=1e-6)


@pytest.mark.parametrize('name', ['MakeLoss', 'LinearRegressionOutput', 'MAERegressionOutput', 'SVMOutput'])
def test_results_do_not_share_memory_with_data(name):
    x = torch.tensor(X)
    label = {'MakeLoss': (), 'SVMOutput': (torch.tensor(LABEL),)}.get(name, (x,))
    assert NAMES[name].function(x, *label).data_ptr() != x.data_ptr()


# ---------------------------------------------------------------------- CTC
def spell(path, blank):
    return tuple(k for k, _ in itertools.groupby(path) if k != blank)


def brute_force(scores, label, blank):
    """-log of the summed probability of all paths that spell the label."""
    p = softmax(scores.astype('float64'), -1)
    paths = itertools.product(range(p.shape[1]), repeat=len(p))
    return -np.log(sum(np.prod(p[range(len(p)), path]) for path in paths if spell(path, blank) == tuple(label)))


SCORES = np.random.RandomState(3).randn(4, 3, 3).astype('float32')


@pytest.mark.parametrize(('blank', 'label', 'read'), [
    ('first', [[1, 2], [1, 1], [2, 0]], [[1, 2], [1, 1], [2]]),
    ('last', [[0, 1], [1, 1], [0, -1]], [[0, 1], [1, 1], [0]])])
def test_ctc_is_the_probability_of_all_paths(blank, label, read):
    loss = NAMES['CTCLoss'].function(torch.tensor(SCORES), torch.tensor(label, dtype=torch.float32), blank_label=blank)
    number = 0 if blank == 'first' else 2
    np.testing.assert_allclose(loss, [brute_force(SCORES[:, i], read[i], number) for i in range(3)], rtol=1e-4)


def test_ctc_reads_lengths():
    loss = mx.nd.CTCLoss(mx.nd.array(SCORES), mx.nd.array([[1, 2], [2, 2], [1, 1]]), mx.nd.array([4, 3, 2]),
                         mx.nd.array([1, 2, 0]), use_data_lengths=True, use_label_lengths=True).asnumpy()
    wanted = [brute_force(SCORES[:4, 0], [1], 0), brute_force(SCORES[:3, 1], [2, 2], 0),
              brute_force(SCORES[:2, 2], [], 0)]
    np.testing.assert_allclose(loss, wanted, rtol=1e-4)


def test_ctc_gradient_is_that_of_finite_differences():
    label = torch.tensor([[1, 2], [1, 1], [2, 0]])
    assert torch.autograd.gradcheck(lambda x: NAMES['ctc_loss'].function(x, label),
                                    [torch.tensor(SCORES, dtype=torch.float64, requires_grad=True)])


def test_ctc_of_a_label_that_cannot_fit_is_zero():
    loss, gradient = run('CTCLoss', SCORES[:2], np.array([[1, 1], [1, 2], [1, 1]]))
    assert loss[0] == 0 and loss[1] > 0
    assert not gradient[:, 0].any() and gradient[:, 1].any()


# ---------------------------------------------------------------------- errors, shapes
ONES = mx.nd.ones
ERRORS = [
    (lambda: mx.nd.SoftmaxOutput(ONES((2, 3)), ONES(3)), r'label has shape \(3,\).*may have \(2,\) or \(2, 3\)'),
    (lambda: mx.nd.SoftmaxOutput(ONES((2, 3, 4, 5)), ONES(2), multi_output=True), r'may have \(2, 20\) or \(2, 4, 5\)'),
    (lambda: mx.nd.SoftmaxOutput(ONES((2, 3)), ONES(2, dtype='float64')), 'same dtype'),
    (lambda: mx.nd.SVMOutput(ONES((2, 3)), ONES((2, 3))), r'may have \(2,\)$'),
    (lambda: mx.nd.LinearRegressionOutput(ONES((2, 3)), ONES(6)), 'as many rows as data'),
    (lambda: mx.nd.MakeLoss(ONES(2), normalization='some'), "takes one of 'batch', 'null', 'valid'"),
    (lambda: mx.nd.CTCLoss(ONES((4, 2, 3)), ONES((3, 2))), r'\(time, batch, alphabet\)'),
    (lambda: mx.nd.CTCLoss(ONES((4, 2, 3)), ONES((2, 2)), ONES(3), use_data_lengths=True), 'data_lengths has shape'),
    (lambda: mx.nd.CTCLoss(ONES((4, 2, 3)), ONES((2, 2)), use_label_lengths=True), 'label_lengths is missing'),
]


@pytest.mark.parametrize(('call', 'message'), ERRORS, ids=[m for _, m in ERRORS])
def test_errors_say_what_is_wrong(call, message):
    with pytest.raises(MXNetError, match=message):
        call()


@pytest.mark.parametrize(('name', 'known', 'attributes', 'wanted'), [
    ('SoftmaxOutput', {'data': (2, 3)}, {}, {'label': (2,)}),
    ('SoftmaxOutput', {'data': (2, 3, 4, 5)}, {'multi_output': True}, {'label': (2, 20)}),
    ('SoftmaxOutput', {'data': (2, 3), 'label': (2, 3)}, {}, {}),
    ('SoftmaxOutput', {'data': (0, 3)}, {}, {}),
    ('SVMOutput', {'data': (2, 3)}, {}, {'label': (2,)}),
    ('LinearRegressionOutput', {'data': (2, 1)}, {}, {'label': (2,)}),
    ('LogisticRegressionOutput', {'data': (2, 3)}, {}, {'label': (2, 3)}),
    ('CTCLoss', {'data': (5, 2, 3)}, {'use_label_lengths': True}, {'label_lengths': (2,)}),
])
def test_shapes_of_labels_follow_from_data(name, known, attributes, wanted):
    op = NAMES[name]
    assert op.shapes(known, op.complete(attributes)) == wanted


SHAPES = [('SoftmaxOutput', (4, 3), (4,)), ('LinearRegressionOutput', (4, 3), (4, 3)), ('SVMOutput', (4, 3), (4,)),
          ('MakeLoss', (4, 3)), ('CTCLoss', (4, 3, 3), (3, 2))]


@pytest.mark.parametrize(('name', 'shapes'), [(n, s) for n, *s in SHAPES], ids=[n for n, *_ in SHAPES])
def test_meta_tensors_tell_the_shape(name, shapes):
    inputs = [torch.ones(s) for s in shapes]
    assert NAMES[name].function(*[x.to('meta') for x in inputs]).shape == NAMES[name].function(*inputs).shape


@pytest.mark.gpu
@pytest.mark.parametrize(('name', 'shapes'), [(n, s) for n, *s in SHAPES], ids=[n for n, *_ in SHAPES])
def test_gpu_agrees_with_cpu(name, shapes):
    inputs = [torch.randn(shapes[0]), *[torch.ones(s) for s in shapes[1:]]]
    found = []
    for device in ('cpu', 'cuda'):
        data, *others = [x.detach().to(device) for x in inputs]
        y = NAMES[name].function(data.requires_grad_(), *others)
        y.sum().backward()
        found.append((y.detach().cpu(), data.grad.cpu()))
    torch.testing.assert_close(found[1], found[0], rtol=1e-4, atol=1e-5)
