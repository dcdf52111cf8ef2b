"""NumPy's face: `from mxnet import np, npx; npx.set_np()`."""
from . import linalg, multiarray, random, utils
from ._creation import *
from ._elementwise import *
from ._matrix import *
from .multiarray import ndarray
from .utils import *
