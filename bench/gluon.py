"""Gluon beside torch eager, on the CPU: training steps of the tutorials' MLP and of an LSTM, a CNN that predicts.

The `nd` column uses nothing but MXNet 1.x's public API, so that the same file runs on the real 1.9.1.
"""
try:
    from .timing import later
except ImportError:                     # run by upstream.py, which must not find our mxnet beside this package
    from timing import later

# name -> budget as a ratio to torch; or to others, by column
BUDGETS = {'MLP step, hybridized': 0.65, 'MLP step, plain': 1.25, 'large LSTM 2x200 step': 1.0, 'CNN predicts one': 0.7}
BESIDE = {'MLP step, hybridized': {'JAX': 0.8}}


def nd_cases(mx):
    return {'MLP step, hybridized': later(lambda: _mlp(mx, True)), 'MLP step, plain': later(lambda: _mlp(mx, False)),
            'large LSTM 2x200 step': later(lambda: _lstm(mx)), 'CNN predicts one': later(lambda: _cnn(mx))}


def torch_cases(torch, compiled=False):
    """The same in torch; `compiled`, by torch.compile."""
    change = torch.compile if compiled else lambda function: function
    return {'MLP step, hybridized': later(lambda: _torch_mlp(torch, change)),
            'MLP step, plain': later(lambda: _torch_mlp(torch, change)),
            'large LSTM 2x200 step': later(lambda: _torch_lstm(torch, change)),
            'CNN predicts one': later(lambda: _torch_cnn(torch, change))}


# ---------------------------------------------------------------------- 784-64-64-10, batches of 64, SGD
def _mlp(mx, hybridize):
    nn = mx.gluon.nn
    net = nn.HybridSequential()
    net.add(nn.Dense(64, activation='relu'), nn.Dense(64, activation='relu'), nn.Dense(10))
    net.initialize(mx.init.Xavier())
    if hybridize:
        net.hybridize(static_alloc=True, static_shape=True)
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = mx.gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.01})
    x, y = mx.nd.random.uniform(shape=(64, 784)), mx.nd.array([i % 10 for i in range(64)])

    def step():
        with mx.autograd.record():
            loss = loss_of(net(x), y)
        loss.backward()
        trainer.step(64)
        mx.nd.waitall()

    return step


def _torch_mlp(torch, change):
    nn = torch.nn
    net = nn.Sequential(nn.Linear(784, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    optimizer, loss_of = torch.optim.SGD(net.parameters(), lr=0.01), nn.CrossEntropyLoss()
    x, y = torch.rand(64, 784), torch.arange(64) % 10
    loss = change(lambda: loss_of(net(x), y))

    def step():
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()

    return step


# ---------------------------------------------------------------------- two layers of 200, 35 steps, batches of 20
def _lstm(mx):
    layer = mx.gluon.rnn.LSTM(200, 2, input_size=200)
    layer.initialize()
    layer.hybridize(static_alloc=True, static_shape=True)
    x = mx.nd.random.uniform(shape=(35, 20, 200))

    def step():
        with mx.autograd.record():
            out = layer(x)
        out.backward()
        mx.nd.waitall()

    return step


def _torch_lstm(torch, change):
    layer = torch.nn.LSTM(200, 200, 2)
    x, ones = torch.rand(35, 20, 200), torch.ones(35, 20, 200)
    run = change(layer)

    def step():
        for p in layer.parameters():
            p.grad = None
        run(x)[0].backward(ones)

    return step


# ---------------------------------------------------------------------- LeNet with normalisation, one picture
def _cnn(mx):
    nn = mx.gluon.nn
    net = nn.HybridSequential()
    for channels in (8, 16):
        net.add(nn.Conv2D(channels, 3, padding=1, use_bias=False), nn.BatchNorm(), nn.Activation('relu'),
                nn.MaxPool2D())
    net.add(nn.Flatten(), nn.Dense(64, activation='relu'), nn.Dense(10))
    net.initialize(mx.init.Xavier())
    net.hybridize(static_alloc=True, static_shape=True)
    x = mx.nd.random.uniform(shape=(1, 1, 28, 28))

    def predict():
        net(x)
        mx.nd.waitall()

    return predict


def _torch_cnn(torch, change):
    nn = torch.nn
    parts, inside = [], 1
    for channels in (8, 16):
        parts += [nn.Conv2d(inside, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels), nn.ReLU(),
                  nn.MaxPool2d(2)]
        inside = channels
    net = nn.Sequential(*parts, nn.Flatten(), nn.Linear(16 * 49, 64), nn.ReLU(), nn.Linear(64, 10)).eval()
    x = torch.rand(1, 1, 28, 28)
    run = change(net)

    def predict():
        with torch.no_grad():
            run(x)

    return predict
