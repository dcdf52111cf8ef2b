"""`mx.sym.contrib` under an older name."""
from ..symbol.contrib import *
