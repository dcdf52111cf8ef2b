"""`mx.nd.npx`: the operators of `mx.npx`, where blocks that are written for `F` find them."""
from ..._names import suggest_names as _suggest_names
from ...numpy_extension._op import *
from . import image, random

_suggest_names(globals())
