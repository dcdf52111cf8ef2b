"""Watching a training run in a notebook."""
from .._names import suggest_names as _suggest_names
from . import callback

_suggest_names(globals())
