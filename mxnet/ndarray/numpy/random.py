"""`mx.nd.np.random`: those of `mx.np.random`."""
from ...numpy.random import *
