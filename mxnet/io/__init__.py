"""Iterators that feed a network: `mx.io`."""
from .._names import suggest_names as _suggest_names
from . import io, utils
from .io import *
from .utils import _getdata_by_idx, _has_instance, _init_data

_suggest_names(globals())
