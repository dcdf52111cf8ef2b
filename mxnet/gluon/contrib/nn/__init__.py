"""Layers that upstream called experimental."""
from ...._names import suggest_names as _suggest_names
from . import basic_layers
from .basic_layers import *

_suggest_names(globals())
