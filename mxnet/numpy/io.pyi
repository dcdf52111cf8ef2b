# Made by `python -m mxnet._frontend.stubs`: do not edit.
from builtins import bool as _bool
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as _numpy

from mxnet._typing import ArrayLike, DType, Operand
from mxnet.context import Context
from mxnet.numpy.multiarray import ndarray as ndarray

def genfromtxt(*args: Any, **kwargs: Any) -> ndarray:
    """The numbers in a text file, as `numpy.genfromtxt` reads them; float32 unless `dtype` says otherwise."""
