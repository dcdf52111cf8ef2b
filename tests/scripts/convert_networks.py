"""Every network of the model zoo in every form that `remx convert` writes: `python tests/scripts/convert_networks.py`.

`--networks graphs` takes the kinds of graphs of `tests/helpers/convert_graphs.py` and the recorded ones of MXNet 1.9.1
instead.  A network is exported with a batch of one, and run with batches of one and five in a process in which `mxnet`
cannot be imported.  The report has the largest difference to ours, relative to the largest value of an output.
"""
import argparse
import os
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [ROOT, os.path.join(ROOT, 'tests', 'helpers')]

import convert_graphs  # noqa: E402

import mxnet as mx  # noqa: E402
from mxnet import nd  # noqa: E402
from mxnet.cli._convert import run  # noqa: E402
from mxnet.gluon.model_zoo import vision  # noqa: E402

FORMS = {'torch': {'to': 'torch'}, 'exported': {'to': 'pt2', 'compiled': False}, 'onnx': {'to': 'onnx'},
         'pt2': {'to': 'pt2'}}
TOLERANCE = 1e-5


def size(name):
    """Height and width of its pictures: small ones are fast, where the network takes them."""
    if name.startswith(('densenet', 'squeezenet')):
        return 224
    return {'inceptionv3': 299, 'alexnet': 96}.get(name, 64)


def make(name, prefix):
    """Writes the checkpoint of a network with random weights -> the shapes of its inputs, the axes of the batch."""
    if name in convert_graphs.GRAPHS:
        return convert_graphs.write(name, prefix), {}
    if name.startswith('recorded:'):
        file, shapes, axes = convert_graphs.golden()[name.partition(':')[2]]
        return convert_graphs.save(mx.sym.load(file), shapes, prefix), axes
    mx.random.seed(0)
    net = vision.get_model(name, classes=100)
    net.initialize(mx.init.Xavier(magnitude=2))
    shape = (1, 3, size(name), size(name))
    # moving averages of real activations, so that values stay in range through all layers
    with mx.autograd.train_mode():
        for _ in range(2):
            net(nd.random.uniform(-1, 1, (2, *shape[1:])))
    net.hybridize()
    net(nd.zeros(shape))
    net.export(prefix)
    return {'data': shape}, {}


def convert(prefix, shapes, axes, form, out):
    """(largest relative difference, batches)"""
    found = run(prefix, shapes=shapes, axes=axes, out=out, tolerance=1e9, **FORMS[form])
    return found['difference'], found['batches']


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--networks', default=','.join(vision._MODELS))
    parser.add_argument('--forms', default='torch,exported,onnx', help=f'of {", ".join(FORMS)}')
    options = parser.parse_args(arguments)
    forms, bad = options.forms.split(','), 0
    if options.networks == 'graphs' and not convert_graphs.golden():
        parser.error(f'there are no recorded graphs in {convert_graphs.GOLDEN}; REMX_GOLDEN_FILES names their folder')
    names = [*convert_graphs.GRAPHS, *(f'recorded:{n}' for n in convert_graphs.golden())] \
        if options.networks == 'graphs' else options.networks.split(',')
    print('| network | inputs | ' + ' | '.join(forms) + ' | seconds |\n|' + ' --- |' * (len(forms) + 3), flush=True)
    for name in names:
        started, cells = time.perf_counter(), []
        with tempfile.TemporaryDirectory() as folder:
            shapes, axes = make(name, os.path.join(folder, 'network'))
            for form in forms:
                try:
                    difference, batches = convert(os.path.join(folder, 'network'), shapes, axes, form,
                                                  os.path.join(folder, form))
                    wrong = not difference <= TOLERANCE or batches[1:] != [5]
                    cells.append(f'{difference:.1e}' + (f' WRONG {batches}' if wrong else ''))
                except Exception as error:
                    cells.append(f'WRONG {type(error).__name__}: {str(error)[:200]}')
        bad += any('WRONG' in cell for cell in cells)
        seconds = time.perf_counter() - started
        sizes = ', '.join('x'.join(map(str, s)) for s in shapes.values())
        print(f'| {name} | {sizes} | ' + ' | '.join(cells) + f' | {seconds:.0f} |', flush=True)
    print(f'{bad} of {len(names)} wrong')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
