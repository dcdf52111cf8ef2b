"""`mx.nd.npx.image`: those of `mx.npx.image`."""
from ...numpy_extension.image import *
from ...numpy_extension.image import __all__
