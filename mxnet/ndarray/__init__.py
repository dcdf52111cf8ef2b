"""Arrays: `mx.nd`."""
from . import _internal, contrib, image, linalg, op, random, sparse, utils
from ._arithmetic import *
from ._cached_op import CachedOp
from ._creation import *
from ._indexing import get_indexing_dispatch_code, get_oshape_of_gather_nd_op, indexing_key_expand_implicit_axes
from ._interop import from_dlpack, from_numpy, from_torch, to_dlpack_for_read, to_dlpack_for_write, to_torch, waitall
from .ndarray import NDArray
from .op import *
from .sparse import CSRNDArray, RowSparseNDArray, cast_storage
from .utils import array, empty, load, load_frombuffer, save, zeros
