"""Stores that add up gradients of devices and workers, and update weights with them: `mx.kv.create('local')`."""
from .._names import suggest_names as _suggest_names
from . import base, kvstore, kvstore_server
from .base import *
from .kvstore import *
from .kvstore_server import *

__all__ = [*base.__all__, *kvstore.__all__, *kvstore_server.__all__]


_suggest_names(globals())
