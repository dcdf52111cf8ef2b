"""Trains a small network with several workers, and resumes from its checkpoint when it is restarted.

    remx launch -n 2 python examples/distributed_mlp.py
    remx launch -n 2 --elastic python examples/distributed_mlp.py --folder checkpoints --fail-at 6
    remx launch -n 2 -s 1 python examples/distributed_mlp.py --kvstore dist_async

Every worker draws its share of the same data.  With dist_sync, the numbers are the same for one worker with the whole
batch.
"""
import argparse
import os

import numpy as np

import mxnet as mx
from mxnet import autograd, gluon


def data(batches=10, batch=64):
    """Points in 8 dimensions, and which of 4 corners they are near."""
    draw = np.random.RandomState(0)
    corners = draw.normal(size=(4, 8)) * 2
    label = draw.randint(4, size=batches * batch)
    points = corners[label] + draw.normal(size=(len(label), 8))
    return points.astype('float32').reshape(batches, batch, 8), label.astype('float32').reshape(batches, batch)


def main():
    """Prints the loss of each epoch and the accuracy at the end."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--epochs', type=int, default=8)
    parser.add_argument('--quick', action='store_true', help='2 epochs')
    parser.add_argument('--kvstore', default='dist_sync', help='dist_async: nobody waits for the others')
    parser.add_argument('--folder', help='where checkpoints are')
    parser.add_argument('--out', help='folder for a figure of the losses')
    parser.add_argument('--fail-at', type=int, help='the last worker dies in this epoch, the first time it comes to it')
    options = parser.parse_args()

    kv = mx.kv.create(options.kvstore)
    mx.random.seed(1)
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(32, activation='relu', in_units=8), gluon.nn.Dense(4, in_units=32))
    net.initialize(mx.init.Xavier())
    net.hybridize()
    first = 0
    checkpoint = os.path.join(options.folder, 'net.params') if options.folder else None
    if checkpoint and os.path.exists(checkpoint):
        net.load_parameters(checkpoint)
        first = int(open(os.path.join(options.folder, 'epoch'), encoding='utf-8').read())
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1, 'momentum': 0.9}, kvstore=kv)
    if first:
        trainer.load_states(os.path.join(options.folder, 'trainer.states'))

    points, label = data()
    mine = slice(kv.rank, None, kv.num_workers)
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    losses = []
    for epoch in range(first, 2 if options.quick else options.epochs):
        if epoch == options.fail_at and kv.rank == kv.num_workers - 1 \
                and os.environ.get('TORCHELASTIC_RESTART_COUNT', '0') == '0':
            os.abort()
        total = 0.0
        for x, y in zip(points, label, strict=True):
            with autograd.record():
                loss = loss_of(net(mx.nd.array(x[mine])), mx.nd.array(y[mine]))
            loss.backward()
            trainer.step(len(x))
            total += float(loss.sum().asscalar())
        everyone = mx.nd.array([total / label.size])
        mx.kv.create('horovod').pushpull('loss', everyone)
        losses.append(everyone.asscalar())
        if kv.rank == 0:
            print(f'epoch {epoch}: loss {everyone.asscalar():.5f}', flush=True)
            if checkpoint:
                os.makedirs(options.folder, exist_ok=True)
                net.save_parameters(checkpoint)
                trainer.save_states(os.path.join(options.folder, 'trainer.states'))
                with open(os.path.join(options.folder, 'epoch'), 'w', encoding='utf-8') as file:
                    file.write(str(epoch + 1))
        kv.barrier()
    right = (net(mx.nd.array(points.reshape(-1, 8))).argmax(axis=1).asnumpy() == label.reshape(-1)).mean()
    if kv.rank == 0:
        print(f'accuracy {right:.4f}')
        if options.out:
            import figures
            figures.curves(options.out, 'loss.png', {f'{kv.num_workers} workers': losses}, 'dist_sync')


if __name__ == '__main__':
    main()
