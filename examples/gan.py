"""A generative adversarial network: a generator makes digits from noise, a discriminator tells them from real ones.

    python examples/gan.py --out gan

The figure shows what the same noise becomes, epoch after epoch, below real digits.
"""
import argparse
import time

import digits
import figures
import numpy as np

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn

NOISE = 32


def generator():
    net = nn.HybridSequential(prefix='generator_')
    with net.name_scope():
        net.add(nn.Dense(64 * 7 * 7, use_bias=False), nn.BatchNorm(), nn.Activation('relu'),
                nn.HybridLambda(lambda F, x: F.reshape(x, (0, 64, 7, 7))),
                nn.Conv2DTranspose(32, 4, 2, 1, use_bias=False), nn.BatchNorm(), nn.Activation('relu'),
                nn.Conv2DTranspose(1, 4, 2, 1), nn.Activation('sigmoid'))
    return net


def discriminator():
    net = nn.HybridSequential(prefix='discriminator_')
    with net.name_scope():
        net.add(nn.Conv2D(32, 4, 2, 1), nn.LeakyReLU(0.2),
                nn.Conv2D(64, 4, 2, 1, use_bias=False), nn.BatchNorm(), nn.LeakyReLU(0.2),
                nn.Dense(1))
    return net


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--epochs', type=int, default=24)
    parser.add_argument('--batch-size', type=int, default=50)
    parser.add_argument('--lr', type=float, default=0.001, help='learning rate')
    parser.add_argument('--quick', action='store_true', help='one epoch')
    parser.add_argument('--out', default='out/gan', help='folder for figures')
    options = parser.parse_args()
    epochs, batch = 1 if options.quick else options.epochs, options.batch_size

    mx.random.seed(1)
    np.random.seed(1)
    real, _ = digits.load('train')
    draws, judges = generator(), discriminator()
    trainers = []
    for net in (draws, judges):
        net.initialize(mx.init.Normal(0.05))
        net.hybridize()
        trainers.append(gluon.Trainer(net.collect_params(), 'adam', {'learning_rate': options.lr, 'beta1': 0.5}))
    loss_of = gluon.loss.SigmoidBinaryCrossEntropyLoss()
    yes, no = nd.full((batch,), 0.9), nd.zeros((batch,))           # 0.9, so that the judge is never too sure
    always = nd.random.normal(shape=(16, NOISE))
    lines, rows = {'generator': [], 'discriminator': []}, [real[:16, 0]]
    for epoch in range(epochs):
        begin, totals, order = time.time(), [0.0, 0.0], np.random.permutation(len(real))
        steps = len(order) // batch
        for start in range(0, steps * batch, batch):
            pictures, noise = nd.array(real[order[start:start + batch]]), nd.random.normal(shape=(batch, NOISE))
            with autograd.record():
                drawn = draws(noise)
                loss = loss_of(judges(pictures), yes) + loss_of(judges(drawn.detach()), no)
            loss.backward()
            trainers[1].step(batch)
            totals[1] += loss.mean().asscalar()
            with autograd.record():
                loss = loss_of(judges(drawn), nd.ones((batch,)))
            loss.backward()                                # its gradient goes through the judge into what it judges
            trainers[0].step(batch)
            totals[0] += loss.mean().asscalar()
        for line, total in zip(lines.values(), totals):
            line.append(total / steps)
        print(f'epoch {epoch + 1}: generator {totals[0] / steps:.3f}, discriminator {totals[1] / steps:.3f}, '
              f'{time.time() - begin:.1f} s', flush=True)
        if epochs - epoch <= 1 or epoch in (0, 2, 5, 11):
            rows.append(draws(always).asnumpy()[:, 0])
    gap = abs(rows[-1].mean() - real.mean())
    print(f'brightness: real {real.mean():.3f}, drawn {rows[-1].mean():.3f} (apart {gap:.3f})')
    figures.grid(options.out, 'digits.png', np.concatenate(rows), columns=16, size=0.6)
    figures.curves(options.out, 'losses.png', lines, 'two networks against each other')


if __name__ == '__main__':
    main()
