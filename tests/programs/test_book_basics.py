"""Programs as *Dive into Deep Learning* writes them in its MXNet tab (second edition: np, npx), small and in our words:
from arrays to multilayer perceptrons, custom blocks, parameters and files.
"""
import math

import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd, gluon, init, np, npx
from mxnet.gluon import nn


@pytest.fixture(autouse=True)
def np_mode():
    mx.random.seed(7)
    npx.set_np()
    yield
    npx.reset_np()


def line(w, b, n):
    X = np.random.normal(0, 1, (n, len(w)))
    y = np.dot(X, w) + b
    return X, (y + np.random.normal(0, 0.01, y.shape)).reshape((-1, 1))


def batches(batch_size, features, labels):
    indices = onp.random.RandomState(0).permutation(len(features)).tolist()
    for i in range(0, len(features), batch_size):
        chosen = np.array(indices[i:i + batch_size])
        yield features[chosen], labels[chosen]


# ---------------------------------------------------------------------- linear regression
def test_linear_regression_from_scratch():
    true_w = np.array([2, -3.4])
    features, labels = line(true_w, 4.2, 200)
    w, b = np.random.normal(0, 0.01, (2, 1)), np.zeros(1)
    w.attach_grad()
    b.attach_grad()
    for _ in range(8):
        for X, y in batches(10, features, labels):
            with autograd.record():
                loss = (np.dot(X, w) + b - y.reshape((-1, 1)))**2 / 2
            loss.backward()
            for param in (w, b):
                param[:] = param - 0.1 * param.grad / 10
    assert float(np.abs(w.reshape(true_w.shape) - true_w).max()) < 0.02 and abs(float(b) - 4.2) < 0.02
    assert f'{float(loss.mean()):f}'.startswith('0.0') and w.grad.shape == (2, 1)


def test_linear_regression_with_gluon():
    true_w = np.array([2, -3.4])
    data = gluon.data.ArrayDataset(*line(true_w, 4.2, 200))
    loader = gluon.data.DataLoader(data, 10, shuffle=True)
    net = nn.Sequential()
    net.add(nn.Dense(1))
    net.initialize(init.Normal(sigma=0.01))
    loss = gluon.loss.L2Loss()
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1})
    for _ in range(6):
        for X, y in loader:
            assert type(X) is np.ndarray
            with autograd.record():
                value = loss(net(X), y)
            value.backward()
            trainer.step(10)
    w = net[0].weight.data()
    assert type(w) is np.ndarray and float(np.abs(w.reshape((2,)) - true_w).max()) < 0.02
    assert net[0].weight.grad().shape == (1, 2)


class ScratchModule(nn.Block):
    """The second edition's kind of model: arrays as attributes, its own loss and optimizer."""

    def __init__(self, inputs, lr):
        super().__init__()
        self.w = np.random.normal(0, 0.01, (inputs, 1))
        self.b = np.zeros(1)
        self.w.attach_grad()
        self.b.attach_grad()
        self.lr = lr

    def forward(self, X):
        return np.dot(X, self.w) + self.b

    def scratch_params(self):
        return [getattr(self, name) for name in ('w', 'b')]

    def to_device(self, device):
        for name in ('w', 'b'):
            with autograd.record():
                setattr(self, name, getattr(self, name).as_in_ctx(device))
            getattr(self, name).attach_grad()


def test_the_second_editions_module():
    X, y = line(np.array([2, -3.4]), 4.2, 100)
    model = ScratchModule(2, 0.3)
    model.to_device(npx.cpu())
    for _ in range(60):
        with autograd.record():
            loss = ((model(X) - y)**2 / 2).mean()
        loss.backward()
        for param in model.scratch_params():
            param -= model.lr * param.grad
    assert float(loss) < 1e-3
    assert not len(model.collect_params().keys())


class Accumulator:
    def __init__(self, n):
        self.data = [0.0] * n

    def add(self, *args):
        self.data = [a + float(b) for a, b in zip(self.data, args, strict=True)]

    def __getitem__(self, i):
        return self.data[i]


# ---------------------------------------------------------------------- softmax regression
def digits(n=120):
    """Pictures of three classes that can be told apart."""
    y = np.arange(n) % 3
    X = np.random.normal(0, 0.3, (n, 1, 8, 8))
    for i in range(n):
        X[i, 0, int(y[i]) * 2:int(y[i]) * 2 + 2] += 1
    return X, y.astype('int32')


