"""Parts that are on trial, and old ones kept for programs that import them.  Each is loaded when first touched."""
import importlib as _importlib

from .._names import fill_dict_when_read as _fill_dict_when_read
from .._names import no_attribute as _no_attribute

_SUBMODULES = {'amp', 'autograd', 'distill', 'horovod', 'io', 'ndarray', 'onnx', 'prune', 'quantization',
               'svrg_optimization', 'symbol', 'tensorboard', 'text', 'tune'}
_ALIASES = {'nd': 'ndarray', 'quant': 'quantization', 'sym': 'symbol'}


def __getattr__(name):
    if name not in _SUBMODULES and name not in _ALIASES:
        raise _no_attribute(__name__, name)
    value = _importlib.import_module('.' + _ALIASES.get(name, name), __name__)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_SUBMODULES, *_ALIASES})


_fill_dict_when_read(__name__)
