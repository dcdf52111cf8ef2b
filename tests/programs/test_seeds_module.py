"""The programs about symbols, FeedForward and Module of our tutorials, as printed but for Python 2's print."""
import sys
import types

import numpy as np
import pytest

import mxnet as mx


@pytest.fixture
def pyplot(monkeypatch):
    """matplotlib, or what its users call of it where it is not installed."""
    try:
        import matplotlib
        matplotlib.use('Agg')
    except ImportError:
        class Anything:
            def __getattr__(self, name):
                return lambda *args, **kwargs: Anything()
        module = types.ModuleType('matplotlib.pyplot')
        module.figure, module.show = lambda: Anything(), lambda: None
        package = types.ModuleType('matplotlib')
        package.pyplot = module
        monkeypatch.setitem(sys.modules, 'matplotlib', package)
        monkeypatch.setitem(sys.modules, 'matplotlib.pyplot', module)


def test_architecture():
    X, W = mx.sym.Variable('X'), mx.sym.Variable('W')
    hidden_linear = mx.sym.dot(X, W)
    hidden_activation = mx.sym.tanh(hidden_linear)
    found = hidden_activation.eval(X=mx.nd.ones((2, 3)), W=mx.nd.ones((3, 4)))[0]
    np.testing.assert_allclose(found.asnumpy(), np.full((2, 4), np.tanh(3)), rtol=1e-6)


def test_sum_of_two_variables():
    X, Y = mx.nd.ones((2, 2)), mx.nd.ones((2, 2)) * 2
    a = mx.sym.Variable('a')
    b = mx.sym.Variable('b')
    c = a + b
    executor = c.bind(mx.cpu(), {'a': X, 'b': Y})
    result = executor.forward()
    assert result[0].asnumpy().tolist() == [[3, 3], [3, 3]]


def test_layers():
    num_classes = 10
    data = mx.symbol.Variable('data')
    fc1  = mx.symbol.FullyConnected(data = data, name='fc1', num_hidden=128)
    act1 = mx.symbol.Activation(data = fc1, name='relu1', act_type="relu")
    fc2  = mx.symbol.FullyConnected(data = act1, name = 'fc2', num_hidden = 64)
    act2 = mx.symbol.Activation(data = fc2, name='relu2', act_type="relu")
    fc3  = mx.symbol.FullyConnected(data = act2, name='fc3', num_hidden=num_classes)
    mlp  = mx.symbol.SoftmaxOutput(data = fc3, name = 'softmax')
    assert mlp.infer_shape(data=(5, 784))[1] == [(5, 10)]


def test_arguments():
    net = mx.symbol.Variable('data')
    net = mx.symbol.FullyConnected(data=net, name='fc1', num_hidden=128)
    net = mx.symbol.Activation(data=net, name='relu1', act_type="relu")
    net = mx.symbol.FullyConnected(data=net, name='fc2', num_hidden=64)
    net = mx.symbol.SoftmaxOutput(data=net, name='out')
    assert type(net) is mx.symbol.Symbol
    assert net.list_arguments() == ['data', 'fc1_weight', 'fc1_bias', 'fc2_weight', 'fc2_bias', 'out_label']

    net2 = mx.symbol.Variable('data')
    w = mx.symbol.Variable('myweight')
    net2 = mx.symbol.FullyConnected(data=net2, weight=w, name='fc1', num_hidden=128)
    assert net2.list_arguments() == ['data', 'myweight', 'fc1_bias']

    lhs = mx.symbol.Variable('data1')
    rhs = mx.symbol.Variable('data2')
    net = mx.symbol.FullyConnected(data=lhs + rhs, name='fc1', num_hidden=128)
    assert net.list_arguments() == ['data1', 'data2', 'fc1_weight', 'fc1_bias']


