"""Recommendations: predicts ratings of films that a user has not seen from the ratings of all users.

    python examples/matrix_factorization.py --out films

Opinions are made from hidden tastes, with noise: the error that a perfect model would have is known. Each person and
each film gets a vector; its gradient is sparse, since a batch only touches the rows of those who are in it.
"""
import argparse
import time

import figures
import numpy as np

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn

NOISE = 0.25


def make_opinions(people, films, count, rank=4):
    """(person, film, opinion), and the opinions without noise as a matrix"""
    rng = np.random.RandomState(0)
    truth = rng.randn(people, rank) @ rng.randn(rank, films) / np.sqrt(rank) + 0.5 * rng.randn(films) + 3
    chosen = rng.choice(people * films, count, replace=False)
    person, film = chosen // films, chosen % films
    return person, film, truth[person, film] + NOISE * rng.randn(count), truth


class Factors(gluon.HybridBlock):
    """The product of a person's and a film's vector, plus what each gives on its own."""

    def __init__(self, people, films, width, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.person = nn.Embedding(people, width, sparse_grad=True)
            self.film = nn.Embedding(films, width, sparse_grad=True)
            self.person_bias = nn.Embedding(people, 1, sparse_grad=True)
            self.film_bias = nn.Embedding(films, 1, sparse_grad=True)

    def hybrid_forward(self, F, person, film):
        return F.sum(self.person(person) * self.film(film), axis=1) \
            + F.flatten(self.person_bias(person) + self.film_bias(film)).reshape((-1,))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--people', type=int, default=400)
    parser.add_argument('--films', type=int, default=250)
    parser.add_argument('--opinions', type=int, default=20000)
    parser.add_argument('--epochs', type=int, default=15)
    parser.add_argument('--width', type=int, default=8, help='the length of the vectors')
    parser.add_argument('--quick', action='store_true', help='5 epochs')
    parser.add_argument('--out', default='out/matrix_factorization', help='folder for the figure')
    options = parser.parse_args()
    epochs = 5 if options.quick else options.epochs

    mx.random.seed(1)
    np.random.seed(1)
    person, film, opinion, truth = make_opinions(options.people, options.films, options.opinions)
    mean, cut = opinion.mean(), options.opinions * 9 // 10
    columns = [column.astype('float32') for column in (person, film, opinion - mean)]
    parts = {name: gluon.data.DataLoader(gluon.data.ArrayDataset(*[c[where] for c in columns]), 256, shuffle=True)
             for name, where in (('training', slice(cut)), ('held out', slice(cut, None)))}
    net = Factors(options.people, options.films, options.width)
    net.initialize(mx.init.Normal(0.1))
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), 'adam', {'learning_rate': 0.01, 'lazy_update': True})
    loss_of = gluon.loss.L2Loss()
    lines = {name: [] for name in parts}
    for epoch in range(epochs):
        begin = time.time()
        for who, what, how in parts['training']:
            with autograd.record():
                loss = loss_of(net(who, what), how)
            loss.backward()
            trainer.step(len(who))
        for name, data in parts.items():
            squares = sum(((net(who, what) - how) ** 2).sum().asscalar() for who, what, how in data)
            lines[name].append(float(np.sqrt(squares / len(data._dataset))))
        print(f'epoch {epoch + 1}: error {lines["training"][-1]:.4f}, held out {lines["held out"][-1]:.4f}, '
              f'{time.time() - begin:.1f} s', flush=True)
    gradient = net.person.weight.grad()
    print(f"a batch's gradient is {gradient.stype}: {len(gradient.indices)} of {options.people} people")
    print(f'held out {lines["held out"][-1]:.3f}; the mean alone {opinion[cut:].std():.3f}; noise {NOISE}')

    said = net.person.weight.data().asnumpy() @ net.film.weight.data().asnumpy().T \
        + net.person_bias.weight.data().asnumpy() + net.film_bias.weight.data().asnumpy().T + mean
    if not figures.available(options.out):
        return
    figure = figures.new_figure((11, 3.6))
    first, second, third = figure.subplots(1, 3)
    for name, line in lines.items():
        first.plot(range(1, epochs + 1), line, marker='.', label=name)
    first.axhline(NOISE, color='gray', linestyle=':', label='noise')
    first.set(title='error', xlabel='epoch')
    first.legend()
    for axes, values, title in ((second, truth, 'true opinions'), (third, said, 'what was learned')):
        axes.imshow(values[:60, :60], vmin=0, vmax=6, cmap='viridis')
        axes.set(title=title, xlabel='films', ylabel='people')
    figures.save(figure, options.out, 'opinions.png')


if __name__ == '__main__':
    main()
