# Made by `python -m mxnet._frontend.stubs`: do not edit.
from ..._names import suggest_names as _suggest_names
from ...numpy_extension._op import *
from . import image as image
from . import random as random
