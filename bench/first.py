"""`python -m bench.first`: how long the first calls of a hybridized network take, each network in a fresh process.

'all' is what a program waits after its imports until its second training step is over: the network is made, the first
step runs the graph as it is, the second one is traced and becomes the plan that all others run.  'another shape' is
a step with a batch of another size, and 'next' the one after it, as soon as its plan is there.  'made again' is all of
that for a second network of the same kind in the same process.
"""
import argparse
import json
import sys
import time

from .peer import Peer

BUDGETS = {'MLP': 0.2, 'ResNet-50': 3.0}            # seconds for 'all'
_CODE = 'import sys\nfrom bench import first\ndef times():\n    return first.times(sys.argv[1])'


def _network(mx, name):
    if name == 'MLP':
        net = mx.gluon.nn.HybridSequential()
        for width in (64, 64):
            net.add(mx.gluon.nn.Dense(width, activation='relu'))
        net.add(mx.gluon.nn.Dense(10))
        shapes = (64, 784), (50, 784)
    else:
        net, shapes = mx.gluon.model_zoo.vision.resnet50_v1(classes=10), ((2, 3, 64, 64), (3, 3, 64, 64))
    net.initialize(mx.init.Xavier())
    net.hybridize(static_alloc=True, static_shape=True)
    return net, [(mx.nd.ones(shape), mx.nd.zeros(shape[0])) for shape in shapes]


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
    for turn in ('', 'made again: '):
        net, (batch, other) = _network(mx, name)
        loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
        done(turn + 'making it')
        for what, (x, y) in (('first step', batch), ('second step', batch), ('another shape', other),
                             ('another shape, next', other)):
            with mx.autograd.record():
                loss = loss_of(net(x), y)
            loss.backward()
            mx.nd.waitall()
            done(turn + what)
        found[turn + 'all'] = sum(found[turn + what] for what in ('making it', 'first step', 'second step'))
    return found


def main(argv=None):
    parser = argparse.ArgumentParser(prog='python -m bench.first', description=__doc__)
    parser.add_argument('--json', help='file for the results')
    options = parser.parse_args(argv)
    rows = report()
    if options.json:
        with open(options.json, 'w') as file:
            json.dump(rows, file, indent=1)
    return 0


def report():
    """Prints the times of all networks, and returns them as rows."""
    rows = []
    for name, budget in BUDGETS.items():
        with Peer(sys.executable, _CODE, name) as peer:
            found = peer('times')
        rows.append({'name': f'first steps, {name}', **found, 'budget': budget, 'over': found['all'] > budget})
        print(f'{name}: first steps in {found["all"]:.3f} s (budget {budget} s)'
              + ('  over it' if rows[-1]['over'] else ''))
        for what, seconds in found.items():
            print(f'  {what:34}{seconds:8.3f} s', flush=True)
    return rows


if __name__ == '__main__':
    sys.exit(main())
