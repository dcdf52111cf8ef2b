"""Gluon: networks as blocks, trained step by step."""
import importlib as _importlib
import sys as _sys

from .block import Block, HybridBlock, SymbolBlock
from .parameter import Constant, DeferredInitializationError, Parameter, ParameterDict, tensor_types

_SUBMODULES = ('block', 'contrib', 'data', 'loss', 'model_zoo', 'nn', 'parameter', 'rnn', 'trainer', 'utils')

_MEMBERS = {'Trainer': 'trainer', 'Checkpoint': '_checkpoint', 'TorchBlock': '_torch', 'from_torch': '_torch',
            'to_torch': '_torch'}

__all__ = ['Block', 'Constant', 'DeferredInitializationError', 'HybridBlock', 'Parameter', 'ParameterDict',
           'SymbolBlock', 'tensor_types', *_SUBMODULES, *_MEMBERS]


def __getattr__(name):
    if name in _MEMBERS:
        value = getattr(_importlib.import_module('.' + _MEMBERS[name], __name__), name)
    elif name in _SUBMODULES:
        return _importlib.import_module('.' + name, __name__)
    else:
        # with these, Python looks for a name that may be meant
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}', name=name, obj=_sys.modules[__name__])
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_SUBMODULES, *_MEMBERS})
