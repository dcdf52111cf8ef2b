"""torch modules as blocks and blocks as torch modules."""
import numpy as np
import torch

import mxnet as mx
from mxnet import autograd, gluon, nd


def test_a_torch_module_trains_as_a_block():
    torch.manual_seed(0)
    mx.random.seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Dropout(0.5), torch.nn.Linear(4, 1))
    net = gluon.from_torch(module)
    assert [p.shape for p in net.collect_params().values()] == [(4, 3), (4,), (1, 4), (1,)]
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1})
    x, y = nd.random.normal(shape=(8, 3)), nd.random.normal(shape=(8, 1))
    losses = []
    for _ in range(30):
        with autograd.record(train_mode=False):
            loss = ((net(x * 1) - y) ** 2).mean()
        loss.backward()
        trainer.step(1)
        losses.append(loss.asscalar())
    assert losses[-1] < losses[0] * 0.7
    # the module itself was trained: one memory
    want = module.eval()(x.to_torch()).detach().numpy()
    np.testing.assert_allclose(net(x).asnumpy(), want, rtol=1e-6)


def test_a_module_between_blocks():
    module = torch.nn.Linear(2, 2, bias=False)
    net = gluon.nn.Sequential()
    net.add(gluon.nn.Dense(2, in_units=3), gluon.from_torch(module), gluon.nn.Dense(1, in_units=2))
    net.initialize(mx.init.One())
    x = nd.ones((1, 3))
    x.attach_grad()
    with autograd.record():
        y = net(x).sum()
    y.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), np.full((1, 3), module.weight.detach().numpy().sum()), rtol=1e-5)


def test_a_block_trains_as_a_torch_module():
    net = gluon.nn.HybridSequential(prefix='net_')
    net.add(gluon.nn.Dense(4, in_units=3, activation='tanh'), gluon.nn.Dense(1, in_units=4))
    net.initialize(mx.init.Normal(0.5))
    for hybrid in (False, True):
        net.hybridize(hybrid)
        module = torch.nn.Sequential(gluon.to_torch(net), torch.nn.Identity())
        optimizer = torch.optim.SGD(module.parameters(), 0.1)
        x, y = torch.randn(8, 3), torch.randn(8, 1)
        losses = []
        for _ in range(30):
            optimizer.zero_grad()
            loss = ((module(x) - y) ** 2).mean()
            loss.backward()
            np.testing.assert_allclose(net[0].weight.grad().asnumpy(), next(module.parameters()).grad.numpy())
            optimizer.step()
            losses.append(loss.item())
        assert losses[-1] < losses[0]
        with torch.no_grad():
            np.testing.assert_allclose(module(x).numpy(), net(nd.from_torch(x)).asnumpy(), rtol=1e-6)
