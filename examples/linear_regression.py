"""Linear regression three ways, from arrays to Module, on a thousand points with known weights.

    python examples/linear_regression.py --out linear

1. arrays and autograd alone;  2. Gluon: a layer, a loss, a trainer;  3. Symbol and Module.
All find the weights that the data were made with; the figure shows the data, the line and the losses.
"""
import argparse

import figures
import numpy as np

import mxnet as mx
from mxnet import autograd, gluon, nd

WEIGHT, BIAS = [2.0, -3.4], 4.2


def make_data(count):
    rng = np.random.RandomState(0)
    x = rng.randn(count, 2).astype('float32')
    return x, (x @ WEIGHT + BIAS + 0.3 * rng.randn(count)).astype('float32')


def batches(x, y, size):
    order = np.random.permutation(len(x))
    for start in range(0, len(x), size):
        chosen = order[start:start + size]
        yield nd.array(x[chosen]), nd.array(y[chosen])


def with_arrays(x, y, epochs, lr):
    weight, bias = nd.random.normal(0, 0.01, (2, 1)), nd.zeros(1)
    weight.attach_grad()
    bias.attach_grad()
    losses = []
    for _ in range(epochs):
        total = 0.0
        for part, target in batches(x, y, 20):
            with autograd.record():
                loss = ((nd.dot(part, weight) + bias - target.reshape((-1, 1))) ** 2 / 2).mean()
            loss.backward()
            for parameter in (weight, bias):
                parameter[:] = parameter - lr * parameter.grad
            total += loss.asscalar() * len(part)
        losses.append(total / len(x))
    return weight.asnumpy().ravel(), bias.asscalar(), losses


def with_gluon(x, y, epochs, lr):
    net = gluon.nn.Dense(1)
    net.initialize(mx.init.Normal(0.01))
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': lr})
    squared = gluon.loss.L2Loss()
    losses = []
    for _ in range(epochs):
        total = 0.0
        for part, target in batches(x, y, 20):
            with autograd.record():
                loss = squared(net(part), target)
            loss.backward()
            trainer.step(len(part))
            total += loss.sum().asscalar()
        losses.append(total / len(x))
    return net.weight.data().asnumpy().ravel(), net.bias.data().asscalar(), losses


def with_module(x, y, epochs, lr):
    output = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=1, name='fc')
    net = mx.sym.LinearRegressionOutput(output, mx.sym.var('target'), name='out')
    module = mx.mod.Module(net, label_names=['target'])
    data = mx.io.NDArrayIter(x, y, batch_size=20, shuffle=True, label_name='target')
    losses = []

    def note(epoch, symbol, arguments, states):
        losses.append(module.score(data, 'mse')[0][1] / 2)
    module.fit(data, optimizer_params={'learning_rate': lr}, initializer=mx.init.Normal(0.01), num_epoch=epochs,
               eval_metric='mse', epoch_end_callback=note)
    arguments, _ = module.get_params()
    return arguments['fc_weight'].asnumpy().ravel(), arguments['fc_bias'].asscalar(), losses


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--epochs', type=int, default=10)
    parser.add_argument('--lr', type=float, default=0.03, help='learning rate')
    parser.add_argument('--quick', action='store_true', help='4 epochs')
    parser.add_argument('--out', default='out/linear_regression', help='folder for the figure')
    options = parser.parse_args()
    epochs = 4 if options.quick else options.epochs

    mx.random.seed(1)
    np.random.seed(1)
    x, y = make_data(1000)
    print(f'the data were made with weights {WEIGHT} and bias {BIAS}')
    lines = {}
    for name, fit in (('arrays', with_arrays), ('Gluon', with_gluon), ('Module', with_module)):
        weight, bias, lines[name] = fit(x, y, epochs, options.lr)
        print(f'{name:7} found weights [{weight[0]:.3f}, {weight[1]:.3f}] and bias {bias:.3f}')

    if not figures.available(options.out):
        return
    figure = figures.new_figure((9, 3.6))
    left, right = figure.subplots(1, 2)
    left.scatter(x @ weight, y, s=4, alpha=0.5)
    ends = np.array([(x @ weight).min(), (x @ weight).max()])
    left.plot(ends, ends + bias, color='red')
    left.set(title='data and what was found', xlabel='weights times x', ylabel='y')
    for name, losses in lines.items():
        right.plot(range(1, epochs + 1), losses, marker='.', label=name)
    right.set(title='loss', xlabel='epoch', yscale='log')
    right.legend()
    figures.save(figure, options.out, 'regression.png')


if __name__ == '__main__':
    main()
