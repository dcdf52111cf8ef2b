"""`mx.nd.npx`: the operators of `mx.npx`, where blocks that are written for `F` find them."""
from ...numpy_extension._op import *
from . import image, random
