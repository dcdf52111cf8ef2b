"""Recurrent cells for symbols, and sentences in buckets; `mx.gluon.rnn` is the newer way."""
from .._names import suggest_names as _suggest_names
from . import io, rnn, rnn_cell
from .io import *
from .rnn import *
from .rnn_cell import *

__all__ = [*io.__all__, *rnn.__all__, *rnn_cell.__all__]


_suggest_names(globals())
