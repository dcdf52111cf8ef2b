"""Predictions of blocks hybridized with static_alloc and static_shape: folded, prepared, and up to date."""
import gc
import weakref

import numpy
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet._graph.cuda.runner import Predictor
from mxnet.ndarray import _predictions


def network():
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Conv2D(6, 3, padding=1, in_channels=3), gluon.nn.BatchNorm(in_channels=6),
            gluon.nn.Activation('relu'), gluon.nn.Conv2D(4, 3, use_bias=False, in_channels=6, groups=2),
            gluon.nn.BatchNorm(in_channels=4, scale=False), gluon.nn.Flatten(), gluon.nn.Dense(5, in_units=144))
    net.initialize(mx.init.Xavier())
    random = numpy.random.RandomState(0)
    for name, param in net.collect_params().items():
        if name.endswith(('gamma', 'beta', 'running_mean', 'running_var')):
            param.set_data(nd.array(random.rand(*param.shape) + 0.5))
    return net


def plain(net, x):
    net.hybridize(False, clear=False)
    value = net(x).asnumpy()
    net.hybridize(static_alloc=True, static_shape=True, clear=False)
    return value


def source(net):
    return next(p.source for p in net._cached_op._plans._plans.values() if p is not None and p.infer)


def test_normalisation_goes_into_the_weights():
    net = network()
    x = nd.random.uniform(shape=(2, 3, 8, 8))
    expected = plain(net, x)
    for _ in range(4):
        numpy.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-4, atol=1e-5)
    assert 'batch_norm' not in source(net)


def test_parameters_that_change_count():
    net = network()
    x = nd.random.uniform(shape=(2, 3, 8, 8))
    net.hybridize(static_alloc=True, static_shape=True)
    for _ in range(4):
        net(x)
    op = net._cached_op
    for param in net.collect_params().values():
        param.set_data(param.data() * 1.5)
        found = net(x).asnumpy()
        assert net._cached_op is op
        numpy.testing.assert_allclose(found, plain(net, x), rtol=1e-4, atol=1e-4)


def test_training_in_between():
    net = network()
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1})
    net.hybridize(static_alloc=True, static_shape=True)
    x = nd.random.uniform(shape=(2, 3, 8, 8))
    for _ in range(5):
        with autograd.record():
            loss = net(x).sum()
        loss.backward()
        trainer.step(2)
        numpy.testing.assert_allclose(net(x).asnumpy(), plain(net, x), rtol=1e-3, atol=1e-4)


def test_the_same_input_is_computed_again():
    """An array may be the same object with other values."""
    net = network()
    net.hybridize(static_alloc=True, static_shape=True)
    x = nd.random.uniform(shape=(2, 3, 8, 8))
    for _ in range(4):
        net(x)
    x[:] = 0.25
    numpy.testing.assert_allclose(net(x).asnumpy(), plain(net, x), rtol=1e-4, atol=1e-5)


def test_results_are_the_callers():
    net = network()
    net.hybridize(static_alloc=True, static_shape=True)
    x = nd.random.uniform(shape=(2, 3, 8, 8))
    results = [net(x) for _ in range(5)]
    results[-1][:] = 7
    again = net(x)
    numpy.testing.assert_allclose(again.asnumpy(), results[0].asnumpy(), rtol=1e-4, atol=1e-5)
    assert (results[-1].asnumpy() == 7).all()


@pytest.mark.parametrize('dtype', ['float32', 'float16'])
def test_imported_graphs(tmp_path, dtype):
    net = network()
    net.cast(dtype)
    x = nd.random.uniform(shape=(2, 3, 8, 8)).astype(dtype)
    net.hybridize()
    net(x)
    assert net.export(str(tmp_path / 'net')) is None
    files = [str(tmp_path / f'net{end}') for end in ('-symbol.json', '-0000.params')]
    block = gluon.SymbolBlock.imports(files[0], ['data'], files[1])
    expected = net(x).asnumpy()
    block.hybridize(static_alloc=True, static_shape=True)
    for _ in range(4):
        numpy.testing.assert_allclose(block(x).asnumpy(), expected, atol=1e-2,
                                      rtol=2e-2 if dtype == 'float16' else 1e-4)


@pytest.mark.gpu
def test_cuda_graphs_of_predictions():
    net = network()
    net.collect_params().reset_ctx(mx.gpu())
    net.hybridize(static_alloc=True, static_shape=True)
    batches = [nd.random.uniform(shape=(2, 3, 8, 8), ctx=mx.gpu()) for _ in range(6)]
    outputs = [net(x) for x in batches]
    predictor = next(iter(net._cached_op.predictions.predictors.values()))
    assert predictor.captured is not None
    for x, out in zip(batches, outputs, strict=True):
        numpy.testing.assert_allclose(out.asnumpy(), plain(net, x), rtol=1e-2, atol=1e-2)
    for param in net.collect_params().values():
        param.set_data(param.data() * 1.5)
    numpy.testing.assert_allclose(net(batches[0]).asnumpy(), plain(net, batches[0]), rtol=1e-2, atol=1e-1)


