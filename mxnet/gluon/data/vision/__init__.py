"""Data sets of images, and transforms of them."""
from . import transforms
from .datasets import *