def accuracy(y_hat, y):
    if len(y_hat.shape) > 1 and y_hat.shape[1] > 1:
        y_hat = y_hat.argmax(axis=1)
    cmp = y_hat.astype(y.dtype) == y
    return float(cmp.astype(y.dtype).sum())


def test_softmax_regression_from_scratch():
    X, y = digits()
    W, b = np.random.normal(0, 0.01, (64, 3)), np.zeros(3)
    for p in (W, b):
        p.attach_grad()

    def softmax(X):
        X_exp = np.exp(X)
        return X_exp / X_exp.sum(1, keepdims=True)

    def net(X):
        return softmax(np.dot(X.reshape((-1, W.shape[0])), W) + b)

    def cross_entropy(y_hat, y):
        return -np.log(y_hat[range(len(y_hat)), y])

    for _ in range(30):
        with autograd.record():
            loss = cross_entropy(net(X), y)
        loss.backward()
        for p in (W, b):
            p[:] = p - 0.5 * p.grad / len(X)
    metric = Accumulator(2)
    metric.add(accuracy(net(X), y), y.size)
    assert metric[0] / metric[1] > 0.95


@pytest.mark.parametrize('hybridize', [False, True])
def test_softmax_regression_and_mlp_with_gluon(hybridize):
    X, y = digits()
    for hidden in ((), (16,)):
        net = nn.HybridSequential()
        for units in hidden:
            net.add(nn.Dense(units, activation='relu'), nn.Dropout(0.2))
        net.add(nn.Dense(3))
        net.initialize(init.Normal(sigma=0.1))
        if hybridize:
            net.hybridize()
        loss = gluon.loss.SoftmaxCrossEntropyLoss()
        trainer = gluon.Trainer(net.collect_params(), 'adam', {'learning_rate': 0.02, 'wd': 1e-4})
        for _ in range(30):
            with autograd.record():
                value = loss(net(X), y)
            value.backward()
            trainer.step(len(X))
        metric = mx.metric.Accuracy()
        metric.update(y, net(X))
        assert metric.get()[1] > 0.9 and accuracy(net(X), y) / len(y) > 0.9


def test_dropout_and_weight_decay_from_scratch():
    def dropout_layer(X, dropout):
        if dropout == 1:
            return np.zeros_like(X)
        mask = np.random.uniform(0, 1, X.shape) > dropout
        return mask.astype(np.float32) * X / (1.0 - dropout)

    X = np.arange(1, 17).reshape(2, 8)
    assert (dropout_layer(X, 0) == X).all() and not dropout_layer(X, 1).any()
    half = dropout_layer(np.ones((50, 50)), 0.5)
    assert set(half.reshape(-1).tolist()) == {0, 2} and abs(float(half.mean()) - 1) < 0.1
    net = nn.Sequential()
    net.add(nn.Dense(1))
    net.initialize(init.Normal(sigma=1))
    net.collect_params('.*bias').setattr('wd_mult', 0)
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1, 'wd': 3})
    before = float(np.linalg.norm(net(np.zeros((1, 4)))) + np.linalg.norm(net[0].weight.data()))
    with autograd.record():
        loss = (net(np.zeros((1, 4)))**2).mean()
    loss.backward()
    trainer.step(1)
    assert float(np.linalg.norm(net[0].weight.data())) < before
    assert net[0].bias.wd_mult == 0


def test_kaggle_house_prices_style():
    features = np.array(onp.random.RandomState(0).rand(60, 5), dtype=np.float32)
    labels = np.exp(features.sum(axis=1, keepdims=True)) * 10
    net = nn.Sequential()
    net.add(nn.Dense(1))
    net.initialize()
    loss = gluon.loss.L2Loss()

    def log_rmse(net, features, labels):
        clipped = np.clip(net(features), 1, float('inf'))
        return np.sqrt(2 * loss(np.log(clipped), np.log(labels)).mean())

    trainer = gluon.Trainer(net.collect_params(), 'adam', {'learning_rate': 5, 'wd': 0})
    first = float(log_rmse(net, features, labels))
    for i in range(3):
        part = slice(i * 20, (i + 1) * 20)
        for _ in range(20):
            with autograd.record():
                value = loss(net(features[part]), labels[part])
            value.backward()
            trainer.step(20)
    train = np.concatenate([features[:20], features[40:]], 0)
    assert float(log_rmse(net, features, labels)) < first / 4 and train.shape == (40, 5)
    preds = net(features).asnumpy()
    assert preds.reshape(1, -1)[0].shape == (60,)


