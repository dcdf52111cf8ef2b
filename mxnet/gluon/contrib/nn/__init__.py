"""Layers that upstream called experimental."""
from . import basic_layers
from .basic_layers import *
