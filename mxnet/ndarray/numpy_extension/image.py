"""`mx.nd.npx.image`: those of `mx.npx.image`."""
from ...numpy_extension.image import *
