"""`mx.np` beside torch: small arrays, and a training step of the tutorials' MLP as a block written on np arrays."""
from .gluon import _torch_mlp
from .timing import later

STEP = 'np MLP step, forward on arrays'
BUDGETS = {'np add': 1.7, 'np sum': 1.7, 'np slice': 1.7, 'np element': 1.7, STEP: 0.7}


def nd_cases(mx):
    from mxnet import np
    a, b = np.ones((4, 4)), np.ones((4, 4))
    return {'np add': lambda: a + b, 'np sum': lambda: a.sum(), 'np slice': lambda: a[1:3],
            'np element': lambda: a[1, 2], STEP: later(lambda: _mlp(mx))}


def torch_cases(torch):
    a, b = torch.ones(4, 4), torch.ones(4, 4)
    return {'np add': lambda: a + b, 'np sum': lambda: a.sum(), 'np slice': lambda: a[1:3],
            'np element': lambda: a[1, 2], STEP: later(lambda: _torch_mlp(torch, lambda step: step))}


def _mlp(mx):
    from mxnet import np, npx
    nn = mx.gluon.nn

    class MLP(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.first, self.second, self.out = nn.Dense(64), nn.Dense(64), nn.Dense(10)

        def forward(self, x):
            h = npx.relu(self.first(x.reshape(x.shape[0], -1)))
            return self.out(npx.relu(self.second(h)))

    @mx.util.use_np
    def prepare():
        net = MLP()
        net.initialize(mx.init.Xavier())
        net.hybridize(static_alloc=True, static_shape=True)
        return net, np.random.uniform(size=(64, 784)), np.arange(64) % 10

    net, x, y = prepare()
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = mx.gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.01})

    @mx.util.use_np
    def step():
        with mx.autograd.record():
            loss = loss_of(net(x), y)
        loss.backward()
        trainer.step(64)
        mx.nd.waitall()

    return step
