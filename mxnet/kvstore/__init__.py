"""Stores that add up gradients of several devices, and update weights with them: `mx.kv.create('local')`."""
from . import base, kvstore
from .base import *
from .kvstore import *

__all__ = [*base.__all__, *kvstore.__all__]
