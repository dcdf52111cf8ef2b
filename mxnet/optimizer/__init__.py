"""Optimizers: how weights follow their gradients."""
from .._names import suggest_names as _suggest_names
from . import contrib, optimizer
from .optimizer import *

__all__ = [*optimizer.__all__, 'contrib']


_suggest_names(globals())
