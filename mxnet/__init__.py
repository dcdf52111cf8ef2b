"""MXNet's programming model on PyTorch's kernels: `import mxnet as mx`.

    mx.nd           arrays and operators
    mx.autograd     gradients
    mx.gluon        networks: blocks, layers, losses, data sets, Trainer, model zoo
    mx.sym, mx.mod  symbols and Module, the older interface
    mx.np, mx.npx   the NumPy interface
    mx.optimizer, mx.lr_scheduler, mx.metric, mx.init, mx.io, mx.image, mx.kv

>>> x = mx.nd.array([[1, 2], [3, 4]])
>>> int((x * x).sum().asscalar())
30

`help(mx.gluon.nn.Dense)` describes one class. The command `remx doctor` shows versions and devices.
"""
# Importing this loads nothing else: a part of the package is loaded when a program first uses it (PEP 562).
import importlib as _importlib
import os as _os
import sys as _sys

from ._names import fill_dict_when_read as _fill_dict_when_read
from ._names import no_attribute as _no_attribute
from .libinfo import __version__

_SUBMODULES = {
    'attribute', 'autograd', 'base', 'callback', 'cli', 'context', 'contrib', 'engine', 'error', 'executor',
    'executor_manager', 'gluon', 'image', 'initializer', 'io', 'kvstore', 'libinfo', 'library', 'log', 'lr_scheduler',
    'metric', 'misc', 'model', 'module', 'monitor', 'name', 'ndarray', 'notebook', 'numpy', 'numpy_dispatch_protocol',
    'numpy_extension', 'numpy_op_signature', 'onnx', 'operator', 'optimizer', 'profiler', 'random', 'recordio',
    'registry', 'rnn', 'rtc', 'runtime', 'symbol', 'test_utils', 'util', 'visualization',
}
_ALIASES = {'nd': 'ndarray', 'sym': 'symbol', 'np': 'numpy', 'npx': 'numpy_extension', 'rnd': 'random', 'img': 'image',
            'init': 'initializer', 'kv': 'kvstore', 'mod': 'module', 'mon': 'monitor', 'viz': 'visualization'}
_MEMBERS = {
    'MXNetError': 'base', 'Context': 'context', 'cpu': 'context', 'cpu_pinned': 'context', 'cpu_shared': 'context',
    'gpu': 'context', 'current_context': 'context', 'num_gpus': 'context', 'gpu_memory_info': 'context',
    'AttrScope': 'attribute', 'is_np_array': 'util', 'is_np_shape': 'util', 'np_array': 'util', 'np_shape': 'util',
    'set_np_shape': 'util', 'use_np': 'util', 'use_np_array': 'util', 'use_np_shape': 'util',
}

# of `from mxnet import *`, which loads them all
__all__ = sorted({*_SUBMODULES, *_ALIASES, *_MEMBERS} - {'cli'})


def __getattr__(name):
    if name in _MEMBERS:
        value = getattr(_importlib.import_module('.' + _MEMBERS[name], __name__), name)
    elif name in _ALIASES:
        value = _importlib.import_module('.' + _ALIASES[name], __name__)
    elif name in _SUBMODULES:
        value = _importlib.import_module('.' + name, __name__)
    else:
        raise _no_attribute(__name__, name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_SUBMODULES, *_ALIASES, *_MEMBERS})


_fill_dict_when_read(__name__)


if _sys.platform == 'darwin':
    # Operators that torch has no Metal kernel for run on the CPU; torch reads the variable when it is imported.
    _os.environ.setdefault('PYTORCH_ENABLE_MPS_FALLBACK', '1')

if _os.environ.get('MXNET_PROFILER_AUTOSTART', '0') not in ('', '0'):
    _importlib.import_module('.profiler', __name__)._autostart()
