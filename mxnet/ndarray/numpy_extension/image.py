"""`mx.nd.npx.image`: those of `mx.npx.image`."""
from ..._names import suggest_names as _suggest_names
from ...numpy_extension.image import *

_suggest_names(globals())
