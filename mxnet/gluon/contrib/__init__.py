"""Parts of Gluon that upstream called experimental."""
import importlib as _importlib

from ..._names import no_attribute as _no_attribute

_SUBMODULES = ('cnn', 'data', 'estimator', 'nn', 'rnn')
__all__ = [*_SUBMODULES]


def __getattr__(name):
    if name in _SUBMODULES:
        return _importlib.import_module('.' + name, __name__)
    raise _no_attribute(__name__, name)


def __dir__():
    return sorted({*globals(), *_SUBMODULES})
