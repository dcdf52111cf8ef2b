"""`mx.nd.np.random`: those of `mx.np.random`."""
from ...numpy.random import *
from ...numpy.random import __all__
