"""Predicts prices of synthetic houses from numbers and categories: standardised columns, embeddings, five folds.

    python examples/tabular_regression.py --out houses

The price follows a rule with noise, so it is known how well one can do: the figure compares what the network says with
the truth, and the errors of the folds with that of the mean and that of the noise.
"""
import argparse

import figures
import numpy as np

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn

DISTRICTS = {'harbour': 1.5, 'old town': 1.3, 'hills': 1.1, 'suburb': 0.9, 'station': 0.7}
NOISE = 0.08


def make_table(count, rng):
    """Columns by name, and prices."""
    table = {'area': rng.gamma(6, 18, count), 'rooms': rng.randint(1, 8, count),
             'built': rng.randint(1900, 2021, count),
             'garden': rng.rand(count) * 400 * (rng.rand(count) < 0.5), 'district': rng.choice(list(DISTRICTS), count)}
    age = 2021 - table['built']
    base = table['area'] * 3000 * np.array([DISTRICTS[name] for name in table['district']])
    price = (base * np.exp(-age / 150) + 9000 * np.sqrt(table['rooms']) + 150 * table['garden'] + 20000)
    return table, (price * np.exp(NOISE * rng.randn(count))).astype('float32')


def to_arrays(table):
    """(standardised numbers, numbers of the districts)"""
    columns = np.stack([table[name] for name in ('area', 'rooms', 'built', 'garden')], axis=1)
    columns = np.concatenate([columns, np.log(columns[:, :1])], axis=1)
    columns = (columns - columns.mean(axis=0)) / columns.std(axis=0)
    return columns.astype('float32'), np.array([list(DISTRICTS).index(d) for d in table['district']], 'float32')


class Prices(gluon.HybridBlock):
    """The logarithm of the price."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.district = nn.Embedding(len(DISTRICTS), 3)
            self.body = nn.HybridSequential()
            self.body.add(nn.Dense(64, activation='relu'), nn.Dense(32, activation='relu'), nn.Dense(1))

    def hybrid_forward(self, F, numbers, district):
        return self.body(F.concat(numbers, self.district(district), dim=1))


def train(numbers, district, price, epochs):
    net = Prices()
    net.initialize(mx.init.Xavier())
    net.hybridize()
    # prices differ by factors, so logarithms are learned, minus their mean
    target = np.log(price)
    data = gluon.data.DataLoader(gluon.data.ArrayDataset(numbers, district, target - target.mean()), 64, shuffle=True)
    trainer = gluon.Trainer(net.collect_params(), 'adam', {'learning_rate': 0.01, 'wd': 1e-5})
    loss_of = gluon.loss.L2Loss()
    for _ in range(epochs):
        for x, places, y in data:
            with autograd.record():
                loss = loss_of(net(x, places), y)
            loss.backward()
            trainer.step(len(x))
    return lambda x, d: np.exp(net(nd.array(x), nd.array(d)).asnumpy().ravel() + target.mean())


def log_error(said, true):
    return float(np.sqrt(np.mean((np.log(said) - np.log(true)) ** 2)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--houses', type=int, default=1500)
    parser.add_argument('--epochs', type=int, default=20)
    parser.add_argument('--folds', type=int, default=5)
    parser.add_argument('--quick', action='store_true', help='2 folds of 8 epochs')
    parser.add_argument('--out', default='out/tabular_regression', help='folder for the figure')
    options = parser.parse_args()
    folds, epochs = (2, 8) if options.quick else (options.folds, options.epochs)

    mx.random.seed(1)
    np.random.seed(1)
    table, price = make_table(options.houses, np.random.RandomState(0))
    numbers, district = to_arrays(table)
    parts = np.array_split(np.random.permutation(len(price)), folds)
    said = np.zeros_like(price)
    errors = []
    for number, held_out in enumerate(parts):
        rest = np.concatenate([part for part in parts if part is not held_out])
        predict = train(numbers[rest], district[rest], price[rest], epochs)
        said[held_out] = predict(numbers[held_out], district[held_out])
        errors.append(log_error(said[held_out], price[held_out]))
        print(f'fold {number}: error {errors[-1]:.4f}', flush=True)
    mean = log_error(np.exp(np.log(price).mean()), price)
    print(f'error of logarithms: {np.mean(errors):.4f}; of the mean price: {mean:.4f}; of the noise alone: {NOISE}')

    if not figures.available(options.out):
        return
    figure = figures.new_figure((9, 3.8))
    left, right = figure.subplots(1, 2)
    left.loglog(price, said, '.', markersize=3, alpha=0.5)
    ends = [price.min(), price.max()]
    left.loglog(ends, ends, color='black', linewidth=1)
    left.set(title='houses that the network had not seen', xlabel='price', ylabel='what it said')
    right.bar([*(f'fold {n}' for n in range(folds)), 'mean', 'noise'], [*errors, mean, NOISE],
              color=['tab:blue'] * folds + ['tab:gray', 'tab:green'])
    right.set(title='error of the logarithm')
    right.tick_params(axis='x', rotation=45)
    figures.save(figure, options.out, 'prices.png')


if __name__ == '__main__':
    main()
