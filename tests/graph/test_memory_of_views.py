"""Values of a plan that share memory: a result is not written into what another value still needs."""
import numpy as np
import pytest
import torch

from mxnet import autograd, gluon, nd
from mxnet._graph.trace import tracing
from mxnet._graph.trace.defects import CannotTrace

X = np.arange(24, dtype='float32').reshape(2, 3, 4) / 10


def sliced(F, x):
    return F.slice_axis(x, axis=2, begin=0, end=3)


def turned(F, x):
    return F.transpose(x, axes=(2, 0, 1))


def flat(F, x):
    return F.reshape(x, (-1,))


# functions whose results, or values on the way, are one piece of memory looked at in several ways
NETWORKS = {
    'sum': lambda F, x, w: [flat(F, sliced(F, x)) + 1, sliced(F, x)],
    'relu': lambda F, x, w: [sliced(F, x), F.relu(flat(F, sliced(F, x)))],
    'both': lambda F, x, w: [flat(F, sliced(F, x)), sliced(F, x)],
    'product': lambda F, x, w: (lambda v: [flat(F, v), flat(F, v) * 3, v])(F.broadcast_mul(sliced(F, x), w)),
    'two shapes': lambda F, x, w: (lambda v: [flat(F, v) + 1, F.reshape(v, (2, 9)) * 3, v])(sliced(F, x)),
    'exp': lambda F, x, w: (lambda v: [F.exp(flat(F, v)), F.reshape(v, (2, 12)), v * 2, v])(turned(F, x)),
    'concat': lambda F, x, w: (lambda v: F.concat(F.exp(flat(F, v)), flat(F, v), dim=0))(turned(F, x)),
    'dense': lambda F, x, w: (lambda v: [F.dot(F.reshape(v, (6, 4)), F.ones((4, 2))), v, F.tanh(v)])(
        F.reshape(turned(F, x), (2, 3, 4))),
    'batch_dot': lambda F, x, w: (lambda v: [F.relu(F.batch_dot(v, F.transpose(v, axes=(0, 2, 1)))), flat(F, v), v])(
        F.swapaxes(x, 1, 2)),
    'of a parameter': lambda F, x, w: (lambda v: [flat(F, v), v, F.sum(x)])(F.broadcast_mul(F.ones((2, 3)), w)),
}


class Network(gluon.HybridBlock):
    def __init__(self, function):
        super().__init__()
        self.function = function
        with self.name_scope():
            self.w = self.params.get('w', shape=(1,), init='ones')

    def hybrid_forward(self, F, x, w):
        return self.function(F, x, w)


def results(function, prepare, training):
    """What five calls compute, and what outputs are when the ones before them have been overwritten."""
    net, found = Network(function), []
    net.initialize()
    prepare(net)
    for _ in range(5):
        x = nd.array(X)
        if training:
            x.attach_grad()
            with autograd.record():
                out = net(x)
        else:
            out = net(x)
        out = out if isinstance(out, (list, tuple)) else [out]
        found += [o.asnumpy().copy() for o in out]
        if training:
            autograd.backward(out)
            found.append(x.grad.asnumpy())
        for o in out:
            found.append(o.asnumpy().copy())
            o[:] = 77
    return found


@pytest.mark.filterwarnings('ignore:parameter .* is not used')
@pytest.mark.parametrize('training', [False, True])
@pytest.mark.parametrize('flags', [{}, {'static_alloc': True, 'static_shape': True}])
@pytest.mark.parametrize('name', NETWORKS)
def test_results_stay_apart(name, flags, training):
    expected = results(NETWORKS[name], lambda net: None, training)
    found = results(NETWORKS[name], lambda net: net.hybridize(**flags), training)
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert np.allclose(ours, theirs, atol=1e-5)


def test_a_call_that_gives_the_memory_of_an_argument_is_not_traced():
    given = torch.ones(3)
    with pytest.raises(CannotTrace, match='gives memory that is not its own'):
        tracing._check_memory('an operator', [given], given.view(3, 1))
    with pytest.raises(CannotTrace, match='gives memory that is not its own'):
        tracing._check_memory('an operator', [], (given, given[:2]))
    tracing._check_memory('an operator', [[given]], (given.clone(), None))
