"""`mx.nd.np.random`: those of `mx.np.random`."""
from ..._names import suggest_names as _suggest_names
from ...numpy.random import *

_suggest_names(globals())
