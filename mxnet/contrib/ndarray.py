"""`mx.nd.contrib` under an older name."""
from ..ndarray.contrib import *
