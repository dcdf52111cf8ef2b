"""Arrays: `mx.nd`."""
from .ndarray import NDArray, array  # noqa
from . import op as _op  # noqa
from .op import *  # noqa
from . import _internal, contrib, linalg, image  # noqa
