"""Gluon: networks as blocks, trained step by step."""
import importlib as _importlib

from .._names import fill_dict_when_read as _fill_dict_when_read
from .._names import no_attribute as _no_attribute
from .block import Block, HybridBlock, SymbolBlock
from .parameter import Constant, DeferredInitializationError, Parameter, ParameterDict, tensor_types

_SUBMODULES = ('block', 'contrib', 'data', 'loss', 'model_zoo', 'nn', 'parameter', 'rnn', 'trainer', 'utils')

_MEMBERS = {'Trainer': 'trainer', 'Checkpoint': '_checkpoint', 'Operators': '_namespaces',
            'TorchBlock': '_torch', 'from_torch': '_torch',
            'to_torch': '_to_torch'}

__all__ = ['Block', 'Constant', 'DeferredInitializationError', 'HybridBlock', 'Parameter', 'ParameterDict',
           'SymbolBlock', 'tensor_types', *_SUBMODULES, *_MEMBERS]


def __getattr__(name):
    if name in _MEMBERS:
        value = getattr(_importlib.import_module('.' + _MEMBERS[name], __name__), name)
    elif name in _SUBMODULES:
        return _importlib.import_module('.' + name, __name__)
    else:
        raise _no_attribute(__name__, name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_SUBMODULES, *_MEMBERS})


_fill_dict_when_read(__name__)
