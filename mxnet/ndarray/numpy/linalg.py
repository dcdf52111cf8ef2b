"""`mx.nd.np.linalg`: those of `mx.np.linalg`."""
from ..._names import suggest_names as _suggest_names
from ...numpy.linalg import *

_suggest_names(globals())
