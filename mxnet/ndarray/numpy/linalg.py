"""`mx.nd.np.linalg`: those of `mx.np.linalg`."""
from ...numpy.linalg import *