# ---------------------------------------------------------------------- blocks and parameters
class MLP(nn.Block):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.hidden = nn.Dense(256, activation='relu')
        self.out = nn.Dense(10)

    def forward(self, X):
        return self.out(self.hidden(X))


class MySequential(nn.Block):
    def add(self, block):
        self._children[block.name] = block

    def forward(self, X):
        for block in self._children.values():
            X = block(X)
        return X


class FixedHiddenMLP(nn.Block):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.rand_weight = self.params.get_constant('rand_weight', np.random.uniform(size=(20, 20)))
        self.dense = nn.Dense(20, activation='relu')

    def forward(self, X):
        X = self.dense(X)
        X = npx.relu(np.dot(X, self.rand_weight.data()) + 1)
        X = self.dense(X)
        while np.abs(X).sum() > 1:
            X /= 2
        return X.sum()


class NestMLP(nn.Block):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.net = nn.Sequential()
        self.net.add(nn.Dense(64, activation='relu'), nn.Dense(32, activation='relu'))
        self.dense = nn.Dense(16, activation='relu')

    def forward(self, X):
        return self.dense(self.net(X))


def test_custom_blocks():
    X = np.random.uniform(size=(2, 20))
    net = MLP()
    net.initialize()
    assert net(X).shape == (2, 10)
    net = MySequential()
    net.add(nn.Dense(256, activation='relu'))
    net.add(nn.Dense(10))
    net.initialize()
    assert net(X).shape == (2, 10)
    chimera = nn.Sequential()
    chimera.add(NestMLP(), nn.Dense(20), FixedHiddenMLP())
    chimera.initialize()
    result = chimera(X)
    assert result.shape == () and float(np.abs(result)) <= 1


class MyInit(init.Initializer):
    def _init_weight(self, name, data):
        data[:] = np.random.uniform(-10, 10, data.shape)
        data *= np.abs(data) >= 5


def test_parameters_are_reached_initialized_and_tied():
    net = nn.Sequential()
    net.add(nn.Dense(8, activation='relu'), nn.Dense(1))
    with pytest.raises(mx.gluon.parameter.DeferredInitializationError, match='_weight'):
        net.initialize()
        net[0].weight.data()
    assert net[0].weight.shape == (8, -1)
    X = np.random.uniform(size=(2, 4))
    net(X)
    assert net[1].bias.data().shape == (1,) and net[0].weight.shape == (8, 4)
    assert [p.split('_')[-1] for p in net[0].params] == ['weight', 'bias']
    name = net[1].bias.name
    assert net.collect_params()[name].data() == 0
    net.initialize(init=init.Constant(1), force_reinit=True)
    assert (net[0].weight.data() == 1).all()
    net.initialize(init=MyInit(), force_reinit=True)
    values = net[0].weight.data()
    assert all(v == 0 or abs(v) >= 5 for v in values.reshape(-1).tolist())
    net[0].weight.initialize(init=init.Xavier(), force_reinit=True)
    net[0].weight.data()[:] += 1
    net[0].weight.data()[0, 0] = 42
    assert float(net[0].weight.data()[0][0]) == 42
    shared = nn.Dense(8, activation='relu')
    tied = nn.Sequential()
    tied.add(nn.Dense(8, activation='relu'), shared, nn.Dense(8, activation='relu', params=shared.params), nn.Dense(10))
    tied.initialize()
    tied(X)
    tied[1].weight.data()[0, 0] = 100
    assert (tied[1].weight.data()[0] == tied[2].weight.data()[0]).all()


class CenteredLayer(nn.Block):
    def forward(self, X):
        return X - X.mean()


class MyDense(nn.Block):
    def __init__(self, units, in_units, **kwargs):
        super().__init__(**kwargs)
        self.weight = self.params.get('weight', shape=(in_units, units))
        self.bias = self.params.get('bias', shape=(units,))

    def forward(self, x):
        linear = np.dot(x, self.weight.data(ctx=x.ctx)) + self.bias.data(ctx=x.ctx)
        return npx.relu(linear)


