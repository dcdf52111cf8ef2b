"""`python -m bench.first`: how long the first calls of a hybridized network take, each network in a fresh process.

The first training step runs the graph as it is, the next one makes the plan.  What torch imports for tracing (sympy,
its compiler's front end) is part of the first call and is paid once in a process: 'afterwards' is the same network
made a second time.
"""
import argparse
import json
import sys
import time

from .peer import Peer

NETWORKS = ('MLP', 'ResNet-50')
_CODE = 'import sys\nfrom bench import first\ndef times():\n    return first.times(sys.argv[1])'


def _network(mx, name):
    if name == 'MLP':
        net = mx.gluon.nn.HybridSequential()
        for width in (64, 64):
            net.add(mx.gluon.nn.Dense(width, activation='relu'))
        net.add(mx.gluon.nn.Dense(10))
        shape = 64, 784
    else:
        net, shape = mx.gluon.model_zoo.vision.resnet50_v1(classes=10), (2, 3, 64, 64)
    net.initialize(mx.init.Xavier())
    net.hybridize(static_alloc=True, static_shape=True)
    return net, mx.nd.ones(shape), mx.nd.zeros(shape[0])


def times(name):
    """{what: seconds} in this process."""
    found, start = {}, time.perf_counter()

    def done(what):
        nonlocal start
        found[what], start = time.perf_counter() - start, time.perf_counter()

    import mxnet as mx
    mx.nd.ones(1).wait_to_read()
    mx.gluon.nn.Dense                   # what a program with a network imports  # noqa: B018
    done('import')
    for turn in ('', ', afterwards'):
        net, x, y = _network(mx, name)
        loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
        done('making it' + turn)
        for what in ('first step', 'with its plan'):
            with mx.autograd.record():
                loss = loss_of(net(x), y)
            loss.backward()
            mx.nd.waitall()
            done(what + turn)
    return found


def main(argv=None):
    parser = argparse.ArgumentParser(prog='python -m bench.first', description=__doc__)
    parser.add_argument('--json', help='file for the results')
    options = parser.parse_args(argv)
    rows = []
    for name in NETWORKS:
        with Peer(sys.executable, _CODE, name) as peer:
            rows.append({'name': name, **peer('times')})
        print(name)
        for what, seconds in list(rows[-1].items())[1:]:
            print(f'  {what:28}{seconds:8.3f} s', flush=True)
    if options.json:
        with open(options.json, 'w') as file:
            json.dump(rows, file, indent=1)
    return 0


if __name__ == '__main__':
    sys.exit(main())
