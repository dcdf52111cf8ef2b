"""Image classification and transfer learning: a network trained on the digits 0 to 4 learns 5 to 9 from few images.

    python examples/image_classification.py --out transfer
    python examples/image_classification.py --checkpoint PREFIX --epoch 5     # start from a checkpoint of your own

1. A small network is trained with Module and saved as MXNet has always saved: PREFIX-symbol.json, PREFIX-0005.params.
2. The checkpoint is loaded as one loads an old one; its last layer is cut off and replaced; the convolutions keep
   still, what is between goes on learning.
3. With 10 pictures of each new digit it is compared with a network that starts from nothing.
"""
import argparse
import logging
import os

import digits
import figures
import numpy as np

import mxnet as mx


def network(classes):
    """LeNet's grandchild."""
    x = mx.sym.var('data')
    for number, filters in enumerate((16, 32), 1):
        x = mx.sym.Convolution(x, kernel=(5, 5), num_filter=filters, name=f'conv{number}')
        x = mx.sym.Activation(x, act_type='relu', name=f'relu{number}')
        x = mx.sym.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type='max', name=f'pool{number}')
    x = mx.sym.FullyConnected(x, num_hidden=64, name='fc1')
    x = mx.sym.Activation(x, act_type='relu', name='relu3')
    return head(x, classes, 'fc2')


def head(features, classes, name):
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(features, num_hidden=classes, name=name), name='softmax')


def some(part, wanted, most=None):
    """The pictures of some digits, at most so many of each, with labels from 0 on."""
    pictures, labels = digits.load(part)
    chosen = np.concatenate([np.flatnonzero(labels == digit)[:most] for digit in wanted])
    return pictures[chosen], np.searchsorted(wanted, labels[chosen]).astype('float32')


def fit(symbol, data, held_out, epochs, lr, fixed=None, **start):
    """-> (module, accuracies on held-out data)"""
    module = mx.mod.Module(symbol, fixed_param_names=fixed)
    accuracies = []
    training = mx.io.NDArrayIter(*data, batch_size=25, shuffle=True, label_name='softmax_label')
    test = mx.io.NDArrayIter(*held_out, batch_size=50, label_name='softmax_label')
    module.fit(training, test, num_epoch=epochs, optimizer='adam', optimizer_params={'learning_rate': lr},
               initializer=mx.init.Xavier(), allow_missing=True,
               eval_end_callback=lambda p: accuracies.append(p.eval_metric.get()[1]), **start)
    return module, accuracies


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--checkpoint', help='prefix of a checkpoint that has a layer relu3; one is made unless given')
    parser.add_argument('--epoch', type=int, default=5, help='the number of the checkpoint')
    parser.add_argument('--quick', action='store_true', help='fewer epochs')
    parser.add_argument('--out', default='out/image_classification', help='folder for checkpoint and figures')
    options = parser.parse_args()
    logging.getLogger().setLevel(logging.WARNING)
    mx.random.seed(1)
    np.random.seed(1)
    os.makedirs(options.out, exist_ok=True)

    prefix, epoch = options.checkpoint, options.epoch
    if not prefix:
        prefix, epoch = os.path.join(options.out, 'digits0to4'), 3 if options.quick else 8
        old, accuracies = fit(network(5), some('train', range(5)), some('t10k', range(5)), epoch, 0.002)
        old.save_checkpoint(prefix, epoch)
        print(f'digits 0 to 4: accuracy {accuracies[-1]:.4f}; saved {prefix}-{epoch:04d}.params')

    symbol, arguments, states = mx.model.load_checkpoint(prefix, epoch)
    features = symbol.get_internals()['relu3_output']
    kept = [name for name in features.list_arguments() if name != 'data']
    still = [name for name in kept if name.startswith('conv')]
    few, held_out = some('train', range(5, 10), 10), some('t10k', range(5, 10))
    rounds = 6 if options.quick else 20
    moved, transfer = fit(head(features, 5, 'fc_new'), few, held_out, rounds, 0.002, fixed=still,
                          arg_params={name: arguments[name] for name in kept}, aux_params=states)
    _, scratch = fit(network(5), few, held_out, rounds, 0.002)
    print(f'digits 5 to 9 from 10 pictures each: accuracy {transfer[-1]:.4f} with the old layers, '
          f'{scratch[-1]:.4f} from nothing')

    figures.curves(options.out, 'transfer.png', {'with the old layers': transfer, 'from nothing': scratch},
                   'digits 5 to 9 from 50 pictures', y='accuracy on others')
    said = moved.predict(mx.io.NDArrayIter(*held_out, batch_size=50)).asnumpy().argmax(axis=1)
    shown = np.random.permutation(len(said))[:24]
    titles = [f'{"" if said[i] == held_out[1][i] else "!"}{said[i] + 5}' for i in shown]
    figures.grid(options.out, 'predictions.png', held_out[0][shown, 0], titles)


if __name__ == '__main__':
    main()
