"""Data parallelism in one process: each device computes a part of the batch, and the gradients are summed.

    python examples/several_devices.py                                   # four pretended GPUs
    python examples/several_devices.py --ctx gpu(0),gpu(1)               # real ones
    python examples/several_devices.py --kvstore local

The sum over devices is the gradient of the whole batch: the figure shows that one device and four learn the same.
"""
import argparse
import os

import figures
import numpy as np

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn


def make_data(count=2000):
    """Points in a ring or inside it."""
    rng = np.random.RandomState(0)
    inner = rng.rand(count) < 0.5
    radius = np.where(inner, rng.rand(count) * 0.8, 1 + rng.rand(count) * 0.8)
    angle = rng.rand(count) * 2 * np.pi
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).astype('float32'), inner.astype('float32')


def train(devices, epochs, batch, kvstore):
    mx.random.seed(7)
    net = nn.HybridSequential()
    net.add(nn.Dense(32, activation='tanh', in_units=2), nn.Dense(32, activation='tanh', in_units=32),
            nn.Dense(2, in_units=32))
    net.initialize(mx.init.Xavier(), ctx=devices)
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.2, 'momentum': 0.9}, kvstore=kvstore)
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    points, labels = make_data()
    losses = []
    for _ in range(epochs):
        total = 0.0
        for start in range(0, len(points), batch):
            x = gluon.utils.split_and_load(nd.array(points[start:start + batch]), devices)
            y = gluon.utils.split_and_load(nd.array(labels[start:start + batch]), devices)
            with autograd.record():
                parts = [loss_of(net(a), b) for a, b in zip(x, y)]      # work for all devices is handed out at once
            autograd.backward(parts)
            trainer.step(batch)                                         # sums the gradients, updates each copy
            total += sum(part.sum().asscalar() for part in parts)
        losses.append(total / len(points))
    return net, losses


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--ctx', help='devices, as in gpu(0),gpu(1); four pretended GPUs unless given')
    parser.add_argument('--epochs', type=int, default=15)
    parser.add_argument('--batch-size', type=int, default=200)
    parser.add_argument('--kvstore', default='device', help='where gradients are summed: device or local')
    parser.add_argument('--quick', action='store_true', help='5 epochs')
    parser.add_argument('--out', default='out/several_devices', help='folder for the figure')
    options = parser.parse_args()
    if options.ctx:
        devices = [mx.Context(text.partition('(')[0], int(text.rstrip(')').partition('(')[2]))
                   for text in options.ctx.split(',')]
    else:
        os.environ.setdefault('MXNET_VIRTUAL_GPUS', '4')                # before the first array
        devices = [mx.gpu(number) for number in range(4)]
    epochs = 5 if options.quick else options.epochs

    print('devices:', ', '.join(map(str, devices)))
    many, lines = train(devices, epochs, options.batch_size, options.kvstore)
    one, alone = train(devices[:1], epochs, options.batch_size, options.kvstore)
    copies = many[0].weight.list_data()
    apart = max(abs(copy.asnumpy() - copies[0].asnumpy()).max() for copy in copies)
    differ = abs(copies[0].asnumpy() - one[0].weight.data(devices[0]).asnumpy()).max()
    print(f'loss {lines[-1]:.5f} on {len(devices)} devices, {alone[-1]:.5f} on one')
    print(f'copies differ by {apart:.1e}, weights from those of one device by {differ:.1e}')
    figures.curves(options.out, 'losses.png', {f'{len(devices)} devices': lines, 'one device': alone},
                   'the same steps on several devices')


if __name__ == '__main__':
    main()
