"""Convolutional layers that upstream called experimental."""
from . import conv_layers
from .conv_layers import *
