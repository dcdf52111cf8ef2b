# Made by `python -m mxnet._frontend.stubs`: do not edit.
from .._frontend.examples import attach as _attach
from .._names import no_attribute as _no_attribute
from . import _c_functions as _c_functions
from . import _internal as _internal
from . import contrib as contrib
from . import image as image
from . import linalg as linalg
from . import op as op
from . import random as random
from . import sparse as sparse
from . import utils as utils
from ._arithmetic import *
from ._cached_op import CachedOp as CachedOp
from ._creation import *
from ._indexing import get_indexing_dispatch_code as get_indexing_dispatch_code
from ._indexing import get_oshape_of_gather_nd_op as get_oshape_of_gather_nd_op
from ._indexing import indexing_key_expand_implicit_axes as indexing_key_expand_implicit_axes
from ._interop import from_dlpack as from_dlpack
from ._interop import from_numpy as from_numpy
from ._interop import from_torch as from_torch
from ._interop import to_dlpack_for_read as to_dlpack_for_read
from ._interop import to_dlpack_for_write as to_dlpack_for_write
from ._interop import to_torch as to_torch
from ._interop import waitall as waitall
from ._methods import OperatorMethods as _OperatorMethods
from .ndarray import NDArray as NDArray
from .op import *
from .sparse import CSRNDArray as CSRNDArray
from .sparse import RowSparseNDArray as RowSparseNDArray
from .sparse import cast_storage as cast_storage
from .utils import array as array
from .utils import empty as empty
from .utils import load as load
from .utils import load_frombuffer as load_frombuffer
from .utils import save as save
from .utils import zeros as zeros
from .. import numpy as _numpy
from . import numpy as np
from . import numpy_extension as npx
from . import numpy as numpy
from . import numpy_extension as numpy_extension
