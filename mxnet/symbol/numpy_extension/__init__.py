"""`mx.sym.npx`: neural networks' operators on symbols with NumPy's semantics."""
from . import image, random
from ._op import *
