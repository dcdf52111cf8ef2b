"""More samplers, and data sets of text."""
from ...._names import suggest_names as _suggest_names
from . import text
from .sampler import *

_suggest_names(globals())