def test_composition():
    net = mx.symbol.Variable('data')
    net = mx.symbol.FullyConnected(data=net, name='fc1', num_hidden=128)
    net2 = mx.symbol.Variable('data2')
    net2 = mx.symbol.FullyConnected(data=net2, name='net2', num_hidden=128)
    composed_net = net(data=net2, name='compose')
    # MXNet 1.9.1 leaves the names of parameters as they are, unlike the version of the text
    assert composed_net.list_arguments() == ['data2', 'net2_weight', 'net2_bias', 'fc1_weight', 'fc1_bias']
    assert composed_net.list_outputs() == ['compose_output']


def test_shapes():
    net = mx.symbol.Variable('data')
    net = mx.symbol.FullyConnected(data=net, name='fc1', num_hidden=10)
    arg_shape, out_shape, aux_shape = net.infer_shape(data=(100, 100))
    found = dict(zip(net.list_arguments(), arg_shape))
    assert found == {'data': (100, 100), 'fc1_weight': (10, 100), 'fc1_bias': (10,)}
    assert out_shape == [(100, 10)] and aux_shape == []


def test_bind():
    A = mx.symbol.Variable('A')
    B = mx.symbol.Variable('B')
    C = A * B
    a = mx.nd.ones(3) * 4
    b = mx.nd.ones(3) * 2
    c_exec = C.bind(ctx=mx.cpu(), args={'A': a, 'B': b})
    c_exec.forward()
    assert c_exec.outputs[0].asnumpy().tolist() == [8, 8, 8]


def test_simple_bind():
    net = mx.symbol.FullyConnected(mx.symbol.Variable('data'), num_hidden=2, name='fc')
    input_shape = (3, 4)
    texec = net.simple_bind(data=input_shape)
    texec.forward()
    texec.backward()
    assert texec.grad_dict['fc_bias'].asnumpy().tolist() == [3, 3]


def test_linear_regression(pyplot):
    np.random.seed(0)
    mx.random.seed(0)
    import matplotlib.pyplot as plt

    X_data = np.linspace(-1, 1, 100)
    noise = np.random.normal(0, 0.5, 100)
    y_data = 5 * X_data + noise

    fig = plt.figure()
    ax = fig.add_subplot(1, 1, 1)
    ax.scatter(X_data, y_data)

    X = mx.symbol.Variable('data')
    Y = mx.symbol.Variable('softmax_label')

    Y_ = mx.symbol.FullyConnected(data=X, num_hidden=1, name='pre')
    loss = mx.symbol.LinearRegressionOutput(data=Y_, label=Y, name='loss')

    with pytest.warns(DeprecationWarning):
        model = mx.model.FeedForward(
            ctx=mx.cpu(),
            symbol=loss,
            num_epoch=100,
            learning_rate=0.001,
            numpy_batch_size=1
        )
    model.fit(X=X_data, y=y_data)

    prediction = model.predict(X_data)
    lines = ax.plot(X_data, prediction, 'r-', lw=5)
    plt.show()

    assert lines is not None and prediction.shape == (100, 1)
    # what MXNet 1.9.1 finds with the same seed, which shuffles the data in the same order
    assert model.arg_params['pre_weight'].asscalar() == pytest.approx(4.7619, abs=1e-3)
    assert model.arg_params['pre_bias'].asscalar() == pytest.approx(0.02963, abs=1e-3)


def test_feed_forward_create():
    data = mx.io.NDArrayIter(np.random.rand(8, 3), np.zeros(8), batch_size=4)
    net = mx.symbol.SoftmaxOutput(mx.symbol.FullyConnected(mx.symbol.Variable('data'), num_hidden=2), name='softmax')
    with pytest.warns(DeprecationWarning):
        model = mx.model.FeedForward.create(symbol = net, X = data, num_epoch=1)
    assert model.predict(data).shape == (8, 2)
    kv = mx.kvstore.create('local')
    with pytest.warns(DeprecationWarning):
        model = mx.model.FeedForward.create(symbol = net, X = data, kvstore = kv, num_epoch=1)
    assert model.predict(data).shape == (8, 2)