@pytest.mark.gpu
@pytest.mark.parametrize('momentum', [0.0, 0.9])
@pytest.mark.parametrize('optimizer', ['sgd', 'adam'])
def test_cuda_graphs_of_steps(optimizer, momentum):
    """The same losses and parameters as without hybridizing, with batches, rates and dropout that change."""
    found = []
    for hybridize in (True, False):
        mx.random.seed(4)
        numpy.random.seed(4)
        net = gluon.nn.HybridSequential()
        net.add(gluon.nn.Dense(16, activation='relu', in_units=8), gluon.nn.BatchNorm(in_channels=16),
                gluon.nn.Dense(3, in_units=16))
        net.initialize(mx.init.Xavier(), ctx=mx.gpu())
        if hybridize:
            net.hybridize(static_alloc=True, static_shape=True)
        # without that epsilon, Adam makes steps of gradients that are nothing but rounding
        options = {'learning_rate': 0.1, 'momentum': momentum} if optimizer == 'sgd' else \
            {'learning_rate': 0.01, 'epsilon': 1e-3}
        trainer = gluon.Trainer(net.collect_params(), optimizer, options)
        loss = gluon.loss.SoftmaxCrossEntropyLoss()
        losses = []
        for number in range(12):
            x = nd.array(numpy.random.rand(4 if number != 8 else 3, 8), ctx=mx.gpu())
            y = nd.array(numpy.random.randint(0, 3, x.shape[0]), ctx=mx.gpu())
            with autograd.record():
                value = loss(net(x), y)
            value.backward()
            trainer.step(4)
            losses.append(value)
            if number == 9:
                trainer.set_learning_rate(0.05)
        if hybridize:
            assert net._cached_op.deferral.last_step.runner.captured is not None
        found.append(([v.asnumpy() for v in losses], [p.data().asnumpy() for p in net.collect_params().values()]))
    for one, other in zip(found[0][0], found[1][0], strict=True):
        numpy.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)
    for one, other in zip(found[0][1], found[1][1], strict=True):
        numpy.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)


@pytest.mark.gpu
def test_predictions_see_averages_that_a_cuda_graph_has_moved():
    """Without an update: nothing but the averages of normalisation changes."""
    net = network()
    net.collect_params().reset_ctx(mx.gpu())
    net.hybridize(static_alloc=True, static_shape=True)
    x = nd.random.uniform(shape=(2, 3, 8, 8), ctx=mx.gpu())
    for _ in range(8):
        with autograd.record():
            out = net(x)
        out.backward()
        found = net(x).asnumpy()
    assert net._cached_op.deferral.last_step.runner.captured is not None
    assert next(iter(net._cached_op.predictions.predictors.values())).captured is not None
    numpy.testing.assert_allclose(found, plain(net, x), rtol=1e-2, atol=1e-2)


@pytest.mark.gpu
def test_dropout_in_a_cuda_graph_draws_anew():
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(64, in_units=8), gluon.nn.Dropout(0.5))
    net.initialize(mx.init.One(), ctx=mx.gpu())
    net.hybridize(static_alloc=True, static_shape=True)
    x, seen = nd.ones((4, 8), ctx=mx.gpu()), []
    for _ in range(8):
        with autograd.record():
            out = net(x)
        out.backward()
        seen.append(out.asnumpy())
    assert all((a != b).any() for a, b in zip(seen, seen[1:], strict=False))
    assert 0.3 < (seen[-1] == 0).mean() < 0.7


@pytest.mark.gpu
def test_module_fit_with_cuda_graphs():
    found = []
    data, label = numpy.random.RandomState(0).rand(64, 8).astype('float32'), numpy.arange(64) % 3
    for ctx in (mx.gpu(), mx.cpu()):
        net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=3, name='fc'), name='softmax')
        module = mx.mod.Module(net, context=ctx)
        feed = mx.io.NDArrayIter(data, label, batch_size=8)
        metric = mx.metric.Accuracy()
        module.fit(feed, num_epoch=3, eval_metric=metric, initializer=mx.init.One(),
                   optimizer_params={'learning_rate': 0.5, 'momentum': 0.9})
        found.append((module.get_params()[0]['fc_weight'].asnumpy(), metric.get()[1]))
    numpy.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-4, atol=1e-5)
    assert found[0][1] == found[1][1]


def test_what_calls_of_several_results_prepare_is_written_where_a_graph_reads_it(monkeypatch):
    """As for a captured prediction, whose graph reads what was prepared at the same addresses."""
    class Halves(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.w = self.params.get('w', shape=(4,), init='ones')

        def hybrid_forward(self, F, x, w):
            return F.broadcast_add(x, F.split(w * 2, 2, axis=0)[1])

    seen, run = [], Predictor.run

    def as_captured(self, tensors):
        seen.append(self)
        self.captured = object()
        return run(self, tensors)

    monkeypatch.setattr(Predictor, 'run', as_captured)
    monkeypatch.setattr(Predictor, '_launched', lambda self, *args: False)
    net = Halves()
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    for value in (1, 2, 3):
        net.w.set_data(nd.full((4,), value))
        for _ in range(3):
            assert net(nd.zeros((1, 2))).asnumpy().tolist() == [[2 * value] * 2]
    assert isinstance(seen[-1]._prepared[0], (list, tuple))         # `split` itself


def test_predictors_that_the_cache_drops_are_freed(monkeypatch):
    """And with them their CUDA graphs.  On a CPU, an object stands for a graph."""
    class Graph:
        pass

    graphs, run = [], Predictor.run

    def captured_run(self, tensors):
        results = [r.clone() for r in run(self, tensors)]
        if self.captured is None:
            self.captured = Graph()
            graphs.append(weakref.ref(self.captured))
        return results

    def captures_nothing(self, *args):
        return False

    monkeypatch.setattr(_predictions, 'LIMIT', 3)
    monkeypatch.setattr(Predictor, '_launched', captures_nothing)
    monkeypatch.setattr(Predictor, 'run', captured_run)
    net = gluon.nn.Dense(2, in_units=3)
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    for size in range(1, 9):
        for _ in range(4):
            result = net(nd.ones((size, 3)))
        value = result.asnumpy()
    assert len(net._cached_op.predictions.predictors) == 3
    gc.collect()
    assert len(graphs) == 8 and [graph() is not None for graph in graphs] == [False] * 5 + [True] * 3
    numpy.testing.assert_array_equal(result.asnumpy(), value)
