# Made by `python -m mxnet._frontend.stubs`: do not edit.
from builtins import bool as _bool
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as _numpy

from mxnet._typing import ArrayLike, DType, Operand
from mxnet.context import Context
from mxnet.numpy.multiarray import ndarray as ndarray

def set_printoptions(precision: int | None = None, threshold: int | None = None, **kwarg: Any) -> None:
    """Sets how many digits and elements are printed, of NumPy's arrays as of ours."""
