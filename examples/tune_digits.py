"""Search for the settings of a small convolutional network on digits: rate, width, optimizer.

    python examples/tune_digits.py --out tuned
    python examples/tune_digits.py --jobs 2 --trials 40

Settings are compared on digits that are held back from training; the test digits are used once, for the network of the
best trial, whose parameters the search has kept.  It needs `pip install "remx[tune]"`.  The same objective from the
command line: `remx tune examples/tune_digits.py --maximize --jobs 2`.
"""
import argparse
import os

import digits
import figures
import numpy as np

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.contrib import tune
from mxnet.gluon import nn

EPOCHS = 5


def build(channels, hidden):
    net = nn.HybridSequential()
    net.add(nn.Conv2D(channels, 5, activation='relu'), nn.MaxPool2D(2, 2),
            nn.Conv2D(2 * channels, 3, activation='relu'), nn.MaxPool2D(2, 2),
            nn.Dense(hidden, activation='relu'), nn.Dense(10))
    return net


def loaders(batch):
    """(to learn from, held back): every fifth digit is held back."""
    x, y = digits.load('train')
    held = np.arange(len(x)) % 5 == 0
    return (gluon.data.DataLoader(gluon.data.ArrayDataset(x[~held], y[~held]), batch, shuffle=True),
            gluon.data.DataLoader(gluon.data.ArrayDataset(x[held], y[held]), 256))


def accuracy(net, data):
    metric = mx.metric.Accuracy()
    for x, y in data:
        metric.update(y, net(x))
    return metric.get()[1]


def objective(trial):
    """One training; the search calls it with a trial, which it asks for its settings."""
    lr = trial.suggest_float('lr', 1e-3, 1, log=True)
    optimizer = trial.suggest_categorical('optimizer', ['sgd', 'nag', 'adam'])
    momentum = trial.suggest_float('momentum', 0, 0.95) if optimizer != 'adam' else None
    channels = trial.suggest_int('channels', 4, 16)
    hidden = trial.suggest_int('hidden', 16, 128, log=True)
    mx.random.seed(0)
    np.random.seed(0)
    train, held_back = loaders(batch=trial.suggest_categorical('batch', [16, 32, 64]))
    net = build(channels, hidden)
    net.initialize(mx.init.Xavier())
    net.hybridize()
    settings = {'learning_rate': lr, **({} if momentum is None else {'momentum': momentum})}
    trainer = gluon.Trainer(net.collect_params(), optimizer, settings)
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    for epoch in range(EPOCHS):
        for x, y in train:
            with autograd.record():
                loss = loss_of(net(x), y)
            loss.backward()
            trainer.step(len(x))
        score = accuracy(net, held_back)
        tune.report(trial, score, epoch)            # raises where it is not worth going on
    net.save_parameters(os.path.join(tune.folder(trial), 'net.params'))
    return score


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--trials', type=int, default=30)
    parser.add_argument('--jobs', type=int, default=1, help='processes')
    parser.add_argument('--seed', type=int, default=1, help='of the search')
    parser.add_argument('--out', default='tune-digits', help='folder for the study, the best network and the report')
    parser.add_argument('--quick', action='store_true', help='a few trials')
    options = parser.parse_args()
    study = tune.run(objective, 6 if options.quick else options.trials, direction='maximize', jobs=options.jobs,
                     seed=options.seed, out=options.out)
    found = tune.best(options.out)
    net = build(found['params']['channels'], found['params']['hidden'])
    net.load_parameters(os.path.join(found['folder'], 'net.params'))
    test = gluon.data.DataLoader(gluon.data.ArrayDataset(*digits.load('t10k')), 256)
    first = study.trials[0].intermediate_values
    print(f'accuracy on held back digits: first trial {first[max(first)]:.4f}, best {found["value"]:.4f}')
    print(f'test accuracy of the best network: {accuracy(net, test):.4f}')
    if figures.available(options.out):
        for name in ('history', 'parallel', 'curves'):
            print(f'drew {os.path.join(options.out, f"{name}.png")}')


if __name__ == '__main__':
    main()
