# Made by `python -m mxnet._frontend.stubs`: do not edit.
from ..._names import suggest_names as _suggest_names
from ..block import Block as Block
from ..block import HybridBlock as HybridBlock
from ..block import SymbolBlock as SymbolBlock
from . import activations as activations
from . import basic_layers as basic_layers
from . import conv_layers as conv_layers
from .activations import *
from .basic_layers import *
from .conv_layers import *
