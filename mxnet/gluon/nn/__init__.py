"""Layers."""
from . import activations, basic_layers, conv_layers
from ..block import Block, HybridBlock, SymbolBlock
from .activations import *
from .basic_layers import *
from .conv_layers import *
