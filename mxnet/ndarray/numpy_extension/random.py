"""`mx.nd.npx.random`: those of `mx.npx.random`."""
from ...numpy_extension.random import *
