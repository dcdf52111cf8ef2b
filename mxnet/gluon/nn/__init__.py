"""Layers."""
from ..._names import suggest_names as _suggest_names
from ..block import Block, HybridBlock, SymbolBlock
from . import activations, basic_layers, conv_layers
from .activations import *
from .basic_layers import *
from .conv_layers import *

_suggest_names(globals())
