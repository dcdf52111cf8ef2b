"""`mx.sym.npx`: neural networks' operators on symbols with NumPy's semantics."""
from ..._names import suggest_names as _suggest_names
from . import image, random
from ._op import *

_suggest_names(globals())
