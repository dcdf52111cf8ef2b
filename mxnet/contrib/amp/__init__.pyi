# Made by `python -m mxnet._frontend.stubs`: do not edit.
from ..._names import suggest_names as _suggest_names
from . import amp as amp
from . import lists as lists
from . import loss_scaler as loss_scaler
from .amp import *
