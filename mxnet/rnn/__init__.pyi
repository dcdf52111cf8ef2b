# Made by `python -m mxnet._frontend.stubs`: do not edit.
from .._names import suggest_names as _suggest_names
from . import io as io
from . import rnn as rnn
from . import rnn_cell as rnn_cell
from .io import *
from .rnn import *
from .rnn_cell import *
