"""Trains a 784-64-64-10 network on MNIST with arrays, autograd and one update operator: no layers, no trainer.

    python examples/mnist_mlp_ndarray.py --data DIR --epochs 10

DIR holds the four idx-ubyte files, gzipped or not. Without --data, ../shared/data/mnist beside the repository is taken
if it is there, else the 1,000 + 500 digits in examples/data/mnist.
"""
import argparse
import gzip
import struct
import sys
import time
from pathlib import Path

import numpy as np

import mxnet as mx
from mxnet import autograd, nd

ROOT = Path(__file__).resolve().parent.parent
PLACES = (ROOT.parent / 'shared' / 'data' / 'mnist', ROOT / 'examples' / 'data' / 'mnist')
SIZES = (784, 64, 64, 10)


def read_idx(folder, name):
    """An idx-ubyte file as a NumPy array: magic number, sizes of the axes, then bytes."""
    path = next((path for path in (folder / name, folder / f'{name}.gz') if path.exists()), None)
    if path is None:
        sys.exit(f'{folder} has neither {name} nor {name}.gz')
    blob = gzip.decompress(path.read_bytes()) if path.suffix == '.gz' else path.read_bytes()
    zeros, kind, axes = struct.unpack_from('>HBB', blob)
    if zeros or kind != 8:
        sys.exit(f'{path} is not an idx-ubyte file')
    shape = struct.unpack_from(f'>{axes}I', blob, 4)
    return np.frombuffer(blob, np.uint8, offset=4 + 4 * axes).reshape(shape)


def load(folder, part, ctx):
    images = nd.array(read_idx(folder, f'{part}-images-idx3-ubyte'), ctx=ctx)
    labels = nd.array(read_idx(folder, f'{part}-labels-idx1-ubyte'), ctx=ctx)
    return images.reshape((0, -1)) / 255, labels


def make_parameters(ctx):
    parameters = {}
    for number, (inputs, outputs) in enumerate(zip(SIZES, SIZES[1:]), 1):
        scale = (2 / inputs) ** 0.5
        parameters[f'fc{number}_weight'] = nd.random.normal(0, scale, shape=(outputs, inputs), ctx=ctx)
        parameters[f'fc{number}_bias'] = nd.zeros(outputs, ctx=ctx)
    for parameter in parameters.values():
        parameter.attach_grad()
    return parameters


def forward(parameters, x):
    last = len(SIZES) - 1
    for number, outputs in enumerate(SIZES[1:], 1):
        x = nd.FullyConnected(x, parameters[f'fc{number}_weight'], parameters[f'fc{number}_bias'], num_hidden=outputs)
        if number < last:
            x = nd.relu(x)
    return x


def accuracy(parameters, images, labels):
    return (forward(parameters, images).argmax(axis=1) == labels).mean().asscalar()


def train_epoch(parameters, momenta, images, labels, batch_size, lr):
    """One pass over the data in random order; returns the mean loss."""
    order = nd.random.shuffle(nd.arange(len(images), ctx=images.context))
    total = nd.zeros(1, ctx=images.context)
    for start in range(0, len(images), batch_size):
        batch = order[start:start + batch_size]
        x, y = nd.take(images, batch), nd.take(labels, batch)
        with autograd.record():
            loss = nd.softmax_cross_entropy(forward(parameters, x), y)
        loss.backward()
        for name, parameter in parameters.items():
            nd.sgd_mom_update(parameter, parameter.grad, momenta[name], lr=lr, momentum=0.9,
                              rescale_grad=1 / len(x), out=parameter)
        total += loss
    return total.asscalar() / len(images)


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or '').split('\n')[0])
    parser.add_argument('--data', type=Path, help='folder with the four MNIST files')
    parser.add_argument('--epochs', type=int, default=10)
    parser.add_argument('--quick', action='store_true', help='2 epochs')
    parser.add_argument('--batch-size', type=int, default=64)
    parser.add_argument('--lr', type=float, default=0.05)
    parser.add_argument('--seed', type=int, default=42)
    parser.add_argument('--ctx', choices=['cpu', 'gpu'], default='gpu' if mx.context.num_gpus() else 'cpu')
    parser.add_argument('--out', type=Path, default=Path('mnist_mlp.params'), help='where the parameters go')
    options = parser.parse_args()

    ctx = mx.Context(options.ctx)
    folder = options.data or next(place for place in PLACES if place.is_dir())
    mx.random.seed(options.seed)
    train, test = load(folder, 'train', ctx), load(folder, 't10k', ctx)
    print(f'{len(train[0])} training and {len(test[0])} test digits of {folder}, on {ctx}')

    parameters = make_parameters(ctx)
    momenta = {name: nd.zeros_like(parameter) for name, parameter in parameters.items()}
    try:
        for epoch in range(1, (2 if options.quick else options.epochs) + 1):
            begin = time.perf_counter()
            loss = train_epoch(parameters, momenta, *train, options.batch_size, options.lr)
            seconds = time.perf_counter() - begin
            print(f'epoch {epoch:2}  loss {loss:.4f}  test accuracy {accuracy(parameters, *test):.4f}  '
                  f'{len(train[0]) / seconds:,.0f} digits/s', flush=True)
    except KeyboardInterrupt:
        print('\nstopped; keeping what was learned so far')
    nd.save(str(options.out), parameters)
    print(f'saved {options.out.resolve()}: load the parameters with nd.load')


if __name__ == '__main__':
    try:
        main()
    except KeyboardInterrupt:  # before there was anything to keep
        sys.exit(130)
