# Made by `python -m mxnet._frontend.stubs`: do not edit.
from .._names import suggest_names as _suggest_names
from . import base as base
from . import kvstore as kvstore
from . import kvstore_server as kvstore_server
from .base import *
from .kvstore import *
from .kvstore_server import *
