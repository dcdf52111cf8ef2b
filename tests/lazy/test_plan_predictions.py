"""Random networks of convolutions that predict with static_alloc and static_shape: normalisation folded into weights,
weights packed, additions and rectifiers within the same call.  Only the last digits may differ from plain blocks."""
import random

import numpy
import pytest
from plan_worlds import seeds

import mxnet as mx
from mxnet import autograd, gluon, nd

CHANNELS, SIZE = 4, 6


def conv(kernel=3, **kwargs):
    kwargs = {'padding': kernel // 2} | kwargs
    return lambda: gluon.nn.Conv2D(CHANNELS, kernel, in_channels=CHANNELS, **kwargs)


def norm(**kwargs):
    return lambda: gluon.nn.BatchNorm(in_channels=CHANNELS, **kwargs)


# name: (what makes a layer, or None; function of (F, layer, value, another value))
LINES = {
    'conv': (conv(), lambda F, f, x, y: f(x)),
    'conv without bias': (conv(use_bias=False), lambda F, f, x, y: f(x)),
    'point': (conv(1), lambda F, f, x, y: f(x)),
    'groups': (conv(groups=2), lambda F, f, x, y: f(x)),
    'depthwise': (conv(groups=CHANNELS, use_bias=False), lambda F, f, x, y: f(x)),
    'dilated': (conv(dilation=2, padding=2), lambda F, f, x, y: f(x)),
    'deconv': (lambda: gluon.nn.Conv2DTranspose(CHANNELS, 3, padding=1, in_channels=CHANNELS), lambda F, f, x, y: f(x)),
    'norm': (norm(), lambda F, f, x, y: f(x)),
    'norm after conv': (norm(), lambda F, f, x, y: f(x)),
    'norm without scale': (norm(scale=False), lambda F, f, x, y: f(x)),
    'norm without centre': (norm(center=False), lambda F, f, x, y: f(x)),
    'relu': (None, lambda F, f, x, y: F.relu(x)),
    'sigmoid': (None, lambda F, f, x, y: F.sigmoid(x)),
    'leaky': (None, lambda F, f, x, y: F.LeakyReLU(x, slope=0.1)),
    'clip': (None, lambda F, f, x, y: F.clip(x, 0, 6)),
    'add': (None, lambda F, f, x, y: x + y),
    'add and relu': (None, lambda F, f, x, y: F.relu(x + y)),
    'add to itself': (None, lambda F, f, x, y: x + x),
    'add a number': (None, lambda F, f, x, y: F.relu(x + 0.5)),
    'add averages': (None, lambda F, f, x, y: F.broadcast_add(x, F.mean(y, axis=(2, 3), keepdims=True))),
    'multiply': (None, lambda F, f, x, y: x * F.tanh(y)),
    'pool': (lambda: gluon.nn.MaxPool2D(3, 1, 1), lambda F, f, x, y: f(x)),
    'average': (lambda: gluon.nn.AvgPool2D(3, 1, 1), lambda F, f, x, y: f(x)),
    'concat': (lambda: gluon.nn.Conv2D(CHANNELS, 1, in_channels=2 * CHANNELS),
               lambda F, f, x, y: f(F.concat(x, y, dim=1))),
    'turn': (None, lambda F, f, x, y: F.transpose(F.transpose(x, axes=(0, 1, 3, 2)) + 1, axes=(0, 1, 3, 2))),
    'slice': (None, lambda F, f, x, y: F.concat(F.slice_axis(x, axis=1, begin=2, end=4),
                                                F.slice_axis(y, axis=1, begin=0, end=2), dim=1)),
    'attention': (conv(1), lambda F, f, x, y: F.broadcast_mul(
        x, F.sigmoid(f(F.mean(y, axis=(2, 3), keepdims=True))))),
    'dropout': (lambda: gluon.nn.Dropout(0.5), lambda F, f, x, y: f(x)),
}


class Net(gluon.HybridBlock):
    def __init__(self, lines, outputs):
        super().__init__()
        self._lines, self._outputs = lines, outputs
        with self.name_scope():
            for number, (name, _, _) in enumerate(lines):
                if LINES[name][0] is not None:
                    setattr(self, f'layer{number}', LINES[name][0]())

    def hybrid_forward(self, F, x):
        values = [x]
        for number, (name, one, other) in enumerate(self._lines):
            values.append(LINES[name][1](F, getattr(self, f'layer{number}', None), values[one], values[other]))
        return [values[i] for i in self._outputs]


def random_network(chance):
    lines = []
    for number in range(chance.randint(2, 9)):
        pick = [number if chance.random() < 0.6 else chance.randrange(number + 1) for _ in range(2)]
        lines.append((chance.choice(sorted(LINES)), *pick))
        if lines[-1][0].startswith('conv') and chance.random() < 0.6:
            lines.append(('norm', len(lines), 0))
    return Net(lines, sorted({len(lines), chance.randrange(1, len(lines) + 1)}))


@pytest.mark.filterwarnings('ignore:.*not used by its computation')
@pytest.mark.parametrize('seed', seeds(30))
def test_predictions(seed):
    chance, numbers = random.Random(seed), numpy.random.RandomState(seed % 1000)
    net = random_network(chance)
    net.initialize(mx.init.Xavier(magnitude=2))
    for name, param in net.collect_params().items():
        if name.endswith(('gamma', 'beta', 'running_mean', 'running_var')):
            param.set_data(nd.array(numbers.rand(*param.shape) + 0.5))
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.01})
    for _ in range(6):
        x = nd.array(numbers.normal(size=(chance.choice((2, 2, 1)), CHANNELS, SIZE, SIZE)))
        net.hybridize(False, clear=False)
        expected = [out.asnumpy() for out in net(x)]
        net.hybridize(static_alloc=True, static_shape=True, clear=False)
        for _ in range(3):
            for found, value in zip(net(x), expected, strict=True):
                scale = max(1.0, float(abs(value).max()))
                numpy.testing.assert_allclose(found.asnumpy() / scale, value / scale, rtol=1e-4, atol=1e-5,
                                              err_msg=f'{net._lines} {net._outputs}')
        change = chance.choice(('nothing', 'set', 'train', 'write'))
        if change == 'set':
            for param in net.collect_params().values():
                param.set_data(param.data() * 1.1)
        elif change == 'write':
            for param in net.collect_params().values():
                param.data()[:] *= 0.9
        elif change == 'train':
            x.attach_grad()
            with autograd.record():
                loss = sum(nd.tanh(out).mean() for out in net(x))
            loss.backward()
            trainer.step(1, ignore_stale_grad=True)
