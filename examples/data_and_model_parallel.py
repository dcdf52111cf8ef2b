"""Data and model parallelism combined: workers share the batch, and the devices of each worker share the layers.

    remx launch -n 2 python examples/data_and_model_parallel.py

Layers carry the name of a group (`ctx_group`); `group2ctxs` puts groups on devices of the worker, with copies where
data crosses; the KVStore adds up the gradients of the workers.  With four GPUs and two workers it is a grid of two by
two: worker 0 has gpu(0) and gpu(1), worker 1 has gpu(2) and gpu(3).  Without GPUs the groups are on two CPU contexts.
The result is that of one process, whatever the grid.
"""
import argparse

import numpy as np

import mxnet as mx


def network(width=64):
    """Two layers in a first group, two in a second."""
    with mx.AttrScope(ctx_group='lower'):
        x = mx.sym.Variable('data')
        for i in range(2):
            x = mx.sym.Activation(mx.sym.FullyConnected(x, num_hidden=width, name=f'lower{i}'), act_type='relu')
    with mx.AttrScope(ctx_group='upper'):
        x = mx.sym.Activation(mx.sym.FullyConnected(x, num_hidden=width, name='upper0'), act_type='relu')
        return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(x, num_hidden=4, name='upper1'), name='softmax')


def data(count=640, seed=0):
    """Points in 8 dimensions, and which of 4 corners they are near."""
    draw = np.random.RandomState(seed)
    corners = np.random.RandomState(0).normal(size=(4, 8)) * 2
    label = draw.randint(4, size=count)
    return (corners[label] + draw.normal(size=(count, 8))).astype('float32'), label.astype('float32')


def main():
    """Prints the accuracy, and the sum of all weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--epochs', type=int, default=5)
    parser.add_argument('--quick', action='store_true', help='2 epochs')
    parser.add_argument('--batch', type=int, default=64, help='of all workers together')
    options = parser.parse_args()

    kv = mx.kv.create('dist_sync')
    if mx.context.num_gpus() >= 2 * kv.num_workers:
        lower, upper = mx.gpu(2 * kv.local_rank), mx.gpu(2 * kv.local_rank + 1)
    else:
        lower, upper = mx.cpu(0), mx.cpu(1)
    points, label = data()
    # of each batch, every worker takes its part
    mine = np.arange(len(points)).reshape(-1, options.batch)[:, kv.rank::kv.num_workers].reshape(-1)
    batches = mx.io.NDArrayIter(points[mine], label[mine], options.batch // kv.num_workers)
    mx.random.seed(1)
    module = mx.mod.Module(network(), context=lower, group2ctxs={'lower': lower, 'upper': upper})
    module.fit(batches, num_epoch=2 if options.quick else options.epochs, kvstore=kv, initializer=mx.init.Xavier(),
               optimizer='sgd',
               optimizer_params={'learning_rate': 0.1, 'momentum': 0.9, 'rescale_grad': 1 / options.batch})
    where = module._exec_group.execs[0].arg_dict['upper0_weight'].context
    (_, accuracy), = module.score(mx.io.NDArrayIter(points, label, 64), 'acc')
    total = sum(float(value.sum().asscalar()) for value in module.get_params()[0].values())
    if kv.rank == 0:
        print(f'{kv.num_workers} workers by 2 devices ({lower}, {where}): accuracy {accuracy:.4f}, weights {total:.3f}')


if __name__ == '__main__':
    main()
