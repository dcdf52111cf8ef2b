"""What every generated program begins with; printed before one that fails. Both libraries run it."""
import copy
import os
import pickle
import sys
import tempfile
import threading
import zlib

import numpy as np

import mxnet as mx
from mxnet import autograd, gluon, nd

nn, rnn = gluon.nn, gluon.rnn
MODES = {'plain': None, 'hybrid': {}, 'static': {'static_alloc': True, 'static_shape': True}}
MODE = MODES[sys.argv[1] if len(sys.argv) > 1 else 'plain']
CTX = mx.gpu(0) if os.environ.get('FUZZ_CTX') == 'gpu' else mx.cpu(0)
DISTURBED = 0           # not 0: all numbers are off by up to one unit in the last place, see compare.py
FOLDER = tempfile.mkdtemp(prefix='fuzz-')


def see(*values):
    """Looks at values, and logs them."""
    for value in values:
        print(value.asnumpy() if hasattr(value, 'asnumpy') else value)


def H(block, active=True, **flags):
    """Hybridizes a block, in the modes that do."""
    if MODE is not None:
        block.hybridize(active, **dict(MODE, **flags))


def numbers(seed, shape):
    """Few bits and no ties, so that both libraries round alike."""
    found = (np.random.RandomState(seed).randint(-255, 256, size=shape) / 256 + 1 / 1024).astype('float32')
    if DISTURBED:
        found += np.spacing(found) * np.random.RandomState(seed + DISTURBED).randint(-1, 2, size=shape)
    return found


def A(seed, *shape, dtype='float32'):
    return nd.array(numbers(seed, shape), dtype=dtype)


def ints(seed, high, *shape):
    return nd.array(np.random.RandomState(seed).randint(0, high, size=shape))


def N(seed, *shape, dtype='float32'):
    """The same as mx.np arrays."""
    return mx.np.array(numbers(seed, shape), dtype=dtype)


def nints(seed, high, *shape):
    return mx.np.array(np.random.RandomState(seed).randint(0, high, size=shape).astype('float32'))


class Fixed(mx.init.Initializer):
    """Weights that depend on names and shapes alone, in whichever order they are initialized."""

    def __init__(self, seed=0):
        super().__init__(seed=seed)
        self.seed = seed

    def _init_weight(self, name, array):
        scale = 1.0 / max(1, array.size // array.shape[0]) ** 0.5
        array[:] = numbers(zlib.crc32(str(name).encode()) % 2 ** 30 + self.seed, array.shape) * scale

    _init_default = _init_weight


class Doubled(autograd.Function):
    """A function whose gradient the program computes; not the right one."""

    def forward(self, x):
        self.save_for_backward(x)
        return x * 2

    def backward(self, dy):
        return dy * 2 + self.saved_tensors[0] * 0.1


def exported(block, x):
    """A block read from the files that another was written to, which must be hybridized for that."""
    block.hybridize()
    block(x)
    block.export(FOLDER + '/block')
    block.hybridize(False)
    H(block)
    made = gluon.SymbolBlock.imports(FOLDER + '/block-symbol.json', ['data'], FOLDER + '/block-0000.params', CTX)
    H(made)
    return made


def P(block, number):
    """One of the parameters."""
    found = list(block.collect_params().values())
    return found[number % len(found)]


def W(block, number):
    """One of the parameters that have a gradient."""
    found = list(block.collect_params().values())
    found = [p for p in found if p.grad_req != 'null'] or found
    return found[number % len(found)]


def fill(block, seed):
    """Biases, scales and averages that are not all 0 or 1."""
    for number, p in enumerate(block.collect_params().values()):
        values = numbers(seed + number, p.shape) * (0.5 if 'bias' in p.name or 'beta' in p.name else 0.25)
        if 'gamma' in p.name or 'var' in p.name:
            values = values + 1
        if 'weight' not in p.name:
            p.set_data((mx.np if mx.util.is_np_array() else nd).array(values))


def states(trainer):
    """The arrays of an optimizer's states."""
    waiting, found = [s for u in trainer._updaters for _, s in sorted(u.states.items())], []
    while waiting:
        state = waiting.pop(0)
        if isinstance(state, (list, tuple)):
            waiting = list(state) + waiting
        elif state is not None:
            found.append(state)
    return found


def everything(*blocks):
    """All parameters and gradients."""
    for block in blocks:
        for p in block.collect_params().values():
            see(p.data())
            if p.grad_req != 'null':
                see(p.grad())


def in_thread(function):
    """Runs something in a thread, to its end."""
    found = []

    def run():
        try:
            found.append(function())
        except Exception as error:
            found.append(error)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join(60)
    if isinstance(found[0], Exception):
        raise found[0]
    return found[0]
