"""Every network of the model zoo in every form that `remx convert` writes: `python tests/scripts/convert_networks.py`.

A network is exported with a batch of one, and run with batches of one and five in a process in which `mxnet` cannot be
imported.  The report has the largest difference to ours, relative to the largest value of an output.
"""
import argparse
import os
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FORMS = {'torch': {'to': 'torch'}, 'exported': {'to': 'pt2', 'compiled': False}, 'onnx': {'to': 'onnx'},
         'pt2': {'to': 'pt2'}}
TOLERANCE = 1e-5


def size(name):
    """Height and width of its pictures: small ones are fast, where the network takes them."""
    if name.startswith(('densenet', 'squeezenet')):
        return 224
    return {'inceptionv3': 299, 'alexnet': 96}.get(name, 64)


def make(name, prefix):
    """Writes the checkpoint of a zoo network with random weights -> its shape."""
    import mxnet as mx
    from mxnet import nd
    from mxnet.gluon.model_zoo import vision
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
    return shape


def convert(prefix, shape, form, out):
    """(largest relative difference, batches)"""
    from mxnet.cli._convert import run
    found = run(prefix, shapes={'data': shape}, out=out, tolerance=1e9, **FORMS[form])
    return found['difference'], found['batches']


def main(arguments=None):
    sys.path.insert(0, ROOT)
    from mxnet.gluon.model_zoo.vision import _MODELS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--networks', default=','.join(_MODELS))
    parser.add_argument('--forms', default='torch,exported,onnx', help=f'of {", ".join(FORMS)}')
    options = parser.parse_args(arguments)
    forms, bad = options.forms.split(','), 0
    print('| network | picture | ' + ' | '.join(forms) + ' | seconds |\n|' + ' --- |' * (len(forms) + 3), flush=True)
    for name in options.networks.split(','):
        started, cells = time.perf_counter(), []
        with tempfile.TemporaryDirectory() as folder:
            shape = make(name, os.path.join(folder, 'network'))
            for form in forms:
                try:
                    difference, batches = convert(os.path.join(folder, 'network'), shape, form,
                                                  os.path.join(folder, form))
                    wrong = not difference <= TOLERANCE or batches != [1, 5]
                    cells.append(f'{difference:.1e}' + (f' WRONG {batches}' if wrong else ''))
                except Exception as error:
                    cells.append(f'WRONG {type(error).__name__}: {str(error)[:200]}')
        bad += any('WRONG' in cell for cell in cells)
        seconds = time.perf_counter() - started
        print(f'| {name} | {shape[-1]} | ' + ' | '.join(cells) + f' | {seconds:.0f} |', flush=True)
    print(f'{bad} of {len(options.networks.split(","))} wrong')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
