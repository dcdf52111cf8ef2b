"""`python -m bench.loader`: a pass over 10,000 images of MNIST's size through DataLoader, batches of 64.

Ours and torch's in turns in one process; with MXNET191_PYTHON, MXNet 1.9.1 in a process of its own.  `--data` names a
folder with MNIST's training files; without it the images are made up.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import deque

import numpy as np

# name -> (most that it may take of torch's time, and of 1.9.1's)
BUDGETS = {'no transform': (0.2, 0.25), 'tutorial': (1.0, 0.25), 'ToTensor': (1.0, 0.25),
           'ToTensor, Normalize': (1.0, 0.25), 'tutorial, 2 workers': (1.0, 0.25)}


def make_images(folder):
    """(images, labels) as NumPy arrays."""
    if folder:
        from mxnet.gluon.data.vision import MNIST
        found = MNIST(folder)
        return found._data.asnumpy()[:10000], found._label[:10000]
    draw = np.random.RandomState(0)
    return draw.randint(0, 256, (10000, 28, 28, 1)).astype('uint8'), draw.randint(0, 10, 10000).astype('int32')


def tutorial(data, label):
    return data.astype(np.float32) / 255., label.astype(np.float32)


def gluon_loaders(mx, data, label):
    """{name: loader} on the MXNet that is given."""
    from mxnet.gluon.data import ArrayDataset, DataLoader
    from mxnet.gluon.data.vision import transforms
    both = ArrayDataset(mx.nd.array(data, dtype='uint8'), label)
    several = transforms.Compose([transforms.ToTensor(), transforms.Normalize(0.13, 0.31)])
    return {'no transform': DataLoader(both, 64, shuffle=True),
            'tutorial': DataLoader(both.transform(tutorial), 64, shuffle=True),
            'ToTensor': DataLoader(both.transform_first(transforms.ToTensor()), 64, shuffle=True),
            'ToTensor, Normalize': DataLoader(both.transform_first(several), 64, shuffle=True),
            'tutorial, 2 workers': DataLoader(both.transform(tutorial), 64, shuffle=True, num_workers=2)}


def torch_loaders(data, label):
    """The same in torch."""
    import torch
    from torch.utils.data import DataLoader, Dataset
    data = torch.from_numpy(data)

    class Transformed(Dataset):
        def __init__(self, function):
            self.function = function

        def __len__(self):
            return len(data)

        def __getitem__(self, i):
            return self.function(data[i], label[i])

    def to_tensor(x, y):
        return x.permute(2, 0, 1).contiguous().float() / 255, y

    def normalized(x, y):
        x, y = to_tensor(x, y)
        return (x - 0.13) / 0.31, y

    def as_tutorial(x, y):
        return x.float() / 255., y.astype(np.float32)

    functions = {'no transform': lambda x, y: (x, y), 'tutorial': as_tutorial, 'ToTensor': to_tensor,
                 'ToTensor, Normalize': normalized, 'tutorial, 2 workers': as_tutorial}
    return {name: DataLoader(Transformed(function), 64, shuffle=True, num_workers=2 if 'workers' in name else 0,
                             persistent_workers='workers' in name) for name, function in functions.items()}


def seconds(loaders, rounds):
    """The shortest of some passes over each loader, taken in turns."""
    best = dict.fromkeys(loaders, float('inf'))
    for _ in range(rounds):
        for name, loader in loaders.items():
            start = time.perf_counter()
            images, _ = deque(loader, maxlen=1).pop()
            if hasattr(images, 'wait_to_read'):
                images.wait_to_read()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def upstream(data, label):
    """{name: seconds} from the interpreter that MXNET191_PYTHON names; {} without one."""
    python = os.environ.get('MXNET191_PYTHON')
    if not python:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        np.savez(os.path.join(folder, 'images.npz'), data=data, label=label)
        done = subprocess.run([python, '-W', 'ignore', os.path.abspath(__file__), '--upstream', folder], cwd=folder,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True,
                              env={k: v for k, v in os.environ.items() if k != 'PYTHONPATH'})
    return json.loads(done.stdout.splitlines()[-1])


def main(argv=None):
    parser = argparse.ArgumentParser(prog='python -m bench.loader', description=__doc__)
    parser.add_argument('--data', help="a folder with MNIST's training files")
    parser.add_argument('--rounds', type=int, default=7)
    parser.add_argument('--strict', action='store_true', help='exit with 1 if a ratio is over its budget')
    parser.add_argument('--upstream', help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    import mxnet as mx
    if options.upstream:
        arrays = np.load(os.path.join(options.upstream, 'images.npz'))
        print(json.dumps(seconds(gluon_loaders(mx, arrays['data'], arrays['label']), 2)))
        return 0
    data, label = make_images(options.data)
    loaders = {('ours', name): loader for name, loader in gluon_loaders(mx, data, label).items()}
    loaders |= {('torch', name): loader for name, loader in torch_loaders(data, label).items()}
    found, old = seconds(loaders, options.rounds), upstream(data, label)
    print(f'{"ms for 10,000 images":22}{"ours":>10}{"torch":>10}{"ratio":>8}{"budget":>8}'
          + (f'{"1.9.1":>10}{"ratio":>8}{"budget":>8}' if old else ''))
    over = False
    for name, (by_torch, by_upstream) in BUDGETS.items():
        ours, theirs = found['ours', name], found['torch', name]
        line = f'{name:22}{ours * 1e3:10.1f}{theirs * 1e3:10.1f}{ours / theirs:8.2f}{by_torch:8.2f}'
        over |= ours > by_torch * theirs
        if old:
            line += f'{old[name] * 1e3:10.1f}{ours / old[name]:8.3f}{by_upstream:8.2f}'
            over |= ours > by_upstream * old[name]
        print(line)
    return 1 if options.strict and over else 0


if __name__ == '__main__':
    sys.exit(main())
