"""Graphs: `mx.sym`."""
import sys as _sys

from . import _internal, contrib, image, linalg, op, random, sparse
from ._creation import *
from .op import *
from .symbol import Group, Symbol, Variable, fromjson, load, load_json, var

_LATER = {'np': 'numpy', 'npx': 'numpy_extension', 'numpy': 'numpy', 'numpy_extension': 'numpy_extension'}


def __getattr__(name):
    # NumPy's face stands on this package, so it is loaded when a program asks for it
    if name not in _LATER:
        # with these, Python looks for a name that may be meant
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}', name=name, obj=_sys.modules[__name__])
    import importlib
    module = globals()[name] = importlib.import_module(f'.{_LATER[name]}', __name__)
    return module


def _complete():
    """Puts names where upstream defines them and programs that walk module dictionaries look for them."""
    from . import _creation, symbol
    for name in _creation.__all__:
        vars(symbol).setdefault(name, getattr(_creation, name))


_complete()
