# Made by `python -m mxnet._frontend.stubs`: do not edit.
from ...._names import suggest_names as _suggest_names
from . import conv_layers as conv_layers
from .conv_layers import *
