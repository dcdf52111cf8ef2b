# Made by `python -m mxnet._frontend.stubs`: do not edit.
from .._names import suggest_names as _suggest_names
from . import contrib as contrib
from . import optimizer as optimizer
from .optimizer import *
