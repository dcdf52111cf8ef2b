"""Modules that learn by variance reduced gradients, against the formula written in NumPy."""
import numpy
import pytest

import mxnet as mx
from mxnet.contrib.svrg_optimization.svrg_module import SVRGModule
from mxnet.contrib.svrg_optimization.svrg_optimizer import _SVRGOptimizer


def regression():
    data = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=1, no_bias=True, name='fullyconnected0')
    return mx.sym.LinearRegressionOutput(data, mx.sym.var('label'))


def make_data(count=24, batch=6):
    random = numpy.random.RandomState(0)
    x = random.randn(count, 3).astype('float32')
    y = x @ numpy.array([1, -2, 3], 'float32') + random.randn(count).astype('float32')
    return x, y, mx.io.NDArrayIter(x, y, batch, label_name='label')


def reference(x, y, epochs, freq, rate, batch):
    """Weights after some epochs."""
    weight = numpy.zeros(3)

    def gradient(w, rows):
        return x[rows].T @ (x[rows] @ w - y[rows])
    for epoch in range(epochs):
        if epoch % freq == 0:
            kept, full = weight.copy(), gradient(weight, slice(None)) / (len(x) / batch)
        for first in range(0, len(x), batch):
            rows = slice(first, first + batch)
            weight = weight - rate / batch * (gradient(weight, rows) - gradient(kept, rows) + full)
    return weight


@pytest.mark.parametrize(('kvstore', 'contexts'), [(None, 1), ('local', 1), (mx.kv.create, 1), ('local', 2),
                                                   ('device', 2)])
def test_fit_is_the_formula(kvstore, contexts):
    x, y, data = make_data()
    module = SVRGModule(regression(), label_names=['label'], update_freq=2,
                        context=[mx.cpu(i) for i in range(contexts)])
    kvstore = kvstore('local') if callable(kvstore) else kvstore
    module.fit(data, eval_metric='mse', kvstore=kvstore, initializer=mx.init.Zero(), num_epoch=5,
               optimizer_params={'learning_rate': 0.1})
    found = module.get_params()[0]['fullyconnected0_weight'].asnumpy()[0]
    numpy.testing.assert_allclose(found, reference(x, y, 5, 2, 0.1, 6), rtol=1e-4)


def test_steps_by_hand_and_other_optimizers():
    x, y, data = make_data()
    module = SVRGModule(regression(), label_names=['label'], update_freq=1)
    module.bind(data.provide_data, data.provide_label)
    module.init_params(mx.init.Zero())
    module.init_optimizer(optimizer='adam', optimizer_params={'learning_rate': 0.1})
    first = module.get_params()[0]['fullyconnected0_weight'].asnumpy()
    for batch in data:          # without a full gradient yet: the batch's own
        module.forward_backward(batch)
        module.update()
    module.update_full_grads(data)
    for _ in range(30):
        data.reset()
        for batch in data:
            module.forward_backward(batch)
            module.update()
    best = numpy.linalg.lstsq(x, y, rcond=None)[0]
    found = module.get_params()[0]['fullyconnected0_weight'].asnumpy()
    assert abs(found[0] - best).max() < 0.1 < abs(first[0] - best).max()
    assert module._optimizer.learning_rate == 0.1
    module._optimizer.set_learning_rate(0.01)
    assert module._optimizer.default_opt.learning_rate == 0.01


def test_sparse_weights():
    x, y, _ = make_data()
    data = mx.io.NDArrayIter({'data': mx.nd.array(x).tostype('csr')}, {'label': y.reshape(-1, 1)}, 6,
                             last_batch_handle='discard')
    weight = mx.sym.var('sparse_weight', stype='row_sparse', shape=(3, 1))
    net = mx.sym.LinearRegressionOutput(mx.sym.sparse.dot(mx.sym.var('data', stype='csr'), weight), mx.sym.var('label'))
    module = SVRGModule(net, label_names=['label'], update_freq=2)
    module.fit(data, eval_metric='mse', initializer=mx.init.Zero(), num_epoch=5, kvstore=None,
               optimizer_params={'learning_rate': 0.1})
    found = module.get_params()[0]['sparse_weight']
    assert found.stype == 'row_sparse'
    numpy.testing.assert_allclose(found.asnumpy()[:, 0], reference(x, y, 5, 2, 0.1, 6), rtol=1e-4)


def test_full_gradients_are_told_apart_by_the_end_of_their_names():
    optimizer = _SVRGOptimizer('sgd', learning_rate=1.0, param_idx2name={0: 'full_weight', 1: 'full_weight_full'})
    weights = [mx.nd.zeros(3) for _ in range(2)]
    for index, weight in enumerate(weights):
        optimizer.update(index, weight, mx.nd.ones(3), optimizer.create_state(index, weight))
    assert [w.asnumpy().tolist() for w in weights] == [[-1] * 3, [1] * 3]


def test_mistakes():
    with pytest.raises(TypeError, match='every how many epochs'):
        SVRGModule(regression(), label_names=['label'])
    with pytest.raises(ValueError, match='1 or more'):
        SVRGModule(regression(), label_names=['label'], update_freq=0)
