"""Arrays: `mx.nd`."""
import multiprocessing.pool as _pool  # Sockeye names it without an import, since MXNet had one

from .._frontend.examples import attach as _attach
from .._names import no_attribute as _no_attribute
from . import _c_functions, _internal, contrib, image, linalg, op, random, sparse, utils
from ._arithmetic import *
from ._cached_op import CachedOp
from ._creation import *
from ._indexing import get_indexing_dispatch_code, get_oshape_of_gather_nd_op, indexing_key_expand_implicit_axes
from ._interop import from_dlpack, from_numpy, from_torch, to_dlpack_for_read, to_dlpack_for_write, to_torch, waitall
from ._methods import OperatorMethods as _OperatorMethods
from .ndarray import NDArray
from .op import *
from .sparse import CSRNDArray, RowSparseNDArray, cast_storage
from .utils import array, empty, load, load_frombuffer, save, zeros

_LATER = {'np': 'numpy', 'npx': 'numpy_extension', 'numpy': 'numpy', 'numpy_extension': 'numpy_extension'}


def __getattr__(name):
    # The NumPy interface is built on this package, so it is loaded when a program asks for it
    if name not in _LATER:
        raise _no_attribute(__name__, name)
    import importlib
    module = globals()[name] = importlib.import_module(f'.{_LATER[name]}', __name__)
    return module


def _complete():
    """Puts names where upstream defines them and programs that walk module dictionaries (MinPy) look for them."""
    import operator

    from .. import random as generators
    from ..context import current_context
    from . import _arithmetic, _creation, _indexing, _interop
    from . import ndarray as module
    found = {'operator': operator, 'current_context': current_context}
    for part in (utils, _creation, _arithmetic, _indexing, _interop):
        found.update((name, value) for name, value in vars(part).items()
                     if not name.startswith('_') and getattr(value, '__module__', None) == part.__name__)
    for name, value in found.items():
        vars(module).setdefault(name, value)
    for name in generators.__all__:
        if name != 'seed':
            vars(generators)[name] = getattr(random, name)


vars(op)['CachedOp'] = CachedOp          # upstream has it there, too
_complete()

for _place, _names in (('nd', globals()), ('nd.contrib', vars(contrib)), ('nd.linalg', vars(linalg)),
                       ('nd.random', vars(random)), ('nd.image', vars(image)), ('nd.sparse', vars(sparse)),
                       ('NDArray', vars(_OperatorMethods))):
    _attach(_names, _place)

from .. import numpy as _numpy  # noqa: E402 - it stands on this package, whose arrays can become its own
