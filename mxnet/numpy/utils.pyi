# Made by `python -m mxnet._frontend.stubs`: do not edit.
from builtins import bool as _bool
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as _numpy

from mxnet._typing import ArrayLike, DType, Operand
from mxnet.context import Context
from mxnet.numpy.multiarray import ndarray as ndarray

NAN: float
NINF: float
NZERO: float
NaN: float
PINF: float
PZERO: float
bool = _bool
bool_ = _numpy.bool_
e: float
finfo = _numpy.finfo
float16 = _numpy.float16
float32 = _numpy.float32
float64 = _numpy.float64
iinfo = _numpy.iinfo
inf: float
int16 = _numpy.int16
int32 = _numpy.int32
int64 = _numpy.int64
int8 = _numpy.int8
nan: float
newaxis: None
pi: float
uint16 = _numpy.uint16
uint32 = _numpy.uint32
uint64 = _numpy.uint64
uint8 = _numpy.uint8
