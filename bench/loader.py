"""`python -m bench.loader`: a pass over 10,000 images of MNIST's size through DataLoader, batches of 64.

Part of `make bench`.  Ours, torch's and, with MXNET191_PYTHON, MXNet 1.9.1's in turns.  `--data` names a folder with
MNIST's training files; without it the images are made up.
"""
import argparse
import os
import sys
import tempfile
import time
from collections import deque
from contextlib import ExitStack

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


def one_pass(loader):
    """(seconds, seconds of this process's CPU time) of a pass."""
    cpu, start = time.process_time(), time.perf_counter()
    images, _ = deque(loader, maxlen=1).pop()
    if hasattr(images, 'wait_to_read'):
        images.wait_to_read()
    return time.perf_counter() - start, time.process_time() - cpu


# What the interpreter with MXNet 1.9.1 runs: this file's own functions.
UPSTREAM = '''
import runpy
import mxnet as mx
import numpy as np
bench = runpy.run_path(sys.argv[1])
arrays = np.load(sys.argv[2])
loaders = bench["gluon_loaders"](mx, arrays["data"], arrays["label"])
names = iter(list(loaders) * 1000)


def one():
    return bench["one_pass"](loaders[next(names)])
'''


def measure(folder=None, rounds=7):
    """{(who, name): (seconds, CPU seconds)}: the best of some passes, taken in turns."""
    import mxnet as mx

    from .peer import Peer, upstream_python
    data, label = make_images(folder)
    ours, theirs = gluon_loaders(mx, data, label), torch_loaders(data, label)
    best = {}

    def note(who, name, times):
        best[who, name] = tuple(map(min, best.get((who, name), times), times))

    with ExitStack() as stack:
        old = None
        if upstream_python():
            arrays = os.path.join(stack.enter_context(tempfile.TemporaryDirectory()), 'images.npz')
            np.savez(arrays, data=data, label=label)
            old = stack.enter_context(Peer(upstream_python(), UPSTREAM, os.path.abspath(__file__), arrays))
        for turn in range(rounds):
            for name in BUDGETS:
                note('ours', name, one_pass(ours[name]))
                note('torch', name, one_pass(theirs[name]))
                if old is not None and turn < max(2, rounds // 2):
                    note('1.9.1', name, old('one'))
    return best


def report(folder=None, rounds=7):
    """Prints a table -> rows for --json, each with `over`: whether it misses its budget."""
    found = measure(folder, rounds)
    both = any(who == '1.9.1' for who, _ in found)
    print(f'{"ms for 10,000 images":22}{"ours":>10}{"torch":>10}{"ratio":>8}{"(CPU)":>8}{"budget":>8}'
          + (f'{"1.9.1":>10}{"ratio":>8}{"budget":>8}' if both else ''))
    rows = []
    for name, (by_torch, by_upstream) in BUDGETS.items():
        (ours, ours_cpu), (theirs, theirs_cpu) = found['ours', name], found['torch', name]
        cpu = '' if 'workers' in name else f'{ours_cpu / theirs_cpu:.2f}'       # what workers take is not known here
        line = f'{name:22}{ours * 1e3:10.1f}{theirs * 1e3:10.1f}{ours / theirs:8.2f}{cpu:>8}{by_torch:8.2f}'
        over, old = ours > by_torch * theirs, None
        if both:
            old = found['1.9.1', name][0]
            line += f'{old * 1e3:10.1f}{ours / old:8.3f}{by_upstream:8.2f}'
            over |= ours > by_upstream * old
        print(line + ('  over budget' if over else ''), flush=True)
        rows.append({'name': f'loader, {name}', 'ours': ours, 'torch': theirs, 'ratio': ours / theirs,
                     'budget': by_torch, 'upstream': old, 'upstream_budget': by_upstream, 'over': over})
    return rows


def main(argv=None):
    parser = argparse.ArgumentParser(prog='python -m bench.loader', description=__doc__)
    parser.add_argument('--data', help="a folder with MNIST's training files")
    parser.add_argument('--rounds', type=int, default=7)
    parser.add_argument('--strict', action='store_true', help='exit with 1 if a ratio is over its budget')
    options = parser.parse_args(argv)
    rows = report(options.data, options.rounds)
    return 1 if options.strict and any(row['over'] for row in rows) else 0


if __name__ == '__main__':
    sys.exit(main())
