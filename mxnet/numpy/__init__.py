"""NumPy interface: `from mxnet import np, npx; npx.set_np()`."""
from .. import ndarray as _ndarray  # isort: skip - first, since it stands on that package
from .._frontend.examples import attach as _attach
from .._names import suggest_names as _suggest_names
from . import (
    _protocols,
    array_api,
    arrayprint,
    fallback,
    fallback_linalg,
    function_base,
    io,
    linalg,
    multiarray,
    random,
    stride_tricks,
    utils,
)
from ._creation import *
from ._elementwise import *
from ._index import *
from ._matrix import *
from ._more import *
from ._reduce import *
from ._shape import *
from .arrayprint import *
from .fallback import *
from .function_base import *
from .io import *
from .multiarray import ndarray
from .stride_tricks import *
from .utils import *

_protocols.functions, _protocols.array_api = globals(), array_api

for _place, _names in (('np', globals()), ('np.linalg', vars(linalg)), ('np.random', vars(random))):
    _attach(_names, _place)


_suggest_names(globals())
