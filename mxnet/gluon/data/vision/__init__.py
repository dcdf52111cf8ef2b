"""Data sets of images, and transforms of them."""
from ...._names import suggest_names as _suggest_names
from . import transforms
from .datasets import *

_suggest_names(globals())
