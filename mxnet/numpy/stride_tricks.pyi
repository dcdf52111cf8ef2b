# Made by `python -m mxnet._frontend.stubs`: do not edit.
from builtins import bool as _bool
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as _numpy

from mxnet._typing import ArrayLike, DType, Operand
from mxnet.context import Context
from mxnet.numpy.multiarray import ndarray as ndarray

def broadcast_arrays(*args: Any) -> Any:
    """Copies of arrays, all of them broadcast to one shape; the arrays themselves if they have one shape already."""
