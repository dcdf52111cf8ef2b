# Made by `python -m mxnet._frontend.stubs`: do not edit.
from ..._names import suggest_names as _suggest_names
from . import rnn_cell as rnn_cell
from . import rnn_layer as rnn_layer
from .rnn_cell import *
from .rnn_layer import *
