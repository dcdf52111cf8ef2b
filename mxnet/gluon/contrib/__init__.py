"""Parts of Gluon that upstream called experimental."""
import importlib as _importlib

_SUBMODULES = ('cnn', 'data', 'estimator', 'nn', 'rnn')
__all__ = [*_SUBMODULES]


def __getattr__(name):
    if name in _SUBMODULES:
        return _importlib.import_module('.' + name, __name__)
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


def __dir__():
    return sorted({*globals(), *_SUBMODULES})
