"""Optimizers: how weights follow their gradients."""
from . import contrib, optimizer
from .optimizer import *

__all__ = [*optimizer.__all__, 'contrib']
