"""Graphs: `mx.sym`."""

from .._names import no_attribute as _no_attribute
from . import _internal, contrib, image, linalg, op, random, sparse
from ._creation import *
from .op import *
from .symbol import Group, Symbol, Variable, fromjson, load, load_json, var

_LATER = {'np': 'numpy', 'npx': 'numpy_extension', 'numpy': 'numpy', 'numpy_extension': 'numpy_extension'}


def __getattr__(name):
    # The NumPy interface is built on this package, so it is loaded when a program asks for it
    if name not in _LATER:
        raise _no_attribute(__name__, name)
    import importlib
    module = globals()[name] = importlib.import_module(f'.{_LATER[name]}', __name__)
    return module


def _complete():
    """Puts names where upstream defines them and programs that walk module dictionaries look for them."""
    from . import _creation, symbol
    for name in _creation.__all__:
        vars(symbol).setdefault(name, getattr(_creation, name))


_complete()

from . import numpy  # noqa: E402 - it stands on this package, whose symbols can become its own
