"""Names that MXNet itself had before 1.9.1, for programs of that time."""

import importlib.machinery
import sys

from .._names import own_dict
from ._report import report

_UPDATES = (
    'adam_update', 'ftrl_update', 'mp_sgd_mom_update', 'mp_sgd_update', 'rmsprop_update', 'rmspropalex_update',
    'sgd_mom_update', 'sgd_update', 'signsgd_update', 'signum_update',
)
_BOXES = ('MultiBoxDetection', 'MultiBoxPrior', 'MultiBoxTarget', 'Proposal')
# module -> {name: (the module that has it today, its name there; None: the module itself)}
NAMES = {
    'mxnet': {
        '_symbol_internal': ('mxnet.symbol._internal', None),
        '_ndarray_internal': ('mxnet.ndarray._internal', None),
    },
    'mxnet.gluon': {'autograd': ('mxnet.autograd', None)},
    'mxnet.optimizer': {name: ('mxnet.ndarray', name) for name in _UPDATES},
    'mxnet.symbol': {name: ('mxnet.contrib.symbol', name) for name in _BOXES},
    'mxnet.ndarray': {name: ('mxnet.contrib.ndarray', name) for name in _BOXES},
}


class Loader(importlib.machinery.SourceFileLoader):
    """Loads a module of MXNet that had further names."""

    def exec_module(self, module):
        super().exec_module(module)
        _put_back(module, NAMES[module.__name__])


def install():
    """Gives the modules of MXNet that are loaded the names that they had; those of others come when they are loaded."""
    for module, names in NAMES.items():
        if module in sys.modules:
            _put_back(sys.modules[module], names)


def _put_back(module, names):
    own = own_dict(module)      # `vars` would load all parts of the module
    before = own.get('__getattr__')
    if getattr(before, '_remx', False):
        return

    def __getattr__(name):
        if name not in names:
            if before is None:
                raise AttributeError(f'module {module.__name__!r} has no attribute {name!r}', name=name)
            return before(name)
        home, there = names[name]
        found = importlib.import_module(home)
        report.note(f'mxnet-{name}', f'{module.__name__}.{name}, a name of earlier versions of MXNet')
        value = found if there is None else getattr(found, there)
        setattr(module, name, value)
        return value

    __getattr__._remx = True  # type: ignore[attr-defined]
    own['__getattr__'] = __getattr__
