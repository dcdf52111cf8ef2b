"""Watching a training run in a notebook."""
from . import callback
