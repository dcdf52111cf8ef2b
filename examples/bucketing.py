"""Sequences of different lengths: BucketingModule trains one set of weights with an unrolled network per length.

    python examples/bucketing.py --out bucketing

The sentences are those of this repository's licence, word by word; each goes into the smallest bucket that holds it.
"""
import argparse
import logging
import re
from pathlib import Path

import figures
import numpy as np

import mxnet as mx

HERE = Path(__file__).resolve().parent
BUCKETS = [8, 16, 24, 32]


def read_sentences(path):
    text = ' '.join(path.read_text(encoding='utf-8').lower().split())
    pieces = [re.findall(r'[a-z]+', piece) for piece in re.split(r'[.;:,()"]', text)]
    # neighbours together make longer ones, so that there are all lengths
    pairs = [a + b for a, b in zip(pieces, pieces[1:])]
    pieces += pairs + [a + b for a, b in zip(pairs, pieces[2:])]
    return [piece for piece in pieces if 2 <= len(piece) <= BUCKETS[-1]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--text', type=Path, default=HERE.parent / 'LICENSE', help='a file to read')
    parser.add_argument('--epochs', type=int, default=20)
    parser.add_argument('--hidden', type=int, default=64)
    parser.add_argument('--batch-size', type=int, default=16)
    parser.add_argument('--quick', action='store_true', help='3 epochs')
    parser.add_argument('--out', default='out/bucketing', help='folder for the figure')
    options = parser.parse_args()
    if not options.text.is_file():
        parser.error(f'there is no file {options.text}; name a text of some pages with --text')
    logging.getLogger().setLevel(logging.WARNING)
    epochs = 3 if options.quick else options.epochs

    mx.random.seed(1)
    np.random.seed(1)
    sentences, vocabulary = mx.rnn.encode_sentences(read_sentences(options.text), invalid_label=0, start_label=1)
    data = mx.rnn.BucketSentenceIter(sentences, options.batch_size, buckets=BUCKETS, invalid_label=0)
    counts = {bucket: len(rows) for bucket, rows in zip(data.buckets, data.data)}
    print(f'{len(sentences)} pieces, {len(vocabulary)} words, pieces by bucket: {counts}')

    cells = mx.rnn.SequentialRNNCell()
    cells.add(mx.rnn.LSTMCell(options.hidden, prefix='lstm_'))

    def network(length):
        """The symbol of a bucket, and the names of its data and labels."""
        embedded = mx.sym.Embedding(mx.sym.var('data'), input_dim=len(vocabulary) + 1, output_dim=options.hidden,
                                    name='embed')
        cells.reset()
        outputs, _ = cells.unroll(length, inputs=embedded, merge_outputs=True)
        scores = mx.sym.FullyConnected(mx.sym.Reshape(outputs, shape=(-1, options.hidden)),
                                       num_hidden=len(vocabulary) + 1, name='scores')
        label = mx.sym.Reshape(mx.sym.var('softmax_label'), shape=(-1,))
        # words that only fill up neither count nor teach
        return mx.sym.SoftmaxOutput(scores, label, name='softmax', use_ignore=True, ignore_label=0,
                                    normalization='valid'), ('data',), ('softmax_label',)

    module = mx.mod.BucketingModule(network, default_bucket_key=data.default_bucket_key)
    line = []

    def note(epoch, *rest):
        line.append(metric.get()[1])
        if epoch % 5 == 4 or epoch == 0:
            print(f'epoch {epoch + 1}: perplexity {line[-1]:.1f}', flush=True)
    metric = mx.metric.Perplexity(ignore_label=0)
    module.fit(data, num_epoch=epochs, eval_metric=metric, epoch_end_callback=note, optimizer='adam',
               optimizer_params={'learning_rate': 0.01}, initializer=mx.init.Xavier())
    print(f'perplexity {line[-1]:.2f}; networks were unrolled for {sorted(module._buckets)} words, '
          f'{sum(a.size for a in module.get_params()[0].values()):,} weights are shared by all')

    if not figures.available(options.out):
        return
    figure = figures.new_figure((9, 3.6))
    left, right = figure.subplots(1, 2)
    left.bar([f'up to {bucket}' for bucket in counts], list(counts.values()))
    left.set(title='pieces in each bucket', xlabel='words')
    right.plot(range(1, epochs + 1), line, marker='.')
    right.set(title='perplexity', xlabel='epoch', yscale='log')
    figures.save(figure, options.out, 'buckets.png')


if __name__ == '__main__':
    main()
