"""Recurrent networks: cells for one step, and layers that run whole sequences in one operator."""
from ..._names import suggest_names as _suggest_names
from . import rnn_cell, rnn_layer
from .rnn_cell import *
from .rnn_layer import *

__all__ = [*rnn_cell.__all__, *rnn_layer.__all__]


_suggest_names(globals())
