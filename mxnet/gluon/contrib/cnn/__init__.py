"""Convolutional layers that upstream called experimental."""
from ...._names import suggest_names as _suggest_names
from . import conv_layers
from .conv_layers import *

_suggest_names(globals())
