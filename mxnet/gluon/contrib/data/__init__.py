"""More samplers, and data sets of text."""
from . import text
from .sampler import *
