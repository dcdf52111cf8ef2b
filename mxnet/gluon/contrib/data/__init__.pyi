# Made by `python -m mxnet._frontend.stubs`: do not edit.
from ...._names import suggest_names as _suggest_names
from . import text as text
from .sampler import *
