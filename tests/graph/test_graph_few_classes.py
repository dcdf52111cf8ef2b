"""Plans turn matrices of scores of few classes, and nobody sees it but in the time that it takes."""
import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon
from mxnet._graph.passes import few_classes

WIDTH = few_classes.WIDTH
pytestmark = pytest.mark.skipif(not WIDTH, reason='no registers that torch knows')
FEW = WIDTH - 3                 # 13, or 5


class Log(gluon.HybridBlock):
    """Hands out the logarithms, too."""

    def hybrid_forward(self, F, scores, label):
        logs = F.log_softmax(scores)
        return logs, -F.pick(logs, label)


class Twice(gluon.HybridBlock):
    """Picks twice, with gradients that are neither -1 nor 0, and an axis that stays."""

    def hybrid_forward(self, F, scores, label):
        logs = F.log_softmax(scores, axis=1)
        return F.broadcast_mul(F.pick(logs, label, axis=1, keepdims=True), F.reshape(F.pick(logs, 0 * label), (-1, 1)))


class Product(gluon.HybridBlock):
    """Goes on with what the last layer gives in another way, too."""

    def hybrid_forward(self, F, scores, label):
        return F.pick(F.log_softmax(F.relu(scores)), label) + F.sum(scores, axis=1)


# name -> loss, whether its scores are turned
LOSSES = {
    'sparse labels': (gluon.loss.SoftmaxCrossEntropyLoss, True),
    'weighted': (lambda: gluon.loss.SoftmaxCrossEntropyLoss(weight=0.3), True),
    'twice': (Twice, True),
    'product': (Product, True),
    'dense labels': (lambda: gluon.loss.SoftmaxCrossEntropyLoss(sparse_label=False), False),
    'handed out': (Log, False),
}


def steps(hybrid, kind, rows, classes, count=5, looks=False):
    """Losses and parameters of a few steps, as bytes; and the plan that ran, if one did.

    looks: whether it looks at the losses before `backward`, which is then a plan of its own
    """
    mx.random.seed(3)
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(24, activation='relu'), gluon.nn.Dense(classes))
    net.initialize(mx.init.Xavier())
    loss_of = LOSSES[kind][0]()
    x = mx.nd.random.uniform(shape=(rows, 7))
    label = mx.nd.random.uniform(0, 1, (rows, classes)) if kind == 'dense labels' else mx.nd.arange(rows) % classes
    if hybrid:
        net.hybridize(static_alloc=True, static_shape=True)
        loss_of.hybridize(static_alloc=True, static_shape=True)
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.5})
    seen = []
    for _ in range(count):
        with autograd.record():
            result = loss_of(net(x), label)
            result = result if isinstance(result, list | tuple) else [result]
        if looks:
            seen.append(result[-1].asnumpy().tobytes())
        result[-1].backward()
        trainer.step(rows)
        seen += [r.asnumpy().tobytes() for r in result]
        seen += [p.data().asnumpy().tobytes() for p in net.collect_params().values()]
        seen += [p.grad().asnumpy().tobytes() for p in net.collect_params().values()]
    ready = net._cached_op.deferral.last_step if hybrid else None
    return seen, ready and ready.runner.plan.source


@pytest.mark.parametrize('kind', LOSSES)
@pytest.mark.parametrize('rows', [few_classes.LEAST_ROWS, 4 * few_classes.LEAST_ROWS])
@pytest.mark.parametrize('classes', [2, FEW])
def test_same_bits(kind, rows, classes):
    found, source = steps(True, kind, rows, classes)
    wanted, _ = steps(False, kind, rows, classes)
    assert '_log_softmax' in source and (', 0, False)' in source) is LOSSES[kind][1]
    assert found == wanted


@pytest.mark.parametrize('kind', LOSSES)
def test_same_bits_for_who_looks_before(kind):
    found, _ = steps(True, kind, few_classes.LEAST_ROWS, FEW, looks=True)
    wanted, _ = steps(False, kind, few_classes.LEAST_ROWS, FEW, looks=True)
    assert found == wanted


@pytest.mark.parametrize(('rows', 'classes'), [(few_classes.LEAST_ROWS + 1, FEW), (few_classes.LEAST_ROWS - WIDTH, FEW),
                                               (few_classes.LEAST_ROWS, WIDTH), (few_classes.LEAST_ROWS, 1)])
def test_left_as_it_is(rows, classes):
    found, source = steps(True, 'sparse labels', rows, classes)
    wanted, _ = steps(False, 'sparse labels', rows, classes)
    assert ', 0, False)' not in source
    assert found == wanted


def test_one_call_for_each_view():
    """Nothing is left of turning it but the turns themselves."""
    _, source = steps(True, 'sparse labels', few_classes.LEAST_ROWS, FEW)
    lines = [line.strip() for line in source.splitlines()]
    picked = next(i for i, line in enumerate(lines) if line.startswith('gather'))
    calls = [line.split(' = ')[0] for line in lines[picked:] if ' = ' in line]
    for name, call in zip(['gather', 'neg', 'squeeze', 'scatter_add', '_log_softmax_backward'], calls, strict=False):
        assert call.startswith(name)


def test_other_dtypes_and_axes():
    """In all other cases torch's own way; the values are right in each."""
    for dtype, axis in (('float64', -1), ('float32', 0)):
        net = Net(axis)
        net.hybridize(static_alloc=True, static_shape=True)
        x = mx.nd.random.normal(shape=(few_classes.LEAST_ROWS, FEW), dtype=dtype)
        x.attach_grad()
        for _ in range(4):
            with autograd.record():
                out = net(x)
            out.backward()
        values = x.asnumpy().astype('float64')
        each = np.exp(values - values.max(axis=axis, keepdims=True))
        probability = each / each.sum(axis=axis, keepdims=True)
        np.testing.assert_allclose(out.asnumpy(), np.log(probability), rtol=1e-4, atol=1e-4)
        wanted = 1 - probability * values.shape[axis]
        np.testing.assert_allclose(x.grad.asnumpy(), wanted, rtol=1e-4, atol=1e-4)


class Net(gluon.HybridBlock):
    def __init__(self, axis):
        super().__init__()
        self._axis = axis

    def hybrid_forward(self, F, x):
        return F.log_softmax(x, axis=self._axis)
