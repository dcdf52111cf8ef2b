"""Names that MXNet itself had before 1.9.1, for programs of that time."""

import sys

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
_done: set[str] = set()


def put_back():
    """Gives the modules of MXNet that are loaded the names that they had; called when a program imports one."""
    for module, names in NAMES.items():
        if module not in sys.modules or module in _done:
            continue
        _done.add(module)
        _put_back(sys.modules[module], names)


def _put_back(module, names):
    before = vars(module).get('__getattr__')

    def __getattr__(name):
        if name not in names:
            if before is None:
                raise AttributeError(f'module {module.__name__!r} has no attribute {name!r}', name=name)
            return before(name)
        import importlib

        home, there = names[name]
        found = importlib.import_module(home)
        report.note(f'mxnet-{name}', f'{module.__name__}.{name}, a name of earlier versions of MXNet')
        value = found if there is None else getattr(found, there)
        setattr(module, name, value)
        return value

    vars(module)['__getattr__'] = __getattr__
