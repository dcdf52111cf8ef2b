"""A program whose memory is limited after its plans have been made: `memory_runs_out.py train|predict`.

Prints the error, and whether the program can go on while it handles it.
"""
import resource
import sys

import mxnet as mx
from mxnet import autograd, gluon, nd


class Square(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        y = F.broadcast_add(x, F.transpose(x), name='large')
        return (y * y).sum()


def used():
    with open('/proc/self/statm') as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def main(train):
    net = Square()
    net.hybridize(static_alloc=True, static_shape=True)
    large, small = nd.ones((1, 6000)), nd.ones((1, 4000))       # 144 and 64 MB for each value
    large.attach_grad()
    small.attach_grad()

    def run(x):
        with autograd.record() if train else autograd.pause():
            y = net(x)
        if train:
            y.backward()
        return y.asscalar()

    for _ in range(4):
        run(large), run(small)
    # room for one large value or two small ones
    resource.setrlimit(resource.RLIMIT_AS, (used() + 230_000_000, resource.RLIM_INFINITY))
    try:
        run(large)
    except mx.MXNetError as error:
        print(error)
        # as long as it is handled, the error keeps no values: there is room for these
        print(run(small) == 4 * 4000 ** 2)


if __name__ == '__main__':
    main(sys.argv[1] == 'train')
