"""Text generation, character by character, with an LSTM or a Transformer.

    python examples/text_generation.py                        # an LSTM
    python examples/text_generation.py --model transformer    # attention instead
    python examples/text_generation.py --text FILE --epochs 40

Without --text it reads the licence of this repository, since that is here. The samples are printed and saved.
"""
import argparse
import time
from pathlib import Path

import figures
import numpy as np

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn, rnn

HERE = Path(__file__).resolve().parent


class LSTM(gluon.Block):
    """Scores of the next letter after each of (letters, batch)."""

    def __init__(self, letters, width, length, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.embedding = nn.Embedding(letters, width)
            self.lstm = rnn.LSTM(width, num_layers=1)
            self.output = nn.Dense(letters, flatten=False)

    def forward(self, x, state=None):
        hidden = self.embedding(x)
        if state is None:
            state = self.lstm.begin_state(x.shape[1], ctx=x.context)
        hidden, state = self.lstm(hidden, state)
        return self.output(hidden), state


class Layer(gluon.HybridBlock):
    """Attention to what came before, then a small network; each is added to its input."""

    def __init__(self, width, heads, **kwargs):
        super().__init__(**kwargs)
        self._heads = heads
        with self.name_scope():
            self.norm1, self.norm2 = nn.LayerNorm(), nn.LayerNorm()
            self.project = nn.Dense(3 * width, flatten=False)
            self.merge = nn.Dense(width, flatten=False)
            self.body = nn.HybridSequential()
            self.body.add(nn.Dense(4 * width, flatten=False, activation='relu'), nn.Dense(width, flatten=False))

    def hybrid_forward(self, F, x, mask):
        # (length, batch, heads * 3 * depth), as these two operators take it
        joined = self.project(self.norm1(x))
        scores = F.contrib.interleaved_matmul_selfatt_qk(joined, heads=self._heads)
        weights = F.softmax(F.broadcast_add(scores, mask), axis=-1)
        x = x + self.merge(F.contrib.interleaved_matmul_selfatt_valatt(joined, weights, heads=self._heads))
        return x + self.body(self.norm2(x))


class Transformer(gluon.Block):
    """The same by attention; it looks back at most `length` letters."""

    def __init__(self, letters, width, length, layers=2, heads=4, **kwargs):
        super().__init__(**kwargs)
        self.length = length
        with self.name_scope():
            self.embedding = nn.Embedding(letters, width)
            self.positions = nn.Embedding(length, width)
            self.layers = nn.HybridSequential()
            self.layers.add(*[Layer(width, heads) for _ in range(layers)])
            self.output = nn.Dense(letters, flatten=False)

    def forward(self, x, state=None):
        length = x.shape[0]
        places = nd.arange(length)
        mask = -1e9 * (places.reshape((1, 1, -1)) > places.reshape((1, -1, 1)))
        hidden = self.embedding(x) + self.positions(places).expand_dims(1)
        for layer in self.layers:
            hidden = layer(hidden, mask)
        return self.output(hidden), None


def train(net, data, length, batch, epochs, lr):
    """The text is cut into `batch` columns, which are read downwards, `length` letters at a time."""
    trainer = gluon.Trainer(net.collect_params(), 'adam', {'learning_rate': lr})
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    rows = (len(data) - 1) // batch
    columns = data[:rows * batch].reshape(batch, rows).T
    following = data[1:rows * batch + 1].reshape(batch, rows).T
    perplexities = []
    for epoch in range(epochs):
        begin, total, steps, state = time.time(), 0.0, 0, None
        offset = np.random.randint(length)             # other cuts each time
        for start in range(offset, rows - length + 1, length):
            x, y = nd.array(columns[start:start + length]), nd.array(following[start:start + length])
            if state is not None:
                state = [s.detach() for s in state]
            with autograd.record():
                scores, state = net(x, state)
                loss = loss_of(scores.reshape((-3, 0)), y.reshape((-1,)))
            loss.backward()
            gluon.utils.clip_global_norm([p.grad() for p in net.collect_params().values()], len(loss))
            trainer.step(len(loss))
            total, steps = total + loss.mean().asscalar(), steps + 1
        perplexities.append(float(np.exp(total / steps)))
        if epoch % 5 == 4 or epoch == 0:
            print(f'epoch {epoch + 1}: perplexity {perplexities[-1]:.2f}, {time.time() - begin:.1f} s', flush=True)
    return perplexities


def sample(net, letters, start, count, temperature, rng):
    """Goes on with a text, a letter at a time."""
    numbers = [letters.index(letter) for letter in start]
    state, seen = None, numbers
    for _ in range(count):
        if isinstance(net, Transformer):
            seen = numbers[-net.length:]
        scores, state = net(nd.array(seen).reshape((-1, 1)), state)
        chances = (scores[-1, 0] / temperature).softmax().asnumpy().astype('float64')
        numbers.append(int(rng.choice(len(letters), p=chances / chances.sum())))
        seen = numbers[-1:]
    return ''.join(letters[n] for n in numbers)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--model', choices=['lstm', 'transformer'], default='lstm')
    parser.add_argument('--text', type=Path, default=HERE.parent / 'LICENSE', help='a file to read')
    parser.add_argument('--epochs', type=int, default=40)
    parser.add_argument('--width', type=int, default=128)
    parser.add_argument('--temperature', type=float, default=0.6, help='less is more of the same')
    parser.add_argument('--quick', action='store_true', help='3 epochs, width 64')
    parser.add_argument('--out', default='out/text_generation', help='folder for figure and samples')
    options = parser.parse_args()
    if not options.text.is_file():
        parser.error(f'there is no file {options.text}; name a text of some pages with --text')
    epochs, width = (3, 64) if options.quick else (options.epochs, options.width)

    mx.random.seed(1)
    np.random.seed(1)
    text = ' '.join(options.text.read_text(encoding='utf-8').split())
    letters = sorted(set(text))
    print(f'{len(text)} letters, {len(letters)} of them different')
    data = np.array([letters.index(letter) for letter in text], 'float32')
    length = 48
    net = {'lstm': LSTM, 'transformer': Transformer}[options.model](len(letters), width, length)
    net.initialize(mx.init.Xavier())
    net.hybridize()
    lr = {'lstm': 0.01, 'transformer': 0.003}[options.model]
    perplexities = train(net, data, length, 16, epochs, lr)
    print(f'perplexity {perplexities[-1]:.2f} (without learning: {len(letters)})')

    figures.curves(options.out, f'{options.model}.png', {options.model: perplexities}, 'letters of a text',
                   y='perplexity', log=True)
    rng = np.random.RandomState(0)
    written = [sample(net, letters, start, 200, options.temperature, rng) for start in ('You may ', 'the Work ')]
    print('\n'.join(f'--- {piece}' for piece in written))
    Path(options.out, f'{options.model}.txt').write_text('\n\n'.join(written), encoding='utf-8')


if __name__ == '__main__':
    main()
