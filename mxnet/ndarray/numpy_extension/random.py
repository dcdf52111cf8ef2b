"""`mx.nd.npx.random`: those of `mx.npx.random`."""
from ..._names import suggest_names as _suggest_names
from ...numpy_extension.random import *

_suggest_names(globals())