def test_custom_layers_and_files(tmp_path):
    assert CenteredLayer()(np.array([1, 2, 3, 4, 5])).tolist() == [-2, -1, 0, 1, 2]
    net = nn.Sequential()
    net.add(MyDense(8, in_units=64), MyDense(1, in_units=8))
    net.initialize()
    X = np.random.uniform(size=(2, 64))
    assert net(X).shape == (2, 1)
    file = str(tmp_path / 'x')
    npx.save(file, np.arange(4))
    assert npx.load(file)[0].tolist() == [0, 1, 2, 3]
    npx.save(file, [np.arange(4), np.zeros(4)])
    x2, y2 = npx.load(file)
    npx.save(file, {'x': x2, 'y': y2})
    assert set(npx.load(file)) == {'x', 'y'} and type(x2) is np.ndarray
    net.save_parameters(file)
    clone = nn.Sequential()
    clone.add(MyDense(8, in_units=64), MyDense(1, in_units=8))
    clone.load_parameters(file)
    assert (clone(X) == net(X)).all()


def test_devices():
    def try_gpu(i=0):
        return npx.gpu(i) if npx.num_gpus() >= i + 1 else npx.cpu()

    x = np.array([1, 2, 3], ctx=try_gpu(100))
    assert x.ctx == npx.cpu() and x.as_in_ctx(npx.cpu()) is x
    y = x.copyto(npx.cpu(1))
    assert y.ctx == npx.cpu(1) and (y.as_in_ctx(npx.cpu()) + x).tolist() == [2, 4, 6]


# ---------------------------------------------------------------------- calculus, probability, linear algebra
def test_automatic_differentiation():
    x = np.arange(4.0)
    x.attach_grad()
    assert not x.grad.any()
    with autograd.record():
        y = 2 * np.dot(x, x)
    assert float(y) == 28
    y.backward()
    assert (x.grad == 4 * x).all()
    with autograd.record():
        y = x * x
        u = y.detach()
        z = u * x
    z.backward()
    assert (x.grad == u).all()

    def f(a):
        b = a * 2
        while np.linalg.norm(b) < 1000:
            b = b * 2
        return b if b.sum() > 0 else 100 * b

    a = np.random.normal()
    a.attach_grad()
    with autograd.record():
        d = f(a)
    d.backward()
    assert a.grad == d / a


def test_arrays_as_the_first_chapters_use_them():
    x = np.arange(12)
    assert x.size == 12 and x.reshape(3, 4).shape == (3, 4)
    X = x.reshape(3, 4)
    before = id(X)
    X[:] = X + 1
    assert id(X) == before
    X[1, 2] = 9
    X[0:2, :] = 12
    assert X[-1].tolist() == [9, 10, 11, 12] and (X[1:3] == 12).sum() == 4 + 1
    Y = np.array([[2, 1, 4, 3], [1, 2, 3, 4], [4, 3, 2, 1]])
    assert np.concatenate([X, Y], axis=0).shape == (6, 4) and np.concatenate([X, Y], axis=1).shape == (3, 8)
    Z = np.zeros_like(Y)
    Z[:] = X + Y
    A = X.asnumpy()
    assert type(A) is onp.ndarray and type(np.array(A)) is np.ndarray
    a = np.array([3.5])
    assert (a.item(), float(a), int(a)) == (3.5, 3.5, 3)
    A = np.arange(20).reshape(5, 4)
    B = A.copy()
    assert (A + B - A == B).all() and (A * B).sum().shape == () and A.sum(axis=[0, 1]) == A.sum()
    assert A.cumsum(axis=0).shape == (5, 4) and float((A / A.sum(axis=1, keepdims=True)).sum()) == pytest.approx(5)
    assert float(np.linalg.norm(np.array([3, -4]))) == 5 and float(np.abs(np.array([3, -4])).sum()) == 7
    draws = np.random.multinomial(10, [0.25] * 4, size=3)
    assert draws.shape == (3, 4) and draws.sum(axis=1).tolist() == [10, 10, 10]
    assert math.isclose(float(np.exp(np.array(1.0))), math.e, rel_tol=1e-6)
    data = np.power(10000, np.arange(0, 8, 2) / 8)
    assert data.shape == (4,) and isinstance(np.pi, float)
